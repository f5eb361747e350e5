"""This frame's camera: its pitch and yaw against the road, by the lane lines that a network sees.

Suspension, slopes and crests turn a camera against the road by a degree and more from one frame to the next; a mean
calibration then puts things at the wrong distance. Lines that run side by side tell where the road's horizon is. They
do not tell the focal length: through any lens the same lines on the ground look the same from another height.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cfgen.geometry.camera import angles, as_matrix, centre, mounted, resized, rotation, unproject
from cfgen.geometry.lens import Array, Mask, to_pixels
from cfgen.perception.lane_lines import lane_chains
from cfgen.perception.road_fit import RoadFit, fit_road
from cfgen.perception.views import SceneViews
from cfgen.records import Camera

#: What a lane is taken to measure where nothing is known, m; and what lanes measure, in camera heights.
LANE_M = 3.5
_LANE_RATIO = (1.6, 4.0)
#: Rays further off the road's direction than 63 degrees are not used: cosine.
_LEAST_AHEAD = 0.45
#: Shortest line, points.
_SHORTEST = 6
#: Rounds in which the road's direction is found; fewer once it is known to this tangent.
_ROUNDS, _LEVEL = 4, 1e-4
#: Standard error of the pitch, deg, and rows of the frame's height that lines cover, which halve the confidence.
_HALF_ERROR_DEG, _HALF_ROWS = 0.35, 0.06
#: Share of the lines' points that agree: none of it counts, all of it counts.
_AGREE = (0.35, 0.75)
#: Drivable pixels may be this far above the horizon, share of the height, and at most this share of them.
_ABOVE, _MOST_ABOVE = 0.02, 0.02
#: What is left of the confidence where more of them are, and where only two lines agree: two always do.
_ROAD_ABOVE, _ONLY_TWO = 0.3, 0.8
#: A road that bends more than this is no measure of yaw, 1/m.
_STRAIGHT = 1 / 500
#: Standard error of a yaw that is told, deg.
_MOST_YAW_ERROR_DEG = 0.5
#: Over how long a frame's neighbours count, s; and how far a frame's pitch is off at best, deg.
_NEIGHBOURS_S, _FLOOR_DEG = 0.3, 0.15
#: How far the median of a drive's frames may be unsure, deg, for half the confidence.
_HALF_SPREAD_DEG = 0.5
#: A stated pitch is overridden from this confidence on, and by no more than so many degrees.
SURE, MOST_PITCH_DEG = 0.55, 3.0


@dataclass(frozen=True)
class FrameCamera:
    """What lane lines say of a frame's camera; where they say nothing, ``reason`` tells why and the rest is None.

    Attributes:
        pitch_deg: > 0 looks down. yaw_deg: > 0 looks to the left of the road's direction at the car; None where the
            road bends. horizon_row: px of the frame, straight ahead of the camera.
        lane_width_m: of the own lane, with the camera as high as stated, and camera_height_m: so high that it measures
            LANE_M; both None where only one of its lines is seen.
        pitch_error_deg: standard error. lines: how many agree. confidence: 0..1.
    """

    pitch_deg: float | None = None
    yaw_deg: float | None = None
    horizon_row: float | None = None
    lane_width_m: float | None = None
    camera_height_m: float | None = None
    pitch_error_deg: float | None = None
    lines: int = 0
    confidence: float = 0.0
    reason: str = ""


def frame_camera(drivable: Mask, lanes: Mask, camera: Camera) -> FrameCamera:
    """What the lane lines of one frame say of its camera.

    Args:
        drivable, lanes: (h, w) masks of the whole frame, at any size. camera: lens and stated mounting; its roll is
            believed, its height only scales ``lane_width_m``.
    """
    height, width = lanes.shape
    grid = resized(camera, width, height)
    chains = lane_chains(lanes)
    if len(chains) < 2:
        return FrameCamera(reason=f"{len(chains)} lane lines seen, two are needed")
    pitch, yaw, roll = angles(camera)
    rays, pixel = _rays(grid, chains), _pixel(grid)
    fit, pitch, yaw = _fitted(rays, pixel, pitch, yaw, roll)
    if fit is None:
        return FrameCamera(reason="no two lane lines run side by side")
    found = turned(camera, pitch, yaw)
    row = _horizon(found)
    if not math.isfinite(row):
        return FrameCamera(reason="the lane lines meet outside the lens's field")
    ratio, stands = _own_lane(fit), float(centre(camera)[2])
    return FrameCamera(
        pitch_deg=math.degrees(pitch),
        yaw_deg=math.degrees(yaw) if _straight(fit, stands) else None,
        horizon_row=row,
        lane_width_m=None if ratio is None else ratio * stands,
        camera_height_m=None if ratio is None else LANE_M / ratio,
        pitch_error_deg=math.degrees(fit.b0_error),
        lines=len(fit.offsets),
        confidence=_confidence(fit, pixel, drivable, (row + 0.5) * height / camera.height),
    )


def _horizon(camera: Camera) -> float:
    """Its row straight ahead of the camera; NaN outside the lens's field."""
    yaw = angles(camera)[1]
    px, _ = to_pixels(camera, (rotation(camera) @ (math.cos(yaw), math.sin(yaw), 0.0))[None])
    return float(px[0, 1])


