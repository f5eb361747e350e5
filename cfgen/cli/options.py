"""Command-line pieces that several commands share."""

import argparse
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from cfgen.core.errors import InputError
from cfgen.core.network import Network
from cfgen.core.object_store import url_of, working_copy
from cfgen.planners.waiting import STARTUP_TIMEOUT_S


class Command(argparse.ArgumentParser):
    """A command of which one subcommand, ``implied``, may be left out: ``cfgen traces bench`` checks."""

    implied = ""
    subcommands: tuple[str, ...] = ()
    #: what it was called with
    _given: tuple[str, ...] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.implied and args and args[0] not in (*self.subcommands, "-h", "--help"):
            args = [self.implied, *args]
        self._given = tuple(args or ())
        return super().parse_known_args(args, namespace)

    def explicit(self) -> dict[str, Any]:
        """What of its last call was given and not taken from defaults."""
        blank = argparse.Namespace(**dict.fromkeys(vars(super().parse_known_args([])[0])))
        given, _ = super().parse_known_args(list(self._given), blank)
        return {name: value for name, value in vars(given).items() if value is not None}


def add_options(parser: argparse.ArgumentParser, flag: str, what: str) -> None:
    """``flag KEY=VALUE`` (repeatable); values are JSON where they parse as such, else text."""
    parser.add_argument(
        flag, metavar="KEY=VALUE", action="append", default=[], help=f"an option of the {what}; repeatable"
    )


def add_taxonomy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--taxonomy",
        type=Path,
        metavar="FILE",
        help="YAML file, or folder of them, with hazards of your own: added to those that ship, by name",
    )
    parser.add_argument(
        "--taxonomy-only", action="store_true", help="those of --taxonomy in place of those that ship"
    )


def localize(arguments: argparse.Namespace) -> dict[str, str]:
    """Benchmarks in object stores become their working copies; of one that is built on, the records are enough.

    Returns:
        Where these copies are -> the address that was given, in whose words the command speaks.
    """
    told: dict[str, str] = {}

    def local(place: Path, everything: bool = True) -> Path:
        url = url_of(place)
        if not url:
            return place
        copy = working_copy(url, everything)
        told[str(copy)] = url
        return copy

    places = {"bench": True, "out": False} if arguments.command == "build" else {"bench": True}
    for name, everything in places.items():
        given = getattr(arguments, name, None)
        if isinstance(given, Path):
            setattr(arguments, name, local(given, everything))
        elif isinstance(given, list):
            setattr(arguments, name, [local(place) for place in given])
    return told


class Readdressed(io.TextIOBase):
    """Lines on their way to ``stream``, with addresses in place of working copies."""

    def __init__(self, stream: TextIO, told: Mapping[str, str]) -> None:
        self._stream, self._told = stream, told

    def write(self, text: str) -> int:
        for copy, url in self._told.items():
            text = text.replace(copy, url)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


def add_allowed_licences(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-license",
        action="append",
        default=[],
        metavar="NAME",
        help="a source's licence, word for word, whose owner gave leave to hand on its pictures; repeatable",
    )


class _Condition(argparse.Action):
    """Keeps a condition; one that is empty, as an unset variable of a shell is, is refused."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        if not values.strip():
            parser.error("--where: expected a condition, found nothing; leave it out for all scenes")
        namespace.where = values


def add_where(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "--where",
        default="",
        action=_Condition,
        metavar="CONDITION",
        help=f"{verb} only scenes whose tags meet it, such as \"speed > 5 and road == 'junction'\"",
    )


def add_perception(parser: argparse.ArgumentParser) -> None:
    """``--perception`` and ``--perception-option``."""
    parser.add_argument(
        "--perception",
        default="",
        metavar="NAME",
        help="who sees road, lanes and traffic in the frames: see cfgen perception list",
    )
    add_options(parser, "--perception-option", "perception")


def parse_options(pairs: list[str], flag: str) -> dict[str, Any]:
    """The key-values given with ``flag``.

    Raises:
        InputError: one of them has no ``=``.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"{flag}: expected KEY=VALUE, found '{pair}'")
        try:
            options[key.replace("-", "_")] = json.loads(value)
        except ValueError:
            options[key.replace("-", "_")] = value
    return options


