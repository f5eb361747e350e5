"""Things in the road surface: a hole broken open, standing water."""

from __future__ import annotations

import math
from random import Random

import bpy
import numpy as np
from common import Look, Model, Objects, about, box, crumple, material, mesh, place, surface


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
    """A collapsed road, seen from +x: its far wall shows asphalt over gravel over earth and goes down into the dark.

    Nothing can lie below the ground, so the wall is painted where a driver sees it through the hole's mouth. Around
    it the road is cracked in plates, some sagging, with broken pieces along the edge.
    """
    rng = Random(seed)
    shaft = material("shaft", (0.004, 0.0035, 0.003), 1.0, spec=0.0)
    broken = material("broken", (0.19, 0.185, 0.18), 1.0, spec=0.0, dark=(0.10, 0.098, 0.095), vary_scale=18)
    crust = material("crust", (0.125, 0.123, 0.12), 1.0, spec=0.0, vary=0.3, vary_scale=12)
    base = material("base course", (0.42, 0.36, 0.28), 1.0, spec=0.0, dark=(0.24, 0.2, 0.15), vary_scale=16)
    rim = _outline(rng, length, width, 0.09)
    made = [_disc(rim * 1.012, 0.002, broken), _wall(rng, rim, 0.004)]
    made += [_crack(rng, rim * 1.0, shaft) for _ in range(18)]
    for far in (1.09, 1.2):  # where plates begin to sag, the road tears along the hole as well
        start = rng.randrange(len(rim))
        for k in range(0, len(rim), 20):
            if rng.random() < 0.7:
                piece = [(start + k + i) % len(rim) for i in range(rng.randrange(9, 19))]
                made.append(_tear(rng, rim[piece] * far, shaft))
    for _ in range(7):  # not on the near side, where they would hide the hole
        turn = rng.uniform(0.3, 1.7) * math.pi
        at = rim[round(turn / (2 * math.pi) * len(rim)) % len(rim)]
        slab = _plate(rng, rng.uniform(0.25, 0.5), rng.uniform(0.4, 0.8), rng.uniform(0.01, 0.035), crust)
        made.append(place([slab], (float(at[0]), float(at[1]), 0.006), math.atan2(at[1], at[0])))
    for _ in range(12):
        spot = rim[rng.randrange(len(rim) // 5, len(rim) * 4 // 5)] * rng.uniform(1.02, 1.14)
        size = rng.uniform(0.06, 0.15)
        chunk = box((0, 0, 0), (size, size * rng.uniform(0.7, 1.3), 0.6 * size), broken, 0.012)
        at = (float(spot[0]), float(spot[1]), 0.05 + 0.3 * size)
        made.append(
            place([crumple(chunk, 0.03, 0.12, 2)], at, rng.uniform(0, 6), pitch=rng.uniform(-0.6, 0.6))
        )
    for _ in range(120):
        spot = rim[rng.randrange(len(rim))] * rng.uniform(0.99, 1.25)
        size = rng.uniform(0.015, 0.06)
        lump = (size, size * rng.uniform(0.6, 1), size * 0.7)
        at = (float(spot[0]), float(spot[1]), size * 0.4)
        made.append(box(at, lump, rng.choice((broken, base)), size * 0.15, rot=(0.2, 0, rng.uniform(0, 3))))
    return made


#: The far wall from its edge down: how far below the road a layer ends (m), its albedo.
_WALL = (
    (0.009, (0.20, 0.20, 0.197)),
    (0.038, (0.055, 0.053, 0.05)),
    (0.042, (0.02, 0.018, 0.015)),
    (0.078, (0.21, 0.172, 0.125)),
    (0.108, (0.10, 0.06, 0.032)),
    (0.14, (0.04, 0.023, 0.012)),
    (0.17, (0.010, 0.007, 0.005)),
)
#: A driver's eye 1.4 m up sees so much of the wall through each metre of the hole's mouth.
_SEEN = 0.085


def _wall(rng: Random, rim: np.ndarray, z: float) -> object:
    """The hole's mouth filled with what is seen through it from +x: the far wall's layers, then darkness."""
    rows, cols = 150, 90
    across = np.linspace(rim[:, 1].min() * 0.995, rim[:, 1].max() * 0.995, cols)
    verts, colours = [], []
    waves = [(rng.uniform(1.5, 24), rng.uniform(0, 6.28)) for _ in range(20)]
    for y in across:
        right = np.sort(_crossings(rim, float(y)))
        low, high = float(right[0]), float(right[-1])
        ragged = [sum(math.sin(k * y + s + i) / k**0.5 for k, s in waves) for i in (0, 2, 4)]
        steep = 1 + 0.13 * ragged[1]  # earth slipped here, washed out there
        run = math.exp(0.09 * ragged[2])
        for x in np.linspace(low, high, rows):
            verts.append((float(x), float(y), z))
            depth = (x - low) * _SEEN
            below = max(depth - 0.042, 0.0)
            depth += min(depth, 0.042) * 0.07 * ragged[0] + below * (steep - 1) + rng.gauss(0, 0.005)
            ends = [end for end, _ in _WALL]
            layer = int(np.searchsorted(ends, depth))
            grain = rng.uniform(0.55, 1.5) * (run if layer > 2 else 1.0)
            shade = _WALL[layer][1] if layer < len(_WALL) else (0.003, 0.003, 0.003)
            colours.append(tuple(grain * c for c in shade))
    faces = [
        (i * rows + j, i * rows + j + 1, (i + 1) * rows + j + 1, (i + 1) * rows + j)
        for i in range(cols - 1)
        for j in range(rows - 1)
    ]
    made = mesh(verts, faces, _painted(), smooth=False)
    layer = made.data.color_attributes.new("wall", "FLOAT_COLOR", "POINT").data
    layer.foreach_set("color", np.array([(*c, 1.0) for c in colours], np.float32).ravel())
    return made


def _crossings(rim: np.ndarray, y: float) -> list[float]:
    """Where a line across at `y` meets a closed outline."""
    ends = zip(rim, np.roll(rim, -1, 0), strict=True)
    return [
        float(a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
        for a, b in ends
        if (a[1] - y) * (b[1] - y) < 0
    ]


def _painted() -> bpy.types.Material:
    made = bpy.data.materials.new("wall")
    made.use_nodes = True
    tree = made.node_tree
    shader, colour = tree.nodes["Principled BSDF"], tree.nodes.new("ShaderNodeAttribute")
    colour.attribute_name = "wall"
    shader.inputs["Roughness"].default_value, shader.inputs["Specular IOR Level"].default_value = 1.0, 0.0
    tree.links.new(colour.outputs["Color"], shader.inputs["Base Color"])
    return made


def _plate(rng: Random, deep: float, wide: float, lift: float, paint) -> object:
    """A flat jagged piece of road from x = 0 outwards, tipped up by `lift` metres at one corner of its edge."""
    ring = [(rng.uniform(-0.06, 0.02), wide * t) for t in (-0.5, -0.3, -0.1, 0.12, 0.33, 0.5)]
    ring += [(deep * rng.uniform(0.6, 1), wide * t) for t in (0.42, 0.1, -0.2, -0.45)]
    lean = rng.uniform(-0.6, 0.6)
    tops = [max(lift * (1 - x / deep) * (1 + lean * y / wide), 0.0) + 0.004 for x, y in ring]
    n = len(ring)
    verts = [(x, y, top) for (x, y), top in zip(ring, tops, strict=True)] + [(x, y, 0.0) for x, y in ring]
    faces: list = [(i, i + n, (i + 1) % n + n, (i + 1) % n) for i in range(n)]
    return mesh(verts, [*faces, tuple(range(n))], paint, smooth=False)


def _tear(rng: Random, line: np.ndarray, paint) -> object:
    """A gap along a line, widest in its middle."""
    gap = np.sin(np.linspace(0, math.pi, len(line))) * rng.uniform(0.005, 0.014)
    out = line / np.linalg.norm(line, axis=1, keepdims=True)
    jitter = np.array([[rng.gauss(0, 0.012)] for _ in line])
    middle = line + out * jitter
    ring = [*(middle + out * gap[:, None]), *reversed(middle - out * gap[:, None])]
    return mesh(
        [(float(x), float(y), 0.004) for x, y in ring], [tuple(range(len(ring)))], paint, smooth=False
    )


def _crack(rng: Random, rim: np.ndarray, paint) -> object:
    """A crack that leaves the rim, bends and thins out."""
    at = rim[rng.randrange(len(rim))]
    way = math.atan2(at[1], at[0]) + rng.uniform(-0.4, 0.4)
    left, right, wide = [], [], rng.uniform(0.008, 0.024)
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
    depth = 0.62 - (abs(x) ** 3.2 + abs(y) ** 3.2) ** 0.8 + 1.3 * uneven + tracks
    rim = np.clip((1 - np.maximum(abs(x), abs(y))) / 0.06, 0, 1)

    def ramp(low: float, high: float) -> np.ndarray:
        t = np.clip((depth - low) / (high - low), 0, 1)
        return t * t * (3 - 2 * t)

    open_water = ramp(-0.06, 0.14)
    cover = rim * (0.5 * ramp(-0.34, 0.0) + 0.48 * ramp(-0.04, 0.1))
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
    sheet = surface(
        tree, Look((0.085, 0.073, 0.056), 1.0, spec=0.0, dark=(0.055, 0.049, 0.040), vary_scale=0.5)
    )
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
    "sinkhole": Model(
        build_sinkhole, {"a": {}}, pixels=360, elevations=(2.5, 6.0), azimuths=about(0), samples=12
    ),
    "flood": Model(build_flood, {"a": {}}, pixels=420, decal=True, water=True),
}
