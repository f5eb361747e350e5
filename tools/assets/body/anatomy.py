"""Skin and hair: head with face, neck, hands; each builder returns a `Part` with vertex colours."""

from collections.abc import Callable

import numpy as np
from body.parts import Part, Rgb, blend, paint, scatter, spot, strands
from body.sdf import Array, Solid, cone, ellipsoid, loft, noise, normals
from body.skeleton import Limb, Skeleton


def head(s: Skeleton, skin: Rgb, hair: Rgb, woman: bool, child: float, seed: int) -> Part:
    """Head and neck, with brows, eyes, nose, lips and ears in shape and colour."""
    k, m, o = s.head_k, s.h.T, s.head
    rng = np.random.default_rng(seed)
    soft = 0.5 + 0.5 * child if woman or child else 0.0
    jaw, nose = 1 - 0.12 * soft + rng.normal(0, 0.03), 1 - 0.2 * soft + rng.normal(0, 0.06)

    def at(x: float, y: float, z: float) -> Array:
        return o + (np.array([x, y, z]) * k) @ m

    def egg(c: Rgb, r: Rgb):
        return ellipsoid(at(*c), np.array(r) * k, m)

    def bar(a: Rgb, ra: float, b: Rgb, rb: float):
        return cone(at(*a), ra * k, at(*b), rb * k)

    b = Solid().add(egg((-0.012, 0, 0.03), (0.098, 0.076, 0.088)))
    b.add(egg((0.03, 0, -0.028), (0.06, 0.06 * jaw, 0.08)), k=0.03 * k)
    for y in (1, -1):
        b.add(bar((0.005, 0.05 * y * jaw, -0.055), 0.02, (0.066, 0.014 * y, -0.097), 0.02 * jaw), k=0.03 * k)
        b.add(egg((0.066, 0.044 * y, -0.022), (0.022, 0.018, 0.018)), k=0.02 * k)
        b.add(bar((0.083, 0.014 * y, 0.02), 0.012, (0.074, 0.046 * y, 0.02), 0.011), k=0.02 * k)
        b.cut(egg((0.096, 0.031 * y, 0.001), (0.014, 0.017, 0.0105)), k=0.014 * k)
        b.add(egg((0.0765, 0.031 * y, 0.0), (0.0125, 0.0135, 0.0125)), k=0.003 * k)
        b.add(egg((0.0, 0.079 * y, -0.008), (0.019, 0.009, 0.031)), k=0.008 * k)
        b.cut(egg((0.004, 0.09 * y, -0.004), (0.01, 0.007, 0.018)), k=0.008 * k)
        b.add(egg((0.092, 0.011 * y, -0.035), (0.009, 0.008, 0.007)), k=0.008 * k)
    b.add(bar((0.088, 0, 0.012), 0.007, (0.101 * nose**0.2, 0, -0.03), 0.0105 * nose), k=0.014 * k)
    b.add(bar((0.09, -0.018, -0.061), 0.0065, (0.09, 0.018, -0.061), 0.0065), k=0.01 * k)
    b.add(bar((0.089, -0.014, -0.071), 0.0075, (0.089, 0.014, -0.071), 0.0075), k=0.006 * k)
    thick = (0.046 if woman else 0.054) * (s.head_k * 0.6 + s.k * 0.4)
    b.add(
        cone(at(-0.022, 0, -0.06), thick, s.neck + s.c @ np.array([0, 0, -0.05 * s.k]), thick * 1.12),
        k=0.03 * k,
    )
    v, f = b.mesh(0.0042 * k)
    return Part(v, f, _face((v - o) @ s.h / k, paint(v, skin, 0.04, 20, seed), skin, hair, soft), "skin")


