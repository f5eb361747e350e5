"""A tracked excavator."""

from __future__ import annotations

import math

import numpy as np
from common import Model, Objects, box, lathe, material, mesh, tube
from fittings import chevrons, grime, lettering, louvres
from machines import MACHINE, beacon, cab, paints, slab, work_lamp


def build_excavator(seed: int) -> Objects:
    """A tracked excavator, its arm folded in front of it, beacon lit."""
    p = paints()
    made: Objects = []
    for s in (1, -1):
        made += _track(p, s)
    made.append(box((0, 0, 0.52), (1.7, 1.3, 0.3), p["dark"], 0.04))
    made.append(lathe([(0.0, 0.2), (0.52, 0.2), (0.55, 0.0), (0.0, 0.0)], p["dark"], 40, center=(0, 0, 0.62)))
    made += [*_house(p), *_counterweight(p), *_boom(p)]
    made += cab((-0.45, 1.12), (0.75, 2.60), 0.95, 0.52, p["yellow"])
    return [*made, *work_lamp((0.8, 0.75, 2.62), 1), *beacon((-0.1, 0.3, 2.72))]


def _track(p: dict, s: int) -> Objects:
    """One crawler: shoes with grousers around sprocket, idler and rollers."""
    y, ends, r = s * 0.88, (-1.25, 1.15), 0.33
    straight = [(x, 0.015) for x in np.linspace(ends[0], ends[1], 15)]
    around = [
        (ends[1] + r * math.sin(a), 0.345 - r * math.cos(a)) for a in np.linspace(0.15, math.pi - 0.15, 9)
    ]
    back = [(x, 0.675 - 0.025 * math.sin(3 * x) ** 2) for x in np.linspace(ends[1], ends[0], 15)]
    rear = [
        (ends[0] - r * math.sin(a), 0.345 + r * math.cos(a)) for a in np.linspace(0.15, math.pi - 0.15, 9)
    ]
    loop = [*straight, *around, *back, *rear]
    made: Objects = [
        slab([(x * 0.97, 0.345 + (z - 0.345) * 0.88) for x, z in loop], 0.30, p["black"], y, 0.02)
    ]
    for i, (x, z) in enumerate(loop):
        u, v = loop[(i + 1) % len(loop)]
        mid, turn = ((x + u) / 2, y, max((z + v) / 2, 0.03)), -math.atan2(v - z, u - x)
        made.append(box(mid, (0.15, 0.46, 0.03), p["mud"], 0.006, rot=(0, turn, 0), segments=1))
    for x, wide in ((ends[0], 0.26), (ends[1], 0.24)):
        face = [(0.0, 0.05), (wide * 0.4, 0.05), (wide * 0.5, 0.01), (wide, 0.02), (wide, -0.04)]
        made.append(
            lathe(face, p["steel"], 24, center=(x, y + s * 0.16, 0.345), rot=(-s * math.pi / 2, 0, 0))
        )
    made.append(box((-0.05, y + s * 0.17, 0.36), (1.9, 0.05, 0.2), p["dark"], 0.02))
    made += [
        lathe(
            [(0.0, 0.03), (0.09, 0.03), (0.11, -0.02)],
            p["steel"],
            20,
            center=(x, y + s * 0.17, 0.15),
            rot=(-s * math.pi / 2, 0, 0),
        )
        for x in np.linspace(-0.85, 0.75, 5)
    ]
    return made


