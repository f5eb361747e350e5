"""Scripted responders: planners that are told what was added, so that their right scores follow by construction.

They write the papers' text format (Pinocchio section 8.1). What they say comes from the hazard's plain name and
where it stands; how they move comes from its place along the path and the car's speed. They are known answers for
judges, never entries of a leaderboard.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cfgen.core.errors import InputError
from cfgen.planners.builtin import write_text
from cfgen.planners.protocol import Observation, Requirements, Truth
from cfgen.planners.responder_motion import Baseline, Target
from cfgen.planners.responder_text import (
    Words,
    a,
    clear_road,
    lookalike,
    place_of,
    plain,
    wrong_name,
    wrong_place,
)

Say = Callable[["Seen"], Words]
Move = Callable[[Baseline, Target], np.ndarray]


@dataclass(frozen=True)
class Seen:
    """What a responder's words are made of."""

    name: str
    place: str
    target: Target
    rng: random.Random


@dataclass(frozen=True)
class Kind:
    """One way to respond. ``unfit`` tells why it cannot be acted out for a target, or ""; when it cannot, the
    responder brakes instead, and a probe leaves the case out."""

    say: Say
    move: Move
    unfit: Callable[[Baseline, Target], str] = lambda base, target: ""


def _slow(scene: Seen) -> Words:
    text = scene.rng.choice(
        [
            f"The {scene.name} {scene.place} is a danger, so the car slows down and is ready to stop.",
            f"Because of the {scene.name} {scene.place}, braking is needed to keep a safe distance.",
            f"I am reducing speed and yielding, since there is {a(scene.name)} {scene.place}.",
        ]
    )
    return Words(f"There is {a(scene.name)} {scene.place}.", text, "yield", "lane keeping")


def _pass_by(scene: Seen) -> Words:
    side = "left" if scene.target.free_side > 0 else "right"
    text = f"To keep clear of the {scene.name}, the car steers {side} around it and then carries on."
    return Words(f"There is {a(scene.name)} {scene.place}.", text, "speed adapt", f"out-of-lane nudge {side}")


def _unmoved(scene: Seen) -> Words:
    text = f"The {scene.name} needs no reaction, so the car keeps its speed and its lane."
    return Words(f"There is {a(scene.name)} {scene.place}.", text, "set speed tracking", "lane keeping")


def _vague(scene: Seen) -> Words:
    text = scene.rng.choice(
        [
            "Something may be wrong with the road, so the car slows down to be careful.",
            "The car reduces its speed because of a possible hazard.",
        ]
    )
    return Words("There is something unusual in the scene.", text, "speed adapt", "lane keeping")


def _silent(_: Seen) -> Words:
    return clear_road()


def _wrong_object(scene: Seen) -> Words:
    return _slow(Seen(wrong_name(scene.target, scene.name, scene.rng), scene.place, scene.target, scene.rng))


def _lookalike(scene: Seen) -> Words:
    return _slow(Seen(lookalike(scene.target, scene.name), scene.place, scene.target, scene.rng))


def _wrong_side(scene: Seen) -> Words:
    return _slow(Seen(scene.name, wrong_place(scene.target), scene.target, scene.rng))


def _keep(base: Baseline, _: Target) -> np.ndarray:
    return base.follow()


def _no_room(base: Baseline, target: Target) -> str:
    return (
        "" if base.speed > 2.0 and target.near > 3.0 else "the car is too slow, or too near, to brake for it"
    )


def _never_there(base: Baseline, target: Target) -> str:
    """To brake too late, the car must come to touch it while there is still some of the plan left."""
    return _no_room(base, target) or (
        "" if base.reaches(target, 4.5) else "the car would not touch it within 4.5 s"
    )


def _no_way_round(base: Baseline, target: Target) -> str:
    if not base.reaches(target):
        return "the car would not touch it within 6 s"
    return "" if abs(target.clear_offset) < 4.5 else "it is too wide to steer round"


KINDS: dict[str, Kind] = {
    "ignores": Kind(_silent, _keep),
    "notices_and_brakes": Kind(_slow, Baseline.brake_before, _no_room),
    "notices_and_keeps_going": Kind(_unmoved, _keep),
    "promises_to_brake_and_keeps_going": Kind(_slow, _keep),
    "brakes_without_a_reason": Kind(_silent, Baseline.brake_before, _no_room),
    "brakes_too_late": Kind(_slow, Baseline.brake_after, _never_there),
    "says_brake_and_speeds_up": Kind(_slow, Baseline.speed_up),
    "speaks_vaguely_and_brakes": Kind(_vague, Baseline.brake_before, _no_room),
    "names_a_wrong_object": Kind(_wrong_object, Baseline.brake_before, _no_room),
    "names_a_lookalike": Kind(_lookalike, Baseline.brake_before, _no_room),
    "names_a_wrong_side": Kind(_wrong_side, Baseline.brake_before, _no_room),
    "steers_towards_it": Kind(_pass_by, Baseline.steer_at),
    "steers_round_it": Kind(_pass_by, Baseline.steer_round, _no_way_round),
    "says_brake_and_steers_round": Kind(_slow, Baseline.steer_round, _no_way_round),
}


class Responder:
    """Told the truth, answers by script: one kind of scripted responder.

    Args:
        kind: a key of :data:`KINDS`.

    Raises:
        InputError: there is no such kind.
    """

    def __init__(self, kind: str = "notices_and_brakes") -> None:
        if kind not in KINDS:
            raise InputError(
                f"scripted responder: kind '{kind}' is not known; expected one of: {', '.join(KINDS)}"
            )
        self.name = f"scripted-{kind}"
        self.kind = KINDS[kind]
        self.needs = Requirements(cameras=(), frame_times=(), truth=True)

    def plan(self, observations: Sequence[Observation]) -> list[str]:
        return [self._answer(o) for o in observations]

    def _answer(self, observation: Observation) -> str:
        base = Baseline.of(observation.history, observation.logged)
        truth = observation.truth or Truth(None, None)
        if truth.hazard is None or truth.placement is None or truth.hazard.kind != "hazard":
            return _write(clear_road(), base.follow())
        target = Target.of(truth.placement, base)
        rng = random.Random(observation.seed)
        kind = KINDS["notices_and_brakes"] if self.kind.unfit(base, target) else self.kind
        words = kind.say(Seen(plain(truth.hazard.name), place_of(target), target, rng))
        return _write(words, kind.move(base, target))


def _write(words: Words, waypoints: np.ndarray) -> str:
    return write_text(words.scene, words.justification, words.longitudinal, words.lateral, waypoints)
