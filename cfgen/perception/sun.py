"""Does the sun shine in a frame, does the hazard's place lie in shade, and where does the sun stand?"""

import cmath
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.geometry.camera import rotation, unproject
from cfgen.perception.cast_shadows import ShadowAxis
from cfgen.perception.colour import LUMA, level
from cfgen.perception.light_probe import LightProbe
from cfgen.perception.sun_position import sun_by_time

#: Confidence below which a finding is not used.
CONFIDENT = 0.5
#: Sine of the sun's elevation below which it does not shine: refraction lifts it by half a degree.
_SET_BELOW = math.sin(math.radians(-0.8))
_AZIMUTHS = np.radians(np.arange(-180.0, 180.0, 2.0))
#: Signs that together weigh less than this are worth that much less.
_LEAST_SIGN = 0.3
#: How near an azimuth must be to count as right, rad; how much better than at right angles the sun is behind.
_WITHIN, _BEHIND = math.radians(45), 0.15
#: Share of edges that must agree: below it they may be seams and bends. Set on 53 sunny scenes of one drive.
_AGREE = 0.7
#: Sine of the elevation below which a burnt-out patch may be a white truck or gravel.
_LOW = math.sin(math.radians(2))
#: Elevation taken for a sun that is out of view, rad.
_UNSEEN_RISE = math.radians(40)


def sunny_and_shade(frame: LightProbe, local: np.ndarray, lit: float, white: float) -> tuple[float, float]:
    """Probabilities that the sun shines in the scene, and that the hazard's place lies in shade if it does.

    Sun makes the ground as bright as the sky, the sky blue and the darks deep; at night nearly all is dark. Shade is
    blue, darker than other road, and far below what a white card shows in the scene's main light. Weights were set
    on real drives.
    """
    below, above = frame.rows > 0, frame.sky()
    bright = max(level(frame.lum[below], 95, frame.lum), 1e-3)
    deep = math.log(bright / max(float(np.percentile(frame.lum, 5)), 1e-3))
    against_sky = math.log(bright / float(np.median(frame.lum[above]))) if above.any() else -0.4
    night = 3 * min(math.log(max(float(np.percentile(frame.lum, 80)), 1e-4) / 0.08), 0.0)
    sunny = _sigmoid(2.5 * (against_sky + 0.85) + (deep - 3.2) + 3 * (_sky_blue(frame, above) - 0.4) + night)
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


@dataclass(frozen=True, eq=False)
class Sun:
    """Where the sun stands.

    Attributes:
        direction: (3,) unit vector to it, ego frame at t0; None: known to be none, or nothing shows where.
        confidence: in [0, 1]; of a direction seen, that it is right to within 45 degrees of azimuth.
        source: ``told`` by the scene, ``time and place``, ``sky`` (the sun itself, or the sky's colour and
            brightness), ``shadows`` (cast on the road, or on what stands up), or ``unknown``.
        apart: degrees of azimuth between time and place and what a confident look at the frame says, else None.
    """

    direction: np.ndarray | None
    confidence: float
    source: str
    apart: float | None = None


def find_sun(
    frame: LightProbe,
    shadows: ShadowAxis | None = None,
    extra: Mapping[str, Any] | None = None,
    timestamp: str = "",
) -> Sun:
    """The sun as the scene tells it, else by time and place, else as the frame shows it."""
    extra = extra or {}
    if "sun" in extra:
        told = extra["sun"]
        towards = None if told is None else np.asarray(told, float) / np.linalg.norm(told)
        return Sun(towards, 1.0, "told")
    by_time, seen = sun_by_time(timestamp, extra), _seen(frame, shadows)
    if by_time is None:
        return seen
    if by_time[2] < _SET_BELOW:
        return Sun(None, 1.0, "time and place")
    apart = None
    if seen.direction is not None and seen.confidence >= CONFIDENT:
        a, b = (complex(v[0], v[1]) for v in (by_time, seen.direction))
        apart = abs(math.degrees(cmath.phase(a * b.conjugate())))
    return Sun(by_time, 0.95, "time and place", apart)


def _seen(frame: LightProbe, shadows: ShadowAxis | None) -> Sun:
    """Each sign says how likely every azimuth is (von Mises, log); the likeliest azimuth counts.

    Weights were set on real drives. Where no sign speaks, the sun is behind rather than ahead, where it would glare.
    """
    disc = _sun_disc(frame)
    if disc is not None:
        return Sun(disc, 0.9, "sky")
    sky = frame.sky()
    field = _field_deg(frame)
    wide = min(max(field / 60, 0.2), 1.0)
    # across a narrow view the light hardly differs
    shading = 1.4 * float(np.clip(_dark_side(frame), -1.2, 1.2)) * wide**2
    slope = 2.5 * float(np.clip(_sky_slope(frame, field) / 0.012, -1, 1))
    blue = 2.0 * _clear(frame, sky) * (_sky_blue(frame, sky) - 0.36)
    cast = 0.0
    if shadows is not None and shadows.unison >= _AGREE:
        few = 40 * wide  # a wide view shows more seams that pass for shadows
        length = shadows.length**2 / (shadows.length**2 + few**2)
        cast = 4.0 * max(shadows.unison - 0.3, 0) / 0.7 * length
    # a clear sky is bluest at right angles to the sun: it tells that the sun is not ahead, not that it is behind
    ahead = np.maximum(np.cos(_AZIMUTHS), -_BEHIND) if 0.6 + blue > 0 else np.cos(_AZIMUTHS)
    log = (shading + slope) * np.sin(_AZIMUTHS) - (0.6 + blue) * ahead
    if shadows is not None:
        log += cast * np.cos(2 * (_AZIMUTHS - shadows.angle))
    share = np.exp(log - log.max())
    share /= share.sum()
    best = float(_AZIMUTHS[int(share.argmax())])
    sure = float(share[np.cos(_AZIMUTHS - best) >= math.cos(_WITHIN)].sum())
    # without a sign there is the bias alone, and that is no finding
    sure *= min((cast + abs(shading) + abs(slope) + abs(blue)) / _LEAST_SIGN, 1.0)
    source = "shadows" if cast + abs(shading) > abs(slope) + abs(blue) else "sky"
    flat = math.cos(_UNSEEN_RISE)
    towards = np.array([flat * math.cos(best), flat * math.sin(best), math.sin(_UNSEEN_RISE)])
    return Sun(towards, sure, source if sure >= CONFIDENT else "unknown")


def _clear(frame: LightProbe, sky: np.ndarray) -> float:
    """In [0, 1]: whether there is enough sky, and not burnt out, to read its colour."""
    if not sky.any():
        return 0.0
    enough = float(np.clip((sky.mean() - 0.04) / 0.08, 0, 1))
    return enough * float(np.clip((0.95 - np.median(frame.lum[sky])) / 0.1, 0, 1))


def _field_deg(frame: LightProbe) -> float:
    """Horizontal field of view; 120 for a round picture, whose edges show nothing."""
    rays, seen = unproject(
        frame.camera, [(0.0, frame.camera.cy), (frame.camera.width - 1.0, frame.camera.cy)]
    )
    return math.degrees(math.acos(float(np.clip(rays[0] @ rays[1], -1, 1)))) if seen.all() else 120.0


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
    towards: np.ndarray = rotation(frame.camera).T @ rays[0]
    return towards if towards[2] > _LOW else None


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


def _sky_slope(frame: LightProbe, field: float) -> float:
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
