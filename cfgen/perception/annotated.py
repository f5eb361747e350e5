"""The road that a scene tells of itself (``drivable`` in scene.json), and what its frames show of it.

It lies on the ground plane. What hides it is cut out: the annotated vehicles and the car's own hood here, what a
detector sees in :meth:`cfgen.perception.view.SceneView.with_road`.
"""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import ground_points, project, resized
from cfgen.geometry.lens import Array, Mask
from cfgen.geometry.path import EgoPath
from cfgen.perception.road_by_colour import FAR_M
from cfgen.perception.settings import ANNOTATED
from cfgen.records import Camera, RoadUser, Scene
from cfgen.records.scenes import Polygon

#: x, y in m and theta in rad, in the ego frame at t0
Pose = tuple[float, float, float]
_SUBPIXEL_BITS = 6


class AnnotatedRoad:
    """Polygons (P, 2) m in the ego frame at t0 as a raster of the ground; they may overlap.

    Attributes:
        low: (2,) m, the middle of the raster's first cell. cells: (x, y) bool.
    """

    def __init__(self, polygons: Sequence[Polygon]) -> None:
        self.low, self.cells = np.zeros(2), np.zeros((1, 1), bool)
        if polygons:
            corners = np.clip(np.vstack([np.array(polygon) for polygon in polygons]), *ANNOTATED.within_m)
            self.low = corners.min(0)
            shape = np.ceil(np.ptp(corners, axis=0) / ANNOTATED.cell_m).astype(int) + 1
            raster = np.zeros(shape, np.uint8)
            for polygon in polygons:  # one by one: of several at once OpenCV cuts out what they share
                at = np.rint((np.array(polygon) - self.low)[:, ::-1] / ANNOTATED.cell_m * 2**_SUBPIXEL_BITS)
                cv2.fillPoly(raster, [at.astype(np.int32)], 1, shift=_SUBPIXEL_BITS)
            self.cells = raster > 0

    def covers(self, ground: Array) -> Mask:
        """(N,) bool: points (N, 2) m that are road; False where not finite."""
        at = np.rint((np.nan_to_num(ground, nan=1e6) - self.low) / ANNOTATED.cell_m)
        inside = ((at >= 0) & (at < self.cells.shape)).all(1)
        x, y = np.where(inside[:, None], at, 0).astype(int).T
        return np.asarray(inside & self.cells[x, y])

    def visible(self, camera: Camera, users: Sequence[tuple[RoadUser, Pose]], hood_row: float) -> Mask:
        """(h, w) bool over the whole frame: road that no road user and not the own hood hides.

        Args:
            camera: for points of the ego frame at t0. users: as :func:`traffic_at` has them at its time.
            hood_row: first row of the own hood, px.
        """
        width = min(ANNOTATED.width_px, camera.width)
        grid = resized(camera, width, max(round(width * camera.height / camera.width), 1))
        rows, columns = np.mgrid[: grid.height, : grid.width]
        ground, valid = ground_points(grid, np.column_stack([columns.ravel(), rows.ravel()]))
        road = (valid & self.covers(ground)).reshape(grid.height, grid.width).astype(np.uint8)
        for user, pose in users:
            outline, in_view = project(grid, _surface(user, pose))
            if in_view.sum() >= 3:
                hull = cv2.convexHull(np.clip(outline[in_view], -1e4, 1e4).astype(np.float32))
                cv2.fillConvexPoly(
                    road, np.rint(hull * 2**_SUBPIXEL_BITS).astype(np.int32), 0, shift=_SUBPIXEL_BITS
                )
        road[math.ceil(hood_row * grid.height / camera.height) :] = 0
        return np.asarray(road > 0)


def _surface(user: RoadUser, pose: Pose) -> Array:
    """(N, 3) m: points of its box, so close that those before the camera outline what is in view of one beside it."""
    corners = box_corners(*pose, user.size)[0]
    front, rear = corners[[0, 1, 4, 5]], corners[[3, 2, 7, 6]]
    share = np.linspace(0, 1, ANNOTATED.slices)[:, None, None]
    return np.asarray((front + share * (rear - front)).reshape(-1, 3))


def traffic_at(scene: Scene, t: float) -> list[tuple[RoadUser, Pose]]:
    """The vehicles that a scene tells of, each with where it is at ``t``, s relative to t0, which is not after it.

    Where no track tells, its speed is taken as constant: what drives along the road keeps its distance from the own
    path, what does not drives straight on.
    """
    users = scene.traffic or ()
    if not users:
        return []
    path = EgoPath.since(scene, scene.history.t[0], FAR_M)
    s, lateral = path.locate([(user.x, user.y) for user in users])
    poses: list[tuple[RoadUser, Pose]] = []
    for user, along, aside, heading in zip(users, s, lateral, path.at(s)[2], strict=True):
        if user.track and user.track[0][0] <= t < 0:
            poses.append((user, _tracked(user, t)))
            continue
        turned, driven = user.theta - float(heading), user.v * t
        if abs(math.sin(turned)) > math.sin(ANNOTATED.parallel) or abs(aside) > ANNOTATED.beside_m:
            x, y = user.x + driven * math.cos(user.theta), user.y + driven * math.sin(user.theta)
            poses.append((user, (x, y, user.theta)))
        else:
            pose = path.at(along + (driven if math.cos(turned) > 0 else -driven), aside)
            poses.append((user, (float(pose[0]), float(pose[1]), float(pose[2]) + turned)))
    return poses


def _tracked(user: RoadUser, t: float) -> Pose:
    """Where its track has it at ``t``, s, which is not before its first row."""
    rows = np.array([row for row in user.track if row[0] < 0] + [(0.0, user.x, user.y, user.theta)])
    rows[:, 3] = np.unwrap(rows[:, 3])
    x, y, theta = (float(np.interp(t, rows[:, 0], column)) for column in rows[:, 1:].T)
    return x, y, theta
