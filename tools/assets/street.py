"""Things lost in the street: bin, chairs, trolley, pallets."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from belongings import build_bags
from common import Model, Objects, box, lathe, material, mesh, place, tube
from debris import build_carton

BIN_GREEN, BIN_LID = (0.035, 0.15, 0.07), (0.16, 0.36, 0.06)


def build_dustbin(
    seed: int,
    color: tuple[float, float, float] = BIN_GREEN,
    lid: tuple[float, float, float] = BIN_GREEN,
) -> Objects:
    """A two-wheeled bin put out for collection, upright and closed; its front faces +x."""
    return [place([*_bin(color), _lid(lid, 0.03)], yaw=Random(seed).uniform(-0.3, 0.3))]


def build_dustbin_fallen(
    seed: int,
    color: tuple[float, float, float] = BIN_GREEN,
    lid: tuple[float, float, float] = BIN_LID,
) -> Objects:
    """The bin on its side, its lid flung open, bags, cartons and paper spilt out of it."""
    rng = Random(seed)
    lying = place([*_bin(color), _lid(lid, 2.1)], (0.0, 0.75, 0.295), roll=math.pi / 2)
    made = [place([lying], yaw=rng.uniform(-0.1, 0.1))]
    white, black = (0.72, 0.72, 0.70), (0.02, 0.02, 0.024)
    for count, shade, at, size in (
        (1, white, (0.02, -0.36, 0.05), 0.92),
        (1, black, (0.38, -0.72, 0.0), 0.9),
        (1, white, (-0.22, -0.92, 0.0), 0.72),
    ):
        made.append(place(build_bags(seed + len(made), count, shade), at, rng.uniform(0, 6), scale=size))
    made.append(place(build_carton(seed + 1, (0.34, 0.26, 0.22)), (0.5, -0.28, 0.0), 0.5))
    made.append(place(build_carton(seed + 4, (0.3, 0.2, 0.16), False), (0.15, -1.2, 0.0), 1.1))
    return [*made, *_litter(rng)]


def _litter(rng: Random) -> Objects:
    """Sheets of paper, bottles and cans strewn before the bin's mouth."""
    paper = material("paper", (0.70, 0.69, 0.65), 0.8, lining=0.6)
    cans = [material(f"can{i}", c, 0.35) for i, c in enumerate([(0.5, 0.02, 0.02), (0.03, 0.2, 0.4)])]
    made: Objects = []
    for _ in range(9):
        u, v = np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 7), indexing="ij")
        bend = 0.035 * (u * rng.uniform(-1, 1) + v * rng.uniform(-1, 1)) ** 2 + 0.02 * abs(np.sin(2 * u + v))
        sheet = np.stack([u * 0.105, v * 0.15, 0.006 + bend], -1).reshape(-1, 3)
        quads = [(7 * i + j, 7 * i + j + 7, 7 * i + j + 8, 7 * i + j + 1) for i in range(6) for j in range(6)]
        at = (rng.gauss(0.1, 0.38), rng.uniform(-1.35, -0.35), 0.0)
        made.append(place([mesh(sheet.tolist(), quads, paper)], at, rng.uniform(0, 6)))
    for i in range(4):
        at = (rng.gauss(0.1, 0.4), rng.uniform(-1.3, -0.5), 0.034)
        can = lathe([(0.0, -0.06), (0.033, -0.06), (0.033, 0.06), (0.0, 0.06)], cans[i % 2], 16)
        made.append(place([place([can], pitch=math.pi / 2)], at, rng.uniform(0, 6)))
    return made


