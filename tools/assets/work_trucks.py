"""Lorries at work: a garbage truck with its hopper open, a recovery truck with a car on its bed."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from cars import build_car
from common import Color, Model, Objects, blob, box, lathe, material, mesh, place, tube
from fittings import chevrons, grime, lettering, louvres, tail_cluster, tape
from trucks import LONG, cab_and_frame

RED, WHITE = (0.45, 0.012, 0.010), (0.62, 0.62, 0.60)


def beacons(spots: list[tuple[float, float, float]], tall: float = 0.14) -> Objects:
    """Amber rotating beacons on black feet, lit."""
    amber = material("beacon", (1.0, 0.24, 0.008), 0.15, emit=1.6, coat=1.0)
    foot = material("beacon foot", (0.015, 0.015, 0.015), 0.5)
    made: Objects = []
    for x, y, z in spots:
        made.append(
            lathe(
                [(0.0, tall), (0.055, tall - 0.02), (0.07, 0.03), (0.07, 0.02)], amber, 24, center=(x, y, z)
            )
        )
        made.append(lathe([(0.08, 0.03), (0.085, -0.01)], foot, 24, center=(x, y, z)))
    return made


def build_garbage_truck(seed: int, color: str = "white", load: Color = (0.05, 0.20, 0.07)) -> Objects:
    """A rear-loading garbage truck: ribbed body, open hopper with bags in it, steps, amber beacons."""
    skin = grime(
        material(
            "tank",
            load,
            0.4,
            coat=0.4,
            dark=tuple(c * 0.75 for c in load),
            vary_scale=1.2,
            bump=0.1,
            bump_scale=2,
        ),
        2.6,
        0.75,
    )
    white = grime(material("sign white", (0.6, 0.6, 0.58), 0.4, coat=0.3), 2.6, 0.5)
    made = cab_and_frame(color, "hazard", rear=-2.6)
    made.append(box((-0.2, 0, 1.92), (3.6, 2.2, 2.06), skin, 0.16, segments=4))
    made += [box((x, 0, 1.92), (0.07, 2.29, 2.12), skin, 0.03) for x in np.arange(1.4, -2.0, -0.62)]
    made.append(box((-0.2, 0, 0.95), (3.6, 2.26, 0.14), skin, 0.03))
    for s, side in ((1, "left"), (-1, "right")):
        made.append(box((0.16, s * 1.125, 2.15), (1.75, 0.05, 0.62), white, 0.02))
        made.append(lettering("AVA OTO AVA", (0.16, s * 1.153, 2.15), 0.15, skin, side))
    made += [*_hopper(skin), *_hopper_fittings(skin, Random(seed))]
    return [*made, *beacons([(2.7, 0.6, 2.26), (2.7, -0.6, 2.26), (-2.45, 0.85, 2.98), (-2.45, -0.85, 2.98)])]


def _hopper(skin) -> Objects:
    """The tailgate: two cheeks, a hood over the mouth, and the worn steel trough inside."""
    inside = grime(
        material("trough", (0.10, 0.095, 0.085), 0.55, metal=0.3, vary=0.5, vary_scale=3), 2.4, 0.8
    )
    void = material("void", (0.008, 0.008, 0.008), 1.0, spec=0.0)
    made: Objects = []
    cheek = [
        (-1.9, 0.9),
        (-1.9, 2.95),
        (-2.65, 2.98),
        (-3.2, 2.55),
        (-3.34, 2.0),
        (-3.3, 1.5),
        (-3.42, 1.12),
        (-3.42, 0.72),
        (-3.1, 0.62),
    ]
    k = len(cheek)
    for s in (1, -1):
        verts = [(x, s * y, z) for y in (0.98, 1.13) for x, z in cheek]
        faces = [(j, (j + 1) % k, k + (j + 1) % k, k + j) for j in range(k)]
        plate = mesh(verts, [*faces, tuple(reversed(range(k))), tuple(range(k, 2 * k))], skin, smooth=False)
        edge = plate.modifiers.new("bevel", "BEVEL")
        edge.width, edge.segments = 0.03, 3
        made.append(plate)
    hood = [
        (-1.9, 2.95),
        (-2.65, 2.98),
        (-3.2, 2.55),
        (-3.34, 2.12),
        (-3.27, 2.10),
        (-3.1, 2.45),
        (-2.6, 2.85),
        (-1.9, 2.85),
    ]
    made.append(_across(hood, 2.0, skin))
    blade = [(-3.1, 2.42), (-2.75, 1.85), (-2.95, 1.45), (-2.6, 1.1), (-2.5, 1.8), (-2.95, 2.5)]
    trough = [
        (-2.5, 1.1),
        (-2.6, 0.95),
        (-2.95, 0.86),
        (-3.3, 0.98),
        (-3.38, 1.14),
        (-3.42, 1.12),
        (-3.42, 0.74),
        (-2.5, 0.74),
    ]
    made += [_across(blade, 1.96, inside), _across(trough, 1.96, inside)]
    made.append(box((-2.45, 0, 1.8), (0.04, 1.96, 1.9), void, 0.0))
    return made


def _across(outline: list[tuple[float, float]], width: float, paint):
    """An (x, z) outline drawn out across y."""
    n = len(outline)
    verts = [(x, s * width / 2, z) for s in (-1, 1) for x, z in outline]
    faces: list = [tuple(range(n)), tuple(reversed(range(n, 2 * n)))]
    faces += [(i, n + i, n + (i + 1) % n, (i + 1) % n) for i in range(n)]
    return mesh(verts, faces, paint, smooth=False)


def _hopper_fittings(skin, rng: Random) -> Objects:
    """Bags in the trough, rams, hand rails, steps, stripes, lamps."""
    steel = grime(material("steel", (0.33, 0.33, 0.33), 0.4, metal=0.8), 1.5, 0.6)
    rail = material("rail", (0.60, 0.33, 0.015), 0.45, coat=0.3)
    dark = material("black", (0.015, 0.015, 0.015), 0.6)
    bag = material("bag", (0.012, 0.012, 0.014), 0.35, bump=0.5, bump_scale=18)
    pale = material("pale bag", (0.45, 0.46, 0.48), 0.4, bump=0.5, bump_scale=18)
    made: Objects = []
    for y, one in ((-0.7, bag), (-0.3, pale), (0.05, bag), (0.45, bag), (0.75, pale)):
        x, z = -3.12 + rng.uniform(-0.05, 0.05), 1.13 + rng.uniform(-0.03, 0.05)
        made.append(blob([((x, y, z), 0.2, (x + 0.12, y + 0.05, z + 0.1), 0.15)], one, 0.03, 2, 0.05, 0.15))
    for s in (1, -1):
        made.append(tube([(-2.2, s * 1.17, 2.75), (-2.9, s * 1.17, 2.0)], 0.055, dark))
        made.append(tube([(-2.85, s * 1.17, 2.05), (-3.28, s * 1.17, 1.3)], 0.032, steel))
        made.append(
            tube(
                [
                    (-3.36, s * 1.08, 1.25),
                    (-3.46, s * 1.08, 1.3),
                    (-3.44, s * 1.08, 1.95),
                    (-3.34, s * 1.08, 2.0),
                ],
                0.018,
                rail,
            )
        )
        made.append(box((-3.32, s * 0.92, 0.42), (0.30, 0.42, 0.04), steel, 0.008))
        made += [tube([(-3.25, s * y, 0.42), (-3.25, s * y, 0.75)], 0.02, dark) for y in (0.75, 1.1)]
        made += tape((-3.438, s * 1.056, 0.80), (-3.438, s * 1.056, 1.10), 0.12, pitch=0.1)
        made.append(
            lathe(
                [(0.0, 0.03), (0.05, 0.02), (0.06, 0.0)],
                material("work lamp", (0.6, 0.6, 0.6), 0.1, coat=1.0),
                16,
                center=(-3.24, s * 0.85, 2.5),
                rot=(0, -math.pi / 2 - 0.5, 0),
            )
        )
    made += chevrons(
        0.0,
        0.74,
        0.93,
        0.26,
        -3.445,
        (
            material("stripe red", RED, 0.3, coat=0.4),
            grime(material("stripe white", WHITE, 0.35, coat=0.4), 1.3, 0.6),
        ),
    )
    made.append(box((-3.44, 0, 1.13), (0.07, 1.98, 0.06), steel, 0.015))
    made += tape((-3.33, -0.9, 2.18), (-3.33, 0.9, 2.18), 0.08, 0.02)
    made.append(box((-3.40, 0, 0.60), (0.02, 0.46, 0.13), material("plate", (0.6, 0.6, 0.58), 0.5), 0.004))
    return [*made, *tail_cluster(-3.44, 0.87, 0.93, "hazard", 0.2, 0.26)]


def build_tow_truck(seed: int) -> Objects:
    """A recovery truck: a flat bed low at its end, a car strapped down on it, a light bar over the headboard."""
    deck = grime(material("deck", (0.28, 0.28, 0.28), 0.5, metal=0.6, vary=0.2), 1.4, 0.5)
    paint = grime(material("bed", (0.60, 0.28, 0.012), 0.4, coat=0.5, vary=0.06), 1.6, 0.6)
    dark = material("dark", (0.015, 0.015, 0.015), 0.7)
    made = cab_and_frame("yellow", "hazard", rear=-2.7)
    bed: Objects = [box((0, 0, 0), (4.9, 2.16, 0.08), deck, 0.01)]
    for s in (1, -1):
        bed.append(box((0, s * 1.1, 0.02), (4.95, 0.07, 0.2), paint, 0.015))
        bed += tape((-2.4, s * 1.137, 0.0), (2.4, s * 1.137, 0.0), 0.06)
    bed += chevrons(
        0.0,
        0.72,
        -0.03,
        0.17,
        -2.475,
        (material("stripe red", RED, 0.3, coat=0.4), material("stripe white", WHITE, 0.3, coat=0.4)),
    )
    bed += tail_cluster(-2.45, 0.93, -0.04, "hazard", 0.3, 0.15)
    car = build_car(seed, "hatch", "blue", driver=False)
    strap = material("strap", (0.5, 0.22, 0.01), 0.7)
    for s in (1, -1):
        for x in (-1.25, 1.25):
            bed.append(
                tube(
                    [
                        (x - 0.5, s * 0.98, 0.06),
                        (x - 0.3, s * 0.86, 0.5),
                        (x + 0.3, s * 0.86, 0.5),
                        (x + 0.5, s * 0.98, 0.06),
                    ],
                    0.022,
                    strap,
                )
            )
    bed.append(place(car, (-0.25, 0, 0.05)))
    made.append(place(bed, (-0.9, 0, 0.98), pitch=-0.06))
    made.append(box((1.41, 0, 1.42), (0.72, 2.0, 1.16), paint, 0.04))
    made += louvres((1.045, 0.45, 1.55), 0.6, 0.4, 6, paint, dark, "y")
    made += [*_headboard(paint, dark), *_tool_boxes(paint, dark)]
    return made


def _headboard(paint, dark) -> Objects:
    """The guard behind the cab, with its light bar, work lamps and winch."""
    lens = material("work lamp", (0.65, 0.65, 0.66), 0.1, coat=1.0)
    amber = material("amber bar", (1.0, 0.24, 0.008), 0.15, emit=1.6, coat=1.0)
    dim = material("amber module", (0.55, 0.12, 0.006), 0.15, emit=0.3, coat=1.0)
    made: Objects = [
        tube([(1.0, s * 0.98, 1.0), (1.0, s * 0.98, 2.38), (1.0, s * 0.8, 2.5), (1.0, 0, 2.5)], 0.045, paint)
        for s in (1, -1)
    ]
    made += [tube([(1.0, -0.98, z), (1.0, 0.98, z)], 0.03, paint) for z in (2.05, 2.25)]
    made.append(box((1.0, 0, 2.58), (0.22, 1.86, 0.05), dark, 0.02))
    made += [
        box((1.0, y, 2.65), (0.2, 0.21, 0.11), amber if i % 3 == 0 else dim, 0.03)
        for i, y in enumerate(np.linspace(-0.78, 0.78, 7))
    ]
    for s in (1, -1):
        made.append(box((0.96, s * 0.6, 2.36), (0.1, 0.2, 0.14), dark, 0.02))
        made.append(box((0.904, s * 0.6, 2.36), (0.012, 0.17, 0.11), lens, 0.01))
    return made


def _tool_boxes(paint, dark) -> Objects:
    """Lockers below the bed with door seams and latches, and a made-up name that reads the same in a mirror."""
    white = material("letters", (0.02, 0.02, 0.022), 0.5)
    latch = material("latch", (0.5, 0.5, 0.5), 0.3, metal=0.9)
    made: Objects = []
    for s, side in ((1, "left"), (-1, "right")):
        made.append(box((0.15, s * 0.93, 0.72), (1.9, 0.28, 0.36), paint, 0.03))
        made += [box((x, s * 1.072, 0.72), (0.012, 0.006, 0.33), dark, 0.0) for x in (-0.45, 0.2, 0.75)]
        made += [box((x, s * 1.075, 0.80), (0.08, 0.012, 0.03), latch, 0.004) for x in (-0.12, 0.48)]
        made.append(lettering("AVTOTVA", (2.6, s * 1.056, 1.02), 0.13, white, side))
    return made


MODELS = {
    "garbage_truck": Model(build_garbage_truck, {"a": {}}, **LONG),
    "tow_truck": Model(build_tow_truck, {"a": {}}, **LONG),
}
