"""What scripted responders say: plain sentences about an open road, or about an object and where it stands."""

import math
import random
import re
from dataclasses import dataclass

from cfgen.planners.responder_motion import HALF_CAR_M, Target


@dataclass(frozen=True)
class Words:
    scene: str
    justification: str
    longitudinal: str
    lateral: str


#: Plain names by size, for naming an object that is not there: each is far from the sizes of the other groups.
_SMALL = ("cat", "football", "rabbit")
_LARGE = ("bus", "articulated truck", "tram")


def plain(name: str) -> str:
    """What a thing is, without the place in its taxonomy name: "fallen tree across the lane" is a "fallen tree"."""
    place = r" (?:ahead\b|(?:in|on|across|into|onto|beside|at|out across|over|covering|towards|from) the ).*"
    return re.sub(place, "", name)


def a(name: str) -> str:
    """The name with its article; plurals and stuff are left alone."""
    plural = any(re.fullmatch(r"\w+[^su]s", w) for w in name.split()[:3] if w not in ("lights",))
    if plural or name.split()[0] in ("a", "an", "the", "two", "water", "cattle", "dense"):
        return name
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


_PEOPLE = "pedestrian person people child worker driver officer flagger parent wheelchair"
_RIDERS = "cyclist motorcycle motorcyclist scooter tricycle rider"
_BODIES = "car van truck ambulance trailer vehicle"
#: Things to mistake another for: name, height and width as a camera may see them in m, and words of things for which
#: the name would be no clear mistake. A worker is a pedestrian too, and a car may pass for a van.
_ALIKE = (
    ("cyclist", 1.75, 1.0, _RIDERS),
    ("pedestrian", 1.75, 0.6, _PEOPLE),
    ("deer", 1.4, 1.2, "deer boar sheep horse"),
    ("car", 1.5, 1.9, _BODIES),
    ("van", 2.1, 2.2, _BODIES),
    ("truck", 3.0, 2.5, f"{_BODIES} engine tractor"),
    ("bus", 3.1, 2.6, "bus tram"),
    ("mattress", 0.35, 1.6, "mattress"),
    ("heap of rubble", 0.6, 1.8, "rubble rocks debris stones"),
    ("cardboard box", 0.6, 0.8, "box boxes cartons"),
    ("barrel", 0.9, 0.6, "barrel drum"),
    ("dog", 0.7, 0.8, "dog"),
    ("barrier", 1.0, 2.4, "barrier barricade roadblock"),
    ("tree", 2.2, 6.0, "tree branch"),
)


def clear_road() -> Words:
    return Words(
        "A road in daylight with lane markings on both sides. The way ahead is open.",
        "Nothing ahead asks for a change, so the car keeps its speed and its lane.",
        "set speed tracking",
        "lane keeping",
    )


def place_of(target: Target) -> str:
    """Where the object stands, as a passenger would say it."""
    side = "left" if target.lateral > 0 else "right"
    if abs(target.lateral) < HALF_CAR_M:
        return "ahead in our lane"
    if target.zone == "crossing":
        return f"entering our lane from the {side}"
    if target.zone == "shoulder":
        return f"at the {side} edge of the road"
    if target.zone == "oncoming" and side == "left":
        return "in the oncoming lane on the left"
    return f"ahead on the {side}"


def wrong_place(target: Target) -> str:
    """A place where the object does not stand: the other side of the road."""
    return f"on the {'right' if target.lateral > 0 else 'left'} shoulder, well away from our lane"


def wrong_name(target: Target, name: str, rng: random.Random) -> str:
    """Something of quite another size than the object."""
    large = target.height > 1.3 or target.half_width > 1.2
    candidates = [candidate for candidate in (_SMALL if large else _LARGE) if candidate not in name]
    return rng.choice(candidates)


def lookalike(target: Target, name: str) -> str:
    """Another thing of about the same size, which nobody would call by that name."""
    height, width = target.height, 2 * target.half_width
    said = set(re.findall(r"\w+", name.lower()))
    others = [(other, h, w) for other, h, w, fair in _ALIKE if not said & set(fair.split())]
    return min(others, key=lambda o: abs(math.log(o[1] / height)) + 0.5 * abs(math.log(o[2] / width)))[0]
