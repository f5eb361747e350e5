"""Things in the road surface: a hole broken open, standing water."""

from __future__ import annotations

import math
from random import Random

import bpy
import numpy as np
from common import Look, Model, Objects, box, crumple, material, mesh, place, surface


def _outline(rng: Random, length: float, width: float, rough: float, n: int = 160) -> np.ndarray:
    """A closed ragged outline, Nx2 metres."""
    turn = np.linspace(0, 2 * math.pi, n, endpoint=False)
    wave = sum(rng.uniform(-1, 1) / k**0.8 * np.cos(k * turn + rng.uniform(0, 6.28)) for k in range(2, 14))
    r = 1 + rough * wave
    return np.stack([length / 2 * r * np.cos(turn), width / 2 * r * np.sin(turn)], -1)


def _disc(outline: np.ndarray, z: float, paint) -> object:
    verts = [(float(x), float(y), z) for x, y in outline]
    return mesh(
        [(0.0, 0.0, z), *verts],
        [(0, 1 + i, 1 + (i + 1) % len(verts)) for i in range(len(verts))],
        paint,
        smooth=False,
    )


def build_sinkhole(seed: int, length: float = 4.4, width: float = 2.6) -> Objects:
    """A collapsed road, seen from +x: a dark pit whose far edge is heaved up and shows its layers, rubble around.

    The near edge has fallen in and lies flat: from a car's height, what tells a hole is the broken edge beyond it.
    """
    rng = Random(seed)
    shaft = material("shaft", (0.004, 0.0035, 0.003), 1.0, spec=0.0)
    earth = material("earth", (0.17, 0.10, 0.055), 1.0, spec=0.0, dark=(0.06, 0.037, 0.022), vary_scale=7)
    base = material("base course", (0.42, 0.36, 0.28), 1.0, spec=0.0, dark=(0.24, 0.2, 0.15), vary_scale=16)
    broken = material("broken", (0.26, 0.26, 0.26), 1.0, spec=0.0, dark=(0.13, 0.13, 0.13), vary_scale=18)
    crust = material("crust", (0.105, 0.104, 0.102), 1.0, spec=0.0, vary=0.3, vary_scale=12)
    rim = _outline(rng, length, width, 0.07)
    made = [
        _disc(rim * 1.07, 0.002, broken),
        _disc(rim * 1.02, 0.004, earth),
        _disc(rim * 0.97, 0.006, shaft),
    ]
    count = 15
    for k in range(count):
        turn = 2 * math.pi * (k + rng.uniform(0.3, 0.7)) / count
        away = (1 - math.cos(turn)) / 2  # 0 on the near side, 1 on the far side
        at = rim[round(turn / (2 * math.pi) * len(rim)) % len(rim)] * 0.99
        lift = 0.015 + away**2 * rng.uniform(0.14, 0.27)
        wide = 2 * math.pi * math.hypot(*at) / count * rng.uniform(0.85, 1.15)
        slab = _slab(rng, rng.uniform(0.5, 0.75), wide, lift, (crust, broken, base, earth))
        made.append(place(slab, (float(at[0]), float(at[1]), 0.0), math.atan2(at[1], at[0])))
    made += [_crack(rng, rim * 1.02, shaft) for _ in range(16)]
    for _ in range(9):
        turn, far = rng.uniform(0.35, 1.65) * math.pi, rng.uniform(1.0, 1.12)
        spot = rim[round(turn / (2 * math.pi) * len(rim)) % len(rim)] * far
        size = rng.uniform(0.1, 0.22)
        chunk = box((0, 0, 0), (size, size * rng.uniform(0.7, 1.3), 0.11), broken, 0.012)
        made.append(
            place(
                [crumple(chunk, 0.05, 0.12, 2)],
                (float(spot[0]), float(spot[1]), 0.08 + 0.3 * size),
                rng.uniform(0, 6),
                pitch=rng.uniform(-1.1, 1.1),
                roll=rng.uniform(-0.5, 0.5),
            )
        )
    for _ in range(90):
        spot = rim[rng.randrange(len(rim))] * rng.uniform(0.99, 1.2)
        size = rng.uniform(0.02, 0.09)
        lump = (size, size * rng.uniform(0.6, 1), size * 0.7)
        at = (float(spot[0]), float(spot[1]), size * 0.4)
        paint = rng.choice((broken, broken, base, earth))
        made.append(box(at, lump, paint, size * 0.15, rot=(0.2, 0, rng.uniform(0, 3))))
    return made


