"""Cars in trouble: a door open into the lane, one on its roof, two crashed into each other."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import bpy
import numpy as np
from body.parts import Part, build, moved
from body.person import person
from body.poses import WAIT
from body.skeleton import turn
from body.wardrobe import OUTFITS
from car_details import build_handle, build_mirror
from cars import SEDAN, assemble, build_car, looks, paint_look, paint_shell, shaped
from common import Model, Objects, Point, box, lathe, material, mesh, place
from shell import Polygon, rounded

# Outline (x, z) of the sedan's front door with its window frame.
DOOR = (
    *((0.96, 0.90), (0.94, 0.60), (0.86, 0.34), (-0.36, 0.32), (-0.38, 0.94)),
    *((-0.375, 1.375), (-0.10, 1.365), (0.29, 1.31), (0.85, 0.955)),
)
HINGE = (0.97, 0.91)
OPEN_DEG = 68.0


def build_door_open(seed: int, color: str = "red", driver: str | None = None) -> Objects:
    """A parked sedan whose left front door stands wide open, its pane wound down; `driver` has just got out."""
    paint, dark = (
        material("frame", **paint_look(color)),
        material("footwell", (0.012, 0.012, 0.012), 0.9, spec=0.1),
    )
    made = assemble(SEDAN, color, "hazard", driver=False, missing=DOOR)
    made += [
        box((0.28, 0.82, 0.27), (1.35, 0.14, 0.12), paint, 0.03),
        box((0.25, 0.1, 0.30), (1.5, 1.4, 0.08), dark, 0.0),
        box((0.90, 0.35, 0.62), (0.10, 0.95, 0.5), dark, 0.04),
    ]
    door = place([*_door_skin(color, paint), *_door_inside(paint)], (-HINGE[0], -HINGE[1], 0))
    made.append(place([door], (*HINGE, 0), -math.radians(OPEN_DEG)))
    if driver:
        made += build(moved(standing_by_door(driver, seed), turn((0, 0, 40)), (0.28, 1.2, 0)))
    return made


def standing_by_door(who: str, seed: int) -> list[Part]:
    """Somebody upright, who looks ahead over the door."""
    return person(WAIT, replace(OUTFITS[who], gear=[]), seed)[1]


def _door_skin(color: str, paint: bpy.types.Material) -> Objects:
    """The left front door as it hangs when shut: cut from the body's skin, with its mirror, handle and edge."""
    shell = shaped(SEDAN)
    paint_shell(shell, SEDAN)
    shell.fill(-np.minimum(shell.sides(DOOR), shell.points[..., 1]), "cut")
    shell.fill(np.minimum(shell.sides(rounded(SEDAN.windows[0], 0.05)) + 0.004, shell.points[..., 1]), "cut")
    gap = material("door gap", (0.008, 0.008, 0.008), 0.8, spec=0.1)
    made = [shell.build(*looks(color, "off")), *build_mirror(shell, SEDAN, 1, paint)]
    made += build_handle(shell, SEDAN.handles[0], 1, paint, gap)
    edge = [shell.on_side(x, z) for x, z in rounded(DOOR, 0.04)]
    return [*made, _strip(edge, [(x, y - 0.07, z) for x, y, z in edge], paint)]


def _door_inside(paint: bpy.types.Material) -> Objects:
    """What the open door shows: metal around a panel with armrest, pocket and handle, and the frame of the pane."""
    shell = shaped(SEDAN)
    trim = material("door trim", (0.43, 0.37, 0.29), 0.7)
    cloth = material("door cloth", (0.20, 0.13, 0.085), 0.9, spec=0.1)
    black = material("door seal", (0.010, 0.010, 0.010), 0.6)
    chrome = material("door pull", (0.6, 0.6, 0.62), 0.15, metal=1.0)

    def inward(outline: Polygon, depth: float) -> list[Point]:
        return [(x, y - depth, z) for x, y, z in (shell.on_side(*at) for at in outline)]

    window = rounded(SEDAN.windows[0], 0.05)
    u, v = np.mean(window, axis=0)
    around = [
        (x + 0.05 * (x - u) / math.hypot(x - u, z - v), z + 0.04 * (z - v) / math.hypot(x - u, z - v))
        for x, z in window
    ]
    below = [*DOOR[:5], (-0.36, 0.955), (0.82, 0.955)]
    metal = mesh(inward(rounded(below, 0.03), 0.07), [range(len(rounded(below, 0.03)))], paint, smooth=False)
    panel = rounded(
        ((0.85, 0.86), (0.83, 0.60), (0.77, 0.42), (-0.29, 0.40), (-0.31, 0.95), (0.80, 0.95)), 0.08
    )
    made = [metal, mesh(inward(panel, 0.10), [range(len(panel))], trim, smooth=False)]
    made += [
        _strip(inward(window, 0.03), inward(around, 0.05), paint),
        _strip(inward(panel, 0.07), inward(panel, 0.10), trim),
        box((0.14, 0.79, 0.83), (0.78, 0.03, 0.13), cloth, 0.014),
        box((0.10, 0.755, 0.70), (0.72, 0.09, 0.07), black, 0.025),
        box((0.22, 0.77, 0.47), (0.86, 0.07, 0.13), black, 0.03),
        box((0.52, 0.775, 0.83), (0.13, 0.02, 0.03), chrome, 0.008),
        lathe(
            [(0.0, 0.0), (0.08, 0.0), (0.09, -0.02)],
            black,
            24,
            center=(0.60, 0.79, 0.57),
            rot=(math.pi / 2, 0, 0),
        ),
        box((0.93, 0.83, 0.78), (0.10, 0.05, 0.07), black, 0.01),
        box((0.91, 0.83, 0.48), (0.10, 0.05, 0.07), black, 0.01),
    ]
    return made


