"""What lorries, buses and machines have in common: road dirt, clear panes, lorry wheels, lamps, tape, lettering."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np
from common import Color, Objects, Point, blob, box, lathe, material, mesh, place, tube
from shell import Shell, glass

DUST: Color = (0.13, 0.115, 0.095)


def grime(
    paint: bpy.types.Material, top: float, strength: float = 0.75, dust: Color = DUST
) -> bpy.types.Material:
    """Road dirt over a material: thickest at the ground, streaky, gone at `top` metres; it dulls the gloss."""
    tree = paint.node_tree
    nodes, link = tree.nodes, tree.links.new
    where, split, fade = (
        nodes.new("ShaderNodeNewGeometry"),
        nodes.new("ShaderNodeSeparateXYZ"),
        nodes.new("ShaderNodeMapRange"),
    )
    noise, stretch, much = (
        nodes.new("ShaderNodeTexNoise"),
        nodes.new("ShaderNodeMapping"),
        nodes.new("ShaderNodeMath"),
    )
    link(where.outputs["Position"], split.inputs[0])
    link(split.outputs["Z"], fade.inputs["Value"])
    fade.interpolation_type = "SMOOTHSTEP"
    for key, value in {"From Min": top, "From Max": 0.15, "To Min": 0.0, "To Max": strength}.items():
        fade.inputs[key].default_value = value
    link(where.outputs["Position"], stretch.inputs["Vector"])
    stretch.inputs["Scale"].default_value = (3.0, 3.0, 1.2)
    link(stretch.outputs[0], noise.inputs["Vector"])
    noise.inputs["Detail"].default_value = 5
    bias = nodes.new("ShaderNodeMapRange")
    bias.inputs["From Min"].default_value, bias.inputs["From Max"].default_value = 0.25, 0.65
    bias.inputs["To Min"].default_value, bias.inputs["To Max"].default_value = 0.35, 1.0
    link(noise.outputs["Fac"], bias.inputs["Value"])
    much.operation = "MULTIPLY"
    link(fade.outputs[0], much.inputs[0])
    link(bias.outputs[0], much.inputs[1])
    dirt = nodes.new("ShaderNodeBsdfDiffuse")
    dirt.inputs["Color"].default_value = (*dust, 1)
    for shader in [node for node in nodes if node.type == "BSDF_PRINCIPLED"]:
        ends, mix = [one.to_socket for one in shader.outputs[0].links], nodes.new("ShaderNodeMixShader")
        link(much.outputs[0], mix.inputs["Fac"])
        link(shader.outputs[0], mix.inputs[1])
        link(dirt.outputs[0], mix.inputs[2])
        for end in ends:
            link(mix.outputs[0], end)
    return paint


def clear_pane() -> bpy.types.Material:
    """Tinted glass that shows what is behind it and mirrors the sky at a slant."""
    made = bpy.data.materials.new("clear pane")
    made.use_nodes = True
    tree = made.node_tree
    tree.nodes.clear()
    tree.links.new(glass(tree), tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
    return made


def sheet(points: Sequence[tuple[float, float]], paint, at: float, axis: str = "y") -> bpy.types.Object:
    """A flat polygon: (x, z) points on the plane y = `at`, or (y, z) points on x = `at`."""
    verts = [(u, at, v) if axis == "y" else (at, u, v) for u, v in points]
    return mesh(verts, [tuple(range(len(verts)))], paint, smooth=False)


def lettering(text: str, at: Point, size: float, paint, facing: str, wide: float = 1.0) -> bpy.types.Object:
    """Painted letters `size` metres tall, centred on `at`, read by somebody who looks at the side `facing`
    of the vehicle: "left", "right", "rear" or "front"."""
    curve = bpy.data.curves.new("text", "FONT")
    curve.body, curve.size, curve.align_x, curve.align_y = text, size * 1.4, "CENTER", "CENTER"
    curve.extrude, curve.resolution_u = 0.001, 3
    made = bpy.data.objects.new("text", curve)
    bpy.context.collection.objects.link(made)
    curve.materials.append(paint)
    turn = {"right": 0.0, "front": math.pi / 2, "left": math.pi, "rear": -math.pi / 2}[facing]
    made.location, made.rotation_euler, made.scale = at, (math.pi / 2, 0, turn), (wide, 1, 1)
    return made


def rear_seam(shell: Shell, points: Sequence[tuple[float, float]], radius: float, paint) -> bpy.types.Object:
    """A line through (y, z) points on a shell's rear face."""
    return tube([(shell.on_end(y, z, False)[0] - 0.002, y, z) for y, z in points], radius, paint, sides=4)