def _face(q: Array, rgb: Array, skin: Rgb, hair: Rgb, soft: float) -> Array:
    """Complexion and features, in head coordinates q (n, 3) of an adult."""
    y = np.stack([q[:, 0], np.abs(q[:, 1]), q[:, 2]], 1)
    tone = np.array(skin)
    rgb = blend(
        rgb, 0.35 * spot(y, (0.08, 0.045, -0.03), (0.04, 0.025, 0.022), 0.8), tuple(tone * (1.1, 0.7, 0.65))
    )
    rgb = blend(
        rgb, 0.3 * spot(y, (0.11, 0, -0.03), (0.025, 0.016, 0.02), 0.8), tuple(tone * (1.05, 0.75, 0.7))
    )
    if soft == 0:
        jaw = (
            np.clip((-0.04 - q[:, 2]) / 0.02, 0, 1)
            * np.clip((q[:, 0] - 0.005) / 0.03, 0, 1)
            * (q[:, 2] > -0.125)
        )
        rgb = blend(rgb, 0.4 * jaw, tuple(tone * 0.45 + np.array(hair) * 0.2))
    rgb = blend(
        rgb, 0.6 * spot(y, (0.09, 0.031, 0.0), (0.03, 0.02, 0.014), 0.5), tuple(tone * (0.5, 0.42, 0.42))
    )
    rgb = blend(rgb, spot(y, (0.09, 0.031, 0.0), (0.02, 0.0125, 0.005), 0.15), (0.32, 0.3, 0.29))
    rgb = blend(rgb, spot(y, (0.09, 0.031, 0.0005), (0.02, 0.0062, 0.007), 0.15), (0.02, 0.015, 0.012))
    rgb = blend(rgb, spot(y, (0.088, 0.031, 0.0065), (0.02, 0.015, 0.0028), 0.3), (0.03, 0.02, 0.018))
    brow = np.array([0.085, 0.031, 0.0195])
    arch = y - brow - np.stack([0 * q[:, 0], 0 * q[:, 0], -6 * (y[:, 1] - 0.034) ** 2], 1)
    rgb = blend(
        rgb,
        0.85 * spot(arch, (0, 0, 0), (0.03, 0.0175, 0.0042 - 0.001 * soft), 0.4),
        tuple(np.array(hair) * 0.7),
    )
    lips = (0.3, 0.09, 0.08) if soft else tuple(tone * (0.72, 0.45, 0.42))
    rgb = blend(rgb, 0.85 * spot(y, (0.095, 0, -0.066), (0.02, 0.023, 0.0095), 0.3), lips)
    rgb = blend(rgb, spot(y, (0.098, 0, -0.066), (0.02, 0.02, 0.0014), 0.8), (0.06, 0.02, 0.018))
    return blend(rgb, spot(y, (0.11, 0.006, -0.041), (0.01, 0.004, 0.003), 0.5), (0.04, 0.02, 0.015))


HAIR: dict[str, dict[str, float]] = {
    "short": {"lift": 0.006, "length": 0.035, "rise": 0.5},
    "crop": {"lift": 0.004, "length": 0.014, "rise": 0.5},
    "long": {"lift": 0.012, "length": 0.1, "rise": -0.12, "fall": 0.2},
    "bob": {"lift": 0.013, "length": 0.06, "rise": -0.08, "fall": 0.08},
    "tail": {"lift": 0.007, "length": 0.05, "rise": -0.05, "tail": 0.2},
    "bun": {"lift": 0.008, "length": 0.04, "rise": -0.05, "bun": 1},
    "curly": {"lift": 0.016, "length": 0.03, "rise": 1.5},
}


def hair(s: Skeleton, style: str, rgb: Rgb, seed: int) -> list[Part]:
    """A head of hair: a cap, and strands that run from the crown (or to the knot of a ponytail)."""
    spec, k, m, o = HAIR[style], s.head_k, s.h.T, s.head
    lift = spec["lift"]

    def at(x: float, y: float, z: float) -> Array:
        return o + (np.array([x, y, z]) * k) @ m

    b = Solid().add(
        ellipsoid(at(-0.014, 0, 0.034), np.array([0.097 + lift, 0.075 + lift, 0.086 + lift]) * k, m)
    )
    b.add(ellipsoid(at(-0.04, 0, -0.012), np.array([0.066 + lift, 0.064 + lift, 0.07]) * k, m), k=0.03 * k)
    if "fall" in spec:
        _fall(b, at, spec["fall"], s.h[:, 0], k)
    b.cut(ellipsoid(at(0.09, 0, -0.045), np.array([0.085, 0.072, 0.122]) * k, m), k=0.01 * k)
    if "fall" not in spec:
        for y in (1, -1):
            b.cut(ellipsoid(at(0.012, 0.085 * y, -0.045), np.array([0.04, 0.034, 0.05]) * k, m), k=0.012 * k)
        b.clip(at(-0.05, 0, -0.082), s.h @ np.array([0.5, 0, -1]), k=0.02 * k)
    knot = (-0.12, 0, 0.055)
    if "tail" in spec:
        tip = at(-0.15, 0, 0.03) + np.array([-0.035, 0.01, -spec["tail"]]) * k
        b.add(cone(at(-0.1, 0, 0.055), 0.02 * k, at(-0.14, 0, 0.045), 0.024 * k), k=0.01 * k)
        b.add(cone(at(-0.14, 0, 0.045), 0.028 * k, tip, 0.012 * k), k=0.015 * k)
    if "bun" in spec:
        b.add(ellipsoid(at(-0.122, 0, 0.06), np.array([0.034, 0.04, 0.04]) * k, m), k=0.008 * k)
    v, f = b.mesh(0.005 * k)
    shade = np.array(rgb, np.float32)
    cap = Part(v, f, paint(v, tuple(shade * 0.6), 0.2, 60, seed), "hair")
    p, near = scatter(v, f, 5200, seed)
    q, n = (p - o) @ s.h / k, normals(v, f)[near]
    pulled = "tail" in spec or "bun" in spec
    aim = np.stack([q[:, 0] + 0.045, q[:, 1] * 1.3 + 0.02, q[:, 2] - 0.13], 1)
    if "fall" in spec:
        aim = np.stack(
            [-0.3 * q[:, 0] - 0.03, 0.3 * np.sign(q[:, 1]) * (q[:, 2] > 0.06), -0.1 + 0 * q[:, 2]], 1
        )
    aim = np.array(knot) - q if pulled else aim
    flow = aim / np.linalg.norm(aim, axis=1)[:, None] @ m
    flow -= n * (flow * n).sum(1)[:, None]
    rng = np.random.default_rng(seed)
    flow += (
        n * spec["rise"]
        + rng.normal(0, 0.07 if "fall" in spec or pulled else 0.16, n.shape)
        + (0.5 * noise(q * 30, seed))[:, None] * np.array([0.5, 0.5, 0])
    )
    edge = (
        np.clip((0.075 - np.abs(q[:, 2] - 0.06)) / 0.05, 0.4, 1) if not pulled and "fall" not in spec else 1.0
    )
    length = spec["length"] * k * rng.uniform(0.6, 1.1, len(p)) * edge
    tint = shade * np.exp(rng.normal(0, 0.3, len(p)) + 0.3 * noise(q * 40, seed + 3))[:, None]
    return [cap, strands(p, flow, length, 0.0042 * k, tint, "hair", 0.12)]


