"""``cfgen traces``: does a planner's reasoning hang together, and can whoever says so be trusted?"""

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.cli.options import (
    Command,
    add_allowed_licences,
    add_engine,
    add_network,
    add_options,
    names,
    parse_options,
    positive,
)

if TYPE_CHECKING:
    from cfgen.records import EdgeProbe, KnownPool

#: why a corruption was made and not kept
FILTERED = ("still consistent", "nothing tells whether it is broken", "second model")


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "traces",
        help="check each answer of a planner edge by edge; test who checks; export known answers",
        description="Without a subcommand: check.",
    )
    if isinstance(parser, Command):
        parser.implied, parser.subcommands = "check", ("check", "probe", "export", "rate")
    commands = parser.add_subparsers(dest="traces_command", metavar="COMMAND", required=True)
    _register_check(commands.add_parser("check", help="check each answer of a planner edge by edge"))
    _register_probe(
        commands.add_parser("probe", help="test a judge of edges on traces whose right verdicts are known")
    )
    rate = commands.add_parser("rate", help="bring people's ratings of edges from a table")
    rate.add_argument("bench", type=Path)
    rate.add_argument("--import-csv", type=Path, metavar="FILE", required=True)
    rate.add_argument(
        "--rubric",
        default="faithfulness",
        metavar="NAME",
        help="how E2 was read: faithfulness (default: against the image), faithfulness-scene (against the scene)",
    )
    rate.set_defaults(func=_rate)
    export = commands.add_parser(
        "export", help="known answers as a training set, split by drive and balanced"
    )
    export.add_argument("bench", type=Path)
    export.add_argument(
        "--for",
        dest="use",
        default="critic",
        metavar="critic|verifier",
        help="whom to train (default critic)",
    )
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    add_pool(export)
    add_allowed_licences(export)
    add_network(export)
    export.set_defaults(func=_export)


def _export(arguments: argparse.Namespace) -> int:
    import cfgen

    found = cfgen.export_traces(
        arguments.bench,
        arguments.out,
        use=arguments.use,
        **pool_options(arguments),
        allow_licenses=arguments.allow_license,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
    )
    said = ", ".join(f"{name} {n} rows of {found.drives[name]} drives" for name, n in found.rows.items())
    print(f"{found.folder}: {said}")
    for why, n in found.dropped.items():
        print(f"  {n} left out: {why}")
    if arguments.use == "critic":
        print(f"Next: python examples/train_critic.py {found.folder} --model MODEL --out critic")
    else:
        print(
            "Next: train on its messages and images (TRL's SFTTrainer), serve the model, and test it: "
            f"cfgen traces probe {arguments.bench} --verifier openai --judge-option model=NAME"
        )
    return 0


def _rate(arguments: argparse.Namespace) -> int:
    from cfgen.traces.edge_ratings import import_edges

    added = import_edges(arguments.bench, arguments.import_csv, arguments.rubric)
    print(f"{added} ratings added")
    print(f"Next: cfgen report {arguments.bench}")
    return 0


def _register_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bench", type=Path)
    parser.add_argument("--planner", required=True, help="one that was scored")
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--judge", help="a model judge: gemini, openai, local, scripted")
    who.add_argument(
        "--critic", metavar="PATH", help="a local vision-language model, read at its verdict token"
    )
    add_options(parser, "--judge-option", "judge")
    parser.add_argument(
        "--rubric",
        default="faithfulness",
        metavar="NAME",
        help="what is asked: faithfulness (default), or another one about traces; see: cfgen rubric list",
    )
    parser.add_argument("--arms", type=names, default=("original", "hazard"), help="default original,hazard")
    add_engine(parser)
    parser.add_argument(
        "--retry-failed", action="store_true", help="ask again where there was no usable reply"
    )
    parser.add_argument("--strict", action="store_true", help="end at the first fault, with its traceback")
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_traces)


def _register_probe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bench", type=Path, nargs="?", default=Path("bench"), help="benchmark directory (default bench)"
    )
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--judge", help="a model judge: gemini, openai, local, scripted")
    who.add_argument("--critic", metavar="PATH", help="a local vision-language model")
    who.add_argument("--verifier", metavar="NAME", help="one of verified: planners: offline, or a model")
    add_options(parser, "--judge-option", "judge or verifier")
    parser.add_argument(
        "--rubric",
        default="faithfulness",
        metavar="NAME",
        help="faithfulness (default: E2 against the image), faithfulness-scene (against the scene), consistency (E3)",
    )
    add_pool(parser)
    parser.add_argument("--strict", action="store_true", help="end at the first fault, with its traceback")
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_probe)


def add_pool(parser: argparse.ArgumentParser) -> None:
    """What known answers are made of."""
    parser.add_argument(
        "--sources",
        type=names,
        default=(),
        metavar="A,B",
        help="scripted, planners that were scored, files of answers (default: scripted and every planner)",
    )
    parser.add_argument(
        "--edges", type=names, default=(), metavar="A,B", help="only these, of E1,E2,E2-scene,E3,E4,E5"
    )
    parser.add_argument(
        "--per-edge",
        type=positive,
        default=50,
        metavar="N",
        help="known answers of either verdict (default 50)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corruptor", metavar="MODEL", help="a model that also writes corruptions")
    add_options(parser, "--corruptor-option", "corruptor")
    parser.add_argument(
        "--second", metavar="JUDGE", help="a judge model that confirms what geometry cannot tell"
    )
    add_options(parser, "--second-option", "second model")


