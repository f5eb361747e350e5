"""How high a drive's camera stands, by the widths of its lanes and the sizes of its cars, over many frames.

Lines on the ground and a car's width over the rows from its foot to the horizon tell the height whatever the focal
length: both grow by the same pixels. One frame tells little, as roads bend up and down; a drive's frames share the
camera. A stated height stays unless what is seen is sure that it is another.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cfgen.geometry.camera import centre, rotation
from cfgen.geometry.lens import Array
from cfgen.perception.frame_camera import LANE_M, SURE, FrameCamera, corrected
from cfgen.perception.vehicle_sizes import sights
from cfgen.perception.view import Thing
from cfgen.records import Camera, Scene

#: Widths of lanes, m: beyond them lines alone are believed.
LANES_M = (2.5, 4.2)
#: Fewest frames that tell of lanes, or of cars.
FEWEST = 4
#: How far (log) all lanes, or all cars, of a drive may differ from what is usual; and cars up to here count, m.
_LANES_DIFFER, _CARS_DIFFER, _FAR_M = 0.12, 0.06, 80.0
#: What is off by more than so many errors is off; by more than this (log), absurd.
_OFF, _ABSURD = 2.0, math.log(1.6)
#: From the median distance from the median to a standard error of the median, but for the root of the number.
_OF_MEDIAN = 1.25 * 1.48


class HeightClue(NamedTuple):
    """What a frame says: log of measured / stated height by its own lane, and by its cars; None where nothing."""

    by_lane: float | None
    by_cars: float | None


@dataclass(frozen=True)
class HeightSeen:
    """What a drive's frames say of its camera's height.

    Attributes:
        stated_m, height_m: stated and measured. error: standard error, relative. lanes, cars: frames that told of each.
        sure: whether the stated one is wrong beyond doubt.
    """

    stated_m: float
    height_m: float
    error: float
    lanes: int
    cars: int
    sure: bool

    def in_words(self) -> str:
        return (
            f"camera height {self.height_m:.2f} m (good to {self.error:.0%}; lanes in {self.lanes} frames, cars in "
            f"{self.cars}) where {self.stated_m:.2f} is stated"
        )


def height_clue(camera: Camera, lines: FrameCamera, things: Sequence[Thing] | None) -> HeightClue:
    """What a frame says, by its own pitch; nothing where lane lines do not tell that surely.

    Args:
        camera: as stated. lines: what lane lines say of it in this frame.
    """
    if lines.pitch_deg is None or lines.confidence < SURE:
        return HeightClue(None, None)
    lane = None if lines.lane_width_m is None else math.log(LANE_M / lines.lane_width_m)
    ratios = [one.ratio for one in sights(corrected(camera, lines), things or ()) if one.distance_m < _FAR_M]
    return HeightClue(lane, math.log(float(np.median(ratios))) if ratios else None)


def height_seen(camera: Camera, clues: Sequence[HeightClue]) -> HeightSeen | None:
    """What all frames of a drive say together; None where too few tell, or lanes and cars contradict each other."""
    stated = float(centre(camera)[2])
    lanes = np.array([clue.by_lane for clue in clues if clue.by_lane is not None])
    cars = np.array([clue.by_cars for clue in clues if clue.by_cars is not None])
    told = [_middle(logs, differ) for logs, differ in ((lanes, _LANES_DIFFER), (cars, _CARS_DIFFER))]
    sides = [one for one in told if one is not None]
    if not sides or stated <= 0:
        return None
    if len(sides) > 1 and abs(sides[0][0] - sides[1][0]) > _OFF * math.hypot(sides[0][1], sides[1][1]):
        return None
    weights = [error**-2 for _, error in sides]
    off = sum(w * value for w, (value, _) in zip(weights, sides, strict=True)) / sum(weights)
    error = sum(weights) ** -0.5
    beyond = told[0] is not None and not LANES_M[0] <= LANE_M * math.exp(-told[0][0]) <= LANES_M[1]
    doubtless = abs(off) > _OFF * error and (told[1] is not None or beyond)
    sure = (doubtless or (beyond and told[1] is None)) and abs(off) < _ABSURD
    return HeightSeen(stated, stated * math.exp(off), error, len(lanes), len(cars), sure)


def _middle(logs: Array, differ: float) -> tuple[float, float] | None:
    """Median and its standard error; None of too few."""
    if len(logs) < FEWEST:
        return None
    middle = float(np.median(logs))
    strays = _OF_MEDIAN * float(np.median(np.abs(logs - middle))) / math.sqrt(len(logs))
    return middle, math.hypot(differ, strays)


def raised(scene: Scene, height_m: float) -> Scene:
    """The scene with its front camera ``height_m`` above the road, and the others as much higher or lower."""
    up = height_m - float(centre(scene.front)[2])
    return scene.model_copy(update={"cameras": tuple(_lifted(camera, up) for camera in scene.cameras)})


def _lifted(camera: Camera, up: float) -> Camera:
    transform = np.array(camera.T_cam_ego)
    transform[:3, 3] -= rotation(camera) @ (0.0, 0.0, up)
    rows = tuple(tuple(float(value) for value in row) for row in transform)
    return camera.model_copy(update={"T_cam_ego": rows})
