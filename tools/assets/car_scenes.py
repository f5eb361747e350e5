"""Cars in trouble: a door open into the lane, one on its roof, two crashed into each other."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from cars import COLORS, SEDAN, assemble, build_car
from common import AHEAD, Look, Model, Objects, box, material, mesh, place
from shell import Shell


def build_door_open(seed: int, color: str = "silver") -> Objects:
    """A parked sedan whose left front door stands wide open."""
    front = SEDAN.doors[0]
    frame = [*front[:-1], (-0.38, 1.37), (-0.1, 1.36), (0.30, 1.30), (0.84, 0.97)]
    dark = Look((0.02, 0.02, 0.022), 0.9, spec=0.1)

    def opening(shell: Shell) -> np.ndarray:
        return np.minimum(np.minimum(shell.sides(frame), shell.points[..., 1]), 6.2 - shell.ring)

    made = assemble(SEDAN, color, "hazard", driver=False, marks={"opening": (dark, opening)})
    rgb, metal = COLORS[color]
    paint = material("door", rgb, 0.32, metal=metal, coat=1.0)
    trim = material("door trim", (0.03, 0.03, 0.032), 0.8)
    pane = material("door pane", (0.05, 0.055, 0.055), 0.08, spec=0.7)
    seat = material("seat", (0.04, 0.04, 0.045), 0.9)
    hinge, length = (0.95, 0.90), 1.32
    door: Objects = [
        _panel([(0.0, 0.34), (0.0, 0.90), (-length, 0.94), (-length, 0.33)], 0.04, paint),
        _panel(
            [(-0.04, 0.38), (-0.04, 0.86), (-length + 0.04, 0.90), (-length + 0.04, 0.37)],
            0.05,
            trim,
            offset=-0.04,
        ),
        _panel([(-0.12, 0.96), (-0.66, 1.30), (-length + 0.02, 1.34), (-length + 0.02, 0.96)], 0.012, pane),
    ]
    door += [
        box((-0.36, 0.02, 1.13), (0.72, 0.03, 0.035), paint, 0.01, rot=(0, 0.56, 0)),
        box((-length, 0.0, 1.15), (0.05, 0.03, 0.42), paint, 0.01),
    ]
    made.append(place(door, (*hinge, 0), -math.radians(62)))
    made.append(box((-0.1, 0.5, 0.62), (0.55, 0.5, 0.3), seat, 0.08))
    return made


def _panel(outline: list[tuple[float, float]], thick: float, paint, offset: float = 0.0):
    """A flat plate in x and z, `thick` along y."""
    n = len(outline)
    verts = [(x, offset + s * thick / 2, z) for s in (-1, 1) for x, z in outline]
    faces: list = [tuple(range(n)), tuple(reversed(range(n, 2 * n)))]
    faces += [(i, n + i, n + (i + 1) % n, (i + 1) % n) for i in range(n)]
    made = mesh(verts, faces, paint, smooth=False)
    edge = made.modifiers.new("bevel", "BEVEL")
    edge.width, edge.segments = thick * 0.3, 2
    return made


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
        rgb, metal = COLORS[color]
        paint = material("buckled", rgb, 0.4, metal=metal, coat=0.6)
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


BIG = {"pixels": 300, "samples": 12}
MODELS = {
    "car_door_open": Model(
        build_door_open,
        {"silver": {}},
        pixels=300,
        samples=8,
        azimuths=AHEAD,
    ),
    "car_overturned": Model(build_overturned, {"blue": {}}, **BIG),
    "car_crash": Model(build_crash, {"a": {"seed": 2}}, **{**BIG, "pixels": 380}),
}
