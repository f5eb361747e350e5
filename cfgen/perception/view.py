"""What one frame shows: road, lane lines, vehicles and people."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from PIL import Image, PngImagePlugin

from cfgen.core.hashing import hash_image
from cfgen.geometry.lens import Array

BoxPx = tuple[float, float, float, float]
#: Cells by which a polygon may reach beyond the far end of road.
FAR_SLACK = 1 / 3
#: A thing that reaches this share of its box into another, and stands this share of it lower, is before it.
REACH = 0.05
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
        found: np.ndarray = inside & plane[at[:, 1], at[:, 0]]
        return found

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
        seen = self.road[low[1] : high[1], low[0] : high[0]] & (part > 0)
        return float(seen.sum() / count) if count else 0.0

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

    def within(self, other: "SceneView") -> "SceneView":
        """Its road where the ``other`` finds that likely, and what the other is sure of, on its own grid."""
        size = self.road.shape[::-1]
        likely = other.road if other.likely is None else other.likely
        sure, likely = (
            cv2.resize(plane.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
            for plane in (other.road, likely)
        )
        return replace(self, road=sure | (self.road & likely))

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
        told = {"size": list(self.size), "things": things, "by": dict(self.by)}
        text = PngImagePlugin.PngInfo()
        text.add_text(_TEXT, json.dumps(told, sort_keys=True, allow_nan=False))
        out = io.BytesIO()
        Image.fromarray(planes).save(out, "PNG", pnginfo=text, compress_level=1)
        return out.getvalue()

    @classmethod
    def from_png(cls, data: bytes) -> "SceneView":
        """Raises ValueError, KeyError or OSError where the bytes are no stored view."""
        with Image.open(io.BytesIO(data)) as picture:
            planes = np.asarray(picture.convert("RGB")) > 127
            told = json.loads(picture.info[_TEXT])
        things = told["things"]
        if things is not None:
            things = tuple(Thing(kind, tuple(box), score) for kind, box, score in things)
        width, height = told["size"]
        lanes, road, likely = (planes[..., i].copy() for i in range(3))
        return cls(road, lanes, (width, height), things, told["by"], likely if likely.any() else None)
