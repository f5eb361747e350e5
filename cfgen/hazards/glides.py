"""Whether the road under a place moves through the frames as the place does.

Where the road climbs or falls, or poses are off, a place that is one by the numbers wanders over the asphalt from frame
to frame. The road's own texture, followed from t0 to a past frame, tells; where it shows too little, nothing does.
"""

from collections.abc import Mapping

import cv2
import numpy as np

from cfgen.geometry.camera import centre, ground_points, project
from cfgen.geometry.lens import Array
from cfgen.hazards.occupancy import SLIPPING, HistoryInconsistency
from cfgen.perception.ego_motion import grey, there_and_back
from cfgen.perception.view import SceneView
from cfgen.perception.views import SceneViews
from cfgen.records import Camera, Placement

#: Looked at is the latest frame that tells, up to so long before, s. What wanders faster than this, m/s, and so many
#: px, slides before a person's eye.
_RECENT_S, MOST_MPS, _LEAST_SLIDE_PX = 0.6, 0.7, 2.0
#: The road is followed so far around a place, m, and at least so many px across and along the view, of 640 columns.
_AROUND_M, _LEAST_PX = 4.0, (40.0, 16.0)
#: Points of texture, and px between them; fewer say nothing. Windows by which they are followed, px of 640 columns.
_POINTS, _APART, _FEWEST, _WINDOWS = 80, 3, 5, (31, 15)
#: Half of the points lie so near to their median, px.
_AGREE_PX = 1.0


def slip_check(
    views: SceneViews, cameras: Mapping[float, Camera], placement: Placement
) -> HistoryInconsistency | None:
    """Which of the last frames shows the road under it moving otherwise than it would.

    Args:
        cameras: of the front camera by past times, in the ego frame at t0.
    """
    name = views.scene.front.name
    frame = views.images[name, 0.0]
    for t in sorted((t for t in cameras if -_RECENT_S <= t < 0), reverse=True):
        past_frame = views.images.get((name, t))
        if past_frame is None or past_frame.shape != frame.shape:
            continue
        spot = np.array([placement.x, placement.y])
        frame_grey, past_grey = grey(frame, frame.shape[1]), grey(past_frame, frame.shape[1])
        slid = slid_m(frame_grey, past_grey, views.scene.front, cameras[t], spot, views.now)
        if slid is not None:
            away = float(np.hypot(*(spot - centre(cameras[t])[:2])))
            far = abs(slid) * cameras[t].fx / away > _LEAST_SLIDE_PX
            return (
                HistoryInconsistency(SLIPPING, t, placement.distance_m)
                if far and abs(slid) > MOST_MPS * -t
                else None
            )
    return None


def slid_m(
    frame: np.ndarray,
    past_frame: np.ndarray,
    camera_now: Camera,
    camera_then: Camera,
    spot: Array,
    road: SceneView,
) -> float | None:
    """How far, m across the line of sight, a place wanders over the road from a past frame to t0; None where the road
    shows too little texture to tell.

    Args:
        now, then: (H, W) uint8 grey. cameras: both in the ego frame at t0. spot: (2,) m, of the place.
        road: at t0; only what is road is followed.
    """
    around = np.array([spot, *(spot + d for d in _AROUND_M * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]))])
    px, valid = project(camera_now, np.column_stack([around, np.zeros(5)]))
    if not valid.all():
        return None
    scale = camera_now.width / 640
    reach = np.maximum(np.abs(px[1:] - px[0]).max(0), np.multiply(_LEAST_PX, scale))
    low = np.maximum(np.floor(px[0] - reach), 0).astype(int)
    high = np.minimum(np.ceil(px[0] + reach) + 1, (camera_now.width, camera_now.height)).astype(int)
    if (high - low < 8).any():
        return None
    part = np.ascontiguousarray(frame[low[1] : high[1], low[0] : high[0]])
    corners = cv2.goodFeaturesToTrack(part, _POINTS, 0.02, _APART)
    if corners is None:
        return None
    p = corners.reshape(-1, 2) + low.astype(np.float32)
    p = p[road.is_road(p)]
    ground, on_ground = ground_points(camera_now, p)
    guess, in_view = project(camera_then, np.column_stack([ground, np.zeros(len(p))]))
    p, guess = p[on_ground & in_view].astype(np.float32), guess[on_ground & in_view]
    if len(p) < _FEWEST:
        return None
    for window in _WINDOWS:
        q, tracked = there_and_back(
            frame, past_frame, p, round(window * scale) | 1, 2, guess.astype(np.float32)
        )
        across = (guess - q)[tracked][:, 0]
        if len(across) < _FEWEST:
            continue
        middle = float(np.median(across))
        if float(np.median(np.abs(across - middle))) <= _AGREE_PX:
            away = float(np.hypot(*(spot - centre(camera_then)[:2])))
            return middle * away / camera_then.fx
    return None
