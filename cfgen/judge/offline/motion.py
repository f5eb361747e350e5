"""How one plan differs from another, seen from a place on the road, and whether any car could drive it."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import project
from cfgen.geometry.coherence import incoherent
from cfgen.geometry.collision import (
    CLEAR_M,
    EGO_CORNERS,
    FRONT_M,
    REAR_M,
    Footprint,
    Track,
    beside,
    closing_speed,
)
from cfgen.geometry.driving import CarState, drive
from cfgen.geometry.lens import Array, Mask
from cfgen.geometry.path import path_of_plan
from cfgen.geometry.trajectory import speeds
from cfgen.judge.protocol import JudgeItem
from cfgen.judge.settings import DRIVABLE, MOTION
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Plan, Polygon


@dataclass(frozen=True)
class MotionChange:
    """What the simulated car does differently on the modified plan before its nose comes to the changed place.

    What happens later counts for nothing.

    Attributes:
        distinct: the plans can be told apart at all.
        slowed: m/s shed against the original before the place. held_back: m behind the original there or at the end.
        delay: the same, s at the original's speed. hurried: m/s gained before the place.
        towards: m by which it passes closer to the place, negative when farther; 0 without a place.
        gap: m left beside it when the modified plan passes, or would pass from where it ends; negative on contact.
        arrival: the speed at which it meets what stands there, as a share of the original's; 0 when it does not.
        due: whether the original plan comes so near that there is something to respond to.
    """

    distinct: bool
    slowed: float
    held_back: float
    delay: float
    hurried: float
    towards: float
    gap: float
    arrival: float
    due: bool

    @property
    def brakes(self) -> bool:
        return (
            self.slowed >= MOTION.brake_mps
            and self.held_back >= MOTION.brake_m
            and self.slowed > self.hurried
        )


def compare(
    original: Plan, modified: Plan, change: Footprint | None, start: CarState | None = None
) -> MotionChange:
    """As far as the shorter plan goes, driven from ``start`` or from the original's own speed.

    ``change``: what is new on the road and how it moves; None where it meets no ground in view.
    """
    n = min(len(original.waypoints), len(modified.waypoints))
    plans = [np.array(plan.waypoints)[:n] for plan in (original, modified)]
    start = start or CarState(float(speeds(plans[0])[0]))
    drives = [drive(plan, start) for plan in plans]
    a, b = (Track.of(driven.planned, driven.line_speed) for driven in drives)
    noise = float(np.hypot(*(driven.noise for driven in drives)))
    arrival_a, arrival_b = (_arrival(track, change) for track in (a, b))
    until = slice(0, arrival_b.at + 1)
    gained = (b.v - a.v)[until]
    way_a, way_b = (np.append(0.0, np.cumsum(np.hypot(*np.diff(t.poses[:, :2], axis=0).T))) for t in (a, b))
    share = arrival_b.speed / max(arrival_a.speed, 0.5) if arrival_b.hits else 0.0
    held_back = float((way_a - way_b)[arrival_b.at])
    return MotionChange(
        distinct=_distinct(a, b, way_a, way_b, noise),
        slowed=float(max(-gained.min(), 0.0)),
        held_back=held_back,
        delay=held_back / max(float(a.v[until].mean()), 1.0),
        hurried=float(max(gained.max(), 0.0)),
        towards=arrival_a.room - arrival_b.room if np.isfinite([arrival_a.room, arrival_b.room]).all() else 0.0,
        gap=arrival_b.room,
        arrival=float(share),
        due=change is None or arrival_a.room < CLEAR_M,
    )


@dataclass(frozen=True)
class _Arrival:
    """Where on a track the nose comes to a footprint, or its last step; how fast the two close, m/s, and the room
    between their sides, m, there or at the least while it passes; ``hits``: they touch."""

    at: int
    speed: float
    room: float
    hits: bool


def _arrival(track: Track, change: Footprint | None) -> _Arrival:
    last = len(track.t) - 1
    if change is None:
        return _Arrival(last, float(track.v[last]), np.inf, False)
    ahead, room = beside(track, change)
    alongside = np.flatnonzero(ahead <= 0)
    if not len(alongside):
        closing = float(closing_speed(track, change)[last])
        return _Arrival(last, closing, np.inf if track.v[last] < MOTION.stands_mps else float(room[last]), False)
    touching = alongside[room[alongside] < -MOTION.touch_m]
    at = int((touching if len(touching) else alongside)[0])
    return _Arrival(
        at, float(closing_speed(track, change)[at]), float(room[alongside].min()), bool(len(touching))
    )


def _distinct(a: Track, b: Track, way_a: Array, way_b: Array, noise: float) -> bool:
    """Whether two plots of them would show a difference beyond the ``noise``, m, of their waypoints."""
    reach = max(MOTION.same_along_m, MOTION.same_along_share * way_a[-1]) + noise
    offsets = path_of_plan(a.poses[1:]).locate(b.poses[:, :2])[1]
    return bool(
        np.abs(way_a - way_b).max() > reach
        or np.abs(offsets).max() > MOTION.same_beside_m + noise
        or np.abs(a.v - b.v).max() > MOTION.same_speed_mps + noise
    )


# --- whether it can be driven at all ---------------------------------------------------------------------------


def no_response(item: JudgeItem) -> str:
    """Why the modified plan could answer nothing, "" if it could: undrivable, far to the side, or off the road."""
    original, modified = (np.array(plan.waypoints) for plan in (item.original_plan, item.modified_plan))
    start = item.start or CarState(float(speeds(original)[0]))
    if why := incoherent(modified, start):
        return f"no car drives like that, {why}"
    if aside := far_aside(modified, original):
        return f"it goes {aside:.0f} m to the side of its way"
    if leaves_road(modified, original, start, item):
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


def leaves_road(modified: Array, original: Array, start: CarState, item: JudgeItem) -> bool:
    """Whether the car that follows ``modified`` (N, 3) is off the road at three waypoints or more.

    Road, shoulder and free lanes are room: by the scene's polygons of where cars may drive, or else by what perception
    saw at t0 in the unchanged frame. There, off the road is where nothing under the car, nor beside it towards its way,
    is seen as road while the original's way is: what is hidden, out of the frame or not recognised is not held against
    a plan.
    """
    poses = drive(modified, start).poses
    path = path_of_plan(original)
    s, lateral = path.locate(poses[:, :2])
    judged = np.abs(lateral) > DRIVABLE.beside_m
    if item.drivable is not None:
        return int((judged & ~_within(poses, item.drivable)).sum()) >= DRIVABLE.least_waypoints
    judged &= (poses[:, 0] > DRIVABLE.nearest_m) & (np.hypot(*poses[:, :2].T) < DRIVABLE.farthest_m)
    if item.road is None or judged.sum() < DRIVABLE.least_waypoints:
        return False
    s, lateral = s[judged], lateral[judged]
    nearer = np.sign(lateral) * np.maximum(np.abs(lateral) - DRIVABLE.verge_m, 0.0)
    under, verge, reference = (
        road_shares(p, item.road, item.camera)
        for p in (poses[judged], np.column_stack(path.at(s, nearer)), np.column_stack(path.at(s)))
    )
    off = (under < DRIVABLE.off_road) & (verge < DRIVABLE.off_road) & (reference > DRIVABLE.on_road)
    return int(off.sum()) >= DRIVABLE.least_waypoints


def _within(poses: Array, polygons: Sequence[Polygon]) -> Mask:
    """(N,) bool: the car's middle lies in one of the polygons or no farther beside it than a verge is wide."""
    middle = poses[:, :2] + (FRONT_M - REAR_M) / 2 * np.column_stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])])
    outlines = [np.asarray(polygon, np.float32) for polygon in polygons]
    points = middle.astype(np.float32).tolist()
    return np.array(
        [any(cv2.pointPolygonTest(o, p, True) > -DRIVABLE.verge_m for o in outlines) for p in points]
    )


def road_shares(poses: Array, view: SceneView, camera: Camera) -> Array:
    """(N,) share of the ground under a car at ``poses`` (N, 3) that is seen as road; NaN where not all is in view."""
    shares = np.full(len(poses), np.nan)
    for i, (x, y, theta) in enumerate(poses):
        c, s = np.cos(theta), np.sin(theta)
        ground = EGO_CORNERS @ np.array([[c, s], [-s, c]]) + (x, y)
        px, valid = project(camera, np.column_stack([ground, np.zeros(4)]))
        inside = (px >= 0).all() and (px < (camera.width, camera.height)).all()
        if valid.all() and inside:
            shares[i] = view.share(px)
    return shares
