"""Whether the reasoning holds: edges of a trace and who checks them, swaps of stages."""

from collections import defaultdict
from dataclasses import asdict
from typing import Any

from cfgen.metrics.faithfulness import (
    EDGES,
    OTHER_READING,
    Balanced,
    Claims,
    EdgeAgreement,
    EdgeVerdicts,
    Verdicts,
    consistency_row,
    edge_agreement,
    inconsistency_rate,
    mean_grounding,
)
from cfgen.metrics.intervals import Rate
from cfgen.records import EdgeProbe
from cfgen.records.traces import ENOUGH_KNOWN
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section, Table, coefficient, share


def edge_trust(data: ReportData) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """The table, and a sentence about each checker whose verdicts this report shows."""
    note = (
        "Traces whose right verdicts are known by construction and geometry (cfgen analyze traces validate). "
        "Balanced accuracy: the mean of both recalls; what got no usable reply counts as wrong. Intervals are of "
        "95% and take known answers as independent."
    )
    rows = [_probe_row(probe, edge) for probe in data.edge_probes for edge in probe.edges]
    table = Table.of("edge-probes", "Judges of edges on known answers", rows, 5, note)
    checkers = sorted({(v.checker, v.rubric) for verdicts in data.traces.values() for v in verdicts})
    return table, tuple(
        _sentence(checker, rubric, data) for checker, rubric in checkers if rubric != "grounding"
    )


def _sentence(checker: str, rubric: str, data: ReportData) -> str:
    """Tested, or untested and why."""
    probes = [p for p in data.edge_probes if p.checker == checker]
    if not probes:
        return f"{checker} is untested: it was tried on no known answers here; cfgen analyze traces validate does so."
    models, hashes = (
        {
            getattr(v, name)
            for verdicts in data.traces.values()
            for v in verdicts
            if v.checker == checker and v.edges
        }
        for name in ("model", "rubric_hash")
    )
    if not (probes := [p for p in probes if not hashes - {p.rubric_hash}]):
        return f"{checker} is untested: its verdicts are by another wording than what was probed; probe it again."
    if not (probes := [p for p in probes if not models - {p.model, ""}]):
        return f"{checker} is untested: its verdicts are by another model or other weights than were probed."
    probe = probes[0]
    shares = []
    for name, count in probe.edges.items():
        accuracy = Balanced.of(*count.recalls)
        if accuracy.value is not None:
            shares.append(f"{name} {accuracy.value:.2f}")
    words = f"{checker} was tried on {probe.n} known traces; balanced accuracy: {', '.join(shares)}."
    if probe.untested:
        words += (
            f" It is untested on {', '.join(probe.untested)}: fewer than {ENOUGH_KNOWN} answers of a verdict."
        )
    return words


def _probe_row(probe: EdgeProbe, edge: str) -> dict[str, str]:
    """The wording, the model and the pool are what one probe differs from another in."""
    model, count = probe.model.removeprefix("sha256:"), probe.edges[edge]
    accuracy = Balanced.of(*count.recalls)
    wrong = Rate.of(count.false_consistent, count.inconsistent)
    missed = Rate.of(count.false_inconsistent, count.consistent)
    return {
        "checker": probe.checker,
        "asked with": f"{probe.rubric} {_short(probe.rubric_hash)}",
        "answered by": model if model == probe.model else f"weights {_short(model)}",
        "known traces": f"{probe.n} of {_short(probe.pool)}",
        "edge": edge,
        "balanced accuracy": "-" if accuracy.value is None else f"{accuracy.value:.3f}",
        "its interval": "-" if accuracy.value is None else f"{accuracy.low:.3f}-{accuracy.high:.3f}",
        "false consistent %": wrong.percent(),
        "interval of these": wrong.interval(),
        "false inconsistent %": missed.percent(),
        "interval of those": missed.interval(),
        "consistent + broken": f"{count.consistent} + {count.inconsistent}",
    }


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:6]


# --- judges of edges against people: the Pinocchio paper's Table 1, by reading of the second edge ---------

