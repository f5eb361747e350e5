"""What a front camera is, and how sure: by what is known of it, by lane lines, and by cars and people of known size.

Lines that run side by side tell where the road's horizon is, and how many camera heights wide the own lane is. On a
flat road a foot that is d away is seen at the angle h / d below the horizon from h above it, and a thing of known size
tells its d: so each gives one line of pitch and height. Each may be astray altogether, with a probability of its own.
The product of all over a grid of pitches and heights gives both, and how far a thing that is drawn by them may be off
in size: on the ground that a pixel shows, that is the error of (angle below the horizon) / height, whatever the lens.
Nothing in a picture tells the focal length: through any lens the same road looks the same from another height.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cfgen.geometry.camera import (
    angles,
    as_matrix,
    centre,
    horizon_rows,
    mounted,
    resized,
    rotation,
    unproject,
)
from cfgen.geometry.lens import Array, Mask
from cfgen.perception.lane_horizon import LaneHorizon, fit_lane_horizon
from cfgen.perception.lanes import lane_chains
from cfgen.perception.settings import CAMERA, LANE_LINES, SIZES
from cfgen.perception.view import BoxPx, Thing
from cfgen.records import Camera

#: Length, width and height of a car, height of a person, and what a lane is taken to measure, m.
CAR_M, PERSON_M, LANE_M = (4.4, 1.82, 1.55), 1.7, 3.5
#: Rays further off the road's direction than 63 degrees are not used (cosine); rounds in which that is found.
_LEAST_AHEAD, _ROUNDS = 0.45, 4
#: Points of the grid along either way; and from which relative error on a height is known, and needs none.
_PITCHES, _HEIGHTS, _KNOWN = 301, 61, 0.02

# --- things of known size ---


@dataclass(frozen=True)
class Sight:
    """One real thing of known size.

    Attributes:
        box: x0, y0, x1, y1, px. distance_m: by its size. strays: standard error of that, relative.
        below: rad that its foot is below the camera's horizon, as the camera states it.
        ratio: how large the camera draws things where it stands, against how large it is.
    """

    box: BoxPx
    distance_m: float
    strays: float
    below: float
    ratio: float


def sights(camera: Camera, things: Sequence[Thing], pitch_known: bool = True) -> list[Sight]:
    """What cars and people whose foot is in view say; those at the frame's edge or behind others are left out.

    Args:
        pitch_known: leave out what stands above the camera's horizon; where that is to be found, nothing is above it.
    """
    visible = [t for t in things if t.kind in ("car", "person") and _in_full_view(camera, t, things)]
    candidates = [_sight(camera, thing) for thing in visible]
    return [sight for sight in candidates if sight and (sight.below > 1e-4 or not pitch_known)]


def _in_full_view(camera: Camera, thing: Thing, things: Sequence[Thing]) -> bool:
    x0, y0, x1, y1 = thing.box
    if min(x1 - x0, y1 - y0) < SIZES.smallest_px / (1 if thing.kind == "car" else 2):
        return False
    if x0 < 3 or y0 < 3 or x1 > camera.width - 4 or y1 > camera.height - 4:
        return False
    return not any(
        near.box[3] > y1
        and near.box[1] < y1
        and min(near.box[2], x1) - max(near.box[0], x0) > SIZES.hidden * (x1 - x0)
        for near in things
        if near is not thing
    )


def _sight(camera: Camera, thing: Thing) -> Sight | None:
    x0, y0, x1, y1 = thing.box
    middle = (x0 + x1) / 2
    rays, valid = unproject(camera, [(x0, y1), (x1, y1), (middle, y0), (middle, y1)])
    directions = rays @ rotation(camera)  # ego frame
    if not valid.all() or (directions[:, 0] <= 0.2).any():
        return None
    down = -directions[:, 2] / np.hypot(directions[:, 0], directions[:, 1])
    left, right = (directions[:2, 1] / directions[:2, 0]).tolist()
    wide, tall, below = left - right, float(down[3] - down[2]), float(down[3])
    if tall <= 0 or wide <= 0:
        return None
    if thing.kind == "car":
        size = _car_distance(left, right, tall)
    else:
        size = (PERSON_M / tall, SIZES.person_strays) if tall > SIZES.upright * wide else None
    if size is None:
        return None
    distance, strays = size[0], math.hypot(size[1], SIZES.edge_px / (y1 - y0))
    return Sight(thing.box, distance, strays, below, distance * below / float(centre(camera)[2]))


def _car_distance(left: float, right: float, tall: float) -> tuple[float, float] | None:
    """Of its near end by width and height, and its relative error; by tangents of its edges to the left, and of its
    height.

    Off the camera's path its flank is in the box, too: from the outer edge of the near end to the inner one of the far.
    """
    length, width, height = CAR_M
    outer, wide = max(left, -right), left - right
    by_height, by_width, strays = height / tall, width / wide, SIZES.width_strays
    if outer * by_width > width:
        by_width, strays = (width + length * outer) / wide - length, SIZES.flank_strays
    elif not SIZES.aspect[0] < wide / tall < SIZES.aspect[1]:
        return None
    if by_width <= 0 or abs(math.log(by_width / by_height)) > SIZES.disagree:
        return None
    a, b = strays**-2, SIZES.height_strays**-2
    distance = math.exp((a * math.log(by_width) + b * math.log(by_height)) / (a + b))
    return distance, (a + b) ** -0.5


# --- lane lines ---


@dataclass(frozen=True)
class LaneReading:
    """What lane lines say of a frame's camera; where they say nothing, ``reason`` tells why and the rest is None.

    Attributes:
        pitch_deg: > 0 looks down. yaw_deg: > 0 looks to the left of the road's direction at the car; None where the
            road bends. lane_ratio: width of the own lane in camera heights; None where only one of its lines is seen.
        pitch_error_deg: standard error. lines: how many agree. confidence: 0..1.
    """

    pitch_deg: float | None = None
    yaw_deg: float | None = None
    lane_ratio: float | None = None
    pitch_error_deg: float = 0.0
    lines: int = 0
    confidence: float = 0.0
    reason: str = ""

    @property
    def height_m(self) -> float | None:
        """At which the own lane measures :data:`LANE_M`."""
        return None if self.lane_ratio is None else LANE_M / self.lane_ratio

    @property
    def sure(self) -> bool:
        return self.pitch_deg is not None and self.confidence >= CAMERA.sure


def read_lane_lines(drivable: Mask, lanes: Mask, camera: Camera) -> LaneReading:
    """What the lane lines of one frame say of its camera.

    Args:
        drivable, lanes: (h, w) masks of the whole frame, at any size. camera: lens and stated mounting; its roll is
            believed.
    """
    height, width = lanes.shape
    grid = resized(camera, width, height)
    chains = lane_chains(lanes)
    if len(chains) < 2:
        return LaneReading(reason=f"{len(chains)} lane lines seen, two are needed")
    rays, valid = unproject(grid, np.vstack(chains))
    ends = np.cumsum([len(chain) for chain in chains])[:-1]
    lines = [ray[ok] for ray, ok in zip(np.split(rays, ends), np.split(valid, ends), strict=True)]
    (above, below), _ = unproject(grid, [(grid.cx, grid.cy - 0.5), (grid.cx, grid.cy + 0.5)])
    pixel = float(np.linalg.norm(below - above))
    pitch, yaw, roll = angles(camera)
    fit = None
    for _ in range(_ROUNDS):  # levelled by what the rounds before found
        fit = fit_lane_horizon(_levelled(lines, np.array(mounted(1.0, pitch, yaw, roll))[:3, :3]), pixel)
        if fit is None:
            break
        pitch, yaw = pitch - math.atan(fit.b0), yaw + math.atan(fit.a0)
        if max(abs(fit.b0), abs(fit.a0)) < 1e-4:
            break
    if fit is None:
        return LaneReading(reason="no two lane lines run side by side")
    aimed = turned(camera, pitch, yaw)
    row = horizon_rows(aimed, [aimed.cx])[0]
    if not math.isfinite(row):
        return LaneReading(reason="the lane lines meet outside the lens's field")
    bent = 2 * max(abs(fit.bend) - 2 * fit.bend_error, 0.0) / float(centre(camera)[2])
    straight = bent < LANE_LINES.straight and math.degrees(fit.a0_error) < LANE_LINES.sure_yaw_deg
    return LaneReading(
        pitch_deg=math.degrees(pitch),
        yaw_deg=math.degrees(yaw) if straight else None,
        lane_ratio=_own_lane(fit),
        pitch_error_deg=math.degrees(fit.b0_error),
        lines=len(fit.offsets),
        confidence=_confidence(fit, pixel, drivable, (row + 0.5) * height / camera.height),
    )


def _levelled(lines: list[Array], level: Array) -> list[Array]:
    """Each line's tangents to the right of and below the direction x of ``level``, of rays (N, 3)."""
    rotated = [line @ level for line in lines]
    rotated = [line[line[:, 0] > _LEAST_AHEAD] for line in rotated]
    return [-line[:, 1:] / line[:, :1] for line in rotated if len(line) > 5]


