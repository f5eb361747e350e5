"""One picture of what an import made: each scene's front frame at t0 with the path on the road."""

import math
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import write_bytes
from cfgen.geometry.camera import inside, project
from cfgen.geometry.path import EgoPath
from cfgen.records import Scene
from cfgen.scenes.folder import Image, load_scene

#: At most so many scenes, spread evenly; columns; width and caption height of a tile, pixels.
MOST, _COLUMNS, _WIDTH, _CAPTION = 24, 4, 400, 22
#: The path is drawn as far as this, m, with so much to each side.
_REACH_M, _HALF_WIDTH_M = 60.0, 1.0
_TEAL, _YELLOW = (18, 181, 160), (255, 216, 77)


def write_contact_sheet(scenes: Sequence[Path], out: Path) -> int:
    """Write ``out``, a JPEG, of the scene folders; how many it shows. None of them readable: no file.

    The corridor of 1 m to each side lies on the lane where calibration and motion are right: teal where the motion was
    recorded, yellow where it is continued.
    """
    picks = np.linspace(0, len(scenes) - 1, min(len(scenes), MOST)).round().astype(int)
    tiles = [tile for i in picks if (tile := _tile(scenes[i])) is not None]
    if not tiles:
        return 0
    high = max(tile.shape[0] for tile in tiles)
    rows = math.ceil(len(tiles) / _COLUMNS)
    sheet = np.full((rows * high, min(len(tiles), _COLUMNS) * _WIDTH, 3), 24, np.uint8)
    for number, tile in enumerate(tiles):
        y, x = number // _COLUMNS * high, number % _COLUMNS * _WIDTH
        sheet[y : y + tile.shape[0], x : x + _WIDTH] = tile
    write_bytes(out, cv2.imencode(".jpg", sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 88])[1].tobytes())
    return len(tiles)


def _tile(folder: Path) -> Image | None:
    """(h, 400, 3) uint8 with a caption; None for a scene that cannot be read."""
    try:
        found = load_scene(folder)
        frame = found.image().copy()
    except InputError:
        return None
    _draw_path(frame, found.scene)
    small = cv2.resize(
        frame, (_WIDTH, round(frame.shape[0] * _WIDTH / frame.shape[1])), interpolation=cv2.INTER_AREA
    )
    bar = np.full((_CAPTION, _WIDTH, 3), 24, np.uint8)
    words = f"{found.scene.scene_id[-32:]}  {found.scene.speed * 3.6:.0f} km/h"
    known = found.scene.motion_known
    words += " (guessed)" if not known else " (estimated)" if known == "estimated" else ""
    cv2.putText(bar, words, (6, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (230, 230, 230), 1, cv2.LINE_AA)
    return np.vstack([small, bar])


def _draw_path(frame: Image, scene: Scene) -> None:
    path, camera = EgoPath.from_scene(scene), scene.front
    s = np.arange(1.0, min(_REACH_M, path.length_m), 0.5)
    width = max(2, camera.width // 320)
    for side in (-_HALF_WIDTH_M, _HALF_WIDTH_M):
        x, y, _ = path.at(s, side)
        px, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
        seen = valid & inside(camera, px)
        for i in np.flatnonzero(seen[:-1] & seen[1:]):
            colour = _TEAL if s[i] < path.known_m else _YELLOW
            ends = [tuple(int(v) for v in px[j].round()) for j in (i, i + 1)]
            cv2.line(frame, ends[0], ends[1], colour, width, cv2.LINE_AA)