def _fall(b: Solid, at: Callable[..., Array], drop: float, front: Array, k: float) -> None:
    z = -0.03 - drop
    back = [at(-0.05, 0, 0.03), at(-0.065, 0, -0.06), at(-0.072, 0, z)]
    b.add(
        loft(back, [(0.06 * k, 0.08 * k), (0.045 * k, 0.082 * k), (0.02 * k, 0.06 * k)], front=front),
        k=0.03 * k,
    )
    for y in (1, -1):
        lock = [at(0.02, 0.066 * y, 0.04), at(-0.005, 0.078 * y, -0.05), at(-0.015, 0.076 * y, z * 0.85)]
        b.add(
            loft(lock, [(0.045 * k, 0.018 * k), (0.035 * k, 0.018 * k), (0.022 * k, 0.01 * k)], front=front),
            k=0.02 * k,
        )


def hand(limb: Limb, k: float, rgb: Rgb, side: int, seed: int) -> Part:
    """A hand with four fingers and a thumb, curled by the limb's `curl`; used for gloves, too."""
    palm, width, along = limb.tip
    thumb = -side * width
    wrist = limb.end
    centre = wrist + along * 0.05 * k
    b = Solid().add(cone(wrist - along * 0.05 * k, 0.027 * k, wrist + along * 0.01 * k, 0.025 * k))
    b.add(
        loft(
            [wrist, centre, wrist + along * 0.088 * k],
            [(0.017 * k, 0.026 * k), (0.016 * k, 0.036 * k), (0.011 * k, 0.039 * k)],
            front=palm,
            power=2.6,
        ),
        k=0.015 * k,
    )
    for i, (offset, length) in enumerate(((0.029, 0.9), (0.01, 1.0), (-0.01, 0.95), (-0.028, 0.75))):
        p = wrist + along * 0.083 * k + thumb * offset * k
        bend, r = np.radians(limb.curl * (1 + 0.15 * i)), 0.0093
        for j, part in enumerate((0.04, 0.026, 0.022)):
            a = bend * (0.5 + j)
            q = p + (along * np.cos(a) + palm * np.sin(a) + thumb * offset * 1.2) * part * length * k
            b.add(cone(p, r * k, q, (r - 0.0007) * k), k=0.003 * k)
            p, r = q, r - 0.0007
    root = wrist + (along * 0.02 + thumb * 0.025 + palm * 0.006) * k
    knuckle = root + (along * 0.035 + thumb * 0.022 + palm * 0.014) * k
    b.add(cone(root, 0.015 * k, knuckle, 0.0115 * k), k=0.012 * k)
    b.add(
        cone(knuckle, 0.0112 * k, knuckle + (along * 0.032 + thumb * 0.002 + palm * 0.012) * k, 0.0092 * k),
        k=0.005 * k,
    )
    v, f = b.mesh(0.0045 * k)
    return Part(v, f, paint(v, rgb, 0.06, 40, seed), "skin")
