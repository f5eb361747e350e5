"""What is true of a case whatever a planner says of it: its lane, its motion, and what was put where."""

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.geometry.manoeuvre import SAME_SPEED, Done, Margin, keeps_action, keeps_lateral, keeps_longitudinal
from cfgen.geometry.path import EgoPath
from cfgen.hazards.vocabulary import class_of, things
from cfgen.planners.responders import Baseline, Target, place_of, plain
from cfgen.planners.settings import SCRIPTED
from cfgen.records import Case, Hazard, Trace
from cfgen.traces.intent import Intent, follows
from cfgen.traces.room import Room

#: Things that a street may hold by itself: that an edit did not add one does not make it absent from the frame.
_COMMON = re.compile(
    r"\b(?:car|cars|truck|trucks|lorry|van|bus|vehicle|vehicles|person|people|pedestrians?|man|woman|child|cyclist|"
    r"bicycle|motorcycle|motorcyclist|scooter|worker|workers|officer|driver|sign|signal|light|lights|cone|cones|"
    r"barrier|barriers|bollard|bin|bins|bag|bags|tree|pothole|puddle|tram|trailer|leaves)\b",
    re.IGNORECASE,
)
_UNCOMMON = re.compile(r"\b(?:fallen|burning|overturned|collapsed|spilled|spilt|flooded)\b", re.IGNORECASE)


#: m beside the way of the car: what has its near side farther off stands plainly beside the lane.
_BESIDE_LANE_M = 2.0
IN_LANE = "ahead in our lane"
_ENTERS = re.compile(r"\bentering our lane\b")
_SIDE = re.compile(r"\b(?:left|right)\b")


@dataclass(frozen=True)
class Content:
    """What words are about: a thing and the place that they give it; ``denies``: that the lane holds anything."""

    thing: str = ""
    place: str = ""
    denies: bool = False


#: What taxonomy names say of a thing besides what it is.
_DOING = re.compile(
    r",.*$| (?:\w+ing|lost|left|half|stalled|parked|stopped|scattered|fallen|rolled|tipped|broken|come|out|against|"
    r"beside|with|at work|on a call)\b.*$"
)


def named(hazard: Hazard) -> str:
    """What a hazard is, in a few words: "cyclist riding against traffic" is a "cyclist"."""
    return _DOING.sub("", plain(hazard.name))


def rare(thing: str) -> bool:
    """Whether a frame that was not edited may be taken to hold none."""
    return bool(_UNCOMMON.search(thing)) or not _COMMON.search(thing)


def alike(one: str, other: str) -> bool:
    """Whether two names may mean one thing: they share a word, or are of one class of road objects."""
    if set(one.split()) & set(other.split()) - {"of", "a", "the"}:
        return True
    classes = [{class_of(word).name for word, _ in things(name.lower())} for name in (one, other)]
    return bool(classes[0] & classes[1])


@dataclass(frozen=True)
class CaseFacts:
    """One case: ``thing`` and ``place`` of its hazard as a passenger says them, and the undisturbed drive."""

    case: Case
    drive: str
    base: Baseline
    target: Target
    thing: str
    place: str
    room: Room
    #: scripted manoeuvres, and the side of each, for which there is room
    ways: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, case: Case, base: Baseline, drive: str, room: Room) -> Self:
        target = Target.of(case.placement, base)
        return cls(case, drive, base, target, named(case.hazard), place_of(target), room)

    @property
    def in_lane(self) -> bool:
        return abs(self.target.lateral) < SCRIPTED.half_car_m

    @property
    def at_the_edge(self) -> bool:
        """Whether the thing stands neither plainly in the car's lane nor plainly beside it."""
        aside = abs(self.target.lateral)
        return not self.in_lane and aside - self.target.half_width < _BESIDE_LANE_M

    @property
    def lane(self) -> EgoPath:
        return self.base.path

    def done(self, waypoints: np.ndarray) -> Done:
        return Done.of(waypoints, self.base.speed, self.lane)

    def shows(self, content: Content, arm: str) -> bool | None:
        """Whether the frame of ``arm`` ("original" or "hazard") bears words out; None where nobody can tell."""
        if arm != "hazard":
            return False if content.thing and rare(content.thing) else None
        if content.denies:
            return False if self.in_lane else None
        if content.thing == self.thing:
            return self._stands(content.place)
        absent = content.thing and rare(content.thing) and not alike(content.thing, self.thing)
        return False if absent else None

    def _stands(self, place: str) -> bool | None:
        """Whether the thing stands where words say; None near the lane's edge, and for two words for one side."""
        if place == self.place:
            return None if self.at_the_edge and not _ENTERS.search(place) else True
        if self.at_the_edge and (IN_LANE in place or _ENTERS.search(place)):
            return None
        one, other = (_SIDE.search(words) for words in (place, self.place))
        if one and other and one[0] == other[0]:
            return None
        return False


@dataclass(frozen=True)
class Said:
    """A trace, and what is known of its parts by the way they were made; None where that is not known."""

    trace: Trace
    waypoints: np.ndarray
    scene: Content | None = None
    grounds: Content | None = None
    intent: Intent | None = None


def premise(scene: Content, grounds: Content) -> bool | None:
    """Whether the scene description holds what the justification rests on: (z1, z2) of section 5.2."""
    if not grounds.thing or not (scene.thing or scene.denies):
        return None
    if scene.denies or scene.thing == grounds.thing:
        return not scene.denies and scene.place == grounds.place
    return None if alike(scene.thing, grounds.thing) else False


def relations(facts: CaseFacts, arm: str, said: Said) -> dict[str, Margin]:
    """What geometry and construction say of each relation; those of which they say nothing are left out."""
    trace = said.trace
    done = facts.done(said.waypoints)
    found: dict[str, Margin] = {}
    if said.scene:
        found["E1"] = Margin(facts.shows(said.scene, arm))
    if said.grounds:
        found["E2"] = Margin(facts.shows(said.grounds, arm))
    if said.scene and said.grounds:
        found["E2-scene"] = Margin(premise(said.scene, said.grounds))
    if said.intent:
        found["E3"] = Margin(follows(said.intent, trace.longitudinal, trace.lateral))
        found["E5"] = keeps_intent(said.intent, done)
    found["E4"] = keeps_action(trace.longitudinal, trace.lateral, done)
    # a plan that drives where no room was seen is nobody's model of a good one, whatever it was told to do
    if any(found[e].kept for e in ("E4", "E5") if e in found) and not facts.room.allows(said.waypoints):
        found |= {e: Margin(None) for e in ("E4", "E5") if e in found and found[e].kept}
    return {name: margin for name, margin in found.items() if margin.kept is not None}


def keeps_intent(intent: Intent, done: Done) -> Margin:
    """Whether the waypoints do what words announce; words that announce nothing are kept by any motion."""
    claims = []
    if intent.longitudinal:
        # words that keep the speed mean this one; the action may converge to another
        steady = intent.longitudinal == "set speed tracking"
        claims.append(keeps_longitudinal(SAME_SPEED if steady else intent.longitudinal, done))
    if intent.lateral:
        claims.append(keeps_lateral(intent.lateral, done))
    broken = [c for c in claims if c.kept is False]
    if broken:
        return max(broken, key=lambda c: c.by)
    return Margin(True if all(c.kept for c in claims) else None)
