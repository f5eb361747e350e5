"""Where a hazard can be in a scene, in metres on the road: near enough to matter, far enough to respond to, in view,
on clear road, and plausible in the 2 s before."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from cfgen.geometry.box import areas, box_corners, boxes_px, clip_boxes
from cfgen.geometry.camera import centre, inside, project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.hazards.history import HazardHistory
from cfgen.hazards.occupancy import HistoryInconsistency, in_detail
from cfgen.hazards.settings import PLACEMENT
from cfgen.hazards.zones import (
    Lanes,
    Pose,
    half_extents,
    parks,
    poses_to_try,
    velocity,
)
from cfgen.perception.camera import sure_to_m
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.road_by_colour import FAR_M, HALF_WIDTH_M, ColourGround
from cfgen.perception.scene_camera import curves_up
from cfgen.perception.view import SceneView, hood_row
from cfgen.perception.views import SceneViews, Views
from cfgen.records import Camera, Hazard, Placement, Scene, wrap_angle

BENDS_AWAY = "where the lines leave the way that was guessed"
HILL = "farther than the road is level"
#: Begins the reason where the scene lacks what the hazard needs.
UNSUITED = "the scene does not suit it:"
OFF_EDGE = "parked away from the road's edge"


def find_placements(
    scene: Scene,
    image: np.ndarray,
    hazard: Hazard,
    rng: np.random.Generator,
    decel_band: tuple[float, float] = (1.5, 6.0),
    frames: Mapping[tuple[str, float], np.ndarray] | None = None,
    fault: Callable[[Placement], str] | None = None,
    views: SceneViews | None = None,
) -> list[Placement] | str:
    """Placements of the hazard, best first, at most ``candidates``; or the reason why there is none.

    Those that show in every past frame come before those that something hides at first.

    Args:
        image: (H, W, 3) uint8 RGB, the front frame at t0. frames: by camera and time, all frames of the scene; the
            front camera's past shows which rows are the car's own hood, and what was where the hazard would be.
        rng: draws poses; the same state gives the same placements.
        decel_band: m/s^2, where the hazard has no band of its own.
        views: what the frames show; None: as their colours tell.
        fault: a further test of a placement that holds so far: what is wrong with it, or "".
    """
    path = EgoPath.from_scene(scene, FAR_M)
    all_frames = {**(frames or {}), (scene.front.name, 0.0): image}
    views = views or Views.of(ColourGround()).scene(scene, all_frames)
    ground = views.now
    if not ground.road.any():
        return "no road in view"
    brightness = road_brightness(image, ground)
    if brightness < PLACEMENT.min_brightness:
        return f"the road is too dark to see anything on it (brightness {brightness:.0f} of 255)"
    lanes = LanesSeen.of(ground, scene.front, path, image) if views.lanes_known else None
    if missing := missing_road(scene, hazard, lanes):
        return missing
    own_lane = replace(Lanes.of(scene, lanes), far_side=views.likely is not None)
    if missing := own_lane.missing(hazard):
        return f"{UNSUITED} {missing}"
    poses = poses_to_try(scene, hazard, rng, decel_band, own_lane)
    if not poses:
        return (
            f"at {scene.speed:.1f} m/s no distance from {hazard.distance.min_m:g} to {hazard.distance.max_m:g} m "
            "needs a deceleration within the band"
        )
    if hazard.kind == "nuisance":
        ground = views.with_flat_ground()
    low, high = hazard.distance.decel or decel_band
    target_decel = low + (high - low) * float(rng.uniform())
    search = _Search(
        scene, hazard, path, ground, hood_row(scene.front, frames), views, target_decel, lanes, own_lane
    )
    return search.run(poses, fault) or search.why_not(len(poses))


def missing_road(scene: Scene, hazard: Hazard, lanes: LanesSeen | None) -> str:
    """What the hazard needs of the road that the scene neither shows nor tells of; "" when nothing is missing.

    A scene tells with ``road``: "junction", "rails" or "motorway", or a list of them.
    """
    road_tags = scene.extra.get("road", ())
    road_tags = {road_tags} if isinstance(road_tags, str) else set(road_tags)
    if hazard.road == "street":
        motorway = "motorway" in road_tags or scene.speed > PLACEMENT.motorway_speed
        return f"{UNSUITED} it belongs to streets, and this is or looks like a motorway" if motorway else ""
    if hazard.road == "any" or hazard.road in road_tags:
        return ""
    if hazard.road == "junction" and lanes is not None and lanes.crossing_road:
        return ""
    return f"{UNSUITED} no {'rails' if hazard.road == 'rails' else 'crossing road'} in view or told of"


def examine(
    scene: Scene,
    hazard: Hazard,
    path: EgoPath,
    ground: SceneView,
    hood: float,
    views: SceneViews,
    pose: Pose,
    decel_band: tuple[float, float],
) -> tuple[Placement | None, list[str]]:
    """One pose chosen by a person: its placement, None when the camera cannot see it, and every reason against it."""
    lanes = LanesSeen.of(views.now, scene.front, path) if views.lanes_known else None
    search = _Search(scene, hazard, path, ground, hood, views, lanes_seen=lanes, lanes=Lanes.of(scene, lanes))
    x, y, heading = path.at(np.array([pose.s]), np.array([pose.lateral]))
    corners = box_corners(x, y, heading + pose.yaw, hazard.size)
    boxes, in_view = boxes_px(search.camera, corners)
    feet, feet_valid = project(search.camera, np.column_stack([x, y, np.zeros_like(x)]))
    if not (in_view[0] and feet_valid[0]):
        return None, ["out of view"]
    clipped = clip_boxes(search.camera, boxes)
    placement = search._placement(pose, x[0], y[0], heading[0], feet[0], clipped[0])
    low, high = hazard.distance.decel or decel_band
    faults = [search._fault(feet[0], boxes[0], clipped[0])]
    if not low <= pose.required_decel <= high:
        side = "hard to stop for" if pose.required_decel > high else "far to need a response"
        faults.append(f"too {side}: {pose.required_decel:.1f} m/s² where {low:g} to {high:g} are allowed")
    if search._clear_share(corners[0]) < search._clear_needed:
        faults.append("not on clear road")
    if search._in_traffic(pose):
        faults.append("in another lane, not beside the road")
    if search._off_edge(pose):
        faults.append(OFF_EDGE)
    faults.append(lane_conflict(scene, lanes, pose.s))
    with_past = search.past.of(placement, hazard.motion.kind == "crossing")
    if isinstance(with_past, HistoryInconsistency):
        return placement, [fault for fault in (*faults, str(with_past)) if fault]
    return with_past, [fault for fault in faults if fault]


@dataclass
class _Search:
    scene: Scene
    hazard: Hazard
    path: EgoPath
    ground: SceneView
    hood: float
    views: SceneViews
    #: m/s^2 that the place should require; drawn from the band, so that cases fill it
    wanted_decel: float = 4.5
    #: the lanes in view, and what they and the scene tell of the own one
    lanes_seen: LanesSeen | None = None
    lanes: Lanes | None = None

    def __post_init__(self) -> None:
        self.refused: Counter[str] = Counter()
        self.spoiled: list[HistoryInconsistency] = []
        self.camera = self.scene.front
        self.sure_to_m = sure_to_m(self.scene.extra)
        self.past = HazardHistory(
            self.views,
            self.ground,
            self._clear_needed,
            _shrink(self.camera),
            self.hazard.standing,
            self.lanes,
            self.lanes_seen,
            self.hazard.motion.waits,
        )

    def why_not(self, pose_count: int) -> str:
        counts = ", ".join(f"{n} {reason}" for reason, n in self.refused.most_common())
        detail = in_detail(self.spoiled)
        return f"none of {pose_count} places works: {counts}" + (f", in detail: {detail}" if detail else "")

    def run(self, poses: Sequence[Pose], fault: Callable[[Placement], str] | None) -> list[Placement]:
        """The placements that work, best first, each well away from the better ones."""
        accepted: list[Placement] = []
        for placement in self._visible(poses):
            if any(_near(placement, better) for better in accepted):
                continue
            with_past = self.past.of(placement, self.hazard.motion.kind == "crossing")
            if isinstance(with_past, HistoryInconsistency):
                self.refused[with_past.rule] += 1
                self.spoiled.append(with_past)
                continue
            if fault and (wrong := fault(with_past)):
                self.refused[wrong] += 1
                continue
            accepted.append(with_past)
            if len(accepted) == PLACEMENT.candidates:
                break
        return sorted(accepted, key=lambda p: p.visible_since is not None)

    def _visible(self, poses: Sequence[Pose]) -> list[Placement]:
        """Those that hold at t0, best first."""
        s = np.array([p.s for p in poses])
        x, y, heading = self.path.at(s, np.array([p.lateral for p in poses]))
        yaws = heading + [p.yaw for p in poses]
        corners = box_corners(x, y, yaws, self.hazard.size)
        standing = box_corners(x, y, yaws, self.hazard.standing)
        boxes, in_view = boxes_px(self.camera, corners)
        feet, feet_valid = project(self.camera, np.column_stack([x, y, np.zeros_like(x)]))
        clipped = clip_boxes(self.camera, np.nan_to_num(boxes))
        scored: list[tuple[float, int]] = []
        for i, pose in enumerate(poses):
            visible = bool(in_view[i] and feet_valid[i])
            fault = self._fault(feet[i], boxes[i], clipped[i]) if visible else "out of view"
            clear = 0.0 if fault else self._clear_share(standing[i])
            fault = fault or self._ground_fault(pose, (x[i], y[i]), feet[i], clipped[i], clear)
            if fault:
                self.refused[fault] += 1
            else:
                scored.append((self._score(pose, clipped[i], clear), i))
        return [
            self._placement(poses[i], x[i], y[i], heading[i], feet[i], clipped[i])
            for _, i in sorted(scored, key=lambda f: (-f[0], f[1]))
        ]

    def _placement(
        self, pose: Pose, x: float, y: float, heading: float, foot: Array, box: Array
    ) -> Placement:
        vx, vy = velocity(self.hazard, pose, float(heading))
        return Placement(
            zone=pose.zone,
            x=float(x),
            y=float(y),
            yaw=wrap_angle(float(heading) + pose.yaw),
            vx=vx,
            vy=vy,
            size=self.hazard.size,
            distance_m=pose.s,
            lateral_m=pose.lateral,
            required_decel=pose.required_decel,
            foot_px=(float(foot[0]), float(foot[1])),
            box_px=(float(box[0]), float(box[1]), float(box[2]), float(box[3])),
        )

    # --- what must hold at t0 ---

    @property
    def _clear_needed(self) -> float:
        return PLACEMENT.clear_harmless if self.hazard.kind == "nuisance" else PLACEMENT.clear

    def _fault(self, foot: Array, box: Array, clipped: Array) -> str:
        entering = self.hazard.motion.kind == "crossing" or self.hazard.size.width > 4
        share = areas(clipped[None])[0] / max(areas(box[None])[0], 1e-6)
        if share < (PLACEMENT.inside_entering if entering else PLACEMENT.inside):
            return "cut off by the frame"
        if clipped[3] > self.hood:
            return "behind the car's own hood"
        side = min(clipped[2] - clipped[0], clipped[3] - clipped[1]) * math.sqrt(_shrink(self.camera))
        if (
            side < PLACEMENT.min_side_px
            or areas(clipped[None])[0] * _shrink(self.camera) < PLACEMENT.min_area_px
        ):
            return "too small at the planner's size"
        if box[3] - box[1] < self.hazard.distance.least_px:
            return f"lower than the {self.hazard.distance.least_px:g} pixels at which it is recognized"
        return "" if inside(self.camera, foot)[0] else "its foot out of the frame"

    def _ground_fault(
        self, pose: Pose, spot: tuple[float, float], foot: Array, box: Array, clear: float
    ) -> str:
        """What the ground and what stands on it at t0 say against a pose that is in view; "" for nothing."""
        if pose.s > self.sure_to_m:
            return "so far off that a guessed camera may draw it in another size"
        if clear < self._clear_needed:
            return "not on clear road"
        behind = self.ground.before(box, foot[1]) or self.past.traffic.before(self.camera, 0.0, spot, box)
        if behind:
            return "before something nearer"
        if self._in_traffic(pose):
            return "in another lane, not beside the road"
        return OFF_EDGE if self._off_edge(pose) else lane_conflict(self.scene, self.lanes_seen, pose.s)

    def _clear_share(self, corners: Array) -> float:
        """Share of the footprint on clear road; of a wide one also of either end: a nearer car may hide it."""
        px, valid = project(self.camera, corners[:4])
        if not valid.all():
            return 0.0
        clear = self.ground.share(px)
        a, b, c, d = px
        if np.ptp(px[:, 0]) < PLACEMENT.wide * self.camera.width or clear < self._clear_needed:
            return clear
        if abs(a[0] - b[0]) > abs(a[0] - d[0]):
            a, b, c, d = b, c, d, a  # a to d and b to c run across the view
        ends = (
            np.array([a, b, b + PLACEMENT.end * (c - b), a + PLACEMENT.end * (d - a)]),
            np.array([d, c, c + PLACEMENT.end * (b - c), d + PLACEMENT.end * (a - d)]),
        )
        return min(clear, *(self.ground.share(end) + PLACEMENT.end_slack for end in ends))

    def _in_traffic(self, pose: Pose) -> bool:
        """Whether something harmless that belongs beside the road stands on it, or has clear road on its far side too.

        Looked for there and where the picture shows it well: a road is about as wide all along.
        """
        if self.hazard.kind != "nuisance" or pose.zone != "shoulder":
            return False
        if self._on_road(pose):
            return True
        edge = abs(pose.lateral) + half_extents(self.hazard, pose.yaw)[1]
        width_known = HALF_WIDTH_M - 1.2
        if edge + PLACEMENT.beside_m[0] > width_known - 1.0:
            return self.views.likely is None  # nobody looks that far aside
        near, far = (math.copysign(min(edge + m, width_known), pose.lateral) for m in PLACEMENT.beside_m)
        for s in (pose.s, *PLACEMENT.along_m):
            x, y, _ = self.path.at(s + np.array([-1.0, 2, 2, -1]), np.array([near, near, far, far]))
            px, valid = project(self.camera, np.column_stack([x, y, np.zeros_like(x)]))
            if (
                valid.all()
                and inside(self.camera, px).all()
                and self.ground.share(px) > PLACEMENT.most_beside
            ):
                return True
        return False

    def _off_edge(self, pose: Pose) -> bool:
        """Whether what parks has a lane or road beyond its outer side too, or what is there is out of view."""
        if not parks(self.hazard):
            return False
        kerb = Lanes.of(self.scene).kerb
        if self.lanes_seen is not None and kerb in (self.lanes_seen.dashed or ()):
            return True  # beyond a dashed line is a lane that is driven on
        along, across = half_extents(self.hazard, pose.yaw)
        near, far = (pose.lateral + kerb * (across + beyond) for beyond in PLACEMENT.parked_m)
        s = pose.s + along * np.array([-1, 1, 1, -1])
        x, y, _ = self.path.at(s, np.array([near, near, far, far]))
        px, valid = project(self.camera, np.column_stack([x, y, np.zeros_like(x)]))
        if not valid.all() or not inside(self.camera, px.mean(0)[None]).all():
            return True
        return (self.views.likely or self.ground).share(px) > PLACEMENT.most_parked

    def _on_road(self, pose: Pose) -> bool:
        """Whether it takes up road, likely road where that is told, that somebody sees who tells it from the verge."""
        if self.views.likely is None:
            return False
        along, across = half_extents(self.hazard, pose.yaw)
        s, lateral = (
            pose.s + along * np.array([-1, 1, 1, -1]),
            pose.lateral + across * np.array([-1, -1, 1, 1]),
        )
        x, y, _ = self.path.at(s, lateral)
        px, valid = project(self.camera, np.column_stack([x, y, np.zeros_like(x)]))
        return bool(valid.all() and self.views.likely.share(px) > PLACEMENT.most_on_road)

    def _score(self, pose: Pose, box: Array, clear: float) -> float:
        """Larger, nearer to where the car must brake in earnest, on clearer road and closer to the path is better."""
        side = min(box[2] - box[0], box[3] - box[1]) * math.sqrt(_shrink(self.camera))
        size = min(math.log(side / PLACEMENT.min_side_px) / 3, 1)
        earnest = math.exp(-((math.log(pose.required_decel / self.wanted_decel) / 0.25) ** 2))
        return 0.3 * size + 1.5 * earnest + 2 * clear - 0.1 * abs(pose.lateral)


def lane_conflict(scene: Scene, lanes: LanesSeen | None, s: float) -> str:
    """What the lanes in view and the road's rise say against a place ``s`` m along the path; "" for nothing."""
    if s > level_to_m(scene):
        return HILL
    # where the motion is known, so is the way
    ends = None if lanes is None or scene.motion_known else lanes.bends_at
    return BENDS_AWAY if ends is not None and s > ends + PLACEMENT.bends_slack_m else ""


def level_to_m(scene: Scene) -> float:
    """How far ahead the road is level enough, m, by how the car pitched on its way here; infinite where nothing tells.

    A road that curves up or down by k, 1/m, lies k s^2 / 2 off the plane under the car: a share of the camera's height
    by which what stands there is drawn too small or too large.
    """
    curved = abs(curves_up(scene, scene.seen_cameras))
    return (
        math.sqrt(2 * PLACEMENT.most_off_size * float(centre(scene.front)[2]) / curved)
        if curved > 1e-6
        else math.inf
    )


def road_brightness(image: np.ndarray, view: SceneView) -> float:
    """Median 8-bit level of what ``view`` takes for road in ``image`` (H, W, 3) uint8."""
    small = cv2.resize(image, view.road.shape[::-1], interpolation=cv2.INTER_AREA)
    return float(np.median(small[view.road]))


def _shrink(camera: Camera) -> float:
    """Factor on areas when the frame is shrunk to the planner's size."""
    return min(1.0, PLACEMENT.planner_pixels / (camera.width * camera.height))


def _near(a: Placement, b: Placement) -> bool:
    return math.hypot(a.x - b.x, a.y - b.y) < 1.0 + 0.04 * b.distance_m
