"""What the trajectories do about the hazard when a car drives them, and every registered metric."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from sys import intern

import numpy as np

from cfgen.core.disk_backed import DiskList
from cfgen.core.faults import contained, fault_of
from cfgen.core.registry import first_line
from cfgen.geometry.driving import DrivenPlan
from cfgen.metrics.intervals import Rate
from cfgen.metrics.kinematics import Encounter, displacement_errors, reached_after_s
from cfgen.metrics.registry import METRICS, Metric, mean, measure, over_repeats
from cfgen.records import Case, Fault
from cfgen.reporting.data import Key, ReportData
from cfgen.reporting.section import Section, Table


@dataclass(frozen=True, slots=True)
class Met:
    """One sample's plan as it is driven, against the hazard's place.

    Attributes:
        within: the place is reached within the shorter plan of both arms, by the car's own speed.
        off_m: largest distance of plan and drive. incoherent: why the plan is no motion of a car, or "".
        errors: ADE and FDE of the original's plan as drawn; None without a recorded future as long.
    """

    case_id: str
    repeat: int
    encounter: Encounter
    within: bool
    off_m: float
    incoherent: str
    errors: tuple[float, float] | None


ARMS = ("original", "hazard")
_NOTE = (
    "A kinematic bicycle follows each plan from the car's own state, within limits of acceleration, jerk and "
    "steering, to the plan's own end: the horizon. Boxes of the car and of the hazard at all times, medians, over "
    "the N cases with a plan in both scenes whose hazard the car comes to within the horizon at its own speed; "
    "those beyond it are counted apart. The original scene is measured against the place where the hazard will be, "
    "so its contact rate says how many plans have to change. Gap: the smallest. TTC: the smallest, of those on "
    "course for it that do not touch it. Plan off by: the largest distance of plan and "
    "drive; no motion: plans that no car can follow; ADE, FDE: of the plan as drawn to the recorded drive; these "
    "over all N + beyond. Of several samples those that count, each case by their mean."
)


def motion_section(data: ReportData) -> Section:
    """Plans measured against the hazard's place."""
    rows, figures = [], DiskList[dict[str, object]](data.disk)
    for planner in data.planners:
        for arm, met in encounters(data, planner):
            rows.append({"planner": planner, "scene": arm, **_cells(met, arm)})
            for sample in met:
                figures.append({"planner": planner, "arm": arm, **_plain(sample)})
    return Section(
        id="motion",
        title="Motion",
        tables=Table.of("motion", "Plans, simulated, against the hazard's place", rows, 2, _NOTE),
        figures={"encounters": figures},
    )


def encounters(data: ReportData, planner: str) -> Iterator[tuple[str, list[Met]]]:
    """By arm, in the cases in which every arm that the planner answered has a plan.

    In the original arm nothing stands at the hazard's place.
    """
    drives = {arm: driven for arm in ARMS if (driven := data.drives(planner, arm))}
    keys_of_pairs: list[tuple[Key, ...]]
    if len(drives) == len(ARMS):
        keys_of_pairs = [(base, key) for key, base in data.pairs(planner, "hazard").items()]
    else:
        keys_of_pairs = [(key,) for answers in drives.values() for key in answers if answers.has(key)]
    for i, arm in enumerate(drives if keys_of_pairs else ()):
        each = []
        for keys in keys_of_pairs:
            pair = [motion for of, key in zip(drives.values(), keys, strict=True) if (motion := of[key])]
            shorter = min(len(d.poses) for d in pair) / len(pair[i].poses)
            each.append(_met(data, planner, arm, keys[i], pair[i], shorter))
        yield arm, each


def _met(data: ReportData, planner: str, arm: str, key: Key, driven: DrivenPlan, shorter: float) -> Met:
    """``shorter``: the shorter plan of both arms as a share of this one."""
    met, scene = data.met(planner, arm, key), data.scenes[data.scene_of[key[0]]]
    horizon = met.horizon_s * shorter
    errors = None
    if scene.future and arm == "original":  # nobody who saw the hazard is held against a drive without it
        plan = data.plans(planner, arm)[key]
        assert plan is not None
        errors = displacement_errors(plan, scene.future)
    within = reached_after_s(data.place(key[0], "hazard"), scene.speed) <= horizon
    return Met(*key, met, within, driven.off_m, data.incoherent(planner, arm).get(key, ""), errors)


