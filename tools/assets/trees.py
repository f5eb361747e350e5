"""Fallen trees and broken branches."""

from dataclasses import dataclass, field

import numpy as np
from body.parts import Part, Rgb, blend, build, pipe
from body.sdf import Array, noise
from common import Model, Objects

WOOD: Rgb = (0.55, 0.38, 0.21)
BARK: Rgb = (0.155, 0.122, 0.086)
LICHEN: Rgb = (0.3, 0.31, 0.25)
MOSS: Rgb = (0.09, 0.1, 0.035)
# Leaves in the light, in the shade and withered.
LEAVES: tuple[Rgb, ...] = ((0.075, 0.13, 0.028), (0.11, 0.165, 0.04), (0.045, 0.085, 0.02), (0.2, 0.19, 0.05))
SHARES = (0.4, 0.3, 0.25, 0.05)
SPREAD = 0.6


@dataclass(frozen=True)
class Foliage:
    """How many leaves, how long (metres) and how wide they are (÷ length)."""

    count: int = 22000
    size: float = 0.075
    width: float = 0.36


@dataclass
class Growth:
    """What has grown so far: branches as (points, radii, depth) and where leaves can sit."""

    branches: list[tuple[Array, Array, int]] = field(default_factory=list)
    twigs: list[tuple[Array, Array]] = field(default_factory=list)


def grow(
    g: Growth, rng: np.random.Generator, p: Array, d: Array, length: float, r: float, depth: int
) -> None:
    """A branch from p along d and all that springs from it; branches bend where they meet the ground."""
    n = max(4, int(length / (0.14 if depth else 0.2)))
    points, radii = [p.copy()], [r]
    for i in range(n):
        d = d + rng.normal(0, 0.11 if depth else 0.035, 3) + (0, 0, -0.04 if depth and p[2] > 0.4 else 0.0)
        d /= np.linalg.norm(d)
        p = p + d * length / n
        floor = 0.02 + radii[-1] * 0.7
        if p[2] < floor:
            p[2], d[2] = floor, abs(d[2]) * 0.25
        t = (i + 1) / n
        points.append(p.copy())
        radii.append(max(0.003, r * (1 - 0.82 * t**1.2) * (1 + (0.06 * rng.normal() if depth == 0 else 0))))
        if depth < 3 and t > (0.32, 0.15, 0.1)[depth]:
            for _ in range(rng.poisson((0.95, 0.85, 0.8)[depth])):
                out = _offshoot(rng, d)
                share = (0.36, 0.45, 0.5)[depth] * rng.uniform(0.55, 1.15) * (1.15 - 0.5 * t)
                grow(g, rng, p, out, length * share, radii[-1] * rng.uniform(0.4, 0.62), depth + 1)
        if depth >= 2:
            g.twigs.append((p.copy(), d.copy()))
    g.branches.append((np.array(points), np.array(radii), depth))


def _offshoot(rng: np.random.Generator, d: Array) -> Array:
    side = rng.normal(0, 1, 3)
    side -= d * (side @ d)
    side /= np.linalg.norm(side)
    out = d * 0.75 + side * SPREAD * rng.uniform(0.8, 1.3)
    return out / np.linalg.norm(out)


