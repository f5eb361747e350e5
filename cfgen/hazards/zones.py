"""Poses to try: where a hazard may stand relative to the ego path, which way it faces, how it moves."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.hazards.settings import POSES
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.road_by_colour import FAR_M
from cfgen.perception.view import VEHICLES
from cfgen.records import DistancePolicy, Hazard, HazardMotion, Lane, Scene, Zone

#: a float, or an array (N,)
Floats = Any


@dataclass(frozen=True)
class Pose:
    """One pose to try: s along the path and offset to its left, m; yaw relative to the path, rad; speed, m/s,
    along its own front, towards the side it faces."""

    zone: Zone
    s: float
    lateral: float
    yaw: float
    speed: float
    required_decel: float


@dataclass(frozen=True)
class Lanes:
    """The own lane and those beside it.

    Attributes:
        half: half its width, m. middle: of it, m to the left of the path. kerb: its side, -1 right, +1 left.
        open: sides with a lane of the own direction to change to; None where nothing tells.
        oncoming: whether a line is seen towards oncoming traffic; None where nothing tells.
        far_side: whether the far side of the road may be tried for what is harmless: somebody tells road from verge.
        edge: where the road ends on the kerb's side, m to the left of the path; None where that is not seen.
        astride: whether it is not known on which side of the only line the own lane lies.
        outer: where the outermost annotated lanes for traffic end, m to the right and to the left of the path.
        dashed: sides with a lane beyond a dashed line. crossing_road: whether a road crosses or joins.
    """

    half: float
    kerb: int
    middle: float = 0.0
    open: tuple[int, ...] | None = None
    oncoming: bool | None = None
    far_side: bool = False
    edge: float | None = None
    astride: bool = False
    outer: tuple[float, float] | None = None
    dashed: tuple[int, ...] = ()
    crossing_road: bool = False

    @classmethod
    def of(cls, scene: Scene, lanes: LanesSeen | None = None) -> "Lanes":
        """Its annotated lanes; else what its frame shows, and before that its ``lane_width_m`` and ``drive_on``."""
        half = float(scene.extra.get("lane_width_m", POSES.lane_width_m)) / 2
        kerb = 1 if scene.extra.get("drive_on") == "left" else -1
        if annotated := cls.annotated(scene, kerb):
            return annotated
        if lanes is None:
            return cls(half, kerb)
        sides = tuple(
            side for side in (-1, 1) if lanes.line(side) is not None and lanes.open_beyond(side, half)
        )
        middle, line = lanes.middle, lanes.line(kerb)
        seen = cls(
            half if lanes.width_m is None else lanes.width_m / 2,
            kerb,
            _middle_by_one(lanes, half) if middle is None else middle,
            sides,
            lanes.line(-kerb) is not None,
            edge=lanes.edge(kerb),
            dashed=lanes.dashed or (),
            crossing_road=lanes.crossing_road,
        )
        # where the motion is known, the path tells which lane is the own one
        unknown = middle is None and not scene.motion_known and not seen.oncoming
        return replace(seen, astride=unknown and line is not None and abs(line) < POSES.under_m)

    @classmethod
    def annotated(cls, scene: Scene, kerb: int) -> "Lanes | None":
        """By the scene's own ``lanes``; None where it has none, or none of them is the car's."""
        path = EgoPath.from_scene(scene, FAR_M)
        rows = [_Beside.of(path, lane) for lane in scene.lanes or ()]
        along = [row for row in rows if row is not None and row.direction]
        own = min(
            (row for row in along if row.direction > 0 and row.lane.use == "traffic"),
            key=lambda row: abs(row.lateral),
            default=None,
        )
        if own is None or abs(own.lateral) > own.lane.width_m / 2 + POSES.most_off_m:
            return None
        half = own.lane.width_m / 2
        sides = tuple(
            side
            for side in (-1, 1)
            if any(
                row.direction > 0
                and row.lane.use == "traffic"
                and half < side * (row.lateral - own.lateral) < 3 * half
                for row in along
            )
        )
        traffic = [row for row in along if row.lane.use == "traffic"]
        edge = max(kerb * row.lateral + row.lane.width_m / 2 for row in along)
        return cls(
            half,
            kerb,
            own.lateral,
            sides,
            any(row.direction < 0 for row in along),
            edge=kerb * edge,
            outer=(
                max(row.lane.width_m / 2 - row.lateral for row in traffic),
                max(row.lane.width_m / 2 + row.lateral for row in traffic),
            ),
            dashed=sides,
            crossing_road=any(row is not None and not row.direction for row in rows),
        )

    def missing(self, hazard: Hazard) -> str:
        """What of them the hazard needs and nobody sees: nothing is put beside a guessed line; "" for nothing."""
        if self.astride and hazard.kind == "hazard":
            return (
                "the only lane line in view runs under the car: on which side the own lane lies is not known"
            )
        if changes_lanes(hazard) and self.open == ():
            return "no lane of the own direction beside the own one"
        if not any(self.told(zone) for zone in hazard.zones):
            return "no line between the own lane and oncoming traffic in view"
        return ""

    def told(self, zone: Zone) -> bool:
        """Whether nothing speaks against the zone: what comes the other way needs the line that it crosses."""
        return zone != "oncoming" or self.oncoming is not False


@dataclass(frozen=True)
class _Beside:
    """An annotated lane near the path: ``lateral``, m to its left; ``direction``: 1 as it, -1 against it, 0 across."""

    lane: Lane
    lateral: float
    direction: int

    @classmethod
    def of(cls, path: EgoPath, lane: Lane) -> "_Beside | None":
        """None where it is not within what lies before the car."""
        line = np.array(lane.line)
        driven = np.append(0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T)))
        steps = np.linspace(0.0, driven[-1], max(int(driven[-1]), 2))
        s, lateral = path.locate(np.column_stack([np.interp(steps, driven, line[:, i]) for i in (0, 1)]))
        near = (s >= -2.0) & (s <= POSES.lanes_to_m) & (np.abs(lateral) < POSES.lanes_aside_m)
        if near.sum() < 2:
            return None
        ahead, aside = float(np.ptp(s[near])), float(np.ptp(lateral[near]))
        direction = 0 if aside > ahead else 1 if s[near][-1] > s[near][0] else -1
        return cls(lane, float(np.median(lateral[near])), direction)


def strip_of(lane: Lane) -> Array:
    """(2P, 2) m, the outline of an annotated lane."""
    line = np.array(lane.line)
    step = np.gradient(line, axis=0)
    left = np.column_stack([-step[:, 1], step[:, 0]]) / np.maximum(np.hypot(*step.T), 1e-6)[:, None]
    return np.vstack([line + left * lane.width_m / 2, (line - left * lane.width_m / 2)[::-1]])


def _middle_by_one(lanes: LanesSeen, half: float) -> float:
    """Of a lane ``half`` m wide to either side of which one line is seen, m to the left of the path; else the path."""
    for side in (1, -1):
        line = lanes.line(side)
        if line is not None and abs(line - side * half) <= POSES.most_off_m:
            return line - side * half
    return 0.0


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of one or several hazards, as columns (P,) that mean what those of :class:`Pose` mean; ``of``: whose."""

    hazards: Sequence[Hazard]
    of: np.ndarray
    zone: np.ndarray
    s: Array
    lateral: Array
    yaw: Array
    speed: Array
    decel: Array

    @classmethod
    def single(cls, hazard: Hazard, poses: Sequence[Pose]) -> "Poses":
        rows = [(p.s, p.lateral, p.yaw, p.speed, p.required_decel) for p in poses]
        zones = np.array([p.zone for p in poses], object)
        return cls([hazard], np.zeros(len(poses), int), zones, *np.array(rows, float).reshape(-1, 5).T)

    @classmethod
    def join(cls, parts: Sequence["Poses"]) -> "Poses":
        """All of ``parts``, of one hazard each."""
        names = ("zone", "s", "lateral", "yaw", "speed", "decel")
        columns = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
        of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return cls([part.hazards[0] for part in parts], of, *columns)

    def __len__(self) -> int:
        return len(self.s)

    def __getitem__(self, i: int) -> Pose:
        numbers = (float(column[i]) for column in (self.s, self.lateral, self.yaw, self.speed, self.decel))
        return Pose(self.zone[i], *numbers)

    def __iter__(self) -> Iterator[Pose]:
        return (self[i] for i in range(len(self)))

    def hazard(self, i: int) -> Hazard:
        return self.hazards[self.of[i]]

    def column(self, value: Callable[[Hazard], float | bool]) -> np.ndarray:
        """(P,) what each one's hazard has."""
        return np.array([value(hazard) for hazard in self.hazards])[self.of]


