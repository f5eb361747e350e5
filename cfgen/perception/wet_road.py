"""Does the road mirror what stands along it? Then it is wet."""

import math

import cv2
import numpy as np

from cfgen.geometry.camera import ground_points
from cfgen.perception.light_probe import LightProbe

#: How far to either side the road is looked at, and how far ahead, m.
_HALF_M, _FAR_M = 4.0, 200.0
#: Rows from the horizon on in which mirrored and mirroring are compared, shares of the height; fewest rows, pixels.
_NEAR, _DEEP, _LEAST_ROWS = 0.04, 0.3, 6
#: Blur across and down (share of the height) of both: ripples draw mirror images out; what is broader across, pixels,
#: is no image but the light's fall-off.
_ACROSS, _DOWN, _BROAD = 1.5, 0.06, 14.0
#: Most (log) that paint on the road and lamps above it count for.
_ROAD_MOST, _ABOVE_MOST = 0.4, 1.0
#: Correlation, and mirrored light ÷ light, from which a road is wet and from which on it surely is.
_ALIKE, _STRONG = (0.42, 0.50), (0.08, 0.20)
#: Probability of sun from which on it is dry, and below which it may be wet: sunlit streets repeat their trees' shade.
_DRY, _DULL = 0.35, 0.20
#: Fewest pixels of road.
_LEAST = 300


def wet_road(frame: LightProbe, sunny: float) -> float:
    """In [0, 1]: how surely the road ahead is a mirror, by how far it shows the scene above the horizon upside down."""
    dull = float(np.clip((_DRY - sunny) / (_DRY - _DULL), 0, 1))
    horizon, height = round(float(np.median(frame.horizon))), frame.height
    near = max(round(_NEAR * height), 4)
    deep = min(round(_DEEP * height), horizon - 2, height - horizon - 2)
    if dull <= 0 or deep - near < _LEAST_ROWS:
        return 0.0
    log = np.log(np.maximum(frame.lum, 3e-3)).astype(np.float32)
    road = _road(frame)[horizon + near : horizon + deep]
    if road.sum() < _LEAST:
        return 0.0
    below = _detail(log[horizon + near : horizon + deep], height)[road]
    above = _detail(log[horizon - deep : horizon - near][::-1], height)[road]
    below, above = np.clip(below, -_ROAD_MOST, _ROAD_MOST), np.clip(above, -_ABOVE_MOST, _ABOVE_MOST)
    below, above = below - below.mean(), above - above.mean()
    both, of_above, of_below = (
        float((a * b).mean()) for a, b in ((above, below), (above, above), (below, below))
    )
    alike = both / math.sqrt(of_above * of_below + 1e-9)
    strong = both / (of_above + 1e-4)
    return dull * _ramp(alike, *_ALIKE) * _ramp(strong, *_STRONG)


def _ramp(value: float, least: float, most: float) -> float:
    return float(np.clip((value - least) / (most - least), 0, 1))


def _detail(log: np.ndarray, height: int) -> np.ndarray:
    """Drawn out down the picture, without what is broad across."""
    smooth = cv2.GaussianBlur(log, (0, 0), _ACROSS, sigmaY=max(_DOWN * height, 2.0))
    detail: np.ndarray = smooth - cv2.GaussianBlur(smooth, (0, 0), _BROAD, sigmaY=0.1)
    return detail


def _road(frame: LightProbe) -> np.ndarray:
    """(h, w) bool: the strip of ground ahead of the camera."""
    height, width = frame.lum.shape
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2)
    ground, seen = ground_points(frame.camera, (grid + 0.5) / frame.scale - 0.5)
    ahead = seen & (ground[:, 0] > 0) & (ground[:, 0] < _FAR_M) & (np.abs(ground[:, 1]) < _HALF_M)
    return ahead.reshape(height, width)
