"""Judges of edges against people: the Pinocchio paper's Tables 1 and 6, by reading of the second edge."""

from typing import Any

from cfgen.metrics.edge_agreement import EdgeAgreement, Verdicts, edge_agreement
from cfgen.reporting.data import ReportData
from cfgen.reporting.table import Table

_NOTE = (
    "Majority: of the people who rated a trace; traces they are split on, and what somebody could not tell, are left "
    "out. Kappa: Cohen's; undefined where one rater gives one verdict throughout. After ±: half the range over the "
    "pairs, as the paper's Table 1 turns out to give it. Overall is derived from the five edges by rule, of people as "
    "of judges. The paper reads E2 in two ways: against the image (faithfulness) and against the scene description "
    "(faithfulness-scene); ratings are of one of them."
)


def edge_people(data: ReportData) -> tuple[list[Table], list[dict[str, Any]]]:
    """Both tables, empty where nobody rated edges, and their figures."""
    first, sixth, figures = [], [], []
    for rubric in sorted({f.rubric for f in data.edge_ratings}):
        people: dict[str, dict[str, Any]] = {}
        for f in data.edge_ratings:
            if f.rubric == rubric:
                people.setdefault(f.rater, {})[_trace(f)] = f.history[-1].edges
        judges = _judges(data, rubric) or {"": {}}
        for checker, verdicts in judges.items():
            for one in edge_agreement(people, verdicts, checker or "nobody"):
                first.append((rubric, checker or "-", one.edge, *_words(one)))
                sixth += [
                    (rubric, one.edge, a, b, _kappa(k))
                    for (a, b), k in one.pairs.items()
                    if "nobody" not in (a, b)
                ]
                figures.append(_figures(rubric, checker, one))
    # people's pairs come with every judge
    rows = tuple(dict.fromkeys(sixth))
    columns = ("E2 read as", "checker", "edge", "same as majority", "kappa", "people among themselves")
    tables = [
        Table(
            name="edge-people",
            title="Judges of edges against people",
            columns=(*columns, "judge with each", "ties"),
            rows=tuple(first),
            words=3,
            note=_NOTE,
        ),
        Table(
            name="edge-pairs",
            title="Every pair of raters, edge by edge",
            columns=("E2 read as", "edge", "rater", "other", "kappa"),
            rows=rows,
            words=4,
        ),
    ]
    return tables, figures


def _judges(data: ReportData, rubric: str) -> dict[str, Verdicts]:
    found: dict[str, dict[str, Any]] = {}
    for verdicts in data.traces.values():
        for v in verdicts:
            if v.rubric == rubric and v.edges:
                found.setdefault(v.checker, {})[_trace(v)] = v.edges
    return dict(sorted(found.items()))


def _trace(record: Any) -> str:
    return f"{record.planner} {record.arm} {record.case_id} {record.repeat}"


def _words(one: EdgeAgreement) -> tuple[str, ...]:
    def mean(pair: tuple[float, float] | None) -> str:
        return "-" if pair is None else f"{pair[0]:.3f} ± {pair[1]:.3f}"

    return (
        f"{one.same}/{one.n}",
        _kappa(one.consensus_kappa),
        mean(one.people),
        mean(one.with_judge),
        str(one.ties),
    )


def _figures(rubric: str, checker: str, one: EdgeAgreement) -> dict[str, Any]:
    return {
        "rubric": rubric,
        "checker": checker,
        "edge": one.edge,
        "same": one.same,
        "n": one.n,
        "ties": one.ties,
        "kappa": one.consensus_kappa,
        "people": one.people,
        "with_judge": one.with_judge,
        "pairs": {f"{a} ~ {b}": k for (a, b), k in one.pairs.items()},
    }


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
