"""Things lost in the street: bin, chairs, trolley, pallets."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import numpy as np
from common import Model, Objects, blob, box, lathe, material, mesh, place, tube


def build_dustbin(
    seed: int, color: tuple[float, float, float] = (0.03, 0.10, 0.04), fallen: bool = False
) -> Objects:
    """A two-wheeled bin, standing or tipped over."""
    plastic = material("bin", color, 0.45, vary=0.15, vary_scale=4)
    dark = material("wheel", (0.015, 0.015, 0.015), 0.8)
    made: Objects = []
    levels = [
        (0.06, 0.24, 0.22),
        (0.1, 0.25, 0.23),
        (0.9, 0.33, 0.28),
        (0.95, 0.36, 0.30),
        (0.98, 0.36, 0.30),
    ]
    for (z0, x0, y0), (z1, x1, y1) in pairwise(levels):
        made.append(_frustum(z0, x0, y0, z1, x1, y1, plastic))
    made.append(
        place(
            [
                box((0, 0, 0.02), (0.76, 0.62, 0.05), plastic, 0.02),
                blob([((0, -0.15, 0.03), 0.13, (0, 0.15, 0.03), 0.13, (1.6, 1, 0.35))], plastic, 0.015, 3),
            ],
            (0.0, 0, 0.98),
            pitch=-0.02,
        )
    )
    made.append(
        tube(
            [(-0.38, -0.22, 0.95), (-0.46, -0.22, 0.97), (-0.46, 0.22, 0.97), (-0.38, 0.22, 0.95)],
            0.018,
            plastic,
        )
    )
    for s in (1, -1):
        made.append(
            lathe(
                [(0.0, -0.03), (0.1, -0.03), (0.11, 0.0), (0.1, 0.03), (0.0, 0.03)],
                dark,
                28,
                center=(-0.24, s * 0.25, 0.11),
                rot=(math.pi / 2, 0, 0),
            )
        )
    made.append(tube([(-0.24, -0.25, 0.11), (-0.24, 0.25, 0.11)], 0.015, dark))
    yaw = Random(seed).uniform(-0.3, 0.3)
    return [place(made, (-0.5, 0, 0.25), yaw, pitch=math.pi / 2 - 0.134) if fallen else place(made, yaw=yaw)]


def _frustum(z0: float, x0: float, y0: float, z1: float, x1: float, y1: float, paint) -> object:
    verts = [
        (sx * x, sy * y, z)
        for z, x, y in ((z0, x0, y0), (z1, x1, y1))
        for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))
    ]
    faces = [(3, 2, 1, 0), (4, 5, 6, 7)] + [(i, (i + 1) % 4, 4 + (i + 1) % 4, 4 + i) for i in range(4)]
    return mesh(verts, faces, paint, smooth=False)


def build_chairs(seed: int) -> Objects:
    """An armchair and an overturned dining chair."""
    cloth = material("cloth", (0.20, 0.07, 0.05), 0.9, vary=0.2, vary_scale=4, bump=0.15, bump_scale=60)
    wood = material("wood", (0.30, 0.18, 0.09), 0.6, vary=0.2)
    arm = [
        box((0.02, 0, 0.30), (0.78, 0.62, 0.26), cloth, 0.06, segments=4),
        box((0.06, 0, 0.47), (0.66, 0.58, 0.14), cloth, 0.06, segments=4),
        place([box((0, 0, 0.3), (0.2, 0.86, 0.66), cloth, 0.08, segments=4)], (-0.34, 0, 0.22), pitch=-0.18),
    ]
    arm += [box((0.0, s * 0.38, 0.36), (0.8, 0.16, 0.5), cloth, 0.07, segments=4) for s in (1, -1)]
    arm += [box((x, y, 0.06), (0.06, 0.06, 0.13), wood, 0.01) for x in (-0.32, 0.34) for y in (-0.36, 0.36)]
    chair = [box((0, 0, 0.45), (0.42, 0.42, 0.035), wood, 0.01)]
    chair += [
        box((x, y, 0.22), (0.035, 0.035, 0.45), wood, 0.005) for x in (-0.18, 0.18) for y in (-0.18, 0.18)
    ]
    chair += [box((-0.2, y, 0.7), (0.03, 0.035, 0.5), wood, 0.005) for y in (-0.18, 0.18)]
    chair += [box((-0.2, 0, z), (0.02, 0.36, 0.06), wood, 0.005) for z in (0.62, 0.76, 0.9)]
    yaw = Random(seed).uniform(-0.4, 0.4)
    return [
        place(arm, (0, 0.45, 0), yaw + 0.3),
        place(chair, (0.2, -0.55, 0.2), yaw - 0.8, roll=math.pi / 2 - 0.1),
    ]


def build_cart(seed: int) -> Objects:
    """A supermarket trolley of bent wire with a child's seat, a carton left in it."""
    wire = material("wire", (0.60, 0.61, 0.62), 0.3, metal=0.9)
    grip = material("grip", (0.5, 0.02, 0.02), 0.4)
    card = material("carton", (0.36, 0.25, 0.15), 0.9, vary=0.12)
    made = [
        *_basket(wire),
        tube([(-0.43, -0.26, 1.0), (-0.43, 0.26, 1.0)], 0.02, grip),
        place([box((0, 0, 0), (0.012, 0.4, 0.2), grip, 0.005)], (-0.33, 0, 0.86), pitch=-0.25),
        place([box((0, 0, 0.13), (0.34, 0.24, 0.26), card, 0.006)], (0.12, -0.03, 0.5), 0.5),
    ]
    for s in (1, -1):
        frame = [(-0.43, 0.25, 1.0), (-0.38, 0.24, 0.6), (-0.33, 0.22, 0.2)]
        frame += [(0.40, 0.19, 0.16), (0.42, 0.18, 0.2), (0.38, 0.17, 0.5)]
        made.append(tube([(x, s * y, z) for x, y, z in frame], 0.015, wire))
        made += [part for x in (-0.34, 0.38) for part in _caster(x, s * 0.2, wire)]
    made += [
        tube([(x, -0.2, z), (x, 0.2, z)], 0.006, wire, sides=4)
        for x, z in np.linspace((-0.3, 0.2), (0.38, 0.17), 7)
    ]
    made += [box((0.49, s * 0.2, 0.87), (0.04, 0.04, 0.05), grip, 0.012) for s in (1, -1)]
    return [place(made, yaw=Random(seed).uniform(-0.2, 0.2))]


