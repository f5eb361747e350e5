"""What one frame shows of where the sun stands: how likely each azimuth is by its shadows, shading and sky."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np

from cfgen.geometry.camera import rotation, unproject
from cfgen.perception.cast_shadows import ShadowAxis
from cfgen.perception.foot_shade import Shade
from cfgen.perception.light_probe import LightProbe
from cfgen.perception.light_sides import (
    backlit,
    clear,
    dark_ground,
    dark_side,
    field_deg,
    sky_blue,
    sky_slope,
)
from cfgen.perception.sun_shines import sun_shines

AZIMUTHS = np.radians(np.arange(-180.0, 180.0, 2.0))
#: What a side weighs at most that is darker than the other.
_MOST_SHADING = 2.2
#: How near an azimuth must be to count as right, rad; how much better than at right angles the sun is behind.
_WITHIN, _BEHIND = math.radians(45), 0.15
#: Signs that together weigh less than this are worth that much less.
_LEAST_SIGN = 0.3
#: Share of edges that agree: below the first they may be seams and bends, from the second on they count in full.
_AGREE = (0.5, 0.7)
#: What one side of a vehicle weighs where shade lies there, and where it is lit; and how often either is misseen.
_SHADED, _LIT_SIDE, _MISSEEN = 0.8, 0.2, 0.08
#: Edges that agree on an axis so near the road's own may be seams and ruts, rad.
_SEAMS = math.radians(18)
#: Sine of the elevation below which a burnt-out patch may be a white truck or gravel.
_LOW = math.sin(math.radians(2))
#: Least saturation of the blue about a sun that the frame's upper edge cuts: elsewhere white clouds burn out as well.
_CUT_BLUE = 0.2
#: Elevation taken for a sun that is out of view, rad. Lower ones throw longer shadows, which show more where wrong.
_UNSEEN_RISE = math.radians(50)
#: Most that other frames add to the log odds that the sun shines.
_ALONG = 3.0
#: What the sun itself weighs in a frame of another scene.
_SEEN_ITSELF = 6.0


@dataclass(frozen=True, eq=False)
class SunSigns:
    """What a frame says of the sun's azimuth; frames' signs are added up.

    Attributes:
        log: (180,) log likelihood of each of ``AZIMUTHS`` (von Mises).
        shadows, sky: what shadows and shading weigh in it, and what the sky does.
        disc: (3,) unit vector to the sun where the frame shows it, else None.
        shines: log odds that the sun shines.
    """

    log: np.ndarray
    shadows: float
    sky: float
    disc: np.ndarray | None = None
    shines: float = 0.0

    def turned(self, by: float, share: float) -> Self:
        """As they count in another frame: azimuths there are larger by ``by``, rad; they weigh ``share`` as much."""
        steps = round(by / (AZIMUTHS[1] - AZIMUTHS[0]))
        log, sky = self.log, self.sky
        if self.disc is not None:
            log = log + _SEEN_ITSELF * np.cos(AZIMUTHS - math.atan2(self.disc[1], self.disc[0]))
            sky += _SEEN_ITSELF
        return type(self)(share * np.roll(log, steps), share * self.shadows, share * sky, None, self.shines)

    def with_others(self, others: Iterable["SunSigns"]) -> "SunSigns":
        """Together with what frames of the same sun say, :meth:`turned` into this one."""
        others = list(others)
        if not others:
            return self
        every = [self, *others]
        # where the sun shines, some frames show it clearly, and those in the shade of woods do not
        clearest = float(np.percentile([signs.shines for signs in others], 75)) if others else 0.0
        return SunSigns(
            np.sum([signs.log for signs in every], 0),
            sum(signs.shadows for signs in every),
            sum(signs.sky for signs in every),
            self.disc,
            self.shines + float(np.clip(clearest, 0, 1)) * _ALONG,
        )

    def likeliest(self) -> tuple[np.ndarray, float]:
        """(3,) unit vector to the sun, and the confidence that its azimuth is right to within 45 degrees."""
        if self.disc is not None:
            return self.disc, 0.9
        share = np.exp(self.log - self.log.max())
        share /= share.sum()
        best = float(AZIMUTHS[int(share.argmax())])
        sure = float(share[np.cos(AZIMUTHS - best) >= math.cos(_WITHIN)].sum())
        flat = math.cos(_UNSEEN_RISE)
        towards = np.array([flat * math.cos(best), flat * math.sin(best), math.sin(_UNSEEN_RISE)])
        # without a sign there is the bias alone, and that is no finding
        return towards, sure * min((self.shadows + self.sky) / _LEAST_SIGN, 1.0)


def sun_signs(
    frame: LightProbe, shadows: ShadowAxis | None, behind: float = 0.6, feet: Sequence[Shade] = ()
) -> SunSigns:
    """What a frame and the shadows on its road say. Weights were set on real drives.

    Args:
        behind: bias that the sun is behind rather than ahead, where it would glare; 0 for frames that are added to
            another, which has it already.
        feet: where the shade of vehicles lies.
    """
    sky = frame.sky()
    field = field_deg(frame)
    wide = min(max(field / 60, 0.2), 1.0)
    # across a narrow view the light hardly differs
    shading = _MOST_SHADING * math.tanh(_shaded_side(frame)) * wide**2
    against = 1.5 * backlit(frame, sky) * wide**2
    slope = 2.5 * float(np.clip(sky_slope(frame, field) / 0.012, -1, 1))
    blue = 2.0 * clear(frame, sky) * (sky_blue(frame, sky) - 0.36)
    # a clear sky is bluest at right angles to the sun: it tells that the sun is not ahead, not that it is behind
    ahead = np.maximum(np.cos(AZIMUTHS), -_BEHIND) if behind + blue > 0 else np.cos(AZIMUTHS)
    log = (shading + slope) * np.sin(AZIMUTHS) - (behind + blue) * ahead
    log += against * np.cos(AZIMUTHS)
    cast = 0.0
    if shadows is not None and shadows.unison > _AGREE[0]:
        few = 40 * wide  # a wide view shows more seams that pass for shadows
        length = shadows.length**2 / (shadows.length**2 + few**2)
        aside = 1 - math.exp(-((math.sin(shadows.angle) / math.sin(_SEAMS)) ** 2))
        agree = min((shadows.unison - _AGREE[0]) / (_AGREE[1] - _AGREE[0]), 1.0)
        cast = 4.0 * agree * (shadows.unison - 0.3) / 0.7 * length * aside
        log += cast * np.cos(2 * (AZIMUTHS - shadows.angle))
    told, weight = by_feet(feet)
    log += told
    return SunSigns(
        log,
        cast + weight + abs(shading) + against,
        abs(slope) + abs(blue),
        _sun_disc(frame),
        sun_shines(frame, shadows),
    )


def by_feet(feet: Sequence[Shade]) -> tuple[np.ndarray, float]:
    """(180,) log likelihood of each azimuth by where vehicles cast their shade, and what it weighs."""
    log, weight = np.zeros(len(AZIMUTHS)), 0.0
    for one in (one for one in feet if not one.at_rim):
        falls = np.clip((-np.cos(AZIMUTHS - one.towards) - 0.25) / 0.4, 0, 1)
        there = _MISSEEN + (1 - 2 * _MISSEEN) * falls
        log += _SHADED * one.dark * np.log(there) + _LIT_SIDE * (1 - one.dark) * np.log(1 - there)
        weight += _SHADED * one.dark
    # vehicles of a row stand in each other's shade and in that of the same trees
    share = 1 / math.sqrt(max(weight / _SHADED, 1.0))
    return share * log, share * weight


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
    inside = x > 0 and x + w < width
    if not (round_enough and inside and 0.0005 < area / burnt.size < 0.08):
        return None
    patch = (labels == big).astype(np.uint8)
    grown = cv2.dilate(patch, np.ones((2 * (h // 2) + 1, 2 * (w // 2) + 1), np.uint8))
    ring = (grown > patch) & above
    if (
        not ring.any()
        or float(frame.lum[ring].mean()) < 0.35
        or float(np.percentile(frame.lum[ring], 10)) < 0.12
        or (y == 0 and sky_blue(frame, ring) < _CUT_BLUE)
    ):
        return None
    rays, _ = unproject(frame.camera, [(middle[big] + 0.5) / frame.scale - 0.5])
    towards: np.ndarray = rotation(frame.camera).T @ rays[0]
    return towards if towards[2] > _LOW else None


def _shaded_side(frame: LightProbe) -> float:
    """How surely the left is the sun's side, < 0 the right: there what stands up shows its dark face and throws its
    shade on the ground. Where the two disagree, neither counts for much."""
    return 0.67 * float(np.clip(dark_side(frame), -2, 2)) + 0.6 * float(np.clip(dark_ground(frame), -2, 2))
