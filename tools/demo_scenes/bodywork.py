"""Car proportions, and what is laid onto a car's shell: windows, lamps, seams, plates, wheels."""

import numpy as np

from . import materials as mats
from .shape import add_cylinder, box, grid_faces

# length, width, height, ground clearance, bonnet height, belt height, then x of: windscreen foot, roof front,
# roof rear, rear-window foot (from the middle), boot height, wheel radius, front and rear axle x
KINDS = {
    "sedan": (4.75, 1.82, 1.45, 0.20, 0.92, 0.95, 0.95, 0.25, -0.95, -1.70, 1.02, 0.33, 1.42, -1.36),
    "hatch": (4.15, 1.78, 1.50, 0.20, 0.92, 0.96, 0.98, 0.30, -1.35, -1.90, 1.02, 0.32, 1.28, -1.27),
    "suv": (4.65, 1.88, 1.72, 0.27, 1.08, 1.10, 0.95, 0.30, -1.75, -2.12, 1.16, 0.37, 1.38, -1.36),
    "wagon": (4.75, 1.82, 1.52, 0.20, 0.93, 0.96, 0.95, 0.25, -1.72, -2.18, 1.02, 0.33, 1.42, -1.36),
    "pickup": (5.50, 1.95, 1.85, 0.32, 1.16, 1.18, 0.85, 0.35, -0.75, -1.00, 1.16, 0.40, 1.72, -1.70),
    "van": (5.00, 1.95, 2.05, 0.24, 1.15, 1.15, 1.55, 0.85, -2.30, -2.42, 1.15, 0.35, 1.60, -1.50),
}


def _decal(shape, tree, material, axis, corners, lift=0.004, grid=(9, 5)):
    """Lay a four-cornered patch onto the shell by casting rays.

    axis 'x+' looks from behind forwards, 'x-' from the front, 'y' from both sides. Corners are (y or x, z).
    """
    c = np.asarray(corners, float)
    u, v = np.meshgrid(np.linspace(0, 1, grid[0]), np.linspace(0, 1, grid[1]))
    flat = (
        ((1 - u) * (1 - v))[..., None] * c[0]
        + (u * (1 - v))[..., None] * c[1]
        + (u * v)[..., None] * c[2]
        + ((1 - u) * v)[..., None] * c[3]
    )
    for way in (-1, 1) if axis == "y" else ((1,) if axis == "x+" else (-1,)):
        hits = []
        for a, z in flat.reshape(-1, 2):
            start, ray = ((a, way * 4, z), (0, -way, 0)) if axis == "y" else ((-way * 6, a, z), (way, 0, 0))
            at, normal, _, _ = tree.ray_cast(start, ray)
            hits.append((np.nan,) * 3 if at is None else at + normal * lift)
        verts = np.array(hits)
        faces = grid_faces(grid[1], grid[0])
        faces = faces[np.isfinite(verts[faces]).all((1, 2))]
        if len(faces):
            shape.add((np.nan_to_num(verts), faces), material, smooth=True)


