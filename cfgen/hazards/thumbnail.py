"""Small pictures of hazards for lists."""

from collections.abc import Sequence

import cv2
import numpy as np

#: Side of a thumbnail, pixels, and the linear grey of the asphalt behind it.
SIDE = 160
GROUND = 0.16
_COLUMNS = 8


def thumbnail(rgba: np.ndarray) -> np.ndarray:
    """(SIDE, SIDE, 3) uint8 RGB of a picture (H, W, 4) float32, premultiplied linear RGB, on plain asphalt."""
    height, width = rgba.shape[:2]
    scale = (SIDE - 12) / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(rgba, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    canvas = np.full((SIDE, SIDE, 3), GROUND, np.float32)
    y, x = SIDE - 6 - size[1], (SIDE - size[0]) // 2
    part = canvas[y : y + size[1], x : x + size[0]]
    part[:] = part * (1 - np.clip(small[..., 3:], 0, 1)) + small[..., :3]
    return np.clip(255 * np.clip(canvas, 0, None) ** (1 / 2.2), 0, 255).astype(np.uint8)


def sheet(pictures: Sequence[tuple[str, np.ndarray]]) -> np.ndarray:
    """Thumbnails in rows with their names under them, (H, W, 3) uint8 RGB."""
    tiles = [_named(name, picture) for name, picture in pictures]
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % _COLUMNS)
    return np.vstack([np.hstack(tiles[i : i + _COLUMNS]) for i in range(0, len(tiles), _COLUMNS)])


def _named(name: str, picture: np.ndarray) -> np.ndarray:
    tile = np.full((SIDE + 26, SIDE + 8, 3), 255, np.uint8)
    tile[4 : SIDE + 4, 4 : SIDE + 4] = picture
    cv2.putText(tile, name[:24], (5, SIDE + 18), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (20, 20, 20), 1, cv2.LINE_AA)
    return tile