def _house(p: dict) -> Objects:
    """The superstructure: hood with louvres and door seams, handrails, exhaust, tank steps."""
    yellow, black, dark = p["yellow"], p["black"], p["dark"]
    made: Objects = [box((-0.35, 0, 0.92), (2.2, 2.1, 0.16), dark, 0.03)]
    made.append(box((-0.98, 0, 1.36), (0.95, 2.06, 0.78), yellow, 0.07, segments=3))
    made.append(box((-0.95, -0.15, 1.79), (0.75, 1.35, 0.10), yellow, 0.04, segments=3))
    made.append(box((0.15, -0.78, 1.25), (1.3, 0.5, 0.56), yellow, 0.05, segments=3))
    for s in (1, -1):
        made += louvres((-1.05, s * 1.034, 1.42), 0.5, 0.36, 7, yellow, black)
        made += [box((x, s * 1.033, 1.36), (0.012, 0.006, 0.7), black, 0.0) for x in (-1.40, -0.62)]
    made.append(tube([(-0.72, -0.55, 1.8), (-0.72, -0.55, 2.18), (-0.80, -0.55, 2.26)], 0.055, dark))
    rail = [(-1.35, -0.98, 1.75), (-1.35, -0.98, 2.1), (0.1, -0.98, 2.1), (0.1, -0.98, 1.55)]
    made += [tube(rail, 0.018, black), tube([(-0.62, -0.98, 1.75), (-0.62, -0.98, 2.1)], 0.018, black)]
    made.append(tube([(0.8, 1.02, 1.3), (0.86, 1.14, 1.3), (0.8, 1.14, 2.05)], 0.015, black))
    made.append(box((0.82, 1.18, 2.12), (0.05, 0.14, 0.24), black, 0.02))
    return made


def _counterweight(p: dict) -> Objects:
    """The rounded iron weight at the back, with its name, warning stripes, grille and lamps."""
    half = [(-1.30, 1.05), (-1.52, 1.03), (-1.70, 0.90), (-1.80, 0.65), (-1.84, 0.3), (-1.85, 0.0)]
    plan = [*half, *((x, -y) for x, y in reversed(half[:-1]))]
    k, made = len(plan), []
    verts = [
        (-1.3 + (x + 1.3) * shrink, y * (0.94 + 0.06 * shrink), z)
        for z, shrink in ((0.84, 0.8), (0.92, 1.0), (1.52, 1.0), (1.66, 0.93), (1.70, 0.75))
        for x, y in plan
    ]
    faces = [
        (r * k + i, r * k + i + 1, (r + 1) * k + i + 1, (r + 1) * k + i)
        for r in range(4)
        for i in range(k - 1)
    ]
    weight = mesh(verts, [*faces, tuple(range(k)), tuple(reversed(range(4 * k, 5 * k)))], p["yellow"])
    weight.data.set_sharp_from_angle(angle=math.radians(40))
    made.append(weight)
    made += louvres((-1.86, 0.0, 1.46), 0.5, 0.10, 3, p["dark"], p["black"], "y")
    made.append(lettering("KORVA 140", (-1.857, 0, 1.26), 0.13, p["black"], "rear"))
    colors = (
        material("stripe black", (0.012, 0.012, 0.012), 0.5),
        material("stripe yellow", (0.70, 0.45, 0.02), 0.4, coat=0.4),
    )
    made += chevrons(0.0, 0.28, 1.0, 0.12, -1.862, colors)
    red = material("tail", (0.4, 0.01, 0.008), 0.12, coat=1.0, emit=0.2)
    for s in (1, -1):
        made.append(box((-1.785, s * 0.74, 1.0), (0.05, 0.2, 0.1), p["black"], 0.015, rot=(0, 0, s * -0.4)))
        made.append(box((-1.815, s * 0.75, 1.0), (0.03, 0.15, 0.07), red, 0.01, rot=(0, 0, s * -0.4)))
        made += [
            lathe([(0.0, 0.05), (0.06, 0.03), (0.06, 0.0)], p["dark"], 16, center=(-1.62, s * 0.5, 1.69))
        ]
    return [*made, *work_lamp((-1.35, 0.75, 1.86), -1)]


