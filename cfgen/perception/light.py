"""The light of a scene: where the sun stands, how hard its shadows are, the sky, and whether the road is wet.

The sun's direction is told by the scene, else follows from time and place, else is measured: shadows on the road that
the car drives over, the darker side of the view, or the slope of a clear sky's brightness. Frames of
one drive share a sun, so what they show is added up.
"""

import cmath
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Self

import cv2
import numpy as np
from astral import Observer
from astral.sun import zenith_and_azimuth

from cfgen.geometry.camera import ground_points, project, unproject
from cfgen.geometry.path import EgoPath
from cfgen.perception.linear_light import LUMA, LightProbe, luminance, probe_light, to_linear
from cfgen.perception.settings import LIGHT
from cfgen.records import Camera, Scene

#: Confidence below which a sun's direction is not used.
CONFIDENT = 0.5
#: Keys of a scene that tell its place: degrees north, degrees east, degrees of the ego's x axis clockwise from north.
PLACE_KEYS = ("latitude_deg", "longitude_deg", "heading_deg")
#: Azimuths whose likelihood is kept, rad from the ego's x axis to its left.
AZIMUTHS = np.radians(np.arange(-180.0, 180.0, 2.0))
#: Refraction lifts the sun by half a degree, and half of its disc is a quarter more.
_SUNSET = math.sin(math.radians(-0.8))
#: A measured azimuth is right when it is within a quarter of the circle, rad.
_RIGHT = math.radians(45)

Source = Literal["annotated", "time and place", "sky", "shadows", "drive", "unknown"]


@dataclass(frozen=True, eq=False)
class SunDirection:
    """Where the sun stands.

    Attributes:
        vector: (3,) unit vector to it, ego frame at t0; None: known to be below the horizon or hidden. Where the
            source is ``unknown`` it is the likeliest one.
        confidence: in [0, 1]; of a measured direction, that its azimuth is right to within 45 degrees.
        source: ``annotated``, ``time and place``, ``sky`` (its brightness), ``shadows`` (on
            the road, or the darker side of the view), ``drive`` (it takes other frames of the drive), or ``unknown``.
        disagreement_deg: azimuth between time and place and what the frame surely shows, else None.
    """

    vector: np.ndarray | None
    confidence: float
    source: Source
    disagreement_deg: float | None = None


@dataclass(frozen=True, eq=False)
class SceneLight:
    """The light of a scene.

    Attributes:
        sun: where it stands.
        hardness: probability that direct sunlight casts hard shadows; near 0 or 1 it is sure.
        night: whether next to nothing in the frame is bright.
        wetness: in [0, 1], how surely the road mirrors what stands along it.
    """

    sun: SunDirection
    hardness: float
    night: bool = False
    wetness: float = 0.0

    @property
    def sky(self) -> Literal["clear", "overcast", "night"]:
        """``clear`` is any sky through which the sun casts shadows."""
        return "night" if self.night else "clear" if self.hardness >= CONFIDENT else "overcast"


# --- what one frame shows ---


