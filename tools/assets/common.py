"""What every model file shares: the contract, materials and mesh helpers (bpy, Blender as a module).

A model file (one family a file, in this folder) ends with

    MODELS = {"cone": Model(build_cone, {"a": {}, "tall": {"height": 0.9}}, symmetry="round"), ...}

and each builder is `build(seed, **params) -> list of top-level objects`. It builds into the current scene,
with the object's ground centre at the world origin, standing on z = 0, facing +x (its front), +y to its left,
in metres. A builder reads nothing but its arguments, and draws random numbers only from `random.Random(seed)`
or numpy's generator, so the same call always gives the same mesh.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy  # isort: skip  (bmesh exists only once bpy is loaded)
import bmesh
from mathutils import Matrix, Vector

Color = tuple[float, float, float]
Point = Sequence[float]
Objects = list["bpy.types.Object"]


@dataclass(frozen=True)
class Model:
    """One model: its builder, its variants, and how its sprites are taken.

    symmetry: "round" (about z: one view), "mirror" (left = right: views from 0 to 180 degrees) or "none".
    pixels: the longest of length, width and height in the sprite; step: degrees between views.
    elevations: camera elevations in degrees, seen 25 m away. azimuths: only these (degrees), where a model is
    never seen from elsewhere. volume: it holds smoke or flames (alpha from the film).
    decal: it lies in the ground: rendered once from above as a picture in metres, instead of views.
    water: where such a picture is opaque, it mirrors what stands beyond it.
    fur: metres over which hair spreads the sun's light, so that no lock is lit by itself.
    """

    build: Callable[..., Objects]
    variants: dict[str, dict[str, Any]]
    symmetry: str = "none"
    pixels: int = 256
    step: int = 10
    elevations: tuple[float, ...] = (3.0,)
    azimuths: tuple[int, ...] = field(default=())
    volume: bool = False
    decal: bool = False
    water: bool = False
    samples: int = 24
    fur: float = 0.0


def about(*sides: int) -> tuple[int, ...]:
    """Azimuths, degrees: every 10 within 40 of the `sides` that a model mostly shows, every 30 elsewhere."""
    return tuple(
        a
        for a in range(0, 360, 10)
        if a % 30 == 0 or any(abs((a - s + 180) % 360 - 180) <= 40 for s in sides)
    )


def reset_scene() -> None:
    """An empty scene: no objects, no materials."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


# ---------------------------------------------------------------- materials


@dataclass(frozen=True)
class Look:
    """How a surface looks, in Principled terms. Colours are linear albedo; `dark`/`vary` mottle it.

    `emit` is its radiance, in units of a white card lying under the open sky by day: headlights 20-40, lit signs
    2-6, indicators 3-5. `lining` is the albedo of its back side where the mesh has no thickness.
    """

    color: Color
    rough: float = 0.6
    metal: float = 0.0
    spec: float = 0.4
    coat: float = 0.0
    emit: float = 0.0
    dark: Color | None = None
    vary: float = 0.0
    vary_scale: float = 8.0
    bump: float = 0.0
    bump_scale: float = 30.0
    lining: float | None = None
    alpha: float = 1.0


