"""Import: a source in its own layout in, scene folders out, and beside them a record of how they were made."""

import inspect
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from cfgen.core.errors import InputError
from cfgen.core.faults import contained, ends_the_run
from cfgen.core.files import decode_image, file_bytes, read_each, reading, write_record
from cfgen.core.hashing import derive_id
from cfgen.core.progress import Progress
from cfgen.perception.camera import TOLD
from cfgen.perception.protocol import Perceiver
from cfgen.records import Camera, Fault, Scene, Stored
from cfgen.scenes.anonymize import Anonymizer, Anonymizing
from cfgen.scenes.check import motion_doubt
from cfgen.scenes.drive import (
    FRAME_TIMES,
    Cuttable,
    Drive,
    Opener,
    Picture,
    Reader,
    Recording,
    identifier,
    plain,
)
from cfgen.scenes.folder import SCENE_FILE, Image, SceneFolder, write_scene
from cfgen.scenes.format import SceneFile, content_of
from cfgen.scenes.readers.camera_options import in_words
from cfgen.scenes.readers.registry import READERS
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
        existing = {name for name in scene_ids if (self._out / name / SCENE_FILE).is_file()}
        earlier: list[tuple[Path, ImportRecord]] = []
        own: set[str] = set()
        for path, record in read_each(sorted((self._out / "imports").glob("*.json")), ImportRecord):
            if not isinstance(record, ImportRecord):
                continue
            if record.settings == self.record.settings:
                own |= set(record.scenes)
            if path != self.path:
                earlier.append((path, record))
        self._check_same(existing - own, [record for _, record in earlier])
        planned = set(scene_ids) - existing
        for path, record in earlier:  # what was deleted since, and is made again now
            if gone := planned & set(record.scenes):
                remaining = tuple(name for name in record.scenes if name not in gone)
                write_record(path, record.model_copy(update={"scenes": remaining}))
        self._write(scenes=tuple(sorted(planned | own)))

    def end(self, summary: ImportSummary) -> Path:
        """Note what became of it; the path."""
        return self._write(
            written=summary.written,
            kept=summary.kept,
            left_out={plain(name): plain(reason) for name, reason in summary.failed.items()},
            faults=tuple(summary.faults),
            cameras=summary.cameras,
            notes=summary.notes,
            linked=summary.linked,
        )

    def _check_same(self, unclear: set[str], earlier: Sequence[ImportRecord]) -> None:
        for record in earlier:
            if not (shared := sorted(unclear & set(record.scenes))):
                continue
            settings, former = self.record.settings, record.settings
            differ = [name for name in {**settings, **former} if settings.get(name) != former.get(name)]
            differences = ", ".join(
                f"{name} {_short(former.get(name))} (now {_short(settings.get(name))})" for name in differ
            )
            suffix = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
            raise InputError(
                f"{self._out / shared[0]}{suffix}: expected scenes made with the same options, found them made with "
                f"{differences}; give another --out, or delete these scenes first"
            )

    def _write(self, **fields: Any) -> Path:
        self.record = self.record.model_copy(update=fields)
        write_record(self.path, self.record)
        return self.path


def _short(value: str | None) -> str:
    text = value or "not given"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


# --- the import ---

T = TypeVar("T")

#: A reader's argument that is no option of the user's.
_PERCEIVER = "perceiver"


def open_reader(
    name: str, source: Path, options: dict[str, Any], perceiver: Perceiver | None = None
) -> Reader:
    """The reader ``name`` on ``source``.

    Args:
        perceiver: sees lane lines for readers that look for the camera in them.

    Raises:
        InputError: unknown reader or option, or the source is not there.
    """
    factory = READERS.get(name)
    if not source.exists():
        raise InputError(f"{source}: expected the data to import, found nothing there; check the path")
    checked = _checked(name, factory, options)
    if _PERCEIVER in inspect.signature(factory).parameters:
        checked[_PERCEIVER] = perceiver
    reader: Reader = factory(source, **checked)
    return reader


def open_log(out: Path, name: str, source: Path, options: dict[str, Any]) -> ImportLog:
    """The record of an import by the reader ``name``, for :func:`import_scenes`."""
    factory = READERS.get(name)
    usual = {
        p.name: p.default
        for p in list(inspect.signature(factory).parameters.values())[1:]
        if p.kind is not p.VAR_KEYWORD and p.name != _PERCEIVER
    }
    settings = {**usual, **_checked(name, factory, options)}
    return ImportLog(out, name, source, options, {key: str(value) for key, value in settings.items()})


