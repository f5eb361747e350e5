"""Whether a picture is one of a road as a camera on a car takes it: not black, not indoors, and the right way up.

Any perceiver may be asked for roads, and the weakest finds them in anything; so cfgen's own network and a few measures
of the pixels look at the picture as it is and turned. Weights were fitted (softmax over five ways up) on 152 road
frames of 18 drives and data sets; with each of these left out in turn, all were told right.
"""

from functools import lru_cache

import cv2
import numpy as np

from cfgen.perception.networks import RoadNet
from cfgen.perception.no_road import LEAST_AHEAD, ahead, largest_stretch
from cfgen.perception.view import SceneView

#: Brightest hundredth of a picture that shows anything; medians from which it shows which way is up (lamps and what
#: they light in the wet look alike), and from which a road must be seen.
BLACK, NIGHT, BY_DAY = 16, 25, 50
#: Another way up must score so much higher. Of the 152 frames none came nearer than 0.1 below its own.
MARGIN = 1.0
#: Road over so much of what lies before the car, and of what lies above it: the camera looks down.
_FULL = 0.5
#: Water, sand and bare ground: no vehicle, fewer lane lines than these shares of the frame, as who looks and as our
#: network sees them, our network's mean probability of that road, and the score of a road picture, all below.
_LINES, _OUR_LINES, _DOUBTS, _LIKE_A_ROAD = 0.005, 0.003, 0.65, 3.3
_ON_ROADS = frozenset(("car", "truck", "bus", "motorcycle"))
#: Per measure of :func:`_measures`.
_WEIGHTS = (2.79, -8.78, 1.51, -1.09, 4.95, 0.51, -1.11, 1.56, 3.43)
#: Most that lines count for; and what a network could see that is best for a way up.
_MOST_LINES = 2.0
_SEEN_AT_BEST = (1.0, 0.0, _MOST_LINES)
_UPSIDE_DOWN = "upside down"
_SEEN_PX, _SMALL_PX = (320, 180), (96, 60)


def why_not_a_road_picture(image: np.ndarray, view: SceneView | None = None) -> str:
    """What is wrong with a front frame (H, W, 3) uint8 RGB, and what to do; "" where nothing is.

    Args:
        view: what somebody sees in it who tells lane lines; what nothing else backs is not believed.
    """
    small = cv2.resize(image, _SEEN_PX, interpolation=cv2.INTER_AREA)
    grey = small.mean(2)
    if float(np.percentile(grey, 99)) < BLACK:
        return "is black: the camera saw nothing; leave the scene out"
    middle = float(np.median(grey))
    if middle < NIGHT:
        return ""
    turned = {
        "": small,
        "turned by 90 degrees": np.rot90(small),
        _UPSIDE_DOWN: small[::-1, ::-1],
        "turned by 270 degrees": np.rot90(small, 3),
        "upside down and mirrored": small[::-1],
    }
    road = _road(small)
    own = _score(small, road)
    # the network is not asked about a way up that loses whatever it says
    likely = [name for name, picture in turned.items() if name and _at_best(picture) > own + MARGIN]
    scores = {name: _score(turned[name], _road(turned[name])) for name in likely}
    best = max(likely, key=lambda name: scores[name], default="")
    if best.endswith("mirrored") and scores.get(_UPSIDE_DOWN, own) > own + MARGIN:
        best = _UPSIDE_DOWN  # few mirror a picture
    if best and scores[best] > own + MARGIN:
        if _share(road[0]) < _FULL or _share(road[0][::-1]) < _FULL:
            return f"seems to be {best} (a road is seen when it is turned back); turn it and check the calibration"
        return (
            "shows road up to its upper edge: the camera looks down, or from above, and what stands on the road "
            "would be cut off; leave the scene out"
        )
    if middle >= BY_DAY and _share(road[0]) < LEAST_AHEAD:
        return "shows no road before the car though it is bright (indoors?); leave the scene out"
    if view is not None and own < _LIKE_A_ROAD and _nothing_backs(view, road):
        return (
            "shows no road before the car but bare ground or water: no lane line, no vehicle, and cfgen's own network "
            "doubts it; leave the scene out"
        )
    return ""


def _share(road: np.ndarray) -> float:
    """Share of what lies before the car that is road, by its probability (h, w)."""
    return float((ahead(road) > 0.5).mean())


def _nothing_backs(view: SceneView, ours: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the road that a view shows has neither lines nor vehicles, and is none by our own network."""
    if any(thing.kind in _ON_ROADS for thing in view.things or ()):
        return False
    road, lines = ours
    if float(view.lanes.mean()) >= _LINES or float(lines.mean()) >= _OUR_LINES:
        return False
    stretch = cv2.resize(
        largest_stretch(view.road).astype(np.uint8), road.shape[::-1], interpolation=cv2.INTER_NEAREST
    )
    return bool(stretch.any()) and float(road[stretch > 0].mean()) < _DOUBTS


@lru_cache(maxsize=1)
def _network() -> RoadNet:
    return RoadNet()


def _road(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(h, w) probability of road, and bool of lane lines."""
    road, lanes = _network().logits(np.ascontiguousarray(picture))
    return 1 / (1 + np.exp(-np.clip(road, -20, 20))), lanes > 0


def _score(picture: np.ndarray, seen: tuple[np.ndarray, np.ndarray]) -> float:
    return round(float(np.dot(_WEIGHTS, _measures(picture, seen))), 3)


def _at_best(picture: np.ndarray) -> float:
    """What :func:`_score` could give at most, whatever is seen in the picture."""
    return float(np.dot(_WEIGHTS, [*_SEEN_AT_BEST, *_looks(picture)])) + 0.001  # as scores are rounded


def _measures(picture: np.ndarray, seen: tuple[np.ndarray, np.ndarray]) -> list[float]:
    """Road before the car and where sky belongs, lines in the lower half; then :func:`_looks`."""
    road, lanes = seen
    return [
        float(ahead(road).mean()),
        float(ahead(road[::-1]).mean()),
        min(float(lanes[len(lanes) // 2 :].mean()) * 50, _MOST_LINES),
        *_looks(picture),
    ]


def _looks(picture: np.ndarray) -> list[float]:
    """How a picture's top or middle compares with its bottom: middle brightness, top blue, edges along rows and
    columns, edges in the middle, and symmetry."""
    small = cv2.resize(picture, _SMALL_PX, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    level = small.mean(2)
    log = np.log(level + 0.05)
    down, across = np.abs(np.diff(log, axis=0))[:, :-1], np.abs(np.diff(log, axis=1))[:-1]
    blue, odd = small[..., 2] - small[..., 0], np.abs(level - level[:, ::-1])
    top, middle, bottom = slice(0, 20), slice(20, 38), slice(38, 60)

    def edges(way: np.ndarray, rows: slice) -> float:
        return float(np.log(way[rows].mean() + 0.003) - np.log(way[bottom].mean() + 0.003))

    return [
        float(log[middle].mean() - log[bottom].mean()),
        float(blue[top].mean() - blue[bottom].mean()),
        edges(across, top),
        edges(down, top),
        edges(across, middle),
        float(odd[top].mean() - odd[bottom].mean()),
    ]