@dataclass(frozen=True, eq=False)
class LightClues:
    """What one frame shows of the light; the clues of frames under one sun are added up.

    Attributes:
        log: (180,) log likelihood of each of :data:`AZIMUTHS`.
        shadows, sky: what shadows and dark sides weigh in it, and what the sky does.
        hardness: log odds that direct sunlight casts hard shadows.
    """

    log: np.ndarray
    shadows: float
    sky: float
    hardness: float = 0.0

    def turned(self, angle: float) -> Self:
        """As they count in a frame whose azimuths are larger by ``angle``, rad: half."""
        steps, share = round(angle / (AZIMUTHS[1] - AZIMUTHS[0])), LIGHT.neighbor
        return type(self)(
            share * np.roll(self.log, steps), share * self.shadows, share * self.sky, self.hardness
        )

    def with_neighbors(self, neighbors: Sequence["LightClues"]) -> "LightClues":
        """Together with other frames of the same sun, :meth:`turned` into this one."""
        if not neighbors:
            return self
        frames = [self, *neighbors]
        # where the sun shines some frames show it clearly, and those in the shade of woods do not
        clearest = float(np.percentile([clues.hardness for clues in neighbors], 75))
        return replace(
            self,
            log=np.sum([clues.log for clues in frames], 0),
            shadows=sum(clues.shadows for clues in frames),
            sky=sum(clues.sky for clues in frames),
            hardness=self.hardness + LIGHT.neighbor_hardness * float(np.clip(clearest, 0, 1)),
        )

    def likeliest(self) -> tuple[np.ndarray, float]:
        """(3,) unit vector to the sun, and the confidence that its azimuth is right to within 45 degrees."""
        log = self.log.round(6)  # sums may differ in their last bit between machines and threads
        share = np.exp(log - log.max())
        share /= share.sum()
        best = float(AZIMUTHS[int(share.argmax())])
        confidence = float(share[np.cos(AZIMUTHS - best) >= math.cos(_RIGHT)].sum())
        # without a clue there is the bias alone, and that is no measurement
        return _unit(best, math.radians(LIGHT.elevation_deg)), confidence * min(
            (self.shadows + self.sky) / LIGHT.enough, 1.0
        )


def light_clues(
    frame: LightProbe, image: np.ndarray, path: EgoPath | None, neighbor: bool = False
) -> LightClues:
    """What a frame shows of the light.

    Args:
        frame: of ``image``. path: where the car drives, on whose road shadows are sought; None seeks none.
        neighbor: it is added to another frame, which has the bias against a sun ahead already.
    """
    shadows = ShadowAxis(0.0, 0.0, 0.0) if path is None else shadow_axis(image, frame.camera, path)
    field = _field_of_view(frame)
    wide = min(field / 60, 1.0)  # across a narrow view the light hardly differs
    shading = LIGHT.dark_side * wide**2 * math.tanh(0.6 * (dark_side(frame) + dark_ground(frame)))
    slope = LIGHT.sky_slope * float(np.clip(_sky_slope(frame, field) / LIGHT.full_slope, -1, 1))
    edges = shadows.length**2
    cast = LIGHT.shadows * max(shadows.unison - 0.5, 0.0)
    cast *= edges / (edges + (LIGHT.shadow_m * wide) ** 2) if edges else 0.0
    log = (shading + slope) * np.sin(AZIMUTHS) + cast * np.cos(2 * (AZIMUTHS - shadows.angle))
    if not neighbor:
        log -= LIGHT.glare * np.maximum(
            np.cos(AZIMUTHS), -0.15
        )  # ahead it would glare, but not so behind all alike
    return LightClues(log, cast + abs(shading), abs(slope), _hardness(frame, shadows))


def hardness_signs(frame: LightProbe, shadows: "ShadowAxis") -> np.ndarray:
    """(5,) signs of direct sunlight, weighed as ``LIGHT.hardness`` says; mirrored frames agree."""
    sky, ground = frame.sky(), frame.lum[frame.rows > 0]
    bright = 0.0
    if sky.any() and ground.size:
        above = float(np.median(frame.lum[sky]))
        bright = float(np.clip(math.log(max(float(np.percentile(ground, 95)), 1e-3) / above), -1.5, 1))
    band = np.log(np.maximum(frame.lum[frame.band(0.03, 0.1)], 4e-3))
    return np.array(
        [
            _deep_blue(frame),
            shadows.length / (shadows.length + LIGHT.shadow_m),
            bright,
            abs(dark_ground(frame)) + abs(dark_side(frame)),
            float(band.std()) if band.size else 0.0,
        ]
    )


