"""How often plans that no car drives are called so, and how often honest ones are.

Starts from the demo scenes and from real drives, where $CFGEN_REAL is set: each scene's speed, history and recorded
way. Honest plans brake, swerve, change lanes, shake a little, are rounded, cut short, or begin at a somewhat wrong
speed; incoherent ones zigzag, are scrambled, jump back, leap, stop at once, or drive off. "Scores 2" is what the
offline judge's waypoint score does for a hazard in the lane.

Usage: python benchmarks/coherence.py [PLANS PER KIND] [SEED]
"""

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cfgen.geometry.coherence import incoherent  # noqa: E402
from cfgen.geometry.driving import CarState  # noqa: E402
from cfgen.judge.offline.judge import score_waypoints  # noqa: E402
from cfgen.judge.offline.motion import compare  # noqa: E402
from cfgen.planners.responders import TIMES, Baseline  # noqa: E402
from cfgen.records import Plan  # noqa: E402
from cfgen.scenes.folder import load_scene  # noqa: E402

Rng = np.random.Generator
Make = Callable[[Rng, Baseline, CarState], np.ndarray]
T = TIMES[1:]


def braked(base: Baseline, start: float, decel: float) -> np.ndarray:
    return base.follow(base._braked(start, decel))


def eased(base: Baseline, rng: Rng, offset: float, back: bool) -> np.ndarray:
    """Aside within some seconds, and back again or not; at most 3 m/s^2 to the side."""
    takes = max(np.sqrt(6 * abs(offset) / 3.0), 1.5) * rng.uniform(1.0, 1.6)
    begins = rng.uniform(0, 1.0)
    part = np.clip((TIMES - begins) / takes, 0, 1)
    if back:
        part = part - np.clip((TIMES - begins - takes - 0.3) / takes, 0, 1)
    return base.follow(lateral=offset * part**2 * (3 - 2 * part))


def noisy(rng: Rng, plan: np.ndarray) -> np.ndarray:
    plan = plan.copy()
    plan[:, :2] += np.cumsum(rng.normal(0, 0.02, (24, 2)), 0) + rng.normal(0, rng.uniform(0, 0.08), (24, 2))
    return plan


HONEST: dict[str, Make] = {
    "keeps on": lambda r, b, s: b.follow(),
    "brakes": lambda r, b, s: braked(b, r.uniform(0, 2), r.uniform(0.5, 5)),
    "brakes hard": lambda r, b, s: braked(b, r.uniform(0, 1), r.uniform(5, 9)),
    "swerves": lambda r, b, s: eased(b, r, r.uniform(0.8, 3.5) * r.choice([-1, 1]), back=False),
    "swerves and back": lambda r, b, s: eased(b, r, r.uniform(0.8, 3.5) * r.choice([-1, 1]), back=True),
    "wrong speed": lambda r, b, s: b.follow(b.s * r.uniform(0.85, 1.15)),
    "slows and goes on": lambda r, b, s: b.follow(
        b.s - np.minimum(b.s, 8.0) * (1 - np.exp(-TIMES / 2)) * 0.6
    ),
    "shakes": lambda r, b, s: noisy(r, braked(b, r.uniform(0, 2), r.uniform(0.5, 5))),
    "rounded": lambda r, b, s: np.round(braked(b, r.uniform(0, 2), r.uniform(0.5, 5)), 1),
    "rounded to half metres": lambda r, b, s: np.round(2 * braked(b, r.uniform(0, 2), r.uniform(0.5, 5))) / 2,
    "cut short": lambda r, b, s: braked(b, r.uniform(0, 2), r.uniform(0.5, 5))[: r.integers(12, 20)],
    "at 2 Hz": lambda r, b, s: two_hertz(braked(b, r.uniform(0, 2), r.uniform(0.5, 5))),
}


def two_hertz(plan: np.ndarray) -> np.ndarray:
    """As a planner that gives straight lines between points half a second apart."""
    t = np.concatenate([[0.0], T[1::2]])
    return np.column_stack([np.interp(T, t, np.concatenate([[0.0], plan[1::2, k]])) for k in range(3)])


def zigzag(rng: Rng, base: Baseline, start: CarState) -> np.ndarray:
    period, size = rng.uniform(0.5, 1.8), rng.uniform(0.8, 3.0)
    corner = 2 * np.abs(2 * ((TIMES / period + 0.25) % 1) - 1) - 1
    return base.follow(brake(base, rng), size * corner)


