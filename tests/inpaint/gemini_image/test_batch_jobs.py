"""Batch jobs of pictures: one for a whole round, every way to end, and none paid for twice."""

import pytest

from cfgen.core.errors import InpaintPutOffError, InpaintRefusedError
from cfgen.inpaint.gemini_image import inpainter
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.registry import create_inpainter
from cfgen.models.limits import Ledger
from tests.inpaint.gemini_image.fake_images import (
    ImageServer,
    answer_with,
    is_critic,
    opinion,
    painted,
    prompt,
    refusal,
)
from tests.inpaint.gemini_image.requests import hazard, request
from tests.judge.fake_gemini import fault

pytest.importorskip("google.genai")
pytestmark = pytest.mark.usefixtures("small")


def spent(folder):
    """Requests, pictures and dollars, as the ledger has them."""
    total = Ledger(folder).total()
    return total.requests, total.images, total.usd


def ask(server, tmp_path, *requests, **options):
    fixed = {"base_url": server.url, "batch": True, "poll_s": 0.02, "quiet": True, "cache": str(tmp_path)}
    fixed["usd_image"] = 0.02
    return create_inpainter("nano-banana", fixed | options).inpaint(requests)


def test_a_round_is_one_job(tmp_path, monkeypatch):
    monkeypatch.setitem(inpainter.SIDES, "1K", 1600)  # some 9 MB, more than the SDK sends at once
    with ImageServer(polls=3) as server:
        found = ask(server, tmp_path, *map(request, range(3)))
        assert ask(server, tmp_path, *map(request, range(3)))[0].report == found[0].report
    assert [type(f) for f in found] == [InpaintResult] * 3
    [job] = server.jobs.values()
    assert len(job["lines"]) == 3
    assert job["polls"] == 4
    assert not (tmp_path / "jobs").is_dir() or not list((tmp_path / "jobs").iterdir())


def test_what_is_refused_goes_into_the_next_job_in_other_words(tmp_path):
    def answer(asked, number):
        if is_critic(asked):
            return opinion("a mattress" if number % 2 else "a road barrier")
        return (
            refusal()
            if "mattress" in prompt(asked) and "test image" not in prompt(asked)
            else painted(asked, 0)
        )

    mattress = hazard(name="mattress lying in the lane", prompt="a mattress")
    with ImageServer(answer) as server:
        found = ask(server, tmp_path, request(1), request(2, hazard=mattress))
        assert [type(f) for f in found] == [InpaintResult] * 2
        assert [len(j["lines"]) for j in server.jobs.values()] == [2, 1]
    assert [c["outcome"] for c in found[1].report["calls"]] == ["refused", "answered"]


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_a_job_that_fails_as_a_whole_leaves_the_cases_open_and_the_next_run_starts_another(state, tmp_path):
    with ImageServer() as server:
        server.states = [state, "SUCCEEDED"]
        found = ask(server, tmp_path, request(1), request(2))
        assert [type(f) for f in found] == [InpaintPutOffError] * 2
        assert f"batches/b0 ended as {state}" in str(found[0])
        assert "start another" in str(found[0])
        found = ask(server, tmp_path, request(1), request(2))
    assert [type(f) for f in found] == [InpaintResult] * 2
    assert len(server.jobs) == 2
    assert spent(tmp_path) == (4, 2, 0.04), "what failed was asked and cost nothing"


@pytest.mark.parametrize("state", ["SUCCEEDED", "PARTIALLY_SUCCEEDED", "EXPIRED"])
def test_rows_that_are_missing_go_into_another_job(state, tmp_path):
    with ImageServer() as server:
        server.states, server.lost = [state, "SUCCEEDED"], {(0, 1)}
        found = ask(server, tmp_path, *map(request, range(3)))
    assert [type(f) for f in found] == [InpaintResult] * 3
    assert [len(j["lines"]) for j in server.jobs.values()] == [3, 1]
    again = next(f for f in found if len(f.report["calls"]) > 1)
    assert f"ended ({state}) without an answer" in again.report["calls"][0]["reason"]
    assert spent(tmp_path) == (4, 3, 0.06)
    assert again.report["usage"]["usd"] == 0.02, "each picture is paid for once"


def test_a_job_that_expires_without_any_answer_is_tried_again_a_bounded_number_of_times(tmp_path):
    with ImageServer() as server:
        server.states = ["EXPIRED"]
        server.lost = {(job, row) for job in range(9) for row in range(2)}
        found = ask(server, tmp_path, request(1), request(2), retries=1)
    assert [type(f) for f in found] == [InpaintPutOffError] * 2
    assert "EXPIRED" in str(found[0])
    assert len(server.jobs) == 2
    assert spent(tmp_path) == (4, 0, None)


