"""Trees, bushes and grass, grown from a seed; each function returns one mesh to be copied around."""

import numpy as np

from . import materials as mats
from .shape import Shape, add_tube

BARK = {"brown": (0.11, 0.08, 0.055), "grey": (0.19, 0.17, 0.14), "pine": (0.13, 0.075, 0.045)}


def _unit(v):
    return v / (np.linalg.norm(v, axis=-1, keepdims=True) + 1e-9)


def blades(centres, along, length, width, rng, fold=0.25):
    """Rhombic leaves (n) at centres, pointing along; slightly folded on a random axis."""
    n = len(centres)
    along = _unit(along)
    side = _unit(np.cross(along, rng.normal(size=(n, 3))))
    normal = np.cross(along, side)
    length, width = (np.broadcast_to(a, n)[:, None] for a in (length, width))
    tip = centres + along * length
    mid = centres + along * length * 0.45 + normal * width * fold
    verts = np.stack([centres, mid + side * width, tip, mid - side * width], 1).reshape(-1, 3)
    return verts, np.arange(4 * n).reshape(-1, 4)


def _crown_points(rng, n, radius, height, lumps=11):
    """Tips spread over a lumpy crown: most on the outside of a handful of overlapping balls."""
    centres = _unit(rng.normal(size=(lumps, 3))) * rng.uniform(0.3, 0.78, (lumps, 1))
    centres[:, 2] *= 0.95
    pick = rng.integers(0, lumps, n)
    out = _unit(rng.normal(size=(n, 3)))
    out[:, 2] = np.where(out[:, 2] < -0.3, -out[:, 2] * 0.6, out[:, 2])
    pts = centres[pick] + out * (rng.uniform(0.55, 1.0, n) ** 0.5 * rng.uniform(0.32, 0.5, n))[:, None]
    return pts * np.array([radius, radius, height / 2]), pick


