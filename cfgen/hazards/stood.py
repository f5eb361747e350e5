"""Whether something stood on a place in a past frame that is plain road at t0, by the pixels alone.

Detectors do not see a car of 15 pixels, and not every perceiver asks one. What stands on a road is dark where it
touches it, and goes on upwards; shadows and patches lie flat, paint is bright, and all of them are still there at t0.
"""

import math
from collections.abc import Iterator

import cv2
import numpy as np

from cfgen.geometry.camera import centre, ground_points, project
from cfgen.geometry.lens import Array
from cfgen.perception.camera import CAR_M
from cfgen.records import Camera

#: A car narrower than this share of the frame's height is too small for a detector; larger ones are made as small.
SMALL = 0.043
#: The road before the place tells how road looks: from and to, as shares of the distance.
_BEFORE = (0.55, 0.85)
#: Its lower end is so much darker than that (log of 8 bit), and so many times as much as road strays.
_DARKER, _STRAYS = 0.15, 2.5
#: Added to 8-bit brightness before the logarithm: below it noise rules; darker road shows nothing.
_DARK, _NIGHT = 6.0, 15.0
#: It is dark over so much of its width, m, so much of it at the place; and goes on for so much upwards, m, of which
#: such a share is no road.
_WIDE_M, _SHARED_M, _TALL_M, _UPRIGHT = 1.1, 0.4, 0.7, 0.6
#: What is no road differs from it by so much (log), either way.
_OTHER = 0.1
#: Rows by which poses are off, px at 960 columns, and its distance as bumps and pitch have it, as a share.
ROWS_PX, ALONG = 1.0, 0.06
#: Of that, at t0, whose frame says where the place is.
_NOW = 0.5


def was_occupied(
    image: np.ndarray,
    camera: Camera,
    footprint: Array,
    frame: np.ndarray,
    camera_now: Camera,
    beyond_m: float = 0.0,
    any_size: bool = True,
) -> bool:
    """Whether a past frame shows something upright on a place that t0 shows without it.

    Args:
        image, now: (H, W, 3) uint8 RGB, the past frame and that of t0. camera, camera_now: in the ego frame at t0.
        footprint: (4, 3) m, of the place. beyond_m: what is less than this beyond it counts too.
        any_size: look for cars of all sizes, not just for those that a detector misses.
    """
    for spot, far in _standing(image, camera, footprint, beyond_m, any_size):
        # of a far end the ground is not known well: the whole place tells
        region = (footprint, beyond_m) if far else (spot, 0.0)
        if not any(True for _ in _standing(frame, camera_now, *region, slack=_NOW)):
            return True
    return False


def rows_off(camera: Camera, metre: float) -> float:
    """Rows by which feet on a place where a metre is ``metre`` px may be off."""
    return ROWS_PX * camera.width / 960 + ALONG * metre * float(centre(camera)[2])


def _standing(
    image: np.ndarray,
    camera: Camera,
    footprint: Array,
    beyond_m: float = 0.0,
    any_size: bool = True,
    slack: float = 1.0,
) -> Iterator[tuple[Array, bool]]:
    """The ground (4, 3) m under each dark end on the place's rows and columns with something upright above it, and
    whether that is far off: too small for a detector."""
    eye, middle = centre(camera) * (1, 1, 0), footprint.mean(0)
    away = middle - eye
    direction = away / max(float(np.linalg.norm(away)), 1e-6)
    end = eye + direction * (float(((footprint - eye) @ direction).max()) + beyond_m)
    up = middle + np.array([0.0, 0.0, 1.0])
    px, valid = project(camera, np.vstack([footprint, eye + np.outer(_BEFORE, away), middle, up, end]))
    if not valid.all():
        return
    place, (near, far), metre = px[:4], np.rint(px[4:6, 1]).astype(int), float(px[6, 1] - px[7, 1])
    scale = min(1.0, SMALL * camera.height / (CAR_M[1] * metre))
    if scale < 1 and not any_size:
        return
    slack *= rows_off(camera, metre)
    first_col = max(math.floor(place[:, 0].min() - CAR_M[1] * metre), 0)
    last_col = min(math.ceil(place[:, 0].max() + CAR_M[1] * metre) + 1, camera.width)
    low = math.floor(min(place[:, 1].min() - slack, px[8, 1]))
    high = min(math.ceil(place[:, 1].max() + slack) + 1, camera.height)
    top, near = low - max(math.ceil(_TALL_M * metre) + 1, 3), min(near, camera.height)
    if top < 0 or near - far < 2 or last_col - first_col < 2 * _WIDE_M * metre:
        return
    road = _log(image[far:near, first_col:last_col], scale)
    usual = float(np.median(road))
    strays = 1.48 * float(np.median(np.abs(road - usual)))
    if usual < math.log(_NIGHT + _DARK):
        return
    part, at = _log(image[top:high, first_col:last_col], scale) - usual, (place[:, 0] - first_col) * scale
    dark, not_road = part < -max(_DARKER, _STRAYS * strays), np.abs(part) > max(_OTHER, 2 * strays)
    metre, tall = metre * scale, max(round(_TALL_M * metre * scale), 3)
    shared = min(_SHARED_M * metre, float(np.ptp(at)) / 2)
    for row in range(max(tall, math.floor((low - top) * scale)), len(part)):
        for a, b in _runs(dark[row]):
            wide = b - a >= _WIDE_M * metre and min(b, at.max()) - max(a, at.min()) >= shared
            if wide and not_road[row - tall : row, a:b].mean() >= _UPRIGHT:
                half, row_px = max(slack, 0.5 / scale), top + row / scale
                cols, rows = (
                    first_col + np.array([a, b, b, a]) / scale,
                    row_px + half * np.array([-1, -1, 1, 1]),
                )
                spot, valid = ground_points(camera, np.column_stack([cols, rows]))
                if valid.all():
                    yield np.column_stack([spot, np.zeros(4)]), scale == 1


def _log(pixels: np.ndarray, scale: float) -> np.ndarray:
    """(h, w) log brightness, made smaller."""
    size = [max(round(n * scale), 1) for n in pixels.shape[1::-1]]
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale < 1 else pixels
    grey: np.ndarray = np.log(
        cv2.cvtColor(np.ascontiguousarray(small), cv2.COLOR_RGB2GRAY).astype(float) + _DARK
    )
    return grey


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """The runs in a row (N,) bool: the first column of each, and the one after its last."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))
