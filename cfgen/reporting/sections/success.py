"""Strict success, and hit rate minus false-alarm rate, which planners are ranked by."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Literal

from cfgen.metrics.intervals import Difference, Rate
from cfgen.metrics.success import Floor, SuccessRow, above_floor, success_row
from cfgen.records import CONTROLS, DIMENSIONS, Dimension, FloorKind, judged_as
from cfgen.reporting.data import ReportData, credited_contact, judged, measured
from cfgen.reporting.drawing import Series, SvgCanvas, rows_chart
from cfgen.reporting.section import Plot, Section, Table, points

#: What counts as an event: a judge's dimension, or the trajectory alone.
Event = Dimension | Literal["trajectory"]
LEADING: tuple[Event, ...] = ("overall", "waypoints")
Floors = dict[tuple[str, Event], Floor]
#: set large; the others have a line each
_LARGE = 4
_NAMES: dict[Event, str] = {
    "reasoning": "judged: reasoning",
    "waypoints": "judged: waypoints",
    "overall": "judged: overall",
    "trajectory": "measured: trajectory",
}


_FLOORS: dict[FloorKind, str] = {
    "mean": "its control scenes on average",
    "rerun": "the same frame again",
    "null": "the edit without an object",
    "nuisance": "the frame with a nuisance object",
    "worst": "its worst control scene, {}",
}


def headline_section(data: ReportData) -> Section:
    """How much of the response is due to the hazard."""
    return floor_sections(data)[0]


def floor_section(data: ReportData) -> Section:
    """The same event in every arm, with and without a hazard."""
    return floor_sections(data)[1]


def floor_sections(data: ReportData) -> tuple[Section, Section]:
    """The headline, and the arms behind it."""
    return data.once(("floor sections",), lambda: _sections(data))


def _sections(data: ReportData) -> tuple[Section, Section]:
    floors: Floors = {(p, event): floor_of(data, p, event) for p in data.planners for event in _NAMES}
    floors = {key: floor for key, floor in floors.items() if floor.hazard.n}
    # a judge that leaves overall out is reported by what it judges; nobody it judged is left out
    leading = max(LEADING, key=lambda event: sum((p, event) in floors for p in data.planners))
    planners = [p for p in data.planners if (p, leading) in floors]
    ranked = sorted(planners, key=lambda p: (p not in data.ranking, *rank(floors[p, leading])))
    competing = [p for p in ranked if p in data.ranking]
    large = ([p for p in competing if floors[p, leading].headline.value is not None] or competing)[:_LARGE]
    plots = [
        Plot(f"floor-{event}", "Events in every scene", partial(_chart, floors, ranked, event), "floor", name)
        for event, name in _NAMES.items()
        if any((p, event) in floors for p in ranked)
    ]
    headline = Section(
        id="headline",
        title="Hit rate minus false-alarm rate",
        headline=tuple(
            (
                *_points(floors[p, leading]),
                sentence(p, floors[p, leading], data.main_judge, leading)
                + credited_contact(data, p, leading),
            )
            for p in large
        ),
        lead=(
            *(_line(p, floors[p, leading]) for p in competing if p not in large),
            *data.bench_judges.passed_over(),
        ),
    )
    behind = Section(
        id="floor",
        title="Hits and false alarms",
        lead=(f"Intervals are {data.blocks[1]}.",),
        tables=_table({key: floor for key, floor in floors.items() if key[0] in ranked}, ranked),
        plots=tuple(plots),
        figures={"floor": [{"planner": p, "event": e, **asdict(f)} for (p, e), f in floors.items()]},
    )
    return headline, behind


def sentence(planner: str, floor: Floor, judge: str = "", event: Event = "overall") -> str:
    """The headline number in one sentence."""
    above = floor.headline
    fit = (
        "words and a trajectory that fit"
        if event == "overall"
        else "a trajectory that reacts, in time or not (no judge read the words)"
    )
    hits = f"{planner} answers {floor.hazard.percent()}% of the hazards with {fit}"
    if above.value is None:
        lacks = "No control pair was judged, so part of this may be false alarms."
        return f"{hits} (95% interval {floor.hazard.interval()}, {floor.hazard.n} cases). {lacks}"
    arms = _FLOORS[floor.kind].format(floor.worst) + (
        f" ({', '.join(floor.arms)})" if floor.kind == "mean" else ""
    )
    return (
        f"{hits}: {_signed(above)} against what {judge or 'the judge'} credits to its answers from {arms}, "
        f"which never saw the hazard.{_worst(floor)}"
    )


def _signed(difference: Difference) -> str:
    """Points above the floor, below it with a minus, as is their interval."""
    value, interval = points(difference)
    return f"{value} percentage points (95% interval {interval}, {difference.n} cases)"


def _worst(floor: Floor) -> str:
    """The conservative figure, where it is another than the headline."""
    difference = floor.conservative
    if len(floor.controls) < 2 or floor.kind in ("worst", floor.worst) or difference.value is None:
        return ""
    return f" Against its worst control alone ({floor.worst}), which is too low on average: {_signed(difference)}."


def _line(planner: str, floor: Floor) -> str:
    """The headline of a planner that is not set large."""
    above, arms = floor.headline, _FLOORS[floor.kind].format(floor.worst)
    raw = f"{floor.hazard.percent()}% of {floor.hazard.n} hazards"
    if above.value is None:
        return f"{planner}: {raw}; no control pair was judged, so its false-alarm rate is not known."
    return f"{planner}: {_signed(above)} against {arms} ({raw})."


def floor_of(data: ReportData, planner: str, event: Event, judge: str = "") -> Floor:
    """Above the declared floor, under ``judge`` (the main one unless told)."""

    def of(arm: str) -> dict[str, float]:
        if event == "trajectory":
            return measured(data, planner, arm)
        return judged(data, planner, arm, event, judge)

    kind = data.floor(planner)
    return above_floor(of("hazard"), {arm: of(arm) for arm in CONTROLS}, kind, data.blocks[0])


def rank(floor: Floor) -> tuple[bool, str, float]:
    """Above one and the same floor, the best first; then those that have none, by their raw share."""
    value = floor.headline.value
    return value is None, floor.kind, -(floor.hazard.value or 0.0 if value is None else value)


def _points(floor: Floor) -> tuple[str, str]:
    value, _ = points(floor.headline)
    return (floor.hazard.percent(), "% of hazards") if value == "-" else (value, "percentage points")


def _table(floors: Floors, ranked: list[str]) -> tuple[Table, ...]:
    rows = []
    for (planner, event), floor in sorted(floors.items(), key=lambda item: ranked.index(item[0][0])):
        headline, worst = points(floor.headline), points(floor.conservative)
        d_prime = floor.d_prime.get(floor.worst)
        rows.append(
            {
                "planner": planner,
                "event": _NAMES[event],
                "hazard %": _rate(floor.hazard),
                **{f"{arm} %": _rate(floor.controls.get(arm)) for arm in CONTROLS},
                "hit rate minus false-alarm rate": headline[0],
                "95% interval": headline[1],
                "false alarms of": floor.kind if floor.arms else "-",
                "shared cases": str(floor.headline.n),
                "minus the worst": worst[0],
                "95% interval of that": worst[1],
                "worst": floor.worst or "-",
                "d' against worst": "-" if d_prime is None else f"{d_prime:.2f}",
            }
        )
    note = (
        "Judged: in a control pair the judge sees the hazard, and the answer that the planner gave to the control "
        "scene; what succeeds there is a false alarm. Rerun: the same frame again. Null: an edit without an object. "
        "Nuisance: an object that needs no response. False alarms of: declared before scoring; the mean is that of the "
        "controls there are. Shared cases: those that the hazard and these have. Minus the worst: the control of "
        "most events, too low on average where there are several. Measured, without a judge: the plan is held back by "
        "the time the original gets there, or leaves more room. In brackets: cases."
    )
    return Table.of("floor", "The same event with and without a hazard", rows, 2, note)


def _rate(rate: Rate | None) -> str:
    return "-" if rate is None or rate.value is None else f"{rate.percent()} ({rate.n})"


def _chart(floors: Floors, ranked: list[str], event: Event, width: float) -> SvgCanvas:
    planners = [p for p in ranked if (p, event) in floors]
    arms = [arm for arm in CONTROLS if any(arm in floors[p, event].controls for p in planners)]
    series = [Series("hazard", [floors[p, event].hazard for p in planners])]
    series += [Series(arm, [floors[p, event].controls.get(arm) for p in planners]) for arm in arms]
    return rows_chart(f"Events in every scene, {_NAMES[event]}", planners, series, width)


# --- the table of the paper's Table 5: strict success with everything that was left out in the same row ---

#: (judge, planner) -> its response above the floor
Above = Mapping[tuple[str, str], Floor]
_RANKED = (
    "Ranked by hit rate minus false-alarm rate (overall where it is judged, else waypoints); below them those without "
    "such figure, by their shares. "
)


def success_section(data: ReportData) -> Section:
    """Strict success by planner and judge."""
    rows = success_rows(data)
    board, above = ranked_rows(data, rows)
    ranked = [row for row in board if row.planner in data.ranking]
    scripted = [row for row in board if row.planner not in data.ranking]
    samples = {planner: data.sample(planner) for planner in data.planners}
    names = [row.planner if len(data.judges) == 1 else f"{row.planner} ({row.judge})" for row in ranked]
    judged = [d for d in DIMENSIONS if any(row.rates[d].n for row in ranked)]
    series = [Series(d, [row.rates[d] for row in ranked]) for d in judged]
    chart = partial(rows_chart, "Strict success by planner", names, series)
    return Section(
        id="leaderboard",
        title="Leaderboard",
        lead=(f"Intervals are {data.blocks[1]}.",) if ranked else (),
        tables=(
            leaderboard(ranked, samples, above),
            *([_scripted(scripted, samples, above)] if scripted else []),
        ),
        plots=(Plot("success", "Strict success with 95% intervals", chart),) if ranked else (),
        figures={"success": [asdict(row) for row in rows]},
    )


def success_rows(data: ReportData) -> list[SuccessRow]:
    """One row per judge, planner and judged pair, the hazard arm's first."""
    return [
        success_row(planner, judge, arm, verdicts, data.case_ids, data.blocks[0], data.scores(judge))
        for judge in data.judges
        for arm in sorted(
            {judged_as(a) for p in data.planners for a in data.arms(p)}, key=lambda a: (a != "hazard", a)
        )
        for planner in data.planners
        if (verdicts := data.verdicts_of(judge, planner, arm))
    ]


