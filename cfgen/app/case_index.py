"""The benchmark's cases as the app lists them: read once, and again only where a file changed."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cfgen.app.reviews import current, identifier
from cfgen.core.disk_backed import FileIndex
from cfgen.core.errors import StoreError
from cfgen.core.files import read_json, read_record
from cfgen.records import ReviewFile
from cfgen.storage.listing import Refused, Short, short_cases, short_rejections
from cfgen.storage.store import Store

T = TypeVar("T")
_BAND_M = 20


@dataclass(frozen=True)
class QueueEntry:
    """One line of the queue. ``status``: accepted, rejected (by a person, whole) or refused (by the gates)."""

    id: str
    scene: str
    hazard: str
    name: str
    where: str
    status: str
    reason: str = ""
    by: str = ""
    cluster: str = ""
    #: of a refused one, what was wrong
    gate: str = ""
    #: whether something besides the placement recognised it
    recognition: str = ""
    distance: float | None = None
    lateral: float = 0.0

    @property
    def band(self) -> str:
        """Its distance to the nearest 20 m below."""
        if self.distance is None:
            return ""
        low = int(self.distance // _BAND_M) * _BAND_M
        return f"{low:02d}-{low + _BAND_M} m"


class CaseIndex:
    """Lists over one store, safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._seen: dict[Path, tuple[tuple[int, int], Any]] = {}
        self._accepted: FileIndex = {}
        self._refused: FileIndex = {}
        #: what lists need of a case, and the line it became
        self._entries: dict[str, tuple[Short | Refused, QueueEntry]] = {}

    def entries(self) -> list[QueueEntry]:
        """Every case that is here, accepted, rejected or refused, in the order of the ids."""
        with self._lock:
            refused = {r.case_id: r for r in short_rejections(self.store, self._refused)}
            accepted = short_cases(self.store, self._accepted)
            listed: dict[str, Short | Refused] = {**refused, **accepted}
            for case_id in self._entries.keys() - listed.keys():
                del self._entries[case_id]
            for case_id, row in listed.items():
                if self._entries.get(case_id, (None,))[0] is not row:
                    self._entries[case_id] = (
                        row,
                        _refused(row) if isinstance(row, Refused) else _accepted(row),
                    )
            return [self._entries[case_id][1] for case_id in sorted(listed)]

    def reviews(self) -> dict[str, list[ReviewFile]]:
        """By case, everybody's history."""
        files: dict[str, list[ReviewFile]] = {}
        for path in sorted(self.store.root.glob("reviews/*/*.json")):
            file = self._read(path, lambda p: read_record(p, ReviewFile))
            if file is not None:
                files.setdefault(file.case_id, []).append(file)
        return files

    def queue(self, name: str) -> list[dict[str, Any]]:
        """The entries with what ``name`` and what others decided, and what stands where another does."""
        reviews, entries = self.reviews(), self.entries()
        drives = {scene: self._drive(scene) for scene in {e.scene for e in entries}}
        rows = []
        for entry in entries:
            decisions = {f.rater: r.decision for f in reviews.get(entry.id, ()) if (r := current(f.history))}
            rows.append(
                {
                    **vars(entry),
                    "mine": decisions.pop(name, ""),
                    "others": [[rater, decision] for rater, decision in decisions.items()],
                    "band": entry.band,
                    "drive": drives[entry.scene],
                }
            )
        return rows

    def _drive(self, scene: str) -> str:
        """Where a scene was recorded."""
        content = self._read(self.store.scene_dir(scene) / "scene.json", read_json) or {}
        return str((content.get("extra") or {}).get("drive") or content.get("source") or scene)

    def _read(self, path: Path, read: Callable[[Path], T]) -> T | None:
        """None when the file went away meanwhile."""
        try:
            stat = path.stat()
            key = (stat.st_mtime_ns, stat.st_ino)
            with self._lock:
                cached = self._seen.get(path)
            if cached is None or cached[0] != key:
                cached = (key, read(path))
                with self._lock:
                    self._seen[path] = cached
        except (FileNotFoundError, StoreError):
            if path.is_file():
                raise
            return None
        value: T = cached[1]
        return value


def _accepted(case: Short) -> QueueEntry:
    place = case["placement"]
    return QueueEntry(
        case["case_id"],
        case["scene_id"],
        case["hazard"]["id"],
        case["hazard"]["name"],
        f"{place['distance_m']:.0f} m ahead, {aside(place['lateral_m'])}",
        "accepted",
        cluster=case["hazard"]["cluster"],
        recognition=_recognition(case["gates"]),
        distance=place["distance_m"],
        lateral=place["lateral_m"],
    )


def _recognition(gates: Sequence[Mapping[str, Any]]) -> str:
    """What the gate that looks again found."""
    again = next((g for g in gates if g["gate"] == "seen-again"), None)
    if again is None:
        return "not asked"
    return "not judged" if again["value"] is None else "seen again" if again["passed"] else "not seen again"


def _refused(rejection: Refused) -> QueueEntry:
    base = _accepted(rejection.whole) if rejection.whole else None
    return QueueEntry(
        id=rejection.case_id,
        scene=rejection.scene_id,
        hazard=rejection.hazard_id,
        name=base.name if base else rejection.hazard_id.replace("_", " "),
        where=base.where if base else "",
        status="rejected" if base else "refused",
        reason=rejection.reason,
        by=rejection.by,
        cluster=base.cluster if base else "",
        gate="" if base else rejection.reason.partition(":")[0][:40],
        recognition=base.recognition if base else "",
        distance=base.distance if base else None,
        lateral=base.lateral if base else 0.0,
    )


def aside(lateral_m: float) -> str:
    """Where it is beside the ego path, in words."""
    if abs(lateral_m) < 0.05:
        return "on the path"
    return f"{abs(lateral_m):.1f} m {'left' if lateral_m > 0 else 'right'}"


def place_of(store: Store, case_id: str) -> Path:
    """The folder of a case, accepted or not.

    Raises:
        StoreError: no such case.
    """
    identifier(case_id, "case")
    for folder in (store.case_dir(case_id), store.rejected_dir(case_id)):
        if (folder / "case.json").is_file() or (folder / "rejection.json").is_file():
            return folder
    raise StoreError(f"case '{case_id}': is not in {store.root}; reload the page")
