"""What decides a planner's answers: its package's files and version, what it has imported, its declared weights.

Shipped to planners' environments, so it keeps to Python 3.9.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
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
#: files that are looked at below one folder, and bytes of one that are searched for the names of others
_MOST_BESIDE, _SEARCHED = 2000, 2**22
#: a file of code is named without its ending, by an import
_CODE = (".cjs", ".go", ".jl", ".js", ".lua", ".m", ".mjs", ".pl", ".py", ".r", ".rb", ".sh", ".ts")
#: what decides nothing, and folders that are somebody else's
_WORDS, _OTHERS = (".log", ".md", ".rst"), ("__pycache__", "node_modules", "site-packages")
_MARKS = ("pyvenv.cfg", "benchmark.json")


def fingerprint(spec: str, planner: Any = None) -> dict[str, str]:
    """Name of a part -> its hash or version; equal where the same planner runs again.

    Parts are files of the planner's package, modules that are imported from outside the environment's own packages,
    versions of these packages, and what the planner's attribute ``weights`` names: paths, whose content counts, or
    texts such as ``name@revision``.
    """
    module = type(planner).__module__ if planner is not None else spec.partition(":")[0]
    files = {f"file {name}": hashed(path) for name, path in _package(module)}
    imported = dict(_imported(module))
    files.update({f"file {name}": hashed(path) for name, path in imported.items()})
    own = [path for name, path in imported.items() if not name.startswith("cfgen/")]
    files.update({f"file {name}": hashed(path) for name, path in beside(own).items()})
    return {**files, **_versions(), **weights(planner)}


def of_command(command: str) -> dict[str, Path]:
    """Those on the command line, ``-m package.module`` too, and those that they name beside them."""
    words = shlex.split(command)
    named = [Path(shutil.which(word) or word) for word in words]
    if "-m" in words[:-1]:
        module = Path(*words[words.index("-m") + 1].split("."))
        named += [module.with_suffix(".py"), module / "__main__.py"]
    files = [path for path in named if path.is_file()]
    programs = [path for path in files if path.parent.name not in ("bin", "sbin")]
    return {**beside(programs, code=True), **{path.name: path for path in files}}


def beside(named: Iterable[Path], code: bool = False) -> dict[str, Path]:
    """Files below the folders of ``named`` whose names stand in one of these, such as ``settings.json``.

    ``code``: files of code as well, named without their endings, and what is named in those.
    """
    waiting, found, below = list(named), {}, {}
    seen = set(waiting)
    for path in waiting:
        folder = path.parent
        if folder not in below:
            below[folder] = list(islice(_below(folder), _MOST_BESIDE))
        try:
            with path.open("rb") as file:
                text = file.read(_SEARCHED).decode("utf-8", "ignore")
        except OSError:
            continue
        words = set(re.findall(r"[\w.-]+", text))
        parts = {part for word in words for part in word.split(".")} if code else set()
        for other in below[folder]:
            ours = other.suffix.lower() in _CODE
            stem = other.parent.name if other.stem == "__init__" else other.stem
            if other not in seen and (other.name in words or (ours and stem in parts)):
                seen.add(other)
                found[other.relative_to(folder).as_posix()] = other
                if code and ours:
                    waiting.append(other)
    return found


def _below(folder: Path) -> Iterator[Path]:
    """Files with an ending, those of the folder itself first."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    if not any(path.name in _MARKS for path in inside):
        yield from (p for p in inside if p.suffix and p.suffix.lower() not in _WORDS and p.is_file())
        for path in inside:
            if not path.name.startswith(".") and path.name not in _OTHERS and path.is_dir():
                yield from _below(path)


def hashed(path: Path) -> str:
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


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What differs, in words."""
    found = []
    for name in sorted({*before, *now}):
        was, has = before.get(name), now.get(name)
        if was != has:
            found.append(f"{name} {'is new' if was is None else 'is gone' if has is None else 'changed'}")
    return found


def weights(planner: Any) -> dict[str, str]:
    """Of what its attribute ``weights`` declares: a path, a text, or several of them."""
    named = getattr(planner, "weights", None)
    told = (
        [named]
        if isinstance(named, (str, os.PathLike))
        else named
        if isinstance(named, (list, tuple, set))
        else []
    )
    found = {}
    for one in told:
        if not isinstance(one, (str, os.PathLike)):
            continue
        path = Path(one)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file())[:_MOST_WEIGHTS]
            found.update({f"weights {path.name}/{p.relative_to(path).as_posix()}": hashed(p) for p in inside})
        elif path.is_file():
            found[f"weights {path.name}"] = hashed(path)
        else:
            found[f"weights {one}"] = "by name"
    return found


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
    found = {str(Path(paths[name])) + os.sep for name in names}
    found |= {str(Path(folder).resolve()) + os.sep for folder in set(found)}
    found |= {folder + os.sep for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))}
    return tuple(found)


def _versions() -> dict[str, str]:
    """Of installed packages that are imported, and of Python."""
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for folder in sys.path:
        if not folder.endswith(("site-packages", "dist-packages")) or not os.path.isdir(folder):  # noqa: PTH112
            continue
        for told in Path(folder).glob("*.dist-info"):
            name, _, version = told.name[: -len(".dist-info")].partition("-")
            tops = told / "top_level.txt"
            names = tops.read_text("utf-8", "replace").split() if tops.is_file() else [name]
            if loaded.intersection(names) and not name.lower().startswith("cfgen"):
                found[f"package {name.lower()}"] = version
    return found
