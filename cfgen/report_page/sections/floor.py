"""The headline: how much of the response is due to the hazard."""

from dataclasses import asdict
from functools import partial
from typing import Literal

from cfgen.metrics.floor import CONTROLS, Difference, Floor, above_floor
from cfgen.metrics.rates import Rate
from cfgen.records import Dimension
from cfgen.report_page.charts import Series, rows_chart
from cfgen.report_page.data import ReportData
from cfgen.report_page.events import judged, measured
from cfgen.report_page.section import Plot, Section
from cfgen.report_page.table import Table
from cfgen.report_page.vector import Drawing

#: What counts as an event: a judge's dimension, or the trajectory alone.
Event = Dimension | Literal["trajectory"]
HEADLINE: Event = "overall"
Floors = dict[tuple[str, Event], Floor]
_HEADLINES = 4
_NAMES: dict[Event, str] = {
    "reasoning": "judged: reasoning",
    "waypoints": "judged: waypoints",
    "overall": "judged: overall",
    "trajectory": "measured: trajectory",
}


def headline_section(data: ReportData) -> Section:
    """How much of the response is due to the hazard."""
    return floor_sections(data)[0]


def floor_section(data: ReportData) -> Section:
    """The same event in every arm, with and without a hazard."""
    return floor_sections(data)[1]


def floor_sections(data: ReportData) -> tuple[Section, Section]:
    """The headline, and the arms behind it."""
    floors: Floors = {(p, event): _floor(data, p, event) for p in data.planners for event in _NAMES}
    floors = {key: floor for key, floor in floors.items() if floor.hazard.n}
    ranked = sorted(
        (p for p in data.planners if (p, HEADLINE) in floors), key=lambda p: -_value(floors[p, HEADLINE])
    )
    plots = [
        Plot(f"floor-{event}", "Events in every arm", partial(_chart, floors, ranked, event), "floor", name)
        for event, name in _NAMES.items()
        if any((p, event) in floors for p in ranked)
    ]
    headline = Section(
        id="headline",
        title="Response to the hazard, above the floor",
        headline=tuple(
            (*_points(floors[p, HEADLINE]), sentence(p, floors[p, HEADLINE])) for p in ranked[:_HEADLINES]
        ),
    )
    behind = Section(
        id="floor",
        title="The floor",
        tables=(_table(floors, ranked),),
        plots=tuple(plots),
        figures={"floor": [{"planner": p, "event": e, **asdict(f)} for (p, e), f in floors.items()]},
    )
    return headline, behind


def sentence(planner: str, floor: Floor) -> str:
    """The headline number in one sentence."""
    above = floor.headline
    if above.value is None or above.low is None or above.high is None:
        return (
            f"{planner} answers {floor.hazard.percent()}% of the hazards with words and a trajectory that fit "
            f"(95% interval {floor.hazard.interval()}, {floor.hazard.n} cases). No control arm was run, so part of "
            "this may be noise."
        )
    return (
        f"{planner} answers {floor.hazard.percent()}% of the hazards with words and a trajectory that fit: "
        f"{100 * above.value:.1f} points more (95% interval {100 * above.low:.1f} to {100 * above.high:.1f}, "
        f"{above.n} cases) than it reacts in its worst control arm, {floor.worst}, where there is no hazard."
    )


def _floor(data: ReportData, planner: str, event: Event) -> Floor:
    def of(arm: str) -> dict[str, float]:
        return measured(data, planner, arm) if event == "trajectory" else judged(data, planner, arm, event)

    return above_floor(of("hazard"), {arm: of(arm) for arm in CONTROLS})


def _value(floor: Floor) -> float:
    return floor.headline.value if floor.headline.value is not None else floor.hazard.value or 0.0


def _points(floor: Floor) -> tuple[str, str]:
    value = floor.headline.value
    return (floor.hazard.percent(), "% of hazards") if value is None else (f"{100 * value:+.1f}", "points")


def _table(floors: Floors, ranked: list[str]) -> Table:
    rows = []
    for planner in ranked:
        for event, name in _NAMES.items():
            if (planner, event) not in floors:
                continue
            floor = floors[planner, event]
            arms = [_rate(floor.controls.get(arm)) for arm in CONTROLS]
            d_prime = floor.d_prime.get(floor.worst)
            rows.append(
                (
                    planner,
                    name,
                    _rate(floor.hazard),
                    *arms,
                    *_difference(floor.headline),
                    floor.worst or "-",
                    "-" if d_prime is None else f"{d_prime:.2f}",
                )
            )
    return Table(
        name="floor",
        title="The same event with and without a hazard",
        columns=(
            "planner",
            "event",
            "hazard %",
            *(f"{a} %" for a in CONTROLS),
            "above floor",
            "95% interval",
            "floor",
            "d'",
        ),
        rows=tuple(rows),
        words=2,
        note="Rerun: the same frame again. Null: an edit that adds nothing. Nuisance: a harmless object. Events there "
        "are false alarms; the floor is the control with the most of them. Paired by case, bootstrap over cases. "
        "Measured: the plan is held back by the time the original gets there, or leaves more room. In brackets: cases.",
    )


def _rate(rate: Rate | None) -> str:
    return "-" if rate is None or rate.value is None else f"{rate.percent()} ({rate.n})"


def _difference(found: Difference) -> tuple[str, str]:
    if found.value is None or found.low is None or found.high is None:
        return "-", "-"
    return f"{100 * found.value:+.1f}", f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"


def _chart(floors: Floors, ranked: list[str], event: Event, width: float) -> Drawing:
    shown = [p for p in ranked if (p, event) in floors]
    arms = [arm for arm in CONTROLS if any(arm in floors[p, event].controls for p in shown)]
    series = [Series("hazard", [floors[p, event].hazard for p in shown])]
    series += [Series(arm, [floors[p, event].controls.get(arm) for p in shown]) for arm in arms]
    return rows_chart(f"Events in every arm, {_NAMES[event]}", shown, series, width)
