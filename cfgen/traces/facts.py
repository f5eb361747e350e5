"""What is true of a case whatever a planner says of it: lane, motion, what was put where, where there is room."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from cfgen.geometry.manoeuvre import (
    ASIDE,
    SAME_SPEED,
    Manoeuvre,
    Margin,
    keeps_action,
    keeps_lateral,
    keeps_longitudinal,
)
from cfgen.geometry.path import EgoPath
from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.offline.motion import road_shares
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.view import SceneView
from cfgen.planners.responders import Baseline, Target, place_of, plain
from cfgen.planners.settings import SCRIPTED
from cfgen.records import Camera, Case, Hazard, Trace
from cfgen.traces.settings import ROOM


@dataclass(frozen=True)
class Intent:
    """``longitudinal`` and ``lateral`` as meta-actions (laterally also one of ``ASIDE``); "" where words are silent."""

    longitudinal: str = ""
    lateral: str = ""


# --- does an action follow? -----------------------------------------------------------------------------------

_PACE = {"stop": "slow", "yield": "slow", "set speed tracking": "keep", "pass": "fast"}


def follows(intent: Intent, longitudinal: str, lateral: str) -> bool | None:
    """Whether a declared action is the announced one (E3); None where neither can be said.

    Where words are silent about speed or way they contradict no speed and no small move aside.
    """
    verdicts = _speed_follows(intent.longitudinal, longitudinal), _way_follows(intent.lateral, lateral)
    return False if False in verdicts else None if None in verdicts else True


def _speed_follows(announced: str, declared: str) -> bool | None:
    if not announced or announced == declared:
        return True
    if declared == "speed adapt":
        return True if _PACE[announced] == "slow" else None
    if declared not in _PACE:
        return None
    return _PACE[announced] == _PACE[declared]


def _way_follows(announced: str, declared: str) -> bool | None:
    side, kind = _side(declared), declared.removesuffix(" left").removesuffix(" right")
    if not declared or kind in ("merge", "pull over"):
        return None
    if not announced:
        return True if kind in ("lane keeping", "in-lane nudge") else None
    if _side(announced) != side:
        # a small move within the lane is still keeping it
        return (
            None
            if {kind, announced} == {"in-lane nudge", "lane keeping"} or _small(announced, kind)
            else False
        )
    if announced == declared or announced in ASIDE:
        return True if announced not in ASIDE or kind != "turn" else None
    return False if "turn" in (kind, announced.split()[0]) else None


def _small(announced: str, kind: str) -> bool:
    return kind == "lane keeping" and announced.startswith("in-lane nudge")


def _side(action: str) -> str:
    return next((side for side in ("left", "right") if action.endswith(side)), "")


# --- room --------------------------------------------------------------------------------------
# Where there is room beside the car's way: ground that perception saw as road, with nothing on it.


@dataclass(frozen=True)
class Room:
    """``lane``: the recorded way. ``view``: what the unchanged frame shows at t0, None where nobody kept it.

    ``kerb``: 1 where that is on the left, else -1.
    """

    lane: EgoPath
    camera: Camera
    view: SceneView | None
    kerb: int = -1

    def allows(self, waypoints: np.ndarray) -> bool:
        """Whether a plan (N, >= 2) stays on the recorded way, or goes where the frame shows free road and a lane.

        What lies farther than can be told is taken to go on as the road does there. Where nothing was seen there is
        no room.
        """
        xy = np.asarray(waypoints, float)[:, :2]
        key = xy.tobytes()
        if key not in self._allowed_plans:
            self._allowed_plans[key] = self._allows(xy)
        return self._allowed_plans[key]

    def _allows(self, xy: np.ndarray) -> bool:
        s, aside = self.lane.locate(xy)
        out = np.abs(aside) > ROOM.own_m
        if not out.any():
            return True
        reach = float(aside[np.abs(aside).argmax()])
        if self.view is None or (abs(reach) > ROOM.other_m and not self._lane_at(reach)):
            return False
        s, aside = np.clip(s[out], ROOM.nearest_m, ROOM.farthest_m), aside[out]
        beyond = np.linspace(min(s[0], ROOM.farthest_m - 10), ROOM.farthest_m, 6)
        s, aside = np.append(s, beyond), np.append(aside, np.full(len(beyond), reach))
        shares = road_shares(np.column_stack(self.lane.at(s, aside)), self.view, self.camera)
        visible = shares[np.isfinite(shares)]
        return bool(len(visible) >= ROOM.least_places and (visible >= ROOM.road).all())

    def _lane_at(self, reach: float) -> bool:
        """Whether a lane lies ``reach`` m to the left: road for all its width, and towards the kerb a line before it.

        Without a line, road towards the kerb may be a row for parked cars, or a verge that looks as flat.
        """
        side = 1 if reach > 0 else -1
        if self._lanes.line(side) is not None:
            return self._lanes.open_beyond(side, ROOM.half_lane_m)
        if side == self.kerb:
            return False
        edge = self._lanes.edge(side)
        return edge is None or abs(edge) > abs(reach) + ROOM.half_lane_m - 0.25

    @cached_property
    def _allowed_plans(self) -> dict[bytes, bool]:
        """What was answered: the same plan comes up again and again."""
        return {}

    @cached_property
    def _lanes(self) -> LanesSeen:
        assert self.view is not None
        return LanesSeen.of(self.view, self.camera, self.lane)


# --- facts -------------------------------------------------------------------------------------

#: Things that a street may hold by itself: that an edit did not add one does not make it absent from the frame.
_COMMON = re.compile(
    r"\b(?:car|cars|truck|trucks|lorry|van|bus|vehicle|vehicles|person|people|pedestrians?|man|woman|child|cyclist|"
    r"bicycle|motorcycle|motorcyclist|scooter|worker|workers|officer|driver|sign|signal|light|lights|cone|cones|"
    r"barrier|barriers|bollard|bin|bins|bag|bags|tree|pothole|puddle|tram|trailer|leaves)\b",
    re.IGNORECASE,
)
_UNCOMMON = re.compile(r"\b(?:fallen|burning|overturned|collapsed|spilled|spilt|flooded)\b", re.IGNORECASE)


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


def alike(first: str, second: str) -> bool:
    """Whether two names may mean one thing: they share a word, or are of one class of road objects."""
    if set(first.split()) & set(second.split()) - {"of", "a", "the"}:
        return True
    classes = [{class_of(word) for word, _ in things(name.lower())} for name in (first, second)]
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
        return not self.in_lane and aside - self.target.half_width < ROOM.beside_lane_m

    @property
    def lane(self) -> EgoPath:
        return self.base.path

    def done(self, waypoints: np.ndarray) -> Manoeuvre:
        return Manoeuvre.of(waypoints, self.base.speed, self.lane)

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
        stated_side, true_side = (_SIDE.search(words) for words in (place, self.place))
        if stated_side and true_side and stated_side[0] == true_side[0]:
            return None
        return False


@dataclass(frozen=True)
class ComposedTrace:
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


def relations(facts: CaseFacts, arm: str, answer: ComposedTrace) -> dict[str, Margin]:
    """What geometry and construction say of each relation; those of which they say nothing are left out."""
    trace = answer.trace
    driven = facts.done(answer.waypoints)
    margins: dict[str, Margin] = {}
    if answer.scene:
        margins["E1"] = Margin(facts.shows(answer.scene, arm))
    if answer.grounds:
        margins["E2"] = Margin(facts.shows(answer.grounds, arm))
    if answer.scene and answer.grounds:
        margins["E2-scene"] = Margin(premise(answer.scene, answer.grounds))
    if answer.intent:
        margins["E3"] = Margin(follows(answer.intent, trace.longitudinal, trace.lateral))
        margins["E5"] = keeps_intent(answer.intent, driven)
    margins["E4"] = keeps_action(trace.longitudinal, trace.lateral, driven)
    # a plan that drives where no room was seen is nobody's model of a good one, whatever it was told to do
    if any(margins[e].kept for e in ("E4", "E5") if e in margins) and not facts.room.allows(answer.waypoints):
        margins |= {e: Margin(None) for e in ("E4", "E5") if e in margins and margins[e].kept}
    return {name: margin for name, margin in margins.items() if margin.kept is not None}


def keeps_intent(intent: Intent, driven: Manoeuvre) -> Margin:
    """Whether the waypoints do what words announce; words that announce nothing are kept by any motion."""
    claims = []
    if intent.longitudinal:
        # words that keep the speed mean this one; the action may converge to another
        steady = intent.longitudinal == "set speed tracking"
        claims.append(keeps_longitudinal(SAME_SPEED if steady else intent.longitudinal, driven))
    if intent.lateral:
        claims.append(keeps_lateral(intent.lateral, driven))
    broken = [c for c in claims if c.kept is False]
    if broken:
        return max(broken, key=lambda c: c.by)
    return Margin(True if all(c.kept for c in claims) else None)
