"""What a hazard did in the 2 s before t0: it comes from outside the view, from behind something, or shows all along."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import cv2
import numpy as np

from cfgen.geometry.box import areas, box_corners, boxes_px, clip_boxes
from cfgen.geometry.camera import centre, inside, project
from cfgen.geometry.frames import camera_at
from cfgen.geometry.lens import Array
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Placement, Scene

#: It may appear from behind something real only while its box is smaller than this, px^2 at the planner's size.
MAX_POP_PX = 150.0
#: What comes out from behind something that was seen there may be larger.
MAX_REVEAL_PX = 900.0
#: Times at which something that crosses may have set off, s relative to t0; None: it was moving all along.
STARTS = (None, -1.5, -1.0, -0.6, -0.3)
#: Times looked at when there are no past frames, and how many of those that there are.
TIMES, MAX_TIMES = (-2.0, -1.5, -1.0, -0.5), 4
#: A ground point whose log brightness, green or blue changed by more than this since has something else on it.
BRIGHT, GREEN, BLUE = 0.7, 0.2, 0.5
#: This share of such points under it, or just before it, says: something real was there.
TAKEN = 0.5

#: How far before it something nearer is looked for, m, and at how many points of its width.
NEARER_M, ACROSS = (0.0, 2.5, 5.0, 8.0, 11.0, 14.0, 17.0, 21.0, 25.0), 9
#: Hidden over this share of its width, it is wholly so.
WHOLE = 0.8
#: Width and height, m, of what a car can hide.
CAR_M = (2.6, 2.2)

Frames = Mapping[tuple[str, float], np.ndarray]


@dataclass(frozen=True, eq=False)
class HazardHistory:
    """The scene's past as the front camera saw it.

    Attributes:
        ground: what the front frame shows at t0; the ground is the world's, so what is road now was road before.
        needed: share of a footprint that must be clear. shrink: factor on areas at the planner's size.
        frames: (H, W, 3) uint8 by camera and time; without past ones, passing traffic stays unknown.
    """

    scene: Scene
    ground: SceneView
    needed: float
    shrink: float
    frames: Frames
    _kept: dict[float, np.ndarray] = field(default_factory=dict, repr=False)

    @cached_property
    def cameras(self) -> dict[float, Camera]:
        """The front camera at every time looked at, for points of the ego frame at t0."""
        front, first = self.scene.front, self.scene.history.t[0]
        times = sorted(t for name, t in self.frames if name == front.name and t < -0.05) or list(TIMES)
        times = [t for t in times if t >= first - 1e-6]
        if not times:
            return {}
        chosen = [times[i] for i in np.unique(np.linspace(0, len(times) - 1, MAX_TIMES).round().astype(int))]
        return {t: camera_at(self.scene, front.name, t) for t in chosen}

    def of(self, placement: Placement, crosses: bool) -> Placement | None:
        """The placement with a plausible past: when it set off, and from when on it shows; None when there is none."""
        for start in STARTS if crosses else (None,):
            moving = placement.model_copy(update={"moving_since": start})
            shown = {t: self._shown(moving, t) for t in self.cameras}
            if "pops in" in shown.values():
                continue
            hidden = [t for t, how in shown.items() if how == "hidden"]
            since = max(hidden) + 0.05 if hidden else None
            return moving.model_copy(update={"visible_since": since})
        return None

    def _shown(self, placement: Placement, t: float) -> str:
        """How it shows at time ``t``: "outside" the view, "visible", "hidden" behind something, or it "pops in"."""
        then, camera = placement.at(t), self.cameras[t]
        corners = box_corners(then.x, then.y, then.yaw, then.size)
        boxes, valid = boxes_px(camera, corners)
        area = areas(clip_boxes(camera, boxes))[0] * self.shrink if valid.all() else 0.0
        if area < 1:
            return "outside"
        crossed = 1.0 if self._taken(corners[0, :4], t) else self._crossed(corners[0, :4], t)
        if crossed:
            whole = crossed >= WHOLE and self._fits_behind_a_car(placement, corners[0, :4], t)
            return "hidden" if whole or area < MAX_REVEAL_PX else "pops in"
        if placement.vx == placement.vy == 0:
            return "visible"
        px, valid = project(self.scene.front, corners[0, :4])
        if valid.all() and self.ground.share(px) >= self.needed - 0.15:
            return "visible"
        return "hidden" if area < MAX_POP_PX else "pops in"

    def _taken(self, footprint: Array, t: float) -> bool:
        """Whether the ground under a footprint (4, 3) and just before it shows something else at ``t`` than at t0."""
        front = self.scene.front
        if (front.name, t) not in self.frames or (front.name, 0.0) not in self.frames:
            return False
        middle = footprint.mean(0)
        towards = centre(self.cameras[t]) * (1, 1, 0) - middle
        towards /= max(float(np.hypot(*towards[:2])), 1e-6)
        inner = middle + 0.8 * (footprint - middle)
        spots = np.vstack([inner, middle, *(inner + m * towards for m in (1.5, 3.0))])
        other, both = self._other(spots, t)
        under = np.arange(len(spots)) < 5
        if both[under].sum() < 2:
            return False
        before = other[both & ~under].mean() if (both & ~under).any() else 0.0
        return bool(max(other[both & under].mean(), before) >= TAKEN)

    def _fits_behind_a_car(self, placement: Placement, footprint: Array, t: float) -> bool:
        sight = footprint.mean(0) - centre(self.cameras[t])
        side = np.array([-sight[1], sight[0]]) / max(float(np.hypot(*sight[:2])), 1e-6)
        width = float(np.ptp(footprint[:, :2] @ side))
        return width <= CAR_M[0] and placement.size.height <= CAR_M[1]

    def _crossed(self, footprint: Array, t: float) -> float:
        """Share of a footprint's (4, 3) width that something real hides which stood nearer by on the road at ``t``."""
        if (self.scene.front.name, t) not in self.frames or (self.scene.front.name, 0.0) not in self.frames:
            return 0.0
        middle, eye = footprint.mean(0), centre(self.cameras[t]) * (1, 1, 0)
        away = float(np.hypot(*(eye - middle)[:2]))
        side = np.array([middle[1] - eye[1], eye[0] - middle[0], 0.0]) / max(away, 1e-6)
        reach = float(np.abs((footprint - middle) @ side).max())
        across = middle + np.linspace(-reach, reach, ACROSS)[:, None] * side
        rows = [m / away for m in NEARER_M if m < away - 5.0]
        if not rows:
            return 0.0
        spots = np.concatenate([across + share * (eye - across) for share in rows])
        other, _ = self._other(spots, t)
        wide = (other & self._clear_now(spots)).reshape(len(rows), ACROSS)
        wide = wide & (wide.sum(1, keepdims=True) >= 2)  # one alone is paint or a shadow's edge
        return float(wide.any(0).mean())

    def _clear_now(self, spots: Array) -> np.ndarray:
        """(N,) bool: ground points that are clear road at t0; verges change their looks with the point of view."""
        px, valid = project(self.scene.front, spots)
        return valid & self.ground.is_road(px)

    def _other(self, spots: Array, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Whether ground points (N, 3) show something else at ``t`` than at t0 (N,) bool, and which both show."""
        front = self.scene.front
        now, now_seen = project(front, spots)
        then, then_seen = project(self.cameras[t], spots)
        both = now_seen & then_seen & inside(front, now, 2) & inside(front, then, 2)
        other = np.zeros(len(spots), bool)
        if both.any():
            change = self._colours(t, then[both]) - self._colours(0.0, now[both])
            bright, blue = change.mean(1), change[:, 2] - change[:, 0]
            green = change[:, 1] - (change[:, 0] + change[:, 2]) / 2
            other[both] = (np.abs(bright) > BRIGHT) | (np.abs(green) > GREEN) | (np.abs(blue) > BLUE)
        return other, both

    def _colours(self, t: float, px: Array) -> np.ndarray:
        """(N, 3) log colours of a frame around pixels (N, 2)."""
        smooth = self._smooth(t)
        cols, rows = np.round(px).astype(int).T
        return np.log(smooth[rows, cols].astype(np.float32) + 6)

    def _smooth(self, t: float) -> np.ndarray:
        if t not in self._kept:
            self._kept[t] = cv2.blur(self.frames[self.scene.front.name, t], (5, 5))
        return self._kept[t]
