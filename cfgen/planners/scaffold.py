"""``cfgen planner init``: a small installable planner package to start from, which needs nothing of cfgen."""

import re
from pathlib import Path

from cfgen.core.errors import InputError

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
