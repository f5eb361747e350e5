"""How far off real vehicles and people are by their size, against where the camera puts the ground under them.

On a flat road a camera that stands h above it sees a foot that is d away at an angle of h / d below the horizon. A
thing of known size tells d by itself: where both disagree, the camera is pitched or stands otherwise than stated, or
the road is not flat, and what is drawn there by the camera alone comes out in another scale than what is real.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cfgen.geometry.camera import centre, rotation, unproject
from cfgen.perception.view import BoxPx, Thing
from cfgen.records import Camera

#: Length, width and height of a car, and height of a person, m; and how far (log) real ones stray from them.
CAR_M, PERSON_M = (4.4, 1.82, 1.55), 1.7
_WIDTH_STRAYS, _FLANK_STRAYS, _HEIGHT_STRAYS, _PERSON_STRAYS = 0.07, 0.2, 0.12, 0.12
#: A car seen from behind or ahead is so many times as wide as high; a person that walks so many times as high as wide.
_ASPECT, _UPRIGHT = (0.85, 1.75), 1.7
#: Width and height that disagree by more (log) are not those of a car as it stands along the road.
_DISAGREE = 0.35
#: Smallest box side, and how far its edges are off, px.
_SMALLEST_PX, _EDGE_PX = 12.0, 1.5
#: Rad below the horizon at which a foot stands at least.
_LEAST_BELOW = 1e-4
#: Things up to so many times as far below the horizon stand near each other.
NEARBY = 1.6
#: Where none does, one as far as this tells.
LESS_NEAR = 1.8
#: Share of a box's width over which a nearer one hides its foot.
_HIDDEN = 0.15


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
    found = []
    for thing in things:
        if thing.kind not in ("car", "person") or not _whole(camera, thing, things):
            continue
        seen = _sight(camera, thing)
        if seen is not None and (seen.below > _LEAST_BELOW or not pitch_known):
            found.append(seen)
    return found


def _whole(camera: Camera, thing: Thing, things: Sequence[Thing]) -> bool:
    x0, y0, x1, y1 = thing.box
    if min(x1 - x0, y1 - y0) < (_SMALLEST_PX if thing.kind == "car" else _SMALLEST_PX / 2):
        return False
    if x0 < 3 or y0 < 3 or x1 > camera.width - 4 or y1 > camera.height - 4:
        return False
    return not any(
        other.box[3] > y1
        and other.box[1] < y1
        and min(other.box[2], x1) - max(other.box[0], x0) > _HIDDEN * (x1 - x0)
        for other in things
        if other is not thing
    )


def _sight(camera: Camera, thing: Thing) -> Sight | None:
    x0, y0, x1, y1 = thing.box
    middle = (x0 + x1) / 2
    rays, valid = unproject(camera, [(x0, y1), (x1, y1), (middle, y0), (middle, y1)])
    if not valid.all():
        return None
    ahead = rays @ rotation(camera)  # ego frame
    if (ahead[:, 0] <= 0.2).any():
        return None
    flat = np.hypot(ahead[:, 0], ahead[:, 1])
    down = -ahead[:, 2] / flat
    left, right = (ahead[:2, 1] / ahead[:2, 0]).tolist()
    wide, tall, below = left - right, float(down[3] - down[2]), float(down[3])
    if tall <= 0 or wide <= 0:
        return None
    told = _person(wide, tall) if thing.kind == "person" else _car(left, right, tall)
    if told is None:
        return None
    distance, strays = told
    strays = math.hypot(strays, _EDGE_PX / (y1 - y0))
    return Sight(thing.box, distance, strays, below, distance * below / float(centre(camera)[2]))


def scale_at(camera: Camera, foot_px: tuple[float, float], seen: Sequence[Sight]) -> tuple[float, int] | None:
    """How large the camera draws what stands at a pixel, against the real things that stand near it: the median of
    their ratios, and how many they are; None where none does.

    Near is within NEARBY times as far below the horizon, or LESS_NEAR where none is: there a wrong horizon, height or
    slope shows as much.
    """
    rays, valid = unproject(camera, [foot_px])
    ahead = rays[0] @ rotation(camera)
    below = -float(ahead[2]) / math.hypot(float(ahead[0]), float(ahead[1]))
    if not valid.all() or below <= 0:
        return None
    for times in (NEARBY, LESS_NEAR):
        ratios = [one.ratio for one in seen if 1 / times < one.below / below < times]
        if ratios:
            return float(np.median(ratios)), len(ratios)
    return None


def _person(wide: float, tall: float) -> tuple[float, float] | None:
    """Distance, m, and its relative error; None where it does not stand upright."""
    return (PERSON_M / tall, _PERSON_STRAYS) if tall > _UPRIGHT * wide else None


def _car(left: float, right: float, tall: float) -> tuple[float, float] | None:
    """Distance of its near end by width and height; tangents of its edges to the left, and of its height.

    Off the camera's path its flank is in the box, too: from the outer edge of the near end to the inner one of the far.
    """
    length, width, height = CAR_M
    by_height = height / tall
    outer, wide = max(left, -right), left - right
    by_width, strays = width / wide, _WIDTH_STRAYS
    if outer * by_width > width:
        by_width, strays = (width + length * outer) / wide - length, _FLANK_STRAYS
    elif not _ASPECT[0] < wide / tall < _ASPECT[1]:
        return None
    if by_width <= 0 or abs(math.log(by_width / by_height)) > _DISAGREE:
        return None
    a, b = strays**-2, _HEIGHT_STRAYS**-2
    distance = math.exp((a * math.log(by_width) + b * math.log(by_height)) / (a + b))
    return distance, (a + b) ** -0.5