def _fitted(
    rays: list[Array], pixel: float, pitch: float, yaw: float, roll: float
) -> tuple[RoadFit | None, float, float]:
    """The road's fit, levelled by what the rounds before found, with pitch and yaw, rad."""
    fit = None
    for _ in range(_ROUNDS):
        fit = fit_road(_levelled(rays, _turn(pitch, yaw, roll)), pixel)
        if fit is None:
            break
        pitch, yaw = pitch - math.atan(fit.b0), yaw + math.atan(fit.a0)
        if max(abs(fit.b0), abs(fit.a0)) < _LEVEL:
            break
    return fit, pitch, yaw


def _rays(grid: Camera, chains: list[Array]) -> list[Array]:
    """Unit rays (N, 3) in the camera frame of each chain's points."""
    rays, valid = unproject(grid, np.vstack(chains))
    ends = np.cumsum([len(chain) for chain in chains])[:-1]
    return [ray[ok] for ray, ok in zip(np.split(rays, ends), np.split(valid, ends), strict=True)]


def _levelled(rays: list[Array], level: Array) -> list[Array]:
    """Each line's tangents to the right of and below the direction x of ``level``."""
    lines = []
    for line in rays:
        ahead = line @ level
        ahead = ahead[ahead[:, 0] > _LEAST_AHEAD]
        if len(ahead) >= _SHORTEST:
            lines.append(-ahead[:, 1:] / ahead[:, :1])
    return lines


def _pixel(grid: Camera) -> float:
    """Tangent of one pixel at the optical axis."""
    rays, _ = unproject(grid, [(grid.cx, grid.cy - 0.5), (grid.cx, grid.cy + 0.5)])
    return float(np.linalg.norm(rays[1] - rays[0]))


def _turn(pitch: float, yaw: float, roll: float) -> Array:
    return np.array(mounted(1.0, pitch, yaw, roll))[:3, :3]


def _own_lane(fit: RoadFit) -> float | None:
    """Width of the lane that the camera is in, in camera heights."""
    left = [x for x in fit.offsets if x < 0]
    right = [x for x in fit.offsets if x >= 0]
    ratio = right[0] - left[-1] if left and right else 0.0
    return ratio if _LANE_RATIO[0] <= ratio <= _LANE_RATIO[1] else None


def _straight(fit: RoadFit, stands: float) -> bool:
    """Or not surely bent, with the direction known all the same."""
    bent = 2 * max(abs(fit.bend) - 2 * fit.bend_error, 0.0) / stands
    return bent < _STRAIGHT and math.degrees(fit.a0_error) < _MOST_YAW_ERROR_DEG


def _confidence(fit: RoadFit, pixel: float, drivable: Mask, row: float) -> float:
    sharp = 1 / (1 + (math.degrees(fit.b0_error) / _HALF_ERROR_DEG) ** 2)
    long = 1 / (1 + (_HALF_ROWS / max(fit.rows / pixel / len(drivable), 1e-6)) ** 2)
    agree = float(np.clip((fit.share - _AGREE[0]) / (_AGREE[1] - _AGREE[0]), 0, 1))
    above = drivable[: max(0, round(row - _ABOVE * len(drivable)))].sum() / max(int(drivable.sum()), 1)
    backed = 1.0 if len(fit.offsets) > 2 else _ONLY_TWO
    return sharp * long * agree * backed * (_ROAD_ABOVE if above > _MOST_ABOVE else 1.0)


