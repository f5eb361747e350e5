"""``cfgen models``: chat models that can be asked, and files of models: which there are, and bringing them here."""

import argparse

from cfgen.cli.commands.lists import print_list
from cfgen.cli.options import add_network, network
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.network import limited

_MB = 1_000_000


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("models", help="list models that can judge and plan; get model files")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    commands.add_parser(
        "list", help="chat models that can judge, plan and verify: --judge NAME, --planner NAME"
    ).set_defaults(func=_list)
    commands.add_parser(
        "files", help="model files: what for, licence, size, and whether it is here"
    ).set_defaults(func=_files)

    get = commands.add_parser(
        "get", help="download a model file after showing its licence; size and hash are checked"
    )
    get.add_argument("name", help="see cfgen models files")
    get.add_argument("--yes", action="store_true", help="agree to the licence; do not ask")
    get.add_argument(
        "--from",
        dest="source",
        default="",
        metavar="FILE|URL",
        help="take it from here instead of its upstream address; the same hash counts",
    )
    add_network(get)
    get.add_argument("--quiet", action="store_true", help="no progress")
    get.set_defaults(func=_get)


def _list(arguments: argparse.Namespace) -> int:
    from cfgen.models.registry import MODELS

    print_list(MODELS)
    return 0


def _files(arguments: argparse.Namespace) -> int:
    from cfgen.models.files import FILES, HUB, VARIABLE, models_folder

    rows = [("name", "MB", "licence", "here", "used by")]
    for file in FILES.values():
        size = f"{file.size / _MB:.1f}"
        rows.append((file.name, size, file.licence, "yes" if file.here else "no", file.use))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]))
    print(
        f"Get one with: cfgen models get NAME. They are kept in {models_folder()} (${VARIABLE} names another)."
    )
    print("\nBy their names on a hub, fetched at first use by transformers into its own cache; or a folder:")
    for model in HUB:
        print(f"  {model.names}: {model.use} ({model.licence})")
    return 0


def _get(arguments: argparse.Namespace) -> int:
    from cfgen.models.download import bring, check_source
    from cfgen.models.files import model_file

    file = model_file(arguments.name)
    if arguments.source:
        check_source(file, arguments.source)
    if file.here and not file.wrong_with(file.place):
        print(f"{file.place}: here already, {file.place.stat().st_size} bytes, sha256 as expected")
        return 0
    print(f"{file.name}: {file.about}\n{file.origin}, licence {file.licence}:\n\n{file.terms}\n")
    if not arguments.yes and not _agreed(file.size, arguments.source or file.url):
        raise Shortfall(f"model file '{file.name}' was not brought: the licence was not agreed to")
    with limited(network(arguments)):
        place = bring(file, arguments.source, arguments.quiet)
    print(f"{place}: {place.stat().st_size} bytes, sha256 as expected. Used by: {file.use}")
    return 0


def _agreed(size: int, source: str) -> bool:
    """
    Raises:
        InputError: nobody is there to answer.
    """
    try:
        return input(f"Bring {size / _MB:.1f} MB from {source}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise InputError("expected an answer, found the end of the input; agree with --yes") from None
