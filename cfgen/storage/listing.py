"""What lists need of a benchmark's cases and rejections; read again only where a file changed."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from cfgen.core.disk_backed import FileIndex, indexed, with_mtime_keys
from cfgen.core.errors import StoreError
from cfgen.core.files import check_version, read_json, read_record
from cfgen.records import Case, Rejection, Stored

#: changes with what is told below
_CASES, _REJECTIONS = "cases 2", "rejections 1"
_OF_CASE = ("case_id", "scene_id")
_OF_HAZARD = ("id", "name", "cluster")
_OF_PLACEMENT = ("distance_m", "lateral_m", "box_px")
_OF_REJECTION = ("case_id", "scene_id", "hazard_id", "reason")
#: the gate whose finding the app lists
_RECOGNITION = "seen-again"


class _Folders(Protocol):
    """Of a benchmark."""

    root: Path

    def case_dir(self, case_id: str) -> Path: ...
    def rejected_dir(self, case_id: str) -> Path: ...


#: A record's content, of which the fields that lists do not show are left out.
Short = dict[str, Any]


@dataclass(frozen=True)
class Refused:
    """A :class:`Rejection` without its attempts and fault. ``whole``: the case, where one was put away."""

    case_id: str
    scene_id: str
    hazard_id: str
    reason: str
    by: str
    broke: bool
    whole: Short | None


def case_files(root: Path) -> Iterator[tuple[str, str]]:
    """Ids of accepted cases, in order, with a stamp that changes with their records."""
    above = f"{root}/cases"
    for letters in _names(above):
        yield from _with_stamps(f"{above}/{letters}", "case.json")


def rejection_files(root: Path) -> Iterator[tuple[str, str]]:
    """As :func:`case_files`, of what was refused."""
    return _with_stamps(f"{root}/rejected", "rejection.json")


def short_cases(store: _Folders, memory: FileIndex | None = None) -> dict[str, Short]:
    """Every accepted case by its id, in order.

    Its own ``case_id``, ``scene_id``, ``arms`` and ``arms_missing``; of the hazard, its placement and its gates what
    the app lists; ``road_from``; ``scene_hash``; and in ``broke`` whether something broke in it.

    Raises:
        StoreError: a record is damaged.
    """

    def learn(ids: Sequence[str]) -> Iterable[Short | None]:
        return (_short(store.case_dir(case_id) / "case.json", Case, _of_case) for case_id in ids)

    entries = indexed(store.root, _CASES, case_files(store.root), learn, memory)
    return {name: entry for name, entry in entries.items() if entry is not None}


def short_rejections(store: _Folders, memory: FileIndex | None = None) -> list[Refused]:
    """Everything that was refused, in the order of the ids.

    Raises:
        StoreError: a record is damaged.
    """

    def learn(ids: Sequence[str]) -> Iterable[Short | None]:
        paths = (store.rejected_dir(case_id) / "rejection.json" for case_id in ids)
        return (_short(path, Rejection, partial(_of_rejection, path)) for path in paths)

    entries = indexed(store.root, _REJECTIONS, rejection_files(store.root), learn, memory)
    return [Refused(**entry) for entry in entries.values() if entry is not None]


def _short(path: Path, kind: type[Stored], of: Callable[[Short], Short]) -> Short | None:
    """None where the file went away meanwhile."""
    try:
        content = read_json(path)
        check_version(path, content, kind)
        return of(content)
    except (KeyError, TypeError, AttributeError) as error:
        read_record(path, kind)
        raise StoreError(f"{path}: expected a record of cfgen, found none ({error}); restore it") from error
    except StoreError:
        if path.is_file():
            raise
        return None


def _of_case(content: Short) -> Short:
    attempts = content.get("attempts", ())
    return {
        **{key: content[key] for key in _OF_CASE},
        "arms": content.get("arms", ["hazard"]),
        "arms_missing": dict(content.get("arms_missing", {})),
        "hazard": {key: content["hazard"][key] for key in _OF_HAZARD},
        "placement": {key: content["placement"][key] for key in _OF_PLACEMENT},
        "gates": [g for g in content.get("gates", ()) if g["gate"] == _RECOGNITION],
        "road_from": str(content["provenance"].get("report", {}).get("perception", {}).get("road", "")),
        "scene_hash": content["provenance"]["scene_hash"],
        "broke": bool(content.get("arm_faults")) or any(a.get("fault") for a in attempts),
    }


def _of_rejection(path: Path, content: Short) -> Short:
    case_path = path.with_name("case.json")
    return {
        **{key: content[key] for key in _OF_REJECTION},
        "by": content.get("by", "gates"),
        "broke": content.get("fault") is not None,
        "whole": _short(case_path, Case, _of_case) if case_path.is_file() else None,
    }


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name[0] != ".")  # noqa: PTH208 - many
    except OSError:
        return []


def _with_stamps(folder: str, file: str) -> Iterator[tuple[str, str]]:
    return with_mtime_keys((name, f"{folder}/{name}/{file}") for name in _names(folder))