def brake(base: Baseline, rng: Rng) -> np.ndarray:
    """m along the path: braking, so that only the motion is wrong with the plan."""
    return base._braked(rng.uniform(0, 1), rng.uniform(1, 4))


def scrambled(rng: Rng, base: Baseline, start: CarState) -> np.ndarray:
    plan = base.follow(brake(base, rng))
    chosen = rng.permutation(24)[: rng.integers(6, 25)]
    plan[np.sort(chosen)] = plan[chosen]
    return plan


def jumps_back(rng: Rng, base: Baseline, start: CarState) -> np.ndarray:
    s = brake(base, rng)
    k = rng.integers(4, 20)
    s[k:] -= rng.uniform(4, 25)
    return base.follow(s)


def leaps(rng: Rng, base: Baseline, start: CarState) -> np.ndarray:
    aside = np.zeros(25)
    aside[rng.integers(2, 10) :] = rng.uniform(2.5, 8) * rng.choice([-1, 1])
    return base.follow(brake(base, rng), aside)


def stands(rng: Rng, base: Baseline, start: CarState) -> np.ndarray:
    return np.zeros((24, 3)) + np.array([rng.uniform(0, 1), 0, 0])


def spins(rng: Rng, base: Baseline, start: CarState) -> np.ndarray:
    turn = rng.uniform(2, 6) * T
    return (
        np.column_stack([3 * np.cos(turn) - 3, 3 * np.sin(turn), turn]) + np.array([1.0, 0, 0]) * start.speed
    )


INCOHERENT: dict[str, Make] = {
    "zigzag": zigzag,
    "scrambled": scrambled,
    "jumps back": jumps_back,
    "leaps aside": leaps,
    "stands at once": stands,
    "spins": spins,
    "noise": lambda r, b, s: (
        b.follow(brake(b, r)) + np.column_stack([r.normal(0, 1.5, (24, 2)), np.zeros(24)])
    ),
}


def starts() -> list[tuple[Baseline, CarState]]:
    """Of every scene in which the car moves at 4 m/s or more."""
    folders = sorted((ROOT / "scenarios" / "scenes").glob("*/scene.json"))
    if real := os.environ.get("CFGEN_REAL"):
        folders += sorted(Path(real).glob("*/scenes/*/scene.json"))
    found = []
    for file in folders:
        try:
            scene = load_scene(file.parent).scene
        except Exception as error:
            print(f"left out {file.parent.name}: {str(error)[:80]}")
            continue
        if scene.speed >= 4:
            found.append((Baseline.of(scene.history, scene.future), CarState.of(scene.history)))
    return found


def score(base: Baseline, start: CarState, plan: np.ndarray) -> tuple[int, int, str]:
    """Of the offline judge, for something in the lane three seconds ahead; what it is without asking; and why."""
    x, y, _ = base.path.at(max(3 * start.speed, 8.0), np.linspace(-0.5, 0.5, 5))
    before, after = (Plan(waypoints=tuple(map(tuple, p.tolist()))) for p in (base.follow(), plan))
    why, moves = incoherent(plan, start), compare(before, after, np.column_stack([x, y]))
    return score_waypoints(moves, why)[0], score_waypoints(moves)[0], why


def main() -> None:
    """Prints counts by kind."""
    n, seed = (int(a) for a in (*sys.argv[1:], *("20", "1")[len(sys.argv) - 1 :]))
    rng = np.random.default_rng(seed)
    ways = starts()
    print(f"{len(ways)} scenes, {n} plans a kind: called incoherent; score 2; score 2 if it were not asked")
    for title, kinds in (("honest", HONEST), ("incoherent", INCOHERENT)):
        total: Counter[str] = Counter()
        for kind, make in kinds.items():
            found: Counter[str] = Counter()
            for _ in range(n):
                base, start = ways[rng.integers(len(ways))]
                value, unasked, why = score(base, start, make(rng, base, start))
                found.update(called=bool(why), twos=value == 2, unasked=unasked == 2)
            total.update(found)
            print(
                f"{title:11} {kind:24} {found['called']:5} {found['twos']:5} {found['unasked']:5}", flush=True
            )
        print(
            f"{title:11} {f'all {n * len(kinds)}':24} {total['called']:5} {total['twos']:5} {total['unasked']:5}"
        )


if __name__ == "__main__":
    main()
