"""How far the judges can be trusted: against people, each other and known answers; and people against each other."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cfgen.metrics.agreement import Agreement, agreement, gwet_ac1, krippendorff_alpha
from cfgen.metrics.estimates import FEWEST_RATED, Corrected, corrected
from cfgen.metrics.intervals import Difference
from cfgen.metrics.success import STRICT
from cfgen.records import (
    ADJUDICATED,
    CONTROLS,
    DIMENSIONS,
    Calibration,
    Dimension,
    ProbeKind,
    ProbeRun,
    judged_as,
)
from cfgen.reporting.data import ReportData, judged
from cfgen.reporting.section import Section, Table

#: (planner, case) -> score
Scores = dict[tuple[str, str], int]


def people_scores(data: ReportData, dimension: Dimension, pair: str = "hazard") -> Scores:
    """The majority of the raters' last scores of a pair, or what was adjudicated; ties and UNKNOWN are left out."""
    return {item: top[0] for item, top in leading_scores(data, dimension, pair).items() if len(top) == 1}


def leading_scores(
    data: ReportData, dimension: Dimension, pair: str = "hazard"
) -> dict[tuple[str, str], list[int]]:
    """Answer -> what most raters gave it: several scores where they are split. What was adjudicated is theirs."""
    items, votes = _votes(data, dimension, pair)
    decided = {
        (r.planner, r.case_id): r.history[-1].scores.get(dimension)
        for r in data.ratings
        if r.rater == ADJUDICATED and (r.arm, r.repeat) == (pair, 0) and r.history
    }
    scores_of = dict(zip(items, zip(*votes, strict=True), strict=True)) | {
        a: (v,) for a, v in decided.items()
    }
    counts = {item: Counter(v for v in scores if v is not None) for item, scores in scores_of.items()}
    return {
        item: sorted(score for score, n in count.items() if n == max(count.values()))
        for item, count in counts.items()
        if count
    }


def _votes(
    data: ReportData, dimension: Dimension, pair: str
) -> tuple[list[tuple[str, str]], list[list[int | None]]]:
    """Answers in order, and what each rater last said of them: None is UNKNOWN or nothing."""
    raters = sorted({r.rater for r in data.ratings} - {ADJUDICATED})
    last = {
        (r.rater, r.planner, r.case_id): r.history[-1].scores.get(dimension)
        for r in data.ratings
        if (r.arm, r.repeat) == (pair, 0) and r.history and r.rater != ADJUDICATED
    }
    items = sorted({(planner, case) for _, planner, case in last})
    return items, [[last.get((rater, *item)) for item in items] for rater in raters] if items else []


def raters_table(data: ReportData) -> tuple[list[Table], list[dict[str, Any]]]:
    """How far all raters agree among themselves, where there are several."""
    rows, figures = [], []
    for dimension in DIMENSIONS:
        items, votes = _votes(data, dimension, "hazard")
        twice = sum(sum(v is not None for v in scores) > 1 for scores in zip(*votes, strict=True))
        if twice:
            coefficients = {
                "alpha": krippendorff_alpha(votes),
                "ordinal": krippendorff_alpha(votes, level="ordinal"),
                "ac1": gwet_ac1(votes),
            }
            words = ("undefined" if v is None else f"{v:.2f}" for v in coefficients.values())
            rows.append((dimension, *words, str(len(votes)), str(twice), str(len(items))))
            figures.append({"score": dimension, **coefficients, "raters": len(votes), "rated_twice": twice})
    columns = ("score", "alpha", "ordinal alpha", "AC1", "raters", "rated by several", "rated")
    note = "Krippendorff's alpha and Gwet's AC1 over all raters; UNKNOWN and what somebody did not rate are missing. "
    note += "AC1 stays put where nearly all answers get one score, alpha falls to 0 there."
    title = "People among themselves"
    return ([Table("raters", title, columns, tuple(rows), note=note)] if rows else []), figures


def correction_table(data: ReportData) -> tuple[list[Table], list[dict[str, Any]]]:
    """Strict success, and that above the floor: by the judge, by the people, and both together."""
    rows, figures = [], []
    for planner in data.planners:
        for dimension in DIMENSIONS:
            for name, (estimate, split) in _estimates(data, planner, dimension).items():
                rows.append((planner, dimension, name, *_words(estimate, split)))
                figures.append(
                    {"planner": planner, "score": dimension, "of": name, **asdict(estimate), "split": split}
                )
    columns = (
        *("planner", "score", "of", "judge alone %", "95% interval", "N", "people alone %", "95% interval"),
        *("rated", "split", "corrected %", "95% interval"),
    )
    note = (
        f"Judge: {data.main_judge}. People: the majority of the raters, strict success; split, and counted by the "
        "share of its leading scores that is a success: a case on which they are not one. Corrected: people's mean, "
        "moved by what the judge's mean over all cases differs from that over the rated, as far as both go "
        "together (prediction-powered inference); it speaks of all cases where those rated were drawn at random, and "
        f"is not given under {FEWEST_RATED} rated ones, where its interval is too narrow. "
        f"Intervals: {data.blocks[1]}."
    )
    title = "People correct the judge"
    return ([Table("corrected", title, columns, tuple(rows), words=3, note=note)] if rows else []), figures


