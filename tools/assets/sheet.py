"""Draws sprites on plain asphalt: overcast on the left, low sun on the right, shadows warped as on a road."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from cfgen.inpaint.composite.sprites import GroundMap, Sprite, load_from

ANGLES = (0, 40, 90, 140, 180, 250)
CELL = (300, 220)


def draw(keys: list[tuple[str, str]], assets: Path, out: Path) -> None:
    """One row a variant: three azimuths overcast, three in the sun, at a scale that fits the cell."""
    rows = [
        np.hstack([_cell(load_from(assets, *key), i, "/".join(key)) for i in range(len(ANGLES))])
        for key in keys
    ]
    cv2.imwrite(str(out), np.vstack(rows))


def _cell(sprite: Sprite, i: int, name: str) -> np.ndarray:
    width, height = CELL
    sun = None if i % 2 == 0 else (math.radians(28), math.radians(70))
    azimuth = math.radians(ANGLES[i])
    ground = np.full((height, width, 3), 0.10, np.float32)
    sky_rgb, sun_rgb = (
        ((1.0, 1.0, 1.0), (0, 0, 0)) if sun is None else ((0.35, 0.42, 0.52), (1.5, 1.35, 1.15))
    )
    light = None
    if sun is not None:
        elevation, around = sun
        around += azimuth
        light = (
            math.cos(around) * math.cos(elevation),
            math.sin(around) * math.cos(elevation),
            math.sin(elevation),
        )
        ground *= np.add(sky_rgb, np.multiply(sun_rgb, light[2])).astype(np.float32)
    else:
        ground *= 1.0
    if sprite.is_decal:
        return _decal_cell(sprite, ground, name)
    view = sprite.view(azimuth, 0.05, light, sky_rgb, sun_rgb)
    scale = min(1.0, 0.86 * width / view.rgba.shape[1], 0.74 * height / view.rgba.shape[0])
    foot = np.array([width * 0.5, height * 0.86])
    shade = _warp_ground(sprite.shadow_map(light, sky_rgb, sun_rgb), view, scale, foot)
    ground[
        : int(foot[1] - 0.055 * 25 * view.ppm * scale) if 0.055 * 25 * view.ppm * scale < foot[1] else 0
    ] = 0.35
    move = np.array([[scale, 0, foot[0] - scale * view.foot[0]], [0, scale, foot[1] - scale * view.foot[1]]])
    blurred = cv2.GaussianBlur(view.rgba, (0, 0), max(0.3, 0.45 / scale))
    over = cv2.warpAffine(blurred, move, CELL, flags=cv2.INTER_LINEAR)
    return _finish(ground * shade * (1 - over[..., 3:]) + over[..., :3], name)


def _warp_ground(shadow: GroundMap, view, scale: float, foot: np.ndarray) -> np.ndarray:
    """The ground map as the sprite's camera (level, 25 m away) sees it."""
    c, s = math.cos(view.azimuth), math.sin(view.azimuth)
    f, height = view.ppm * scale * 25, 25 * math.tan(view.elevation)
    turn = np.array([[-s, c, 0], [-c, -s, 25.0], [0, 0, 1]])
    lens = np.array([[f, foot[0], 0], [0, foot[1] - f * height / 25, f * height], [0, 1, 0]])
    return cv2.warpPerspective(
        shadow.values, lens @ turn @ shadow.to_model, CELL, flags=cv2.INTER_LINEAR, borderValue=(1, 1, 1)
    )


def _decal_cell(sprite: Sprite, ground: np.ndarray, name: str) -> np.ndarray:
    over = cv2.resize(sprite.decal().values, CELL, interpolation=cv2.INTER_AREA)
    return _finish(ground * (1 - over[..., 3:]) + over[..., :3], name)


def _finish(linear: np.ndarray, name: str) -> np.ndarray:
    shown = np.clip(linear * 1.3, 0, None)
    shown = np.where(shown > 0.7, 0.7 + 0.3 * (1 - np.exp(-(shown - 0.7) / 0.3)), shown)
    cell = (np.clip(shown[..., ::-1], 0, 1) ** (1 / 2.2) * 255).astype(np.uint8)
    cell = np.ascontiguousarray(cell)
    cv2.putText(cell, name, (4, 14), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (255, 255, 255), 1, cv2.LINE_AA)
    return cell
