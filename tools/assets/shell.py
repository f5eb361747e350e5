"""Bodies of vehicles: a dense skin through cross-sections, painted by region (glass, lamps, shut lines, arches)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np
from common import Look, mesh, surface, tube

# One cross-section: x, half width, bottom, belt height, half width of the roof rail, top, crown of the top.
Station = tuple[float, float, float, float, float, float, float]
Polygon = Sequence[tuple[float, float]]
BELT, RAIL = 5.0, 6.0
PANE = 1.62  # the refractive index of one face that reflects like the two of a pane
_PER_SEGMENT = (14, 5, 8, 14, 10, 30, 6, 22)
# How far the rings of an end have opened, from its middle out.
_OPENING = np.append(np.linspace(0, 0.985, 36), [0.9945, 0.9986])


@dataclass
class Shell:
    """The skin's grid. points: NxMx3 metres; around: M, the ring coordinate (0 floor, 5 belt, 6 roof rail, 8 top)."""

    points: np.ndarray
    around: np.ndarray
    fields: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def through(
        cls, stations: Sequence[Station], bulge: float = 0.08, bow: float = 0.12, step: float = 0.014
    ) -> Shell:
        """Smooth skin through the stations (front first), its ends closed by domes `bulge` deep."""
        rings = np.array([_ring(s) for s in stations])
        at = np.array([s[0] for s in stations])
        order = np.argsort(at)
        fine = np.arange(at.min(), at.max() + step / 2, step)[::-1]
        control = _pchip(at[order], rings[order].reshape(len(at), -1), fine).reshape(len(fine), -1, 2)
        knots = np.arange(9.0)
        spots = np.concatenate(
            [np.linspace(i, i + 1, n, endpoint=False) for i, n in enumerate(_PER_SEGMENT)] + [[8.0]]
        )
        half = np.stack([_pchip(knots, ring, spots) for ring in control])
        nose, tail = fine[0], fine[-1]
        domed = bulge * np.sin(np.arccos(_OPENING ** (1 / 0.45)))
        layers = [(nose + out, half[0], wide) for out, wide in zip(domed, _OPENING, strict=True)]
        layers += [(x, ring, 1.0) for x, ring in zip(fine, half, strict=True)]
        layers += [
            (tail - out, half[-1], wide) for out, wide in zip(domed[::-1], _OPENING[::-1], strict=True)
        ]
        grid = []
        for x, ring, open_ in layers:
            centre = np.array([0.0, (ring[0, 1] + ring[-1, 1]) / 2])
            yz = centre + (ring - centre) * open_
            wide = np.abs(ring[:, 0]).max()
            ends = (
                np.clip((x - nose + 0.45) / 0.45, 0, 1.4) ** 2
                - np.clip((tail + 0.45 - x) / 0.45, 0, 1.4) ** 2
            )
            xs = x - ends * bow * (np.abs(yz[:, 0]) / wide) ** 3
            left = np.column_stack([xs, yz])
            grid.append(np.concatenate([left, left[-2::-1] * [1, -1, 1]]))
        points = np.array(grid)
        around = np.concatenate([spots, spots[-2::-1]])
        return cls(points, around)

    @property
    def ring(self) -> np.ndarray:
        """Ring coordinate of every vertex, NxM."""
        return np.broadcast_to(self.around, self.points.shape[:2])

    def crease(self, folds: Sequence[tuple[float, float]], fade: float = 0.55) -> None:
        """Pushes both flanks out by folds of (ring coordinate, metres), fading out towards the ends."""
        x = self.points[..., 0]
        reach = np.clip(np.minimum(x.max() - x, x - x.min()) / fade, 0, 1)
        push = np.interp(self.around, *zip(*folds, strict=True), left=0.0, right=0.0)
        self.points[..., 1] += np.sign(self.points[..., 1]) * reach * push

    def shelve(self, profile: Sequence[tuple[float, float]], forward: bool) -> None:
        """Pushes an end outwards by a profile of (height, metres): a bumper's shelf, a boot's lip."""
        x, y, z = np.moveaxis(self.points, -1, 0)
        push = np.interp(z, *zip(*profile, strict=True)) * self._at_end(forward)
        x += push if forward else -push
        y += 0.4 * push * np.sign(y) * (y / np.abs(y).max()) ** 2

    def dent(self, where: np.ndarray, depth: float, forward: bool) -> None:
        """Presses an end in by `depth` metres inside a signed distance."""
        push = depth * np.clip(where / 0.035, 0, 1) * self._at_end(forward)
        self.points[..., 0] += -push if forward else push

    def _at_end(self, forward: bool) -> np.ndarray:
        x = self.points[..., 0]
        return np.clip((0.42 - abs(x - (x.max() if forward else x.min()))) / 0.2, 0, 1)

    def fill(self, where: np.ndarray, name: str) -> None:
        """Paints what lies inside a signed distance (NxM metres, positive inside) with the surface `name`.

        Later fills cover earlier ones. "cut" takes the skin away.
        """
        self.fields.setdefault(name, np.full(where.shape, -9.0))
        names = list(self.fields)
        for above in names[names.index(name) + 1 :]:
            self.fields[above] = np.minimum(self.fields[above], -where)
        self.fields[name] = np.maximum(self.fields[name], where)

    def groove(self, where: np.ndarray, width: float = 0.009) -> None:
        """Paints the outline of a signed distance as a shut line: "gap", with the bare "skin" inside it."""
        self.fill(where + width / 2, "gap")
        self.fill(where - width / 2, "skin")

    def sides(self, polygon: Polygon) -> np.ndarray:
        """Signed distance to a polygon of (x, z), on both flanks."""
        return distance(polygon, self.points[..., 0], self.points[..., 2])

    def front(self, polygon: Polygon, beyond: float) -> np.ndarray:
        """Signed distance to a polygon of (|y|, z), ahead of x = `beyond`."""
        x, y, z = np.moveaxis(self.points, -1, 0)
        return np.minimum(distance(polygon, abs(y), z), x - beyond)

    def rear(self, polygon: Polygon, behind: float) -> np.ndarray:
        """Signed distance to a polygon of (|y|, z), behind x = `behind`."""
        x, y, z = np.moveaxis(self.points, -1, 0)
        return np.minimum(distance(polygon, abs(y), z), behind - x)

    def arch(self, x: float, radius: float, height: float, lip: str, wide: float = 0.02) -> None:
        """Cuts a wheel arch around (x, height) into both flanks and paints its lip, `wide` metres."""
        p = self.points
        away = np.hypot(p[..., 0] - x, p[..., 2] - height)
        outer = abs(p[..., 1]) - 0.45 * abs(p[..., 1]).max()
        self.fill(np.minimum(radius + wide - away, outer), lip)
        self.fill(np.minimum(radius - away, outer), "cut")

    def on_side(self, x: float, z: float) -> tuple[float, float, float]:
        """The point of the left flank nearest to (x, z) in side view."""
        return self._pick((self.points[..., 1] > 0), np.array([x, 0, z]), [1, 0, 1])

    def on_top(self, x: float, y: float) -> tuple[float, float, float]:
        """The point of the upper skin nearest to (x, y) seen from above."""
        upper = np.broadcast_to(self.around > 4.5, self.points.shape[:2])
        return self._pick(upper, np.array([x, y, 0]), [1, 1, 0])

    def on_end(self, y: float, z: float, forward: bool) -> tuple[float, float, float]:
        """The point of the front or rear face nearest to (y, z)."""
        x = self.points[..., 0]
        limit = np.quantile(x, 0.82 if forward else 0.18)
        return self._pick(x > limit if forward else x < limit, np.array([0, y, z]), [0, 1, 1])

    def _pick(self, mask: np.ndarray, at: np.ndarray, axes: Sequence[int]) -> tuple[float, float, float]:
        away = (((self.points - at) * axes) ** 2).sum(-1)
        spot = self.points[np.unravel_index(np.argmin(np.where(mask, away, np.inf)), mask.shape)]
        return float(spot[0]), float(spot[1]), float(spot[2])

    def seam(
        self, line: Polygon, paint: bpy.types.Material, radius: float = 0.0045
    ) -> list[bpy.types.Object]:
        """A shut line along (x, z) points on both flanks."""
        spots = [self.on_side(x, z) for x, z in _dense(line)]
        return [tube([(x, s * y, z) for x, y, z in spots], radius, paint, sides=4) for s in (1, -1)]

    def build(self, base: Look, looks: dict[str, Look]) -> bpy.types.Object:
        """The mesh in one material that shows `base`, and each look where its field is positive."""
        rows, cols = self.points.shape[:2]
        i, j = np.meshgrid(np.arange(rows - 1), np.arange(cols - 1), indexing="ij")
        a = (i * cols + j).ravel()
        faces = np.stack([a, a + cols, a + cols + 1, a + 1], -1)
        if "cut" in self.fields:  # what is wholly cut away neither casts a shadow nor takes up room
            faces = faces[~(self.fields["cut"].ravel()[faces] > 0).all(1)]
        made = mesh(self.points.reshape(-1, 3).tolist(), faces.tolist(), None)
        for name, values in self.fields.items():
            made.data.attributes.new(name, "FLOAT", "POINT").data.foreach_set(
                "value", values.ravel().astype(np.float32)
            )
        made.data.materials.append(self._material(base, looks))
        return made

    def _material(self, base: Look, looks: dict[str, Look]) -> bpy.types.Material:
        made = bpy.data.materials.new("body")
        made.use_nodes = True
        tree = made.node_tree
        tree.nodes.clear()
        shown = surface(tree, base)
        for name in self.fields:
            if name == "cut":
                over = tree.nodes.new("ShaderNodeBsdfTransparent").outputs[0]
            else:
                over = glass(tree) if name == "glass" else surface(tree, looks[name])
            where, step = tree.nodes.new("ShaderNodeAttribute"), tree.nodes.new("ShaderNodeMath")
            mix = tree.nodes.new("ShaderNodeMixShader")
            where.attribute_name, step.operation = name, "GREATER_THAN"
            step.inputs[1].default_value = 0.0
            tree.links.new(where.outputs["Fac"], step.inputs[0])
            tree.links.new(step.outputs[0], mix.inputs["Fac"])
            tree.links.new(shown, mix.inputs[1])
            tree.links.new(over, mix.inputs[2])
            shown = mix.outputs[0]
        tree.links.new(shown, tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
        return made


def glass(tree: bpy.types.NodeTree) -> bpy.types.NodeSocket:
    """Tinted glass one can see through: mirror-like at grazing angles."""
    nodes, link = tree.nodes, tree.links.new
    clear, shiny = nodes.new("ShaderNodeBsdfTransparent"), nodes.new("ShaderNodeBsdfGlossy")
    fresnel, mix = nodes.new("ShaderNodeFresnel"), nodes.new("ShaderNodeMixShader")
    clear.inputs["Color"].default_value = (0.36, 0.40, 0.39, 1)
    shiny.inputs["Color"].default_value = (0.86, 0.91, 0.95, 1)
    shiny.inputs["Roughness"].default_value = 0.03
    # Two faces reflect. Seen from inside, a pane is no block of glass: undo what the node does there.
    side, index = nodes.new("ShaderNodeNewGeometry"), nodes.new("ShaderNodeMath")
    index.operation = "MULTIPLY_ADD"
    index.inputs[1].default_value, index.inputs[2].default_value = 1 / PANE - PANE, PANE
    link(side.outputs["Backfacing"], index.inputs[0])
    link(index.outputs[0], fresnel.inputs["IOR"])
    link(fresnel.outputs[0], mix.inputs["Fac"])
    link(clear.outputs[0], mix.inputs[1])
    link(shiny.outputs[0], mix.inputs[2])
    return mix.outputs[0]


def _dense(line: Polygon, step: float = 0.04) -> list[tuple[float, float]]:
    points = np.array(line, float)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0, along[-1], max(2, int(along[-1] / step)))
    return list(
        zip(
            np.interp(at, along, points[:, 0]).tolist(),
            np.interp(at, along, points[:, 1]).tolist(),
            strict=True,
        )
    )


