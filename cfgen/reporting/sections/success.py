"""Strict success, the false-alarm rate beside it, and their difference, which planners are ranked by."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Literal

from cfgen.metrics.intervals import Rate
from cfgen.metrics.success import ResponseRates, SuccessRow, response, success_row
from cfgen.records import CONTROLS, DIMENSIONS, Dimension, judged_as
from cfgen.reporting.data import ReportData, credited_contact, judged, measured
from cfgen.reporting.drawing import Series, SvgCanvas, rows_chart
from cfgen.reporting.section import Plot, Section, Table, points, with_interval
from cfgen.reporting.settings import RESULT

#: What counts as an event: a judge's dimension, or the trajectory alone.
Event = Dimension | Literal["trajectory"]
LEADING: tuple[Event, ...] = ("overall", "waypoints")
Responses = dict[tuple[str, Event], ResponseRates]
#: set large; the others have a line each
_LARGE = 4
_NAMES: dict[Event, str] = {
    "reasoning": "judged: reasoning",
    "waypoints": "judged: waypoints",
    "overall": "judged: overall",
    "trajectory": "measured: trajectory",
}
_SCENES = {"nuisance": "nuisance", "null": "edit without an object", "rerun": "same frame again"}


def headline_section(data: ReportData) -> Section:
    """Strict success and false alarms of each planner, in words."""
    return _sections(data)[0]


def false_alarms_section(data: ReportData) -> Section:
    """The same event in every scene, with and without a hazard."""
    return _sections(data)[1]


def _sections(data: ReportData) -> tuple[Section, Section]:
    return data.once(("false alarms",), lambda: _both_sections(data))


def _both_sections(data: ReportData) -> tuple[Section, Section]:
    responses: Responses = {
        (p, event): response_of(data, p, event) for p in data.planners for event in _NAMES
    }
    responses = {key: rates for key, rates in responses.items() if rates.hits.n}
    # a judge that leaves overall out is reported by what it judges; nobody it judged is left out
    leading = max(LEADING, key=lambda event: sum((p, event) in responses for p in data.planners))
    planners = [p for p in data.planners if (p, leading) in responses]
    ranked = sorted(planners, key=lambda p: (p not in data.ranking, *rank(responses[p, leading])))
    competing = [p for p in ranked if p in data.ranking and p not in data.baselines] or [
        p for p in ranked if p in data.ranking
    ]
    lines = [(p, _headline(data, p, responses[p, leading], leading)) for p in ranked if p in data.ranking]
    large = tuple(line for p, line in lines if p in competing)[:_LARGE]
    plots = [
        Plot(
            f"events-{event}",
            "Events in every scene",
            partial(_chart, responses, ranked, event),
            "events",
            name,
        )
        for event, name in _NAMES.items()
        if any((p, event) in responses for p in ranked)
    ]
    headline = Section(
        id="headline",
        title="Strict success and false alarms",
        headline=large,
        lead=(
            *(
                f"{value} {unit}. {words}"
                for _, (value, unit, words) in lines
                if (value, unit, words) not in large
            ),
            *(line for p in ranked if (line := _no_false_alarms(data, p, responses[p, leading]))),
            *data.bench_judges.passed_over(),
        ),
    )
    shown = {key: responses[key] for p in ranked for key in responses if key[0] == p}
    behind = Section(
        id="false-alarms",
        title="Hits and false alarms",
        lead=(f"Intervals are {data.blocks[1]}.",),
        tables=(*_difference_table(data, shown), *_controls_table(data, shown)),
        plots=tuple(plots),
        figures={"responses": [{"planner": p, "event": e, **asdict(r)} for (p, e), r in responses.items()]},
    )
    return headline, behind


def _headline(data: ReportData, planner: str, rates: ResponseRates, event: Event) -> tuple[str, str, str]:
    """The figure set large, its unit, and the sentence; counts where they are too few for a rate."""
    why = no_result(data, planner, rates, event)
    if why:
        return f"{rates.hits.hits:g} of {rates.hits.n}", "hazards: no result", f"{data.label(planner)}: {why}"
    words = sentence(data.label(planner), rates, event) + credited_contact(data, planner, event)
    return rates.hits.percent(), "% strict success", words


def sentence(planner: str, rates: ResponseRates, event: Event = "overall") -> str:
    """Hit rate, false-alarm rate and their difference, each with its interval."""
    fit = (
        "words and a trajectory that fit"
        if event == "overall"
        else "a trajectory that reacts (no judge read the words)"
    )
    text = f"{planner} answers {_with_interval(rates.hits)} of the hazards with {fit}."
    difference = rates.difference
    if difference.value is None or difference.p is None:
        return text
    if difference.n < RESULT.cases:
        alarms = f"{rates.false_alarms.hits:g} of {rates.false_alarms.n} nuisance scenes"
        return f"{text} False alarms in {alarms}: too few for a rate, which takes {RESULT.cases}."
    value, interval = points(difference)
    return (
        f"{text} The same response is credited to its answers to {_with_interval(rates.false_alarms)} of the nuisance "
        "scenes, where the object stands but no response is due: false alarms. Hit rate minus false-alarm rate "
        f"(Youden's J): {value} percentage points (95% interval {interval}, {difference.n} cases, "
        f"mid-p {_p(difference.p)})."
    )


def _with_interval(rate: Rate) -> str:
    return f"{rate.percent()}% (95% interval {rate.interval()}, {rate.n} cases)"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def no_result(data: ReportData, planner: str, rates: ResponseRates, event: Event) -> str:
    """Why the counts are no result, in one sentence; "" where they are one."""
    n, built = rates.hits.n, len(data.case_ids)
    if strangers := data.strangers.get(planner, 0):
        return (
            f"{strangers} of its answers are to cases of another build, which are left out: no rate is given; "
            f"ask it again under another name: {_command(data, planner, '--name NAME')}."
        )
    if n < RESULT.judged_share * built and event != "trajectory":
        return (
            f"only {n} of the {built} cases have a score by {data.main_judge}: no rate is given; have the rest "
            f"judged: cfgen judge run {data.store.root} --judge {data.main_judge} --planners {planner} --retry-failed."
        )
    if n < RESULT.cases:
        return (
            f"{n} cases are too few for a rate, which takes {RESULT.cases}: build more with cfgen build --n."
        )
    if data.recordings == 1:
        return f"all {n} cases are of one drive, which says nothing of other drives: build from more drives."
    return ""


def _no_false_alarms(data: ReportData, planner: str, rates: ResponseRates) -> str:
    """Why there is no false-alarm rate and the command that gets it; "" where there is one."""
    if rates.difference.n:
        return ""
    words = f"{planner}: no false-alarm rate:"
    if not any("nuisance" in case.arms for case in data.cases):
        return f"{words} no case has a nuisance scene; build with --controls null,nuisance."
    if "nuisance" not in data.arms(planner):
        return f"{words} not asked about nuisance scenes: {_command(data, planner, '--arms hazard,nuisance')}"
    judge = data.main_judge
    return f"{words} not judged: cfgen judge run {data.store.root} --judge {judge} --planners {planner}"


def _command(data: ReportData, planner: str, option: str) -> str:
    run = data.runs.get(planner)
    return f"cfgen score {data.store.root} --planner {run.spec if run else planner} {option}"


def response_of(data: ReportData, planner: str, event: Event, judge: str = "") -> ResponseRates:
    """Hits and false alarms under ``judge`` (the main one unless told)."""

    def of(arm: str) -> dict[str, float]:
        if event == "trajectory":
            return measured(data, planner, arm)
        return judged(data, planner, arm, event, judge)

    return response(of("hazard"), {arm: of(arm) for arm in CONTROLS}, data.blocks[0])


def rank(rates: ResponseRates) -> tuple[bool, float]:
    """The largest difference first; then those without false-alarm rate, by their hits."""
    value = rates.difference.value
    return value is None, -(rates.hits.value or 0.0 if value is None else value)


def _difference_table(data: ReportData, responses: Responses) -> tuple[Table, ...]:
    rows = []
    for (planner, event), rates in responses.items():
        value, interval = points(rates.difference)
        rows.append(
            {
                "planner": data.label(planner),
                "event": _NAMES[event],
                "hit rate %": _cell(rates.hits),
                "false-alarm rate %": _cell(rates.false_alarms),
                "difference": value,
                "95% interval": interval,
                "mid-p": "-" if rates.difference.p is None else f"{rates.difference.p:.3f}",
                "shared cases": str(rates.difference.n),
            }
        )
    note = (
        "Difference: hit rate minus false-alarm rate on the cases that have both, in percentage points; what is "
        "estimated is Youden's J of the response, 0 for a planner that answers without regard to what it sees. Judged "
        "false alarms: the judge sees the hazard, and the answer that the planner gave to the nuisance scene. "
        "Measured, without a judge: the plan is held back by the time the original gets there, or leaves more room. "
        "Intervals: Tango's score interval of paired proportions; mid-p: McNemar's, cases taken as independent. In "
        "brackets: cases."
    )
    return Table.of("false-alarms", "Hit rate, false-alarm rate and their difference", rows, 2, note)


def _controls_table(data: ReportData, responses: Responses) -> tuple[Table, ...]:
    rows = [
        {
            "planner": data.label(planner),
            "event": _NAMES[event],
            "scene": _SCENES[arm],
            "rate %": rate.percent(),
            "95% interval": rate.interval(),
            "N": str(rate.n),
        }
        for (planner, event), rates in responses.items()
        for arm, rate in rates.controls.items()
        if arm != "nuisance"
    ]
    note = (
        "How often the same response is credited to an answer to the edit without an object (sensitivity to editing), "
        "and to the same frame again (repeatability). No other figure rests on these."
    )
    return Table.of("controls", "Sensitivity to editing, and repeatability", rows, 3, note)


def _cell(rate: Rate) -> str:
    return "-" if rate.value is None else f"{rate.percent()} ({rate.n})"


def _chart(responses: Responses, ranked: list[str], event: Event, width: float) -> SvgCanvas:
    planners = [p for p in ranked if (p, event) in responses]
    arms = [arm for arm in _SCENES if any(arm in responses[p, event].controls for p in planners)]
    series = [Series("hazard", [responses[p, event].hits for p in planners])]
    series += [
        Series(_SCENES[arm], [responses[p, event].controls.get(arm) for p in planners]) for arm in arms
    ]
    return rows_chart(f"Events in every scene, {_NAMES[event]}", planners, series, width)


# --- the table of the paper's Table 5: strict success with everything that was left out in the same row ---

#: (judge, planner) -> hits and false alarms of the last score that the judge gives
Ranking = Mapping[tuple[str, str], ResponseRates]
_RANKED = (
    "Ranked by hit rate minus false-alarm rate (overall where it is judged, else waypoints); below them those without "
    "false-alarm rate, by their shares. "
)


def success_section(data: ReportData) -> Section:
    """Strict success by planner and judge."""
    rows = success_rows(data)
    board, ranking = ranked_rows(data, rows)
    ranked = [row for row in board if row.planner in data.ranking]
    scripted = [row for row in board if row.planner not in data.ranking]
    labels = [data.label(row.planner) for row in ranked]
    names = (
        labels
        if len(data.judges) == 1
        else [f"{a} ({row.judge})" for a, row in zip(labels, ranked, strict=True)]
    )
    dimensions = [d for d in DIMENSIONS if any(row.rates[d].n for row in ranked)]
    series = [Series(d, [row.rates[d] for row in ranked]) for d in dimensions]
    chart = partial(rows_chart, "Strict success by planner", names, series)
    return Section(
        id="leaderboard",
        title="Leaderboard",
        lead=(f"Intervals are {data.blocks[1]}.", *data.caveats) if ranked else data.caveats,
        tables=(
            leaderboard(ranked, ranking, data.labels, data.samples),
            *([_scripted(scripted, data, ranking)] if scripted else []),
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


def ranked_rows(data: ReportData, rows: list[SuccessRow]) -> tuple[list[SuccessRow], Ranking]:
    """The hazard arm, by hits minus false alarms; then those that have none, best overall first."""
    hazard = [row for row in rows if row.arm == "hazard"]
    ranking = {
        (row.judge, row.planner): response_of(
            data,
            row.planner,
            next((d for d in reversed(DIMENSIONS) if row.rates[d].n), DIMENSIONS[-1]),
            row.judge,
        )
        for row in hazard
    }

    def order(row: SuccessRow) -> tuple[object, ...]:
        shares = [row.rates[d].value or 0 for d in reversed(DIMENSIONS)]
        return (row.judge, *rank(ranking[row.judge, row.planner]), *(-share for share in shares), row.planner)

    return sorted(hazard, key=order), ranking


def _scripted(rows: list[SuccessRow], data: ReportData, ranking: Ranking) -> Table:
    """Told the truth: what the scale shows for answers whose scores are known."""
    return replace(
        leaderboard(rows, ranking, data.labels, data.samples),
        name="scripted",
        title="Scripted planners, which are given what was added where: no competitors",
    )


_LEFT_OUT = {
    "excluded": "excluded", "judge_failed": "judge failed", "planner_failed": "planner failed",
    "missing": "missing", "faults": "faults", "not_due": "with no response due",
}  # fmt: skip


def leaderboard(
    ranked: list[SuccessRow],
    ranking: Ranking | None = None,
    labels: Mapping[str, str] | None = None,
    samples: str = "",
) -> Table:
    """Table 5, and the false-alarm rate and the difference beside it, by ``ranking``.

    Args:
        labels: planner -> its name in the table. samples: what of several answers counts, in words.
    """
    rows = []
    for row in ranked:
        cells = {"planner": (labels or {}).get(row.planner, row.planner), "judge": row.judge}
        for name, rate in row.rates.items():
            cells[f"{name} %"] = _percent(rate) if rate.n or not row.n else "not scored"
        if ranking is not None:
            rates = ranking[row.judge, row.planner]
            cells["false alarms %"] = _percent(rates.false_alarms)
            cells["hit rate minus false-alarm rate"] = with_interval(rates.difference)
        counts = [(words, getattr(row, name)) for name, words in _LEFT_OUT.items()]
        cells |= {
            "N": str(row.n),
            "left out or failed": ", ".join(f"{n} {name}" for name, n in counts if n) or "-",
        }
        rows.append(cells)
    note = ("" if ranking is None else _RANKED) + (
        "In brackets: 95% intervals, Wilson's of shares, Tango's of the difference. N holds scored cases and planner "
        "failures, which count as no success. Excluded: the judge could not name the change. Judge failed and missing "
        "cases have no verdict. Faults: cfgen broke on them. No response due: the original plan clears the hazard "
        "anyway; these count as they are scored. A planner should beat the baselines: they look without "
        "understanding, or do not look at all." + (f" Each case counts by the {samples}." if samples else "")
    )
    title = "Strict success: share of cases scored 2"
    tables = Table.of("leaderboard", title, rows, 2, note)
    return tables[0] if tables else Table("leaderboard", title, (), ())


def _percent(rate: Rate) -> str:
    return "-" if rate.value is None else f"{rate.percent()} ({rate.interval()})"