def _checked(name: str, factory: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Options as the factory's annotations say."""
    parameters = list(inspect.signature(factory, eval_str=True).parameters.values())[1:]
    types = {p.name: p.annotation for p in parameters if p.kind is not p.VAR_KEYWORD and p.name != _PERCEIVER}
    checked = {}
    for key, value in options.items():
        if key not in types:
            raise InputError(f"reader '{name}' has no option '{key}'; it takes: {', '.join(types) or 'none'}")
        try:
            checked[key] = TypeAdapter(types[key]).validate_python(value)
        except ValidationError as error:
            raise InputError(
                f"reader '{name}', option '{key}': {error.errors()[0]['msg']}, found {value!r}"
            ) from error
    return checked


def import_scenes(
    reader: Reader,
    out: Path,
    every_s: float = 3.0,
    limit: int | None = None,
    lossless: bool = False,
    frame_times: Sequence[float] | None = None,
    quiet: bool = False,
    strict: bool = False,
    drive_on: Literal["", "left", "right"] = "",
    by_reference: bool = False,
    anonymizer: Anonymizer | None = None,
    log: ImportLog | None = None,
) -> ImportSummary:
    """Cut scenes every ``every_s`` seconds of each recording and write those that ``out`` does not have yet.

    Each recording and each scene stands alone: what is wrong with one leaves that one out, and the summary says so.

    Args:
        limit: at most so many, spread evenly over all that could be cut.
        frame_times: s relative to t0; each camera's frames at or closest before them are taken along. None: those
            that the reader names as its ``frame_times``, else every 0.25 s of the last 2 s.
        lossless: decoded video frames become PNG instead of JPEG (quality 95). Image files are copied as they are.
        drive_on: the side of the road that traffic keeps to; "" leaves it to the source.
        by_reference: link to images that are files of their own instead of copying them.
        strict: raise the first exception that is no fault of the data, with its traceback.
        anonymizer: finds faces and plates, which are blurred in every frame before it is written.
        log: keeps how the scenes were made, and what became of it.

    Raises:
        InputError: scenes are there that the log knows to be made otherwise, or links to frames are wanted blurred.
    """
    if anonymizer and by_reference:
        raise InputError("--by-reference: links to frames as they are; leave it out, or --anonymize")
    summary = ImportSummary()
    usual: Sequence[float] = getattr(reader, "frame_times", FRAME_TIMES)
    times = frame_times or usual
    reach_s = -min(times, default=0.0)
    cut = partial(_open, every_s=every_s, reach_s=reach_s, summary=summary)
    chosen = _moments(reader, cut, summary, quiet, strict)
    if limit is not None and len(chosen) > limit:
        chosen = [chosen[i] for i in np.linspace(0, len(chosen) - 1, limit).round().astype(int)]
    if log is not None:
        settings = {
            "--frame-times": ",".join(f"{-time:g}" for time in sorted(times, reverse=True)),
            "--lossless": str(lossless),
            "--drive-on": drive_on,
            "--by-reference": str(by_reference),
            **({"--anonymize": f"{anonymizer.name} {dict(anonymizer.identity)}"} if anonymizer else {}),
        }
        log.begin([moment.scene_id for moment in chosen], settings)
    progress = Progress("import", len(chosen), quiet)
    chosen.reverse()
    while chosen:  # a recording is let go, with what it holds open, after its last scene
        moment = chosen.pop()
        stated = {"drive_on": drive_on} if drive_on else {}
        folder = out / moment.scene_id
        write = partial(
            _import_one, moment, folder, times, lossless, by_reference, summary, stated, anonymizer
        )
        written = _attempt(write, moment.scene_id, summary, strict)
        summary.written += written is True
        summary.kept += written is False
        summary.folders += [folder] if written is not None else []
        progress.step(moment.scene_id)
    if log is not None:
        log.end(summary)
    return summary


def size_of(folders: Sequence[Path]) -> int:
    """Bytes of the files in some folders; linked ones count as the link."""
    return sum(file.lstat().st_size for folder in folders for file in folder.rglob("*") if not file.is_dir())


def _attempt(work: Callable[[], T], name: str, summary: ImportSummary, strict: bool) -> T | None:
    """What ``work`` gives; None when the data would not do or something broke, which the summary then has."""

    def expected() -> T | InputError:
        try:
            return work()
        except InputError as error:
            return error
        except OSError as error:
            if error.filename is None or ends_the_run(error):
                raise
            return InputError(
                f"{error.filename}: cannot read ({error.strerror}); restore it or its permissions"
            )

    result = contained(expected, plain(name), strict=strict)
    if isinstance(result, Fault):
        summary.faults.append(result)
        return None
    if isinstance(result, InputError):
        summary.failed[name] = " ".join(str(result).split())
        return None
    return result


def _moments(
    reader: Reader,
    cut: Callable[[Callable[[], Recording]], list[Cuttable]],
    summary: ImportSummary,
    quiet: bool,
    strict: bool,
) -> list[Cuttable]:
    """What can be cut from every recording that opens; a scene_id counts for the first that has it."""
    cuttable: list[Cuttable] = []
    first_with: dict[str, str] = {}
    openers = _attempt(lambda: list(reader.recordings()), "the source", summary, strict) or []
    progress = Progress("open", len(openers), quiet or len(openers) < 2)
    for number, open_one in enumerate(openers):
        name = open_one.name if isinstance(open_one, Opener) else f"recording {number + 1}"
        moments = _attempt(partial(cut, open_one), name, summary, strict)
        for moment in moments or []:
            if first_with.setdefault(moment.scene_id, name) == name:
                cuttable.append(moment)
            else:
                summary.failed.setdefault(
                    name,
                    f"scene_id '{moment.scene_id}' is also that of {first_with[moment.scene_id]}; "
                    "rename one of the two, or import it into another folder",
                )
        progress.step(plain(Path(name).name))
    return cuttable


def _open(
    open_one: Callable[[], Recording], every_s: float, reach_s: float, summary: ImportSummary
) -> list[Cuttable]:
    recording = open_one()
    if isinstance(recording, Drive):
        if recording.note:
            summary.notes[plain(recording.name)] = recording.note
        return list(recording.moments(every_s, reach_s))
    return list(recording.moments(every_s))


def _import_one(
    moment: Cuttable,
    folder: Path,
    frame_times: Sequence[float],
    lossless: bool,
    by_reference: bool,
    summary: ImportSummary,
    stated: Mapping[str, str],
    anonymizer: Anonymizer | None,
) -> bool:
    """Write the scene with what it is ``told``, whole and with every frame decoded; False when it is there already."""
    if (folder / SCENE_FILE).is_file():
        return False
    scene, images = moment.cut(frame_times)
    scene = scene.model_copy(update={"extra": {**scene.extra, **stated}})
    if lossless:
        scene, images = _as_png(scene, images)
    with reading(
        folder / SCENE_FILE, "a scene that loads again", "the log or its calibration has values no car has"
    ):
        SceneFile.model_validate(content_of(scene)).record()
    originals: dict[str, Image | bytes | Path] = {
        f.image: _whole(images[f.image], scene.camera(f.camera), f.image) for f in scene.frames
    }
    if anonymizer:
        work = Anonymizing(anonymizer)
        originals = {
            name: work.picture(content, name)
            for name, content in originals.items()
            if not isinstance(content, Path)
        }
        scene = work.note(scene)
    if by_reference:
        originals |= {name: image for name, image in images.items() if isinstance(image, Path)}
    existed = folder.exists()
    for leftover in folder.rglob(".*.tmp"):  # of an import that was killed
        leftover.unlink(missing_ok=True)
    try:
        written = write_scene(folder, scene, originals, link=by_reference)
    except BaseException:
        if not existed:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    _report(summary, scene, written, originals)
    return True


def _as_png(
    scene: Scene, images: Mapping[str, Image | bytes | Path]
) -> tuple[Scene, dict[str, Image | bytes | Path]]:
    """With the names of files that keep decoded pixels as they are."""
    names = {n: n.removesuffix(".jpg") + ".png" for n, i in images.items() if isinstance(i, np.ndarray)}
    frames = tuple(f.model_copy(update={"image": names.get(f.image, f.image)}) for f in scene.frames)
    renamed = {names.get(name, name): image for name, image in images.items()}
    return scene.model_copy(update={"frames": frames}), renamed


def _report(
    summary: ImportSummary, scene: Scene, written: SceneFolder, originals: Mapping[str, Image | bytes | Path]
) -> None:
    linked = sum(isinstance(image, Path) for image in originals.values())
    summary.linked, summary.copied = summary.linked + linked, summary.copied + len(originals) - linked
    if isinstance(guessed := scene.extra.get(TOLD), dict):
        summary.cameras.setdefault(_drive_of(scene), in_words(guessed))
    if doubt := motion_doubt(written):
        summary.notes.setdefault(_drive_of(scene), f"{scene.scene_id}: {doubt}")


def _drive_of(scene: Scene) -> str:
    """Of the drive that it was cut from."""
    return str(scene.extra.get("drive", scene.scene_id))


def _whole(image: Picture, camera: Camera, name: str) -> Image | bytes:
    """Pixels as they are and a file as its bytes, once it decodes and is of its camera's size."""
    content: Image | bytes
    where = name
    if isinstance(image, Path):
        with reading(image, "a readable file", "restore the file"):
            content = file_bytes(image)
        pixels, where = decode_image(content, image), str(image)
    elif isinstance(image, bytes):
        content, pixels = image, decode_image(image, Path(name))
    else:
        content = pixels = image
    if pixels.shape[:2] != (camera.height, camera.width):
        raise InputError(
            f"{where}: expected {camera.width}x{camera.height} pixels as camera '{camera.name}' says, found "
            f"{pixels.shape[1]}x{pixels.shape[0]}; restore the image, or correct the calibration"
        )
    return content
