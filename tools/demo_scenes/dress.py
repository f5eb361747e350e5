"""Dressing a site: each function places one sort of thing along the road."""

import numpy as np

from . import buildings, furniture, plants, sky
from .shape import put

GREENS = [(0.055, 0.095, 0.02), (0.04, 0.075, 0.02), (0.075, 0.105, 0.025), (0.06, 0.08, 0.035)]
AUTUMN = [(0.20, 0.11, 0.018), (0.16, 0.055, 0.015), (0.11, 0.11, 0.02), (0.22, 0.15, 0.03)]


class Nursery:
    """The plants of one scene, grown when first asked for."""

    def __init__(self, rng, season="summer"):
        self.rng, self.season, self.kept = rng, season, {}

    def get(self, kind):
        """A mesh of the kind: one of a few individuals."""
        k = int(self.rng.integers(0, {"oak": 3, "street": 2, "spruce": 2, "pine": 2}.get(kind, 1)))
        key = (kind, k)
        if key not in self.kept:
            self.kept[key] = self._grow(kind, f"{kind}{k}")
        return self.kept[key]

    def _grow(self, kind, name):
        rng = self.rng
        tones = AUTUMN if self.season == "autumn" else GREENS
        rgb = tones[rng.integers(len(tones))]
        if kind == "oak":
            return plants.broadleaf(
                name, rng, rng.uniform(7, 11), rng.uniform(3.6, 5.2), 0.24, 0.1, 330, 54, 0.145, rgb
            )
        if kind == "street":
            return plants.broadleaf(
                name, rng, rng.uniform(6, 8), rng.uniform(2.0, 2.7), 0.12, 0.27, 210, 60, 0.115, rgb, "grey"
            )
        if kind == "poplar":
            return plants.broadleaf(name, rng, 15, 2.1, 0.24, 0.06, 300, 50, 0.14, rgb, "grey")
        if kind == "bare":
            return plants.broadleaf(name, rng, 9, 3.6, 0.3, 0.22, 260, 10, 0.12, (0.13, 0.09, 0.04), "grey")
        if kind == "spruce":
            return plants.conifer(name, rng, rng.uniform(12, 18), rng.uniform(2.2, 3.2))
        if kind == "pine":
            return plants.conifer(
                name, rng, rng.uniform(13, 19), rng.uniform(2.6, 3.6), (0.035, 0.055, 0.02), 0.32
            )
        if kind == "hedge":
            return plants.bush(name, rng, 1.0, 1.25, GREENS[1], 3400, 0.06, boxy=True)
        if kind == "scrub":
            return plants.bush(name, rng, 1.0, 1.1, (0.075, 0.075, 0.035), 2400, 0.07)
        return plants.bush(name, rng, 1.0, 1.4, rgb, 2600, 0.08)


def woods(
    site,
    nursery,
    count,
    kinds,
    near=5.0,
    far=60.0,
    lo=-60,
    hi=330,
    sides=(-1, 1),
    clump=0.0,
    scale=(0.75, 1.25),
):
    """Scatter plants off the pavement; clump > 0 leaves clearings."""
    rng = site.rng
    phase = rng.uniform(0, 9, 2)
    for _ in range(count):
        side = sides[rng.integers(len(sides))]
        s, off = rng.uniform(lo, hi), near + (far - near) * rng.random() ** 1.6
        if clump and np.sin(s / 23 + phase[0] * (side + 2)) * np.cos(
            off / 17 + phase[1]
        ) < clump - 1 + rng.normal(0, 0.15):
            continue
        t = (site.left + off) if side > 0 else (site.right - off)
        p = site.road.at(s, t)
        if site.away(p[None])[0] < near * 0.85:
            continue
        kind = kinds[rng.integers(len(kinds))]
        size = rng.uniform(*scale)
        put(
            nursery.get(kind),
            (p[0], p[1], site.height(p[None])[0] - 0.1),
            rng.uniform(0, 6.28),
            (size, size, size * rng.uniform(0.9, 1.15)),
        )


