"""Hit rate minus false-alarm rate by simulation: 0 for who sees nothing, right for who sees, and its interval true?

Planners that are blind to content answer through the same plans and the same credit as others: a plan that is held back
by 2 m or more against the original's by the time the original gets to the hazard. Planners that see have hit and
false-alarm rates that are known. The run in the test suite is a miniature of this one:

    python -m benchmarks.false_alarms
"""

import argparse
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import beta, multinomial

from cfgen.metrics.intervals import Difference, difference
from cfgen.rollouts.inputs import question_seed

CASES, RUNS = 66, 2000
#: m that a plan has to be held back to be credited
HELD_BACK_M = 2.0
#: of drives, where cases of one are alike: intraclass correlation
ALIKE = 0.2


@dataclass(frozen=True)
class Outcome:
    """Over ``runs`` benchmarks: mean difference off the true one with its Monte-Carlo error, share of intervals that
    hold the true one, and their mean width."""

    runs: int
    bias: float
    error: float
    covered: float
    width: float

    @property
    def unbiased(self) -> bool:
        return abs(self.bias) <= 3 * self.error

    def __str__(self) -> str:
        return (
            f"off by {100 * self.bias:+5.2f} (3 errors: {300 * self.error:4.2f})  covered {100 * self.covered:5.1f}%  "
            f"width {100 * self.width:5.1f}"
        )


def outcome(differences: Sequence[Difference], true: float) -> Outcome:
    values = np.array([d.value for d in differences], float)
    low, high = (np.array([getattr(d, end) for d in differences], float) for end in ("low", "high"))
    assert (high > low).all(), "an interval of width zero"
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    covered = float(((low <= true + 1e-9) & (true - 1e-9 <= high)).mean())
    return Outcome(len(values), float(values.mean()) - true, error, covered, float((high - low).mean()))


def compared(hits: np.ndarray, alarms: np.ndarray, drive: np.ndarray | None = None) -> Difference:
    """What the report says of ``hits`` and ``alarms`` (N,) bool, of cases in ``drive`` (N,) int."""
    names = [f"c{i}" for i in range(len(hits))]
    blocks = None if drive is None else {case: str(d) for case, d in zip(names, drive, strict=True)}
    hazard, nuisance = (dict(zip(names, map(float, e), strict=True)) for e in (hits, alarms))
    return difference(hazard, nuisance, blocks)


# --- planners that are blind to content ----------------------------------------------------------------

#: frame or question (a string), generator of the run -> braking, m/s^2
Blind = Callable[[str, int, np.random.Generator], float]


def _bits(frame: str) -> int:
    return int.from_bytes(hashlib.sha256(frame.encode()).digest()[:4], "big")


BLIND: dict[str, Blind] = {
    "constant": lambda frame, seed, rng: 0.0,
    "always braking at 2": lambda frame, seed, rng: 2.0,
    "always braking at 3": lambda frame, seed, rng: 3.0,
    "always braking at 5": lambda frame, seed, rng: 5.0,
    "coin, not seeded": lambda frame, seed, rng: 3.0 * (rng.random() < 0.5),
    "coin, seeded": lambda frame, seed, rng: 3.0 * (seed % 2),
    "coin, 1 of 5, seeded": lambda frame, seed, rng: 3.0 * (seed % 5 == 0),
    "coin by the frame's hash": lambda frame, seed, rng: 3.0 * (_bits(frame) % 2),
    "plan by the frame's hash": lambda frame, seed, rng: 6.0 * (_bits(frame) / 2**32),
}


def blind(planner: Blind, runs: int, cases: int = CASES, seed: int = 0) -> Outcome:
    """Its answer to the nuisance frame is judged as if it were that to the hazard; the true difference is 0."""
    differences = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        speed, distance = rng.uniform(5, 25, cases), rng.uniform(10, 60, cases)
        answers = {
            arm: np.array(
                [
                    planner(f"{run} {i} {arm}", question_seed(seed + run, f"c{i}", arm, 0), rng)
                    for i in range(cases)
                ]
            )
            for arm in ("original", "hazard", "nuisance")
        }
        held = {
            arm: credited(speed, distance, answers["original"], answers[arm])
            for arm in ("hazard", "nuisance")
        }
        differences.append(compared(held["hazard"], held["nuisance"]))
    return outcome(differences, 0.0)


