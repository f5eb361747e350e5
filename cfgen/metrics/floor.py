"""Response above the floor: what is credited for a hazard, minus what is credited to plans that never saw it.

In a sham pair the judge sees the original frame and answer, the hazard's frame, and the answer that the planner gave
in a control arm, as if it were that to the hazard. What succeeds there is a false alarm. The floor is declared before
anything is scored; arms are paired by case.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scipy.special import ndtri

from cfgen.metrics.paired import NOTHING, Blocks, Difference, Events, difference, worst_difference
from cfgen.metrics.rates import Rate
from cfgen.records import FloorKind


@dataclass(frozen=True)
class Floor:
    """The hazard arm against its controls.

    Attributes:
        hazard: rate of the event in the hazard arm.
        controls: its rate in every control arm there is: the false alarms.
        kind: the floor that was declared.
        arms: those that the floor is made of. shared: the cases that the hazard and all of them have.
        headline: hazard minus the floor on those cases; nothing where the declared arm is not there.
        above: hazard minus each control, paired by case.
        worst: the control arm with the most events on the cases that all have; "" without controls.
        conservative: hazard minus the worst arm. With several arms it is too low on average.
        d_prime: hit rate against each control's false-alarm rate, in standard deviations.
    """

    hazard: Rate
    controls: dict[str, Rate]
    kind: FloorKind
    arms: tuple[str, ...]
    shared: tuple[str, ...]
    headline: Difference
    above: dict[str, Difference]
    worst: str
    conservative: Difference
    d_prime: dict[str, float]


def above_floor(
    hazard: Events,
    controls: Mapping[str, Events],
    kind: FloorKind = "mean",
    blocks: Blocks | None = None,
    seed: int = 0,
    resamples: int = 4000,
) -> Floor:
    """Compare the hazard arm with its controls; arms without any case are left out."""
    controls = {arm: events for arm, events in controls.items() if events}
    rates = {arm: Rate.of(sum(e.values()), len(e)) for arm, e in controls.items()}
    hit = Rate.of(sum(hazard.values()), len(hazard))
    arms = tuple(arm for arm in controls if kind in (arm, "mean", "worst"))
    floor = [controls[arm] for arm in arms]
    common = sorted(set(hazard).intersection(*controls.values())) if controls else []
    conservative = worst_difference(hazard, list(controls.values()), blocks, seed, resamples)
    return Floor(
        hazard=hit,
        controls=rates,
        kind=kind,
        arms=arms,
        shared=tuple(sorted(set(hazard).intersection(*floor))) if floor else (),
        headline=conservative if kind == "worst" else difference(hazard, floor, blocks) if floor else NOTHING,
        above={arm: difference(hazard, [events], blocks) for arm, events in controls.items()},
        worst=max(controls, key=lambda arm: _mean(controls[arm], common), default="") if common else "",
        conservative=conservative,
        d_prime={arm: d_prime(hit, rate) for arm, rate in rates.items() if hit.n},
    )


def d_prime(hit: Rate, false_alarm: Rate) -> float:
    """z(hits) - z(false alarms), with half an event added to each side so that 0 and 1 stay finite."""
    shares = [(rate.hits + 0.5) / (rate.n + 1) for rate in (hit, false_alarm)]
    return float(ndtri(shares[0]) - ndtri(shares[1]))


def _mean(events: Events, cases: list[str]) -> float:
    return sum(events[case] for case in cases) / len(cases)