def turf(
    site, tall=0.18, dryness=0.4, heads=0.05, lo=-36, hi=62, start=0.35, reach=8.0, count=900, lift=None
):
    """Grass beside the pavement in 2 m squares."""
    rng, soil = site.rng, site.spec["soil"]
    rgb, dry = {"golden": ((0.13, 0.125, 0.055), (0.29, 0.235, 0.13))}.get(
        soil, ((0.068, 0.092, 0.03), (0.23, 0.19, 0.1))
    )
    kinds = [
        plants.turf(f"turf{k}", rng, tall * (0.75 + 0.4 * k), 2.0, count, rgb, dry, dryness, heads)
        for k in range(3)
    ]
    for side in (-1, 1):
        edge = site.left if side > 0 else -site.right
        for off in np.arange(start + 1.0, reach, 1.9):
            for s in np.arange(lo, hi, 1.9):
                if any(a < s < b for a, b in site.gaps) or rng.random() < 0.06:
                    continue
                p = site.road.at(s + rng.normal(0, 0.15), side * (edge + off) + rng.normal(0, 0.1))
                if site.away(p[None])[0] < start + 0.6:
                    continue
                z = lift if lift is not None else _verge(site, p, off)
                put(
                    kinds[rng.integers(3)],
                    (p[0], p[1], z),
                    rng.integers(4) * np.pi / 2,
                    (1.05, 1.05, rng.uniform(0.6, 1.2)),
                )


def _verge(site, p, off):
    """Height of the verge strip or the land, whichever is on top."""
    strip = np.interp(off, [0.0, 0.35, 1.0, 2.2, 3.4, 5.5], [-0.005, -0.03, -0.06, -0.14, -0.2, -0.6]) + p[2]
    return max(strip, site.height(p[None])[0] if off > 3 else -99) - 0.02


def lawn(site, lo=-20, hi=60, inner=None, outer=None, z=0.14):
    """Short grass in front gardens and planting strips: t from inner to outer beyond the kerb."""
    rng = site.rng
    kinds = [
        plants.turf(f"lawn{k}", rng, 0.055, 2.0, 1500, (0.06, 0.092, 0.027), (0.2, 0.17, 0.07), 0.18)
        for k in range(2)
    ]
    for side in (-1, 1):
        edge = site.left if side > 0 else -site.right
        for off in np.arange(inner + 1.0, outer, 1.95):
            for s in np.arange(lo, hi, 1.95):
                if not any(a - 1 < s < b + 1 for a, b in site.gaps + site.drives.get(side, [])):
                    p = site.road.at(s, side * (edge + off))
                    put(kinds[rng.integers(2)], (p[0], p[1], z), float(site.road.heading(s)), 1.0)


def pole_line(site, t, lo=-70, hi=330, step=38.0):
    """Utility poles and their wires."""
    stations = np.arange(lo + site.rng.uniform(0, 10), hi, step)
    stations = [s for s in stations if not any(a < s < b for a, b in site.gaps)]
    mesh = furniture.utility_pole()
    for s in stations:
        p = site.road.at(s, t)
        put(mesh, (p[0], p[1], p[2] - 0.1), float(site.road.heading(s)))
    put(furniture.wires(site.road, stations, t))


def lamps(site, t, lo=-40, hi=260, step=32.0, lit=False, sides=(1,)):
    """Street lamps reaching over the road, lit at dusk."""
    mesh = furniture.street_lamp(lit=lit)
    for side in sides:
        for s in np.arange(lo + (step / 2 if side < 0 else 0), hi, step):
            if any(a < s < b for a, b in site.gaps):
                continue
            p, h = site.road.at(s, side * t), float(site.road.heading(s)) + (np.pi if side > 0 else 0)
            put(mesh, p, h)
            if lit and -30 < s < 130:
                head = site.road.at(s, side * (t - 2.4), 7.85)
                sky.spot(tuple(head), (0, 0, -1), 900, 135)


def signs(site, items, scratch):
    """Signs as (kind, text, s, t)."""
    for kind, text, s, t in items:
        p = site.road.at(s, t)
        z = site.spec.get("walk_z", 0.14) if site.spec.get("kerb") else -0.12
        put(
            furniture.sign(kind, text, scratch),
            (p[0], p[1], p[2] + z),
            float(site.road.heading(s)) + site.rng.normal(0, 0.06),
        )


