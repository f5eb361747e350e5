"""Where a hazard can be in a scene, in metres on the road: near enough to matter, far enough to respond to, in view,
on clear road, and plausible in the 2 s before."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import cv2
import numpy as np

from cfgen.core.hashing import derive_seed
from cfgen.geometry.box import areas, box_corners, boxes_px, clip_boxes
from cfgen.geometry.camera import centre, inside, project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.hazards.history import HazardHistory
from cfgen.hazards.occupancy import LEFT, STOOD, HistoryInconsistency, Traffic, in_detail
from cfgen.hazards.settings import PLACEMENT
from cfgen.hazards.zones import (
    ANYWHERE,
    Lanes,
    Pose,
    Poses,
    Response,
    band,
    half_extents,
    harmless,
    parks,
    poses_to_try,
    strip_of,
    time_to_collision,
    velocity,
)
from cfgen.perception.camera import sure_to_m
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.road_by_colour import FAR_M, HALF_WIDTH_M, ColourGround
from cfgen.perception.scene_camera import curves_up
from cfgen.perception.view import SceneView, hood_row
from cfgen.perception.views import SceneViews, Views
from cfgen.records import Camera, Hazard, Placement, Scene, Size, wrap_angle

BENDS_AWAY = "where the lines leave the way that was guessed"
HILL = "farther than the road is level"
FAR_OFF = "so far off that a guessed camera may draw it in another size"
NOT_CLEAR = "not on clear road"
BEFORE = "before something nearer"
IN_LANE = "in another lane, not beside the road"
OFF_EDGE = "parked away from the road's edge"

#: The map's cells: m along the path and to its left.
_ALONG = np.arange(2.0, PLACEMENT.ahead_m, PLACEMENT.cell_m[0])
_ACROSS = np.arange(-PLACEMENT.aside_m, PLACEMENT.aside_m + 1e-6, PLACEMENT.cell_m[1])


@dataclass(frozen=True)
class Wanted:
    """The response that a placement should need, m/s^2, and its side, 1 left, -1 right, 0 either."""

    decel: float
    side: int = 0


@dataclass(frozen=True)
class Control:
    """The hazard's own object where no response is due: placements, the most alike first, or why there is none;
    ``alike``: they are about as far off and as large as the hazard."""

    hazard: Hazard
    placements: Sequence[Placement] = ()
    alike: bool = False
    missing: str = ""


def find_placements(
    scene: Scene,
    image: np.ndarray,
    hazard: Hazard,
    rng: np.random.Generator,
    response: Response = Response(),  # noqa: B008 - frozen
    frames: Mapping[tuple[str, float], np.ndarray] | None = None,
    fault: Callable[[Placement], str] | None = None,
    views: SceneViews | None = None,
) -> list[Placement] | str:
    """Placements of the hazard, best first, at most ``candidates``; or the reason why there is none.

    Args:
        image: (H, W, 3) uint8 RGB, the front frame at t0. frames: by camera and time, all frames of the scene; the
            front camera's past shows which rows are the car's own hood, and what was where the hazard would be.
        rng: draws poses; the same state gives the same placements.
        views: what the frames show; None: as their colours tell.
        fault: a further test of a placement that holds so far: what is wrong with it, or "".
    """
    all_frames = {**(frames or {}), (scene.front.name, 0.0): image}
    views = views or Views.of(ColourGround()).scene(scene, all_frames)
    return FreePlacements(scene, all_frames, views).find(hazard, rng, response, fault=fault)


@dataclass(frozen=True, eq=False)
class Checked:
    """Poses as the frame at t0 sees them: what is wrong with each (P,), "" for nothing, and where it is.

    Attributes:
        x, y, heading: (P,), m and rad, ``heading`` of the path. feet: (P, 2) px. boxes: (P, 4) px, clipped.
        clear: (P,) share of the footprint that is free. area: (P,) px^2 at the planner's size.
    """

    poses: Poses
    fault: np.ndarray
    x: Array
    y: Array
    heading: Array
    feet: Array
    boxes: Array
    clear: Array
    area: Array

    @property
    def works(self) -> np.ndarray:
        """Indices of those with which nothing is wrong."""
        return np.flatnonzero(self.fault == "")


class Option(NamedTuple):
    """Where a hazard can stand in a scene: required decelerations, m/s^2, each with its side, 1 left, -1 right; whether
    a control object looks alike beside the road; and whether the hazard comes into view or motion ``late``."""

    spots: Sequence[tuple[float, int]]
    alike: bool = True
    late: bool = False


class FreePlacements:
    """The map of a scene's free placements: what its frame at t0 shows in every cell along and across the ego path.

    A hazard's footprint at a pose is looked up in it, all poses at once; what the 2 s before say is asked of the few
    that are taken (:class:`HazardHistory`).
    """

    def __init__(
        self, scene: Scene, images: Mapping[tuple[str, float], np.ndarray], views: SceneViews
    ) -> None:
        self.scene, self.images, self.views, self.camera = scene, images, views, scene.front
        self.path = EgoPath.from_scene(scene, FAR_M)
        self.hood = hood_row(scene.front, images)
        self._layers: dict[str, np.ndarray] = {}
        self._histories: dict[str, HazardHistory] = {}

    # --- what is known of the scene, worked out once ---

    @cached_property
    def obstacle(self) -> str:
        """Why nothing can be placed, or ""."""
        road = self.views.now.road
        if not road.any():
            return "no road in view"
        brightness = road_brightness(self.images[self.camera.name, 0.0], self.views.now)
        if brightness < PLACEMENT.min_brightness:
            return f"the road is too dark to see anything on it (brightness {brightness:.0f} of 255)"
        return ""

    @cached_property
    def lanes_seen(self) -> LanesSeen | None:
        if not self.views.lanes_known or self.scene.lanes is not None:
            return None
        image = self.images[self.camera.name, 0.0]
        return LanesSeen.of(self.views.now, self.camera, self.path, image)

    @cached_property
    def lanes(self) -> Lanes:
        return replace(Lanes.of(self.scene, self.lanes_seen), far_side=self._road_is_told)

    @cached_property
    def flat(self) -> SceneView:
        """Road, and verge and pavement that look as flat."""
        return self.views.with_flat_ground()

    @property
    def _road_is_told(self) -> bool:
        """Whether somebody tells road from verge."""
        return self.scene.drivable is not None or self.views.likely is not None

    def history(self, hazard: Hazard) -> HazardHistory:
        key = f"{hazard.kind} {hazard.standing} {hazard.motion.waits}"
        if key not in self._histories:
            self._histories[key] = self._history(hazard)
        return self._histories[key]

    def _history(self, hazard: Hazard) -> HazardHistory:
        return HazardHistory(
            self.views,
            self.flat if hazard.kind == "nuisance" else self.views.now,
            # of ground beside the road nothing has to be seen
            0.0 if hazard.kind == "nuisance" else PLACEMENT.clear,
            _shrink(self.camera),
            hazard.standing,
            self.lanes,
            self.lanes_seen,
            hazard.motion.waits,
            self.traffic,
        )

    @cached_property
    def traffic(self) -> Traffic:
        return Traffic(self.scene)

    # --- cells ---

    @cached_property
    def _cells_px(self) -> Array:
        """(S, Y, 2) px of the middles of the cells; NaN where they do not project."""
        s, y = np.meshgrid(_ALONG, _ACROSS, indexing="ij")
        at_x, at_y, _ = self.path.at(s.ravel(), y.ravel())
        px, valid = project(self.camera, np.column_stack([at_x, at_y, np.zeros_like(at_x)]))
        return np.where(valid[:, None], px, np.nan).reshape(*s.shape, 2)

    def _layer(self, name: str) -> np.ndarray:
        """(S, Y) bool: ``clear`` or ``likely`` road, ``driven`` road or ground ``aside`` of it at t0; or what
        ``vehicles`` take up at a time, s, or have just ``left``."""
        if name not in self._layers:
            px = self._cells_px.reshape(-1, 2)
            kind, _, t = name.partition(" ")
            if t:
                layer = self._vehicles(float(t), kind == "left")
            elif name == "driven":
                layer = self._layer("likely") & ~self._bays
            elif name == "aside":
                layer = self._aside()
            else:
                view = self.views.likely or self.views.now if name == "likely" else self.views.now
                layer = view.is_road(px)
                if name == "clear":  # of what is cut off by the frame, only what is in it counts
                    layer |= ~replace(view, road=np.ones_like(view.road)).is_road(px)
            self._layers[name] = layer.reshape(self._cells_px.shape[:2])
        return self._layers[name]

    def _fill(self, layer: np.ndarray, corners: Array) -> None:
        """Set the cells of a polygon (N, 2) m, in the ego frame."""
        s, y = self.path.locate(corners)
        cells = np.column_stack(
            [(y - _ACROSS[0]) / PLACEMENT.cell_m[1], (s - _ALONG[0]) / PLACEMENT.cell_m[0]]
        )
        cv2.fillPoly(layer, [np.clip(cells, -1e4, 1e4).round().astype(np.int32)], 1)

    @cached_property
    def _bays(self) -> np.ndarray:
        """(S, Y) bool: annotated lanes for parked cars, and shoulders."""
        layer = np.zeros(self._cells_px.shape[:2], np.uint8)
        for lane in self.scene.lanes or ():
            if lane.use in ("parking", "shoulder"):
                self._fill(layer, strip_of(lane))
        return layer > 0

    def _aside(self) -> np.ndarray:
        """What may hold what is harmless: flat ground, bays, and the verge or pavement of a road without a shoulder,
        beyond which a guard rail may stand."""
        flat = self.flat.is_road(self._cells_px.reshape(-1, 2)).reshape(self._cells_px.shape[:2])
        if any(lane.use == "shoulder" for lane in self.scene.lanes or ()):
            return flat | self._bays
        road, drivable = self._layer("likely").astype(np.uint8), self.scene.drivable
        for polygon in drivable or ():
            self._fill(road, np.array(polygon))
        verge_m = PLACEMENT.verge_seen_m if drivable is None else PLACEMENT.verge_m
        verge = np.ones((1, 2 * round(verge_m / PLACEMENT.cell_m[1]) + 1), np.uint8)
        return flat | (cv2.dilate(road | self._bays, verge) > 0)

    def _vehicles(self, t: float, left: bool) -> np.ndarray:
        layer = np.zeros(self._cells_px.shape[:2], np.uint8)
        for corners in self.traffic.ground(t, left):
            self._fill(layer, corners)
        return layer > 0

    def _share(self, name: str, s: Array, y: Array) -> Array:
        """Share of the points (P, ...) m that lie in cells of the layer; over all axes but the first."""
        i = np.rint((s - _ALONG[0]) / PLACEMENT.cell_m[0]).astype(int)
        j = np.rint((y - _ACROSS[0]) / PLACEMENT.cell_m[1]).astype(int)
        layer = self._layer(name)
        on_map = (i >= 0) & (i < layer.shape[0]) & (j >= 0) & (j < layer.shape[1])
        hit = on_map & layer[np.clip(i, 0, layer.shape[0] - 1), np.clip(j, 0, layer.shape[1] - 1)]
        return hit.reshape(len(s), -1).mean(1)

    # --- poses ---

    def check(self, poses: Poses) -> Checked:
        """What the frame at t0 says against each pose."""
        x, y, heading = self.path.at(poses.s, poses.lateral)
        length = poses.column(lambda h: h.size.length)
        width, height = poses.column(lambda h: h.size.width), poses.column(lambda h: h.size.height)
        corners = _boxes(x, y, heading + poses.yaw, length, width, height)
        boxes, in_view = boxes_px(self.camera, corners)
        feet, feet_valid = project(self.camera, np.column_stack([x, y, np.zeros_like(x)]))
        boxes = np.nan_to_num(boxes)
        clipped = clip_boxes(self.camera, boxes)
        fault = np.full(len(poses), "", object)

        def mark(wrong: np.ndarray, reason: str) -> None:
            fault[wrong & (fault == "")] = reason

        mark(~(in_view & feet_valid), "out of view")
        self._mark_size(mark, poses, boxes, clipped)
        mark(~inside(self.camera, np.nan_to_num(feet, nan=-9.0)), "its foot out of the frame")
        mark(poses.s > sure_to_m(self.scene.extra), FAR_OFF)
        clear = self._clear(poses)
        mark(clear < poses.column(_clear_needed), NOT_CLEAR)
        self._mark_driven(mark, poses)
        self._mark_aside(mark, poses)
        for far, reason in limits(self.scene, self.lanes_seen):
            mark(poses.s > far, reason)
        area = areas(clipped) * _shrink(self.camera)
        return Checked(poses, fault, x, y, heading, feet, clipped, clear, area)

    def _mark_size(
        self, mark: Callable[[np.ndarray, str], None], poses: Poses, boxes: Array, clipped: Array
    ) -> None:
        shown = areas(clipped) / np.maximum(areas(boxes), 1e-6)
        needed = poses.column(
            lambda h: (
                PLACEMENT.inside_entering
                if h.motion.kind == "crossing" or h.size.width > 4 or h.kind == "nuisance"
                else PLACEMENT.inside
            )
        )
        mark(shown < needed, "cut off by the frame")
        mark(clipped[:, 3] > self.hood, "behind the car's own hood")
        sides = np.minimum(clipped[:, 2] - clipped[:, 0], clipped[:, 3] - clipped[:, 1])
        shrink = _shrink(self.camera)
        small = sides * math.sqrt(shrink) < PLACEMENT.min_side_px
        mark(small | (areas(clipped) * shrink < PLACEMENT.min_area_px), "too small at the planner's size")
        low = boxes[:, 3] - boxes[:, 1] < poses.column(lambda h: h.distance.least_px)
        mark(low, "lower than the pixels at which it is recognized")

    def _points(self, poses: Poses) -> tuple[Array, Array]:
        """(P, along, across) s and lateral, m, of points of the ground that each takes up."""
        length, width = poses.column(lambda h: h.standing.length), poses.column(lambda h: h.standing.width)
        along, across = ((np.arange(n) + 0.5) / n - 0.5 for n in PLACEMENT.points)
        u = length[:, None, None] * along[:, None]
        w = width[:, None, None] * across
        c, sn = np.cos(poses.yaw)[:, None, None], np.sin(poses.yaw)[:, None, None]
        return (
            poses.s[:, None, None] + c * u - sn * w,
            poses.lateral[:, None, None] + sn * u + c * w,
        )

    def _clear(self, poses: Poses) -> Array:
        """(P,) share of the footprint that is clear road, or flat ground for what is harmless; of either end, too."""
        s, y = self._points(poses)
        off = poses.column(lambda h: h.kind == "nuisance")
        clear = np.zeros(len(poses))
        if off.any():
            clear[off] = self._share("aside", s[off], y[off])
        if not off.all():
            parts = (np.s_[:, :, :], np.s_[:, :2], np.s_[:, -2:], np.s_[:, :, :2], np.s_[:, :, -2:])
            shares = [self._share("clear", s[~off][part], y[~off][part]) for part in parts]
            clear[~off] = np.minimum(shares[0], np.min(shares[1:], 0) + PLACEMENT.end_slack)
        return clear

    def _mark_driven(self, mark: Callable[[np.ndarray, str], None], poses: Poses) -> None:
        """Annotated vehicles were there before, or have just left; what crosses may follow one."""
        if not self.traffic.at(0.0):
            return
        moves = poses.column(lambda h: h.motion.kind != "static")
        signs = poses.column(lambda h: -1.0 if h.motion.kind == "contraflow" else 1.0)
        across = poses.column(lambda h: h.motion.kind == "crossing")
        s, y = (points[:, ::3, ::2] for points in self._points(poses))
        for t in (0.0, *self.history(poses.hazards[0]).cameras):
            along = t * moves * signs * poses.speed
            at_s = s + (along * np.cos(poses.yaw))[:, None, None]
            at_y = y + (along * np.sin(poses.yaw))[:, None, None]
            mark(self._share(f"vehicles {t}", at_s, at_y) > 0, STOOD)
            mark(~across & (self._share(f"left {t}", at_s, at_y) > 0), LEFT)

    def _mark_aside(self, mark: Callable[[np.ndarray, str], None], poses: Poses) -> None:
        """What is harmless stands off the road; what parks stands at its edge."""
        lanes, across = self.lanes, np.zeros(len(poses))
        for k, hazard in enumerate(poses.hazards):
            mine = poses.of == k
            across[mine] = half_extents(hazard, poses.yaw[mine])[1]
        off = poses.column(lambda h: h.kind == "nuisance")
        if off.any():
            near = np.abs(poses.lateral - lanes.middle) - across
            mark(off & (near < lanes.half), IN_LANE)
            if self._road_is_told:
                mark(off & (self._share("driven", *self._points(poses)) > PLACEMENT.most_on_road), IN_LANE)
            else:  # colours take the other lane for a verge
                edge = np.abs(poses.lateral) + across + PLACEMENT.beside_m[0]
                mark(
                    off & (edge > HALF_WIDTH_M - PLACEMENT.unknown_m), IN_LANE
                )  # nobody looks that far aside
                # looked for there and where the picture shows it well: a road is about as wide all along
                for s in (poses.s, *(np.full(len(poses), s) for s in PLACEMENT.along_m)):
                    strip = self._strip(s, poses.lateral, np.sign(poses.lateral), across, PLACEMENT.beside_m)
                    mark(off & (strip > PLACEMENT.most_beside), IN_LANE)
        parked = poses.column(parks)
        if parked.any():
            side = np.full(len(poses), lanes.kerb)
            strip = self._strip(poses.s, poses.lateral, side, across, PLACEMENT.parked_m)
            # beyond a dashed line is a lane that is driven on
            mark(parked & ((strip > PLACEMENT.most_parked) | (lanes.kerb in lanes.dashed)), OFF_EDGE)

    def _strip(
        self, s: Array, lateral: Array, side: Array, across: Array, beyond: tuple[float, float]
    ) -> Array:
        """Share of road on a strip from and to so far beyond the outer side of each, m."""
        y = (lateral + side * across)[:, None, None] + side[:, None, None] * np.linspace(*beyond, 5)
        known = HALF_WIDTH_M - PLACEMENT.unknown_m + 2.0  # colours look no farther
        y = y if self._road_is_told else np.clip(y, -known, known)
        at, y = np.broadcast_arrays(s[:, None, None] + np.array([-1.0, 0.0, 1.0])[:, None], y)
        return self._share("likely", at, y)

    # --- search ---

    def find(
        self,
        hazard: Hazard,
        rng: np.random.Generator,
        response: Response = Response(),  # noqa: B008 - frozen
        wanted: Wanted | None = None,
        fault: Callable[[Placement], str] | None = None,
        controlled: bool = False,
    ) -> list[Placement] | str:
        """As :func:`find_placements`; the nearest to what is ``wanted`` come first, None: drawn from what works.

        ``controlled``: where its control object would look alike rather than elsewhere.
        """
        if reason := self.obstacle or self.missing(hazard):
            return reason
        checked = self.check(poses_to_try(self.scene, hazard, rng, response, self.lanes))
        if not len(checked.poses):
            return (
                f"at {self.scene.speed:.1f} m/s no distance from {hazard.distance.min_m:g} to "
                f"{hazard.distance.max_m:g} m needs a response that is due in time"
            )
        works = checked.works
        if wanted is None and len(works):
            wanted = Wanted(float(rng.choice(checked.poses.decel[works])))
        order = works
        if wanted is not None:
            scores = self._scores(checked, works, wanted)
            if controlled:
                scores += PLACEMENT.prefers_alike * self._alike(checked, works)
            order = works[np.argsort(-scores, kind="stable")]
        accepted = self._take(checked, order, fault)
        return accepted if isinstance(accepted, str) else sorted(accepted, key=lambda p: p.in_view_s or 0.0)

    def missing(self, hazard: Hazard) -> str:
        """What the hazard needs that the scene neither shows nor tells of, or ""."""
        return missing_road(self.scene, hazard, self.lanes) or self.lanes.missing(hazard)

    def _scores(self, checked: Checked, at: np.ndarray, wanted: Wanted) -> Array:
        """Nearer to the wanted response and side, larger, on clearer road and closer to the path is better."""
        poses, side = checked.poses, np.sqrt(checked.area[at])
        size = np.minimum(np.log(np.maximum(side / PLACEMENT.min_side_px, 1)) / 3, 1)
        near = np.exp(-((np.log(poses.decel[at] / wanted.decel) / 0.25) ** 2))
        near += PLACEMENT.prefers_late * self._sets_off_late(poses)[at]
        if wanted.side:
            near += 0.5 * (np.sign(poses.lateral[at] - self.lanes.middle) == wanted.side)
        return 0.3 * size + 1.5 * near + 2 * checked.clear[at] - 0.1 * np.abs(poses.lateral[at])

    def _sets_off_late(self, poses: Poses) -> np.ndarray:
        """(P,) bool: what crosses and has just come from where its own lane ends."""
        waits = poses.column(lambda h: h.motion.kind == "crossing" and h.motion.waits)
        out = (
            self.lanes.half
            + poses.column(lambda h: h.standing.length)
            - np.abs(poses.lateral - self.lanes.middle)
        )
        return waits & (out <= PLACEMENT.late_s * poses.speed)

    def _take(
        self,
        checked: Checked,
        order: np.ndarray,
        fault: Callable[[Placement], str] | None,
        most: int = PLACEMENT.candidates,
    ) -> list[Placement] | str:
        """The first ``most`` of ``order`` that have a plausible past."""
        accepted: list[Placement] = []
        refused, conflicts = Counter(checked.fault[checked.fault != ""]), []
        tried: list[Placement] = []
        for i in order:
            placement = self.placement(checked, i)
            if any(_near(placement, other) for other in tried):
                continue
            result = self._final(placement, checked.poses.hazard(i))
            if result == BEFORE:  # costs little
                refused[BEFORE] += 1
                continue
            tried.append(placement)
            if isinstance(result, HistoryInconsistency):
                conflicts.append(result)
            reason = result.rule if isinstance(result, HistoryInconsistency) else result
            if isinstance(result, Placement):
                reason = fault(result) if fault else ""
            if isinstance(result, Placement) and not reason:
                accepted.append(result)
            else:
                refused[str(reason)] += 1
            if len(accepted) == most or len(tried) == PLACEMENT.most_tried:
                break
        if accepted:
            return accepted
        counts = ", ".join(f"{n} {reason}" for reason, n in refused.most_common())
        detail = in_detail(conflicts)
        return f"none of {len(checked.poses)} places works: {counts}" + (
            f", in detail: {detail}" if detail else ""
        )

    def _final(self, placement: Placement, hazard: Hazard) -> Placement | HistoryInconsistency | str:
        """The placement with its past, or what speaks against it: something nearer at t0, or its past."""
        box, spot = np.array(placement.box_px), (placement.x, placement.y)
        if self.views.now.before(box, placement.foot_px[1]) or self.traffic.before(
            self.camera, 0.0, spot, box
        ):
            return BEFORE
        return self.history(hazard).of(placement, hazard.motion.kind == "crossing")

    def placement(self, checked: Checked, i: int) -> Placement:
        pose, hazard, heading = checked.poses[i], checked.poses.hazard(i), float(checked.heading[i])
        vx, vy = velocity(hazard, pose, heading)
        moving_since = None
        if hazard.kind == "nuisance" and pose.speed:  # it set off at the road's edge
            gap = abs(pose.lateral - self.lanes.middle) - half_extents(hazard, pose.yaw)[1] - self.lanes.half
            moving_since = -max(float(gap), 0.0) / pose.speed
        return Placement(
            zone=pose.zone,
            x=float(checked.x[i]),
            y=float(checked.y[i]),
            yaw=wrap_angle(heading + pose.yaw),
            vx=vx,
            vy=vy,
            moving_since=moving_since,
            size=hazard.size,
            distance_m=pose.s,
            lateral_m=pose.lateral,
            required_decel=pose.required_decel,
            ttc_s=float(time_to_collision(hazard, self.scene.speed, pose.speed, pose.yaw, pose.s)),
            foot_px=(float(checked.feet[i, 0]), float(checked.feet[i, 1])),
            box_px=tuple(checked.boxes[i].tolist()),
        )

    def examine(self, hazard: Hazard, pose: Pose, response: Response) -> tuple[Placement | None, list[str]]:
        """One pose chosen by a person: its placement, None when the camera cannot see it, and every reason against
        it."""
        checked = self.check(Poses.single(hazard, [pose]))
        if checked.fault[0] == "out of view":
            return None, ["out of view"]
        low, high = band(hazard, self.scene.speed, pose.speed, pose.yaw, response)
        faults = [checked.fault[0]]
        if not low <= pose.required_decel <= high:
            side = "hard to stop for" if pose.required_decel > high else "far to need a response"
            faults.append(f"too {side}: {pose.required_decel:.1f} m/s² where {low:g} to {high:g} are allowed")
        placement = self.placement(checked, 0)
        result = self._final(placement, hazard)
        if not isinstance(result, Placement):
            return placement, [fault for fault in (*faults, str(result)) if fault]
        return result, [fault for fault in faults if fault]

    # --- for the plan ---

    def survey(
        self,
        hazards: Sequence[Hazard],
        rng: Callable[[Hazard], np.random.Generator],
        response: Response,
        nuisance: bool,
    ) -> tuple[dict[str, Option], str]:
        """By hazard where it can stand, of as many hazards as are worth it; and why none can stand anywhere, or ""."""
        if self.obstacle:
            return {}, self.obstacle
        suited = [h for h in hazards if not self.missing(h)]
        parts = [poses_to_try(self.scene, h, rng(h), response, self.lanes) for h in suited]
        parts = [part for part in parts if len(part)]
        if not parts:
            return {}, f"at {self.scene.speed:.1f} m/s no response to any hazard would be due in time"
        checked = self.check(Poses.join(parts))
        options: dict[str, Option] = {}
        at_of = {k: checked.works[checked.poses.of[checked.works] == k] for k in range(len(parts))}
        # those with few poses first, so that no scene is left out in which they could stand; the rest as drawn
        few = sorted((k for k, at in at_of.items() if len(at)), key=lambda k: len(at_of[k]))
        half = PLACEMENT.surveyed // 2
        drawn = sorted(few[half:], key=lambda k: rng(parts[k].hazards[0]).random())
        uncontrolled: list[int] = []
        for k in (*few[:half], *drawn):
            if len(options) == PLACEMENT.surveyed:
                break
            alike = self._alike(checked, at_of[k]) if nuisance else np.ones(len(at_of[k]), bool)
            if not alike.any():
                uncontrolled.append(k)
            elif option := self._option(parts[k].hazards[0], rng, checked, at_of[k][alike], nuisance):
                options[parts[k].hazards[0].id] = option
        for k in () if options else uncontrolled[: PLACEMENT.surveyed]:
            if option := self._option(parts[k].hazards[0], rng, checked, at_of[k], False):
                options[parts[k].hazards[0].id] = option._replace(alike=False)
        return options, "" if options else self._why_barren(checked)

    def _option(
        self,
        hazard: Hazard,
        rng: Callable[[Hazard], np.random.Generator],
        checked: Checked,
        at: np.ndarray,
        nuisance: bool,
    ) -> Option | None:
        """A place among the poses ``at``, as :meth:`survey` tells of it; None where the past speaks against all."""
        decel, late = checked.poses.decel[at], self._sets_off_late(checked.poses)[at]
        apart = np.abs(decel - float(rng(hazard).choice(decel))) + PLACEMENT.prefers_late * ~late
        order = at[np.argsort(apart, kind="stable")]
        placements = self._take(checked, order[: PLACEMENT.survey_tries], None, 1)
        if isinstance(placements, str):
            return None
        [placement] = placements
        alike = not nuisance or self.control(hazard, placement, 1).alike
        side = np.where(checked.poses.lateral[at] > self.lanes.middle, 1, -1)
        spots = {(int(d), int(s)): (round(float(d), 2), int(s)) for d, s in zip(decel, side, strict=True)}
        late_s = placement.in_view_s
        return Option(sorted(spots.values()), alike, late_s is not None and late_s <= PLACEMENT.late_s)

    def _why_barren(self, checked: Checked) -> str:
        """What most speaks against every pose, and what would help."""
        faults = Counter(fault for fault in checked.fault if fault)
        reason = faults.most_common(1)[0][0] if faults else "the frames before speak against every place"
        if reason != NOT_CLEAR:
            return f"nothing can stand there: {reason}"
        clear = self._layer("clear")[:, np.abs(_ACROSS) < 1.0].mean(1) > PLACEMENT.clear
        far = float(_ALONG[clear].max()) if clear.any() else 0.0
        helps = "give 'drivable' in its scene.json, or take --perception twinlitenet"
        return f"no clear road seen beyond {far:.0f} m: {helps}"

    def free(self, s: Array, lateral: Array) -> np.ndarray:
        """(N,) bool: road that no annotated vehicle takes up at t0."""
        return np.array(self._share("likely", s[:, None], lateral[:, None]) > 0)

    # --- control objects ---

    def control(
        self,
        hazard: Hazard,
        placement: Placement,
        most: int = PLACEMENT.controls,
        closest: bool = False,
    ) -> Control:
        """The same object where no response is due, about as far off and as large as ``placement``.

        Args:
            closest: where it looks alike nowhere, where it does most, however far off.
        """
        hazard = hazard.model_copy(update={"size": placement.size})
        area = areas(np.array([placement.box_px]))[0] * _shrink(self.camera)
        control, checked = self._beside(hazard, np.array([placement.distance_m]))
        placements = self._take(checked, _by_area(checked, area, 1 + PLACEMENT.alike), None, most)
        if isinstance(placements, list):
            return Control(control, placements, True)
        if closest:
            checked = self._beside(hazard, np.array([PLACEMENT.nearest_m, placement.distance_m]))[1]
            placements = self._take(checked, _by_area(checked, area, math.inf), None, most)
        return (
            Control(control, placements)
            if isinstance(placements, list)
            else Control(control, missing=placements)
        )

    def _alike(self, checked: Checked, at: np.ndarray) -> np.ndarray:
        """(len(at),) bool: whether the same object would look as large somewhere beside the road, as far off."""
        alike = np.zeros(len(at), bool)
        for k in np.unique(checked.poses.of[at]):
            mine = checked.poses.of[at] == k
            s = checked.poses.s[at[mine]]
            beside = self._beside(checked.poses.hazards[k], s)[1]
            works = beside.works
            ratio = np.abs(np.log(checked.area[at[mine], None] / beside.area[works]))
            near = np.abs(beside.poses.s[works] - s[:, None]) <= PLACEMENT.alike * s[:, None]
            alike[mine] = ((ratio <= math.log(1 + PLACEMENT.alike)) & near).any(1)
        return alike

    def _beside(self, hazard: Hazard, s: Array) -> tuple[Hazard, Checked]:
        """The hazard's control object, and what the frame at t0 says of where it may stand, about as far off as ``s``
        (N,), m; the same every time."""
        control = harmless(hazard)
        near, far = float(s.min()) * (1 - PLACEMENT.alike), float(s.max()) * (1 + PLACEMENT.alike)
        policy = control.distance.model_copy(update={"min_m": near, "max_m": far})
        searched = control.model_copy(update={"distance": policy})
        rng = np.random.default_rng(derive_seed(0, self.scene.scene_id, hazard.id))
        return control, self.check(poses_to_try(self.scene, searched, rng, ANYWHERE, self.lanes))


def missing_road(scene: Scene, hazard: Hazard, lanes: Lanes) -> str:
    """What the hazard needs of the road that the scene neither shows nor tells of; "" when nothing is missing.

    A scene tells with ``road``: "junction", "rails" or "motorway", or a list of them.
    """
    road_tags = scene.extra.get("road", ())
    road_tags = {road_tags} if isinstance(road_tags, str) else set(road_tags)
    if hazard.road == "street":
        motorway = "motorway" in road_tags or scene.speed > PLACEMENT.motorway_speed
        return "it belongs to streets, and this is or looks like a motorway" if motorway else ""
    if (
        hazard.road == "any"
        or hazard.road in road_tags
        or (hazard.road == "junction" and lanes.crossing_road)
    ):
        return ""
    return f"no {'rails' if hazard.road == 'rails' else 'crossing road'} in view or told of"


def _clear_needed(hazard: Hazard) -> float:
    return PLACEMENT.clear_harmless if hazard.kind == "nuisance" else PLACEMENT.clear


def _boxes(x: Array, y: Array, yaw: Array, length: Array, width: Array, height: Array) -> Array:
    """(P, 8, 3) as :func:`box_corners`, each of its own size."""
    unit = box_corners(np.zeros(1), np.zeros(1), np.zeros(1), Size(length=1, width=1, height=1))[0]
    along, left = length[:, None] * unit[:, 0], width[:, None] * unit[:, 1]
    c, sn = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    up = height[:, None] * unit[:, 2]
    return np.stack([x[:, None] + c * along - sn * left, y[:, None] + sn * along + c * left, up], -1)


def limits(scene: Scene, lanes: LanesSeen | None) -> list[tuple[float, str]]:
    """How far along the path things may stand by the road's rise and the lanes in view, m, and why no farther."""
    # where the motion is known, so is the way
    ends = None if lanes is None or scene.motion_known else lanes.bends_at
    bends = math.inf if ends is None else ends + PLACEMENT.bends_slack_m
    return [(level_to_m(scene), HILL), (bends, BENDS_AWAY)]


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


def _by_area(checked: Checked, area: float, most: float) -> np.ndarray:
    """Indices of the poses that work and are at most ``most`` times as large as ``area``, px^2, or as small; the most
    alike first."""
    works = checked.works
    apart = np.abs(np.log(checked.area[works] / area))
    order = np.argsort(apart, kind="stable")
    return works[order[apart[order] <= math.log(most)]]


def _near(a: Placement, b: Placement) -> bool:
    return math.hypot(a.x - b.x, a.y - b.y) < 1.0 + 0.04 * b.distance_m
