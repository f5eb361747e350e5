"""Ways to break one edge of a consistent trace (Pinocchio section 8.3.1), each with the relation that it is to break.

A corruption returns the broken trace, or why it cannot be made. Whether it is really broken is decided afterwards, by
geometry and construction, never here.
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
from cfgen.traces.facts import ComposedTrace, Content, alike, named, rare
from cfgen.traces.scripted import DENIALS, MANOEUVRES, SCENES, VAGUE, Source, announced, braked, say


@dataclass(frozen=True)
class Broken:
    """A trace of which one relation should be broken, shown over the frame of ``arm``."""

    said: ComposedTrace
    provenance: Mapping[str, Any] = field(default_factory=dict)
    arm: str = "hazard"


Corrupt = Callable[[Source, Source, random.Random], Broken | str]


@dataclass(frozen=True)
class Corruption:
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


def _reworded(source: Source, words: Mapping[str, str], **parts: Any) -> ComposedTrace:
    """What the source says with other words in its trace, and what is known of them."""
    return replace(source.said, trace=source.said.trace.model_copy(update=words), **parts)


# --- a part of another case ---

#: part -> the fields of a trace that hold its words, and what is known of it
_PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "scene": (("scene",), ("scene",)),
    "justification": (("justification",), ("grounds", "intent")),
    "action": (("longitudinal", "lateral"), ()),
    "waypoints": ((), ("waypoints",)),
}


def _swap(part: str) -> Corrupt:
    words, known = _PARTS[part]

    def swap(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        swapped = _reworded(
            source,
            {name: getattr(donor.said.trace, name) for name in words},
            **{name: getattr(donor.said, name) for name in known},
        )
        if swapped.trace == source.said.trace and np.allclose(swapped.waypoints, source.said.waypoints):
            return "donor has the same"
        return Broken(swapped, {"donor": donor.facts.case.case_id})

    return swap


# --- one part rewritten ---


def _about(
    source: Source, part: str, thing: str, place: str, rng: random.Random, provenance: dict[str, Any]
) -> Broken:
    """The scene, or the justification, about another thing or place; what it announces stays."""
    content = Content(thing, place)
    if part == "scene":
        return Broken(
            _reworded(source, {"scene": say(rng.choice(SCENES), a(thing), place)}, scene=content), provenance
        )
    silent = source.said.intent is not None and not source.said.intent.longitudinal
    wordings = VAGUE if silent else MANOEUVRES[source.manoeuvre][2]
    words = say(rng.choice(wordings), a(thing), place, source.side)
    return Broken(_reworded(source, {"justification": words}, grounds=content), provenance)


def _wrong_object(part: str) -> Corrupt:
    """Another thing, of another cluster, that no street holds by itself."""

    def wrong(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        own = source.facts.case.hazard
        names = [n for n, cluster in _things() if cluster != own.cluster and not alike(n, plain(own.name))]
        if not names:
            return "no other thing to name"
        thing = rng.choice(names)
        return _about(source, part, thing, source.facts.place, rng, {"named": thing})

    return wrong


def _wrong_side(part: str) -> Corrupt:
    def wrong(source: Source, donor: Source, rng: random.Random) -> Broken | str:
        place = wrong_place(source.facts.target)
        return _about(source, part, source.facts.thing, place, rng, {"placed": place})

    return wrong


@cache
def _things() -> tuple[tuple[str, str], ...]:
    """Plain names and clusters of hazards that no street holds by itself."""
    hazards = load_taxonomy().hazards
    clusters = {named(h): h.cluster for h in hazards if h.kind == "hazard"}
    return tuple((name, cluster) for name, cluster in sorted(clusters.items()) if rare(name))


def _denied(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    words = {"scene": rng.choice(DENIALS)}
    return Broken(_reworded(source, words, scene=Content(denies=True)), {"denies": True})


def _before_the_edit(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    return Broken(source.said, {"frame": "before the edit"}, "original")


def _arguing(source: Source, manoeuvre: str, side: str, rng: random.Random) -> Broken:
    """A justification that argues for another manoeuvre about the same thing, in one of its wordings."""
    words = say(rng.choice(MANOEUVRES[manoeuvre][2]), a(source.facts.thing), source.facts.place, side)
    argued = _reworded(source, {"justification": words}, intent=announced(manoeuvre, side))
    return Broken(argued, {"argues": f"{manoeuvre} {side}".strip()})


def _for_another_speed(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    slow = source.manoeuvre in ("stop", "yield")
    return _arguing(source, rng.choice(("keep", "pass") if slow else ("stop", "yield")), source.side, rng)


def _for_the_other_side(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    if source.manoeuvre not in ("nudge", "lane change", "pass"):
        return "it keeps its lane"
    return _arguing(source, source.manoeuvre, "right" if source.side == "left" else "left", rng)


def _wrong_side_action(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    kind, _, side = source.said.trace.lateral.rpartition(" ")
    if side in ("left", "right"):
        return Broken(_reworded(source, {"lateral": f"{kind} {'right' if side == 'left' else 'left'}"}))
    actions = [x for x in LATERAL if x.endswith(("left", "right")) and not x.startswith("in-lane")]
    return Broken(_reworded(source, {"lateral": rng.choice(actions)}))


def _wrong_speed_action(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    slow = source.said.trace.longitudinal in ("stop", "yield", "speed adapt")
    action = rng.choice(("pass", "set speed tracking") if slow else ("stop", "yield"))
    return Broken(_reworded(source, {"longitudinal": action}))


# --- another motion ---


def _mirrored(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    """The way on the other side of the lane's middle; one that keeps to it leaves it by a lane."""
    s, aside = source.facts.lane.locate(source.said.waypoints[:, :2])
    if np.abs(aside).max() < 0.5:
        part = np.clip(s / max(s[-1], 1.0), 0, 1)
        aside = -rng.choice((-3.6, 3.6)) * part**2 * (3 - 2 * part)
    moved = source.facts.base.follow(np.append(0.0, s), np.append(0.0, -aside))
    return Broken(replace(source.said, waypoints=moved), {"motion": "mirrored"})


