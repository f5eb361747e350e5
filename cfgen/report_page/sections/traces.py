"""How far each planner's answers hang together: the paper's Tables 3 and 4."""

from dataclasses import asdict

from cfgen.metrics.faithfulness import EDGES, ConsistencyRow, EdgeVerdicts, consistency_row
from cfgen.report_page.gather import Gathered
from cfgen.report_page.section import Section
from cfgen.report_page.table import Table


def traces_section(data: Gathered) -> Section:
    rows, figures = [], []
    for planner in data.planners:
        found = data.traces[planner]
        for checker, arm in sorted(
            {(v.checker, v.arm) for v in found}, key=lambda k: (k[0], k[1] != "original")
        ):
            edges = [EdgeVerdicts(v.edges) for v in found if (v.checker, v.arm) == (checker, arm)]
            row = consistency_row(edges)
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
        + ". Overall is derived from the five in code. Unchecked: the checker gave no usable reply.",
    )
    return Section(
        id="faithfulness",
        title="Faithfulness of the reasoning",
        tables=(table,) if rows else (),
        figures={"faithfulness": figures},
    )


def _words(row: ConsistencyRow) -> tuple[str, ...]:
    edges = (row.edges[edge].percent() for edge in EDGES)
    return (
        row.overall.percent(),
        row.overall.interval(),
        *edges,
        str(row.overall.n),
        str(row.unscored["overall"]),
    )
