"""Trailers without a vehicle: a cargo trailer come loose, a mobile generator with its light mast folded."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import bpy
import numpy as np
from common import Model, Objects, blob, box, lathe, material, mesh, place, tube
from fittings import grime, lettering, louvres, tape


def _wheel(radius: float, width: float, x: float, side: int, y: float) -> Objects:
    """A small steel wheel whose middle is at |y|."""
    rubber = grime(material("tyre", (0.018, 0.018, 0.018), 0.85, spec=0.2, vary=0.3), 0.8, 0.5)
    steel = grime(material("rim", (0.40, 0.40, 0.40), 0.45, metal=0.4), 0.9, 0.5)
    dark = material("hole", (0.008, 0.008, 0.008), 1.0, spec=0.0)
    w, rim = width / 2, radius * 0.62
    tread = [
        (rim, -w),
        (radius * 0.92, -w),
        (radius, -w * 0.7),
        (radius, w * 0.7),
        (radius * 0.93, w),
        (rim + 0.01, w * 0.9),
        (rim, w * 0.8),
    ]
    disc = [
        (rim, w * 0.85),
        (rim * 0.92, w * 0.8),
        (rim * 0.85, w * 0.1),
        (rim * 0.55, w * 0.45),
        (rim * 0.3, w * 0.4),
        (rim * 0.26, w * 0.75),
        (0.0, w * 0.8),
    ]
    made = [
        lathe(tread, rubber, 40),
        lathe(disc, steel, 32),
        lathe([(0.0, -w * 0.8), (rim, -w * 0.8)], dark, 24),
    ]
    for i in range(10):
        turn = math.pi * i / 5
        at = (rim * 0.7 * math.cos(turn), rim * 0.7 * math.sin(turn), w * 0.34)
        made.append(lathe([(0.0, 0.01), (rim * 0.1, 0.0)], dark, 10, center=at))
    return [place(made, (x, side * y, radius), roll=-side * math.pi / 2)]


def _guard(x: float, y: float, radius: float, wheel: float, wide: float, paint) -> bpy.types.Object:
    """A curved mudguard around a wheel `wheel` metres in radius."""
    arc = [
        (x + radius * math.cos(a), wheel + radius * math.sin(a)) for a in np.linspace(0.1, math.pi - 0.1, 15)
    ]
    n = len(arc)
    verts = [(u, y + e * wide / 2, v) for e in (-1, 1) for u, v in arc]
    made = mesh(verts, [(i, i + 1, n + i + 1, n + i) for i in range(n - 1)], paint)
    thick = made.modifiers.new("thick", "SOLIDIFY")
    thick.thickness = 0.018
    return made


def _rear_lamp(x: float, y: float, z: float, wide: float = 0.22) -> Objects:
    """A rear lamp: amber, red, and the bolt between them, in a black tray; a reflector below."""
    tray = material("tray", (0.012, 0.012, 0.012), 0.5)
    red = material("tail", (0.36, 0.008, 0.006), 0.12, coat=1.0, emit=0.15)
    amber = material("turn", (0.65, 0.15, 0.008), 0.12, coat=1.0)
    made: Objects = [box((x + 0.01, y, z), (0.05, wide + 0.02, 0.12), tray, 0.01)]
    s = 1 if y > 0 else -1
    made.append(box((x - 0.02, y - s * wide * 0.2, z), (0.02, wide * 0.56, 0.10), red, 0.008))
    made.append(box((x - 0.02, y + s * wide * 0.3, z), (0.02, wide * 0.38, 0.10), amber, 0.008))
    return made


def build_trailer(seed: int) -> Objects:
    """A loose single-axle cargo trailer, nose down on its drawbar, under a laced tarpaulin."""
    zinc = grime(material("zinc", (0.40, 0.41, 0.42), 0.4, metal=0.7, vary=0.25, vary_scale=5), 0.95, 0.55)
    dark = material("dark", (0.014, 0.014, 0.014), 0.7)
    cover = grime(
        material("cover", (0.035, 0.055, 0.10), 0.6, vary=0.25, vary_scale=3, bump=0.35, bump_scale=5),
        1.4,
        0.35,
    )
    rope = material("rope", (0.35, 0.33, 0.28), 0.9)
    body: Objects = [
        box((0, 0, 0.72), (2.2, 1.35, 0.36), zinc, 0.012),
        box((0, 0, 0.54), (2.0, 1.1, 0.05), dark, 0.0),
    ]
    body += [
        box((x, s * 0.68, 0.72), (0.035, 0.03, 0.36), zinc, 0.006)
        for x in np.linspace(-1.08, 1.08, 7)
        for s in (1, -1)
    ]
    body += [
        box((0, s * 0.68, z), (2.2, 0.025, 0.03), zinc, 0.006) for z in (0.56, 0.72, 0.89) for s in (1, -1)
    ]
    body += [box((-1.105, y, 0.72), (0.025, 0.035, 0.36), zinc, 0.006) for y in (-0.63, -0.25, 0.25, 0.63)]
    body += [box((-1.12, s * 0.6, 0.84), (0.03, 0.05, 0.1), dark, 0.008) for s in (1, -1)]
    strap = material("strap", (0.50, 0.20, 0.01), 0.7)
    body += [*_tarpaulin(cover, strap, Random(seed)), *_lacing(rope, dark)]
    body += [tube([(1.1, s * 0.45, 0.52), (1.95, 0, 0.50)], 0.035, zinc) for s in (1, -1)]
    body.append(blob([((1.95, 0, 0.5), 0.06, (2.12, 0, 0.49), 0.05)], dark, 0.012, 2))
    body += [
        tube([(1.75, 0.08, 0.85), (1.75, 0.08, 0.28)], 0.026, zinc),
        tube([(1.75, 0.08, 0.86), (1.66, 0.08, 0.9)], 0.014, dark),
    ]
    body.append(tube([(-0.1, -0.8, 0.3), (-0.1, 0.8, 0.3)], 0.035, dark))
    for s in (1, -1):
        body += _wheel(0.3, 0.17, -0.1, s, 0.80)
        body.append(_guard(-0.1, s * 0.80, 0.36, 0.31, 0.22, dark))
        body += _rear_lamp(-1.13, s * 0.52, 0.60)
        body.append(
            mesh(
                [(-1.12, s * 0.30 + u, 0.60 + v) for u, v in ((-0.07, -0.05), (0.07, -0.05), (0.0, 0.07))],
                [(0, 1, 2)],
                material("triangle", (0.4, 0.01, 0.01), 0.3, coat=0.6),
            )
        )
    body.append(box((-1.12, 0, 0.60), (0.012, 0.42, 0.1), material("plate", (0.6, 0.6, 0.58), 0.5), 0.003))
    return [place(body, (0.0, 0, 0.015), Random(seed).uniform(-0.1, 0.1), pitch=0.09)]


def _heap(rng: Random) -> Callable[[float, float], float]:
    """Height (m) of a sheet over an uneven load at (u, v) in -1..1 along and across: sagging, hanging at its hem."""
    lumps = [
        (rng.uniform(-0.8, 0.8), rng.uniform(-0.6, 0.6), rng.uniform(0.02, 0.07), rng.uniform(0.25, 0.5))
        for _ in range(9)
    ]
    folds = [(rng.uniform(-9, 9), rng.uniform(-9, 9), rng.uniform(0, 6.3)) for _ in range(5)]

    def height(u: float, v: float) -> float:
        edge = math.sin(math.pi / 2 * min(1.0, (1 - abs(u)) * 7) * min(1.0, (1 - abs(v)) * 4.5))
        load = sum(h * math.exp(-((u - a) ** 2 + (v - b) ** 2) / w**2) for a, b, h, w in lumps)
        creases = sum(abs(math.sin(a * u + b * v + c)) ** 0.5 for a, b, c in folds) * 0.007
        hem = 0.014 * math.sin(21 * (u if abs(v) > abs(u) else 0.6 * v))
        return (
            0.80 + hem * (1 - edge) + (0.26 + load - creases + 0.02 * math.cos(3 * math.pi * u)) * edge**0.6
        )

    return height


def _tarpaulin(cover, strap, rng: Random) -> Objects:
    """The sheet, and two webbing straps over it."""
    height, nx, ny = _heap(rng), 81, 57
    grid = [(2 * i / (nx - 1) - 1, 2 * j / (ny - 1) - 1) for i in range(nx) for j in range(ny)]
    verts = [(1.125 * u, 0.705 * v, height(u, v)) for u, v in grid]
    faces = [
        (i * ny + j, (i + 1) * ny + j, (i + 1) * ny + j + 1, i * ny + j + 1)
        for i in range(nx - 1)
        for j in range(ny - 1)
    ]
    made: Objects = [mesh(verts, faces, cover)]
    for u in (-0.45, 0.42):
        line = [(v, height(u, v) + 0.006) for v in np.linspace(-1, 1, 30).tolist()]
        band = [(1.125 * u + e * 0.022, 0.712 * v, z) for e in (-1, 1) for v, z in line]
        made.append(mesh(band, [(i, i + 1, 31 + i, 30 + i) for i in range(29)], strap))
    return made


def _lacing(rope, dark) -> Objects:
    """Rubber rope zigzagging from the hem to buttons on the boards."""
    made: Objects = []
    for s in (1, -1):
        line = [
            (x, s * 0.712, 0.84 if i % 2 else 0.76)
            for i, x in enumerate(np.linspace(-1.05, 1.05, 15).tolist())
        ]
        made.append(tube(line, 0.006, rope))
        made += [box((x, s * 0.70, 0.76), (0.03, 0.02, 0.03), dark, 0.004) for x, _, z in line if z < 0.8]
    back = [(-1.135, y, 0.84 if i % 2 else 0.76) for i, y in enumerate(np.linspace(-0.62, 0.62, 9).tolist())]
    return [*made, tube(back, 0.006, rope)]


def build_generator(seed: int) -> Objects:
    """A mobile generator: a louvred canopy on one axle, drawbar on the ground, its light mast folded on top."""
    shade = (0.42, 0.43, 0.42)
    skin = grime(
        material("canopy", shade, 0.35, coat=0.5, vary=0.05, vary_scale=2, bump=0.06, bump_scale=2), 1.2, 0.6
    )
    dark = grime(material("chassis", (0.022, 0.022, 0.022), 0.6), 0.9, 0.5)
    black = material("fitting", (0.012, 0.012, 0.012), 0.5)
    made: Objects = [
        box((-0.2, 0, 0.90), (1.9, 1.12, 0.84), skin, 0.06, segments=3),
        box((-0.2, 0, 0.44), (2.0, 1.16, 0.12), dark, 0.015),
    ]
    made += _canopy_sides(skin, black)
    made += _canopy_rear(skin, black)
    made += [tube([(0.75, s * 0.4, 0.44), (1.35, 0, 0.42)], 0.04, dark) for s in (1, -1)]
    made.append(blob([((1.32, 0, 0.42), 0.06, (1.45, 0, 0.41), 0.045)], black, 0.012, 2))
    made += [
        tube([(1.2, 0.1, 0.72), (1.2, 0.1, 0.03)], 0.03, dark),
        lathe([(0.0, 0.02), (0.09, 0.015), (0.09, 0.0)], dark, 20, center=(1.2, 0.1, 0.0)),
    ]
    made.append(tube([(-0.25, -0.68, 0.31), (-0.25, 0.68, 0.31)], 0.04, black))
    for s in (1, -1):
        made += _wheel(0.31, 0.19, -0.25, s, 0.70)
        made.append(_guard(-0.25, s * 0.69, 0.37, 0.32, 0.24, dark))
        made += [tube([(x, s * 0.5, 0.5), (x, s * 0.5, 0.04)], 0.028, dark) for x in (-1.12,)]
        made.append(box((-1.12, s * 0.5, 0.02), (0.16, 0.16, 0.02), dark, 0.004))
    return [*made, *_folded_mast(black)]


def _canopy_sides(skin, black) -> Objects:
    """Doors with seams, hinges and locks, louvres, a lifting eye, exhaust, warning labels."""
    label = material("label", (0.62, 0.46, 0.015), 0.4)
    ink = material("label ink", (0.015, 0.015, 0.02), 0.6)
    made: Objects = []
    for s, side in ((1, "left"), (-1, "right")):
        y = s * 0.562
        made += louvres((-0.85, y, 0.92), 0.36, 0.5, 9, skin, black)
        made += louvres((0.52, y, 1.02), 0.3, 0.3, 6, skin, black)
        made += [box((x, y, 0.9), (0.012, 0.006, 0.7), black, 0.0) for x in (-0.6, -0.05, 0.32)]
        made.append(box((-0.14, y, 1.235), (0.92, 0.006, 0.012), black, 0.0))
        made += [box((x, y + s * 0.006, 0.92), (0.05, 0.02, 0.12), black, 0.008) for x in (-0.13, 0.24)]
        made.append(box((-0.33, y, 1.06), (0.14, 0.004, 0.14), label, 0.0))
        made.append(lettering("OTATO", (-0.33, y + s * 0.004, 0.74), 0.085, ink, side))
    made.append(tube([(0.55, -0.3, 1.3), (0.55, -0.3, 1.42), (0.48, -0.3, 1.46)], 0.03, black))
    return [*made, box((-0.2, 0, 1.33), (0.2, 0.06, 0.05), black, 0.01)]


def _canopy_rear(skin, black) -> Objects:
    """The control door, its window and the radiator's louvres above; lamps, plate and reflectors on the bumper."""
    glass = material("gauge window", (0.02, 0.024, 0.026), 0.06, spec=0.6, coat=1.0)
    x = -1.152
    made: Objects = louvres((x, 0, 1.10), 0.86, 0.24, 6, skin, black, "y")
    made += [box((x, y, 0.78), (0.006, 0.010, 0.32), black, 0.0) for y in (-0.42, 0.42)]
    made += [box((x, 0, z), (0.006, 0.84, 0.010), black, 0.0) for z in (0.62, 0.94)]
    made += [
        box((x - 0.004, 0.14, 0.80), (0.012, 0.3, 0.16), glass, 0.01),
        box((x - 0.01, -0.28, 0.78), (0.03, 0.05, 0.12), black, 0.01),
    ]
    made.append(box((-1.22, 0, 0.44), (0.06, 1.5, 0.15), black, 0.015))
    for s in (1, -1):
        made += _rear_lamp(-1.26, s * 0.62, 0.44, 0.24)
        made += tape((-1.165, s * 0.50, 0.58), (-1.165, s * 0.50, 1.2), 0.06, 0.004, 0.12)
        made.append(
            mesh(
                [(-1.256, s * 0.42 + u, 0.44 + v) for u, v in ((-0.06, -0.05), (0.06, -0.05), (0.0, 0.06))],
                [(0, 1, 2)],
                material("triangle", (0.45, 0.01, 0.01), 0.3, coat=0.6),
            )
        )
    made.append(box((-1.256, 0, 0.44), (0.01, 0.44, 0.11), material("plate", (0.6, 0.6, 0.58), 0.5), 0.003))
    return made


