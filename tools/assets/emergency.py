"""Police car, ambulance, fire engine, beacons lit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from cars import SEDAN, Marks, assemble
from common import Look, Model, Objects, box, lathe, material, tube
from fittings import chevrons, grime, lettering, tape
from shell import Shell, rounded
from trucks import BOX_REAR, VAN, cab_and_frame, corner_lamps, van_doors

RED, BLUE = (1.0, 0.012, 0.008), (0.02, 0.06, 1.0)


def light_bar(x: float, z: float, wide: float, colors: tuple = (RED, BLUE), deep: float = 0.28) -> Objects:
    """A roof bar with glowing modules, left and right in different colours."""
    base = material("bar", (0.012, 0.012, 0.012), 0.35, coat=0.5)
    clear = material("bar lens", (0.10, 0.10, 0.11), 0.08, coat=1.0)
    made = [
        box((x, 0, z), (deep, wide, 0.05), base, 0.02),
        box((x, 0, z + 0.055), (deep * 0.8, wide * 0.2, 0.08), clear, 0.02),
    ]
    for side, color in zip((1, -1), colors, strict=True):
        glow = material("flash", color, 0.15, emit=4.0, coat=1.0)
        dim = material("module", tuple(c * 0.5 for c in color), 0.12, emit=0.5, coat=1.0)
        for i, y in enumerate(np.linspace(0.16, 0.46, 3) * wide):
            made.append(
                box((x, side * y, z + 0.06), (deep * 0.86, wide * 0.13, 0.09), glow if i != 1 else dim, 0.025)
            )
    return made


def build_police_car(seed: int) -> Objects:
    """A black patrol car with white doors and a lit light bar, parked across the road or not."""
    white = Look((0.68, 0.68, 0.66), 0.32, coat=1.0, lining=0.05)
    doors = [*SEDAN.doors]

    def panels(shell: Shell) -> np.ndarray:
        inside = np.maximum(shell.sides(doors[0]), shell.sides(doors[1]))
        return np.minimum(inside, (shell.ring - 1.9) * 0.2)

    made = assemble(SEDAN, "black", "on", driver=False, marks={"white": (white, panels)})
    grime(made[0].data.materials[0], 0.75, 0.4)
    gold = material("badge", (0.42, 0.30, 0.04), 0.35, metal=0.6)
    ink = material("letters", (0.010, 0.015, 0.06), 0.4, coat=0.4)
    bar = material("push bar", (0.015, 0.015, 0.015), 0.5)
    for s, side in ((1, "left"), (-1, "right")):
        for r, out, one in ((0.085, 0.905, gold), (0.06, 0.912, ink), (0.04, 0.916, gold)):
            star = [(0.0, 0.004), (r, 0.0)]
            made.append(lathe(star, one, 7, center=(0.78, s * out, 0.74), rot=(-s * 1.5708, 0, 0)))
        made.append(lettering("POLICE", (0.02, s * 0.915, 0.60), 0.17, ink, side, 1.15))
        made.append(lettering("DIAL 000", (-0.62, s * 0.912, 0.44), 0.06, ink, side))
    made.append(
        lettering("POLICE", (-2.36, 0, 0.86), 0.07, material("rear letters", (0.6, 0.6, 0.58), 0.4), "rear")
    )
    hoop = ((-0.42, 0.36), (-0.42, 0.74), (0.42, 0.74), (0.42, 0.36))
    made.append(tube([(2.36, y, z) for y, z in hoop], 0.035, bar))
    made += [tube([(2.38, y, 0.36), (2.38, y, 0.72)], 0.03, bar) for y in (-0.2, 0.2)]
    return [*made, *light_bar(-0.35, 1.49, 1.15)]


def build_ambulance(seed: int) -> Objects:
    """A high-roofed van in chequered green and yellow, every beacon lit."""
    lifted = tuple(
        (x, w, b, t, r, z + (0.36 if z > 2.0 else 0.22 if z > 1.9 else 0), c)
        for x, w, b, t, r, z, c in VAN.stations
    )
    body = replace(VAN, stations=lifted, windscreen=(1.80, 1.10))
    made = assemble(body, "white", "on", True, marks={**_ambulance_marks(), **corner_lamps("on")})
    grime(made[0].data.materials[0], 1.0, 0.45)
    made += [*van_doors(Shell.through(lifted), 2.36), *_ambulance_signs()]
    return [*made, *light_bar(0.85, 2.44, 1.5, (BLUE, BLUE)), *light_bar(-2.3, 2.48, 1.4, (BLUE, BLUE), 0.16)]


def _ambulance_marks() -> Marks:
    """Chequers along the flanks, side and rear windows."""
    pane = Look((0.012, 0.015, 0.017), 0.05, spec=0.7, coat=1.0, lining=0.02)
    black = Look((0.014, 0.014, 0.014), 0.5, lining=0.02)
    side = ((0.16, 1.52), (0.16, 1.98), (-0.90, 1.98), (-0.90, 1.52))
    rear = ((0.07, 1.42), (0.72, 1.42), (0.70, 2.02), (0.07, 2.02))

    def stripe(shell: Shell, low: float, high: float) -> np.ndarray:
        x, _, z = np.moveaxis(shell.points, -1, 0)
        return np.minimum(np.minimum(z - low, high - z), 2.2 - abs(x + 0.3))

    def chequers(shell: Shell) -> np.ndarray:
        x = shell.points[..., 0]
        upper, lower = (abs((x + shift) % 0.72 - 0.36) - 0.18 for shift in (0.0, 0.36))
        rows = np.minimum(stripe(shell, 0.95, 1.16), upper), np.minimum(stripe(shell, 0.74, 0.95), lower)
        return np.maximum(*rows)

    return {
        "band": (Look((0.62, 0.55, 0.02), 0.4, coat=0.5), lambda shell: stripe(shell, 0.74, 1.16)),
        "chequers": (Look((0.01, 0.16, 0.05), 0.4, coat=0.5), chequers),
        "seal": (
            black,
            lambda shell: (
                np.maximum(
                    np.minimum(shell.sides(rounded(side, 0.06)), (shell.ring - 4.4) * 0.3),
                    shell.rear(rounded(rear, 0.06), -2.3),
                )
                + 0.02
            ),
        ),
        "pane": (
            pane,
            lambda shell: np.maximum(
                np.minimum(shell.sides(rounded(side, 0.06)), (shell.ring - 4.4) * 0.3),
                shell.rear(rounded(rear, 0.06), -2.3),
            ),
        ),
    }


def _ambulance_signs() -> Objects:
    """The word on the flanks, six-rayed stars behind it, warning lamps along the roof edge."""
    blue = material("star", (0.012, 0.05, 0.30), 0.4, coat=0.4)
    red = material("word", (0.42, 0.012, 0.012), 0.4, coat=0.4)
    lamp = material("roof lamp", (0.02, 0.06, 0.7), 0.12, coat=1.0, emit=0.8)
    tray = material("tray", (0.012, 0.012, 0.012), 0.5)
    made: Objects = []
    for s, side in ((1, "left"), (-1, "right")):
        made += [
            box((-1.62, s * 0.948, 1.74), (0.5, thick, 0.12), blue, 0.0, rot=(0, turn, 0))
            for turn, thick in ((np.pi / 2, 0.020), (np.pi / 6, 0.022), (-np.pi / 6, 0.024))
        ]
        made.append(lettering("AMBULANCE", (-0.55, s * 0.990, 1.31), 0.15, red, side, 1.3))
        for x in (0.4, -1.9):
            made.append(box((x, s * 0.885, 2.25), (0.26, 0.05, 0.1), tray, 0.015))
            made.append(box((x, s * 0.905, 2.25), (0.22, 0.04, 0.07), lamp, 0.015))
    return made


def build_fire_engine(seed: int) -> Objects:
    """A pumper: red body, white stripe, silver lockers, a ladder on the roof, beacons lit."""
    red = grime(material("fire red", (0.40, 0.010, 0.010), 0.3, coat=1.0), 1.3, 0.45)
    white = material("stripe", (0.66, 0.66, 0.64), 0.4, coat=0.5)
    yellow = material("chevron", (0.62, 0.48, 0.015), 0.35, coat=0.5)
    stripe = Look((0.66, 0.66, 0.64), 0.4, coat=0.5)
    marks = {"stripe": (stripe, lambda shell: 0.09 - abs(shell.points[..., 2] - 1.18))}
    made = cab_and_frame("fire red", "on", marks)
    front, middle = 1.75, (1.75 + BOX_REAR) / 2
    long = front - BOX_REAR
    made.append(box((middle, 0, 1.75), (long, 2.26, 1.8), red, 0.05, segments=3))
    made.append(box((middle, 0, 1.18), (long + 0.02, 2.275, 0.16), white, 0.0))
    made += chevrons(0.0, 1.05, 1.18, 0.5, BOX_REAR - 0.02, (red, yellow))
    made += [*_lockers(), *_ladder(front), *_fire_front(white)]
    made += [
        *light_bar(2.55, 2.33, 1.7, (RED, BLUE)),
        *light_bar(BOX_REAR + 0.2, 2.68, 1.8, (RED, BLUE), 0.16),
    ]
    return made


def _lockers() -> Objects:
    """Roller shutters with their bars and frames along the flanks and at the back, tape below them."""
    silver = material("shutter", (0.46, 0.47, 0.48), 0.32, metal=0.8)
    slat = material("slat", (0.10, 0.10, 0.10), 0.6)
    frame = material("frame", (0.30, 0.31, 0.32), 0.3, metal=0.9)
    made: Objects = []
    for s in (1, -1):
        for x in (0.95, -0.45, -2.55):
            made.append(box((x, s * 1.13, 1.85), (1.19, 0.03, 1.14), frame, 0.01))
            made.append(box((x, s * 1.137, 1.85), (1.09, 0.03, 1.04), silver, 0.006))
            made += [
                box((x, s * 1.153, z), (1.09, 0.004, 0.01), slat, 0.0) for z in np.arange(1.38, 2.36, 0.065)
            ]
            made.append(box((x, s * 1.16, 1.36), (1.0, 0.03, 0.035), frame, 0.01))
        made += tape((1.7, s * 1.134, 0.92), (BOX_REAR + 0.05, s * 1.134, 0.92), 0.06)
    made.append(box((BOX_REAR - 0.01, 0, 1.95), (0.03, 1.3, 1.0), silver, 0.01))
    made += [
        box((BOX_REAR - 0.027, 0, z), (0.004, 1.28, 0.01), slat, 0.0) for z in np.arange(1.5, 2.4, 0.065)
    ]
    return made


def _ladder(front: float) -> Objects:
    rail = material("ladder", (0.55, 0.56, 0.57), 0.4, metal=0.8)
    made: Objects = []
    for s in (1, -1):
        y = s * 0.28 - 0.3
        made.append(tube([(front - 0.2, y, 2.82), (BOX_REAR - 0.2, y, 2.82)], 0.04, rail))
        made.append(tube([(x, s * 1.0, 2.66) for x in (front - 0.1, BOX_REAR + 0.1)], 0.02, rail))
    rungs = np.arange(front - 0.3, BOX_REAR, -0.33)
    return made + [tube([(x, -0.58, 2.82), (x, -0.02, 2.82)], 0.022, rail) for x in rungs]


def _fire_front(white) -> Objects:
    """A bright bumper with a siren, wipers, grab rails, and the word on front and doors."""
    chrome = material("chrome", (0.62, 0.62, 0.63), 0.15, metal=1.0)
    dark = material("dark", (0.012, 0.012, 0.012), 0.6)
    flash = material("grille flash", RED, 0.15, emit=2.0, coat=1.0)
    made: Objects = [box((3.50, 0, 0.55), (0.22, 2.14, 0.24), chrome, 0.05, segments=3)]
    siren = [(0.0, 0.01), (0.10, 0.03), (0.13, 0.02), (0.13, -0.03)]
    made.append(lathe(siren, dark, 24, center=(3.615, -0.5, 0.56), rot=(0, np.pi / 2, 0)))
    made.append(lettering("FIRE", (3.47, 0, 1.35), 0.11, white, "front", 1.3))
    for s, side in ((1, "left"), (-1, "right")):
        made.append(tube([(3.36, s * 0.1, 1.50), (3.28, s * 0.55, 1.72)], 0.012, dark))
        made.append(box((3.47, s * 0.42, 0.98), (0.03, 0.2, 0.06), flash, 0.01))
        made.append(
            tube([(2.02, s * 1.07, 1.0), (2.02, s * 1.11, 1.1), (2.02, s * 1.11, 2.0)], 0.016, chrome)
        )
        made.append(lettering("FIRE RESCUE", (-0.8, s * 1.143, 1.18), 0.10, dark, side, 1.2))
    return made


EMERGENCY = {"pixels": 360, "samples": 10}
MODELS = {
    "police_car": Model(build_police_car, {"a": {}}, **EMERGENCY),
    "ambulance": Model(build_ambulance, {"a": {}}, **EMERGENCY),
    "fire_engine": Model(build_fire_engine, {"a": {}}, **EMERGENCY),
}
