"""Painted meshes and the few materials they need."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from body.sdf import Array, Solid, noise
from numpy.typing import ArrayLike, NDArray

Rgb = tuple[float, float, float]
# Roughness, specular, coat, sheen, bump strength, bump scale (1/m).
KINDS: dict[str, tuple[float, float, float, float, float, float]] = {
    "cloth": (0.9, 0.12, 0.0, 0.06, 0.3, 90.0),
    "skin": (0.5, 0.35, 0.0, 0.0, 0.15, 120.0),
    "hair": (0.55, 0.25, 0.0, 0.0, 0.0, 0.0),
    "fur": (0.65, 0.2, 0.0, 0.12, 0.0, 0.0),
    "leather": (0.55, 0.35, 0.0, 0.0, 0.25, 60.0),
    "gloss": (0.3, 0.5, 0.6, 0.0, 0.0, 0.0),
    "rubber": (0.8, 0.25, 0.0, 0.0, 0.2, 80.0),
    "metal": (0.3, 0.5, 0.0, 0.0, 0.0, 0.0),
    "leaf": (0.55, 0.3, 0.0, 0.0, 0.0, 0.0),
    "bark": (0.95, 0.1, 0.0, 0.0, 0.8, 35.0),
    "glass": (0.08, 0.5, 0.5, 0.0, 0.0, 0.0),
}


class Part(NamedTuple):
    """A mesh: vertices (n, 3) metres, faces (m, 3 or 4), linear colours (n, 3) and the kind of its material."""

    v: Array
    f: np.ndarray
    rgb: Array
    kind: str


def paint(v: Array, rgb: Rgb, vary: float = 0.06, scale: float = 14.0, seed: int = 0) -> Array:
    """Vertex colours (n, 3): one colour, with a little wear."""
    return (
        np.array(rgb, np.float32)
        * (1 + vary * noise(v * scale, seed) + vary * noise(v * scale * 4, seed + 1))[:, None]
    )


def blend(rgb: Array, weight: Array, to: Rgb) -> Array:
    """Colours moved towards `to` by weight (n,) in 0..1."""
    w = np.clip(weight, 0, 1)[:, None]
    return rgb * (1 - w) + np.array(to, np.float32) * w


def spot(q: Array, centre: Rgb, radii: Rgb, soft: float = 0.25) -> Array:
    """Weight (n,) that is 1 inside an ellipsoid and fades to 0 over `soft` of its radius."""
    return np.clip((1 + soft - np.linalg.norm((q - np.array(centre)) / np.array(radii), axis=1)) / soft, 0, 1)


def shell(s: Solid, rgb: Rgb | Callable[[Array], Array], kind: str, h: float = 0.007, seed: int = 0) -> Part:
    """The mesh of a solid as a part, in one colour or coloured by a function of its vertices."""
    v, f = s.mesh(h, 4 if kind == "gloss" else 1)
    return Part(v, f, rgb(v) if callable(rgb) else paint(v, rgb, 0.06, 12, seed), kind)


def pipe(
    points: Sequence[ArrayLike],
    radius: float | Sequence[float],
    rgb: Rgb,
    kind: str,
    ring: bool = False,
    sides: int = 10,
) -> Part:
    """A tube along points, closed into a ring or with flat ends."""
    p = np.array(points, np.float32)
    n = len(p)
    r = np.broadcast_to(np.array(radius, np.float32), n)
    ahead = np.roll(p, -1, 0) - np.roll(p, 1, 0)
    if not ring:
        ahead[0], ahead[-1] = p[1] - p[0], p[-1] - p[-2]
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1), 1e-9)[:, None]
    still = np.argmin(np.abs(ahead).max(0))
    u = np.cross(ahead, np.eye(3)[still])
    u /= np.maximum(np.linalg.norm(u, axis=1), 1e-9)[:, None]
    w = np.cross(ahead, u)
    a = np.arange(sides) * 2 * np.pi / sides
    v = p[:, None] + r[:, None, None] * (u[:, None] * np.cos(a)[:, None] + w[:, None] * np.sin(a)[:, None])
    i, j = np.meshgrid(np.arange(n if ring else n - 1), np.arange(sides), indexing="ij")
    i, j, i2, j2 = i.ravel(), j.ravel(), ((i + 1) % n).ravel(), ((j + 1) % sides).ravel()
    faces = np.stack([i * sides + j, i * sides + j2, i2 * sides + j2, i2 * sides + j], 1)
    if not ring:
        k = np.arange(1, sides - 2, 2)
        cap = np.stack([np.zeros_like(k), k, k + 1, k + 2], 1) % sides
        faces = np.concatenate([faces, cap[:, ::-1], cap + (n - 1) * sides])
    v = v.reshape(-1, 3)
    return Part(v.astype(np.float32), faces, np.tile(np.array(rgb, np.float32), (len(v), 1)), kind)


def merge(parts: Iterable[Part]) -> list[Part]:
    """One part a kind."""
    kinds: dict[str, list[Part]] = {}
    for part in parts:
        kinds.setdefault(part.kind, []).append(part)
    merged = []
    for kind, group in kinds.items():
        start = np.cumsum([0] + [len(p.v) for p in group])
        faces = np.concatenate([p.f + at for p, at in zip(group, start, strict=False)])
        merged.append(
            Part(np.concatenate([p.v for p in group]), faces, np.concatenate([p.rgb for p in group]), kind)
        )
    return merged


def moved(parts: Iterable[Part], turn: ArrayLike, to: ArrayLike = (0, 0, 0)) -> list[Part]:
    """Parts rotated by the matrix `turn` (3, 3), then shifted."""
    m, t = np.asarray(turn, np.float32), np.asarray(to, np.float32)
    return [p._replace(v=p.v @ m.T + t) for p in parts]


def settle(parts: Iterable[Part]) -> list[Part]:
    """Parts flattened against the ground where they reach below it."""
    return [p._replace(v=np.column_stack([p.v[:, :2], np.maximum(p.v[:, 2], 0.003)])) for p in parts]


def strands(
    v: Array,
    flow: Array,
    length: Array,
    width: float,
    rgb: Array,
    kind: str,
    sag: float = 0.3,
    tip: float = 1.0,
) -> Part:
    """Hairs rooted at v (n, 3): each starts along flow (n, 3), sags by `sag` of its length (n,) and ends in a point.

    rgb (n, 3) is the colour at the root; towards the end it goes to `tip` times that.
    """
    flow = flow / np.maximum(np.linalg.norm(flow, axis=1), 1e-9)[:, None]
    side = np.cross(flow, np.random.default_rng(len(v)).normal(size=v.shape))
    side *= width / 2 / np.maximum(np.linalg.norm(side, axis=1), 1e-9)[:, None]
    reach, down = flow * length[:, None], np.array([0, 0, -sag]) * length[:, None]
    mid, end = v + reach * 0.5 + down * 0.2, v + reach + down
    points = np.stack(
        [v - side, v + side, mid + side * 0.8, mid - side * 0.8, end + side * 0.15, end - side * 0.15], 1
    )
    quad = np.array([[0, 1, 2, 3], [3, 2, 4, 5]])
    faces = (np.arange(len(v))[:, None, None] * 6 + quad).reshape(-1, 4)
    fade = np.tile(np.repeat((1.0, (1 + tip) / 2, tip), 2), len(v))[:, None]
    return Part(points.reshape(-1, 3).astype(np.float32), faces, np.repeat(rgb, 6, 0) * fade, kind)


def scatter(v: Array, f: np.ndarray, count: int, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Points (count, 3) spread evenly over a quad mesh, and the vertex each is next to."""
    rng = np.random.default_rng(seed)
    area = np.linalg.norm(np.cross(v[f[:, 2]] - v[f[:, 0]], v[f[:, 3]] - v[f[:, 1]]), axis=1)
    pick = f[rng.choice(len(f), count, p=area / area.sum())]
    a, b = rng.random((2, count, 1))
    p0, p1, p2, p3 = (v[pick[:, i]] for i in range(4))
    return ((p0 * (1 - a) + p1 * a) * (1 - b) + (p3 * (1 - a) + p2 * a) * b).astype(np.float32), pick[:, 0]


