"""Passenger cars: sedan, hatchback, SUV; headlights, brake lights or hazard lights lit."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import bpy
import numpy as np
from car_bodies import HATCH, SEDAN, SUV, Body
from common import Look, Model, Objects, blob, box, lathe, material, mesh, place, tube
from shell import RAIL, Shell, rounded

COLORS = {
    "silver": ((0.42, 0.43, 0.44), 0.6),
    "white": ((0.72, 0.72, 0.70), 0.0),
    "black": ((0.012, 0.012, 0.014), 0.1),
    "red": ((0.30, 0.012, 0.014), 0.15),
    "blue": ((0.02, 0.06, 0.17), 0.3),
    "grey": ((0.11, 0.115, 0.125), 0.5),
    "yellow": ((0.62, 0.29, 0.012), 0.0),
    "fire red": ((0.42, 0.012, 0.012), 0.0),
}

Marks = dict[str, tuple[Look, Callable[[Shell], np.ndarray]]]


STYLES = {"sedan": SEDAN, "hatch": HATCH, "suv": SUV}


def looks(color: str, lights: str) -> tuple[Look, dict[str, Look]]:
    """The body's colour and the looks of what is painted on it."""
    rgb, metal = COLORS[color]
    lit = {"brake": 1.2, "on": 0.4}.get(lights, 0.0)
    base = Look(rgb, 0.32, metal=metal, coat=1.0, spec=0.5, vary=0.03, vary_scale=2, lining=0.05)
    return base, {
        "black": Look((0.014, 0.014, 0.014), 0.45, lining=0.02),
        "lens": Look((0.10, 0.11, 0.12), 0.12, spec=0.8, coat=1.0, lining=0.02),
        "tail": Look((0.17, 0.005, 0.005), 0.15, coat=1.0, emit=lit, lining=0.02),
        "under": Look((0.008, 0.008, 0.008), 0.95, spec=0.0),
    }


def paint_shell(shell: Shell, body: Body) -> None:
    """Glass, lamps, grille, arches and bumpers onto the skin."""
    (x, _, z), ring = np.moveaxis(shell.points, -1, 0), shell.ring
    low = body.stations[0][2]
    nose, tail = x.max() - 0.5, x.min() + 0.42
    shell.fill(np.minimum(np.minimum(1.95 - ring, nose - x), x - tail) * 0.2, "under")
    shell.fill(np.minimum(low + 0.03 - z, 3.4 - ring), "black")
    for front, back in (body.windscreen, body.rear_glass):
        between = np.minimum(front - x, x - back)
        shell.fill(np.minimum(between, (ring - RAIL - 0.12) * 0.08), "black")
        shell.fill(np.minimum(between - 0.035, (ring - RAIL - 0.55) * 0.08), "glass")
    flank = np.minimum(ring - 4.6, RAIL - 0.02 - ring) * 0.3
    for window in body.windows:
        shape = shell.sides(rounded(window, 0.05))
        shell.fill(np.minimum(shape + 0.022, flank), "black")
        shell.fill(np.minimum(shape, flank), "glass")
    shell.fill(shell.front(rounded(body.grille, 0.04), nose), "black")
    shell.fill(shell.front(rounded(body.intake, 0.05), nose), "black")
    shell.fill(shell.front(rounded(body.headlamp, 0.05), nose) + 0.008, "black")
    shell.fill(shell.front(rounded(body.headlamp, 0.05), nose), "lens")
    shell.fill(shell.rear(rounded(body.tail, 0.05), tail) + 0.006, "black")
    shell.fill(shell.rear(rounded(body.tail, 0.05), tail), "tail")
    shell.fill(shell.rear(((-0.7, low), (0.7, low), (0.6, low + 0.14), (-0.6, low + 0.14)), tail), "black")
    z0 = body.plate_rear
    recess = rounded(((-0.3, z0 - 0.09), (0.3, z0 - 0.09), (0.27, z0 + 0.09), (-0.27, z0 + 0.09)), 0.04)
    shell.fill(shell.rear(recess, tail), "black")
    for axle in body.axles:
        shell.arch(axle, body.wheel + 0.055, body.wheel + 0.01, "under")


