"""Whether a frame shows a road to drive on at all: a scene without one is refused before anything is placed in it."""

from functools import lru_cache

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.perception.networks import RoadNet
from cfgen.perception.settings import NO_ROAD_PICTURE
from cfgen.perception.view import FALLBACK, SceneView
from cfgen.perception.views import SceneViews
from cfgen.records import Camera

#: Begins every refusal for it.
NO_ROAD = "no road found in the frame"
#: What lies before the car, as shares of the frame's height and width.
AHEAD_ROWS, AHEAD_COLUMNS = (0.55, 0.95), (0.3, 0.7)
#: Share of that which one stretch of road covers at least.
LEAST_AHEAD = 0.02
#: The far end of a road is a row in which it covers this share of the frame's width.
END_WIDTH = 0.008
#: Most of the road that may lie above the horizon, and by how much above it counts, as a share of the height.
MOST_ABOVE, ABOVE = 0.5, 0.08


def why_no_road(view: SceneView, camera: Camera) -> str:
    """What speaks against this frame, and who saw it so; "" where there is road before the car.

    Args:
        view: of the front frame at t0. camera: the front camera.
    """
    _, share = _stretch(view.road)
    above = _share_above(view, camera)
    if above > MOST_ABOVE:
        found = f"{above:.0%} of the road lies above the horizon: upside down, or pitched?"
    elif share < LEAST_AHEAD:
        found = f"{share:.1%} of what lies before the car is road (expected at least {LEAST_AHEAD:.0%})"
    else:
        return ""
    by = (
        "the scene's 'drivable' says"
        if "road" in view.by
        else f"perception '{view.by.get('name', '?')}' sees it"
    )
    return f"{NO_ROAD}: {found}, as {by}"


def overlap(views: SceneViews) -> float:
    """Share of annotated and seen road, in the front frame at t0 above the own hood, that is both."""
    told, seen = views.now.road, views.perceived.likely or views.perceived.now
    road = cv2.resize(seen.road.astype(np.uint8), told.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
    road[round(FALLBACK * len(road)) :] = False
    return float((told & road).sum() / max(int((told | road).sum()), 1))


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


def why_not_a_road_picture(image: np.ndarray) -> str:
    """Why a front frame (H, W, 3) uint8 RGB is black or, by day, shows no road; "" where it is neither.

    Any perceiver may be asked for roads, and the weakest finds them in anything; so cfgen's own network looks too.
    """
    small = cv2.resize(image, NO_ROAD_PICTURE.size_px, interpolation=cv2.INTER_AREA)
    grey = small.mean(2)
    if float(np.percentile(grey, 99)) < NO_ROAD_PICTURE.black:
        return "is black: the camera saw nothing; leave the scene out"
    if float(np.median(grey)) < NO_ROAD_PICTURE.by_day:
        return ""
    before = float((ahead(_own_network().logits(small)[0]) > 0).mean())
    if before >= LEAST_AHEAD:
        return ""
    return (
        f"shows no road before the car (cfgen's own network takes {before:.0%} of what lies there for road); "
        "leave the scene out"
    )


@lru_cache(maxsize=1)
def _own_network() -> RoadNet:
    return RoadNet()
