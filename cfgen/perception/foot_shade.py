"""Shade of vehicles on the road: on which side of them it lies tells the sun's, and its length the sun's height."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from cfgen.geometry.camera import ground_points, project
from cfgen.perception.camera import CAR_M
from cfgen.perception.colour import luminance, to_linear
from cfgen.perception.view import SceneView, Thing
from cfgen.records import Camera

_WIDTH = 640
#: Vehicles whose foot is this far away are looked at, m; and what is no narrower than so many pixels.
_NEAR_M, _FAR_M, _LEAST_PX = 4.0, 32.0, 14
#: From a vehicle's edge to where shade is sought, m: nearer to it all vehicles darken the ground. How far it is
#: followed, and in what steps.
_FROM_M, _TO_M, _REACH_M, _STEP_M = 0.3, 1.1, 4.5, 0.2
#: By how much a vehicle reaches over its tyres towards the camera, m.
_BUMPER_M = 0.4
#: Log of how much darker than lit road about it shade is: not at all, surely; and what is too dark for road in shade.
_NONE, _SURE, _NOT_ROAD = 0.3, 0.8, 4.0
#: How much the brightest road about a vehicle may be darker (log) than the frame's, else it stands in shade itself.
_LIT = 0.5
_KINDS = {"car": CAR_M[2], "truck": 3.2, "bus": 3.1, "motorcycle": 1.5}
#: Least cosine between a side and the way that shadows fall, for its shade to tell their length; the sun's elevations
#: that are believed, rad.
_ACROSS, _ELEVATIONS = 0.5, (math.radians(12), math.radians(68))
#: Road is seen up to so many pixels further than it is surely road, where that it is lit tells no shade falls there.
_RIM = np.ones((7, 7), np.uint8)
#: Below this ground is lit: a shade that falls there ends before it, so far from the vehicle at most, m.
_LIT_BELOW, _SHORT_M = 0.15, 0.7
#: Directions, rad from the ego's x axis to its left, in which a vehicle's shade is sought.
SIDES = (math.pi / 2, -math.pi / 2, math.pi)


@dataclass(frozen=True)
class Shade:
    """The ground on one side of a vehicle.

    Attributes:
        towards: rad, one of :data:`SIDES`. dark: in [0, 1], whether it lies in shade.
        length: how far the shade reaches, at most where the ground is lit, against the vehicle's height; 0 where that
            is not seen.
        at_rim: it is hardly surely road: its being lit tells the shade's length, but not the sun's side.
    """

    towards: float
    dark: float
    length: float = 0.0
    at_rim: bool = False


@dataclass(frozen=True, eq=False)
class _Road:
    """A frame made small: log luminance where it shows road away from paint and things, else nan."""

    camera: Camera
    log: np.ndarray
    scale: float
    lit: float

    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """At ground points."""
        px, seen = project(self.camera, np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3))
        at = np.rint((np.where(seen[:, None], px, -1e6) + 0.5) * self.scale - 0.5).astype(int)
        height, width = self.log.shape
        seen &= (at >= 0).all(1) & (at[:, 0] < width) & (at[:, 1] < height)
        found = np.full(len(at), np.nan)
        found[seen] = self.log[at[seen, 1], at[seen, 0]]
        return found.reshape(x.shape)


def foot_shade(image: np.ndarray, camera: Camera, view: SceneView) -> tuple[Shade, ...]:
    """About each vehicle of the view that stands in the light, what of the road beside and before it is seen."""
    things = [one for one in view.things or () if one.kind in _KINDS and one.score > 0.3]
    if not things or not view.road.any():
        return ()
    road, wider = _roads(image, camera, view)
    found = []
    for thing in things:
        sides = list(_about(thing, road))
        seen = {one.towards for one in sides}
        lit = (one for one in _about(thing, wider) if one.dark < _LIT_BELOW and one.towards not in seen)
        found += [*sides, *(replace(one, at_rim=True) for one in lit)]
    return tuple(found)


def height_by(feet: Sequence[Shade], towards: np.ndarray) -> float | None:
    """Elevation, rad, of a sun in the azimuth of ``towards`` (3,), by how long shades are; None: none is seen."""
    azimuth = math.atan2(towards[1], towards[0])
    there = [(-math.cos(azimuth - one.towards), one) for one in feet]
    there = [(falls, one) for falls, one in there if falls > _ACROSS]
    dark = [(falls, one) for falls, one in there if one.dark >= _LIT_BELOW]
    found = [math.atan(falls / one.length) for falls, one in dark or there if one.length > 0]
    if not found:
        return None
    return float(np.clip(np.median(found), *_ELEVATIONS))


def _roads(image: np.ndarray, camera: Camera, view: SceneView) -> tuple[_Road, _Road]:
    """What is road, and what may be as well, up to a rim about it."""
    scale = min(1.0, _WIDTH / image.shape[1])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    log = np.log(np.maximum(luminance(to_linear(small)), 2e-3))
    size = (log.shape[1], log.shape[0])
    likely = view.road if view.likely is None else view.likely
    ground, paint = (
        cv2.resize(plane.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        for plane in (likely, view.lanes)
    )
    bare = cv2.dilate(paint, np.ones((5, 5), np.uint8)) == 0
    for thing in view.things or ():
        x0, y0, x1, y1 = (max(round(v * scale), 0) for v in thing.box)
        bare[y0 : max(y1 - 1, 0), x0:x1] = False
    free, rim = (ground > 0) & bare, (cv2.dilate(ground, _RIM) > 0) & bare
    lit = float(np.percentile(log[free], 75)) if free.any() else 0.0
    sure, wider = (_Road(camera, np.where(part, log, np.nan), scale, lit) for part in (free, rim))
    return sure, wider


def _about(thing: Thing, road: _Road) -> Iterator[Shade]:
    x0, _, x1, y1 = thing.box
    if y1 > road.camera.height - 3 or x1 - x0 < _LEAST_PX:
        return
    feet, seen = ground_points(road.camera, [(x0, y1), (x1, y1)])
    near, left, right = float(feet[:, 0].mean()), float(feet[0, 1]), float(feet[1, 1])
    if not seen.all() or not _NEAR_M < near < _FAR_M:
        return
    around = road.at(*np.meshgrid(np.arange(near - 3, near + 5, 0.5), np.arange(right - 7, left + 7, 0.5)))
    if np.isfinite(around).sum() < 40:
        return
    lit = float(np.nanpercentile(around, 80))
    if lit < road.lit - _LIT:
        return
    away = np.arange(_FROM_M, _REACH_M, _STEP_M)
    along, across = np.arange(near, near + 1.8, 0.3), np.linspace(right + 0.3, left - 0.3, 7)
    height = _KINDS[thing.kind]
    yield from _shade(SIDES[0], lit - road.at(*np.meshgrid(along, left + away)), away, height)
    yield from _shade(SIDES[1], lit - road.at(*np.meshgrid(along, right - away)), away, height)
    away = away + _BUMPER_M
    yield from _shade(SIDES[2], lit - road.at(*np.meshgrid(near - away, across)).T, away, height)


def _shade(towards: float, darker: np.ndarray, away: np.ndarray, height: float) -> Iterator[Shade]:
    """What (steps, N) of how much darker than lit road the ground is, at distances from the vehicle, tells."""
    first = darker[: round((_TO_M - _FROM_M) / _STEP_M)]
    if np.isfinite(first).mean() < 0.25:
        return
    step = float(np.nanmedian(first))
    if step > _NOT_ROAD:
        return
    dark = float(np.clip((step - _NONE) / (_SURE - _NONE), 0, 1))
    rows = np.array([np.nanmedian(row) if np.isfinite(row).mean() > 0.4 else np.nan for row in darker])
    over = np.flatnonzero(rows < step / 2)  # the first strip that is lit again, all up to it being seen
    ended = dark > 0.5 and len(over) > 0 and bool(np.isfinite(rows[: over[0]]).all())
    ends = float(away[over[0]]) if ended else _SHORT_M if dark < _LIT_BELOW else 0.0
    yield Shade(towards, round(dark, 3), round(ends / height, 3))
