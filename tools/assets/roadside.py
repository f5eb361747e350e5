"""Along the road: sign board, bench, mailbox, traffic island, a fallen pole, an open manhole."""

from __future__ import annotations

import math
from random import Random

import bpy  # isort: skip  (bmesh exists only once bpy is loaded)
import bmesh
import numpy as np
from common import Model, Objects, about, box, crumple, lathe, material, mesh, place, tube


def build_billboard(seed: int) -> Objects:
    """A pavement sign board on legs, a poster of a mountain lake at dusk on both faces."""
    rng = Random(seed)
    frame = material("frame", (0.34, 0.35, 0.36), 0.35, metal=0.7)
    foot = material("foot", (0.02, 0.02, 0.02), 0.7)
    back = material("back", (0.10, 0.10, 0.10), 0.7)
    made: Objects = []
    for side in (0.0, math.pi):
        face = [box((0, 0, 1.0), (0.02, 0.96, 1.44), back, 0.004), *_poster(rng)]
        face += [box((0.008, s * 0.475, 0.9), (0.045, 0.05, 1.7), frame, 0.01) for s in (1, -1)]
        face += [box((0.008, 0, z), (0.045, 0.95, 0.05), frame, 0.01) for z in (0.28, 1.725)]
        face += [box((0.008, s * 0.475, 0.045), (0.06, 0.065, 0.05), foot, 0.01) for s in (1, -1)]
        made.append(place([place(face, (0.17, 0, 0), pitch=-0.09)], yaw=side))
    return made


def _poster(rng: Random) -> Objects:
    """A picture 0.9 m wide on a sheet at x = 0.012: glowing sky, sun, ranges, their lake, and a pale caption strip."""
    made: Objects = []

    def patch(points: list[tuple[float, float]], color: tuple[float, float, float]) -> None:
        paint = material("print", color, 0.45)
        at = 0.012 + 0.0006 * len(made)
        made.append(mesh([(at, y, z) for y, z in points], [range(len(points))], paint, smooth=False))

    def strip(z0: float, z1: float, color: tuple[float, float, float], half: float = 0.45) -> None:
        patch([(-half, z0), (half, z0), (half, z1), (-half, z1)], color)

    def blend(low: tuple, high: tuple, share: float) -> tuple[float, float, float]:
        r, g, b = (a + (c - a) * share for a, c in zip(low, high, strict=True))
        return r, g, b

    for k in range(20):  # sky: gold at the ranges, blue above
        low = (0.90, 0.60, 0.32) if k < 7 else (0.72, 0.56, 0.50)
        strip(1.05 + 0.033 * k, 1.084 + 0.033 * k, blend(low, (0.14, 0.34, 0.68), (k / 19) ** 0.8))
    turn = np.linspace(0, 2 * math.pi, 32, endpoint=False)
    patch([(0.16 + 0.09 * math.cos(t), 1.27 + 0.09 * math.sin(t)) for t in turn], (0.90, 0.72, 0.36))
    for top, rough, color in (
        (1.28, 0.10, (0.38, 0.34, 0.44)),
        (1.17, 0.07, (0.20, 0.22, 0.30)),
        (1.09, 0.03, (0.04, 0.10, 0.05)),
    ):
        ridge = [(float(y), top + rng.uniform(-rough, rough)) for y in np.linspace(0.45, -0.45, 15)]
        patch([(-0.45, 1.0), (0.45, 1.0), *ridge], color)
    for k in range(12):  # the lake gives the sky back, darker towards the viewer
        strip(
            0.62 + 0.033 * k, 0.654 + 0.033 * k, blend((0.06, 0.16, 0.32), (0.80, 0.54, 0.32), (k / 11) ** 2)
        )
    strip(0.32, 0.63, (0.80, 0.79, 0.76))
    strip(0.50, 0.57, (0.05, 0.09, 0.16), 0.3)
    strip(0.42, 0.45, (0.30, 0.32, 0.36), 0.36)
    strip(0.37, 0.395, (0.30, 0.32, 0.36), 0.24)
    return made


def build_bench(seed: int) -> Objects:
    """A slatted park bench on cast feet."""
    wood = material("slat", (0.28, 0.16, 0.08), 0.6, vary=0.2, vary_scale=6)
    iron = material("iron", (0.02, 0.025, 0.02), 0.5)
    made = [box((x, 0, 0.45), (0.08, 1.6, 0.03), wood, 0.006) for x in (-0.12, -0.02, 0.08, 0.18, 0.28)]
    made += [
        place(
            [box((0, 0, 0), (0.025, 1.6, 0.09), wood, 0.006)],
            (-0.2 - 0.1 * i * 0.35, 0, 0.56 + 0.12 * i),
            pitch=-0.3,
        )
        for i in range(3)
    ]
    for y in (-0.68, 0.68):
        made.append(tube([(0.3, y, 0.0), (0.26, y, 0.42), (-0.16, y, 0.42), (-0.34, y, 0.88)], 0.022, iron))
        made.append(tube([(-0.2, y, 0.42), (-0.28, y, 0.0)], 0.022, iron))
        made.append(tube([(0.28, y, 0.42), (0.28, y, 0.64), (-0.24, y, 0.64)], 0.018, iron))
    return made


