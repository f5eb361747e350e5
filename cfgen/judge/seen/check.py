"""Claims held against what is known: the cameras' fields, the placed hazard, the recorded motion."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cfgen.geometry.camera import rotation, unproject
from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.seen.claims import Claim, read_claims
from cfgen.metrics.clearance import FRONT_M
from cfgen.planners.responder_text import plain
from cfgen.records import Camera, Hazard, Motion, Placement

#: A distance by eye may be off by this share and so many metres.
DISTANCE_SHARE, DISTANCE_M = 0.3, 3.0
#: A speed likewise, m/s.
SPEED_SHARE, SPEED_MS = 0.2, 2.0
#: m/s and m/s^2 and rad/s below which something is taken to stand, to keep its speed, to go straight.
STANDS, STEADY, STRAIGHT = 0.5, 0.3, 0.03
#: What counts as behind and beside: rad to either side of straight ahead.
BEHIND, BESIDE = math.radians(150), math.radians(75)
#: m beside the lane's middle up to which a thing may be said to stand in the lane
_LANE_M = 1.9


@dataclass(frozen=True)
class Checked:
    """``verdict``: "refuted" by ``why``, "possible" as far as is known, or "unknown" where nothing is known of it."""

    claim: Claim
    verdict: Literal["possible", "refuted", "unknown"]
    why: str


@dataclass(frozen=True)
class Known:
    """What is known of one frame.

    Attributes:
        cameras: those that the planner saw. history: its motion up to t0. hazard, placement: what was put there, None
            where nothing was.
    """

    cameras: tuple[Camera, ...]
    history: Motion
    hazard: Hazard | None = None
    placement: Placement | None = None

    @property
    def thing(self) -> str:
        """The class of the hazard's name."""
        found = things(plain(self.hazard.name).lower()) if self.hazard else []
        return class_of(found[0][0]).name if found else ""


def check_words(text: str, known: Known) -> list[Checked]:
    """A verdict on every claim in a planner's words."""
    return [check(claim, known) for claim in read_claims(text)]


def check(claim: Claim, known: Known) -> Checked:
    """One claim."""
    if claim.topic == "direction":
        return _direction(claim, known.cameras)
    if claim.topic == "own motion":
        return _own_motion(claim, known.history)
    if known.placement is None or known.hazard is None or claim.thing != known.thing:
        return Checked(claim, "unknown", "nothing is known of this thing but what the frame shows")
    if claim.topic == "distance":
        return _distance(claim, known.hazard, known.placement)
    if claim.topic == "side":
        return _side(claim, known.hazard, known.placement)
    return _its_motion(claim, known.hazard, known.placement)


# --- what the cameras cover -----------------------------------------------------------------------------------


def covered(camera: Camera) -> tuple[float, float]:
    """Middle and half width of a camera's horizontal field, rad to the left of straight ahead."""
    columns = np.linspace(0, camera.width - 1, 33)
    rays, valid = unproject(camera, np.column_stack([columns, np.full(33, camera.height / 2)]))
    ahead = (rays @ rotation(camera))[valid]
    azimuth = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
    low, high = float(azimuth.min()), float(azimuth.max())
    return (low + high) / 2, (high - low) / 2


def _direction(claim: Claim, cameras: Sequence[Camera]) -> Checked:
    fields = [covered(camera) for camera in cameras]
    spans = (
        [(BEHIND, 2 * math.pi - BEHIND)] if claim.says == "behind" else [(BESIDE, BEHIND), (-BEHIND, -BESIDE)]
    )
    sees = any(_overlap(field, span) for field in fields for span in spans)
    angles = ", ".join(f"{math.degrees(m - h):+.0f} to {math.degrees(m + h):+.0f}" for m, h in fields)
    where = "behind is beyond 150" if claim.says == "behind" else "beside is beyond 75"
    why = f"the cameras see {angles or 'nothing'} degrees from straight ahead, {where} to either side"
    return Checked(claim, "possible" if sees else "refuted", why)


def _overlap(field: tuple[float, float], span: tuple[float, float]) -> bool:
    middle, half = field
    for turn in (-2 * math.pi, 0.0, 2 * math.pi):
        if middle - half + turn < span[1] and middle + half + turn > span[0]:
            return True
    return False


# --- the placed hazard ------------------------------------------------------------------------------------------


