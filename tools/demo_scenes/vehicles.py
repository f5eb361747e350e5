"""Cars, vans and lorries as lofted shells. Origin on the ground under the middle, x forward."""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from . import materials as mats
from .shape import Shape, add_cylinder, box, grid_faces, put, quad

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
COLOURS = {
    "white": (0.55, 0.55, 0.54),
    "black": (0.012, 0.012, 0.014),
    "silver": (0.36, 0.37, 0.38),
    "grey": (0.11, 0.115, 0.12),
    "red": (0.17, 0.014, 0.012),
    "blue": (0.018, 0.04, 0.11),
    "green": (0.02, 0.07, 0.04),
    "sand": (0.33, 0.27, 0.18),
}


def _body(kind):
    """Lower shell: cross-sections from tail to nose, each from sill over shoulder to the deck's middle."""
    L, W, _, low, bonnet, belt, ws, _, _, rw, boot, *_ = KINDS[kind]
    half = W / 2
    stations = [  # x, half width, bottom, top
        (-L / 2, half * 0.80, low + 0.22, boot - 0.16),
        (-L / 2 + 0.05, half * 0.90, low + 0.10, boot - 0.03),
        (-L / 2 + 0.25, half * 0.97, low + 0.02, boot),
        (rw, half, low, max(boot, belt)),
        (-0.3, half, low, belt),
        (ws - 0.15, half, low, belt),
        (ws + 0.1, half * 0.995, low, (belt + bonnet) / 2 + 0.02),
        (L / 2 - 0.75, half * 0.97, low, bonnet - 0.03),
        (L / 2 - 0.3, half * 0.92, low + 0.02, bonnet - 0.13),
        (L / 2 - 0.07, half * 0.80, low + 0.06, bonnet - 0.25),
        (L / 2, half * 0.66, low + 0.16, bonnet - 0.34),
    ]
    rows = []
    for x, w, zb, zt in stations:
        tall = zt - zb
        edge = [
            (0, zb),
            (w * 0.86, zb),
            (w * 0.965, zb + 0.10 * tall),
            (w, zb + 0.45 * tall),
            (w * 0.985, zb + 0.74 * tall),
            (w * 0.93, zt - 0.035),
            (w * 0.80, zt),
            (0, zt + 0.025),
        ]
        ring = edge + [(-y, z) for y, z in edge[-2:0:-1]]
        rows.append([(x, y, z) for y, z in ring])
    k = len(rows[0])
    verts = np.array(rows).reshape(-1, 3)
    lids = [np.arange(k)[::-1], np.arange(k) + k * (len(rows) - 1)]
    return verts, grid_faces(len(rows), k, wrap=True), lids


def _finish(obj, levels=2, knife=None):
    """Subdivide a shell, cut the wheel arches when a knife is given; returns the finished mesh."""
    sub = obj.modifiers.new("smooth", "SUBSURF")
    sub.levels = sub.render_levels = levels
    if knife:
        cut = obj.modifiers.new("arches", "BOOLEAN")
        cut.operation, cut.object, cut.solver, cut.material_mode = "DIFFERENCE", knife, "EXACT", "TRANSFER"
    graph = bpy.context.evaluated_depsgraph_get()
    graph.update()
    done = bpy.data.meshes.new_from_object(obj.evaluated_get(graph))
    for o in (obj, knife):
        if o:
            bpy.data.objects.remove(o)
    return done


def _arches(kind):
    _, W, *_, radius, front, rear = KINDS[kind]
    cutters = Shape()
    for x in (front, rear):
        for side in (-1, 1):
            lo, hi = sorted((side * (W / 2 - 0.32), side * (W / 2 + 0.3)))
            add_cylinder(
                cutters,
                mats.plain("arch", (0.01, 0.01, 0.01), 0.9),
                radius * 1.15,
                lo,
                hi,
                "y",
                28,
                (x, 0, radius * 1.02),
            )
    return put(cutters.mesh("arches"))


