"""Response, comparison and breakdown on numbers small enough to check by hand."""

import re
from types import SimpleNamespace

import pytest

from cfgen.metrics.compare import cases_needed, mcnemar_power
from cfgen.metrics.intervals import Rate, blocks_of, difference
from cfgen.metrics.success import response
from cfgen.records import recording_of
from cfgen.reporting.sections.success import sentence


def events(hits: int, n: int, start: int = 0) -> dict[str, float]:
    return {f"c{i:03d}": float(start <= i < start + hits) for i in range(n)}


def test_a_response_is_hits_minus_false_alarms_and_nothing_is_averaged():
    controls = {"rerun": events(2, 60), "null": events(50, 60), "nuisance": events(6, 60)}
    found = response(events(30, 60), controls)
    assert found.difference.value == pytest.approx((30 - 6) / 60)
    assert found.difference == difference(events(30, 60), events(6, 60)), "no other arm moves it"
    assert found.difference.low < found.difference.value < found.difference.high
    assert (found.hits, found.false_alarms) == (Rate.of(30, 60), Rate.of(6, 60))
    assert {arm: rate.hits for arm, rate in found.controls.items()} == {"rerun": 2, "null": 50, "nuisance": 6}
    absent = response(events(3, 10), {"rerun": events(2, 10), "nuisance": {}})
    assert (absent.difference.value, absent.false_alarms.n, absent.hits.n) == (None, 0, 10)
    assert set(absent.controls) == {"rerun"}


def test_pairing_narrows_the_interval():
    """The same cases set off both arms: their difference is known better than each rate."""
    alike = difference(events(30, 60), events(25, 60))
    apart = difference(events(30, 60), events(25, 60, start=35))
    assert alike.value == apart.value
    assert alike.high - alike.low < 0.6 * (apart.high - apart.low)


@pytest.mark.parametrize("hits", [0, 33, 66])
def test_no_interval_has_a_width_of_zero(hits: int):
    found = difference(events(hits, 66), events(hits, 66))
    assert (found.value, found.p) == (0, 1.0)
    assert 0.05 < found.high < 0.08
    assert found.low == pytest.approx(-found.high)


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


def test_the_sentence_has_hits_first_and_the_sign_of_the_difference():
    controls = {"nuisance": events(25, 60)}
    above, below = (sentence("p", response(events(n, 60), controls)) for n in (50, 10))
    assert above.startswith("p answers 83.3% (95% interval 72.0-90.7, 60 cases) of the hazards")
    assert re.search(
        r"J\): \+41\.7 percentage points \(95% interval \+\d+\.\d to \+\d+\.\d, 60 cases, mid-p <", above
    )
    assert re.search(
        r"J\): -25\.0 percentage points \(95% interval -\d+\.\d to -\d+\.\d, 60 cases, mid-p", below
    )
    assert "alarm" not in sentence("p", response(events(50, 60), {}))


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
