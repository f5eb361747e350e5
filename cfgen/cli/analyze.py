"""``cfgen analyze``: what is asked of runs that are scored."""

import json as json_text
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from cfgen.cli.parsing import add, group
from cfgen.core.errors import Shortfall
from cfgen.core.options import Bench, Place
from cfgen.library import analysis, traces

if TYPE_CHECKING:
    from cfgen.library.comparison import Comparison
    from cfgen.library.stability import Stability
    from cfgen.library.study import Study
    from cfgen.library.traces import TraceCheck
    from cfgen.records import EdgeProbe, KnownPool
    from cfgen.traces.export import Exported

Json = Annotated[Place | None, "Also write the figures, unrounded, to this file."]
#: why a corruption was made and not kept
FILTERED = ("still consistent", "nothing tells whether it is broken")


def register(app: App) -> None:
    analyze = group("analyze", "Compare runs and rankings, check reasoning traces, score real obstacles.")
    add(analyze, analysis.compare, _show_comparison)
    add(analyze, analysis.stability, _show_stability)
    add(analyze, analysis.study, _show_study)
    of_traces = group("traces", "Is a planner's reasoning consistent, and can whoever says so be trusted?")
    add(of_traces, traces.check_traces, _show_check, name="check")
    add(of_traces, traces.probe_traces, _show_probe, name="validate")
    add(of_traces, traces.export_traces, _show_export, name="export")
    add(of_traces, _rate)
    analyze.command(of_traces)
    app.command(analyze)


def _write_json(content: object, file: Place | None) -> None:
    from cfgen.core.files import write_bytes

    if file:
        write_bytes(Path(file), (json_text.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def _show_comparison(
    comparison: "Comparison",
    *,
    fail_if: Annotated[
        Sequence[str],
        "Exit with 1 where it holds: 'overall drop > 5', 'reasoning drop > 2 and p < 0.05'; repeatable.",
    ] = (),
    json: Json = None,
) -> int:
    from cfgen.library.comparison import Rule

    rules = [Rule.of(text) for text in fail_if]
    print(comparison)
    broken = comparison.broken(rules)
    content = {
        "a": f"{comparison.a.bench.path}:{comparison.a.planner}",
        "b": f"{comparison.b.bench.path}:{comparison.b.planner}",
        "judge": comparison.judge,
        "arm": comparison.arm,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "dimensions": comparison.rows(),
        "rules": [rule.text for rule in rules],
        "broken": broken,
    }
    _write_json(content, json)
    if broken:
        raise Shortfall("; ".join(broken))
    return 0


def _show_stability(stability: "Stability", *, json: Json = None) -> int:
    print(stability)
    _write_json(stability.rows(), json)
    return 0


def _show_study(
    study: "Study",
    *,
    out: Annotated[Place | None, "Also write table, figures and plot to this folder."] = None,
) -> int:
    print(study)
    for path in study.write(Path(out)) if out else ():
        print(path)
    return 0


def _show_check(check: "TraceCheck", *, bench: Path) -> int:
    failed = [verdict for verdict in check if verdict.status == "failed"]
    faults = [verdict.fault for verdict in failed if verdict.fault]
    print(
        f"{check.judge}: {len(check) - len(failed)} answers checked, {len(failed) - len(faults)} without a usable "
        f"reply, {len(faults)} faults"
    )
    if transient := sum(verdict.transient for verdict in failed):
        print(f"{transient} could be mended by asking again: the same command with --retry-failed")
    for line in [*check.damaged, *map(str, faults)][:10]:
        print(f"  {line}")
    print(f"Next: cfgen report {bench}")
    nothing = bool(failed) and len(failed) == len(check)
    if nothing:
        print(f"Nothing was checked: {failed[0].reason}")
    return 1 if check.damaged or faults or nothing else 0


def _show_probe(result: "tuple[EdgeProbe, KnownPool]") -> int:
    probe, pool = result
    print(edge_table(probe))
    print("\n".join(pool_lines(pool)))
    if probe.faults:
        print(f"{len(probe.faults)} faults, the first: {probe.faults[0]}")
        return 1
    if probe.untested:
        from cfgen.records.traces import ENOUGH_KNOWN

        print(
            f"Too few to call it tested on {', '.join(probe.untested)}: {ENOUGH_KNOWN} known answers of either verdict "
            "are needed; raise --per-edge"
        )
        return 1
    return 0


def _show_export(exported: "Exported") -> int:
    sizes = ", ".join(
        f"{name} {n} rows of {exported.drives[name]} drives" for name, n in exported.rows.items()
    )
    print(f"{exported.folder}: {sizes}")
    for why, n in exported.dropped.items():
        print(f"  {n} left out: {why}")
    print(f"Next: python examples/train_critic.py {exported.folder} --model MODEL --out critic")
    return 0


def _rate(
    bench: Bench,
    file: Annotated[Place, "CSV of people's ratings of edges."],
    *,
    rubric: Annotated[
        str, "How E2 was read: faithfulness (against the image), faithfulness-scene (against the scene)."
    ] = traces.FAITHFULNESS,
) -> int:
    """Bring people's ratings of edges from a table."""
    from cfgen.traces.edge_ratings import import_edges

    print(f"{import_edges(Path(bench), Path(file), rubric)} ratings added")
    print(f"Next: cfgen report {bench}")
    return 0


def pool_lines(pool: "KnownPool") -> list[str]:
    """How many known answers there are and what was dropped on the way, by reason."""
    filtered = {why: n for why, n in pool.dropped.items() if any(word in why for word in FILTERED)}
    broken = sum(bool(k.target) for k in pool.traces)
    by_reason: Counter[str] = Counter()
    for why, n in filtered.items():
        by_reason[why.rpartition(": ")[2]] += n
    reasons = "; ".join(f"{why} {n}" for why, n in by_reason.items()) or "none"
    return [
        f"{len(pool.traces)} traces, {broken} of them broken; seed {pool.seed}",
        f"{sum(filtered.values())} corruptions dropped by the filter ({reasons}); "
        f"{sum(pool.dropped.values()) - sum(filtered.values())} could not be made",
    ]


def edge_table(probe: "EdgeProbe") -> str:
    """What came of a validation, for a terminal: the paper's Table 2."""
    from cfgen.metrics.faithfulness import Balanced
    from cfgen.metrics.intervals import Rate

    def share(hits: int, n: int) -> str:
        return f"{Rate.of(hits, n).percent():>5}% [{Rate.of(hits, n).interval()}]"

    lines = [
        f"{probe.checker} ({probe.rubric}): {probe.n} known traces, {probe.failed} without a usable reply",
        f"{'edge':<10}  balanced accuracy      false consistent    false inconsistent    n",
    ]
    for name, count in probe.edges.items():
        balanced = Balanced.of(*count.recalls)
        silent = sum(count.unanswered) == count.consistent + count.inconsistent
        accuracy, false_consistent, false_inconsistent = "-", "-", "-"
        if not silent:
            if balanced.value is not None:
                accuracy = f"{balanced.value:.3f} [{balanced.low:.3f}, {balanced.high:.3f}]"
            false_consistent = share(count.false_consistent, count.inconsistent)
            false_inconsistent = share(count.false_inconsistent, count.consistent)
        lines.append(
            f"{name:<10}  {accuracy:<21}  {false_consistent:<19} {false_inconsistent:<19}  "
            f"{count.consistent}+{count.inconsistent}"
        )
    width = max(map(len, probe.kinds), default=0)
    return "\n".join(
        [
            *lines,
            *(f"  {name:<{width}}  {kind.right:>4} of {kind.n} right" for name, kind in probe.kinds.items()),
        ]
    )
