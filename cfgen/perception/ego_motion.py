"""How fast a car drove and turned, from the pictures of its camera alone.

The turn comes from points followed from frame to frame. A point at (1, a, b) per metre ahead (left, up) of a car that
drives straight on moves along the line from the point where it drives to, whatever its distance. What moves across that
line was turned: linear in roll, pitch and yaw. The speed comes from the road: seen from above, the second frame is the
first one moved back by the distance driven. How well each distance fits is measured, and the speeds that fit best over
the whole drive, without leaps, are taken. Metres come from the camera's height, so that speeds are off by as much.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from cfgen.geometry.camera import as_matrix, centre, project, resized, rotation, unproject
from cfgen.records import Camera

Array = NDArray[np.float64]
#: Points that are followed, px apart; fewer than the last say nothing.
_POINTS, _APART, _FEWEST = 600, 7, 15
#: A point that does not come back within so many px when followed backwards was lost.
_BACK_PX = 1.0
_STEPS = 15
#: Standard errors beforehand: of roll, rad between two frames; of where the car drives to beside and above the stated
#: direction, as slopes.
_ROLL, _BESIDE, _ABOVE = 0.05, 0.003, 0.015


class FrameRotation(NamedTuple):
    """``angles`` (3,): roll, pitch, yaw between two frames, rad. ``above``: slope at which the car drives above the
    stated camera's horizon."""

    angles: Array
    above: float


def followed(camera: Camera, first: NDArray[np.uint8], second: NDArray[np.uint8]) -> Array | None:
    """Slopes (left, up) of points in two grey frames (H, W) of ``camera``: (N, 4), or None where too few are found."""
    p = cv2.goodFeaturesToTrack(first, _POINTS, 0.01, _APART)
    if p is None or len(p) < _FEWEST:
        return None
    points = np.asarray(p, np.float32).reshape(-1, 2)
    q, returned = there_and_back(first, second, points, 21, 4)
    slopes, forward = zip(*(_slopes(camera, v[returned].astype(float)) for v in (points, q)), strict=True)
    slopes_of_both: Array = np.hstack(slopes)[forward[0] & forward[1]]
    return slopes_of_both if len(slopes_of_both) >= _FEWEST else None


