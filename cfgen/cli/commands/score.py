"""``cfgen score``."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.cli.options import (
    add_engine,
    add_network,
    add_options,
    add_rubric,
    add_runtime,
    add_startup,
    add_writable,
    names,
    parse_options,
    positive,
    seconds,
)
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.plain import MAX_CHARS, visible
from cfgen.library.arguments import FLOORS

if TYPE_CHECKING:
    from cfgen.rollouts.summary import ScoreSummary


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("score", help="run a planner on a benchmark and judge its answers")
    parser.usage = "cfgen score [-h] [export-inputs] BENCH [options]"
    parser.add_argument("bench", type=Path, nargs="+", help="benchmark directory")
    parser.add_argument("--out", type=Path, help="export-inputs: folder to write to")
    parser.add_argument("--cameras", type=names, default=("front",), help="export-inputs: default front")
    parser.add_argument("--frame-times", type=_times, default=(0.0,), help="export-inputs: s, e.g. -0.5,0")
    parser.add_argument(
        "--max-pixels", type=positive, help="export-inputs: shrink larger images to this area"
    )
    parser.add_argument(
        "--planner",
        help="a name (cruise, logged, ...), package.module:Class, or a .jsonl file of outputs",
    )
    parser.add_argument("--name", help="name under which its answers are kept (default: from --planner)")
    add_options(parser, "--planner-option", "planner")
    parser.add_argument(
        "--judge",
        default="offline",
        help="who judges (default offline); none stores the answers, and cfgen judge run judges them later",
    )
    add_options(parser, "--judge-option", "judge")
    add_rubric(parser)
    parser.add_argument(
        "--votes", type=positive, metavar="K", help="replies of each judge model to each item"
    )
    parser.add_argument(
        "--retry-failed",
        action="store_true",
        help="ask again what that could mend: the planner where network or machine lost its answer or cfgen broke, "
        "the judge where it gave no usable reply",
    )
    parser.add_argument(
        "--retry-all",
        action="store_true",
        help="ask the planner every failed answer again, also its own failures",
    )
    parser.add_argument(
        "--planner-retries",
        type=_whole,
        default=3,
        metavar="N",
        help="further tries, with growing pauses, before a time-out or a lost connection counts (default 3)",
    )
    parser.add_argument(
        "--max-answer-chars",
        type=positive,
        default=MAX_CHARS,
        metavar="N",
        help=f"characters of an answer; the rest is cut, and that recorded (default {MAX_CHARS:,})",
    )
    parser.add_argument(
        "--arms",
        type=names,
        default=("original", "hazard"),
        help="default original,hazard; also rerun,null,nuisance",
    )
    parser.add_argument(
        "--floor",
        choices=FLOORS,
        default="",
        help="what the response is held against, declared before scoring: the mean of the sham pairs' arms (default), "
        "one of them, or the worst",
    )
    parser.add_argument("--repeats", type=positive, default=1, help="times each question is asked")
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="copies of the planner that work side by side (default 1)",
    )
    parser.add_argument(
        "--devices",
        type=names,
        default=(),
        metavar="0,1,2",
        help="cards, as nvidia-smi numbers them: a worker on each in turn, which sees that one alone",
    )
    add_engine(parser)
    parser.add_argument(
        "--shard",
        default="",
        metavar="I/N",
        help="only the I-th of N parts of the cases, for machines that share no disk; then: cfgen merge",
    )
    parser.add_argument("--timeout", type=seconds, default=120.0, metavar="S", help="seconds for one answer")
    add_startup(parser)
    parser.add_argument(
        "--intervene",
        action="store_true",
        help="overwrite the planner's reasoning and see whether it follows",
    )
    parser.add_argument("--strict", action="store_true", help="end at the first fault, with its traceback")
    add_runtime(parser)
    add_writable(parser)
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_score)


def _times(text: str) -> tuple[float, ...]:
    return tuple(float(t) for t in text.split(","))


def _whole(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, found {text}")
    return value


def _score(arguments: argparse.Namespace) -> int:
    if str(arguments.bench[0]) == "export-inputs":
        return _export(arguments)
    import cfgen
    from cfgen.judge.stored import judge_failures, short_verdicts

    if len(arguments.bench) != 1 or arguments.planner is None:
        raise InputError("cfgen score: expected one BENCH and --planner; see: cfgen score --help")
    run = cfgen.score(
        arguments.bench[0],
        arguments.planner,
        name=arguments.name,
        planner_options=parse_options(arguments.planner_option, "--planner-option"),
        judge=arguments.judge,
        judge_options=parse_options(arguments.judge_option, "--judge-option"),
        votes=arguments.votes,
        rubric=arguments.rubric,
        arms=arguments.arms,
        repeats=arguments.repeats,
        workers=arguments.workers,
        devices=arguments.devices,
        engine=arguments.engine,
        engine_options=parse_options(arguments.engine_option, "--engine-option"),
        shard=arguments.shard,
        floor=arguments.floor,
        timeout_s=arguments.timeout,
        startup_timeout_s=arguments.startup_timeout,
        intervene=arguments.intervene,
        retry_failed=arguments.retry_failed,
        retry_all=arguments.retry_all,
        planner_retries=arguments.planner_retries,
        max_answer_chars=arguments.max_answer_chars,
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        python=arguments.python or "",
        planner_network=arguments.planner_network,
        planner_memory=arguments.planner_memory,
        writable=arguments.writable,
        quiet=arguments.quiet,
    )
    summary = run.summary
    assert summary is not None
    print_summary(summary)
    missing = judge_failures(short_verdicts(run.bench.store, summary.judge, summary.planner))
    for line in missing.lines(_again(arguments)):
        print(visible(line))
    short = summary.short()
    if short:
        raise Shortfall(visible(short))
    if arguments.judge == "none":
        print(f"Next: cfgen judge run {arguments.bench[0]} --planners {summary.planner} --judge NAME")
    else:
        print(f"Next: cfgen report {arguments.bench[0]}")
    return 1 if missing.short else 0


def _again(arguments: argparse.Namespace) -> str:
    """The command that asks again for what failed."""
    words = ["cfgen", "score", str(arguments.bench[0]), "--planner", arguments.planner]
    words += ["--name", arguments.name] if arguments.name else []
    words += [w for option in arguments.planner_option for w in ("--planner-option", option)]
    words += ["--judge", arguments.judge]
    words += [w for option in arguments.judge_option for w in ("--judge-option", option)]
    words += ["--rubric", arguments.rubric] if arguments.rubric != "cfgen" else []
    words += ["--votes", str(arguments.votes)] if arguments.votes else []
    words += ["--arms", ",".join(arguments.arms)] if arguments.arms != ("original", "hazard") else []
    words += ["--repeats", str(arguments.repeats)] if arguments.repeats != 1 else []
    words += ["--workers", str(arguments.workers)] if arguments.workers else []
    words += ["--devices", ",".join(arguments.devices)] if arguments.devices else []
    words += ["--engine", arguments.engine] if arguments.engine else []
    words += [w for option in arguments.engine_option for w in ("--engine-option", option)]
    words += ["--shard", arguments.shard] if arguments.shard else []
    words += ["--floor", arguments.floor] if arguments.floor else []
    words += ["--offline"] if arguments.offline else []
    words += ["--allow-hosts", ",".join(arguments.allow_hosts)] if arguments.allow_hosts else []
    words += ["--python", arguments.python] if arguments.python else []
    words += ["--planner-network"] if arguments.planner_network else []
    words += ["--planner-memory", f"{arguments.planner_memory:g}"] if arguments.planner_memory else []
    words += ["--writable", ",".join(map(str, arguments.writable))] if arguments.writable else []
    return shlex.join([*words, "--retry-failed"])


def print_summary(summary: "ScoreSummary") -> None:
    failed = sum(f.count for f in summary.failures)
    faults = f", {len(summary.faults)} faults" if summary.faults else ""
    print(f"{summary.planner}: {summary.rollouts} answers, {failed} failed{faults}")
    for found in summary.failures:
        print(visible(f"{found.count:>6}  {found.words}, for example: {found.example}"))
    mendable = sum(f.count for f in summary.failures if f.mendable)
    if mendable:
        print(f"{mendable} of these may be mended by asking again: the same command with --retry-failed")
    if failed > mendable:
        print(
            f"{failed - mendable} of these are the planner's own and count against it; --retry-all asks them again"
        )
    if summary.cut:
        print(f"{summary.cut} answers were cut, as their words were longer than --max-answer-chars")
    for fault in summary.faults[:5]:
        print(visible(f"fault: {fault}"))
    if len(summary.faults) > 5:
        print(f"fault: and {len(summary.faults) - 5} more")
    if summary.judge == "none":
        print("answers are stored, none was judged")
    for kind, counts in (("", summary.verdicts), (" sham pairs,", summary.shams)):
        verdicts = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in sorted(counts.items()))
        if verdicts or not (kind or summary.judge == "none"):
            print(f"{summary.judge}:{kind} {verdicts or 'no verdicts'}")
    if summary.unjudged:
        for line in _unjudged(summary):
            print(visible(line))
    if summary.calibrated:
        print(
            f"{summary.judge}: calibrated on {summary.calibrated} answers that people rated, none of its scenes here"
        )
    for stage, rate in summary.followed.items():
        print(f"swaps followed, {stage}: {rate.percent()}% of {rate.n} (95% {rate.interval()})")


def _unjudged(summary: "ScoreSummary") -> list[str]:
    """What was not judged, and who could judge it."""
    names, left_out = " and ".join(summary.judged), " and ".join(summary.unjudged)
    return [
        f"{summary.judge}: {names} scored; {left_out} not scored",
        "To have them judged, serve a vision-language model on this machine behind an OpenAI-compatible address:",
        "  --judge openai --judge-option model=NAME --judge-option base_url=http://localhost:8000/v1",
        "then compare it with people who rate (cfgen app) by cfgen judge calibrate",
    ]


def _export(arguments: argparse.Namespace) -> int:
    import cfgen

    if len(arguments.bench) != 2 or arguments.out is None:
        raise InputError("cfgen score export-inputs: expected one BENCH and --out FOLDER")
    count = cfgen.export_inputs(
        arguments.bench[1],
        arguments.out,
        needs=cfgen.Requirements(arguments.cameras, arguments.frame_times, arguments.max_pixels),
        arms=arguments.arms,
        repeats=arguments.repeats,
        quiet=arguments.quiet,
    )
    print(f"{count} questions in {arguments.out}/inputs.jsonl. Answer each with one line of JSON:")
    print('  {"id": "<id of the question>", "text": "...", "waypoints": [[x, y, theta], ...]}')
    print(f"then: cfgen score {arguments.bench[1]} --planner answers.jsonl")
    return 0