def tape(start: Point, end: Point, tall: float = 0.06, thick: float = 0.006, pitch: float = 0.22) -> Objects:
    """Red and white reflective tape along a straight line parallel to x, y or z; `thick` proud of it either way."""
    red = material("tape red", (0.45, 0.012, 0.010), 0.3, coat=0.4)
    white = material("tape white", (0.62, 0.62, 0.60), 0.3, coat=0.4)
    a, b = np.array(start, float), np.array(end, float)
    count = max(2, round(float(np.linalg.norm(b - a)) / pitch))
    along = int(np.argmax(abs(b - a)))
    size = np.full(3, 2 * thick)
    size[2 if along != 2 else 1] = tall
    size[along] = abs(b - a)[along] / count
    return [
        box((a + (b - a) * (i + 0.5) / count).tolist(), size.tolist(), (red, white)[i % 2], 0.0)
        for i in range(count)
    ]


def chevrons(y: float, half: float, z: float, tall: float, x: float, colors: tuple) -> Objects:
    """Slanted warning stripes on a board facing back at `x`, leaning outwards from its middle."""
    first, second = colors
    made: Objects = [box((x + 0.012, y, z), (0.02, 2 * half, tall), second, 0.003)]
    step = tall * 0.9
    for i in range(int(half / step) + 1):
        for s in (1, -1):
            near, far = i * step, min(i * step + step / 2, half)
            lean = tall * 0.6
            if near + lean > half:
                continue
            far = min(far, half - lean)
            quad = [
                (near, z - tall / 2),
                (far, z - tall / 2),
                (far + lean, z + tall / 2),
                (near + lean, z + tall / 2),
            ]
            made.append(sheet([(y + s * u, v) for u, v in quad], first, x - 0.001, "x"))
    return made


def lorry_wheel(
    radius: float, x: float, side: int, outer: float, inner: float, twin: bool = False
) -> Objects:
    """A lorry's steel wheel, its axle along y; tyres between |y| = inner and outer, twin tyres with a gap."""
    rubber = grime(material("lorry tyre", (0.018, 0.018, 0.018), 0.85, spec=0.2, vary=0.3), 1.3, 0.35)
    steel = grime(material("steel rim", (0.30, 0.30, 0.30), 0.5, metal=0.3), 1.6, 0.5)
    dark = material("rim hole", (0.006, 0.006, 0.006), 1.0, spec=0.0)
    rim = radius * 0.60
    spans = [(inner, outer)] if not twin else [(outer - 0.2, outer), (inner, outer - 0.24)]
    made: Objects = []
    for a, b in spans:
        tread = [(rim, a), (radius * 0.93, a), (radius, a + 0.03), (radius, b - 0.03), (radius * 0.94, b)]
        grooved = [*tread, (radius * 0.8, b + 0.008), (rim + 0.02, b - 0.006), (rim, b - 0.02)]
        made.append(lathe(grooved, rubber, 48))
    deep = outer - (0.13 if twin else 0.05)
    made.append(
        lathe([(rim, outer - 0.015), (rim - 0.02, outer - 0.02), (rim - 0.035, deep + 0.02)], steel, 48)
    )
    bulge = 0.03 if twin else 0.05
    disc = [
        (rim - 0.035, deep),
        (rim * 0.62, deep + bulge),
        (rim * 0.45, deep + bulge),
        (rim * 0.42, deep + bulge + 0.03),
    ]
    made.append(lathe([*disc, (rim * 0.2, deep + bulge + 0.05), (0.0, deep + bulge + 0.055)], steel, 40))
    for i in range(8):
        turn = 2 * math.pi * i / 8
        at = (rim * 0.74 * math.cos(turn), rim * 0.74 * math.sin(turn), deep + bulge * 0.75)
        made.append(lathe([(0.0, 0.012), (rim * 0.11, 0.008), (rim * 0.12, -0.02)], dark, 12, center=at))
        nut = (rim * 0.5 * math.cos(turn + 0.4), rim * 0.5 * math.sin(turn + 0.4), deep + bulge + 0.01)
        made.append(lathe([(0.0, 0.02), (0.016, 0.015), (0.016, -0.01)], steel, 8, center=nut))
    return [place(made, (x, 0, radius), roll=-side * math.pi / 2)]


