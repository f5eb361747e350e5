"""Along the road: sign board, bench, mailbox, traffic island, a fallen pole, an open manhole."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from common import Model, Objects, box, lathe, material, place, tube


def build_billboard(seed: int) -> Objects:
    """A pavement sign board with a plain advertisement on both faces."""
    rng = Random(seed)
    frame = material("frame", (0.05, 0.05, 0.05), 0.5)
    panel = material("panel", (0.70, 0.66, 0.52), 0.5)
    made: Objects = []
    for side in (0.0, math.pi):
        face = [
            box((0, 0, 0.9), (0.03, 1.0, 1.75), frame, 0.01),
            box((0.017, 0, 0.95), (0.006, 0.88, 1.5), panel, 0.0),
        ]
        face.append(
            box(
                (0.021, 0, 1.32),
                (0.004, 0.76, 0.5),
                material("picture", (0.55, 0.12, 0.05), 0.5, dark=(0.06, 0.16, 0.30), vary_scale=5),
                0.0,
            )
        )
        ink = material("ink", (0.03, 0.05, 0.09), 0.6)
        face += [
            box(
                (0.021, rng.uniform(-0.06, 0.06), 0.9 - i * 0.13),
                (0.004, rng.uniform(0.4, 0.74), 0.05 if i else 0.1),
                ink,
                0.0,
            )
            for i in range(4)
        ]
        made.append(place([place(face, (0.175, 0, 0), pitch=-0.1)], yaw=side))
    return made


def build_bench(seed: int) -> Objects:
    """A slatted park bench on cast feet."""
    wood = material("slat", (0.28, 0.16, 0.08), 0.6, vary=0.2, vary_scale=6)
    iron = material("iron", (0.02, 0.025, 0.02), 0.5)
    made = [box((x, 0, 0.45), (0.08, 1.6, 0.03), wood, 0.006) for x in (-0.12, -0.02, 0.08, 0.18, 0.28)]
    made += [
        place(
            [box((0, 0, 0), (0.025, 1.6, 0.09), wood, 0.006)],
            (-0.2 - 0.1 * i * 0.35, 0, 0.56 + 0.12 * i),
            pitch=-0.3,
        )
        for i in range(3)
    ]
    for y in (-0.68, 0.68):
        made.append(tube([(0.3, y, 0.0), (0.26, y, 0.42), (-0.16, y, 0.42), (-0.34, y, 0.88)], 0.022, iron))
        made.append(tube([(-0.2, y, 0.42), (-0.28, y, 0.0)], 0.022, iron))
        made.append(tube([(0.28, y, 0.42), (0.28, y, 0.64), (-0.24, y, 0.64)], 0.018, iron))
    return made


def build_mailbox(seed: int) -> Objects:
    """A round-topped blue mailbox on four legs."""
    blue = material("blue", (0.02, 0.05, 0.20), 0.35, coat=0.4, vary=0.08)
    white = material("label", (0.6, 0.6, 0.58), 0.5)
    dark = material("slot", (0.01, 0.01, 0.01), 0.8)
    made = [box((0, 0, 0.58), (0.5, 0.474, 0.76), blue, 0.02)]
    made.append(
        lathe(
            [(0.0, -0.244), (0.25, -0.244), (0.25, 0.244), (0.0, 0.244)],
            blue,
            48,
            center=(0, 0, 0.95),
            rot=(math.pi / 2, 0, 0),
        )
    )
    made += [box((x, y, 0.1), (0.06, 0.06, 0.22), blue, 0.005) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    made += [
        box((0.252, 0, 0.62), (0.008, 0.3, 0.2), white, 0.004),
        box((0.2, 0, 1.02), (0.12, 0.36, 0.03), dark, 0.01),
    ]
    return made


def build_island(seed: int) -> Objects:
    """A temporary traffic island: striped kerbs, two bollards, one with a keep-right arrow."""
    yellow = material("yellow", (0.62, 0.42, 0.02), 0.6, vary=0.15)
    black = material("black", (0.02, 0.02, 0.02), 0.7)
    top = material("top", (0.30, 0.29, 0.27), 0.9, vary=0.2)
    white = material("white", (0.72, 0.72, 0.70), 0.4)
    blue = material("sign", (0.01, 0.06, 0.32), 0.4)
    made = [box((0, 0, 0.07), (1.5, 0.9, 0.15), top, 0.03)]
    for i, x in enumerate(np.linspace(-0.65, 0.65, 6)):
        paint = yellow if i % 2 else black
        made += [box((float(x), s * 0.45, 0.085), (0.26, 0.12, 0.17), paint, 0.02) for s in (1, -1)]
    for i, y in enumerate(np.linspace(-0.36, 0.36, 4)):
        made += [
            box((s * 0.74, float(y), 0.085), (0.12, 0.24, 0.17), yellow if i % 2 else black, 0.02)
            for s in (1, -1)
        ]
    for x in (-0.4, 0.4):
        made.append(
            lathe(
                [(0.10, 0.14), (0.10, 0.2), (0.055, 0.22), (0.055, 0.95), (0.04, 0.98), (0.0, 0.98)],
                yellow,
                32,
                center=(x, 0, 0),
            )
        )
        made += [lathe([(0.058, z), (0.058, z + 0.09)], white, 32, center=(x, 0, 0)) for z in (0.5, 0.72)]
    made.append(
        lathe(
            [(0.0, 0.012), (0.21, 0.012), (0.21, -0.012), (0.0, -0.012)],
            blue,
            40,
            center=(0.47, 0, 1.0),
            rot=(0, math.pi / 2, 0),
        )
    )
    made.append(
        place(
            [
                box((0.487, 0, 0.02), (0.004, 0.045, 0.2), white, 0.0),
                box((0.487, -0.045, -0.07), (0.004, 0.13, 0.04), white, 0.0),
                box((0.487, 0.045, -0.07), (0.004, 0.13, 0.04), white, 0.0),
            ],
            (0, 0, 1.0),
            roll=math.pi + 0.7,
        )
    )
    return made


def build_power_line(seed: int) -> Objects:
    """A snapped wooden pole across the lane, its cross-arm up, cables curling over the asphalt."""
    rng = Random(seed)
    wood = material(
        "pole", (0.16, 0.115, 0.08), 0.9, dark=(0.08, 0.06, 0.045), vary_scale=5, bump=0.4, bump_scale=18
    )
    raw = material("raw", (0.48, 0.34, 0.18), 0.9, vary=0.3, vary_scale=20)
    steel = material("steel", (0.3, 0.3, 0.3), 0.5, metal=0.7)
    glass = material("insulator", (0.10, 0.05, 0.03), 0.2, coat=0.6)
    cable = material("cable", (0.012, 0.012, 0.012), 0.6)
    made = [
        tube([(0.1, -2.9, 0.16), (0.0, 0.0, 0.15), (-0.06, 2.5, 0.13)], [0.15, 0.135, 0.12], wood, sides=24)
    ]
    for _ in range(14):
        a, r = rng.uniform(0, 6.28), rng.uniform(0.02, 0.12)
        made.append(
            tube(
                [
                    (0.1 + r * math.cos(a), -2.86, 0.16 + r * math.sin(a)),
                    (0.1 + r * math.cos(a) * 1.1, -2.95 - rng.uniform(0.05, 0.35), 0.16 + r * math.sin(a)),
                ],
                [0.02, 0.004],
                raw,
                sides=4,
            )
        )
    arm = [box((0, 0, 0), (1.9, 0.09, 0.11), wood, 0.008)]
    for x in (-0.85, -0.4, 0.4, 0.85):
        arm.append(
            lathe(
                [(0.0, 0.0), (0.03, 0.0), (0.05, 0.05), (0.03, 0.07), (0.045, 0.11), (0.0, 0.13)],
                glass,
                20,
                center=(x, 0, 0.055),
            )
        )
    made.append(place(arm, (-0.04, 1.75, 0.55), 0.1, pitch=-0.62))
    made.append(tube([(-0.04, 1.75, 0.15), (-0.04, 1.75, 0.55)], 0.03, steel))
    for i, x in enumerate((0.75, 0.35, -0.3)):
        start = np.array([x, 1.8, 0.62 + 0.55 * max(x, 0)])
        knots = [start, start + np.array([0.2, 0.3, -0.35])]
        for k in range(9):
            knots.append(
                np.array(
                    [
                        0.5 + 0.35 * i + 0.3 * math.sin(k * 1.1 + i),
                        2.2 - k * 0.58,
                        0.015 + 0.05 * max(0, math.sin(k * 2.1 + i)),
                    ]
                )
            )
        t = np.linspace(0, 1, 60)
        path = np.stack(
            [np.interp(t, np.linspace(0, 1, len(knots)), [p[j] for p in knots]) for j in range(3)], -1
        )
        path = np.apply_along_axis(
            lambda c: np.convolve(np.pad(c, 3, "edge"), np.ones(7) / 7, "valid"), 0, path
        )
        made.append(tube(path.tolist(), 0.012, cable, sides=6))
    return made


def build_manhole(seed: int) -> Objects:
    """An open manhole: black shaft, iron ring, the cover tipped against its rim."""
    iron = material("iron", (0.09, 0.08, 0.075), 0.6, metal=0.5, vary=0.3, vary_scale=20)
    void = material("void", (0.002, 0.002, 0.002), 1.0, spec=0.0)
    patch = material("patch", (0.16, 0.155, 0.15), 0.95, vary=0.2, vary_scale=9)
    made = [
        lathe([(0.0, 0.006), (0.31, 0.006)], void, 48),
        lathe([(0.31, 0.004), (0.31, 0.02), (0.39, 0.02), (0.40, 0.0)], iron, 48),
    ]
    made.append(lathe([(0.40, 0.006), (0.50, 0.004)], patch, 12))
    cover = [lathe([(0.0, -0.03), (0.33, -0.03), (0.34, 0.0), (0.33, 0.015), (0.0, 0.015)], iron, 48)]
    cover += [
        box((0.13 * i, 0.13 * j, 0.02), (0.06, 0.06, 0.012), iron, 0.004)
        for i in range(-2, 3)
        for j in range(-2, 3)
        if i * i + j * j < 6
    ]
    made.append(place(cover, (-0.05, 0.66, 0.19), 0.4, roll=0.62))
    return made


FEW = {"step": 20, "elevations": (4.0,), "samples": 12}
MODELS = {
    "billboard": Model(build_billboard, {"a": {}}, pixels=200, symmetry="mirror", **FEW),
    "bench": Model(build_bench, {"a": {}}, pixels=180, symmetry="mirror", **FEW),
    "mailbox": Model(build_mailbox, {"a": {}}, pixels=160, symmetry="mirror", **FEW),
    "traffic_island": Model(build_island, {"a": {}}, pixels=200, **FEW),
    "power_line": Model(build_power_line, {"a": {}}, pixels=320, **FEW),
    "manhole": Model(build_manhole, {"a": {}}, pixels=150, step=40, elevations=(3.0, 6.0, 10.0), samples=12),
}
