"""What decides a planner's answers: its package's files and version, what it has imported, its declared weights.

Shipped to planners' environments, so it keeps to Python 3.9.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

#: files of one package that are read; of a larger one those that are imported count
_MOST_FILES = 5000
#: bytes of one file that are read whole; a larger one is read in pieces, spread evenly
_WHOLE = 2**28
_PIECES, _PIECE = 64, 2**20
#: weights in one folder
_MOST_WEIGHTS = 1000


def fingerprint(spec: str, planner: Any = None) -> dict[str, str]:
    """Name of a part -> its hash or version; equal where the same planner runs again.

    Parts are files of the planner's package, modules that are imported from outside the environment's own packages,
    versions of these packages, and what the planner's attribute ``weights`` names: paths, whose content counts, or
    texts such as ``name@revision``.
    """
    module = type(planner).__module__ if planner is not None else spec.partition(":")[0]
    files = {f"file {name}": file_hash(path) for name, path in _package(module)}
    files.update({f"file {name}": file_hash(path) for name, path in _imported(module)})
    return {**files, **_versions(), **weights(planner)}


def of_command(command: str) -> dict[str, Path]:
    """The files on the command line, ``-m package.module`` too, and those of a script's kind beside it."""
    words = shlex.split(command)
    paths = [Path(shutil.which(word) or word) for word in words]
    if "-m" in words[:-1]:
        module = Path(*words[words.index("-m") + 1].split("."))
        paths += [module.with_suffix(".py"), module / "__main__.py"]
    files = [path for path in paths if path.is_file()]
    scripts = [path for path in files if path.suffix and path.parent.name not in ("bin", "sbin")]
    siblings = [
        sibling for path in scripts for sibling in sorted(path.parent.glob(f"*{path.suffix}"))[:_MOST_FILES]
    ]
    return {path.name: path for path in (*siblings, *files)}


def file_hash(path: Path) -> str:
    """sha256 of a file; of a large one, of its length and evenly spread pieces. "missing" where it cannot be read."""
    digest = hashlib.sha256()
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            if size <= _WHOLE:
                for part in iter(lambda: file.read(_PIECE), b""):
                    digest.update(part)
                return f"sha256:{digest.hexdigest()}"
            digest.update(str(size).encode())
            for number in range(_PIECES):
                file.seek((size - _PIECE) * number // (_PIECES - 1))
                digest.update(file.read(_PIECE))
        return f"pieces of sha256:{digest.hexdigest()}"
    except OSError:
        return "missing"


def changes(before: Mapping[str, str], current: Mapping[str, str]) -> list[str]:
    """What differs, in words."""
    changes = []
    for name in sorted({*before, *current}):
        was, has = before.get(name), current.get(name)
        if was != has:
            changes.append(f"{name} {'is new' if was is None else 'is gone' if has is None else 'changed'}")
    return changes


def weights(planner: Any) -> dict[str, str]:
    """Of what its attribute ``weights`` declares: a path, a text, or several of them."""
    named = getattr(planner, "weights", ())
    several = isinstance(named, (list, tuple, set))
    parts = {}
    for declaration in named if several else [named]:
        if not isinstance(declaration, (str, os.PathLike)):
            continue
        path = Path(declaration)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file())[:_MOST_WEIGHTS]
            parts.update(
                {f"weights {path.name}/{p.relative_to(path).as_posix()}": file_hash(p) for p in inside}
            )
        elif path.is_file():
            parts[f"weights {path.name}"] = file_hash(path)
        else:
            parts[f"weights {declaration}"] = "by name"
    return parts


def _package(module: str) -> Iterator[tuple[str, Path]]:
    """Python files of the package that ``module`` belongs to, loaded or not."""
    top = sys.modules.get(module.partition(".")[0])
    if module.startswith("cfgen.") or top is None:
        return
    for folder in map(Path, getattr(top, "__path__", [])):
        for path in islice(sorted(folder.rglob("*.py")), _MOST_FILES):
            yield f"{top.__name__}/{path.relative_to(folder).as_posix()}", path


def _imported(module: str) -> Iterator[tuple[str, Path]]:
    """Modules from outside the environment: the user's own. Of cfgen the adapter alone."""
    environment = _environment()
    for name, loaded in sorted(sys.modules.items()):
        file = getattr(loaded, "__file__", None)
        ours = name.partition(".")[0] == "cfgen" and name != module
        if isinstance(file, str) and not ours and not file.startswith(environment):
            path = Path(file)
            parts = name.count(".") + (path.stem == "__init__") + 1
            yield "/".join(path.parts[-parts:]), path


def _environment() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {str(Path(paths[name])) + os.sep for name in names}
    folders |= {str(Path(folder).resolve()) + os.sep for folder in set(folders)}
    folders |= {folder + os.sep for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))}
    return tuple(folders)


def _versions() -> dict[str, str]:
    """Of installed packages that are imported, and of Python."""
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    for folder in sys.path:
        if not folder.endswith(("site-packages", "dist-packages")) or not os.path.isdir(folder):  # noqa: PTH112
            continue
        for metadata in Path(folder).glob("*.dist-info"):
            name, _, version = metadata.name[: -len(".dist-info")].partition("-")
            tops = metadata / "top_level.txt"
            names = tops.read_text("utf-8", "replace").split() if tops.is_file() else [name]
            if loaded.intersection(names) and not name.lower().startswith("cfgen"):
                versions[f"package {name.lower()}"] = version
    return versions
