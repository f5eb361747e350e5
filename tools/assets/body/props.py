"""What people use: signs, tools, a stroller, a ball."""

import numpy as np
from body.parts import Part, Rgb, blend, paint, pipe, shell
from body.sdf import Solid, cone, ellipsoid, loft, noise
from body.skeleton import Limb, Skeleton

STEEL: Rgb = (0.5, 0.5, 0.51)
BLACK: Rgb = (0.015, 0.015, 0.016)
RED: Rgb = (0.6, 0.018, 0.018)
WHITE: Rgb = (0.75, 0.75, 0.74)
LETTERS = {
    "S": [(0.8, 0.9), (0.5, 1), (0.15, 0.85), (0.2, 0.6), (0.8, 0.4), (0.85, 0.15), (0.5, 0), (0.15, 0.12)],
    "T": [(0.0, 1), (1, 1), (0.5, 1), (0.5, 0)],
    "O": [(0.5, 1), (0.15, 0.8), (0.15, 0.2), (0.5, 0), (0.85, 0.2), (0.85, 0.8), (0.5, 1)],
    "P": [(0.15, 0), (0.15, 1), (0.75, 0.95), (0.85, 0.75), (0.75, 0.55), (0.15, 0.48)],
}


def ball(at: tuple[float, float, float], radius: float = 0.11) -> list[Part]:
    """A red and white ball."""
    v, f = Solid().add(ellipsoid(at, (radius,) * 3)).mesh(0.008)
    q = v - np.array(at)
    stripe = np.cos(3 * np.arctan2(q[:, 1], q[:, 2] + 0.3 * q[:, 0])) > 0
    return [Part(v, f, blend(paint(v, WHITE, 0.05), stripe * 1.0, RED), "gloss")]


def stop_paddle(arm: Limb, k: float) -> list[Part]:
    """A STOP sign on a staff that stands on the ground in the hand of `arm`, facing +x."""
    at = arm.end + arm.tip[2] * 0.075 * k + arm.tip[0] * 0.02 * k
    x, y = float(at[0]), float(at[1])
    parts = [
        pipe([(x, y, 0.01), (x, y, 1.6)], 0.014, WHITE, "gloss"),
        pipe([(x, y, 1.6), (x, y, 2.1)], 0.012, STEEL, "metal"),
    ]
    angles = np.radians(22.5 + 45 * np.arange(8))
    for side in (1, -1):
        for r, depth, rgb in ((0.3, 0.016, WHITE), (0.275, 0.018, RED)):
            rim = [(x + side * depth, y + r * np.cos(a), 1.85 + r * np.sin(a)) for a in angles[::side]]
            v = np.array([(x + side * depth, y, 1.85), *rim], np.float32)
            j = np.arange(0, 8, 2)
            faces = np.stack([0 * j, 1 + j, 1 + (j + 1) % 8, 1 + (j + 2) % 8], 1)
            parts.append(Part(v, faces, np.tile(np.array(rgb, np.float32), (9, 1)), "gloss"))
        for i, letter in enumerate("STOP"):
            line = [
                (x + side * 0.02, y + side * (-0.2 + 0.105 * i + 0.085 * u), 1.765 + 0.17 * w)
                for u, w in LETTERS[letter]
            ]
            parts.append(pipe(line, 0.0125, WHITE, "gloss", sides=6))
    return parts


def phone(s: Skeleton) -> list[Part]:
    """A telephone in the right hand, its screen towards the face."""
    arm = s.arms[-1]
    palm, _, along = arm.tip
    at = arm.end + (along * 0.1 + palm * 0.022) * s.k
    slab = Solid().add(
        loft([at - along * 0.075, at + along * 0.075], [(0.006, 0.037)] * 2, front=palm, power=8)
    )
    v, f = slab.mesh(0.005)
    face = (v - at) @ palm > 0.003
    return [Part(v, f, blend(paint(v, BLACK, 0.02), face * 1.0, (0.4, 0.45, 0.5)), "gloss")]


def shovel(s: Skeleton) -> list[Part]:
    """A shovel through both hands, its blade on the ground."""
    high, low = (arm.end + arm.tip[2] * 0.08 * s.k for arm in (s.arms[-1], s.arms[1]))
    way = (low - high) / np.linalg.norm(low - high)
    foot = high + way * (high[2] - 0.05) / -way[2]
    blade = Solid().add(
        loft(
            [foot - way * 0.22, foot - way * 0.1, foot + way * 0.06],
            [(0.012, 0.1), (0.016, 0.115), (0.01, 0.05)],
            front=np.cross(way, (0, 1, 0)),
            power=3,
        )
    )
    return [
        pipe([high - way * 0.1, foot - way * 0.15], 0.017, (0.3, 0.19, 0.09), "leather"),
        shell(blade, (0.25, 0.25, 0.25), "metal", 0.006),
    ]


def walking_stick(s: Skeleton) -> list[Part]:
    """A walking stick in the right hand, its foot on the ground."""
    arm = s.arms[-1]
    top = arm.end + arm.tip[2] * 0.08 * s.k + arm.tip[0] * 0.015
    foot = np.array([top[0] + 0.14, top[1] - 0.02, 0.01])
    crook = [np.add(top, (-0.1, 0, 0.0)), np.add(top, (-0.03, 0, 0.025)), top, foot]
    return [pipe(crook, [0.012, 0.013, 0.012, 0.009], (0.12, 0.06, 0.025), "gloss")]


