"""What is said of the time left, with a clock made up here."""

from collections import Counter

import pytest

from cfgen.build import _Note
from cfgen.core import progress as progressing
from cfgen.core.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progressing, "time", made)
    return made


def go(progress: Progress, clock: Clock, outcomes: list[int], each: float) -> None:
    for by in outcomes:
        clock.now += each
        progress.step(by=by)


def test_replacements_that_are_all_refused_promise_nothing(clock, capsys):
    progress = Progress("cases", 48)
    go(progress, clock, [1] * 46 + [0] * 2, 5.0)
    assert progress.left() == pytest.approx(10, rel=0.2)
    progress.forget()
    capsys.readouterr()
    go(progress, clock, [0] * 100, 8.0)
    said = capsys.readouterr().err
    assert "cases 46/48" in said
    assert "time left unknown" in said
    assert " s left" not in said
    go(progress, clock, [1], 8.0)
    assert progress.left() == pytest.approx(101 * 8 / 4, rel=0.1), "as fast as the latest quarter went"


def test_an_unsteady_rate_is_that_of_the_latest_outcomes(clock):
    progress = Progress("x", 1000, quiet=True)
    go(progress, clock, [1] * 100, 1.0)
    go(progress, clock, [1] * 40, 10.0)
    assert progress.left() == pytest.approx(860 * 10, rel=0.1)


def test_batches_that_end_all_at_once_count_with_the_time_they_took(clock):
    progress = Progress("plans", 640, quiet=True)
    for _ in range(3):
        clock.now += 64.0
        go(progress, clock, [1] * 64, 0.0)
    assert progress.left() == pytest.approx(448, rel=0.5)


def test_what_was_there_before_took_no_time(clock):
    progress = Progress("cases", 66, quiet=True, done=60)
    assert progress.left() is None
    go(progress, clock, [1], 10.0)
    assert progress.left() == pytest.approx(50)


def test_replacing_says_so_and_how_many_pairs_are_left():
    note = _Note(untried=12, replacing=True, outcomes=Counter(refused=3, broken=1))
    assert (
        note.words(None) == "(trying replacements, 8 (scene, hazard) pairs left to try, 3 refused, 1 broken)"
    )
    assert _Note(12, False).words(None) == ""
