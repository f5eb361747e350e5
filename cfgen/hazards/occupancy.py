"""What spoils a place's past: by which rule, in which frame and where; in words that docs/hazards.md explains."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, ground_points, project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.hazards.settings import OCCUPANCY
from cfgen.perception.annotated import Pose, traffic_at
from cfgen.perception.camera import CAR_M
from cfgen.perception.road_by_colour import FAR_M
from cfgen.perception.view import REACH, VEHICLES, BoxPx, SceneView
from cfgen.records import Camera, Placement, RoadUser, Scene, Size

#: The rules. No commas: tables take the first cause up to one.
STOOD = "on which a vehicle stood before"
LEFT = "off which a vehicle had just driven"
BARE_ROAD = "without road in a past frame"
BY_COLOURS = "of other colours in a past frame"
HIDDEN = "half hidden in a past frame"
OVER_LANE = "that it reaches only across a lane"


@dataclass(frozen=True)
class HistoryInconsistency:
    """One place without a plausible past.

    Attributes:
        rule: one of the above. t: of the first frame that was found to spoil it, s relative to t0. distance_m: of the
            place, along the path from the car at t0.
    """

    rule: str
    t: float
    distance_m: float

    def __str__(self) -> str:
        return f"{self.rule} (frame at {self.t:g} s)"


def in_detail(conflicts: Sequence[HistoryInconsistency]) -> str:
    """Where and in which frames each rule spoiled places, the commonest rule first; "" for none."""
    details = []
    for rule, _ in Counter(conflict.rule for conflict in conflicts).most_common():
        at, times = zip(*((c.distance_m, c.t) for c in conflicts if c.rule == rule), strict=True)
        frames = f"{min(times):g}" if min(times) == max(times) else f"{min(times):g} to {max(times):g}"
        details.append(f"{rule}: {min(at):.0f} to {max(at):.0f} m ahead by frames at {frames} s")
    return "; ".join(details)


# --- stood -------------------------------------------------------------------------------------
# Whether something stood on a place in a past frame that is plain road at t0, by the pixels alone.
#
# Detectors do not see a car of 15 pixels, and not every perceiver asks one. What stands on a road is dark where it
# touches it, and goes on upwards; shadows and patches lie flat, paint is bright, and all of them are still there at t0.


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
        if not any(True for _ in _standing(frame, camera_now, *region, slack=OCCUPANCY.now)):
            return True
    return False


def rows_off(camera: Camera, metre: float) -> float:
    """Rows by which feet on a place where a metre is ``metre`` px may be off."""
    return OCCUPANCY.rows_px * camera.width / 960 + OCCUPANCY.along * metre * float(centre(camera)[2])


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
    px, valid = project(
        camera, np.vstack([footprint, eye + np.outer(OCCUPANCY.before, away), middle, up, end])
    )
    if not valid.all():
        return
    place, (near, far), metre = px[:4], np.rint(px[4:6, 1]).astype(int), float(px[6, 1] - px[7, 1])
    scale = min(1.0, OCCUPANCY.small * camera.height / (CAR_M[1] * metre))
    if scale < 1 and not any_size:
        return
    slack *= rows_off(camera, metre)
    first_col = max(math.floor(place[:, 0].min() - CAR_M[1] * metre), 0)
    last_col = min(math.ceil(place[:, 0].max() + CAR_M[1] * metre) + 1, camera.width)
    low = math.floor(min(place[:, 1].min() - slack, px[8, 1]))
    high = min(math.ceil(place[:, 1].max() + slack) + 1, camera.height)
    top, near = low - max(math.ceil(OCCUPANCY.tall_m * metre) + 1, 3), min(near, camera.height)
    if top < 0 or near - far < 2 or last_col - first_col < 2 * OCCUPANCY.wide_m * metre:
        return
    road = _log(image[far:near, first_col:last_col], scale)
    usual = float(np.median(road))
    strays = 1.48 * float(np.median(np.abs(road - usual)))
    if usual < math.log(OCCUPANCY.night + OCCUPANCY.dark):
        return
    part, at = _log(image[top:high, first_col:last_col], scale) - usual, (place[:, 0] - first_col) * scale
    dark, not_road = (
        part < -max(OCCUPANCY.darker, OCCUPANCY.strays * strays),
        np.abs(part) > max(OCCUPANCY.other, 2 * strays),
    )
    metre, tall = metre * scale, max(round(OCCUPANCY.tall_m * metre * scale), 3)
    shared = min(OCCUPANCY.shared_m * metre, float(np.ptp(at)) / 2)
    for row in range(max(tall, math.floor((low - top) * scale)), len(part)):
        for a, b in _runs(dark[row]):
            wide = b - a >= OCCUPANCY.wide_m * metre and min(b, at.max()) - max(a, at.min()) >= shared
            if wide and not_road[row - tall : row, a:b].mean() >= OCCUPANCY.upright:
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
        cv2.cvtColor(np.ascontiguousarray(small), cv2.COLOR_RGB2GRAY).astype(float) + OCCUPANCY.dark
    )
    return grey


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """The runs in a row (N,) bool: the first column of each, and the one after its last."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))


