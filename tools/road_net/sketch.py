"""Drawn road frames with exact masks: `python -m tools.road_net.sketch OUT.npz [--seed 1] [--frame-times 1500]`.

Not real to look at, but of any width, curve, colour and lens, fifty times as fast as tools.road_net.render. OUT
holds rgb (n, 180, 320, 3), road and lane (n, 180, 320), all uint8, as tools.road_net.label writes it.
"""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.random import Generator

WIDTH, HEIGHT = 320, 180
FAR = 220.0  # m
SOILS = (
    (92, 110, 52),
    (150, 130, 70),
    (120, 96, 70),
    (60, 84, 40),
    (215, 220, 228),
    (165, 160, 150),
    (190, 170, 130),
)


def cloth(rng: Generator) -> np.ndarray:
    """(512, 512) float32 noise that can be tiled, mean 0, deviation 1."""
    out = np.zeros((512, 512), np.float32)
    for cells in (8, 32, 128, 512):
        coarse = np.pad(rng.normal(0, 1, (cells, cells)).astype(np.float32), ((0, 1), (0, 1)), mode="wrap")
        out += cv2.resize(coarse, (512, 512), interpolation=cv2.INTER_LINEAR)
    return (out - out.mean()) / out.std()


@dataclass
class Place:
    """A camera over a road: `t` is metres to the right across the road, `z` metres ahead."""

    rng: Generator
    noise: np.ndarray
    edges: tuple[float, float] = (0.0, 0.0)
    borders: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self.rng
        hfov = np.exp(rng.uniform(np.log(22), np.log(118)))
        self.f = WIDTH / 2 / np.tan(np.deg2rad(hfov / 2))
        self.h = rng.uniform(1.05, 2.3)
        self.x0 = WIDTH * (0.5 + rng.normal(0, 0.08))
        self.y0 = HEIGHT * np.clip(rng.normal(0.47, 0.09), 0.2, 0.75)
        self.turn, self.bend = rng.normal(0, 0.04), rng.normal(0, 0.004) * (rng.random() < 0.7)
        lane = rng.uniform(2.7, 3.8)
        left, right = int(rng.integers(0, 4)), int(rng.integers(1, 4))
        at = rng.normal(0, 0.4) - lane * (
            rng.integers(0, right) + 0.5
        )  # of the middle line, seen from the camera
        self.middle, self.lane, self.lanes = at, lane, (left, right)
        self.borders = [at + lane * k for k in range(-left, right + 1)]
        paved = rng.uniform(0, 0.5) if rng.random() < 0.5 else rng.uniform(0.5, 3)
        self.edges = self.borders[0] - paved, self.borders[-1] + paved
        y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
        self.below = y > self.y0 + 0.8
        self.z = np.where(self.below, self.f * self.h / np.maximum(y - self.y0, 0.5), FAR * 4)
        self.x = (x - self.x0) * self.z / self.f
        self.t = self.x - self.axis(np.minimum(self.z, FAR))

    def axis(self, z):
        """How far right of the camera's line of sight the road's frame lies."""
        return self.turn * z + self.bend * z * z / 2

    def at(self, t, z, up=0.0) -> tuple[int, int]:
        """Pixel of a point."""
        return (
            int(np.clip(self.x0 + self.f * (t + self.axis(z)) / z, -4000, 4000)),
            int(np.clip(self.y0 + self.f * (self.h - up) / z, -4000, 4000)),
        )

    def grain(self, scale: float) -> np.ndarray:
        """Noise that lies on the ground, `scale` cells a metre."""
        u, v = (self.x * scale * 3 % 512).astype(np.float32), (self.z * scale % 512).astype(np.float32)
        return cv2.remap(self.noise, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)