_NOTE = (
    "Majority: of the people who rated a trace; traces they are split on, and what somebody could not tell, are left "
    "out. Kappa: Cohen's; undefined where one rater gives one verdict throughout. After ±: half the range over the "
    "pairs, as the paper's Table 1 turns out to give it. Overall is derived from the five edges by rule, of people as "
    "of judges. The paper reads E2 in two ways: against the image (faithfulness) and against the scene description "
    "(faithfulness-scene); ratings are of one of them."
)


def edge_people(data: ReportData) -> tuple[tuple[Table, ...], list[dict[str, Any]]]:
    """The table, and its figures, every pair of raters in them."""
    rows, figures = [], []
    for rubric in sorted({f.rubric for f in data.edge_ratings}):
        people: dict[str, dict[str, Any]] = {}
        for f in data.edge_ratings:
            if f.rubric == rubric:
                people.setdefault(f.rater, {})[_trace(f)] = f.history[-1].edges
        judges = _judges(data, rubric) or {"": {}}
        for checker, verdicts in judges.items():
            for result in edge_agreement(people, verdicts, checker or "nobody"):
                rows.append(
                    {
                        "E2 read as": rubric,
                        "checker": checker or "-",
                        "edge": result.edge,
                        "same as majority": f"{result.same}/{result.n}",
                        "kappa": coefficient(result.consensus_kappa, 3),
                        "people among themselves": _mean(result.people),
                        "judge with each": _mean(result.with_judge),
                        "ties": str(result.ties),
                    }
                )
                figures.append(_figures(rubric, checker, result))
    return Table.of("edge-people", "Judges of edges against people", rows, 3, _NOTE), figures


def _mean(pair: tuple[float, float] | None) -> str:
    return "-" if pair is None else f"{pair[0]:.3f} ± {pair[1]:.3f}"


def _judges(data: ReportData, rubric: str) -> dict[str, Verdicts]:
    verdicts_of: dict[str, dict[str, Any]] = {}
    for verdicts in data.traces.values():
        for v in verdicts:
            if v.rubric == rubric and v.edges:
                verdicts_of.setdefault(v.checker, {})[_trace(v)] = v.edges
    return dict(sorted(verdicts_of.items()))


def _trace(record: Any) -> str:
    return f"{record.planner} {record.arm} {record.case_id} {record.repeat}"


def _figures(rubric: str, checker: str, result: EdgeAgreement) -> dict[str, Any]:
    return {
        "rubric": rubric,
        "checker": checker,
        "edge": result.edge,
        "same": result.same,
        "n": result.n,
        "ties": result.ties,
        "kappa": result.consensus_kappa,
        "people": result.people,
        "with_judge": result.with_judge,
        "pairs": {f"{a} ~ {b}": k for (a, b), k in result.pairs.items()},
    }


# --- how far each planner's answers hang together: the paper's Tables 3 and 4 -----------------------------

#: checker, arm
Asked = tuple[str, str]


def _order(question: Asked) -> tuple[str, bool]:
    return question[0], question[1] != "original"


def traces_section(data: ReportData) -> Section:
    """Whether the parts of the answers fit together, edge by edge."""
    edges, edge_figures = _edges(data)
    claims, claim_figures = _claims(data)
    trust, trusted = edge_trust(data)
    people, rated = edge_people(data)
    return Section(
        id="faithfulness",
        title="Faithfulness of the reasoning",
        lead=trusted,
        tables=(*edges, *claims, *trust, *people),
        figures={
            "faithfulness": edge_figures,
            "claims": claim_figures,
            "edge_probes": [p.model_dump(mode="json", exclude={"verdicts"}) for p in data.edge_probes],
            "edge_people": rated,
        },
    )


