"""Whether something stood on a far place in a past frame that is plain road at t0, by the pixels alone.

Detectors do not see a car of 15 pixels. What stands on a road is dark where it touches it, and goes on upwards; shadows
and patches lie flat, paint is bright, and all of them are still there at t0.
"""

import math

import cv2
import numpy as np

from cfgen.geometry.camera import centre, project
from cfgen.geometry.lens import Array
from cfgen.perception.vehicle_sizes import CAR_M
from cfgen.records import Camera

#: A car narrower than this share of the frame's height is too small for a detector; others are left to it.
SMALL = 0.043
#: The road before the place tells how road looks: from and to, as shares of the distance.
_BEFORE = (0.55, 0.85)
#: Its lower end is so much darker than that (log of 8 bit), and so many times as much as road strays.
_DARKER, _STRAYS = 0.3, 3.5
#: Added to 8-bit brightness before the logarithm: below it noise rules; darker road shows nothing.
_DARK, _NIGHT = 6.0, 30.0
#: It is dark over so much of its width, m, so much of it at the place; and goes on for so much upwards, m, of which
#: such a share is no road.
_WIDE_M, _SHARED_M, _TALL_M, _UPRIGHT = 1.1, 0.4, 0.7, 0.6
#: What is no road differs from it by so much (log), either way.
_OTHER = 0.15
#: Rows by which poses are off, px at 960 columns, and its distance as bumps and pitch have it, as a share.
_ROWS_PX, _ALONG = 1.0, 0.06


def stood_there(
    image: np.ndarray, camera: Camera, footprint: Array, now: np.ndarray, camera_now: Camera
) -> bool:
    """Whether a past frame shows something upright on a place that t0 shows without it.

    Args:
        image, now: (H, W, 3) uint8 RGB, the past frame and that of t0. camera, camera_now: in the ego frame at t0.
        footprint: (4, 3) m, of the place.
    """
    return _stands(image, camera, footprint) and not _stands(now, camera_now, footprint)


def _stands(image: np.ndarray, camera: Camera, footprint: Array) -> bool:
    """Whether a dark end lies on the place's rows and columns with something upright above it."""
    eye, middle = centre(camera) * (1, 1, 0), footprint.mean(0)
    px, valid = project(camera, footprint)
    before, seen = project(camera, eye + np.outer(_BEFORE, middle - eye))
    tops, top_seen = project(camera, np.stack([middle, middle + np.array([0.0, 0.0, 1.0])]))
    metre = float(tops[0, 1] - tops[1, 1])
    if not (valid.all() and seen.all() and top_seen.all()) or CAR_M[1] * metre > SMALL * camera.height:
        return False
    slack = _ROWS_PX * camera.width / 960 + _ALONG * metre * float(centre(camera)[2])
    place = px[:, 0].min(), px[:, 0].max()
    left, right = math.floor(place[0] - CAR_M[1] * metre), math.ceil(place[1] + CAR_M[1] * metre) + 1
    low, high = math.floor(px[:, 1].min() - slack), math.ceil(px[:, 1].max() + slack) + 1
    tall = max(round(_TALL_M * metre), 3)
    near, far = round(before[1, 1]), round(before[0, 1])
    if left < 0 or right > camera.width or low < tall or max(far, high) > camera.height or far - near < 2:
        return False
    road = _log(image[near:far, left:right])
    usual = float(np.median(road))
    strays = 1.48 * float(np.median(np.abs(road - usual)))
    if usual < math.log(_NIGHT + _DARK):
        return False
    part = _log(image[low - tall : high, left:right]) - usual
    dark = part < -max(_DARKER, _STRAYS * strays)
    other = np.abs(part) > max(_OTHER, 2 * strays)
    shared = min(_SHARED_M * metre, (place[1] - place[0]) / 2)
    for row in range(tall, len(part)):
        for a, b in _runs(dark[row]):
            at = min(left + b, place[1]) - max(left + a, place[0])
            if b - a >= _WIDE_M * metre and at >= shared and other[row - tall : row, a:b].mean() >= _UPRIGHT:
                return True
    return False


def _log(pixels: np.ndarray) -> np.ndarray:
    grey: np.ndarray = np.log(
        cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY).astype(float) + _DARK
    )
    return grey


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """The runs in a row (N,) bool: the first column of each, and the one after its last."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))