def _hardness(frame: LightProbe, shadows: "ShadowAxis") -> float:
    """Log odds that direct sunlight casts hard shadows in the scene."""
    log_odds = float(hardness_signs(frame, shadows) @ LIGHT.hardness) + LIGHT.hardness_bias
    at_night = frame.is_night and not _deep_blue(frame)  # what lamps light differs from the rest, too
    return min(log_odds, LIGHT.night_hardness) if at_night else log_odds


def _field_of_view(frame: LightProbe) -> float:
    """Horizontal, deg; 120 for a round picture, whose edges show nothing."""
    edges = [(0.0, frame.camera.cy), (frame.camera.width - 1.0, frame.camera.cy)]
    rays, valid = unproject(frame.camera, edges)
    return math.degrees(math.acos(float(np.clip(rays[0] @ rays[1], -1, 1)))) if valid.all() else 120.0


def dark_ground(frame: LightProbe) -> float:
    """How much darker (log) the ground is on the left than on the right: what stands there throws its shade on it."""
    return _darker_left(frame, frame.band(0.05, 0.2), 0.0)


def dark_side(frame: LightProbe) -> float:
    """How much darker (log) upright things on the left are than those on the right.

    What faces the sun is bright, so the darker side of the view is the sun's side.
    """
    blue = frame.linear[..., 2] > 1.15 * frame.linear[..., 0]
    return _darker_left(frame, frame.band(-0.22, 0.06) & (frame.lum < 0.8) & ~(blue & (frame.rows < 0)), 0.01)


def _darker_left(frame: LightProbe, among: np.ndarray, min_share: float) -> float:
    """How much darker (log) the left is than the right, ``among`` (h, w) pixels; 0 where either has too few."""
    width = frame.lum.shape[1]
    logs = np.log(np.maximum(frame.lum, 2e-3))
    halves = []
    for part in (slice(0, int(0.42 * width)), slice(int(0.58 * width), width)):
        pixels = among[:, part]
        if not pixels.any() or pixels.mean() < min_share:
            return 0.0
        halves.append(float(logs[:, part][pixels].mean()))
    return float(np.clip(halves[1] - halves[0], -2, 2))