def _bin(color: tuple[float, float, float]) -> Objects:
    """The body without its lid: a tapered hollow tub with a rim, ribs, wheels, axle and handle."""
    plastic = material("bin", color, 0.42, vary=0.15, vary_scale=4)
    dark = material("wheel", (0.02, 0.02, 0.02), 0.8)
    hub = material("hub", (0.22, 0.22, 0.22), 0.5)
    inside = material("inside", tuple(0.25 * c for c in color), 0.9, spec=0.0)
    made: Objects = [
        _tub([(0.05, 0.22, 0.21), (0.09, 0.245, 0.225), (0.93, 0.32, 0.26)], plastic),
        _tub([(0.93, 0.35, 0.285), (0.99, 0.355, 0.29), (0.99, 0.315, 0.255)], plastic),
        _tub([(0.99, 0.315, 0.255), (0.3, 0.26, 0.22)], inside),
        _tub([(0.05, 0.22, 0.21), (0.05, 0.0, 0.0)], plastic),
    ]
    made.append(box((0, 0, 0.32), (0.5, 0.42, 0.02), inside, 0.0))
    slope = math.atan2(0.075, 0.84)
    for y in (-0.13, 0.0, 0.13):
        rib = box((0, 0, 0), (0.03, 0.03, 0.62), plastic, 0.008)
        made.append(place([rib], (0.285, y, 0.5), pitch=slope))
    for s in (1, -1):
        for x in (-0.13, 0.13):
            rib = box((0, 0, 0), (0.03, 0.02, 0.62), plastic, 0.008)
            made.append(place([rib], (x, s * 0.243, 0.5), roll=-s * math.atan2(0.035, 0.84)))
        wheel = [(0.0, -0.028), (0.10, -0.03), (0.115, -0.02), (0.115, 0.02), (0.10, 0.03), (0.0, 0.028)]
        cap = [(0.0, -0.034), (0.055, -0.033), (0.06, 0.0), (0.055, 0.033), (0.0, 0.034)]
        for profile, paint in ((wheel, dark), (cap, hub)):
            made.append(lathe(profile, paint, 28, center=(-0.27, s * 0.255, 0.115), rot=(math.pi / 2, 0, 0)))
    made.append(tube([(-0.27, -0.25, 0.115), (-0.27, 0.25, 0.115)], 0.013, hub))
    grip = [(-0.34, -0.22, 0.95), (-0.42, -0.22, 0.98), (-0.42, 0.22, 0.98), (-0.34, 0.22, 0.95)]
    return [*made, tube(grip, 0.018, plastic)]


def _lid(color: tuple[float, float, float], opened: float) -> object:
    """The domed lid, `opened` radians about the hinge at the back of the rim."""
    plastic = material("lid", color, 0.4, vary=0.12, vary_scale=4)
    rings = [
        (-0.03, 0.365, 0.30),
        (0.03, 0.36, 0.295),
        (0.05, 0.33, 0.26),
        (0.085, 0.22, 0.16),
        (0.09, 0.0, 0.0),
    ]
    lower = [(-0.03, 0.365, 0.30), (0.02, 0.34, 0.275), (0.06, 0.2, 0.15), (0.065, 0.0, 0.0)]
    made = [place([_tub(rings, plastic), _tub(lower, plastic)], (0.375, 0, 0.02))]
    made.append(place([box((0, 0, 0), (0.05, 0.2, 0.02), plastic, 0.006)], (0.755, 0, 0.0)))
    return place(made, (-0.375, 0, 1.0), pitch=-opened)


def _tub(levels: list[tuple[float, float, float]], paint) -> object:
    """A skin through rounded rectangles (z, half length, half width)."""
    turn = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    c, s = np.cos(turn), np.sin(turn)
    x, y = np.sign(c) * abs(c) ** 0.3, np.sign(s) * abs(s) ** 0.3
    verts = [(a * p, b * q, z) for z, a, b in levels for p, q in zip(x, y, strict=True)]
    n = len(turn)
    faces = [
        (r * n + i, r * n + (i + 1) % n, (r + 1) * n + (i + 1) % n, (r + 1) * n + i)
        for r in range(len(levels) - 1)
        for i in range(n)
    ]
    made = mesh(verts, faces, paint)
    made.data.set_sharp_from_angle(angle=0.6)
    return made


def build_chairs(
    seed: int,
    cloth: tuple[float, float, float] = (0.36, 0.28, 0.18),
    wood: tuple[float, float, float] = (0.13, 0.06, 0.028),
) -> Objects:
    """An armchair and, ahead of it so that neither hides the other, a dining chair, put down in the road."""
    yaw = Random(seed).uniform(-0.4, 0.4)
    return [
        place(_armchair(cloth), (-0.12, 0.42, 0), yaw + 0.3),
        place(_dining_chair(wood), (0.42, -0.55, 0.0), yaw - 0.45),
    ]


