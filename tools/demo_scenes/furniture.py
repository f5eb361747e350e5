"""Street furniture: poles and wires, lamps, signs, signals, barriers, fences and the small things."""

import itertools

import bpy
import cv2
import numpy as np

from . import materials as mats
from .shape import Shape, add_cylinder, add_tube, box, quad, turned

STEEL = ("galvanised", (0.32, 0.33, 0.34), 0.5)


def steel():
    """Galvanised steel."""
    return mats.plain(*STEEL, metal=0.6)


def utility_pole(height=9.5):
    """A wooden pole with a cross-arm along y and a transformer; wires hang at y = ±1.0 and 0.35."""
    shape, wood = Shape(), mats.plain("pole", (0.12, 0.085, 0.06), 0.95, vary=0.4, scale=6, bumpy=0.4)
    add_tube(shape, [(0, 0, -0.5), (0, 0, height / 2), (0, 0, height)], [0.17, 0.145, 0.11], wood, 10)
    shape.add(box((-0.06, -1.15, height - 0.75), (0.06, 1.15, height - 0.62)), wood)
    for y in (-1.0, 0.35, 1.0):
        add_cylinder(
            shape,
            mats.plain("insulator", (0.25, 0.24, 0.22), 0.2),
            0.045,
            height - 0.62,
            height - 0.45,
            at=(0, y, 0),
        )
    add_cylinder(shape, steel(), 0.22, height - 2.3, height - 1.4, at=(0.32, 0, 0))
    return shape.mesh("utility-pole")


def wires(road, stations, t, height=9.5):
    """Sagging wires between poles at the stations."""
    shape, black = Shape(), mats.plain("wire", (0.015, 0.015, 0.015), 0.6)
    for y, z in ((-1.0, height - 0.45), (0.35, height - 0.45), (1.0, height - 0.45), (0.15, height - 2.6)):
        for a, b in itertools.pairwise(stations):
            u = np.linspace(0, 1, 9)
            p0, p1 = road.at(a, t + y, z), road.at(b, t + y, z)
            line = p0 + (p1 - p0) * u[:, None] - np.array([0, 0, 1.0]) * (2.4 * u * (1 - u))[:, None]
            add_tube(shape, line, 0.014 if z > height - 1 else 0.03, black, 3)
    return shape.mesh("wires")


def street_lamp(height=8.0, arm=2.2, lit=False):
    """A steel lamp; the arm reaches towards +y."""
    shape = Shape()
    add_tube(shape, [(0, 0, 0), (0, 0, height * 0.85)], [0.1, 0.06], steel(), 10)
    a = np.linspace(0, np.pi / 2, 7)
    curve = np.stack([0 * a, arm * 0.5 * (1 - np.cos(a)), height * 0.85 + height * 0.13 * np.sin(a)], 1)
    add_tube(shape, np.concatenate([curve, [(0, arm, height)]]), 0.04, steel(), 8)
    shape.add(box((-0.13, arm - 0.1, height - 0.05), (0.13, arm + 0.55, height + 0.07)), steel())
    lens = (
        mats.plain("lamp-lit", (1.0, 0.75, 0.42), emit=60.0)
        if lit
        else mats.plain("lamp", (0.45, 0.45, 0.42), 0.3)
    )
    shape.add(box((-0.1, arm - 0.02, height - 0.09), (0.1, arm + 0.5, height - 0.05)), lens)
    add_cylinder(shape, mats.plain("foundation", (0.24, 0.23, 0.22), 0.9, vary=0.2), 0.22, -0.2, 0.12)
    return shape.mesh(f"street-lamp-{lit:d}")