def houses(site, setback, lo=-45, hi=330, sides=(-1, 1), pitch=(17, 23), night=False):
    """Houses with drives; remembers where the drives cross the lawn."""
    rng = site.rng
    site.drives = {1: [], -1: []}
    stock = [buildings.house(f"house{k}", rng, night) for k in range(7)]
    from . import materials as mats
    from .road import ribbon
    from .shape import Shape

    concrete = mats.plain("drive", (0.26, 0.25, 0.235), 0.9, vary=0.2, scale=1.0)
    for side in sides:
        s = lo + rng.uniform(0, 8)
        while s < hi:
            if not any(a - 9 < s < b + 9 for a, b in site.gaps):
                mesh, garage, front = stock[rng.integers(len(stock))]
                back = setback + rng.uniform(-0.8, 1.8)
                t = (site.left + back) if side > 0 else (site.right - back)
                p = site.road.at(s, t)
                yaw = float(site.road.heading(s)) - side * np.pi / 2
                floor = 0.2 if site.spec.get("kerb") else float(site.height(p[None])[0]) + 0.25
                put(mesh, (p[0], p[1], floor), yaw)
                mid = s + garage * side
                edge = site.left if side > 0 else site.right
                part, _ = ribbon(
                    site.road,
                    mid - 1.7,
                    mid + 1.7,
                    [edge, edge + side * 0.2, edge + side * 4.0, t + side * 0.5 - side * front],
                    [0.02, 0.155, 0.16, 0.19] if site.spec.get("kerb") else [0.0, -0.01, -0.1, floor],
                    1.7,
                )
                put(Shape().add(part, concrete).mesh("drive"))
                site.drives[side].append((mid - 2.0, mid + 2.0))
            s += rng.uniform(*pitch)


def street(site, setback, lo=-50, hi=330, night=False, low=False, gap=0.15):
    """A closed row of street fronts on both sides."""
    rng = site.rng
    stock = [buildings.street_front(f"front{k}", rng, night, low) for k in range(9)]
    for side in (-1, 1):
        s = lo
        while s < hi:
            mesh, wide = stock[rng.integers(len(stock))]
            mid = s + wide / 2
            if not any(a - 1 < s + wide and s < b + 1 for a, b in site.gaps):
                t = (site.left + setback) if side > 0 else (site.right - setback)
                p = site.road.at(mid, t)
                put(mesh, (p[0], p[1], p[2] + 0.12), float(site.road.heading(mid)) - side * np.pi / 2)
                s += wide + (rng.uniform(2, 9) if rng.random() < gap else 0.05)
            else:
                s += 3.0
    if site.side:
        for sign in (1, -1):
            for way in (1, -1):
                u = setback + site.left + 8
                for _ in range(6):
                    mesh, wide = stock[rng.integers(len(stock))]
                    p = site.side.at(sign * (u + wide / 2), way * (site.side_half + setback))
                    put(mesh, (p[0], p[1], p[2] + 0.12), float(site.side.heading(0)) - way * np.pi / 2)
                    u += wide + 0.05


def row(site, nursery, kind, off, lo, hi, step, sides=(-1, 1), scale=(0.85, 1.1), skip=0.15):
    """A row of street trees or hedges at a fixed distance beyond the pavement's edge."""
    rng = site.rng
    for side in sides:
        for s in np.arange(lo + rng.uniform(0, step), hi, step):
            blocked = any(a - 1 < s < b + 1 for a, b in site.gaps + getattr(site, "drives", {}).get(side, []))
            if blocked or rng.random() < skip:
                continue
            t = (site.left + off) if side > 0 else (site.right - off)
            yaw = 0.0 if kind == "hedge" else rng.uniform(0, 6.28)
            site.stand(
                nursery.get(kind), s + rng.normal(0, 0.3) * (kind != "hedge"), t, yaw, rng.uniform(*scale)
            )
