"""Vans and lorries: delivery van, box truck, garbage truck, tow truck."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from cars import SEDAN, Marks, assemble, build_car, build_wheel
from common import Model, Objects, box, lathe, material, mesh, place, tube

VAN = replace(
    SEDAN,
    stations=(
        (2.52, 0.82, 0.34, 0.86, 0.70, 0.98, 0.02),
        (2.40, 0.92, 0.28, 0.96, 0.80, 1.11, 0.03),
        (2.10, 0.97, 0.26, 1.06, 0.86, 1.23, 0.03),
        (1.84, 0.98, 0.26, 1.12, 0.87, 1.32, 0.03),
        (1.79, 0.98, 0.26, 1.13, 0.87, 1.36, 0.02),
        (1.16, 0.98, 0.26, 1.18, 0.87, 1.96, 0.03),
        (0.96, 0.98, 0.26, 1.19, 0.87, 2.04, 0.03),
        (0.00, 0.98, 0.26, 1.20, 0.88, 2.09, 0.03),
        (-2.20, 0.98, 0.26, 1.20, 0.88, 2.09, 0.03),
        (-2.48, 0.97, 0.28, 1.20, 0.87, 2.06, 0.02),
        (-2.58, 0.95, 0.32, 1.18, 0.85, 2.02, 0.01),
    ),
    axles=(1.62, -1.62),
    wheel=0.345,
    windows=(((1.58, 1.26), (1.16, 1.74), (0.95, 1.82), (0.42, 1.83), (0.42, 1.24)),),
    windscreen=(1.80, 1.02),
    rear_glass=(-9.0, -9.1),
    doors=(
        ((1.72, 1.10), (1.66, 0.7), (1.20, 0.42), (0.34, 0.40), (0.33, 1.95)),
        ((0.20, 1.95), (0.20, 0.42), (-0.95, 0.42), (-0.95, 1.95)),
    ),
    handles=((0.46, 1.08), (0.08, 1.08)),
    headlamp=((0.52, 1.0), (0.66, 1.08), (0.92, 1.12), (0.92, 0.88), (0.70, 0.86), (0.54, 0.90)),
    grille=((0.0, 1.0), (0.48, 1.0), (0.44, 0.80), (0.0, 0.78)),
    intake=((0.0, 0.56), (0.56, 0.56), (0.62, 0.40), (0.0, 0.39)),
    tail=((0.80, 1.42), (0.99, 1.42), (0.99, 0.86), (0.80, 0.86)),
    plate_rear=0.66,
    lamps=((0.64, 0.985), (0.77, 1.0)),
    mirror=(1.52, 1.36),
    roof=1.98,
)
CAB = replace(
    VAN,
    stations=(
        (3.36, 1.00, 0.42, 1.22, 0.98, 1.34, 0.02),
        (3.32, 1.04, 0.40, 1.28, 1.00, 1.44, 0.02),
        (3.26, 1.05, 0.40, 1.33, 0.99, 1.56, 0.02),
        (3.08, 1.05, 0.40, 1.34, 0.96, 2.08, 0.03),
        (2.98, 1.05, 0.40, 1.35, 0.94, 2.20, 0.03),
        (2.60, 1.05, 0.40, 1.35, 0.94, 2.26, 0.03),
        (1.82, 1.05, 0.40, 1.35, 0.94, 2.26, 0.03),
    ),
    axles=(2.55, -1.75),
    wheel=0.42,
    windows=(((3.06, 1.46), (2.92, 1.96), (2.76, 2.06), (2.16, 2.06), (2.16, 1.40), (2.7, 1.40)),),
    windscreen=(3.31, 3.0),
    rear_glass=(-9.0, -9.1),
    doors=(((3.16, 1.36), (3.12, 0.9), (3.02, 0.72), (2.08, 0.72), (2.08, 2.14)),),
    handles=((2.2, 1.2),),
    headlamp=((0.62, 0.86), (0.62, 0.98), (0.98, 1.0), (0.98, 0.80), (0.80, 0.78)),
    grille=((0.0, 1.16), (0.66, 1.16), (0.60, 0.80), (0.0, 0.80)),
    intake=((0.0, 0.64), (0.70, 0.64), (0.70, 0.50), (0.0, 0.50)),
    tail=((0.80, 0.62), (0.84, 0.62), (0.84, 0.58), (0.80, 0.58)),
    plate_rear=0.7,
    lamps=((0.72, 0.885), (0.86, 0.885)),
    mirror=(3.02, 1.62),
    roof=2.2,
)
BOX_REAR = -3.38


def build_van(seed: int, color: str = "white", lights: str = "hazard") -> Objects:
    """A delivery van with blind sides and two rear doors."""
    made = assemble(VAN, color, lights, driver=lights == "on")
    gap = material("gap", (0.02, 0.02, 0.02), 0.8, spec=0.1)
    glass = material("rear pane", (0.012, 0.014, 0.015), 0.08, spec=0.6)
    rear = -2.66
    made.append(tube([(rear - 0.005, 0, z) for z in (0.5, 1.0, 1.5, 1.98)], 0.007, gap, sides=4))
    for s in (1, -1):
        made.append(box((rear + 0.012, s * 0.40, 1.62), (0.03, 0.56, 0.46), glass, 0.03))
        made += [
            tube([(rear + 0.02, s * 0.80, z), (rear + 0.02, s * 0.80, z + 0.08)], 0.02, gap)
            for z in (0.75, 1.3, 1.8)
        ]
    return [*made, *tail_lights(rear + 0.03, 0.86, 1.12, lights)]


def tail_lights(x: float, y: float, z: float, lights: str) -> Objects:
    """A red and an amber lamp on either side, facing back."""
    red = material(
        "tail", (0.6, 0.01, 0.008), 0.2, emit={"brake": 7.0, "on": 0.9, "hazard": 0.5}.get(lights, 0.0)
    )
    amber = material("indicator", (0.85, 0.20, 0.01), 0.2, emit=1.8 if lights == "hazard" else 0.0)
    made: Objects = []
    for s in (1, -1):
        made.append(box((x, s * y, z), (0.04, 0.12, 0.12), red, 0.015))
        made.append(box((x, s * y, z + 0.14), (0.04, 0.12, 0.10), amber, 0.015))
    return made


def cab_and_frame(color: str, lights: str, marks: Marks | None = None, rear: float = BOX_REAR) -> Objects:
    """A cab-over lorry without its load: cab, frame rails, twin rear wheels, rear bumper with lamps and plate."""
    steel = material("frame", (0.02, 0.02, 0.022), 0.6)
    plate = material("plate", (0.6, 0.6, 0.58), 0.5)
    rubber = material("tyre", (0.02, 0.02, 0.02), 0.8, spec=0.2, vary=0.3)
    hub = material("hub", (0.4, 0.4, 0.4), 0.45, metal=0.7)
    dark = material("dark", (0.01, 0.01, 0.01), 0.9)
    made = assemble(CAB, color, lights, driver=True, marks=marks)
    made += [box(((rear + 2.4) / 2, s * 0.4, 0.72), (2.4 - rear, 0.09, 0.22), steel, 0.01) for s in (1, -1)]
    for s in (1, -1):
        made.append(
            place(build_wheel(CAB.wheel, s, (rubber, hub, dark)), (CAB.axles[1], s * 0.66, CAB.wheel))
        )
        made.append(box((CAB.axles[1] - 0.62, s * 0.8, 0.52), (0.02, 0.46, 0.5), dark, 0.0))
        made.append(box((0.2, s * 1.0, 0.66), (2.6, 0.04, 0.1), steel, 0.01))
        made.append(box((0.2, s * 1.0, 0.44), (2.6, 0.04, 0.1), steel, 0.01))
    made.append(box((rear + 0.05, 0, 0.56), (0.08, 2.1, 0.14), steel, 0.015))
    made.append(box((rear, 0.25, 0.76), (0.012, 0.34, 0.12), plate, 0.004))
    return [*made, *tail_lights(rear + 0.02, 0.92, 0.62, lights)]


def build_truck_box(
    seed: int, color: str = "white", load: tuple[float, float, float] = (0.66, 0.66, 0.64), lights: str = "on"
) -> Objects:
    """A box truck: aluminium body with corner rails and a roller door."""
    skin = material("panel", load, 0.5, vary=0.05, vary_scale=1.5)
    rail = material("rail", (0.42, 0.43, 0.44), 0.35, metal=0.8)
    gap = material("gap", (0.05, 0.05, 0.05), 0.8)
    marker = material("marker", (0.7, 0.02, 0.01), 0.3, emit=1.0)
    made = cab_and_frame(color, lights)
    front, half, low, top = 1.72, 1.14, 0.88, 3.0
    middle, length = (front + BOX_REAR) / 2, front - BOX_REAR
    made.append(box((middle, 0, (low + top) / 2), (length, 2 * half, top - low), skin, 0.02))
    for s in (1, -1):
        for z in (low + 0.05, top - 0.04):
            made.append(box((middle, s * half, z), (length + 0.01, 0.035, 0.1), rail, 0.008))
        for x in (front - 0.03, BOX_REAR + 0.04):
            made.append(box((x, s * half, (low + top) / 2), (0.1, 0.035, top - low), rail, 0.008))
        made += [
            box((x, s * (half + 0.002), (low + top) / 2), (0.012, 0.006, top - low - 0.2), gap, 0.0)
            for x in np.arange(front - 0.6, BOX_REAR + 0.3, -0.6)
        ]
        made.append(
            box((BOX_REAR - 0.005, s * (half - 0.06), (low + top) / 2), (0.04, 0.12, top - low), rail, 0.01)
        )
        made.append(box((BOX_REAR - 0.03, s * 0.9, top - 0.06), (0.02, 0.1, 0.04), marker, 0.005))
    made.append(box((BOX_REAR - 0.005, 0, top - 0.06), (0.04, 2 * half, 0.12), rail, 0.01))
    made += [
        box((BOX_REAR - 0.006, 0, z), (0.012, 2 * half - 0.24, 0.012), gap, 0.0)
        for z in np.arange(low + 0.12, top - 0.15, 0.22)
    ]
    made.append(box((BOX_REAR - 0.03, 0, low + 0.16), (0.03, 0.3, 0.05), rail, 0.01))
    return made


def build_garbage_truck(
    seed: int, color: str = "white", load: tuple[float, float, float] = (0.07, 0.22, 0.08)
) -> Objects:
    """A rear-loading garbage truck: ribbed body, hopper, amber beacons, someone's gloves-worth of dirt."""
    skin = material("tank", load, 0.5, dark=tuple(c * 0.6 for c in load), vary_scale=1.2)
    dark = material("hopper", (0.03, 0.03, 0.03), 0.8, vary=0.4)
    steel = material("steel", (0.35, 0.36, 0.36), 0.45, metal=0.7)
    amber = material("beacon", (1.0, 0.28, 0.01), 0.2, emit=2.2)
    made = cab_and_frame(color, "hazard")
    made.append(box((-0.2, 0, 1.9), (3.7, 2.26, 2.1), skin, 0.18, segments=4))
    made += [box((x, 0, 1.9), (0.07, 2.32, 2.14), skin, 0.03) for x in np.arange(1.4, -2.0, -0.55)]
    shape = [
        (-1.95, 0.95),
        (-1.95, 2.95),
        (-2.7, 2.98),
        (-3.3, 2.5),
        (-3.45, 1.55),
        (-3.45, 0.85),
        (-3.2, 0.7),
    ]
    k = len(shape)
    verts = [(x, y, z) for y in (-1.14, 1.14) for x, z in shape]
    faces: list = [(j, (j + 1) % k, k + (j + 1) % k, k + j) for j in range(k)] + [
        tuple(reversed(range(k))),
        tuple(range(k, 2 * k)),
    ]
    body = mesh(verts, faces, skin, smooth=False)
    edge = body.modifiers.new("bevel", "BEVEL")
    edge.width, edge.segments = 0.04, 3
    made.append(body)
    made.append(box((-3.36, 0, 1.55), (0.26, 1.9, 1.0), dark, 0.03))
    made.append(box((-3.52, 0, 0.85), (0.1, 2.1, 0.1), steel, 0.02))
    made += [tube([(-2.2, s * 1.18, 2.6), (-3.2, s * 1.18, 1.5)], 0.05, steel) for s in (1, -1)]
    made += [
        lathe([(0.0, 0.14), (0.07, 0.12), (0.08, 0.0), (0.0, 0.0)], amber, 24, center=at)
        for at in ((2.7, 0.6, 2.28), (2.7, -0.6, 2.28), (-2.6, 0.8, 2.98), (-2.6, -0.8, 2.98))
    ]
    return [*made, *tail_lights(-3.5, 0.98, 1.0, "hazard")]


