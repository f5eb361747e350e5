"""Where in a picture there is clear road: an image-only test of ground appearance, from the car outwards.

The road ahead is unrolled along the ego path, so that a row is one distance and a column one lateral offset; there
lane paint and cracks have a known width and are removed. A cell looks like ground when its colour stays near that
of the road in front of the car (brightness may change: shadows) and its neighbourhood is not full of edges (cars,
hedges). Back in the picture, ground ends in each column at the first object that is tall enough to be one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.geometry.camera import ground_points, project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.perception.protocol import CameraFrame
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: Half width of the unrolled road and its step, m.
HALF_WIDTH_M = 10.0
STEP_M = 0.1
#: Height of something upright that one row steps over, m, where the picture is fine enough.
ROW_M = 0.018
#: Nearest and farthest ground looked at, m along the path.
NEAR_M, FAR_M = 5.0, 110.0
#: The road in front of the car that shows what road looks like here, m.
SEED_LENGTH_M, SEED_HALF_M = 6.0, 1.2
#: An object is at least this tall, m; flatter differences are shadows, patches or paint.
OBJECT_HEIGHT_M = 0.3
#: How fast a smooth part makes up for strange rows below it.
SMOOTH_PART = 0.6
#: Wider than any lane paint, m; thinner bright or dark lines are ignored.
PAINT_M = 0.7
#: Share of cells on a strong edge, around a cell, that says: not road.
EDGE_DENSITY = 0.19
#: Least contrast of a strong edge, in log brightness; and as a multiple of the road's own.
EDGE, EDGE_OVER_ROAD = 0.05, 4.0
#: Tolerated change of log green against red and blue, and of log blue against red (shade is bluer than sun).
GREEN, GREEN_OVER_ROAD, BLUE = 0.10, 4.0, 0.75
#: Added to 8-bit brightness before the logarithm: below it noise rules.
_DARK = 6.0
#: Widest and narrowest vehicle base, m, how much darker or brighter (log) than the road to both sides it is.
CAR_M, DARKER, BRIGHTER = (3.2, 1.1), 0.42, 0.5
#: Share of that which is enough, for each unit of the picture's range of log brightness, and at least.
CONTRAST, LEAST_CONTRAST = 0.67, 0.62
#: Share of the step at its ends taken within this width to either side, m: shadows of trees have softer ends.
SHARP, SHARP_M = 0.55, 0.1
#: Rows that it is high at least.
BASE_ROWS = 4
#: Strangeness of what looks like a vehicle.
_VEHICLE = 3.0
_MAP_STRIDE = 8
#: Pictures of fewer pixels a side show no road; road this many pictures above the upper edge is not unrolled.
_SMALLEST, _ABOVE = 16, 2


def find_clear_ground(image: np.ndarray, camera: Camera, path: EgoPath) -> np.ndarray:
    """(h, w) bool, about 320 wide: visible ground with nothing nearer in its column.

    Args:
        image: (H, W, 3) uint8 RGB, as ``camera`` sees it in the frame in which ``path`` is.
    """
    stride = max(1, round(camera.width / 320))
    shape = (-(-camera.height // stride), -(-camera.width // stride))
    # mosaic and compression patterns are not edges
    rolled = _unroll(cv2.GaussianBlur(image, (0, 0), 0.5 * stride), camera, path)
    if rolled is None:
        return np.zeros(shape, bool)
    rows, cols = _cells_of_pixels(camera, path, rolled)
    strangeness = cv2.remap(
        _strangeness(rolled),
        cols,
        rows,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=np.nan,
    )
    strangeness = cv2.resize(strangeness, shape[::-1], interpolation=cv2.INTER_LINEAR)
    free = _from_below(strangeness, camera, stride)
    # the last cells reach beyond the frame: cells that cover the frame and no more
    full_size = np.repeat(np.repeat(free.astype(np.uint8), stride, 0), stride, 1)
    frame = full_size[: camera.height, : camera.width]
    return cv2.resize(frame, shape[::-1], interpolation=cv2.INTER_NEAREST) > 0


# --- the unrolled road ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rolled:
    """Row i is at arc length s[i], near to far; column j at lateral[j]; ``valid``: inside the frame."""

    pixels: np.ndarray
    valid: np.ndarray
    s: Array
    lateral: Array


def _unroll(image: np.ndarray, camera: Camera, path: EgoPath) -> _Rolled | None:
    """The road as seen along the path; None when no road is in view."""
    rows = _rows(camera, path) if min(image.shape[:2]) >= _SMALLEST else None
    if rows is None:
        return None
    s, steps = rows
    lateral = np.arange(-HALF_WIDTH_M, HALF_WIDTH_M + STEP_M / 2, STEP_M)
    coarse = np.append(np.arange(0, len(lateral) - 1, 10), len(lateral) - 1)
    x, y, _ = path.at(np.repeat(s, len(coarse)), np.tile(lateral[coarse], len(s)))
    px, _ = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    grid = np.nan_to_num(px, nan=-1e4).reshape(len(s), len(coarse), 2).astype(np.float32)
    # straight lines stay nearly straight between samples 1 m apart
    place = np.interp(np.arange(len(lateral)), coarse, np.arange(len(coarse))).astype(np.float32)
    at = np.meshgrid(place, np.arange(len(s), dtype=np.float32))
    u, v = (cv2.remap(np.ascontiguousarray(grid[..., i]), *at, cv2.INTER_LINEAR) for i in (0, 1))
    valid = (u >= 0) & (v >= 0) & (u <= camera.width - 1) & (v <= camera.height - 1)
    if not valid.any():
        return None
    pixels = np.empty((*u.shape, 3), np.uint8)
    for level in range(3):
        of_level = np.minimum(np.log2(steps).astype(int), 2) == level
        if of_level.any():
            half = np.float32(0.5 * (2**level - 1))
            at_u, at_v = ((part[of_level] - half) / np.float32(2**level) for part in (u, v))
            pixels[of_level] = cv2.remap(image, at_u, at_v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        image = cv2.pyrDown(image)
    return _Rolled(pixels, valid, s, lateral)


def _rows(camera: Camera, path: EgoPath) -> tuple[Array, Array] | None:
    """Arc lengths (R,) of the rows, near to far, and the picture rows that each steps over, 1 or more.

    A row steps over ROW_M of something upright, so that near and far objects show as many edges a row.
    """
    s = np.arange(NEAR_M, FAR_M, 0.25)
    x, y, _ = path.at(s)
    foot, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    top, top_valid = project(camera, np.column_stack([x, y, np.ones_like(x)]))
    valid &= top_valid
    within = (foot[:, 1] < camera.height - 1) & (foot[:, 1] > -_ABOVE * camera.height)
    valid &= np.where(valid, within, False)
    if valid.sum() < 8:
        return None
    s, v, upright = s[valid], np.minimum.accumulate(foot[valid, 1]), (foot - top)[valid, 1]
    steps = np.maximum(ROW_M * upright, 1.0)
    place = np.append(0, np.cumsum(-np.diff(v) / steps[1:]))
    if place[-1] < 8:
        return None
    rows = np.arange(0, place[-1])
    return np.interp(rows, place, s), np.interp(rows, place, steps)


def _strangeness(rolled: _Rolled) -> np.ndarray:
    """(R, C) float32: above 1 where a cell does not look like the road in front of the car."""
    width = round(PAINT_M / STEP_M) | 1
    without_paint = cv2.morphologyEx(rolled.pixels, cv2.MORPH_OPEN, np.ones((1, width), np.uint8))
    without_paint = cv2.morphologyEx(without_paint, cv2.MORPH_CLOSE, np.ones((1, width), np.uint8))
    logs = np.log(cv2.GaussianBlur(without_paint, (3, 3), 0.8).astype(np.float32) + _DARK)
    bright = logs.mean(2)
    green = logs[..., 1] - (logs[..., 0] + logs[..., 2]) / 2
    blue = logs[..., 2] - logs[..., 0]
    slope, ridge = _slope(bright)

    near = rolled.s[0]
    seed = rolled.valid & np.outer(rolled.s < near + SEED_LENGTH_M, np.abs(rolled.lateral) < SEED_HALF_M)
    if seed.sum() < 20:
        seed = rolled.valid
    road_green = float(np.median(green[seed]))
    spread = 1.48 * float(np.median(np.abs(green[seed] - road_green))) + 0.01
    edge = ridge & (slope > max(EDGE, EDGE_OVER_ROAD * float(np.median(slope[seed]))))
    density = cv2.blur(edge.astype(np.float32), (9, 7))
    off_green = cv2.blur(np.abs(green - road_green), (5, 5)) / max(GREEN, GREEN_OVER_ROAD * spread)
    off_blue = np.abs(cv2.blur(blue, (5, 5)) - float(np.median(blue[seed]))) / BLUE
    strange = np.maximum(np.maximum(density / EDGE_DENSITY, off_green), off_blue)
    # doors and windows are smooth, but what surrounds them is not
    strange = cv2.morphologyEx(strange, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    strange = cv2.morphologyEx(strange, cv2.MORPH_OPEN, np.ones((1, width), np.uint8))
    strange[_vehicles(bright, rolled.valid)] = _VEHICLE
    strange[~rolled.valid] = np.nan
    return strange


def _vehicles(bright: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """(R, C) bool: dark or bright runs across the road, as wide as a car: what its underside or its paint shows.

    ``bright``: (R, C) float32 log brightness. The run is taken to be upright, so that smooth panels above it count.
    The less contrast the picture has (fog, overcast), the less a run needs.
    """
    low, high = np.percentile(bright[valid], [2, 98])
    share = float(np.clip(CONTRAST * (high - low), LEAST_CONTRAST, 1))
    wide, narrow = (np.ones((1, round(m / STEP_M) | 1), np.uint8) for m in CAR_M)
    reach = round(SHARP_M / STEP_M)
    rise = np.zeros_like(bright)
    rise[:, reach:-reach] = np.abs(bright[:, 2 * reach :] - bright[:, : -2 * reach])
    sharp = cv2.dilate(rise, np.ones((1, 2 * reach + 1)))
    vehicles = np.zeros(bright.shape, bool)
    for kind, contrast in ((cv2.MORPH_BLACKHAT, DARKER), (cv2.MORPH_TOPHAT, BRIGHTER)):
        depth = cv2.morphologyEx(bright, kind, wide)
        run = cv2.morphologyEx((depth > share * contrast).astype(np.uint8), cv2.MORPH_OPEN, narrow) > 0
        steady = _held(run, sharp > SHARP * cv2.dilate(depth, narrow))
        vehicles |= (
            cv2.morphologyEx(steady.astype(np.uint8), cv2.MORPH_OPEN, np.ones((BASE_ROWS, 1), np.uint8)) > 0
        )
    up = round(OBJECT_HEIGHT_M / ROW_M)
    return cv2.dilate(vehicles.astype(np.uint8), np.ones((up, 1), np.uint8), anchor=(0, up - 1)) > 0


def _held(runs: np.ndarray, sharp: np.ndarray) -> np.ndarray:
    """(R, C) bool: the ``runs`` along rows of which both ends are ``sharp``."""
    before = np.pad(runs, ((0, 0), (1, 0)))[:, :-1]
    after = np.pad(runs, ((0, 0), (0, 1)))[:, 1:]
    number = np.cumsum((runs & ~before).ravel()).reshape(runs.shape)
    blunt = number[runs & ~sharp & ~(before & after)]
    return runs & ~np.isin(number, blunt)


def _slope(bright: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Steepness (R, C) of log brightness, and where it is steepest across its edge: soft shadow rims stay thin."""
    across, down = cv2.Sobel(bright, -1, 1, 0, ksize=3) / 8, cv2.Sobel(bright, -1, 0, 1, ksize=3) / 8
    slope = np.hypot(across, down)
    neighbor_slope = np.maximum(np.roll(slope, 1, 1), np.roll(slope, -1, 1))
    above = np.maximum(np.roll(slope, 1, 0), np.roll(slope, -1, 0))
    return slope, slope >= np.where(np.abs(across) > np.abs(down), neighbor_slope, above)