def _own_lane(fit: LaneHorizon) -> float | None:
    """Width of the lane that the camera is in, in camera heights."""
    left = [x for x in fit.offsets if x < 0]
    right = [x for x in fit.offsets if x >= 0]
    ratio = right[0] - left[-1] if left and right else 0.0
    return ratio if LANE_LINES.lane_ratio[0] <= ratio <= LANE_LINES.lane_ratio[1] else None


def _confidence(fit: LaneHorizon, pixel: float, drivable: Mask, row: float) -> float:
    sharp = 1 / (1 + (math.degrees(fit.b0_error) / LANE_LINES.half_error_deg) ** 2)
    long = 1 / (1 + (LANE_LINES.half_rows / max(fit.rows / pixel / len(drivable), 1e-6)) ** 2)
    agree = float(np.clip(np.interp(fit.share, LANE_LINES.agree, (0, 1)), 0, 1))
    above = drivable[: max(0, round(row - LANE_LINES.above * len(drivable)))].sum() / max(
        int(drivable.sum()), 1
    )
    backed = 1.0 if len(fit.offsets) > 2 else LANE_LINES.only_two
    return sharp * long * agree * backed * (LANE_LINES.road_above if above > LANE_LINES.above else 1.0)


def typical(readings: Sequence[LaneReading]) -> LaneReading:
    """The median of one camera's frames from anywhere in a drive: its mounting, without the road's ups and downs."""
    clear = [r for r in readings if r.pitch_deg is not None and r.confidence > 0]
    if not clear:
        reasons = [r.reason for r in readings if r.reason]
        return LaneReading(reason=reasons[-1] if reasons else "nothing sure seen" if readings else "no frame")
    weights = [r.confidence / (CAMERA.floor_deg**2 + r.pitch_error_deg**2) for r in clear]
    pitches = np.array([r.pitch_deg for r in clear])
    spread = float(np.median(np.abs(pitches - np.median(pitches)))) / math.sqrt(len(clear))
    pitch = _median([r.pitch_deg for r in clear], weights)
    return replace(
        next(r for r in clear if r.pitch_deg == pitch),
        yaw_deg=_median([r.yaw_deg for r in clear], weights),
        lane_ratio=_median([r.lane_ratio for r in clear], weights),
        confidence=float(np.median([r.confidence for r in clear]))
        / (1 + (spread / CAMERA.half_spread_deg) ** 2),
    )


