"""Whether a ranking of planners holds across build seed, inpainter, judge, rubric and kind of hazard."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError
from cfgen.metrics.intervals import Events
from cfgen.metrics.stability import Item, Rank, items, ranks, shared_table, tau
from cfgen.metrics.success import case_differences
from cfgen.records import DIMENSIONS
from cfgen.reporting.data import ReportData, judged, measured
from cfgen.reporting.footnotes import describe_judge
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.section import Table
from cfgen.storage.store import Store

#: a group of hazards needs this many cases to be a variant of its own
FEWEST_CASES = 5


@dataclass(frozen=True)
class Variant:
    """One ranking: a benchmark, a judge, and all its cases or those of one cluster of hazards.

    Attributes:
        what: benchmark, seed, inpainter, judge with its rubric, hazards; in words.
        events: planner -> case -> event. ranks: over the cases that all its planners have.
        false_alarms: the scene whose false alarms are taken off; "none" where a planner has none, so that all rank raw.
    """

    name: str
    what: tuple[str, ...]
    cases: int
    events: Mapping[str, Events]
    ranks: dict[str, Rank]
    false_alarms: str

    @property
    def success(self) -> dict[str, float]:
        return {planner: rank.success for planner, rank in self.ranks.items()}


@dataclass(frozen=True)
class Stability:
    """Rankings, how they agree in pairs, and the cases behind each whole benchmark's."""

    event: str
    variants: tuple[Variant, ...]
    taus: tuple[tuple[str, str, float | None, int], ...]
    items: dict[str, list[Item]]

    def tables(self) -> list[Table]:
        """Variants, ranks, agreement and cases; each prints as Markdown."""
        return [self._variants(), self._ranks(), *([self._taus()] if self.taus else []), *self._items()]

    def rows(self) -> dict[str, Any]:
        """Plain dicts, unrounded."""
        return {
            "event": self.event,
            "variants": [
                {
                    "name": v.name,
                    "what": v.what,
                    "false_alarms": v.false_alarms,
                    "cases": v.cases,
                    "ranks": {p: asdict(r) for p, r in v.ranks.items()},
                }
                for v in self.variants
            ],
            "taus": [{"first": a, "second": b, "tau": value, "planners": n} for a, b, value, n in self.taus],
            "items": {name: [asdict(item) for item in measures] for name, measures in self.items.items()},
        }

    def __str__(self) -> str:
        return "\n".join(table.markdown() for table in self.tables())

    def _variants(self) -> Table:
        columns = (
            "variant",
            "benchmark",
            "seed",
            "inpainter",
            "judge",
            "hazards",
            "false alarms",
            "shared cases",
        )
        rows = tuple((v.name, *v.what, v.false_alarms, str(v.cases)) for v in self.variants)
        return Table("variants", f"Rankings compared, by {self.event}", columns, rows, words=7)

    def _ranks(self) -> Table:
        planners = list(dict.fromkeys(p for v in self.variants for p in v.ranks))
        rows = tuple((planner, *(_rank(v.ranks.get(planner)) for v in self.variants)) for planner in planners)
        note = (
            "Rank, its 95% interval over draws of cases (of drives, where there are enough), and the success: hit rate "
            "minus false-alarm rate, or where the variant has none the share."
        )
        return Table("ranks", "Ranks", ("planner", *(v.name for v in self.variants)), rows, note=note)

    def _taus(self) -> Table:
        rows = tuple((a, b, "undefined" if t is None else f"{t:.2f}", str(n)) for a, b, t, n in self.taus)
        note = "Kendall's tau-b of the planners that both hold: 1 is the same order, -1 the opposite one."
        return Table(
            "taus", "Agreement of rankings", ("first", "second", "tau", "planners"), rows, words=2, note=note
        )

    def _items(self) -> list[Table]:
        note = (
            "Success: share of planners that succeed at the case. Discrimination: correlation over planners of success "
            "at it with success at all others. Tau and pairs moved: of the ranking without it against the whole one."
        )
        columns = ("case", "success %", "discrimination", "tau without it", "pairs moved")
        return [
            Table(
                f"items-{name}",
                f"Cases of {name}, those that carry the ranking first",
                columns,
                tuple(
                    (
                        i.case_id,
                        f"{100 * i.success:.0f}",
                        _number(i.discrimination),
                        _number(i.tau),
                        str(i.moved),
                    )
                    for i in rows
                ),
                note=note,
            )
            for name, rows in self.items.items()
        ]


