"""Planner against planner, and rates weighted back to the scenes that cases were drawn from."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from cfgen.metrics.compare import Pair, cases_needed, compare_all
from cfgen.metrics.estimates import case_weights, weighted_rate
from cfgen.metrics.intervals import Events, Rate
from cfgen.metrics.success import successes
from cfgen.records import DIMENSIONS, Sampling, StratumOutcome
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


# --- which scenes the cases were drawn from, and rates weighted back to them ------------------------------


def sampling_section(data: ReportData) -> Section:
    """Strata, and strict success raw and weighted; nothing where all scenes of a folder were used."""
    section = Section(id="sampling", title="Scenes drawn from")
    sampling, built = data.benchmark.sampling, data.store.build_report()
    if sampling is None or built is None or not built.strata:
        return section
    rows, figures = _rates(data, sampling, built.strata)
    return Section(
        id=section.id,
        title=section.title,
        lead=(_frame(sampling), *_uncovered(built.strata)),
        tables=(_strata(built.strata), rows),
        figures={
            "sampling": sampling.model_dump(mode="json"),
            "strata": [s.model_dump() for s in built.strata],
            "weighted": figures,
        },
    )


def _frame(sampling: Sampling) -> str:
    which = f"{sampling.matched} of {sampling.found} scenes " + (
        f"meet '{sampling.where}'" if sampling.where else "were drawn from"
    )
    return f"{which}; {sampling.unreadable} could not be read." if sampling.unreadable else f"{which}."


def _uncovered(strata: tuple[StratumOutcome, ...]) -> tuple[str, ...]:
    empty = [row for row in strata if not row.with_case]
    if not empty:
        return ()
    names = ", ".join(f"'{row.condition}' ({row.scenes} scenes)" for row in empty)
    return (f"No case stands for {names}: weighted rates say nothing of these.",)


def _strata(strata: tuple[StratumOutcome, ...]) -> Table:
    return Table(
        name="strata",
        title="Strata",
        columns=(
            "stratum",
            "scenes",
            "tried",
            "with a case",
            "cases",
            "asked for",
            "P(tried) %",
            "P(rejected) %",
        ),
        rows=tuple(
            (
                row.condition,
                *map(str, (row.scenes, row.tried, row.with_case, row.cases, row.wanted)),
                _percent(row.p_selected),
                _percent(row.p_refused),
            )
            for row in strata
        ),
        note="A scene is in the first stratum that it meets. P(tried): that chance tried a scene of it; P(rejected): "
        "that a scene that was tried, or would not load, gave no case.",
    )


def _rates(
    data: ReportData, sampling: Sampling, strata: tuple[StratumOutcome, ...]
) -> tuple[Table, list[dict[str, object]]]:
    place = {scene: i for i, stratum in enumerate(sampling.strata) for scene in stratum.usable}
    scene_of = data.scene_of
    rows, figures = [], []
    for planner in data.ranked:
        judge = data.judge_of(planner)
        verdicts = data.verdicts_of(judge, planner, "hazard")
        for dimension in DIMENSIONS:
            events = successes(verdicts, dimension, data.scores(judge))
            weights = case_weights({c: scene_of[c] for c in events if c in scene_of}, place, strata)
            where = {case: place[scene_of[case]] for case in weights}
            estimate = weighted_rate(events, weights, where, data.blocks[0])
            if estimate is None:
                continue
            raw = Rate.of(sum(events.values()), len(events))
            interval = f"{100 * estimate.low:.1f}-{100 * estimate.high:.1f}"
            share = (raw.percent(), f"{100 * estimate.value:.1f}", interval)
            rows.append((planner, judge, dimension, *share, str(estimate.n), f"{estimate.effective:.1f}"))
            figures.append(
                {
                    "planner": planner,
                    "judge": judge,
                    "dimension": dimension,
                    "raw": raw.value,
                    **asdict(estimate),
                }
            )
    table = Table(
        name="weighted",
        title="Strict success, as counted and weighted to the scenes drawn from",
        columns=("planner", "judge", "dimension", "raw %", "weighted %", "95% interval", "N", "effective N"),
        rows=tuple(rows),
        words=3,
        note="Weighted: each case counts by how many scenes of the frame it stands for, so that the share is that of "
        "the matching scenes in which a hazard can stand. Its interval takes in the variation between blocks within "
        "strata; effective N is what the weights leave of N.",
    )
    return table, figures


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g}"
