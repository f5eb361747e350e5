"""``cfgen judge``: look at a judge before trusting it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.cli.commands.lists import print_list
from cfgen.cli.options import add_network, add_options, add_rubric, judge_options, names, network, positive
from cfgen.core.network import limited

if TYPE_CHECKING:
    from cfgen.judge.protocol import Judge
    from cfgen.records import Calibration, Dimension, ProbeKind, ProbeRun


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("judge", help="list, print, run, probe, rescore and calibrate judges")
    commands = parser.add_subparsers(dest="judge_command", metavar="COMMAND", required=True)

    commands.add_parser("list", help="the judges that can be used here").set_defaults(func=_list)

    prompt = commands.add_parser("prompt", help="print what a judge is asked, word for word")
    add_rubric(prompt)
    prompt.add_argument("--form", choices=("tags", "json"), default="tags", help="shape of the answer")
    prompt.set_defaults(func=_prompt)

    probe = commands.add_parser("probe", help="test a judge on answers whose right scores are known")
    _bench(probe)
    _judge_options(probe)
    _strict(probe)
    probe.add_argument("--kinds", type=names, default=(), metavar="A,B", help="only these kinds of answers")
    probe.add_argument(
        "--half",
        choices=("test", "tune"),
        default="test",
        help="free answers of these authors: tune is for working on a judge; only test makes it tested (default)",
    )
    probe.add_argument("--cases", type=positive, metavar="N", help="only N cases (default: all)")
    add_network(probe)
    probe.add_argument("--quiet", action="store_true", help="no progress")
    probe.set_defaults(func=_probe)

    run = commands.add_parser("run", help="judge answers that are stored: no planner is asked anything")
    _bench(run)
    run.add_argument(
        "--planners",
        type=names,
        default=("all",),
        metavar="A,B",
        help="whose answers (default all that there are)",
    )
    _judge_options(run)
    run.add_argument(
        "--retry-failed", action="store_true", help="ask again where the judge gave no usable reply"
    )
    _strict(run)
    add_network(run)
    run.add_argument("--quiet", action="store_true", help="no progress")
    run.set_defaults(func=_run)

    again = commands.add_parser("rescore", help="read stored replies again, without a call")
    _bench(again)
    again.add_argument("--judge", required=True, help="the judge's folder under verdicts/")
    add_rubric(again, "that of its verdicts")
    _strict(again)
    again.set_defaults(func=_rescore)

    calibrate = commands.add_parser("calibrate", help="compare a judge with people's ratings")
    _bench(calibrate)
    calibrate.add_argument("--judge", default="offline", help="the judge's folder under verdicts/")
    add_rubric(calibrate, "that of its verdicts")
    calibrate.add_argument(
        "--import-csv", type=Path, metavar="FILE", help="first add the ratings in this file"
    )
    apart = calibrate.add_mutually_exclusive_group(required=True)
    apart.add_argument(
        "--benchmark",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a benchmark that this judge is to score: it must share no scene with the rated cases; repeatable",
    )
    apart.add_argument("--no-benchmark-yet", action="store_true", help="there is none to check against yet")
    calibrate.set_defaults(func=_calibrate)


def _bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bench", type=Path, nargs="?", default=Path("bench"), help="benchmark directory (default bench)"
    )


def _strict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--strict", action="store_true", help="end at the first fault, with its traceback")


def _judge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", default="offline", help="which judge (default offline)")
    add_options(parser, "--judge-option", "judge")
    add_rubric(parser)
    parser.add_argument("--votes", type=positive, metavar="K", help="replies of each model to each item")


def _create(arguments: argparse.Namespace) -> "Judge":
    from cfgen.judge.registry import create_judge
    from cfgen.storage.store import Store

    return create_judge(
        arguments.judge, Store(arguments.bench).reply_cache, arguments.rubric, **judge_options(arguments)
    )


def _list(_: argparse.Namespace) -> int:
    from cfgen.judge.registry import JUDGES

    print_list(JUDGES)
    return 0


def _prompt(arguments: argparse.Namespace) -> int:
    from cfgen.judge.rubrics.registry import find_rubric

    rubric = find_rubric(arguments.rubric)
    print(f"rubric {rubric.id.name}, version {rubric.id.version}, {rubric.id.hash}\n")
    print(rubric.system(arguments.form))
    print("Then, in this order:\n")
    print("\n".join(rubric.headings))
    return 0


def _probe(arguments: argparse.Namespace) -> int:
    from cfgen.judge.probe import probe

    with limited(network(arguments)):
        judge = _create(arguments)
        found = probe(
            arguments.bench,
            judge,
            arguments.kinds,
            arguments.cases,
            arguments.quiet,
            arguments.strict,
            arguments.half,
        )
    print(probe_table(found))
    if found.faults:
        print(f"{len(found.faults)} faults, the first: {found.faults[0]}")
        return 1
    if found.half == "tune":
        print("Free answers of the tuning half do not make a judge tested; leave --half out for that")
        return 0
    if arguments.kinds or found.enough:
        return 0
    print("Too little to call the judge tested; needed are")
    print("\n".join(f"  {words}" for words in found.lacks))
    return 1


def _run(arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.cli.commands.score import print_summary
    from cfgen.core.errors import Shortfall
    from cfgen.core.plain import visible
    from cfgen.judge.stored import judge_failures, short_verdicts

    runs = cfgen.judge_answers(
        arguments.bench,
        arguments.planners,
        judge=arguments.judge,
        judge_options=judge_options(arguments),
        rubric=arguments.rubric,
        retry_failed=arguments.retry_failed,
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        quiet=arguments.quiet,
    )
    short = []
    for run in runs:
        assert run.summary is not None
        print_summary(run.summary)
        missing = judge_failures(short_verdicts(run.bench.store, run.judge, run.planner))
        for line in missing.lines("the same command with --retry-failed"):
            print(visible(line))
        if why := run.summary.short() or ("verdicts are missing" if missing.short else ""):
            short.append(f"{run.planner}: {why}")
    if short:
        raise Shortfall(visible("; ".join(short)))
    print(f"Next: cfgen report {arguments.bench}")
    return 0


def _rescore(arguments: argparse.Namespace) -> int:
    import cfgen

    found = cfgen.rescore(arguments.bench, arguments.judge, rubric=arguments.rubric, strict=arguments.strict)
    print(f"{found.verdicts} verdicts read again, {len(found.changed)} changed")
    for old, new in found.changed[:10]:
        print(
            f"  {new.planner} {new.case_id}: {old.status} {dict(old.scores)} -> {new.status} {dict(new.scores)}"
        )
    for words in found.broke[:10]:
        print(f"  left as it was: {words}")
    if found.broke:
        print(f"{len(found.broke)} of {found.verdicts + len(found.broke)} could not be read again")
    return 1 if found.broke else 0


def _calibrate(arguments: argparse.Namespace) -> int:
    from cfgen.judge.calibrate import calibrate, import_csv
    from cfgen.judge.registry import stored_judge
    from cfgen.storage.store import Store

    if arguments.import_csv:
        print(f"{import_csv(arguments.bench, arguments.import_csv)} ratings added")
    judge = arguments.judge
    if arguments.rubric:
        judge, _ = stored_judge(Store(arguments.bench), judge, arguments.rubric)
    found = calibrate(arguments.bench, judge, arguments.benchmark)
    print(calibration_table(found))
    if not arguments.benchmark:
        print("Not checked against a benchmark: these scenes must not be in one that this judge scores.")
    for words in found.damaged:
        print(f"Damaged, left out of it: {words}")
    return 1 if found.damaged else 0


def calibration_table(found: "Calibration") -> str:
    """What came of a calibration, for a terminal."""
    from cfgen.records import DIMENSIONS

    lines = [
        f"{found.n} answers rated by {len(found.raters)}; judge '{found.judge}' scored {found.n - found.unscored}"
    ]
    for dimension in DIMENSIONS:
        one = found.against_people[dimension]
        lines += [
            "",
            f"{dimension}: judge against the majority of people, n = {one.n}{_left_out(found.split.get(dimension, 0))}",
            f"  accuracy {_with_interval(one.accuracy, one.accuracy_interval)}",
            f"  kappa {_with_interval(one.kappa, one.kappa_interval)}, "
            f"quadratic {_with_interval(one.quadratic, one.quadratic_interval)}",
            f"  recall of failures (0): {_with_interval(one.recall[0], one.recall_interval[0])}",
            "  people \\ judge      0     1     2",
        ]
        lines += [f"  {i:>14}  " + " ".join(f"{v:>5}" for v in row) for i, row in enumerate(one.confusion)]
        lines += [
            f"  {pair}: kappa {_with_interval(c.kappa, c.kappa_interval)}, quadratic "
            f"{_with_interval(c.quadratic, c.quadratic_interval)}, n = {c.n}"
            for pair, c in found.pairs[dimension].items()
        ]
    return "\n".join(lines)


def _left_out(split: int) -> str:
    return (
        f" ({split} more left out: people are split, so the figures are of the clearer answers)"
        if split
        else ""
    )


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def probe_table(found: "ProbeRun") -> str:
    """What came of a probe, for a terminal."""
    from cfgen.records import DIMENSIONS

    width = max(map(len, found.kinds))
    lines = [f"{'right answers':<{width}}     n  " + "  ".join(f"{d:>9}" for d in DIMENSIONS)]
    for name, kind in found.kinds.items():
        shares = "  ".join(f"{_share(kind, d):>8} " for d in DIMENSIONS)
        why = "; ".join(f"{count} not asked: {reason}" for reason, count in kind.left_out.items())
        lines.append(f"{name:<{width}}  {kind.n:>4}  {shares} {why}".rstrip())
    rows: list[tuple[str, Any]] = [("all", found.accuracy)]
    told = found.accuracy_of_told() if found.blind_to.keys() & found.kinds.keys() else None
    if told:
        rows.append((f"all but {', '.join(found.blind_to)}", told))
    for label, shares_of in rows:
        shares = "  ".join(f"{_or_undefined(shares_of.get(d), '.1%'):>8} " for d in DIMENSIONS)
        lines.append(f"{label:<{width}}  {found.n if label == 'all' else '':>4}  {shares}")
    kappas = "  ".join(f"{_or_undefined(found.agreement[d].quadratic, '.2f'):>8} " for d in DIMENSIONS)
    lines.append(f"{'quadratic kappa':<{width}}        {kappas}")
    for score in (0, 1, 2):
        recalls = "  ".join(
            f"{_or_undefined(found.agreement[d].recall[score], '.0%'):>8} " for d in DIMENSIONS
        )
        lines.append(f"{f'recall of {score}':<{width}}        {recalls}")
    lines += [line for free in (False, True) for line in _twos(found, free)]
    lines += _contradicted(found)
    lines.append(f"UNKNOWN where nothing was added: {_or_undefined(found.unknown_found, '.0%')}")
    if found.failed:
        lines.append(f"{found.failed} of {found.n} got no usable reply and count as wrong")
    lines += [f"{kind}: {why}" for kind, why in found.blind_to.items() if kind in found.kinds]
    lines.append(f"{found.cases} cases, each asked about in at least {found.fewest_kinds} kinds of answers")
    return "\n".join(lines)


def _share(kind: "ProbeKind", dimension: "Dimension") -> str:
    judged = kind.n - kind.unjudged.get(dimension, 0)
    return f"{kind.right[dimension] / judged:.0%}" if judged else "-"


def _twos(found: "ProbeRun", free: bool) -> list[str]:
    """False and missed 2s, apart: what a success rate is made of."""
    from cfgen.records import DIMENSIONS

    words = []
    for dimension in DIMENSIONS:
        false, others, missed, due = found.twos(dimension, free)
        if others or due:
            words.append(f"{dimension} {false} of {others} false, {missed} of {due} missed")
    name = f"free answers ({found.half})" if free else "scripted answers"
    return [f"2s on {name}: {'; '.join(words)}"] if words else []


def _contradicted(found: "ProbeRun") -> list[str]:
    """Labels of free answers that the paper's rubric contradicts, and what accuracy is without them."""
    if not found.contradicted:
        return []
    return [
        f"waypoints of free answers: the paper's rubric contradicts {found.contradicted} labels "
        f"(scenarios/probes/README.md); {found.as_ruled} got the rubric's score, {found.as_labelled} the label; "
        f"right on the others: {_or_undefined(found.waypoints_by_rubric, '.1%')}"
    ]


def _or_undefined(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
