"""Solids as distance fields, and their meshes.

Bodies, clothes and animals are smooth unions of a few primitives. A primitive is a `Prim`: a function of points
(n, 3) in metres that returns signed distances (n,), negative inside, and a box outside which it may be skipped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float32]
FAR = 0.5


@dataclass(frozen=True)
class Prim:
    """A signed distance function and the box (lo, hi) that holds its surface, metres."""

    distance: Callable[[Array], Array]
    lo: Array
    hi: Array


def _vec(p: ArrayLike) -> Array:
    return np.asarray(p, np.float32)


def _norm(v: ArrayLike) -> Array:
    v = _vec(v)
    return v / max(float(np.linalg.norm(v)), 1e-9)


def frame(axis: ArrayLike, front: ArrayLike = (1, 0, 0)) -> Array:
    """Rotation (3, 3) with rows front, left, axis; `front` is made perpendicular to `axis`."""
    w = _norm(axis)
    f = _vec(front) - w * float(np.dot(w, _vec(front)))
    if np.linalg.norm(f) < 1e-4:
        f = np.cross([0, 1, 0], w)
    f = _norm(f)
    return np.stack([f, np.cross(w, f), w]).astype(np.float32)


def cone(a: ArrayLike, ra: float, b: ArrayLike, rb: float) -> Prim:
    """A capsule from a to b whose radius goes from ra to rb."""
    a, b = _vec(a), _vec(b)
    d = b - a
    dd = max(float(d @ d), 1e-9)

    def distance(p: Array) -> Array:
        t = np.clip((p - a) @ d / dd, 0, 1)
        return np.linalg.norm(p - a - t[:, None] * d, axis=1) - (ra + (rb - ra) * t)

    r = max(ra, rb)
    return Prim(distance, np.minimum(a, b) - r, np.maximum(a, b) + r)


def ellipsoid(c: ArrayLike, radii: ArrayLike, rows: ArrayLike | None = None) -> Prim:
    """An ellipsoid about c; radii along the rows of the rotation `rows` (the world axes by default)."""
    c, s = _vec(c), _vec(radii)
    m = np.eye(3, dtype=np.float32) if rows is None else _vec(rows)

    def distance(p: Array) -> Array:
        q = (p - c) @ m.T
        k0 = np.linalg.norm(q / s, axis=1)
        k1 = np.linalg.norm(q / (s * s), axis=1)
        return k0 * (k0 - 1) / np.maximum(k1, 1e-6)

    reach = float(s.max())
    return Prim(distance, c - reach, c + reach)


def loft(
    centres: Sequence[ArrayLike],
    radii: Sequence[tuple[float, float]],
    front: ArrayLike = (1, 0, 0),
    power: float = 2.0,
    steps: int = 3,
) -> Prim:
    """A tube through `centres` with (super)elliptic sections and flat ends.

    radii: (along front, along left) at each centre; sections between are interpolated by a spline with `steps`
    pieces an interval. `front` fixes the sections' rotation; power 2 is an ellipse, 4 a rounded box.
    """
    c, r = _spline(np.array(centres, np.float32), steps), _spline(np.array(radii, np.float32), steps)
    r = np.maximum(r, 1e-3)

    def distance(p: Array) -> Array:
        out = np.full(len(p), FAR, np.float32)
        for i in range(len(c) - 1):
            d = c[i + 1] - c[i]
            length = float(np.linalg.norm(d))
            m = frame(d, front)
            q = (p - c[i]) @ m.T
            t = np.clip(q[:, 2] / length, 0, 1)
            rx = r[i, 0] + (r[i + 1, 0] - r[i, 0]) * t
            ry = r[i, 1] + (r[i + 1, 1] - r[i, 1]) * t
            k = (np.abs(q[:, 0] / rx) ** power + np.abs(q[:, 1] / ry) ** power) ** (1 / power)
            rho = np.hypot(q[:, 0], q[:, 1])
            radial = np.where(k > 0.05, rho * (1 - 1 / np.maximum(k, 0.05)), -np.minimum(rx, ry))
            slack = np.where(q[:, 2] < 0, i > 0, i < len(c) - 2) * 0.4 * length
            over = np.maximum(np.abs(q[:, 2] - t * length) - slack, 0)
            out = np.minimum(out, np.where(over > 1e-6, np.hypot(np.maximum(radial, 0), over), radial))
        return out

    reach = r.max()
    return Prim(distance, c.min(0) - reach, c.max(0) + reach)


def _spline(x: Array, steps: int) -> Array:
    """Catmull-Rom points (m, k) through the rows of x (n, k)."""
    if steps <= 1 or len(x) < 3:
        return x
    e = np.concatenate([2 * x[:1] - x[1:2], x, 2 * x[-1:] - x[-2:-1]])
    out = []
    for i in range(len(x) - 1):
        p0, p1, p2, p3 = e[i : i + 4]
        for t in np.arange(steps) / steps:
            a, b = 2 * p0 - 5 * p1 + 4 * p2 - p3, -p0 + 3 * p1 - 3 * p2 + p3
            out.append(0.5 * (2 * p1 + (p2 - p0) * t + a * t * t + b * t**3))
    return np.array([*out, x[-1]], np.float32)


@dataclass
class Solid:
    """Primitives joined in order: `add` unions smoothly over k metres, `cut` takes away, `keep` intersects."""

    parts: list[tuple[str, Prim, float]] = field(default_factory=list)

    def add(self, *prims: Prim, k: float = 0.02) -> "Solid":
        self.parts += [("add", p, k) for p in prims]
        return self

    def cut(self, *prims: Prim, k: float = 0.005) -> "Solid":
        self.parts += [("cut", p, k) for p in prims]
        return self

    def clip(self, point: ArrayLike, normal: ArrayLike, reach: float = 9.0, k: float = 0.004) -> "Solid":
        """Take away what lies on the normal's side of the plane, within `reach` metres of the point."""
        o, n = _vec(point), _norm(normal)

        def distance(p: Array) -> Array:
            return np.maximum(-(p - o) @ n, np.linalg.norm(p - o, axis=1) - reach)

        return self.cut(Prim(distance, o - reach, o + reach), k=k)

    def mesh(self, h: float = 0.008, smooth: int = 1) -> tuple[Array, NDArray[np.int64]]:
        """Vertices (n, 3) in metres and quads (m, 4) at a grid of h metres."""
        added = [p for op, p, _ in self.parts if op == "add"]
        lo = np.min([p.lo for p in added], 0) - 4 * h
        shape = np.ceil((np.max([p.hi for p in added], 0) + 4 * h - lo) / h).astype(int) + 1
        d = np.full(shape, FAR, np.float32)
        for op, prim, k in self.parts:
            pad = k + 3 * h
            i0 = np.clip(np.floor((prim.lo - pad - lo) / h).astype(int), 0, shape)
            i1 = np.clip(np.ceil((prim.hi + pad - lo) / h).astype(int) + 1, 0, shape)
            if np.any(i1 <= i0):
                continue
            where = tuple(slice(a, b) for a, b in zip(i0, i1, strict=True))
            axes = [lo[i] + h * np.arange(i0[i], i1[i], dtype=np.float32) for i in range(3)]
            p = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
            new, old = prim.distance(p).reshape(d[where].shape), d[where]
            d[where] = _smin(old, new, k) if op == "add" else -_smin(-old, new, k)
        v, f = surface_nets(d)
        v = v * h + lo
        return relax(v, f, smooth), f


