"""The figures of one planner under one judge, out of verdicts alone, as the report has them."""

from collections.abc import Collection, Mapping, Sequence
from math import isclose
from typing import Self

from cfgen.metrics.floor import above_floor
from cfgen.metrics.paired import Difference
from cfgen.metrics.rates import Rate
from cfgen.metrics.success import success_row, successes
from cfgen.records import CONTROLS, DIMENSIONS, Dimension, FloorKind, Record, Verdict, judged_as


class Share(Record):
    """A share or a difference over ``n`` cases with its 95% interval; all three None without cases."""

    n: int
    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: Rate | Difference) -> Self:
        return cls(n=found.n, value=found.value, low=found.low, high=found.high)

    def same(self, other: "Share") -> bool:
        """But for what another machine rounds otherwise."""
        pairs = ((self.value, other.value), (self.low, other.low), (self.high, other.high))
        return self.n == other.n and all(
            a is b is None or (a is not None and b is not None and isclose(a, b, abs_tol=1e-9))
            for a, b in pairs
        )


class Figures(Record):
    """One row of a leaderboard; see :class:`cfgen.metrics.success.SuccessRow` and :class:`cfgen.metrics.floor.Floor`.

    Attributes:
        leading: the last score that the judge gives, by which ``above`` (points above the floor, 0..1) is told.
    """

    n: int
    excluded: int
    judge_failed: int
    planner_failed: int
    rates: dict[Dimension, Share]
    leading: Dimension
    above: Share
    controls: dict[str, Share]

    @classmethod
    def of(
        cls,
        verdicts: Sequence[Verdict],
        cases: Collection[str],
        blocks: Mapping[str, str],
        scores: Collection[Dimension],
        floor: FloorKind,
    ) -> Self:
        """
        Args:
            verdicts: of one planner by one judge, in every pair. cases: all that the benchmark has.
            blocks: case -> block, for the intervals. scores: what the judge scores.
        """
        by_pair: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            by_pair.setdefault(verdict.arm, []).append(verdict)
        hazard = by_pair.get("hazard", [])
        row = success_row("", "", "hazard", hazard, cases, blocks, scores)
        leading = next((d for d in reversed(DIMENSIONS) if row.rates[d].n), DIMENSIONS[-1])

        def of(arm: str) -> dict[str, float]:
            return successes(by_pair.get(judged_as(arm), ()), leading, scores)

        found = above_floor(of("hazard"), {arm: of(arm) for arm in CONTROLS}, floor, blocks)
        return cls(
            n=row.n,
            excluded=row.excluded,
            judge_failed=row.judge_failed,
            planner_failed=row.planner_failed,
            rates={d: Share.of(row.rates[d]) for d in DIMENSIONS},
            leading=leading,
            above=Share.of(found.headline),
            controls={arm: Share.of(rate) for arm, rate in found.controls.items()},
        )

    def differs(self, told: "Figures") -> str:
        """Which figure is told otherwise, and how; "" where all are the same."""
        for name in ("n", "excluded", "judge_failed", "planner_failed", "leading"):
            if getattr(self, name) != getattr(told, name):
                return f"{name} {getattr(told, name)}, but its verdicts give {getattr(self, name)}"
        shares, others = self._shares(), told._shares()
        for name in dict.fromkeys((*shares, *others)):
            mine, other = shares.get(name), others.get(name)
            if mine is None or other is None or not mine.same(other):
                digits = 1 if _words(other) != _words(mine) else 12
                return f"{name} {_words(other, digits)}, but its verdicts give {_words(mine, digits)}"
        return ""

    def _shares(self) -> dict[str, Share]:
        by_name: dict[str, Share] = dict(self.rates.items())
        return {**by_name, "above the floor": self.above, **self.controls}


def _words(share: Share | None, digits: int = 1) -> str:
    if share is None or share.value is None or share.low is None or share.high is None:
        return "nothing"
    value, low, high = (f"{100 * told:.{digits}f}" for told in (share.value, share.low, share.high))
    return f"{value}% ({low} to {high}) of {share.n} cases"