def _sky_slope(frame: LightProbe, field_deg: float) -> float:
    """Rise of a clear sky's log luminance towards the left, per degree: it brightens towards the sun."""
    quarter = max(frame.lum.shape[1] // 4, 1)
    clear = frame.sky() & (frame.linear[..., 2] > 1.3 * frame.linear[..., 0])
    steps = []
    for y in range(0, frame.height, 4):
        left_sky, right = clear[y, :quarter], clear[y, -quarter:]
        if left_sky.mean() > 0.6 and right.mean() > 0.6:
            ends = (np.median(frame.lum[y, :quarter][left_sky]), np.median(frame.lum[y, -quarter:][right]))
            steps.append(math.log(ends[0] / ends[1]))
    return float(np.median(steps)) / (0.75 * max(field_deg, 1.0)) if len(steps) >= 4 else 0.0


def _deep_blue(frame: LightProbe) -> float:
    """In [0, 1]: whether the sky is deep blue and the ground about as bright, however dark the picture was taken."""
    ground = frame.lum[frame.rows > 0.05 * frame.height]
    deep = 1 - frame.linear[..., 0] / np.maximum(frame.linear[..., 2], 1e-3)
    blue = (frame.rows < -0.04 * frame.height) & (deep > 0.45) & (frame.lum > 0.015)
    if blue.mean() < 0.02 or not ground.size:
        return 0.0
    bright = math.log(max(float(np.percentile(ground, 80)), 1e-3) / float(np.median(frame.lum[blue])))
    return float(
        min(float(blue.mean()) / 0.1, 1.0)
        * _ramp(bright, -1.0, -0.2)
        * _ramp(float(np.median(deep[blue])), 0.45, 0.6)
    )


# --- shadows on the road ---


@dataclass(frozen=True)
class ShadowAxis:
    """Edges of shadows on the road.

    Attributes:
        angle: rad from the ego's x axis to its left, in [-pi/2, pi/2]: shadows fall along it, one way or the other.
        unison: in [0, 1], how far the edges agree.
        length: metres of edge that it rests on, by weight.
    """

    angle: float
    unison: float
    length: float


def shadow_axis(image: np.ndarray, camera: Camera, path: EgoPath) -> ShadowAxis:
    """The axis of the shadows on the road that the car drives over, in a frame (H, W, 3) uint8.

    An edge is a shadow's when its dark side is bluer: there the sky lights the road alone. Wear, tar and patches are as
    yellow as the rest.
    """
    scale = min(1.0, 640 / image.shape[1])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    linear = np.maximum(to_linear(small), 2e-3)
    lum = cv2.GaussianBlur(np.log(luminance(linear)), (0, 0), 1.5)
    blue = cv2.GaussianBlur(np.log(linear[..., 2] / linear[..., 0]), (0, 0), 2.0)
    slope = cv2.merge([cv2.Sobel(lum, cv2.CV_32F, *order, scale=1 / 8) for order in ((1, 0), (0, 1))])
    steep = np.maximum(np.hypot(slope[..., 0], slope[..., 1]), 1e-6)
    strip = _driven_over(camera, path, small.shape[:2], scale)
    at = np.argwhere(strip & (steep > 0.03))[:, ::-1].astype(np.float32)
    normal = _nearest(slope, at) / _nearest(steep, at)[:, None]
    crest = _nearest(steep, at) >= np.maximum(_nearest(steep, at + normal), _nearest(steep, at - normal))
    at, normal = at[crest], normal[crest]
    bright, dark = at + LIGHT.edge_px * normal, at - LIGHT.edge_px * normal
    step = _nearest(lum, bright) - _nearest(lum, dark)
    bluer = (_nearest(blue, dark) - _nearest(blue, bright)) / np.maximum(step, 1e-3)
    weight = _ramp(step, *LIGHT.edge_step) * (step < LIGHT.edge_most) * _ramp(bluer, *LIGHT.edge_blue)
    return _axis(camera, (at + 0.5) / scale - 0.5, normal / scale, weight)


def _driven_over(camera: Camera, path: EgoPath, shape: tuple[int, ...], scale: float) -> np.ndarray:
    """(h, w) bool: the strip of ground before the car that it will drive over."""
    distances, rims = np.arange(3.0, LIGHT.far_m), []
    for lateral in (LIGHT.half_m, -LIGHT.half_m):
        x, y, _ = path.at(distances, lateral)
        px, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
        rims.append((px[valid] + 0.5) * scale - 0.5)
    strip = np.zeros(shape, np.uint8)
    if len(rims[0]) and len(rims[1]):
        outline = np.vstack([rims[0], rims[1][::-1]])
        cv2.fillPoly(strip, [np.rint(np.clip(outline, -1e4, 1e4)).astype(np.int32)], 1)
    return strip > 0


def _axis(camera: Camera, px: np.ndarray, normal: np.ndarray, weight: np.ndarray) -> ShadowAxis:
    """The axis of edges at ``px`` (N, 2) with normals (N, 2), pixels, on the ground."""
    along = np.stack([-normal[:, 1], normal[:, 0]], -1)
    (start, start_valid), (end, end_valid) = (
        ground_points(camera, px - along),
        ground_points(camera, px + along),
    )
    use = start_valid & end_valid & (weight > 0)
    use[use] &= np.hypot(*start[use].T) < LIGHT.edges_m
    run, weight = end[use] - start[use], weight[use]
    if not len(run):
        return ShadowAxis(0.0, 0.0, 0.0)
    angle = np.arctan2(run[:, 1], run[:, 0])
    weight = weight * np.minimum(np.hypot(run[:, 0], run[:, 1]), LIGHT.edge_pixel_m)
    # seams, ruts and paint lie along the road
    weight = weight * (1 - np.exp(-((np.sin(angle) / math.sin(math.radians(LIGHT.along_deg))) ** 2)))
    total, length = complex(np.sum(weight * np.exp(2j * angle))), float(weight.sum())
    # rounded, so that the last bits of a sum move nothing
    axis = cmath.phase(total) / 2, abs(total) / max(length, 1e-6), length
    return ShadowAxis(*(round(value, 3) for value in axis))


def _nearest(plane: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(N, ...) values of a plane at (N, 2) x, y."""
    cells = np.rint(np.clip(at, 0, np.array(plane.shape[1::-1]) - 1.0)).astype(int)
    values: np.ndarray = plane[cells[:, 1], cells[:, 0]]
    return values


def _ramp(value: Any, low: float, high: float) -> Any:
    return np.clip((value - low) / (high - low), 0, 1)


# --- a wet road ---


def _wetness(frame: LightProbe, hardness: float) -> float:
    """In [0, 1]: how surely the road ahead is a mirror, by how far it shows the scene above the horizon upside down.

    A sunlit road is dry: sunlit streets repeat the shade of their trees.
    """
    dull = 1 - float(_ramp(hardness, *LIGHT.dry))
    horizon, height = round(float(np.median(frame.horizon))), frame.height
    near = max(round(0.04 * height), 4)
    deep = min(round(0.3 * height), horizon - 2, height - horizon - 2)
    if dull <= 0 or deep - near < 6:
        return 0.0
    log = np.log(np.maximum(frame.lum, 3e-3)).astype(np.float32)
    grid = np.stack(np.meshgrid(np.arange(log.shape[1]), np.arange(height)), -1).reshape(-1, 2)
    ground, valid = ground_points(frame.camera, (grid + 0.5) / frame.scale - 0.5)
    on_strip = valid & (ground[:, 0] > 0) & (ground[:, 0] < 200) & (np.abs(ground[:, 1]) < 4)
    road = on_strip.reshape(log.shape)[horizon + near : horizon + deep]
    if road.sum() < 300:
        return 0.0
    below = np.clip(
        _columns(log[horizon + near : horizon + deep], height)[road], -0.4, 0.4
    )  # paint is no image
    above = np.clip(
        _columns(log[horizon - deep : horizon - near][::-1], height)[road], -1, 1
    )  # nor are lamps
    spread = float(below.std() * above.std())
    alike = float(((above - above.mean()) * (below - below.mean())).mean()) / (spread + 1e-9)
    return dull * float(_ramp(alike, *LIGHT.mirror))


def _columns(log: np.ndarray, height: int) -> np.ndarray:
    """Drawn out down the picture, as ripples draw mirror images, without what is broad across: the light's fall-off."""
    smooth = cv2.GaussianBlur(log, (0, 0), 1.5, sigmaY=max(0.06 * height, 2.0))
    columns: np.ndarray = smooth - cv2.GaussianBlur(smooth, (0, 0), 14.0, sigmaY=0.1)
    return columns


# --- the estimate ---


def estimate_light(
    image: np.ndarray,
    camera: Camera,
    path: EgoPath | None = None,
    extra: Mapping[str, Any] | None = None,
    timestamp: str = "",
    neighbors: Sequence[LightClues] = (),
) -> SceneLight:
    """The light of a frame (H, W, 3) uint8: its sun as the scene tells it, by time and place, or as frames show it.

    Args:
        path: where the car drives; None seeks no shadows on the road.
        extra, timestamp: of the scene.
        neighbors: what other frames of its drive show, turned into this one.

    >>> from cfgen.geometry.camera import mounted
    >>> road = np.full((90, 160, 3), 120, np.uint8)
    >>> camera = Camera(width=160, height=90, fx=140, fy=140, cx=79.5, cy=44.5, T_cam_ego=mounted(1.5))
    >>> estimate_light(road, camera, extra={"sun": [0, 1, 1]}).sun.source
    'annotated'
    """
    frame = probe_light(image, camera)
    own = light_clues(frame, image, path)
    clues = own.with_neighbors(neighbors)
    hard = round(_sigmoid(clues.hardness), 4)
    sun = _measured_sun(own, clues)
    if extra and "sun" in extra:
        stated = extra["sun"]
        vector = None if stated is None else np.asarray(stated, float) / np.linalg.norm(stated)
        sun, hard = SunDirection(vector, 1.0, "annotated"), float(vector is not None)
    elif (vector := sun_by_time(timestamp, extra or {})) is not None:
        if vector[2] < _SUNSET:
            sun, hard = SunDirection(None, 1.0, "time and place"), 0.0
        else:
            sun = SunDirection(vector, 0.95, "time and place", _disagreement(vector, sun))
    return SceneLight(sun, hard, frame.is_night, round(_wetness(frame, hard), 4))


def _measured_sun(own: LightClues, clues: LightClues) -> SunDirection:
    vector, confidence = clues.likeliest()
    source: Source = "shadows" if clues.shadows > clues.sky else "sky"
    if confidence < CONFIDENT:
        source = "unknown"
    elif own.likeliest()[1] < CONFIDENT:
        source = "drive"
    return SunDirection(vector, confidence, source)


def _disagreement(by_time: np.ndarray, measured: SunDirection) -> float | None:
    if measured.vector is None or measured.confidence < CONFIDENT:
        return None
    a, b = (complex(v[0], v[1]) for v in (by_time, measured.vector))
    return abs(math.degrees(cmath.phase(a * b.conjugate())))


def sun_by_time(timestamp: str, extra: Mapping[str, Any]) -> np.ndarray | None:
    """(3,) unit vector to the sun in the ego frame at t0, without refraction; it may point below the ground.

    None: the scene does not tell its time (ISO 8601 with its zone) or its place (:data:`PLACE_KEYS`).
    """
    try:
        time = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if time.tzinfo is None or not all(key in extra for key in PLACE_KEYS):
        return None
    latitude, longitude, heading = (float(extra[key]) for key in PLACE_KEYS)
    zenith, azimuth = zenith_and_azimuth(Observer(latitude, longitude), time, with_refraction=False)
    return _unit(math.radians(heading - azimuth), math.radians(90 - zenith))


def _unit(azimuth: float, elevation: float) -> np.ndarray:
    flat = math.cos(elevation)
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])


