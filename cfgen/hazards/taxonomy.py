"""The taxonomy: hazards and the null edit, read from YAML and checked entry by entry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from cfgen.core.errors import InputError, did_you_mean, warn
from cfgen.core.files import faults_of, read_yaml, told
from cfgen.core.hashing import hash_json
from cfgen.core.paths import scenarios_dir
from cfgen.records import Hazard

Kind = Literal["hazard", "null"]

#: Sections of a file, and the kind that each gives its entries.
SECTIONS: dict[str, Kind] = {"hazards": "hazard", "null_edit": "null"}
#: What an own entry need not say; nor the prompt, for which its name serves.
DEFAULTS: dict[Kind, dict[str, Any]] = {
    "hazard": {"cluster": "Own", "why": "A driver has to respond to it.", "zones": ["ego_lane"]},
    "null": {"cluster": "Own", "why": "Nothing is added.", "zones": ["ego_lane"], "responses": ["none"]},
}
_INHERITED = ("cluster", "negative_prompt", "repaint")
_FILE_KEYS = (*_INHERITED, *SECTIONS)


@dataclass(frozen=True)
class Taxonomy:
    """All entries, each group sorted by id.

    Attributes:
        hazards: what a driver must respond to. null: the edit that adds nothing.
        own: those of these that do not ship with cfgen. only: they took the place of all that do.
    """

    hazards: tuple[Hazard, ...]
    null: Hazard
    own: tuple[Hazard, ...] = ()
    only: bool = False

    @cached_property
    def hash(self) -> str:
        """``sha256:`` over canonical JSON of every entry."""
        return hash_json([entry.model_dump(mode="json") for entry in self])

    def __iter__(self) -> Iterator[Hazard]:
        yield from (*self.hazards, self.null)

    def get(self, hazard_id: str) -> Hazard:
        """The entry called ``hazard_id``.

        Raises:
            InputError: no such entry; names the nearest ones.
        """
        by_id = {entry.id: entry for entry in self}
        if hazard_id not in by_id:
            raise InputError(
                f"hazard '{hazard_id}' is not in the taxonomy{did_you_mean(hazard_id, by_id)}; "
                "'cfgen list hazards' shows all of them"
            )
        return by_id[hazard_id]


def load_taxonomy(own: Path | None = None, only: bool = False) -> Taxonomy:
    """The taxonomy that ships with cfgen, and the entries of ``own`` added to it.

    Args:
        own: a YAML file, or a folder of ``*.yaml``. An entry of it takes the place of the shipped one of its name,
            and its null edit that of the shipped one. What an entry leaves out is taken from :data:`DEFAULTS`.
        only: its entries alone; the null edit stays the shipped one where it has none.

    Raises:
        InputError: no file, no entries, or a fault in a file: names file, entry, field, expected and found.
    """
    if own is None:
        if only:
            raise InputError("--taxonomy-only: expected --taxonomy FILE with it, found none")
        return merge_taxonomy(())
    entries = _read(_files(own), own=True)
    if not entries:
        raise InputError(f"taxonomy '{own}': expected entries under 'hazards', found none")
    _warn_of_unknown_models(own, entries)
    return merge_taxonomy(tuple(entries), only)


def _warn_of_unknown_models(own: Path, entries: Sequence[Hazard]) -> None:
    """No mistake by itself: an inpainter that comes with models of its own may know it."""
    models = {path.parent.name for path in (scenarios_dir() / "assets").glob("*/*.json")}
    for entry in entries:
        if entry.model and entry.model not in models:
            warn(
                f"taxonomy '{own}': {entry.id}: model: cfgen has none called '{entry.model}'"
                f"{did_you_mean(entry.model, models)}, so composite cannot draw it; 'cfgen list "
                "hazards NAME' says which model a hazard has"
            )


def merge_taxonomy(own: tuple[Hazard, ...], only: bool = False) -> Taxonomy:
    """The shipped entries and ``own``, as :func:`load_taxonomy` does with a file.

    Raises:
        InputError: no hazard is left, or two null edits are given.
    """
    replaced = {entry.id for entry in own}
    nulls = any(entry.kind == "null" for entry in own)
    shipped = [
        entry
        for entry in _shipped()
        if entry.id not in replaced and not (nulls if entry.kind == "null" else only)
    ]
    groups: dict[str, list[Hazard]] = {kind: [] for kind in SECTIONS.values()}
    for entry in sorted([*shipped, *own], key=lambda e: e.id):
        groups[entry.kind].append(entry)
    if not groups["hazard"] or len(groups["null"]) != 1:
        raise InputError(
            "taxonomy: expected at least one entry under 'hazards' and at most one under 'null_edit', found "
            f"{len(groups['hazard'])} and {len(groups['null'])}"
        )
    return Taxonomy(tuple(groups["hazard"]), groups["null"][0], own, only)


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    files = sorted(source.glob("*.yaml")) if source.is_dir() else []
    if not files:
        raise InputError(f"taxonomy '{source}': expected a YAML file or a folder of *.yaml files, found none")
    return files


def _shipped() -> tuple[Hazard, ...]:
    """What ships with cfgen, parsed once: a build asks for it every round."""
    files = _files(scenarios_dir() / "taxonomy")
    return _parsed(tuple((path, (status := path.stat()).st_mtime_ns, status.st_size) for path in files))


@lru_cache(maxsize=4)
def _parsed(files: tuple[tuple[Path, int, int], ...]) -> tuple[Hazard, ...]:
    """The entries of files, by when they were written and how large they are."""
    return tuple(_read([path for path, _, _ in files], own=False))


def _read(files: Sequence[Path], own: bool) -> list[Hazard]:
    entries: dict[str, Hazard] = {}
    homes: dict[str, str] = {}
    for path in files:
        for entry in _read_file(path, own):
            if entry.id in entries:
                raise InputError(
                    f"{path.name}: entry '{entry.id}' is already defined in {homes[entry.id]}; rename one"
                )
            entries[entry.id], homes[entry.id] = entry, path.name
    return list(entries.values())


# --- one file -------------------------------------------------------------------------------------------


def _read_file(path: Path, own: bool) -> list[Hazard]:
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(f"{path.name}: expected a mapping with 'hazards', found {str(data)[:80]!r}")
    for key in data:
        if key not in _FILE_KEYS:
            raise InputError(
                f"{path.name}: expected only {', '.join(_FILE_KEYS)} at top level, found '{key}'"
                f"{did_you_mean(str(key), _FILE_KEYS)}"
            )
    inherited = {key: data[key] for key in _INHERITED if key in data}
    hazards: list[Hazard] = []
    for section, kind in SECTIONS.items():
        entries = data.get(section, {})
        if not isinstance(entries, dict):
            raise InputError(
                f"{path.name}: {section}: expected a mapping from id to entry, found {entries!r}"
            )
        hazards += [
            _entry(path.name, str(name), kind, inherited, fields, own) for name, fields in entries.items()
        ]
    return hazards


def _entry(file: str, name: str, kind: Kind, inherited: dict[str, Any], fields: Any, own: bool) -> Hazard:
    if not isinstance(fields, dict):
        raise InputError(f"{file}: {name}: expected a mapping of fields, found {fields!r}")
    for derived in ("id", "kind"):
        if derived in fields:
            raise InputError(f"{file}: {name}: {derived}: follows from where the entry stands; leave it out")
    defaults = dict(DEFAULTS[kind]) if own else {}
    if own and isinstance(fields.get("name"), str):
        defaults["prompt"] = fields["name"]
    try:
        entry = Hazard.model_validate({**defaults, **inherited, **fields, "id": name, "kind": kind})
    except ValidationError as error:
        raise InputError(f"{file}: {name}: {told(faults_of(error, Hazard, ('id', 'kind')))}") from error
    _check_sense(file, entry)
    return entry


def _check_sense(file: str, entry: Hazard) -> None:
    """What types alone cannot say."""
    low, high = entry.motion.speed
    if not 0 <= low <= high:
        raise InputError(
            f"{file}: {entry.id}: motion.speed: expected 0 <= slowest <= fastest, found {[low, high]}"
        )
    if (entry.motion.kind == "static") != (high == 0):
        raise InputError(
            f"{file}: {entry.id}: motion: expected speed 0 for kind static and more for any other, "
            f"found {entry.motion.kind} at {[low, high]} m/s"
        )
    if entry.distance.min_m >= entry.distance.max_m:
        raise InputError(
            f"{file}: {entry.id}: distance: expected min_m < max_m, "
            f"found {entry.distance.min_m} and {entry.distance.max_m}"
        )
    if entry.distance.decel and not 0 < entry.distance.decel[0] < entry.distance.decel[1]:
        raise InputError(
            f"{file}: {entry.id}: distance.decel: expected 0 < low < high, found {list(entry.distance.decel)}"
        )
    if not entry.prompt.strip():
        raise InputError(f"{file}: {entry.id}: prompt: expected words for generative inpainters, found none")
