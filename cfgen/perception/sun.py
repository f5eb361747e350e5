"""Does the sun shine in a frame, does the hazard's place lie in shade, and where does the sun stand?"""

import math
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from cfgen.geometry.camera import rotation, unproject
from cfgen.perception.colour import LUMA, level
from cfgen.perception.light_probe import LightProbe

#: Elevation taken for a sun that is out of view, rad.
_UNSEEN_RISE = math.radians(40)


def sunny_and_shade(frame: LightProbe, local: np.ndarray, lit: float, white: float) -> tuple[float, float]:
    """Probabilities that the sun shines in the scene, and that the hazard's place lies in shade if it does.

    Sun makes the ground as bright as the sky, the sky blue and the darks deep. Shade is blue, darker than other
    road, and far below what a white card shows in the scene's main light. Weights were set on real drives.
    """
    below, above = frame.rows > 0, frame.sky()
    bright = max(level(frame.lum[below], 95, frame.lum), 1e-3)
    deep = math.log(bright / max(float(np.percentile(frame.lum, 5)), 1e-3))
    against_sky = math.log(bright / float(np.median(frame.lum[above]))) if above.any() else -0.4
    sunny = _sigmoid(2.5 * (against_sky + 0.85) + (deep - 3.2) + 3 * (_sky_blue(frame, above) - 0.4))
    ground = max(float(local @ LUMA), 1e-4)
    blue = math.log(max(float(local[2]), 1e-4) / max(float(local[0]), 1e-4))
    shade = _sigmoid(
        4 * (blue - 0.5)
        + 2 * (math.log(max(white, 1e-3) / ground) - 3.0)
        + 3 * (math.log(lit / ground) - 0.5)
    )
    return sunny, shade


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-float(np.clip(x, -30, 30))))


def _sky_blue(frame: LightProbe, sky: np.ndarray) -> float:
    """Saturation of the sky's blue in [0, 1]; 0.3 where no sky is seen."""
    if not sky.any():
        return 0.3
    seen = frame.linear[sky]
    return float(np.median(1 - seen[:, 0] / np.maximum(seen[:, 2], 1e-3)))


def sun_direction(frame: LightProbe, extra: Mapping[str, Any]) -> tuple[np.ndarray | None, float]:
    """Unit vector to the sun (ego frame at t0) and confidence: told by the source, seen, or told by its side.

    None with confidence 1: the source says that no sun shines.
    """
    if "sun" in extra:
        told = extra["sun"]
        return (None, 1.0) if told is None else (np.asarray(told, float) / np.linalg.norm(told), 1.0)
    seen = _sun_disc(frame)
    if seen is not None:
        return seen, 0.9
    slope = _sky_slope(frame)
    lean = _dark_side(frame) / 1.4 + 170 * slope
    azimuth = math.copysign(math.radians(130 - 60 * min(abs(slope) / 0.01, 1.0)), lean)
    flat, rise = math.cos(_UNSEEN_RISE), math.sin(_UNSEEN_RISE)
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), rise]), min(abs(lean), 0.8)


def _sun_disc(frame: LightProbe) -> np.ndarray | None:
    """The sun itself: a compact burnt-out patch in the sky, with a glow around it."""
    height, width = frame.lum.shape
    above = frame.rows < -0.03 * height
    burnt = (above & (frame.lum > 0.97)).astype(np.uint8)
    count, labels, stats, middle = cv2.connectedComponentsWithStats(burnt)
    if count < 2:
        return None
    big = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    x, y, w, h, area = (int(v) for v in stats[big])
    round_enough = area > 0.45 * w * h and 0.4 < w / h < 2.5
    inside = x > 0 and y > 0 and x + w < width
    if not (round_enough and inside and 0.0005 < area / burnt.size < 0.08):
        return None
    patch = (labels == big).astype(np.uint8)
    grown = cv2.dilate(patch, np.ones((2 * (h // 2) + 1, 2 * (w // 2) + 1), np.uint8))
    ring = (grown > patch) & above
    if (
        not ring.any()
        or float(frame.lum[ring].mean()) < 0.35
        or float(np.percentile(frame.lum[ring], 10)) < 0.12
    ):
        return None
    rays, _ = unproject(frame.camera, [(middle[big] + 0.5) / frame.scale - 0.5])
    return rotation(frame.camera).T @ rays[0]


def _dark_side(frame: LightProbe) -> float:
    """How much darker (log) upright things on the left are than those on the right.

    What faces the sun is bright, so the darker side of the view is the sun's side.
    """
    height, width = frame.lum.shape
    rows = frame.rows
    band = (rows > -0.22 * height) & (rows < 0.06 * height) & (frame.lum < 0.8)
    blue = frame.linear[..., 2] > 1.15 * frame.linear[..., 0]
    upright = band & ~(blue & (rows < 0))
    logs = np.log(np.maximum(frame.lum, 2e-3))
    halves = []
    for part in (slice(0, int(0.42 * width)), slice(int(0.58 * width), width)):
        seen = upright[:, part]
        if not seen.any() or seen.mean() < 0.01:
            return 0.0
        halves.append(float(logs[:, part][seen].mean()))
    return halves[1] - halves[0]


def _sky_slope(frame: LightProbe) -> float:
    """Rise of a clear sky's log luminance towards the left, per degree: it brightens towards the sun."""
    height, width = frame.lum.shape
    quarter = max(width // 4, 1)
    clear = frame.sky() & (frame.linear[..., 2] > 1.3 * frame.linear[..., 0])
    steps = []
    for y in range(0, height, 4):
        left, right = clear[y, :quarter], clear[y, -quarter:]
        if left.mean() > 0.6 and right.mean() > 0.6:
            ends = (np.median(frame.lum[y, :quarter][left]), np.median(frame.lum[y, -quarter:][right]))
            steps.append(math.log(ends[0] / ends[1]))
    if len(steps) < 4:
        return 0.0
    edges = [(0.0, frame.camera.cy), (frame.camera.width - 1.0, frame.camera.cy)]
    rays, seen = unproject(frame.camera, edges)
    if not seen.all():  # a round picture: its edges show nothing
        return 0.0
    field = math.degrees(math.acos(float(np.clip(rays[0] @ rays[1], -1, 1))))
    return float(np.median(steps)) / (0.75 * max(field, 1.0))
