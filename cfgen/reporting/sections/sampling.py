"""Which scenes the cases were drawn from, and rates weighted back to them."""

from dataclasses import asdict

from cfgen.metrics.rates import Rate
from cfgen.metrics.success import successes
from cfgen.metrics.weighted import case_weights, weighted_rate
from cfgen.records import DIMENSIONS, Sampling, StratumOutcome
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.table import Table


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
    lost = [row for row in strata if not row.with_case]
    if not lost:
        return ()
    names = ", ".join(f"'{row.condition}' ({row.scenes} scenes)" for row in lost)
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
            "P(refused) %",
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
        note="A scene is in the first stratum that it meets. P(tried): that chance tried a scene of it; P(refused): "
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
            found = weighted_rate(events, weights, where, data.blocks[0])
            if found is None:
                continue
            raw = Rate.of(sum(events.values()), len(events))
            interval = f"{100 * found.low:.1f}-{100 * found.high:.1f}"
            share = (raw.percent(), f"{100 * found.value:.1f}", interval)
            rows.append((planner, judge, dimension, *share, str(found.n), f"{found.effective:.1f}"))
            figures.append(
                {
                    "planner": planner,
                    "judge": judge,
                    "dimension": dimension,
                    "raw": raw.value,
                    **asdict(found),
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
