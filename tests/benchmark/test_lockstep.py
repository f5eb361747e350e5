"""Work in step: whole batches for the inpainter, and what is put off stays open."""

import pytest

from cfgen.benchmark.builder import merge_work, run_in_batches
from cfgen.core.errors import InpaintPutOffError
from cfgen.inpaint.edit import Edit, EditFailure, make_edits
from tests.inpaint.test_inpaint import Painter, make_hazard, make_job


def work(name, steps, seen):
    for step in range(steps):
        answers = yield [f"{name}{step}"] * (step + 1)
        seen.append((name, step, answers))


def test_each_step_is_one_batch_and_answers_go_to_who_asked():
    seen, batches = [], []

    def make(jobs):
        batches.append(list(jobs))
        return [f"made {job}" for job in jobs]

    ended = list(run_in_batches([work("a", 1, seen), work("b", 0, seen), work("c", 2, seen)], make))
    assert batches == [["a0", "c0"], ["c1", "c1"]]
    assert ended == [(1, ""), (0, ""), (2, "")]
    assert ("c", 1, ["made c1", "made c1"]) in seen


def test_works_within_a_work_share_its_steps():
    seen, batches = [], []

    def make(jobs):
        batches.append(list(jobs))
        return list(jobs)

    def outer():
        yield ["first"]
        yield from merge_work([work("a", 2, seen), work("b", 1, seen)])

    assert list(run_in_batches([outer()], make)) == [(0, "")]
    assert batches == [["first"], ["a0", "b0"], ["a1", "a1"]]


def test_what_is_put_off_ends_without_its_answers_and_spares_the_rest():
    seen = []

    def make(jobs):
        return [EditFailure("no money", put_off=True) if job == "a1" else job for job in jobs]

    ended = list(run_in_batches([work("a", 3, seen), work("b", 2, seen)], make))
    assert sorted(ended) == [(0, "no money"), (1, "")]
    assert [s[:2] for s in seen] == [("a", 0), ("b", 0), ("b", 1)]


@pytest.mark.parametrize("raised", [True, False])
def test_an_inpainter_puts_off_in_place_or_all_at_once(raised):
    class Broke(Painter):
        def inpaint(self, requests):
            if raised:
                raise InpaintPutOffError("the budget is spent")
            made = super().inpaint(requests)
            return [made[0], InpaintPutOffError("the budget is spent"), *made[2:]]

    jobs = [make_job(), make_job(), make_job(hazard=make_hazard("refuse"))]
    first, second, third = make_edits(jobs, Broke())
    assert second == EditFailure("the budget is spent", put_off=True)
    assert third.put_off is raised
    assert isinstance(first, EditFailure if raised else Edit)
