"""Road works: cones, drums, barricades, delineators."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import numpy as np
from common import Model, Objects, box, lathe, material, mesh, place, tube

ORANGE = (0.80, 0.10, 0.012)
WHITE = (0.74, 0.74, 0.71)


def build_cone(seed: int, height: float = 0.71, dirt: float = 0.12) -> Objects:
    """A traffic cone with two reflective collars on a black rubber base."""
    k = height / 0.71
    orange = material("cone", ORANGE, 0.5, vary=dirt, vary_scale=7)
    white = material("collar", WHITE, 0.35, vary=dirt * 0.6)
    rubber = material("rubber", (0.02, 0.02, 0.02), 0.75, vary=0.4)

    def radius(z: float) -> float:
        return 0.142 - 0.112 * (z - 0.035) / 0.675

    heights = [0.035, 0.06, 0.2, 0.35, 0.5, 0.65, 0.7]
    body = lathe(
        [(0.165, 0.03), (0.16, 0.036)] + [(radius(z), z) for z in heights] + [(0.024, 0.71), (0.0, 0.71)],
        orange,
        40,
    )
    collars = [
        lathe([(radius(z) + 0.003, z) for z in band], white, 40) for band in ((0.33, 0.47), (0.53, 0.63))
    ]
    foot = box((0, 0, 0.017), (0.38, 0.38, 0.034), rubber, 0.012)
    yaw = Random(seed).uniform(-0.6, 0.6)
    return [place([body, *collars, foot], yaw=yaw, scale=k)]


def build_cone_row(seed: int, count: int = 4) -> Objects:
    """A taper of cones set across a lane."""
    rng = Random(seed)
    made = []
    for i in range(count):
        t = i / (count - 1) - 0.5
        at = (-2.4 * t + rng.uniform(-0.1, 0.1), 2.7 * t + rng.uniform(-0.1, 0.1), 0)
        made.append(place(build_cone(seed + i), at, rng.uniform(-1, 1)))
    return made


def build_drum(seed: int, dirt: float = 0.15) -> Objects:
    """A construction drum with four stripes on a rubber ring."""
    orange = material("drum", ORANGE, 0.5, vary=dirt, vary_scale=4)
    white = material("stripe", WHITE, 0.35, vary=dirt * 0.6, vary_scale=5)
    rubber = material("ring", (0.02, 0.02, 0.02), 0.8, vary=0.4)
    steps = [0.05, 0.24, 0.42, 0.60, 0.78, 0.98]
    made = [lathe([(0.36, 0.0), (0.38, 0.02), (0.37, 0.08), (0.29, 0.10)], rubber, 48)]
    for i, (low, high) in enumerate(pairwise(steps)):
        r = 0.292 - 0.018 * i
        profile = [(r + 0.006, low), (r + 0.006, low + 0.015), (r, low + 0.03), (r - 0.006, high)]
        made.append(lathe(profile, white if i in (1, 3) else orange, 48))
    made.append(lathe([(0.21, 0.97), (0.19, 1.0), (0.0, 1.0)], orange, 48))
    made.append(tube([(0, -0.09, 1.0), (0, -0.07, 1.05), (0, 0.07, 1.05), (0, 0.09, 1.0)], 0.014, orange))
    return [place(made, yaw=Random(seed).uniform(-1, 1))]


def _striped_board(
    at: tuple[float, float, float], width: float, height: float, colors, slope: int = 1
) -> Objects:
    """A board across the road whose two faces carry slanted stripes."""
    backing, first, second = colors
    x, y0, z0 = at
    made = [box((x, y0, z0), (0.03, width, height), backing, 0.004)]
    band, lean = 0.15, slope * height / 2
    count = math.ceil((width + height) / band)
    for side in (1, -1):
        for i in range(count):
            a = -width / 2 - height / 2 + i * band
            corners = [(a - lean, -1), (a + band - lean, -1), (a + band + lean, 1), (a + lean, 1)]
            clipped = _clip(corners, width / 2)
            if len(clipped) < 3:
                continue
            verts = [(x + side * 0.0165, y0 + y, z0 + v * height / 2 * 0.97) for y, v in clipped]
            made.append(mesh(verts, [range(len(verts))], first if i % 2 else second, smooth=False))
    return made


def _clip(corners: list[tuple[float, float]], half: float) -> list[tuple[float, float]]:
    """A polygon of (y, v) cut to |y| <= half (Sutherland-Hodgman on two sides)."""
    for sign in (1, -1):
        kept: list[tuple[float, float]] = []
        for (y0, v0), (y1, v1) in zip(corners, corners[1:] + corners[:1], strict=True):
            inside0, inside1 = sign * y0 <= half, sign * y1 <= half
            if inside0:
                kept.append((y0, v0))
            if inside0 != inside1:
                t = (sign * half - y0) / (y1 - y0)
                kept.append((sign * half, v0 + t * (v1 - v0)))
        corners = kept
        if not corners:
            break
    return corners


def build_barricade(seed: int, width: float = 1.83, lamps: bool = True) -> Objects:
    """A type III barricade: three striped boards on steel uprights, amber lamps on top."""
    orange = material("tape", ORANGE, 0.4, vary=0.08)
    white = material("tape white", WHITE, 0.4, vary=0.08)
    back = material("board", (0.6, 0.6, 0.58), 0.6, vary=0.15)
    steel = material("steel", (0.33, 0.33, 0.34), 0.45, metal=0.6, vary=0.2)
    amber = material("amber", (0.9, 0.22, 0.01), 0.2, emit=1.6 if lamps else 0.0)
    made: Objects = []
    for z in (0.55, 0.95, 1.38):
        made += _striped_board((0.03, 0, z), width, 0.2, (back, orange, white))
    for y in (-width / 2 + 0.18, width / 2 - 0.18):
        made.append(box((0, y, 0.77), (0.045, 0.045, 1.48), steel, 0.004))
        made.append(box((0, y, 0.035), (1.3, 0.05, 0.06), steel, 0.005))
        if lamps:
            made.append(
                lathe(
                    [(0.0, -0.03), (0.075, -0.03), (0.085, 0.0), (0.075, 0.03), (0.0, 0.03)],
                    amber,
                    32,
                    center=(0.03, y, 1.58),
                    rot=(0, math.pi / 2, 0),
                )
            )
            made.append(box((0.03, y, 1.5), (0.06, 0.1, 0.06), back, 0.01))
    return made


RED, MILKY = (0.56, 0.035, 0.018), (0.70, 0.70, 0.67)


def build_water_barrier(
    seed: int,
    outer: tuple[float, float, float] = RED,
    inner: tuple[float, float, float] = MILKY,
) -> Objects:
    """Three plastic barriers filled with water, linked across the road: two of one colour, another between."""
    made: Objects = []
    length = 0.95
    for k, color in enumerate((outer, inner, outer)):
        dusty = tuple(0.55 * c + 0.06 for c in color)
        plastic = material(f"shell{k}", color, 0.42, dark=dusty, vary_scale=2.2)
        made += [place(_unit(length, plastic), (0, (k - 1) * length, 0))]
    pin = material("pin", (0.06, 0.06, 0.06), 0.6)
    made += [tube([(0, y, 0.12), (0, y, 0.84)], 0.026, pin) for y in (-length / 2, length / 2)]
    return made


def _unit(length: float, plastic) -> Objects:
    """One barrier, long in y: a broad foot with forklift slots, sloping flanks with moulded panels, a filler cap."""
    dark = material("slot", (0.012, 0.012, 0.012), 0.9, spec=0.0)
    cap = material("cap", (0.03, 0.03, 0.03), 0.5)
    y, z = np.meshgrid(np.linspace(-1, 1, 73), np.linspace(0, 1, 61), indexing="ij")
    half, tall = length / 2 - 0.012, 0.86
    thick = np.interp(z * tall, [0, 0.17, 0.22, 0.45, 0.80, 0.86], [0.25, 0.245, 0.22, 0.14, 0.10, 0.075])

    def panel(y0: float, y1: float, z0: float, z1: float, deep: float) -> np.ndarray:
        inside = np.minimum.reduce([y * half - y0, y1 - y * half, z * tall - z0, z1 - z * tall])
        return deep * np.clip(inside / 0.022 + 0.5, 0, 1)

    for low in (-0.36, -0.105, 0.15):
        thick = thick - panel(low, low + 0.21, 0.29, 0.72, 0.035)
    thick = thick - panel(-half, half, 0.765, 0.79, 0.014)
    ends = np.clip((1 - abs(y)) * half / 0.045, 0, 1)
    thick = thick * (0.62 + 0.38 * np.sqrt(ends * (2 - ends)))
    made: Objects = []
    rows, cols = y.shape
    for side in (1, -1):
        verts = np.stack([side * thick, y * half, z * tall], -1).reshape(-1, 3)
        quads = [
            (i * cols + j, i * cols + cols + j, i * cols + cols + j + 1, i * cols + j + 1)[::side]
            for i in range(rows - 1)
            for j in range(cols - 1)
        ]
        made.append(mesh(verts.tolist(), quads, plastic))
        made += [box((side * 0.246, y0, 0.085), (0.006, 0.2, 0.09), dark, 0.0) for y0 in (-0.23, 0.23)]
    for at in (0, rows - 1):  # the ends
        loop = [(thick[at, j], y[at, j] * half, z[at, j] * tall) for j in range(cols)]
        loop += [(-x, v, w) for x, v, w in reversed(loop)]
        made.append(mesh(loop, [range(len(loop))], plastic, smooth=False))
    edge = [(thick[i, -1], y[i, -1] * half, tall) for i in range(rows)]
    top = edge + [(-x, v, w) for x, v, w in reversed(edge)]
    made.append(mesh(top, [range(len(top))], plastic, smooth=False))
    lid = [(0.045, 0.0), (0.045, 0.03), (0.0, 0.035)]
    made += [lathe(lid, cap, 24, center=(0, y0, tall)) for y0 in (-0.22, 0.22)]
    knuckles = [(0.055, z0) for z0 in (-0.05, 0.05)]
    for y0, heights in ((half, (0.3, 0.62)), (-half, (0.46, 0.76))):
        made += [lathe(knuckles, plastic, 20, center=(0, y0, h)) for h in heights]
    return made


MODELS = {
    "cone": Model(
        build_cone,
        {"a": {}, "worn": {"dirt": 0.35, "seed": 3}, "tall": {"height": 0.95, "seed": 5}},
        symmetry="round",
        elevations=(3.0, 8.0),
        pixels=200,
    ),
    "cones": Model(build_cone_row, {"a": {}}, pixels=300),
    "drum": Model(build_drum, {"a": {}, "worn": {"dirt": 0.4}}, symmetry="round", pixels=200),
    "barrier": Model(
        build_barricade, {"a": {}, "plain": {"lamps": False, "width": 1.5}}, symmetry="mirror", pixels=260
    ),
    "water_barrier": Model(
        build_water_barrier,
        {"orange": {"outer": ORANGE}, "white": {}},
        symmetry="mirror",
        pixels=320,
        samples=16,
    ),
}
