"""Whether a picture is one of a road as a camera on a car takes it: not black, not indoors, and the right way up.

Any perceiver may be asked for roads, and the weakest finds them in anything; so cfgen's own network and a few measures
of the pixels look at the picture as it is and turned. Weights were fitted (softmax over five ways up) on 152 road
frames of 18 drives and data sets; with each of these left out in turn, all were told right.
"""

from functools import lru_cache

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.perception.networks import RoadNet
from cfgen.perception.no_road import LEAST_AHEAD, ahead, largest_stretch
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: Brightest hundredth of a picture that shows anything; medians from which it shows which way is up (lamps and what
#: they light in the wet look alike), and from which a road must be seen.
BLACK, NIGHT, BY_DAY = 16, 25, 50
#: Another way up must score so much higher. Of the 152 frames none came nearer than 0.1 below its own.
MARGIN = 1.0
#: Road over so much of what lies before the car, and of what lies above it: the camera looks down.
_FULL, _FULL_ABOVE = 0.5, 0.35
#: Score of a road picture; and road over so much of what lies before the car in one that is turned back. Of 110 road
#: pictures turned upside down 100 have both, of 65 others that look better turned 9, none of them a road.
_LIKE_A_ROAD, _CLEAR_ROAD = 3.3, 0.3
#: Water, sand and bare ground: no vehicle, fewer lane lines than these shares of the frame, as who looks and as our
#: network sees them, our network's mean probability of that road, and the score of a road picture, all below; or,
#: whatever else, that probability below the last.
_LINES, _OUR_LINES, _DOUBTS, _DENIES = 0.005, 0.003, 0.65, 0.45
_ON_ROADS = frozenset(("car", "truck", "bus", "motorcycle"))
#: Per measure of :func:`_measures`.
_WEIGHTS = (2.79, -8.78, 1.51, -1.09, 4.95, 0.51, -1.11, 1.56, 3.43)
#: Most that lines count for; and what a network could see that is best for a way up.
_MOST_LINES = 2.0
_SEEN_AT_BEST = (1.0, 0.0, _MOST_LINES)
_UPSIDE_DOWN = "upside down"
_SEEN_PX, _SMALL_PX = (320, 180), (96, 60)


def why_not_a_road_picture(
    image: np.ndarray, view: SceneView | None = None, camera: Camera | None = None
) -> str:
    """What is wrong with a front frame (H, W, 3) uint8 RGB, and what to do; "" where nothing is.

    Args:
        view: what somebody sees in it who tells lane lines; what nothing else backs is not believed.
        camera: as it is stated: where its horizon lies above the frame, road may fill that.
    """
    small = cv2.resize(image, _SEEN_PX, interpolation=cv2.INTER_AREA)
    grey = small.mean(2)
    if float(np.percentile(grey, 99)) < BLACK:
        return "is black: the camera saw nothing; leave the scene out"
    middle = float(np.median(grey))
    if middle < NIGHT:
        return ""
    road = _road(small)
    before, above = _share(road[0]), _share(road[0][::-1])
    own = _score(small, road)
    if not (camera is not None and looks_down(camera)) and (best := _better_turned(small, own)):
        name, score, there = best
        if before >= _FULL and above >= _FULL_ABOVE:
            return (
                "shows road up to its upper edge: the camera looks down, or from above; leave the scene out, or state "
                "a camera that has its horizon there (--option horizon_row=... below 0 --option camera_height_m=...)"
            )
        if score >= _LIKE_A_ROAD and there >= _CLEAR_ROAD:
            return f"seems to be {name} (a road is seen when it is turned back); turn it and check the calibration"
        return f"does not look like a road from a car{_by_us(before)}; leave the scene out"
    if middle >= BY_DAY and before < LEAST_AHEAD:
        return f"shows no road before the car{_by_us(before)}; leave the scene out"
    if view is not None and _nothing_backs(view, road, own):
        return "shows no lane line, no vehicle, and cfgen's own network doubts the road; leave the scene out"
    return ""


def looks_down(camera: Camera) -> bool:
    """Whether the horizon lies above the frame."""
    return bool(horizon_rows(camera, [camera.cx])[0] < 0)


def _by_us(before: float) -> str:
    return f" (cfgen's own network takes {before:.0%} of what lies there for road)"


def _better_turned(small: np.ndarray, own: float) -> tuple[str, float, float] | None:
    """How it looks much more like a road, its score then, and the share of road before the car; None where it is not
    much better than its ``own``."""
    turned = {
        "turned by 90 degrees": np.rot90(small),
        _UPSIDE_DOWN: small[::-1, ::-1],
        "turned by 270 degrees": np.rot90(small, 3),
        "upside down and mirrored": small[::-1],
    }
    # the network is not asked about a way up that loses whatever it says
    roads = {name: _road(picture) for name, picture in turned.items() if _at_best(picture) > own + MARGIN}
    scores = {name: _score(turned[name], road) for name, road in roads.items()}
    best = max(scores, key=lambda name: scores[name], default="")
    if best.endswith("mirrored") and scores.get(_UPSIDE_DOWN, own) > own + MARGIN:
        best = _UPSIDE_DOWN  # few mirror a picture
    if not best or scores[best] <= own + MARGIN:
        return None
    return best, scores[best], _share(roads[best][0])


def _share(road: np.ndarray) -> float:
    """Share of what lies before the car that is road, by its probability (h, w)."""
    return float((ahead(road) > 0.5).mean())


def _nothing_backs(view: SceneView, ours: tuple[np.ndarray, np.ndarray], score: float) -> bool:
    """Whether the road that a view shows has neither lines nor vehicles, and is none by our own network."""
    if any(thing.kind in _ON_ROADS for thing in view.things or ()):
        return False
    road, lines = ours
    if float(view.lanes.mean()) >= _LINES:
        return False
    stretch = cv2.resize(
        largest_stretch(view.road).astype(np.uint8), road.shape[::-1], interpolation=cv2.INTER_NEAREST
    )
    sure = float(road[stretch > 0].mean()) if stretch.any() else 1.0
    return sure < _DENIES or (sure < _DOUBTS and float(lines.mean()) < _OUR_LINES and score < _LIKE_A_ROAD)


@lru_cache(maxsize=1)
def _network() -> RoadNet:
    return RoadNet()


def _road(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(h, w) probability of road, and bool of lane lines."""
    [(road, lanes)] = _network().logits([np.ascontiguousarray(picture)])
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