def _smin(a: Array, b: Array, k: float) -> Array:
    t = np.maximum(k - np.abs(a - b), 0) / max(k, 1e-6)
    return np.minimum(a, b) - t * t * k * 0.25


def surface_nets(d: Array) -> tuple[Array, NDArray[np.int64]]:
    """Quads about the zero set of a grid (Gibson 1998): a vertex in each mixed cell, at the mean of its crossings."""
    inside = d < 0
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    view = tuple(n - 1 for n in d.shape)

    def at(c: tuple[int, int, int], g: NDArray) -> NDArray:
        return g[c[0] : c[0] + view[0], c[1] : c[1] + view[1], c[2] : c[2] + view[2]]

    count = sum(at(c, inside).astype(np.int8) for c in corners)
    cells = np.argwhere((count > 0) & (count < 8))
    index = np.full(view, -1, np.int64)
    index[tuple(cells.T)] = np.arange(len(cells))
    total, hits = np.zeros((len(cells), 3), np.float32), np.zeros(len(cells), np.float32)
    for a in corners:
        for axis in range(3):
            if a[axis]:
                continue
            b = np.array(a)
            b[axis] = 1
            d0, d1 = d[tuple((cells + a).T)], d[tuple((cells + b).T)]
            cross = (d0 < 0) != (d1 < 0)
            t = np.where(cross, d0 / np.where(cross, d0 - d1, 1), 0)[:, None]
            total += np.where(cross[:, None], np.array(a) + t * (b - a), 0)
            hits += cross
    quads = []
    for axis in range(3):
        u, w = (axis + 1) % 3, (axis + 2) % 3
        first = [slice(None)] * 3
        first[axis] = slice(0, -1)
        second = [slice(None)] * 3
        second[axis] = slice(1, None)
        i0, i1 = inside[tuple(first)], inside[tuple(second)]
        for out in (False, True):
            e = np.argwhere((i0 != i1) & (i1 == out))
            e = e[(e[:, u] > 0) & (e[:, w] > 0) & (e[:, u] < view[u]) & (e[:, w] < view[w])]
            ring = []
            for du, dw in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
                q = e.copy()
                q[:, u] += du
                q[:, w] += dw
                ring.append(index[tuple(q.T)])
            quads.append(np.stack(ring[::-1] if out else ring, 1))
    return cells + total / np.maximum(hits, 1)[:, None], np.concatenate(quads)


