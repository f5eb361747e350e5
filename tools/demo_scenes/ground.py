"""The land: pavement, kerbs, walks, verges, junctions, hills; and where things may stand."""

import bpy
import cv2
import numpy as np

from . import materials as mats
from . import surface
from .road import Road, ribbon, stretches
from .shape import Shape, grid_faces, put

SOILS = {  # grass, dry grass, earth, dryness
    "green": ((0.06, 0.078, 0.028), (0.17, 0.15, 0.06), (0.17, 0.13, 0.09), 0.35),
    "golden": ((0.115, 0.11, 0.045), (0.22, 0.175, 0.095), (0.22, 0.19, 0.12), 0.85),
    "mixed": ((0.075, 0.09, 0.028), (0.20, 0.17, 0.085), (0.20, 0.16, 0.11), 0.55),
    "forest": ((0.045, 0.06, 0.02), (0.13, 0.10, 0.05), (0.10, 0.075, 0.05), 0.6),
    "lawn": ((0.06, 0.086, 0.028), (0.15, 0.15, 0.05), (0.16, 0.12, 0.08), 0.25),
}


def smooth(x, lo, hi):
    """Smoothstep."""
    u = np.clip((x - lo) / (hi - lo), 0, 1)
    return u * u * (3 - 2 * u)


