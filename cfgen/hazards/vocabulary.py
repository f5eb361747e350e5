"""Words for things on a road, and the class that each is of."""

import re
from functools import cache

#: Each class with its words.
_WORDS = """
signal: traffic light, traffic sign, stop sign, signal
power line: power line, power cable, cable, wire, utility pole, lamp post, pole
fire engine: fire engine, fire truck
fire: fire, flame, blaze, smoke, burning, ablaze
fog: fog, fog bank, mist, haze
cone: roadworks, road works, roadworks equipment, lane closure, traffic cone, cone, bollard, delineator,
  pylon, drum, traffic island
barrier: construction barrier, barrier, barricade, roadblock, fence
machine: construction vehicle, excavator, digger, bulldozer, road roller, roller, crane, tractor, forklift,
  machinery, agricultural vehicle, farm vehicle, harvester, backhoe, combine harvester, steamroller
heavy vehicle: tram, train, streetcar, hgv, juggernaut, double-decker, double decker, bus, coach, minibus,
  articulated truck, lorry, lorries, semi, tanker, rubbish truck, garbage truck, refuse truck, bin lorry,
  dustcart
large vehicle: truck, wrecker, recovery vehicle, van, ambulance, caravan, camper, motorhome, large vehicle,
  box truck, emergency vehicle, trailer
rider: cyclist, bicyclist, bicycle, bike, motorcycle, motorcyclist, motorbike, scooter, e-scooter, moped,
  tricycle, rider, biker, two-wheeler, pushbike, e-bike, quad bike, rickshaw
wheeled: wheelchair, stroller, pushchair, pram, shopping cart, cart, wheelbarrow, shopping trolley, trolley,
  buggy, handcart
person: pedestrian, person, man, woman, child, kid, boy, girl, people, children, crowd, men, women,
  schoolchildren, police, parent, worker, jogger, flagger, officer, skater, skateboarder, walker, driver,
  motorist, policeman, policewoman, workman, runner, toddler, teenager, youngster, guy, lady, somebody,
  someone, vulnerable road user, vru, ped, road user, human, pensioner, bystander, bloke, lad, gentleman,
  granny, senior, adult, student, pupil, schoolchild, infant, baby, mother, father, roadworker, labourer, cop,
  constable, firefighter, paramedic, passer-by
large animal: horse, moose, elk, mare, stallion, cow, pony, donkey, heifer, bullock, bull, bison, deer, stag,
  reindeer, llama, ostrich, herd, livestock, cattle, flock, boar, sheep, pig, goat, calf, lamb, foal, hog,
  wolf
dog: dog, hound, puppy, labrador, fox, raccoon, badger
small animal: cat, kitten, rabbit, hare, squirrel, duck, hedgehog
birds: bird, geese, goose, duckling, swan, pigeon, chicken, hen, pheasant
animal: animal, wildlife, creature
tree: tree, branch, branches, log, trunk, bough, timber
hole: pothole, sinkhole, manhole, hole, crack, pit, trench, crater, shaft, caved in, collapsed roadway
liquid: flood, flooding, flooded, water, puddle, oil, spill, ice, icy, mud, slippery, slick, snowdrift, snow
  drift, standing water
tyre: tire, tyre, wheel, retread
small load: ball, football, bottle, newspaper, shoe
load: cardboard box, box, carton, crate, suitcase, luggage, parcel, cargo, lost load, package, sack,
  cardboard, bale, tarpaulin, holdall, dustbin, bin, paper, bag, trash, garbage, rubbish, barrel, bucket, oil
  drum, canister
furniture: mattress, mattresses, couch, sofa, settee, chair, armchair, fridge, table
door: car door, door
long load: furniture, ladder, pallet, plank, pipe, lumber, girder
debris: debris, rubble, rock, stone, boulder, wreckage, concrete block, scrap, landslide, rockfall, fragment,
  obstruction, breeze block, leaves
roadside thing: bench, mailbox, letterbox, shrub, bush, hedge, advertising board, billboard, board
car: car, vehicle, sedan, suv, pickup, pick-up, taxi, hatchback, jeep, automobile, minivan, wrong-way driver,
  oncoming traffic, saloon, squad car, patrol car, police car, limousine, wrong-way car
"""


def _classes() -> dict[str, str]:
    """Word -> class."""
    lines = re.sub(r"\n +", " ", _WORDS.strip()).splitlines()
    named = [line.split(": ") for line in lines]
    return {word: name for name, words in named for word in words.split(", ")}


_CLASS_OF = _classes()

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
    words = sorted(_CLASS_OF, key=len, reverse=True)
    return re.compile(r"\b(" + "|".join(map(re.escape, words)) + r")(?:s|es)?\b")


def class_of(word: str) -> str:
    """The class that a word of :func:`things` names."""
    return _CLASS_OF[word]


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