def broadleaf(
    name,
    rng,
    height=9.0,
    radius=3.4,
    trunk=0.3,
    clear=0.26,
    tips=230,
    per_tip=48,
    size=0.15,
    rgb=(0.055, 0.095, 0.02),
    bark="brown",
    bare=0.0,
):
    """A broad-leaved tree: trunk, limbs to each lump of the crown, twigs to each tuft of leaves."""
    shape, wood = Shape(), mats.plain(f"bark-{bark}", BARK[bark], 0.95, vary=0.45, scale=5.0, bumpy=0.8)
    crown_h = height * (1 - clear)
    middle = np.array([rng.normal(0, 0.2), rng.normal(0, 0.2), height * clear + crown_h * 0.5])
    pts, lump = _crown_points(rng, tips, radius, crown_h)
    pts = pts + middle
    top = np.add(middle, [0, 0, crown_h * 0.25])
    stem = np.linspace(0, 1, 9)[:, None] * top + rng.normal(0, trunk * 0.25, (9, 3)) * [1, 1, 0]
    stem[0] = 0
    flare = trunk * (1 - 0.75 * np.linspace(0, 1, 9)) + trunk * 0.35 * np.exp(-np.arange(9) * 1.6)
    add_tube(shape, stem, flare, wood, 8)
    for k in np.unique(lump):
        mine = pts[lump == k]
        goal = mine.mean(0)
        root = stem[rng.integers(3, 8)]
        bend = (root + goal) / 2 + rng.normal(0, radius * 0.07, 3) + [0, 0, -crown_h * 0.05]
        u = np.linspace(0, 1, 6)[:, None]
        limb = (1 - u) ** 2 * root + 2 * u * (1 - u) * bend + u**2 * goal
        add_tube(shape, limb, trunk * np.linspace(0.42, 0.12, 6), wood, 5)
        for p in mine[:: max(1, len(mine) // 14)]:
            start = limb[rng.integers(2, 6)]
            add_tube(
                shape, [start, (start + p) / 2 + rng.normal(0, 0.12, 3), p], [0.045, 0.028, 0.01], wood, 3
            )
    n = int(tips * per_tip * (1 - bare))
    at = pts[rng.integers(0, tips, n)] + rng.normal(0, 1, (n, 3)) * [0.27, 0.27, 0.2]
    out = _unit(at - middle) * 0.6 + rng.normal(0, 0.75, (n, 3)) + [0, 0, -0.25]
    grow = rng.uniform(0.65, 1.3, n) * size
    for i, tone in enumerate((rgb, tuple(c * 1.35 for c in rgb))):
        part = slice(i, None, 2)
        shape.add(
            blades(at[part], out[part], grow[part], grow[part] * 0.33, rng),
            mats.leaf(f"leaf-{name}-{i}", tone),
        )
    return shape.mesh(name)


def conifer(name, rng, height=14.0, radius=2.6, rgb=(0.03, 0.056, 0.021), clear=0.1):
    """A spruce or pine: whorls of drooping boughs with flat sprays of needles."""
    shape, wood = Shape(), mats.plain("bark-pine", BARK["pine"], 0.95, vary=0.45, scale=5.0, bumpy=0.8)
    lean = rng.normal(0, 0.15, 2)
    add_tube(shape, [(0, 0, 0), (*lean * 0.5, height / 2), (*lean, height)], [0.24, 0.14, 0.02], wood, 7)
    at, out, size = [], [], []
    z = height * clear
    while z < height * 0.985:
        share = 1 - z / height
        reach = radius * (share**0.75) * rng.uniform(0.75, 1.1) + 0.12
        for a in rng.uniform(0, 2 * np.pi) + np.linspace(0, 2 * np.pi, rng.integers(5, 9), endpoint=False):
            a += rng.normal(0, 0.2)
            length = reach * rng.uniform(0.7, 1.12)
            u = np.linspace(0.12, 1, max(4, int(length / 0.17)))[:, None]
            axis = np.array([np.cos(a), np.sin(a), 0])
            droop = (0.16 - 0.5 * u * share) * length * u
            bough = (
                lean * (z / height) @ np.eye(2, 3)
                + [0, 0, z]
                + axis * length * u
                + np.array([0, 0, 1.0]) * droop
            )
            if length > 0.8:
                add_tube(shape, bough[[0, len(u) // 2, -1]], [0.035, 0.02, 0.006], wood, 3)
            side = np.array([-np.sin(a), np.cos(a), 0])
            for s in (-1, 0, 1):
                at.append(bough + rng.normal(0, 0.03, bough.shape))
                out.append(
                    axis * rng.uniform(0.5, 1.1)
                    + s * side * 0.9
                    + rng.normal(0, 0.16, bough.shape)
                    - [0, 0, 0.2]
                )
                size.append((0.2 + 0.28 * (1 - u[:, 0]) * min(1, length)) * rng.uniform(0.8, 1.25, len(u)))
        z += rng.uniform(0.26, 0.46) * (0.55 + 0.6 * share)
    at, out, size = np.concatenate(at), np.concatenate(out), np.concatenate(size)
    shape.add(blades(at, out, size, size * 0.2, rng), mats.leaf(f"leaf-{name}", rgb, 0.12))
    return shape.mesh(name)


def bush(name, rng, radius=0.9, height=1.3, rgb=(0.05, 0.085, 0.022), leaves=2600, size=0.075, boxy=False):
    """A bush, or a clipped hedge segment two radii long when boxy."""
    shape = Shape()
    p = rng.uniform(-1, 1, (leaves, 3))
    if boxy:
        k = rng.integers(0, 3, leaves)
        p[np.arange(leaves), k] = np.sign(p[np.arange(leaves), k]) * rng.uniform(0.86, 1.04, leaves)
    else:
        pts, _ = _crown_points(rng, leaves, 1.0, 2.0, 6)
        p = pts + rng.normal(0, 0.06, pts.shape)
    p[:, 2] = np.abs(p[:, 2] * 0.5 + 0.5)
    at = p * [radius, radius * (0.45 if boxy else 1), height]
    out = _unit(p - [0, 0, 0.4]) * 0.8 + rng.normal(0, 0.6, (leaves, 3))
    grow = rng.uniform(0.6, 1.3, leaves) * size
    shape.add(blades(at, out, grow, grow * 0.38, rng), mats.leaf(f"leaf-{name}", rgb, 0.25))
    for _ in range(7):
        tip = rng.uniform(-0.5, 0.5, 3) * [radius, radius * 0.4, 0] + [0, 0, height * 0.7]
        add_tube(shape, [(0, 0, 0), tip], [0.03, 0.01], mats.plain("bark-grey", BARK["grey"], 0.95), 3)
    return shape.mesh(name)


def turf(
    name,
    rng,
    tall=0.1,
    size=2.0,
    count=900,
    rgb=(0.07, 0.10, 0.025),
    dry=(0.25, 0.19, 0.085),
    dryness=0.3,
    heads=0.0,
):
    """A square of grass blades in uneven tufts; heads adds stalks with seed heads."""
    shape = Shape()
    tuft = rng.uniform(-size / 2, size / 2, (count // 14 + 1, 2))
    vigour = rng.uniform(0.35, 1.25, len(tuft))
    pick = rng.integers(0, len(tuft), count)
    at = np.concatenate([tuft[pick] + rng.normal(0, 0.07, (count, 2)), np.full((count, 1), -0.02)], 1)
    out = np.concatenate([rng.normal(0, 0.42, (count, 2)), np.ones((count, 1))], 1)
    length = tall * vigour[pick] * rng.uniform(0.5, 1.25, count)
    width = 0.005 + 0.018 * np.sqrt(tall) * rng.uniform(0.4, 1.0, count) * 0.5
    brown = rng.random(count) < dryness
    for chosen, tag, tone in ((~brown, "g", rgb), (brown, "d", dry)):
        if chosen.any():
            part = blades(at[chosen], out[chosen], length[chosen], width[chosen], rng)
            shape.add(part, mats.leaf(f"blade-{name}-{tag}", tone, 0.3, 0.12, 0.7))
    n = int(count * heads)
    if n:
        at2 = at[:n] + np.array([0, 0, 1.0]) * (length[:n, None] * 0.7)
        part = blades(at2, out[:n] * [0.5, 0.5, 1], tall * 0.85, np.full(n, 0.008), rng)
        shape.add(part, mats.leaf("seed-head", (0.26, 0.21, 0.125), 0.3, 0.1, 0.8))
    return shape.mesh(name)
