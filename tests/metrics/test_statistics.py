"""Floor, comparison and breakdown on numbers small enough to check by hand."""

import re
from types import SimpleNamespace

import pytest

from cfgen.metrics.compare import cases_needed, mcnemar_power
from cfgen.metrics.intervals import Rate, blocks_of, difference
from cfgen.metrics.success import above_floor
from cfgen.records import recording_of
from cfgen.reporting.sections.success import sentence


def events(hits: int, n: int, start: int = 0) -> dict[str, float]:
    return {f"c{i:03d}": float(start <= i < start + hits) for i in range(n)}


def test_the_headline_is_above_the_declared_floor():
    controls = {"rerun": events(2, 60), "null": events(6, 60), "nuisance": {}}
    floor = above_floor(events(30, 60), controls)
    assert (floor.kind, floor.arms, len(floor.shared)) == ("mean", ("rerun", "null"), 60)
    assert floor.headline.value == pytest.approx((30 - (2 + 6) / 2) / 60)
    assert floor.headline.low < floor.headline.value < floor.headline.high
    assert floor.worst == "null"
    assert floor.conservative.value == pytest.approx((30 - 6) / 60)
    assert floor.above["rerun"].value == pytest.approx(28 / 60)
    assert set(floor.controls) == {"rerun", "null"}, "an arm that was not run is no floor"
    assert above_floor(events(30, 60), controls, "worst").headline == floor.conservative
    assert above_floor(events(30, 60), controls, "null").headline == floor.above["null"]
    absent = above_floor(events(30, 60), controls, "nuisance")
    assert (absent.headline.value, absent.arms, absent.shared) == (None, (), ())


def test_pairing_narrows_the_interval():
    """The same cases set off both arms: their difference is known better than each rate."""
    alike = difference(events(30, 60), [events(25, 60)])
    apart = difference(events(30, 60), [events(25, 60, start=35)])
    assert alike.value == apart.value
    assert alike.high - alike.low < 0.6 * (apart.high - apart.low)


def test_an_indifferent_planner_has_nothing_above_the_floor():
    same = events(20, 60)
    floor = above_floor(same, {"null": same, "nuisance": events(20, 60, start=10)})
    assert floor.headline.value == 0
    assert floor.headline.high <= 0.2
    assert floor.d_prime["null"] == 0


def test_a_planner_that_never_reacts_is_not_known_exactly():
    found = difference(events(0, 66), [events(0, 66)])
    assert found.value == 0
    assert found.high == -found.low == pytest.approx(Rate.of(0, 66).high)


def test_without_controls_there_is_no_headline_difference():
    floor = above_floor(events(3, 10), {})
    assert (floor.headline.value, floor.worst, floor.hazard.n) == (None, "", 10)


def test_cases_needed_have_the_power_at_the_level_that_holm_leaves():
    assert mcnemar_power(cases_needed(0.1, 0.2), 0.1, 0.2) >= 0.8
    # the normal approximation says 155
    assert 155 <= cases_needed(0.1, 0.2) < 175
    assert mcnemar_power(cases_needed(0.1, 0.2, tests=6), 0.1, 0.2, 0.05 / 6) >= 0.8
    assert cases_needed(0.1, 0.2, tests=6) > 1.4 * cases_needed(0.1, 0.2)
    assert cases_needed(0.2, 0.2) < cases_needed(0.1, 0.2) < cases_needed(0.05, 0.2)
    assert cases_needed(0.2, 0.0) == cases_needed(0.2, 0.2), (
        "a difference takes at least that many discordant cases"
    )


def test_the_headline_says_less_where_it_is_less_and_names_the_worst_arm():
    controls = {"rerun": events(30, 60), "null": events(20, 60)}
    above, below = (sentence("p", above_floor(events(n, 60), controls), "judge") for n in (50, 10))
    assert ": +41.7 percentage points (95% interval +" in above
    assert re.search(
        r"-25\.0 percentage points \(95% interval -\d+\.\d to -\d+\.\d, 60 cases\) against what judge", below
    )
    assert (
        "Against its worst control alone (rerun), which is too low on average: -33.3 percentage points (95% interval -"
        in below
    )
    assert "worst" not in sentence("p", above_floor(events(50, 60), {"null": controls["null"]}), "judge")


@pytest.mark.parametrize(
    ("extra", "recordings", "blocks", "said"),
    [
        # moments of one log that has no name but its source, 5 s apart: one recording, five stretches of 20 s
        (
            lambda i: {"t0_log_s": 5.0 * i},
            1,
            5,
            "20 s of driving (5 blocks; so few say little), as one drive",
        ),
        (lambda i: {"drive": f"run{i // 2}", "t0_in_drive_s": 1.0 * i}, 10, 10, "by drive (10 drives)"),
        (lambda i: {}, 20, 20, "by drive (20 drives)"),
    ],
)
def test_one_recording_is_one_drive(extra, recordings: int, blocks: int, said: str):
    """The same for intervals as for the split of training sets."""
    scenes = {f"c{i}": SimpleNamespace(extra=extra(i), source="log", scene_id=f"s{i}") for i in range(20)}
    found, words = blocks_of(scenes)
    assert len({recording_of(scene) for scene in scenes.values()}) == recordings
    assert len(set(found.values())) == blocks
    assert said in words