class Site:
    """A main road with its land; left and right are the pavement's edges (t, metres)."""

    def __init__(self, spec, rng, scratch):
        self.spec, self.rng, self.scratch = spec, rng, scratch
        self.inner, self.right = spec["left"], spec["right"]
        self.left = self.inner + spec.get("beyond", 0.0)
        self.road = Road(spec["curve"], start=(0.0, -spec["ego_t"]), climb=spec.get("climb", ((0, 0.0),)))
        self.side, self.side_half = None, spec.get("side_half", 3.6)
        if "junction" in spec:
            at = self.road.at(spec["junction"], 0.0)
            turn = float(self.road.heading(spec["junction"])) + np.pi / 2
            self.side = Road([(0, 0.0)], (at[0], at[1]), turn, (-150, 150))
        self.radius = 6.0
        self.gaps = []
        if self.side:
            reach = self.side_half + self.radius
            self.gaps = [(spec["junction"] - reach, spec["junction"] + reach)]
        self.soil = mats.soil(
            f"soil-{spec['soil']}",
            *SOILS[spec["soil"]][:3],
            SOILS[spec["soil"]][3],
            spec.get("edge", 0.9),
            spec["light"] == "wet",
        )
        self.hill_seed = rng.uniform(0, 100, 6)

    # where things may stand

    def away(self, points):
        """Distance (m) of points (n, 2) from the nearest pavement; negative on it."""
        points = np.atleast_2d(points)[:, :2]
        _, t = self.road.nearest(points)
        d = np.where(t > 0, t - self.left, self.right - t)
        if self.side:
            _s, t = self.side.nearest(points)
            d = np.minimum(d, np.abs(t) - self.side_half)
        return d

    def height(self, points):
        """Terrain height (n,) at points (n, 2)."""
        points = np.atleast_2d(points)[:, :2]
        x, y = points.T
        s, t = self.road.nearest(points)
        d = self.away(points)
        a, b, c, e, f, g = self.hill_seed
        roll = (
            np.sin(x / 83 + a) * np.cos(y / 67 + b)
            + 0.6 * np.sin((x + y) / 41 + c)
            + 0.4 * np.sin((x - y) / 29 + e)
        )
        big = np.sin(x / 260 + f) * np.cos(y / 210 + g) + 0.55
        hills = self.spec.get("hills", 1.0)
        flat = self.spec.get("flat", 14.0)
        out = hills * (
            roll * smooth(d, flat, flat + 50) * 1.1
            + 9.0 * np.maximum(big, -0.2) * smooth(d, flat + 15, flat + 190)
        )
        bank = self.spec.get("bank", (0.0, 0.0))
        out = out + np.where(t > 0, bank[0], bank[1]) * smooth(d, 4.0, 16.0)
        base = np.interp(s, self.road.s, self.road.z)
        return out + base - 0.18 - 0.12 * smooth(d, 3, 0)

    def stand(self, mesh, s, t, yaw=0.0, scale=1.0, sunk=0.0, road=None):
        """Put a mesh at road coordinates, turned with the road, on the ground."""
        road = road or self.road
        p = road.at(s, t)
        d = self.away(p[None])[0]
        level = self.spec.get("walk_z", 0.14) if self.spec.get("kerb") and d < self.spec["built"] else None
        z = level if level is not None else max(self.height(p[None])[0], -9) if d > 3 else p[2] - 0.05
        return put(mesh, (p[0], p[1], z - sunk), float(road.heading(s)) + yaw, scale)

    # pavement

    def pave(self, sheet, worn=0.35):
        """Lay the baked surface along the main road."""
        wet = self.spec.get("wet", 0.0)
        img = sheet.image(worn, wet)[::-1]
        path = self.scratch / "road.png"
        cv2.imwrite(str(path), img)
        s0, s1 = sheet.s0, sheet.s0 + sheet.size[0]
        material = mats.picture(
            "road", bpy.data.images.load(str(path)), (*sheet.size, s0, 0.0), wet, grain=0.6
        )
        part, uv = ribbon(self.road, s0, s1, [self.right, 0.0, self.inner], [0, 0, 0], 1.0)
        put(Shape().add(part, material, uv, True).mesh("road"))
        asphalt = mats.plain(
            "asphalt", (0.075, 0.075, 0.073), 0.3 if wet else 0.88, vary=0.16, scale=2.0, bumpy=0.15
        )
        for a, b in ((self.road.span[0], s0), (s1, self.road.span[1])):
            if b - a > 1:
                part, _ = ribbon(self.road, a, b, [self.right, self.inner], [0, 0], 4.0)
                put(Shape().add(part, asphalt, smooth=True).mesh("road-far"))
        if self.left > self.inner:
            part, _ = ribbon(self.road, *self.road.span, [self.inner, self.left], [-0.01, -0.01], 4.0)
            put(Shape().add(part, asphalt, smooth=True).mesh("other-carriageway"))
            part, _ = ribbon(self.road, *self.road.span, [self.left - 2.2, self.left - 2.05], [0, 0], 4.0)
            put(Shape().add(part, mats.plain("far-paint", (0.5, 0.49, 0.46), 0.6)).mesh("other-line"))
        if self.side:
            self._junction(asphalt)

    def _junction(self, asphalt):
        """The side road and its rounded corners."""
        R, half, at = self.radius, self.side_half, self.spec["junction"]
        shape = Shape()
        paint = mats.plain("side-paint", (0.5, 0.49, 0.46), 0.6, vary=0.3, scale=8)
        yellow = mats.plain("side-yellow", (0.5, 0.27, 0.03), 0.6, vary=0.3, scale=8)
        for edge, end in ((self.left, 150.0), (self.right, -150.0)):
            sign = np.sign(end)
            lo, hi = sorted((edge, end))
            part, _ = ribbon(self.side, lo, hi, [-half, half], [-0.004, -0.004], 3.0)
            shape.add(part, asphalt)
            c0, c1 = sorted((edge + sign * (R + 1.5), end))
            for t in (-0.15, 0.15):
                part, _ = ribbon(self.side, c0, c1, [t - 0.06, t + 0.06], [0.004, 0.004], 3.0)
                shape.add(part, yellow)
            s0, s1 = sorted((edge + sign * 1.6, edge + sign * 2.0))
            lane = (-half + 0.3, -0.3) if sign < 0 else (0.3, half - 0.3)
            part, _ = ribbon(self.side, s0, s1, lane, [0.004, 0.004], 1.0)
            shape.add(part, paint)
            for way in (-1, 1):
                corner_s, corner_t = at + way * (half + R), edge + sign * R
                a = np.linspace(0, np.pi / 2, 13)
                arc_s, arc_t = corner_s - way * R * np.cos(a), corner_t - sign * R * np.sin(a)
                rim = self.road.at(arc_s, arc_t, -0.003)
                apex = self.road.at(at + way * half, edge, -0.003)
                verts = np.concatenate([rim, apex[None]])
                k = np.arange(12)
                shape.add((verts, np.stack([k, k + 1, np.full(12, 13)], 1)), asphalt)
                self._corner(corner_s, corner_t, arc_s, arc_t)
        put(shape.mesh("junction"))

    def _corner(self, cs, ct, arc_s, arc_t):
        """What lies inside a corner's arc: pavement and kerb in town, soil elsewhere."""
        shape, kerb = Shape(), self.spec.get("kerb")
        up = self.spec.get("walk_z", 0.14) if kerb else -0.02
        top = np.concatenate([self.road.at(arc_s, arc_t, up), self.road.at(cs, ct, up)[None]])
        k = np.arange(len(arc_s) - 1)
        uv = np.full((len(top), 2), 1.2)
        shape.add(
            (top, np.stack([k, k + 1, np.full(len(k), len(arc_s))], 1)),
            self.walk_material() if kerb else self.soil,
            uv,
        )
        if kerb:
            ring = np.concatenate([self.road.at(arc_s, arc_t, -0.1), self.road.at(arc_s, arc_t, up + 0.003)])
            shape.add((ring, grid_faces(2, len(arc_s))), self.kerb_material())
        put(shape.mesh("corner"))

    # edges

    def walk_material(self):
        """Concrete slabs."""
        return mats.bricks("walk", (0.30, 0.29, 0.27), (0.13, 0.125, 0.12), 1.5, 1.5, 0.0, 0.9, 0.12)

    def kerb_material(self):
        """Kerb stone."""
        return mats.plain("kerb", (0.27, 0.265, 0.25), 0.9, vary=0.28, scale=1.5)

    def edges(self, lo=-80.0, hi=300.0):
        """Kerb, planting strip and walk in town; a soil verge elsewhere. Along the side road as well."""
        jobs = [(self.road, self.left, 1, lo, hi, self.gaps), (self.road, self.right, -1, lo, hi, self.gaps)]
        if self.side:
            for edge, end in ((self.left, 150.0), (self.right, -150.0)):
                a, b = sorted((edge + np.sign(end) * self.radius, end))
                jobs += [(self.side, self.side_half, 1, a, b, []), (self.side, -self.side_half, -1, a, b, [])]
        for road, t, sign, a, b, gaps in jobs:
            for s0, s1 in stretches(a, b, gaps):
                self._edge(road, t, sign, s0, s1)

    def _edge(self, road, t, sign, s0, s1):
        shape = Shape()
        if self.spec.get("kerb"):
            z, strip, walk = (
                self.spec.get("walk_z", 0.14),
                self.spec.get("strip", 0.0),
                self.spec.get("walk", 1.8),
            )
            part, _ = ribbon(
                road, s0, s1, t + sign * np.array([-0.45, 0, 0.015, 0.16]), [0.003, 0.006, z, z + 0.004]
            )
            shape.add(part, self.kerb_material())
            at = 0.16
            if strip:
                part, uv = ribbon(
                    road, s0, s1, t + sign * np.array([at, at + strip / 2, at + strip]), [z, z + 0.03, z]
                )
                shape.add(part, self.soil, uv[:, ::-1] + [0.5, 0])
                at += strip
            part, uv = ribbon(road, s0, s1, t + sign * np.array([at, at + walk]), [z, z])
            shape.add(part, self.walk_material(), uv)
            at += walk
            rest = max(self.spec["built"] - at, 1.0)
            part, uv = ribbon(
                road,
                s0,
                s1,
                t + sign * np.array([at, at + rest * 0.5, at + rest, at + rest + 8]),
                [z, z, z, -0.8],
            )
            shape.add(
                part,
                self.soil if self.spec.get("yards", True) else self.walk_material(),
                uv[:, ::-1] + [1.2, 0],
            )
        else:
            wide = np.array([0.0, 0.35, 1.0, 2.2, 3.4, 5.5])
            fall = np.array([-0.005, -0.03, -0.06, -0.14, -0.2, -0.6])
            part, uv = ribbon(road, s0, s1, t + sign * wide, fall)
            shape.add(part, self.soil, uv[:, ::-1] - [0.15, 0], True)
        put(shape.mesh("edge"))

    def terrain(self):
        """Open land out to 700 m, and ridges on the horizon."""
        near = np.arange(-100, 221, 5.0)
        xs = np.concatenate([np.arange(-180, -100, 20.0), near, np.arange(235, 760, 15.0)])
        ys = np.concatenate([-np.arange(420, 90, -15.0), np.arange(-90, 91, 4.0), np.arange(105, 421, 15.0)])
        gx, gy = np.meshgrid(xs, ys, indexing="ij")
        flat = np.stack([gx.ravel(), gy.ravel()], 1)
        d = self.away(flat)
        z = self.height(flat)
        z = np.where(d < 3.0, np.minimum(z, -0.5), z)
        if self.spec.get("kerb"):
            z = np.where(d < self.spec["built"] + 3, np.minimum(z, -0.4), z)
        part = (np.column_stack([flat, z]), grid_faces(*gx.shape))
        put(Shape().add(part, self.soil, np.column_stack([np.maximum(d, 3), d]), True).mesh("land"))
        for far, tall, tone in self.spec.get(
            "ridges", ((900, 55, (0.06, 0.075, 0.04)), (1700, 130, (0.07, 0.085, 0.06)))
        ):
            self._ridge(far, tall, tone)

    def _ridge(self, far, tall, tone):
        a = np.linspace(-1.9, 1.9, 260)
        crest = surface.field(self.rng, (4, 260), (4, 60), 5, 0.55)[1]
        crest = tall * (0.55 + 0.55 * crest)
        ring = [
            np.stack([f * np.cos(a), f * np.sin(a), z], 1)
            for f, z in (
                (far * 0.82, np.full(260, -25.0)),
                (far * 0.9, crest * 0.45),
                (far, crest),
                (far * 1.1, crest * 0.3),
            )
        ]
        material = mats.plain(f"ridge-{far}", tone, 0.95, vary=0.55, scale=0.02)
        put(Shape().add((np.concatenate(ring), grid_faces(4, 260)), material, smooth=True).mesh("ridge"))
