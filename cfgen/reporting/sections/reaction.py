"""Mention by action, and how soon a planner responds."""

from dataclasses import asdict
from functools import partial
from typing import Any

from cfgen.metrics.reaction import TIMES_S, HowSoon, MentionByAction, Timed, how_soon, mention_by_action
from cfgen.records import DIMENSIONS
from cfgen.reporting.data import ReportData, judged, measured
from cfgen.reporting.drawing import Series, curve_chart
from cfgen.reporting.section import Plot, Section, Table

#: cases that are named of each kind; the file has all
_NAMED = 10


def reaction_section(data: ReportData) -> Section:
    """Said and done, and the response rate by the time that was left."""
    blocks = data.blocks[0]
    mentions = {
        p: table
        for p in data.planners
        if (said := judged(data, p, "hazard", "reasoning"))
        and (table := mention_by_action(said, measured(data, p, "hazard"), blocks)).did_if_said.n
        + table.did_if_not_said.n
    }
    soon = {p: _how_soon(data, p) for p in data.planners}
    soon = {p: both for p, both in soon.items() if both[0].rates}
    seconds = [t for t in TIMES_S if any(t in hits.rates for hits, _ in soon.values())]
    series = [Series(p, [hits.rates.get(t) for t in seconds]) for p, (hits, _) in soon.items()]
    chart = partial(
        curve_chart,
        "Hit rate by time to collision",
        "time to collision",
        [f"{t:g} s" for t in seconds],
        series,
    )
    figures: dict[str, Any] = {
        "mention by action": {p: asdict(table) for p, table in mentions.items()},
        "how soon": {
            p: {"hits": asdict(hits), "false alarms": asdict(alarms)} for p, (hits, alarms) in soon.items()
        },
    }
    return Section(
        id="reaction",
        title="Said and done, and how soon",
        tables=(*_mention_table(data, mentions), *_cases_table(mentions), *_soon_table(data, soon)),
        plots=(Plot("how-soon", "Hit rate by time to collision", chart),) if len(seconds) > 1 else (),
        files=_files(mentions),
        figures=figures,
    )


# --- mention by action ------------------------------------------------------------------------------------


def _mention_table(data: ReportData, mentions: dict[str, MentionByAction]) -> tuple[Table, ...]:
    rows = []
    for planner, table in mentions.items():
        cells = {kind: f"{len(cases)} ({table.expected[kind]:.1f})" for kind, cases in table.cases.items()}
        shares = {"P(did | said) %": table.did_if_said, "P(did | not said) %": table.did_if_not_said}
        rows.append(
            {"planner": data.label(planner), **cells}
            | {
                name: "-" if r.value is None else f"{r.percent()} ({r.interval()})"
                for name, r in shares.items()
            }
        )
    note = (
        "Said: the judge gives the reasoning a 2, for a mention of the hazard and what follows from it. Did: the "
        "trajectory reacts, measured without a judge. In brackets: cases expected if the two were unrelated; 95% "
        "intervals of shares. That both go together does not show that the words carry the action."
    )
    return Table.of("mention-by-action", "Mention by action", rows, 1, note)


def _cases_table(mentions: dict[str, MentionByAction]) -> tuple[Table, ...]:
    """Cases in which words and plan part, each a click away."""
    rows = [
        (case, planner, kind)
        for planner, table in mentions.items()
        for kind in ("said only", "did only")
        for case in table.cases[kind][:_NAMED]
    ]
    if not rows:
        return ()
    note = f"Up to {_NAMED} of each kind; tables/mention-cases.csv has all."
    links = [f"#case={case}" for case, *_ in rows]
    title = "Cases in which mention and action part"
    return (Table("mention-apart", title, ("case", "planner", "kind"), tuple(rows), 3, note, links),)


def _files(mentions: dict[str, MentionByAction]) -> tuple[Table, ...]:
    rows = tuple(
        (case, planner, kind)
        for planner, table in mentions.items()
        for kind, cases in table.cases.items()
        for case in cases
    )
    columns = ("case", "planner", "kind")
    return (Table("mention-cases", "Mention by action, case by case", columns, rows, 3),) * bool(rows)


# --- how soon ---------------------------------------------------------------------------------------------


def _how_soon(data: ReportData, planner: str) -> tuple[HowSoon, HowSoon]:
    """Hits, of the hazard at every distance that was built, and false alarms, of the case's own distance."""
    scores = data.scores(data.main_judge) or DIMENSIONS[:0]
    times = {
        (arm, case.case_id): placement.ttc_s
        for case in data.cases
        for arm, placement in {"hazard": case.placement, **case.distance_placements}.items()
        if placement.ttc_s is not None
    }

    def timed(arm: str, time_of: str) -> list[Timed]:
        events = judged(data, planner, arm, scores[-1]) if scores else {}
        return [
            Timed(case, times[time_of, case], event)
            for case, event in events.items()
            if (time_of, case) in times
        ]

    arms = [arm for arm in data.arms(planner) if arm.startswith("hazard")]
    blocks = data.blocks[0]
    hits = how_soon([answer for arm in arms for answer in timed(arm, arm)], blocks)
    return hits, how_soon(timed("nuisance", "hazard"), blocks)


def _soon_table(data: ReportData, soon: dict[str, tuple[HowSoon, HowSoon]]) -> tuple[Table, ...]:
    rows = []
    for planner, both in soon.items():
        for name, result in zip(("hit rate %", "false-alarm rate %"), both, strict=True):
            if not result.rates:
                continue
            cells = {
                f"{t:g} s": f"{r.percent()} ({r.interval()}; {r.n})" if (r := result.rates.get(t)) else "-"
                for t in TIMES_S
            }
            mean = f"{result.mean.percent()} ({result.mean.interval()})"
            half = result.half if name.startswith("hit") else "-"
            rows.append(
                {"planner": data.label(planner), "of": name, **cells, "mean": mean, "half answered at": half}
            )
    note = (
        "Cases by their time to collision at constant speeds, to the nearest second, of every distance that was built; "
        "false alarms of the case's own distance. Mean: of the rates, each time alike. In brackets: 95% intervals by "
        "bootstrap over drives, never narrower than those of independent blocks; cases. Half: on straight lines "
        "between the rates, where they cross it once."
    )
    return Table.of("how-soon", "How soon: response rate by time to collision", rows, 2, note)