# --- back in the picture ----------------------------------------------------------------------------------


def _cells_of_pixels(camera: Camera, path: EgoPath, rolled: _Rolled) -> tuple[np.ndarray, np.ndarray]:
    """Row and column in the unrolled road of every _MAP_STRIDE-th pixel (h, w) float32; -9 where there is none."""
    u = np.arange(_MAP_STRIDE / 2 - 0.5, camera.width, _MAP_STRIDE)
    v = np.arange(_MAP_STRIDE / 2 - 0.5, camera.height, _MAP_STRIDE)
    grid = np.stack(np.meshgrid(u, v), -1).reshape(-1, 2)
    rows, cols = np.full(len(grid), -9.0), np.full(len(grid), -9.0)
    xy, valid = ground_points(camera, grid)
    near = np.flatnonzero(np.where(valid, np.abs(xy).max(1), np.inf) < 1.5 * FAR_M)
    coarse = EgoPath(path.s[::8], path.xy[::8], path.heading[::8], path.known_m)
    s, lateral = coarse.locate(xy[near])
    inside = (s >= rolled.s[0]) & (s <= rolled.s[-1]) & (np.abs(lateral) <= HALF_WIDTH_M)
    index = near[inside]
    rows[index] = np.interp(s[inside], rolled.s, np.arange(len(rolled.s)))
    cols[index] = (lateral[inside] + HALF_WIDTH_M) / STEP_M
    shape = (len(v), len(u))
    return rows.reshape(shape).astype(np.float32), cols.reshape(shape).astype(np.float32)