def _folded_mast(black) -> Objects:
    """The mast lies along the roof on its rest; four floodlights hang over the rear edge, unlit."""
    zinc = material("mast", (0.36, 0.37, 0.38), 0.4, metal=0.8, vary=0.2)
    bowl = material("reflector", (0.55, 0.56, 0.57), 0.15, metal=0.9)
    lens = material("lens", (0.20, 0.21, 0.22), 0.08, spec=0.7, coat=1.0, emit=0.0)
    made: Objects = [
        box((-0.1, 0, 1.45), (1.9, 0.11, 0.11), zinc, 0.012),
        box((-0.1, 0, 1.53), (1.7, 0.08, 0.05), zinc, 0.01),
    ]
    made += [box((x, 0, 1.37), (0.09, 0.16, 0.12), black, 0.01) for x in (-0.9, 0.65)]
    made.append(box((-1.06, 0, 1.56), (0.05, 1.12, 0.05), black, 0.01))
    for y in (-0.44, -0.15, 0.15, 0.44):
        head: Objects = [box((0, 0, 0), (0.09, 0.23, 0.20), black, 0.02)]
        head += [box((0.055, 0, z), (0.04, 0.19, 0.008), black, 0.0) for z in np.linspace(-0.07, 0.07, 6)]
        head.append(box((-0.046, 0, 0), (0.006, 0.19, 0.16), bowl, 0.0))
        head.append(box((-0.052, 0, 0), (0.006, 0.19, 0.16), lens, 0.0))
        head += [
            box((-0.056, u, v), (0.004, 0.026, 0.022), bowl, 0.0)
            for u in (-0.06, -0.02, 0.02, 0.06)
            for v in (-0.05, 0.0, 0.05)
        ]
        head += [
            tube([(0, s * 0.125, 0.02), (0.0, s * 0.125, -0.13), (0.0, 0.0, -0.13)], 0.01, black)
            for s in (1, -1)
        ]
        made.append(place(head, (-1.07, y, 1.69), pitch=0.25))
    return made


TRAILER = {"pixels": 256, "samples": 10}
MODELS = {
    "trailer": Model(build_trailer, {"a": {}}, **TRAILER),
    "generator_trailer": Model(build_generator, {"a": {}}, **TRAILER, symmetry="mirror"),
}
