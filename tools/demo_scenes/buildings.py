"""Houses, barns and street fronts. Houses face +x with their front door; the origin is the front's middle."""

import numpy as np

from . import materials as mats
from .shape import Shape, box, quad, turned

SIDINGS = [
    (0.45, 0.43, 0.39),
    (0.30, 0.34, 0.36),
    (0.42, 0.36, 0.27),
    (0.20, 0.25, 0.29),
    (0.46, 0.42, 0.30),
    (0.46, 0.46, 0.46),
    (0.25, 0.29, 0.21),
    (0.36, 0.20, 0.15),
]
ROOFS = [(0.07, 0.065, 0.062), (0.10, 0.075, 0.06), (0.055, 0.058, 0.065), (0.16, 0.07, 0.045)]
BRICKS = [(0.17, 0.06, 0.04), (0.24, 0.13, 0.08), (0.13, 0.07, 0.055), (0.33, 0.28, 0.21)]


def window(shape, at, yaw, width, height, lit, frame, panes=2, blind=0.0):
    """A framed window with sill and muntins; at = the middle of its foot, facing +x turned by yaw."""
    glass = mats.glass("glass-lit", emit=0.7) if lit else mats.glass()
    bits = [(box((-0.02, -width / 2, 0), (0.015, width / 2, height)), glass)]
    if blind and not lit:
        bits.append(
            (
                box((0.0, -width / 2, height * (1 - blind)), (0.018, width / 2, height)),
                mats.plain("blind", (0.42, 0.41, 0.37), 0.8),
            )
        )
    w = 0.07
    for lo, hi in (
        ((0, -width / 2 - w, -w), (0.05, width / 2 + w, 0)),
        ((0, -width / 2 - w, height), (0.05, width / 2 + w, height + w)),
        ((0, -width / 2 - w, 0), (0.05, -width / 2, height)),
        ((0, width / 2, 0), (0.05, width / 2 + w, height)),
    ):
        bits.append((box(lo, hi), frame))
    for k in range(1, panes):
        y = -width / 2 + width * k / panes
        bits.append((box((0, y - 0.02, 0), (0.03, y + 0.02, height)), frame))
    bits.append((box((0, -width / 2, height / 2 - 0.02), (0.03, width / 2, height / 2 + 0.02)), frame))
    bits.append((box((0, -width / 2 - 0.1, -0.13), (0.1, width / 2 + 0.1, -w)), frame))
    for part, material in bits:
        shape.add(turned(part, yaw, at), material)


def _gable_roof(shape, x0, x1, y0, y1, eave, rise, roof, wall, trim, along_y=True, over=0.45):
    """Two slabs meeting at a ridge, gable triangles, eaves boards."""
    if along_y:
        xm = (x0 + x1) / 2
        slope = rise / ((x1 - x0) / 2)
        drop = over * slope
        run = np.hypot((x1 - x0) / 2 + over, rise + drop)
        for edge in (x0 - over, x1 + over):
            a, b = (edge, y0 - over, eave - drop), (edge, y1 + over, eave - drop)
            c, d = (xm, y1 + over, eave + rise), (xm, y0 - over, eave + rise)
            uv = [(0, 0), (y1 - y0, 0), (y1 - y0, run), (0, run)]
            part = np.array([a, b, c, d], float)
            faces = np.array([(0, 1, 2, 3)])
            above = part + np.array([0, 0, 0.14])
            shape.add((above, faces), roof, uv)
            shape.add((part, faces), trim)
            rim = np.concatenate([part, above])
            shape.add((rim, np.array([(0, 1, 5, 4), (1, 2, 6, 5), (3, 0, 4, 7)])), trim)
        for y in (y0, y1):
            tri = np.array([(x0, y, eave), (x1, y, eave), (xm, y, eave + rise)])
            shape.add((tri, np.array([(0, 1, 2)])), wall)
    else:
        inner = Shape()
        _gable_roof(inner, y0, y1, -x1, -x0, eave, rise, roof, wall, trim, True, over)
        for verts, faces, uv, slot in zip(inner.verts, inner.faces, inner.uvs, inner.slots, strict=True):
            part = turned((verts, faces - faces.min()), np.pi / 2)
            shape.add((part[0] * [1, 1, 1], part[1]), inner.materials[slot[0]], uv)


