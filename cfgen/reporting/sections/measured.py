"""Every registered metric on every pair of plans."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from sys import intern

import numpy as np

from cfgen.core.disk_backed import DiskList
from cfgen.core.faults import contained, fault_of
from cfgen.core.registry import first_line
from cfgen.metrics.registry import METRICS, Mean, Metric, mean, measure, over_repeats
from cfgen.records import Case, Fault
from cfgen.reporting.data import ReportData
from cfgen.reporting.events import place_of
from cfgen.reporting.section import Section
from cfgen.reporting.table import Table

#: (planner, arm) -> metric -> case -> its number
Numbers = dict[tuple[str, str], dict[str, dict[str, float]]]


def measured_section(data: ReportData) -> Section:
    """Every registered metric: by planner and arm with its interval, and by case in a CSV."""
    metrics, broken = METRICS.load_each()
    faults = [fault_of(error, f"metric '{name}'") for name, error in broken.items()]
    numbers = {
        (planner, arm): _numbers(data, planner, arm, metrics, faults)
        for planner in data.planners
        for arm in data.arms(planner)
    }
    means = {
        (metric, *where): mean(values)
        for where, by_metric in _shared(numbers).items()
        for metric, values in by_metric.items()
    }
    rows = [(name, planner, arm, *_words(m)) for (name, planner, arm), m in means.items() if m.n]
    order = list(metrics)
    rows.sort(key=lambda row: (order.index(row[0]), data.planners.index(row[1])))
    return Section(
        id="metrics",
        title="Metrics",
        lead=tuple(f"Left out: {fault}" for fault in faults),
        tables=(_table(rows, metrics),) if rows else (),
        files=(_cases(data, numbers, order),) if rows else (),
        figures={
            "metrics": [
                {"metric": name, "planner": planner, "arm": arm, **asdict(m)}
                for (name, planner, arm), m in means.items()
            ]
        },
        faults=tuple(faults),
    )


def _numbers(
    data: ReportData, planner: str, arm: str, metrics: dict[str, Metric], faults: list[Fault]
) -> dict[str, dict[str, float]]:
    """metric -> case -> mean over repeats; the first of each kind of what breaks goes to ``faults``."""
    found: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for case, repeat, original, modified in _pairs(data, planner, arm):
        for name, metric in metrics.items():
            work = partial(measure, metric, original, modified, place_of(case, arm), case)
            where = f"metric '{name}' on {planner}, {arm} of case {case.case_id}"
            value = contained(work, where, strict=data.strict)
            if isinstance(value, Fault):
                if all(f.where.split(" on ")[0] != f"metric '{name}'" for f in faults):
                    faults.append(value)
            elif value is not None:
                found[name][case.case_id, repeat] = value
    return {name: over_repeats(found[name]) for name in metrics}


def _shared(numbers: Numbers) -> Numbers:
    """A planner's arms are compared over the cases in which each of them has a number."""
    cases: dict[tuple[str, str], set[str]] = {}
    for (planner, _), by_metric in numbers.items():
        for metric, values in by_metric.items():
            if values:
                cases[planner, metric] = cases.get((planner, metric), set(values)) & set(values)
    return {
        (planner, arm): {
            metric: {case: v for case, v in values.items() if case in cases[planner, metric]}
            for metric, values in by_metric.items()
        }
        for (planner, arm), by_metric in numbers.items()
    }


def _pairs(data: ReportData, planner: str, arm: str) -> Iterator[tuple[Case, int, np.ndarray, np.ndarray]]:
    """Drives that count, where both frames have a plan."""
    originals, answers = data.drives(planner, "original"), data.drives(planner, arm)
    for key, base in data.pairs(planner, arm).items():
        original, modified = originals[base], answers[key]
        if original is not None and modified is not None:
            yield data.by_id[key[0]], key[1], original.poses.copy(), modified.poses.copy()


def _words(found: Mean) -> tuple[str, str, str]:
    interval = "-" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}"
    return f"{found.value:.2f}", interval, str(found.n)


def _table(rows: Sequence[tuple[str, ...]], metrics: dict[str, Metric]) -> Table:
    notes = (f"{name}: {summary}" for name, metric in metrics.items() if (summary := first_line(metric)))
    return Table(
        name="metrics",
        title="Means of what is measured on pairs of plans",
        columns=("metric", "planner", "arm", "mean", "95% interval", "N"),
        rows=tuple(rows),
        words=3,
        note=" ".join(("Of plans as a car drives them, over the cases that a planner's arms share.", *notes)),
    )


def _cases(data: ReportData, numbers: Numbers, order: list[str]) -> Table:
    names = {case.case_id: intern(case.hazard.id) for case in data.cases}
    rows = (
        (planner, arm, case_id, names[case_id], *(_cell(by_metric[m].get(case_id)) for m in order))
        for (planner, arm), by_metric in numbers.items()
        for case_id in sorted({c for values in by_metric.values() for c in values})
    )
    columns = ("planner", "arm", "case", "hazard", *order)
    return Table("cases", "Every case", columns, DiskList(data.disk, rows), words=4)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