def _from_below(strangeness: np.ndarray, camera: Camera, stride: int) -> np.ndarray:
    """(h, w) bool: ground up to the first object in each column; unknown cells (NaN) are not ground."""
    free = np.zeros(strangeness.shape, bool)
    tall = _object_rows(camera, strangeness.shape[0], stride)
    strange = strangeness > 1
    in_view = ~np.isnan(strangeness)
    run, base = np.zeros(strangeness.shape[1]), np.zeros(strangeness.shape[1], int)
    blocked = np.zeros(strangeness.shape[1], bool)
    for row in range(strangeness.shape[0] - 1, -1, -1):
        if tall[row] == 0:
            break
        base = np.where((run == 0) & strange[row], row, base)
        # smooth doors and windows do not end an object at once
        run = np.where(strange[row], run + 1, np.maximum(run - SMOOTH_PART, 0))
        ends = (run >= tall[row]) & ~blocked
        if ends.any():
            for column in np.flatnonzero(ends):
                free[row : base[column] + 1, column] = False
            blocked |= ends
        free[row] = in_view[row] & ~blocked
    return free


def _object_rows(camera: Camera, rows: int, stride: int) -> np.ndarray:
    """(rows,) cells that an object of OBJECT_HEIGHT_M covers which stands on the ground at each row; 0: no ground."""
    v = np.arange(rows) * stride + stride / 2
    base, valid = ground_points(camera, np.column_stack([np.full(rows, camera.cx), v]))
    top, top_valid = project(camera, np.column_stack([np.nan_to_num(base), np.full(rows, OBJECT_HEIGHT_M)]))
    ok = valid & top_valid
    height = np.where(ok, v - top[:, 1], 0)
    return np.where(ok, np.maximum(np.rint(height / stride), 2), 0).astype(int)


# --- colour ground -----------------------------------------------------------------------------
# Road guessed from its colour: for machines and lenses on which no network serves.


class ColourGround:
    """The weaker test: guesses the road from the colours before the car; parked cars and kerbs may pass as road."""

    name = "colour"
    options: Mapping[str, Any] = {}
    weaker, uses_camera = True, True
    identity: Mapping[str, Any] = {"version": "1"}

    def perceive(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        return [self._view(frame) for frame in frames]

    def _view(self, frame: CameraFrame) -> SceneView:
        free = find_clear_ground(frame.image, frame.camera, frame.path)
        by = {"name": self.name, **self.identity}
        height, width = frame.image.shape[:2]
        return SceneView(free, np.zeros_like(free), (width, height), None, by)
