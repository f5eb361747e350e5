"""Consistent traces by construction: scripted manoeuvres, acted out on the case's lane, in many wordings.

In a wording ``{thing}`` carries its article, ``{place}`` is where it stands, ``{side}`` left or right. A scene says
nothing but that the thing is there, so that it is as true of a frame as the thing is.
"""

import random
import re
from dataclasses import dataclass, replace

import numpy as np

from cfgen.core.errors import InputError, StoreError
from cfgen.geometry.manoeuvre import LEAST_SPEED
from cfgen.metrics.intervals import blocks_of
from cfgen.planners import settings
from cfgen.planners.responders import TIMES, Baseline, a
from cfgen.records import Case, Scene, Trace
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from cfgen.traces.facts import CaseFacts, ComposedTrace, Content, Intent, Room
from cfgen.traces.settings import POOL

SCENES = (
    "There is {thing} {place}.",
    "I can see {thing} {place}.",
    "In view: {thing}, {place}.",
    "The camera shows {thing} {place}.",
    "What matters here is {thing} {place}.",
    "One thing stands out: {thing} {place}.",
    "{Thing} can be made out {place}.",
    "{Thing} is visible {place}.",
    "We have {thing} {place}.",
    "Straight from the picture: {thing} {place}.",
    "The road scene contains {thing} {place}.",
    "Of note in this frame is {thing} {place}.",
)

#: Nothing is in the car's way: false of a frame with something in its lane.
DENIALS = (
    "The lane ahead is empty; nothing stands in our way.",
    "No obstacle is to be seen in our lane.",
    "Our lane is free of people, vehicles and objects as far as one can see.",
    "There is nothing in the lane in front of us.",
    "The way ahead is clear of any object.",
    "I see an open lane with nothing on it.",
)

#: manoeuvre -> (longitudinal, lateral, sentences); ``{side}`` in the lateral action too
MANOEUVRES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "stop": (
        "stop",
        "lane keeping",
        (
            "Because of {thing} {place}, the car stops.",
            "We come to a halt since {thing} is {place}.",
            "{Thing} {place} leaves no choice but to stop.",
            "With {thing} {place}, I am stopping the car.",
            "The right thing to do about {thing} {place} is to stop.",
            "Given {thing} {place}, a full stop is called for.",
            "{Thing} is {place}, hence we stop in good time.",
            "I bring the car to a standstill because {thing} is {place}.",
            "The car will halt: {thing} {place}.",
            "Seeing {thing} {place}, the plan is to stop.",
        ),
    ),
    "yield": (
        "yield",
        "lane keeping",
        (
            "Because of {thing} {place}, the car slows down.",
            "I am braking since {thing} is {place}.",
            "{Thing} {place} makes us reduce our speed.",
            "With {thing} {place}, we ease off and give way.",
            "The car sheds speed on account of {thing} {place}.",
            "{Thing} is {place}, hence we decelerate.",
            "Speed has to come off: there is {thing} {place}, and so I brake.",
            "We yield to {thing} {place}.",
            "Out of caution about {thing} {place}, we are slowing.",
            "The car brakes early for {thing} {place}.",
        ),
    ),
    "keep": (
        "set speed tracking",
        "lane keeping",
        (
            "{Thing} {place} asks for nothing, and the car keeps its speed.",
            "We hold our speed past {thing} {place}.",
            "There is no need to slow down for {thing} {place}.",
            "Despite {thing} {place}, we continue at the same speed.",
            "{Thing} is {place} and does not concern us: we maintain our pace.",
            "I keep the present speed, {thing} {place} notwithstanding.",
            "The car cruises on with {thing} {place}.",
            "{Thing} {place} calls for no braking; the speed stays constant.",
            "We go on at a steady speed with {thing} {place}.",
            "Without slowing, the car drives on; {thing} {place} is no threat.",
        ),
    ),
    "nudge": (
        "set speed tracking",
        "out-of-lane nudge {side}",
        (
            "To clear {thing} {place}, the car steers to the {side} and keeps its speed.",
            "We swing out to the {side} round {thing} {place} at the same speed.",
            "The car moves over to the {side} for {thing} {place}, holding its speed.",
            "{Thing} {place} is given room by steering {side} at a steady speed.",
            "Holding its pace, the car veers to the {side} of {thing} {place}.",
            "There is {thing} {place}: we swerve to the {side} and maintain our speed.",
            "With {thing} {place}, I edge out to the {side} at the same pace.",
        ),
    ),
    "lane change": (
        "set speed tracking",
        "lane change {side}",
        (
            "Because of {thing} {place}, the car changes to the {side} lane and keeps its speed.",
            "We move into the {side} lane at the same speed, since {thing} is {place}.",
            "{Thing} is {place}: I merge into the {side} lane and hold my speed.",
            "A lane change to the {side} at a steady speed takes us clear of {thing} {place}.",
            "With {thing} {place}, we switch into the {side} lane, keeping our pace.",
            "The car shifts to the {side} lane on account of {thing} {place} and maintains its speed.",
            "Keeping its speed, the car moves into the {side} lane to leave {thing} {place} behind.",
            "I change lanes to the {side} for {thing} {place}, at the same pace.",
        ),
    ),
    "pass": (
        "pass",
        "lane change {side}",
        (
            "We speed up and move into the {side} lane to get past {thing} {place}.",
            "The car accelerates and changes to the {side} lane because of {thing} {place}.",
            "I gather speed and merge into the {side} lane, since {thing} is {place}.",
            "With {thing} {place}, the car picks up speed and shifts into the {side} lane.",
            "Accelerating, we change lanes to the {side} and leave {thing} {place} behind.",
            "{Thing} is {place}: I raise my speed and switch to the {side} lane.",
        ),
    ),
}

