"""A human skeleton: a pose in, joints and frames out. Metres; x front, y left, z up; lengths are for a 1.75 m adult."""

import math
from dataclasses import dataclass, replace

import numpy as np
from body.sdf import Array, frame

Point = tuple[float, float, float]
THIGH, SHIN, UPPER_ARM, FOREARM = 0.435, 0.425, 0.285, 0.255


@dataclass(frozen=True)
class Hand:
    """Where a wrist is (from its shoulder, or in the world), where fingers point and how far they curl (degrees)."""

    wrist: Point
    fingers: Point | None = None
    palm: Point | None = None
    curl: float = 24.0
    world: bool = False
    elbow: Point = (-1.0, 0.45, -0.3)


@dataclass(frozen=True)
class Foot:
    """Where an ankle is, the foot's pitch (degrees, heel up positive), yaw and roll, and where the knee points."""

    ankle: Point
    pitch: float = 0.0
    yaw: float = 6.0
    knee: Point = (1.0, 0.12, 0.0)
    roll: float = 0.0


@dataclass(frozen=True)
class Pose:
    """Pelvis, chest and head turns are (roll, pitch, yaw) in degrees; pitch forward and yaw left are positive."""

    left_foot: Foot
    right_foot: Foot
    left_hand: Hand
    right_hand: Hand
    pelvis: Point = (0.0, 0.0, 0.93)
    pelvis_turn: Point = (0.0, 0.0, 0.0)
    chest_turn: Point = (0.0, 3.0, 0.0)
    head_turn: Point = (0.0, 0.0, 0.0)

    def mirrored(self) -> "Pose":
        """The same pose with left and right exchanged."""
        feet = [_flip_foot(f) for f in (self.right_foot, self.left_foot)]
        hands = [_flip_hand(h) for h in (self.right_hand, self.left_hand)]
        turns = {k: (-t[0], t[1], -t[2]) for k, t in self._turns().items()}
        pelvis = (self.pelvis[0], -self.pelvis[1], self.pelvis[2])
        return Pose(*feet, *hands, pelvis=pelvis, **turns)

    def _turns(self) -> dict[str, Point]:
        return {"pelvis_turn": self.pelvis_turn, "chest_turn": self.chest_turn, "head_turn": self.head_turn}


def _flip_foot(f: Foot) -> Foot:
    return replace(f, ankle=(f.ankle[0], -f.ankle[1], f.ankle[2]), roll=-f.roll)


def _flip_hand(h: Hand) -> Hand:
    def y(p: Point | None) -> Point | None:
        return p and (p[0], -p[1], p[2])

    return replace(h, wrist=(h.wrist[0], -h.wrist[1], h.wrist[2]), fingers=y(h.fingers), palm=y(h.palm))


def turn(rpy: Point) -> Array:
    """Rotation (3, 3) with columns front, left, up after roll, pitch, yaw in degrees."""
    r, p, y = (math.radians(a) for a in rpy)
    cr, sr, cp, sp, cy, sy = math.cos(r), math.sin(r), math.cos(p), math.sin(p), math.cos(y), math.sin(y)
    rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return (rz @ ry @ rx).astype(np.float32)


def bend(a: Array, c: Array, l1: float, l2: float, pole: Array) -> tuple[Array, Array]:
    """Middle joint and reachable end of a two-bone limb from a towards c, its middle pushed towards `pole`."""
    d = c - a
    n = float(np.linalg.norm(d))
    reach = min(n, (l1 + l2) * 0.995)
    d = d / n
    x = (l1 * l1 - l2 * l2 + reach * reach) / (2 * reach)
    side = pole - d * float(pole @ d)
    side = side / max(float(np.linalg.norm(side)), 1e-6)
    return a + d * x + side * math.sqrt(max(l1 * l1 - x * x, 0)), a + d * reach


@dataclass
class Limb:
    """Three joints of an arm or leg and the frame (rows front, left, up) of the hand or foot at its end."""

    root: Array
    mid: Array
    end: Array
    tip: Array
    curl: float = 0.0
    pitch: float = 0.0


class Skeleton:
    """Joints of a posed body of `height` metres; `child` of 0..1 gives it a larger head and shorter legs."""

    def __init__(
        self, pose: Pose, height: float = 1.75, child: float = 0.0, shoulders: float = 0.168
    ) -> None:
        k = self.k = height / 1.75
        self.head_k = k + (1 - k) * 0.72 * child
        p, c = turn(pose.pelvis_turn), turn(pose.chest_turn)
        self.p, self.c, self.h = p, c, turn(pose.head_turn)
        self.pelvis = np.array(pose.pelvis, np.float32) * k
        mid = (p + c) / 2
        self.waist = self.pelvis + p @ _z(0.12 * k)
        self.chest = self.waist + mid @ _z(0.17 * k)
        self.neck = self.chest + c @ _z(0.235 * k) + c @ np.array([-0.012 * k, 0, 0])
        self.head = (
            self.neck + (c + self.h) / 2 @ _z(0.055 * k) + self.h @ np.array([0.028, 0, 0.098]) * self.head_k
        )
        self.legs = {s: self._leg(f, s) for s, f in ((1, pose.left_foot), (-1, pose.right_foot))}
        self.arms = {s: self._arm(f, s, shoulders) for s, f in ((1, pose.left_hand), (-1, pose.right_hand))}

    def _leg(self, f: Foot, s: int) -> Limb:
        k = self.k
        hip = self.pelvis + self.p @ (np.array([0, 0.088 * s, -0.02]) * k)
        yaw = turn((0, 0, math.degrees(math.atan2(self.p[1, 0], self.p[0, 0]))))
        pole = yaw @ np.array([f.knee[0], f.knee[1] * s, f.knee[2]], np.float32)
        knee, ankle = bend(hip, np.array(f.ankle, np.float32) * k, THIGH * k, SHIN * k, pole)
        tip = (yaw @ turn((f.roll, f.pitch, f.yaw * s))).T
        return Limb(hip, knee, ankle, tip, pitch=f.pitch)

    def _arm(self, hand: Hand, s: int, width: float) -> Limb:
        k = self.k
        shoulder = self.chest + self.c @ (np.array([-0.005, width * s, 0.14]) * k)
        yaw = turn((0, 0, math.degrees(math.atan2(self.c[1, 0], self.c[0, 0]))))
        goal = np.array(hand.wrist, np.float32) * k
        goal = goal if hand.world else shoulder + yaw @ goal
        pole = yaw @ np.array([hand.elbow[0], hand.elbow[1] * s, hand.elbow[2]], np.float32)
        elbow, wrist = bend(shoulder, goal, UPPER_ARM * k, FOREARM * k, pole)
        along = wrist - elbow
        axis = along if hand.fingers is None else np.array(hand.fingers, np.float32)
        palm = np.array(hand.palm, np.float32) if hand.palm else yaw @ np.array([-0.25, -s, 0], np.float32)
        return Limb(shoulder, elbow, wrist, frame(axis, palm), curl=hand.curl)


def _z(z: float) -> Array:
    return np.array([0, 0, z], np.float32)