# --- driven ------------------------------------------------------------------------------------
# Which vehicle that a detector saw stood where the hazard was in the 2 s before t0.


def vehicle_conflict(
    scene: Scene,
    cameras: Mapping[float, Camera],
    views: Mapping[float, SceneView],
    placement: Placement,
    standing: Size,
) -> HistoryInconsistency | None:
    """Which vehicle took up ground that it did in any past frame, or had just left it; what crosses may follow it.

    Args:
        cameras, views: of the front camera by past times; cameras in the ego frame at t0.
        standing: what of it takes up ground.
    """
    path = EgoPath.from_scene(scene, FAR_M)
    for t, view in views.items():
        for thing in view.things or ():
            if thing.kind not in VEHICLES:
                continue
            if rule := _on_it(path, cameras[t], thing.box, placement.at(t), standing, OCCUPANCY.just_off_m):
                return HistoryInconsistency(rule, t, placement.distance_m)
    return None


def vehicle_conflict_at_t0(
    scene: Scene, view: SceneView, placement: Placement, standing: Size
) -> HistoryInconsistency | None:
    """Which vehicle beyond something that stands in its lane must have driven through it in the last 2 s, by t0
    alone: for scenes without past frames."""
    if placement.vx or placement.vy or not scene.speed:
        return None
    path, off = EgoPath.from_scene(scene, FAR_M), max(OCCUPANCY.before_s * scene.speed, OCCUPANCY.just_off_m)
    turned = 0.0 if scene.motion_known else OCCUPANCY.guessed
    for thing in view.things or ():
        if thing.kind in VEHICLES and (
            rule := _on_it(path, scene.front, thing.box, placement, standing, off, turned)
        ):
            return HistoryInconsistency(rule, 0.0, placement.distance_m)
    return None


def goes_across(placement: Placement, heading: float = 0.0) -> bool:
    """Whether it moves rather across a road of that ``heading``, rad, than along it."""
    turned = math.atan2(placement.vy, placement.vx) - heading
    return bool(placement.vx or placement.vy) and abs(math.sin(turned)) >= abs(math.cos(turned))


def _on_it(
    path: EgoPath,
    camera: Camera,
    box: BoxPx,
    placement: Placement,
    standing: Size,
    just_off_m: float,
    turned: float = 0.0,
) -> str:
    """The rule by which a vehicle, by its box, px, refuses it: takes up ground that it does, or did until just before
    and is at most ``just_off_m`` beyond; or "". At the box's foot is its near end. The way from one to the other may be
    ``turned``, rad."""
    foot, valid = ground_points(camera, [((box[0] + box[2]) / 2, box[3])])
    if not valid.all():
        return ""
    (s, place), (y, lateral) = path.locate(np.vstack([foot, [(placement.x, placement.y)]]))
    heading = float(path.at(np.array([place]), np.array([0.0]))[2][0])
    c, sn = abs(math.cos(placement.yaw - heading)), abs(math.sin(placement.yaw - heading))
    along = (c * standing.length + sn * standing.width) / 2
    across = (sn * standing.length + c * standing.width) / 2
    away = float(np.hypot(*(foot[0] - centre(camera)[:2])))
    beyond = 0.0 if goes_across(placement, heading) else max(OCCUPANCY.along * away, just_off_m)
    length, width, _ = CAR_M
    upright = (
        standing.height > OCCUPANCY.person[0] and max(standing.length, standing.width) < OCCUPANCY.person[1]
    )
    room = OCCUPANCY.passed_by_m if upright else -OCCUPANCY.aside_m
    if (
        abs(y - lateral) < across + width / 2 + room + turned * abs(s - place)
        and place - along - length < s < place + along + beyond
    ):
        return STOOD if s < place + along else LEFT
    return ""


# --- traffic -----------------------------------------------------------------------------------
# The vehicles that a scene tells of (``traffic`` in scene.json), and where they stood before t0.
#
# Known to the metre, they refuse what detectors and pixels can only guess at: a hazard on a place that a car drove
# through, or drawn over one that was nearer.