@dataclass(frozen=True)
class Response:
    """When a response must be due: constant deceleration between ``decel``, m/s^2, where the hazard has no band of its
    own, after 0.5 s; at least ``least_ttc_s`` to the collision; braking at the band's most begins within
    ``horizon_s``."""

    decel: tuple[float, float] = (1.0, 4.0)
    horizon_s: float = 4.0
    least_ttc_s: float = POSES.least_ttc_s


#: anywhere in view
ANYWHERE = Response((0.05, 100.0), math.inf, 0.0)


def poses_to_try(
    scene: Scene,
    hazard: Hazard,
    rng: np.random.Generator,
    response: Response = Response(),
    lanes: Lanes | None = None,
) -> Poses:
    """Poses in every zone of the hazard that need such a response, even over the deceleration; none where speed allows
    none, and of what changes lanes where there is no lane to come from."""
    lanes = lanes or Lanes.of(scene)
    parts = []
    for zone in () if lanes.missing(hazard) else filter(lanes.told, hazard.zones):
        count = POSES.tries_harmless if hazard.kind == "nuisance" else POSES.tries
        slowest, fastest = hazard.motion.speed
        if hazard.motion.kind == "along" and VEHICLES & {*hazard.seen_as}:
            fastest = max(fastest, POSES.fastest * scene.speed)
        speed = rng.uniform(slowest, fastest, count)
        lateral, yaw = _stand(zone, hazard, lanes, rng, count)
        if _drives(zone, hazard):
            yaw = yaw * np.minimum(1.0, POSES.straight_m / (2 * POSES.yaw * np.maximum(speed, 0.1)))
            lateral = _within(lateral, lanes, half_extents(hazard, yaw)[1] + POSES.straight_m)
        near, far = distances(hazard, scene.speed, speed, yaw, response)
        # even over the deceleration, so that every part of the band is tried
        share = (np.arange(count) + rng.uniform(size=count)) / count
        with np.errstate(invalid="ignore"):
            low, high = (required_decel(hazard, scene.speed, speed, yaw, s) for s in (far, near))
            decel = low + (high - low) * share
            s = _clear(hazard, scene.speed, speed, yaw) + _work(hazard, scene.speed, speed) / (2 * decel)
        if hazard.kind == "nuisance":
            s = near + (far - near) * share
            decel = required_decel(hazard, scene.speed, speed, yaw, s)
        use = near < far
        columns = (np.full(count, zone, object), s, lateral, yaw, speed, decel)
        parts.append(Poses([hazard], np.zeros(int(use.sum()), int), *(column[use] for column in columns)))
    if not parts:
        return Poses.single(hazard, [])
    return replace(Poses.join(parts), hazards=[hazard], of=np.zeros(sum(map(len, parts)), int))