def _ring(station: Station) -> list[tuple[float, float]]:
    """Nine control points (y, z) of the left half, floor to top."""
    _, wide, low, belt, rail, top, crown = station
    tall = belt - low
    edge = top - min(0.05, 0.4 * max(top - belt, 0.01))
    return [
        (0.0, low),
        (0.78 * wide, low),
        (0.965 * wide, low + 0.10 * tall),
        (wide, low + 0.5 * tall),
        (0.985 * wide, low + 0.84 * tall),
        (0.945 * wide, belt),
        (rail, edge),
        (0.86 * rail, top),
        (0.0, top + crown),
    ]


def _pchip(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Monotone cubic interpolation (Fritsch and Carlson 1980) of y, NxK, over increasing x, at M places."""
    h = np.diff(x)[:, None]
    slope = np.diff(y, axis=0) / h
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = slope[1:] * slope[:-1] > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(same, (w1 + w2) / (w1 / slope[:-1] + w2 / slope[1:]), 0.0)
    d = np.concatenate([slope[:1], inner, slope[-1:]])
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    t = ((at - x[k]) / h[k, 0])[:, None]
    return (
        y[k] * (1 + 2 * t) * (1 - t) ** 2
        + d[k] * h[k] * t * (1 - t) ** 2
        + y[k + 1] * t**2 * (3 - 2 * t)
        + d[k + 1] * h[k] * t**2 * (t - 1)
    )


def inside(polygon: Polygon, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Even-odd test of points (u, v) against a polygon."""
    hit = np.zeros(u.shape, bool)
    for (u0, v0), (u1, v1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        if v0 == v1:
            continue
        hit ^= ((v0 > v) != (v1 > v)) & (u < (u1 - u0) * (v - v0) / (v1 - v0) + u0)
    return hit


def rounded(polygon: Polygon, radius: float, steps: int = 5) -> list[tuple[float, float]]:
    """The polygon with its corners rounded by quadratic curves."""
    p = np.array(polygon, float)
    made = []
    for before, corner, after in zip(np.roll(p, 1, 0), p, np.roll(p, -1, 0), strict=True):
        a, b = before - corner, after - corner
        start = corner + a * min(radius / np.linalg.norm(a), 0.5)
        end = corner + b * min(radius / np.linalg.norm(b), 0.5)
        for t in np.linspace(0, 1, steps):
            made.append(tuple((1 - t) ** 2 * start + 2 * t * (1 - t) * corner + t**2 * end))
    return [(float(u), float(v)) for u, v in made]


def distance(polygon: Polygon, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Signed distance of points (u, v) to a polygon's outline, positive inside."""
    best = np.full(u.shape, np.inf)
    for (u0, v0), (u1, v1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        du, dv = u1 - u0, v1 - v0
        t = np.clip(((u - u0) * du + (v - v0) * dv) / max(du * du + dv * dv, 1e-12), 0, 1)
        best = np.minimum(best, (u - u0 - t * du) ** 2 + (v - v0 - t * dv) ** 2)
    return np.where(inside(polygon, u, v), 1, -1) * np.sqrt(best)
