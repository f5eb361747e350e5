"""Four-legged bodies from a few sections, posed, with hair on them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from body.parts import Part, Rgb, scatter, shell, strands
from body.sdf import Array, Prim, Solid, cone, ellipsoid, loft, noise, normals
from body.skeleton import turn

Sections = tuple[tuple[float, float, float, float], ...]
Path = tuple[tuple[float, float, float], ...]
Colour = Callable[[Array, Array], Array]
DARK: Rgb = (0.016, 0.014, 0.013)

# Legs that stand, as (x ÷ height of the hip, z ÷ the same, radius ÷ bone, radius ÷ thigh), from the hip to the toe.
# They bend at points 0, 1, 3 and 5: hip, stifle, hock and fetlock, or shoulder, elbow, knee and fetlock.
_Rest = tuple[tuple[float, float, float, float], ...]
HOOFED_HIND: _Rest = (
    (0.0, 1.0, 0, 1.0),
    (0.06, 0.78, 0, 0.66),
    (-0.06, 0.61, 0.9, 0.2),
    (-0.165, 0.48, 1.5, 0.02),
    (-0.15, 0.3, 1.0, 0),
    (-0.135, 0.125, 1.2, 0),
    (-0.1, 0.06, 1.0, 0),
    (-0.07, 0.03, 1.0, 0),
)
HOOFED_FORE: _Rest = (
    (0.0, 1.0, 0, 1.0),
    (-0.05, 0.7, 0.3, 0.5),
    (-0.03, 0.58, 0.9, 0.2),
    (0.0, 0.42, 1.4, 0.02),
    (-0.01, 0.27, 0.95, 0),
    (0.0, 0.125, 1.2, 0),
    (0.035, 0.06, 1.0, 0),
    (0.06, 0.03, 1.0, 0),
)
# Of horses and deer: more of a knee, a hock and a fetlock.
JOINTED_HIND: _Rest = (
    (0.0, 1.0, 0, 1.0),
    (0.07, 0.78, 0, 0.7),
    (-0.06, 0.62, 1.0, 0.28),
    (-0.18, 0.475, 1.6, 0.02),
    (-0.165, 0.3, 0.88, 0),
    (-0.15, 0.135, 1.32, 0),
    (-0.1, 0.07, 1.05, 0),
    (-0.07, 0.035, 1.15, 0),
)
JOINTED_FORE: _Rest = (
    (0.0, 1.0, 0, 1.0),
    (-0.05, 0.7, 0.3, 0.52),
    (-0.03, 0.585, 1.0, 0.27),
    (0.0, 0.42, 1.5, 0.02),
    (-0.012, 0.27, 0.86, 0),
    (0.0, 0.13, 1.32, 0),
    (0.045, 0.065, 1.05, 0),
    (0.07, 0.03, 1.1, 0),
)
PAWED_HIND: _Rest = (
    (0.0, 1.0, 0, 1.0),
    (0.1, 0.68, 0, 0.72),
    (-0.05, 0.47, 0.8, 0.25),
    (-0.2, 0.3, 1.1, 0.03),
    (-0.185, 0.18, 0.95, 0),
    (-0.17, 0.07, 1.1, 0),
    (-0.12, 0.05, 1.2, 0),
    (-0.06, 0.045, 1.1, 0),
)
PAWED_FORE: _Rest = (
    (0.0, 1.0, 0, 1.0),
    (-0.1, 0.66, 0.3, 0.5),
    (-0.07, 0.5, 0.9, 0.2),
    (-0.03, 0.2, 1.1, 0),
    (-0.02, 0.13, 1.05, 0),
    (-0.005, 0.07, 1.1, 0),
    (0.04, 0.05, 1.2, 0),
    (0.09, 0.045, 1.1, 0),
)


@dataclass(frozen=True)
class Coat:
    """Hairs: how many, how long and wide (metres), how far they stand up, how much they vary and curl.

    tip: how much paler a hair ends than it begins; clumps: metres by which the skin under it heaves.
    """

    count: int = 30000
    length: float = 0.022
    width: float = 0.004
    rise: float = 0.35
    vary: float = 0.22
    curl: float = 0.1
    clumps: float = 0.0
    tip: float = 1.35


@dataclass(frozen=True)
class Leg:
    """A leg: where it leaves the trunk (x, z), how thick it is there and at the cannon bone (metres)."""

    rest: _Rest
    x: float
    z: float
    thigh: float
    bone: float


@dataclass(frozen=True)
class Beast:
    """An animal facing +x, symmetric but for its gait and its look.

    trunk, neck, head: sections (x, z, half height, half width), the head's from skull to nose; `stance`: how far legs
    stand from the middle; stride: (swing, fold) in degrees of the left hind, right hind, left fore and right fore
    leg, folded ones in the air; look: degrees the head is turned to the left; ear: base and tip (x, y, z) and half
    width, widest at its base when it is `pricked`; tail: (x, z, radius); hoof: its radius, or `paw` for soft feet;
    muscles: (centre, radii) on both sides; jaw: sections of a lower jaw that hangs open.
    """

    trunk: Sections
    neck: Sections
    head: Sections
    hind: Leg
    fore: Leg
    stance: float
    stride: tuple[tuple[float, float], ...]
    ear: tuple[tuple[float, float, float], tuple[float, float, float], float]
    tail: Path
    hoof: float
    coat: Coat
    look: float = 0.0
    muscles: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...] = ()
    paw: bool = False
    pricked: bool = False
    jaw: Sections = ()
    voxel: float = 0.011

    def solid(self) -> Solid:
        """The whole body without hooves and eyes."""
        b = Solid().add(_tube(self.trunk, (0, 0, 1)))
        b.add(_tube(self.neck, (1, 0, 0.4)), k=self.neck[0][3] * 0.6)
        b.add(self._skull(self.head), k=self.head[0][3] * 0.6)
        if self.jaw:
            b.add(self._skull(self.jaw), k=self.jaw[-1][3] * 0.2)
        for side in (1, -1):
            self._add_ear(b, side)
            for centre, radii in self.muscles:
                b.add(ellipsoid(np.multiply(centre, (1, side, 1)), radii), k=min(radii) * 0.8)
        for leg, side, swing in self._legs():
            self._add_leg(b, leg, side, swing)
        for (x, z, r), (x2, z2, r2) in zip(self.tail, self.tail[1:], strict=False):
            b.add(cone((x, 0, z), r, (x2, 0, z2), r2), k=min(0.02, r * 0.4))
        return b

    def _skull(self, sections: Sections) -> Prim:
        middles = self.looking([(x, 0, z) for x, z, _, _ in sections])
        return loft(middles, [(h, w) for _, _, h, w in sections], front=self.heading((0.3, 0, 1)))

    def _add_ear(self, b: Solid, side: int) -> None:
        base, tip, wide = (np.array(x) for x in self.ear)
        a, c = self.looking([base * (1, side, 1), tip * (1, side, 1)])
        radii = [(wide * 0.4, wide * 0.6), (wide * 0.3, wide), (wide * 0.12, wide * 0.25)]
        if self.pricked:
            radii = [(wide * 0.45, wide), (wide * 0.22, wide * 0.75), (wide * 0.1, wide * 0.1)]
        front = self.heading((0.8, 0.4 * side, -0.2))
        b.add(loft([a, a * 0.55 + c * 0.45, c], radii, front=front), k=float(wide) * 0.4)

    def _add_leg(self, b: Solid, leg: Leg, side: int, stride: tuple[float, float]) -> None:
        points = self._joints(leg, side, stride)
        thick = [bone * leg.bone + thigh * leg.thigh for _, _, bone, thigh in leg.rest]
        flat = (0.45, 0.55, 0.7, 0.8, 0.85, 0.95, 1.0)
        points[0, 2], thick[0] = points[0, 2] + leg.thigh * 0.35, leg.thigh * 0.5
        b.add(loft(points[:7], [(r, r * f) for r, f in zip(thick, flat, strict=False)]), k=leg.thigh * 0.25)
        if leg is self.hind:  # The tendon that makes the hock's point.
            heel = points[3] + (points[3] - points[4]) * 0.12 - (leg.bone * 0.9, 0, 0)
            calf = points[2] - (leg.bone * 1.3, 0, -leg.bone)
            b.add(cone(heel, leg.bone * 0.62, calf, leg.bone * 0.8), k=leg.bone * 0.8)
        if self.paw:
            r = self.hoof
            b.add(ellipsoid(points[7] + (0, 0, r * 0.1), (r * 1.3, r * 0.95, r * 0.7)), k=r * 0.4)

    def _legs(self) -> list[tuple[Leg, int, tuple[float, float]]]:
        legs = ((self.hind, 1), (self.hind, -1), (self.fore, 1), (self.fore, -1))
        return [(leg, side, stride) for (leg, side), stride in zip(legs, self.stride, strict=True)]

    def _joints(self, leg: Leg, side: int, stride: tuple[float, float]) -> Array:
        """Points (8, 3) down a leg; one that is not folded reaches the ground."""
        swing, fold = stride
        xz = np.array([(leg.x + leg.z * x, leg.z * z) for x, z, _, _ in leg.rest])
        toe = xz[-1, 1]
        hind = leg is self.hind
        bends = (swing + 0.7 * fold, -1.3 * fold, 1.0 * fold, -0.9 * fold)
        if not hind:
            bends = (swing - 0.2 * fold, 0.9 * fold, -1.9 * fold, -0.8 * fold)
        for at, degrees in zip((0, 1, 3, 5), bends, strict=True):
            c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
            xz[at + 1 :] = (xz[at + 1 :] - xz[at]) @ np.array([[c, s], [-s, c]]) + xz[at]
        if not fold:
            xz[:, 1] = leg.z - (leg.z - xz[:, 1]) * (leg.z - toe) / (leg.z - xz[-1, 1])
        apart = self.stance * (1 - 0.25 * np.linspace(0, 1, len(xz)))
        return np.column_stack([xz[:, 0], side * apart, xz[:, 1]]).astype(np.float32)

    def heading(self, way: tuple[float, float, float]) -> Array:
        return turn((0, 0, self.look)) @ np.array(way)

    def looking(self, points: list[tuple[float, float, float]]) -> Array:
        """Points of a head that looks ahead, turned about the end of the neck to where it does look."""
        pivot = np.array([self.neck[-1][0], 0, 0])
        return (np.array(points) - pivot) @ turn((0, 0, self.look)).T + pivot

    def hooves(self, horn: Rgb) -> list[Part]:
        """Hooves under the four legs, if there are any."""
        b = Solid()
        for leg, side, stride in self._legs():
            *_, ankle, toe = self._joints(leg, side, stride)
            b.add(cone(ankle, self.hoof * 0.8, toe, self.hoof * 1.1), k=0.01)
        return [] if self.paw else [shell(b.clip((0, 0, 0), (0, 0, -1)), horn, "leather", 0.006)]

    def eyes(self, radius: float, along: float = 0.25, out: float = 0.93) -> list[Part]:
        """A dark, shining eye on either side of the head, `out` of its half width from the middle."""
        a, c = np.array(self.head[1]), np.array(self.head[2])
        x, z, high, wide = a + (c - a) * along
        at = self.looking([(x, s * wide * out, z + high * 0.3) for s in (1, -1)])
        return [shell(Solid().add(ellipsoid(p, (radius,) * 3)), DARK, "glass", 0.003) for p in at]

    def nose(self, radius: float, rgb: Rgb = DARK) -> Part:
        """A wet pad at the upper end of the muzzle."""
        x, z, high, _ = self.head[-1]
        at = self.looking([(x + radius * 0.3, 0, z + high - radius * 0.6)])[0]
        return shell(
            Solid().add(ellipsoid(at, (radius, radius * 1.15, radius * 0.8))), rgb, "gloss", radius * 0.25
        )

    def tongue(self, hang: float) -> Part:
        """A tongue over the end of an open jaw, `hang` metres beyond it."""
        (x, z, high, wide), (x2, z2, high2, _) = self.jaw[-2:]
        way = [(x, 0, z + high), (x2, 0, z2 + high2 + 0.004), (x2 + hang * 0.5, 0, z2 - hang * 0.5)]
        flesh = loft(
            self.looking(way),
            [(0.006, wide * 0.7), (0.006, wide * 0.6), (0.005, wide * 0.4)],
            self.heading((0.3, 0, 1)),
        )
        return shell(Solid().add(flesh), (0.5, 0.15, 0.15), "skin", 0.004)

    def head_axes(self, p: Array) -> Array:
        """Points (n, 3) as (along the head, 0 at the skull and 1 at the nose; metres to its left; metres above)."""
        (x, z), (x2, z2) = self.head[0][:2], self.head[-1][:2]
        pivot = np.array([self.neck[-1][0], 0, 0])
        q = (p - pivot) @ turn((0, 0, self.look)) + pivot - (x, 0, z)
        way = np.array([x2 - x, 0, z2 - z])
        long = np.linalg.norm(way)
        way /= long
        return np.column_stack([q @ way / long, q[:, 1], q @ np.array([-way[2], 0, way[0]])])

    def along_head(self, p: Array) -> Array:
        """How far points (n, 3) lie along the head, 0 at the skull, 1 at the nose; far outside it, 0."""
        t, left, up = self.head_axes(p).T
        return np.where(np.hypot(left, up) < 1.7 * self.head[1][2], np.clip(t, 0, None), 0) * (t < 1.3)

    def on_ear(self, p: Array) -> Array:
        """Weight (n,) of the ears, beyond their base."""
        a, c = np.array(self.ear[0]), np.array(self.ear[1])
        weight = np.zeros(len(p))
        for side in (1, -1):
            base, tip = self.looking([a * (1, side, 1), c * (1, side, 1)])
            t = (p - base) @ (tip - base) / ((tip - base) @ (tip - base))
            off = np.linalg.norm(p - base - t[:, None] * (tip - base), axis=1)
            weight = np.maximum(weight, np.clip((t - 0.12) / 0.12, 0, 1) * (off < 1.3 * self.ear[2]))
        return weight

    def parts(self, colour: Colour, seed: int, horn: Rgb = DARK) -> list[Part]:
        """Skin, hair, feet; colour: (points, normals) -> linear RGB."""
        return furred(self.solid(), colour, self.coat, self.voxel, seed) + self.hooves(horn)


def _tube(sections: Sections, front: tuple[float, float, float]):
    return loft([(x, 0, z) for x, z, _, _ in sections], [(h, w) for _, _, h, w in sections], front, steps=7)


def furred(solid: Solid, colour: Colour, coat: Coat, h: float, seed: int) -> list[Part]:
    """The skin of a solid and its hairs, which lie backwards and down."""
    v, f = solid.mesh(h, 2)
    v[:, 2] = np.maximum(v[:, 2], 0.002)
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
    length = coat.length * rng.uniform(0.6, 1.2, len(p)) * (1 - 0.75 * thin)
    tone = np.exp(rng.normal(0, coat.vary, len(p)) + coat.vary * noise(p * 22, seed))
    hairs = strands(p, flow, length, coat.width, colour(p, n[near]) * tone[:, None], "fur", 0.15, coat.tip)
    hairs.v[:, 2] = np.maximum(hairs.v[:, 2], 0.001)
    return [Part(v, f, colour(v, n) * 0.85, "fur"), hairs]


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