def harmless(hazard: Hazard) -> Hazard:
    """The same object where no response is due: standing off the path, or on its way from it."""
    motion = hazard.motion if hazard.motion.kind == "crossing" else HazardMotion()
    return hazard.model_copy(
        update={
            "kind": "nuisance",
            "why": "It is beside the road and does not come closer; keep driving.",
            "zones": ("shoulder",),
            "motion": motion,
            "distance": DistancePolicy(),
            "road": "any",
            "responses": ("none",),
        }
    )


def _drives(zone: Zone, hazard: Hazard) -> bool:
    """Whether it drives along the own lane, which it does not leave."""
    return zone == "ego_lane" and hazard.motion.kind == "along"


def _within(lateral: Array, lanes: Lanes, across: Array) -> Array:
    """The offset nearest to ``lateral``, m, with ``across`` to either side within the own lane; else its middle."""
    room = np.maximum(lanes.half - across, 0.0)
    return np.clip(lateral, lanes.middle - room, lanes.middle + room)


def required_decel(hazard: Hazard, ego_speed: float, speed: Floats, yaw: Floats, s: Floats) -> Floats:
    """Constant deceleration after 0.5 s, m/s^2, that keeps the ego car 2 m clear of the hazard at ``s``, m along the
    path.

    Standing or crossing: stop in the gap, v^2 / 2g. Moving ahead at u: fall to its speed, (v - u)^2 / 2g. Coming
    towards the car: stop before they meet, (v^2 + 2 v u) / 2g.
    """
    gap = np.maximum(s - _clear(hazard, ego_speed, speed, yaw), 0.1)
    return _work(hazard, ego_speed, speed) / (2 * gap)


