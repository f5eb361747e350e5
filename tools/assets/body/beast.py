"""Four-legged bodies from a few sections, and the hair on them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from body.parts import Part, Rgb, paint, scatter, shell, strands
from body.sdf import Array, Solid, cone, ellipsoid, loft, noise, normals

Sections = tuple[tuple[float, float, float, float], ...]
Path = tuple[tuple[float, float, float], ...]
Colour = Callable[[Array, Array], Array]
DARK: Rgb = (0.012, 0.01, 0.009)


@dataclass(frozen=True)
class Coat:
    """Hairs: how many, how long and wide (metres), how far they stand up, how much they vary and curl."""

    count: int = 26000
    length: float = 0.022
    width: float = 0.004
    rise: float = 0.35
    vary: float = 0.22
    curl: float = 0.1
    clumps: float = 0.0


@dataclass(frozen=True)
class Beast:
    """An animal facing +x, symmetric but for its gait.

    trunk, neck, head: sections (x, z, half height, half width), the head's from skull to nose; hind, fore: legs as
    (x, z, radius) downwards, `stance` from the middle; gait: how far the legs are swung (metres at the ground);
    ear: base and tip (x, y, z) and half width; tail: (x, z, radius); hoof: its radius, or `paw` for soft feet.
    """

    trunk: Sections
    neck: Sections
    head: Sections
    hind: Path
    fore: Path
    stance: float
    gait: float
    ear: tuple[tuple[float, float, float], tuple[float, float, float], float]
    tail: Path
    hoof: float
    coat: Coat
    paw: bool = False
    voxel: float = 0.011

    def solid(self) -> Solid:
        """The whole body without hooves and eyes."""
        b = Solid().add(_tube(self.trunk, (0, 0, 1)))
        b.add(_tube(self.neck, (1, 0, 0.4)), k=self.neck[0][3] * 0.6)
        b.add(_tube(self.head, (0.3, 0, 1)), k=self.head[0][3] * 0.5)
        base, tip, wide = (np.array(x) for x in self.ear)
        for side in (1, -1):
            a, c = base * (1, side, 1), tip * (1, side, 1)
            radii = [(wide * 0.45, wide * 0.6), (wide * 0.4, wide), (wide * 0.15, wide * 0.25)]
            b.add(loft([a, (a + c) / 2, c], radii, front=(0.8, 0.4 * side, -0.2)), k=float(wide) * 0.5)
            for path, phase in ((self.hind, 1), (self.fore, -1)):
                points = [(x, side * y, z) for x, y, z in self._leg(path, side * phase)]
                flat = [0.7, 0.8, 0.9, 0.9, 0.9, 0.9]
                b.add(
                    loft(points, [(p[2], p[2] * f) for p, f in zip(path, flat, strict=False)]),
                    k=path[0][2] * 0.35,
                )
        for (x, z, r), (x2, z2, r2) in zip(self.tail, self.tail[1:], strict=False):
            b.add(cone((x, 0, z), r, (x2, 0, z2), r2), k=0.02)
        return b

    def _leg(self, path: Path, swing: int) -> list[tuple[float, float, float]]:
        top, low = path[0][1], path[-1][1]
        down = [(top - z) / (top - low) for _, z, _ in path]
        shift = [self.gait * swing * t**1.3 for t in down]
        return [
            (x + s, self.stance * (1 - 0.1 * t), z) for (x, z, _), t, s in zip(path, down, shift, strict=True)
        ]

    def feet(self) -> list[Part]:
        """Hooves or paws under the four legs."""
        b = Solid()
        for side in (1, -1):
            for path, phase in ((self.hind, 1), (self.fore, -1)):
                x, y, z = self._leg(path, side * phase)[-1]
                r = self.hoof
                if self.paw:
                    b.add(ellipsoid((x + r * 0.5, side * y, r * 0.6), (r * 1.35, r * 0.95, r * 0.65)))
                else:
                    b.add(
                        cone((x, side * y, max(z, r)), r * 0.85, (x + r * 0.5, side * y, r * 0.6), r * 1.1),
                        k=0.01,
                    )
        return [shell(b.clip((0, 0, 0), (0, 0, -1)), DARK, "leather", 0.006)] if not self.paw else [_soft(b)]

    def eyes(self, radius: float, along: float = 0.25) -> list[Part]:
        """A dark, shining eye on either side of the head."""
        a, c = np.array(self.head[1]), np.array(self.head[2])
        x, z, high, wide = a + (c - a) * along
        return [
            shell(
                Solid().add(ellipsoid((x, s * wide * 0.93, z + high * 0.3), (radius, radius * 0.7, radius))),
                DARK,
                "glass",
                0.003,
            )
            for s in (1, -1)
        ]

    def along_head(self, p: Array) -> Array:
        """How far points (n, 3) lie along the head, 0 at the skull, 1 at the nose; far outside it, 0."""
        a, c = (
            np.array([self.head[0][0], 0, self.head[0][1]]),
            np.array([self.head[-1][0], 0, self.head[-1][1]]),
        )
        t = (p - a) @ (c - a) / ((c - a) @ (c - a))
        near = np.linalg.norm(p - a - np.clip(t, 0, 1)[:, None] * (c - a), axis=1) < 1.7 * self.head[1][2]
        return np.where(near, t, 0)

    def parts(self, colour: Colour, seed: int) -> list[Part]:
        """Skin, hair, feet; colour: (points, normals) -> linear RGB."""
        return furred(self.solid(), colour, self.coat, self.voxel, seed) + self.feet()


def _tube(sections: Sections, front: tuple[float, float, float]):
    return loft([(x, 0, z) for x, z, _, _ in sections], [(h, w) for _, _, h, w in sections], front=front)


def _soft(b: Solid) -> Part:
    v, f = b.mesh(0.005)
    return Part(v, f, paint(v, (0.05, 0.035, 0.025), 0.1), "fur")


def furred(solid: Solid, colour: Colour, coat: Coat, h: float, seed: int) -> list[Part]:
    """The skin of a solid and its hairs, which lie backwards and down."""
    v, f = solid.mesh(h, 2)
    n = normals(v, f)
    if coat.clumps:
        v = v + n * (coat.clumps * (noise(v * 16, seed) + 0.5 * noise(v * 34, seed)))[:, None]
        n = normals(v, f)
    rng = np.random.default_rng(seed)
    p, near = scatter(v, f, coat.count, seed)
    flow = np.array([-0.8, 0, -0.6]) + rng.normal(0, coat.curl, p.shape) + 0.25 * noise(p * 9, seed)[:, None]
    flow -= n[near] * (flow * n[near]).sum(1)[:, None]
    flow += n[near] * coat.rise
    centre = (v.min(0) + v.max(0)) / 2
    thin = np.clip(np.linalg.norm(p - centre, axis=1) / (v[:, 0].max() - centre[0]), 0, 1)
    length = coat.length * rng.uniform(0.6, 1.2, len(p)) * (1 - 0.55 * thin)
    tone = np.exp(rng.normal(0, coat.vary, len(p)) + coat.vary * noise(p * 22, seed))
    hairs = strands(p, flow, length, coat.width, colour(p, n[near]) * tone[:, None], "fur", 0.15)
    return [Part(v, f, colour(v, n) * 0.8, "fur"), hairs]


def ramp(x: Array, knots: list[tuple[float, Rgb]]) -> Array:
    """Colours (n, 3) interpolated at x (n,)."""
    at = [k for k, _ in knots]
    return np.stack([np.interp(x, at, [c[i] for _, c in knots]) for i in range(3)], 1)


def bundle(root: Array, to: Array, spread: float, count: int, rgb: Rgb, seed: int, sag: float = 0.3) -> Part:
    """Long hair between points: roots (n, 3) taken at random, each towards its own entry of `to` (n, 3)."""
    rng = np.random.default_rng(seed)
    i = rng.integers(len(root), size=count)
    p = root[i] + rng.normal(0, spread * 0.5, (count, 3))
    way = to[i] - root[i] + rng.normal(0, spread, (count, 3))
    length = np.linalg.norm(way, axis=1) * rng.uniform(0.8, 1.1, count)
    tint = np.array(rgb) * np.exp(rng.normal(0, 0.3, count))[:, None]
    return strands(p.astype(np.float32), way, length, 0.007, tint, "hair", sag)
