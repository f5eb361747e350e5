"""Clothes over a skeleton: tops, trousers, skirts, shoes and what people carry, with folds and hems."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from body.parts import Part, Rgb, blend, paint, shell
from body.sdf import Array, Solid, cone, ellipsoid, loft, noise, normals
from body.skeleton import Limb, Skeleton

# Half depth, half width of a trunk at heights above the pelvis, metres, for an adult man and woman.
TRUNK = {
    False: (
        (-0.1, 0.112, 0.166),
        (0.0, 0.118, 0.17),
        (0.1, 0.106, 0.152),
        (0.25, 0.112, 0.158),
        (0.38, 0.114, 0.165),
        (0.44, 0.092, 0.132),
        (0.485, 0.068, 0.09),
        (0.51, 0.058, 0.066),
        (0.53, 0.056, 0.062),
    ),
    True: (
        (-0.1, 0.116, 0.17),
        (0.0, 0.118, 0.174),
        (0.12, 0.094, 0.128),
        (0.25, 0.104, 0.138),
        (0.37, 0.112, 0.152),
        (0.44, 0.084, 0.12),
        (0.485, 0.06, 0.08),
        (0.51, 0.052, 0.058),
        (0.53, 0.05, 0.054),
    ),
}


@dataclass(frozen=True)
class Cut:
    """A garment's cut: how loose it is, where hem and cuffs end, and how deep it folds (metres)."""

    ease: float = 0.012
    hem: float = -0.1
    sleeve: float = 1.0
    fold: float = 0.009
    flare: float = 0.0
    collar: float = 0.0
    hood: bool = False
    belly: float = 0.0


def trunk_point(s: Skeleton, z: float) -> Array:
    """The trunk's axis at z metres (adult) above the pelvis."""
    if z < 0.12:
        return s.pelvis + s.p @ np.array([0, 0, z * s.k])
    if z < 0.29:
        return s.waist + (s.chest - s.waist) * (z - 0.12) / 0.17
    return s.chest + s.c @ np.array([-0.012 * (z - 0.29) / 0.235, 0, z - 0.29]) * s.k


def trunk(
    s: Skeleton, woman: bool, ease: float, z0: float, z1: float, flare: float = 0.0, belly: float = 0.0
):
    """The trunk's surface from z0 to z1, `ease` metres away from the skin."""
    rows = TRUNK[woman]
    levels = [z0, *[r[0] for r in rows if z0 + 0.02 < r[0] < z1 - 0.01], z1]
    x = np.array(rows).T
    centres, radii = [], []
    for z in levels:
        depth, width = np.interp(z, x[0], x[1]), np.interp(z, x[0], x[2])
        out = ease + flare * max(0.0, (0.05 - z) / 0.15) * 0.1
        big = belly * np.exp(-(((z - 0.1) / 0.12) ** 2))
        fwd = s.c[:, 0] * (big * 0.6 + 0.012 * np.exp(-(((z - 0.33) / 0.1) ** 2)) - 0.012 * (z < 0.05)) * s.k
        centres.append(trunk_point(s, z) + fwd)
        radii.append(((depth + out + big) * s.k, (width + out + big * 0.4) * s.k))
    return loft(centres, radii, front=s.c[:, 0] + s.p[:, 0], power=2.35)


def wrinkle(
    v: Array, f: np.ndarray, bones: Sequence[tuple[Array, Array, float]], depth: float, seed: int
) -> Array:
    """Vertices pushed along their normals into folds: tight across the limb near its joints, long elsewhere.

    bones: (from, to, radius); folds gather within 10 cm of a bone's ends.
    """
    n = normals(v, f)
    near, where, gather = np.full(len(v), 9.0), np.zeros((len(v), 3)), np.zeros(len(v))
    for i, (a, b, r) in enumerate(bones):
        d = b - a
        length = float(np.linalg.norm(d))
        along = (v - a) @ d / length
        t = np.clip(along, 0, length)
        away = v - a - t[:, None] * d / length
        dist = np.linalg.norm(away, axis=1) - r
        q = np.column_stack([along / 0.05, away / 0.085 @ np.eye(3)[:, :2]]) + 17.3 * i
        closer = dist < near
        near = np.where(closer, dist, near)
        where = np.where(closer[:, None], q, where)
        joint = np.exp(-(((length - t) / 0.08) ** 2)) + 0.6 * np.exp(-((t / 0.09) ** 2))
        gather = np.where(closer, joint, gather)
    bent = where + 0.7 * np.stack([noise(v * 7, seed + i) for i in range(3)], 1)
    ridge = (
        1
        - 2.2 * np.abs(noise(bent, seed))
        + 0.5 * (1 - 2.2 * np.abs(noise(bent * (1.8, 1.5, 1.5), seed + 5)))
    )
    drape = noise(v * (9, 9, 3.5), seed + 9)
    return v + n * (depth * (ridge * (0.3 + 0.7 * np.minimum(gather, 1)) + 0.5 * drape))[:, None]


