"""How one plan differs from another, seen from a place on the road, and whether any car could drive it."""

from dataclasses import dataclass

import numpy as np

from cfgen.geometry.camera import project
from cfgen.geometry.coherence import incoherent
from cfgen.geometry.driving import CarState, drive
from cfgen.geometry.lens import Array
from cfgen.geometry.path import path_of_plan, travelled
from cfgen.geometry.trajectory import speeds
from cfgen.judge.protocol import JudgeItem
from cfgen.judge.settings import DRIVABLE, MOTION
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Plan

#: The car's corners on the ground, m ahead and to the left of its rear axle.
_CAR = np.array([(-1.0, -0.95), (3.8, -0.95), (3.8, 0.95), (-1.0, 0.95)])


@dataclass(frozen=True)
class MotionChange:
    """What the modified plan does differently before it comes to the changed place.

    Attributes:
        distinct: the plans can be told apart at all.
        slowed: m/s shed against the original before the place. held_back: m behind the original there or at the end.
        hurried: m/s gained before the place.
        towards: m by which it passes closer to the place, negative when farther; NaN without a place.
        in_the_way: the original plan would touch what stands there before it ends.
        gap: m left beside it when the modified plan passes; negative when it would touch it.
        arrival: share of the original's speed that is left when it gets there; 0 when it never gets there.
    """

    distinct: bool
    slowed: float
    held_back: float
    hurried: float
    towards: float
    in_the_way: bool
    gap: float
    arrival: float

    @property
    def brakes(self) -> bool:
        return (
            self.slowed >= MOTION.brake_mps
            and self.held_back >= MOTION.brake_m
            and self.slowed > self.hurried
        )


def compare(original: Plan, modified: Plan, base: np.ndarray) -> MotionChange:
    """As far as the shorter plan goes. ``base`` (M, 2): ground points of the element, m; (0, 2) when there are none."""
    n = min(len(original.waypoints), len(modified.waypoints))
    a, b = np.array(original.waypoints)[:n], np.array(modified.waypoints)[:n]
    path = path_of_plan(a)
    along, modified_along = travelled(a), travelled(b)
    va, vb = speeds(a), speeds(b)
    s_b, l_b = (np.concatenate([[0.0], v]) for v in path.locate(b[:, :2]))
    distinct = _distinct(along, modified_along, l_b, va, vb)
    near, low, high = _extent(path.locate(base)) if len(base) else (np.inf, np.nan, np.nan)
    arrives = np.flatnonzero(s_b >= near - 1.0)
    end = int(arrives[0]) if len(arrives) else n
    before = slice(0, max(end, 1) + 1)
    change = (vb - va)[before]
    at_original = np.interp(near, along, va) if near < along[-1] else va[-1]
    offset = float(l_b[end])
    return MotionChange(
        distinct=distinct,
        slowed=float(max(-change.min(), 0.0)),
        held_back=float((along - modified_along)[end]),
        hurried=float(max(change.max(), 0.0)),
        towards=_gap(0.0, low, high) - _gap(offset, low, high),
        in_the_way=bool(near < along[-1] and _gap(0.0, low, high) < 0.1),
        gap=_gap(offset, low, high),
        arrival=float(vb[end] / max(at_original, 0.5)) if len(arrives) else 0.0,
    )


def _distinct(
    along: np.ndarray, modified_along: np.ndarray, l_b: np.ndarray, va: np.ndarray, vb: np.ndarray
) -> bool:
    reach = max(MOTION.same_along_m, MOTION.same_along_share * along[-1])
    return bool(
        np.abs(along - modified_along).max() > reach
        or np.abs(l_b).max() > MOTION.same_beside_m
        or np.abs(va - vb).max() > MOTION.same_speed_mps
    )


def _extent(located: tuple[np.ndarray, np.ndarray]) -> tuple[float, float, float]:
    """Nearest arc length, and the right and left ends beside the path, of ground points."""
    along, offsets = located
    return float(np.percentile(along, 5)), float(offsets.min()), float(offsets.max())


