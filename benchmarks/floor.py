"""The floor by simulation: is the headline unbiased, and does its interval cover what it says?

Planners draw their noise from the seed that they are given, as questions get it (`question_seed`); the judge credits
them with what they do against their answer to the original. One that ignores the picture has a true effect of 0. The
run in the test suite is a miniature of this one:

    python -m benchmarks.floor
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cfgen.metrics.success import above_floor
from cfgen.rollouts.inputs import question_seed

ARMS = ("rerun", "null", "nuisance")
EFFECTS = (0.0, 0.05, 0.15, 0.4)


@dataclass(frozen=True)
class Setting:
    """``noise``: chance that a planner brakes whatever it sees; it differs from case to case. ``effect``: what the
    hazard adds to the share of cases credited. ``drives``: cases come in so many, with one chance each; 0: they do not.
    """

    n: int
    controls: int
    effect: float
    noise: float = 0.2
    drives: int = 0


@dataclass(frozen=True)
class Found:
    """Over ``runs`` benchmarks: mean headline, and share of intervals that hold the true effect."""

    runs: int
    mean: float
    covered: float
    #: mean of the conservative figure, against the worst arm
    conservative: float


def simulate(setting: Setting, runs: int, seed: int = 0, resamples: int = 2) -> Found:
    values, held, worst = [], 0, []
    for run in range(runs):
        hazard, controls, blocks = _benchmark(setting, np.random.default_rng([seed, run]), seed + run)
        found = above_floor(hazard, controls, blocks=blocks, resamples=resamples)
        above = found.headline
        assert above.value is not None and above.low is not None and above.high is not None  # noqa: PT018
        values.append(above.value)
        worst.append(found.conservative.value or 0.0)
        held += above.low <= setting.effect <= above.high
    return Found(runs, float(np.mean(values)), held / runs, float(np.mean(worst)))


def _benchmark(
    setting: Setting, rng: np.random.Generator, seed: int
) -> tuple[dict[str, float], dict[str, dict[str, float]], dict[str, str]]:
    cases = [f"c{i}" for i in range(setting.n)]
    drive = rng.integers(0, setting.drives, setting.n) if setting.drives else np.arange(setting.n)
    noise = 2 * setting.noise * rng.random(max(setting.n, setting.drives))[drive]
    # credit takes a change against the original: (1 - noise) * noise of the cases in every arm
    idle = 1 - noise * (1 - noise)
    sees = rng.random(setting.n) < setting.effect / idle.mean()
    quiet = [not _brakes(seed, case, "original", p) for case, p in zip(cases, noise, strict=True)]
    arms = {
        arm: {case: float(quiet[i] and _brakes(seed, case, arm, noise[i])) for i, case in enumerate(cases)}
        for arm in ("hazard", *ARMS[: setting.controls])
    }
    hazard = {case: max(event, float(sees[i])) for i, (case, event) in enumerate(arms.pop("hazard").items())}
    return hazard, arms, {case: str(d) for case, d in zip(cases, drive, strict=True)}


def _brakes(seed: int, case: str, arm: str, chance: float) -> bool:
    """A seeded planner that ignores the picture."""
    return question_seed(seed, case, arm, 0) % 10_000 < chance * 10_000


def settings() -> Iterator[Setting]:
    for n in (30, 66, 300):
        for controls in (1, 2, 3):
            for effect in EFFECTS:
                yield Setting(n, controls, effect)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    runs = parser.parse_args().runs
    print(f"{runs} benchmarks each\n  n controls effect   mean  covered  against the worst")
    for one in settings():
        found = simulate(one, runs)
        print(
            f"{one.n:3d} {one.controls:8d} {100 * one.effect:6.1f} {100 * found.mean:6.2f} {100 * found.covered:7.1f}% "
            f"{100 * found.conservative:8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
