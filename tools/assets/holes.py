"""Things in the road surface: a hole broken open, standing water."""

from __future__ import annotations

import math
from random import Random

import bpy
import numpy as np
from common import ALONG, Look, Model, Objects, box, crumple, material, mesh, place, surface


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


def build_sinkhole(seed: int, length: float = 3.4, width: float = 2.6) -> Objects:
    """A collapse: a black shaft between broken layers, heaved slabs at its edge, cracks and lumps around it."""
    rng = Random(seed)
    shaft = material("shaft", (0.003, 0.0028, 0.0025), 1.0, spec=0.0)
    earth = material("earth", (0.10, 0.065, 0.04), 1.0, spec=0.0, dark=(0.025, 0.018, 0.012), vary_scale=9)
    base = material("base course", (0.20, 0.18, 0.15), 1.0, spec=0.0, vary=0.5, vary_scale=25)
    crust = material("crust", (0.060, 0.060, 0.060), 1.0, spec=0.0, vary=0.4, vary_scale=30)
    rim = _outline(rng, length, width, 0.10)
    made = [_disc(rim * 1.06, 0.002, crust), _disc(rim, 0.004, base), _disc(rim * 0.94, 0.006, earth)]
    made.append(_disc(rim * 0.86, 0.008, shaft))
    for k in range(7):
        at = rim[(k * len(rim)) // 7 + rng.randrange(16)]
        out = math.atan2(at[1], at[0])
        size = (rng.uniform(0.25, 0.45), rng.uniform(0.3, 0.6), rng.uniform(0.03, 0.05))
        slab = [crumple(box((0.1, 0, 0), size, crust, 0.006), 0.015, 0.15, 2)]
        slab.append(box((0.1, 0, -size[2] * 0.6), (size[0] * 0.96, size[1] * 0.96, size[2] * 0.5), base, 0.0))
        lift = rng.uniform(0.04, 0.2)
        made.append(place([place(slab, pitch=lift)], (float(at[0]), float(at[1]), 0.045 + 0.3 * lift), out))
    for _ in range(9):
        made.append(_crack(rng, rim, shaft))
    for _ in range(60):
        spot = rim[rng.randrange(len(rim))] * rng.uniform(0.98, 1.3)
        size = rng.uniform(0.02, 0.08)
        lump = (size, size * rng.uniform(0.6, 1), size * 0.7)
        at = (float(spot[0]), float(spot[1]), size * 0.3)
        made.append(
            box(at, lump, rng.choice((crust, base, earth)), size * 0.15, rot=(0.2, 0, rng.uniform(0, 3)))
        )
    return made


def _crack(rng: Random, rim: np.ndarray, paint) -> object:
    """A crack that leaves the rim, bends and thins out."""
    at = rim[rng.randrange(len(rim))]
    way = math.atan2(at[1], at[0]) + rng.uniform(-0.4, 0.4)
    left, right, wide = [], [], rng.uniform(0.012, 0.03)
    steps = rng.randrange(6, 12)
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


# What covers the road from the outline inwards: scale of the outline, cover, share of open water in it.
_SHORE = [
    (1.10, 0.0, 0.0),
    (1.03, 0.5, 0.0),
    (0.98, 0.68, 0.0),
    (0.92, 0.95, 0.9),
    (0.84, 0.98, 1.0),
    (0.0, 0.98, 1.0),
]


def build_flood(seed: int, length: float = 8.0, width: float = 4.6) -> Objects:
    """Standing water over the lane: a wet margin with pools beside it, then muddy water."""
    rng = Random(seed)
    paint = _water()
    made = [_pool(_outline(rng, length * 0.9, width * 0.9, 0.16), np.zeros(2), 0.003, paint)]
    for k in range(7):
        turn, size = rng.uniform(0, 6.28), rng.uniform(0.4, 1.3)
        at = np.array([length * 0.46 * math.cos(turn), width * 0.46 * math.sin(turn)])
        made.append(_pool(_outline(rng, size * 1.8, size * 0.8, 0.2), at, 0.003 + 0.002 * (k + 1), paint))
    return made


def _pool(outline: np.ndarray, at: np.ndarray, z: float, paint) -> bpy.types.Object:
    """A sheet over an outline; `cover` and `bright` tell the material how deep it is where."""
    n = len(outline)
    verts = [(float(x), float(y), z) for scale, _, _ in _SHORE for x, y in outline * scale + at]
    quads = [
        (r * n + i, r * n + (i + 1) % n, (r + 1) * n + (i + 1) % n, (r + 1) * n + i)
        for r in range(len(_SHORE) - 1)
        for i in range(n)
    ]
    made = mesh(verts, quads, paint, smooth=False)
    for name, column in (("cover", 1), ("bright", 2)):
        values = np.repeat([ring[column] for ring in _SHORE], n).astype(np.float32)
        made.data.attributes.new(name, "FLOAT", "POINT").data.foreach_set("value", values)
    return made


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
    "sinkhole": Model(
        build_sinkhole,
        {"a": {}, "b": {"seed": 4}},
        pixels=300,
        azimuths=ALONG,
        elevations=(2.5, 5.0, 9.0),
        samples=12,
    ),
    "flood": Model(build_flood, {"a": {}}, pixels=420, decal=True, water=True),
}
