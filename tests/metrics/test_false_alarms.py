"""Hit rate minus false-alarm rate in miniature. `python -m benchmarks.false_alarms` is the long run."""

import numpy as np
import pytest

from benchmarks.false_alarms import BLIND, Known, blind, coverage, known
from cfgen.metrics.intervals import Rate

RUNS = 200


@pytest.mark.parametrize("name", BLIND)
def test_who_sees_nothing_gets_nothing(name: str):
    found = blind(BLIND[name], RUNS)
    assert found.unbiased
    assert found.covered >= 0.9
    assert 0.1 < found.width < 0.35


def test_who_answers_to_the_original_under_the_hazards_seed_would_not(monkeypatch: pytest.MonkeyPatch):
    """The simulation can fail: a seeded coin that is tossed for the nuisance frame alone."""
    assert not blind(lambda frame, seed, rng: 3.0 * (seed % 2 and frame.endswith("nuisance")), RUNS).unbiased


@pytest.mark.parametrize("drives", [0, 12])
@pytest.mark.parametrize(("hits", "alarms"), [(0.6, 0.1), (0.5, 0.5)])
def test_who_sees_gets_what_it_shows(hits: float, alarms: float, drives: int):
    found = known(Known(hits, alarms, drives=drives), RUNS)
    assert found.unbiased
    assert found.covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize("discordant", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("effect", [-0.95, 0.0, 0.3, 1.0])
def test_intervals_hold_over_the_square(discordant: float, effect: float):
    assert coverage(20, discordant, effect * discordant) >= 0.93


def test_exact_coverage_is_that_of_drawn_tables():
    """Of all-discordant pairs the difference is a share: Wilson's plain interval falls under 93% there."""
    share, n = 0.975, 20
    drawn = np.random.default_rng(0).binomial(n, share, 20_000)
    ends = {k: Rate.of(k, n) for k in range(n + 1)}
    wilson = np.mean([ends[k].low <= share <= ends[k].high for k in drawn])
    assert wilson < 0.92 < 0.93 <= coverage(n, 1.0, 2 * share - 1)
