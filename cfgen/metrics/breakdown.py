"""Rates by groups of cases."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cfgen.metrics.intervals import Events, Rate
from cfgen.records import DIMENSIONS, Case, Verdict


@dataclass(frozen=True)
class Group:
    """Cases that share ``label``; ``order`` sorts groups along an axis where there is one."""

    label: str
    order: float
    rate: Rate


#: Upper ends of the bins along each measured axis.
DISTANCE_M = (15.0, 25.0, 40.0, 60.0)
DECEL = (2.0, 3.0, 4.0, 5.0)
SPEED_KMH = (20.0, 40.0, 60.0, 80.0)

#: case -> (label, order); ``speeds`` maps scene ids to the ego speed at t0, m/s
Axis = Callable[[Case, Mapping[str, float]], tuple[str, float]]

AXES: dict[str, Axis] = {
    "hazard": lambda case, speeds: (case.hazard.name, 0.0),
    "cluster": lambda case, speeds: (case.hazard.cluster, 0.0),
    "zone": lambda case, speeds: (case.placement.zone.replace("_", " "), 0.0),
    "distance": lambda case, speeds: bin_of(case.placement.distance_m, DISTANCE_M, "m"),
    "required deceleration": lambda case, speeds: bin_of(case.placement.required_decel, DECEL, "m/s²"),
    "speed": lambda case, speeds: bin_of(3.6 * speeds[case.scene_id], SPEED_KMH, "km/h"),
    "inpainter": lambda case, speeds: (case.provenance.inpainter, 0.0),
}


#: case -> (label, order) along one axis
Labels = Mapping[str, tuple[str, float]]


def axes_of(cases: Iterable[Case], speeds: Mapping[str, float]) -> dict[str, Labels]:
    """The labels of the cases along every one of :data:`AXES`."""
    labels: dict[str, dict[str, tuple[str, float]]] = {axis: {} for axis in AXES}
    same: dict[tuple[str, float], tuple[str, float]] = {}
    for case in cases:
        for axis, label_of in AXES.items():
            label = label_of(case, speeds)
            labels[axis][case.case_id] = same.setdefault(label, label)
    return dict(labels)


def breakdown(labels: Labels, events: Events) -> list[Group]:
    """Rates of an event by groups along an axis; measured axes in order, the others largest first."""
    groups: dict[tuple[str, float], list[float]] = defaultdict(list)
    for case_id, label in labels.items():
        if case_id in events:
            groups[label].append(events[case_id])
    rows = [Group(label, order, Rate.of(sum(e), len(e))) for (label, order), e in groups.items()]
    return sorted(rows, key=lambda g: (g.order, -g.rate.n, g.label))


def bin_of(value: float, ends: tuple[float, ...], unit: str) -> tuple[str, float]:
    """The bin that holds ``value``, with its label, and where it stands."""
    for i, end in enumerate(ends):
        if value < end:
            return (f"{ends[i - 1]:g}-{end:g} {unit}" if i else f"<{end:g} {unit}"), end
    return f"{ends[-1]:g}+ {unit}", float("inf")


def partial_reasons(verdicts: Iterable[Verdict]) -> list[tuple[str, int]]:
    """Why scored cases have a 1 somewhere, most frequent first: the judge's flags, else which part fell short."""
    reasons: Counter[str] = Counter()
    for verdict in verdicts:
        partial = [d for d in DIMENSIONS if verdict.scores.get(d) == 1]
        if partial:
            reasons.update(verdict.flags or ["partial: " + ", ".join(partial)])
    return reasons.most_common()
