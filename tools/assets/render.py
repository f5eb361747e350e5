"""Path-traces a model: its views under an overcast sky, and the ground below it."""

from __future__ import annotations

import math
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

DISTANCE = 25.0
ASPHALT = 0.10
# Radiance by sine of elevation: a skyline of dark trees and houses, then the CIE overcast sky, brighter above.
_SKY = [(0.0, 0.16), (0.085, 0.30), (0.105, 0.62), (0.30, 0.74), (1.0, 1.0)]
# How far the skyline's height (sine of elevation) strays, and how many ups and downs it has around.
_RAGGED, _RAGGED_SCALE = 0.22, 2.6
# Roughness from which on a surface shows no highlight.
_MATT = 0.7


@dataclass(frozen=True)
class Layers:
    """One view: premultiplied linear radiance and its geometry, full size, row 0 on top.

    radiance, emission: HxWx3; alpha: HxW; albedo: HxWx3; gloss: HxW in 0-1, how smooth a coat, glass or plastic is;
    normal: HxWx3 in camera axes (right, up, towards the camera); depth: HxW metres towards the camera from the
    origin; foot: (u, v) of the origin; ppm: px per metre.
    """

    radiance: np.ndarray
    emission: np.ndarray
    alpha: np.ndarray
    albedo: np.ndarray
    gloss: np.ndarray
    normal: np.ndarray
    depth: np.ndarray
    foot: tuple[float, float]
    ppm: float