def _cabin(kind):
    """Painted shell above the belt line; the windows are laid onto it afterwards."""
    _, W, H, _, _, belt, ws, rf, rr, rw, boot, *_ = KINDS[kind]
    foot, head = W / 2 * 0.93, W / 2 * 0.71
    back = max(boot, belt)
    rows = []
    stops = [
        (rw - 0.02, 0.0),
        (rw * 0.75 + rr * 0.25, 0.27),
        (rw * 0.12 + rr * 0.88, 0.90),
        (rr + 0.08, 0.97),
        ((rr + rf) / 2, 1.0),
        (rf - 0.05, 0.985),
        (rf * 0.9 + ws * 0.1, 0.92),
        (rf * 0.25 + ws * 0.75, 0.27),
        (ws + 0.02, 0.0),
    ]
    for x, share in stops:
        base = back - 0.1 if x < (rr + rw) / 2 else belt - 0.1
        top = base + 0.06 + (H - base - 0.06) * share
        low = min(1.0, 0.9 + 0.4 * share)
        side = foot * low + (head - foot * low) * share
        ring = [
            (foot * low, base),
            (foot * low + (side - foot * low) * 0.5, base + (top - base) * 0.52),
            (side, top - 0.055),
            (side * 0.86, top - 0.008),
            (0, top + 0.012),
        ]
        rows.append([(x, y, z) for y, z in ring + [(-y, z) for y, z in ring[-2::-1]]])
    k = len(rows[0])
    return np.array(rows).reshape(-1, 3), grid_faces(len(rows), k)


def _decal(shape, tree, material, axis, corners, lift=0.004, grid=(9, 5)):
    """Lay a four-cornered patch onto the shell by casting rays: axis 'x+' looks from behind forwards, 'x-' from the
    front, 'y' from both sides. Corners are (lateral or x, z), counter-clockwise."""
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


def _details(shape, tree, kind, night, braking):
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


def _wheels(shape, kind):
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


def car(kind, colour, night=False, braking=False):
    """One car's mesh; kinds with the same looks share it."""
    name = f"{kind}-{colour}-{night:d}{braking:d}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    paint = mats.plain(
        f"paint-{colour}",
        COLOURS[colour],
        0.32,
        metal=0.25 if colour in ("silver", "grey") else 0.0,
        coat=1.0,
    )
    verts, faces, lids = _body(kind)
    shell = Shape().add((verts, faces), paint, smooth=True)
    for lid in lids:
        shell.faces.append(lid[None])
        shell.slots.append(np.zeros(1, int))
        shell.smooth.append(np.ones(1, bool))
    body = _finish(put(shell.mesh("shell")), 2, _arches(kind))
    cabin = _finish(put(Shape().add(_cabin(kind), paint, smooth=True).mesh("cabin")))
    hull = _joined("hull", [body, cabin])
    polygons = [tuple(p.vertices) for p in hull.polygons]
    tree = BVHTree.FromPolygons([v.co for v in hull.vertices], polygons)
    rest = Shape()
    _details(rest, tree, kind, night, braking)
    _wheels(rest, kind)
    if kind == "pickup":
        L, W, *_ = KINDS[kind]
        rest.add(
            box((-L / 2 + 0.12, -W / 2 + 0.14, 0.9), (-1.15, W / 2 - 0.14, 1.215)),
            mats.plain("arch", (0.01,) * 3, 0.9),
        )
    return _joined(name, [hull, rest.mesh("rest")])


def _joined(name, meshes):
    """Merge meshes into one."""
    shape = Shape()
    for me in meshes:
        co = np.zeros(len(me.vertices) * 3, np.float32)
        me.vertices.foreach_get("co", co)
        shape.materials += [m for m in me.materials if m not in shape.materials]
        for p in me.polygons:
            shape.faces.append(np.array([list(p.vertices)]) + shape.count)
            shape.slots.append([shape.materials.index(me.materials[p.material_index])])
            shape.smooth.append([p.use_smooth])
        shape.verts.append(co.reshape(-1, 3))
        shape.uvs.append(np.zeros((len(me.vertices), 2)))
        shape.count += len(me.vertices)
    return shape.mesh(name)