def add_details(shape, tree, kind, night, braking):
    """Windows, lamps, grille, seams and plates, laid onto the shell; mirrors beside it."""
    _L, W, H, low, bonnet, belt, ws, rf, rr, rw, boot, radius, front, rear = KINDS[kind]
    glass, dark = mats.glass(), mats.plain("black-trim", (0.012, 0.012, 0.012), 0.35)
    foot, head, back = W / 2 * 0.93, W / 2 * 0.71, max(boot, belt)
    lo = belt + 0.03
    _decal(
        shape,
        tree,
        glass,
        "x-",
        [(-foot * 0.86, lo), (foot * 0.86, lo), (head * 0.9, H - 0.1), (-head * 0.9, H - 0.1)],
    )
    if kind != "van":
        _decal(
            shape,
            tree,
            glass,
            "x+",
            [
                (foot * 0.80, back + 0.05),
                (-foot * 0.80, back + 0.05),
                (-head * 0.86, H - 0.13),
                (head * 0.86, H - 0.13),
            ],
        )
    else:
        for s in (-1, 1):
            y0, y1, z0, z1 = s * 0.06, s * W * 0.33, H - 0.85, H - 0.3
            _decal(shape, tree, glass, "x+", [(y1, z0), (y0, z0), (y0, z1), (y1, z1)])
        _decal(
            shape,
            tree,
            dark,
            "x+",
            [(0.006, 0.5), (-0.006, 0.5), (-0.006, H - 0.2), (0.006, H - 0.2)],
            0.002,
            (2, 12),
        )
    roof = H - 0.14
    mid = (ws + rw) / 2 + 0.12 if kind not in ("pickup", "van") else rf - 0.75
    a0, a1 = ws - 0.32, rf - 0.06
    _decal(shape, tree, glass, "y", [(mid + 0.05, lo), (a0, lo), (a1, roof), (mid + 0.05, roof)])
    if kind != "van":
        r0, r1 = rw + (0.3 if rw < rr - 0.4 else 0.2), rr + 0.06
        _decal(shape, tree, glass, "y", [(r0, back + 0.04), (mid - 0.05, lo), (mid - 0.05, roof), (r1, roof)])
    sill = [
        (rear + radius * 1.2, low + 0.0),
        (front - radius * 1.2, low + 0.0),
        (front - radius * 1.2, low + 0.1),
        (rear + radius * 1.2, low + 0.1),
    ]
    _decal(shape, tree, dark, "y", sill, 0.006, (9, 3))
    for x in (a0 + 0.1, mid, min(mid - 0.95, rw + 0.9)):
        _decal(
            shape,
            tree,
            dark,
            "y",
            [(x, low + 0.16), (x + 0.012, low + 0.16), (x + 0.012, belt - 0.04), (x, belt - 0.04)],
            0.002,
            (2, 8),
        )
    for x in (mid + 0.12, mid - 0.82):
        _decal(
            shape,
            tree,
            dark,
            "y",
            [(x, belt - 0.15), (x + 0.18, belt - 0.15), (x + 0.18, belt - 0.125), (x, belt - 0.125)],
            0.015,
            (3, 2),
        )
    lens = (
        mats.plain("lens-lit", (1, 0.93, 0.8), 0.1, emit=14.0)
        if night
        else mats.plain("lens", (0.42, 0.44, 0.46), 0.06, spec=0.9, coat=1.0)
    )
    strong = 6.0 if braking else (1.3 if night else 0.0)
    tail = mats.plain(f"tail-{strong}", (0.13, 0.006, 0.005), 0.1, coat=1.0, emit=strong)
    plate = mats.plain("plate", (0.55, 0.55, 0.53), 0.4)
    tall = 0.30 if kind in ("suv", "van", "hatch", "pickup") else 0.15
    wide = W * (0.36 if tall > 0.2 else 0.27)
    zt = boot - 0.12
    zl = bonnet - 0.20
    for s in (-1, 1):
        _decal(
            shape,
            tree,
            tail,
            "x+",
            [
                (s * W * 0.475, zt - tall),
                (s * wide, zt - tall * 0.9),
                (s * wide, zt),
                (s * W * 0.47, zt - 0.01),
            ],
            0.008,
        )
        _decal(
            shape,
            tree,
            lens,
            "x-",
            [
                (s * W * 0.445, zl - 0.10),
                (s * W * 0.25, zl - 0.15),
                (s * W * 0.27, zl - 0.04),
                (s * W * 0.445, zl + 0.03),
            ],
            0.008,
        )
        y0, y1 = sorted((s * W * 0.475, s * W * 0.475 + s * 0.17))
        shape.add(box((ws - 0.40, y0, belt + 0.01), (ws - 0.33, y1, belt + 0.11)), dark)
    _decal(
        shape,
        tree,
        dark,
        "x-",
        [(-W * 0.22, zl - 0.2), (W * 0.22, zl - 0.2), (W * 0.23, zl - 0.06), (-W * 0.23, zl - 0.06)],
        0.006,
    )
    _decal(
        shape,
        tree,
        dark,
        "x-",
        [(-W * 0.36, low + 0.08), (W * 0.36, low + 0.08), (W * 0.34, low + 0.2), (-W * 0.34, low + 0.2)],
        0.006,
    )
    _decal(
        shape,
        tree,
        plate,
        "x-",
        [(-0.16, low + 0.22), (0.16, low + 0.22), (0.16, low + 0.33), (-0.16, low + 0.33)],
        0.012,
    )
    _decal(
        shape,
        tree,
        dark,
        "x+",
        [(W * 0.42, low + 0.04), (-W * 0.42, low + 0.04), (-W * 0.42, low + 0.19), (W * 0.42, low + 0.19)],
        0.006,
    )
    _decal(
        shape,
        tree,
        plate,
        "x+",
        [(0.16, zt - 0.24), (-0.16, zt - 0.24), (-0.16, zt - 0.12), (0.16, zt - 0.12)],
        0.01,
    )
    for z in (zt - 0.36, zt + 0.03):
        _decal(
            shape,
            tree,
            dark,
            "x+",
            [(W * 0.4, z), (-W * 0.4, z), (-W * 0.4, z + 0.012), (W * 0.4, z + 0.012)],
            0.002,
            (12, 2),
        )


def add_wheels(shape, kind):
    """Tyres and rims, and the dark underside between them."""
    _, W, *_, radius, front, rear = KINDS[kind]
    rubber, rim = (
        mats.plain("tyre", (0.016, 0.016, 0.016), 0.9),
        mats.plain("rim", (0.33, 0.33, 0.34), 0.3, metal=0.7),
    )
    hole = mats.plain("arch", (0.01, 0.01, 0.01), 0.9)
    for x in (front, rear):
        for s in (-1, 1):
            lo, hi = sorted((s * (W / 2 - 0.24), s * (W / 2 - 0.03)))
            add_cylinder(shape, rubber, radius, lo, hi, "y", 32, (x, 0, radius))
            face = s * (W / 2 - 0.022)
            add_cylinder(shape, rim, radius * 0.66, *sorted((face - s * 0.05, face)), "y", 24, (x, 0, radius))
            for k in range(5):
                a = 2 * np.pi * k / 5 + 0.3
                cx, cz = x + np.cos(a) * radius * 0.42, radius + np.sin(a) * radius * 0.42
                add_cylinder(
                    shape,
                    hole,
                    radius * 0.14,
                    *sorted((face - s * 0.02, face + s * 0.004)),
                    "y",
                    10,
                    (cx, 0, cz),
                )
    shape.add(box((rear - 0.5, -W / 2 + 0.27, 0.18), (front + 0.5, W / 2 - 0.27, 0.5)), hole)
