"""The floor in miniature: planners whose true effect is known. `python -m benchmarks.floor` is the long run."""

import numpy as np
import pytest

from benchmarks import floor
from benchmarks.floor import Setting, simulate

RUNS = 250


@pytest.mark.parametrize("controls", [1, 3])
@pytest.mark.parametrize("effect", [0.0, 0.15])
def test_the_headline_is_unbiased_and_its_interval_covers(controls: int, effect: float):
    """Bounds are three standard errors of so few runs around the true effect and around 95%."""
    setting = Setting(30, controls, effect)
    found = simulate(setting, RUNS)
    spread = np.sqrt(0.16 * (1 + 1 / controls) + effect) / np.sqrt(30 * RUNS)
    assert found.mean == pytest.approx(effect, abs=3 * spread)
    assert found.covered == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / RUNS))
    if controls > 1:
        assert found.conservative < found.mean - 0.01, "the worst of several arms is no unbiased floor"


def test_drives_that_differ_need_their_blocks():
    """Twelve drives, each with a chance of its own to react: blocks keep the interval honest."""
    found = simulate(Setting(36, 1, 0.0, noise=0.3, drives=12), RUNS)
    assert found.covered == pytest.approx(0.95, abs=0.04)


def test_a_hazard_arm_under_the_original_seeds_would_be_biased(monkeypatch: pytest.MonkeyPatch):
    """A planner that draws from its seed and ignores the picture would never differ there, but in a rerun it would."""
    drawn = floor.question_seed

    def shared(seed: int, case: str, arm: str, repeat: int) -> int:
        return drawn(seed, case, "original" if arm == "hazard" else arm, repeat)

    monkeypatch.setattr(floor, "question_seed", shared)
    assert simulate(Setting(30, 1, 0.0), 60).mean < -0.1