def tail_cluster(
    x: float, y: float, z: float, lights: str, wide: float = 0.13, tall: float = 0.34
) -> Objects:
    """Lamps either side facing back, in a black housing: indicator, tail and brake, reversing lamp, top to bottom."""
    housing = material("lamp housing", (0.012, 0.012, 0.012), 0.4, spec=0.4)
    lit = {"brake": 5.0, "on": 0.7, "hazard": 0.4}.get(lights, 0.0)
    red = material("tail lens", (0.34, 0.008, 0.006), 0.12, coat=1.0, emit=0.0)
    bulb = material("tail lamp", (0.7, 0.012, 0.008), 0.2, emit=lit)
    amber = material(
        "indicator", (0.72, 0.16, 0.008), 0.12, coat=1.0, emit=1.8 if lights == "hazard" else 0.0
    )
    clear = material("reversing lens", (0.42, 0.43, 0.44), 0.15, coat=1.0)
    made: Objects = []
    for s in (1, -1):
        made.append(box((x + 0.02, s * y, z), (0.06, wide + 0.03, tall + 0.03), housing, 0.012))
        for part, tall_part, up in ((amber, 0.28, 0.36), (red, 0.42, 0.0), (clear, 0.26, -0.36)):
            made.append(box((x - 0.014, s * y, z + up * tall), (0.02, wide, tall_part * tall), part, 0.008))
        dome = [(0.0, 0.012), (wide * 0.3, 0.006), (wide * 0.32, 0.0)]
        made.append(lathe(dome, bulb, 20, center=(x - 0.024, s * y, z), rot=(0, -math.pi / 2, 0)))
    return made


def mudguard(x: float, radius: float, y: float, wide: float, paint, start: float = 0.25, end: float = 2.9):
    """An arched sheet over a wheel at (x, y), `radius` from its axle, between two angles from the front (radians)."""
    arc = [(x + radius * math.cos(a), 0.44 + radius * math.sin(a)) for a in np.linspace(start, end, 14)]
    n = len(arc)
    verts = [(u, y + e * wide / 2, v) for e in (-1, 1) for u, v in arc]
    made = mesh(verts, [(i, i + 1, n + i + 1, n + i) for i in range(n - 1)], paint)
    thick = made.modifiers.new("thick", "SOLIDIFY")
    thick.thickness = 0.02
    return made


def louvres(center: Point, wide: float, tall: float, count: int, paint, dark, along: str = "x") -> Objects:
    """A dark grille with slanted slats on a wall along x or y."""
    size = (wide, 0.012, tall) if along == "x" else (0.012, wide, tall)
    slat = (wide, 0.03, tall / count * 0.35) if along == "x" else (0.03, wide, tall / count * 0.35)
    x, y, z = center
    made = [box(center, size, dark, 0.0)]
    made += [
        box((x, y, z + tall * ((i + 0.5) / count - 0.5)), slat, paint, 0.004, segments=1)
        for i in range(count)
    ]
    return made


def occupant(
    x: float, y: float, seat: float, shirt: Color = (0.06, 0.09, 0.16), cap: Color = (0.03, 0.02, 0.015)
) -> Objects:
    """Somebody seated facing +x, what shows above a window's edge.

    seat: the height they sit at (m); cap: the colour of their hair or hat.
    """
    skin = material("face", (0.36, 0.22, 0.15), 0.6)
    hair = material("hair", cap, 0.7)
    cloth = material("shirt", shirt, 0.9)
    body = [
        ((x, y, seat + 0.1), 0.15, (x - 0.03, y, seat + 0.45), 0.13, (0.75, 1.35, 1)),
        ((x - 0.02, y + 0.2, seat + 0.42), 0.055, (x + 0.24, y + 0.2, seat + 0.22), 0.045),
        ((x - 0.02, y - 0.2, seat + 0.42), 0.055, (x + 0.24, y - 0.2, seat + 0.22), 0.045),
    ]
    made = [blob(body, cloth, 0.025, 2)]
    made.append(
        blob([((x, y, seat + 0.55), 0.06, (x, y, seat + 0.66), 0.085, (1.0, 0.88, 1.0))], skin, 0.016, 2)
    )
    made.append(
        blob(
            [((x - 0.035, y, seat + 0.70), 0.094, (x - 0.02, y, seat + 0.74), 0.088, (1.1, 0.92, 0.9))],
            hair,
            0.016,
            2,
        )
    )
    return made