def _basket(wire) -> Objects:
    """Rings and uprights of wire, wider towards the top and the back."""

    def ring(t: float) -> list[tuple[float, float, float]]:
        half = 0.20 + 0.06 * t
        front, back, z = 0.42 + 0.06 * t, -0.36 - 0.03 * t, 0.5 + 0.42 * t
        y = half * 0.8
        return [
            (front, y, z - 0.04 * t),
            (front, -y, z - 0.04 * t),
            (back, -half, z + 0.04 * t),
            (back, half, z + 0.04 * t),
        ]

    def bar(a: np.ndarray, b: np.ndarray) -> object:
        return tube([a.tolist(), b.tolist()], 0.005, wire, sides=4)

    made = [
        tube(ring(float(t)), 0.011 if t in (0, 1) else 0.006, wire, cyclic=True, sides=4)
        for t in np.linspace(0, 1, 6)
    ]
    low, high = np.array(ring(0.0)), np.array(ring(1.0))
    for a in range(4):
        b = (a + 1) % 4
        for u in np.linspace(0, 1, 14 if a % 2 else 9):
            made.append(bar(low[a] * (1 - u) + low[b] * u, high[a] * (1 - u) + high[b] * u))
    floor = np.linspace(0, 1, 12)
    return made + [bar(low[0] * (1 - u) + low[3] * u, low[1] * (1 - u) + low[2] * u) for u in floor]


def _caster(x: float, y: float, wire) -> Objects:
    rubber, hub = material("wheel", (0.03, 0.03, 0.03), 0.7), material("hub", (0.3, 0.3, 0.3), 0.5)
    made = [
        lathe(
            [(0.0, -w), (r, -w), (r, w), (0.0, w)], paint, 24, center=(x, y, 0.065), rot=(math.pi / 2, 0, 0)
        )
        for r, w, paint in ((0.065, 0.016, rubber), (0.035, 0.019, hub))
    ]
    made += [box((x, y + 0.024 * s, 0.1), (0.035, 0.006, 0.1), wire, 0.002) for s in (1, -1)]
    return [*made, box((x, y, 0.155), (0.05, 0.06, 0.02), wire, 0.004)]


def build_pallet(seed: int, count: int = 3) -> Objects:
    """Euro pallets, one leaning on the stack."""
    rng = Random(seed)
    wood = material(
        "wood", (0.40, 0.28, 0.16), 0.85, dark=(0.26, 0.18, 0.11), vary_scale=5, bump=0.1, bump_scale=40
    )

    def pallet() -> Objects:
        parts = [box((x, 0, 0.133), (0.13, 0.8, 0.022), wood, 0.003) for x in np.linspace(-0.53, 0.53, 6)]
        parts += [box((0, y, 0.111), (1.2, 0.1, 0.022), wood, 0.003) for y in (-0.35, 0, 0.35)]
        parts += [
            box((x, y, 0.06), (0.13, 0.1, 0.08), wood, 0.004)
            for x in (-0.53, 0, 0.53)
            for y in (-0.35, 0, 0.35)
        ]
        return [*parts, *(box((0, y, 0.011), (1.2, 0.1, 0.022), wood, 0.003) for y in (-0.35, 0, 0.35))]

    made = [
        place(pallet(), (rng.uniform(-0.05, 0.05), 0.1, 0.145 * i), rng.uniform(-0.12, 0.12))
        for i in range(count - 1)
    ]
    return [*made, place(pallet(), (0.05, -0.46, 0.37), 0.1, roll=1.0)]


FEW = {"elevations": (4.0,), "samples": 12}
MODELS = {
    "dustbin": Model(
        build_dustbin,
        {"green": {}, "fallen": {"fallen": True, "color": (0.03, 0.05, 0.12)}},
        pixels=180,
        **FEW,
    ),
    "chair": Model(build_chairs, {"a": {}}, pixels=200, **FEW),
    "shopping_cart": Model(build_cart, {"a": {}}, pixels=180, **FEW),
    "pallet": Model(build_pallet, {"a": {}}, pixels=190, **FEW),
}