def _estimates(data: ReportData, planner: str, dimension: Dimension) -> dict[str, tuple[Corrected, int]]:
    """Each estimate, and on how many of its cases people are split."""
    split: set[str] = set()

    def people(pair: str) -> dict[str, float]:
        scores = {c: v for (p, c), v in leading_scores(data, dimension, pair).items() if p == planner}
        shares = {case: of.count(STRICT) / len(of) for case, of in scores.items()}
        split.update(case for case in shares if len(scores[case]) > 1)
        return shares

    hazard, rated = judged(data, planner, "hazard", dimension), people("hazard")
    if not hazard or not rated:
        return {}
    blocks = data.blocks[0]
    estimates = {"hazard": (corrected(hazard, rated, blocks), len(split & set(rated)))}
    kind = data.floor(planner)
    arms = [a for a in CONTROLS if kind in (a, "mean") and judged(data, planner, a, dimension)]
    if arms:
        above = _less(hazard, [judged(data, planner, a, dimension) for a in arms])
        rated_above = _less(rated, [people(judged_as(a)) for a in arms])
        if above and rated_above:
            above_floor = corrected(above, rated_above, blocks, lowest=-1.0)
            estimates["minus false alarms"] = above_floor, len(split & set(rated_above))
    return estimates


def _less(hazard: dict[str, float], floor: list[dict[str, float]]) -> dict[str, float]:
    """The hazard's event minus the mean of the floor's, on the cases that all have."""
    shared = set(hazard).intersection(*floor)
    return {case: hazard[case] - sum(arm[case] for arm in floor) / len(floor) for case in shared}


def _words(result: Corrected, split: int) -> tuple[str, ...]:
    def estimate(difference: Difference) -> tuple[str, str]:
        if difference.value is None or difference.low is None or difference.high is None:
            return "-", "-"
        return f"{100 * difference.value:.1f}", f"{100 * difference.low:.1f} to {100 * difference.high:.1f}"

    return (
        *(*estimate(result.judge), str(result.judge.n)),
        *(*estimate(result.people), str(result.people.n), str(split)),
        *estimate(result.corrected),
    )


# --- how far the judges can be trusted: against people, against each other, on known answers --------------


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
                    result = agreement([a[k] for k in shared], [b[k] for k in shared])
                    rows.append((first, second, dimension, *_agreement_cells(result)))
                    figures.append(
                        {"reference": first, "other": second, "score": dimension, **asdict(result)}
                    )
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
        return (
            f"{judge} was not tried on known answers here; cfgen judge validate does so, with the judge's own "
            "options."
        )
    words = f"{judge} was tried on {probe.n} known answers and got right: {_shares(probe.accuracy)}."
    if not probe.enough:
        words += f" It does not count as tested, which takes {'; '.join(probe.lacks)}."
    return words


def _shares(accuracy: Mapping[Dimension, float]) -> str:
    return ", ".join(f"{d} {100 * accuracy[d]:.1f}%" for d in DIMENSIONS if d in accuracy)


def _probe_tables(data: ReportData) -> list[Table]:
    rows = [
        (
            judge,
            kind,
            *(_right(outcome, d) for d in DIMENSIONS),
            "/".join(str(outcome.false_two.get(d, 0)) for d in DIMENSIONS),
            "/".join(str(outcome.missed_two.get(d, 0)) for d in DIMENSIONS),
            str(outcome.n),
            "; ".join(f"{count}: {why}" for why, count in outcome.left_out.items()),
        )
        for judge, probe in data.probes.items()
        for kind, outcome in probe.kinds.items()
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


def _right(kind: ProbeKind, dimension: Dimension) -> str:
    judged = kind.n - kind.unjudged.get(dimension, 0)
    return f"{100 * kind.right[dimension] / judged:.1f}" if judged else "-"


def _calibration_tables(data: ReportData) -> list[Table]:
    rows = [
        (
            judge,
            d,
            _percent(result.accuracy),
            _kappa(result.kappa),
            _kappa(result.quadratic),
            str(result.n),
            str(calibration.split.get(d, 0)) if calibration.split else "not known",
            counts,
        )
        for judge, calibration in data.calibrations.items()
        for counts in [_counts(calibration, data)]
        for d, result in calibration.against_people.items()
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


def _agreement_cells(result: Agreement) -> tuple[str, ...]:
    def value(number: float | None, interval: tuple[float, float] | None) -> str:
        return _kappa(number) + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")

    recall = ["-" if r is None else f"{100 * r:.0f}" for r in result.recall]
    accuracy = _percent(result.accuracy)
    kappas = value(result.kappa, result.kappa_interval), value(result.quadratic, result.quadratic_interval)
    return (accuracy, *kappas, *recall, str(result.n))


def _table(rows: list[tuple[str, ...]], split: Mapping[Dimension, int]) -> Table:
    ties = ", ".join(f"{d} {n}" for d, n in split.items() if n)
    out = f" Left out, since they are split: {ties} answers." if ties else ""
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
