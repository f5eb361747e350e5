"""Recordings at or below a folder, without what operating systems leave between them."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

from cfgen.core.errors import InputError
from cfgen.scenes.drive import Opener, Recording

T = TypeVar("T")


def openers(open_one: Callable[[T], Recording], items: Iterable[T]) -> list[Opener]:
    """One per item, named as the item."""
    return [Opener(str(item), partial(open_one, item)) for item in items]


def openers_below(
    source: Path, is_one: Callable[[Path, set[str]], bool], open_one: Callable[[Path], Recording]
) -> list[Opener]:
    """One opener for each folder at or below ``source`` that is a recording, sorted; links to folders are not followed.

    A folder that cannot be listed has one too: opening it says so.

    Args:
        is_one: of a folder and the names in it in lower case, so that a file in the wrong case is missed by name.
    """
    troubles: list[OSError] = []
    found = [
        folder for folder, names in walk(source, troubles) if is_one(folder, {name.lower() for name in names})
    ]
    return openers(open_one, sorted(found)) + unlisted(troubles)


def walk(source: Path, troubles: list[OSError]) -> Iterator[tuple[Path, list[str]]]:
    """Each folder at or below ``source`` with the names in it; what cannot be listed goes to ``troubles``."""
    for folder, subfolders, files in os.walk(source, onerror=troubles.append):
        subfolders[:] = [name for name in subfolders if is_visible(name)]
        yield Path(folder), [*subfolders, *filter(is_visible, files)]


def is_visible(name: str) -> bool:
    """False for ``._*`` and ``__MACOSX`` of Macs, ``.DS_Store`` and other hidden files and folders."""
    return not name.startswith(".") and name != "__MACOSX"


def keeps_left(place: str) -> dict[str, str]:
    """A scene's key of the side that traffic keeps to, where a data set's name of a place tells it is the left."""
    return {"drive_on": "left"} if place.lower().startswith(("singapore", "sg-")) else {}


def unlisted(troubles: Iterable[OSError]) -> list[Opener]:
    return [Opener(str(error.filename), partial(_refuse, error)) for error in troubles]


def _refuse(error: OSError) -> NoReturn:
    raise InputError(
        f"{error.filename}: cannot list the folder ({error.strerror}); fix its permissions"
    ) from error
