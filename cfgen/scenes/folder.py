"""Scenes on disk: a folder with scene.json and the images it names."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, png_bytes, read_image, read_json, stand_in, write_bytes
from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.perception.jpeg_grid import JpegGrid, jpeg_grid_of
from cfgen.records import Frame, Scene
from cfgen.scenes.format import SceneFile, content_of
from cfgen.scenes.tags import own_tags

SCENE_FILE = "scene.json"
_JPEG_QUALITY = 95

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class SceneFolder:
    """A scene and where its images are."""

    root: Path
    scene: Scene

    def image(self, frame: Frame | None = None) -> Image:
        """(H, W, 3) uint8 RGB of a frame of this scene; of the front frame at t0 by default.

        Raises:
            InputError: missing, truncated, or of another size than its camera.
        """
        frame = frame or self.front_frame()
        pixels = read_image(self.root / frame.image)
        camera = self.scene.camera(frame.camera)
        if pixels.shape[:2] != (camera.height, camera.width):
            raise InputError(
                f"{self.root / frame.image}: expected {camera.width}x{camera.height} pixels as camera "
                f"'{camera.name}' says, found {pixels.shape[1]}x{pixels.shape[0]}; "
                f"correct width, height and intrinsics in {SCENE_FILE}, or replace the image"
            )
        return pixels

    def jpeg_grid(self, frame: Frame) -> JpegGrid | None:
        """What JPEG a frame went through; None for one without a trace of it."""
        return jpeg_grid_of((self.root / frame.image).read_bytes())

    def front_frame(self) -> Frame:
        """The front camera's frame at t0."""
        return self.frames_at(self.scene.front.name, [0.0])[0] or self.scene.frames[0]

    def frames_at(self, camera: str, times: Sequence[float], tolerance_s: float = 0.15) -> list[Frame | None]:
        """For each time (s relative to t0) the camera's latest frame at or before it.

        None where that frame is older than ``tolerance_s``.
        """
        own = sorted((f for f in self.scene.frames if f.camera == camera), key=lambda f: f.t)
        frames: list[Frame | None] = []
        for time in times:
            before = [f for f in own if f.t <= time + 1e-3]
            fresh = before and before[-1].t >= time - tolerance_s
            frames.append(before[-1] if fresh else None)
        return frames


def find_scenes(folder: Path) -> list[Path]:
    """Scene folders at or below ``folder``, sorted.

    Raises:
        InputError: no such folder, or no scene in it.
    """
    return [folder / name for name in scene_names(folder)]


def scene_names(folder: Path) -> list[str]:
    """As :func:`find_scenes`, their places in ``folder``, itself "."; of many, paths as objects take seconds.

    Raises:
        InputError: as there.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder of scenes, found none; check the path")
    names, pending = [], [(str(folder), "")]
    while pending:
        folder_path, name = pending.pop()
        try:
            with os.scandir(folder_path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith("."):
                            pending.append((entry.path, f"{name}/{entry.name}" if name else entry.name))
                    elif entry.name == SCENE_FILE and not entry.is_dir():
                        names.append(name or ".")
        except OSError:  # what cannot be read holds none
            continue
    if not names:
        raise InputError(
            f"{folder}: expected folders with a {SCENE_FILE}, found none; "
            "make them with 'cfgen scenes import', or see docs/scenes.md"
        )
    return sorted(names, key=lambda name: [] if name == "." else name.split("/"))


def load_scene(folder: Path) -> SceneFolder:
    """Read and check scene.json and that its images exist; they are decoded when asked for.

    Raises:
        InputError: names file, field, what was expected and found.
    """
    path = folder / SCENE_FILE
    try:
        content = read_json(path)
        scene = SceneFile.model_validate(content).record()
        own_tags(content)
    except StoreError as error:
        raise InputError(str(error)) from error
    except ValidationError as error:
        raise InputError(f"{path}: {explain(error)}; see scenarios/scene.schema.json") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    for frame in scene.frames:
        _check_image_path(folder, path, frame)
    return SceneFolder(folder, scene)


def _check_image_path(folder: Path, path: Path, frame: Frame) -> None:
    image = Path(frame.image)
    if image.is_absolute() or ".." in image.parts:
        raise InputError(
            f"{path}: image '{frame.image}': expected a path inside the scene folder; move the file there"
        )
    try:
        exists = (folder / image).is_file()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InputError(
            f"{path}: image '{frame.image[:80]}': cannot look for it ({error.strerror})"
        ) from error
    if not exists:
        raise InputError(
            f"{folder / image}: expected the image at t = {frame.t:g} s that {path.name} names, found "
            + (
                f"{moved}; put it back, or import the scene again"
                if (moved := stand_in(folder / image))
                else "none; add the file, or take it out of the record (null in history_images)"
            )
        )


def write_scene(
    folder: Path, scene: Scene, images: Mapping[str, Image | bytes | Path], link: bool = False
) -> SceneFolder:
    """Write images, then scene.json: once that is there, the scene is complete.

    Args:
        images: path relative to the folder -> pixels (H, W, 3) RGB, encoded bytes, or a file to copy byte by byte.
            Pixels become PNG, or JPEG where the name ends in .jpg.
        link: files are not copied: a link to where each lies now takes its place.

    Raises:
        InputError: an image that the record names is not given.
    """
    missing = [frame.image for frame in scene.frames if frame.image not in images]
    if missing:
        raise InputError(
            f"{folder}: scene '{scene.scene_id}' names image '{missing[0]}', which was not given"
        )
    for name, image in images.items():
        if link and isinstance(image, Path):
            _link(folder / name, image)
        else:
            write_bytes(folder / name, _encoded(name, image))
    write_bytes(folder / SCENE_FILE, _readable_json(content_of(scene)))
    return SceneFolder(folder, scene)


def copy_scene(source: SceneFolder, folder: Path) -> SceneFolder:
    """The scene in another folder, images byte-identical."""
    return write_scene(folder, source.scene, {f.image: source.root / f.image for f in source.scene.frames})


def scene_hash(source: SceneFolder | Path) -> str:
    """Over the record and the bytes of every image: wherever the folder is, however its JSON is laid out."""
    folder = load_scene(source) if isinstance(source, Path) else source
    images = {f.image: hash_bytes((folder.root / f.image).read_bytes()) for f in folder.scene.frames}
    return hash_json({"scene": folder.scene.model_dump(mode="json"), "images": images})


def _link(path: Path, target: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # of an import that was killed
        path.symlink_to(target.absolute())
    except OSError as error:
        raise StoreError(
            f"{path}: cannot link to {target} ({error.strerror or error}); import without --by-reference"
        ) from error


def _encoded(name: str, image: Image | bytes | Path) -> bytes:
    if isinstance(image, bytes):
        return image
    if isinstance(image, Path):
        return image.read_bytes()
    if name.lower().endswith((".jpg", ".jpeg")):
        bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
        return cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1].tobytes()
    return png_bytes(image)


def _readable_json(content: dict[str, Any]) -> bytes:
    """Indented JSON with each row of numbers on one line."""

    def text(value: object, indent: int) -> str:
        pad = "\n" + " " * (indent + 1)
        if isinstance(value, dict) and value:
            items = [f"{json.dumps(k, ensure_ascii=False)}: {text(v, indent + 1)}" for k, v in value.items()]
            return "{" + pad + f",{pad}".join(items) + "\n" + " " * indent + "}"
        if isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value):
            return "[" + pad + f",{pad}".join(text(v, indent + 1) for v in value) + "\n" + " " * indent + "]"
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    return (text(content, 0) + "\n").encode()