def time_to_collision(hazard: Hazard, ego_speed: float, speed: Floats, yaw: Floats, s: Floats) -> Floats:
    """Seconds until the ego car's nose reaches the hazard at ``s``, m along the path, at constant speeds."""
    gap = np.maximum(s - POSES.nose_m - half_extents(hazard, yaw)[0], 0.0)
    return gap / np.maximum(_closing(hazard, ego_speed, speed), 1e-3)


def distances(
    hazard: Hazard, ego_speed: float, speed: Floats, yaw: Floats, response: Response
) -> tuple[Array, Array]:
    """Nearest and farthest s, m, that need the response; empty (near >= far) where there is none."""
    closing, work = _closing(hazard, ego_speed, speed), _work(hazard, ego_speed, speed)
    clear = _clear(hazard, ego_speed, speed, yaw)
    low, high = band(hazard, ego_speed, speed, yaw, response)
    soonest = POSES.nose_m + half_extents(hazard, yaw)[0] + response.least_ttc_s * closing
    far = np.minimum(clear + work / (2 * low), hazard.distance.max_m)
    near = clear + work / (2 * high)
    if response.horizon_s < math.inf:
        far = np.minimum(far, near + (response.horizon_s - POSES.reaction_s) * closing)
    near = np.maximum(np.maximum(near, soonest), hazard.distance.min_m)
    return near, np.where(work > 0, far, 0.0)


def band(
    hazard: Hazard, ego_speed: float, speed: Floats, yaw: Floats, response: Response
) -> tuple[float, Floats]:
    """The least and the most deceleration that the hazard may require, m/s^2: on fast roads, where what must be done at
    4 m/s^2 is too far off to be seen, more than elsewhere."""
    low, high = hazard.distance.decel or response.decel
    if response.horizon_s == math.inf:
        return low, high
    near = _clear(hazard, ego_speed, speed, yaw) + _work(hazard, ego_speed, speed) / (2 * high)
    return low, np.where(near > POSES.in_sight_m, max(high, POSES.most_decel), high)


def half_extents(hazard: Hazard, yaw: Floats) -> tuple[Floats, Floats]:
    """Half of what the object takes up along and across the path, m."""
    c, s = np.abs(np.cos(yaw)), np.abs(np.sin(yaw))
    length, width = hazard.standing.length, hazard.standing.width
    return (c * length + s * width) / 2, (s * length + c * width) / 2


def velocity(hazard: Hazard, pose: Pose, heading: float) -> tuple[float, float]:
    """World velocity in the ego frame, m/s; ``heading``: that of the path at the pose."""
    if hazard.motion.kind == "static":
        return 0.0, 0.0
    direction = heading + pose.yaw
    if hazard.motion.kind == "contraflow":
        direction = heading + math.pi
    return pose.speed * math.cos(direction), pose.speed * math.sin(direction)


def _work(hazard: Hazard, v: float, u: Floats) -> Floats:
    """Twice the deceleration times the gap, m^2/s^2."""
    if hazard.motion.kind == "along":
        return np.where(np.asarray(u) < POSES.slower * v, (v - u) ** 2, 0.0)
    if hazard.motion.kind == "contraflow":
        return v * v + 2 * v * u
    return v * v + 0 * u


def _closing(hazard: Hazard, v: float, u: Floats) -> Floats:
    """How fast the gap shrinks, m/s."""
    signs = {"along": -1, "contraflow": 1}
    return v + signs.get(hazard.motion.kind, 0) * u


def _clear(hazard: Hazard, v: float, u: Floats, yaw: Floats) -> Floats:
    """What of ``s`` is no room to brake in, m: the car's nose, a gap, half the object, and the way before braking."""
    half = half_extents(hazard, yaw)[0]
    return POSES.nose_m + POSES.short_of_m + half + POSES.reaction_s * _closing(hazard, v, u)


def changes_lanes(hazard: Hazard) -> bool:
    """Whether it comes into the own lane from one beside it."""
    return hazard.motion.kind == "along" and hazard.zones == ("adjacent",)