def add_rubric(parser: argparse.ArgumentParser, otherwise: str = "cfgen") -> None:
    parser.add_argument(
        "--rubric",
        default=None if otherwise != "cfgen" else otherwise,
        metavar="NAME|FILE",
        help=f"what a model judge is asked: an installed rubric, or a YAML file of own wording (default {otherwise})",
    )


def judge_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """``--judge-option`` and, where given, ``--votes``."""
    options = parse_options(arguments.judge_option, "--judge-option")
    return options if arguments.votes is None else {**options, "votes": arguments.votes}


def add_network(parser: argparse.ArgumentParser) -> None:
    """``--offline`` and ``--allow-hosts``."""
    parser.add_argument(
        "--offline",
        action="store_true",
        help="send nothing off this machine: models elsewhere are refused, and sockets of planners and workers; "
        "where the system permits it, a planner gets a network of its own, in which servers on this machine are out of "
        "reach too unless --allow-hosts localhost names them",
    )
    parser.add_argument(
        "--allow-hosts",
        type=names,
        default=(),
        metavar="A,B",
        help="reach these hosts only (this machine too only where localhost is named); what held is recorded",
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """``--engine`` and ``--engine-option``."""
    parser.add_argument(
        "--engine",
        default="",
        metavar="NAME",
        help="who does the work side by side: serial, processes (default: on this machine), ray (a cluster)",
    )
    add_options(parser, "--engine-option", "engine, such as address=HOST:PORT")


def add_startup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--startup-timeout",
        type=seconds,
        default=STARTUP_TIMEOUT_S,
        metavar="S",
        help=f"seconds for the planner to start, loading weights included (default {STARTUP_TIMEOUT_S:g})",
    )


def _python(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(
            "expected a Python or a command that starts one, found an empty text"
        )
    return text


def add_runtime(parser: argparse.ArgumentParser) -> None:
    """Where a planner runs, and what it may reach and take."""
    parser.add_argument(
        "--python",
        type=_python,
        default=None,
        metavar="PYTHON",
        help="Python of the environment in which the planner runs (VENV/bin/python, 3.9 or later, with NumPy; cfgen "
        'need not be there), or a command that starts one: "docker run -i --rm IMAGE python"',
    )
    parser.add_argument(
        "--planner-network",
        action="store_true",
        help="let the planner reach the network; else a class or a program has one of its own with nothing in it",
    )
    parser.add_argument(
        "--planner-memory", type=gigabytes, metavar="GB", help="memory that it may take (default: no limit)"
    )


def add_writable(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--writable",
        type=lambda text: tuple(map(Path, names(text))),
        default=(),
        metavar="DIR,DIR",
        help="folders that it may write to, beside its own temporary one",
    )


def gigabytes(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"expected GB above 0, found {text}")
    return value


def network(arguments: argparse.Namespace) -> Network:
    return Network(arguments.offline, arguments.allow_hosts)


def names(text: str) -> tuple[str, ...]:
    """Comma-separated words."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, found {text}")
    return value


def dollars(text: str) -> float:
    """``2.50`` or ``$2.50``, above 0."""
    try:
        value = float(text.removeprefix("$"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected dollars like 2.50, found '{text}'") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected more than 0 dollars, found '{text}'")
    return value


def seconds(text: str) -> float:
    """``3`` or ``3s``, above 0."""
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected seconds like 3s, found '{text}'") from None
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected more than 0 s, found '{text}'")
    return value


def band(text: str) -> tuple[float, float]:
    """``LOW,HIGH`` with 0 < LOW < HIGH."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected LOW,HIGH, found '{text}'") from None
    if not 0 < low < high:
        raise argparse.ArgumentTypeError(f"expected 0 < LOW < HIGH, found '{text}'")
    return low, high