def _wood(g: Growth, seed: int) -> list[Part]:
    parts = []
    for points, radii, depth in g.branches:
        tube = pipe(points, radii, BARK, "bark", sides=(22, 10, 6, 4)[depth])
        v = tube.v
        centre = np.repeat(points, len(v) // len(points), 0)[: len(v)]
        tone = 0.8 + 0.4 * noise(v * 6, seed) + 0.25 * noise(v * 23, seed + 4)
        if depth < 2:
            groove = noise(v * (9, 2.2, 9), seed) + 0.6 * noise(v * 5, seed + 1)
            v = (v + (v - centre) * 0.16 * groove[:, None]).astype(np.float32)
            tone += 0.45 * groove
        rgb = tube.rgb * np.clip(tone, 0.3, 1.6)[:, None]
        rgb = blend(rgb, np.clip((noise(v * 7, seed + 2) - 0.15) / 0.2, 0, 0.75), LICHEN)
        upper = np.clip((v - centre)[:, 2] / np.maximum(np.linalg.norm(v - centre, axis=1), 1e-6), 0, 1)
        rgb = blend(rgb, upper * np.clip(noise(v * 4, seed + 3) * 3, 0, 0.7), MOSS)
        parts.append(tube._replace(v=v, rgb=rgb))
    return parts


def _leaves(g: Growth, leaf: Foliage, rng: np.random.Generator) -> Part:
    pos, along = (np.array(x) for x in zip(*g.twigs, strict=True))
    n = leaf.count
    pick = rng.integers(len(pos), size=n)
    q = pos[pick] + rng.normal(0, 0.075, (n, 3))
    size = leaf.size * rng.uniform(0.6, 1.25, n)[:, None]
    a = along[pick] * 0.4 + rng.normal(0, 0.6, (n, 3)) - (0, 0, 0.35)
    a /= np.linalg.norm(a, axis=1)[:, None]
    b = np.cross(a, rng.normal(0, 1, (n, 3)))
    b *= leaf.width / np.linalg.norm(b, axis=1)[:, None]
    up = np.cross(a, b)
    v = np.stack(
        [q, q + (a * 0.45 + b + up * 0.25) * size, q + a * size, q + (a * 0.45 - b + up * 0.25) * size], 1
    )
    v = v.reshape(-1, 3)
    v[:, 2] = np.maximum(v[:, 2], 0.006 + 0.02 * rng.random(len(v)))
    twig = np.exp(rng.normal(0, 0.22, len(pos)))[pick]
    rgb = _leaf_colours(rng, n) * (twig * rng.uniform(0.75, 1.25, n))[:, None]
    faces = np.arange(4 * n).reshape(-1, 4)
    return Part(v.astype(np.float32), faces, np.repeat(rgb, 4, 0).astype(np.float32), "leaf")


def _leaf_colours(rng: np.random.Generator, n: int) -> Array:
    return np.array(LEAVES)[rng.choice(len(LEAVES), n, p=SHARES)]


def _break(at: Array, back: Array, r: float, rng: np.random.Generator) -> list[Part]:
    """Splinters and pale wood where the trunk snapped, facing `back`."""
    side = np.cross(back, (0, 0, 1.0))
    side /= np.linalg.norm(side)
    up = np.cross(side, back)
    parts = [
        pipe(
            [at - back * 0.05, at + back * 0.02, at + back * 0.05],
            [r * 0.93, r * 0.8, r * 0.3],
            WOOD,
            "bark",
            sides=14,
        )
    ]
    for _ in range(46):
        a, rr = rng.uniform(0, 6.28), r * np.sqrt(rng.random()) * 0.85
        p = at + side * rr * np.cos(a) + up * rr * np.sin(a)
        long = rng.uniform(0.04, 0.16) + (0.3 * rng.random() if np.sin(a) > 0.4 else 0)
        tone = np.array(WOOD) * rng.uniform(0.55, 1.3)
        tip = p + back * long + rng.normal(0, 0.02, 3)
        parts.append(
            pipe(
                [p - back * 0.05, p + back * long * 0.5, tip],
                [r * rng.uniform(0.1, 0.2), r * 0.09, 0.003],
                tuple(tone),
                "bark",
                sides=5,
            )
        )
    return parts


def _litter(rng: np.random.Generator, half: float, count: int) -> Part:
    """Leaves and chips thrown about on the road."""
    n, leaf = count, Foliage()
    q = np.stack(
        [np.clip(rng.normal(0, 0.9, n), -1.6, 1.6), rng.uniform(-half, half * 1.1, n), np.full(n, 0.008)], 1
    )
    a, size = rng.uniform(0, 6.28, n), leaf.size * rng.uniform(0.5, 1.1, n)
    d = np.stack([np.cos(a), np.sin(a), rng.uniform(0, 0.25, n)], 1) * size[:, None]
    s = np.stack([-np.sin(a), np.cos(a), 0 * a], 1) * (size * leaf.width)[:, None]
    v = np.stack([q, q + d * 0.45 + s, q + d, q + d * 0.45 - s], 1).reshape(-1, 3)
    pale = rng.random(n)[:, None] < 0.25
    rgb = np.where(pale, np.array(WOOD) * 0.8, _leaf_colours(rng, n)) * rng.uniform(0.6, 1.2, (n, 1))
    return Part(
        v.astype(np.float32), np.arange(4 * n).reshape(-1, 4), np.repeat(rgb, 4, 0).astype(np.float32), "leaf"
    )


def fallen_tree(seed: int = 0, length: float = 5.4, radius: float = 0.17) -> Objects:
    """A tree that fell across the lane: trunk along y, broken end at -y, crown at +y."""
    rng, g = np.random.default_rng(seed + 11), Growth()
    start = np.array([0.0, -length * 0.46, radius * 1.1])
    grow(g, rng, start, np.array([0.03, 1.0, 0.005]), length * 0.98, radius, 0)
    parts = [*_wood(g, seed), _leaves(g, Foliage(), rng), _litter(rng, length * 0.5, 220)]
    return build([*parts, *_break(start, np.array([-0.03, -1.0, 0.02]), radius, rng)])


def branch(seed: int = 0, length: float = 3.0) -> Objects:
    """A big branch torn off, lying on the road."""
    rng, g = np.random.default_rng(seed + 5), Growth()
    start = np.array([0.0, -length * 0.45, 0.07])
    grow(g, rng, start, np.array([0.1, 1.0, 0.06]), length * 0.95, 0.055, 1)
    parts = [*_wood(g, seed), _leaves(g, Foliage(5500), rng), _litter(rng, length * 0.5, 60)]
    return build([*parts, *_break(start, np.array([-0.1, -1.0, -0.03]), 0.055, rng)])


def shrub(seed: int = 0, height: float = 1.0) -> Objects:
    """A small bush growing by the road."""
    rng, g = np.random.default_rng(seed + 8), Growth()
    for _ in range(9):
        out = np.append(rng.normal(0, 0.45, 2), 1.0)
        root = np.array([*rng.normal(0, 0.05, 2), 0.03])
        grow(g, rng, root, out / np.linalg.norm(out), height * 0.75, 0.012, 1)
    return build([*_wood(g, seed), _leaves(g, Foliage(5000, 0.055), rng)])


MODELS = {
    "shrub": Model(shrub, {"a": {}}, pixels=180, samples=12),
    "fallen_tree": Model(fallen_tree, {"broadleaf": {"seed": 22}}, pixels=360, samples=12),
    "branch": Model(branch, {"broadleaf": {}}, pixels=240, samples=12),
}