def cloth(solid: Solid, bones: Sequence, depth: float, rgb: Rgb, seed: int, h: float = 0.008) -> Part:
    """A folded garment in one colour, slightly darker in its folds."""
    v, f = solid.mesh(h)
    w = wrinkle(v, f, bones, depth, seed)
    inward = np.clip(-((w - v) * normals(v, f)).sum(1) / max(depth, 1e-6), 0, 1.5)
    return Part(w, f, paint(w, rgb, 0.07, 9, seed) * (1 - 0.25 * inward)[:, None], "cloth")


def top(s: Skeleton, rgb: Rgb, cut: Cut, woman: bool, seed: int, h: float = 0.008) -> Part:
    """A shirt, jacket, hoodie or coat."""
    k, e = s.k, cut.ease
    b = Solid().add(trunk(s, woman, e, cut.hem, 0.53 + cut.collar, cut.flare, cut.belly))
    slim = 0.88 if woman else 1.0
    for leg in s.legs.values():
        seat = leg.root + s.p @ (np.array([-0.035, 0.0, -0.03]) * k)
        b.add(ellipsoid(seat, np.array([0.105 + e, 0.095 + e, 0.11]) * k, s.p.T), k=0.03 * k)
        b.add(
            cone(leg.root, (0.1 + e) * k, leg.root + (leg.mid - leg.root) * 0.45, (0.084 + e) * k), k=0.05 * k
        )
    b.clip(trunk_point(s, cut.hem), -s.p[:, 2])
    bones = [
        (trunk_point(s, cut.hem), trunk_point(s, 0.12), 0.14 * k),
        (trunk_point(s, 0.5), trunk_point(s, 0.12), 0.14 * k),
    ]
    if woman:
        for side in (1, -1):
            c = trunk_point(s, 0.335) + s.c @ (np.array([0.085 + e * 0.6, 0.066 * side, 0]) * k)
            b.add(ellipsoid(c, np.array([0.052, 0.062, 0.062]) * k, s.c.T), k=0.05 * k)
    for side in (1, -1):
        arm = s.arms[side]
        inner = s.chest + s.c @ (np.array([-0.012, 0.055 * side, 0.178]) * k)
        b.add(cone(inner, (0.042 * slim + e * 0.5) * k, arm.root, (0.05 * slim + e * 0.6) * k), k=0.05 * k)
        bones += _sleeve(b, arm, cut.sleeve, e, slim, k)
    if cut.collar:
        top_ = trunk_point(s, 0.53)
        b.add(
            loft(
                [top_ - s.c @ np.array([0.01, 0, 0.03 * k]), top_ + s.c @ np.array([0.0, 0, cut.collar * k])],
                [(0.076 * k, 0.072 * k), (0.072 * k, 0.068 * k)],
                front=s.c[:, 0],
            ),
            k=0.015 * k,
        )
        b.cut(
            ellipsoid(
                top_ + s.c @ np.array([0.03 * k, 0, (cut.collar + 0.01) * k]),
                np.array([0.065, 0.05, 0.045]) * k,
                s.c.T,
            )
        )
    if cut.hood:
        c = trunk_point(s, 0.5) + s.c @ (np.array([-0.085, 0, 0.0]) * k)
        b.add(ellipsoid(c, np.array([0.05, 0.105, 0.075]) * k, s.c.T), k=0.03 * k)
        b.add(
            ellipsoid(c + s.c @ (np.array([0.03, 0, 0.04]) * k), np.array([0.06, 0.09, 0.03]) * k, s.c.T),
            k=0.02 * k,
        )
    return cloth(b, bones, cut.fold * k, rgb, seed, h)