def ground(p: Place) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sky, land, road and lines: rgb float32, road, lane bool."""
    rng, t, z = p.rng, p.t, p.z
    soil = np.array(SOILS[rng.integers(len(SOILS))]) * rng.uniform(0.5, 1.3) * np.exp(rng.normal(0, 0.12, 3))
    rgb = soil * (1 + rng.uniform(0.05, 0.3) * p.grain(rng.uniform(2, 30)))[..., None]
    left, right = p.edges
    stone = rng.uniform(60, 220) * np.exp(rng.normal(0, 0.06, 3))
    walk = rng.uniform(0.8, 4) if rng.random() < 0.5 else 0
    beside = ((t > left - walk) & (t < right + walk)) & ((t < left) | (t > right))
    rgb = np.where(beside[..., None], stone * (1 + 0.08 * p.grain(6))[..., None], rgb)
    kerb = ((t > left - 0.25) & (t < left)) | ((t < right + 0.25) & (t > right))
    if rng.random() < 0.5:
        rgb = np.where(kerb[..., None], stone * rng.uniform(0.5, 1.4), rgb)
    road = (t > left) & (t < right)
    crossing = rng.uniform(7, 60) if rng.random() < 0.25 else None
    if crossing:
        road |= (z > crossing) & (z < crossing + rng.uniform(5, 12)) & (np.abs(t) < 70)
    tone, surface = asphalt(p)
    rgb = np.where(road[..., None], tone * surface[..., None], rgb)
    paint = lines(p, crossing) & road
    cover = rng.uniform(0.35, 1)
    colour = np.array([235, 235, 230]) if rng.random() < 0.7 else np.array([225, 180, 60])
    shine = (tone.mean() * 0.6 + colour * 0.7).clip(0, 255)
    rgb = np.where(paint[..., None], rgb * (1 - cover) + shine * cover, rgb)
    road, lane = road & p.below & (z < 160), paint & p.below & (z < 90)
    if rng.random() < 0.3:  # dappled shade
        shade = p.grain(rng.uniform(0.8, 6)) > rng.uniform(-0.6, 1)
        rgb = rgb * np.where(shade, rng.uniform(0.3, 0.75), 1.0)[..., None]
    return sky(p, rgb), road, lane


def asphalt(p: Place) -> tuple[np.ndarray, np.ndarray]:
    """Its tone (3,), and its brightness at every pixel: grain, wheel tracks, patches."""
    rng, t, z = p.rng, p.t, p.z
    left, right = p.edges
    tone = np.exp(rng.uniform(np.log(28), np.log(190))) * np.exp(rng.normal(0, 0.05, 3))
    surface = 1 + rng.uniform(0.02, 0.15) * p.grain(rng.uniform(1, 40)) + rng.uniform(0, 0.1) * p.grain(0.5)
    tracks = sum(np.exp(-(((t - b - p.lane * s) / 0.35) ** 2)) for b in p.borders[:-1] for s in (0.28, 0.72))
    surface = surface * (1 + rng.normal(0, 0.12) * tracks)
    for _ in range(rng.integers(0, 5)):
        a, b = rng.uniform(left, right), rng.uniform(3, 40)
        patch = (t > a) & (t < a + rng.uniform(0.5, 4)) & (z > b) & (z < b + rng.uniform(1, 12))
        surface = np.where(patch, surface * rng.uniform(0.6, 1.3), surface)
    return tone, surface


def lines(p: Place, crossing: float | None) -> np.ndarray:
    """Where there is paint."""
    rng, t, z = p.rng, p.t, p.z
    out = np.zeros(t.shape, bool)
    if rng.random() < 0.15:
        return out
    wide, period, phase = rng.uniform(0.05, 0.11), rng.uniform(4, 18), rng.uniform(0, 18)
    dash = (z + phase) % period < period * rng.uniform(0.3, 0.6)
    for k, b in enumerate(p.borders):
        if k in (0, len(p.borders) - 1):
            out |= (np.abs(t - b) < wide) & (rng.random() < 0.7)
        elif abs(b - p.middle) < 0.1 and rng.random() < 0.5:
            out |= np.abs(np.abs(t - b) - 0.18) < wide
        else:
            out |= (np.abs(t - b) < wide) & dash
    if crossing:
        out &= ~((z > crossing) & (z < crossing + 8))
        if rng.random() < 0.5:
            out |= (z > crossing - 4) & (z < crossing - 1) & (t % 1.0 < 0.5)
    return out


def sky(p: Place, rgb: np.ndarray) -> np.ndarray:
    """What is above the horizon: a gradient, clouds, hills or rows of trees."""
    rng = p.rng
    low, high = rng.uniform(120, 255, 3), np.array([90, 140, 215]) * rng.uniform(0.5, 1.2)
    if rng.random() < 0.4:
        low = high = rng.uniform(120, 250) * np.ones(3)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    share = np.clip((p.y0 - y) / HEIGHT * 2, 0, 1)[..., None]
    air = low * (1 - share) + high * share
    air += 22 * rng.random() * p.noise[(y * 2) % 512, (x + 100) % 512][..., None]
    out = np.where(p.below[..., None], rgb, air)
    for _ in range(rng.integers(0, 4)):
        top = np.cumsum(rng.normal(0, rng.uniform(0.1, 2), WIDTH)) + rng.uniform(1, 0.2 * HEIGHT)
        ridge = (y > p.y0 - np.abs(top)[None]) & ~p.below
        tone = np.array(SOILS[rng.integers(len(SOILS))]) * rng.uniform(0.3, 1.1)
        out = np.where(ridge[..., None], tone * (1 + 0.15 * p.noise[y, x])[..., None], out)
    return out


class Scenery:
    """What stands beside the road and on it, drawn over `rgb` and out of the masks."""

    def __init__(self, place: Place, rgb: np.ndarray, masks: list[np.ndarray]) -> None:
        self.p, self.rng, self.rgb, self.masks = place, place.rng, rgb, masks

    def fill(self, points: list[tuple[float, float, float]], colour: np.ndarray | tuple) -> None:
        """A polygon of points (t, z, height)."""
        shape = np.array([self.p.at(*point) for point in points], np.int32)
        cv2.fillPoly(self.rgb, [shape], tuple(float(c) for c in colour))
        for mask in self.masks:
            cv2.fillPoly(mask, [shape], 0)

    def along(self, t: float, z: float, length: float, low: float, high: float, colour) -> None:
        """An upright face beside the road, from `z` on."""
        far = z + length
        self.fill([(t, z, low), (t, z, high), (t, far, high), (t, far, low)], colour)

    def facing(self, left: float, right: float, z: float, low: float, high: float, colour) -> None:
        """An upright face towards the camera."""
        self.fill([(left, z, low), (left, z, high), (right, z, high), (right, z, low)], colour)

    def wall(self, t: float, z: float) -> None:
        """A wall, fence or hedge."""
        rng = self.rng
        length, high = rng.uniform(8, 60), rng.uniform(0.4, 3)
        self.along(t, z, length, 0, high, rng.uniform(30, 220, 3) * 0.5 + rng.uniform(20, 110))

    def house(self, t: float, z: float) -> None:
        """A box with rows of windows."""
        rng = self.rng
        tone = rng.uniform(40, 220) * np.exp(rng.normal(0, 0.15, 3))
        length, high = rng.uniform(6, 25), rng.uniform(3, 25)
        t += np.sign(t) * rng.uniform(2, 6)
        self.along(t, z, length, 0, high, tone)
        self.facing(t, t + np.sign(t) * 20, z, 0, high, tone * rng.uniform(0.6, 1.2))
        for k in range(int(length // 3)):
            for up in np.arange(1, high - 1.6, 2.8):
                self.along(t, z + 3 * k + 0.8, 1.4, up, up + 1.4, tone * 0.45)

    def tree(self, t: float, z: float) -> None:
        """A trunk and a ragged crown."""
        rng = self.rng
        t, up, wide = t + np.sign(t) * rng.uniform(0.5, 8), rng.uniform(2, 12), rng.uniform(1, 5)
        self.facing(t - 0.15, t + 0.15, z, 0, up, (50, 42, 34))
        ring, spread = np.linspace(0, 2 * np.pi, 14), wide * rng.uniform(0.6, 1.2, 14)
        tone = np.array([60, 84, 40]) * rng.uniform(0.3, 1.5) * np.exp(rng.normal(0, 0.25, 3))
        tips = zip(ring, spread, strict=True)
        self.fill([(t + s * np.cos(a), z, max(up + 0.8 * s * np.sin(a), 0.3)) for a, s in tips], tone)

    def post(self, t: float, z: float) -> None:
        """A post or mast."""
        wide, up = self.rng.uniform(0.03, 0.15), self.rng.uniform(0.8, 9)
        self.facing(t - wide, t + wide, z, 0, up, self.rng.uniform(30, 200) * np.ones(3))

    def vehicle(self, t: float, z: float) -> None:
        """A car, now and then a lorry, from behind or in front."""
        rng = self.rng
        wide, up, length = rng.uniform(0.75, 0.98), rng.uniform(1.35, 1.9), rng.uniform(3.6, 5)
        if rng.random() < 0.2:
            wide, up, length = rng.uniform(1.05, 1.28), rng.uniform(2.2, 3.8), rng.uniform(6, 14)
        tone = rng.uniform(10, 235) * np.exp(rng.normal(0, 0.3 if rng.random() < 0.4 else 0.03, 3))
        left, right, far, belt, top = t - wide, t + wide, z + length, up * 0.55, wide * 0.8
        under = [(left, z, 0), (right, z, 0), (t + wide * 0.9, far, 0), (t - wide * 0.9, far, 0)]
        self.fill(under, (14, 14, 16))
        self.along(left if t + self.p.axis(z) > 0 else right, z, length, 0, up * 0.8, tone * 0.6)
        self.facing(left, right, z, 0.22, belt, tone.clip(0, 255))
        roof = [(left, z, belt), (t - top, z, up), (t + top, z, up), (right, z, belt)]
        self.fill(roof, tone.clip(0, 255) * 0.9)
        self.facing(t - top, t + top, z, belt, up * 0.93, (30, 34, 40))
        for s in (-1, 1):
            lamp = (200, 30, 30) if rng.random() < 0.6 else (235, 230, 210)
            self.facing(t + s * wide, t + s * wide * 0.72, z, belt * 0.7, belt * 0.9, lamp)
            self.facing(t + s * wide, t + s * wide * 0.75, z, 0, 0.35, (12, 12, 12))


def stand(p: Place, rgb: np.ndarray, masks: list[np.ndarray]) -> None:
    """Walls, houses, trees, posts beside the road and vehicles on it, the far ones first."""
    rng, things, made = p.rng, Scenery(p, rgb, masks), []
    left, right = p.edges
    beside = [things.wall, things.house, things.tree, things.post, things.tree]
    for kind in rng.choice(len(beside), rng.integers(1, 4)):
        for _ in range(rng.integers(1, 14)):
            gap = rng.uniform(0.2, 5)
            t = left - gap if rng.random() < 0.5 else right + gap
            made.append((beside[kind], t, np.exp(rng.uniform(np.log(3), np.log(120)))))
    if rng.random() < 0.4:  # a row of parked cars
        t = right - 1.0 if rng.random() < 0.6 else left + 1.0
        row = np.arange(rng.uniform(3, 20), 80, rng.uniform(5.5, 14))
        made += [(things.vehicle, t, z) for z in row]
    for _ in range(rng.integers(0, 7)):
        t = p.borders[rng.integers(0, len(p.borders) - 1)] + p.lane * (0.5 + rng.normal(0, 0.06))
        made.append((things.vehicle, t, np.exp(rng.uniform(np.log(4), np.log(110)))))
    for draw, t, z in sorted(made, key=lambda one: -one[2]):
        draw(t, z)


def sketch(rng: Generator, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One frame: rgb, road and lane, 255 where they are."""
    p = Place(rng, noise)
    rgb, road, lane = ground(p)
    rgb = np.ascontiguousarray(rgb, np.float32)
    masks = [road.astype(np.uint8) * 255, lane.astype(np.uint8) * 255]
    stand(p, rgb, masks)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    rgb *= 1 + rng.uniform(0.02, 0.12) * noise[(y * 3) % 512, (x * 3) % 512][..., None]
    if rng.random() < 0.15:  # wet: what stands above is mirrored
        mirror = np.clip((2 * p.y0 - y).astype(int), 0, HEIGHT - 1)
        share = rng.uniform(0.1, 0.5) * np.clip(p.z / 25, 0, 1) * (masks[0] > 0)
        rgb = rgb * (1 - share[..., None]) + cv2.blur(rgb[mirror, x], (1, 9)) * share[..., None]
    if rng.random() < 0.15:  # night: the own beams and little else
        lit = np.exp(-p.z / rng.uniform(6, 25)) * np.exp(-((p.x / (2 + 0.3 * p.z)) ** 2)) * p.below
        rgb = rgb * (rng.uniform(0.05, 0.35) + rng.uniform(0.5, 1.2) * lit)[..., None]
    soft = cv2.GaussianBlur(np.clip(rgb, 0, 255), (0, 0), rng.uniform(0.5, 1.1))
    masks[1] = cv2.dilate(masks[1], np.ones((2, 2), np.uint8)) & masks[0]
    return soft.astype(np.uint8), *masks


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("out", type=Path)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--frame-times", type=int, default=1500)
    args = ap.parse_args()
    rng = np.random.default_rng([args.seed, 77])
    noise = cloth(rng)
    planes = zip(*(sketch(rng, noise) for _ in range(args.frames)), strict=True)
    np.savez_compressed(args.out, **dict(zip(("rgb", "road", "lane"), map(np.stack, planes), strict=True)))


if __name__ == "__main__":
    main()
