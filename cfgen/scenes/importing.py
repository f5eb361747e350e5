"""Import: a source in its own layout in, scene folders out."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from cfgen.errors import InputError
from cfgen.files import png_bytes
from cfgen.progress import Progress
from cfgen.registry import Registry
from cfgen.scenes.drive import FRAME_TIMES, Cuttable, Reader
from cfgen.scenes.folder import SCENE_FILE, write_scene

_READERS = {
    "argoverse2": "cfgen.scenes.readers.argoverse2:Argoverse2",
    "comma2k19": "cfgen.scenes.readers.comma2k19:Comma2k19",
    "folder": "cfgen.scenes.readers.folder:FolderReader",
    "image": "cfgen.scenes.readers.image:ImageReader",
    "kitti-raw": "cfgen.scenes.readers.kitti_raw:KittiRaw",
    "navsim": "cfgen.scenes.readers.navsim:Navsim",
    "nuscenes": "cfgen.scenes.readers.nuscenes:NuScenes",
    "physical-ai-av": "cfgen.scenes.readers.physical_ai_av:PhysicalAIAV",
    "video": "cfgen.scenes.readers.video:VideoReader",
}

READERS = Registry("scene reader", "cfgen.scenes", _READERS)


@dataclass
class ImportSummary:
    written: int = 0
    #: there already from an earlier run
    kept: int = 0
    #: drive or scene -> why it could not be read
    failed: dict[str, str] = field(default_factory=dict)


def open_reader(name: str, source: Path, options: dict[str, Any]) -> Reader:
    """The reader ``name`` on ``source``.

    Raises:
        InputError: unknown reader or option, or the source is not there.
    """
    factory = READERS.get(name)
    if not source.exists():
        raise InputError(f"{source}: expected the data to import, found nothing there; check the path")
    reader: Reader = factory(source, **_checked(name, factory, options))
    return reader


def _checked(name: str, factory: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Options as the factory's annotations say."""
    known = list(inspect.signature(factory, eval_str=True).parameters.values())[1:]
    types = {p.name: p.annotation for p in known if p.kind is not p.VAR_KEYWORD}
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
    frame_times: Sequence[float] = FRAME_TIMES,
    quiet: bool = False,
) -> ImportSummary:
    """Cut scenes every ``every_s`` seconds of each recording and write those that ``out`` does not have yet.

    Args:
        limit: at most so many, spread evenly over all that could be cut.
        frame_times: s relative to t0; each camera's frames at or closest before them are taken along.
        lossless: decoded video frames become PNG instead of JPEG (quality 95). Image files are copied as they are.
    """
    summary = ImportSummary()
    chosen = list(_moments(reader, every_s, summary))
    if limit is not None and len(chosen) > limit:
        chosen = [chosen[i] for i in np.linspace(0, len(chosen) - 1, limit).round().astype(int)]
    progress = Progress("import", len(chosen), quiet)
    for moment in chosen:
        _import_one(moment, out / moment.scene_id, frame_times, lossless, summary)
        progress.step(moment.scene_id)
    return summary


def _moments(reader: Reader, every_s: float, summary: ImportSummary) -> Iterator[Cuttable]:
    for number, open_one in enumerate(reader.recordings()):
        try:
            yield from open_one().moments(every_s)
        except InputError as error:
            summary.failed[f"recording {number + 1}"] = str(error)


def _import_one(
    moment: Cuttable, folder: Path, frame_times: Sequence[float], lossless: bool, summary: ImportSummary
) -> None:
    if (folder / SCENE_FILE).is_file():
        summary.kept += 1
        return
    try:
        scene, images = moment.cut(frame_times)
    except InputError as error:
        summary.failed[moment.scene_id] = str(error)
        return
    if lossless:
        names = {n: n.removesuffix(".jpg") + ".png" for n, i in images.items() if isinstance(i, np.ndarray)}
        frames = tuple(f.model_copy(update={"image": names.get(f.image, f.image)}) for f in scene.frames)
        scene = scene.model_copy(update={"frames": frames})
        content = {
            names.get(n, n): png_bytes(i) if isinstance(i, np.ndarray) else i for n, i in images.items()
        }
        write_scene(folder, scene, content)
    else:
        write_scene(folder, scene, images)
    summary.written += 1
