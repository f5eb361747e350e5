"""Meshes from arrays: collect parts with their materials, then hand one mesh to Blender."""

import bpy
import numpy as np


class Shape:
    """Parts of one mesh. Vertices (n, 3) in metres, faces (m, 3) or (m, 4) of vertex numbers."""

    def __init__(self) -> None:
        self.verts: list = []
        self.faces: list = []
        self.uvs: list = []
        self.slots: list = []
        self.smooth: list = []
        self.materials: list = []
        self.count = 0

    def add(self, part, material, uv=None, smooth=False):
        """Append part = (vertices, faces); uv is (n, 2) per vertex, in the material's own units."""
        verts = np.asarray(part[0], float).reshape(-1, 3)
        faces = np.asarray(part[1], int)
        if material not in self.materials:
            self.materials.append(material)
        slot = self.materials.index(material)
        self.verts.append(verts)
        self.faces.append(faces + self.count)
        self.uvs.append(np.zeros((len(verts), 2)) if uv is None else np.asarray(uv, float))
        self.slots.append(np.full(len(faces), slot))
        self.smooth.append(np.full(len(faces), smooth))
        self.count += len(verts)
        return self

    def mesh(self, name):
        """Build the Blender mesh."""
        verts, uv = np.concatenate(self.verts), np.concatenate(self.uvs)
        sizes = np.concatenate([np.full(len(f), f.shape[1]) for f in self.faces])
        corner = np.concatenate([f.ravel() for f in self.faces])
        me = bpy.data.meshes.new(name)
        me.vertices.add(len(verts))
        me.vertices.foreach_set("co", verts.ravel().astype(np.float32))
        me.loops.add(len(corner))
        me.loops.foreach_set("vertex_index", corner.astype(np.int32))
        me.polygons.add(len(sizes))
        me.polygons.foreach_set("loop_start", np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32))
        me.polygons.foreach_set("material_index", np.concatenate(self.slots).astype(np.int32))
        me.polygons.foreach_set("use_smooth", np.concatenate(self.smooth))
        layer = me.uv_layers.new(name="uv")
        layer.data.foreach_set("uv", uv[corner].ravel().astype(np.float32))
        for material in self.materials:
            me.materials.append(material)
        me.update(calc_edges=True)
        me.validate()
        return me


def put(mesh, at=(0, 0, 0), yaw=0.0, scale=1.0, name=None):
    """Link one more object that shares mesh; returns it."""
    obj = bpy.data.objects.new(name or mesh.name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = at
    obj.rotation_euler = (0, 0, yaw)
    obj.scale = (scale,) * 3 if np.isscalar(scale) else scale
    return obj


def turned(part, yaw=0.0, at=(0, 0, 0)):
    """Turn a part about z, then move it."""
    c, s = np.cos(yaw), np.sin(yaw)
    verts = np.asarray(part[0], float) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + np.asarray(at, float)
    return verts, part[1]


BOX_FACES = np.array([(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])


def box(lo, hi):
    """Axis-aligned box between two corners."""
    (x0, y0, z0), (x1, y1, z1) = lo, hi
    ring = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return np.array([(x, y, z) for z in (z0, z1) for x, y in ring]), BOX_FACES


def quad(a, b, c, d):
    """One four-sided face, corners counter-clockwise seen from its front."""
    return np.array([a, b, c, d], float), np.array([(0, 1, 2, 3)])


def tube(points, radii, sides=6, cap=True):
    """A tube along points (n, 3) with one radius or one per point."""
    points = np.asarray(points, float)
    radii = np.broadcast_to(radii, len(points))
    tangent = np.gradient(points, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    helper = np.where(np.abs(tangent[:, 2:]) > 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]])
    side = np.cross(tangent, helper)
    side /= np.linalg.norm(side, axis=1, keepdims=True) + 1e-9
    up = np.cross(side, tangent)
    a = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = side[:, None] * np.cos(a)[None, :, None] + up[:, None] * np.sin(a)[None, :, None]
    verts = (points[:, None] + ring * radii[:, None, None]).reshape(-1, 3)
    faces = grid_faces(len(points), sides, wrap=True)
    if cap:
        n = len(verts)
        verts = np.concatenate([verts, points[[0, -1]]])
        k = np.arange(sides)
        last = (len(points) - 1) * sides
        lid0 = np.stack([k, np.full(sides, n), np.full(sides, n), (k + 1) % sides], 1)
        lid1 = np.stack([last + k, last + (k + 1) % sides, np.full(sides, n + 1), np.full(sides, n + 1)], 1)
        return [(verts, faces), (verts, np.concatenate([lid0[:, [0, 1, 3]], lid1[:, [0, 1, 2]]]))]
    return [(verts, faces)]


def add_tube(shape, points, radii, material, sides=6, cap=False):
    """Append a tube (smooth sides, flat caps)."""
    for i, part in enumerate(tube(points, radii, sides, cap)):
        shape.add(part, material, smooth=i == 0)


def grid_faces(rows, cols, wrap=False):
    """Quads of a rows x cols vertex grid, row after row; wrap joins the last column to the first."""
    r, c = np.meshgrid(np.arange(rows - 1), np.arange(cols if wrap else cols - 1), indexing="ij")
    d = (c + 1) % cols
    return np.stack([r * cols + c, r * cols + d, (r + 1) * cols + d, (r + 1) * cols + c], -1).reshape(-1, 4)


def cylinder(radius, lo, hi, axis="z", sides=20, at=(0, 0, 0)):
    """A closed cylinder about an axis through `at`, from lo to hi along it."""
    order = {"z": [0, 1, 2], "y": [0, 2, 1], "x": [2, 0, 1]}[axis]
    a = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    rings = [np.stack([radius * np.cos(a), radius * np.sin(a), np.full(sides, z)], 1) for z in (lo, hi)]
    verts = np.concatenate([*rings, [(0, 0, lo), (0, 0, hi)]])[:, order] + np.asarray(at, float)
    k = np.arange(sides)
    n = 2 * sides
    side = np.stack([k, (k + 1) % sides, (k + 1) % sides + sides, k + sides], 1)
    caps = np.concatenate(
        [
            np.stack([(k + 1) % sides, k, np.full(sides, n)], 1),
            np.stack([k + sides, (k + 1) % sides + sides, np.full(sides, n + 1)], 1),
        ]
    )
    return [(verts, side), (verts, caps)]


def add_cylinder(shape, material, *args, **kwargs):
    """Append a closed cylinder."""
    for i, part in enumerate(cylinder(*args, **kwargs)):
        shape.add(part, material, smooth=i == 0)