def _other_pace(source: Source, donor: Source, rng: random.Random) -> Broken | str:
    """The same way at another speed: what slows keeps its speed or gathers more, what keeps it brakes to a stand."""
    v, driven = source.facts.base.speed, source.facts.done(source.said.waypoints)
    if driven.slowest < v - 1.0:
        gain = rng.choice((0.0, 0.8))
        s, name = v * TIMES + gain * TIMES**2 / 2, "keeps its speed" if not gain else "gathers speed"
    else:
        s, name = braked(v, v / 3.2, 0.0), "brakes to a stand"
    points = np.column_stack(path_of_plan(source.said.waypoints).at(s[1:]))
    return Broken(replace(source.said, waypoints=points), {"motion": name})


KINDS: dict[str, Corruption] = {
    "scene of a near case": Corruption("E1", _swap("scene"), "near"),
    "scene of a far case": Corruption("E1", _swap("scene"), "far"),
    "wrong object in the scene": Corruption("E1", _wrong_object("scene")),
    "wrong side in the scene": Corruption("E1", _wrong_side("scene")),
    "scene denied": Corruption("E1", _denied),
    "frame before the edit": Corruption("E1", _before_the_edit),
    "justification of a near case": Corruption("E2", _swap("justification"), "near"),
    "justification of a far case": Corruption("E2", _swap("justification"), "far"),
    "wrong object in the justification": Corruption("E2", _wrong_object("justification")),
    "wrong side in the justification": Corruption("E2", _wrong_side("justification")),
    "scene without the premise, near": Corruption("E2-scene", _swap("scene"), "near"),
    "scene without the premise, far": Corruption("E2-scene", _swap("scene"), "far"),
    "premise elsewhere": Corruption("E2-scene", _wrong_side("justification")),
    "argues for another speed": Corruption("E3", _for_another_speed),
    "argues for the other side": Corruption("E3", _for_the_other_side),
    "action of another side": Corruption("E3", _wrong_side_action),
    "action of a near case": Corruption("E4", _swap("action"), "near"),
    "action of a far case": Corruption("E4", _swap("action"), "far"),
    "wrong side in the action": Corruption("E4", _wrong_side_action),
    "wrong speed in the action": Corruption("E4", _wrong_speed_action),
    "waypoints of a near case": Corruption("E4", _swap("waypoints"), "near"),
    "waypoints of a far case": Corruption("E4", _swap("waypoints"), "far"),
    "waypoints mirrored": Corruption("E5", _mirrored),
    "waypoints at another speed": Corruption("E5", _other_pace),
    "waypoints against the action": Corruption("E4", _other_pace),
    "waypoints against the words, near": Corruption("E5", _swap("waypoints"), "near"),
    "waypoints against the words, far": Corruption("E5", _swap("waypoints"), "far"),
}