def _strip(one: list[Point], other: list[Point], paint: bpy.types.Material) -> bpy.types.Object:
    """The band between two closed outlines of equally many points."""
    n = len(one)
    faces = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    return mesh([*one, *other], faces, paint, smooth=False)


def build_overturned(seed: int, color: str = "blue") -> Objects:
    """A car on its roof, glass crumbs around it."""
    rng = Random(seed)
    axle = material("axle", (0.10, 0.09, 0.08), 0.7, metal=0.4, vary=0.3)
    car = build_car(seed, "sedan", color, "off", driver=False)
    car += [box((x, 0, 0.34), (0.1, 1.4, 0.1), axle, 0.03) for x in SEDAN.axles]
    car.append(box((-0.4, 0.1, 0.22), (3.0, 0.09, 0.09), axle, 0.04))
    car.append(box((-1.7, -0.4, 0.24), (0.6, 0.3, 0.16), axle, 0.06))
    made: Objects = [place(car, (0, 0, 1.43), 0.05, roll=math.pi + 0.03, pitch=0.035)]
    return made + _crumbs(rng, 60, 2.6, 1.5)


def _crumbs(rng: Random, count: int, reach_x: float, reach_y: float) -> Objects:
    """Bits of glass and plastic on the ground."""
    bits = [
        material("glass bit", (0.5, 0.55, 0.55), 0.2),
        material("plastic bit", (0.02, 0.02, 0.02), 0.5),
        material("red bit", (0.3, 0.01, 0.01), 0.3),
    ]
    made: Objects = []
    for _ in range(count):
        size = rng.uniform(0.02, 0.09)
        at = (
            rng.uniform(-1, 1) * rng.random() * reach_x,
            rng.uniform(-1, 1) * rng.random() * reach_y,
            size * 0.15,
        )
        made.append(
            box(
                at,
                (size, size * rng.uniform(0.4, 1), size * 0.3),
                rng.choice(bits),
                0.0,
                rot=(0, 0, rng.uniform(0, 3)),
            )
        )
    return made


def build_crash(seed: int) -> Objects:
    """Two cars after a collision, one slewed round, bonnets buckled, debris between them."""
    rng = Random(seed)
    first = build_car(seed, "suv", "white", "hazard", driver=False)
    second = build_car(seed, "sedan", "red", "off", driver=False)
    for car, at, color in ((first, (1.72, 1.12), "white"), (second, (1.72, 0.93), "red")):
        paint = material("buckled", **paint_look(color))
        dark = material("engine", (0.015, 0.015, 0.015), 0.8, vary=0.4)
        x, z = at
        car.append(box((x + 0.25, 0, z - 0.12), (0.8, 1.3, 0.2), dark, 0.05))
        for part, tilt in ((0.2, -0.55), (-0.32, 0.5)):
            car.append(
                place(
                    [box((0, 0, 0), (0.62, 1.42, 0.025), paint, 0.01)],
                    (x + part * 0.9, 0, z + 0.16),
                    pitch=-tilt * 0.8,
                )
            )
    made = [place(first, (-1.7, 0.1, 0), 0.06), place(second, (2.0, -0.1, 0), math.pi - 0.55)]
    return made + _crumbs(rng, 80, 2.4, 1.6)


BIG = {"pixels": 360, "samples": 16}
MODELS = {
    "car_door_open": Model(
        build_door_open,
        {"red": {}, "blue": {"color": "blue", "driver": "man"}},
        pixels=400,
        samples=16,
        azimuths=(0, 30, 60, 90, *range(120, 241, 10), 270, 300, 330),
    ),
    "car_overturned": Model(build_overturned, {"blue": {}}, **BIG),
    "car_crash": Model(build_crash, {"a": {"seed": 2}}, **{**BIG, "pixels": 380}),
}
