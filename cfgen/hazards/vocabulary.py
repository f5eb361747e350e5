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
power line     | 0.1 20  | 0.05 12  | 0 100  | power line, power cable, cable, wire, utility pole, lamp post, pole
fire engine    | 1.2 14  | 1.6 5    | 70 100 | fire engine, fire truck
fire           | 0.3 20  | 0.2 20   | 0 100  | fire, flame, blaze, smoke, burning, ablaze
fog            | 8 60    | 1 20     | 0 100  | fog, fog bank, mist, haze
cone           | 0.15 12 | 0.2 1.4  | 0 100  | roadworks, road works, roadworks equipment, lane closure
cone           | 0.15 12 | 0.2 1.15 | 0 100  | traffic cone, cone
cone           | 0.15 12 | 0.2 1.4  | 0 100  | bollard, delineator, pylon, drum, traffic island
barrier        | 0.3 12  | 0.3 2.0  | 0 100  | construction barrier, barrier, barricade, roadblock, fence
machine        | 1.0 14  | 1.2 6    | 0 100  | construction vehicle, excavator, digger, bulldozer, road roller, roller
machine        | 1.0 14  | 1.2 6    | 0 100  | crane, tractor, forklift, machinery, agricultural vehicle, farm vehicle
machine        | 1.0 14  | 1.2 6    | 0 100  | harvester, backhoe, combine harvester, steamroller
heavy vehicle  | 1.8 20  | 2.2 6    | 75 100 | tram, train, streetcar, hgv, juggernaut, double-decker, double decker
heavy vehicle  | 1.8 20  | 2.2 3.6  | 75 100 | bus, coach, minibus
heavy vehicle  | 1.8 20  | 2.2 6    | 60 100 | articulated truck, lorry, lorries, semi, tanker
heavy vehicle  | 1.8 14  | 3.05 4.2 | 60 100 | rubbish truck, garbage truck, refuse truck, bin lorry, dustcart
large vehicle  | 1.6 14  | 1.7 4.2  | 60 100 | truck, wrecker, recovery vehicle
large vehicle  | 1.5 14  | 1.6 4.2  | 70 100 | van, ambulance, caravan, camper, motorhome
large vehicle  | 1.5 14  | 1.6 4.2  | 70 100 | large vehicle, box truck, emergency vehicle
large vehicle  | 1.5 14  | 1.3 4.2  | 0 100  | trailer
rider          | 0.3 2.2 | 0.4 2.1  | 0 94   | cyclist, bicyclist, bicycle, bike, motorcycle, motorcyclist, motorbike
rider          | 0.3 2.2 | 0.4 2.1  | 0 94   | scooter, e-scooter, moped, tricycle, rider, biker, two-wheeler
rider          | 0.3 2.2 | 0.4 2.1  | 0 94   | pushbike, e-bike, quad bike, rickshaw
wheeled        | 0.3 2.2 | 0.5 2.2  | 0 100  | wheelchair, stroller, pushchair, pram, shopping cart, cart, wheelbarrow
wheeled        | 0.3 2.2 | 0.5 2.2  | 0 100  | shopping trolley, trolley, buggy, handcart
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | pedestrian, person, man, woman, child, kid, boy, girl
person         | 0.4 4   | 0.3 2.1  | 0 94   | people, children, crowd, men, women, schoolchildren, police
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | parent, worker, jogger, flagger, officer, skater, skateboarder, walker
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | driver, motorist, policeman, policewoman, workman, runner, toddler
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | teenager, youngster, guy, lady, somebody, someone
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | vulnerable road user, vru, ped, road user, human, pensioner, bystander
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | bloke, lad, gentleman, granny, senior, adult, student, pupil
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | schoolchild, infant, baby, mother, father, roadworker
person         | 0.2 1.8 | 0.3 2.1  | 0 94   | labourer, cop, constable, firefighter, paramedic, passer-by
large animal   | 0.5 6   | 1.3 2.6  | 0 94   | horse, moose, elk, mare, stallion
large animal   | 0.5 6   | 1.1 1.7  | 0 94   | cow, pony, donkey, heifer, bullock
large animal   | 0.5 6   | 1.1 1.9  | 0 94   | bull, bison
large animal   | 0.3 5   | 0.8 2.2  | 0 94   | deer, stag, reindeer, llama, ostrich
large animal   | 0.8 8   | 0.7 2.2  | 0 94   | herd, livestock, cattle, flock
large animal   | 0.3 5   | 0.65 1.3 | 0 94   | boar, sheep, pig, goat, calf, lamb, foal, hog, wolf
dog            | 0.2 1.5 | 0.2 .9   | 0 94   | dog, hound, puppy, labrador
dog            | 0.15 1.2 | 0.15 .7 | 0 94   | fox, raccoon, badger
small animal   | 0.1 0.9 | 0.1 0.6  | 0 94   | cat, kitten, rabbit, hare, squirrel, duck, hedgehog
birds          | 0.1 2.5 | 0.1 0.8  | 0 100  | bird, geese, goose, duckling, swan, pigeon, chicken, hen, pheasant
animal         | 0.1 6   | 0.1 2.8  | 0 94   | animal, wildlife, creature
tree           | 0.4 20  | 0.15 8   | 0 85   | tree, branch, branches, log, trunk, bough, timber
hole           | 0.2 15  | 0.0 0.8  | 0 100  | pothole, sinkhole, manhole, hole, crack, pit, trench, crater, shaft
hole           | 0.2 15  | 0.0 0.8  | 0 100  | caved in, collapsed roadway
liquid         | 0.3 30  | 0.0 0.5  | 0 100  | flood, flooding, flooded, water, puddle, oil, spill, ice, icy, mud
liquid         | 0.3 30  | 0.0 0.5  | 0 100  | slippery, slick, snowdrift, snow drift, standing water
tyre           | 0.15 1.2 | 0.1 1.0  | 0 100  | tire, tyre, wheel
tyre           | 0.15 2  | 0.1 1.0  | 0 100  | retread
small load     | 0.05 .5 | 0.05 .5  | 0 100  | ball, football, bottle, newspaper, shoe
load           | 0.1 3.2 | 0.05 1.2 | 0 100  | cardboard box, box, carton, crate, suitcase, luggage, parcel
load           | 0.1 3.2 | 0.05 1.6 | 0 100  | cargo, lost load, package, sack, cardboard, bale, tarpaulin, holdall
load           | 0.1 2.2 | 0.05 1.4 | 0 100  | dustbin, bin, paper
load           | 0.1 1.4 | 0.05 .85 | 0 100  | bag, trash, garbage, rubbish
load           | 0.2 1.2 | 0.3 1.6  | 75 100 | barrel, bucket, oil drum, canister
furniture      | 0.2 2.4 | 0.05 2.0 | 0 100  | mattress, mattresses, couch, sofa, settee, chair, armchair, fridge, table
door           | 0.2 3   | 0.5 2.5  | 0 100  | car door, door
long load      | 0.2 5   | 0.05 2.2 | 0 100  | furniture, ladder, pallet, plank, pipe, lumber, girder
debris         | 0.1 8   | 0.05 2.2 | 0 100  | debris, rubble, rock, stone, boulder, wreckage, concrete block, scrap
debris         | 0.1 8   | 0.05 2.2 | 0 100  | landslide, rockfall, fragment, obstruction, breeze block
debris         | 0.1 8   | 0.0 0.5  | 0 100  | leaves
roadside thing | 0.2 4   | 0.3 4    | 0 100  | bench, mailbox, letterbox, shrub, bush, hedge, advertising board
roadside thing | 0.2 4   | 0.3 4    | 0 100  | billboard, board
car            | 1.3 8   | 0.9 2.2  | 70 100 | car, vehicle, sedan, suv, pickup, pick-up, taxi, hatchback, jeep
car            | 1.3 8   | 0.9 2.2  | 70 100 | automobile, minivan, wrong-way driver, oncoming traffic, saloon
car            | 1.3 8   | 0.9 2.2  | 70 100 | squad car, patrol car, police car, limousine, wrong-way car
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
    "object",
    "danger",
    "unusual",
    "unexpected",
    "blockage",
    "anomaly",
    "incident",
    "blocked",
)

