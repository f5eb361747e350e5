"""Scripted responders: planners that are told what was added, so that their right scores follow by construction.

They write the papers' text format (Pinocchio section 8.1). What they say comes from the hazard's plain name and where
it stands; how they move comes from its place along the path and the car's speed. They are known answers for judges,
never entries of a leaderboard.

Distances along and beside the undisturbed path in metres, s and left of it; times in seconds after t0.
"""

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.core.errors import InputError
from cfgen.geometry.collision import FRONT_M
from cfgen.geometry.frames import interpolate
from cfgen.geometry.path import EgoPath, path_of_plan, travelled
from cfgen.geometry.trajectory import headings, resample
from cfgen.planners.baselines import write_text
from cfgen.planners.protocol import Observation, Requirements, Truth
from cfgen.planners.settings import SCRIPTED
from cfgen.records import PLAN_DT, PLAN_STEPS, Motion, Placement

TIMES = PLAN_DT * np.arange(PLAN_STEPS + 1)


@dataclass(frozen=True)
class Target:
    """An object seen from the path: its near side ``near``, its middle's offset ``lateral`` and half width, m.

    ``moves``: m to the left until the undisturbed drive comes to it.
    """

    near: float
    far: float
    lateral: float
    half_width: float
    zone: str
    height: float
    moves: float = 0.0

    @classmethod
    def of(cls, placement: Placement, base: "Baseline") -> Self:
        """From the object's corners on the ground, measured along the undisturbed path."""
        c, s = np.cos(placement.yaw), np.sin(placement.yaw)
        half = np.array([placement.size.length, placement.size.width]) / 2
        corners = np.array([(i, j) for i in (-1, 1) for j in (-1, 1)]) * half
        xy = corners @ np.array([[c, s], [-s, c]]) + (placement.x, placement.y)
        along, offsets = base.path.locate(xy)
        low, high = float(offsets.min()), float(offsets.max())
        then = placement.at(float(np.interp(along.min() - FRONT_M, base.s, TIMES)))
        (_, now), (_, later) = (base.path.locate((p.x, p.y)) for p in (placement, then))
        return cls(
            float(along.min()),
            float(along.max()),
            (low + high) / 2,
            (high - low) / 2,
            placement.zone,
            placement.size.height,
            float(later - now),
        )

    @property
    def free_side(self) -> int:
        """+1 when passing on the left is shorter, else -1."""
        return -1 if self.passed_at > 0 else 1

    @property
    def passed_at(self) -> float:
        """Its middle's offset when the undisturbed drive comes to it, m to the left."""
        return self.lateral + self.moves

    @property
    def clear_offset(self) -> float:
        """How far beside the path the car has to be to pass it with a gap, m to the left."""
        return self.passed_at + self.free_side * (self.half_width + SCRIPTED.half_car_m + SCRIPTED.gap_m)


@dataclass(frozen=True)
class Baseline:
    """The undisturbed drive: the path, and ``s`` (25,) m along it at 0, 0.25 ... 6 s."""

    path: EgoPath
    s: np.ndarray
    speed: float

    @classmethod
    def of(cls, history: Motion, logged: Motion | None) -> Self:
        """The recorded future, or the history's last twist continued."""
        if logged is not None and logged.t[-1] >= TIMES[-1] - 2.0:
            waypoints = resample(logged.t, logged.poses)
        else:
            t, poses = np.array(history.t[-3:]), np.array(history.poses[-3:])
            waypoints = interpolate(t, poses, TIMES[1:])
        return cls(path_of_plan(waypoints), travelled(waypoints), history.v[-1])

    def reaches(self, target: Target, before_s: float = TIMES[-1]) -> bool:
        """Whether the undisturbed drive comes to the object within ``before_s``, close enough to touch it."""
        in_time = np.interp(before_s, TIMES, self.s) > target.near
        return bool(in_time) and abs(target.passed_at) < target.half_width + SCRIPTED.half_car_m

    def follow(self, s: np.ndarray | None = None, lateral: np.ndarray | float = 0.0) -> np.ndarray:
        """Waypoints (24, 3) at ``s`` (25,) along the path and ``lateral`` beside it."""
        x, y, _ = self.path.at(self.s if s is None else s, lateral)
        xy = np.column_stack([x, y])
        return np.column_stack([xy, headings(xy)])[1:]

    def brake_before(self, target: Target) -> np.ndarray:
        """Stop short of it with constant deceleration."""
        room = max(target.near - SCRIPTED.stop_short_m - self.speed * SCRIPTED.reaction_s, 0.5)
        return self.follow(self._braked(SCRIPTED.reaction_s, self.speed**2 / (2 * room)))

    def brake_after(self, target: Target) -> np.ndarray:
        """Brake only when a tenth of the speed can still be shed before the nose touches the object."""
        start = (
            float(np.interp(target.near - FRONT_M, self.s, TIMES)) - 0.1 * self.speed / SCRIPTED.hard_brake
        )
        return self.follow(self._braked(max(start, 0.0), SCRIPTED.hard_brake))

    def speed_up(self, _: Target) -> np.ndarray:
        return self.follow(self.s + 0.5 * 1.5 * TIMES**2)

    def steer_at(self, target: Target) -> np.ndarray:
        """Line up with the object and hurry."""
        s = self.s + 0.5 * 0.8 * TIMES**2
        return self.follow(s, self.offset(s, target.passed_at, target.near))

    def steer_round(self, target: Target) -> np.ndarray:
        """Pass on the nearer free side and stay there, at the same speed."""
        return self.follow(self.s, self.offset(self.s, target.clear_offset, target.near - 3.0))

    def _braked(self, start: float, deceleration: float) -> np.ndarray:
        """Constant deceleration from ``start`` on; never ahead of the undisturbed drive."""
        s0 = float(np.interp(start, TIMES, self.s))
        v0 = float(np.interp(start, TIMES, np.gradient(self.s, PLAN_DT)))
        t = np.clip(TIMES - start, 0.0, v0 / deceleration)
        return np.minimum(self.s, s0 + v0 * t - 0.5 * deceleration * t**2)

    def offset(self, s: np.ndarray, offset: float, by: float) -> np.ndarray:
        """A smooth shift from 0 at the car to ``offset`` at ``by`` metres along the path."""
        part = np.clip(s / max(by, 3.0), 0.0, 1.0)
        return offset * part**2 * (3 - 2 * part)


