"""Measures of a frame's light: which side of the view is dark, how the sky is, what stands against the light."""

import math

import numpy as np

from cfgen.geometry.camera import unproject
from cfgen.perception.light_probe import LightProbe

#: Rows below the horizon in which shade of what stands beside the road is sought, as shares of the height.
_GROUND = (0.05, 0.2)


def clear(frame: LightProbe, sky: np.ndarray) -> float:
    """In [0, 1]: whether there is enough sky, and not burnt out, to read its colour."""
    if not sky.any():
        return 0.0
    enough = float(np.clip((sky.mean() - 0.04) / 0.08, 0, 1))
    return enough * float(np.clip((0.95 - np.median(frame.lum[sky])) / 0.1, 0, 1))


def field_deg(frame: LightProbe) -> float:
    """Horizontal field of view; 120 for a round picture, whose edges show nothing."""
    rays, seen = unproject(
        frame.camera, [(0.0, frame.camera.cy), (frame.camera.width - 1.0, frame.camera.cy)]
    )
    return math.degrees(math.acos(float(np.clip(rays[0] @ rays[1], -1, 1)))) if seen.all() else 120.0


def dark_ground(frame: LightProbe) -> float:
    """How much darker (log) the ground is on the left than on the right."""
    below = (frame.rows > _GROUND[0] * frame.height) & (frame.rows < _GROUND[1] * frame.height)
    return _darker_left(frame, below, 0.0)


def dark_side(frame: LightProbe) -> float:
    """How much darker (log) upright things on the left are than those on the right.

    What faces the sun is bright, so the darker side of the view is the sun's side.
    """
    height, rows = frame.height, frame.rows
    band = (rows > -0.22 * height) & (rows < 0.06 * height) & (frame.lum < 0.8)
    blue = frame.linear[..., 2] > 1.15 * frame.linear[..., 0]
    return _darker_left(frame, band & ~(blue & (rows < 0)), 0.01)


def _darker_left(frame: LightProbe, among: np.ndarray, least: float) -> float:
    """How much darker (log) the left is than the right, ``among`` (h, w) pixels; 0 where either has too few."""
    width = frame.lum.shape[1]
    logs = np.log(np.maximum(frame.lum, 2e-3))
    halves = []
    for part in (slice(0, int(0.42 * width)), slice(int(0.58 * width), width)):
        seen = among[:, part]
        if not seen.any() or seen.mean() < least:
            return 0.0
        halves.append(float(logs[:, part][seen].mean()))
    return halves[1] - halves[0]


def backlit(frame: LightProbe, sky: np.ndarray) -> float:
    """In [0, 1]: whether even the brighter of what stands up is far darker than the ground, as against the sun."""
    height, width = frame.lum.shape
    upright = (frame.rows > -0.22 * height) & (frame.rows < 0.02 * height) & (frame.lum < 0.8) & ~sky
    ground = (frame.rows > 0.03 * height) & (frame.rows < 0.35 * height)
    ground[:, : width // 4] = ground[:, 3 * width // 4 :] = False
    if upright.mean() < 0.02 or not ground.any():
        return 0.0
    lit, seen = float(np.percentile(frame.lum[ground], 75)), float(np.percentile(frame.lum[upright], 80))
    # against the sun the sky is white
    white = 1 - min(clear(frame, sky) * sky_blue(frame, sky) / 0.3, 1.0)
    return white * float(np.clip((math.log(max(lit, 1e-3) / max(seen, 1e-3)) - 1.9) / 0.5, 0, 1))


def sky_slope(frame: LightProbe, field: float) -> float:
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
    return float(np.median(steps)) / (0.75 * max(field, 1.0))


def sky_blue(frame: LightProbe, sky: np.ndarray) -> float:
    """Saturation of the sky's blue in [0, 1]; 0.3 where no sky is seen."""
    if not sky.any():
        return 0.3
    seen = frame.linear[sky]
    return float(np.median(1 - seen[:, 0] / np.maximum(seen[:, 2], 1e-3)))