def build_wheel(radius: float, side: int, paints_of: tuple) -> Objects:
    """A tyre with an alloy rim, axis along y, its outer face towards `side`."""
    rubber, alloy, dark = paints_of
    rim, w = radius * 0.69, 0.105
    profile = [
        (rim, -w),
        (rim + 0.02, -w * 1.05),
        (radius - 0.02, -w),
        (radius, -w * 0.7),
        (radius, w * 0.7),
        (radius - 0.02, w),
        (rim + 0.02, w * 1.05),
        (rim, w),
    ]
    made = [
        lathe(profile, rubber, 48),
        lathe([(rim, w * 0.2), (rim, w * 1.0), (rim - 0.015, w * 1.0), (rim - 0.02, w * 0.3)], alloy, 48),
        lathe([(0.0, w * 0.15), (rim, w * 0.15)], dark, 32),
        lathe([(0.0, w * 0.85), (0.05, w * 0.85), (0.065, w * 0.6)], alloy, 24),
    ]
    for i in range(10):
        turn = 2 * math.pi * (i // 2) / 5 + (0.16 if i % 2 else -0.16)
        at = (rim * 0.55 * math.cos(turn), rim * 0.55 * math.sin(turn), w * 0.68)
        made.append(box(at, (rim * 0.98, 0.026, 0.03), alloy, 0.006, rot=(0, 0, turn), segments=1))
    return [place(made, roll=-side * math.pi / 2)]


def build_wheels(body: Body, track: float = 0.79) -> Objects:
    """Four wheels and the dark wells they stand in."""
    rubber = material("tyre", (0.02, 0.02, 0.02), 0.8, spec=0.2, vary=0.3)
    alloy = material("alloy", (0.48, 0.49, 0.5), 0.35, metal=0.9)
    dark = material("well", (0.006, 0.006, 0.006), 1.0, spec=0.0)
    made: Objects = []
    for x in body.axles:
        for side in (1, -1):
            made.append(
                place(build_wheel(body.wheel, side, (rubber, alloy, dark)), (x, side * track, body.wheel))
            )
            made.append(_well(x, side, body.wheel, dark))
    return made


def _well(x: float, side: int, wheel: float, dark: bpy.types.Material) -> bpy.types.Object:
    """The dark half drum over a wheel."""
    arc = [
        (x + (wheel + 0.06) * math.cos(a), wheel + (wheel + 0.07) * math.sin(a))
        for a in np.linspace(-0.3, math.pi + 0.3, 24)
    ]
    n = len(arc)
    verts = [(u, side * y, v) for y in (0.55, 0.79) for u, v in arc]
    faces = [(i, i + 1, n + i + 1, n + i) for i in range(n - 1)] + [tuple(range(n))]
    return mesh(verts, faces, dark)


def build_cabin(body: Body, driver: bool) -> Objects:
    """Seats, dashboard, wheel, and somebody at it: what shows through the glass."""
    cloth = material("seat", (0.035, 0.035, 0.04), 0.9, spec=0.1)
    floor = material("floor", (0.012, 0.012, 0.012), 0.95, spec=0.0)
    top = body.roof
    front = body.mirror[0]
    made = [
        box((front - 1.0, 0, top - 0.82), (2.3, 1.5, 0.06), floor, 0.0),
        box((front + 0.05, 0, top - 0.56), (0.4, 1.35, 0.16), floor, 0.05),
    ]
    for x in (front - 0.75, front - 1.65):
        for y in (0.37, -0.37):
            chains = [
                ((x - 0.02, y, top - 0.80), 0.14, (x - 0.14, y, top - 0.44), 0.11, (0.6, 1.7, 1)),
                ((x - 0.14, y, top - 0.30), 0.05, (x - 0.15, y, top - 0.24), 0.055, (0.7, 1.8, 1)),
            ]
            made.append(blob(chains, cloth, 0.02, 2))
    made.append(
        tube(
            [
                (front - 0.22, 0.37 + 0.17 * math.cos(a), top - 0.52 + 0.17 * math.sin(a))
                for a in np.linspace(0, 6.28, 20)
            ],
            0.013,
            floor,
        )
    )
    if driver:
        skin, shirt = material("skin", (0.42, 0.25, 0.17), 0.6), material("shirt", (0.10, 0.13, 0.2), 0.9)
        hair = material("hair", (0.03, 0.02, 0.015), 0.7)
        x, y = front - 0.68, 0.37
        made.append(blob([((x, y, top - 0.26), 0.085, (x + 0.01, y, top - 0.19), 0.085)], skin, 0.012, 3))
        made.append(
            blob([((x - 0.03, y, top - 0.20), 0.09, (x - 0.02, y, top - 0.15), 0.08)], hair, 0.012, 3)
        )
        made.append(
            blob(
                [
                    ((x, y, top - 0.75), 0.15, (x - 0.02, y, top - 0.46), 0.14, (0.75, 1.35, 1)),
                    ((x - 0.02, y + 0.18, top - 0.46), 0.06, (x + 0.35, y + 0.14, top - 0.5), 0.045),
                    ((x - 0.02, y - 0.18, top - 0.46), 0.06, (x + 0.35, y - 0.14, top - 0.5), 0.045),
                ],
                shirt,
                0.014,
                3,
            )
        )
    return made


def build_trim(shell: Shell, body: Body, paint: bpy.types.Material, lights: str) -> Objects:
    """Shut lines, handles, mirrors, plates, lamps: what stands proud of the skin."""
    black = material("black trim", (0.014, 0.014, 0.014), 0.45)
    chrome = material("chrome", (0.62, 0.62, 0.64), 0.18, metal=1.0)
    plate = material("plate", (0.62, 0.62, 0.60), 0.5)
    ink = material("ink", (0.02, 0.03, 0.10), 0.6)
    gap = material("gap", (0.02, 0.02, 0.02), 0.8, spec=0.1)
    made: Objects = []
    for door in body.doors:
        made += shell.seam(door, gap)
    for x, z in body.handles:
        _, y, _ = shell.on_side(x, z)
        made += [box((x, s * (y + 0.012), z), (0.19, 0.026, 0.032), paint, 0.01) for s in (1, -1)]
    x, z = body.mirror
    _, y, _ = shell.on_side(x, z - 0.04)
    for s in (1, -1):
        made.append(
            blob(
                [
                    (
                        (x, s * (y + 0.11), z),
                        0.075,
                        (x - 0.01, s * (y + 0.19), z + 0.005),
                        0.065,
                        (0.65, 1, 0.95),
                    )
                ],
                paint,
                0.012,
                4,
            )
        )
        made.append(box((x - 0.055, s * (y + 0.15), z), (0.012, 0.17, 0.11), chrome, 0.004))
        made.append(tube([(x, s * (y - 0.01), z - 0.06), (x, s * (y + 0.09), z - 0.03)], 0.022, black))
    hood = [
        (
            body.windscreen[0] + 0.06 + t * (shell.points[..., 0].max() - 0.22 - body.windscreen[0] - 0.06),
            0.70 - 0.12 * t,
        )
        for t in np.linspace(0, 1, 12)
    ]
    for s in (1, -1):
        made.append(
            tube(
                [(a, s * b, c + 0.001) for a, b, c in (shell.on_top(u, v) for u, v in hood)],
                0.006,
                gap,
                sides=4,
            )
        )
    made += _plates(shell, body, plate, ink)
    made += _lamps(shell, body, lights)
    for z in np.linspace(body.grille[0][1] - 0.025, body.grille[2][1] + 0.02, 4):
        wide = 0.33
        spots = [shell.on_end(float(y), float(z), True) for y in np.linspace(-wide, wide, 13)]
        made.append(tube([(a + 0.004, b, c) for a, b, c in spots], 0.006, chrome, sides=4))
    return made


def _plates(shell: Shell, body: Body, plate: bpy.types.Material, ink: bpy.types.Material) -> Objects:
    made: Objects = []
    rng = Random(3)
    marks = [(rng.uniform(0.02, 0.035), y) for y in (-0.11, -0.065, -0.02, 0.045, 0.09)]
    for forward, z in ((True, body.intake[0][1] + 0.035), (False, body.plate_rear)):
        x, _, _ = shell.on_end(0.0, z, forward)
        out = 0.012 if forward else -0.012
        made.append(box((x + out, 0, z), (0.012, 0.34, 0.115), plate, 0.004))
        made += [box((x + out * 1.6, y, z), (0.008, w, 0.06), ink, 0.0) for w, y in marks]
    return made


def _lamps(shell: Shell, body: Body, lights: str) -> Objects:
    """Projectors in the headlamps, indicators at the corners, the third brake light."""
    white = material("beam", (1.0, 0.93, 0.82), 0.2, emit={"on": 24.0, "hazard": 0.0}.get(lights, 0.0))
    amber = material("indicator", (0.85, 0.20, 0.01), 0.2, emit=1.8 if lights == "hazard" else 0.0)
    red = material(
        "brake", (0.7, 0.01, 0.008), 0.2, emit=7.0 if lights == "brake" else 0.8 if lights == "on" else 0.0
    )
    made: Objects = []
    for s in (1, -1):
        for (y, z), r in zip(body.lamps, (0.05, 0.042), strict=True):
            x, _, _ = shell.on_end(s * y, z, True)
            made.append(
                lathe(
                    [(0.0, 0.012), (r * 0.7, 0.008), (r, -0.01)],
                    white,
                    24,
                    center=(x - 0.002, s * y, z),
                    rot=(0, math.pi / 2, 0),
                )
            )
        y, z = body.headlamp[3]
        x, y2, z2 = shell.on_end(s * (y - 0.09), z + 0.03, True)
        made.append(blob([((x, y2, z2), 0.024, (x - 0.04, y2 + s * 0.03, z2), 0.022)], amber, 0.008, 2))
        (_, top), (_, low) = body.tail[0], body.tail[3]
        middle = (top + low) / 2
        for dy, dz, one in ((0.12, 0.035, red), (0.24, 0.035, red), (0.16, -0.045, amber)):
            x, y2, z2 = shell.on_end(s * (body.tail[0][0] + dy), middle + dz, False)
            made.append(
                blob(
                    [((x + 0.004, y2, z2), 0.033, (x + 0.004, y2 + s * 0.045, z2), 0.03, (0.5, 1, 0.9))],
                    one,
                    0.008,
                    2,
                )
            )
    x, _, z = shell.on_top(body.rear_glass[0] - 0.05, 0.0)
    made.append(box((x + 0.03, 0, z - 0.01), (0.02, 0.28, 0.02), red, 0.005))
    return made


def assemble(body: Body, color: str, lights: str, driver: bool, marks: Marks | None = None) -> Objects:
    """A vehicle of one body: painted shell, wheels, cabin and trim. marks: further fields painted under the rest."""
    shell = Shell.through(body.stations)
    for name, (_, where) in (marks or {}).items():
        shell.fill(where(shell), name)
    paint_shell(shell, body)
    base, others = looks(color, lights)
    others |= {name: look for name, (look, _) in (marks or {}).items()}
    rgb, metal = COLORS[color]
    paint = material("paint", rgb, 0.32, metal=metal, coat=1.0, spec=0.5)
    floor = material("chassis", (0.006, 0.006, 0.006), 1.0, spec=0.0)
    length = body.stations[0][0] - body.stations[-1][0]
    made = [shell.build(base, others), *build_wheels(body, body.stations[len(body.stations) // 2][1] - 0.12)]
    made += [*build_cabin(body, driver), *build_trim(shell, body, paint, lights)]
    made.append(box((0, 0, body.wheel + 0.02), (length - 0.5, 1.1, 0.2), floor, 0.02))
    return made


def build_car(
    seed: int, style: str = "sedan", color: str = "silver", lights: str = "off", driver: bool = True
) -> Objects:
    """A passenger car. lights: off, on (headlights), brake, hazard."""
    return assemble(STYLES[style], color, lights, driver)


CAR = {"symmetry": "mirror", "pixels": 300, "samples": 12}
MODELS = {
    "car": Model(
        build_car,
        {
            "sedan_silver": {},
            "hatch_red": {"style": "hatch", "color": "red"},
            "suv_black": {"style": "suv", "color": "black"},
        },
        **CAR,
    ),
    "car_oncoming": Model(
        build_car,
        {
            "sedan_blue": {"color": "blue", "lights": "on"},
            "suv_white": {"style": "suv", "color": "white", "lights": "on"},
            "hatch_grey": {"style": "hatch", "color": "grey", "lights": "on"},
        },
        **CAR,
    ),
    "car_braking": Model(
        build_car,
        {
            "sedan_grey": {"color": "grey", "lights": "brake"},
            "suv_red": {"style": "suv", "color": "red", "lights": "brake"},
            "hatch_white": {"style": "hatch", "color": "white", "lights": "hazard"},
        },
        **CAR,
    ),
}