def test_rows_with_errors_are_tried_again_or_refused_by_their_class(tmp_path):
    def answer(asked, number):
        if "mattress" in prompt(asked):
            return fault(3, "the picture is too large")
        return fault(14, "try later") if number < 2 else painted(asked, number)

    mattress = hazard(name="mattress lying in the lane", prompt="a mattress")
    with ImageServer(answer) as server:
        good, bad = ask(server, tmp_path, request(1), request(2, hazard=mattress))
    assert isinstance(good, InpaintResult)
    assert isinstance(bad, InpaintRefusedError)
    assert "too large" in str(bad)


def test_a_job_under_way_is_picked_up_by_the_next_run(tmp_path, monkeypatch):
    from cfgen.models import batcher

    monkeypatch.setattr(batcher, "POLL_FAULTS", 1)
    with ImageServer(polls=10**9) as server:
        poll, down = server._poll, [True]
        server._poll = lambda name: fault(503) if down else poll(name)
        found = ask(server, tmp_path, request(1), request(2), retries=0)
        assert [type(f) for f in found] == [InpaintPutOffError] * 2
        down.clear()
        server.polls = 0
        found = ask(server, tmp_path, request(1), request(2))
    assert [type(f) for f in found] == [InpaintResult] * 2
    assert len(server.jobs) == 1


def interrupted(server, tmp_path, *requests):
    """A run that loses the service after it has sent its job."""
    poll, server._poll = server._poll, lambda name: fault(400, "the line is dead")
    ask(server, tmp_path, *requests, retries=0)
    server._poll = poll


def test_only_what_is_still_wanted_is_taken_from_a_job_and_only_what_is_new_goes_into_another(tmp_path):
    with ImageServer() as server:
        interrupted(server, tmp_path, *map(request, range(3)))
        found = ask(server, tmp_path, *map(request, (1, 2, 7)))
        assert [type(f) for f in found] == [InpaintResult] * 3
        assert [len(j["lines"]) for j in server.jobs.values()] == [3, 1]
        assert list((tmp_path / "jobs").iterdir()), "one answer of the first job was not asked for yet"
        assert isinstance(ask(server, tmp_path, request(0))[0], InpaintResult)
        assert not list((tmp_path / "jobs").iterdir())
    assert len(server.jobs) == 2


def test_a_job_that_the_service_has_forgotten_is_asked_again(tmp_path):
    with ImageServer() as server:
        interrupted(server, tmp_path, request(1))
        poll = server._poll
        server._poll = lambda name: fault(404, "no such job") if name == "batches/b0" else poll(name)
        assert isinstance(ask(server, tmp_path, request(1))[0], InpaintResult)
    assert len(server.jobs) == 2


def test_another_model_takes_nothing_from_a_job(tmp_path):
    with ImageServer() as server:
        interrupted(server, tmp_path, request(1))
        ask(server, tmp_path, request(1), model="another")
    assert len(server.jobs) == 2


def test_a_budget_bounds_a_job(tmp_path):
    with ImageServer() as server:
        found = ask(server, tmp_path, *map(request, range(4)), max_usd=0.05)
    assert [type(f) for f in found].count(InpaintPutOffError) == 2
    assert [len(j["lines"]) for j in server.jobs.values()] == [2]


def test_a_job_that_is_still_under_way_counts_towards_the_budget_and_is_not_paid_for_twice(tmp_path):
    with ImageServer() as server:
        interrupted(server, tmp_path, *map(request, range(3)))
        found = ask(server, tmp_path, request(7), request(8), max_usd=0.08)
        assert sorted(type(f).__name__ for f in found) == ["InpaintPutOffError", "InpaintResult"]
        found = ask(server, tmp_path, *map(request, range(3)), request(9), max_usd=0.08)
        assert [type(f) for f in found] == [InpaintResult] * 3 + [InpaintPutOffError]
    assert [len(j["lines"]) for j in server.jobs.values()] == [3, 1]
    assert spent(tmp_path)[1:] == (4, 0.08)


def test_waiting_is_told(tmp_path, capsys):
    with ImageServer(lambda r, n: answer_with(b"x"), polls=2) as server:
        ask(server, tmp_path, request(1), quiet=False, rewordings=0)
    assert "batches/b0: 1 questions, waited for 0 min" in capsys.readouterr().err
