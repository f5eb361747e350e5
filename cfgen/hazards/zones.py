"""Poses to try: where a hazard may stand relative to the ego path, which way it faces, how it moves."""

import math
from dataclasses import dataclass

import numpy as np

from cfgen.hazards.settings import POSES
from cfgen.perception.lanes import LanesSeen
from cfgen.records import Hazard, Scene, Zone


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
    """

    half: float
    kerb: int
    middle: float = 0.0
    open: tuple[int, ...] | None = None
    oncoming: bool | None = None
    far_side: bool = False
    edge: float | None = None
    astride: bool = False

    @classmethod
    def of(cls, scene: Scene, lanes: LanesSeen | None = None) -> "Lanes":
        """What the scene says, and before that what its frame shows."""
        half = float(scene.extra.get("lane_width_m", POSES.lane_width_m)) / 2
        kerb = 1 if scene.extra.get("drive_on") == "left" else -1
        if lanes is None:
            return cls(half, kerb)
        sides = tuple(
            side for side in (-1, 1) if lanes.line(side) is not None and lanes.open_beyond(side, half)
        )
        oncoming, edge = lanes.line(-kerb) is not None, lanes.edge(kerb)
        if lanes.middle is None or lanes.width_m is None:
            line = lanes.line(kerb)
            # where the motion is known, the path tells which lane is the own one
            astride = (
                not scene.motion_known and not oncoming and line is not None and abs(line) < POSES.under_m
            )
            return cls(half, kerb, _middle_by_one(lanes, half), sides, oncoming, edge=edge, astride=astride)
        return cls(lanes.width_m / 2, kerb, lanes.middle, sides, oncoming, edge=edge)

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


def _middle_by_one(lanes: LanesSeen, half: float) -> float:
    """Of a lane ``half`` m wide to either side of which one line is seen, m to the left of the path; else the path."""
    for side in (1, -1):
        line = lanes.line(side)
        if line is not None and abs(line - side * half) <= POSES.most_off_m:
            return line - side * half
    return 0.0


def poses_to_try(
    scene: Scene,
    hazard: Hazard,
    rng: np.random.Generator,
    decel_band: tuple[float, float],
    lanes: Lanes | None = None,
) -> list[Pose]:
    """Poses in every zone of the hazard whose required deceleration lies in the band; empty when speed allows none,
    and of what changes lanes where there is no lane to come from."""
    lanes = lanes or Lanes.of(scene)
    if lanes.missing(hazard):
        return []
    poses: list[Pose] = []
    tries = POSES.tries_crossing if hazard.motion.kind == "crossing" else POSES.tries
    tries = POSES.tries_harmless if hazard.kind == "nuisance" else tries
    for zone in filter(lanes.told, hazard.zones):
        for number in range(tries):
            speed = float(rng.uniform(*hazard.motion.speed))
            lateral, yaw = _stand(zone, hazard, lanes, rng)
            if _drives(zone, hazard):
                yaw *= min(1.0, POSES.straight_m / (2 * POSES.yaw * max(speed, 0.1)))
                lateral = _within(lateral, lanes, half_extents(hazard, yaw)[1] + POSES.straight_m)
            near, far = distances(hazard, scene.speed, speed, yaw, decel_band)
            # even over the whole range, so that the nearest clear place is found too
            share = (number + float(rng.uniform())) / tries
            if near < far:
                s = near * (far / near) ** share
                poses.append(
                    Pose(zone, s, lateral, yaw, speed, required_decel(hazard, scene.speed, speed, yaw, s))
                )
    return poses


def _drives(zone: Zone, hazard: Hazard) -> bool:
    """Whether it drives along the own lane, which it does not leave."""
    return zone == "ego_lane" and hazard.motion.kind == "along"


def _within(lateral: float, lanes: Lanes, across: float) -> float:
    """The offset nearest to ``lateral``, m, with ``across`` to either side within the own lane; else its middle."""
    room = max(lanes.half - across, 0.0)
    return min(max(lateral, lanes.middle - room), lanes.middle + room)


def required_decel(hazard: Hazard, ego_speed: float, speed: float, yaw: float, s: float) -> float:
    """Constant deceleration, m/s^2, that keeps the ego car clear of the hazard at ``s``, m along the path.

    Standing or crossing: stop in the gap, v^2 / 2g. Moving ahead at u: fall to its speed, (v - u)^2 / 2g. Coming
    towards the car: stop before they meet, (v^2 + 2 v u) / 2g.
    """
    gap = max(s - POSES.stop_margin_m - half_extents(hazard, yaw)[0], 0.1)
    return _work(hazard, ego_speed, speed) / (2 * gap)


def distances(
    hazard: Hazard, ego_speed: float, speed: float, yaw: float, decel_band: tuple[float, float]
) -> tuple[float, float]:
    """Nearest and farthest s, m, with a required deceleration in the band; empty (near >= far) when there is none."""
    low, high = hazard.distance.decel or decel_band
    work = _work(hazard, ego_speed, speed)
    clear = POSES.stop_margin_m + half_extents(hazard, yaw)[0]
    near, far = clear + work / (2 * high), clear + work / (2 * low)
    return max(near, hazard.distance.min_m), min(far, hazard.distance.max_m) if work > 0 else 0.0


def half_extents(hazard: Hazard, yaw: float) -> tuple[float, float]:
    """Half of what the object takes up along and across the path, m."""
    c, s = abs(math.cos(yaw)), abs(math.sin(yaw))
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


def _work(hazard: Hazard, v: float, u: float) -> float:
    """Twice the deceleration times the gap, m^2/s^2."""
    if hazard.motion.kind == "along":
        return (v - u) ** 2 if u < POSES.slower * v else 0.0
    if hazard.motion.kind == "contraflow":
        return v * v + 2 * v * u
    return v * v


def changes_lanes(hazard: Hazard) -> bool:
    """Whether it comes into the own lane from one beside it."""
    return hazard.motion.kind == "along" and hazard.zones == ("adjacent",)


def parks(hazard: Hazard) -> bool:
    """Whether it stands at the road's edge, on the kerb's side, and reaches into the own lane."""
    return hazard.kind == "hazard" and hazard.motion.kind == "static" and hazard.zones == ("adjacent",)


def _stand(zone: Zone, hazard: Hazard, lanes: Lanes, rng: np.random.Generator) -> tuple[float, float]:
    """Offset to the left of the path, m, and yaw relative to it, rad."""
    side = lanes.kerb if rng.uniform() < POSES.kerb_side else -lanes.kerb
    if changes_lanes(hazard) and lanes.open and side not in lanes.open:
        side = -side
    yaw = _yaw(hazard, side, rng)
    across = half_extents(hazard, yaw)[1]
    if hazard.kind == "nuisance":
        return _beside_road(lanes, across, rng), yaw
    if hazard.motion.kind == "crossing":
        # its front has just entered the lane, or has come past the middle
        return lanes.middle + side * float(rng.uniform(0, max(across + 0.8, 1.6))), yaw
    if zone == "oncoming":
        # in the own lane, towards the side that it came from
        return lanes.middle - lanes.kerb * float(rng.uniform(0.1, max(lanes.half - across, 0.0) + 0.5)), yaw
    if zone in ("adjacent", "shoulder"):
        reach = 0.75 * 2 * across if zone == "adjacent" else 0.4
        inwards = float(rng.uniform(POSES.least_inwards_m, max(reach, 0.5)))
        side = lanes.kerb if hazard.motion.kind == "static" else side
        turn = -side * float(rng.uniform(0.05, 0.2)) if hazard.motion.kind == "along" else 0.0
        lateral = side * lanes.middle + lanes.half + across
        if parks(hazard) and lanes.edge is not None:
            at_edge = side * lanes.edge - across - float(rng.uniform(0, POSES.most_off_edge_m))
            # where sure road ends before the own lane does, it still stands beside that lane or nowhere
            if lateral - max(reach, 0.5) <= at_edge <= lateral - POSES.least_inwards_m:
                return side * at_edge, yaw
        return side * (lateral - inwards), yaw + turn
    room = min(max(lanes.half - across, 0.25), 0.7)
    # what is wider than the lane reaches over its middle line rather than off the road
    middle = lanes.middle - lanes.kerb * max(across - lanes.half, 0.0)
    return middle + float(rng.uniform(-1, 1)) * room, yaw


def _beside_road(lanes: Lanes, across: float, rng: np.random.Generator) -> float:
    """Offset to the left of the path, m, of what stands beside the road: mostly on the kerb's side.

    Beyond the oncoming lane only where somebody sees lanes or verge: colours alone may take that lane for the verge.
    """
    far = rng.uniform() >= POSES.kerb_side and (lanes.open is not None or lanes.far_side)
    edge = 3 * lanes.half if far else lanes.half
    side = -lanes.kerb if far else lanes.kerb
    return lanes.middle + side * (edge + across + float(rng.uniform(0.1, POSES.farthest_beside_m)))


def _yaw(hazard: Hazard, side: int, rng: np.random.Generator) -> float:
    jitter = float(rng.uniform(-POSES.yaw, POSES.yaw))
    if hazard.motion.kind == "crossing":
        return -side * math.pi / 2 + jitter
    if hazard.heading == "across":
        return float(rng.choice([-1, 1])) * math.pi / 2 + jitter
    if hazard.heading == "facing":
        return math.pi + jitter
    if hazard.heading == "along":
        return jitter
    if hazard.size.length > POSES.long_m:
        return float(rng.choice([0, math.pi])) + 3 * jitter
    return float(rng.uniform(-math.pi, math.pi))