def there_and_back(
    first: NDArray[np.uint8],
    second: NDArray[np.uint8],
    points: NDArray[np.float32],
    side: int,
    levels: int,
    guess: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Where points (N, 2) px of one grey frame (H, W) are in another, and which come back (N,).

    Args:
        side: of the window by which they are followed, px. levels: halvings of the frames on which that begins.
        guess: (N, 2) px of where they are expected; None: where they were.
    """
    window: dict[str, Any] = {"winSize": (side, side), "maxLevel": levels}
    aim: Any = None
    start: Any = None
    if guess is not None:
        window["flags"], aim, start = cv2.OPTFLOW_USE_INITIAL_FLOW, guess.copy(), points.copy()
    moved, forward_ok, _ = cv2.calcOpticalFlowPyrLK(first, second, points, aim, **window)
    back, again, _ = cv2.calcOpticalFlowPyrLK(second, first, moved, start, **window)
    near = np.hypot(*(np.asarray(back) - points).T) < _BACK_PX
    consistent: NDArray[np.bool_] = (
        (np.asarray(forward_ok).ravel() > 0) & (np.asarray(again).ravel() > 0) & near
    )
    return np.asarray(moved, np.float32), consistent


def grey(image: NDArray[np.uint8], widest: int) -> NDArray[np.uint8]:
    """A frame (H, W, 3) RGB as (h, w) grey, at most ``widest`` px wide."""
    plane = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
    height, width = plane.shape
    if width > widest:
        plane = cv2.resize(plane, (widest, round(height * widest / width)), interpolation=cv2.INTER_AREA)
    return np.asarray(plane, np.uint8)


def _slopes(camera: Camera, px: Array) -> tuple[Array, NDArray[np.bool_]]:
    rays, valid = unproject(camera, px)
    directions = rays @ rotation(camera)
    with np.errstate(all="ignore"):
        valid = valid & (directions[:, 0] > 0.05)
        return directions[:, 1:] / directions[:, :1], valid


def turn_of(points: Array, above: float = 0.0, seek: bool = False) -> FrameRotation:
    """The turn that fits the most points best.

    Args:
        points: as :func:`followed` gives them. above: where the car drives to, as a slope; with ``seek`` that is
            looked for, about 0.
    """
    mid = (points[:, :2] + points[:, 2:]) / 2
    a, b = mid[:, 0], mid[:, 1] - above
    da, db = (points[:, 2:] - points[:, :2]).T
    far = np.hypot(a, b) + 1e-6
    across = (da * b - db * a) / far
    prior = [_ROLL**-2, 1e-6, 1e-6, _BESIDE**-2, _ABOVE**-2]
    x, weight = np.zeros(5), np.ones(len(a))
    for step in range(_STEPS):
        roll, pitch, yaw = x[:3]
        out = (da + yaw * (1 + a * a) - roll * b - pitch * a * b) * a
        out += (db + roll * a - pitch * (1 + b * b) + yaw * a * b) * b
        nearer = np.clip(out / far**2, 0, 0.5)  # distance driven by distance of the point
        rows = np.column_stack([far, -a / far, -b / far, -nearer * b / far, nearer * a / far])
        rows = rows if seek else rows[:, :3]
        count = rows.shape[1]
        residual = across - rows @ x[:count]
        error = max(1.4826 * float(np.median(np.abs(residual))), 3e-5) if step else 1e-3
        if step:
            weight = 1 / (1 + (residual / (2 * error)) ** 2)
        normal = (rows * weight[:, None]).T @ rows / error**2 + np.diag(prior[:count])
        x = np.zeros(5)
        x[:count] = np.linalg.solve(normal, (rows * weight[:, None]).T @ across / error**2)
    return FrameRotation(x[:3], float(x[4]))


# --- speeds and turns of a drive ---

Grey = NDArray[np.uint8]
#: Below this fit of the road, 0..1, a speed is a guess; chosen on half a drive, see docs/scenes.md.
SURE = 0.2
#: s between frames that are compared, where there are so many
GAP_S = 0.1
_WIDTH = 640
#: Frames are worked on so many at once.
_CHUNK = 100
#: Where a car drives to is the median over so many s to either side.
_AROUND_S = 0.5
#: The road from its nearest visible metre on: m ahead, m to either side, m a cell, and strips that count alike.
_NEAREST, _FARTHEST_NEAR, _AHEAD, _HALF, _CELL, _STRIPS = 6.0, 25.0, 24.0, 3.0, 0.1, 6
#: Of that, so much has to be in both frames.
_SHARED = 4.0
#: Speeds that are weighed, m/s, a change that is nothing odd, m/s^2, and what a whole fit is worth against it.
_SPEEDS: Array = np.arange(0, 45.01, 0.25)
_USUAL_CHANGE, _WORTH = 4.0, 60.0
#: Fits are mean over so many s.
_SMOOTH_S = 2.0
#: A car stands while half of the points move less than so many px of a picture that is 640 wide at most.
_STILL_PX = 0.5
#: Below so many m/s a peak is that of standing when nought fits so much as well.
_CREEPS, _ALIKE = 2.0, 0.7
#: A speed is told apart from one so many times as fast, or slow, and more m/s off; it has to fit so much better.
_APART_ego_motion, _APART_MPS, _BETTER = 1.25, 2.0, 0.3


@dataclass(frozen=True)
class EgoMotion:
    """All (T,): s, m/s, rad/s (> 0 turns left), and how well the road bears the speed out, 0..1."""

    t: Array
    v: Array
    yaw_rate: Array
    fit: Array


@dataclass
class _Pairs:
    """What pairs of neighbouring frames tell."""

    steps: list[float] = field(default_factory=list)
    fits: list[Array] = field(default_factory=list)
    yaws: list[float] = field(default_factory=list)


def ego_motion(camera: Camera, frames: Iterable[tuple[float, NDArray[np.uint8]]]) -> EgoMotion | None:
    """Speeds and yaw rates at the times of the frames; None of fewer than three.

    Args:
        frames: times (s, increasing) and front images (H, W, 3) uint8 RGB, about :data:`GAP_S` apart.
    """
    pairs = _Pairs()
    times: list[float] = []
    for chunk in _chunks(frames):
        small = resized(camera, chunk[0][1].shape[1], chunk[0][1].shape[0])
        _look(small, chunk, pairs)
        times += [t for t, _ in chunk][bool(times) :]
    if len(times) < 3:
        return None
    speeds = _smoothest(np.array(pairs.fits), np.array(pairs.steps))
    t, middle = np.array(times), (np.array(times)[1:] + np.array(times)[:-1]) / 2
    width = max(1, round(_SMOOTH_S / float(np.median(pairs.steps))))
    borne_out = _borne_out(np.array(pairs.fits), speeds, width)
    smooth = _averaged(speeds, max(1, width // 4))
    rates = np.where(smooth < 0.3, 0.0, np.array(pairs.yaws))
    return EgoMotion(
        t, *(np.interp(t, middle, values) for values in (smooth, rates, np.clip(borne_out, 0.0, 1.0)))
    )


def _borne_out(fits: Array, speeds: Array, width: int) -> Array:
    """How well (T,) the speeds fit, on the mean over ``width`` pairs; less where another speed fits nearly as well."""
    factors = np.clip(
        np.arange(len(_SPEEDS))[None, :] * _SPEEDS[1] / np.maximum(speeds, 1e-6)[:, None], 1e-6, 1e6
    )
    rivals = (np.abs(np.log(factors)) > np.log(_APART_ego_motion)) & (
        np.abs(_SPEEDS - speeds[:, None]) > _APART_MPS
    )
    own = np.array([np.interp(v, _SPEEDS, each) for v, each in zip(speeds, fits, strict=True)])
    fit = _averaged(own, width)
    mean = np.column_stack([_averaged(column, width) for column in fits.T])
    rival = np.where(rivals, mean, -1.0).max(axis=1)
    lead = (fit - np.maximum(rival, 0.0)) / (_BETTER * np.maximum(fit, 1e-6))
    return fit * np.clip(lead, 0.0, 1.0)


def _averaged(values: Array, width: int) -> Array:
    padded = np.pad(values, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.ones(width) / width, "valid")


def _chunks(frames: Iterable[tuple[float, NDArray[np.uint8]]]) -> Iterator[list[tuple[float, Grey]]]:
    """Grey frames; each chunk begins with the last frame of the one before."""
    chunk: list[tuple[float, Grey]] = []
    for t, image in frames:
        chunk.append((t, grey(image, _WIDTH)))
        if len(chunk) > _CHUNK:
            yield chunk
            chunk = chunk[-1:]
    if len(chunk) > 1:
        yield chunk


def _look(camera: Camera, chunk: list[tuple[float, Grey]], pairs: _Pairs) -> None:
    points = [followed(camera, first, second) for (_, first), (_, second) in pairwise(chunk)]
    middles = np.array([(s + t) / 2 for (s, _), (t, _) in pairwise(chunk)])
    sought = [None if p is None else turn_of(p, seek=True).above for p in points]
    has_heading = np.array([value is not None for value in sought])
    values = np.array([0.0 if value is None else value for value in sought])
    for i, ((s, first), (t, second)) in enumerate(pairwise(chunk)):
        near = has_heading & (np.abs(middles - middles[i]) <= _AROUND_S + 1e-6)
        above = float(np.median(values[near])) if near.any() else 0.0
        flow = points[i]
        turned = np.zeros(3) if flow is None else turn_of(flow, above).angles
        pairs.steps.append(t - s)
        pairs.yaws.append(float(turned[2]) / (t - s))
        fits = _fits(_heading(camera, above), first, second, turned, t - s)
        pairs.fits.append(fits if _still(camera, flow) else _without_standing(fits))


def _still(camera: Camera, points: Array | None) -> bool:
    """Whether most of what is seen stays where it is; a picture without points does not tell."""
    if points is None:
        return False
    moved = points[:, 2:] - points[:, :2]
    moved = np.hypot(*(moved - np.median(moved, axis=0)).T)
    middle = camera.width / 2
    rays = unproject(camera, [[middle, camera.height / 2], [middle + 1, camera.height / 2]])[0]
    return float(np.median(moved)) < _STILL_PX * float(np.linalg.norm(rays[1] - rays[0]))


def _without_standing(fits: Array) -> Array:
    """The car moves: what fits best at nought, and less and less above, is the own hood, the sky or compression."""
    top = int(fits[_SPEEDS < _CREEPS].argmax())
    if fits[0] < _ALIKE * fits[top]:
        top = 0  # it creeps
    rises = np.flatnonzero(np.diff(fits[top:]) > 0)
    end = top + int(rises[0]) if len(rises) else len(fits)
    return np.where(np.arange(len(fits)) < end, -1.0, fits)


def _heading(camera: Camera, above: float) -> Camera:
    """The camera in a frame whose x axis points where the car drives to."""
    forward = np.array([1.0, 0.0, above]) / np.hypot(1.0, above)
    left = np.array([0.0, 1.0, 0.0])
    rot = rotation(camera) @ np.column_stack([forward, left, np.cross(forward, left)])
    place = np.array([0.0, 0.0, centre(camera)[2]])
    return camera.model_copy(update={"T_cam_ego": as_matrix(rot, -rot @ place)})


def _fits(camera: Camera, earlier: Grey, second: Grey, turned: Array, step: float) -> Array:
    """How well each of the speeds fits two frames ``step`` s apart, -1..1."""
    nothing = np.zeros(len(_SPEEDS))
    first = _nearest(camera)
    if first is None:
        return nothing
    longest = min(float(_SPEEDS[-1]) * step, _AHEAD - _SHARED)
    x = np.arange(first, first + _AHEAD, _CELL)
    y = np.linspace(-_HALF, _HALF, round(2 * _HALF / _CELL) + 1)
    before, seen_before = _from_above(camera, earlier, x, y, np.zeros(3))
    after, seen_after = _from_above(camera, second, x, y, turned)
    starts = np.linspace(0, len(y), _STRIPS + 1).astype(int)[:-1]
    curve = []
    for shift in range(round(longest / _CELL) + 1):
        shared = seen_before[shift:] * seen_after[: len(x) - shift]
        p, q = before[shift:] * shared, after[: len(x) - shift] * shared
        pq, pp, qq = (np.add.reduceat(v.sum(axis=0), starts) for v in (p * q, p * p, q * q))
        curve.append(float(np.mean(pq / np.sqrt(pp * qq + 1e-3))))
    return np.interp(_SPEEDS, np.arange(len(curve)) * _CELL / step, curve, right=-1.0)


def _nearest(camera: Camera) -> float | None:
    """m ahead from which on the road is in the frame; None where it is not."""
    x = np.arange(_NEAREST, _FARTHEST_NEAR, 0.5)
    px, valid = project(camera, np.column_stack([x, np.zeros_like(x), np.zeros_like(x)]))
    with np.errstate(invalid="ignore"):
        in_frame = valid & (px[:, 1] <= camera.height - 1) & (px[:, 0] >= 0) & (px[:, 0] <= camera.width - 1)
    return float(x[in_frame.argmax()]) if in_frame.any() else None


def _from_above(camera: Camera, image: Grey, x: Array, y: Array, turned: Array) -> tuple[Array, Array]:
    """What stands out along the road, (X, Y), and whether each cell is in the frame; of a car turned since."""
    ahead, left = np.meshgrid(x, y, indexing="ij")
    ground = np.column_stack([ahead.ravel(), left.ravel(), np.zeros(ahead.size)]) - centre(camera)
    px, valid = project(camera, ground @ cv2.Rodrigues(turned)[0] + centre(camera))
    at = np.where(valid[:, None], px, -10).astype(np.float32).reshape(len(x), len(y), 2)
    light = cv2.remap(image, at[..., 0], at[..., 1], cv2.INTER_LINEAR).astype(float)
    u, v = at[..., 0], at[..., 1]
    in_frame = ((u >= 0) & (u <= camera.width - 1) & (v >= 0) & (v <= camera.height - 1)).astype(float)
    size = (1, round(2 / _CELL) + 1)
    usual = cv2.blur(light * in_frame, size) / (cv2.blur(in_frame, size) + 1e-3)
    out = (light - usual) * in_frame
    return np.clip(out / (out.std() + 1e-3), -2.5, 2.5), in_frame


def _smoothest(fits: Array, steps: Array) -> Array:
    """The speeds (T,) that fit best in all, where changes cost the more the harder they are (Viterbi)."""
    change = _SPEEDS[:, None] - _SPEEDS[None, :]
    total, came_from = -_WORTH * fits[0], []
    for i in range(1, len(fits)):
        each = total[None, :] + (change / (_USUAL_CHANGE * steps[i])) ** 2
        came_from.append(each.argmin(axis=1))
        total = each[np.arange(len(_SPEEDS)), came_from[-1]] - _WORTH * fits[i]
    chosen = [int(total.argmin())]
    for best in reversed(came_from):
        chosen.append(int(best[chosen[-1]]))
    return _SPEEDS[chosen[::-1]]
