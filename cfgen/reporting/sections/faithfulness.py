"""Whether the reasoning holds: edges of a trace and who checks them, swaps of stages."""

from collections import defaultdict
from dataclasses import asdict
from typing import Any

from cfgen.metrics.faithfulness import (
    EDGES,
    OTHER_READING,
    Balanced,
    Claims,
    ConsistencyRow,
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
from cfgen.reporting.section import Section, Table


def edge_trust(data: ReportData) -> tuple[Table, tuple[str, ...]]:
    """The table, and a sentence about each checker whose verdicts this report shows."""
    rows = [
        (probe.checker, *_by(probe), name, *_words(probe, name))
        for probe in data.edge_probes
        for name in probe.edges
    ]
    table = Table(
        name="edge-probes",
        title="Judges of edges on known answers",
        columns=(
            *(
                "checker",
                "asked with",
                "answered by",
                "known traces",
                "edge",
                "balanced accuracy",
                "95% interval",
                "false consistent %",
            ),
            *("95% interval", "false inconsistent %", "95% interval", "consistent + broken"),
        ),
        rows=tuple(rows),
        words=5,
        note="Traces whose right verdicts are known by construction and geometry (cfgen analyze traces validate). "
        "Balanced accuracy: the mean of both recalls; what got no usable reply counts as wrong. Intervals take known "
        "answers as independent.",
    )
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


def _by(probe: EdgeProbe) -> tuple[str, str, str]:
    """The wording, the model, and the pool: what one probe differs from another in."""
    wording = f"{probe.rubric} {probe.rubric_hash.removeprefix('sha256:')[:6]}"
    model = probe.model.removeprefix("sha256:")
    pool = f"{probe.n} of {probe.pool.removeprefix('sha256:')[:6]}"
    return wording, model if model == probe.model else f"weights {model[:12]}", pool


def _words(probe: EdgeProbe, name: str) -> tuple[str, ...]:
    count = probe.edges[name]
    accuracy = Balanced.of(*count.recalls)
    balanced = (
        ("-", "-")
        if accuracy.value is None
        else (f"{accuracy.value:.3f}", f"{accuracy.low:.3f}-{accuracy.high:.3f}")
    )
    wrong = [
        Rate.of(hits, n)
        for hits, n in (
            (count.false_consistent, count.inconsistent),
            (count.false_inconsistent, count.consistent),
        )
    ]
    figures = [words for rate in wrong for words in (rate.percent(), rate.interval())]
    return (*balanced, *figures, f"{count.consistent} + {count.inconsistent}")


# --- judges of edges against people: the Pinocchio paper's Table 1, by reading of the second edge ---------

_NOTE = (
    "Majority: of the people who rated a trace; traces they are split on, and what somebody could not tell, are left "
    "out. Kappa: Cohen's; undefined where one rater gives one verdict throughout. After ±: half the range over the "
    "pairs, as the paper's Table 1 turns out to give it. Overall is derived from the five edges by rule, of people as "
    "of judges. The paper reads E2 in two ways: against the image (faithfulness) and against the scene description "
    "(faithfulness-scene); ratings are of one of them."
)


def edge_people(data: ReportData) -> tuple[list[Table], list[dict[str, Any]]]:
    """The table, empty where nobody rated edges, and its figures, every pair of raters in them."""
    rows, figures = [], []
    for rubric in sorted({f.rubric for f in data.edge_ratings}):
        people: dict[str, dict[str, Any]] = {}
        for f in data.edge_ratings:
            if f.rubric == rubric:
                people.setdefault(f.rater, {})[_trace(f)] = f.history[-1].edges
        judges = _judges(data, rubric) or {"": {}}
        for checker, verdicts in judges.items():
            for result in edge_agreement(people, verdicts, checker or "nobody"):
                rows.append((rubric, checker or "-", result.edge, *_people_cells(result)))
                figures.append(_figures(rubric, checker, result))
    columns = ("E2 read as", "checker", "edge", "same as majority", "kappa", "people among themselves")
    table = Table(
        name="edge-people",
        title="Judges of edges against people",
        columns=(*columns, "judge with each", "ties"),
        rows=tuple(rows),
        words=3,
        note=_NOTE,
    )
    return [table], figures


def _judges(data: ReportData, rubric: str) -> dict[str, Verdicts]:
    verdicts_of: dict[str, dict[str, Any]] = {}
    for verdicts in data.traces.values():
        for v in verdicts:
            if v.rubric == rubric and v.edges:
                verdicts_of.setdefault(v.checker, {})[_trace(v)] = v.edges
    return dict(sorted(verdicts_of.items()))


def _trace(record: Any) -> str:
    return f"{record.planner} {record.arm} {record.case_id} {record.repeat}"


def _people_cells(result: EdgeAgreement) -> tuple[str, ...]:
    def mean(pair: tuple[float, float] | None) -> str:
        return "-" if pair is None else f"{pair[0]:.3f} ± {pair[1]:.3f}"

    return (
        f"{result.same}/{result.n}",
        _kappa(result.consensus_kappa),
        mean(result.people),
        mean(result.with_judge),
        str(result.ties),
    )


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


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


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
        tables=tuple(table for table in (edges, claims, trust, *people) if table.rows),
        figures={
            "faithfulness": edge_figures,
            "claims": claim_figures,
            "edge_probes": [p.model_dump(mode="json", exclude={"verdicts"}) for p in data.edge_probes],
            "edge_people": rated,
        },
    )


