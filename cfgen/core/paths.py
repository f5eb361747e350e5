"""Where the files that ship with cfgen are."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def scenarios_dir() -> Path:
    """Folder with the taxonomy, demo scenes and sprites: inside the installed package, or beside it in a clone."""
    installed = _PACKAGE / "_scenarios"
    return installed if installed.is_dir() else _PACKAGE.parent / "scenarios"


def license_file() -> Path:
    """The Apache License, which is cfgen's own."""
    installed = _PACKAGE / "_LICENSE"
    return installed if installed.is_file() else _PACKAGE.parent / "LICENSE"


def cache_dir() -> Path:
    """``cfgen`` in the user's cache folder: nothing in it is needed, all of it can be made or fetched again."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "cfgen"