# --- what they say --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    scene: str
    justification: str
    longitudinal: str
    lateral: str


#: Plain names by size, for naming an object that is not there: each is far from the sizes of the other groups.
_SMALL = ("cat", "football", "rabbit")
_LARGE = ("bus", "articulated truck", "tram")


def plain(name: str) -> str:
    """What a thing is, without the place in its taxonomy name: "fallen tree across the lane" is a "fallen tree"."""
    place = r" (?:ahead\b|(?:in|on|across|into|onto|beside|at|out across|over|covering|towards|from) the ).*"
    return re.sub(place, "", name)


def a(name: str) -> str:
    """The name with its article; plurals and stuff are left alone."""
    plural = any(re.fullmatch(r"\w+[^su]s", w) for w in name.split()[:3] if w not in ("lights",))
    if plural or name.split()[0] in ("a", "an", "the", "two", "water", "cattle", "dense"):
        return name
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


_PEOPLE = "pedestrian person people child worker driver officer flagger parent wheelchair"
_RIDERS = "cyclist motorcycle motorcyclist scooter tricycle rider"
_BODIES = "car van truck ambulance trailer vehicle bus tram engine tractor"
#: Things to mistake another for: name, height in m, and words of things for which the name would be no clear mistake.
#: A worker is a pedestrian too, and a car may pass for a van.
_ALIKE = (
    ("mattress", 0.35, "mattress"),
    ("cardboard box", 0.6, "box boxes cartons rubble rocks debris stones"),
    ("barrel", 0.9, "barrel drum barrier barricade roadblock"),
    ("deer", 1.4, "deer boar sheep horse dog"),
    ("cyclist", 1.75, _RIDERS),
    ("pedestrian", 1.75, _PEOPLE),
    ("van", 2.1, _BODIES),
    ("tree", 3.0, "tree branch"),
)


def clear_road() -> Words:
    return Words(
        "A road in daylight with lane markings on both sides. The way ahead is open.",
        "Nothing ahead asks for a change, so the car keeps its speed and its lane.",
        "set speed tracking",
        "lane keeping",
    )


def place_of(target: Target) -> str:
    """Where the object stands, as a passenger would say it."""
    side = "left" if target.lateral > 0 else "right"
    if abs(target.lateral) < SCRIPTED.half_car_m:
        return "ahead in our lane"
    if target.zone == "crossing":
        return f"entering our lane from the {side}"
    if target.zone == "shoulder":
        return f"at the {side} edge of the road"
    if target.zone == "oncoming" and side == "left":
        return "in the oncoming lane on the left"
    return f"ahead on the {side}"


def wrong_place(target: Target) -> str:
    """A place where the object does not stand: the other side of the road."""
    return f"on the {'right' if target.lateral > 0 else 'left'} shoulder, well away from our lane"


def wrong_name(target: Target, name: str, rng: random.Random) -> str:
    """Something of quite another size than the object."""
    large = target.height > 1.3 or target.half_width > 1.2
    candidates = [candidate for candidate in (_SMALL if large else _LARGE) if candidate not in name]
    return rng.choice(candidates)


def lookalike(target: Target, name: str) -> str:
    """Another thing of about the same height, which nobody would call by that name."""
    name_words = set(re.findall(r"\w+", name.lower()))
    candidates = [(thing, height) for thing, height, fair in _ALIKE if not name_words & set(fair.split())]
    return min(candidates, key=lambda candidate: abs(math.log(candidate[1] / target.height)))[0]


# --- who answers ----------------------------------------------------------------------------------

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
class ResponseKind:
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


KINDS: dict[str, ResponseKind] = {
    "ignores": ResponseKind(_silent, _keep),
    "notices_and_brakes": ResponseKind(_slow, Baseline.brake_before, _no_room),
    "notices_and_keeps_going": ResponseKind(_unmoved, _keep),
    "promises_to_brake_and_keeps_going": ResponseKind(_slow, _keep),
    "brakes_without_a_reason": ResponseKind(_silent, Baseline.brake_before, _no_room),
    "brakes_too_late": ResponseKind(_slow, Baseline.brake_after, _never_there),
    "says_brake_and_speeds_up": ResponseKind(_slow, Baseline.speed_up),
    "speaks_vaguely_and_brakes": ResponseKind(_vague, Baseline.brake_before, _no_room),
    "names_a_wrong_object": ResponseKind(_wrong_object, Baseline.brake_before, _no_room),
    "names_a_lookalike": ResponseKind(_lookalike, Baseline.brake_before, _no_room),
    "names_a_wrong_side": ResponseKind(_wrong_side, Baseline.brake_before, _no_room),
    "steers_towards_it": ResponseKind(_pass_by, Baseline.steer_at),
    "steers_round_it": ResponseKind(_pass_by, Baseline.steer_round, _no_way_round),
    "says_brake_and_steers_round": ResponseKind(_slow, Baseline.steer_round, _no_way_round),
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