def _distance(claim: Claim, hazard: Hazard, at: Placement) -> Checked:
    assert claim.value is not None
    half = math.hypot(at.size.length, at.size.width) / 2
    straight = math.hypot(at.x, at.y)
    near = max(min(straight, at.distance_m) - half - FRONT_M, 0.0)
    far = max(straight, at.distance_m) + half
    lowest, highest = near * (1 - DISTANCE_SHARE) - DISTANCE_M, far * (1 + DISTANCE_SHARE) + DISTANCE_M
    wrong = {
        "about": not lowest <= claim.value <= highest,
        "less": claim.value < lowest,
        "more": claim.value > highest,
    }[claim.bound]
    why = f"{plain(hazard.name)} stands {near:.0f} m from the front bumper, {far:.0f} m from the rear axle at most"
    return Checked(claim, "refuted" if wrong else "possible", f"{why}; {claim.value:.0f} m is claimed")


def _side(claim: Claim, hazard: Hazard, at: Placement) -> Checked:
    half = at.size.width / 2 if abs(math.cos(at.yaw)) > 0.7 else at.size.length / 2
    left, right = at.lateral_m + half, at.lateral_m - half  # of the lane's middle
    name = plain(hazard.name)
    if claim.says == "in lane":
        out = max(right, -left)
        why = (
            f"{name} begins {out:.1f} m beside the lane's middle" if out > 0 else f"{name} stands in the lane"
        )
        crossing = at.zone == "crossing"
        return Checked(claim, "refuted" if out > _LANE_M and not crossing else "possible", why)
    sign = 1 if claim.says.startswith("left") else -1
    reach = left if sign > 0 else -right
    bearing = sign * (at.y + sign * half)
    where = "left" if at.lateral_m > 0 else "right"
    why = f"{name} stands {abs(at.lateral_m):.1f} m to the {where} of the lane's middle"
    moving = math.hypot(at.vx, at.vy) > STANDS
    if claim.says.endswith("edge") and max(left, -right) < _LANE_M and not moving:
        return Checked(claim, "refuted", f"{why}, in the lane")
    if moving and sign * at.vy < 0:  # it comes from that side
        return Checked(claim, "possible", f"{why} and comes from there")
    return Checked(claim, "refuted" if max(reach, bearing) < 0 else "possible", why)


def _its_motion(claim: Claim, hazard: Hazard, at: Placement) -> Checked:
    speed = math.hypot(at.vx, at.vy)
    wrong = {
        "still": speed > STANDS,
        "oncoming": at.vx > -STANDS,
        "away": at.vx < STANDS,
        "from the left": at.vy > -STANDS / 2,
        "from the right": at.vy < STANDS / 2,
    }[claim.says]
    why = f"{plain(hazard.name)} moves {at.vx:+.1f} m/s ahead and {at.vy:+.1f} m/s to the left"
    return Checked(
        claim, "refuted" if wrong else "possible", why if speed > 0 else f"{plain(hazard.name)} does not move"
    )


# --- the car's own motion ---------------------------------------------------------------------------------------


def _own_motion(claim: Claim, history: Motion) -> Checked:
    t, v = np.array(history.t), np.array(history.v)
    poses = np.array(history.poses)
    recent = t >= t[-1] - 1.0
    speed = float(v[-1])
    known = recent.sum() >= 2
    change = float(np.polyfit(t[recent], v[recent], 1)[0]) if known else 0.0
    turn = float(np.unwrap(poses[recent, 2])[-1] - np.unwrap(poses[recent, 2])[0]) if known else 0.0
    rate = turn / max(float(t[recent][-1] - t[recent][0]), 1e-6) if known else 0.0
    if claim.says == "speed":
        assert claim.value is not None
        wrong = abs(claim.value - speed) > max(SPEED_MS, SPEED_SHARE * max(speed, claim.value))
        why = f"it drives {speed:.1f} m/s ({3.6 * speed:.0f} km/h); {claim.value:.1f} m/s is claimed"
        return Checked(claim, "refuted" if wrong else "possible", why)
    if claim.says == "stopped":
        return Checked(claim, "refuted" if speed > 2 * STANDS else "possible", f"it drives {speed:.1f} m/s")
    if not known:
        return Checked(claim, "unknown", "its last second was not recorded")
    wrong, why = {
        "braking": (change > -STEADY / 2, f"its speed changed by {change:+.1f} m/s in a second"),
        "accelerating": (change < STEADY / 2, f"its speed changed by {change:+.1f} m/s in a second"),
        "reversing": (speed > STANDS, f"it drives {speed:.1f} m/s forwards"),
        "turning left": (rate < STRAIGHT / 2, f"it turned by {rate:+.2f} rad to the left in a second"),
        "turning right": (rate > -STRAIGHT / 2, f"it turned by {rate:+.2f} rad to the left in a second"),
        "straight": (abs(rate) > 0.15, f"it turned by {rate:+.2f} rad to the left in a second"),
    }[claim.says]
    return Checked(claim, "refuted" if wrong else "possible", why)