#: They announce no motion, and so contradict none.
VAGUE = (
    "{Thing} {place} deserves attention.",
    "The car takes {thing} {place} into account.",
    "I am aware of {thing} {place} and act with care.",
    "Care is due because of {thing} {place}.",
    "{Thing} {place} is what this decision rests on.",
    "The plan allows for {thing} {place}.",
    "We respond to {thing} {place} as the situation asks.",
    "Caution is advised: {thing} {place}.",
)


def say(wording: str, thing: str, place: str, side: str = "") -> str:
    """A wording with its gaps filled; ``thing`` with its article, or several of them without one."""
    words = wording.format(thing=thing, Thing=thing[:1].upper() + thing[1:], place=place, side=side)
    if _ONE.match(thing):
        return words
    subject = rf"({re.escape(thing)}(?: {re.escape(place)})?) ({'|'.join(_OF_SEVERAL)})\b"
    sentence = re.sub(subject, lambda m: f"{m[1]} {_OF_SEVERAL[m[2].lower()]}", words, flags=re.IGNORECASE)
    return sentence.replace("and does not concern", "and do not concern")


_ONE = re.compile(r"(?:a|an|the|water|dense)\b", re.IGNORECASE)
_OF_SEVERAL = {
    "is": "are",
    "asks": "ask",
    "leaves": "leave",
    "makes": "make",
    "calls": "call",
    "deserves": "deserve",
}


# --- sources -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """One consistent trace; ``manoeuvre`` names what its wording means."""

    facts: CaseFacts
    arm: str
    said: ComposedTrace
    manoeuvre: str
    side: str


def case_facts(store: Store) -> list[CaseFacts]:
    """Of every case whose scene can be read and whose car is fast enough for its motion to say anything.

    Raises:
        StoreError: the benchmark holds no case. InputError: no car in it moves.
    """
    cases = store.cases()
    if not cases:
        raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")
    inputs = RolloutInputs(store, store.benchmark.seed)
    scenes = {c.case_id: load_scene(store.scene_dir(c.scene_id)).scene for c in cases}
    blocks, _ = blocks_of(scenes)
    facts = [_facts(inputs, c, scenes[c.case_id], blocks[c.case_id]) for c in cases]
    moving = [f for f in facts if f.base.speed >= LEAST_SPEED]
    if not moving:
        raise InputError(
            f"{store.root}: expected a car of {LEAST_SPEED:g} m/s or more in some case, found none: motion says "
            "nothing there; build from scenes in which the car drives"
        )
    return moving