def estimate_scene_light(scene: Scene, image: np.ndarray, neighbors: Sequence[LightClues] = ()) -> SceneLight:
    """As :func:`estimate_light`, of the scene's front frame at t0."""
    path = EgoPath.from_scene(scene, LIGHT.far_m)
    return estimate_light(image, scene.front, path, scene.extra, scene.timestamp, neighbors)


def neighbor_clues(scene: Scene, image: np.ndarray) -> LightClues:
    """What the front frame at t0, (H, W, 3) uint8, shows of the light to other scenes of its drive."""
    frame = probe_light(image, scene.front)
    return light_clues(frame, image, EgoPath.from_scene(scene, LIGHT.far_m), neighbor=True)


def shade_probability(ground: np.ndarray, lit: float, white: float) -> float:
    """Probability that ground of (3,) linear RGB lies in shade if the sun shines in the scene.

    Shade is blue, darker than the ``lit`` road, and far below what a ``white`` card shows in the scene's main light.
    """
    level = max(float(ground @ LUMA), 1e-4)
    blue = math.log(max(float(ground[2]), 1e-4) / max(float(ground[0]), 1e-4))
    below_white, below_lit = math.log(max(white, 1e-3) / level), math.log(lit / level)
    return _sigmoid(float(np.array([blue, below_white, below_lit, 1.0]) @ LIGHT.shade))


def _sigmoid(log_odds: float) -> float:
    return 1 / (1 + math.exp(-float(np.clip(log_odds, -30, 30))))
