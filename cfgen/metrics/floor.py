"""Response above the floor: what a planner does about a hazard, minus what it does without one.

Arms are paired by case. The floor is the control arm with the most events, found anew in every bootstrap draw, so
that the headline errs on the low side. An event of a control arm is a false alarm.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from cfgen.metrics.rates import Rate
from cfgen.metrics.success import successes
from cfgen.records import Dimension, Verdict

CONTROLS = ("rerun", "null", "nuisance")
#: case id -> event, 0..1 (the mean over repeats)
Events = Mapping[str, float]


@dataclass(frozen=True)
class Difference:
    """A paired difference of means over ``n`` cases with its bootstrap interval; None without cases."""

    n: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Floor:
    """The hazard arm against its controls.

    Attributes:
        hazard: rate of the event in the hazard arm.
        controls: its rate in every control arm there is: the false alarms.
        above: hazard minus each control, paired by case.
        headline: hazard minus the control arm with the most events, on the cases that all arms share.
        worst: that arm; "" without controls.
        d_prime: hit rate against each control's false-alarm rate, in standard deviations.
    """

    hazard: Rate
    controls: dict[str, Rate]
    above: dict[str, Difference]
    headline: Difference
    worst: str
    d_prime: dict[str, float]


def judged_events(verdicts: Iterable[Verdict], dimension: Dimension, control: bool) -> dict[str, float]:
    """Strict success as the event.

    In a control arm UNKNOWN counts as no event: a judge that finds nothing changed credits no response. In the hazard
    arm it stays excluded. Cases that the judge failed on are absent.
    """
    verdicts = list(verdicts)
    events = successes(verdicts, dimension)
    if control:
        events = {v.case_id: 0.0 for v in verdicts if v.status == "unknown"} | events
    return events


def above_floor(
    hazard: Events, controls: Mapping[str, Events], seed: int = 0, resamples: int = 4000
) -> Floor:
    """Compare the hazard arm with its controls; arms without any case are left out."""
    controls = {arm: events for arm, events in controls.items() if events}
    rates = {arm: Rate.of(sum(e.values()), len(e)) for arm, e in controls.items()}
    hit = Rate.of(sum(hazard.values()), len(hazard))
    shared = sorted(set(hazard).intersection(*controls.values()))
    worst = max(controls, key=lambda arm: _mean(controls[arm], shared), default="") if shared else ""
    return Floor(
        hazard=hit,
        controls=rates,
        above={arm: difference(hazard, [events], seed, resamples) for arm, events in controls.items()},
        headline=difference(hazard, list(controls.values()), seed, resamples),
        worst=worst,
        d_prime={arm: d_prime(hit, rate) for arm, rate in rates.items() if hit.n},
    )


def difference(hazard: Events, controls: list[Events], seed: int = 0, resamples: int = 4000) -> Difference:
    """Mean of ``hazard`` minus the largest of the controls' means, with a 95% bootstrap interval over cases.

    Where every case shows the same there is nothing to resample: then the interval is as wide as Wilson's for no
    exception in so many cases.
    """
    cases = sorted(set(hazard).intersection(*controls))
    if not cases or not controls:
        return Difference(0, None, None, None)
    table = np.array([[events[case] for case in cases] for events in (hazard, *controls)])
    picks = np.random.default_rng(seed).integers(0, len(cases), (resamples, len(cases)))
    drawn = np.stack([row[picks].mean(axis=1) for row in table])
    means = table.mean(axis=1)
    value = float(means[0] - means[1:].max())
    if (table == table[:, :1]).all():
        half = Rate.of(0, len(cases)).high or 0.0
        return Difference(len(cases), value, max(-1.0, value - half), min(1.0, value + half))
    low, high = np.percentile(drawn[0] - drawn[1:].max(axis=0), [2.5, 97.5])
    return Difference(len(cases), value, float(low), float(high))


def d_prime(hit: Rate, false_alarm: Rate) -> float:
    """z(hits) - z(false alarms), with half an event added to each side so that 0 and 1 stay finite."""
    shares = [(rate.hits + 0.5) / (rate.n + 1) for rate in (hit, false_alarm)]
    return float(ndtri(shares[0]) - ndtri(shares[1]))


def _mean(events: Events, cases: list[str]) -> float:
    return sum(events[case] for case in cases) / len(cases)
