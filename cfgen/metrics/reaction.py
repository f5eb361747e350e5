"""Mention by action, and how soon: response rates by the time that was left."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cfgen.metrics.intervals import Blocks, Events, Rate, block_index, rate_of, redrawn

#: s to the collision; a case counts for the nearest of them, within half a second
TIMES_S = (1.0, 2.0, 3.0, 4.0)
_WITHIN_S = 0.5
#: cases at a time, of fewer of which no time is told at which half is answered
FEWEST_AT_A_TIME = 10


#: kind of case -> whether the hazard was mentioned, and whether the plan reacted
KINDS = {
    "said and did": (True, True),
    "said only": (True, False),
    "did only": (False, True),
    "neither": (False, False),
}


@dataclass(frozen=True)
class MentionByAction:
    """Cases by whether the hazard was mentioned and whether the plan reacted.

    Attributes:
        cases: ids, by kind. expected: how many of each kind, if mention and action were unrelated.
        did_if_said, did_if_not_said: share that reacted of those that mentioned it, and of those that did not.
    """

    cases: dict[str, tuple[str, ...]]
    expected: dict[str, float]
    did_if_said: Rate
    did_if_not_said: Rate


def mention_by_action(said: Events, did: Events, blocks: Blocks | None = None) -> MentionByAction:
    """Over the cases that have both; with repeats, a case counts by what more than half of them show."""
    kind_of = {case: (said[case] > 0.5, did[case] > 0.5) for case in sorted(set(said) & set(did))}
    count = max(len(kind_of), 1)
    acted = {
        s: {case: float(d) for case, (mentioned, d) in kind_of.items() if mentioned == s}
        for s in (True, False)
    }
    share = sum(d for _, d in kind_of.values()) / count
    return MentionByAction(
        {
            name: tuple(case for case, shown in kind_of.items() if shown == kind)
            for name, kind in KINDS.items()
        },
        {name: len(acted[s]) * (share if d else 1 - share) for name, (s, d) in KINDS.items()},
        rate_of(acted[True], blocks),
        rate_of(acted[False], blocks),
    )


@dataclass(frozen=True)
class Timed:
    """One answer to a hazard: s to the collision at constant speeds, and the case's event, 0..1."""

    case_id: str
    ttc_s: float
    event: float


@dataclass(frozen=True)
class HowSoon:
    """Rates at each of :data:`TIMES_S` that has cases, their unweighted mean, and where half is answered, in words."""

    rates: Mapping[float, Rate]
    mean: Rate
    half: str


def how_soon(
    answers: Iterable[Timed], blocks: Blocks | None = None, seed: int = 0, resamples: int = 2000
) -> HowSoon:
    """Intervals: percentiles of draws of blocks (drives), no narrower than those of as many independent blocks."""
    at: dict[float, list[Timed]] = {}
    for answer in answers:
        nearest = min(TIMES_S, key=lambda t: abs(t - answer.ttc_s))
        if abs(nearest - answer.ttc_s) <= _WITHIN_S:
            at.setdefault(nearest, []).append(answer)
    times = sorted(at)
    every = [answer for time in times for answer in at[time]]
    if not every:
        return HowSoon({}, Rate.of(0, 0), "no hazard is 1 to 4 s away")
    index = block_index([answer.case_id for answer in every], blocks)
    sums = np.zeros((2 * len(times), int(index.max()) + 1))
    start = 0
    for k, time in enumerate(times):
        part = slice(start, start + len(at[time]))
        np.add.at(sums[2 * k], index[part], [answer.event for answer in at[time]])
        np.add.at(sums[2 * k + 1], index[part], 1.0)
        start = part.stop
    drawn = redrawn(sums, seed, resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = drawn[::2] / drawn[1::2]  # (times, draws); NaN where a draw has no case at a time
    rates = {time: _widened(_rate(at[time], blocks), shares[k]) for k, time in enumerate(times)}
    pooled = _rate(every, blocks)
    value = float(np.mean([rate.value for rate in rates.values()]))
    off = value - (pooled.value or 0.0)
    low, high = (min(max((end or 0.0) + off, 0.0), 1.0) for end in (pooled.low, pooled.high))
    mean = _widened(Rate(value * len(every), len(every), value, low, high), np.nanmean(shares, axis=0))
    enough = [time for time in times if rates[time].n >= FEWEST_AT_A_TIME]
    return HowSoon(rates, mean, _half(enough, [rates[time].value or 0.0 for time in enough]))


def _rate(answers: Sequence[Timed], blocks: Blocks | None) -> Rate:
    """Of one case at several distances each counts, in one block."""
    events = {f"{i}": answer.event for i, answer in enumerate(answers)}
    return rate_of(events, {f"{i}": (blocks or {}).get(a.case_id, a.case_id) for i, a in enumerate(answers)})


def _widened(rate: Rate, draws: np.ndarray) -> Rate:
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return replace(rate, low=min(rate.low or 0.0, float(low)), high=max(rate.high or 0.0, float(high)))


def _half(times: Sequence[float], rates: Sequence[float]) -> str:
    """The time at which half is answered, by straight lines between the rates, if they cross it once."""
    if not times:
        return "too few cases"
    crossings = [
        a + (b - a) * (0.5 - p) / (q - p)
        for a, b, p, q in zip(times, times[1:], rates, rates[1:], strict=False)
        if (p < 0.5) != (q < 0.5)
    ]
    if len(crossings) > 1:
        return "crossed more than once"
    if crossings:
        return f"{crossings[0]:.1f} s"
    return (
        f"not reached: at most {100 * max(rates):.0f}%"
        if max(rates) < 0.5
        else f"at least {100 * min(rates):.0f}%"
    )
