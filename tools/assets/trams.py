"""A street tram."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from common import Color, Look, Model, Objects, box, lathe, material, tube
from fittings import grime, lettering, louvres, occupant
from shell import Shell, rounded

TRAM_BODY = (
    (5.85, 0.86, 0.24, 1.15, 0.82, 1.32, 0.03),
    (5.78, 1.02, 0.20, 1.22, 0.96, 1.50, 0.03),
    (5.70, 1.10, 0.18, 1.30, 1.02, 1.75, 0.04),
    (5.45, 1.18, 0.18, 1.36, 1.05, 2.75, 0.06),
    (5.25, 1.20, 0.18, 1.38, 1.06, 3.05, 0.07),
    (4.90, 1.20, 0.18, 1.38, 1.06, 3.12, 0.08),
    (0.0, 1.20, 0.18, 1.38, 1.06, 3.12, 0.08),
)
# Along the flank (x of the front edge, m): wide panes between double doors.
DOORS = (3.55, 0.65, -2.25)
PANES = ((5.15, 3.75), (2.05, 0.85), (-0.85, -2.05), (-3.75, -5.15))
SIDE = (4.35, 5.97)


def build_tram(seed: int, color: Color = (0.40, 0.015, 0.018)) -> Objects:
    """A two-tone tram, 12 m long, alike at both ends, people on its seats, pantograph up."""
    stations = TRAM_BODY + tuple((-x, *rest) for x, *rest in reversed(TRAM_BODY[:-1]))
    shell = Shell.through(stations, bulge=0.06, bow=0.14, step=0.025)
    _paint(shell)
    cream = Look((0.60, 0.58, 0.52), 0.3, coat=1.0, vary=0.03, vary_scale=0.8, lining=0.10)
    looks = {
        "lower": Look(color, 0.3, coat=1.0, lining=0.06),
        "line": Look((0.015, 0.015, 0.02), 0.3, coat=0.6, lining=0.05),
        "skirt": Look((0.045, 0.045, 0.05), 0.6),
        "panel": Look((0.02, 0.02, 0.02), 0.9, spec=0.0),
        "band": Look((0.012, 0.013, 0.014), 0.12, spec=0.6, coat=1.0, lining=0.03),
        "door": Look((0.34, 0.34, 0.33), 0.3, coat=0.8, lining=0.06),
        "rubber": Look((0.012, 0.012, 0.012), 0.7),
    }
    body = shell.build(cream, looks)
    grime(body.data.materials[0], 1.5, 0.5)
    return [body, *_inside(Random(seed)), *_ends(), *_roof(), *_bogies()]


def _paint(shell: Shell) -> None:
    """Skirt, colours, window band with its panes, doors."""
    x, _, z = np.moveaxis(shell.points, -1, 0)
    flank = np.minimum(shell.ring - SIDE[0], SIDE[1] - shell.ring) * 0.3
    shell.fill(1.12 - z, "lower")
    shell.fill(0.035 - abs(z - 1.20), "line")
    shell.fill(0.50 - z, "skirt")
    for at in (5.0, 3.9, 2.25, 0.55, -0.75, -2.4, -3.65, -5.0):
        shell.fill(np.minimum(0.012 - abs(x - at), 0.52 - z), "panel")
    band = shell.sides(rounded(((5.28, 1.46), (5.28, 2.62), (-5.28, 2.62), (-5.28, 1.46)), 0.15))
    shell.fill(np.minimum(band, flank), "band")
    for a, b in PANES:
        for u, v in ((a, (a + b) / 2 + 0.03), ((a + b) / 2 - 0.03, b)):
            pane = rounded(((u, 1.52), (u, 2.56), (v, 2.56), (v, 1.52)), 0.08)
            shell.fill(np.minimum(shell.sides(pane), flank), "glass")
    doorway = np.minimum(shell.ring - 2.1, SIDE[1] + 0.02 - shell.ring) * 0.3
    for front in DOORS:
        leafs = ((front, front - 0.645), (front - 0.655, front - 1.30))
        outline = ((front + 0.03, 0.30), (front + 0.03, 2.66), (front - 1.33, 2.66), (front - 1.33, 0.30))
        shell.fill(np.minimum(shell.sides(outline), doorway), "rubber")
        for u, v in leafs:
            leaf = ((u, 0.34), (u, 2.60), (v, 2.60), (v, 0.34))
            shell.fill(np.minimum(shell.sides(leaf), doorway), "door")
            pane = rounded(((u - 0.07, 0.62), (u - 0.07, 2.48), (v + 0.07, 2.48), (v + 0.07, 0.62)), 0.07)
            shell.fill(np.minimum(shell.sides(pane), doorway), "glass")
    nose = np.minimum(np.minimum(abs(x) - 5.36, (shell.ring - 5.9) * 0.2), z - 1.52)
    shell.fill(nose + 0.05, "band")
    shell.fill(nose, "glass")


def _inside(rng: Random) -> Objects:
    """Floor, ceiling with its lamps, seats and passengers, grab poles: dark, as by day through tinted glass."""
    floor = material("floor", (0.03, 0.03, 0.032), 0.9)
    ceiling = material("ceiling", (0.16, 0.16, 0.15), 0.8)
    tube_light = material("tube light", (1.0, 0.95, 0.85), 0.3, emit=0.7)
    seat = material("seat", (0.02, 0.035, 0.10), 0.8, vary=0.2)
    pole = material("pole", (0.55, 0.38, 0.02), 0.35)
    made: Objects = [
        box((0, 0, 0.42), (10.6, 2.1, 0.06), floor, 0.0),
        box((0, 0, 2.86), (10.2, 1.9, 0.04), ceiling, 0.0),
    ]
    made += [box((0, s * 0.5, 2.83), (9.6, 0.08, 0.03), tube_light, 0.0) for s in (1, -1)]
    shirts = [
        (0.25, 0.04, 0.03),
        (0.04, 0.07, 0.14),
        (0.30, 0.28, 0.24),
        (0.03, 0.03, 0.035),
        (0.06, 0.12, 0.06),
    ]
    for a, b in PANES:
        for i in range(2):
            x = a - 0.38 - i * (a - b) * 0.52
            for y in (0.72, -0.72):
                made.append(box((x - 0.26, y, 1.28), (0.08, 0.78, 0.72), seat, 0.04))
                made.append(box((x - 0.05, y, 0.95), (0.45, 0.78, 0.1), seat, 0.03))
                if rng.random() < 0.55:
                    made += occupant(x - 0.05, y + rng.uniform(-0.12, 0.12), 1.02, rng.choice(shirts))
    for front in DOORS:
        made += [
            tube([(front + e, s * 0.75, 0.45), (front + e, s * 0.75, 2.85)], 0.02, pole)
            for e in (0.12, -1.42)
            for s in (1, -1)
        ]
    trousers = material("trousers", (0.03, 0.03, 0.04), 0.9)
    for x, y, one in (
        (2.9, 0.35, 0),
        (2.2, -0.5, 3),
        (0.2, 0.45, 4),
        (-0.45, -0.4, 1),
        (-2.7, 0.3, 2),
        (-3.2, -0.45, 3),
    ):
        made.append(box((x, y, 0.88), (0.20, 0.34, 0.86), trousers, 0.08))
        made += occupant(x, y, 1.20 + rng.uniform(-0.08, 0.05), shirts[one])
    return [*made, *occupant(5.0, 0.0, 1.2, shirts[1])]


def _ends() -> Objects:
    """Lamps, bumper, coupler cover, wiper, destination display at both ends and on the flanks."""
    dark = material("dark", (0.014, 0.014, 0.014), 0.6)
    lamp = material("lamp", (1.0, 0.95, 0.85), 0.15, emit=8.0)
    red = material("tail", (0.4, 0.01, 0.008), 0.15, coat=1.0)
    digit = material("digit", (1.0, 0.42, 0.03), 0.4, emit=1.3)
    white = material("number", (0.6, 0.6, 0.58), 0.5)
    made: Objects = []
    for e, face in ((1, "front"), (-1, "rear")):
        for s in (1, -1):
            for y, r, one in ((0.70, 0.09, lamp), (0.48, 0.06, red)):
                turn = (0, e * math.pi / 2, 0)
                made.append(
                    lathe(
                        [(r + 0.03, -0.02), (r + 0.025, 0.03), (r, 0.03)],
                        dark,
                        24,
                        center=(e * 5.85, s * y, 0.93),
                        rot=turn,
                    )
                )
                made.append(
                    lathe(
                        [(0.0, 0.03), (r * 0.9, 0.02), (r, -0.02)],
                        one,
                        24,
                        center=(e * 5.85, s * y, 0.93),
                        rot=turn,
                    )
                )
        made.append(box((e * 5.88, 0, 0.52), (0.14, 1.6, 0.2), dark, 0.06))
        made.append(box((e * 5.40, 0, 2.84), (0.16, 1.0, 0.24), dark, 0.03))
        made.append(lettering("8", (e * 5.485, 0, 2.84), 0.13, digit, face))
        made.append(tube([(e * 5.83, 0.1, 1.5), (e * 5.72, 0.35, 2.1)], 0.014, dark))
    for s, side in ((1, "left"), (-1, "right")):
        made.append(box((1.45, s * 1.075, 2.80), (1.0, 0.02, 0.17), dark, 0.005))
        made.append(lettering("IVAVI", (1.45, s * 1.088, 2.80), 0.085, digit, side))
        made += [lettering("808", (x, s * 1.203, 0.86), 0.14, white, side) for x in (4.6, -4.6)]
    return made


def _roof() -> Objects:
    """Equipment boxes with louvres between rounded fairings, pantograph up."""
    steel = material("steel", (0.20, 0.20, 0.20), 0.5, metal=0.6)
    grey = material("roof box", (0.32, 0.32, 0.31), 0.5, vary=0.15)
    dark = material("vent", (0.02, 0.02, 0.02), 0.9)
    red = material("pantograph", (0.18, 0.03, 0.025), 0.5)
    made: Objects = []
    for x, long, tall in ((3.3, 1.9, 0.26), (0.0, 1.2, 0.16), (-3.3, 1.9, 0.26)):
        made.append(box((x, 0, 3.2 + tall / 2), (long, 1.5, tall), grey, 0.07, segments=3))
        for s in (1, -1):
            made += louvres((x, s * 0.752, 3.2 + tall / 2), long * 0.6, tall * 0.5, 4, grey, dark)
    made.append(box((0, 0, 3.17), (8.8, 1.7, 0.05), dark, 0.02))
    for s in (1, -1):
        made.append(tube([(0.6, s * 0.5, 3.36), (-0.55, s * 0.42, 3.92), (0.5, s * 0.35, 4.45)], 0.025, red))
        made.append(tube([(0.6, s * 0.5, 3.30), (0.6, s * 0.5, 3.42)], 0.05, steel))
    made += [
        tube([(-0.55, -0.42, 3.92), (-0.55, 0.42, 3.92)], 0.03, red),
        tube([(0.6, -0.55, 3.36), (0.6, 0.55, 3.36)], 0.035, red),
    ]
    bow = [(0.5, -0.78, 4.36), (0.5, -0.55, 4.48), (0.5, 0.55, 4.48), (0.5, 0.78, 4.36)]
    return [*made, tube(bow, 0.03, steel)]


def _bogies() -> Objects:
    """Bogies in the dark below the skirts."""
    void = material("void", (0.006, 0.006, 0.006), 1.0, spec=0.0)
    tread = material("tread", (0.22, 0.20, 0.18), 0.4, metal=0.8)
    made: Objects = [box((0, 0, 0.33), (10.8, 1.9, 0.26), void, 0.0)]
    for x in (4.3, 2.7, -2.7, -4.3):
        for s in (1, -1):
            wheel = [(0.0, -0.05), (0.29, -0.05), (0.30, 0.02), (0.27, 0.05), (0.0, 0.05)]
            made.append(lathe(wheel, tread, 32, center=(x, s * 0.72, 0.30), rot=(math.pi / 2, 0, 0)))
    return made


MODELS = {
    "tram": Model(build_tram, {"red": {}}, symmetry="mirror", pixels=440, samples=10),
}
