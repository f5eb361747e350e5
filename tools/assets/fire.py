"""Flames and smoke as volumes, on a heap of burnt things or alone."""

from typing import Any

import bpy
import numpy as np
from body.parts import Part, Rgb, build, merge, moved, pipe
from body.parts import shell as skin
from body.sdf import Solid, loft
from body.skeleton import turn
from cars import STYLES, assemble
from common import Look, Model, Objects, mesh
from shell import Shell

CHAR: Rgb = (0.012, 0.01, 0.009)


class Graph:
    """Arithmetic on the sockets of a node tree."""

    def __init__(self, tree: bpy.types.NodeTree) -> None:
        self.tree = tree

    def node(self, kind: str, **inputs: Any) -> bpy.types.Node:
        made = self.tree.nodes.new("ShaderNode" + kind)
        for key, value in inputs.items():
            self.feed(made.inputs[key], value)
        return made

    def feed(self, socket: bpy.types.NodeSocket, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        else:
            socket.default_value = value

    def math(self, kind: str, a: Any, b: Any = 0.0, clamp: bool = False) -> bpy.types.NodeSocket:
        made = self.node("Math")
        made.operation, made.use_clamp = kind, clamp
        self.feed(made.inputs[0], a)
        self.feed(made.inputs[1], b)
        return made.outputs[0]

    def total(self, *terms: tuple[Any, float]) -> bpy.types.NodeSocket:
        """The sum of socket x factor; a plain number stands for itself."""
        out: Any = 0.0
        for value, factor in terms:
            out = self.math("ADD", out, self.math("MULTIPLY", value, factor))
        return out


def _swirl(g: Graph, where: bpy.types.NodeSocket, scale: tuple, offset: float, warp: float, detail: float):
    """Noise whose coordinates are bent by noise; the offset picks another moment."""
    mapped = g.node("Mapping", Vector=where, Scale=scale, Location=(offset, offset * 0.7, -offset)).outputs[0]
    bent = g.node("TexNoise", Vector=mapped, Scale=1.0, Detail=2.0).outputs["Color"]
    mixed = g.node("Mix")
    mixed.data_type, mixed.blend_type, mixed.clamp_factor = "RGBA", "ADD", False
    g.feed(mixed.inputs[0], warp)
    g.feed(mixed.inputs[6], mapped)
    g.feed(mixed.inputs[7], bent)
    return g.node("TexNoise", Vector=mixed.outputs[2], Scale=1.5, Detail=detail, Roughness=0.55).outputs[
        "Fac"
    ]


def _plume(
    width: float,
    height: float,
    flame: float,
    smoke: float,
    shade: float,
    wind: float,
    seed: int,
    swirl: float = 0.75,
) -> bpy.types.Object:
    """Flames `flame` metres high and smoke up to `height` in one volume; width: of the fire in metres."""
    material = bpy.data.materials.new("plume")
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.remove(tree.nodes["Principled BSDF"])
    g = Graph(tree)
    where = g.node("TexCoord").outputs["Object"]
    x, y, z = g.node("SeparateXYZ", Vector=where).outputs
    up = g.math("DIVIDE", z, height)
    lean = g.math("MULTIPLY", g.math("MULTIPLY", up, up), wind)
    dx = g.math("SUBTRACT", x, g.math("MULTIPLY", lean, 0.35))
    r = g.math(
        "SQRT", g.math("ADD", g.math("MULTIPLY", dx, dx), g.math("POWER", g.math("SUBTRACT", y, lean), 2.0))
    )
    rho = g.math("DIVIDE", r, width / 2)
    density: Any = 0.0
    volume = g.node("VolumePrincipled", Color=(shade, shade, shade * 1.03, 1))
    if flame:
        s = 1.5 / width**0.5
        n = _swirl(g, where, (s, s, s * 0.62), 3.7 * seed, 1.0, 5.0)
        burn = g.total((n, 1.75), (rho, -0.72), (g.math("DIVIDE", z, flame), -0.55), (1.0, -0.06))
        burn = g.math("MULTIPLY", burn, 3.4, clamp=True)
        low = g.math("MULTIPLY", z, 6.0, clamp=True)
        heat = g.math("MULTIPLY", g.math("POWER", burn, 2.2), g.math("MULTIPLY", low, 9.0 / width**0.5))
        ramp = g.node("ValToRGB", Fac=burn)
        stops = ramp.color_ramp.elements
        stops[0].color, stops[1].color = (1, 0.07, 0.004, 1), (1, 0.38, 0.09, 1)
        stops.new(0.55).color = (1, 0.22, 0.03, 1)
        g.feed(volume.inputs["Emission Strength"], heat)
        g.feed(volume.inputs["Emission Color"], ramp.outputs["Color"])
        density = g.math("MULTIPLY", burn, 0.8)
    if smoke:
        n = _swirl(g, where, (swirl, swirl, 0.8 * swirl), 1.9 * seed + 5, 1.3, 6.0)
        wide = g.math("DIVIDE", rho, g.total((1.0, 0.75), (up, 1.7)))
        start = 0.6 * flame / height
        rise = g.math("MULTIPLY", g.math("SUBTRACT", up, start), 4.0, clamp=True)
        ragged = g.math("MULTIPLY", g.total((n, 0.9), (up, -1.0), (1.0, 0.4)), 3.0, clamp=True)
        fade = g.math("MULTIPLY", ragged, g.math("MULTIPLY", g.math("SUBTRACT", 0.99, up), 6.0, clamp=True))
        fog = g.math("MAXIMUM", g.total((n, 2.3), (wide, -0.62), (up, -0.25), (1.0, -0.5)), 0.0)
        fog = g.math("MULTIPLY", fog, g.math("MULTIPLY", g.math("MULTIPLY", rise, fade), smoke))
        density = g.math("ADD", density, fog)
    g.feed(volume.inputs["Density"], density)
    tree.links.new(volume.outputs[0], tree.nodes["Material Output"].inputs["Volume"])
    return _domain(width, height, wind, bool(smoke), material)


def _domain(
    width: float, height: float, wind: float, spreading: bool, material: bpy.types.Material
) -> bpy.types.Object:
    """The closed hull that the volume fills, widening upwards where there is smoke."""
    rings, sides = 10, 20
    verts, faces = [], []
    for i in range(rings + 1):
        up = i / rings
        r = width / 2 * ((1.35 + 1.8 * up) if spreading else 1.35)
        for j in range(sides):
            a = 2 * np.pi * j / sides
            verts.append(
                (r * np.cos(a) + wind * up * up * 0.35, r * np.sin(a) + wind * up * up, 0.02 + height * up)
            )
    for i in range(rings):
        for j in range(sides):
            k = (j + 1) % sides
            faces.append((i * sides + j, i * sides + k, (i + 1) * sides + k, (i + 1) * sides + j))
    faces += [tuple(reversed(range(sides))), tuple(range(rings * sides, (rings + 1) * sides))]
    return _airy(mesh(verts, faces, material))


def _airy(made: bpy.types.Object) -> bpy.types.Object:
    """A hull whose volume neither lights nor mirrors in what is around it, and which casts no solid shadow."""
    made.visible_diffuse = made.visible_glossy = False
    made["airy"] = True
    bpy.context.scene.cycles.volume_max_steps, bpy.context.scene.cycles.volume_step_rate = 128, 2.0
    return made


def _heap(width: float, seed: int) -> list[Part]:
    """Charred boards, a tyre and ash."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(18):
        half = rng.uniform(0.2, 0.45) * width
        board = Solid().add(
            loft([(-half, 0, 0), (half, 0, 0)], [(0.02, 0.045)] * 2, front=(0, 0, 1), power=6)
        )
        spin = turn((rng.uniform(-20, 20), rng.uniform(-24, 24), rng.uniform(0, 360)))
        at = (*rng.normal(0, width * 0.16, 2), rng.uniform(0.08, 0.3))
        parts += moved(
            [skin(board, tuple(np.array(CHAR) * rng.uniform(0.6, 3)), "bark", 0.012, seed)], spin, at
        )
    ring = [(0.24 * np.cos(a), 0.24 * np.sin(a), 0.1) for a in np.linspace(0, 6.28, 32, endpoint=False)]
    parts += moved([pipe(ring, 0.085, CHAR, "rubber", True)], np.eye(3), (width * 0.2, -width * 0.22, 0))
    for _ in range(70):
        p = rng.normal(0, width * 0.33, 2)
        s = rng.uniform(0.01, 0.05)
        bit = pipe(
            [(p[0] - s, p[1], 0.006), (p[0] + s, p[1] + s * rng.normal(), s * 0.6)],
            [s * 0.7, s * 0.4],
            CHAR,
            "bark",
            sides=5,
        )
        parts.append(bit)
    return [p._replace(v=np.maximum(p.v, (-9, -9, 0.002)).astype(np.float32)) for p in merge(parts)]


def fire(
    seed: int = 0,
    width: float = 1.7,
    flame: float = 1.9,
    height: float = 4.2,
    smoke: float = 4.0,
    wind: float = 0.6,
) -> Objects:
    """A heap burning on the road, with dark smoke."""
    return [*build(_heap(width, seed + 1)), _plume(width, height, flame, smoke, 0.16, wind, seed + 1)]


def smoke(
    seed: int = 0,
    size: tuple[float, float, float] = (3.2, 6.6, 3.3),
    thick: float = 5.5,
    tint: Rgb = (0.66, 0.635, 0.60),
    wind: float = 0.55,
) -> Objects:
    """A bank of smoke that drifts over the road: length, width and height in metres; wind: its lean to +y, m per m.

    Densest near the middle of its foot, thinning out on all sides and towards the ground, so that it has no edge.
    """
    material = bpy.data.materials.new("bank")
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.remove(tree.nodes["Principled BSDF"])
    g = Graph(tree)
    where = g.node("TexCoord").outputs["Object"]
    x, y, z = g.node("SeparateXYZ", Vector=where).outputs
    long, wide, tall = size
    y = g.total((y, 1.0), (z, -wind), (1.0, 0.5 * wind * tall))
    square = [
        g.math("POWER", g.math("DIVIDE", a, b), 2.0) for a, b in ((x, long / 2), (y, wide / 2), (z, tall))
    ]
    inside = g.math("SUBTRACT", 1.0, g.total(*((one, 1.0) for one in square)), clamp=True)
    billow = _swirl(g, where, (0.12, 0.42, 0.8), 1.9 * seed + 5, 1.2, 6.0)
    wisps = _swirl(g, where, (0.3, 1.1, 2.2), 2.7 * seed + 1, 1.0, 5.0)
    ragged = g.total((inside, 1.5), (billow, 4.5), (wisps, 2.0), (1.0, -3.75))
    foot = g.math("ADD", g.math("MULTIPLY", z, 0.9), 0.06, clamp=True)
    thin = g.math("MULTIPLY", g.math("MULTIPLY", inside, foot), thick)
    density = g.math("MULTIPLY", g.math("MAXIMUM", ragged, 0.0), thin)
    volume = g.node("VolumePrincipled", Color=(*tint, 1), Density=density)
    tree.links.new(volume.outputs[0], tree.nodes["Material Output"].inputs["Volume"])
    return [_dome(size, wind, material)]


def _dome(size: tuple[float, float, float], wind: float, material: bpy.types.Material) -> bpy.types.Object:
    """The half ellipsoid that a bank of smoke fills, leaning with the wind."""
    long, wide, tall = size
    rows, sides = 9, 28
    verts: list = [(0, 0.5 * wind * tall, tall)]
    for i in range(1, rows + 1):
        rise = np.cos(np.pi / 2 * i / rows)
        r, z = np.sqrt(1 - rise**2), max(tall * rise, 0.01)
        for a in np.linspace(0, 2 * np.pi, sides, endpoint=False):
            verts.append((long / 2 * r * np.cos(a), wide / 2 * r * np.sin(a) + wind * (z - tall / 2), z))
    faces: list = [(0, 1 + j, 1 + (j + 1) % sides) for j in range(sides)]
    for i in range(rows - 1):
        low, high = 1 + i * sides, 1 + (i + 1) * sides
        faces += [(low + j, high + j, high + (j + 1) % sides, low + (j + 1) % sides) for j in range(sides)]
    last = 1 + (rows - 1) * sides
    return _airy(mesh(verts, [*faces, tuple(range(last, last + sides))[::-1]], material))


def _scorched(shell: Shell) -> np.ndarray:
    """Metres into the sooty part of a car's skin: bonnet, nose and wings, ragged at its edge."""
    x, y, z = np.moveaxis(shell.points, -1, 0)
    ragged = 0.09 * np.sin(9 * y + 4 * x) + 0.07 * np.sin(17 * y - 7 * z + 2) + 0.05 * np.sin(23 * x + 11 * z)
    return x - 0.75 + 0.9 * (z - 0.8) + ragged


def burning_car(seed: int = 0, style: str = "sedan", color: str = "silver") -> Objects:
    """A car whose engine is on fire: soot over its front, flames out of the bonnet and a wheel arch, dark smoke."""
    soot = Look((0.016, 0.014, 0.013), 0.95, spec=0.02, dark=(0.006, 0.006, 0.006), vary_scale=6)
    car = assemble(STYLES[style], color, "off", driver=False, marks={"soot": (soot, _scorched)})
    engine = _plume(1.7, 3.4, 1.35, 5.0, 0.10, 1.0, seed + 2)
    engine.location = (1.2, 0, 0.62)
    arch = _plume(0.75, 1.0, 0.8, 0.0, 0.12, 0.0, seed + 5)
    arch.location = (1.35, 0.72, 0.25)
    return [*car, engine, arch]


# Flames and smoke look alike from every side: one view, which never jumps to another as the camera passes.
SLOW: dict = {"symmetry": "round", "volume": True}
MODELS = {
    "car_fire": Model(
        burning_car, {"sedan": {}}, symmetry="mirror", pixels=380, elevations=(4.0,), volume=True, samples=24
    ),
    "fire": Model(fire, {"heap": {}}, pixels=300, samples=128, **SLOW),
    "smoke": Model(smoke, {"grey": {}}, pixels=300, samples=96, **SLOW),
}