def rank_stability(
    benches: Sequence[Path], event: str, planners: Sequence[str] | None, seed: int
) -> Stability:
    """See :func:`cfgen.stability`."""
    variants: list[Variant] = []
    items_of: dict[str, list[Item]] = {}
    for path in benches:
        data = read_report_data(Store(path), planners)
        for judge in data.judges if event != "trajectory" else ("",):
            raw = {
                p: planner_events
                for p in (data.planners if planners else data.ranking)
                if (planner_events := events_of(data, p, "hazard", event, judge))
            }
            events, false_alarms = _minus_false_alarms(data, raw, judge, event)
            overall = _variant(data, judge, "all", events, len(variants), seed, false_alarms)
            if overall is None:
                continue
            variants.append(overall)
            items_of[overall.name] = items(events, raw)
            for cluster in sorted({case.hazard.cluster for case in data.cases}):
                of = {case.case_id for case in data.cases if case.hazard.cluster == cluster}
                part = {
                    p: {c: e for c, e in planner_events.items() if c in of}
                    for p, planner_events in events.items()
                }
                if (
                    some := _variant(
                        data, judge, cluster, part, len(variants), seed, false_alarms, FEWEST_CASES
                    )
                ) is not None:
                    variants.append(some)
    if not variants:
        raise InputError(
            f"{', '.join(map(str, benches))}: expected two planners or more with {event} events on shared cases, found "
            "fewer; score more planners, or choose --event trajectory"
        )
    taus = [
        (a.name, b.name, tau(a.success, b.success), len(set(a.ranks) & set(b.ranks)))
        for a, b in combinations(variants, 2)
    ]
    return Stability(event, tuple(variants), tuple(taus), items_of)


def events_of(data: ReportData, planner: str, arm: str, event: str, judge: str = "") -> Events:
    """case -> share of the repeats that count as an answer: by the drive alone, or a judge's strict success."""
    if event == "trajectory":
        return measured(data, planner, arm)
    return judged(data, planner, arm, next(d for d in DIMENSIONS if d == event), judge)


def _minus_false_alarms(
    data: ReportData, raw: Mapping[str, Events], judge: str, event: str
) -> tuple[dict[str, Events], str]:
    """Each planner's events minus its false alarms, case by case; all raw where one has none."""
    net = {
        p: case_differences(hazard, events_of(data, p, "nuisance", event, judge)) for p, hazard in raw.items()
    }
    return (dict(net), "nuisance") if all(net.values()) else (dict(raw), "none")


def _variant(
    data: ReportData,
    judge: str,
    hazards: str,
    events: Mapping[str, Events],
    number: int,
    seed: int,
    false_alarms: str,
    fewest: int = 1,
) -> Variant | None:
    """None under two planners or ``fewest`` shared cases."""
    cases = shared_table(events)[0] if len(events) > 1 else []
    if len(cases) < fewest:
        return None
    benchmark = data.benchmark
    who = describe_judge(data, judge) if judge else "none"
    what = (data.store.root.name, str(benchmark.seed), benchmark.inpainter, who, hazards)
    return Variant(
        f"v{number + 1}", what, len(cases), events, ranks(events, data.blocks[0], seed), false_alarms
    )


def _rank(rank: Rank | None) -> str:
    if rank is None:
        return "-"
    return f"{rank.value:g} ({rank.low:g}-{rank.high:g}), {100 * rank.success:.0f}%"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