def credited(speed: np.ndarray, distance: np.ndarray, original: np.ndarray, brake: np.ndarray) -> np.ndarray:
    """(N,) bool: held back where the original gets to ``distance``, m, or after 6 s. Speeds m/s, braking m/s^2."""

    def way(t: np.ndarray, decel: np.ndarray) -> np.ndarray:
        until = np.minimum(t, speed / np.maximum(decel, 1e-9))
        return speed * until - decel * until**2 / 2

    left = np.sqrt(np.maximum(speed**2 - 2 * original * distance, 0.0))
    arrives = speed**2 - 2 * original * distance > 0
    t = np.where(arrives, np.minimum(2 * distance / (speed + left), 6.0), 6.0)
    return way(t, original) - way(t, brake) >= HELD_BACK_M


# --- planners that see, with rates that are known ------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """``together``: hits and false alarms are set off by the same cases, as far as their rates allow. ``drives``: over
    which cases are spread at random, each with rates of its own; 0: they are not alike."""

    hits: float
    alarms: float
    together: bool = False
    drives: int = 0
    cases: int = CASES


def known(setting: Known, runs: int, seed: int = 0) -> Outcome:
    differences = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        drive = rng.integers(0, setting.drives, setting.cases) if setting.drives else np.arange(setting.cases)
        u = rng.random((2, setting.cases))
        hits = u[0] < _rates(setting.hits, setting.drives, rng)[drive if setting.drives else 0]
        alarms = (
            u[0 if setting.together else 1]
            < _rates(setting.alarms, setting.drives, rng)[drive if setting.drives else 0]
        )
        differences.append(compared(hits, alarms, drive))
    return outcome(differences, setting.hits - setting.alarms)


def _rates(rate: float, drives: int, rng: np.random.Generator) -> np.ndarray:
    """Of each drive, with mean ``rate`` and intraclass correlation :data:`ALIKE`."""
    if not drives or rate in (0.0, 1.0):
        return np.full(max(drives, 1), rate)
    spread = (1 - ALIKE) / ALIKE
    return beta.rvs(rate * spread, (1 - rate) * spread, size=drives, random_state=rng)


def settings(cases: int) -> Iterator[Known]:
    for drives in (0, 12, 30):
        for hits, alarms in ((0.0, 0.0), (0.1, 0.1), (0.5, 0.5), (0.3, 0.0), (0.6, 0.1), (0.95, 0.05)):
            yield Known(hits, alarms, drives=drives, cases=cases)
        yield Known(0.5, 0.3, together=True, drives=drives, cases=cases)


# --- the whole square of agreement and effect, exactly -------------------------------------------------


@cache
def intervals(cases: int) -> tuple[np.ndarray, np.ndarray]:
    """(K, 2) discordant counts b, c of ``cases`` independent pairs, and (K, 2) their intervals."""
    counts = np.array([(b, c) for b in range(cases + 1) for c in range(cases + 1 - b)])
    place = np.arange(cases)
    found = [compared(place < b, (b <= place) & (place < b + c)) for b, c in counts]
    return counts, np.array([(d.low, d.high) for d in found], float)


def coverage(cases: int, discordant: float, effect: float) -> float:
    """Chance that the interval holds ``effect`` where so large a share of cases is discordant; exact."""
    counts, ends = intervals(cases)
    first, second = (discordant + effect) / 2, (discordant - effect) / 2
    shares = np.clip([first, second, 1 - discordant], 0.0, 1.0)
    table = np.column_stack([counts, cases - counts.sum(axis=1)])
    chance = multinomial.pmf(table, cases, shares / shares.sum())
    inside = (ends[:, 0] <= effect + 1e-9) & (effect - 1e-9 <= ends[:, 1])
    return float(chance[inside].sum())


def square(cases: int, steps: int = 40) -> np.ndarray:
    """Coverage at every agreement 0 to 1 and effect -1 to 1 that go together."""
    shares = np.linspace(0.0, 1.0, steps + 1)
    return np.array([coverage(cases, d, e) for d in shares for e in np.linspace(-d, d, steps + 1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    print(f"blind to content, {runs} benchmarks of {CASES} cases each; percentage points")
    for name, planner in BLIND.items():
        print(f"  {name:26s} {blind(planner, runs)}", flush=True)
    for cases in (20, 30, 66):
        print(f"rates that are known, {runs} benchmarks of {cases} cases each")
        for setting in settings(cases):
            where = f"{setting.drives} drives" if setting.drives else "no drives"
            together = ", by the same cases" if setting.together else ""
            rates = f"{100 * setting.hits:3.0f} - {100 * setting.alarms:2.0f}"
            print(f"  {rates} {where}{together:20s} {known(setting, runs)}", flush=True)
    for cases in (20, 30, 66):
        covered = square(cases)
        print(
            f"square of agreement and effect, {cases} cases, exact: least {100 * covered.min():.1f}%, "
            f"mean {100 * covered.mean():.1f}%, under 93%: {100 * (covered < 0.93).mean():.1f}% of it"
        )


if __name__ == "__main__":
    main()