def _plain(met: Met) -> dict[str, object]:
    return {
        "case": met.case_id,
        "repeat": met.repeat,
        **asdict(met.encounter),
        "within_horizon": met.within,
        "off_m": met.off_m,
        "incoherent": met.incoherent,
    }


def _cells(met: list[Met], arm: str) -> dict[str, str]:
    each = [m for m in met if m.within]

    def share(of: Callable[[Encounter], bool]) -> str:
        values = _by_case(each, lambda m: float(of(m.encounter)))
        return Rate.of(sum(values), len(values)).percent()

    def median(of: Callable[[Encounter], float | None]) -> str:
        return _median(_by_case(each, lambda m: of(m.encounter)))

    def error(which: int) -> str:
        values = _by_case(met, lambda m: m.errors and m.errors[which]) if arm == "original" else []
        return f"{np.mean(values):.2f}" if values else "-"

    none = _by_case(met, lambda m: float(bool(m.incoherent)))
    within = len({m.case_id for m in each})
    return {
        "horizon s": _horizons([m.encounter.horizon_s for m in met]),
        "contact %": share(lambda e: e.collides),
        "stops short %": share(lambda e: e.stops_short),
        "gap m": median(lambda e: e.min_gap_m),
        "TTC s": median(lambda e: None if e.collides else e.ttc_s),
        "side clearance m": median(lambda e: e.lateral_clearance_m),
        "required m/s²": median(lambda e: e.required_decel),
        "hardest braking m/s²": median(lambda e: e.planned_decel),
        "comfortable %": share(lambda e: e.comfortable),
        "plan off by m": _median(_by_case(met, lambda m: m.off_m)),
        "no motion %": Rate.of(sum(none), len(none)).percent(),
        "ADE m": error(0),
        "FDE m": error(1),
        "N": str(within),
        "beyond": str(len({m.case_id for m in met}) - within),
    }


def _by_case(met: Sequence[Met], of: Callable[[Met], float | None]) -> list[float]:
    """The mean over each case's samples that have a value."""
    values_of: dict[str, list[float]] = {}
    for sample in met:
        if (value := of(sample)) is not None:
            values_of.setdefault(sample.case_id, []).append(value)
    return [sum(values) / len(values) for values in values_of.values()]


def _horizons(horizons: Sequence[float]) -> str:
    low, high = min(horizons), max(horizons)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.1f}" if values else "-"


# --- every registered metric on every pair of plans -------------------------------------------------------

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
    order = list(metrics)
    rows = [
        {
            "metric": name,
            "planner": planner,
            "scene": arm,
            "mean": f"{m.value:.2f}",
            "95% interval": "-" if m.low is None or m.high is None else f"{m.low:.2f} to {m.high:.2f}",
            "N": str(m.n),
        }
        for (name, planner, arm), m in means.items()
        if m.n
    ]
    rows.sort(key=lambda row: (order.index(row["metric"]), data.planners.index(row["planner"])))
    notes = (f"{name}: {summary}" for name, metric in metrics.items() if (summary := first_line(metric)))
    note = " ".join(("Of plans as a car drives them, over the cases that a planner's scenes share.", *notes))
    return Section(
        id="metrics",
        title="Metrics",
        lead=tuple(f"Left out: {fault}" for fault in faults),
        tables=Table.of("metrics", "Means of what is measured on pairs of plans", rows, 3, note),
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
    values: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for case, repeat, original, modified in _pairs(data, planner, arm):
        for name, metric in metrics.items():
            work = partial(measure, metric, original, modified, data.place(case.case_id, arm), case)
            where = f"metric '{name}' on {planner}, {arm} of case {case.case_id}"
            value = contained(work, where, strict=data.strict)
            if isinstance(value, Fault):
                if all(f.where.split(" on ")[0] != f"metric '{name}'" for f in faults):
                    faults.append(value)
            elif value is not None:
                values[name][case.case_id, repeat] = value
    return {name: over_repeats(values[name]) for name in metrics}


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