def setup(samples: int, threads: int, volume: bool) -> None:
    """Cycles on the CPU, raw colours, the sky, and an endless asphalt plane that the camera does not see."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.seed, cycles.use_adaptive_sampling = "CPU", samples, 7, False
    cycles.use_denoising, cycles.denoiser = _has_solid(), "OPENIMAGEDENOISE"
    cycles.denoising_prefilter = "ACCURATE" if _has_panes() else "FAST"  # half a second that only panes need
    cycles.max_bounces, cycles.transparent_max_bounces, cycles.sample_clamp_indirect = 4, 12, 3.0
    cycles.volume_bounces = 2 if volume else 0
    cycles.filter_width, cycles.caustics_reflective, cycles.caustics_refractive = 1.3, False, False
    render = scene.render
    render.threads_mode, render.threads, render.use_persistent_data = "FIXED", threads, True
    render.film_transparent = volume
    scene.view_settings.view_transform = "Raw"
    image = render.image_settings
    image.file_format, image.color_depth, image.exr_codec = "OPEN_EXR_MULTILAYER", "32", "NONE"
    layer = bpy.context.view_layer
    layer.use_pass_z = layer.use_pass_normal = layer.use_pass_emit = layer.use_pass_environment = True
    layer.use_pass_diffuse_color = layer.use_pass_glossy_color = True
    layer.pass_alpha_threshold = 0.02  # panes count as surfaces, what is cut away does not
    aov = layer.aovs.add()
    aov.name, aov.type = "Gloss", "VALUE"
    for paint in bpy.data.materials:
        _tell_gloss(paint)
    _sky()
    bpy.ops.mesh.primitive_plane_add(size=400)
    ground = bpy.context.object
    ground.name, ground.visible_camera = "ground", False
    paint = bpy.data.materials.new("asphalt")
    paint.use_nodes = True
    shader = paint.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (ASPHALT, ASPHALT, ASPHALT, 1)
    shader.inputs["Roughness"].default_value, shader.inputs["Specular IOR Level"].default_value = 1.0, 0.0
    ground.data.materials.append(paint)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.clip_start, camera.data.clip_end = 0.5, 500
    scene.collection.objects.link(camera)
    scene.camera = camera


def _has_solid() -> bool:
    """Whether there is more than smoke and flames, which are calmed when they are drawn."""
    return any(one.type in {"MESH", "CURVE"} and not one.get("airy") for one in bpy.context.scene.objects)


def _sky() -> None:
    """A world whose open sky gives horizontal irradiance pi, and which the camera sees as plain asphalt grey."""
    world = bpy.data.worlds.new("sky")
    bpy.context.scene.world = world
    world.use_nodes = True
    world.cycles.sampling_method, world.cycles.sample_map_resolution = "MANUAL", 64
    nodes, link = world.node_tree.nodes, world.node_tree.links.new
    nodes.clear()
    where, split = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeSeparateXYZ")
    ramp, sky, seen = (
        nodes.new("ShaderNodeValToRGB"),
        nodes.new("ShaderNodeBackground"),
        nodes.new("ShaderNodeBackground"),
    )
    path, mix, out = (
        nodes.new("ShaderNodeLightPath"),
        nodes.new("ShaderNodeMixShader"),
        nodes.new("ShaderNodeOutputWorld"),
    )
    stops = ramp.color_ramp.elements
    while len(stops) < len(_SKY):
        stops.new(0.5)
    for stop, (z, value) in zip(stops, _SKY, strict=True):
        stop.position, stop.color = z, (value, value, value, 1)
    z = (np.arange(4096) + 0.5) / 4096
    mean = float((np.interp(z, *zip(*_SKY, strict=True)) * 2 * z).mean())
    sky.inputs["Strength"].default_value = 1 / mean
    seen.inputs["Color"].default_value = (ASPHALT, ASPHALT, ASPHALT, 1)
    link(where.outputs["Generated"], split.inputs[0])
    link(_ragged(world.node_tree, split), ramp.inputs["Fac"])
    link(ramp.outputs["Color"], sky.inputs["Color"])
    link(path.outputs["Is Camera Ray"], mix.inputs["Fac"])
    link(sky.outputs[0], mix.inputs[1])
    link(seen.outputs[0], mix.inputs[2])
    link(mix.outputs[0], out.inputs["Surface"])


def _ragged(tree: bpy.types.NodeTree, split: bpy.types.Node) -> bpy.types.NodeSocket:
    """Sine of elevation above a ragged skyline; the same to the left as to the right, as models may be mirrored."""
    nodes, link = tree.nodes, tree.links.new
    across, flat, noise = (
        nodes.new("ShaderNodeMath"),
        nodes.new("ShaderNodeCombineXYZ"),
        nodes.new("ShaderNodeTexNoise"),
    )
    across.operation = "ABSOLUTE"
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = _RAGGED_SCALE, 5
    link(split.outputs["Y"], across.inputs[0])
    link(split.outputs["X"], flat.inputs["X"])
    link(across.outputs[0], flat.inputs["Y"])
    link(flat.outputs[0], noise.inputs["Vector"])
    height = _math(tree, "MULTIPLY_ADD", noise.outputs["Fac"], _RAGGED, -0.5 * _RAGGED)
    return _math(tree, "ADD", split.outputs["Z"], height)


def _math(
    tree: bpy.types.NodeTree, operation: str, *values: bpy.types.NodeSocket | float
) -> bpy.types.NodeSocket:
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    for slot, value in zip(node.inputs, values, strict=False):
        if isinstance(value, bpy.types.NodeSocket):
            tree.links.new(value, slot)
        else:
            slot.default_value = value
    return node.outputs[0]


def _has_panes() -> bool:
    nodes = (node for paint in bpy.data.materials for node in paint.node_tree.nodes)
    return any(node.bl_idname == "ShaderNodeBsdfTransparent" for node in nodes)


def _tell_gloss(paint: bpy.types.Material) -> None:
    """Have a material write how glossy it is into the pass of that name."""
    outputs = [node for node in paint.node_tree.nodes if node.bl_idname == "ShaderNodeOutputMaterial"]
    if outputs and outputs[0].inputs["Surface"].is_linked:
        told = paint.node_tree.nodes.new("ShaderNodeOutputAOV")
        told.aov_name = "Gloss"
        value = _gloss(paint.node_tree, outputs[0].inputs["Surface"].links[0].from_node)
        if isinstance(value, bpy.types.NodeSocket):
            paint.node_tree.links.new(value, told.inputs["Value"])
        else:
            told.inputs["Value"].default_value = value


def _gloss(tree: bpy.types.NodeTree, shader: bpy.types.Node) -> bpy.types.NodeSocket | float:
    """Gloss of a shader: a Principled one's coat or own surface, a mixture of its parts, a pane's mirror."""
    slots = shader.inputs
    if shader.bl_idname == "ShaderNodeBsdfPrincipled":
        own = min(1.0, slots["Specular IOR Level"].default_value / 0.5) * _smooth(slots["Roughness"])
        return float(max(own, slots["Coat Weight"].default_value * _smooth(slots["Coat Roughness"])))
    if shader.bl_idname == "ShaderNodeBsdfGlossy":
        return _smooth(slots["Roughness"])
    if shader.bl_idname != "ShaderNodeMixShader":
        return 0.0
    first, second = (_gloss(tree, slot.links[0].from_node) if slot.is_linked else 0.0 for slot in slots[1:3])
    if first == second:
        return first
    if not slots[0].is_linked:
        share: bpy.types.NodeSocket | float = slots[0].default_value
    elif slots[0].links[0].from_node.bl_idname == "ShaderNodeFresnel":
        return _math(tree, "MAXIMUM", first, second)
    else:
        share = slots[0].links[0].from_socket
    kept = _math(tree, "MULTIPLY", first, _math(tree, "SUBTRACT", 1.0, share))
    return _math(tree, "MULTIPLY_ADD", second, share, kept)


def _smooth(roughness: bpy.types.NodeSocket) -> float:
    return float(np.clip((_MATT - roughness.default_value) / (_MATT - 0.03), 0, 1))


def render_view(points: np.ndarray, azimuth_deg: float, elevation_deg: float, ppm: float) -> Layers:
    """The model from `azimuth_deg` in its frame by a level camera 25 m away; `points` Nx3 bound it (m)."""
    scene, camera = bpy.context.scene, bpy.context.scene.camera
    azimuth, height = math.radians(azimuth_deg), DISTANCE * math.tan(math.radians(elevation_deg))
    toward = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    right = np.array([-toward[1], toward[0], 0.0])
    near = points @ toward
    scale = ppm * DISTANCE / (DISTANCE - near)
    u, v = scale * (points @ right), scale * (height - points[:, 2])
    margin = 3
    left, top = math.floor(u.min()) - margin, math.floor(v.min()) - margin
    width = 2 * math.ceil((u.max() + margin - left) / 2)
    rows = 2 * math.ceil((v.max() + margin - top) / 2)
    cx, cy = -left, -top  # the optical axis, which meets the vertical line over the origin at camera height
    scene.render.resolution_x, scene.render.resolution_y = width, rows
    lens = camera.data
    lens.type, lens.sensor_fit, lens.sensor_width = "PERSP", "HORIZONTAL", 36.0
    lens.lens = ppm * DISTANCE * 36.0 / width
    lens.shift_x, lens.shift_y = (width / 2 - cx) / width, (cy - rows / 2) / width
    at = toward * DISTANCE + [0, 0, height]
    turn = np.stack([right, [0, 0, 1], toward], 1)
    camera.matrix_world = Matrix(np.vstack([np.column_stack([turn, at]), [0, 0, 0, 1]]).tolist())
    passes = _render()
    normal = passes["Normal", "XYZ"] @ turn
    foot = (float(cx), cy + ppm * height)
    return _layers(passes, normal, DISTANCE - passes["Depth", "Z"][..., 0], foot, ppm)


def _layers(
    passes: dict, normal: np.ndarray, depth: np.ndarray, foot: tuple[float, float], ppm: float
) -> Layers:
    combined = passes["Combined", "RGBA"]
    if bpy.context.scene.render.film_transparent:
        alpha, radiance = combined[..., 3], combined[..., :3]
    else:
        alpha = 1 - passes["Env", "RGB"].mean(-1) / ASPHALT
        radiance = combined[..., :3] - (1 - alpha[..., None]) * ASPHALT
    alpha = np.clip(alpha, 0, 1)
    emission = np.maximum(passes["Emit", "RGB"], 0)
    facing = normal[..., 2:] / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-6)
    albedo = np.clip(_matt_albedo(passes["DiffCol", "RGB"], passes["GlossCol", "RGB"], facing), 0, 1)
    if bpy.context.scene.render.film_transparent:
        # Smoke has no colour and no normal of its own: as pale as the sky shows it, lit alike from all sides.
        smoke = (np.linalg.norm(normal, axis=-1, keepdims=True) < 0.1) & (alpha[..., None] > 0.02)
        seen = np.maximum(radiance - emission, 0) / np.maximum(alpha, 0.02)[..., None]
        albedo, normal = (
            np.where(smoke, np.clip(seen, 0, 0.9), albedo),
            np.where(smoke, (0, 1, 0), normal),
        )
    return Layers(
        radiance=np.maximum(radiance - emission, 0),
        emission=emission,
        alpha=alpha,
        albedo=albedo,
        gloss=np.clip(passes["Gloss", "X"][..., 0], 0, 1),
        normal=normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-6),
        depth=np.where(np.abs(depth) < 100, depth, 0.0),
        foot=foot,
        ppm=ppm,
    )


def _matt_albedo(diffuse: np.ndarray, gloss: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """What the sun lights like a matt surface: metal counts, metallic paint in part, coats and glass do not, which
    mirror more the more they are seen at a slant (`facing` HxWx1, cosine to the camera)."""
    mirrored = 0.04 + 0.96 * (1 - np.clip(facing, 0, 1)) ** 5
    gloss = np.maximum(gloss - (1 - (1 - mirrored) ** 2), 0)  # of a coat and of what is below it
    shine = gloss.max(-1, keepdims=True)
    metal = np.clip((shine - 0.32) / 0.08, 0, 1)
    paint = 0.35 * np.clip(diffuse.max(-1, keepdims=True) / 0.02, 0, 1)
    return diffuse + gloss * (0.8 * metal + paint * (1 - metal))


def render_contact(low: np.ndarray, high: np.ndarray, metres_per_px: float) -> np.ndarray:
    """Ground irradiance under the model ÷ open sky, HxW from above: rows along -x, columns along -y."""
    with _from_above(low, high, metres_per_px), _hidden(shown="ground"):
        return _render()["Combined", "RGBA"][..., 0] / ASPHALT


def render_decal(low: np.ndarray, high: np.ndarray, metres_per_px: float) -> Layers:
    """The model from straight above, in metres; the foot is the origin's pixel."""
    with _from_above(low, high, metres_per_px):
        passes = _render()
    foot = (float(high[1] / metres_per_px), float(high[0] / metres_per_px))
    normal = passes["Normal", "XYZ"] @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]])
    return _layers(passes, normal, 50.0 - passes["Depth", "Z"][..., 0], foot, 1 / metres_per_px)