def build_tow_truck(seed: int) -> Objects:
    """A flatbed tow truck, its bed tilted, with a car half loaded and amber beacons lit."""
    deck = material("deck", (0.30, 0.31, 0.32), 0.45, metal=0.5, vary=0.15)
    dark = material("dark", (0.02, 0.02, 0.02), 0.8)
    amber = material("beacon", (1.0, 0.28, 0.01), 0.2, emit=2.2)
    made = cab_and_frame("yellow", "hazard", rear=-2.2)
    bed = [
        box((0, 0, 0), (4.9, 2.2, 0.1), deck, 0.02),
        box((0, 1.08, 0.1), (4.9, 0.05, 0.14), deck, 0.01),
        box((0, -1.08, 0.1), (4.9, 0.05, 0.14), deck, 0.01),
    ]
    bed.append(place(build_car(seed, "hatch", "silver", driver=False), (-0.2, 0, 0.06), math.pi))
    made.append(place(bed, (-0.9, 0, 0.92), pitch=-0.12))
    made.append(box((1.62, 0, 1.7), (0.08, 2.1, 1.3), dark, 0.03))
    made.append(box((2.4, 0, 2.36), (0.3, 1.5, 0.1), dark, 0.04))
    made += [
        lathe([(0.0, 0.13), (0.1, 0.1), (0.11, 0.0), (0.0, 0.0)], amber, 24, center=(2.4, y, 2.38))
        for y in (-0.6, -0.2, 0.2, 0.6)
    ]
    return made


LONG = {"symmetry": "mirror", "pixels": 320, "samples": 12}
MODELS = {
    "van": Model(build_van, {"white": {}, "grey": {"color": "grey", "lights": "on"}}, **LONG),
    "truck_box": Model(
        build_truck_box,
        {"white": {}, "blue": {"color": "blue", "load": (0.10, 0.16, 0.30)}},
        **LONG,
    ),
    "garbage_truck": Model(build_garbage_truck, {"a": {}}, **LONG),
    "tow_truck": Model(build_tow_truck, {"a": {}}, **LONG),
}
