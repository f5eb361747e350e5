"""Planner against planner."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from cfgen.metrics.compare import Pair, cases_needed, compare_all
from cfgen.metrics.intervals import Events
from cfgen.records import DIMENSIONS
from cfgen.reporting.data import ReportData, judged
from cfgen.reporting.section import Section, Table

#: pairs that have a sentence
_SAID = 12
_GAPS = (0.05, 0.10, 0.20)
_DISCORDANT = (0.1, 0.2, 0.3, 0.4)


def paired_section(data: ReportData) -> Section:
    """Planner against planner on shared cases, and how many it takes to see a difference."""
    planners = [p for p in data.planners if not data.told(p)]
    if len(planners) < 2:
        return Section("paired", "Planner against planner")
    events = {d: {p: hits for p in planners if (hits := judged(data, p, "hazard", d))} for d in DIMENSIONS}
    pairs: dict[str, list[Pair]] = {d: compare_all(events[d], data.blocks[0]) for d in DIMENSIONS}
    judged_by = [d for d in DIMENSIONS if any(pair.difference.n for pair in pairs[d])]
    score = judged_by[-1] if judged_by else DIMENSIONS[-1]
    leading = pairs[score]
    return Section(
        id="paired",
        title="Planner against planner",
        lead=(*(pair.sentence() for pair in leading[:_SAID]), *_left(leading)),
        tables=(_table(pairs, _cut(events.values())), _power_table(leading, score)) if leading else (),
        figures={
            "pairs": {d: [asdict(pair) for pair in hits if pair.difference.n] for d, hits in pairs.items()}
        },
    )


def _left(pairs: list[Pair]) -> tuple[str, ...]:
    rest = len(pairs) - _SAID
    return (f"And {rest} more of {len(pairs)} pairs: the table has them all.",) if rest > 0 else ()


def _cut(events: Iterable[Mapping[str, Events]]) -> str:
    """Who has cases at which some repeats succeed and some do not, and what becomes of them."""
    planners = [p for of in events for p, hits in of.items() if any(0 < hit < 1 for hit in hits.values())]
    if not planners:
        return ""
    return (
        f" {', '.join(dict.fromkeys(planners))}: of several repeats. Points and intervals take the share of them that "
        "succeeds; the test, only first and only second take a case as success where more than half do, so the "
        "two can differ."
    )


def _table(pairs: dict[str, list[Pair]], cut: str) -> Table:
    rows = [
        (
            pair.first,
            pair.second,
            dimension,
            "-" if pair.difference.value is None else f"{100 * pair.difference.value:+.1f}",
            _interval(pair),
            str(pair.first_only),
            str(pair.second_only),
            f"{pair.p:.3f}",
            f"{pair.p_holm:.3f}",
            str(pair.difference.n),
        )
        for dimension, of_score in pairs.items()
        for pair in of_score
        if pair.difference.n
    ]
    return Table(
        name="pairs",
        title="Differences in strict success on shared cases",
        columns=(
            "first",
            "second",
            "score",
            "percentage points",
            "95% interval",
            "only first",
            "only second",
            "p",
            "p (Holm)",
            "N",
        ),
        rows=tuple(rows),
        words=3,
        note="Exact McNemar test on the cases where only one of the two succeeds; Holm-corrected over the pairs of "
        "one score. Intervals: Wilson's of both, joined. Scripted planners, given the truth, take no part."
        + cut,
    )


def _interval(pair: Pair) -> str:
    low, high = pair.difference.low, pair.difference.high
    return "-" if low is None or high is None else f"{100 * low:+.1f} to {100 * high:+.1f}"


def _needed(gap: float, discordant: float, tests: int) -> str:
    cases = cases_needed(gap, discordant, tests=tests) if discordant >= gap else None
    return "-" if cases is None else str(cases)


def _power_table(pairs: list[Pair], score: str) -> Table:
    """The observed share of discordant cases, where there is one, comes first."""
    discordant = [(p.first_only + p.second_only) / p.difference.n for p in pairs if p.difference.n]
    observed = sorted(discordant)[len(discordant) // 2] if any(discordant) else None
    shares = ([("as observed", observed)] if observed else []) + [("assumed", share) for share in _DISCORDANT]
    rows = [
        (
            name,
            f"{100 * share:.0f}",
            *(_needed(gap, share, len(pairs)) for gap in _GAPS),
        )
        for name, share in shares
    ]
    return Table(
        name="power",
        title=f"Cases needed to see a difference with 80% power at the 5% level, Holm-corrected for {len(pairs)}",
        columns=("discordant cases", "% of all", *(f"{100 * gap:.0f} percentage points" for gap in _GAPS)),
        rows=tuple(rows),
        note="For the exact McNemar test, at the level that Holm's correction leaves the first of the pairs. "
        "Discordant: only one of the two planners succeeds; a difference cannot be larger than their share. As "
        f"observed: the median over the pairs of this report, score {score}.",
    )