def build_mailbox(seed: int) -> Objects:
    """A round-topped blue mailbox on four legs."""
    blue = material("blue", (0.02, 0.05, 0.20), 0.35, coat=0.4, vary=0.08)
    white = material("label", (0.6, 0.6, 0.58), 0.5)
    dark = material("slot", (0.01, 0.01, 0.01), 0.8)
    made = [box((0, 0, 0.58), (0.5, 0.474, 0.76), blue, 0.02)]
    made.append(
        lathe(
            [(0.0, -0.244), (0.25, -0.244), (0.25, 0.244), (0.0, 0.244)],
            blue,
            48,
            center=(0, 0, 0.95),
            rot=(math.pi / 2, 0, 0),
        )
    )
    made += [box((x, y, 0.1), (0.06, 0.06, 0.22), blue, 0.005) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    made += [
        box((0.252, 0, 0.62), (0.008, 0.3, 0.2), white, 0.004),
        box((0.2, 0, 1.02), (0.12, 0.36, 0.03), dark, 0.01),
    ]
    return made


def build_island(seed: int) -> Objects:
    """A temporary traffic island: striped kerbs, two bollards, one with a keep-right arrow."""
    yellow = material("yellow", (0.50, 0.33, 0.02), 0.7, dark=(0.30, 0.21, 0.05), vary_scale=7)
    black = material("black", (0.025, 0.025, 0.025), 0.8, dark=(0.06, 0.057, 0.052), vary_scale=6)
    top = material("top", (0.22, 0.21, 0.195), 0.9, dark=(0.12, 0.115, 0.105), vary_scale=5)
    white = material("white", (0.5, 0.5, 0.49), 0.5, vary=0.1)
    blue = material("sign", (0.01, 0.06, 0.32), 0.4)
    made = [box((0, 0, 0.07), (1.5, 0.9, 0.15), top, 0.03)]
    for i, x in enumerate(np.linspace(-0.65, 0.65, 6)):
        paint = yellow if i % 2 else black
        made += [box((float(x), s * 0.45, 0.085), (0.26, 0.12, 0.17), paint, 0.02) for s in (1, -1)]
    for i, y in enumerate(np.linspace(-0.36, 0.36, 4)):
        made += [
            box((s * 0.74, float(y), 0.085), (0.12, 0.24, 0.17), yellow if i % 2 else black, 0.02)
            for s in (1, -1)
        ]
    for x in (-0.4, 0.4):
        made.append(
            lathe(
                [(0.10, 0.14), (0.10, 0.2), (0.055, 0.22), (0.055, 0.95), (0.04, 0.98), (0.0, 0.98)],
                yellow,
                32,
                center=(x, 0, 0),
            )
        )
        made += [lathe([(0.058, z), (0.058, z + 0.09)], white, 32, center=(x, 0, 0)) for z in (0.5, 0.72)]
    made.append(
        lathe(
            [(0.0, 0.012), (0.25, 0.012), (0.25, -0.012), (0.0, -0.012)],
            blue,
            48,
            center=(0.47, 0, 1.06),
            rot=(0, math.pi / 2, 0),
        )
    )
    ring = [(0.484, 0.237 * math.cos(a), 1.06 + 0.237 * math.sin(a)) for a in np.linspace(0, 6.2, 40)]
    made.append(tube(ring, 0.007, white, cyclic=True))
    # along its way: a shaft, then a head; turned down to the right as the driver sees it
    arrow = np.array([(-0.18, 0.03), (0.0, 0.03), (0.0, 0.105), (0.18, 0.0)])
    arrow = np.vstack([arrow, arrow[-2::-1] * (1, -1)]) @ np.array([(1, -1), (1, 1)]) * math.sqrt(0.5)
    made.append(
        mesh([(0.487, y, 1.06 + z) for y, z in arrow.tolist()], [(0, 1, 5, 6), (2, 3, 4)], white, False)
    )
    return made


def build_power_line(seed: int) -> Objects:
    """A snapped wooden pole across the lane with its transformer, the cross-arm up, cables lying along the road."""
    rng = Random(seed)
    wood = material(
        "pole", (0.17, 0.12, 0.08), 0.9, dark=(0.075, 0.055, 0.04), vary_scale=4, bump=0.4, bump_scale=18
    )
    steel = material("steel", (0.36, 0.37, 0.38), 0.45, metal=0.7)
    at = [(0.1, -2.9, 0.16), (0.0, 0.0, 0.15), (-0.06, 2.5, 0.13)]
    made = [tube(at, [0.16, 0.145, 0.13], wood, sides=24), *_splinters(rng, (0.1, -2.86, 0.16))]
    made += [
        lathe([(r, -0.04), (r, 0.04)], steel, 24, center=(-0.02, y, 0.145), rot=(math.pi / 2, 0, 0))
        for y, r in ((0.5, 0.156), (1.0, 0.152), (1.75, 0.147))
    ]
    made.append(place(_transformer(steel), (0.62, 0.55, 0.09), 0.5, roll=-0.5, pitch=0.12))
    made.append(place(_cross_arm(wood), (-0.04, 1.75, 0.62), 0.1, pitch=-0.5))
    made.append(tube([(-0.04, 1.75, 0.15), (-0.03, 1.75, 0.62)], 0.03, steel))
    return made + _cables(rng)


def _splinters(rng: Random, at: tuple[float, float, float]) -> Objects:
    """Raw wood torn out of the pole's broken end, towards -y."""
    raw = material("raw", (0.52, 0.38, 0.21), 0.9, vary=0.3, vary_scale=20)
    made: Objects = []
    for _ in range(26):
        a, r = rng.uniform(0, 6.28), rng.uniform(0.01, 0.14)
        x, z = at[0] + r * math.cos(a), at[2] + r * math.sin(a)
        tip = (at[0] + 1.15 * (x - at[0]), at[1] - rng.uniform(0.08, 0.5), z)
        made.append(tube([(x, at[1], z), tip], [0.026, 0.004], raw, sides=4))
    return made


def _transformer(steel) -> Objects:
    """The grey drum from the pole, upright: bushings on its lid, fins on its side."""
    paint = material("drum", (0.42, 0.44, 0.44), 0.4, coat=0.2, vary=0.12, vary_scale=3)
    glaze = material("glaze", (0.13, 0.05, 0.025), 0.15, coat=0.8)
    wall = [(0.0, 0.0), (0.23, 0.0), (0.24, 0.02), (0.24, 0.7), (0.255, 0.7), (0.255, 0.74), (0.0, 0.79)]
    made = [lathe(wall, paint, 40)]
    for x in (-0.1, 0.1):
        rings = [(0.035 + 0.02 * (k % 2), 0.76 + 0.025 * k) for k in range(8)]
        made.append(lathe([(0.0, 0.76), *rings, (0.0, 0.95)], glaze, 20, center=(x, 0, 0)))
        made.append(tube([(x, 0, 0.94), (x, 0, 1.0)], 0.012, steel))
    made += [box((0.25, y, 0.35), (0.05, 0.012, 0.5), paint, 0.0) for y in np.linspace(-0.1, 0.1, 5)]
    return made


def _cross_arm(wood) -> Objects:
    """The beam that carried the cables, with its insulators."""
    glass = material("insulator", (0.10, 0.05, 0.03), 0.2, coat=0.6)
    profile = [(0.0, 0.0), (0.03, 0.0), (0.06, 0.06), (0.035, 0.08), (0.055, 0.13), (0.0, 0.16)]
    made = [box((0, 0, 0), (2.1, 0.1, 0.13), wood, 0.008)]
    return made + [lathe(profile, glass, 20, center=(x, 0, 0.065)) for x in (-0.95, -0.5, 0.5, 0.95)]


def _cables(rng: Random) -> Objects:
    """Three wires that drop from the arm and lie in long slack bends across the lane."""
    sheath = material("cable", (0.012, 0.012, 0.012), 0.5)
    made: Objects = []
    for i, (x, z) in enumerate(((0.8, 1.1), (0.42, 0.9), (-0.5, 0.45))):
        side, phase = (1, 1, -1)[i], rng.uniform(0, 6.28)
        knots = [(x, 1.8, z), (x + 0.1 * side, 1.5, 0.35 * z), (x + 0.25 * side, 1.1, 0.014)]
        for k in range(8):
            bend = 0.22 * math.sin(0.9 * k + phase)
            knots.append((x + side * (0.35 + 0.05 * k) + bend, 0.8 - 0.5 * k, 0.014))
        t, own = np.linspace(0, 1, 90), np.linspace(0, 1, len(knots))
        path = np.stack([np.interp(t, own, [knot[j] for knot in knots]) for j in range(3)], -1)
        path = np.stack(
            [np.convolve(np.pad(c, 5, "edge"), np.hanning(13)[1:-1] / 6, "valid") for c in path.T], 1
        )
        path[:, 2] = np.maximum(path[:, 2], 0.014)
        made.append(tube(path.tolist(), 0.014, sheath, sides=6))
    for x, y, radius in ((0.75, -0.75, 0.42), (0.55, -1.75, 0.3)):  # the ends spring back into coils
        turn = np.linspace(0, rng.uniform(13, 18), 120)
        r = radius * (1 - 0.03 * turn) * (1 + 0.12 * np.sin(1.7 * turn))
        lift = 0.02 + 0.09 * abs(np.sin(0.43 * turn))
        made.append(
            tube(
                np.stack([x + r * np.cos(turn), y + r * np.sin(turn), lift], -1).tolist(),
                0.014,
                sheath,
                sides=6,
            )
        )
    return made


def build_manhole(seed: int) -> Objects:
    """An open manhole, seen from +x: an iron ring about a black shaft, its cover fallen in askew behind."""
    iron = material("iron", (0.15, 0.135, 0.12), 0.55, metal=0.3, dark=(0.07, 0.045, 0.03), vary_scale=14)
    worn = material("worn", (0.27, 0.26, 0.25), 0.45, metal=0.5, vary=0.35, vary_scale=20)
    damp = material("damp", (0.030, 0.027, 0.023), 0.9, spec=0.0, vary=0.5, vary_scale=12)
    void = material("void", (0.002, 0.002, 0.002), 1.0, spec=0.0)
    collar = material(
        "collar", (0.15, 0.145, 0.135), 0.95, spec=0.0, dark=(0.10, 0.097, 0.09), vary_scale=7, bump=0.4
    )
    made = [
        lathe([(0.0, 0.004), (0.38, 0.004)], void, 48),
        lathe([(0.38, 0.0), (0.38, 0.055)], damp, 48),
        lathe([(0.38, 0.055), (0.385, 0.065), (0.43, 0.065), (0.435, 0.055)], worn, 48),
        lathe([(0.435, 0.055), (0.445, 0.045), (0.48, 0.045)], iron, 48),
        crumple(
            lathe([(0.47, 0.05), (0.60, 0.035), (0.74, 0.012), (0.76, 0.002)], collar, 48), 0.014, 0.12, 1
        ),
    ]
    cover = place(_cover(iron, worn), (-0.37, 0.02, 0.07), Random(seed).uniform(0.05, 0.15), pitch=0.95)
    return [*made, *above_ground([cover])]


def above_ground(roots: Objects) -> Objects:
    """The parts of objects and their children that stick out of the ground; the objects themselves are gone."""
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    made: Objects = []
    parts = [part for root in roots for part in (root, *root.children_recursive)]
    for part in (part for part in parts if part.type == "MESH"):
        skin, cut = bpy.data.meshes.new_from_object(part.evaluated_get(graph)), bmesh.new()
        skin.transform(part.matrix_world)
        cut.from_mesh(skin)
        everything = [*cut.verts, *cut.edges, *cut.faces]
        bmesh.ops.bisect_plane(
            cut, geom=everything, plane_co=(0, 0, 0.005), plane_no=(0, 0, 1), clear_inner=True
        )
        cut.to_mesh(skin)
        cut.free()
        made.append(bpy.data.objects.new(part.name, skin))
        bpy.context.collection.objects.link(made[-1])
    for part in parts:
        bpy.data.objects.remove(part)
    return made


def _cover(iron, worn) -> Objects:
    """The lid, lying flat, its ridged top up."""
    plate = [
        (0.0, -0.02),
        (0.30, -0.02),
        (0.30, -0.05),
        (0.325, -0.05),
        (0.365, 0.0),
        (0.36, 0.018),
        (0.0, 0.018),
    ]
    made = [lathe(plate, iron, 56)]
    made += [
        lathe([(r, 0.016), (r, 0.03), (r + 0.022, 0.03), (r + 0.022, 0.016)], worn, 56) for r in (0.07, 0.325)
    ]
    step = 0.062
    for i in range(-5, 6):
        for j in range(-5, 6):
            x, y = (i + 0.5 * (j % 2)) * step, j * step
            if 0.11 < math.hypot(x, y) < 0.30:
                made.append(box((x, y, 0.02), (0.038, 0.038, 0.022), worn, 0.004))
    return made


FEW = {"elevations": (4.0,), "samples": 12}
MODELS = {
    "billboard": Model(build_billboard, {"a": {}}, pixels=200, symmetry="mirror", **FEW),
    "bench": Model(build_bench, {"a": {}}, pixels=180, symmetry="mirror", **FEW),
    "mailbox": Model(build_mailbox, {"a": {}}, pixels=160, symmetry="mirror", **FEW),
    "traffic_island": Model(build_island, {"a": {}}, pixels=200, **FEW),
    "power_line": Model(build_power_line, {"a": {}}, pixels=320, **FEW),
    "manhole": Model(
        build_manhole, {"a": {}}, pixels=200, elevations=(3.0, 7.0), azimuths=about(0), samples=12
    ),
}
