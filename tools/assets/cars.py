"""Passenger cars: sedan, hatchback, SUV; headlights, brake lights or hazard lights lit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from car_bodies import FINISHES, HATCH, SEDAN, SUV, Body, Finish
from car_details import build_extras, build_trim, paint_ends, paint_front, paint_tail
from common import Look, Model, Objects, blob, box, lathe, material, mesh, place, tube
from fittings import grime
from mathutils.geometry import convex_hull_2d
from shell import RAIL, Polygon, Shell, rounded

COLORS = {
    "silver": ((0.46, 0.47, 0.48), 0.75),
    "white": ((0.72, 0.72, 0.70), 0.0),
    "black": ((0.008, 0.008, 0.009), 0.0),
    "red": ((0.28, 0.007, 0.009), 0.3),
    "blue": ((0.025, 0.075, 0.22), 0.5),
    "grey": ((0.14, 0.145, 0.155), 0.75),
    "yellow": ((0.62, 0.29, 0.012), 0.0),
    "fire red": ((0.42, 0.012, 0.012), 0.0),
}

Marks = dict[str, tuple[Look, Callable[[Shell], np.ndarray]]]


STYLES = {"sedan": SEDAN, "hatch": HATCH, "suv": SUV}
# Folds of the flanks by ring coordinate (m): sill, hollow doors, a shoulder line; then the bulge of the side glass.
FOLDS = ((2.0, 0.0), (2.4, 0.010), (3.0, -0.012), (4.0, 0.014), (4.5, -0.004), (5.0, 0.0))
FOLDS += ((5.25, 0.015), (5.5, 0.020), (5.75, 0.015), (6.0, 0.0))


def paint_look(color: str) -> dict[str, Any]:
    """Car paint under a clear coat: only metallic colours shine below it."""
    rgb, metal = COLORS[color]
    return {
        "color": rgb,
        "rough": 0.3 if metal else 0.6,
        "metal": metal,
        "coat": 1.0,
        "spec": 0.5 if metal else 0.0,
    }


def looks(color: str, lights: str) -> tuple[Look, dict[str, Look]]:
    """The body's colour and the looks of what is painted on it."""
    brake, turn = {"brake": 6.0, "on": 0.5}.get(lights, 0.0), 2.5 if lights == "hazard" else 0.0
    base = Look(**paint_look(color), lining=0.05)
    return base, {
        "skin": base,
        "gap": Look((0.006, 0.006, 0.006), 0.9, spec=0.0, lining=0.02),
        "black": Look((0.010, 0.010, 0.010), 0.25, lining=0.02),
        "plastic": Look((0.022, 0.022, 0.023), 0.55, spec=0.3, lining=0.02),
        "chrome": Look((0.58, 0.58, 0.60), 0.15, metal=1.0, lining=0.02),
        "lens": Look((0.025, 0.027, 0.03), 0.1, spec=0.8, coat=1.0, lining=0.02),
        "tail": Look((0.13, 0.003, 0.004), 0.3, coat=1.0, emit=0.3 * brake, lining=0.02),
        "reflector": Look((0.20, 0.004, 0.005), 0.3, coat=1.0, lining=0.02),
        "tail_glow": Look((0.42, 0.012, 0.012), 0.3, coat=1.0, emit=brake, lining=0.02),
        "tail_clear": Look((0.42, 0.40, 0.38), 0.25, coat=1.0, lining=0.02),
        "tail_amber": Look((0.30, 0.055, 0.008), 0.3, coat=1.0, emit=turn, lining=0.02),
        "under": Look((0.008, 0.008, 0.008), 0.95, spec=0.0),
    }


def paint_shell(shell: Shell, body: Body) -> None:
    """Glass, lamps, grille, arches and bumpers onto the skin."""
    (x, _, z), ring = np.moveaxis(shell.points, -1, 0), shell.ring
    low = body.stations[0][2]
    nose, tail = x.max() - 0.5, x.min() + 0.42
    finish = FINISHES.get(body.stations)
    if finish:
        paint_ends(shell, body, finish)
    shell.fill(np.minimum(np.minimum(1.95 - ring, nose - x), x - tail) * 0.2, "under")
    shell.fill(np.minimum(low + 0.03 - z, 3.4 - ring), "black")
    paint_panes(shell, body, finish)
    paint_front(shell, body, nose)
    paint_tail(shell, body, x.min() + 0.32)
    lower = finish.valance if finish else ((-0.7, low), (0.7, low), (0.6, low + 0.14), (-0.6, low + 0.14))
    shell.fill(shell.rear(lower, tail), "plastic" if finish and finish.cladding else "black")
    if not finish:
        z0 = body.plate_rear
        recess = rounded(((-0.3, z0 - 0.09), (0.3, z0 - 0.09), (0.27, z0 + 0.09), (-0.27, z0 + 0.09)), 0.04)
        shell.fill(shell.rear(recess, tail), "black")
    wide = finish.cladding if finish else 0.0
    if wide:
        shell.fill(np.minimum(low + 0.14 - z, 4.0 - ring), "plastic")
    for axle in body.axles:
        shell.arch(
            axle, body.wheel + 0.055, body.wheel + 0.01, "plastic" if wide else "under", max(0.012, wide)
        )