def _armchair(cloth: tuple[float, float, float]) -> Objects:
    """A worn armchair: high buttoned back, wings, rolled arms, a loose seat cushion gone pale, turned legs."""
    fabric = material("cloth", cloth, 0.9, spec=0.05, vary=0.22, vary_scale=4, bump=0.12, bump_scale=60)
    worn = material(
        "cushion", tuple(min(0.8, 1.45 * c) for c in cloth), 0.9, spec=0.05, vary=0.15, vary_scale=6
    )
    seam = material("seam", tuple(0.3 * c for c in cloth), 0.9, spec=0.0)
    leg = material("leg", (0.045, 0.02, 0.01), 0.5)
    made: Objects = [
        box((0.02, 0, 0.27), (0.68, 0.6, 0.22), fabric, 0.03, segments=3),
        box((0.06, 0, 0.445), (0.64, 0.53, 0.17), worn, 0.07, segments=5),
        box((0.05, 0, 0.368), (0.66, 0.54, 0.014), seam, 0.0),
    ]
    back = [box((0, 0, 0.33), (0.17, 0.66, 0.72), fabric, 0.075, segments=5)]
    back.append(box((0.085, 0, 0.36), (0.06, 0.52, 0.56), worn, 0.03, segments=4))
    for y in (-0.13, 0.0, 0.13):
        back += [box((0.116, y, z), (0.012, 0.022, 0.022), seam, 0.005) for z in (0.3, 0.46)]
    made.append(place(back, (-0.29, 0, 0.34), pitch=-0.2))
    for s in (1, -1):
        made.append(box((0.02, s * 0.34, 0.36), (0.66, 0.13, 0.4), fabric, 0.03, segments=3))
        made.append(tube([(-0.28, s * 0.355, 0.58), (0.36, s * 0.355, 0.57)], 0.088, fabric, sides=24))
        made.append(tube([(0.355, s * 0.355, 0.57), (0.362, s * 0.355, 0.57)], 0.06, seam, sides=20))
        wing = [box((0.07, s * 0.31, 0.42), (0.22, 0.09, 0.44), fabric, 0.042, segments=4)]
        made.append(place(wing, (-0.29, 0, 0.34), pitch=-0.2))
        for x in (-0.27, 0.3):
            made.append(lathe([(0.018, 0.0), (0.034, 0.16)], leg, 14, center=(x, s * 0.31, 0.005)))
    return made


def _dining_chair(wood: tuple[float, float, float]) -> Objects:
    """A wooden chair: splayed legs, rungs, a seat with a thin pad, a back of slats between curved posts."""
    dark = material("chair", wood, 0.5, vary=0.2)
    pad = material("pad", (0.52, 0.10, 0.07), 0.9, spec=0.05, vary=0.15)
    made: Objects = [
        box((0, 0, 0.455), (0.45, 0.46, 0.04), dark, 0.015),
        box((0.01, 0, 0.49), (0.41, 0.42, 0.045), pad, 0.02, segments=3),
    ]
    for s in (1, -1):
        made.append(tube([(0.22, s * 0.21, 0.004), (0.19, s * 0.19, 0.45)], [0.019, 0.025], dark, sides=12))
        post = [
            (-0.27, s * 0.2, 0.004),
            (-0.2, s * 0.19, 0.45),
            (-0.235, s * 0.19, 0.72),
            (-0.31, s * 0.19, 1.0),
        ]
        made.append(tube(post, [0.02, 0.026, 0.024, 0.021], dark, sides=12))
        made.append(tube([(0.21, s * 0.2, 0.2), (-0.24, s * 0.196, 0.2)], 0.013, dark))
    made.append(tube([(-0.02, -0.2, 0.2), (-0.02, 0.2, 0.2)], 0.013, dark))
    made.append(box((-0.295, 0, 0.95), (0.03, 0.42, 0.11), dark, 0.012, rot=(0, -0.26, 0)))
    made.append(box((-0.222, 0, 0.62), (0.025, 0.38, 0.05), dark, 0.008, rot=(0, -0.13, 0)))
    for y in (-0.12, -0.04, 0.04, 0.12):
        made.append(tube([(-0.222, y, 0.62), (-0.288, y, 0.92)], 0.012, dark))
    return made


def build_cart(seed: int) -> Objects:
    """A supermarket trolley of bent wire with a child's seat, a carton left in it."""
    wire = material("wire", (0.60, 0.61, 0.62), 0.3, metal=0.9)
    grip = material("grip", (0.5, 0.02, 0.02), 0.4)
    card = material("carton", (0.36, 0.25, 0.15), 0.9, vary=0.12)
    made = [
        *_basket(wire),
        tube([(-0.43, -0.26, 1.0), (-0.43, 0.26, 1.0)], 0.02, grip),
        place([box((0, 0, 0), (0.012, 0.4, 0.2), grip, 0.005)], (-0.33, 0, 0.86), pitch=-0.25),
        place([box((0, 0, 0.13), (0.34, 0.24, 0.26), card, 0.006)], (0.12, -0.03, 0.5), 0.5),
    ]
    for s in (1, -1):
        frame = [(-0.43, 0.25, 1.0), (-0.38, 0.24, 0.6), (-0.33, 0.22, 0.2)]
        frame += [(0.40, 0.19, 0.16), (0.42, 0.18, 0.2), (0.38, 0.17, 0.5)]
        made.append(tube([(x, s * y, z) for x, y, z in frame], 0.015, wire))
        made += [part for x in (-0.34, 0.38) for part in _caster(x, s * 0.2, wire)]
    made += [
        tube([(x, -0.2, z), (x, 0.2, z)], 0.006, wire, sides=4)
        for x, z in np.linspace((-0.3, 0.2), (0.38, 0.17), 7)
    ]
    made += [box((0.49, s * 0.2, 0.87), (0.04, 0.04, 0.05), grip, 0.012) for s in (1, -1)]
    return [place(made, yaw=Random(seed).uniform(-0.2, 0.2))]