def material(name: str, color: Color, rough: float = 0.6, **look: Any) -> bpy.types.Material:
    """A material of one look; `look` takes the other fields of Look."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    tree = made.node_tree
    tree.nodes.clear()
    out = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(surface(tree, Look(color, rough, **look)), out.inputs["Surface"])
    return made


def surface(tree: bpy.types.NodeTree, look: Look) -> bpy.types.NodeSocket:
    """The shader of a look inside a node tree, for materials that blend several."""
    shader = tree.nodes.new("ShaderNodeBsdfPrincipled")
    values = {"Roughness": look.rough, "Metallic": look.metal, "Specular IOR Level": look.spec}
    values |= {"Coat Weight": look.coat, "Coat Roughness": 0.05, "Base Color": (*look.color, 1)}
    values["Alpha"] = look.alpha
    if look.emit:
        values |= {"Emission Color": (*look.color, 1), "Emission Strength": look.emit}
    for key, value in values.items():
        shader.inputs[key].default_value = value
    if look.vary or look.dark:
        noise = _noise(tree, look.vary_scale, 6)
        ramp = tree.nodes.new("ShaderNodeValToRGB")
        low, high = ramp.color_ramp.elements
        low.position, high.position = 0.35, 0.65
        low.color = (*(look.dark or tuple(c * (1 - look.vary) for c in look.color)), 1)
        high.color = (
            *(look.color if look.dark else tuple(min(1.0, c * (1 + look.vary)) for c in look.color)),
            1,
        )
        tree.links.new(noise.outputs["Fac"], ramp.inputs["Fac"])
        tree.links.new(ramp.outputs["Color"], shader.inputs["Base Color"])
    if look.bump:
        noise = _noise(tree, look.bump_scale, 4)
        bumps = tree.nodes.new("ShaderNodeBump")
        bumps.inputs["Strength"].default_value = look.bump
        bumps.inputs["Distance"].default_value = 0.03
        tree.links.new(noise.outputs["Fac"], bumps.inputs["Height"])
        tree.links.new(bumps.outputs["Normal"], shader.inputs["Normal"])
    return shader.outputs[0] if look.lining is None else _lined(tree, shader.outputs[0], look.lining)


def _lined(tree: bpy.types.NodeTree, outside: bpy.types.NodeSocket, albedo: float) -> bpy.types.NodeSocket:
    """`outside` seen from the front, plain grey from behind."""
    side, inner = tree.nodes.new("ShaderNodeNewGeometry"), tree.nodes.new("ShaderNodeBsdfDiffuse")
    mix = tree.nodes.new("ShaderNodeMixShader")
    inner.inputs["Color"].default_value = (albedo, albedo, albedo, 1)
    tree.links.new(side.outputs["Backfacing"], mix.inputs["Fac"])
    tree.links.new(outside, mix.inputs[1])
    tree.links.new(inner.outputs[0], mix.inputs[2])
    return mix.outputs[0]


def _noise(tree: bpy.types.NodeTree, scale: float, detail: float) -> bpy.types.Node:
    where = tree.nodes.new("ShaderNodeTexCoord")
    noise = tree.nodes.new("ShaderNodeTexNoise")
    noise.inputs["Scale"].default_value = scale
    noise.inputs["Detail"].default_value = detail
    noise.inputs["Roughness"].default_value = 0.65
    tree.links.new(where.outputs["Object"], noise.inputs["Vector"])
    return noise


# ---------------------------------------------------------------- meshes


def _link(name: str, data: bpy.types.ID, paint: bpy.types.Material | None) -> bpy.types.Object:
    made = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(made)
    if paint is not None:
        data.materials.append(paint)
    return made


def mesh(
    verts: Iterable[Point],
    faces: Iterable[Sequence[int]],
    paint: bpy.types.Material | None,
    smooth: bool = True,
) -> bpy.types.Object:
    """A mesh from points and faces."""
    data = bpy.data.meshes.new("mesh")
    data.from_pydata([tuple(v) for v in verts], [], [tuple(f) for f in faces])
    data.update()
    data.polygons.foreach_set("use_smooth", [smooth] * len(data.polygons))
    return _link("mesh", data, paint)


def box(
    center: Point,
    size: Point,
    paint: bpy.types.Material,
    bevel: float = 0.01,
    rot: Point = (0, 0, 0),
    segments: int = 2,
) -> bpy.types.Object:
    """A box with rounded edges."""
    x, y, z = (s / 2 for s in size)
    verts = [
        (-x, -y, -z),
        (x, -y, -z),
        (x, y, -z),
        (-x, y, -z),
        (-x, -y, z),
        (x, -y, z),
        (x, y, z),
        (-x, y, z),
    ]
    faces = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    made = mesh(verts, faces, paint, smooth=bevel > 0)
    made.location, made.rotation_euler = center, rot
    if bevel:
        rounding = made.modifiers.new("bevel", "BEVEL")
        rounding.width, rounding.segments, rounding.harden_normals = (
            min(bevel, min(size) * 0.45),
            segments,
            True,
        )
    return made


def lathe(
    profile: Sequence[tuple[float, float]],
    paint: bpy.types.Material,
    n: int = 48,
    *,
    center: Point = (0, 0, 0),
    rot: Point = (0, 0, 0),
    closed: bool = False,
    sharp: float = 35.0,
) -> bpy.types.Object:
    """A profile of (radius, height) turned about z; edges steeper than `sharp` degrees stay crisp."""
    k = len(profile)
    turns = [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)) for i in range(n)]
    verts = [(r * c, r * s, z) for c, s in turns for r, z in profile]
    faces = [
        (i * k + q, (i + 1) % n * k + q, (i + 1) % n * k + (q + 1) % k, i * k + (q + 1) % k)
        for i in range(n)
        for q in range(k if closed else k - 1)
    ]
    made = mesh(verts, faces, paint)
    made.data.set_sharp_from_angle(angle=math.radians(sharp))
    made.location, made.rotation_euler = center, rot
    return made


def tube(
    points: Sequence[Point],
    radius: float | Sequence[float],
    paint: bpy.types.Material,
    cyclic: bool = False,
    sides: int = 8,
) -> bpy.types.Object:
    """A round bar along a polyline; radius may change from point to point."""
    curve = bpy.data.curves.new("tube", "CURVE")
    curve.dimensions, curve.bevel_depth, curve.use_fill_caps = "3D", 1.0, True
    curve.bevel_resolution = max(0, sides // 4 - 1)
    line = curve.splines.new("POLY")
    line.points.add(len(points) - 1)
    radii = radius if isinstance(radius, Sequence) else [radius] * len(points)
    for knot, at, r in zip(line.points, points, radii, strict=True):
        knot.co, knot.radius = (*at, 1), r
    line.use_cyclic_u, line.use_smooth = cyclic, True
    return _link("tube", curve, paint)


def blob(
    chains: Iterable[Sequence[Any]],
    paint: bpy.types.Material,
    voxel: float = 0.012,
    smooth: int = 6,
    displace: float = 0.0,
    displace_scale: float = 0.12,
) -> bpy.types.Object:
    """Tapered sphere chains `(p0, r0, p1, r1[, (sx, sy, sz)])` melted into one skin by a voxel remesh.

    Use it for bodies, clothes and soft things: one call a garment keeps colour edges clean; `displace` in
    metres gives cloth a little life (over about 0.02 it turns to lumps).
    """
    grown = bmesh.new()
    for chain in chains:
        p0, r0, p1, r1 = Vector(chain[0]), chain[1], Vector(chain[2]), chain[3]
        stretch = Matrix.Diagonal((*(chain[4] if len(chain) > 4 else (1, 1, 1)), 1))
        steps = max(2, int((p1 - p0).length / max(min(r0, r1) * 0.45, 0.006)))
        for i in range(steps + 1):
            at = Matrix.Translation(p0.lerp(p1, i / steps)) @ stretch
            bmesh.ops.create_icosphere(grown, subdivisions=2, radius=r0 + (r1 - r0) * i / steps, matrix=at)
    data = bpy.data.meshes.new("blob")
    grown.to_mesh(data)
    grown.free()
    made = _link("blob", data, paint)
    skin = made.modifiers.new("remesh", "REMESH")
    skin.mode, skin.voxel_size, skin.use_smooth_shade = "VOXEL", voxel, True
    if smooth:
        soften = made.modifiers.new("smooth", "SMOOTH")
        soften.iterations, soften.factor = smooth, 0.5
    if displace:
        _displace(made, displace, displace_scale)
    return made


def _displace(made: bpy.types.Object, strength: float, scale: float) -> None:
    clouds = bpy.data.textures.new("clouds", "CLOUDS")
    clouds.noise_scale, clouds.noise_depth = scale, 3
    push = made.modifiers.new("displace", "DISPLACE")
    push.texture, push.strength, push.mid_level, push.texture_coords = clouds, strength, 0.5, "LOCAL"


def crumple(made: bpy.types.Object, strength: float, scale: float, levels: int = 3) -> bpy.types.Object:
    """Dent a mesh: subdivide without rounding, then push its faces about by noise."""
    divide = made.modifiers.new("divide", "SUBSURF")
    divide.subdivision_type, divide.levels, divide.render_levels = "SIMPLE", levels, levels
    _displace(made, strength, scale)
    return made


def loft(
    sections: Sequence[Sequence[Point]], paint: bpy.types.Material, rounding: int = 2, caps: bool = True
) -> bpy.types.Object:
    """A skin over cross-sections of equally many points (open curves), subdivided `rounding` times."""
    k = len(sections[0])
    verts = [p for section in sections for p in section]
    faces: list[Sequence[int]] = [
        (i * k + j, (i + 1) * k + j, (i + 1) * k + j + 1, i * k + j + 1)
        for i in range(len(sections) - 1)
        for j in range(k - 1)
    ]
    if caps:
        faces += [tuple(range(k)), tuple(reversed(range((len(sections) - 1) * k, len(sections) * k)))]
    made = mesh(verts, faces, paint)
    if rounding:
        round_off = made.modifiers.new("round", "SUBSURF")
        round_off.levels = round_off.render_levels = rounding
    return made


def place(
    objects: Iterable[bpy.types.Object],
    at: Point = (0, 0, 0),
    yaw: float = 0.0,
    *,
    roll: float = 0.0,
    pitch: float = 0.0,
    scale: float = 1.0,
) -> bpy.types.Object:
    """Put objects under one root and move it: the root is the single top-level object that is left."""
    root = bpy.data.objects.new("root", None)
    bpy.context.collection.objects.link(root)
    for one in objects:
        if one.parent is None:
            one.parent = root
    root.location, root.rotation_euler, root.scale = at, (roll, pitch, yaw), (scale,) * 3
    return root