#: With one of these behind them, words for things name a place or a rule instead.
_COMPOUND = re.compile(
    r"[- ](?:crossing[- ])?(?:"
    r"(?:stop|park|signal|hydrant|grid|warning|symbol|speed|shop|school|traffic|precinct|refuge|dealer|field|farm)\b|"
    r"(?:lane|zone|station|track|line|sign|bridge|junction|rack|shelter|barn|marking|path|route|street|area)s?\b|"
    r"lined\b)"
)
#: "pedestrian crossing", where nobody is said to cross anything.
_CROSSING = re.compile(
    r"[- ]crossings?(?: *$| *[.,;:!?)]|"
    r" (?:and|but|so|is|with|near|sign|ahead(?! of)|beyond|where|that|which|coming up)\b)"
)
_CROSSERS = ("pedestrian", "bicycle", "cyclist", "bike", "tram", "train", "school")

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
    without_self = re.sub(_SELF, lambda m: " " * len(m.group()), text)
    words = [(m.group(1), m.start()) for m in _pattern().finditer(without_self)]
    return [
        (w, at)
        for w, at in words
        if not (w in ("car", "vehicle") and _is_self(without_self, at)) and not _is_place(without_self, w, at)
    ]


def _is_place(text: str, word: str, at: int) -> bool:
    """ "bus stop", "bike lane", "tree-lined", "steering wheel": no bus, bike, tree or wheel is there."""
    if word == "wheel":
        return bool(re.search(r"\b(?:steering|at the|take the|grip the) ?$", text[:at]))
    end = at + len(word)
    return bool(_COMPOUND.match(text, end)) or (word in _CROSSERS and bool(_CROSSING.match(text, end)))


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
