"""What falls off lorries: tyres, boxes, stones, timber, a ladder."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from common import Model, Objects, box, crumple, lathe, material, mesh, place, tube

CARDBOARD = (0.40, 0.25, 0.125)


def build_tyre(seed: int, radius: float = 0.34, width: float = 0.22, lying: bool = True) -> Objects:
    """One worn tyre with a blocky tread, lying flat or standing up."""
    rubber = material(
        "rubber",
        (0.034, 0.032, 0.03),
        0.85,
        spec=0.25,
        dark=(0.015, 0.0145, 0.014),
        vary_scale=9,
        bump=0.2,
        bump_scale=60,
    )
    rim, w = radius * 0.6, width / 2
    outer = [
        (rim, -0.66),
        (rim + 0.02, -0.84),
        (radius * 0.8, -1.04),
        (radius - 0.035, -0.96),
        (radius - 0.014, -0.8),
    ]
    outer += [
        (radius - 0.01, 0.0),
        (radius - 0.014, 0.8),
        (radius - 0.035, 0.96),
        (radius * 0.8, 1.04),
        (rim + 0.02, 0.84),
    ]
    inner = [
        (rim, 0.66),
        (rim + 0.015, 0.6),
        (radius * 0.92, 0.8),
        (radius * 0.94, 0.0),
        (radius * 0.92, -0.8),
        (rim + 0.015, -0.6),
    ]
    made = [lathe([(r, z * w) for r, z in outer + inner], rubber, 64, closed=True, sharp=80)]
    count = 54
    for i in range(count):
        around = 2 * math.pi * i / count
        for z, tall in ((-0.062, 0.05), (0.0, 0.046), (0.062, 0.05)):
            turn = around + z * 0.8
            at = ((radius - 0.009) * math.cos(turn), (radius - 0.009) * math.sin(turn), z)
            made.append(
                box(
                    at,
                    (0.018, radius * 2 * math.pi / count * 0.72, tall),
                    rubber,
                    0.003,
                    rot=(0, 0, turn),
                    segments=1,
                )
            )
    for side in (-1, 1):
        for r in (0.83, 0.72):
            ring = [
                (radius * r - 0.006, side * w),
                (radius * r, side * (w + 0.008)),
                (radius * r + 0.006, side * w),
            ]
            made.append(lathe(ring, rubber, 64))
    rng = Random(seed)
    if lying:
        return [place(made, (0, 0, w * 1.06), rng.uniform(0, 6))]
    return [place(made, (0, 0, radius), rng.uniform(-0.3, 0.3), roll=math.pi / 2 - 0.12)]


def build_tyres(seed: int) -> Objects:
    """Three loose tyres: two lying, one leaning on them."""
    leaning = place(build_tyre(seed + 2, lying=False), (0.02, -0.36, 0.02), 0.1, roll=0.28)
    return [
        place(build_tyre(seed), (0, 0.2, 0), 0.4),
        place(build_tyre(seed + 1, 0.32), (0.1, 0.28, 0.235), 1.0, pitch=0.05),
        leaning,
    ]


def build_carton(
    seed: int, size: tuple[float, float, float] = (0.6, 0.45, 0.42), opened: bool = True
) -> Objects:
    """A dented cardboard box, its flaps open or taped shut, with a printed label."""
    rng = Random(seed)
    board = material("board", CARDBOARD, 0.85, spec=0.1, vary=0.14, vary_scale=3, bump=0.12, bump_scale=12)
    inside = material("inside", tuple(c * 0.35 for c in CARDBOARD), 0.95, spec=0.0)
    tape = material("tape", (0.46, 0.34, 0.18), 0.3)
    ink = material("ink", (0.05, 0.04, 0.035), 0.8)
    paper = material("paper", (0.66, 0.65, 0.6), 0.7, vary=0.08)
    x, y, z = size
    made = [crumple(box((0, 0, z / 2), size, board, 0.006), 0.045, 0.25)]
    if opened:
        made.append(box((0, 0, z + 0.003), (x * 0.94, y * 0.94, 0.006), inside, 0.0))
        for side, span, across in ((1, x, y), (-1, x, y), (1, y, x), (-1, y, x)):
            tilt = rng.uniform(-0.2, 1.1)
            reach, rise = span / 4 * math.cos(tilt), span / 4 * math.sin(tilt)
            turn = 0.0 if span == x else math.pi / 2
            flap = box(
                (span / 2 + reach, 0, z + rise),
                (span / 2, across * 0.98, 0.006),
                board,
                0.001,
                rot=(0, -tilt, 0),
            )
            made.append(place([flap], yaw=turn + (0 if side > 0 else math.pi)))
    else:
        made.append(box((0, 0, z + 0.012), (0.06, y * 1.02, 0.004), tape, 0.001))
    for side in (-1, 1):
        made.append(box((side * (x / 2 + 0.012), 0.06, z * 0.55), (0.004, 0.15, 0.11), paper, 0.0))
        made.append(box((side * (x / 2 + 0.014), 0.06, z * 0.56), (0.004, 0.10, 0.02), ink, 0.0))
    return [place(made, yaw=rng.uniform(-0.5, 0.5))]


def build_cartons(seed: int, count: int = 4) -> Objects:
    """A spilled load of boxes across a lane."""
    rng = Random(seed)
    made: Objects = []
    for i in range(count):
        size = (rng.uniform(0.4, 0.7), rng.uniform(0.35, 0.5), rng.uniform(0.3, 0.48))
        at = (rng.uniform(-0.5, 0.5), (i - (count - 1) / 2) * 0.66 + rng.uniform(-0.08, 0.08), 0.008)
        parts = build_carton(seed * 10 + i, size, opened=i in (0, 3))
        made.append(place(parts, at, rng.uniform(0, 3)))
    sheet = material("sheet", CARDBOARD, 0.9, spec=0.05, vary=0.1)
    made.append(
        place([crumple(box((0, 0, 0), (0.8, 0.55, 0.008), sheet, 0.0), 0.05, 0.3, 4)], (-0.7, 0.5, 0.05), 0.7)
    )
    return made


def build_stones(seed: int, count: int = 5, largest: float = 0.38) -> Objects:
    """A rockfall: a few angular stones and their rubble."""
    rng = Random(seed)
    rock = material(
        "rock",
        (0.30, 0.27, 0.23),
        0.9,
        spec=0.15,
        dark=(0.15, 0.135, 0.12),
        vary_scale=4,
        bump=0.8,
        bump_scale=14,
    )
    made: Objects = []
    for i in range(count + 14):
        r = largest * rng.uniform(0.45, 1.0) if i < count else rng.uniform(0.02, 0.07)
        spread = 0.8 if i < count else 1.3
        at = (
            rng.gauss(0, 0.3) * spread,
            ((i + 0.5) / count - 0.5) * 1.9 if i < count else rng.uniform(-1.3, 1.3),
            r * 0.42,
        )
        made.append(place([_stone(rng, r, rock)], at, rng.uniform(0, 6)))
    return made


def _stone(rng: Random, radius: float, paint) -> object:
    """A convex hull of random points: facets like broken rock, edges worn by a bevel."""
    import bmesh
    import bpy

    grown = bmesh.new()
    for _ in range(22):
        d = np.array([rng.gauss(0, 1) for _ in range(3)])
        d = d / np.linalg.norm(d) * radius * rng.uniform(0.82, 1.0)
        grown.verts.new((d[0] * rng.uniform(0.9, 1.2), d[1], max(d[2] * 0.75, -radius * 0.42)))
    bmesh.ops.convex_hull(grown, input=grown.verts)
    loose = [v for v in grown.verts if not v.link_faces]
    bmesh.ops.delete(grown, geom=loose)
    data = bpy.data.meshes.new("stone")
    grown.to_mesh(data)
    grown.free()
    made = bpy.data.objects.new("stone", data)
    bpy.context.collection.objects.link(made)
    data.materials.append(paint)
    edge = made.modifiers.new("bevel", "BEVEL")
    edge.width, edge.segments = radius * 0.06, 2
    return crumple(made, radius * 0.12, radius * 0.7, 2)


def build_concrete_block(seed: int) -> Objects:
    """A concrete barrier segment that has come loose, chipped and stained, lying across the lane."""
    concrete = material(
        "concrete",
        (0.50, 0.49, 0.46),
        0.9,
        spec=0.1,
        dark=(0.27, 0.26, 0.235),
        vary_scale=2.2,
        bump=0.4,
        bump_scale=25,
    )
    dark = material("slot", (0.05, 0.05, 0.05), 0.95)
    shape = [
        (0.30, 0.0),
        (0.30, 0.08),
        (0.14, 0.33),
        (0.09, 0.81),
        (-0.09, 0.81),
        (-0.14, 0.33),
        (-0.30, 0.08),
        (-0.30, 0.0),
    ]
    half, k = 0.95, len(shape)
    verts = [(x, y, z) for y in (-half, half) for x, z in shape]
    faces: list = [(j, (j + 1) % k, k + (j + 1) % k, k + j) for j in range(k)]
    faces += [tuple(reversed(range(k))), tuple(range(k, 2 * k))]
    body = mesh(verts, faces, concrete, smooth=False)
    edge = body.modifiers.new("bevel", "BEVEL")
    edge.width, edge.segments = 0.015, 2
    crumple(body, 0.025, 0.2, 4)
    slots = [box((x, y, 0.04), (0.02, 0.3, 0.08), dark, 0.0) for x in (-0.3, 0.3) for y in (-0.45, 0.45)]
    return [place([body, *slots], yaw=Random(seed).uniform(-0.25, 0.25))]


def build_lumber(seed: int) -> Objects:
    """A bundle of pale planks come apart: a stack slewed out of line, some lying across it, one end in the air."""
    rng = Random(seed)
    woods = [
        material(f"wood{i}", c, 0.8, spec=0.1, dark=tuple(0.72 * k for k in c), vary_scale=3.5)
        for i, c in enumerate([(0.62, 0.44, 0.25), (0.68, 0.51, 0.31), (0.52, 0.37, 0.21)])
    ]
    ends = [
        material(f"end{i}", c, 0.9, spec=0.0) for i, c in enumerate([(0.72, 0.55, 0.34), (0.44, 0.29, 0.16)])
    ]
    made: Objects = []

    def plank(at: tuple, yaw: float, length: float, lift: float = 0.0, wide: float = 0.19) -> None:
        """A plank along y about `at`, its +y end raised by `lift` radians."""
        parts = [box((0, 0, 0), (wide, length, 0.055), rng.choice(woods), 0.004)]
        for s in (1, -1):
            parts.append(box((0, s * length / 2, 0), (wide - 0.008, 0.004, 0.047), rng.choice(ends), 0.0))
        made.append(place([place(parts, roll=lift)], at, yaw))

    for layer in range(5):
        for k in range(3 - layer // 3):
            at = ((k - 1) * 0.22 + 0.06 * layer, rng.gauss(0, 0.15), 0.03 + 0.058 * layer)
            plank(at, rng.gauss(0.05 * layer, 0.05), 2.4)
    plank((0.05, 0.5, 0.44), 0.32, 2.3, 0.2)
    plank((0.1, -0.2, 0.38), -0.5, 2.2, -0.16)
    plank((0.62, 0.2, 0.03), 0.5, 2.0)
    plank((-0.62, -0.15, 0.03), -0.3, 2.3)
    plank((0.75, -0.5, 0.09), 1.05, 1.7, 0.02, 0.14)
    plank((-0.45, 0.75, 0.26), 0.9, 1.7, 0.24, 0.14)
    return made


def build_ladder(seed: int, length: float = 2.3) -> Objects:
    """An aluminium step ladder on its side across the lane, half open, its treads and plastic top showing."""
    metal = material("aluminium", (0.64, 0.65, 0.66), 0.45, metal=0.55, vary=0.12)
    worn = material("tread", (0.52, 0.53, 0.54), 0.5, metal=0.5, vary=0.15)
    plastic = material("top", (0.70, 0.12, 0.012), 0.5, vary=0.1)
    foot = material("foot", (0.02, 0.02, 0.02), 0.8)
    made: Objects = []
    for opened, treads in ((0.0, 7), (0.5, 4)):
        part: Objects = []
        for s in (1, -1):
            half = 0.5 * (0.40 + 0.16)
            rail = [(0.0, s * 0.17), (0.0, s * half)]
            along = math.atan2(rail[1][1] - rail[0][1], length)
            mid = (0.0, length / 2, (rail[0][1] + rail[1][1]) / 2)
            part.append(
                box(mid, (0.07 if treads > 4 else 0.045, length, 0.024), metal, 0.005, rot=(along, 0, 0))
            )
            part.append(box((0.0, length, rail[1][1]), (0.09, 0.07, 0.04), foot, 0.008))
        for k in range(treads):
            y = length * (k + 1) / (treads + 0.6)
            span = 2 * (0.17 + (0.28 - 0.17) * y / length)
            part.append(box((0.0, y, 0.0), (0.085 if treads > 4 else 0.03, 0.028, span), worn, 0.004))
        made.append(place(part, (0, 0, 0), opened))
    made.append(box((0.02, -0.01, 0.0), (0.15, 0.1, 0.36), plastic, 0.02))
    for s in (1, -1):
        at = 0.55 * length
        brace = [(0.0, at, s * 0.2), (-at * math.sin(0.5), at * math.cos(0.5), s * 0.2)]
        made.append(tube(brace, 0.009, worn))
    lying = place(made, (0.25, -length / 2, 0.195), roll=0.048)  # on its lower rails
    return [place([lying], yaw=Random(seed).uniform(-0.3, 0.1))]


LOW = {"elevations": (5.0,), "samples": 12}
MODELS = {
    "debris_tyres": Model(build_tyres, {"a": {}}, pixels=190, **LOW),
    "debris_cartons": Model(build_cartons, {"a": {"seed": 2}}, pixels=300, **LOW),
    "rocks": Model(build_stones, {"a": {"seed": 1}}, pixels=260, **LOW),
    "concrete_block": Model(build_concrete_block, {"a": {}}, pixels=220, **LOW),
    "lumber": Model(build_lumber, {"a": {}}, pixels=280, **LOW),
    "ladder": Model(build_ladder, {"a": {}}, pixels=260, **LOW),
}
