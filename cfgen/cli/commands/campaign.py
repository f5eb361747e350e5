"""``cfgen campaign``."""

import argparse
from pathlib import Path

from cfgen.cli.options import names, positive


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "campaign", help="plan who rates which answers, and move ratings in and out"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    create = commands.add_parser("create", help="share a benchmark's answers out among raters")
    create.add_argument("bench", type=Path, help="benchmark directory with scored planners")
    create.add_argument("--raters", default="3", metavar="N|A,B", help="how many, or their names (default 3)")
    create.add_argument(
        "--overlap", type=float, default=0.3, help="share of the answers that all rate (default 0.3)"
    )
    create.add_argument(
        "--gold", type=int, default=12, help="answers with known scores, mixed in for everybody (default 12)"
    )
    create.add_argument(
        "--training", type=int, default=4, help="answers with feedback first, on other scenes (default 4)"
    )
    create.add_argument(
        "--arms",
        type=names,
        default=(),
        metavar="A,B",
        help="whose answers are rated (default: all there are)",
    )
    create.add_argument(
        "--repeats", type=positive, default=1, metavar="K", help="repeats that are rated (default 1)"
    )
    create.add_argument("--seed", type=int, default=0)
    create.add_argument("--out", type=Path, default=Path("campaign.json"), help="default: campaign.json")
    create.set_defaults(func=_create)
    for name, what in (("export", "write its ratings to a file"), ("show", "progress, agreement, gold")):
        sub = commands.add_parser(name, help=what)
        sub.add_argument("bench", type=Path, help="benchmark directory")
        sub.add_argument("campaign", type=Path, help="the file that 'create' wrote")
        if name == "export":
            sub.add_argument("--format", choices=("csv", "jsonl", "label-studio"), default="csv")
            sub.add_argument("--out", type=Path, required=True)
        sub.set_defaults(func=_export if name == "export" else _show)
    back = commands.add_parser(
        "import", help="add the ratings in a file (CSV, JSON Lines, Label Studio's JSON)"
    )
    back.add_argument("bench", type=Path, help="benchmark directory")
    back.add_argument("file", type=Path)
    back.add_argument(
        "--campaign",
        type=Path,
        metavar="JSON",
        help="the file that 'create' wrote: whose ratings, gold and training they are",
    )
    back.set_defaults(func=_import)


def _create(arguments: argparse.Namespace) -> int:
    from cfgen.app.campaigns.create import create

    given = arguments.raters
    raters = int(given) if given.isdecimal() else [n.strip() for n in given.split(",")]
    made = create(
        arguments.bench,
        arguments.out,
        raters,
        arguments.overlap,
        arguments.gold,
        arguments.training,
        arguments.arms,
        arguments.repeats,
        arguments.seed,
    )
    kinds = [i.kind for i in made.items]
    answers = [i for i in made.items if i.kind == "answer"]
    print(
        f"{arguments.out}: {len(answers)} answers, {sum(not i.seats for i in answers)} of them for all of "
        f"{len(made.seats)} raters, {kinds.count('gold')} known ones mixed in, {kinds.count('training')} for training; "
        f"next: cfgen app {arguments.bench} --campaign {arguments.out} --users FILE"
    )
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from cfgen.app.campaigns.create import load
    from cfgen.app.campaigns.exchange import export

    n = export(arguments.bench, load(arguments.campaign), arguments.out, arguments.format)
    print(f"{arguments.out}: {n} ratings")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from cfgen.app.campaigns.create import load
    from cfgen.app.campaigns.exchange import import_ratings

    campaign = load(arguments.campaign) if arguments.campaign else None
    print(f"{import_ratings(arguments.bench, arguments.file, campaign)} ratings added")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from cfgen.app.campaigns.create import load
    from cfgen.app.campaigns.figures import figures
    from cfgen.storage.store import Store

    found = figures(Store(arguments.bench), load(arguments.campaign))
    if not found["progress"]:
        print("nobody has begun")
    if found["out"]:
        print(f"{found['out']} answers do not count: their cases are no longer in the benchmark")
    for row in found["progress"]:
        print(f"{row['rater']}: {row['done']} of {row['of']}, {row['seconds'] or '-'} s each (median)")
    for row in found["agreement"]:
        shown = (f"{m} {_value(row[m], row[f'{m}_interval'])}" for m in ("alpha", "ac1"))
        print(f"{row['score']}: {', '.join(shown)} on {row['n']} rated by several")
    right = sum(g["given"] == g["expected"] for g in found["gold"] if g["kind"] == "gold")
    print(f"known answers scored right: {right} of {sum(g['kind'] == 'gold' for g in found['gold'])}")
    open_ones = sum(row["final"] is None for row in found["disputed"])
    print(f"disputed: {len(found['disputed'])}, of which {open_ones} are not decided")
    return 0


def _value(value: float | None, interval: list[float] | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.2f}" + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")