def lorry(colour="white", night=False, length=7.5):
    """A box lorry: cab in front of a tall body."""
    name = f"lorry-{colour}-{night:d}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    shape, h = Shape(), length / 2
    paint, side = (
        mats.plain(f"cab-{colour}", COLOURS[colour], 0.35, coat=1.0),
        mats.plain("box-body", (0.58, 0.57, 0.54), 0.5, vary=0.1),
    )
    dark, steel = (
        mats.plain("grille", (0.012,) * 3, 0.35),
        mats.plain("galvanised", (0.32, 0.33, 0.34), 0.5, metal=0.6),
    )
    shape.add(box((-h, -1.22, 0.95), (h - 1.95, 1.22, 3.45)), side)
    for y in (-1.235, 1.225):
        shape.add(box((-h, y, 0.95), (h - 1.95, y + 0.012, 1.03)), steel)
    shape.add(box((h - 1.85, -1.1, 0.55), (h, 1.1, 1.55)), paint)
    cab = np.array([(h - 1.85, 1.08, 1.5), (h - 0.1, 1.08, 1.5), (h - 0.5, 1.0, 2.55), (h - 1.85, 1.0, 2.6)])
    cab = np.concatenate([cab, cab * [1, -1, 1]])
    shape.add((cab, np.array([(3, 2, 6, 7), (0, 3, 7, 4), (1, 0, 3, 2), (4, 5, 6, 7)])), paint)
    shape.add(quad(*(cab[[1, 2, 6, 5]] + [0.01, 0, 0])), mats.glass())
    for s in (-1, 1):
        shape.add(
            quad(
                (h - 1.4, s * 1.095, 1.6),
                (h - 0.35, s * 1.095, 1.6),
                (h - 0.62, s * 1.03, 2.4),
                (h - 1.4, s * 1.03, 2.4),
            ),
            mats.glass(),
        )
    tail = mats.plain(
        f"tail-{2.2 if night else 0.05}", (0.55, 0.012, 0.008), 0.15, coat=1.0, emit=2.2 if night else 0.05
    )
    shape.add(box((-h + 0.02, -1.15, 0.55), (h - 1.9, 1.15, 0.95)), dark)
    shape.add(box((-h - 0.03, -1.2, 0.45), (-h + 0.1, 1.2, 0.58)), steel)
    shape.add(
        quad(
            (-h - 0.012, 0.01, 1.0),
            (-h - 0.012, -0.01, 1.0),
            (-h - 0.012, -0.01, 3.4),
            (-h - 0.012, 0.01, 3.4),
        ),
        dark,
    )
    for s in (-1, 1):
        y0, y1 = sorted((s * 0.85, s * 1.15))
        shape.add(box((-h - 0.02, y0, 0.66), (-h + 0.05, y1, 0.82)), tail)
        shape.add(
            box((h - 0.05, y0, 0.75), (h + 0.02, y1, 0.95)),
            mats.plain("lens-lit", (1, 0.93, 0.8), 0.1, emit=14.0)
            if night
            else mats.plain("lens", (0.5, 0.52, 0.54), 0.08),
        )
        for x in (h - 0.95, -h + 1.5, -h + 2.4):
            add_cylinder(
                shape,
                mats.plain("tyre", (0.016,) * 3, 0.9),
                0.48,
                *sorted((s * 0.8, s * 1.13)),
                "y",
                28,
                (x, 0, 0.48),
            )
            add_cylinder(
                shape,
                mats.plain("rim", (0.33, 0.33, 0.34), 0.3, metal=0.7),
                0.26,
                *sorted((s * 1.1, s * 1.135)),
                "y",
                20,
                (x, 0, 0.48),
            )
    return shape.mesh(name)
