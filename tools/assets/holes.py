"""Things in the road surface, drawn from above: a hole broken open, standing water."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from common import Model, Objects, box, material, mesh


def _outline(rng: Random, length: float, width: float, rough: float, n: int = 160) -> np.ndarray:
    """A closed ragged outline, Nx2 metres."""
    turn = np.linspace(0, 2 * math.pi, n, endpoint=False)
    wave = sum(rng.uniform(-1, 1) / k**0.8 * np.cos(k * turn + rng.uniform(0, 6.28)) for k in range(2, 14))
    r = 1 + rough * wave
    return np.stack([length / 2 * r * np.cos(turn), width / 2 * r * np.sin(turn)], -1)


def _disc(outline: np.ndarray, z: float, paint) -> object:
    verts = [(float(x), float(y), z) for x, y in outline]
    return mesh(
        [(0.0, 0.0, z), *verts],
        [(0, 1 + i, 1 + (i + 1) % len(verts)) for i in range(len(verts))],
        paint,
        smooth=False,
    )


def build_sinkhole(seed: int, length: float = 2.2, width: float = 1.8) -> Objects:
    """A collapse: a black shaft, its broken asphalt edge in layers, cracks running out, lumps around it."""
    rng = Random(seed)
    shaft = material("shaft", (0.004, 0.0035, 0.003), 1.0, spec=0.0)
    earth = material("earth", (0.10, 0.065, 0.04), 1.0, spec=0.0, dark=(0.025, 0.018, 0.012), vary_scale=9)
    base = material("base course", (0.20, 0.18, 0.15), 1.0, spec=0.0, vary=0.5, vary_scale=25)
    crust = material("crust", (0.055, 0.055, 0.055), 1.0, spec=0.0, vary=0.4, vary_scale=30)
    rim = _outline(rng, length, width, 0.10)
    shift = np.array([-0.05 * length, 0.0])
    made = [
        _disc(rim * 1.05, 0.001, crust),
        _disc(rim, 0.003, base),
        _disc(rim * 0.93 + shift * 0.3, 0.005, earth),
    ]
    made.append(_disc(rim * 0.80 + shift, 0.007, shaft))
    for _ in range(9):
        made.append(_crack(rng, rim, shaft))
    for _ in range(40):
        spot = rim[rng.randrange(len(rim))] * rng.uniform(0.98, 1.25)
        size = rng.uniform(0.015, 0.07)
        made.append(
            box(
                (float(spot[0]), float(spot[1]), size * 0.3),
                (size, size * rng.uniform(0.6, 1), size * 0.6),
                crust,
                0.0,
                rot=(0, 0, rng.uniform(0, 3)),
            )
        )
    return made


def _crack(rng: Random, rim: np.ndarray, paint) -> object:
    """A crack that leaves the rim, bends and thins out."""
    at = rim[rng.randrange(len(rim))]
    way = math.atan2(at[1], at[0]) + rng.uniform(-0.4, 0.4)
    left, right, wide = [], [], rng.uniform(0.012, 0.03)
    steps = rng.randrange(6, 12)
    for k in range(steps):
        side = np.array([-math.sin(way), math.cos(way)]) * wide * (1 - k / steps)
        left.append(at + side)
        right.append(at - side)
        at = at + 0.09 * np.array([math.cos(way), math.sin(way)])
        way += rng.gauss(0, 0.35)
    ring = [*left, *reversed(right)]
    return mesh(
        [(float(x), float(y), 0.004) for x, y in ring], [tuple(range(len(ring)))], paint, smooth=False
    )


def build_flood(seed: int, length: float = 7.0, width: float = 4.4) -> Objects:
    """Standing water over the lane: a wet dark margin, then a sheet that mirrors the sky."""
    rng = Random(seed)
    outline = _outline(rng, length, width, 0.07)
    made: Objects = []
    for i, scale in enumerate(np.linspace(1.0, 0.93, 6)):
        made.append(
            _disc(
                outline * scale,
                0.001 + 0.001 * i,
                material("wet", (0.03, 0.03, 0.03), 1.0, spec=0.0, alpha=0.30),
            )
        )
    for i, scale in enumerate(np.linspace(0.92, 0.80, 8)):
        sheet = material(
            "water", (0.40, 0.415, 0.42), 1.0, spec=0.0, dark=(0.30, 0.30, 0.29), vary_scale=0.9, alpha=0.28
        )
        made.append(_disc(outline * scale, 0.01 + 0.001 * i, sheet))
    foam = material("leaves", (0.16, 0.11, 0.06), 0.9, spec=0.0)
    for _ in range(60):
        spot = outline[rng.randrange(len(outline))] * rng.uniform(0.3, 0.9)
        made.append(
            box(
                (float(spot[0]), float(spot[1]), 0.03),
                (rng.uniform(0.03, 0.1), 0.03, 0.004),
                foam,
                0.0,
                rot=(0, 0, rng.uniform(0, 3)),
            )
        )
    return made


MODELS = {
    "sinkhole": Model(build_sinkhole, {"a": {}, "b": {"seed": 4}}, pixels=360, decal=True),
    "flood": Model(build_flood, {"a": {}}, pixels=420, decal=True, water=True),
}
