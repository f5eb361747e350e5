"""How the car turned between two frames, and which way it went, from points that both show.

A point at (1, a, b) per metre ahead (left, up) of a car that drives straight on moves along the line from the point
where it drives to, whatever its distance. What moves across that line was turned: linear in roll, pitch and yaw.
"""

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from cfgen.geometry.camera import rotation, unproject
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


class Turn(NamedTuple):
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
    q, kept = there_and_back(first, second, points, 21, 4)
    slopes, ahead = zip(*(_slopes(camera, v[kept].astype(float)) for v in (points, q)), strict=True)
    found: Array = np.hstack(slopes)[ahead[0] & ahead[1]]
    return found if len(found) >= _FEWEST else None


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
    begun: Any = None
    if guess is not None:
        window["flags"], aim, begun = cv2.OPTFLOW_USE_INITIAL_FLOW, guess.copy(), points.copy()
    found, there, _ = cv2.calcOpticalFlowPyrLK(first, second, points, aim, **window)
    back, again, _ = cv2.calcOpticalFlowPyrLK(second, first, found, begun, **window)
    near = np.hypot(*(np.asarray(back) - points).T) < _BACK_PX
    kept: NDArray[np.bool_] = (np.asarray(there).ravel() > 0) & (np.asarray(again).ravel() > 0) & near
    return np.asarray(found, np.float32), kept


def grey(image: NDArray[np.uint8], widest: int) -> NDArray[np.uint8]:
    """A frame (H, W, 3) RGB as (h, w) grey, at most ``widest`` px wide."""
    made = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
    height, width = made.shape
    if width > widest:
        made = cv2.resize(made, (widest, round(height * widest / width)), interpolation=cv2.INTER_AREA)
    return np.asarray(made, np.uint8)


def _slopes(camera: Camera, px: Array) -> tuple[Array, NDArray[np.bool_]]:
    rays, valid = unproject(camera, px)
    ahead = rays @ rotation(camera)
    with np.errstate(all="ignore"):
        valid = valid & (ahead[:, 0] > 0.05)
        return ahead[:, 1:] / ahead[:, :1], valid


def turn_of(points: Array, above: float = 0.0, seek: bool = False) -> Turn:
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
        left = across - rows @ x[:count]
        error = max(1.4826 * float(np.median(np.abs(left))), 3e-5) if step else 1e-3
        if step:
            weight = 1 / (1 + (left / (2 * error)) ** 2)
        normal = (rows * weight[:, None]).T @ rows / error**2 + np.diag(prior[:count])
        x = np.zeros(5)
        x[:count] = np.linalg.solve(normal, (rows * weight[:, None]).T @ across / error**2)
    return Turn(x[:3], float(x[4]))
