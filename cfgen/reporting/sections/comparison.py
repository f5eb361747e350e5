"""Planner against planner."""

from dataclasses import asdict

from cfgen.metrics.compare import PairedRuns, cases_needed, compare_all
from cfgen.records import DIMENSIONS
from cfgen.reporting.data import ReportData, judged
from cfgen.reporting.section import Section, Table, with_interval

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
    pairs: dict[str, list[PairedRuns]] = {d: compare_all(events[d], data.blocks[0]) for d in DIMENSIONS}
    judged_by = [d for d in DIMENSIONS if any(pair.difference.n for pair in pairs[d])]
    score = judged_by[-1] if judged_by else DIMENSIONS[-1]
    leading = pairs[score]
    rest = len(leading) - _SAID
    more = [f"And {rest} more of {len(leading)} pairs: the table has them all."] if rest > 0 else []
    return Section(
        id="paired",
        title="Planner against planner",
        lead=(*(pair.sentence() for pair in leading[:_SAID]), *more),
        tables=(*_table(pairs), _power_table(leading, score)) if leading else (),
        figures={
            "pairs": {d: [asdict(pair) for pair in hits if pair.difference.n] for d, hits in pairs.items()}
        },
    )


def _table(pairs: dict[str, list[PairedRuns]]) -> tuple[Table, ...]:
    rows = [
        {
            "first": pair.first,
            "second": pair.second,
            "score": dimension,
            "percentage points": with_interval(pair.difference),
            "only first": str(pair.first_only),
            "only second": str(pair.second_only),
            "p": f"{pair.p:.3f}",
            "p (Holm)": f"{pair.p_holm:.3f}",
            "N": str(pair.difference.n),
        }
        for dimension, of_score in pairs.items()
        for pair in of_score
        if pair.difference.n
    ]
    note = (
        "Exact McNemar test on the cases where only one of the two succeeds; Holm-corrected over the pairs of "
        "one score. In brackets: 95% intervals, Tango's. Scripted planners, given the truth, take no part. Of "
        "several repeats points and intervals take the share that succeeds; the test, only first and only second take "
        "a case as success where more than half do, so the two can differ."
    )
    return Table.of("pairs", "Differences in strict success on shared cases", rows, 3, note)


def _needed(gap: float, discordant: float, tests: int) -> str:
    cases = cases_needed(gap, discordant, tests=tests) if discordant >= gap else None
    return "-" if cases is None else str(cases)


def _power_table(pairs: list[PairedRuns], score: str) -> Table:
    """The observed share of discordant cases, where there is one, comes first."""
    discordant = [(p.first_only + p.second_only) / p.difference.n for p in pairs if p.difference.n]
    observed = sorted(discordant)[len(discordant) // 2] if any(discordant) else None
    shares = ([("as observed", observed)] if observed else []) + [("assumed", share) for share in _DISCORDANT]
    rows = [
        (name, f"{100 * share:.0f}", *(_needed(gap, share, len(pairs)) for gap in _GAPS))
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
