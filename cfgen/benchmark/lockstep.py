"""Work that asks for edits step by step, many pieces side by side, so that an inpainter sees them as whole batches."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from cfgen.core.faults import contained
from cfgen.inpaint.job import Edit, EditFailure, EditJob
from cfgen.records import Fault

Edits = list[Edit | EditFailure]
#: Asks for edits, is sent them in their order, asks again, and ends.
Work = Generator[list[EditJob], Edits, Any]


def merge_work(works: Sequence[Work]) -> Work:
    """Several pieces of work as one: each of its steps asks for all that they ask for next."""
    requests = {index: jobs for index, work in enumerate(works) if (jobs := _next(work, None)) is not None}
    while requests:
        edits = iter((yield [job for jobs in requests.values() for job in jobs]))
        answers = {index: [next(edits) for _ in jobs] for index, jobs in requests.items()}
        following = {index: _next(works[index], answer) for index, answer in answers.items()}
        requests = {index: jobs for index, jobs in following.items() if jobs is not None}


def contain_faults(
    work: Work, broke: Callable[[Fault], object], where: str, inputs: Mapping[str, Any], strict: bool = False
) -> Work:
    """``work``, ended by what breaks in it: ``broke`` is told, and what runs beside it goes on."""
    answer: Edits | None = None
    while True:
        jobs = contained(partial(_next, work, answer), where, inputs, strict)
        if isinstance(jobs, Fault):
            broke(jobs)
        if jobs is None or isinstance(jobs, Fault):
            return
        answer = yield jobs


def run_in_batches(
    works: Sequence[Work], make: Callable[[Sequence[EditJob]], Edits]
) -> Iterator[tuple[int, str]]:
    """Run all of them in step; yields the index of each as it ends, with why it was put off, or "".

    A piece of work is put off as soon as one of its edits is: it gets none of that step's answers.
    """
    requests: dict[int, list[EditJob]] = {}
    for index, work in enumerate(works):
        if (jobs := _next(work, None)) is None:
            yield index, ""
        else:
            requests[index] = jobs
    while requests:
        edits = iter(make([job for jobs in requests.values() for job in jobs]))
        answers = {index: [next(edits) for _ in jobs] for index, jobs in requests.items()}
        requests = {}
        for index, answer in answers.items():
            late = next((a.reason for a in answer if isinstance(a, EditFailure) and a.put_off), "")
            if late:
                works[index].close()
                yield index, late
            elif (jobs := _next(works[index], answer)) is None:
                yield index, ""
            else:
                requests[index] = jobs


def _next(work: Work, answer: Edits | None) -> list[EditJob] | None:
    """What it asks for next; None when it has ended."""
    try:
        return next(work) if answer is None else work.send(answer)
    except StopIteration:
        return None
