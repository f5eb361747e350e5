"""The taxonomy: hazards, harmless objects and the null edit, read from YAML and checked entry by entry."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_json
from cfgen.core.paths import scenarios_dir
from cfgen.records import DistancePolicy, Hazard, HazardMotion, Size

Kind = Literal["hazard", "nuisance", "null"]

#: Sections of a file, and the kind that each gives its entries.
SECTIONS: dict[str, Kind] = {"hazards": "hazard", "nuisances": "nuisance", "null_edit": "null"}
#: What an own entry need not say; nor the prompt, for which its name serves.
DEFAULTS: dict[Kind, dict[str, Any]] = {
    "hazard": {"cluster": "Own", "why": "A driver has to respond to it.", "zones": ["ego_lane"]},
    "nuisance": {"cluster": "Own", "why": "It is harmless.", "zones": ["shoulder"], "responses": ["none"]},
    "null": {"cluster": "Own", "why": "Nothing is added.", "zones": ["ego_lane"], "responses": ["none"]},
}
_INHERITED = ("cluster", "negative_prompt", "repaint")
_FILE_KEYS = (*_INHERITED, *SECTIONS)


@dataclass(frozen=True)
class Taxonomy:
    """All entries, each group sorted by id.

    Attributes:
        hazards: what a driver must respond to. nuisances: harmless objects. null: the edit that adds nothing.
        own: those of these that do not ship with cfgen. only: they took the place of all that do.
    """

    hazards: tuple[Hazard, ...]
    nuisances: tuple[Hazard, ...]
    null: Hazard
    own: tuple[Hazard, ...] = ()
    only: bool = False

    @cached_property
    def hash(self) -> str:
        """``sha256:`` over canonical JSON of every entry."""
        return hash_json([entry.model_dump(mode="json") for entry in self])

    def __iter__(self) -> Iterator[Hazard]:
        yield from (*self.hazards, *self.nuisances, self.null)

    def get(self, hazard_id: str) -> Hazard:
        """The entry called ``hazard_id``.

        Raises:
            InputError: no such entry; names the nearest ones.
        """
        by_id = {entry.id: entry for entry in self}
        if hazard_id not in by_id:
            raise InputError(
                f"hazard '{hazard_id}' is not in the taxonomy{_did_you_mean(hazard_id, by_id)}; "
                "'cfgen hazards list' shows all of them"
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
        raise InputError(f"taxonomy '{own}': expected entries under 'hazards' or 'nuisances', found none")
    return merge_taxonomy(tuple(entries), only)


def merge_taxonomy(own: tuple[Hazard, ...], only: bool = False) -> Taxonomy:
    """The shipped entries and ``own``, as :func:`load_taxonomy` does with a file.

    Raises:
        InputError: no hazard is left, or two null edits are given.
    """
    replaced = {entry.id for entry in own}
    nulls = any(entry.kind == "null" for entry in own)
    shipped = [
        entry
        for entry in _read(_files(scenarios_dir() / "taxonomy"), own=False)
        if entry.id not in replaced and not (nulls if entry.kind == "null" else only)
    ]
    groups: dict[Kind, list[Hazard]] = {kind: [] for kind in SECTIONS.values()}
    for entry in sorted([*shipped, *own], key=lambda e: e.id):
        groups[entry.kind].append(entry)
    if not groups["hazard"] or len(groups["null"]) != 1:
        raise InputError(
            "taxonomy: expected at least one entry under 'hazards' and at most one under 'null_edit', found "
            f"{len(groups['hazard'])} and {len(groups['null'])}"
        )
    return Taxonomy(tuple(groups["hazard"]), tuple(groups["nuisance"]), groups["null"][0], own, only)


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    files = sorted(source.glob("*.yaml")) if source.is_dir() else []
    if not files:
        raise InputError(f"taxonomy '{source}': expected a YAML file or a folder of *.yaml files, found none")
    return files


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


class _OneKeyOnce(yaml.SafeLoader):
    """YAML that refuses a key given twice, which SafeLoader would silently overwrite."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key}' is given twice", node.start_mark
                )
        return super().construct_mapping(node, deep)


def _read_file(path: Path, own: bool) -> list[Hazard]:
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), _OneKeyOnce)
    except yaml.YAMLError as error:
        raise InputError(f"{path.name}: not readable as YAML: {' '.join(str(error).split())}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name}: cannot be read as UTF-8 text: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{path.name}: expected a mapping with 'hazards', found {str(data)[:80]!r}")
    for key in data:
        if key not in _FILE_KEYS:
            raise InputError(
                f"{path.name}: expected only {', '.join(_FILE_KEYS)} at top level, found '{key}'"
                f"{_did_you_mean(str(key), _FILE_KEYS)}"
            )
    inherited = {key: data[key] for key in _INHERITED if key in data}
    found: list[Hazard] = []
    for section, kind in SECTIONS.items():
        entries = data.get(section, {})
        if not isinstance(entries, dict):
            raise InputError(
                f"{path.name}: {section}: expected a mapping from id to entry, found {entries!r}"
            )
        found += [
            _entry(path.name, str(name), kind, inherited, fields, own) for name, fields in entries.items()
        ]
    return found


def _entry(file: str, name: str, kind: Kind, inherited: dict[str, Any], fields: Any, own: bool) -> Hazard:
    if not isinstance(fields, dict):
        raise InputError(f"{file}: {name}: expected a mapping of fields, found {fields!r}")
    for taken in ("id", "kind"):
        if taken in fields:
            raise InputError(f"{file}: {name}: {taken}: follows from where the entry stands; leave it out")
    given = dict(DEFAULTS[kind]) if own else {}
    if own and isinstance(fields.get("name"), str):
        given["prompt"] = fields["name"]
    try:
        entry = Hazard.model_validate({**given, **inherited, **fields, "id": name, "kind": kind})
    except ValidationError as error:
        raise InputError(f"{file}: {name}: " + "; ".join(_explain(e) for e in error.errors())) from error
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


_MODELS: dict[str, type[BaseModel]] = {"size": Size, "motion": HazardMotion, "distance": DistancePolicy}


def _explain(error: ErrorDetails) -> str:
    """One fault: the field, what was expected, what was found, and the nearest right word."""
    place = [str(part) for part in error["loc"]]
    field, found = ".".join(place), error["input"]
    if error["type"] == "missing":
        return f"{field}: expected this field, found none"
    if error["type"] == "extra_forbidden":
        model: type[BaseModel] = _MODELS.get(place[0], Hazard) if len(place) > 1 else Hazard
        known = [name for name in model.model_fields if model is not Hazard or name not in ("id", "kind")]
        return f"{field}: unknown field{_did_you_mean(place[-1], known)}; expected one of {', '.join(known)}"
    message = error["msg"][:1].lower() + error["msg"][1:]
    hint = ""
    if error["type"] == "literal_error":
        hint = _did_you_mean(str(found), _choices(place))
    return f"{field}: {message}, found {found!r}{hint}"


def _choices(place: list[str]) -> list[str]:
    """The words that the field at ``place`` may hold."""
    model: type[BaseModel] = _MODELS.get(place[0], Hazard) if len(place) > 1 else Hazard
    name = place[1] if model is not Hazard else place[0]
    return _literals(model.model_fields[name].annotation)


def _literals(annotation: Any) -> list[str]:
    words = [arg for arg in get_args(annotation) if isinstance(arg, str)]
    return words or [word for arg in get_args(annotation) for word in _literals(arg)]


def _did_you_mean(word: str, known: Any) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""
