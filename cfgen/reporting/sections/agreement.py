"""How far the judges can be trusted: against people, each other and known answers; and people against each other."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cfgen.metrics.agreement import Agreement, agreement, gwet_ac1, krippendorff_alpha
from cfgen.metrics.estimates import FEWEST_RATED, Corrected, corrected
from cfgen.metrics.success import STRICT, case_differences
from cfgen.records import (
    ADJUDICATED,
    DIMENSIONS,
    Dimension,
    ProbeKind,
    ProbeRun,
    judged_as,
)
from cfgen.reporting.data import ReportData, judged
from cfgen.reporting.section import Section, Table, coefficient, share, with_interval

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


def raters_table(data: ReportData) -> tuple[tuple[Table, ...], list[dict[str, Any]]]:
    """How far all raters agree among themselves, where there are several."""
    rows, figures = [], []
    for dimension in DIMENSIONS:
        items, votes = _votes(data, dimension, "hazard")
        twice = sum(sum(v is not None for v in scores) > 1 for scores in zip(*votes, strict=True))
        if twice:
            alpha, ac1 = krippendorff_alpha(votes), gwet_ac1(votes)
            ordinal = krippendorff_alpha(votes, level="ordinal")
            rows.append(
                {
                    "score": dimension,
                    "alpha": coefficient(alpha),
                    "ordinal alpha": coefficient(ordinal),
                    "AC1": coefficient(ac1),
                    "raters": str(len(votes)),
                    "rated by several": str(twice),
                    "rated": str(len(items)),
                }
            )
            figure = {"score": dimension, "alpha": alpha, "ordinal": ordinal, "ac1": ac1}
            figures.append({**figure, "raters": len(votes), "rated_twice": twice})
    note = (
        "Krippendorff's alpha and Gwet's AC1 over all raters; UNKNOWN and what somebody did not rate are missing. "
        "AC1 stays put where nearly all answers get one score, alpha falls to 0 there."
    )
    return Table.of("raters", "People among themselves", rows, note=note), figures


def correction_table(data: ReportData) -> tuple[tuple[Table, ...], list[dict[str, Any]]]:
    """Strict success, and that minus false alarms: by the judge, by the people, and both together."""
    rows, figures = [], []
    for planner in data.planners:
        for dimension in DIMENSIONS:
            for name, (estimate, split) in _estimates(data, planner, dimension).items():
                rows.append(
                    {
                        "planner": planner,
                        "score": dimension,
                        "of": name,
                        "judge alone %": with_interval(estimate.judge, ""),
                        "N": str(estimate.judge.n),
                        "people alone %": with_interval(estimate.people, ""),
                        "rated": str(estimate.people.n),
                        "split": str(split),
                        "corrected %": with_interval(estimate.corrected, ""),
                    }
                )
                figures.append(
                    {"planner": planner, "score": dimension, "of": name, **asdict(estimate), "split": split}
                )
    note = (
        f"Judge: {data.main_judge}. People: the majority of the raters, strict success; split, and counted by the "
        "share of its leading scores that is a success: a case on which they are not one. Corrected: people's mean, "
        "moved by what the judge's mean over all cases differs from that over the rated, as far as both go "
        "together (prediction-powered inference); it speaks of all cases where those rated were drawn at random, and "
        f"is not given under {FEWEST_RATED} rated ones, where its interval is too narrow. "
        f"In brackets: 95% intervals, {data.blocks[1]}."
    )
    return Table.of("corrected", "People correct the judge", rows, 3, note), figures


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
    net = case_differences(hazard, judged(data, planner, "nuisance", dimension))
    rated_net = case_differences(rated, people(judged_as("nuisance")))
    if net and rated_net:
        estimates["minus false alarms"] = (
            corrected(net, rated_net, blocks, lowest=-1.0),
            len(split & set(rated_net)),
        )
    return estimates


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
                    rows.append(
                        {"reference": first, "other": second, "score": dimension, **_agreement_cells(result)}
                    )
                    figures.append(
                        {"reference": first, "other": second, "score": dimension, **asdict(result)}
                    )
    ties = ", ".join(f"{d} {n}" for d, n in split.items() if n)
    note = (
        "Cohen's kappa with 95% intervals; undefined where both give one and the same score throughout. "
        "Finds: of the reference's scores, how many the other gives as well. People: the majority of the raters."
        + (f" Left out, since they are split: {ties} answers." if ties else "")
    )
    tables = Table.of("agreement", "Judges and people on the same answers", rows, 3, note)
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


def _probe_tables(data: ReportData) -> tuple[Table, ...]:
    rows = [
        {
            "judge": judge,
            "known answer": kind,
            **{f"{d} right %": _right(outcome, d) for d in DIMENSIONS},
            "false 2s": "/".join(str(outcome.false_two.get(d, 0)) for d in DIMENSIONS),
            "missed 2s": "/".join(str(outcome.missed_two.get(d, 0)) for d in DIMENSIONS),
            "N": str(outcome.n),
            "not asked": "; ".join(f"{count}: {why}" for why, count in outcome.left_out.items()),
        }
        for judge, probe in data.probes.items()
        for kind, outcome in probe.kinds.items()
    ]
    note = (
        "Scripted plans whose right scores follow by construction, and free answers with their authors' scores. "
        "2s of reasoning/waypoints/overall: given where another score is right, and not given where it is. "
        "A verdict without a usable reply counts as wrong."
    )
    return Table.of("probes", "Known answers, by kind", rows, 2, note)


def _right(kind: ProbeKind, dimension: Dimension) -> str:
    judged = kind.n - kind.unjudged.get(dimension, 0)
    return share(kind.right[dimension] / judged if judged else None)


def _calibration_tables(data: ReportData) -> tuple[Table, ...]:
    rows = [
        {
            "judge": judge,
            "score": d,
            "same %": share(result.accuracy),
            "kappa": coefficient(result.kappa),
            "quadratic kappa": coefficient(result.quadratic),
            "N": str(result.n),
            "split": str(calibration.split.get(d, 0)),
            "counts here": f"no: {len(rated)} of its scenes were rated" if rated else "yes",
        }
        for judge, calibration in data.calibrations.items()
        for rated in [calibration.shared_with(data.benchmark.scenes)]
        for d, result in calibration.against_people.items()
    ]
    note = (
        "Against the majority of the people who rated the same answers; split answers, on which they have none, "
        "are left out, so the figures are those of the clearer ones. It counts for this benchmark only when none "
        "of its scenes was rated for it: wording that was tuned on a scene says little about that scene."
    )
    return Table.of("calibration", "Judges against people, calibration set", rows, 2, note)


def _judge_scores(data: ReportData, judge: str, dimension: Dimension) -> Scores:
    return {
        (planner, v.case_id): score
        for planner in data.planners
        for v in data.verdicts_of(judge, planner, "hazard")
        if v.repeat == 0 and (score := v.scores.get(dimension)) is not None
    }


def _agreement_cells(result: Agreement) -> dict[str, str]:
    def kappa(value: float | None, interval: tuple[float, float] | None) -> str:
        return coefficient(value) + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")

    return {
        "same %": share(result.accuracy),
        "kappa": kappa(result.kappa, result.kappa_interval),
        "quadratic kappa": kappa(result.quadratic, result.quadratic_interval),
        **{f"finds {score} %": share(recall, 0) for score, recall in enumerate(result.recall)},
        "N": str(result.n),
    }
