"""What is said of the time left, with a clock made up here."""

import pytest

from cfgen.benchmark.builder import Outcome
from cfgen.benchmark.tally import ProgressNote
from cfgen.core import progress as progressing
from cfgen.core.progress import Progress
from cfgen.hazards.placement import UNSUITED
from cfgen.records import Planned


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


def test_counts_go_on_from_round_to_round_and_what_is_done_promises_nothing(clock, capsys):
    note, progress = ProgressNote(), Progress("cases", 2)
    planned = Planned(case_id="a", scene_id="s", hazard_id="h", round=0)
    note.begin(12, replacing=False)
    for status in ("refused", "refused", "broken"):
        note.count(Outcome(planned, status))
    note.count(Outcome(planned, "refused", f"{UNSUITED} no rails in view or told of"))
    assert (note.untried, note.words(None)) == (8, "(2 refused, 1 not drawn from, 1 broken)")
    note.begin(8, replacing=True)
    note.count(Outcome(planned, "refused"))
    assert (
        note.words(None) == "(trying replacements, 7 (scene, hazard) pairs left to try, 3 refused, "
        "1 not drawn from, 1 broken)"
    )
    go(progress, clock, [1], 5.0)
    progress.step(note.words(None, finished=True))
    assert (
        capsys.readouterr().err.splitlines()[-1] == "cases 2/2  5 s  (3 refused, 1 not drawn from, 1 broken)"
    )
    assert ProgressNote().words(None) == ""


def test_waiting_is_said_now_and_then(clock, capsys):
    progress = Progress("cases", 5)
    for _ in range(100):
        clock.now += 0.5
        progress.wait("(3 in hand elsewhere)")
    said = capsys.readouterr().err.splitlines()
    assert 5 < len(said) < 12
    assert all(line.startswith("cases 0/5") and line.endswith("(3 in hand elsewhere)") for line in said)
