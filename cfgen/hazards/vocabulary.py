"""Words for things on a road, and how large such things are."""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Class:
    """A class of road object: its words, and what it can show a camera.

    ``width`` and ``height`` in metres; ``fill``: share of its convex outline, 0..1. Bodywork fills its outline; legs,
    spokes and branches leave gaps.
    """

    name: str
    words: tuple[str, ...]
    width: tuple[float, float]
    height: tuple[float, float]
    fill: tuple[float, float]


#: class | width, m | height, m | fill, % | words. The first class with a word wins.
_TABLE = """
signal         | 0.2 6   | 0.3 8    | 0 100  | traffic light, traffic sign, stop sign, signal
power line     | 0.1 20  | 0.05 12  | 0 100  | power line, cable, wire, utility pole, lamp post, pole
fire engine    | 1.2 14  | 1.6 5    | 70 100 | fire engine, fire truck
fire           | 0.3 20  | 0.2 20   | 0 100  | fire, flame, blaze, smoke, burning
cone           | 0.15 12 | 0.2 1.4  | 0 100  | traffic cone, cone, bollard, delineator, pylon, drum, traffic island
barrier        | 0.3 12  | 0.3 2.5  | 0 100  | construction barrier, barrier, barricade, roadblock, fence
machine        | 1.0 14  | 1.2 6    | 0 100  | construction vehicle, excavator, digger, bulldozer, road roller, roller
machine        | 1.0 14  | 1.2 6    | 0 100  | crane, tractor, forklift, machinery
heavy vehicle  | 1.8 20  | 2.2 6    | 75 100 | bus, coach, tram, train
heavy vehicle  | 1.8 20  | 2.2 6    | 60 100 | articulated truck, lorry
large vehicle  | 1.2 20  | 1.3 5    | 60 100 | truck
large vehicle  | 1.2 20  | 1.3 5    | 70 100 | van, ambulance, caravan, camper
large vehicle  | 1.2 20  | 1.3 5    | 0 100  | trailer
rider          | 0.3 2.8 | 0.3 2.4  | 0 94   | cyclist, bicyclist, bicycle, bike, motorcycle, motorcyclist, motorbike
rider          | 0.3 2.8 | 0.3 2.4  | 0 94   | scooter, moped, tricycle, rider
wheeled        | 0.3 2.2 | 0.5 2.2  | 0 100  | wheelchair, stroller, pushchair, pram, shopping cart, cart, wheelbarrow
person         | 0.15 3  | 0.2 2.4  | 0 94   | pedestrian, person, people, man, woman, child, children, kid, boy, girl
person         | 0.15 3  | 0.2 2.4  | 0 94   | parent, worker, jogger, flagger, officer, skater, skateboarder, walker
person         | 0.15 3  | 0.2 2.4  | 0 94   | driver, motorist
large animal   | 0.25 6  | 0.5 2.8  | 0 94   | deer, horse, cow, moose, elk, cattle, boar, sheep
dog            | 0.2 1.5 | 0.2 1.0  | 0 94   | dog, fox, raccoon
small animal   | 0.1 0.9 | 0.1 0.6  | 0 94   | cat, rabbit, squirrel, duck
birds          | 0.1 2.5 | 0.1 0.8  | 0 100  | bird, geese, goose
animal         | 0.1 6   | 0.1 2.8  | 0 94   | animal
tree           | 0.4 20  | 0.15 8   | 0 85   | tree, branch, log, trunk, bough
hole           | 0.2 15  | 0.0 1.5  | 0 100  | pothole, sinkhole, manhole, hole, crack, pit, trench
liquid         | 0.3 30  | 0.0 1.5  | 0 100  | flood, flooding, water, puddle, oil, spill, ice, mud
tyre           | 0.15 3  | 0.1 1.6  | 0 100  | tire, tyre, wheel
small load     | 0.05 .5 | 0.05 .5  | 0 100  | ball, football, bottle, newspaper, shoe
load           | 0.1 3.5 | 0.05 1.6 | 0 100  | cardboard box, box, carton, crate, suitcase, luggage, bag, trash
load           | 0.1 3.5 | 0.05 1.6 | 0 100  | garbage, rubbish, dustbin, bin, paper
load           | 0.2 1.2 | 0.3 1.6  | 75 100 | barrel, bucket
furniture      | 0.2 2.4 | 0.05 2.0 | 0 100  | mattress, couch, sofa, chair, armchair, fridge, table
long load      | 0.2 5   | 0.05 2.2 | 0 100  | furniture, ladder, pallet, plank, pipe, lumber
debris         | 0.1 8   | 0.05 2.2 | 0 100  | debris, rubble, rock, stone, boulder, wreckage, concrete block, scrap
debris         | 0.1 8   | 0.05 2.2 | 0 100  | leaves
roadside thing | 0.2 4   | 0.3 4    | 0 100  | bench, mailbox, letterbox, shrub, bush, hedge, advertising board
roadside thing | 0.2 4   | 0.3 4    | 0 100  | billboard, board
car            | 1.1 8   | 0.7 3.0  | 70 100 | car, vehicle, sedan, suv, pickup, taxi, hatchback, jeep
"""


def _class(row: str) -> Class:
    name, *ranges, words = (cell.strip() for cell in row.split("|"))
    width, height, (f0, f1) = ((float(low), float(high)) for low, high in map(str.split, ranges))
    return Class(name, tuple(w.strip() for w in words.split(",")), width, height, (f0 / 100, f1 / 100))


CLASSES = tuple(_class(row) for row in _TABLE.strip().splitlines())

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
    before = text[max(0, at - 20) : at].rstrip()
    after = text[at : at + 60]
    doing = r"(?:car|vehicle)\s+(?:will|must|should|can|then|therefore|is ready|slows?|brakes?|stops?|steers?|keeps?|"
    doing += (
        r"holds?|yields?|nudges?|reduces?|needs?|continues?|proceeds?|moves? over|passes|carries|maintains?|"
    )
    doing += r"accelerates?|decelerates?|shifts?|pulls?|swerves?|waits?|drives?|is slowing|is braking)\b"
    return bool(re.search(r"(?:^|\b)(?:the|our|my|this)$", before)) and bool(re.match(doing, after))


def vague_words(text: str) -> set[str]:
    return {w for w in VAGUE if re.search(rf"\b{w}s?\b", text)}
