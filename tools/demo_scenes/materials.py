"""Materials, made once per name. Colours are linear albedo."""

import bpy


def _new(name):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    return material, material.node_tree, material.node_tree.nodes["Principled BSDF"]


def node(tree, kind, inputs=None, **settings):
    """Add a node, set its properties, then its inputs (a socket is linked, a value is set)."""
    n = tree.nodes.new(kind)
    for key, value in settings.items():
        setattr(n, key, value)
    for key, value in (inputs or {}).items():
        if isinstance(value, bpy.types.NodeSocket):
            tree.links.new(value, n.inputs[key])
        else:
            n.inputs[key].default_value = value
    return n


def noise(tree, vector, scale, detail=3.0, rough=0.6):
    """A noise texture's factor socket."""
    n = node(
        tree, "ShaderNodeTexNoise", {"Vector": vector, "Scale": scale, "Detail": detail, "Roughness": rough}
    )
    return n.outputs["Fac"]


def math(tree, op, a, b=0.0, c=0.0, clamp=False):
    """A math node's output."""
    n = node(tree, "ShaderNodeMath", {0: a, 1: b, 2: c}, operation=op, use_clamp=clamp)
    return n.outputs[0]


def mix(tree, factor, a, b):
    """Mix two colours."""
    n = node(tree, "ShaderNodeMixRGB", {0: factor})
    for i, value in ((1, a), (2, b)):
        if isinstance(value, bpy.types.NodeSocket):
            tree.links.new(value, n.inputs[i])
        else:
            n.inputs[i].default_value = (*value, 1)
    return n.outputs[0]


def ramp(tree, factor, lo, hi):
    """0 below lo, 1 above hi, smooth between."""
    n = node(tree, "ShaderNodeMapRange", {0: factor, 1: lo, 2: hi}, interpolation_type="SMOOTHSTEP")
    return n.outputs[0]


def scaled(tree, colour, factor):
    """Colour times a scalar socket."""
    n = node(tree, "ShaderNodeVectorMath", {0: colour, "Scale": factor}, operation="SCALE")
    return n.outputs[0]


def bump(tree, bsdf, height, strength, distance=0.02):
    """Bump the surface by a height socket."""
    n = node(tree, "ShaderNodeBump", {"Height": height, "Strength": strength, "Distance": distance})
    tree.links.new(n.outputs[0], bsdf.inputs["Normal"])