def house(name, rng, night=False):
    """A detached family house with a garage."""
    shape = Shape()
    tone = SIDINGS[rng.integers(len(SIDINGS))]
    wall = (
        mats.banded(f"siding-{tone}", tone, 0.16)
        if rng.random() < 0.75
        else mats.plain(f"stucco-{tone}", tone, 0.9, vary=0.1)
    )
    roof_rgb = ROOFS[rng.integers(len(ROOFS))]
    roof = mats.bricks(f"shingle-{roof_rgb}", roof_rgb, [c * 0.5 for c in roof_rgb], 0.3, 0.14)
    trim, base = (
        mats.plain("trim", (0.6, 0.6, 0.58), 0.6),
        mats.plain("foundation", (0.24, 0.23, 0.22), 0.9, vary=0.2),
    )
    door = mats.plain(
        f"door-{tone}", [(0.2, 0.03, 0.02), (0.02, 0.05, 0.1), (0.15, 0.08, 0.04)][rng.integers(3)], 0.4
    )
    floors = int(rng.integers(1, 3))
    w, d, eave = rng.uniform(8.5, 12), rng.uniform(8, 10), 0.4 + 2.75 * floors
    shape.add(box((-d, -w / 2, -0.6), (0, w / 2, 0.35)), base)
    shape.add(box((-d + 0.02, -w / 2 + 0.02, 0.35), (-0.02, w / 2 - 0.02, eave)), wall)
    front_gable = rng.random() < 0.35
    _gable_roof(shape, -d, 0, -w / 2, w / 2, eave, rng.uniform(1.8, 3.0), roof, wall, trim, not front_gable)
    doory = rng.uniform(-0.15, 0.15) * w
    shape.add(box((-0.1, doory - 0.5, 0.35), (0.04, doory + 0.5, 2.45)), door)
    shape.add(box((0, doory - 0.62, 0.35), (0.03, doory + 0.62, 2.57)), trim)
    shape.add(box((0, doory - 0.8, -0.2), (1.3, doory + 0.8, 0.34)), base)
    for f in range(floors):
        z = 1.25 + 2.75 * f
        for y in np.linspace(-w / 2 + 1.5, w / 2 - 1.5, int(w // 2.6)):
            if f or abs(y - doory) > 1.5:
                window(
                    shape,
                    (0, y, z),
                    0,
                    rng.choice([0.9, 1.2, 1.7]),
                    1.25,
                    night and rng.random() < 0.5,
                    trim,
                    2,
                    rng.choice([0, 0.35, 0.7]),
                )
        for x in (-d * 0.3, -d * 0.7):
            for side in (-1, 1):
                window(
                    shape,
                    (x, side * w / 2, z),
                    side * np.pi / 2,
                    1.0,
                    1.2,
                    night and rng.random() < 0.4,
                    trim,
                    1,
                )
    gs = rng.choice([-1, 1])
    gy0, gy1 = sorted((gs * w / 2, gs * (w / 2 + rng.choice([3.6, 5.8]))))
    gx = rng.uniform(-1.5, 1.2)
    shape.add(box((-7 + gx, gy0, -0.4), (gx, gy1, 2.9)), wall)
    _gable_roof(shape, -7 + gx, gx, gy0, gy1, 2.9, 1.5, roof, wall, trim, rng.random() < 0.5, 0.35)
    for k in range(4):
        shape.add(
            box(
                (gx, gy0 + 0.45, 0.05 + k * 0.56), (gx + 0.035 + 0.01 * (k % 2), gy1 - 0.45, 0.59 + k * 0.56)
            ),
            trim,
        )
    if rng.random() < 0.6:
        cx, cy = -d * 0.6, rng.uniform(-0.3, 0.3) * w
        shape.add(
            box((cx, cy - 0.4, eave), (cx + 0.7, cy + 0.4, eave + 3.6)),
            mats.plain("chimney", (0.24, 0.10, 0.07), 0.9, vary=0.3, scale=8),
        )
    if rng.random() < 0.45:
        shape.add(box((0, -w * 0.45, 2.75), (2.0, w * 0.45, 2.9)), roof)
        for y in np.linspace(-w * 0.43, w * 0.43, 4):
            shape.add(box((1.8, y - 0.07, 0.2), (1.94, y + 0.07, 2.8)), trim)
        shape.add(box((0, -w * 0.45, -0.2), (2.0, w * 0.45, 0.3)), base)
    return shape.mesh(name), float((gy0 + gy1) / 2), float(gx)


def barn(name, rng):
    """A weathered farm building."""
    shape = Shape()
    tone = [(0.22, 0.04, 0.03), (0.25, 0.22, 0.19), (0.42, 0.41, 0.38)][rng.integers(3)]
    wall = mats.banded(f"barn-{tone}", tone, 0.22, 0.5, 0.35)
    roof = mats.plain("tin", (0.24, 0.22, 0.21), 0.5, metal=0.4, vary=0.35, scale=0.8)
    trim = mats.plain("trim", (0.6, 0.6, 0.58), 0.6)
    shape.add(box((-14, -5, -0.5), (0, 5, 4.2)), wall)
    _gable_roof(shape, -14, 0, -5, 5, 4.2, 3.0, roof, wall, trim, False)
    shape.add(box((0, -1.7, 0), (0.08, 1.7, 3.3)), mats.plain("barn-door", [c * 0.6 for c in tone], 0.9))
    return shape.mesh(name)


def _front(shape, rng, wide, floors, tall, wall, trim, night, metal):
    """Windows, ledges and a shop on one street front (the plane x = 0)."""
    bays = max(2, int(wide // rng.uniform(2.4, 3.4)))
    bay, ground = wide / bays, 4.0
    ww, wh = bay * rng.uniform(0.45, 0.75), tall * rng.uniform(0.5, 0.62)
    for f in range(1, floors):
        z = ground + (f - 1) * tall + tall * 0.22
        for k in range(bays):
            y = -wide / 2 + bay * (k + 0.5)
            window(
                shape,
                (0.0, y, z),
                0,
                ww,
                wh,
                night and rng.random() < 0.35,
                metal,
                2,
                rng.choice([0, 0, 0.3, 0.6]),
            )
        if rng.random() < 0.5:
            shape.add(
                box((0, -wide / 2, z - tall * 0.22 - 0.12), (0.1, wide / 2, z - tall * 0.22 + 0.06)), trim
            )
    shape.add(box((0, -wide / 2, 3.35), (0.25, wide / 2, 3.95)), trim)
    for k in range(bays):
        y = -wide / 2 + bay * (k + 0.5)
        glass = (
            mats.glass("shop-lit", (0.03, 0.028, 0.025), 0.35)
            if night
            else mats.glass("shop", (0.02, 0.022, 0.024))
        )
        shape.add(box((-0.05, y - bay * 0.42, 0.5), (0.03, y + bay * 0.42, 3.1)), glass)
        shape.add(box((0, y - 0.04, 0.5), (0.07, y + 0.04, 3.1)), metal)
        if rng.random() < 0.4:
            rgb = [(0.05, 0.12, 0.07), (0.22, 0.03, 0.03), (0.03, 0.05, 0.14), (0.4, 0.35, 0.22)][
                rng.integers(4)
            ]
            awning = quad(
                (0.1, y - bay * 0.45, 3.25),
                (1.2, y - bay * 0.45, 2.7),
                (1.2, y + bay * 0.45, 2.7),
                (0.1, y + bay * 0.45, 3.25),
            )
            shape.add(awning, mats.plain(f"awning-{rgb}", rgb, 0.85, vary=0.1))
    if rng.random() < 0.8:
        rgb = [(0.3, 0.05, 0.04), (0.05, 0.1, 0.25), (0.5, 0.45, 0.3), (0.04, 0.2, 0.12), (0.02, 0.02, 0.02)][
            rng.integers(5)
        ]
        y = rng.uniform(-0.2, 0.2) * wide
        shape.add(
            box((0.25, y - wide * 0.2, 3.4), (0.33, y + wide * 0.2, 3.9)),
            mats.plain(f"board-{rgb}-{night}", rgb, 0.4, emit=0.5 * night),
        )


def street_front(name, rng, night=False, low=False):
    """A town building up to its neighbours: returns (mesh, width)."""
    shape = Shape()
    floors = 1 + int(rng.integers(0, 2)) if low else int(rng.integers(2, 6))
    tall, wide, deep = rng.uniform(3.1, 3.7), rng.uniform(10, 20), 14.0
    top = 4.0 + (floors - 1) * tall
    tone = BRICKS[rng.integers(len(BRICKS))]
    if rng.random() < 0.55:
        wall = mats.bricks(f"brick-{tone}", tone, (0.2, 0.185, 0.165))
    else:
        tone = SIDINGS[rng.integers(len(SIDINGS))]
        wall = mats.plain(f"render-{tone}", tone, 0.9, vary=0.14, scale=0.5)
    trim, metal = (
        mats.plain("stone", (0.38, 0.36, 0.32), 0.8, vary=0.15),
        mats.plain("sash", (0.05, 0.05, 0.055), 0.4),
    )
    walls = [
        ((0, -wide / 2), (0, wide / 2)),
        ((0, wide / 2), (-deep, wide / 2)),
        ((-deep, -wide / 2), (0, -wide / 2)),
    ]
    for (xa, ya), (xb, yb) in walls:
        n = np.hypot(xb - xa, yb - ya)
        part = quad((xa, ya, -0.5), (xb, yb, -0.5), (xb, yb, top + 0.7), (xa, ya, top + 0.7))
        shape.add(part, wall, [(0, 0), (n, 0), (n, top + 1.2), (0, top + 1.2)])
    shape.add(box((-deep, -wide / 2 + 0.01, top - 0.2), (-0.01, wide / 2 - 0.01, top)), metal)
    shape.add(box((-0.05, -wide / 2 - 0.02, top + 0.45), (0.28, wide / 2 + 0.02, top + 0.8)), trim)
    shape.add(box((-0.05, -wide / 2, -0.3), (0.06, wide / 2, 0.45)), trim)
    _front(shape, rng, wide, floors, tall, wall, trim, night, metal)
    for side in (-1, 1):
        for f in range(1, floors):
            for x in (-3.0, -7.0, -11.0):
                window(
                    shape,
                    (x, side * wide / 2, 4.0 + (f - 1) * tall + 0.8),
                    side * np.pi / 2,
                    1.2,
                    1.7,
                    night and rng.random() < 0.3,
                    metal,
                    2,
                )
    if floors > 2 and rng.random() < 0.6:
        shape.add(box((-8, -2, top), (-5, 2, top + 2.4)), mats.plain("plant-room", (0.3, 0.3, 0.3), 0.8))
    return shape.mesh(name), wide
