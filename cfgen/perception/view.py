"""What one frame shows: road, lane lines, vehicles and people."""

import io
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from PIL import Image, PngImagePlugin

from cfgen.core.hashing import hash_image
from cfgen.geometry.camera import project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.records import Camera

BoxPx = tuple[float, float, float, float]
#: Cells by which a polygon may reach beyond the far end of road.
FAR_SLACK = 1 / 3
#: A thing that reaches this share of its box into another, and stands this share of it lower, is before it.
REACH = 0.05
#: What drives on a lane, by COCO's names.
VEHICLES = frozenset(("car", "truck", "bus"))
#: Key of the text in a stored view that holds what its planes do not.
_TEXT = "cfgen"


@dataclass(frozen=True)
class Thing:
    """A vehicle, a person or an animal in the frame: box x0, y0, x1, y1 in pixels, score in [0, 1]."""

    kind: str
    box: BoxPx
    score: float


@dataclass(frozen=True, eq=False)
class SceneView:
    """What one frame shows, at the perceiver's own grid, which covers the whole frame.

    Attributes:
        road: (h, w) bool, visible road that a vehicle may drive on; paint counts as road, what stands on it does not.
        lanes: (h, w) bool, painted lane lines; empty where the perceiver sees none.
        size: width and height of the frame, pixels.
        things: None where nobody looked for them.
        by: who decided, for records: the perceiver's name and identity.
        likely: (h, w) bool, what is rather road than not, ``road`` being what is sure; None where that is the same.
    """

    road: np.ndarray
    lanes: np.ndarray
    size: tuple[int, int]
    things: tuple[Thing, ...] | None
    by: Mapping[str, Any]
    likely: np.ndarray | None = None

    @property
    def scale(self) -> Array:
        """(2,) cells per pixel, across and down."""
        return np.array(self.road.shape[::-1]) / np.array(self.size)

    def cells(self, px: Array) -> Array:
        """Cells (N, 2) float of pixels (N, 2); the centre of the top-left cell is (0, 0)."""
        return (np.asarray(px) + 0.5) * self.scale - 0.5

    def is_road(self, px: Array) -> np.ndarray:
        """(N,) bool: pixels (N, 2) that show road; False outside the frame and where not finite."""
        return self._at(self.road, px)

    def is_likely_road(self, px: Array) -> np.ndarray:
        """(N,) bool: pixels (N, 2) that show what is rather road than not."""
        return self._at(self.road if self.likely is None else self.likely, px)

    def is_lane_line(self, px: Array) -> np.ndarray:
        """(N,) bool: pixels (N, 2) that show a painted line."""
        return self._at(self.lanes, px)

    def _at(self, plane: np.ndarray, px: Array) -> np.ndarray:
        at = np.rint(np.clip(np.nan_to_num(self.cells(px), nan=-9.0), -9, 1e6)).astype(int)
        inside = ((at >= 0) & (at < plane.shape[::-1])).all(1)
        at = np.clip(at, 0, np.array(plane.shape[::-1]) - 1)
        hits: np.ndarray = inside & plane[at[:, 1], at[:, 0]]
        return hits

    def share(self, polygon: Array) -> float:
        """Share of a convex polygon (N, 2), pixels, that is road; what lies outside the frame does not count.

        0 when the polygon is wholly outside. Widened by a cell, so that it never vanishes.
        """
        # road that ends within a cell does not fill it: of what is far off, a cell or two is all there is
        points = np.rint(np.clip(self.cells(polygon) + np.array([0.0, FAR_SLACK]), -1e4, 1e4)).astype(
            np.int32
        )
        low = np.maximum(points.min(0) - 1, 0)
        high = np.minimum(points.max(0) + 2, self.road.shape[::-1])
        if (high <= low).any():
            return 0.0
        part = np.zeros((high - low)[::-1], np.uint8)
        hull = cv2.convexHull(points - low.astype(np.int32))
        cv2.fillConvexPoly(part, hull, 1)
        cv2.polylines(part, [hull], True, 1)
        count = int(part.sum())
        road_cells = self.road[low[1] : high[1], low[0] : high[0]] & (part > 0)
        return float(road_cells.sum() / count) if count else 0.0

    def before(self, box: Array, foot: float) -> list[Thing]:
        """Things that stand nearer than a hazard and reach into its box.

        Args:
            box: (4,) x0, y0, x1, y1 px. foot: row of the middle of what it stands on, px.
        """
        reach_x, reach_y = REACH * (box[2] - box[0]), REACH * (box[3] - box[1])
        return [
            thing
            for thing in self.things or ()
            if min(thing.box[2], box[2]) - max(thing.box[0], box[0]) > reach_x
            and thing.box[1] < box[3]
            and thing.box[3] > foot + reach_y
        ]

    def without_vehicles(self) -> "SceneView":
        """Without the things that an annotation of vehicles tells better."""
        things = self.things and tuple(thing for thing in self.things if thing.kind not in VEHICLES)
        return replace(self, things=things)

    def with_road(self, road: np.ndarray) -> "SceneView":
        """With another road (h, w), on that one's grid, where none of its things hides it."""
        lanes = cv2.resize(self.lanes.astype(np.uint8), road.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
        road, scale = road.copy(), np.tile(np.array(road.shape[::-1]) / self.size, 2)
        for thing in self.things or ():
            x0, y0, x1, y1 = np.rint(np.array(thing.box) * scale).astype(int)
            road[y0:y1, x0:x1] = False
        return replace(self, road=road, lanes=lanes, likely=None)

    def within(self, limit: "SceneView") -> "SceneView":
        """Its road where ``limit`` finds that likely, and what that is sure of, on its own grid; the things of both."""
        size = self.road.shape[::-1]
        likely = limit.road if limit.likely is None else limit.likely
        sure, likely = (
            cv2.resize(plane.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
            for plane in (limit.road, likely)
        )
        return replace(self, road=sure | (self.road & likely), things=limit.things)

    @property
    def hash(self) -> str:
        """Over what it shows."""
        return hash_image(np.stack([self.road, self.lanes]))

    # --- as a file that a person can open: green sure road, blue likely road, red lines, and the rest as text ---

    def png(self) -> bytes:
        """Bytes that :meth:`from_png` reads back to the same view."""
        likely = np.zeros_like(self.road) if self.likely is None else self.likely
        planes = np.stack([self.lanes, self.road, likely], -1).astype(np.uint8) * 255
        things = None if self.things is None else [[t.kind, [*t.box], t.score] for t in self.things]
        metadata = {"size": list(self.size), "things": things, "by": dict(self.by)}
        text = PngImagePlugin.PngInfo()
        text.add_text(_TEXT, json.dumps(metadata, sort_keys=True, allow_nan=False))
        out = io.BytesIO()
        Image.fromarray(planes).save(out, "PNG", pnginfo=text, compress_level=1)
        return out.getvalue()

    @classmethod
    def from_png(cls, data: bytes) -> "SceneView":
        """Raises ValueError, KeyError or OSError where the bytes are no stored view."""
        with Image.open(io.BytesIO(data)) as picture:
            planes = np.asarray(picture.convert("RGB")) > 127
            metadata = json.loads(picture.info[_TEXT])
        things = metadata["things"]
        if things is not None:
            things = tuple(Thing(kind, tuple(box), score) for kind, box, score in things)
        width, height = metadata["size"]
        lanes, road, likely = (planes[..., i].copy() for i in range(3))
        return cls(road, lanes, (width, height), things, metadata["by"], likely if likely.any() else None)


# --- hood --------------------------------------------------------------------------------------
# Which bottom rows of a picture show the car itself: they stay the same while the car drives.

#: Without past frames the hood is taken to start here, as a share of the height.
FALLBACK = 0.92
#: Rows whose mean change over time stays below this (8 bit) do not show the road.
STILL = 2.5
_WIDTH = 160


def hood_row(camera: Camera, frames: Mapping[tuple[str, float], np.ndarray] | None) -> float:
    """First row of the car's own hood in the front camera's picture; its height when no hood shows.

    Args:
        frames: (H, W, 3) uint8 by camera and time. With fewer than three of this camera, or in a car that does not
            move, FALLBACK of the height.
    """
    times = sorted(t for name, t in frames or {} if name == camera.name)
    if frames is None or len(times) < 3:
        return FALLBACK * camera.height
    small = [_small(frames[camera.name, t]) for t in times]
    change = np.mean([np.abs(a - b).mean(1) for a, b in itertools.pairwise(small)], 0)
    if change.max() < 2 * STILL:
        return FALLBACK * camera.height
    still = 0
    while still < len(change) and change[-1 - still] < STILL:
        still += 1
    return camera.height * (1 - still / len(change))


def _small(image: np.ndarray) -> np.ndarray:
    height = max(round(image.shape[0] * _WIDTH / image.shape[1]), 1)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, (_WIDTH, height), interpolation=cv2.INTER_AREA).astype(np.float32)


# --- unsure ------------------------------------------------------------------------------------
# Whether a network that sees road is sure enough of a scene to place things by it, or whether colours have to help.

#: The car's path from and to, m ahead, and to either side of it: hazards stand there.
_NEAR_M, _FAR_M, _HALF_M = 6.0, 45.0, 1.2
#: Of what is likely road there, this share must be sure.
SURE = 0.75
#: Less likely road than this share of the path in view: something stands there, or there is no road. That is sure.
_LEAST = 0.1


def sure_share(view: SceneView, camera: Camera, path: EgoPath) -> float:
    """Share of the likely road on the car's path that is sure road; 1.0 where there is next to none.

    Args:
        view: of the front frame at t0. camera, path: in the ego frame at t0.
    """
    s, lateral = np.meshgrid(np.arange(_NEAR_M, _FAR_M), np.linspace(-_HALF_M, _HALF_M, 5))
    x, y, _ = path.at(s.ravel(), lateral.ravel())
    px, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    px = px[valid]
    in_view = ((px >= 0) & (px < (camera.width, camera.height))).all(1)
    likely = view.is_likely_road(px[in_view])
    if likely.sum() <= _LEAST * max(int(in_view.sum()), 1):
        return 1.0
    return float(view.is_road(px[in_view])[likely].mean())
