"""What a hazard did in the 2 s before t0: it shows wherever its place is in view, or its place is refused.

A place is seen when a past frame shows road there. Where the view of that frame is unsure, its colours decide: they
are those of t0, unless something stood there. What drove through the place, or hides a part of it, refuses it; what
hides all of it must be a thing that somebody saw.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import cv2
import numpy as np

from cfgen.geometry.box import areas, box_corners, boxes_px, clip_boxes
from cfgen.geometry.camera import centre, ground_points, inside, project
from cfgen.geometry.frames import camera_at
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.hazards.occupancy import (
    BARE_ROAD,
    BY_COLOURS,
    HIDDEN,
    OVER_LANE,
    STOOD,
    HistoryInconsistency,
    Traffic,
    goes_across,
    vehicle_conflict,
    vehicle_conflict_at_t0,
    was_occupied,
)
from cfgen.hazards.settings import HISTORY, OCCUPANCY
from cfgen.hazards.zones import Lanes
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.road_by_colour import FAR_M
from cfgen.perception.view import SceneView, Thing
from cfgen.perception.views import SceneViews
from cfgen.records import Camera, Placement, Scene, Size

#: Times looked at when there are no past frames.
TIMES = (-2.0, -1.5, -1.0, -0.5)


Shown = Literal["outside", "seen", "hidden", "unsure", "partly", "taken", "bare"]
#: How it shows where that refuses it, and by which rule.
REFUSED: Mapping[Shown, str] = {"partly": HIDDEN, "taken": BY_COLOURS, "bare": BARE_ROAD}


@dataclass(frozen=True, eq=False)
class HazardHistory:
    """The scene's past as the front camera saw it.

    Attributes:
        views: what the frames show; without past ones, passing traffic stays unknown.
        ground: where the hazard may be at t0; the ground is the world's, so what is road now was road before.
        needed: share of a footprint that must be clear. shrink: factor on areas at the planner's size.
        standing: the part of the hazard's box that takes up ground; None: all of it.
        lanes: where the own lane is; None: as the scene says. lanes_seen: the lanes in view.
        waits: whether what crosses may have stood before; a rider does not: he comes rolling.
        traffic: the vehicles that the scene tells of; None: as it says.
        rolled_on: when it rolled onto the road from what lies flat beside it, s relative to t0.
    """

    views: SceneViews
    ground: SceneView
    needed: float
    shrink: float
    standing: Size | None = None
    lanes: Lanes | None = None
    lanes_seen: LanesSeen | None = None
    waits: bool = True
    traffic: Traffic | None = None
    rolled_on: float | None = None
    _cache: dict[float, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def scene(self) -> Scene:
        return self.views.scene

    @cached_property
    def cameras(self) -> dict[float, Camera]:
        """The front camera at the time of every past frame, for points of the ego frame at t0."""
        front, first = self.scene.front, self.scene.history.t[0]
        times: Iterable[float] = [t for t in self.views.times if t < -0.05] or TIMES
        return {t: camera_at(self.scene, front.name, t) for t in times if t >= first - 1e-6}

    def of(self, placement: Placement, crosses: bool) -> Placement | HistoryInconsistency:
        """The placement with a plausible past: when it set off, and from when on it shows; or what spoils that."""
        start = self._set_off(placement) if crosses else None
        if (
            start is not None and self.waits
        ):  # what sets off late is preferred to what has been on its way all along
            late = self._with_past(placement.model_copy(update={"moving_since": start}))
            if isinstance(late, Placement):
                return late
        result = self._with_past(placement)
        if isinstance(result, Placement) or not crosses:
            return result
        if start is None:
            return replace(result, rule=OVER_LANE) if result.rule == BARE_ROAD else result
        if self.waits or not self._flat_before(placement, start):
            return result
        return replace(self, rolled_on=start)._with_past(placement)

    def _flat_before(self, placement: Placement, start: float) -> bool:
        """Whether t0 shows road, or what lies as flat, wherever it rolled before ``start``, s."""
        poses = [placement.at(t) for t in (*(t for t in self.cameras if t < start), start)]
        px, valid = zip(*(project(self.scene.front, self._footprint(pose)) for pose in poses), strict=True)
        flat = self.views.with_flat_ground()
        return all(ok.all() and flat.share(spot) >= HISTORY.flat for spot, ok in zip(px, valid, strict=True))

    def _with_past(self, moving: Placement) -> Placement | HistoryInconsistency:
        if driven := self._vehicle_conflict(moving):
            return driven
        visibility = self._past(moving)
        for t, how in visibility.items():
            if how in REFUSED:
                return HistoryInconsistency(REFUSED[how], t, moving.distance_m)
        hidden = [t for t, how in visibility.items() if how == "hidden"]
        since = max(hidden) + 0.05 if hidden else None
        if since is not None and any(how == "seen" for t, how in visibility.items() if t < since):
            return HistoryInconsistency(
                HIDDEN, max(hidden), moving.distance_m
            )  # it would vanish and come again
        if (occupied_t := self._stood(moving, visibility)) is not None:
            return HistoryInconsistency(STOOD, occupied_t, moving.distance_m)
        outside = [-t for t, how in visibility.items() if how == "outside"]
        starts = [-start for start in (since, moving.moving_since) if start is not None]
        in_view_s = min([*outside, *starts, *(-t for t in sorted(visibility)[:1])], default=0.0)
        return moving.model_copy(update={"visible_since": since, "in_view_s": in_view_s})

    def _set_off(self, placement: Placement) -> float | None:
        """When it left the road's edge, s relative to t0; None where it was on its way all along, or no edge is seen.

        The edge is where road ends behind it at t0, no nearer than the own lane's line, or on the far side the oncoming
        lane's: nobody waits in a lane, not with his toes either. Beyond a dashed line is one, whatever hides its road.
        """
        speed = float(np.hypot(placement.vx, placement.vy))
        if speed == 0:
            return None
        back = -np.array([placement.vx, placement.vy, 0.0]) / speed
        steps = np.arange(0.0, HISTORY.longest_s * speed + HISTORY.beyond_m, HISTORY.edge_step_m)
        spots = np.array([placement.x, placement.y, 0.0]) + steps[:, None] * back
        px, valid = project(self.scene.front, spots)
        in_view = valid & inside(self.scene.front, px)
        road, window = (
            (self.views.likely or self.ground).is_road(px),
            round(HISTORY.beyond_m / HISTORY.edge_step_m),
        )
        for i in range(len(steps) - window):
            on = slice(i, i + window)
            if not in_view[on].all():
                return None
            if road[on].mean() <= HISTORY.most_beyond:
                short = self._within_line(spots[i, :2])
                if short is None:
                    return None
                out = max(short + self._length(placement) / 2 + HISTORY.beyond_line_m, 0.0)
                return -(float(steps[i]) + out) / speed if short <= HISTORY.within_line_m else None
        return None

    def _within_line(self, spot: Array) -> float | None:
        """How far a point of the road (2,) m lies within the own lane's line on the kerb's side, or the oncoming lane's
        on the other, m; None where it lies in a lane beyond a dashed line."""
        lanes = self.lanes or Lanes.of(self.scene)
        (s,), (lateral,) = EgoPath.from_scene(self.scene, FAR_M).locate(spot[None])
        from_middle = float(lateral) - lanes.middle
        if (1 if from_middle > 0 else -1) in lanes.dashed and abs(
            from_middle
        ) < 3 * lanes.half - HISTORY.within_line_m:
            return None
        if from_middle * lanes.kerb <= 0:
            return 3 * lanes.half - abs(from_middle)
        line = self.lanes_seen.line_at(lanes.kerb, float(s)) if self.lanes_seen is not None else None
        own = lanes.half if line is None else max(abs(line - lanes.middle), lanes.half)
        return own - abs(from_middle)

    @cached_property
    def _traffic(self) -> Traffic:
        return self.traffic or Traffic(self.scene)

    def _vehicle_conflict(self, placement: Placement) -> HistoryInconsistency | None:
        """Which vehicle that the scene tells of, or somebody saw, stood where it was."""
        standing = self.standing or placement.size
        if conflict := self._traffic.conflict(placement, standing, (0.0, *self.cameras)):
            return conflict
        if self.views.now.things is None:  # nobody looks for vehicles: no frame is looked at for them
            return None
        if not any(t in self.cameras for t in self.views.times):
            return vehicle_conflict_at_t0(self.scene, self.views.now, placement, standing)
        past_views = {t: view for t in self.cameras if (view := self.views.at(t)) is not None and view.things}
        return vehicle_conflict(self.scene, self.cameras, past_views, placement, standing)

    def _stood(self, placement: Placement, visibility: Mapping[float, Shown]) -> float | None:
        """Which frame that shows it has something else there; where somebody looks for things, something too small
        for that."""
        front = self.scene.front
        frame = self.views.images[front.name, 0.0]
        for t, how in visibility.items():
            image = self.views.images.get((front.name, t))
            if how != "seen" or image is None:
                continue
            pose = placement.at(t)
            any_size = self.views.now.things is None and not self._traffic.known
            off = OCCUPANCY.just_off_m if any_size and not goes_across(pose) else 0.0
            if was_occupied(image, self.cameras[t], self._footprint(pose), frame, front, off, any_size):
                return t
        return None

    def _length(self, placement: Placement) -> float:
        return (self.standing or placement.size).length

    def _footprint(self, pose: Placement) -> Array:
        """(4, 3) m, what it takes up of the ground."""
        return box_corners(pose.x, pose.y, pose.yaw, self.standing or pose.size)[0, :4]

    def _then(self, t: float) -> SceneView | None:
        """What a past frame shows, its likely road as road: that the ground is road is sure since t0, and what stands
        on it is not even likely road."""
        view = self.views.at(t)
        return view if view is None or view.likely is None else replace(view, road=view.likely)

    def _past(self, placement: Placement) -> dict[float, Shown]:
        """How it shows in each past frame, latest first, up to the first that refuses it."""
        visibility: dict[float, Shown] = {}
        times = sorted(self.cameras, reverse=True)
        for t in times:
            visibility[t] = self._shown(placement, t)
            if visibility[t] in REFUSED:
                return visibility
        for i, t in enumerate(times):
            if visibility[t] == "unsure":  # a flicker between two frames that are sure
                around = [
                    visibility[neighbour] for neighbour in (*times[max(i - 1, 0) : i], *times[i + 1 : i + 2])
                ]
                visibility[t] = "seen" if around == ["seen", "seen"] else "bare"
        return visibility

    def _shown(self, placement: Placement, t: float) -> Shown:
        """How it shows at time ``t``: road is "seen" there; "hidden" by something real that is nearer."""
        pose, camera = placement.at(t), self.cameras[t]
        boxes, valid = boxes_px(camera, box_corners(pose.x, pose.y, pose.yaw, pose.size))
        clipped = clip_boxes(camera, boxes)
        area = areas(clipped)[0] if valid.all() else 0.0
        if area * self.shrink < HISTORY.small_px or area < HISTORY.coming_in * areas(boxes)[0]:
            return "outside"
        if behind_traffic := self._traffic.before(camera, t, (pose.x, pose.y), clipped[0]):
            return behind_traffic
        return self._road_shown(self._footprint(self._on_road(placement, t)), clipped[0], t)

    def _road_shown(self, footprint: Array, box: Array, t: float) -> Shown:
        """Whether road is seen at ``t`` where a footprint (4, 3) m lies, whose box (4,) px is in view."""
        view, needed = self._then(t), self.needed - HISTORY.slack
        px, _ = project(self.cameras[t], footprint)
        if view is not None and (before := view.before(box, float(px[:, 1].mean()))):
            return self._behind(before, box, t)
        if view is not None and view.share(px) >= needed:
            return "seen"
        px_now, in_view = project(self.scene.front, footprint)
        occupied = self._taken(footprint, t)
        if in_view.all() and self.ground.share(px_now) >= needed and not occupied:
            return "seen"
        near = view is not None and any(view.share(px + offset) >= needed for offset in self._off)
        return "unsure" if near else "taken" if occupied else "bare"

    def _on_road(self, placement: Placement, t: float) -> Placement:
        """It at ``t``; while it waits at the road's edge, or has not left that whole, at the first place that is
        road."""
        since = self.rolled_on if placement.moving_since is None else placement.moving_since
        if since is None:
            return placement.at(t)
        half = self._length(placement) / 2
        clearance = half + HISTORY.beyond_line_m + max(half, HISTORY.before_it_m)
        gone = since + clearance / float(np.hypot(placement.vx, placement.vy))
        return placement.at(max(t, gone))

    @property
    def _off(self) -> Array:
        """(4, 2) px by which a place may lie off in a past frame: cars pitch, roads bend up and down."""
        return np.outer([0.5, 1, -0.5, -1], (0.0, HISTORY.pitch * self.scene.front.fy))

    def _behind(self, things: Sequence[Thing], box: Array, t: float) -> Shown:
        """Whether one of ``things`` before it hides its box (4,) px of ``t`` whole; or a part, which refuses it."""
        camera = self.cameras[t]
        foot, _ = ground_points(camera, [((box[0] + box[2]) / 2, box[3])])
        for thing in things:
            x0, y0, x1, y1 = thing.box
            base, _ = ground_points(camera, [((x0 + x1) / 2, y1)])
            nearer = np.hypot(*(foot - centre(camera)[:2])[0]) - np.hypot(*(base - centre(camera)[:2])[0])
            if nearer > HISTORY.nearer_m and x0 <= box[0] and y0 <= box[1] and x1 >= box[2]:
                return "hidden"
        return "partly"

    def _taken(self, footprint: Array, t: float) -> bool:
        """Whether the ground under a footprint (4, 3), or before it, shows something else at ``t`` than at t0."""
        if self.views.at(t) is None:
            return False
        middle = footprint.mean(0)
        spots = np.vstack([middle + 0.8 * (footprint - middle), middle])
        differs, comparable = self._other(spots, t)
        if comparable.sum() >= 2 and differs[comparable].mean() >= HISTORY.taken:
            return True
        before = self._before(footprint, t).reshape(-1, 3)
        differs = (self._other(before, t)[0] & self._road_now(before)).reshape(-1, HISTORY.across)
        differs &= differs.sum(1, keepdims=True) >= 2  # one alone is paint or a shadow's edge
        return bool(differs.any(0).mean() >= HISTORY.taken)

    def _before(self, footprint: Array, t: float) -> Array:
        """(rows, across, 3) ground points on the lines of sight to a footprint (4, 3)."""
        eye, middle = centre(self.cameras[t]) * (1, 1, 0), footprint.mean(0)
        nearest = float(np.hypot(*(footprint - eye)[:, :2].T).min())
        away = float(np.hypot(*(middle - eye)[:2]))
        towards = (eye - middle) / max(away, 1e-6)
        side = np.array([-towards[1], towards[0], 0.0])
        reach = float(np.abs((footprint - middle) @ side).max())
        steps = np.arange(away - nearest, away - HISTORY.close_m, HISTORY.step_m)[:, None, None]
        across = np.linspace(-reach, reach, HISTORY.across)[:, None]
        # lines of sight draw together towards the camera
        return middle + steps * towards + across * side * (1 - steps / away)

    def _road_now(self, spots: Array) -> np.ndarray:
        """(N,) bool: ground points that are clear road at t0; verges change their looks with the point of view."""
        px, valid = project(self.scene.front, spots)
        return valid & self.ground.is_road(px)

    def _other(self, spots: Array, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Whether ground points (N, 3) show something else at ``t`` than at t0 (N,) bool, and which both show."""
        front = self.scene.front
        px_now, now_seen = project(front, spots)
        px_then, then_seen = project(self.cameras[t], spots)
        comparable = now_seen & then_seen & inside(front, px_now, 2) & inside(front, px_then, 2)
        differs = np.zeros(len(spots), bool)
        if comparable.any():
            change = self._colours(t, px_then[comparable]) - self._colours(0.0, px_now[comparable])
            bright, blue = change.mean(1), change[:, 2] - change[:, 0]
            green = change[:, 1] - (change[:, 0] + change[:, 2]) / 2
            differs[comparable] = (
                (np.abs(bright) > HISTORY.bright)
                | (np.abs(green) > HISTORY.green)
                | (np.abs(blue) > HISTORY.blue)
            )
        return differs, comparable

    def _colours(self, t: float, px: Array) -> np.ndarray:
        """(N, 3) log colours of a frame around pixels (N, 2)."""
        smooth = self._smooth(t)
        cols, rows = np.round(px).astype(int).T
        return np.log(smooth[rows, cols].astype(np.float32) + 6)

    def _smooth(self, t: float) -> np.ndarray:
        if t not in self._cache:
            self._cache[t] = cv2.blur(self.views.images[self.scene.front.name, t], (5, 5))
        return self._cache[t]
