"""Whether a frame shows a road to drive on at all: a scene without one is refused before anything is placed in it."""

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: Begins every refusal for it.
NO_ROAD = "no road found in the frame"
#: What lies before the car, as shares of the frame's height and width.
AHEAD_ROWS, AHEAD_COLUMNS = (0.55, 0.95), (0.3, 0.7)
#: Share of that which one stretch of road covers at least.
LEAST_AHEAD = 0.02
#: Most of the road that may lie above the horizon, and by how much above it counts, as a share of the height.
MOST_ABOVE, ABOVE = 0.5, 0.08


def why_no_road(view: SceneView, camera: Camera) -> str:
    """What speaks against this frame, who saw it so and what to do; "" where there is road before the car.

    Args:
        view: of the front frame at t0. camera: the front camera.
    """
    height, width = view.road.shape
    (top, bottom), (left, right) = (
        [round(share * n) for share in shares] for shares, n in ((AHEAD_ROWS, height), (AHEAD_COLUMNS, width))
    )
    _, labels = cv2.connectedComponents(view.road.astype(np.uint8), connectivity=4)
    ahead = labels[top:bottom, left:right]
    counts = np.bincount(ahead[ahead > 0].ravel(), minlength=1)
    share = float(counts.max(initial=0)) / ahead.size
    above = _share_above(view, camera)
    if share >= LEAST_AHEAD and above <= MOST_ABOVE:
        return ""
    found = f"{share:.0%} of what lies before the car is road (expected {LEAST_AHEAD:.0%})"
    if above > MOST_ABOVE:
        found = f"{above:.0%} of the road lies above the horizon: upside down, or pitched?"
    return f"{NO_ROAD}: {found}, as perception '{view.by.get('name', '?')}' sees it"


def _share_above(view: SceneView, camera: Camera) -> float:
    """Share of the road that lies well above the horizon of the calibration; 0 where that is out of sight."""
    row = horizon_rows(camera, [camera.cx])[0]
    if not np.isfinite(row) or not view.road.any():
        return 0.0
    last = int(np.clip((row / camera.height - ABOVE) * len(view.road), 0, len(view.road)))
    return float(view.road[:last].sum() / view.road.sum())
