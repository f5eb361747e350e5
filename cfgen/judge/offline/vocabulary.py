"""Words for things on a road, and how large such things are."""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Class:
    """A class of road object: its words, and the widths and heights in metres that it can show a camera."""

    name: str
    words: tuple[str, ...]
    width: tuple[float, float]
    height: tuple[float, float]


#: Order matters: the first class whose word fits wins, so phrases come before the words inside them.
CLASSES = (
    Class("sign or light", ("traffic light", "traffic sign", "stop sign", "signal"), (0.2, 6), (0.3, 8)),
    Class(
        "power line",
        ("power line", "cable", "wire", "utility pole", "lamp post", "pole"),
        (0.1, 20),
        (0.05, 12),
    ),
    Class("fire", ("fire engine", "fire truck"), (1.2, 14), (1.3, 5)),
    Class("fire", ("fire", "flame", "blaze", "smoke", "burning"), (0.3, 20), (0.2, 20)),
    Class("roadworks", ("traffic cone", "cone", "bollard", "delineator", "pylon"), (0.15, 12), (0.2, 1.6)),
    Class(
        "roadworks",
        ("construction barrier", "barrier", "barricade", "roadblock", "fence"),
        (0.3, 12),
        (0.3, 2.5),
    ),
    Class(
        "machine",
        (
            "construction vehicle",
            "excavator",
            "digger",
            "bulldozer",
            "road roller",
            "machinery",
            "crane",
            "tractor",
            "forklift",
        ),
        (1.0, 14),
        (1.2, 6),
    ),
    Class(
        "large vehicle",
        (
            "articulated truck",
            "truck",
            "lorry",
            "bus",
            "coach",
            "tram",
            "trailer",
            "van",
            "ambulance",
            "caravan",
            "train",
        ),
        (1.5, 20),
        (1.5, 6),
    ),
    Class(
        "rider",
        (
            "cyclist",
            "bicyclist",
            "bicycle",
            "bike",
            "motorcycle",
            "motorcyclist",
            "motorbike",
            "scooter",
            "moped",
            "tricycle",
            "rider",
        ),
        (0.3, 2.8),
        (0.3, 2.4),
    ),
    Class(
        "wheeled",
        (
            "wheelchair",
            "stroller",
            "pushchair",
            "pram",
            "shopping cart",
            "shopping trolley",
            "cart",
            "wheelbarrow",
        ),
        (0.3, 2.2),
        (0.5, 2.2),
    ),
    Class(
        "person",
        (
            "pedestrian",
            "person",
            "people",
            "man",
            "woman",
            "child",
            "children",
            "kid",
            "boy",
            "girl",
            "worker",
            "jogger",
            "flagger",
            "officer",
            "skater",
            "skateboarder",
            "walker",
        ),
        (0.15, 3.0),
        (0.2, 2.4),
    ),
    Class(
        "large animal",
        ("deer", "horse", "cow", "moose", "elk", "cattle", "boar", "sheep"),
        (0.25, 6),
        (0.5, 2.8),
    ),
    Class(
        "small animal",
        ("dog", "cat", "fox", "raccoon", "rabbit", "duck", "geese", "goose", "bird", "squirrel"),
        (0.1, 1.9),
        (0.1, 1.2),
    ),
    Class("animal", ("animal",), (0.1, 6), (0.1, 2.8)),
    Class("tree", ("tree", "branch", "log", "trunk", "bough"), (0.4, 20), (0.15, 8)),
    Class(
        "hole", ("pothole", "sinkhole", "manhole", "hole", "crack", "pit", "trench"), (0.2, 15), (0.0, 1.5)
    ),
    Class(
        "liquid",
        ("flood", "flooding", "water", "puddle", "oil", "spill", "ice", "mud"),
        (0.3, 30),
        (0.0, 1.5),
    ),
    Class(
        "tyre",
        ("tire", "tyre", "wheel"),
        (0.15, 3.0),
        (0.1, 1.6),
    ),
    Class(
        "load",
        (
            "cardboard box",
            "box",
            "carton",
            "crate",
            "suitcase",
            "luggage",
            "bag",
            "trash",
            "garbage",
            "rubbish",
            "dustbin",
            "bin",
            "barrel",
            "bucket",
            "ball",
            "newspaper",
            "paper",
        ),
        (0.1, 3.5),
        (0.05, 1.6),
    ),
    Class(
        "load",
        (
            "mattress",
            "couch",
            "sofa",
            "chair",
            "furniture",
            "ladder",
            "pallet",
            "plank",
            "pipe",
            "lumber",
            "fridge",
            "table",
        ),
        (0.2, 5),
        (0.05, 2.2),
    ),
    Class(
        "debris",
        ("debris", "rubble", "rock", "stone", "boulder", "wreckage", "concrete block", "scrap", "leaves"),
        (0.1, 8),
        (0.05, 2.2),
    ),
    Class(
        "roadside thing",
        (
            "bench",
            "mailbox",
            "letterbox",
            "shrub",
            "bush",
            "hedge",
            "advertising board",
            "billboard",
            "board",
        ),
        (0.2, 4),
        (0.3, 4),
    ),
    Class(
        "car", ("car", "vehicle", "sedan", "suv", "pickup", "taxi", "hatchback", "jeep"), (1.1, 7), (0.6, 3.0)
    ),
)

#: Words that notice something without saying what.
VAGUE = (
    "something",
    "hazard",
    "obstacle",
    "obstruction",
    "object",
    "danger",
    "unusual",
    "unexpected",
    "blockage",
    "anomaly",
    "incident",
    "blocked",
)

#: What a planner calls itself: not a thing on the road.
_SELF = r"\b(?:the|our|my|this|an?)?\s*(?:ego(?:[- ](?:vehicle|car))?|self-driving (?:car|vehicle))\b"


@cache
def _pattern() -> re.Pattern[str]:
    """One alternation over every word, longest first, so that phrases win over the words inside them."""
    words = sorted((w for c in CLASSES for w in c.words), key=len, reverse=True)
    return re.compile(r"\b(" + "|".join(map(re.escape, words)) + r")(?:s|es)?\b")


@cache
def class_of(word: str) -> Class:
    return next(c for c in CLASSES if word in c.words)


def things(text: str) -> list[tuple[str, int]]:
    """(word, position) of every road object named in lower-case text, the planner's own car left out."""
    plain = re.sub(_SELF, lambda m: " " * len(m.group()), text)
    found = [(m.group(1), m.start()) for m in _pattern().finditer(plain)]
    return [(w, at) for w, at in found if not (w in ("car", "vehicle") and _is_self(plain, at))]


def _is_self(text: str, at: int) -> bool:
    """ "the car slows", "the vehicle must brake": the speaker, unless an adjective or a place says otherwise."""
    before = text[:at].rstrip()
    after = text[at : at + 60]
    doing = r"(?:car|vehicle)\s+(?:will|must|should|can|then|therefore|is ready|slows?|brakes?|stops?|steers?|keeps?|"
    doing += (
        r"holds?|yields?|nudges?|reduces?|needs?|continues?|proceeds?|moves? over|passes|carries|maintains?|"
    )
    doing += r"accelerates?|decelerates?|shifts?|pulls?|swerves?|waits?|drives?|is slowing|is braking)\b"
    return bool(re.search(r"(?:^|\b)(?:the|our|my|this)$", before)) and bool(re.match(doing, after))


def vague_words(text: str) -> set[str]:
    return {w for w in VAGUE if re.search(rf"\b{w}s?\b", text)}
