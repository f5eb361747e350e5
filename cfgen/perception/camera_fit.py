"""A camera's pitch and height by all that tells of them, each as far as it can be trusted.

Each real thing of known size gives one line: the angle of its foot below the stated horizon, plus how far the camera
looks further down than stated, is height / distance. Lane lines, the far end of the road and what is usual of cameras
give further ones. Each may be astray altogether, with a probability of its own. Their product over a grid of pitches
and heights gives both, and how far a thing that is drawn by them may be off in size: on the ground that a pixel shows,
that is the error of (angle below the horizon) / height, whatever the lens.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from cfgen.geometry.camera import angles
from cfgen.geometry.lens import Array
from cfgen.perception.vehicle_sizes import sights
from cfgen.perception.view import Thing
from cfgen.records import Camera

#: How far a sight's size may stray beyond its own error, relative: cars differ. How often it is no car or person that
#: stands on the road.
_STRAYS, _ASTRAY = 0.12, 0.2
#: What is astray is off by so many times its error.
_FAR_OFF = 8.0
#: Points of the grid along either way, and how many errors of what is usual it reaches.
_PITCHES, _HEIGHTS, _REACH = 301, 61, 3.5
#: Who tells a value leaves its variance so many times as large when left out.
_LESS = 1.15
#: Least height, m; and from which relative error on it is known, and needs no grid.
_LOWEST, _KNOWN = 0.3, 0.02


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
    def pitch_error(self) -> float:
        """Standard error, rad."""
        return math.sqrt(self.spread[0, 0])

    @property
    def height_error(self) -> float:
        """Standard error, m."""
        return math.sqrt(self.spread[1, 1])

    def doubted(self, share: float) -> Self:
        """With a height that may be off by that share more."""
        more = np.array([[0.0, 0.0], [0.0, (share * self.height) ** 2]])
        return replace(self, spread=self.spread + more)

    def scale_error(self, distance: float) -> float:
        """Relative standard error of the size of what is drawn ``distance`` m away."""
        way = np.array([distance / self.height, -1 / self.height])
        return math.sqrt(float(way @ self.spread @ way))


def fit_camera(
    camera: Camera, things: Iterable[Sequence[Thing]], clues: Sequence[Clue], tilt: float = 0.0
) -> CameraFit:
    """Pitch and height by ``clues`` and by the sizes of the ``things`` of each frame.

    Args:
        camera: lens, and the pitch that the angles of things are reckoned from.
        clues: the first of the pitch and the first of the height say what is usual, and are never astray.
        tilt: how far the ground under things may tilt against that under the camera, rad; 0 takes it for a part of the
            pitch.
    """
    stated = angles(camera)[0]
    usual = {clue.of: clue for clue in reversed(clues)}
    known = usual["height"].error < _KNOWN * usual["height"].value
    pitches = _grid(usual["pitch"], _PITCHES, -math.inf)
    heights = _grid(usual["height"], 3 if known else _HEIGHTS, _LOWEST)
    pitch, height = pitches[:, None], heights[None]
    seen = [sight for shown in things for sight in sights(camera, shown, pitch_known=False)]
    told = {clue.by: np.zeros((len(pitches), len(heights))) for clue in clues}
    for one in seen:
        below = height / one.distance_m
        error = np.hypot(math.hypot(one.strays, _STRAYS) * below, tilt)
        told["sizes"] = told.get("sizes", 0.0) + _log(one.below - stated + pitch - below, error, _ASTRAY)
    for clue in clues:
        off = (pitch if clue.of == "pitch" else height) - clue.value
        told[clue.by] = told[clue.by] + _log(off, clue.error, clue.astray)
    chance = _chances(told.values())
    middle = np.array([float((chance * pitch).sum()), float((chance * height).sum())])
    off = np.stack(np.broadcast_arrays(pitch - middle[0], height - middle[1]))
    spread = np.einsum("iab,jab,ab->ij", off, off, chance)
    by = (_main(told, pitch, usual["pitch"].by), _main(told, height, usual["height"].by))
    return CameraFit(float(middle[0]), float(middle[1]), spread, len(seen), by)


def _grid(usual: Clue, points: int, least: float) -> Array:
    """Values to either side of the usual one, none below ``least``."""
    reach = min(_REACH * usual.error, usual.value - least)
    return usual.value + reach * np.linspace(-1, 1, points)


def _log(off: Array, error: Array | float, astray: float) -> Array:
    """Log likelihood, but for a constant, of what is off by so much: normal, or astray and then far wider."""
    square = (off / error) ** 2
    wide = astray / _FAR_OFF * np.exp(-square / (2 * _FAR_OFF**2))
    found: Array = np.log((1 - astray) * np.exp(-square / 2) + wide + 1e-300) - np.log(error)
    return found


def _chances(logs: Iterable[Array]) -> Array:
    log = np.sum([*logs], axis=0)
    chance = np.exp(log - log.max())
    found: Array = chance / chance.sum()
    return found


def _main(told: dict[str, Array], of: Array, usual: str) -> str:
    """Without whom a value (P, 1) or (1, H) would be known far worse than with all; who tells what is usual where that
    is nobody."""
    worst, main = _LESS * _variance(told, of), usual
    for name in filter(lambda name: name != usual, told):
        without = _variance({key: log for key, log in told.items() if key != name}, of)
        if without > worst:
            worst, main = without, name
    return main


def _variance(told: dict[str, Array], of: Array) -> float:
    chance = _chances(told.values())
    return float((chance * of**2).sum() - (chance * of).sum() ** 2)