def _facts(inputs: RolloutInputs, case: Case, scene: Scene, drive: str) -> CaseFacts:
    base = Baseline.of(scene.history, scene.future)
    kerb = 1 if scene.extra.get("drive_on") == "left" else -1
    facts = CaseFacts.of(case, base, drive, Room(base.path, scene.front, inputs.road(case), kerb))
    return replace(facts, ways=tuple(_ways(facts)))


def scripted(facts: CaseFacts, rng: random.Random) -> Source:
    """An answer to the hazard's frame: words, action and waypoints of one manoeuvre, in one of many wordings.

    One in five justifications is vague: it contradicts no action and no motion.
    """
    manoeuvre, side = rng.choice(facts.ways)
    longitudinal, lateral, wordings = MANOEUVRES[manoeuvre]
    lateral = lateral.format(side=side)
    vague = rng.random() < 0.2
    wording = rng.choice(VAGUE if vague else wordings)
    thing = a(facts.thing)
    content = Content(facts.thing, facts.place)
    trace = Trace(
        scene=say(rng.choice(SCENES), thing, facts.place),
        justification=say(wording, thing, facts.place, side),
        longitudinal=longitudinal,
        lateral=lateral,
    )
    intent = Intent() if vague else announced(manoeuvre, side)
    answer = ComposedTrace(trace, acted(facts.base, manoeuvre, side), content, content, intent)
    return Source(facts, "hazard", answer, manoeuvre, side)


def _ways(facts: CaseFacts) -> list[tuple[str, str]]:
    """Manoeuvres and the sides that they are drawn to: those for which the scene has room.

    Something in the car's own lane may be passed on either side; something beside it on the other one.
    """
    free = "left" if facts.target.free_side > 0 else "right"
    opposite = "right" if free == "left" else "left"
    ways = []
    for manoeuvre in sorted(MANOEUVRES):
        sides = (free, opposite) if facts.in_lane else (free,)
        room = (s for s in sides if facts.room.allows(acted(facts.base, manoeuvre, s)))
        if (side := next(room, None)) is not None:
            ways.append((manoeuvre, side))
    return ways


def announced(manoeuvre: str, side: str) -> Intent:
    """What the wordings of a manoeuvre announce: those that keep the lane are silent about the way."""
    longitudinal, lateral, _ = MANOEUVRES[manoeuvre]
    if "nudge" in lateral:
        return Intent(longitudinal, f"to the {side}")
    return Intent(longitudinal, lateral.format(side=side) if "{side}" in lateral else "")


def acted(base: Baseline, manoeuvre: str, side: str) -> np.ndarray:
    """(24, 3) waypoints that carry a manoeuvre out along the lane, from the car's own speed."""
    v, sign = base.speed, 1.0 if side == "left" else -1.0
    s = v * TIMES
    if manoeuvre == "stop":
        s = braked(v, v / 3.6, 0.0)
    elif manoeuvre == "yield":
        s = braked(v, max(0.5 * v / 3.0, 0.7), 0.5 * v)
    elif manoeuvre == "pass":
        s = s + 0.5 * 0.7 * TIMES**2
    lateral = np.zeros_like(TIMES)
    if manoeuvre == "nudge":
        lateral = sign * POOL.nudge_m * np.sin(np.pi * np.clip((TIMES - 0.5) / 5.0, 0, 1)) ** 2
    elif manoeuvre in ("lane change", "pass"):
        part = np.clip((TIMES - 0.5) / 4.0, 0, 1)
        lateral = sign * POOL.lane_change_m * part**2 * (3 - 2 * part)
    return base.follow(s, lateral)


def braked(speed: float, deceleration: float, until: float) -> np.ndarray:
    """(25,) m along the lane: constant deceleration after the reaction time, down to ``until`` m/s."""
    t = np.maximum(TIMES - settings.SCRIPTED.reaction_s, 0.0)
    braking = np.minimum(t, (speed - until) / deceleration)
    after = t - braking
    distances: np.ndarray = (
        speed * np.minimum(TIMES, settings.SCRIPTED.reaction_s)
        + speed * braking
        - deceleration * braking**2 / 2
        + until * after
    )
    return distances
