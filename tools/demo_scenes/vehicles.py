"""Cars, vans and lorries as lofted shells. Origin on the ground under the middle, x forward."""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from . import materials as mats
from .bodywork import KINDS, add_details, add_wheels
from .shape import Shape, add_cylinder, box, grid_faces, put

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
    add_details(rest, tree, kind, night, braking)
    add_wheels(rest, kind)
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
