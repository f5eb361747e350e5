"""Answers are sent and read whole up to a stated limit; past it the verdict says so."""

import time

import pytest

from cfgen.judge.each import judge_each
from cfgen.judge.offline.judge import OfflineJudge
from cfgen.judge.offline.reading import read
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.models.quote import MAX_CHARS, cut_notes, quote
from cfgen.records import Plan, Trace
from tests.judge.items import item, items

PLAN = Plan(waypoints=tuple((float(i), 0.0, 0.0) for i in range(1, 25)))
ROAD = "The road is straight and dry and goes on. "


def saying(words):
    return PLAN.model_copy(update={"trace": Trace(justification=words)})


@pytest.mark.parametrize("at", [5_500, 25_000, 199_000])
def test_a_hazard_named_late_is_read_and_sent(at):
    words = (ROAD * (at // len(ROAD))) + "A deer stands in our lane, so the car brakes."
    for found in (read(ROAD, PLAN, words, PLAN), read("", saying(ROAD), "", saying(words))):
        assert found.named == ("deer",)
        assert found.brake
    prompt = HAZARD.prompt(item(text=words))
    assert "A deer stands in our lane" in prompt[-1]
    assert "left out" not in prompt[-1]


def test_past_the_limit_the_model_and_the_verdict_are_told():
    long = "a " * MAX_CHARS
    assert f"[... {MAX_CHARS} characters left out ...]" in quote(long)
    assert cut_notes({"modified answer": long, "original answer": ROAD}) == (
        f"modified answer: {2 * MAX_CHARS} characters, {MAX_CHARS} of them were shown to the judge",
    )
    found = []
    judge_each(OfflineJudge(), items(1, text=long), found.append)
    assert "modified answer" in found[0].notes[0]


@pytest.mark.parametrize(
    "unit",
    [
        "car ",
        "the car ",
        "the car swerving. ",
        "<score",
        "<" + "score",
        "no ",
        "steer ",
        "a",
        "reduces ",
        "  ",
    ],
)
def test_200_000_characters_are_read_in_time_that_grows_as_they_do(unit):
    def taken(n: int) -> float:
        text = (unit * (n // len(unit) + 1))[:n]
        start = time.process_time()
        read(ROAD, PLAN, text if unit != "<score" else "<" + "score" * (n // 5), PLAN)
        return time.process_time() - start

    taken(1000)
    quarter = max(taken(MAX_CHARS // 4), 0.05)
    assert taken(MAX_CHARS) < 8 * quarter  # 4 if linear, 16 if quadratic