def _edges(data: ReportData) -> tuple[Table, list[dict[str, Any]]]:
    rows, figures = [], []
    for planner in data.planners:
        verdicts = defaultdict[Asked, list[EdgeVerdicts]](list)
        for v in data.traces[planner]:
            if v.edges or v.rubric in ("faithfulness", OTHER_READING):
                verdicts[v.checker, v.arm].append(EdgeVerdicts(v.edges))
        for checker, arm in sorted(verdicts, key=_order):
            row = consistency_row(verdicts[checker, arm])
            rows.append((planner, checker, arm, *_consistency_cells(row)))
            figures.append({"planner": planner, "checker": checker, "arm": arm, **asdict(row)})
    table = Table(
        name="faithfulness",
        title="Consistent answers, edge by edge",
        columns=(
            "planner",
            "checker",
            "scene",
            "overall %",
            "95% interval",
            *(f"{e} %" for e in EDGES),
            "N",
            "unchecked",
        ),
        rows=tuple(rows),
        words=3,
        note="; ".join(f"{edge}: {name}" for edge, name in EDGES.items())
        + f" ({OTHER_READING}: scene to justification). Overall is derived from the five in code. Unchecked: the "
        "checker gave no usable reply.",
    )
    return table, figures


def _claims(data: ReportData) -> tuple[Table, list[dict[str, Any]]]:
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
            shares = ["-" if share is None else f"{100 * share:.1f}" for share in (rate, grounding)]
            rows.append((planner, checker, arm, *shares, str(len(own) - unchecked), str(unchecked)))
            figures.append(
                {
                    "planner": planner,
                    "checker": checker,
                    "arm": arm,
                    "inconsistency": rate,
                    "grounding": grounding,
                }
            )
    table = Table(
        name="claims",
        title="Words against action and frame",
        columns=("planner", "checker", "scene", "inconsistent %", "mean grounding %", "N", "unchecked"),
        rows=tuple(rows),
        words=3,
        note="Inconsistent: the action does not follow from the words. Grounding: of the sentences that claim "
        "something about the frame, the share that is right, averaged over answers that claim anything.",
    )
    return table, figures


def _consistency_cells(row: ConsistencyRow) -> tuple[str, ...]:
    edges = (row.edges[edge].percent() for edge in EDGES)
    return (
        row.overall.percent(),
        row.overall.interval(),
        *edges,
        str(row.overall.n),
        str(row.unscored["overall"]),
    )


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
                rows.append((planner, swap, rate.percent(), rate.interval(), str(rate.n), str(failed)))
                figures.append(
                    {"planner": planner, "swap": swap, "followed": rate.hits, "n": rate.n, "failed": failed}
                )
    table = Table(
        name="interventions",
        title="Share of swaps that the trajectory follows",
        columns=("planner", "swapped", "followed %", "95% interval", "N", "no plan"),
        rows=tuple(rows),
        words=2,
        note="One stage of the planner's own trace is replaced and it plans again: reasoning that carries the action "
        "moves the trajectory.",
    )
    return Section(
        id="swaps",
        title="Is the reasoning load-bearing?",
        tables=(table,) if rows else (),
        figures={"interventions": figures},
    )