def stroller(at: tuple[float, float, float], rgb: Rgb = (0.03, 0.04, 0.06)) -> list[Part]:
    """A stroller facing +x with its hood up; `at` is the ground point between its rear wheels."""
    o = np.array(at)

    def p(x: float, y: float, z: float) -> np.ndarray:
        return np.add(o, (x, y, z))

    parts = []
    for y in (0.24, -0.24):
        parts.append(
            pipe([p(-0.22, y, 1.02), p(0.1, y, 0.62), p(0.52, y * 0.8, 0.12)], 0.013, STEEL, "metal")
        )
        parts.append(pipe([p(0.12, y, 0.6), p(0.0, y, 0.13)], 0.012, STEEL, "metal"))
        for x, r in ((0.0, 0.13), (0.54, 0.1)):
            ring = [
                p(x + (r - 0.02) * np.cos(a), y * (1.05 if x == 0 else 0.85), r + (r - 0.02) * np.sin(a))
                for a in np.linspace(0, 2 * np.pi, 28, endpoint=False)
            ]
            parts.append(pipe(ring, 0.02, BLACK, "rubber", True))
            parts += [
                pipe([p(x, y, r), ring[i]], 0.006, (0.3, 0.3, 0.3), "gloss", sides=5) for i in range(0, 28, 5)
            ]
    parts.append(
        pipe([p(-0.22, 0.24, 1.02), p(-0.25, 0, 1.04), p(-0.22, -0.24, 1.02)], 0.017, BLACK, "rubber")
    )
    seat = Solid().add(
        loft(
            [p(-0.02, 0, 0.86), p(0.08, 0, 0.52), p(0.34, 0, 0.47), p(0.5, 0, 0.3)],
            [(0.05, 0.2), (0.06, 0.2), (0.05, 0.19), (0.03, 0.17)],
            front=(0.5, 0, 1),
            power=3.5,
        )
    )
    seat.add(
        cone(p(0.06, 0.2, 0.62), 0.03, p(0.33, 0.19, 0.55), 0.025),
        cone(p(0.06, -0.2, 0.62), 0.03, p(0.33, -0.19, 0.55), 0.025),
        k=0.04,
    )
    hood = (
        Solid()
        .add(ellipsoid(p(0.1, 0, 0.82), (0.26, 0.225, 0.26)))
        .cut(ellipsoid(p(0.13, 0, 0.78), (0.25, 0.2, 0.245)))
    )
    hood.clip(p(0.2, 0, 0.85), (0.85, 0, -0.5)).clip(p(0, 0, 0.72), (0, 0, -1))
    v, f = hood.mesh(0.008)
    ribs = 1 - 0.35 * (np.abs(np.sin(9 * np.arctan2(v[:, 2] - o[2] - 0.75, v[:, 0] - o[0] - 0.05))) < 0.15)
    parts += [Part(v, f, paint(v, rgb, 0.1) * ribs[:, None], "cloth"), shell(seat, rgb, "cloth", 0.009)]
    blanket = Solid().add(ellipsoid(p(0.22, 0, 0.56), (0.2, 0.16, 0.09)))
    v, f = blanket.mesh(0.008)
    v = v + 0.012 * noise(v * 9)[:, None] * (0, 0, 1)
    return [
        *parts,
        Part(v.astype(np.float32), f, paint(v, (0.4, 0.33, 0.25), 0.15), "cloth"),
        shell(Solid().add(ellipsoid(p(0.1, 0, 0.74), (0.085, 0.075, 0.09))), (0.5, 0.32, 0.24), "skin"),
        shell(
            Solid().add(loft([p(0, 0, 0.2), p(0.3, 0, 0.2)], [(0.06, 0.17)] * 2, front=(0, 0, 1), power=4)),
            BLACK,
            "cloth",
            0.01,
        ),
    ]


def sacks(at: tuple[float, float, float], seed: int) -> list[Part]:
    """A pile of sacks and cartons, 0.9 x 0.8 m, roped together."""
    rng = np.random.default_rng(seed)
    parts = []
    for i, (x, y, z) in enumerate(
        (
            (-0.22, -0.2, 0.16),
            (0.22, -0.2, 0.16),
            (-0.22, 0.22, 0.16),
            (0.22, 0.22, 0.16),
            (0, -0.16, 0.46),
            (0.05, 0.2, 0.44),
        )
    ):
        c = np.add(at, (x, y, z)) + rng.normal(0, 0.015, 3)
        if i in (1, 5):
            box = Solid().add(
                loft([np.subtract(c, (0, 0, 0.15)), np.add(c, (0, 0, 0.15))], [(0.19, 0.19)] * 2, power=9)
            )
            parts.append(shell(box, (0.3, 0.18, 0.09), "cloth", 0.01))
            continue
        v, f = (
            Solid()
            .add(
                loft(
                    [*(np.add(c, (dx, 0, 0)) for dx in (-0.25, -0.12, 0.12, 0.25))],
                    [(0.1, 0.15), (0.16, 0.2), (0.16, 0.2), (0.09, 0.14)],
                    front=(0, 0, 1),
                    power=2.5,
                )
            )
            .mesh(0.011)
        )
        v = v + 0.02 * noise(v * 7, seed + i)[:, None] + 0.008 * noise(v * 22, seed)[:, None]
        parts.append(
            Part(
                v.astype(np.float32),
                f,
                paint(v, ((0.4, 0.36, 0.27), (0.33, 0.3, 0.24))[i % 2], 0.12),
                "cloth",
            )
        )
    return parts