def _sleeve(b: Solid, arm: Limb, length: float, e: float, slim: float, k: float) -> list:
    lower = arm.mid + (arm.end - arm.mid) * min(max(length * 2 - 1, 0), 0.97)
    upper = arm.root + (arm.mid - arm.root) * min(length * 2, 1)
    b.add(cone(arm.root, (0.05 * slim + e * 0.8) * k, upper, (0.043 * slim + e) * k), k=0.035 * k)
    if length > 0.5:
        b.add(cone(arm.mid, (0.043 * slim + e) * k, lower, (0.034 * slim + e * 0.75) * k), k=0.02 * k)
        b.clip(lower, lower - arm.mid, reach=0.12 * k)
    else:
        b.clip(upper, upper - arm.root, reach=0.12 * k)
    return [(arm.root, arm.mid, 0.055 * k), (arm.end, arm.mid, 0.05 * k)]


def zip_line(part: Part, s: Skeleton, to: Rgb, wedge: float = 0.0) -> Part:
    """The part with a closed zip down the front of the trunk, or (wedge > 0) a shirt that shows above the waist."""
    q = (part.v - s.chest) @ s.c / s.k
    half = 0.006 + wedge * np.maximum(q[:, 2] + 0.02, 0)
    on = (np.abs(q[:, 1]) < half) & (q[:, 0] > 0.04)
    return part._replace(rgb=blend(part.rgb, on * (0.8 + 0.2 * (wedge > 0)), to))


def trousers(
    s: Skeleton,
    rgb: Rgb,
    woman: bool,
    seed: int,
    ease: float = 0.01,
    hem: float = 0.066,
    length: float = 1.0,
    fold: float = 0.011,
    belly: float = 0.0,
) -> Part:
    """Trousers, jeans, leggings (ease 0) or shorts (length about 0.45); `hem` is the radius at the ankle."""
    k, b = s.k, Solid()
    b.add(trunk(s, woman, ease * 0.6, -0.09, 0.09, belly=belly * 0.8))
    bones = [(trunk_point(s, 0.1), trunk_point(s, -0.12), 0.13 * k)]
    wide = 0.004 if woman else 0.0
    for side in (1, -1):
        leg = s.legs[side]
        seat = leg.root + s.p @ (np.array([-0.035, 0.004 * side, -0.03]) * k)
        b.add(ellipsoid(seat, np.array([0.095 + ease, 0.088 + ease, 0.1]) * k, s.p.T), k=0.03 * k)
        knee_r, top_r = (0.06 + ease) * k, (0.092 + wide + ease) * k
        low = length * 2 - 1
        end = leg.mid + (leg.end - leg.mid) * low if low > 0 else leg.root + (leg.mid - leg.root) * length * 2
        if low > 0:
            b.add(cone(leg.root + (leg.mid - leg.root) * 0.1, top_r, leg.mid, knee_r), k=0.04 * k)
            calf = leg.mid + (leg.end - leg.mid) * 0.32 - s.p[:, 0] * 0.012 * k
            b.add(
                cone(leg.mid, knee_r * 0.98, end, hem * k),
                cone(calf, (0.05 + ease) * k, calf, 0.05 * k),
                k=0.025 * k,
            )
            b.clip(end, end - leg.mid, reach=0.16 * k)
        else:
            b.add(cone(leg.root, top_r, end, (hem + 0.01) * k), k=0.04 * k)
            b.clip(end, end - leg.root, reach=0.16 * k)
        bones += [(leg.root, leg.mid, 0.08 * k), (leg.mid, leg.end, 0.06 * k)]
    return cloth(b, bones, fold * k, rgb, seed)


def legs(s: Skeleton, rgb: Rgb, seed: int) -> Part:
    """Bare legs (or stockings) from hip to ankle."""
    k, b = s.k, Solid()
    for leg in s.legs.values():
        front = s.p[:, 0]
        b.add(cone(leg.root, 0.085 * k, leg.mid, 0.054 * k), k=0.01)
        shin = leg.end - leg.mid
        b.add(
            loft(
                [
                    leg.mid - shin * 0.05,
                    leg.mid + shin * 0.25 - front * 0.014 * k,
                    leg.mid + shin * 0.6,
                    leg.end + shin * 0.05,
                ],
                [
                    (0.052 * k, 0.05 * k),
                    (0.057 * k, 0.054 * k),
                    (0.044 * k, 0.042 * k),
                    (0.036 * k, 0.034 * k),
                ],
                front=front,
            ),
            k=0.02 * k,
        )
    return shell(b, rgb, "skin", 0.008, seed)


