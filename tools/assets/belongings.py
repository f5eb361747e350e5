"""Soft and lost things: a mattress, a suitcase, rubbish bags, a carrier bag."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from common import Model, Objects, blob, box, crumple, lathe, loft, material, mesh, place, tube


def build_mattress(seed: int, length: float = 1.9, width: float = 1.4, thick: float = 0.24) -> Objects:
    """A stained mattress lying in the lane, one end bent up, with piping and a quilted top."""
    cloth = material(
        "cloth",
        (0.60, 0.57, 0.50),
        0.9,
        spec=0.08,
        dark=(0.36, 0.30, 0.22),
        vary_scale=2.2,
        bump=0.1,
        bump_scale=70,
    )
    band = material("band", (0.30, 0.34, 0.42), 0.85, vary=0.2)
    u, q = np.meshgrid(np.linspace(-1, 1, 97), np.linspace(-1, 1, 73), indexing="ij")
    round_off = np.clip(1 - np.maximum(abs(u) ** 12, abs(q) ** 10), 0, 1) ** 0.4
    quilt = 0.014 * np.sqrt(abs(np.sin(u * length * 7.5) * np.sin(q * width * 7.5)))
    rng = Random(seed)
    phase = rng.uniform(0, 3)

    def bent(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        lift = 0.2 * np.clip((x + 0.15) / (length / 2), 0, None) ** 2 * (0.75 + 0.5 * y / width)
        sag = 0.02 * np.sin(y * 4 + x * 3 + phase)
        return np.stack([x - 0.35 * lift, y, np.maximum(z + lift + sag * (z > thick / 2), 0.0)], -1)

    faces_of = [
        bent(u * length / 2, q * width / 2, thick / 2 + top * (thick / 2 - 0.02 + quilt) * round_off)
        for top in (1, -1)
    ]
    rows, cols = u.shape
    verts = np.concatenate([f.reshape(-1, 3) for f in faces_of])
    quads = []
    for layer in (0, 1):
        for i in range(rows - 1):
            for j in range(cols - 1):
                a = layer * rows * cols + i * cols + j
                quad = (a, a + cols, a + cols + 1, a + 1)
                quads.append(quad if layer == 0 else quad[::-1])
    made = [mesh(verts.tolist(), quads, cloth)]
    around = np.linspace(0, 2 * math.pi, 160, endpoint=False)
    c, s = np.cos(around), np.sin(around)
    x, y = np.sign(c) * abs(c) ** 0.16 * length / 2, np.sign(s) * abs(s) ** 0.16 * width / 2
    for z in (0.02, thick - 0.02):
        made.append(tube(bent(x * 0.995, y * 0.995, np.full_like(x, z)).tolist(), 0.013, band, cyclic=True))
    return [place(made, yaw=rng.uniform(-0.2, 0.2))]


def build_suitcase(seed: int, color: tuple[float, float, float] = (0.03, 0.06, 0.14)) -> Objects:
    """A hard suitcase lying on its side: ribs, wheels, handle, and a strap."""
    shell = material("shell", color, 0.35, coat=0.3, vary=0.1, vary_scale=5)
    trim = material("trim", (0.02, 0.02, 0.02), 0.5)
    metal = material("metal", (0.5, 0.5, 0.5), 0.3, metal=1.0)
    made = [box((0, 0, 0.14), (0.70, 0.46, 0.27), shell, 0.06, segments=5)]
    for y in np.linspace(-0.17, 0.17, 7):
        made.append(box((0, float(y), 0.277), (0.54, 0.022, 0.012), shell, 0.005))
        made.append(box((0.351, float(y), 0.14), (0.012, 0.022, 0.16), shell, 0.005))
        made.append(box((-0.351, float(y), 0.14), (0.012, 0.022, 0.16), shell, 0.005))
    made.append(box((0, 0, 0.14), (0.708, 0.468, 0.012), trim, 0.004))
    for y in (-0.18, 0.18):
        for z in (0.05, 0.23):
            made.append(
                lathe(
                    [(0.0, -0.02), (0.028, -0.02), (0.028, 0.02), (0.0, 0.02)],
                    trim,
                    20,
                    center=(-0.375, y, z),
                    rot=(math.pi / 2, 0, 0),
                )
            )
    made.append(
        tube(
            [
                (0.35, -0.09, 0.2),
                (0.52, -0.09, 0.2),
                (0.54, -0.07, 0.2),
                (0.54, 0.07, 0.2),
                (0.52, 0.09, 0.2),
                (0.35, 0.09, 0.2),
            ],
            0.009,
            metal,
        )
    )
    made.append(
        tube(
            [(-0.08, 0.232, 0.1), (-0.06, 0.262, 0.12), (0.06, 0.262, 0.12), (0.08, 0.232, 0.1)], 0.012, trim
        )
    )
    return [place(made, yaw=Random(seed).uniform(-0.5, 0.5))]


def build_bags(
    seed: int, count: int = 3, color: tuple[float, float, float] = (0.012, 0.012, 0.014)
) -> Objects:
    """Tied rubbish bags leaning on each other."""
    rng = Random(seed)
    plastic = material("plastic", color, 0.28, spec=0.6, bump=0.5, bump_scale=22)
    made: Objects = []
    for i in range(count):
        wide, tall = rng.uniform(0.22, 0.3), rng.uniform(0.3, 0.42)
        lean = rng.uniform(-0.1, 0.1)
        chains = [
            ((0, 0, wide * 0.72), wide, (lean, 0, tall), wide * 0.8, (1.1, 0.95, 0.78)),
            ((lean, 0, tall + wide * 0.5), wide * 0.38, (lean * 1.5, 0, tall + wide * 0.86), 0.035),
            (
                (lean * 1.5, 0, tall + wide * 0.86),
                0.03,
                (lean * 2.2, 0.03, tall + wide * 1.12),
                0.06,
                (1, 0.45, 1),
            ),
        ]
        bag = blob(chains, plastic, 0.011, 3, displace=0.03, displace_scale=0.13)
        at = (rng.uniform(-0.12, 0.12), (i - (count - 1) / 2) * 0.46, -0.01)
        made.append(place([bag], at, rng.uniform(0, 6), scale=rng.uniform(0.85, 1.05)))
    return made


def build_plastic_bag(seed: int, color: tuple[float, float, float] = (0.66, 0.66, 0.64)) -> Objects:
    """A thin carrier bag that the wind has half filled, its handles up, just above the road."""
    rng = Random(seed)
    thin = material("film", color, 0.4, spec=0.3, vary=0.06, vary_scale=12)
    rings = []
    for z, wide, deep in (
        (0.0, 0.05, 0.03),
        (0.01, 0.13, 0.09),
        (0.1, 0.17, 0.13),
        (0.2, 0.16, 0.11),
        (0.29, 0.14, 0.06),
    ):
        turn = np.linspace(0, 2 * math.pi, 40)
        fold = 1 + sum(rng.uniform(-0.09, 0.09) * np.cos(k * turn + rng.uniform(0, 6)) for k in (3, 5, 8, 11))
        x, y = wide * fold * np.cos(turn), deep * fold * np.sin(turn)
        x[-1], y[-1] = x[0], y[0]
        rings.append(np.stack([x, y, np.full(40, z)], -1).tolist())
    made = [crumple(loft(rings, thin, 1, caps=False), 0.05, 0.07, 1)]
    for s in (1, -1):
        strap = [
            (-0.1, 0.05 * s, 0.27),
            (-0.07, 0.07 * s, 0.36),
            (0.0, 0.1 * s, 0.41),
            (0.07, 0.06 * s, 0.35),
            (0.1, 0.05 * s, 0.27),
        ]
        made.append(tube(strap, [0.022, 0.013, 0.01, 0.013, 0.022], thin))
    return [place(made, (0, 0, 0.06), rng.uniform(-1, 1), roll=0.5)]


LOW = {"elevations": (5.0,), "samples": 12}
MODELS = {
    "mattress": Model(build_mattress, {"a": {}}, pixels=240, **LOW),
    "suitcase": Model(
        build_suitcase, {"navy": {}, "red": {"color": (0.32, 0.02, 0.025), "seed": 2}}, pixels=130, **LOW
    ),
    "garbage_bags": Model(
        build_bags,
        {"black": {}, "white": {"color": (0.6, 0.6, 0.6), "count": 2, "seed": 4}},
        pixels=180,
        **LOW,
    ),
    "plastic_bag": Model(build_plastic_bag, {"a": {}}, pixels=100),
}
