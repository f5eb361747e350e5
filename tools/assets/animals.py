"""Four-legged animals, with coats of hair, alone and in herds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from body.parts import Part, Rgb, blend, build, pipe, scatter, shell, strands
from body.sdf import Array, Solid, cone, ellipsoid, loft, noise, normals
from common import Model, Objects

Leg = tuple[tuple[float, float], ...]
DARK: Rgb = (0.012, 0.01, 0.009)


@dataclass(frozen=True)
class Coat:
    """Hairs: how many, how long and wide (metres), how far they stand up, and how much they vary."""

    count: int = 26000
    length: float = 0.022
    width: float = 0.004
    rise: float = 0.35
    vary: float = 0.22
    curl: float = 0.1


def furred(
    solid: Solid, colour: Callable[[Array, Array], Array], coat: Coat, h: float, seed: int
) -> list[Part]:
    """The skin of a solid and its hairs, which lie backwards and down; colour: (points, normals) -> linear RGB."""
    v, f = solid.mesh(h, 2)
    n = normals(v, f)
    rng = np.random.default_rng(seed)
    p, near = scatter(v, f, coat.count, seed)
    flow = np.array([-0.8, 0, -0.6]) + rng.normal(0, coat.curl, p.shape) + 0.25 * noise(p * 9, seed)[:, None]
    flow -= n[near] * (flow * n[near]).sum(1)[:, None]
    flow += n[near] * coat.rise
    thin = np.clip(np.linalg.norm(p - v.mean(0), axis=1), 0, 1)
    length = coat.length * rng.uniform(0.6, 1.2, len(p)) * (1 - 0.5 * thin)
    rgb = (
        colour(p, n[near])
        * np.exp(rng.normal(0, coat.vary, len(p)) + coat.vary * noise(p * 22, seed))[:, None]
    )
    return [Part(v, f, colour(v, n) * 0.8, "fur"), strands(p, flow, length, coat.width, rgb, "fur", 0.15)]


def limb(
    b: Solid, y: float, points: Leg, radii: tuple[float, ...], flat: float = 0.72, k: float = 0.05
) -> None:
    """A leg through (x, z) points; the first joins the body, the last stands on the ground."""
    centres = [(x, y * (1 - 0.12 * i / len(points)), z) for i, (x, z) in enumerate(points)]
    b.add(loft(centres, [(r, r * (flat if i < 2 else 0.9)) for i, r in enumerate(radii)]), k=k)


def eyes(x: float, y: float, z: float, r: float) -> list[Part]:
    """A dark, shining eye on either side."""
    return [
        shell(Solid().add(ellipsoid((x, s * y, z), (r, r * 0.7, r))), DARK, "glass", 0.004) for s in (1, -1)
    ]


def _ramp(x: Array, knots: list[tuple[float, Rgb]]) -> Array:
    at = [k for k, _ in knots]
    return np.stack([np.interp(x, at, [c[i] for _, c in knots]) for i in range(3)], 1)


def _deer(alert: bool, antlers: bool, seed: int) -> list[Part]:
    b = Solid()
    b.add(
        loft(
            [
                (-0.64, 0, 0.9),
                (-0.55, 0, 0.92),
                (-0.3, 0, 0.9),
                (0.0, 0, 0.86),
                (0.25, 0, 0.86),
                (0.42, 0, 0.9),
                (0.5, 0, 0.96),
            ],
            [
                (0.06, 0.05),
                (0.15, 0.125),
                (0.175, 0.145),
                (0.175, 0.15),
                (0.2, 0.15),
                (0.185, 0.125),
                (0.12, 0.08),
            ],
            front=(0, 0, 1),
        )
    )
    head = np.array([0.76, 0, 1.47]) if alert else np.array([0.92, 0, 0.42])
    nape, mid = (
        (np.array([0.7, 0, 1.4]), np.array([0.56, 0, 1.18]))
        if alert
        else (np.array([0.86, 0, 0.52]), np.array([0.72, 0, 0.78]))
    )
    b.add(
        loft([(0.4, 0, 0.96), mid, nape], [(0.15, 0.1), (0.095, 0.07), (0.07, 0.055)], front=(1, 0, 0.5)),
        k=0.06,
    )
    nose = np.array([0.27, 0, -0.1]) if alert else np.array([0.16, 0, -0.24])
    b.add(
        loft(
            [head - nose * 0.25, head + nose * 0.2, head + nose * 0.62, head + nose],
            [(0.06, 0.055), (0.072, 0.062), (0.043, 0.038), (0.03, 0.028)],
            front=(0, 0, 1),
        ),
        k=0.03,
    )
    for y in (1, -1):
        ear = head - nose * 0.2 + [0, 0.06 * y, 0.05]
        tip = ear + np.array([-0.05, 0.12 * y, 0.1])
        b.add(
            loft(
                [ear, (ear + tip) / 2, tip],
                [(0.018, 0.018), (0.016, 0.038), (0.006, 0.01)],
                front=(0.8, 0.4 * y, -0.2),
            ),
            k=0.015,
        )
    gait = 0.1
    for y in (0.105, -0.105):
        g = gait * np.sign(y)
        limb(
            b,
            y,
            (
                (-0.46, 0.86),
                (-0.47 + g * 0.5, 0.62),
                (-0.6 + g, 0.42),
                (-0.575 + g * 1.3, 0.2),
                (-0.55 + g * 1.4, 0.07),
            ),
            (0.15, 0.085, 0.035, 0.026, 0.026),
        )
        limb(
            b,
            y,
            (
                (0.36, 0.84),
                (0.37 - g * 0.4, 0.6),
                (0.39 - g, 0.41),
                (0.38 - g * 1.2, 0.2),
                (0.4 - g * 1.3, 0.07),
            ),
            (0.13, 0.068, 0.036, 0.025, 0.025),
        )
    b.add(cone((-0.63, 0, 0.98), 0.04, (-0.71, 0, 0.84), 0.025), k=0.02)

    def colour(p: Array, n: Array) -> Array:
        rgb = _ramp(
            p[:, 2],
            [
                (0.0, (0.09, 0.06, 0.038)),
                (0.35, (0.17, 0.1, 0.058)),
                (0.7, (0.2, 0.115, 0.062)),
                (1.0, (0.15, 0.082, 0.042)),
                (1.5, (0.17, 0.1, 0.055)),
            ],
        )
        rgb = rgb * (0.8 + 0.3 * noise(p * 5, seed)[:, None] + 0.2)
        under = np.clip((-n[:, 2] - 0.35) / 0.4, 0, 1) * (np.abs(p[:, 0]) < 0.5) * (p[:, 2] > 0.5)
        rump = np.clip((-p[:, 0] - 0.56) / 0.05, 0, 1) * (p[:, 2] > 0.72)
        inner = np.clip((0.07 - np.abs(p[:, 1])) / 0.05, 0, 1) * (p[:, 2] > 0.45) * (p[:, 2] < 0.7)
        q = p - head
        along = q @ nose / 0.083
        chin = (
            ((along > 0.45) & (q[:, 2] < -0.075) & (p[:, 2] > 1.2))
            if alert
            else (along > 0.85) & (p[:, 0] > 0.9)
        )
        throat = (n[:, 0] > 0.5) & (p[:, 2] > 1.18) & (p[:, 2] < 1.34) & (along < 0.2)
        rgb = blend(
            rgb, np.maximum.reduce([under, rump, inner * 0.7, chin * 0.9, throat * 0.7]), (0.5, 0.44, 0.36)
        )
        return blend(rgb, np.clip((along - 0.93) / 0.05, 0, 1) * (p[:, 0] > 0.85), DARK)

    parts = furred(b, colour, Coat(), 0.011, seed)
    feet = [(-0.55 + 0.14 * s, 0.094 * s) for s in (1, -1)] + [(0.4 - 0.13 * s, 0.094 * s) for s in (1, -1)]
    hooves = (
        Solid()
        .add(*(cone((x, y, 0.07), 0.024, (x + 0.03, y, 0.024), 0.028) for x, y in feet))
        .clip((0, 0, 0), (0, 0, -1))
    )
    eye = head + nose * 0.18
    parts += [shell(hooves, DARK, "leather", 0.006), *eyes(eye[0], 0.06, eye[2] + 0.02, 0.017)]
    return parts + (_antlers(head - nose * 0.15) if antlers else [])


def _antlers(at: Array) -> list[Part]:
    horn: Rgb = (0.28, 0.19, 0.11)
    parts = []
    for s in (1, -1):
        beam = [
            at + np.array(p) * (1, s, 1)
            for p in (
                (0, 0.035, 0.05),
                (-0.07, 0.11, 0.18),
                (-0.07, 0.2, 0.33),
                (0.02, 0.24, 0.45),
                (0.12, 0.21, 0.5),
            )
        ]
        parts.append(pipe(beam, [0.02, 0.016, 0.014, 0.01, 0.004], horn, "leather"))
        for i, d in ((0, (0.07, 0.01, 0.09)), (2, (0.1, 0, 0.13)), (3, (0.0, 0.03, 0.13))):
            parts.append(pipe([beam[i], beam[i] + np.array(d) * (1, s, 1)], [0.012, 0.003], horn, "leather"))
    return parts


def deer(seed: int = 0, alert: bool = True, antlers: bool = False) -> Objects:
    """A deer walking with its head up, or grazing."""
    return build(_deer(alert, antlers, seed))


MODELS = {
    "deer": Model(deer, {"doe": {}, "stag": {"antlers": True}, "grazing": {"alert": False}}, samples=12)
}