def _gap(offset: float, low: float, high: float) -> float:
    """m between the car's side and the element when the car's middle passes at ``offset``; negative is contact."""
    middle, half = (low + high) / 2, (high - low) / 2
    return float(abs(offset - middle) - half - MOTION.half_car_m)


# --- whether it can be driven at all ---------------------------------------------------------------------------


def no_response(item: JudgeItem) -> str:
    """Why the modified plan could answer nothing, "" if it could: undrivable, far to the side, or off the road."""
    original, modified = (np.array(plan.waypoints) for plan in (item.original_plan, item.modified_plan))
    start = item.start or CarState(float(speeds(original)[0]))
    if why := incoherent(modified, start):
        return f"no car drives like that, {why}"
    if aside := far_aside(modified, original):
        return f"it goes {aside:.0f} m to the side of its way"
    if item.road and leaves_road(modified, original, start, item.road, item.camera):
        return "it leaves the road"
    return ""


def far_aside(modified: Array, original: Array) -> float:
    """m by which ``modified`` (N, >= 2) goes to the side of its way, 0 where it stays as near as any lane of the road.

    Its way is the original's (N, >= 2) or straight on, whichever is nearer: a plan that turned may now go straight.
    Nearer by, too, no car crosses its way steeply that means to avoid something.
    """
    xy = np.vstack([np.zeros(2), modified[:, :2]])
    path = path_of_plan(original)
    s, offsets = path.locate(xy)
    straight = np.abs(xy[:, 1]) < np.abs(offsets)
    aside = np.where(straight, np.abs(xy[:, 1]), np.abs(offsets))[1:]
    step = np.diff(xy, axis=0)
    way = np.where(straight, 0.0, np.asarray(path.at(s)[2]))[1:]
    across = np.abs(-np.sin(way) * step[:, 0] + np.cos(way) * step[:, 1])
    steep = across > np.sin(DRIVABLE.steep) * np.hypot(*step.T) + 0.05
    off = (aside > DRIVABLE.far_aside_m) | ((aside > DRIVABLE.aside_m) & steep)
    return float(aside[off].max()) if off.any() else 0.0


def leaves_road(modified: Array, original: Array, start: CarState, view: SceneView, camera: Camera) -> bool:
    """Whether the car that follows ``modified`` (N, 3) is off the road at three waypoints or more.

    Off it is where nothing under the car is seen as road while the original's way beside it is: what is hidden, out of
    the frame or not recognised is not held against a plan. ``view`` is what the unchanged frame shows, at t0.
    """
    poses = drive(modified, start).poses
    path = path_of_plan(original)
    s, lateral = path.locate(poses[:, :2])
    judged = (np.abs(lateral) > DRIVABLE.beside_m) & (poses[:, 0] > DRIVABLE.nearest_m)
    judged &= np.hypot(*poses[:, :2].T) < DRIVABLE.farthest_m
    if judged.sum() < DRIVABLE.least_waypoints:
        return False
    under = road_shares(poses[judged], view, camera)
    reference = road_shares(np.column_stack(path.at(s[judged])), view, camera)
    return bool(
        ((under < DRIVABLE.off_road) & (reference > DRIVABLE.on_road)).sum() >= DRIVABLE.least_waypoints
    )


def road_shares(poses: Array, view: SceneView, camera: Camera) -> Array:
    """(N,) share of the ground under a car at ``poses`` (N, 3) that is seen as road; NaN where not all is in view."""
    shares = np.full(len(poses), np.nan)
    for i, (x, y, theta) in enumerate(poses):
        c, s = np.cos(theta), np.sin(theta)
        ground = _CAR @ np.array([[c, s], [-s, c]]) + (x, y)
        px, valid = project(camera, np.column_stack([ground, np.zeros(4)]))
        inside = (px >= 0).all() and (px < (camera.width, camera.height)).all()
        if valid.all() and inside:
            shares[i] = view.share(px)
    return shares
