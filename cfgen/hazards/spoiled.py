"""What spoils a place's past: by which rule, in which frame and where; in words that docs/hazards.md explains."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

#: The rules. No commas: tables take the first cause up to one.
STOOD = "on which a vehicle stood before"
LEFT = "off which a vehicle had just driven"
BARE_ROAD = "without road in a past frame"
BY_COLOURS = "of other colours in a past frame"
HIDDEN = "half hidden in a past frame"
OVER_LANE = "that it reaches only across a lane"
SLIPPING = "under which the road moves otherwise than the drive says"
UNSURE = "of which most past frames are unsure"


@dataclass(frozen=True)
class HistoryInconsistency:
    """One place without a plausible past.

    Attributes:
        rule: one of the above. t: of the first frame that was found to spoil it, s relative to t0. distance_m: of the
            place, along the path from the car at t0.
    """

    rule: str
    t: float
    distance_m: float

    def __str__(self) -> str:
        return f"{self.rule} (frame at {self.t:g} s)"


def in_detail(conflicts: Sequence[HistoryInconsistency]) -> str:
    """Where and in which frames each rule spoiled places, the commonest rule first; "" for none."""
    details = []
    for rule, _ in Counter(conflict.rule for conflict in conflicts).most_common():
        at, times = zip(*((c.distance_m, c.t) for c in conflicts if c.rule == rule), strict=True)
        frames = f"{min(times):g}" if min(times) == max(times) else f"{min(times):g} to {max(times):g}"
        details.append(f"{rule}: {min(at):.0f} to {max(at):.0f} m ahead by frames at {frames} s")
    return "; ".join(details)
