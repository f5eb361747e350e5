"""Whether a plan can be a response at all: a motion that some car could make, on its road as far as that is known."""

import numpy as np

from cfgen.geometry.camera import project
from cfgen.geometry.coherence import incoherent
from cfgen.geometry.driving import Start, drive
from cfgen.geometry.lens import Array
from cfgen.geometry.path import path_of_plan
from cfgen.geometry.trajectory import speeds
from cfgen.judge.protocol import JudgeItem
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: The car on the ground, m ahead and to the left of its rear axle.
_CAR = np.array([(-1.0, -0.95), (3.8, -0.95), (3.8, 0.95), (-1.0, 0.95)])
#: Nearer a plan has hardly left its lane, and farther a car is a few pixels, m.
_NEAREST_M, _FARTHEST_M = 5.0, 50.0
#: m beside the original way: as good as on it.
_BESIDE_M = 1.5
#: Share of the ground under the car that is seen as road: off it, and, on the original way, known to be seen.
_OFF, _SEEN = 0.15, 0.7
#: No lane of the car's own road lies so far to the side, m; nor is it crossed so steeply, rad, once so far off, m.
_FAR_ASIDE_M, _STEEP, _ASIDE_M = 10.0, 0.7, 5.0
#: Waypoints off the road that make a plan leave it.
_LEAST = 3


def no_response(item: JudgeItem) -> str:
    """Why the modified plan could answer nothing, "" if it could: undrivable, far to the side, or off the road."""
    original, modified = (np.array(plan.waypoints) for plan in (item.original_plan, item.modified_plan))
    start = item.start or Start(float(speeds(original)[0]))
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
    s, beside = path.locate(xy)
    straight = np.abs(xy[:, 1]) < np.abs(beside)
    aside = np.where(straight, np.abs(xy[:, 1]), np.abs(beside))[1:]
    step = np.diff(xy, axis=0)
    way = np.where(straight, 0.0, np.asarray(path.at(s)[2]))[1:]
    across = np.abs(-np.sin(way) * step[:, 0] + np.cos(way) * step[:, 1])
    steep = across > np.sin(_STEEP) * np.hypot(*step.T) + 0.05
    off = (aside > _FAR_ASIDE_M) | ((aside > _ASIDE_M) & steep)
    return float(aside[off].max()) if off.any() else 0.0


def leaves_road(modified: Array, original: Array, start: Start, view: SceneView, camera: Camera) -> bool:
    """Whether the car that follows ``modified`` (N, 3) is off the road at three waypoints or more.

    Off it is where nothing under the car is seen as road while the original's way beside it is: what is hidden, out of
    the frame or not recognised is not held against a plan. ``view`` is what the unchanged frame shows, at t0.
    """
    poses = drive(modified, start).poses
    path = path_of_plan(original)
    s, lateral = path.locate(poses[:, :2])
    asked = (np.abs(lateral) > _BESIDE_M) & (poses[:, 0] > _NEAREST_M)
    asked &= np.hypot(*poses[:, :2].T) < _FARTHEST_M
    if asked.sum() < _LEAST:
        return False
    here = road_shares(poses[asked], view, camera)
    beside = road_shares(np.column_stack(path.at(s[asked])), view, camera)
    return bool(((here < _OFF) & (beside > _SEEN)).sum() >= _LEAST)


def road_shares(poses: Array, view: SceneView, camera: Camera) -> Array:
    """(N,) share of the ground under a car at ``poses`` (N, 3) that is seen as road; NaN where not all is in view."""
    found = np.full(len(poses), np.nan)
    for i, (x, y, theta) in enumerate(poses):
        c, s = np.cos(theta), np.sin(theta)
        ground = _CAR @ np.array([[c, s], [-s, c]]) + (x, y)
        px, valid = project(camera, np.column_stack([ground, np.zeros(4)]))
        inside = (px >= 0).all() and (px < (camera.width, camera.height)).all()
        if valid.all() and inside:
            found[i] = view.share(px)
    return found
