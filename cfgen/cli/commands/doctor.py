"""``cfgen doctor``: what is here of all that cfgen can use, and what is missing for what."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cfgen.core.machine import Package


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "doctor", help="what is installed here, and what is missing for what; tells no key's value"
    )
    parser.set_defaults(func=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    from cfgen.core.machine import DISTRIBUTION, KEYS, PLACES, computer, gpus, packages
    from cfgen.models.files import models_folder

    _section("machine", list(computer().items()))
    none = [("none", "generative inpainting and local models want one")]
    _section("GPU", [("found", line) for line in gpus()] or none)
    wanted = packages()
    unknown = [("unknown", f"{DISTRIBUTION} is not installed here, only on the path")]
    _section("packages", [_extra(name, needed) for name, needed in wanted.items()] or unknown)
    _section("keys", [(name, _set(name, use)) for name, use in KEYS.items()])
    _section("folders", [(name, _place(name, use)) for name, use in PLACES.items()])
    _section(f"model files in {models_folder()}", _files())
    return 0


def _set(name: str, use: str) -> str:
    """Whether a variable is set; never to what."""
    return f"{'set' if os.environ.get(name) else 'not set'}, for {use}"


def _place(name: str, use: str) -> str:
    """As :func:`_set`, and whether what it has to name is there."""
    from cfgen.core.machine import PYTHONS, is_python

    given = os.environ.get(name)
    place = Path(given or "").expanduser()
    if not given:
        return _set(name, use)
    if name in PYTHONS:
        wrong = (
            "" if is_python(given) else "what is there is no Python" if place.exists() else "nothing is there"
        )
    else:
        wrong = (
            "" if place.is_dir() else "a file is there, no folder" if place.exists() else "nothing is there"
        )
    return f"set, but {wrong}: set it to what is, for {use}" if wrong else _set(name, use)


def _extra(extra: str, needed: "Sequence[Package]") -> tuple[str, str]:
    from cfgen.core.errors import install_command
    from cfgen.core.machine import PURPOSES

    wrong = "; ".join(
        f"{p.name} {p.found}, expected {p.wanted}" if p.found else f"{p.name} missing"
        for p in needed
        if not p.fits
    )
    if not wrong:
        return extra or "base", f"here: {', '.join(f'{p.name} {p.found}' for p in needed)}"
    if not extra:
        return "base", f"broken: {wrong} | pip install . (in your copy of cfgen)"
    return extra, f"no: {wrong} | for {PURPOSES[extra]} | {install_command(extra)}"


def _files() -> list[tuple[str, str]]:
    from cfgen.models.files import FILES, ModelFile

    def told(file: ModelFile) -> str:
        if file.here:
            return f"here, for {file.use}"
        state = "broken: another size" if file.place.is_file() else "no"
        if file.place.is_dir():
            state = "broken: a folder is in its place, remove it"
        return f"{state}, for {file.use} | cfgen models get {file.name}"

    return [(file.name, told(file)) for file in FILES.values()]


def _section(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(title)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"  {name.ljust(width)}  {value}")
