"""Light: the sky, its clouds, the sun; lamps at dusk. Azimuth in degrees from straight ahead to the left."""

import math

import bpy
from mathutils import Vector

from . import materials as mats

LIGHTS = {  # sun elevation (deg), sky strength, sun energy and colour, cloud cover, haze length (m), exposure key
    "day": {
        "el": 46,
        "sky": 0.11,
        "sun": 5.2,
        "tint": (1.0, 0.95, 0.87),
        "cloud": 0.5,
        "haze": 2600,
        "key": 0.165,
    },
    "clear": {
        "el": 55,
        "sky": 0.11,
        "sun": 5.4,
        "tint": (1.0, 0.96, 0.89),
        "cloud": 0.0,
        "haze": 3200,
        "key": 0.165,
    },
    "morning": {
        "el": 26,
        "sky": 0.12,
        "sun": 4.2,
        "tint": (1.0, 0.87, 0.70),
        "cloud": 0.3,
        "haze": 2200,
        "key": 0.14,
    },
    "low_sun": {
        "el": 9,
        "sky": 0.16,
        "sun": 2.9,
        "tint": (1.0, 0.68, 0.38),
        "cloud": 0.3,
        "haze": 1100,
        "key": 0.135,
    },
    "overcast": {
        "el": None,
        "sky": 1.0,
        "sun": 0.35,
        "tint": (1, 1, 1),
        "cloud": 1.0,
        "haze": 900,
        "key": 0.155,
    },
    "wet": {
        "el": None,
        "sky": 0.8,
        "sun": 0.15,
        "tint": (0.95, 0.98, 1.0),
        "cloud": 1.0,
        "haze": 420,
        "key": 0.15,
    },
    "fog": {"el": None, "sky": 0.9, "sun": 0.1, "tint": (1, 1, 1), "cloud": 1.0, "haze": 130, "key": 0.17},
    "dusk": {"el": -0.5, "sky": 1.1, "sun": 0.0, "tint": (1, 1, 1), "cloud": 0.4, "haze": 1300, "key": 0.085},
}


def _aim(direction):
    return Vector(direction).to_track_quat("Z", "Y").to_euler()


def _clouds(tree, direction, sky, bright, cover, seed):
    """Lay a flat sheet of noise clouds over the sky colour."""
    parts = mats.node(tree, "ShaderNodeSeparateXYZ", {0: direction})
    z = mats.math(tree, "MAXIMUM", parts.outputs[2], 0.0)
    lift = mats.math(tree, "ADD", z, 0.07)
    plane = mats.node(
        tree,
        "ShaderNodeCombineXYZ",
        {
            0: mats.math(tree, "DIVIDE", parts.outputs[0], lift),
            1: mats.math(tree, "DIVIDE", parts.outputs[1], lift),
            2: float(seed % 97),
        },
    )
    puffs = mats.noise(tree, plane.outputs[0], 0.85, 7.0, 0.58)
    shade = mats.noise(tree, plane.outputs[0], 1.9, 4.0, 0.6)
    mask = mats.ramp(tree, puffs, 0.68 - 0.33 * cover, 0.86 - 0.30 * cover)
    mask = mats.math(tree, "MULTIPLY", mask, mats.ramp(tree, z, 0.015, 0.16))
    tone = mats.mix(
        tree,
        shade,
        tuple(b * f for b, f in zip(bright, (0.62, 0.65, 0.70), strict=True)),
        tuple(b * 1.25 for b in bright),
    )
    return mats.mix(tree, mask, sky, tone)


def sun_direction(name, azimuth, elevation=None):
    """Unit vector to the sun (x forward, y left, z up); None where it casts no shadow."""
    height = LIGHTS[name]["el"] if elevation is None else elevation
    if height is None or height <= 0 or not LIGHTS[name]["sun"]:
        return None
    az, el = math.radians(azimuth), math.radians(height)
    flat = math.cos(el)
    return [round(v, 4) for v in (flat * math.cos(az), flat * math.sin(az), math.sin(el))]


def light_up(name, azimuth, seed, elevation=None):
    """Make the world and the sun; returns the light's settings."""
    spec = dict(LIGHTS[name])
    if elevation is not None:
        spec["el"] = elevation
    scene = bpy.context.scene
    scene.world = world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.cycles.sampling_method = "MANUAL"
    world.cycles.sample_map_resolution = 512
    tree = world.node_tree
    back = tree.nodes["Background"]
    direction = mats.node(tree, "ShaderNodeTexCoord").outputs["Generated"]
    az = math.radians(azimuth)
    if spec["el"] is None:
        z = mats.node(tree, "ShaderNodeSeparateXYZ", {0: direction}).outputs[2]
        base = mats.mix(tree, mats.ramp(tree, z, -0.05, 0.75), (0.66, 0.71, 0.78), (0.84, 0.92, 1.05))
        colour = _clouds(tree, direction, base, (0.88, 0.92, 0.98), 0.75, seed)
        colour = mats.mix(tree, mats.ramp(tree, z, 0.0, 0.35), base, colour)
        el = math.radians(50)
    else:
        el = math.radians(spec["el"])
        sky = mats.node(
            tree,
            "ShaderNodeTexSky",
            sky_type="NISHITA",
            sun_disc=False,
            sun_elevation=max(el, math.radians(-3)),
            sun_rotation=math.pi / 2 - az,
            altitude=80,
            air_density=1.0,
            dust_density=1.3,
            ozone_density=1.4,
        )
        bright = {"dusk": (0.20, 0.17, 0.21), "low_sun": (4.6, 3.5, 2.6)}.get(name, (9.4, 9.2, 8.8))
        colour = (
            _clouds(tree, direction, sky.outputs[0], bright, spec["cloud"], seed)
            if spec["cloud"]
            else sky.outputs[0]
        )
    tree.links.new(colour, back.inputs[0])
    back.inputs[1].default_value = spec["sky"]
    if spec["sun"]:
        lamp = bpy.data.lights.new("sun", "SUN")
        lamp.energy, lamp.color = spec["sun"], spec["tint"]
        lamp.angle = math.radians(0.55 if spec["el"] is not None else 60)
        obj = bpy.data.objects.new("sun", lamp)
        scene.collection.objects.link(obj)
        obj.rotation_euler = _aim((math.cos(el) * math.cos(az), math.cos(el) * math.sin(az), math.sin(el)))
    return spec


def spot(at, towards, energy, cone=120, colour=(1.0, 0.72, 0.42), size=0.15):
    """A lamp's light pointing along `towards`; returns the object."""
    lamp = bpy.data.lights.new("lamp", "SPOT")
    lamp.energy, lamp.color, lamp.spot_size, lamp.spot_blend = energy, colour, math.radians(cone), 0.6
    lamp.shadow_soft_size = size
    obj = bpy.data.objects.new("lamp", lamp)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = at
    obj.rotation_euler = _aim(-Vector(towards))
    return obj
