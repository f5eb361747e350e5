"""How far the judges can be trusted: against people, against each other, on known answers."""

from collections.abc import Mapping
from dataclasses import asdict

from cfgen.metrics.agreement import Agreement, agreement
from cfgen.records import DIMENSIONS, Calibration, Dimension, ProbeKind, ProbeRun
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.sections.correction import (
    Scores,
    correction_table,
    leading_scores,
    people_scores,
    raters_table,
)
from cfgen.reporting.table import Table


def people_section(data: ReportData) -> Section:
    """Every pair of judges, and every judge against the majority of the people, on the hazard arm's first repeat."""
    rows, figures = [], []
    split = {d: sum(len(top) > 1 for top in leading_scores(data, d).values()) for d in DIMENSIONS}
    for dimension in DIMENSIONS:
        raters = {judge: _judge_scores(data, judge, dimension) for judge in data.judges}
        people = people_scores(data, dimension)
        references = ([("people", people)] if people else []) + list(raters.items())
        for i, (first, a) in enumerate(references):
            for second, b in references[i + 1 :]:
                shared = sorted(set(a) & set(b))
                if shared:
                    found = agreement([a[k] for k in shared], [b[k] for k in shared])
                    rows.append((first, second, dimension, *_words(found)))
                    figures.append({"reference": first, "other": second, "score": dimension, **asdict(found)})
    tables = [_table(rows, split)] if rows else []
    among, agreed = raters_table(data)
    corrections, estimates = correction_table(data)
    return Section(
        id="agreement",
        title="How far the judges can be trusted",
        lead=tuple(_probe_sentence(judge, data.probes.get(judge)) for judge in data.judges),
        tables=(*corrections, *tables, *among, *_probe_tables(data), *_calibration_tables(data)),
        figures={
            "agreement": figures,
            "people_split": split,
            "raters": agreed,
            "corrected": estimates,
            "probes": [p.model_dump(mode="json") for p in data.probes.values()],
            "calibrations": [
                {**c.model_dump(mode="json"), "shared_scenes": c.shared_with(data.benchmark.scenes)}
                for c in data.calibrations.values()
            ],
        },
    )


def _probe_sentence(judge: str, probe: ProbeRun | None) -> str:
    if probe is None:
        return f"{judge} was not tried on known answers here; cfgen judge probe does so, with the judge's own options."
    words = f"{judge} was tried on {probe.n} known answers and got right: {_shares(probe.accuracy)}."
    if not probe.enough:
        words += f" It does not count as tested, which takes {'; '.join(probe.lacks)}."
    told = probe.accuracy_of_told()
    blind = [f"{kind} ({why})" for kind, why in probe.blind_to.items() if kind in probe.kinds]
    if blind and told:
        words += f" It cannot tell {', '.join(blind)}; without that: {_shares(told)}."
    return words


def _shares(accuracy: Mapping[Dimension, float]) -> str:
    return ", ".join(f"{d} {100 * accuracy[d]:.1f}%" for d in DIMENSIONS if d in accuracy)


def _probe_tables(data: ReportData) -> list[Table]:
    rows = [
        (
            judge,
            kind,
            *(_right(found, d) for d in DIMENSIONS),
            "/".join(str(found.false_two.get(d, 0)) for d in DIMENSIONS),
            "/".join(str(found.missed_two.get(d, 0)) for d in DIMENSIONS),
            str(found.n),
            "; ".join(f"{count}: {why}" for why, count in found.left_out.items()),
        )
        for judge, probe in data.probes.items()
        for kind, found in probe.kinds.items()
    ]
    if not rows:
        return []
    columns = (
        "judge",
        "known answer",
        *(f"{d} right %" for d in DIMENSIONS),
        "false 2s",
        "missed 2s",
        "N",
        "not asked",
    )
    note = "Scripted plans whose right scores follow by construction, and free answers with their authors' scores. "
    note += (
        "2s of reasoning/waypoints/overall: given where another score is right, and not given where it is. "
    )
    note += "A verdict without a usable reply counts as wrong."
    return [Table("probes", "Known answers, by kind", columns, tuple(rows), words=2, note=note)]


def _right(found: ProbeKind, dimension: Dimension) -> str:
    judged = found.n - found.unjudged.get(dimension, 0)
    return f"{100 * found.right[dimension] / judged:.1f}" if judged else "-"


def _calibration_tables(data: ReportData) -> list[Table]:
    rows = [
        (
            judge,
            d,
            _percent(found.accuracy),
            _kappa(found.kappa),
            _kappa(found.quadratic),
            str(found.n),
            str(calibration.split.get(d, 0)) if calibration.split else "not known",
            counts,
        )
        for judge, calibration in data.calibrations.items()
        for counts in [_counts(calibration, data)]
        for d, found in calibration.against_people.items()
    ]
    if not rows:
        return []
    columns = ("judge", "score", "same %", "kappa", "quadratic kappa", "N", "split", "counts here")
    note = "Against the majority of the people who rated the same answers; split answers, on which they have none, "
    note += "are left out, so the figures are those of the clearer ones. It counts for this benchmark only when none "
    note += "of its scenes was rated for it: wording that was tuned on a scene says little about that scene."
    title = "Judges against people, calibration set"
    return [Table("calibration", title, columns, tuple(rows), words=2, note=note)]


def _counts(calibration: Calibration, data: ReportData) -> str:
    shared = calibration.shared_with(data.benchmark.scenes)
    return f"no: {len(shared)} of its scenes were rated" if shared else "yes"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _judge_scores(data: ReportData, judge: str, dimension: Dimension) -> Scores:
    return {
        (planner, v.case_id): score
        for planner in data.planners
        for v in data.verdicts_of(judge, planner, "hazard")
        if v.repeat == 0 and (score := v.scores.get(dimension)) is not None
    }


def _words(found: Agreement) -> tuple[str, ...]:
    def value(number: float | None, interval: tuple[float, float] | None) -> str:
        return _kappa(number) + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")

    recall = ["-" if r is None else f"{100 * r:.0f}" for r in found.recall]
    accuracy = _percent(found.accuracy)
    kappas = value(found.kappa, found.kappa_interval), value(found.quadratic, found.quadratic_interval)
    return (accuracy, *kappas, *recall, str(found.n))


def _table(rows: list[tuple[str, ...]], split: Mapping[Dimension, int]) -> Table:
    left = ", ".join(f"{d} {n}" for d, n in split.items() if n)
    out = f" Left out, since they are split: {left} answers." if left else ""
    return Table(
        name="agreement",
        title="Judges and people on the same answers",
        columns=(
            "reference",
            "other",
            "score",
            "same %",
            "kappa",
            "quadratic kappa",
            "finds 0 %",
            "finds 1 %",
            "finds 2 %",
            "N",
        ),
        rows=tuple(rows),
        words=3,
        note="Cohen's kappa with 95% intervals; undefined where both give one and the same score throughout. "
        "Finds: of the reference's scores, how many the other gives as well. People: the majority of the raters."
        + out,
    )