def _boom(p: dict) -> Objects:
    """Boom, arm and bucket with their rams and hoses."""
    yellow = p["yellow"]
    boom = [
        (0.3, 1.15),
        (0.1, 1.45),
        (1.4, 2.55),
        (2.2, 2.72),
        (3.05, 2.0),
        (2.95, 1.85),
        (2.15, 2.42),
        (1.55, 2.28),
        (0.6, 1.15),
    ]
    made: Objects = [slab(boom, 0.3, yellow, -0.25, 0.03)]
    made.append(slab([(2.85, 2.35), (3.2, 2.2), (2.75, 0.75), (2.6, 0.75)], 0.24, yellow, -0.25, 0.03))
    made += _bucket()
    for s in (1, -1):
        made += [tube([(0.85, -0.25 + s * 0.24, 1.15), (1.3, -0.25 + s * 0.24, 1.8)], 0.06, p["dark"])]
        made += [tube([(1.3, -0.25 + s * 0.24, 1.8), (1.6, -0.25 + s * 0.24, 2.25)], 0.032, p["chrome"])]
        made.append(
            tube(
                [
                    (0.2, -0.25 + s * 0.1, 1.55),
                    (1.4, -0.25 + s * 0.1, 2.62),
                    (2.2, -0.25 + s * 0.1, 2.78),
                    (2.8, -0.25 + s * 0.1, 2.45),
                ],
                0.016,
                p["black"],
            )
        )
    made += [
        tube([(1.6, -0.25, 2.74), (2.3, -0.25, 2.86)], 0.06, p["dark"]),
        tube([(2.3, -0.25, 2.86), (2.95, -0.25, 2.40)], 0.032, p["chrome"]),
    ]
    for s, side in ((1, "left"), (-1, "right")):
        made.append(lettering("KORVA", (1.82, -0.25 + s * 0.152, 2.47), 0.13, p["black"], side))
    return made


def _bucket() -> Objects:
    """A curved bucket resting on its teeth: worn steel, ribs on its back, cheeks, pin brackets."""
    worn = material(
        "worn steel", (0.20, 0.185, 0.165), 0.5, metal=0.5, dark=(0.05, 0.042, 0.035), vary_scale=7
    )
    grime(worn, 1.0, 0.5)
    bright = material("tooth", (0.40, 0.39, 0.37), 0.3, metal=0.9)
    outer = [
        (2.2, 1.0),
        (2.5, 1.02),
        (2.7, 0.93),
        (2.82, 0.76),
        (2.86, 0.56),
        (2.8, 0.36),
        (2.66, 0.2),
        (2.42, 0.1),
        (1.98, 0.06),
    ]
    inner = [
        (2.0, 0.1),
        (2.4, 0.15),
        (2.62, 0.25),
        (2.74, 0.39),
        (2.8, 0.56),
        (2.76, 0.73),
        (2.66, 0.87),
        (2.48, 0.96),
        (2.2, 0.95),
    ]
    made: Objects = [slab([*outer, *inner], 0.86, worn, -0.25, 0.008)]
    cheek = [(2.2, 1.0), *outer[1:], (2.12, 0.4), (2.2, 0.75)]
    made += [slab(cheek, 0.03, worn, -0.25 + s * 0.42, 0.006) for s in (1, -1)]
    rib = [(x + 0.03, z - 0.005) for x, z in outer[2:8]]
    back = [(x - 0.05, z) for x, z in reversed(rib)]
    made += [slab([*rib, *back], 0.05, worn, -0.25 + y, 0.006) for y in (-0.3, 0.0, 0.3)]
    made += [
        box((1.92, -0.25 + y, 0.075), (0.2, 0.08, 0.055), bright, 0.015, rot=(0, 0.1, 0))
        for y in (-0.36, -0.12, 0.12, 0.36)
    ]
    made += [
        slab([(2.5, 0.98), (2.86, 0.92), (2.8, 1.08), (2.62, 1.16)], 0.05, worn, -0.25 + s * 0.16, 0.01)
        for s in (1, -1)
    ]
    return made


# fewer samples leave a mesh in the panes of its cab
MODELS = {"excavator": Model(build_excavator, {"a": {}}, **{**MACHINE, "samples": 32})}
