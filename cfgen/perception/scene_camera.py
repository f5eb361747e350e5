"""The front camera at each of a scene's frames, and how high a drive's camera stands, by what the frames show.

Suspension, slopes and crests turn a camera against the road by a degree and more from one frame to the next; a mean
calibration then puts things at the wrong distance. So each frame's pitch is fitted (:mod:`cfgen.perception.camera`)
around the stated one, by its own lane lines and real cars and by those of the frames around it.

Pitches told frame by frame tremble, and a tenth of a degree makes what stands still hop over the road. How a camera
turned between two frames its own picture tells far better (:mod:`cfgen.perception.ego_motion`); so each past frame
looks as t0 does, but for the turns between them. A car pitches with the road, so what it pitched in all since tells how
much higher or lower it was on a hill.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cfgen.geometry.camera import angles, as_matrix, centre, resized, rotation
from cfgen.geometry.frames import pose_at
from cfgen.geometry.lens import Array
from cfgen.perception.camera import LANE_M, Clue, LaneReading, fit_camera, read_lane_lines, sights, turned
from cfgen.perception.ego_motion import followed, grey, turn_of
from cfgen.perception.settings import CAMERA, PAST_CAMERAS
from cfgen.perception.view import SceneView, Thing
from cfgen.perception.views import Images, SceneViews
from cfgen.records import Camera, Scene


def as_seen(views: SceneViews) -> Scene:
    """The scene with its front camera as its frames show it; itself where they show nothing of it."""
    scene, views = views.scene, views.perceived
    if not views.lanes_known:
        return scene
    cameras = frame_cameras(views)
    if all(camera == scene.front for camera in cameras.values()):
        return scene
    if 0.0 in cameras:
        cameras = steadied(scene, views.images, cameras)
    at_t0 = cameras.get(0.0, scene.front)
    return scene.model_copy(update={"cameras": (at_t0, *scene.cameras[1:]), "seen_cameras": cameras})


def lane_readings(views: SceneViews) -> dict[float, LaneReading]:
    """What the lane lines of each front frame of a scene say of its camera, by its time, s relative to t0."""
    camera, views = views.scene.front, views.perceived
    return {t: read_lane_lines(view.road, view.lanes, camera) for t, view in views.all().items()}


def frame_cameras(views: SceneViews) -> dict[float, Camera]:
    """The front camera at each of its frames, in the ego frame of that time, pitched as that and those around show.

    Only pitched: a lane shows the camera's yaw no better than its driver keeps to it.
    """
    views_at, readings = views.all(), lane_readings(views)
    return {t: pitched(views.scene.front, readings, views_at, t) for t in readings}


def pitched(
    camera: Camera, readings: Mapping[float, LaneReading], views_at: Mapping[float, SceneView], at: float
) -> Camera:
    """The camera with its pitch at one time; itself where nothing tells it.

    Args:
        readings: what lane lines say, by time, s. views_at: each frame's view.
    """
    pitch, yaw, _ = angles(camera)
    height = float(centre(camera)[2])
    clues = [
        Clue("pitch", pitch, math.radians(CAMERA.stated_deg), "stated"),
        Clue("height", height, 0.01 * height, "stated"),
    ]
    frames: list[tuple[Sequence[Thing], float]] = []
    for t, reading in readings.items():
        drift = CAMERA.drift_deg_s * abs(t - at)
        off = math.inf if reading.pitch_deg is None else reading.pitch_deg - math.degrees(pitch)
        if abs(off) < CAMERA.reach * CAMERA.stated_deg:
            error = math.radians(math.hypot(reading.pitch_error_deg, CAMERA.lines_deg, drift))
            clues.append(
                Clue("pitch", pitch + math.radians(off), error, "lane lines", 1 - reading.confidence)
            )
        frames.append((views_at[t].things or (), math.radians(drift)))
    fit = fit_camera(camera, frames, clues)
    return camera if len(clues) == 2 and not fit.count else turned(camera, _stepped(fit.pitch), yaw)


# --- the past, held to t0 ---


def steadied(scene: Scene, images: Images, cameras: Mapping[float, Camera]) -> dict[float, Camera]:
    """``cameras`` of the front frames by time, in the ego frame of that time, those before t0 as they turned since.

    Where two frames do not tell, the turn between them is that of the poses, and the pitch as it is told for each. On
    hills t0's is the scene's own camera.
    """
    times = sorted((t for t in cameras if t <= 0), reverse=True)
    greys = {t: grey(images[scene.front.name, t], PAST_CAMERAS.width_px) for t in times}
    steepest = math.radians(PAST_CAMERAS.most_pitch_deg)
    down, left, tilts = 0.0, 0.0, [0.0]
    turns: list[tuple[float, float]] = []
    for after, before in pairwise(times):
        turn = _turn(scene, (before, greys[before]), (after, greys[after]))
        if turn is None:
            down += angles(cameras[before])[0] - angles(cameras[after])[0]
        else:
            down, left = down + turn[0], left + turn[1]
        tilts.append(tilts[-1] + (turn[0] if turn else 0.0))
        turns.append((float(np.clip(down, -steepest, steepest)), left))
    curve = _curve(scene, times, tilts)
    at_t0 = scene.front if abs(curve) > PAST_CAMERAS.hill else cameras[0.0]
    pitch, yaw, _ = angles(at_t0)
    ups = curve / 2 * _driven(scene, times) ** 2
    steady = {**cameras, 0.0: at_t0}
    for t, up, (down, left) in zip(times[1:], ups[1:], turns, strict=True):
        camera = turned(cameras[t], pitch + _stepped(down), yaw + _stepped(left))
        steady[t] = _raised(camera, round(float(up), 3))
    return steady


def _stepped(angle: float) -> float:
    """In steps of a hundredth of a degree: another processor gives the same."""
    return math.radians(round(math.degrees(angle), 2))


def curves_up(scene: Scene, cameras: Mapping[float, Camera]) -> float:
    """By how much the road curves up, 1/m, by how high ``cameras`` as :func:`steadied` stand over the plane of t0."""
    if not cameras:
        return 0.0
    first = min(cameras)
    driven = float(_driven(scene, [first])[0])
    up = float(centre(cameras[first])[2] - centre(cameras[0.0])[2])
    return 2 * up / driven**2 if driven >= PAST_CAMERAS.driven_m else 0.0


def _driven(scene: Scene, times: Sequence[float]) -> np.ndarray:
    """(T,) m, how far off the car was."""
    return np.array([float(np.hypot(*pose_at(scene.history, t)[:2])) for t in times])


def _curve(scene: Scene, times: Sequence[float], tilts: Sequence[float]) -> float:
    """By how much the road curved up under the car, 1/m, by how its camera tilted; a nod at t0 is none of it."""
    driven = _driven(scene, times)
    if len(times) <= PAST_CAMERAS.frames or driven[-1] < PAST_CAMERAS.driven_m or not any(tilts):
        return 0.0
    return float(np.polyfit(driven[1:], tilts[1:], 1)[0])


def _raised(camera: Camera, up: float) -> Camera:
    """The camera ``up`` metres higher."""
    rot = rotation(camera)
    return camera.model_copy(
        update={"T_cam_ego": as_matrix(rot, -rot @ (centre(camera) + np.array([0.0, 0.0, up])))}
    )


def _turn(
    scene: Scene, before: tuple[float, np.ndarray], after: tuple[float, np.ndarray]
) -> tuple[float, float] | None:
    """How much farther down the earlier frame looks than the later one, and how much farther left than its pose says,
    rad; None where they do not tell."""
    (t0, first), (t1, second) = before, after
    if first.shape != second.shape or t1 - t0 > PAST_CAMERAS.gap_s:
        return None
    points = followed(resized(scene.front, first.shape[1], first.shape[0]), first, second)
    if points is None or len(points) < PAST_CAMERAS.fewest_points:
        return None
    _, pitch, yaw = turn_of(points).angles
    off = float(pose_at(scene.history, t1)[2] - pose_at(scene.history, t0)[2] - yaw)
    return (-float(pitch), off) if abs(off) <= math.radians(PAST_CAMERAS.most_yaw_deg) else None


# --- how high a drive's camera stands ---


class HeightClue(NamedTuple):
    """What a frame says: log of measured / stated height by its own lane, and by its cars; None where nothing."""

    by_lane: float | None = None
    by_cars: float | None = None


@dataclass(frozen=True)
class DriveHeight:
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


def height_clue(camera: Camera, lines: LaneReading, things: Sequence[Thing] | None) -> HeightClue:
    """What a frame says, by its own pitch; nothing where lane lines do not tell that surely.

    Lines on the ground and a car's width over the rows from its foot to the horizon tell the height whatever the focal
    length: both grow by the same pixels.

    Args:
        camera: as stated. lines: what lane lines say of it in this frame.
    """
    if lines.pitch_deg is None or not lines.sure:
        return HeightClue()
    level = turned(camera, math.radians(lines.pitch_deg), angles(camera)[1])
    ratios = [sight.ratio for sight in sights(level, things or ()) if sight.distance_m < CAMERA.far_m]
    return HeightClue(
        math.log(lines.height_m / float(centre(camera)[2])) if lines.height_m else None,
        math.log(float(np.median(ratios))) if ratios else None,
    )


def drive_height(camera: Camera, clues: Sequence[HeightClue]) -> DriveHeight | None:
    """What all frames of a drive say together; None where too few tell, or lanes and cars contradict each other."""
    stated = float(centre(camera)[2])
    lanes = np.array([clue.by_lane for clue in clues if clue.by_lane is not None])
    cars = np.array([clue.by_cars for clue in clues if clue.by_cars is not None])
    by_lanes, by_cars = _median_log(lanes, CAMERA.lanes_differ), _median_log(cars, CAMERA.cars_differ)
    sides = np.array([side for side in (by_lanes, by_cars) if side is not None])
    if not len(sides) or stated <= 0:
        return None
    values, errors = sides.T
    if len(sides) > 1 and abs(values[0] - values[1]) > CAMERA.off * math.hypot(*errors):
        return None
    off, error = float(np.average(values, weights=errors**-2)), float((errors**-2).sum() ** -0.5)
    low, high = CAMERA.lanes_m
    no_lane = by_lanes is not None and not low <= LANE_M * math.exp(-by_lanes[0]) <= high
    sure = no_lane if by_cars is None else abs(off) > CAMERA.off * error
    sure = sure and abs(off) < math.log(CAMERA.absurd)
    return DriveHeight(stated, stated * math.exp(off), error, len(lanes), len(cars), sure)


def _median_log(logs: Array, differ: float) -> tuple[float, float] | None:
    """Median and its standard error; None of too few."""
    if len(logs) < CAMERA.fewest:
        return None
    middle = float(np.median(logs))
    # from the median distance from the median to a standard error of the median
    error = 1.25 * 1.48 * float(np.median(np.abs(logs - middle))) / math.sqrt(len(logs))
    return middle, math.hypot(differ, error)


def raised(scene: Scene, height_m: float) -> Scene:
    """The scene with its front camera ``height_m`` above the road, and the others as much higher or lower."""
    up = height_m - float(centre(scene.front)[2])
    return scene.model_copy(update={"cameras": tuple(_raised(camera, up) for camera in scene.cameras)})
