"""Soft and lost things: a mattress, a suitcase, rubbish bags, a carrier bag."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import bpy
import numpy as np
from common import Model, Objects, blob, box, crumple, lathe, loft, material, mesh, place, tube


def build_mattress(seed: int, length: float = 1.95, width: float = 1.4, thick: float = 0.24) -> Objects:
    """A mattress dropped on the road: stained, striped ticking quilted in a chequer, piped edges, handles, a label.

    It is worn down in the middle, and one end is bent up, so that a low camera sees its face.
    """
    rng = Random(seed)
    ticking, band = _ticking("ticking", 0.055, seed), _ticking("band", 0.055, seed, sides=True)
    under = material("underside", (0.5, 0.46, 0.38), 0.9, spec=0.05, dark=(0.3, 0.25, 0.18), vary_scale=2.5)
    piping, label = material("piping", (0.03, 0.045, 0.12), 0.8), material("label", (0.72, 0.7, 0.64), 0.8)
    turn = np.linspace(0, 2 * math.pi, 320, endpoint=False)
    c, s = np.cos(turn), np.sin(turn)
    out_x, out_y = np.sign(c) * abs(c) ** 0.16 * length / 2, np.sign(s) * abs(s) ** 0.16 * width / 2

    def sagging(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Worn down where somebody lay; from the bend on it rises, the more the nearer to one corner."""
        dip = 0.06 * np.exp(-(((x + 0.1) / 0.5) ** 2) - ((y - 0.1) / 0.4) ** 2)
        wave = 0.012 * np.sin(5.1 * y + 1.0) * np.cos(2.3 * x)
        past = np.clip(x - 0.16 - 0.1 * y, 0, None)
        tilt = np.clip(past / 0.4, 0, 1) * (0.58 + 0.2 * y / width)  # radians up to which the end is bent
        along = np.where(past > 0, past * (1 - tilt**2 / 6), 0) - past
        corner = 0.14 * np.clip((-x - 0.55) / 0.42, 0, 1) ** 2 * np.clip((-y - 0.25) / 0.45, 0, 1) ** 2
        lift = past * np.sin(tilt * 0.6) + corner
        return np.stack(
            [x + along - np.sin(tilt) * z, y, z * np.cos(tilt) * (1 - (dip + wave) / thick) + lift], -1
        )

    shares = np.array([1.0, 0.985, 0.95, 0.9, *np.linspace(0.86, 0.0, 40)])
    x, y = shares[:, None] * out_x, shares[:, None] * out_y
    seam = abs(np.sin(x * math.pi / 0.2)) * abs(np.sin(y * math.pi / 0.2))
    crown = thick - 0.02 + (0.01 + 0.045 * seam**0.4) * np.clip((1 - shares) / 0.08, 0, 1)[:, None]
    made = [_skin(sagging(x, y, crown), ticking)]
    heights = np.linspace(0.012, thick - 0.02, 13)
    rise = np.linspace(0, math.pi, 13)[:, None]
    puffs = 1 + 0.022 * abs(np.sin(rise)) ** 0.6 * (0.4 + 0.6 * abs(np.sin(turn * 14))[None] ** 0.5)
    flat = np.repeat(heights[:, None], len(turn), 1)
    made.append(_skin(sagging(puffs * out_x, puffs * out_y, flat), band))
    made.append(_skin(sagging(x, y, np.full_like(x, 0.012))[::-1], under))
    for z in (0.018, thick - 0.02):
        rim = sagging(1.008 * out_x, 1.008 * out_y, np.full_like(out_x, z))
        made.append(tube(rim.tolist(), 0.016, piping, cyclic=True))
    for side in (1, -1):
        for at in (-0.6, -0.1):
            made.append(_strap(sagging, at, side * (width / 2 + 0.03), 0.12, piping))
    tag = sagging(np.array([-0.36]), np.array([0.0]), np.array([0.0]))[0]
    made.append(box((tag[0], -width / 2 - 0.022, 0.13), (0.1, 0.006, 0.075), label, 0.0))
    return [place(made, yaw=rng.uniform(-0.2, 0.2))]


def _strap(bend: Callable[..., np.ndarray], at: float, side: float, z: float, paint) -> object:
    """A cloth handle on a mattress's side: its ends sewn on, its middle standing off."""
    x = np.linspace(at - 0.13, at + 0.13, 9)
    off = side + math.copysign(0.018, side) * np.sin(np.linspace(0, math.pi, 9))
    return tube(bend(x, off, np.full(9, z)).tolist(), 0.014, paint)


