"""Police car, ambulance, fire engine, beacons lit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from cars import SEDAN, assemble
from common import Look, Model, Objects, box, lathe, material, tube
from shell import Shell
from trucks import BOX_REAR, VAN, cab_and_frame, tail_lights

RED, BLUE = (1.0, 0.012, 0.008), (0.02, 0.06, 1.0)


def light_bar(x: float, z: float, wide: float, colors: tuple = (RED, BLUE), deep: float = 0.28) -> Objects:
    """A roof bar with glowing modules, left and right in different colours."""
    base = material("bar", (0.02, 0.02, 0.02), 0.4)
    clear = material("bar lens", (0.5, 0.5, 0.5), 0.1, coat=1.0)
    made = [
        box((x, 0, z), (deep, wide, 0.05), base, 0.02),
        box((x, 0, z + 0.055), (deep * 0.8, wide * 0.2, 0.08), clear, 0.02),
    ]
    for side, color in zip((1, -1), colors, strict=True):
        glow = material("flash", color, 0.15, emit=4.0)
        dim = material("module", color, 0.15, emit=1.2)
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
    badge = material("badge", (0.35, 0.27, 0.05), 0.4, metal=0.5)
    letters = material("letters", (0.02, 0.03, 0.12), 0.5)
    for s in (1, -1):
        made.append(
            lathe(
                [(0.0, 0.012), (0.10, 0.004)],
                badge,
                7,
                center=(0.55, s * 0.905, 0.72),
                rot=(-s * 1.5708, 0, 0),
            )
        )
        made += [box((0.2 - i * 0.16, s * 0.912, 0.56), (0.11, 0.006, 0.12), letters, 0.0) for i in range(6)]
    made.append(
        tube(
            [(2.36, y, z) for y, z in ((-0.42, 0.36), (-0.42, 0.74), (0.42, 0.74), (0.42, 0.36))],
            0.035,
            letters,
        )
    )
    return [*made, *light_bar(-0.35, 1.49, 1.15)]


def build_ambulance(seed: int) -> Objects:
    """A high-roofed van with a red and yellow band, and every beacon lit."""
    lifted = tuple(
        (x, w, b, t, r, z + (0.36 if z > 2.0 else 0.22 if z > 1.9 else 0), c)
        for x, w, b, t, r, z, c in VAN.stations
    )
    body = replace(VAN, stations=lifted, windscreen=(1.80, 1.10))
    band, red = Look((0.62, 0.50, 0.02), 0.4), Look((0.5, 0.015, 0.012), 0.4)

    def stripe(low: float, high: float):
        return lambda shell: np.minimum(
            np.minimum(shell.points[..., 2] - low, high - shell.points[..., 2]),
            2.0 - abs(shell.points[..., 0] + 0.5),
        )

    made = assemble(
        body,
        "white",
        "on",
        True,
        marks={"band": (band, stripe(0.80, 1.08)), "red": (red, stripe(0.66, 0.78))},
    )
    cross = material("cross", (0.5, 0.015, 0.012), 0.4)
    pane = material("pane", (0.05, 0.06, 0.07), 0.15, spec=0.6)
    for s in (1, -1):
        made += [
            box((-1.5, s * 0.955, 1.75), size, cross, 0.0) for size in ((0.16, 0.02, 0.5), (0.5, 0.02, 0.16))
        ]
        made.append(box((-0.4, s * 0.945, 1.72), (0.8, 0.03, 0.36), pane, 0.03))
        made.append(box((-2.66, s * 0.4, 1.75), (0.03, 0.56, 0.5), pane, 0.03))
    made += light_bar(0.85, 2.44, 1.5, (BLUE, BLUE))
    made += light_bar(-2.3, 2.48, 1.4, (BLUE, BLUE), 0.16)
    return [*made, *tail_lights(-2.64, 0.86, 1.12, "on")]


def build_fire_engine(seed: int) -> Objects:
    """A pumper: red body, white stripe, silver lockers, a ladder on the roof, beacons lit."""
    red = material("fire red", (0.42, 0.012, 0.012), 0.35, coat=0.8)
    white = material("stripe", (0.68, 0.68, 0.66), 0.4)
    silver = material("shutter", (0.50, 0.51, 0.52), 0.4, metal=0.7)
    slat = material("slat", (0.2, 0.2, 0.2), 0.6)
    ladder = material("ladder", (0.55, 0.56, 0.57), 0.4, metal=0.8)
    stripe = Look((0.68, 0.68, 0.66), 0.4)
    marks = {"stripe": (stripe, lambda shell: 0.09 - abs(shell.points[..., 2] - 1.18))}
    made = cab_and_frame("fire red", "on", marks)
    front, middle = 1.75, (1.75 + BOX_REAR) / 2
    long = front - BOX_REAR
    made.append(box((middle, 0, 1.75), (long, 2.26, 1.8), red, 0.05, segments=3))
    made.append(box((middle, 0, 1.18), (long + 0.02, 2.275, 0.16), white, 0.0))
    for s in (1, -1):
        for x in (0.95, -0.45, -2.55):
            made.append(box((x, s * 1.13, 1.85), (1.15, 0.03, 1.1), silver, 0.01))
            made += [
                box((x, s * 1.147, z), (1.13, 0.004, 0.012), slat, 0.0) for z in np.arange(1.4, 2.4, 0.12)
            ]
        made.append(
            tube([(front - 0.2, s * 0.28 - 0.3, 2.82), (BOX_REAR - 0.2, s * 0.28 - 0.3, 2.82)], 0.04, ladder)
        )
    made += [
        tube([(x, -0.58, 2.82), (x, -0.02, 2.82)], 0.022, ladder)
        for x in np.arange(front - 0.3, BOX_REAR, -0.33)
    ]
    made.append(box((BOX_REAR - 0.01, 0, 1.8), (0.03, 1.3, 1.2), silver, 0.01))
    made += [
        *light_bar(2.55, 2.33, 1.7, (RED, BLUE)),
        *light_bar(BOX_REAR + 0.2, 2.68, 1.8, (RED, BLUE), 0.16),
    ]
    return made


EMERGENCY = {"symmetry": "mirror", "pixels": 320, "samples": 8}
MODELS = {
    "police_car": Model(build_police_car, {"a": {}}, **EMERGENCY),
    "ambulance": Model(build_ambulance, {"a": {}}, **EMERGENCY),
    "fire_engine": Model(build_fire_engine, {"a": {}}, **EMERGENCY),
}