def _slab(rng: Random, deep: float, wide: float, lift: float, paints: tuple) -> Objects:
    """A piece of road broken off along x = 0 and tipped up there by `lift` metres, level with the road at x = `deep`.

    Its torn face looks at the hole: asphalt over base course over earth, each further back than the one above.
    """
    made: Objects = []
    torn = [rng.uniform(-0.05, 0.05) for _ in range(9)]
    across = np.linspace(-wide / 2, wide / 2, 9)
    skew = rng.uniform(-0.25, 0.25)
    top = 0.0
    for thick, paint, back in zip((0.015, 0.11, 0.09, 0.3), paints, (0.0, 0.0, 0.05, 0.1), strict=True):
        ring = [(back + t, float(y)) for t, y in zip(torn, across, strict=True)]
        ring += [(deep, 0.45 * wide), (deep, -0.45 * wide)]
        n, verts = len(ring), []
        for drop in (top, top + thick):
            for x, y in ring:
                edge = lift * (1 - x / deep) * (1 + skew * y / wide)
                verts.append((x, y, max(edge - drop, 0.001)))
        faces: list = [(i, i + n, (i + 1) % n + n, (i + 1) % n) for i in range(n)]
        faces += [tuple(range(n)), tuple(reversed(range(n, 2 * n)))]
        made.append(mesh(verts, faces, paint, smooth=False))
        top += thick
    return made


def _crack(rng: Random, rim: np.ndarray, paint) -> object:
    """A crack that leaves the rim, bends and thins out."""
    at = rim[rng.randrange(len(rim))]
    way = math.atan2(at[1], at[0]) + rng.uniform(-0.4, 0.4)
    left, right, wide = [], [], rng.uniform(0.015, 0.04)
    steps = rng.randrange(5, 9)
    for k in range(steps):
        side = np.array([-math.sin(way), math.cos(way)]) * wide * (1 - k / steps)
        left.append(at + side)
        right.append(at - side)
        at = at + 0.09 * np.array([math.cos(way), math.sin(way)])
        way += rng.gauss(0, 0.35)
    ring = [*left, *reversed(right)]
    return mesh(
        [(float(x), float(y), 0.004) for x, y in ring], [tuple(range(len(ring)))], paint, smooth=False
    )


def build_flood(seed: int, length: float = 11.0, width: float = 5.0) -> Objects:
    """Standing water over the lane, deepest in the wheel tracks: damp asphalt far out, then wet, then muddy water.

    `cover` and `bright` tell the material how much of the road is hidden where, and how much of that is open water.
    """
    rng = np.random.default_rng(seed)
    rows, cols = 201, 131
    x, y = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, cols), indexing="ij")
    uneven = np.zeros_like(x)
    for often in np.linspace(0.5, 16.0, 120):
        turn, phase = rng.uniform(0, 2 * np.pi, 2)
        along, across = x * length / 2 * np.cos(turn) / 2.2, y * width / 2 * np.sin(turn)
        uneven += 0.09 / often**0.8 * np.sin(often * (along + across) + phase)
    tracks = 0.10 * np.cos(2 * np.pi * y * width / 2 / 1.6 + np.pi)
    depth = 0.62 - np.hypot(x, y) ** 2.2 + uneven + tracks
    rim = np.clip((1 - np.maximum(abs(x), abs(y))) / 0.06, 0, 1)

    def ramp(low: float, high: float) -> np.ndarray:
        t = np.clip((depth - low) / (high - low), 0, 1)
        return t * t * (3 - 2 * t)

    open_water = ramp(0.0, 0.2)
    cover = rim * (0.66 * ramp(-0.30, -0.02) + 0.32 * open_water)
    verts = np.stack([x * length / 2, y * width / 2, np.full_like(x, 0.003)], -1).reshape(-1, 3)
    quads = [
        (i * cols + j, (i + 1) * cols + j, (i + 1) * cols + j + 1, i * cols + j + 1)
        for i in range(rows - 1)
        for j in range(cols - 1)
    ]
    made = mesh(verts.tolist(), quads, _water(), smooth=False)
    for name, values in (("cover", cover), ("bright", open_water)):
        layer = made.data.attributes.new(name, "FLOAT", "POINT").data
        layer.foreach_set("value", values.astype(np.float32).ravel())
    return [made]


def _water() -> bpy.types.Material:
    made = bpy.data.materials.new("flood")
    made.use_nodes = True
    tree = made.node_tree
    tree.nodes.clear()
    dark = surface(tree, Look((0.028, 0.028, 0.029), 1.0, spec=0.0))
    sheet = surface(tree, Look((0.12, 0.11, 0.095), 1.0, spec=0.0, dark=(0.07, 0.066, 0.06), vary_scale=0.5))
    clear = tree.nodes.new("ShaderNodeBsdfTransparent").outputs[0]
    shown = _mixed(tree, "bright", dark, sheet)
    out = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(_mixed(tree, "cover", clear, shown), out.inputs["Surface"])
    return made


def _mixed(tree, attribute: str, low, high):
    where, mix = tree.nodes.new("ShaderNodeAttribute"), tree.nodes.new("ShaderNodeMixShader")
    where.attribute_name = attribute
    tree.links.new(where.outputs["Fac"], mix.inputs["Fac"])
    tree.links.new(low, mix.inputs[1])
    tree.links.new(high, mix.inputs[2])
    return mix.outputs[0]


MODELS = {
    "sinkhole": Model(build_sinkhole, {"a": {}}, pixels=360, elevations=(2.5, 6.0), samples=12),
    "flood": Model(build_flood, {"a": {}}, pixels=420, decal=True, water=True),
}