def _ticking(name: str, pitch: float, seed: int, sides: bool = False) -> bpy.types.Material:
    """Mattress cloth: blue stripes by threes on cream, `pitch` metres apart, stained in large blots."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    tree = made.node_tree
    nodes, link = tree.nodes, tree.links.new
    shader, where, split = (
        nodes["Principled BSDF"],
        nodes.new("ShaderNodeTexCoord"),
        nodes.new("ShaderNodeSeparateXYZ"),
    )
    shader.inputs["Roughness"].default_value, shader.inputs["Specular IOR Level"].default_value = 0.9, 0.05
    link(where.outputs["Object"], split.inputs[0])

    def math_node(operation: str, *values: Any) -> Any:
        node = nodes.new("ShaderNodeMath")
        node.operation = operation
        for slot, value in zip(node.inputs, values, strict=False):
            if isinstance(value, (int, float)):
                slot.default_value = value
            else:
                link(value, slot)
        return node.outputs[0]

    # across the top they run along it; on the sides they run upwards
    across = split.outputs["Y"] if not sides else math_node("ADD", split.outputs["X"], split.outputs["Y"])
    phase = math_node("FRACT", math_node("DIVIDE", math_node("ADD", across, 10.0), 2.6 * pitch))
    broad = math_node("LESS_THAN", math_node("ABSOLUTE", math_node("SUBTRACT", phase, 0.5)), 0.14)
    thin = math_node("LESS_THAN", math_node("ABSOLUTE", math_node("SUBTRACT", phase, 0.08)), 0.035)
    stain = nodes.new("ShaderNodeTexNoise")
    stain.inputs["Scale"].default_value, stain.inputs["Detail"].default_value = 1.7, 5
    link(where.outputs["Object"], stain.inputs["Vector"])
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[1].position = 0.48, 0.64
    link(stain.outputs["Fac"], ramp.inputs["Fac"])
    colour: Any = (0.54, 0.5, 0.42, 1)
    stripes = math_node("MAXIMUM", broad, thin)
    for share, to in (
        (stripes, (0.11, 0.15, 0.25, 1)),
        (math_node("MULTIPLY", ramp.outputs["Color"], 0.72), (0.19, 0.13, 0.07, 1)),
    ):
        mix = nodes.new("ShaderNodeMix")
        mix.data_type = "RGBA"
        link(share, mix.inputs[0])
        if isinstance(colour, tuple):
            mix.inputs[6].default_value = colour
        else:
            link(colour, mix.inputs[6])
        mix.inputs[7].default_value = to
        colour = mix.outputs[2]
    link(colour, shader.inputs["Base Color"])
    return made


def _skin(points: np.ndarray, paint) -> object:
    """A skin over a grid of points (rows, columns, 3), its columns joined at the ends where they run round."""
    rows, cols = points.shape[:2]
    around = cols if cols > 100 else cols - 1
    quads = [
        (i * cols + j, i * cols + (j + 1) % cols, (i + 1) * cols + (j + 1) % cols, (i + 1) * cols + j)
        for i in range(rows - 1)
        for j in range(around)
    ]
    return mesh(points.reshape(-1, 3).tolist(), quads, paint)


def build_suitcase(
    seed: int,
    color: tuple[float, float, float] = (0.01, 0.17, 0.18),
    cloth: tuple[float, float, float] = (0.016, 0.019, 0.03),
) -> Objects:
    """Two trolley cases that came to stand, their handles out: one of ribbed plastic, one of cloth.

    They stand across each other, so that from every side one of them shows its broad face.
    """
    rng = Random(seed)
    hard = place(_hard_case(color), (0.17, 0.17, 0.0), 0.15)
    soft = place(_cloth_case(cloth), (-0.2, -0.22, 0.0), -1.2, scale=0.88)
    return [place([hard, soft], yaw=rng.uniform(-0.3, 0.3))]


def _hard_case(color: tuple[float, float, float]) -> Objects:
    """A ribbed case standing upright, its front +x: rounded shells, a zip between them, four wheels."""
    shell = material("case", color, 0.35, spec=0.5, vary=0.1, vary_scale=4)
    rib = material("case rib", tuple(min(0.9, 1.25 * c) for c in color), 0.35, spec=0.5)
    groove = material("case groove", tuple(0.4 * c for c in color), 0.6)
    trim = material("trim", (0.012, 0.012, 0.013), 0.5)
    made = [box((s * 0.078, 0, 0.42), (0.15, 0.5, 0.72), shell, 0.07, segments=6) for s in (1, -1)]
    made.append(box((0, 0, 0.42), (0.03, 0.49, 0.71), trim, 0.05, segments=5))
    for s in (1, -1):
        made.append(box((s * 0.151, 0, 0.42), (0.008, 0.36, 0.58), groove, 0.0))
        for y in np.linspace(-0.162, 0.162, 7):
            made.append(box((s * 0.152, float(y), 0.42), (0.022, 0.033, 0.6), rib, 0.01, segments=3))
    for y in (-0.249, 0.249):  # grooves run on round the sides
        made += [box((s * 0.08, y, 0.42), (0.012, 0.006, 0.52), groove, 0.0) for s in (1, -1)]
    made.append(box((0.166, 0.0, 0.66), (0.008, 0.1, 0.04), material("badge", (0.6, 0.6, 0.6), 0.3), 0.003))
    return [*made, *_undercarriage(0.17, 0.11), *_handles(0.78, 0.36)]


def _cloth_case(color: tuple[float, float, float]) -> Objects:
    """A stuffed cloth case standing upright, its front +x: two pockets with pale zips, piping, a tag."""
    weave = material("weave", color, 0.9, spec=0.1, vary=0.35, vary_scale=9, bump=0.15, bump_scale=80)
    panel = material("panel", tuple(1.9 * c + 0.004 for c in color), 0.9, spec=0.1, vary=0.2)
    piping = material("piping", (0.12, 0.12, 0.125), 0.7)
    zipper = material("zip", (0.34, 0.34, 0.34), 0.4)
    made = [box((0, 0, 0.43), (0.27, 0.48, 0.72), weave, 0.06, segments=5)]
    made.append(box((0.15, 0, 0.28), (0.09, 0.4, 0.34), panel, 0.045, segments=4))
    made.append(box((0.14, 0, 0.63), (0.06, 0.4, 0.24), panel, 0.03, segments=4))
    for z, far, wide in ((0.43, 0.178, 0.34), (0.71, 0.161, 0.34)):
        made.append(box((far, 0, z), (0.008, wide, 0.012), zipper, 0.0))
    for x in (-0.125, 0.125):
        made.append(tube(_rounded(x, 0.225, 0.095, 0.775), 0.009, piping, cyclic=True))
    made.append(tube(_rounded(0.04, 0.243, 0.075, 0.793), 0.006, zipper, cyclic=True))
    tag = material("tag", (0.75, 0.70, 0.6), 0.7)
    made.append(box((0.12, 0.16, 0.80), (0.005, 0.06, 0.11), tag, 0.0, rot=(0.5, 0.3, 0)))
    return [*made, *_undercarriage(0.17, 0.1), *_handles(0.79, 0.38)]


def _rounded(x: float, half: float, low: float, high: float, corner: float = 0.05) -> list:
    """A rectangle with round corners across x, its points in order."""
    ring = []
    for k, (y, z) in enumerate(((half, high), (-half, high), (-half, low), (half, low))):
        inner = (y - math.copysign(corner, y), z + (-corner if z == high else corner))
        for turn in np.linspace(k * math.pi / 2, (k + 1) * math.pi / 2, 5):
            ring.append((x, inner[0] + corner * math.cos(turn), inner[1] + corner * math.sin(turn)))
    return ring


def _undercarriage(across: float, along: float) -> Objects:
    """Four wheels in their housings, on the ground, and a grip at the case's side."""
    black = material("wheel", (0.014, 0.014, 0.014), 0.6)
    grey = material("housing", (0.06, 0.06, 0.062), 0.5)
    disc = [(0.0, -0.02), (0.033, -0.02), (0.036, 0.0), (0.033, 0.02), (0.0, 0.02)]
    made: Objects = []
    for x in (-along, along):
        for y in (-across, across):
            made.append(lathe(disc, black, 20, center=(x, y, 0.036), rot=(math.pi / 2, 0, 0.4)))
            made.append(box((x, y, 0.075), (0.07, 0.08, 0.05), grey, 0.02, segments=3))
    grip = [(0, 0.25, 0.33), (0, 0.285, 0.36), (0, 0.285, 0.5), (0, 0.25, 0.53)]
    return [*made, tube(grip, 0.016, black)]