def parks(hazard: Hazard) -> bool:
    """Whether it stands at the road's edge, on the kerb's side, and reaches into the own lane."""
    return hazard.kind == "hazard" and hazard.motion.kind == "static" and hazard.zones == ("adjacent",)


def _stand(
    zone: Zone, hazard: Hazard, lanes: Lanes, rng: np.random.Generator, count: int
) -> tuple[Array, Array]:
    """Offsets to the left of the path, m, and yaws relative to it, rad: (count,) each."""
    side = np.where(rng.uniform(size=count) < POSES.kerb_side, lanes.kerb, -lanes.kerb)
    if hazard.kind == "nuisance":
        return _beside_road(hazard, lanes, side, rng)
    if changes_lanes(hazard) and lanes.open:
        side = np.where(np.isin(side, lanes.open), side, -side)
    if hazard.motion.kind == "static" and zone in ("adjacent", "shoulder"):
        side = np.full(count, lanes.kerb)
    yaw = _yaw(hazard, side, rng)
    across = half_extents(hazard, yaw)[1]
    if hazard.motion.kind == "crossing":
        # its front has just entered the lane, or has come past the middle
        return lanes.middle + side * rng.uniform(0, np.maximum(across + 0.8, 1.6)), yaw
    if zone == "oncoming":
        # in the own lane, towards the side that it came from
        room = np.maximum(lanes.half - across, 0.0) + 0.5
        return lanes.middle - lanes.kerb * rng.uniform(0.1, np.maximum(room, 0.11)), yaw
    if zone in ("adjacent", "shoulder"):
        reach = np.maximum(0.75 * 2 * across if zone == "adjacent" else 0.4, 0.5)
        inwards = rng.uniform(POSES.least_inwards_m, reach, count)
        turn = -side * rng.uniform(0.05, 0.2, count) if hazard.motion.kind == "along" else 0.0
        lateral = side * lanes.middle + lanes.half + across
        out = lateral - inwards
        if parks(hazard) and lanes.edge is not None:
            at_edge = side * lanes.edge - across - rng.uniform(0, POSES.most_off_edge_m, count)
            # where sure road ends before the own lane does, it still stands beside that lane or nowhere
            fits = (lateral - reach <= at_edge) & (at_edge <= lateral - POSES.least_inwards_m)
            out = np.where(fits, at_edge, out)
        return side * out, yaw + turn
    room = np.clip(lanes.half - across, 0.25, 0.7)
    # what is wider than the lane reaches over its middle line rather than off the road
    middle = lanes.middle - lanes.kerb * np.maximum(across - lanes.half, 0.0)
    return middle + rng.uniform(-1, 1, count) * room, yaw


def _beside_road(
    hazard: Hazard, lanes: Lanes, side: np.ndarray, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Off the own lane, mostly on the kerb's side, and turned away from it where it moves.

    Beyond the oncoming lane only where somebody sees lanes or verge: colours alone may take that lane for the verge.
    """
    if lanes.open is None and not lanes.far_side:
        side = np.full(len(side), lanes.kerb)
    yaw = _yaw(hazard, -side, rng)
    across = half_extents(hazard, yaw)[1]
    if lanes.outer is not None:
        start = np.where(side < 0, lanes.outer[0] + lanes.middle, lanes.outer[1] - lanes.middle)
    else:
        start = np.where(side == lanes.kerb, lanes.half, 3 * lanes.half)
    # mostly near the road: farther off less is in the frame
    out = 0.1 + (POSES.farthest_beside_m - 0.1) * rng.uniform(size=len(side)) ** 2
    return lanes.middle + side * (start + across + out), yaw


def _yaw(hazard: Hazard, side: np.ndarray, rng: np.random.Generator) -> Array:
    """Of what crosses or faces the lane from ``side`` (N,)."""
    jitter = rng.uniform(-POSES.yaw, POSES.yaw, len(side))
    if hazard.motion.kind == "crossing":
        return -side * math.pi / 2 + jitter
    if hazard.heading == "across":
        return rng.choice([-1, 1], len(side)) * math.pi / 2 + jitter
    if hazard.heading == "facing":
        return math.pi + jitter
    if hazard.heading == "along":
        return jitter
    if hazard.size.length > POSES.long_m:
        return rng.choice([0, math.pi], len(side)) + 3 * jitter
    return rng.uniform(-math.pi, math.pi, len(side))