#: Two boxes whose middles are farther apart than half of all their sides and this, m, share no ground.
_WIDEST_M = OCCUPANCY.just_off_m + 2 * OCCUPANCY.room_m


@dataclass(frozen=True, eq=False)
class Traffic:
    """The vehicles that a scene tells of; ``known`` where it tells: none is an answer too."""

    scene: Scene
    _cache: dict[float, list[tuple[RoadUser, Pose]]] = field(default_factory=dict, repr=False)
    _grounds: dict[float, list[tuple[Array, Array]]] = field(default_factory=dict, repr=False)
    _seen: dict[float, list[tuple[float, np.ndarray]]] = field(default_factory=dict, repr=False)

    @cached_property
    def known(self) -> bool:
        return self.scene.traffic is not None

    def at(self, t: float) -> list[tuple[RoadUser, Pose]]:
        """As :func:`cfgen.perception.annotated.traffic_at`."""
        if t not in self._cache:
            self._cache[t] = traffic_at(self.scene, t)
        return self._cache[t]

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
            for (user, pose), (ground, left) in zip(self.at(t), self._ground_at(t), strict=True):
                sides = user.size.length + user.size.width + standing.length + standing.width
                if math.hypot(pose[0] - pose_then.x, pose[1] - pose_then.y) > sides / 2 + _WIDEST_M:
                    continue
                if _shared(place, ground):
                    return HistoryInconsistency(STOOD, t, placement.distance_m)
                follows = user.v < OCCUPANCY.stands or goes_across(pose_then, pose[2])
                if not follows and _shared(place, left):
                    return HistoryInconsistency(LEFT, t, placement.distance_m)
        return None

    def ground(self, t: float, left: bool) -> list[Array]:
        """(4, 2) m, what each takes up at ``t``, s; with ``left`` also what it had just left, of those that drive."""
        return [
            grounds[left]
            for (user, _), grounds in zip(self.at(t), self._ground_at(t), strict=True)
            if not left or user.v >= OCCUPANCY.stands
        ]

    def _ground_at(self, t: float) -> list[tuple[Array, Array]]:
        """What each of :meth:`at` takes up, and the same with what it had just left."""
        if t not in self._grounds:
            self._grounds[t] = [
                (_ground(user, pose), _ground(user, pose, OCCUPANCY.just_off_m)) for user, pose in self.at(t)
            ]
        return self._grounds[t]

    def _seen_at(self, camera: Camera, t: float) -> list[tuple[float, np.ndarray]]:
        """How far off each is, m, and its outline (N, 2) px, of those that the camera at ``t`` sees whole."""
        if t not in self._seen:
            eye, outlines = centre(camera)[:2], []
            for user, (x, y, theta) in self.at(t):
                px, in_view = project(camera, box_corners(x, y, theta, user.size)[0])
                if in_view.all():  # else beside the camera, out of the frame or at its edge
                    hull = cv2.convexHull(px.astype(np.float32))[:, 0]
                    outlines.append((float(np.hypot(x - eye[0], y - eye[1])), hull))
            self._seen[t] = outlines
        return self._seen[t]

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
        for distance, hull in self._seen_at(camera, t):
            if distance > away or hull[:, 0].max() < x0 or hull[:, 0].min() > x1:
                continue
            share = _area(hazard_box, hull) / max((x1 - x0) * (y1 - y0), 1e-6)
            if share >= OCCUPANCY.whole:
                hidden = True
            elif share > REACH:
                return "partly"
        return "hidden" if hidden else ""


def _ground(user: RoadUser, pose: Pose, behind: float = 0.0) -> Array:
    """(4, 2) m, what a vehicle takes up, with ``behind`` metres that it has just left."""
    x, y, theta = pose
    size = user.size.model_copy(
        update={
            "length": user.size.length + 2 * OCCUPANCY.room_m + behind,
            "width": user.size.width + 2 * OCCUPANCY.room_m,
        }
    )
    x, y = x - behind / 2 * math.cos(theta), y - behind / 2 * math.sin(theta)
    corners: Array = box_corners(x, y, theta, size)[0, :4, :2]
    return corners


def _shared(a: Array, b: Array) -> bool:
    return _area(a.astype(np.float32), b.astype(np.float32)) > 0


def _area(a: np.ndarray, b: np.ndarray) -> float:
    """What two convex polygons (N, 2) float32 share."""
    return float(cv2.intersectConvexConvex(a, b)[0])
