"""What one frame shows of where the sun stands: how likely each azimuth is by its shadows, shading and sky."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np

from cfgen.geometry.camera import rotation, unproject
from cfgen.perception.cast_shadows import ShadowAxis
from cfgen.perception.colour import level
from cfgen.perception.foot_shade import Shade
from cfgen.perception.light_probe import LightProbe

AZIMUTHS = np.radians(np.arange(-180.0, 180.0, 2.0))
#: What a side weighs at most that is darker than the other; rows below the horizon in which shade of what stands
#: beside the road is sought, as shares of the height.
_MOST_SHADING, _GROUND = 2.2, (0.05, 0.2)
#: How near an azimuth must be to count as right, rad; how much better than at right angles the sun is behind.
_WITHIN, _BEHIND = math.radians(45), 0.15
#: Signs that together weigh less than this are worth that much less.
_LEAST_SIGN = 0.3
#: Share of edges that agree: below the first they may be seams and bends, from the second on they count in full.
_AGREE = (0.5, 0.7)
#: What one side of a vehicle weighs where shade lies there, and where it is lit; and how often either is misseen.
_SHADED, _LIT_SIDE, _MISSEEN = 0.8, 0.2, 0.08
#: Edges that agree on an axis so near the road's own may be seams and ruts, rad.
_SEAMS = math.radians(9)
#: Sine of the elevation below which a burnt-out patch may be a white truck or gravel.
_LOW = math.sin(math.radians(2))
#: Least saturation of the blue about a sun that the frame's upper edge cuts: elsewhere white clouds burn out as well.
_CUT_BLUE = 0.2
#: Elevation taken for a sun that is out of view, rad.
_UNSEEN_RISE = math.radians(40)
#: Most that other frames add to the log odds that the sun shines.
_ALONG = 3.0
#: Most log odds of the sun where the picture is dark.
_AT_NIGHT = -3.0
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
    field = _field_deg(frame)
    wide = min(max(field / 60, 0.2), 1.0)
    # across a narrow view the light hardly differs
    shading = _MOST_SHADING * math.tanh(_shaded_side(frame)) * wide**2
    against = 1.5 * _backlit(frame, sky) * wide**2
    slope = 2.5 * float(np.clip(_sky_slope(frame, field) / 0.012, -1, 1))
    blue = 2.0 * _clear(frame, sky) * (sky_blue(frame, sky) - 0.36)
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
    told, weight = _by_feet(feet)
    log += told
    return SunSigns(
        log,
        cast + weight + abs(shading) + against,
        abs(slope) + abs(blue),
        _sun_disc(frame),
        _shines(frame, sky, shadows),
    )


def _by_feet(feet: Sequence[Shade]) -> tuple[np.ndarray, float]:
    """(180,) log likelihood of each azimuth by where vehicles cast their shade, and what it weighs."""
    log, weight = np.zeros(len(AZIMUTHS)), 0.0
    for one in feet:
        falls = np.clip((-np.cos(AZIMUTHS - one.towards) - 0.25) / 0.4, 0, 1)
        there = _MISSEEN + (1 - 2 * _MISSEEN) * falls
        log += _SHADED * one.dark * np.log(there) + _LIT_SIDE * (1 - one.dark) * np.log(1 - there)
        weight += _SHADED * one.dark
    # vehicles of a row stand in each other's shade and in that of the same trees
    share = 1 / math.sqrt(max(weight / _SHADED, 1.0))
    return share * log, share * weight


def _shines(frame: LightProbe, sky: np.ndarray, shadows: ShadowAxis | None) -> float:
    """Log odds: beside what :func:`_lit` says, one side of the road or of what stands there lies in shade, what stands
    up is dark against the sun, or a ground that is as bright as a deep blue sky.

    Fitted (logistic, flat light weighing twice) on 31 sunny stills of four data sets and 34 others of nine. On 29 sunny
    stills of other data sets it misses 11 where the first part alone missed 17, and calls none of 21 others sunny.
    """
    lit = float(np.clip(_lit(frame, sky, shadows), -3, 3))
    warm = 1.7 * float(np.clip(_warmth(frame), -0.3, 0.6))
    sides = 0.86 * min(abs(_dark_ground(frame)), 2.0) + 0.64 * min(abs(_dark_side(frame)), 2.0)
    contrast = 0.44 * float(np.clip(_spread(frame) - 1.5, 0, 1.5))
    deep = _deep_blue(frame)
    told = 1.14 * lit + warm + sides + contrast + deep + 1.36 * _backlit(frame, sky) - 1.2
    at_night = frame.is_night and not deep  # what lamps light differs from the rest, too
    return min(told, _AT_NIGHT) if at_night else told


def _lit(frame: LightProbe, sky: np.ndarray, shadows: ShadowAxis | None) -> float:
    """Log odds: sun casts shadows with a blue cast on the road, makes the ground as bright as a sky that is blue, and
    what it lights warmer than what lies in shade; at night nearly all is dark.

    Fitted on 32 stills of six data sets and a drive, light that is flat weighing more: on 38 stills of other data
    sets it called none of 22 flat ones sunny, and 8 of 16 sunny ones; scenes of a drive help each other.
    """
    night = min(math.log(max(float(np.percentile(frame.lum, 80)), 1e-4)) + 1.9, 0.0)
    length = 0.2 if shadows is None else shadows.length / (shadows.length + 30)
    against, blue = -0.4, 0.0
    if sky.any():
        bright, above = (
            max(level(frame.lum[frame.rows > 0], 95, frame.lum), 1e-3),
            float(np.median(frame.lum[sky])),
        )
        against = float(np.clip(math.log(bright / above), -1.5, 0.8))
        clear = (1 - float(np.clip((above - 0.75) / 0.2, 0, 1))) * min(float(sky.mean()) / 0.08, 1.0)
        blue = (sky_blue(frame, sky) - 0.4) * clear
    warm = 3.5 * float(np.clip(_warmth(frame) - 0.4, -0.05, 0.3))
    told = 0.6 * against + 3.8 * blue + 1.9 * night + 3.4 * length + warm - 1.05
    # at night lamps do what the sun does by day
    day = float(np.clip((night + 0.3) / 0.8, 0, 1))
    return told + day * (0.8 * float(np.clip(_spread(frame) - 2.4, 0, 1.2)) + 1.6 * _backlit(frame, sky))


def _spread(frame: LightProbe) -> float:
    """How far (log) the light parts of what lies below the horizon are above the dark ones."""
    ground = frame.lum[frame.rows > 0.03 * frame.height]
    if not ground.size:
        return 0.0
    dark, light = np.percentile(ground, (15, 85))
    return math.log(max(float(light), 1e-3) / max(float(dark), 1e-3))


def _warmth(frame: LightProbe) -> float:
    """How much redder (log, red against blue) the brightest fifth of what lies below the horizon is than its darkest
    quarter: the sky lights shade alone, and under clouds it lights all alike."""
    ground = frame.rows > 0
    if not ground.any():
        return 0.0
    level, colour = frame.lum[ground], frame.linear[ground] + 0.003
    dark, bright = np.percentile(level, (25, 80))
    reds = [
        float(np.log(part[:, 0].mean() / part[:, 2].mean()))
        for part in (colour[level >= bright], colour[level <= dark])
    ]
    return reds[0] - reds[1]


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


def _deep_blue(frame: LightProbe) -> float:
    """In [0, 1]: whether the sky is deep blue and the ground about as bright, however dark the picture was taken."""
    above, ground = frame.rows < -0.04 * frame.height, frame.lum[frame.rows > 0.05 * frame.height]
    deep = 1 - frame.linear[..., 0] / np.maximum(frame.linear[..., 2], 1e-3)
    blue = above & (deep > 0.45) & (frame.lum > 0.015) & (frame.linear[..., 1] < frame.linear[..., 2])
    if blue.mean() < 0.02 or not ground.size:
        return 0.0
    bright = math.log(max(float(np.percentile(ground, 80)), 1e-3) / float(np.median(frame.lum[blue])))
    share = min(float(blue.mean()) / 0.1, 1.0)
    return share * float(
        np.clip((bright + 1.0) / 0.8, 0, 1) * np.clip((np.median(deep[blue]) - 0.45) / 0.15, 0, 1)
    )


def _shaded_side(frame: LightProbe) -> float:
    """How surely the left is the sun's side, < 0 the right: there what stands up shows its dark face and throws its
    shade on the ground. Where the two disagree, neither counts for much."""
    return 0.67 * float(np.clip(_dark_side(frame), -2, 2)) + 0.6 * float(np.clip(_dark_ground(frame), -2, 2))


def _dark_ground(frame: LightProbe) -> float:
    """How much darker (log) the ground is on the left than on the right."""
    below = (frame.rows > _GROUND[0] * frame.height) & (frame.rows < _GROUND[1] * frame.height)
    return _darker_left(frame, below, 0.0)


def _dark_side(frame: LightProbe) -> float:
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


def _backlit(frame: LightProbe, sky: np.ndarray) -> float:
    """In [0, 1]: whether even the brighter of what stands up is far darker than the ground, as against the sun."""
    height, width = frame.lum.shape
    upright = (frame.rows > -0.22 * height) & (frame.rows < 0.02 * height) & (frame.lum < 0.8) & ~sky
    ground = (frame.rows > 0.03 * height) & (frame.rows < 0.35 * height)
    ground[:, : width // 4] = ground[:, 3 * width // 4 :] = False
    if upright.mean() < 0.02 or not ground.any():
        return 0.0
    lit, seen = float(np.percentile(frame.lum[ground], 75)), float(np.percentile(frame.lum[upright], 80))
    # against the sun the sky is white
    white = 1 - min(_clear(frame, sky) * sky_blue(frame, sky) / 0.3, 1.0)
    return white * float(np.clip((math.log(max(lit, 1e-3) / max(seen, 1e-3)) - 1.9) / 0.5, 0, 1))


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


def sky_blue(frame: LightProbe, sky: np.ndarray) -> float:
    """Saturation of the sky's blue in [0, 1]; 0.3 where no sky is seen."""
    if not sky.any():
        return 0.3
    seen = frame.linear[sky]
    return float(np.median(1 - seen[:, 0] / np.maximum(seen[:, 2], 1e-3)))