def plain(
    name, rgb, rough=0.7, metal=0.0, spec=0.3, vary=0.0, scale=3.0, bumpy=0.0, coat=0.0, emit=0.0, each=0.0
):
    """One colour, with mottling `vary` at `scale` per metre, relief, and `each` brightness per object."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material, tree, bsdf = _new(name)
    bsdf.inputs["Roughness"].default_value = rough
    bsdf.inputs["Metallic"].default_value = metal
    bsdf.inputs["Specular IOR Level"].default_value = spec
    bsdf.inputs["Coat Weight"].default_value = coat
    bsdf.inputs["Coat Roughness"].default_value = 0.04
    bsdf.inputs["Base Color"].default_value = (*rgb, 1)
    if emit:
        bsdf.inputs["Emission Color"].default_value = (*rgb, 1)
        bsdf.inputs["Emission Strength"].default_value = emit
    where = node(tree, "ShaderNodeTexCoord").outputs["Object"]
    colour = None
    if vary:
        field = noise(tree, where, scale, 4.0)
        lo, hi = [c * (1 - vary) for c in rgb], [min(1, c * (1 + vary)) for c in rgb]
        colour = mix(tree, ramp(tree, field, 0.3, 0.7), lo, hi)
    if each:
        rand = node(tree, "ShaderNodeObjectInfo").outputs["Random"]
        factor = math(tree, "MULTIPLY_ADD", rand, 2 * each, 1 - each)
        base = colour or node(tree, "ShaderNodeRGB").outputs[0]
        if colour is None:
            base.default_value = (*rgb, 1)
        colour = scaled(tree, base, factor)
    if colour:
        tree.links.new(colour, bsdf.inputs["Base Color"])
    if bumpy:
        bump(tree, bsdf, noise(tree, where, scale * 6, 2.0), bumpy)
    return material


def glass(name="glass", tint=(0.012, 0.016, 0.018), emit=0.0, warm=(1.0, 0.72, 0.4)):
    """Window glass seen by day: dark and mirror-like; lit from inside when emit > 0."""
    material = plain(name, tint, rough=0.02, spec=0.9)
    bsdf = material.node_tree.nodes["Principled BSDF"]
    bsdf.inputs["Emission Color"].default_value = (*warm, 1)
    bsdf.inputs["Emission Strength"].default_value = emit
    if emit:  # a lit room is uneven: shelves, lamps, people
        tree = material.node_tree
        where = node(tree, "ShaderNodeTexCoord").outputs["Object"]
        room = ramp(tree, noise(tree, where, 0.6, 1.0, 0.5), 0.2, 0.9)
        tree.links.new(
            math(tree, "MULTIPLY_ADD", room, emit * 0.7, emit * 0.35), bsdf.inputs["Emission Strength"]
        )
    return material


def leaf(name, rgb, through=0.35, each=0.18, dull=0.55):
    """Leaves: a little gloss, light coming through, hue drifting across the crown and between plants."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material, tree, bsdf = _new(name)
    info = node(tree, "ShaderNodeObjectInfo")
    where = node(tree, "ShaderNodeTexCoord").outputs["Object"]
    field = noise(tree, where, 0.9, 3.0)
    warm = (rgb[0] * 1.55, rgb[1] * 1.2, rgb[2] * 0.9)
    cool = (rgb[0] * 0.62, rgb[1] * 0.72, rgb[2] * 0.85)
    colour = mix(tree, ramp(tree, field, 0.3, 0.72), cool, warm)
    colour = scaled(tree, colour, math(tree, "MULTIPLY_ADD", info.outputs["Random"], 2 * each, 1 - each))
    tree.links.new(colour, bsdf.inputs["Base Color"])
    bsdf.inputs["Roughness"].default_value = dull
    bsdf.inputs["Specular IOR Level"].default_value = 0.25
    lit = mix(tree, 0.5, colour, (rgb[0] * 1.7, rgb[1] * 1.7, rgb[2] * 0.6))
    back = node(tree, "ShaderNodeBsdfTranslucent", {"Color": lit})
    both = node(tree, "ShaderNodeMixShader", {0: through, 1: bsdf.outputs[0], 2: back.outputs[0]})
    tree.links.new(both.outputs[0], tree.nodes["Material Output"].inputs[0])
    return material


def banded(name, rgb, period, depth=0.35, dirt=0.12, rough=0.75):
    """Lap siding: boards every `period` metres up the wall."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material, tree, bsdf = _new(name)
    where = node(tree, "ShaderNodeTexCoord").outputs["Object"]
    z = node(tree, "ShaderNodeSeparateXYZ", {0: where}).outputs["Z"]
    saw = math(tree, "FRACT", math(tree, "DIVIDE", z, period))
    field = noise(tree, where, 1.3, 4.0)
    lo, hi = [c * (1 - dirt) for c in rgb], [c * (1 + dirt * 0.5) for c in rgb]
    colour = mix(tree, field, lo, hi)
    shade = math(tree, "MULTIPLY_ADD", ramp(tree, saw, 0.0, 0.12), depth, 1 - depth)
    tree.links.new(scaled(tree, colour, shade), bsdf.inputs["Base Color"])
    bsdf.inputs["Roughness"].default_value = rough
    return material


def bricks(name, rgb, mortar, width=0.22, height=0.075, squash=0.5, rough=0.85, vary=0.35):
    """Bricks, blocks or shingles on the uv map (metres)."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material, tree, bsdf = _new(name)
    uv = node(tree, "ShaderNodeTexCoord").outputs["UV"]
    wall = node(
        tree,
        "ShaderNodeTexBrick",
        {
            "Vector": uv,
            "Scale": 1.0,
            "Brick Width": width,
            "Row Height": height,
            "Mortar Size": min(height * 0.09, 0.014),
            "Color1": (*[c * (1 - vary) for c in rgb], 1),
            "Color2": (*[c * (1 + vary * 0.6) for c in rgb], 1),
            "Mortar": (*mortar, 1),
        },
        offset=squash,
    )
    field = noise(tree, uv, 0.6, 4.0)
    shade = math(tree, "MULTIPLY_ADD", field, 0.6, 0.7)
    tree.links.new(scaled(tree, wall.outputs["Color"], shade), bsdf.inputs["Base Color"])
    bsdf.inputs["Roughness"].default_value = rough
    return material