def arms(s: Skeleton, rgb: Rgb, seed: int) -> Part:
    """Bare arms from shoulder to wrist."""
    k, b = s.k, Solid()
    for arm in s.arms.values():
        b.add(
            cone(arm.root, 0.048 * k, arm.mid, 0.04 * k),
            cone(arm.mid, 0.042 * k, arm.end, 0.027 * k),
            k=0.015 * k,
        )
    return shell(b, rgb, "skin", 0.007, seed)


def skirt(s: Skeleton, rgb: Rgb, drop: float, flare: float, seed: int) -> Part:
    """A skirt or a coat's tail from the waist to `drop` metres below the hips, following the thighs."""
    k = s.k
    legs_, down = s.legs, np.array([0, 0, -1.0])
    mid = (legs_[1].root + legs_[-1].root) / 2
    swing = sum(leg.mid - leg.root for leg in legs_.values()) / 2
    aim = swing / np.linalg.norm(swing) * 0.5 + down * 0.5
    stride = abs(float((legs_[1].mid - legs_[-1].mid) @ s.p[:, 0]))
    c = [trunk_point(s, 0.12), np.add(mid, (0, 0, 0.02)), mid + aim * drop * 0.5 * k, mid + aim * drop * k]
    r = [
        (0.1 * k, 0.135 * k),
        (0.13 * k, 0.185 * k),
        ((0.13 + flare / 2) * k + stride * 0.2, (0.19 + flare / 2) * k),
        ((0.12 + flare) * k + stride * 0.38, (0.18 + flare) * k),
    ]
    b = Solid().add(loft(c, r, front=s.p[:, 0]))
    v, f = b.mesh(0.008)
    q = (v - mid) @ s.p
    low = np.clip(-(q[:, 2] - 0.05) / drop, 0, 1)
    angle = np.arctan2(q[:, 1], q[:, 0])
    pleat = noise(np.stack([np.cos(angle) * 3.2, np.sin(angle) * 3.2, q[:, 2] * 1.2], 1), seed)
    v = v + normals(v, f) * (0.035 * low * pleat)[:, None]
    return Part(v, f, paint(v, rgb, 0.06, 9, seed) * (1 + 0.3 * np.minimum(low * pleat, 0))[:, None], "cloth")


def shoe(leg: Limb, k: float, rgb: Rgb, sole: Rgb, seed: int, high: float = 0.0) -> Part:
    """A shoe or (high > 0) a boot; the toes stay flat where the heel is lifted."""
    x, y, z = leg.tip
    lift = np.radians(np.clip(leg.pitch, 0, 60) * 0.75)
    toe_x, toe_z = x * np.cos(lift) + z * np.sin(lift), z * np.cos(lift) - x * np.sin(lift)
    base = leg.end - z * 0.08 * k
    ball = base + x * 0.125 * k
    b = Solid()
    b.add(
        loft(
            [
                base - x * 0.062 * k + z * 0.045 * k,
                base - x * 0.03 * k + z * 0.05 * k,
                base + x * 0.05 * k + z * 0.046 * k,
                ball + z * 0.034 * k,
            ],
            [(0.03 * k, 0.026 * k), (0.05 * k, 0.037 * k), (0.044 * k, 0.04 * k), (0.035 * k, 0.047 * k)],
            front=z,
            power=2.6,
        )
    )
    b.add(
        cone(ball + z * 0.03 * k, 0.03 * k, ball + toe_x * 0.058 * k + toe_z * 0.026 * k, 0.023 * k),
        k=0.02 * k,
    )
    b.add(
        ellipsoid(
            ball + toe_x * 0.03 * k + toe_z * 0.022 * k,
            np.array([0.064, 0.047, 0.027]) * k,
            np.stack([toe_x, y, toe_z]),
        ),
        k=0.02 * k,
    )
    b.add(
        cone(base + z * 0.06 * k, 0.04 * k, leg.end + (leg.mid - leg.end) * (0.05 + high), 0.043 * k),
        k=0.025 * k,
    )
    b.clip(base, -z, reach=0.15 * k)
    v, f = b.mesh(0.006 * k, smooth=1)
    height = np.minimum((v - base) @ z, 9)
    front = (v - ball) @ x > 0
    height = np.where(front, (v - ball) @ toe_z, height)
    part = paint(v, rgb, 0.08, 30, seed)
    return Part(v, f, blend(part, ((height < 0.022 * k) * 1.0), sole), "leather")