def _material(kind: str) -> bpy.types.Material:
    """The material of a kind, coloured by the mesh's "paint" attribute."""
    if kind in bpy.data.materials:
        return bpy.data.materials[kind]
    rough, spec, coat, sheen, bump, scale = KINDS[kind]
    made = bpy.data.materials.new(kind)
    made.use_nodes = True
    tree = made.node_tree
    shader = tree.nodes["Principled BSDF"]
    for key, value in (
        ("Roughness", rough),
        ("Specular IOR Level", spec),
        ("Coat Weight", coat),
        ("Sheen Weight", sheen),
    ):
        shader.inputs[key].default_value = value
    colour = tree.nodes.new("ShaderNodeAttribute")
    colour.attribute_name = "paint"
    tree.links.new(colour.outputs["Color"], shader.inputs["Base Color"])
    if kind == "metal":
        shader.inputs["Metallic"].default_value = 1.0
    if kind == "leaf":
        through, mix = tree.nodes.new("ShaderNodeBsdfTranslucent"), tree.nodes.new("ShaderNodeMixShader")
        mix.inputs[0].default_value = 0.35
        tree.links.new(colour.outputs["Color"], through.inputs["Color"])
        tree.links.new(shader.outputs[0], mix.inputs[1])
        tree.links.new(through.outputs[0], mix.inputs[2])
        tree.links.new(mix.outputs[0], tree.nodes["Material Output"].inputs[0])
    if bump:
        grain, bumps = tree.nodes.new("ShaderNodeTexNoise"), tree.nodes.new("ShaderNodeBump")
        grain.inputs["Scale"].default_value = scale
        bumps.inputs["Strength"].default_value, bumps.inputs["Distance"].default_value = bump, 0.01
        where = tree.nodes.new("ShaderNodeTexCoord")
        tree.links.new(where.outputs["Object"], grain.inputs["Vector"])
        tree.links.new(grain.outputs["Fac"], bumps.inputs["Height"])
        tree.links.new(bumps.outputs["Normal"], shader.inputs["Normal"])
    return made


def build(parts: Iterable[Part], smooth: bool = True) -> list[bpy.types.Object]:
    """An object for every part."""
    made = []
    for part in merge(parts):
        data = bpy.data.meshes.new(part.kind)
        m, corners = part.f.shape
        data.vertices.add(len(part.v))
        data.loops.add(m * corners)
        data.polygons.add(m)
        data.vertices.foreach_set("co", np.asarray(part.v, np.float32).ravel())
        data.loops.foreach_set("vertex_index", part.f.astype(np.int32).ravel())
        data.polygons.foreach_set("loop_start", np.arange(0, m * corners, corners, dtype=np.int32))
        data.polygons.foreach_set("use_smooth", np.full(m, smooth))
        data.update(calc_edges=True)
        rgba = np.ones((len(part.v), 4), np.float32)
        rgba[:, :3] = np.clip(part.rgb, 0, 1)
        data.attributes.new("paint", "FLOAT_COLOR", "POINT").data.foreach_set("color", rgba.ravel())
        data.materials.append(_material(part.kind))
        made.append(bpy.data.objects.new(part.kind, data))
        bpy.context.collection.objects.link(made[-1])
    return made
