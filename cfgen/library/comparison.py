"""Two runs paired case by case, and rules on which a team's own CI may fail."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cfgen.benchmark.folders import FIXED_SETTINGS
from cfgen.core.errors import InputError, warn
from cfgen.library.benchmark import Benchmark, Run
from cfgen.metrics.compare import PairedRuns, compare_all
from cfgen.metrics.intervals import Rate
from cfgen.metrics.success import successes
from cfgen.records import DIMENSIONS, Dimension
from cfgen.reporting.section import Table, points
from cfgen.storage.store import MARKER

_RULE = re.compile(
    rf"\s*({'|'.join(DIMENSIONS)})\s+(drop|rise)\s*>\s*(\d+(?:\.\d+)?)(?:\s+and\s+p\s*<\s*(\d*\.?\d+))?\s*"
)


@dataclass(frozen=True)
class Rule:
    """``overall drop > 5 and p < 0.05``: points of strict success from the first run to the second."""

    text: str
    dimension: Dimension
    falls: bool
    points: float
    p: float | None

    @classmethod
    def of(cls, text: str) -> "Rule":
        """
        Raises:
            InputError: it does not read as a rule.
        """
        match = _RULE.fullmatch(text)
        if match is None:
            raise InputError(
                f"rule '{text}': expected <{'|'.join(DIMENSIONS)}> drop|rise > <points> [and p < <p>], for example "
                "'overall drop > 5' or 'reasoning drop > 2 and p < 0.05'"
            )
        name, way, points, p = match.groups()
        dimension = next(d for d in DIMENSIONS if d == name)
        return cls(text.strip(), dimension, way == "drop", float(points), None if p is None else float(p))


@dataclass(frozen=True)
class Comparison:
    """What was before, ``a``, against what is new, ``b``, on the cases that both have an outcome for.

    Attributes:
        judge: whose verdicts, of one wording in both runs.
        only_a, only_b: cases with an outcome in one run only: excluded, unjudged or not built in the other.
        pairs: for each dimension ``b`` minus ``a``: ``first_only`` are the cases at which only ``b`` succeeds.
    """

    a: Run
    b: Run
    judge: str
    arm: str
    only_a: int
    only_b: int
    pairs: dict[Dimension, PairedRuns]

    @cached_property
    def names(self) -> tuple[str, str]:
        """By planner; with the benchmark where the planners' names are the same."""
        runs = (self.a, self.b)
        alike = self.a.planner == self.b.planner
        return tuple(f"{run.bench.path}:{run.planner}" if alike else run.planner for run in runs)  # type: ignore[return-value]

    @property
    def _itself(self) -> str:
        return " A and B are the same run." if self.a.is_same(self.b) else ""

    def table(self) -> Table:
        """Success of both, the paired difference and McNemar's test; prints as Markdown."""
        a, b = self.names
        rows = tuple(
            (
                name,
                self._rate(self.a, name).percent(),
                self._rate(self.b, name).percent(),
                *points(pair.difference),
                str(pair.second_only),
                str(pair.first_only),
                f"{pair.p:.3f}",
                str(pair.difference.n),
            )
            for name, pair in self.pairs.items()
        )
        left_out = self.only_a + self.only_b
        return Table(
            name="comparison",
            title=f"{b} against {a}",
            columns=("score", "A %", "B %", "B - A", "95% interval", "only A", "only B", "p", "N"),
            rows=rows,
            note=f"A: {a}. B: {b}. Judge {self.judge}, arm {self.arm}. Strict success; N: cases with an outcome in "
            f"both runs ({left_out} have one in one run only and are left out). Intervals: paired. p: exact McNemar "
            f"test.{self._itself}",
        )

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict a dimension; shares, not points."""
        return [
            {
                "dimension": name,
                "a": self._rate(self.a, name).value,
                "b": self._rate(self.b, name).value,
                "difference": pair.difference.value,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "only_a": pair.second_only,
                "only_b": pair.first_only,
                "p": pair.p,
                "n": pair.difference.n,
            }
            for name, pair in self.pairs.items()
        ]

    def broken(self, rules: "list[Rule]") -> list[str]:
        """Those of the rules that call for a failure, each with what was found.

        Raises:
            InputError: there is no case to decide it on.
        """
        return [words for rule in rules if (words := self._verdict(rule))]

    def _verdict(self, rule: Rule) -> str:
        pair = self.pairs[rule.dimension]
        if pair.difference.value is None:
            raise InputError(
                f"rule '{rule.text}': the runs share no case with an outcome; there is nothing to decide"
            )
        change = 100 * pair.difference.value
        # a share such as 1/20 in points is not exactly 5
        far = (-change if rule.falls else change) > rule.points + 1e-9
        if not far or (rule.p is not None and not pair.p < rule.p):
            return ""
        return (
            f"{rule.dimension} {'dropped' if rule.falls else 'rose'} by {abs(change):.1f} points from {self.names[0]} "
            f"to {self.names[1]} on {pair.difference.n} cases (p = {pair.p:.2g}); the rule was '{rule.text}'"
        )

    def _rate(self, run: Run, dimension: Dimension) -> Rate:
        """On the shared cases."""
        shared = set(_events(self.a, self.arm, dimension)) & set(_events(self.b, self.arm, dimension))
        own = _events(run, self.arm, dimension)
        return Rate.of(sum(own[case] for case in shared), len(shared))

    def __str__(self) -> str:
        return self.table().markdown()

    def __repr__(self) -> str:
        name: Dimension = next((d for d in reversed(DIMENSIONS) if self.pairs[d].difference.n), "overall")
        pair = self.pairs[name]
        difference, interval = points(pair.difference)
        return (
            f"Comparison({self.names[1]!r} against {self.names[0]!r}, judge {self.judge!r}): {name} {difference} "
            f"points (95% {interval}), p = {pair.p:.3f}, {pair.difference.n} cases"
        )

    def _repr_html_(self) -> str:
        return self.table().html()


def compare_runs(a: str | Run, b: str | Run, arm: str = "hazard", judge: str | None = None) -> Comparison:
    """See :func:`cfgen.compare`."""
    first = a if isinstance(a, Run) else _named(a, None)
    second = b if isinstance(b, Run) else _named(b, first.bench)
    _same_benchmark(first.bench, second.bench)
    if first.is_same(second):
        warn(
            f"{first.bench.path}:{first.planner} is compared with itself: nothing can differ, and no rule can break"
        )
    judges = {run.judge for run in (a, b) if isinstance(run, Run)} if judge is None else {judge}
    chosen = _shared_judge(first, second, judges)
    first, second = (Run.open(run.bench, run.planner, chosen) for run in (first, second))
    _same_wording(first, second)
    events = {d: (_events(second, arm, d), _events(first, arm, d)) for d in DIMENSIONS}
    ours, theirs = next((e for d in reversed(DIMENSIONS) if all(e := events[d])), events["overall"])
    if not ours or not theirs:
        none = second if not ours else first
        raise InputError(
            f"{none.bench.path}: judge '{chosen}' has no outcome for '{none.planner}' in the arm '{arm}'; "
            "score that arm"
        )
    return Comparison(
        first,
        second,
        chosen,
        arm,
        only_a=len(set(theirs) - set(ours)),
        only_b=len(set(ours) - set(theirs)),
        pairs={d: compare_all({"b": new, "a": old})[0] for d, (new, old) in events.items()},
    )


def _named(text: str, default: Benchmark | None) -> Run:
    """``BENCH:PLANNER``, a benchmark with one planner, or a planner on the benchmark ``beside``."""
    folder, colon, planner = text.rpartition(":")
    if colon and (Path(folder) / MARKER).is_file():
        return Benchmark(folder).run(planner)
    if (Path(text) / MARKER).is_file():
        bench = Benchmark(text)
        if len(bench.planners) != 1:
            raise InputError(
                f"{text}: expected {text}:PLANNER with one of {', '.join(bench.planners) or '(none was scored yet)'}, "
                "found the folder alone"
            )
        return bench.run(bench.planners[0])
    if default is not None and not colon:
        return default.run(text)
    raise InputError(
        f"'{text}': expected BENCH:PLANNER, a benchmark directory and a planner that was scored there, found no "
        f"benchmark directory '{folder or text}'"
    )


def _same_benchmark(a: Benchmark, b: Benchmark) -> None:
    if a.path.resolve() == b.path.resolve():
        return
    for name in FIXED_SETTINGS:
        was, after = getattr(a.record, name), getattr(b.record, name)
        if was != after:
            raise InputError(
                f"{a.path} and {b.path} are different benchmarks: their {name} differ; nothing to pair"
            )
    files = {case.case_id: case.record.files for case in a}
    for case in b:
        # frames may be stored whole in one and as differences in the other
        theirs, ours = files.get(case.case_id, {}), case.record.files
        if any(theirs[name] != ours[name] for name in theirs.keys() & ours):
            raise InputError(
                f"{a.path} and {b.path} are different benchmarks: case {case.case_id} has other frames; nothing to pair"
            )


def _shared_judge(a: Run, b: Run, judges: set[str]) -> str:
    """The one that was asked for, or, of those that judged both runs, the one with most verdicts."""
    counts: Counter[str] = Counter()
    judged: list[set[str]] = []
    for run in (a, b):
        verdict_counts = run.bench.verdict_counts(run.planner)
        counts.update(verdict_counts)
        judged.append(set(verdict_counts))
    shared = judged[0] & judged[1]
    if not shared or not judges <= shared or len(judges) > 1:
        lines = [
            f"'{run.planner}' by {', '.join(sorted(own)) or 'nobody'}"
            for run, own in zip((a, b), judged, strict=True)
        ]
        request = f", asked for {' and '.join(sorted(judges))}" if judges else ""
        raise InputError(
            f"judge: expected one that judged both runs, found {' and '.join(lines)}{request}; score both with the "
            "same --judge"
        )
    return max(sorted(judges or shared), key=lambda name: counts[name])


def _same_wording(a: Run, b: Run) -> None:
    first, second = a.judge_record, b.judge_record
    hashes = {v.rubric_hash for run in (a, b) for v in run.verdicts}
    if len(hashes) > 1 or (first and second and first.rubric_hash != second.rubric_hash):
        raise InputError(
            f"judge '{a.judge}' judged the runs by different wordings of its rubric; score both again with one version"
        )
    if first and second and first.options != second.options:
        differing = next(
            k for k in {**first.options, **second.options} if first.options.get(k) != second.options.get(k)
        )
        raise InputError(
            f"judge '{a.judge}' judged the runs with another '{differing}'; score both with the same options"
        )


def _events(run: Run, arm: str, dimension: Dimension) -> dict[str, float]:
    return successes([v for v in run.verdicts if v.arm == arm], dimension, run.scored)
