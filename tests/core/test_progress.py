"""What is said of the time left, with a clock made up here."""

import pytest

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


def test_what_was_there_before_took_no_time(clock):
    progress = Progress("cases", 66, quiet=True, done=60)
    assert progress.left() is None
    go(progress, clock, [1], 10.0)
    assert progress.left() == pytest.approx(50)


def test_waiting_is_said_now_and_then(clock, capsys):
    progress = Progress("cases", 5)
    for _ in range(100):
        clock.now += 0.5
        progress.wait("(3 in hand elsewhere)")
    said = capsys.readouterr().err.splitlines()
    assert 5 < len(said) < 12
    assert all(line.startswith("cases 0/5") and line.endswith("(3 in hand elsewhere)") for line in said)