def _handles(top: float, out: float) -> Objects:
    """The carrying grip on top of a case and its pull-out handle, `out` metres long."""
    black, metal = (
        material("grip", (0.012, 0.012, 0.012), 0.5),
        material("pole", (0.55, 0.55, 0.56), 0.35, metal=0.8),
    )
    grip = [
        (0.04, -0.1, top - 0.01),
        (0.04, -0.07, top + 0.035),
        (0.04, 0.07, top + 0.035),
        (0.04, 0.1, top - 0.01),
    ]
    made = [tube(grip, 0.015, black)]
    for y in (-0.1, 0.1):
        made.append(tube([(-0.09, y, top - 0.03), (-0.09, y, top + out)], 0.012, metal))
        made.append(box((-0.09, y, top), (0.04, 0.05, 0.02), black, 0.008))
    made.append(box((-0.09, 0, top + out + 0.01), (0.04, 0.25, 0.042), black, 0.018, segments=4))
    return made


def build_bags(
    seed: int, count: int = 3, color: tuple[float, float, float] = (0.012, 0.012, 0.014)
) -> Objects:
    """Tied rubbish bags leaning on each other."""
    rng = Random(seed)
    plastic = material("plastic", color, 0.24, spec=0.6, bump=0.2, bump_scale=30)
    made: Objects = []
    for i in range(count):
        wide, tall = rng.uniform(0.24, 0.3), rng.uniform(0.24, 0.34)
        lean, neck = rng.uniform(-0.08, 0.08), wide * 1.0
        chains = [
            ((0, 0, wide * 0.7), wide, (lean, 0, tall), wide * 0.82, (1.1, 0.95, 0.74)),
            ((lean, 0, tall + wide * 0.35), wide * 0.5, (lean, 0, tall + neck * 0.72), 0.035),
        ]
        for a in (rng.uniform(0, 1), rng.uniform(2.5, 3.6)):  # the tied ends, hanging to either side
            tip = (
                lean + 0.13 * math.cos(a),
                0.13 * math.sin(a),
                tall + neck * 0.72 + rng.uniform(-0.02, 0.05),
            )
            chains.append(((lean, 0, tall + neck * 0.74), 0.026, tip, 0.05, (1, 1, 0.45)))
        bag = blob(chains, plastic, 0.011, 2, displace=0.045, displace_scale=0.09)
        at = (rng.uniform(-0.12, 0.12), (i - (count - 1) / 2) * 0.46, -0.01)
        made.append(place([bag], at, rng.uniform(0, 6), scale=rng.uniform(0.9, 1.1)))
    return made