def _probe(arguments: argparse.Namespace) -> int:
    import cfgen

    found, pool = cfgen.probe_traces(
        arguments.bench,
        arguments.judge,
        critic=arguments.critic,
        verifier=arguments.verifier,
        judge_options=parse_options(arguments.judge_option, "--judge-option"),
        rubric=arguments.rubric,
        **pool_options(arguments),
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        quiet=arguments.quiet,
    )
    print(edge_table(found))
    print("\n".join(pool_lines(pool)))
    if found.faults:
        print(f"{len(found.faults)} faults, the first: {found.faults[0]}")
        return 1
    if found.untested:
        from cfgen.records.known import ENOUGH_KNOWN

        print(
            f"Too few to call it tested on {', '.join(found.untested)}: {ENOUGH_KNOWN} known answers of either verdict "
            "are needed; raise --per-edge, or add sources"
        )
        return 1
    return 0


def pool_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What :func:`add_pool` reads, by the library's names."""
    return {
        **{n: getattr(arguments, n) for n in ("sources", "edges", "per_edge", "seed", "corruptor", "second")},
        "corruptor_options": parse_options(arguments.corruptor_option, "--corruptor-option"),
        "second_options": parse_options(arguments.second_option, "--second-option"),
    }


def pool_lines(pool: "KnownPool") -> list[str]:
    """How many known answers there are and what was dropped on the way, by reason."""
    filtered = {why: n for why, n in pool.dropped.items() if any(word in why for word in FILTERED)}
    source = {why: n for why, n in pool.dropped.items() if why.startswith("source")}
    broken = sum(bool(k.target) for k in pool.traces)
    by_reason: Counter[str] = Counter()
    for why, n in filtered.items():
        by_reason[why.rpartition(": ")[2]] += n
    said = "; ".join(f"{why} {n}" for why, n in by_reason.items()) or "none"
    lines = [
        f"{len(pool.traces)} traces, {broken} of them broken, from {', '.join(pool.sources)}; seed {pool.seed}",
        f"{sum(filtered.values())} corruptions dropped by the filter ({said}); "
        f"{sum(pool.dropped.values()) - sum(filtered.values()) - sum(source.values())} could not be made",
    ]
    return lines + [f"  {n} answers not used, {why}" for why, n in source.items()]


def edge_table(found: "EdgeProbe") -> str:
    """What came of a probe, for a terminal: the paper's Table 2."""
    from cfgen.metrics.faithfulness import Balanced
    from cfgen.metrics.rates import Rate

    lines = [
        f"{found.checker} ({found.rubric}): {found.n} known traces, {found.failed} without a usable reply",
        f"{'edge':<10}  balanced accuracy      false consistent    false inconsistent    n",
    ]
    for name, count in found.edges.items():
        one = Balanced.of(*count.recalls)
        silent = sum(count.unanswered) == count.consistent + count.inconsistent
        words = "-" if silent or one.value is None else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"
        wrong = [
            "-" if silent else f"{Rate.of(hits, n).percent():>5}% [{Rate.of(hits, n).interval()}]"
            for hits, n in (
                (count.false_consistent, count.inconsistent),
                (count.false_inconsistent, count.consistent),
            )
        ]
        lines.append(
            f"{name:<10}  {words:<21}  {wrong[0]:<19} {wrong[1]:<19}  {count.consistent}+{count.inconsistent}"
        )
    width = max(map(len, found.kinds), default=0)
    lines += [f"  {name:<{width}}  {kind.right:>4} of {kind.n} right" for name, kind in found.kinds.items()]
    return "\n".join(lines)


def _traces(arguments: argparse.Namespace) -> int:
    import cfgen

    found = cfgen.check_traces(
        arguments.bench,
        arguments.planner,
        arguments.judge,
        critic=arguments.critic,
        judge_options=parse_options(arguments.judge_option, "--judge-option"),
        rubric=arguments.rubric,
        arms=arguments.arms,
        engine=arguments.engine,
        engine_options=parse_options(arguments.engine_option, "--engine-option"),
        retry_failed=arguments.retry_failed,
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        quiet=arguments.quiet,
    )
    failed = [v for v in found if v.status == "failed"]
    faults = [v.fault for v in failed if v.fault]
    print(
        f"{found.judge}: {len(found) - len(failed)} answers checked, {len(failed) - len(faults)} without a usable "
        f"reply, {len(faults)} faults"
    )
    if again := sum(v.transient for v in failed):
        print(f"{again} could be mended by asking again: the same command with --retry-failed")
    for words in [*found.damaged, *map(str, faults)][:10]:
        print(f"  {words}")
    print(f"Next: cfgen report {arguments.bench}")
    nothing = bool(failed) and len(failed) == len(found)
    if nothing:
        print(f"Nothing was checked: {failed[0].reason}")
    return 1 if found.damaged or faults or nothing else 0
