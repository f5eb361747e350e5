"""Ways to break one edge of a consistent trace (Pinocchio section 8.3.1), each with the relation that it is to break.

A corruption returns the broken trace, or why it cannot be made. Whether it is really broken is decided afterwards, by
geometry and construction, never here. First the synthetic failures, for verifiers of plans: words and action stay, the
motion fails them, as in SEAL (section V-D, Figure 5) and VEGAS (section 4.1, appendix 10.2).
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from cfgen.geometry.path import path_of_plan
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.planners.responders import TIMES, a, plain, wrong_place
from cfgen.records import LATERAL, Relation
from cfgen.traces.facts import Content, Said, alike, named, rare
from cfgen.traces.scripted import DENIALS, MANOEUVRES, SCENES, VAGUE, Source, acted, announced, braked, say
from cfgen.traces.settings import POOL

#: waypoints (24, 3) that fail a consistent trace, or why there are none
Fail = Callable[[Source, random.Random], np.ndarray | str]


def _along(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """(25,) m along the lane and beside it, from t0 on."""
    s, aside = source.facts.lane.locate(source.said.waypoints[:, :2])
    return np.append(0.0, s), np.append(0.0, aside)


def _other_plan(source: Source, rng: random.Random) -> np.ndarray | str:
    """Another manoeuvre, carried out well: "a totally different plan"."""
    manoeuvres = [name for name in sorted(MANOEUVRES) if name != source.manoeuvre]
    return acted(source.facts.base, rng.choice(manoeuvres), rng.choice(("left", "right")))


def _short(source: Source, rng: random.Random) -> np.ndarray | str:
    """A little of it: the right thing, not enough of it."""
    s, aside = _along(source)
    steady, part = source.facts.base.speed * TIMES, rng.uniform(*POOL.short)
    return source.facts.base.follow(steady + part * (s - steady), part * aside)


def _late(source: Source, rng: random.Random) -> np.ndarray | str:
    """The same, begun when most of the plan is over."""
    s, aside = _along(source)
    begin, v = rng.uniform(*POOL.late_s), source.facts.base.speed
    since = np.maximum(TIMES - begin, 0.0)
    s = np.where(since > 0, v * begin + np.interp(since, TIMES, s), v * TIMES)
    return source.facts.base.follow(s, np.interp(since, TIMES, aside))


def _half(source: Source, rng: random.Random) -> np.ndarray | str:
    """Of a manoeuvre along and across the lane one alone."""
    s, aside = _along(source)
    steady = source.facts.base.speed * TIMES
    if np.abs(aside).max() < 0.5 or np.abs(s - steady).max() < 2.0:
        return "it is of one part"
    return source.facts.base.follow(*((s, np.zeros_like(s)) if rng.random() < 0.5 else (steady, aside)))


FAILURES: dict[str, Fail] = {
    "another plan driven": _other_plan,
    "falls short": _short,
    "begins too late": _late,
    "half of it driven": _half,
}


def synthetic(kind: str) -> bool:
    """Whether a kind of a pool ("E4: falls short of the action") is one of these."""
    return any(f"{name} " in f"{kind} " for name in FAILURES)


# --- corruptions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    """A trace that should be broken on ``target``, shown over the frame of ``arm``."""

    said: Said
    arm: str
    target: Relation
    provenance: Mapping[str, Any] = field(default_factory=dict)


Corrupt = Callable[[Source, Source, random.Random], Broken | str]


@dataclass(frozen=True)
class Kind:
    """``donor``: "near" (same drive or same kind of hazard), "far" (neither), or "" for none."""

    target: Relation
    make: Corrupt
    donor: str = ""


def near(first: Source, second: Source) -> bool:
    """Whether two traces are of the same drive, or about hazards of the same cluster."""
    return (
        first.facts.drive == second.facts.drive
        or first.facts.case.hazard.cluster == second.facts.case.hazard.cluster
    )


# --- swaps with another case ----------------------------------------------------------------------------------


def _swap_scene(target: Relation) -> Corrupt:
    def swap(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        if donor.said.trace.scene == source.said.trace.scene:
            return "donor says the same"
        trace = source.said.trace.model_copy(update={"scene": donor.said.trace.scene})
        return Broken(
            replace(source.said, trace=trace, scene=donor.said.scene), source.arm, target, _donor(donor)
        )

    return swap


def _swap_justification(target: Relation) -> Corrupt:
    def swap(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        if donor.said.trace.justification == source.said.trace.justification:
            return "donor says the same"
        trace = source.said.trace.model_copy(update={"justification": donor.said.trace.justification})
        answer = replace(source.said, trace=trace, grounds=donor.said.grounds, intent=donor.said.intent)
        return Broken(answer, source.arm, target, _donor(donor))

    return swap


def _swap_action(target: Relation) -> Corrupt:
    def swap(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        donor_trace = donor.said.trace
        action = {"longitudinal": donor_trace.longitudinal, "lateral": donor_trace.lateral}
        if all(getattr(source.said.trace, name) == value for name, value in action.items()):
            return "donor does the same"
        return _acting(source, action, target, _donor(donor))

    return swap


def _swap_waypoints(target: Relation) -> Corrupt:
    def swap(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        points = donor.said.waypoints
        if points.shape == source.said.waypoints.shape and np.allclose(points, source.said.waypoints):
            return "donor drives the same"
        return Broken(replace(source.said, waypoints=points), source.arm, target, _donor(donor))

    return swap


def _donor(donor: Source) -> dict[str, Any]:
    return {"donor": donor.facts.case.case_id}


# --- one part rewritten -----------------------------------------------------------------------------------------


def _wrong_object(part: str, target: Relation) -> Corrupt:
    """Another thing, of another cluster, that no street holds by itself."""

    def wrong(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        own = source.facts.case.hazard
        names = [n for n, cluster in _things() if cluster != own.cluster and not alike(n, plain(own.name))]
        if not names:
            return "no other thing to name"
        thing = rng.choice(names)
        return _said_of(source, part, thing, source.facts.place, target, rng, {"named": thing})

    return wrong


def _wrong_side(part: str, target: Relation) -> Corrupt:
    def wrong(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        place = wrong_place(source.facts.target)
        return _said_of(source, part, source.facts.thing, place, target, rng, {"placed": place})

    return wrong


def _said_of(
    source: Source,
    part: str,
    thing: str,
    place: str,
    target: Relation,
    rng: random.Random,
    provenance: dict[str, Any],
) -> Broken:
    """The scene, or the justification, about another thing or place; what it announces stays."""
    content, answer = Content(thing, place), source.said
    if part == "scene":
        words = say(rng.choice(SCENES), a(thing), place)
        trace = answer.trace.model_copy(update={"scene": words})
        return Broken(replace(answer, trace=trace, scene=content), source.arm, target, provenance)
    silent = answer.intent is not None and not answer.intent.longitudinal
    wordings = VAGUE if silent else MANOEUVRES[source.manoeuvre][2]
    words = say(rng.choice(wordings), a(thing), place, source.side)
    trace = answer.trace.model_copy(update={"justification": words})
    return Broken(replace(answer, trace=trace, grounds=content), source.arm, target, provenance)


@cache
def _things() -> tuple[tuple[str, str], ...]:
    """Plain names and clusters of hazards that no street holds by itself."""
    hazards = load_taxonomy().hazards
    clusters = {named(h): h.cluster for h in hazards if h.kind == "hazard"}
    return tuple((name, cluster) for name, cluster in sorted(clusters.items()) if rare(name))


def _denied(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    words = rng.choice(DENIALS)
    trace = source.said.trace.model_copy(update={"scene": words})
    answer = replace(source.said, trace=trace, scene=Content(denies=True))
    return Broken(answer, source.arm, "E1", {"denies": True})


def _other_frame(target: Relation) -> Corrupt:
    """The same words over the frame before the edit."""

    def over(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        return Broken(source.said, "original", target, {"frame": "before the edit"})

    return over


def _other_manoeuvre(which: Callable[[Source, random.Random], tuple[str, str] | str]) -> Corrupt:
    """A justification that argues for another manoeuvre about the same thing, in one of its wordings."""

    def argue(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        argued = which(source, rng)
        if isinstance(argued, str):
            return argued
        manoeuvre, side = argued
        words = say(rng.choice(MANOEUVRES[manoeuvre][2]), a(source.facts.thing), source.facts.place, side)
        trace = source.said.trace.model_copy(update={"justification": words})
        answer = replace(source.said, trace=trace, intent=announced(manoeuvre, side))
        return Broken(answer, source.arm, "E3", {"argues": f"{manoeuvre} {side}".strip()})

    return argue


_SLOW, _STEADY = ("stop", "yield"), ("keep", "nudge", "lane change")


def _other_speed(source: Source, rng: random.Random) -> tuple[str, str] | str:
    steady = source.manoeuvre in (*_STEADY, "pass")
    return rng.choice(_SLOW if steady else ("keep", "pass")), source.side


def _other_side(source: Source, rng: random.Random) -> tuple[str, str] | str:
    if source.manoeuvre not in ("nudge", "lane change", "pass"):
        return "it keeps its lane"
    return source.manoeuvre, "right" if source.side == "left" else "left"


# --- action and motion --------------------------------------------------------------------------------------------


def _acting(source: Source, action: dict[str, str], target: Relation, provenance: dict[str, Any]) -> Broken:
    trace = source.said.trace.model_copy(update=action)
    return Broken(replace(source.said, trace=trace), source.arm, target, provenance)


def _wrong_side_action(target: Relation) -> Corrupt:
    def wrong(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        lateral = source.said.trace.lateral
        if lateral.endswith("left"):
            return _acting(source, {"lateral": lateral.removesuffix("left") + "right"}, target, {})
        if lateral.endswith("right"):
            return _acting(source, {"lateral": lateral.removesuffix("right") + "left"}, target, {})
        actions = [x for x in LATERAL if x.endswith(("left", "right")) and not x.startswith("in-lane")]
        return _acting(source, {"lateral": rng.choice(actions)}, target, {})

    return wrong


def _wrong_speed_action(target: Relation) -> Corrupt:
    def wrong(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        slow = source.said.trace.longitudinal in ("stop", "yield", "speed adapt")
        action = rng.choice(("pass", "set speed tracking") if slow else ("stop", "yield"))
        return _acting(source, {"longitudinal": action}, target, {})

    return wrong


def _mirrored(target: Relation) -> Corrupt:
    """The way on the other side of the lane's middle; one that keeps to it leaves it by a lane."""

    def mirror(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        lane, points = source.facts.lane, source.said.waypoints
        s, aside = lane.locate(points[:, :2])
        if np.abs(aside).max() < 0.5:
            part = np.clip(s / max(s[-1], 1.0), 0, 1)
            aside = -rng.choice((-3.6, 3.6)) * part**2 * (3 - 2 * part)
        moved = source.facts.base.follow(np.append(0.0, s), np.append(0.0, -aside))
        return Broken(replace(source.said, waypoints=moved), source.arm, target, {"motion": "mirrored"})

    return mirror


def _other_pace(target: Relation) -> Corrupt:
    """The same way at another speed: what slows keeps its speed or gathers more, what keeps it brakes to a stand."""

    def pace(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        v, driven = source.facts.base.speed, source.facts.done(source.said.waypoints)
        if driven.slowest < v - 1.0:
            gain = rng.choice((0.0, 0.8))
            s, name = v * TIMES + gain * TIMES**2 / 2, "keeps its speed" if not gain else "gathers speed"
        else:
            s, name = braked(v, v / 3.2, 0.0), "brakes to a stand"
        path = path_of_plan(source.said.waypoints)
        x, y, heading = path.at(s[1:])
        points = np.column_stack([x, y, heading])
        return Broken(replace(source.said, waypoints=points), source.arm, target, {"motion": name})

    return pace


def _failing(fail: Fail, target: Relation) -> Corrupt:
    def drive(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        points = fail(source, rng)
        if isinstance(points, str):
            return points
        return Broken(replace(source.said, waypoints=points), source.arm, target, {"synthetic": True})

    return drive


KINDS: dict[str, Kind] = {
    "scene of a near case": Kind("E1", _swap_scene("E1"), "near"),
    "scene of a far case": Kind("E1", _swap_scene("E1"), "far"),
    "wrong object in the scene": Kind("E1", _wrong_object("scene", "E1")),
    "wrong side in the scene": Kind("E1", _wrong_side("scene", "E1")),
    "scene denied": Kind("E1", _denied),
    "frame before the edit": Kind("E1", _other_frame("E1")),
    "justification of a near case": Kind("E2", _swap_justification("E2"), "near"),
    "justification of a far case": Kind("E2", _swap_justification("E2"), "far"),
    "wrong object in the justification": Kind("E2", _wrong_object("justification", "E2")),
    "wrong side in the justification": Kind("E2", _wrong_side("justification", "E2")),
    "scene without the premise, near": Kind("E2-scene", _swap_scene("E2-scene"), "near"),
    "scene without the premise, far": Kind("E2-scene", _swap_scene("E2-scene"), "far"),
    "premise elsewhere": Kind("E2-scene", _wrong_side("justification", "E2-scene")),
    "argues for another speed": Kind("E3", _other_manoeuvre(_other_speed)),
    "argues for the other side": Kind("E3", _other_manoeuvre(_other_side)),
    "action of another side": Kind("E3", _wrong_side_action("E3")),
    "action of a near case": Kind("E4", _swap_action("E4"), "near"),
    "action of a far case": Kind("E4", _swap_action("E4"), "far"),
    "wrong side in the action": Kind("E4", _wrong_side_action("E4")),
    "wrong speed in the action": Kind("E4", _wrong_speed_action("E4")),
    "waypoints of a near case": Kind("E4", _swap_waypoints("E4"), "near"),
    "waypoints of a far case": Kind("E4", _swap_waypoints("E4"), "far"),
    "waypoints mirrored": Kind("E5", _mirrored("E5")),
    "waypoints at another speed": Kind("E5", _other_pace("E5")),
    "waypoints against the action": Kind("E4", _other_pace("E4")),
    "waypoints against the words, near": Kind("E5", _swap_waypoints("E5"), "near"),
    "waypoints against the words, far": Kind("E5", _swap_waypoints("E5"), "far"),
    **{f"{name} (action)": Kind("E4", _failing(fail, "E4")) for name, fail in FAILURES.items()},
    **{f"{name} (words)": Kind("E5", _failing(fail, "E5")) for name, fail in FAILURES.items()},
}
