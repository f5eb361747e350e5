"""What the trajectories do about the hazard, when they are driven."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from cfgen.core.disk_backed import DiskList
from cfgen.geometry.driving import Drive
from cfgen.metrics.kinematics import Encounter, displacement_errors, reached_after_s
from cfgen.metrics.rates import Rate
from cfgen.reporting.answers import Key
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.table import Table


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


def motion_section(data: ReportData) -> Section:
    """Plans measured against the hazard's place."""
    rows, figures = [], DiskList[dict[str, object]](data.disk)
    for planner in data.planners:
        for arm, met in encounters(data, planner):
            rows.append((planner, arm, *_words(met, arm)))
            for one in met:
                figures.append({"planner": planner, "arm": arm, **_plain(one)})
    return Section(
        id="motion",
        title="Motion",
        tables=(_table(rows),) if rows else (),
        figures={"encounters": figures},
    )


def encounters(data: ReportData, planner: str) -> Iterator[tuple[str, list[Met]]]:
    """By arm, the samples that count, in the cases in which every arm that the planner answered has a plan.

    In the original arm nothing stands at the hazard's place.
    """
    drives = {arm: driven for arm in ARMS if (driven := data.drives(planner, arm))}
    asked: list[tuple[Key, ...]]
    if len(drives) == len(ARMS):
        asked = [(base, key) for key, base in data.pairs(planner, "hazard").items()]
    else:
        found = {arm: data.answers(planner, arm) for arm in drives}
        asked = [(key,) for answers in found.values() for key in answers if answers.has(key)]
    for i, arm in enumerate(drives if asked else ()):
        each = []
        for keys in asked:
            both = [one for of, key in zip(drives.values(), keys, strict=True) if (one := of[key])]
            shorter = min(len(d.poses) for d in both) / len(both[i].poses)
            each.append(_met(data, planner, arm, keys[i], both[i], shorter))
        yield arm, each


def _met(data: ReportData, planner: str, arm: str, key: Key, driven: Drive, shorter: float) -> Met:
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


def _words(met: list[Met], arm: str) -> tuple[str, ...]:
    each = [m for m in met if m.within]

    def share(of: Callable[[Encounter], bool]) -> str:
        found = _by_case(each, lambda m: float(of(m.encounter)))
        return Rate.of(sum(found), len(found)).percent()

    def median(of: Callable[[Encounter], float | None]) -> str:
        return _median(_by_case(each, lambda m: of(m.encounter)))

    def error(which: int) -> str:
        found = _by_case(met, lambda m: m.errors and m.errors[which]) if arm == "original" else []
        return f"{np.mean(found):.2f}" if found else "-"

    none = _by_case(met, lambda m: float(bool(m.incoherent)))
    within = len({m.case_id for m in each})
    return (
        _horizons([m.encounter.horizon_s for m in met]),
        share(lambda e: e.collides),
        share(lambda e: e.stops_short),
        median(lambda e: e.min_gap_m),
        median(lambda e: None if e.collides else e.ttc_s),
        median(lambda e: e.lateral_clearance_m),
        median(lambda e: e.required_decel),
        median(lambda e: e.planned_decel),
        share(lambda e: e.comfortable),
        _median(_by_case(met, lambda m: m.off_m)),
        Rate.of(sum(none), len(none)).percent(),
        error(0),
        error(1),
        str(within),
        str(len({m.case_id for m in met}) - within),
    )


def _by_case(met: Sequence[Met], of: Callable[[Met], float | None]) -> list[float]:
    """The mean over each case's samples that have a value."""
    found: dict[str, list[float]] = {}
    for one in met:
        if (value := of(one)) is not None:
            found.setdefault(one.case_id, []).append(value)
    return [sum(values) / len(values) for values in found.values()]


def _horizons(found: Sequence[float]) -> str:
    low, high = min(found), max(found)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.1f}" if values else "-"


def _table(rows: list[tuple[str, ...]]) -> Table:
    return Table(
        name="motion",
        title="Plans, as a car drives them, against the hazard's place",
        columns=(
            "planner",
            "arm",
            "horizon s",
            "contact %",
            "stops short %",
            "gap m",
            "TTC s",
            "side clearance m",
            "required m/s²",
            "driven m/s²",
            "comfortable %",
            "plan off by m",
            "no motion %",
            "ADE m",
            "FDE m",
            "N",
            "beyond",
        ),
        rows=tuple(rows),
        words=2,
        note="A kinematic bicycle follows each plan from the car's own state, within limits of acceleration, jerk and "
        "steering, to the plan's own end: the horizon. Boxes of the car and of the hazard at all times, medians, over "
        "the N cases with a plan in both arms whose hazard the car comes to within the horizon at its own speed; those "
        "beyond it are counted apart. The original arm is measured against the place where the hazard will be, so its "
        "contact rate says how many plans have to change. Gap: the smallest. TTC: the smallest, of those on course "
        "for it that do not touch it. Driven: the hardest braking. Plan off by: the largest distance of plan and "
        "drive; no motion: plans that no car can follow; ADE, FDE: of the plan as drawn to the recorded drive; these "
        "over all N + beyond. Of several samples those that count, each case by their mean.",
    )