def soil(name, grass, dry, dirt, dryness=0.5, edge=0.9, wet=False):
    """Ground cover. uv.x is the distance from the pavement in metres: bare at the edge, grass beyond."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material, tree, bsdf = _new(name)
    coord = node(tree, "ShaderNodeTexCoord")
    where = coord.outputs["Object"]
    away = node(tree, "ShaderNodeSeparateXYZ", {0: coord.outputs["UV"]}).outputs["X"]
    broad, fine = noise(tree, where, 0.05, 3.0), noise(tree, where, 1.6, 5.0, 0.75)
    middle = noise(tree, where, 0.21, 4.0, 0.7)
    grain = noise(tree, where, 28.0, 2.0, 0.8)
    colour = mix(
        tree,
        ramp(
            tree, math(tree, "ADD", broad, math(tree, "MULTIPLY", fine, 0.5)), 1.15 - dryness, 1.45 - dryness
        ),
        grass,
        dry,
    )
    colour = scaled(tree, colour, math(tree, "MULTIPLY_ADD", fine, 0.9, 0.55))
    colour = scaled(tree, colour, math(tree, "MULTIPLY_ADD", middle, 1.3, 0.35))
    bare = ramp(
        tree,
        math(tree, "MULTIPLY_ADD", fine, -1.3, math(tree, "MULTIPLY", away, 1 / max(edge, 0.05))),
        0.55,
        -0.25,
    )
    earth = scaled(
        tree,
        mix(tree, grain, [c * 0.6 for c in dirt], [c * 1.35 for c in dirt]),
        math(tree, "MULTIPLY_ADD", fine, 0.5, 0.75),
    )
    colour = mix(tree, bare, colour, earth)
    colour = scaled(tree, colour, math(tree, "MULTIPLY_ADD", grain, 0.7, 0.62))
    tree.links.new(colour, bsdf.inputs["Base Color"])
    bsdf.inputs["Roughness"].default_value = 0.6 if wet else 0.95
    bsdf.inputs["Specular IOR Level"].default_value = 0.3 if wet else 0.1
    bump(tree, bsdf, grain, 0.5, 0.03)
    return material


def picture(name, image, size, wet=0.0, rough=0.85, grain=0.0):
    """A texture image stretched over uv in metres; size = (metres in u, metres in v), alpha = roughness."""
    material, tree, bsdf = _new(name)
    uv = node(tree, "ShaderNodeTexCoord").outputs["UV"]
    move = node(tree, "ShaderNodeMapping", {"Vector": uv, "Scale": (1 / size[0], 1 / size[1], 1)})
    move.inputs["Location"].default_value = (
        (-size[2] / size[0], -size[3] / size[1], 0) if len(size) > 2 else (0, 0, 0)
    )
    tex = node(tree, "ShaderNodeTexImage", {"Vector": move.outputs[0]}, image=image, extension="EXTEND")
    tree.links.new(tex.outputs["Color"], bsdf.inputs["Base Color"])
    bsdf.inputs["Specular IOR Level"].default_value = 0.5 if wet else 0.25
    if wet or grain:
        tree.links.new(tex.outputs["Alpha"], bsdf.inputs["Roughness"])
    else:
        bsdf.inputs["Roughness"].default_value = rough
    if grain:
        bump(tree, bsdf, noise(tree, uv, 45.0, 2.0, 0.8), grain * (0.4 if wet else 1.0), 0.008)
    return material