def _basket(wire) -> Objects:
    """Rings and uprights of wire, wider towards the top and the back."""

    def ring(t: float) -> list[tuple[float, float, float]]:
        half = 0.20 + 0.06 * t
        front, back, z = 0.42 + 0.06 * t, -0.36 - 0.03 * t, 0.5 + 0.42 * t
        y = half * 0.8
        return [
            (front, y, z - 0.04 * t),
            (front, -y, z - 0.04 * t),
            (back, -half, z + 0.04 * t),
            (back, half, z + 0.04 * t),
        ]

    def bar(a: np.ndarray, b: np.ndarray) -> object:
        return tube([a.tolist(), b.tolist()], 0.005, wire, sides=4)

    made = [
        tube(ring(float(t)), 0.011 if t in (0, 1) else 0.006, wire, cyclic=True, sides=4)
        for t in np.linspace(0, 1, 6)
    ]
    low, high = np.array(ring(0.0)), np.array(ring(1.0))
    for a in range(4):
        b = (a + 1) % 4
        for u in np.linspace(0, 1, 14 if a % 2 else 9):
            made.append(bar(low[a] * (1 - u) + low[b] * u, high[a] * (1 - u) + high[b] * u))
    floor = np.linspace(0, 1, 12)
    return made + [bar(low[0] * (1 - u) + low[3] * u, low[1] * (1 - u) + low[2] * u) for u in floor]


def _caster(x: float, y: float, wire) -> Objects:
    rubber, hub = material("wheel", (0.03, 0.03, 0.03), 0.7), material("hub", (0.3, 0.3, 0.3), 0.5)
    made = [
        lathe(
            [(0.0, -w), (r, -w), (r, w), (0.0, w)], paint, 24, center=(x, y, 0.065), rot=(math.pi / 2, 0, 0)
        )
        for r, w, paint in ((0.065, 0.016, rubber), (0.035, 0.019, hub))
    ]
    made += [box((x, y + 0.024 * s, 0.1), (0.035, 0.006, 0.1), wire, 0.002) for s in (1, -1)]
    return [*made, box((x, y, 0.155), (0.05, 0.06, 0.02), wire, 0.004)]


def build_pallet(seed: int, count: int = 4) -> Objects:
    """Euro pallets, one leaning on the stack."""
    rng = Random(seed)
    wood = material(
        "wood", (0.52, 0.37, 0.21), 0.85, dark=(0.36, 0.25, 0.14), vary_scale=5, bump=0.1, bump_scale=40
    )

    def pallet() -> Objects:
        parts = [box((x, 0, 0.133), (0.15, 0.8, 0.022), wood, 0.003) for x in np.linspace(-0.525, 0.525, 6)]
        parts += [box((0, y, 0.111), (1.2, 0.1, 0.022), wood, 0.003) for y in (-0.35, 0, 0.35)]
        parts += [
            box((x, y, 0.06), (0.13, 0.1, 0.08), wood, 0.004)
            for x in (-0.53, 0, 0.53)
            for y in (-0.35, 0, 0.35)
        ]
        return [*parts, *(box((0, y, 0.011), (1.2, 0.1, 0.022), wood, 0.003) for y in (-0.35, 0, 0.35))]

    made = [
        place(pallet(), (rng.uniform(-0.05, 0.05), 0.1, 0.145 * i), rng.uniform(-0.12, 0.12))
        for i in range(count - 1)
    ]
    return [*made, place(pallet(), (0.05, -0.6, 0.25), 0.1, roll=0.6)]


FEW = {"elevations": (4.0,), "samples": 12}
MODELS = {
    "dustbin": Model(
        build_dustbin,
        {"green": {}, "blue": {"color": (0.02, 0.09, 0.24), "lid": (0.02, 0.09, 0.24), "seed": 1}},
        pixels=170,
        **FEW,
    ),
    "dustbin_fallen": Model(build_dustbin_fallen, {"a": {"seed": 3}}, pixels=240, **FEW),
    "chair": Model(
        build_chairs,
        {"a": {}, "rust": {"cloth": (0.27, 0.095, 0.035), "wood": (0.4, 0.26, 0.13), "seed": 3}},
        pixels=220,
        **FEW,
    ),
    "shopping_cart": Model(build_cart, {"a": {}}, pixels=180, **FEW),
    "pallet": Model(build_pallet, {"a": {}}, pixels=190, **FEW),
}