@contextmanager
def _from_above(low: np.ndarray, high: np.ndarray, metres_per_px: float) -> Iterator[None]:
    """A camera looking down on [low, high] (x, y in metres): image up is +x, image left is +y."""
    scene, camera = bpy.context.scene, bpy.context.scene.camera
    rows, cols = (round((h - w) / metres_per_px) for h, w in zip(high, low, strict=True))
    scene.render.resolution_x, scene.render.resolution_y = cols, rows
    camera.data.type, camera.data.sensor_fit = "ORTHO", "HORIZONTAL"
    camera.data.ortho_scale = cols * metres_per_px
    camera.data.shift_x = camera.data.shift_y = 0
    x, y = (low + high) / 2
    camera.matrix_world = Matrix([[0, 1, 0, x], [-1, 0, 0, y], [0, 0, 1, 50], [0, 0, 0, 1]])
    yield


@contextmanager
def _hidden(shown: str) -> Iterator[None]:
    """Only the object named `shown` is seen by the camera; the rest still casts shadows."""
    seen = {one: one.visible_camera for one in bpy.context.scene.objects}
    for one in seen:
        one.visible_camera = one.name == shown
    yield
    for one, was in seen.items():
        one.visible_camera = was


def _render() -> dict[tuple[str, str], np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        scene = bpy.context.scene
        scene.render.filepath = str(Path(folder) / "view.exr")
        bpy.ops.render.render(write_still=True)
        return read_exr(Path(scene.render.filepath))


def read_exr(path: Path) -> dict[tuple[str, str], np.ndarray]:
    """An uncompressed float scanline EXR as {(pass, channels): HxWxC}; reads what Cycles writes here, no more."""
    data = path.read_bytes()
    at, header = 8, {}
    while data[at]:
        name, at = _text(data, at)
        _, at = _text(data, at)
        (size,) = struct.unpack_from("<i", data, at)
        header[name], at = data[at + 4 : at + 4 + size], at + 4 + size
    channels, pos = [], 0
    while header["channels"][pos]:
        name, pos = _text(header["channels"], pos)
        channels.append(name)
        pos += 16
    x0, y0, x1, y1 = struct.unpack("<4i", header["dataWindow"])
    width, rows = x1 - x0 + 1, y1 - y0 + 1
    block = 8 + 4 * width * len(channels)
    lines = np.frombuffer(data, np.uint8, rows * block, at + 1 + 8 * rows).reshape(rows, block)
    planes = lines[:, 8:].copy().view("<f4").reshape(rows, len(channels), width)
    named = {tuple(c.split(".")[-2:]): planes[:, i] for i, c in enumerate(channels)}
    wanted = [("Combined", "RGBA"), ("Normal", "XYZ"), ("Depth", "Z"), ("Emit", "RGB")]
    wanted += [("Env", "RGB"), ("DiffCol", "RGB"), ("GlossCol", "RGB"), ("Gloss", "X")]
    return {(name, parts): np.stack([named[name, part] for part in parts], -1) for name, parts in wanted}


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode(), end + 1


def surface_points(spacing: float, cap: int = 400_000, airy: bool = True) -> np.ndarray:
    """Points Nx3 (m, world) all over the model's surfaces, at most `spacing` apart in each triangle.

    Without `airy`, hulls of smoke and flames (objects marked "airy") are left out.
    """
    graph = bpy.context.evaluated_depsgraph_get()
    corners = []
    for item in graph.object_instances:
        one = item.object
        if (
            one.type not in {"MESH", "CURVE", "FONT"}
            or one.name == "ground"
            or not one.original.visible_camera
            or (not airy and one.original.get("airy"))
        ):
            continue
        skin = one.to_mesh()
        skin.calc_loop_triangles()
        verts = np.empty(len(skin.vertices) * 3, np.float32)
        skin.vertices.foreach_get("co", verts)
        picks = np.empty(len(skin.loop_triangles) * 3, np.int32)
        skin.loop_triangles.foreach_get("vertices", picks)
        pose = np.array(item.matrix_world)
        corners.append((verts.reshape(-1, 3) @ pose[:3, :3].T + pose[:3, 3])[picks].reshape(-1, 3, 3))
        one.to_mesh_clear()
    if not corners:
        return np.empty((0, 3))
    tri = np.concatenate(corners)
    area = np.linalg.norm(np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0]), axis=1) / 2
    count = np.ceil(area / spacing**2 * 3).astype(int) + 1
    if count.sum() > cap:
        count = np.ceil(area / area.sum() * cap).astype(int) + 1
    which = np.repeat(np.arange(len(tri)), count)
    rng = np.random.default_rng(5)
    a, b = rng.random((2, len(which), 1))
    a, b = np.where(a + b > 1, 1 - a, a), np.where(a + b > 1, 1 - b, b)
    inside = tri[which, 0] + a * (tri[which, 1] - tri[which, 0]) + b * (tri[which, 2] - tri[which, 0])
    return np.concatenate([inside, tri.reshape(-1, 3)])
