"""What an import made and how, beside its scenes: a later one with other options does not pass for the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from cfgen.core.errors import InputError
from cfgen.core.files import read_each, write_record
from cfgen.core.hashing import derive_id
from cfgen.records import Fault, Stored
from cfgen.scenes.drive import identifier, plain
from cfgen.scenes.folder import SCENE_FILE
from cfgen.version import __version__

_SHOWN = 40


@dataclass
class ImportSummary:
    """What an import did."""

    written: int = 0
    #: the scenes' folders, those that were there already among them
    folders: list[Path] = field(default_factory=list)
    #: there already from an earlier run
    kept: int = 0
    #: drive or scene -> why it could not be read
    failed: dict[str, str] = field(default_factory=dict)
    #: what broke on a drive or scene that nobody expected
    faults: list[Fault] = field(default_factory=list)
    #: drive -> where its camera comes from, where that is not from the source's calibration
    cameras: dict[str, str] = field(default_factory=dict)
    #: images of the scenes written that link to the source, and that were copied out of it
    linked: int = 0
    copied: int = 0
    #: drive -> rows that were left out of it, or how its speeds and poses disagree
    notes: dict[str, str] = field(default_factory=dict)


class ImportRecord(Stored):
    """What an import left out, and cameras that it had to find; beside the scenes, where nothing takes it for one."""

    reader: str
    source: str
    options: dict[str, Any]
    #: everything that a scene depends on beside the source, defaults too; empty in records of before there was this
    settings: Mapping[str, str] = Field(default_factory=dict)
    #: scene_ids that imports with these settings wrote, or began to
    scenes: tuple[str, ...] = ()
    cfgen_version: str = __version__
    written: int = 0
    kept: int = 0
    left_out: dict[str, str] = Field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    cameras: Mapping[str, str] = Field(default_factory=dict)
    notes: Mapping[str, str] = Field(default_factory=dict)
    linked: int = 0


class ImportLog:
    """The record of one import, begun before the first scene is written: one that is killed has said how it made them.

    Args:
        settings: of the reader, defaults too.
    """

    def __init__(
        self, out: Path, reader: str, source: Path, options: dict[str, Any], settings: Mapping[str, str]
    ) -> None:
        self._out, self._source = out, source
        self.record = ImportRecord(
            reader=reader,
            source=plain(str(source)),
            options={key: plain(str(value)) for key, value in options.items()},
            settings={"reader": reader} | {f"--options {k}": plain(v) for k, v in settings.items()},
        )
        #: scenes that are there already and that no record knows of
        self.unknown = 0

    @property
    def path(self) -> Path:
        """One file per reader, source and settings."""
        record = self.record
        key = derive_id(record.reader, plain(str(self._source.absolute())), record.options, record.settings)
        return self._out / "imports" / f"{record.reader}_{identifier(self._source.name)}_{key[:8]}.json"

    def begin(self, scene_ids: Sequence[str], settings: Mapping[str, str]) -> None:
        """Note what is about to be made, with which settings of the import.

        Raises:
            InputError: scenes of these are there, made with other settings.
        """
        self.record = self.record.model_copy(update={"settings": {**self.record.settings, **settings}})
        there = {name for name in scene_ids if (self._out / name / SCENE_FILE).is_file()}
        others: list[tuple[Path, ImportRecord]] = []
        own: set[str] = set()
        for path, found in read_each(sorted((self._out / "imports").glob("*.json")), ImportRecord):
            if not isinstance(found, ImportRecord):
                continue
            if found.settings == self.record.settings:
                own |= set(found.scenes)
            if path != self.path:
                others.append((path, found))
        self._check_same(there - own, [found for _, found in others])
        self.unknown = len(there - own)
        planned = set(scene_ids) - there
        for path, found in others:  # what was deleted since, and is made again now
            if gone := planned & set(found.scenes):
                left = tuple(name for name in found.scenes if name not in gone)
                write_record(path, found.model_copy(update={"scenes": left}))
        self._write(scenes=tuple(sorted(planned | own)))

    def end(self, made: ImportSummary) -> Path:
        """Note what became of it; the path."""
        return self._write(
            written=made.written,
            kept=made.kept,
            left_out={plain(name): plain(reason) for name, reason in made.failed.items()},
            faults=tuple(made.faults),
            cameras=made.cameras,
            notes=made.notes,
            linked=made.linked,
        )

    def _check_same(self, unclear: set[str], others: Sequence[ImportRecord]) -> None:
        for found in others:
            if not (shared := sorted(unclear & set(found.scenes))):
                continue
            now, then = self.record.settings, found.settings
            differ = [name for name in {**now, **then} if now.get(name) != then.get(name)]
            told = ", ".join(
                f"{name} {_short(then.get(name))} (now {_short(now.get(name))})" for name in differ
            )
            more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
            raise InputError(
                f"{self._out / shared[0]}{more}: expected scenes made with the same options, found them made with "
                f"{told}; give another --out, or delete these scenes first"
            )

    def _write(self, **more: Any) -> Path:
        self.record = self.record.model_copy(update=more)
        write_record(self.path, self.record)
        return self.path


def _short(value: str | None) -> str:
    text = value or "not given"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