def _above(data: ReportData, row: SuccessRow) -> Floor:
    """What the row's planner has above its floor, of the last score that its judge gives."""
    scores = [d for d in DIMENSIONS if row.rates[d].n]
    return floor_of(data, row.planner, scores[-1] if scores else DIMENSIONS[-1], row.judge)


def ranked_rows(data: ReportData, rows: list[SuccessRow]) -> tuple[list[SuccessRow], Above]:
    """The hazard arm, by what is above the floor; then those that have none, best overall first."""
    hazard = [row for row in rows if row.arm == "hazard"]
    above = {(row.judge, row.planner): _above(data, row) for row in hazard}

    def order(row: SuccessRow) -> tuple[object, ...]:
        floor, shares = above[row.judge, row.planner], [row.rates[d].value or 0 for d in reversed(DIMENSIONS)]
        return (row.judge, *rank(floor), *(-share for share in shares), row.planner)

    return sorted(hazard, key=order), above


def _scripted(rows: list[SuccessRow], samples: Mapping[str, str], above: Above) -> Table:
    """Told the truth: what the scale shows for answers whose scores are known."""
    return replace(
        leaderboard(rows, samples, above),
        name="scripted",
        title="Scripted planners, which are given what was added where: no competitors",
    )


def leaderboard(
    ranked: list[SuccessRow], samples: Mapping[str, str] | None = None, above: Above | None = None
) -> Table:
    """``samples``: which sample of an answer counts, by planner; None: there is one. ``above``: None shows none."""
    rows = []
    for row in ranked:
        cells = {"planner": row.planner, "judge": row.judge}
        if above is not None:
            value, interval = points(above[row.judge, row.planner].headline)
            cells |= {"hit rate minus false-alarm rate": value, "95% interval of that": interval}
        for name, rate in row.rates.items():
            scored = rate.n or not row.n
            cells |= {
                f"{name} %": rate.percent() if scored else "not scored",
                f"{name} 95% interval": rate.interval(),
            }
        counts = {
            "N": row.n,
            "excluded": row.excluded,
            "judge failed": row.judge_failed,
            "planner failed": row.planner_failed,
            "missing": row.missing,
            "faults": row.faults,
        }
        cells |= {name: str(count) for name, count in counts.items()}
        rows.append(cells | {"sample": (samples or {}).get(row.planner, "the only one")})
    note = ("" if above is None else _RANKED) + (
        "N holds scored cases and planner failures, which count as no success. Excluded: the judge could not "
        "name the change. Judge failed and missing cases have no verdict. Faults: cfgen broke on them. Intervals: "
        "Wilson. Sample: which of several answers to one question counts."
    )
    title = "Strict success: share of cases scored 2"
    tables = Table.of("leaderboard", title, rows, 2, note)
    return tables[0] if tables else Table("leaderboard", title, (), ())