def _panel(text, kind):
    """Artwork of a sign as a BGRA image, 256 px wide."""
    white, black, red, yellow, green = (
        (205, 208, 208),
        (22, 22, 22),
        (32, 28, 165),
        (20, 165, 225),
        (62, 92, 12),
    )
    h = {"speed": 320, "guide": 128, "street": 64}.get(kind, 256)
    img = np.zeros((h, 256, 4), np.uint8)

    def write(words, y, size, colour, thick):
        (w, _), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_DUPLEX, size, thick)
        cv2.putText(
            img, words, (128 - w // 2, y), cv2.FONT_HERSHEY_DUPLEX, size, (*colour, 255), thick, cv2.LINE_AA
        )

    if kind == "speed":
        img[:] = (*white, 255)
        cv2.rectangle(img, (8, 8), (247, h - 9), (*black, 255), 6)
        write("SPEED", 75, 1.9, black, 4)
        write("LIMIT", 140, 1.9, black, 4)
        write(text, 275, 4.4, black, 9)
    elif kind == "stop":
        a = np.pi / 8 + np.arange(8) * np.pi / 4
        for r, c in ((126, white), (118, red)):
            cv2.fillPoly(
                img,
                [np.stack([128 + r * np.cos(a), 128 + r * np.sin(a)], 1).astype(int)],
                (*c, 255),
                cv2.LINE_AA,
            )
        write("STOP", 155, 2.6, white, 7)
    elif kind == "warn":
        for r, c in ((127, black), (120, yellow)):
            cv2.fillPoly(
                img, [np.array([(128, 128 - r), (128 + r, 128), (128, 128 + r), (128 - r, 128)])], (*c, 255)
            )
        if text in "<>":
            s = 1 if text == ">" else -1
            cv2.polylines(
                img,
                [np.array([(128 - 20 * s, 190), (128 - 20 * s, 130), (128 + 10 * s, 85)])],
                False,
                (*black, 255),
                20,
            )
            cv2.fillPoly(
                img, [np.array([(128 + 40 * s, 62), (128 - 18 * s, 72), (128 + 34 * s, 112)])], (*black, 255)
            )
        else:
            cv2.circle(img, (128, 78), 14, (*black, 255), -1)
            cv2.polylines(
                img,
                [
                    np.array([(98, 190), (124, 150), (128, 105), (160, 128)]),
                    np.array([(124, 150), (158, 190)]),
                ],
                False,
                (*black, 255),
                16,
            )
    else:
        img[:] = (*green, 255)
        cv2.rectangle(img, (3, 3), (252, h - 4), (*white, 255), 3)
        for i, line in enumerate(text.split("/")):
            write(line, (54 if kind == "guide" else 43) + 50 * i, 1.4 if kind == "guide" else 1.2, white, 3)
    return img


def sign(kind, text, scratch):
    """A sign facing -x (towards an approaching driver) on its post; scratch is a folder for the artwork."""
    name = f"sign-{kind}-{text.replace('/', '_').replace('<', 'l').replace('>', 'r')}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    path = scratch / f"{name}.png"
    img = _panel(text, kind)
    cv2.imwrite(str(path), img)
    material = mats.picture(name, bpy.data.images.load(str(path)), (1.0, 1.0), rough=0.4)
    tree = material.node_tree
    tex = next(n for n in tree.nodes if n.type == "TEX_IMAGE")
    tree.links.new(tex.outputs["Alpha"], tree.nodes["Principled BSDF"].inputs["Alpha"])
    w, h, z = {
        "speed": (0.62, 0.78, 2.1),
        "stop": (0.76, 0.76, 2.1),
        "warn": (0.95, 0.95, 1.9),
        "guide": (3.4, 1.7, 2.2),
        "street": (0.95, 0.24, 2.9),
    }[kind]
    shape, grey = Shape(), steel()
    for x, m in ((-0.035, material), (-0.028, grey if kind in ("speed", "guide", "street") else material)):
        face = quad((x, w / 2, z), (x, -w / 2, z), (x, -w / 2, z + h), (x, w / 2, z + h))
        shape.add(face, m, [(0, 0), (1, 0), (1, 1), (0, 1)])
    for y in (-w * 0.35, w * 0.35) if kind == "guide" else (0.0,):
        shape.add(box((-0.025, y - 0.025, -0.4), (0.025, y + 0.025, z + h * 0.95)), grey)
    return shape.mesh(name)


def signal(arm=6.0, state="green"):
    """A traffic signal on a mast arm towards +y, heads facing -x, with one on the mast."""
    name = f"signal-{arm}-{state}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    shape, dark = Shape(), mats.plain("signal-box", (0.02, 0.022, 0.02), 0.5)
    add_tube(shape, [(0, 0, 0), (0, 0, 6.4)], [0.14, 0.11], steel(), 10)
    add_tube(shape, [(0, 0, 5.7), (0, arm, 6.3)], [0.09, 0.05], steel(), 8)
    rgb = {"red": (1.0, 0.03, 0.02), "amber": (1.0, 0.45, 0.02), "green": (0.06, 1.0, 0.45)}
    for y, z in ((arm - 0.3, 6.25), (arm - 3.2, 5.95), (0, 3.2)):
        shape.add(box((-0.16, y - 0.18, z - 1.05), (0.04, y + 0.18, z)), dark)
        shape.add(box((-0.01, y - 0.3, z - 1.17), (0.0, y + 0.3, z + 0.12)), dark)
        for k, light in enumerate(("red", "amber", "green")):
            on = light == state
            tone = rgb[light] if on else tuple(c * 0.05 for c in rgb[light])
            lens = mats.plain(f"signal-{light}-{on}", tone, 0.3, emit=7.0 * on)
            add_cylinder(shape, lens, 0.11, -0.175, -0.155, "x", 18, (0, y, z - 0.19 - 0.33 * k))
    return shape.mesh(name)


def guardrail(road, lo, hi, t):
    """W-beam on posts; faces the road's middle."""
    from .road import ribbon

    shape, s = Shape(), -np.sign(t)
    out = np.array([0, 0.07, 0.01, 0.08, 0.01, 0.07, 0]) * s
    part, _ = ribbon(road, lo, hi, t + out, np.linspace(0.48, 0.79, 7), 2.0)
    shape.add(part, mats.plain("rail", (0.38, 0.39, 0.40), 0.42, metal=0.7, vary=0.2, scale=0.7), smooth=True)
    for at in np.arange(lo, hi, 2.0):
        post = turned(
            box((-0.05, -0.08, -0.3), (0.05, 0.08, 0.78)),
            float(road.heading(at)),
            road.at(at, t - 0.1 * s)[()],
        )
        shape.add(post, steel())
    return shape.mesh("guardrail")


def jersey(road, lo, hi, t):
    """A concrete barrier."""
    from .road import ribbon

    offs = np.array([-0.30, -0.28, -0.14, -0.09, 0.09, 0.14, 0.28, 0.30])
    part, _ = ribbon(road, lo, hi, t + offs, [0, 0.1, 0.33, 0.85, 0.85, 0.33, 0.1, 0], 3.0)
    return (
        Shape()
        .add(part, mats.plain("concrete", (0.30, 0.29, 0.265), 0.9, vary=0.3, scale=0.7, bumpy=0.2))
        .mesh("jersey")
    )


def fence(road, lo, hi, t, kind="post", tone=(0.2, 0.16, 0.12)):
    """Post-and-rail, boards, or wire along the road."""
    shape = Shape()
    wood = mats.plain(f"fence-{kind}", tone, 0.95, vary=0.4, scale=4)
    step = {"post": 2.6, "wire": 3.2, "board": 2.4}[kind]
    tall = {"post": 1.25, "wire": 1.2, "board": 1.8}[kind]
    rng = np.random.default_rng(int(abs(lo * 10 + t * 100)) + 5)
    stations = np.arange(lo, hi, step)
    for at in stations:
        lean = rng.normal(0, 0.02, 2)
        foot = road.at(at, t + rng.normal(0, 0.02))
        add_tube(
            shape, [foot - [0, 0, 0.6], np.add(foot, [*lean, tall * rng.uniform(0.95, 1.05)])], 0.06, wood, 6
        )
    for z in {"post": (0.45, 0.8, 1.12), "wire": (0.35, 0.7, 1.05), "board": ()}[kind]:
        line = road.at(stations, t, z + rng.normal(0, 0.015, len(stations)))
        if kind == "post":
            for a, b in itertools.pairwise(line):
                add_tube(shape, [a, b], 0.05, wood, 5)
        else:
            add_tube(shape, line, 0.006, mats.plain("wire", (0.015,) * 3, 0.6), 3)
    if kind == "board":
        for at in np.arange(lo, hi - 0.15, 0.155):
            p = turned(
                box((0, -0.01, 0.05), (0.145, 0.01, tall + rng.normal(0, 0.012))),
                float(road.heading(at)),
                road.at(at, t)[()],
            )
            shape.add(p, wood)
    return shape.mesh(f"fence-{kind}")


def small(kind):
    """Mailbox, hydrant, bin, delineator, bollard."""
    if f"small-{kind}" in bpy.data.meshes:
        return bpy.data.meshes[f"small-{kind}"]
    shape = Shape()
    if kind == "mailbox":
        shape.add(
            box((-0.05, -0.05, -0.3), (0.05, 0.05, 1.05)), mats.plain("pole", (0.12, 0.085, 0.06), 0.95)
        )
        shape.add(
            box((-0.25, -0.1, 1.05), (0.27, 0.1, 1.2)),
            mats.plain("mailbox", (0.05, 0.05, 0.06), 0.4, coat=0.4),
        )
        add_cylinder(
            shape, mats.plain("mailbox", (0.05, 0.05, 0.06), 0.4), 0.1, -0.25, 0.27, "x", 16, (0, 0, 1.2)
        )
    elif kind == "hydrant":
        red = mats.plain("hydrant", (0.35, 0.03, 0.015), 0.5, vary=0.2)
        for r, a, b in ((0.16, 0, 0.05), (0.11, 0, 0.55), (0.14, 0.52, 0.58), (0.09, 0.58, 0.72)):
            add_cylinder(shape, red, r, a, b)
        add_cylinder(shape, red, 0.06, -0.2, 0.2, "y", 12, (0, 0, 0.42))
    elif kind == "bin":
        green = mats.plain("bin", (0.025, 0.05, 0.035), 0.6, each=0.3)
        shape.add(box((-0.3, -0.28, 0.08), (0.3, 0.28, 0.95)), green)
        shape.add(box((-0.34, -0.31, 0.95), (0.36, 0.31, 1.04)), green)
    else:
        shape.add(
            box((-0.015, -0.05, -0.2), (0.015, 0.05, 1.0)), mats.plain("delineator", (0.55, 0.55, 0.53), 0.6)
        )
        shape.add(
            box((-0.02, -0.04, 0.8), (0.02, 0.04, 0.95)),
            mats.plain("reflector", (0.5, 0.2, 0.01), 0.2, emit=0.15),
        )
    return shape.mesh(f"small-{kind}")