def _median(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """The value that half of the weight is below; None of none."""
    pairs = sorted((v, w) for v, w in zip(values, weights, strict=True) if v is not None)
    if not pairs:
        return None
    reached = np.cumsum([weight for _, weight in pairs])
    return pairs[int(np.searchsorted(reached, reached[-1] / 2))][0]


def turned(camera: Camera, pitch: float, yaw: float) -> Camera:
    """The camera at its place with another pitch and yaw, rad, and its own roll."""
    rot = np.array(mounted(1.0, pitch, yaw, angles(camera)[2]))[:3, :3]
    return camera.model_copy(update={"T_cam_ego": as_matrix(rot, -rot @ centre(camera))})


# --- the fit ---


@dataclass(frozen=True)
class Clue:
    """What something tells of a camera.

    Attributes:
        of: "pitch", rad, > 0 looks down, or "height", m. value, error: in these units; the standard error.
        by: who tells it. astray: how probable it is that it tells nothing of the camera.
    """

    of: Literal["pitch", "height"]
    value: float
    error: float
    by: str = ""
    astray: float = 0.0


@dataclass(frozen=True, eq=False)
class CameraFit:
    """What all clues say together.

    Attributes:
        pitch: rad, > 0 looks down. height: m. spread: (2, 2) covariance of both.
        count: how many things of known size count. by: who tells most of the pitch, and of the height.
    """

    pitch: float
    height: float
    spread: Array
    count: int
    by: tuple[str, str]

    @property
    def errors(self) -> tuple[float, float]:
        """Standard errors of pitch, rad, and height, m."""
        return math.sqrt(self.spread[0, 0]), math.sqrt(self.spread[1, 1])

    def less_sure(self, share: float) -> "CameraFit":
        """With a height that may be off by that share more."""
        extra = np.array([[0.0, 0.0], [0.0, (share * self.height) ** 2]])
        return replace(self, spread=self.spread + extra)

    def scale_error(self, distance: float) -> float:
        """Relative standard error of the size of what is drawn ``distance`` m away."""
        way = np.array([distance / self.height, -1 / self.height])
        return math.sqrt(float(way @ self.spread @ way))


def fit_camera(
    camera: Camera, frames: Iterable[tuple[Sequence[Thing], float]], clues: Sequence[Clue]
) -> CameraFit:
    """Pitch and height by ``clues`` and by the sizes of the things of each frame.

    Args:
        camera: lens, and the pitch that the angles of things are reckoned from.
        frames: things of each, and how far the ground under them may tilt against that under the camera, rad.
        clues: the first of the pitch and the first of the height say what is usual, and are never astray.
    """
    stated = angles(camera)[0]
    usual = {clue.of: clue for clue in reversed(clues)}
    few = usual["height"].error < _KNOWN * usual["height"].value
    pitch = _grid(usual["pitch"], _PITCHES, -math.inf)[:, None]
    height = _grid(usual["height"], 3 if few else _HEIGHTS, 0.3)[None]
    logs = {clue.by: np.zeros(np.broadcast_shapes(pitch.shape, height.shape)) for clue in clues}
    count = 0
    for things, tilt in frames:
        for sight in sights(camera, things, pitch_known=False):
            below = height / sight.distance_m
            error = np.hypot(math.hypot(sight.strays, CAMERA.size_strays) * below, tilt)
            likely = _log(sight.below - stated + pitch - below, error, CAMERA.size_astray)
            logs["sizes"] = logs.get("sizes", 0.0) + likely
            count += 1
    for clue in clues:
        off = (pitch if clue.of == "pitch" else height) - clue.value
        logs[clue.by] = logs[clue.by] + _log(off, clue.error, clue.astray)
    chance = _chances(logs.values())
    middle = np.array([float((chance * pitch).sum()), float((chance * height).sum())])
    off = np.stack(np.broadcast_arrays(pitch - middle[0], height - middle[1]))
    spread = np.einsum("iab,jab,ab->ij", off, off, chance)
    by = (_main(logs, pitch, usual["pitch"].by), _main(logs, height, usual["height"].by))
    return CameraFit(float(middle[0]), float(middle[1]), spread, count, by)


def _grid(usual: Clue, points: int, lowest: float) -> Array:
    """Values to either side of the usual one, none below ``least``."""
    reach = min(CAMERA.reach * usual.error, usual.value - lowest)
    return usual.value + reach * np.linspace(-1, 1, points)


def _log(off: Array, error: Array | float, astray: float) -> Array:
    """Log likelihood, but for a constant, of what is off by so much: normal, or astray and then far wider."""
    square = (off / error) ** 2
    wide = astray / CAMERA.far_off * np.exp(-square / (2 * CAMERA.far_off**2))
    return np.asarray(np.log((1 - astray) * np.exp(-square / 2) + wide + 1e-300) - np.log(error))


def _chances(logs: Iterable[Array]) -> Array:
    log = np.sum([*logs], axis=0)
    chance = np.exp(log - log.max())
    return np.asarray(chance / chance.sum())


def _main(logs: dict[str, Array], of: Array, usual: str) -> str:
    """Without whom a value (P, 1) or (1, H) would be known far worse than with all; who tells what is usual where that
    is nobody."""

    def variance(without: str) -> float:
        chance = _chances(log for by, log in logs.items() if by != without)
        return float((chance * of**2).sum() - (chance * of).sum() ** 2)

    worst = {by: variance(by) for by in logs if by != usual}
    bound = CAMERA.decides * variance("-")
    return max((by for by in worst if worst[by] > bound), key=lambda by: worst[by], default=usual)


# --- how far a camera that nobody calibrated may be wrong, as a scene keeps it ---

#: The key of a scene's extra values under which it tells where its camera comes from, those of the doubts in it, of the
#: perceiver that looked when the scene was imported, and of whether that one looked for vehicles and people.
TOLD, DOUBTS, SEEN_BY, THINGS_SOUGHT = "camera_from", "doubts", "seen_by", "things_sought"
#: Those of what its frames say of the camera and no road vehicle's has, and of how far apart heights are that two of
#: its witnesses tell, in words.
UNBELIEVED, APART = "unbelieved", "heights_apart"
#: What a value of a camera comes from that nobody gave and nothing shows; and what begins every refusal for it.
GUESS, GUESSED = "guess", "the camera is a guess"
_ADVICE = "import again with --options horizon_row=... --options camera_height_m=..."
_SEES_MORE = (
    ", or with --perception twinlitenet ('cfgen models get' brings it), which sees more to measure by"
)


def doubts(fit: CameraFit) -> dict[str, Any]:
    """What a scene keeps of them, as JSON values: standard errors, and how they go together."""
    pitch, height = fit.errors
    return {
        DOUBTS: {
            "pitch_deg": round(math.degrees(pitch), 3),
            "height": round(height / fit.height, 3),
            "correlation": round(float(fit.spread[0, 1]) / (pitch * height), 3),
            "camera_height_m": round(fit.height, 3),
        }
    }


def scale_error(provenance: Any, distance: float) -> float:
    """Relative standard error of the size of what is drawn ``distance`` m away, by what a scene tells of its camera;
    0 where it tells of no doubt."""
    a, b, c = _parabola(provenance)
    return math.sqrt(max(a * distance**2 + 2 * b * distance + c, 0.0))


def sure_to_m(extra: Mapping[str, Any]) -> float:
    """Up to which distance, m, a scene's camera draws things in their size; infinite where nobody doubts it.

    Args:
        extra: of the scene.
    """
    a, b, c = _parabola(extra.get(TOLD))
    inside = b * b - a * (c - CAMERA.most_error**2)
    if a <= 0:
        return math.inf
    return (-b + math.sqrt(inside)) / a if inside >= 0 else 0.0


def _parabola(provenance: Any) -> tuple[float, float, float]:
    """a, b, c: the square of the relative error at d m is a d^2 + 2 b d + c."""
    errors = provenance.get(DOUBTS) if isinstance(provenance, Mapping) else None
    if not isinstance(errors, Mapping):
        return 0.0, 0.0, 0.0
    pitch = math.radians(errors["pitch_deg"]) / errors["camera_height_m"]
    return pitch**2, -errors["correlation"] * pitch * errors["height"], errors["height"] ** 2


def why_unsure(extra: Mapping[str, Any]) -> str:
    """What speaks against drawing anything by a scene's camera, and what to do; "" where nothing does."""
    provenance = extra.get(TOLD)
    if not isinstance(provenance, Mapping):
        return ""
    if isinstance(wrong := provenance.get(UNBELIEVED), str):
        return f"{GUESSED}: {wrong}; {_ADVICE} --options yaw_deg=..."
    if (error := scale_error(provenance, CAMERA.near_m)) <= CAMERA.most_error:
        return ""
    disagreement = f"; {provenance[APART]}" if isinstance(provenance.get(APART), str) else ""
    advised = provenance.get(SEEN_BY) == "twinlitenet" and provenance.get(THINGS_SOUGHT) is True
    return (
        f"{GUESSED}: what is drawn {CAMERA.near_m:g} m away may be off by {error:.0%} in size (at most "
        f"{CAMERA.most_error:.0%}{disagreement}); {_ADVICE}{'' if advised else _SEES_MORE}"
    )


def in_doubt(provenance: Mapping[str, Any]) -> list[str]:
    """How sure the scale is, in words for the user; none where nobody doubts it."""
    if not isinstance(provenance.get(DOUBTS), Mapping):
        return []
    by = provenance.get("from")
    if isinstance(by, Mapping) and by.get("horizon_row") == by.get("camera_height_m") == "given":
        return ["sizes are as right as what is given"]
    return [f"sizes {d:g} m away good to {scale_error(provenance, d):.0%}" for d in (CAMERA.near_m, 30.0)]