def smoothed(estimates: Mapping[float, FrameCamera], at: float = 0.0) -> FrameCamera:
    """The estimate at time ``at`` by frames around it: their median, nearer, sharper and surer frames counting more.

    Args:
        estimates: by time, s. A frame's own estimate nearly decides; its neighbours replace it where it is missing or
            astray.
    """
    told = {t: e for t, e in sorted(estimates.items()) if e.pitch_deg is not None}
    weights = {t: _weight(e) * math.exp(-abs(t - at) / _NEIGHBOURS_S) for t, e in told.items()}
    fresh = sum(math.exp(-abs(t - at) / _NEIGHBOURS_S) * e.confidence for t, e in told.items())
    return _middle(list(estimates.values()), list(told.values()), list(weights.values()), fresh)


def typical(estimates: Sequence[FrameCamera]) -> FrameCamera:
    """The median of one camera's frames from anywhere in a drive: its mounting, without the road's ups and downs."""
    told = [e for e in estimates if e.pitch_deg is not None]
    pitches = np.array([e.pitch_deg for e in told])
    apart = float(np.median(np.abs(pitches - np.median(pitches)))) / math.sqrt(len(told)) if told else 0.0
    sure = float(np.median([e.confidence for e in told])) if told else 0.0
    weights = [_weight(e) for e in told]
    return _middle(estimates, told, weights, sure / (1 + (apart / _HALF_SPREAD_DEG) ** 2))


def _weight(one: FrameCamera) -> float:
    return one.confidence / (_FLOOR_DEG**2 + (one.pitch_error_deg or 0.0) ** 2)


def _middle(
    all_of: Sequence[FrameCamera], told: Sequence[FrameCamera], weights: Sequence[float], sure: float
) -> FrameCamera:
    """The weighted medians; horizon and errors are those of the frame whose pitch is the median."""
    if not sum(weights):
        reasons = [one.reason for one in all_of if one.reason]
        return FrameCamera(
            reason=reasons[-1] if reasons else "no frame" if not all_of else "nothing sure seen"
        )
    pitch = _median([one.pitch_deg for one in told], weights)
    return replace(
        next(one for one in told if one.pitch_deg == pitch),
        yaw_deg=_median([one.yaw_deg for one in told], weights),
        lane_width_m=_median([one.lane_width_m for one in told], weights),
        camera_height_m=_median([one.camera_height_m for one in told], weights),
        confidence=min(max(one.confidence for one in told), sure),
    )


def _median(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """The value that half of the weight is below; None of none."""
    known = sorted(
        (value, weight)
        for value, weight in zip(values, weights, strict=True)
        if value is not None and weight > 0
    )
    if not known:
        return None
    reached = np.cumsum([weight for _, weight in known])
    return known[int(np.searchsorted(reached, reached[-1] / 2))][0]


def corrected(camera: Camera, seen: FrameCamera) -> Camera:
    """The camera with the pitch that a frame shows, where that is sure and not absurd; else as it is stated.

    Only the pitch: a lane shows the camera's yaw no better than its driver keeps to it.
    """
    if seen.pitch_deg is None or seen.confidence < SURE:
        return camera
    pitch, yaw, _ = angles(camera)
    if abs(seen.pitch_deg - math.degrees(pitch)) > MOST_PITCH_DEG:
        return camera
    return turned(camera, math.radians(seen.pitch_deg), yaw)


def turned(camera: Camera, pitch: float, yaw: float) -> Camera:
    """The camera at its place with another pitch and yaw, rad, and its own roll."""
    rot = _turn(pitch, yaw, angles(camera)[2])
    return camera.model_copy(update={"T_cam_ego": as_matrix(rot, -rot @ centre(camera))})


def scene_cameras(views: SceneViews) -> dict[float, FrameCamera]:
    """What each front frame of a scene says of its camera, by its time, s relative to t0."""
    camera = views.scene.front
    return {t: frame_camera(view.road, view.lanes, camera) for t, view in views.all().items()}
