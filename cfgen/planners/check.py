"""Before a planner is scored: whether it could be, found out without a start, and a package to begin one with."""

import inspect
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.network import host_of
from cfgen.models.registry import create_model
from cfgen.planners.process import PlannerProcess, PlannerStartError
from cfgen.planners.prompts import FILES
from cfgen.planners.protocol import Observation
from cfgen.planners.registry import PLANNERS, identifier, is_weightless, open_planner
from cfgen.planners.serving import class_of
from cfgen.planners.settings import PATIENCE


def check_planner(
    spec: str, options: Mapping[str, Any], name: str | None = None, startup_s: float = PATIENCE.startup_s
) -> str:
    """The name under which its answers would be kept.

    Modules are imported in a process of their own; a ``.jsonl`` file is read. What only a start can tell (weights, a
    server that is down, a wrong key) is not looked for.

    Args:
        startup_s: for the import.

    Raises:
        InputError: ``spec`` fits nothing that :func:`open_planner` takes, cannot be imported, or does not take
            ``options``.
    """
    if spec.startswith("cmd:"):
        _check_command(spec)
    elif spec.startswith(("http://", "https://")):
        if not host_of(spec):
            raise InputError(f"planner '{spec}': expected http://HOST:PORT, found no host")
    elif PLANNERS.adapts(spec):
        of_planner = ("look", *FILES)
        create_model(spec, {key: v for key, v in options.items() if key not in of_planner}, "planner")
    elif spec in PLANNERS.names() and not is_weightless(spec):
        _check_signature(spec, PLANNERS.get(spec), options)
    elif ":" in spec and not spec.endswith(".jsonl"):
        _imported(spec, options, startup_s)
    else:  # opened here at once, or refused
        return open_planner(spec, options, name).name
    return identifier(name or spec)


def _check_command(spec: str) -> None:
    try:
        program = next(iter(shlex.split(spec.removeprefix("cmd:"))), "")
    except ValueError as error:
        raise InputError(f"planner '{spec}': expected a command line ({error})") from error
    if shutil.which(program) is None:
        raise InputError(f"planner '{spec}': expected a program, found none called '{program}'")


def _check_signature(spec: str, factory: Callable[..., Any], options: Mapping[str, Any]) -> None:
    try:
        signature = inspect.signature(factory)
    except ValueError:  # compiled code need not tell
        return
    try:
        signature.bind(**options)
    except TypeError as error:
        raise InputError(
            f"planner '{spec}': {error}; options: {', '.join(signature.parameters) or 'none'}"
        ) from error


def _imported(spec: str, options: Mapping[str, Any], startup_s: float) -> None:
    try:
        options_of_check = {"spec": spec, "options": dict(options)}
        PlannerProcess(
            "cfgen.planners.check:ImportProbe", options_of_check, startup_s, startup_s=startup_s
        ).close()
    except PlannerStartError as error:
        raise InputError(str(error) if spec in str(error) else f"planner '{spec}': {error}") from error


class ImportProbe:
    """Stands for a planner whose class could be imported and takes its options."""

    def __init__(self, spec: str, options: Mapping[str, Any]) -> None:
        factory = class_of(spec)
        if not callable(factory):
            raise InputError(f"planner '{spec}': expected a class, found {type(factory).__name__}")
        _check_signature(spec, factory, options)

    def plan(self, observations: Sequence[Observation]) -> Sequence[str]:
        """Never asked."""
        return []


# --- a package to begin with ----------------------------------------------------------------------

_HERE = Path(__file__).parent
_TEMPLATE = _HERE / "template"


def write_package(folder: Path) -> list[Path]:
    """Write the package into ``folder`` (new or empty), named after it; returns the files.

    Raises:
        InputError: the folder holds files, or its name is no Python name.
    """
    package = folder.resolve().name.replace("-", "_").lower()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", package):
        raise InputError(
            f"{folder}: expected a folder name that is a Python name (my_planner), found '{package}'"
        )
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: expected a new or empty folder, found files; choose another")
    names = {
        "package": package,
        "planner": package.replace("_", "-"),
        "class_name": "".join(part.capitalize() for part in package.split("_")),
    }
    places = {
        "pyproject.toml.txt": folder / "pyproject.toml",
        "README.md.txt": folder / "README.md",
        "planner.py.txt": folder / package / "__init__.py",
        "test_planner.py.txt": folder / "tests" / "test_planner.py",
    }
    for template, path in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((_TEMPLATE / template).read_text("utf-8").format(**names), "utf-8")
    client = folder / package / "cfgen_client.py"
    client.write_text((_HERE / "client.py").read_text("utf-8"), "utf-8")
    return [*places.values(), client]
