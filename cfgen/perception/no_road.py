"""Whether a frame shows a road to drive on at all: a scene without one is refused before anything is placed in it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.perception.camera import SEEN_BY, TOLD
from cfgen.perception.networks import RoadNet
from cfgen.perception.settings import NO_ROAD_PICTURE
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: Begins every refusal for it, and for traffic that covers it.
NO_ROAD, NO_CLEAR = "no road found in the frame", "no clear ground: vehicles ahead"
#: What lies before the car, as shares of the frame's height and width.
AHEAD_ROWS, AHEAD_COLUMNS = (0.55, 0.95), (0.3, 0.7)
#: Share of that which one stretch of road covers at least.
LEAST_AHEAD = 0.02
#: Share of what lies before the car that vehicles cover where they, and not the place, leave no road in view.
COVERED = 0.4
#: So many vehicles, each of such a share of the frame's height, beside each other over such a share of its width, and
#: so little road before the car: a car park whose bays face the camera, or a jam.
_MANY, _TALL, _ACROSS, _LITTLE = 14, 0.02, 0.6, 0.3
_VEHICLES = frozenset(("car", "truck", "bus", "train", "motorcycle"))
#: The far end of a road is a row in which it covers this share of the frame's width.
END_WIDTH = 0.008
#: Most of the road that may lie above the horizon, and by how much above it counts, as a share of the height.
MOST_ABOVE, ABOVE = 0.5, 0.08


def why_no_road(view: SceneView, camera: Camera, extra: Mapping[str, Any] | None = None) -> str:
    """What speaks against this frame, who saw it so and what to do; "" where there is road before the car.

    Args:
        view: of the front frame at t0. camera: the front camera.
        extra: of the scene; may tell who looked when it was imported.
    """
    _, share = _stretch(view.road)
    above = _share_above(view, camera)
    if share >= LEAST_AHEAD and above <= MOST_ABOVE:
        return _why_crowded(view, share)
    if above <= MOST_ABOVE and (covered := _covered(view)) >= COVERED:
        return f"{NO_CLEAR} cover {covered:.0%} of what lies before the car; leave the scene out"
    found = f"{share:.1%} of what lies before the car is road (expected at least {LEAST_AHEAD:.0%})"
    if above > MOST_ABOVE:
        found = f"{above:.0%} of the road lies above the horizon: upside down, or pitched?"
    name = view.by.get("name", "?")
    return f"{NO_ROAD}: {found}, as perception '{name}' sees it{_imported_by_another(extra or {}, name)}"


def _imported_by_another(extra: Mapping[str, Any], name: str) -> str:
    """Advice where the scene was imported with another perceiver than ``name``; else ""."""
    told = extra.get(TOLD)
    other = told.get(SEEN_BY) if isinstance(told, Mapping) else None
    if not isinstance(other, str) or other == name:
        return ""
    return f"; the scene was imported with {other}: try --perception {other}"


def _why_crowded(view: SceneView, share: float) -> str:
    """As :func:`why_no_road`, where vehicles stand all over the frame with little road between them.

    Args:
        share: of what lies before the car that is road.
    """
    width, height = view.size
    boxes = [thing.box for thing in view.things or () if thing.kind in _VEHICLES]
    boxes = [box for box in boxes if box[3] - box[1] >= _TALL * height]
    if share >= _LITTLE or len(boxes) < _MANY:
        return ""
    there = np.zeros((len(boxes), round(1 / _TALL)), bool)
    for row, (_, top, _, bottom) in zip(there, boxes, strict=True):
        row[max(int(top / height / _TALL), 0) : int(bottom / height / _TALL) + 1] = True
    columns = np.arange(width)
    over = np.array([(columns >= x0) & (columns < x1) for x0, _, x1, _ in boxes])
    across = max(float(over[band].any(0).mean()) for band in there.T)
    if across < _ACROSS:
        return ""
    return (
        f"{NO_CLEAR} and beside, {len(boxes)} over {across:.0%} of the frame's width, leave {share:.0%} of what "
        f"lies before the car as road (expected at least {_LITTLE:.0%} among so many): a car park, or a jam; leave the "
        "scene out"
    )


def _covered(view: SceneView) -> float:
    """Share of what lies before the car that vehicles cover."""
    there = np.zeros(view.road.shape, bool)
    for thing in view.things or ():
        if thing.kind in _VEHICLES:
            x0, y0, x1, y1 = np.rint(np.array(thing.box) * np.tile(view.scale, 2)).astype(int)
            there[max(y0, 0) : y1, max(x0, 0) : x1] = True
    return float(ahead(there).mean())


def ahead(plane: np.ndarray) -> np.ndarray:
    """The part of a plane (h, w) that shows what lies before the car."""
    (top, bottom), (left, right) = (
        [round(share * n) for share in shares]
        for shares, n in zip((AHEAD_ROWS, AHEAD_COLUMNS), plane.shape, strict=True)
    )
    return plane[top:bottom, left:right]


def road_end(view: SceneView) -> float | None:
    """The row, px, at which the likely road before the car ends; None where there is none."""
    stretch, share = _stretch(view.road if view.likely is None else view.likely)
    wide = np.flatnonzero(stretch.sum(1) >= END_WIDTH * stretch.shape[1])
    if share < LEAST_AHEAD or not len(wide):
        return None
    return float(wide[0] / view.scale[1])


def _stretch(road: np.ndarray) -> tuple[np.ndarray, float]:
    """(h, w) bool of the largest stretch of road before the car, and what share of what lies there it covers."""
    _, labels = cv2.connectedComponents(road.astype(np.uint8), connectivity=4)
    before = ahead(labels)
    counts = np.bincount(before[before > 0].ravel(), minlength=1)
    return labels == max(int(counts.argmax()), 1), float(counts.max(initial=0)) / before.size


def _share_above(view: SceneView, camera: Camera) -> float:
    """Share of the road that lies well above the horizon of the calibration; 0 where that is out of sight."""
    row = horizon_rows(camera, [camera.cx])[0]
    if not np.isfinite(row) or not view.road.any():
        return 0.0
    last = int(np.clip((row / camera.height - ABOVE) * len(view.road), 0, len(view.road)))
    return float(view.road[:last].sum() / view.road.sum())


def why_not_a_road_picture(image: np.ndarray, view: SceneView | None = None) -> str:
    """Why a front frame (H, W, 3) uint8 RGB is black or, by day, shows no road; "" where it is neither.

    Any perceiver may be asked for roads, and the weakest finds them in anything; so cfgen's own network looks too.

    Args:
        view: what somebody sees in it who tells lane lines; what nothing else backs is not believed.
    """
    small = cv2.resize(image, NO_ROAD_PICTURE.size_px, interpolation=cv2.INTER_AREA)
    grey = small.mean(2)
    if float(np.percentile(grey, 99)) < NO_ROAD_PICTURE.black:
        return "is black: the camera saw nothing; leave the scene out"
    if float(np.median(grey)) < NO_ROAD_PICTURE.by_day:
        return ""
    [(logits, lines)] = _own_network().logits([small])
    road = 1 / (1 + np.exp(-np.clip(logits, -20, 20)))
    before = float((ahead(road) > 0.5).mean())
    if before < LEAST_AHEAD:
        return (
            f"shows no road before the car (cfgen's own network takes {before:.0%} of what lies there for road); "
            "leave the scene out"
        )
    if view is not None and _nothing_backs(view, road, float((lines > 0).mean())):
        return "shows no lane line, no vehicle, and cfgen's own network doubts the road; leave the scene out"
    return ""


def _nothing_backs(view: SceneView, road: np.ndarray, lines: float) -> bool:
    """Whether the road that a view shows has neither lines nor vehicles, and is none by our own network: water, sand.

    Args:
        road: (h, w) its probability. lines: share of the frame that are lane lines.
    """
    if any(thing.kind in _VEHICLES for thing in view.things or ()):
        return False
    if float(view.lanes.mean()) >= NO_ROAD_PICTURE.lines:
        return False
    stretch = cv2.resize(
        _stretch(view.road)[0].astype(np.uint8), road.shape[::-1], interpolation=cv2.INTER_NEAREST
    )
    sure = float(road[stretch > 0].mean()) if stretch.any() else 1.0
    return sure < (NO_ROAD_PICTURE.doubts if lines < NO_ROAD_PICTURE.own_lines else NO_ROAD_PICTURE.denies)


@lru_cache(maxsize=1)
def _own_network() -> RoadNet:
    return RoadNet()