def build_plastic_bag(seed: int, color: tuple[float, float, float] = (0.66, 0.66, 0.64)) -> Objects:
    """A thin carrier bag that the wind has half filled, its handles up, just above the road."""
    rng = Random(seed)
    thin = material("film", color, 0.4, spec=0.3, vary=0.06, vary_scale=12)
    rings = []
    for z, wide, deep in (
        (0.0, 0.05, 0.03),
        (0.01, 0.13, 0.09),
        (0.1, 0.17, 0.13),
        (0.2, 0.16, 0.11),
        (0.29, 0.14, 0.06),
    ):
        turn = np.linspace(0, 2 * math.pi, 40)
        fold = 1 + sum(rng.uniform(-0.09, 0.09) * np.cos(k * turn + rng.uniform(0, 6)) for k in (3, 5, 8, 11))
        x, y = wide * fold * np.cos(turn), deep * fold * np.sin(turn)
        x[-1], y[-1] = x[0], y[0]
        rings.append(np.stack([x, y, np.full(40, z)], -1).tolist())
    made = [crumple(loft(rings, thin, 1, caps=False), 0.05, 0.07, 1)]
    for s in (1, -1):
        strap = [
            (-0.1, 0.05 * s, 0.27),
            (-0.07, 0.07 * s, 0.36),
            (0.0, 0.1 * s, 0.41),
            (0.07, 0.06 * s, 0.35),
            (0.1, 0.05 * s, 0.27),
        ]
        made.append(tube(strap, [0.022, 0.013, 0.01, 0.013, 0.022], thin))
    return [place(made, (0, 0, 0.06), rng.uniform(-1, 1), roll=0.5)]


LOW = {"elevations": (5.0,), "samples": 12}
MODELS = {
    "mattress": Model(build_mattress, {"a": {}}, pixels=260, **LOW),
    "suitcase": Model(
        build_suitcase,
        {"teal": {}, "red": {"color": (0.36, 0.018, 0.022), "cloth": (0.03, 0.045, 0.085), "seed": 2}},
        pixels=220,
        **LOW,
    ),
    "garbage_bags": Model(
        build_bags,
        {"black": {}},
        pixels=180,
        **LOW,
    ),
    "plastic_bag": Model(build_plastic_bag, {"a": {}}, pixels=100),
}