def paint_panes(shell: Shell, body: Body, finish: Finish | None) -> None:
    """Windscreen, rear glass and side windows in their black frames, a bright line below the side windows."""
    x, ring = shell.points[..., 0], shell.ring
    for front, back in (body.windscreen, body.rear_glass):
        between = np.minimum(front - x, x - back)
        shell.fill(np.minimum(between, (ring - RAIL - 0.12) * 0.08), "black")
        shell.fill(np.minimum(between - 0.035, (ring - RAIL - 0.55) * 0.08), "glass")
    flank = np.minimum(ring - 4.6, RAIL - 0.02 - ring) * 0.3
    if finish:
        corners = [corner for window in body.windows for corner in window]
        around = shell.sides([corners[i] for i in convex_hull_2d(corners)])
        if finish.bright:
            shell.fill(np.minimum(around + 0.040, np.minimum(flank, (5.35 - ring) * 0.3)), "chrome")
        shell.fill(np.minimum(around + 0.028, flank), "black")
    for window in body.windows:
        shape = shell.sides(rounded(window, 0.05))
        shell.fill(np.minimum(shape + 0.022, flank), "black")
        shell.fill(np.minimum(shape, flank), "glass")


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


def shaped(body: Body) -> Shell:
    """The skin of a body with its creases and bumpers, bare."""
    shell, finish = Shell.through(body.stations), FINISHES.get(body.stations)
    if finish:
        shell.crease(FOLDS)
        shell.shelve(finish.front, forward=True)
        shell.shelve(finish.rear, forward=False)
        shell.dent(shell.rear(rounded(finish.recess, 0.04), 0.0), 0.03, forward=False)
    return shell


def assemble(
    body: Body, color: str, lights: str, driver: bool, marks: Marks | None = None, missing: Polygon = ()
) -> Objects:
    """A vehicle of one body: painted shell, wheels, cabin and trim.

    marks: further fields painted under the rest; missing: outline (x, z) of the left front door, if it is not there.
    """
    shell, finish = shaped(body), FINISHES.get(body.stations)
    for name, (_, where) in (marks or {}).items():
        shell.fill(where(shell), name)
    paint_shell(shell, body)
    if missing:
        shell.fill(np.minimum(shell.sides(missing), shell.points[..., 1]), "cut")
    base, others = looks(color, lights)
    others |= {name: look for name, (look, _) in (marks or {}).items()}
    paint = material("paint", **paint_look(color))
    floor = material("chassis", (0.006, 0.006, 0.006), 1.0, spec=0.0)
    length = body.stations[0][0] - body.stations[-1][0]
    made = [shell.build(base, others), *build_wheels(body, body.stations[len(body.stations) // 2][1] - 0.12)]
    made += [*build_cabin(body, driver), *build_trim(shell, body, paint, lights, with_door=not missing)]
    if finish:
        made += build_extras(shell, body, finish, paint)
    low, high = 0.45 * body.wheel, body.wheel + 0.12
    made.append(box((0, 0, (low + high) / 2), (length - 0.9, 1.2, high - low), floor, 0.02))
    return made


def build_car(
    seed: int, style: str = "sedan", color: str = "silver", lights: str = "off", driver: bool = True
) -> Objects:
    """A passenger car. lights: off, on (headlights), brake, hazard."""
    made = assemble(STYLES[style], color, lights, driver)
    grime(made[0].data.materials[0], 0.55, 0.35)
    return made


CAR = {"symmetry": "mirror", "pixels": 400, "samples": 16}
MODELS = {
    "car": Model(
        build_car,
        {
            "sedan_silver": {},
            "hatch_red": {"style": "hatch", "color": "red"},
            "suv_black": {"style": "suv", "color": "black"},
            "sedan_white": {"color": "white"},
        },
        **CAR,
    ),
    "car_oncoming": Model(
        build_car,
        {
            "sedan_blue": {"color": "blue", "lights": "on"},
            "suv_white": {"style": "suv", "color": "white", "lights": "on"},
            "hatch_grey": {"style": "hatch", "color": "grey", "lights": "on"},
            "sedan_black": {"color": "black", "lights": "on"},
        },
        **CAR,
    ),
    "car_braking": Model(
        build_car,
        {
            "sedan_grey": {"color": "grey", "lights": "brake"},
            "suv_red": {"style": "suv", "color": "red", "lights": "brake"},
            "hatch_white": {"style": "hatch", "color": "white", "lights": "hazard"},
            "suv_silver": {"style": "suv", "color": "silver", "lights": "brake"},
        },
        **CAR,
    ),
}
