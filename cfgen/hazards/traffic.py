"""The vehicles that a scene tells of (``traffic`` in scene.json), and where they stood before t0.

Known to the metre, they refuse what detectors and pixels can only guess at: a hazard on a place that a car drove
through, or drawn over one that was nearer.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.hazards.driven import JUST_OFF_M, goes_across
from cfgen.hazards.spoiled import LEFT, STOOD, HistoryInconsistency
from cfgen.perception.clear_ground import FAR_M
from cfgen.perception.view import REACH
from cfgen.records import Camera, Placement, RoadUser, Scene, Size

#: What drives within this angle of the road, rad, and so near the own path, m, follows the road's bends.
_ALONG, _BESIDE_M = 0.35, 20.0
#: Room around a vehicle, m, as its speed is not constant. What is slower than this, m/s, has driven off nothing.
_ROOM_M, _STANDS = 0.3, 0.5
#: Two boxes whose middles are farther apart than half of all their sides and this, m, share no ground.
_WIDEST_M = JUST_OFF_M + 2 * _ROOM_M
#: Share of a hazard's box that a nearer vehicle covers when it hides it whole.
_WHOLE = 0.98

#: x, y, theta
Pose = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Traffic:
    """The vehicles that a scene tells of; ``known`` where it tells: none is an answer too."""

    scene: Scene
    _cache: dict[float, list[tuple[RoadUser, Pose]]] = field(default_factory=dict, repr=False)

    @cached_property
    def _users(self) -> tuple[RoadUser, ...] | None:
        return self.scene.traffic

    @property
    def known(self) -> bool:
        return self._users is not None

    def at(self, t: float) -> list[tuple[RoadUser, Pose]]:
        """Each with x, y, m, and theta, rad, in the ego frame at t0, of time ``t``, s relative to t0.

        Where no track tells, its speed is taken as constant: what drives along the road keeps its distance from the
        own path, what does not drives straight on.
        """
        if t not in self._cache:
            self._cache[t] = self._at(t)
        return self._cache[t]

    def _at(self, t: float) -> list[tuple[RoadUser, Pose]]:
        users = self._users or ()
        if not users:
            return []
        path = EgoPath.since(self.scene, self.scene.history.t[0], FAR_M)
        s, lateral = path.locate([(user.x, user.y) for user in users])
        poses: list[tuple[RoadUser, Pose]] = []
        for user, along, aside, heading in zip(users, s, lateral, path.at(s)[2], strict=True):
            if user.track and user.track[0][0] <= t < 0:
                poses.append((user, _tracked(user, t)))
                continue
            turned, driven = user.theta - float(heading), user.v * t
            if abs(math.sin(turned)) > math.sin(_ALONG) or abs(aside) > _BESIDE_M:
                x, y = user.x + driven * math.cos(user.theta), user.y + driven * math.sin(user.theta)
                poses.append((user, (x, y, user.theta)))
            else:
                pose = path.at(along + (driven if math.cos(turned) > 0 else -driven), aside)
                poses.append((user, (float(pose[0]), float(pose[1]), float(pose[2]) + turned)))
        return poses

    def conflict(
        self, placement: Placement, standing: Size, times: Iterable[float]
    ) -> HistoryInconsistency | None:
        """Which vehicle took up ground that it does at any of ``times``, s, or had just left it; what crosses may
        follow one.

        Args:
            standing: what of it takes up ground.
        """
        for t in times:
            pose_then = placement.at(t)
            place = box_corners(pose_then.x, pose_then.y, pose_then.yaw, standing)[0, :4, :2]
            for user, pose in self.at(t):
                sides = user.size.length + user.size.width + standing.length + standing.width
                if math.hypot(pose[0] - pose_then.x, pose[1] - pose_then.y) > sides / 2 + _WIDEST_M:
                    continue
                if _shared(place, _ground(user, pose)):
                    return HistoryInconsistency(STOOD, t, placement.distance_m)
                follows = user.v < _STANDS or goes_across(pose_then, pose[2])
                if not follows and _shared(place, _ground(user, pose, JUST_OFF_M)):
                    return HistoryInconsistency(LEFT, t, placement.distance_m)
        return None

    def before(
        self, camera: Camera, t: float, spot: tuple[float, float], box: Array
    ) -> Literal["hidden", "partly", ""]:
        """Whether a vehicle that is nearer than a hazard hides it, or a part.

        Args:
            camera: at ``t``, s, for points of the ego frame at t0. spot: where it is then, m.
            box: (4,) px, its own, clipped.
        """
        eye = centre(camera)[:2]
        away, hidden = float(np.hypot(*(np.array(spot) - eye))), False
        x0, y0, x1, y1 = box
        hazard_box = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float32)
        for user, (x, y, theta) in self.at(t):
            if float(np.hypot(x - eye[0], y - eye[1])) > away:
                continue
            px, in_view = project(camera, box_corners(x, y, theta, user.size)[0])
            if not in_view.all():
                continue  # beside the camera, out of the frame or at its edge
            share = _area(hazard_box, cv2.convexHull(px.astype(np.float32))[:, 0]) / max(
                (x1 - x0) * (y1 - y0), 1e-6
            )
            if share >= _WHOLE:
                hidden = True
            elif share > REACH:
                return "partly"
        return "hidden" if hidden else ""


def _tracked(user: RoadUser, t: float) -> Pose:
    """Where its track has it at ``t``, s, which is not before its first row."""
    rows = np.array([row for row in user.track if row[0] < 0] + [(0.0, user.x, user.y, user.theta)])
    rows[:, 3] = np.unwrap(rows[:, 3])
    x, y, theta = (float(np.interp(t, rows[:, 0], column)) for column in rows[:, 1:].T)
    return x, y, theta


def _ground(user: RoadUser, pose: Pose, behind: float = 0.0) -> Array:
    """(4, 2) m, what a vehicle takes up, with ``behind`` metres that it has just left."""
    x, y, theta = pose
    size = user.size.model_copy(
        update={"length": user.size.length + 2 * _ROOM_M + behind, "width": user.size.width + 2 * _ROOM_M}
    )
    x, y = x - behind / 2 * math.cos(theta), y - behind / 2 * math.sin(theta)
    corners: Array = box_corners(x, y, theta, size)[0, :4, :2]
    return corners


def _shared(a: Array, b: Array) -> bool:
    return _area(a.astype(np.float32), b.astype(np.float32)) > 0


def _area(a: np.ndarray, b: np.ndarray) -> float:
    """What two convex polygons (N, 2) float32 share."""
    return float(cv2.intersectConvexConvex(a, b)[0])
