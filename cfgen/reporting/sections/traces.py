"""How far each planner's answers hang together: the paper's Tables 3 and 4."""

from collections import defaultdict
from dataclasses import asdict
from typing import Any

from cfgen.metrics.faithfulness import EDGES, OTHER_READING, ConsistencyRow, EdgeVerdicts, consistency_row
from cfgen.metrics.grounding import Claims, inconsistency_rate, mean_grounding
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.sections.edge_people import edge_people
from cfgen.reporting.sections.edge_trust import edge_trust
from cfgen.reporting.table import Table

#: checker, arm
Asked = tuple[str, str]


def _order(asked: Asked) -> tuple[str, bool]:
    return asked[0], asked[1] != "original"


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
        found = defaultdict[Asked, list[EdgeVerdicts]](list)
        for v in data.traces[planner]:
            if v.edges or v.rubric in ("faithfulness", OTHER_READING):
                found[v.checker, v.arm].append(EdgeVerdicts(v.edges))
        for checker, arm in sorted(found, key=_order):
            row = consistency_row(found[checker, arm])
            rows.append((planner, checker, arm, *_words(row)))
            figures.append({"planner": planner, "checker": checker, "arm": arm, **asdict(row)})
    table = Table(
        name="faithfulness",
        title="Consistent answers, edge by edge",
        columns=(
            "planner",
            "checker",
            "arm",
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
        found = defaultdict[Asked, list[tuple[bool, bool | None, Claims | None]]](list)
        for v in data.traces[planner]:
            if v.rubric in ("consistency", "grounding"):
                found[v.checker, v.arm].append((v.status == "failed", v.consistent, v.claims))
        for checker, arm in sorted(found, key=_order):
            own = found[checker, arm]
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
        columns=("planner", "checker", "arm", "inconsistent %", "mean grounding %", "N", "unchecked"),
        rows=tuple(rows),
        words=3,
        note="Inconsistent: the action does not follow from the words. Grounding: of the sentences that claim "
        "something about the frame, the share that is right, averaged over answers that claim anything.",
    )
    return table, figures


def _words(row: ConsistencyRow) -> tuple[str, ...]:
    edges = (row.edges[edge].percent() for edge in EDGES)
    return (
        row.overall.percent(),
        row.overall.interval(),
        *edges,
        str(row.overall.n),
        str(row.unscored["overall"]),
    )