def relax(v: Array, f: NDArray[np.int64], rounds: int) -> Array:
    """Laplacian smoothing of a quad mesh."""
    a = np.concatenate([f[:, i] for i in range(4)])
    b = np.concatenate([f[:, (i + 1) % 4] for i in range(4)])
    n = np.bincount(a, minlength=len(v))
    for _ in range(rounds):
        mean = np.stack([np.bincount(a, v[b, i], len(v)) for i in range(3)], 1) / np.maximum(n, 1)[:, None]
        v = (0.5 * v + 0.5 * mean).astype(np.float32)
    return v


def normals(v: Array, f: NDArray[np.int64]) -> Array:
    """Unit vertex normals (n, 3) of a quad mesh."""
    face = np.cross(v[f[:, 2]] - v[f[:, 0]], v[f[:, 3]] - v[f[:, 1]])
    n = np.stack([sum(np.bincount(f[:, q], face[:, i], len(v)) for q in range(4)) for i in range(3)], 1)
    return (n / np.maximum(np.linalg.norm(n, axis=1), 1e-12)[:, None]).astype(np.float32)


def noise(p: Array, seed: int = 0) -> Array:
    """Gradient noise (n,) in about -1..1 at points p (n, 3), one cell a unit (Perlin 1985, 2002)."""
    i = np.floor(p).astype(np.int64)
    f = p - i
    u = f * f * f * (f * (f * 6 - 15) + 10)
    out = np.zeros(len(p))
    for c in np.ndindex(2, 2, 2):
        h = ((i + c) * (73856093, 19349663, 83492791)).sum(1) + seed * 2654435761
        h = (h ^ (h >> 13)) * 1274126177
        h = h ^ (h >> 16)
        g = np.stack([(h >> s & 255) / 127.5 - 1 for s in (0, 8, 16)], 1)
        w = np.prod(np.where(c, u, 1 - u), 1)
        out += w * (g * (f - c)).sum(1)
    return (out * 1.2).astype(np.float32)