def _edges(data: ReportData) -> tuple[tuple[Table, ...], list[dict[str, Any]]]:
    rows, figures = [], []
    for planner in data.planners:
        verdicts = defaultdict[Asked, list[EdgeVerdicts]](list)
        for v in data.traces[planner]:
            if v.edges or v.rubric in ("faithfulness", OTHER_READING):
                verdicts[v.checker, v.arm].append(EdgeVerdicts(v.edges))
        for checker, arm in sorted(verdicts, key=_order):
            row = consistency_row(verdicts[checker, arm])
            rows.append(
                {
                    "planner": planner,
                    "checker": checker,
                    "scene": arm,
                    "overall %": row.overall.percent(),
                    "95% interval": row.overall.interval(),
                    **{f"{edge} %": row.edges[edge].percent() for edge in EDGES},
                    "N": str(row.overall.n),
                    "unchecked": str(row.unscored["overall"]),
                }
            )
            figures.append({"planner": planner, "checker": checker, "arm": arm, **asdict(row)})
    edges = "; ".join(f"{edge}: {name}" for edge, name in EDGES.items())
    note = (
        f"{edges} ({OTHER_READING}: scene to justification). Overall is derived from the five in code. Unchecked: the "
        "checker gave no usable reply."
    )
    return Table.of("faithfulness", "Consistent answers, edge by edge", rows, 3, note), figures


def _claims(data: ReportData) -> tuple[tuple[Table, ...], list[dict[str, Any]]]:
    """Faithful GRPO's two measures: inconsistency rate and mean grounding."""
    rows, figures = [], []
    for planner in data.planners:
        checked = defaultdict[Asked, list[tuple[bool, bool | None, Claims | None]]](list)
        for v in data.traces[planner]:
            if v.rubric in ("consistency", "grounding"):
                checked[v.checker, v.arm].append((v.status == "failed", v.consistent, v.claims))
        for checker, arm in sorted(checked, key=_order):
            own = checked[checker, arm]
            unchecked = sum(failed for failed, *_ in own)
            rate = inconsistency_rate([consistent for _, consistent, _ in own])
            grounding = mean_grounding([claims for *_, claims in own if claims])
            rows.append(
                {
                    "planner": planner,
                    "checker": checker,
                    "scene": arm,
                    "inconsistent %": share(rate),
                    "mean grounding %": share(grounding),
                    "N": str(len(own) - unchecked),
                    "unchecked": str(unchecked),
                }
            )
            asked = {"planner": planner, "checker": checker, "arm": arm}
            figures.append({**asked, "inconsistency": rate, "grounding": grounding})
    note = (
        "Inconsistent: the action does not follow from the words. Grounding: of the sentences that claim "
        "something about the frame, the share that is right, averaged over answers that claim anything."
    )
    return Table.of("claims", "Words against action and frame", rows, 3, note), figures


# --- whether the reasoning carries the trajectory: stages of a trace are swapped --------------------------

_SWAPS = ("longitudinal", "lateral", "justification")


def swaps_section(data: ReportData) -> Section:
    """Share of replaced stages of a trace that the trajectory followed (Pinocchio, Eq. 3)."""
    rows, figures = [], []
    for planner in data.planners:
        for swap in _SWAPS:
            swaps = [i for i in data.interventions[planner] if i.swap == swap]
            answered = [i.followed for i in swaps if i.followed is not None]
            if swaps:
                rate = Rate.of(sum(answered), len(answered))
                failed = len(swaps) - len(answered)
                rows.append(
                    {
                        "planner": planner,
                        "swapped": swap,
                        "followed %": rate.percent(),
                        "95% interval": rate.interval(),
                        "N": str(rate.n),
                        "no plan": str(failed),
                    }
                )
                figures.append(
                    {"planner": planner, "swap": swap, "followed": rate.hits, "n": rate.n, "failed": failed}
                )
    note = (
        "One stage of the planner's own trace is replaced and it plans again: reasoning that carries the action "
        "moves the trajectory."
    )
    return Section(
        id="swaps",
        title="Is the reasoning load-bearing?",
        tables=Table.of("interventions", "Share of swaps that the trajectory follows", rows, 2, note),
        figures={"interventions": figures},
    )
