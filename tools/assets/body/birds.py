"""Pigeons and geese."""

import numpy as np
from body.parts import Part, Rgb, blend, moved, paint, pipe
from body.sdf import Array, Solid, cone, ellipsoid, loft, noise
from body.skeleton import turn

ORANGE: Rgb = (0.4, 0.13, 0.02)


def bird(kind: str, flying: bool, seed: int) -> list[Part]:
    """One bird facing +x, on its feet or with its wings spread."""
    goose = kind == "goose"
    k = 2.2 if goose else 1.0
    rng = np.random.default_rng(seed)
    tilt = np.radians(8 if flying else rng.uniform(14, 30))
    body = Solid().add(
        loft(
            _line(tilt, (-0.13, -0.06, 0.02, 0.08)),
            [(0.012, 0.03), (0.05, 0.05), (0.06, 0.056), (0.03, 0.03)],
            front=(0, 0, 1),
        )
    )
    body.add(
        loft(
            [(-0.12, 0, -0.13 * np.sin(tilt)), (-0.22, 0, -0.22 * np.sin(tilt))],
            [(0.012, 0.03), (0.005, 0.045)],
            front=(0, 0, 1),
        ),
        k=0.02,
    )
    low = np.array([0.07, 0, 0.05])
    top = low + ((0.03, 0, 0.14) if goose and not flying else (0.1, 0, 0.03) if flying else (0.025, 0, 0.05))
    body.add(cone(low, 0.036, top, 0.02 if goose else 0.026), k=0.03)
    body.add(ellipsoid(np.add(top, (0.01, 0, 0.01)), (0.029, 0.024, 0.025)), k=0.012)
    legs = 0.095
    v, f = body.mesh(0.005)
    parts = [Part(v, f, _plumage(v, goose, top, seed), "fur")]
    beak = np.add(top, (0.03, 0, 0.006))
    parts.append(
        pipe(
            [beak, np.add(beak, (0.035, 0, -0.008))],
            [0.009, 0.003],
            ORANGE if goose else (0.03, 0.03, 0.03),
            "leather",
        )
    )
    parts += _wings(flying, goose, tilt, rng)
    if not flying:
        for y in (0.025, -0.025):
            parts.append(pipe([(0, y, -0.03), (0.005, y, -legs + 0.004)], 0.005, ORANGE, "leather", sides=6))
            parts += [
                pipe(
                    [(0.0, y, -legs + 0.004), (0.035, y + d, -legs + 0.003)],
                    0.004,
                    ORANGE,
                    "leather",
                    sides=5,
                )
                for d in (-0.012, 0, 0.012)
            ]
    return moved(parts, np.eye(3) * k, (0, 0, 0 if flying else legs * k))


def _line(tilt: float, xs: tuple[float, ...]) -> list[tuple[float, float, float]]:
    return [(x, 0, x * np.sin(tilt)) for x in xs]


def _plumage(v: Array, goose: bool, top: Array, seed: int) -> Array:
    grey = paint(v, (0.12, 0.095, 0.07) if goose else (0.13, 0.14, 0.16), 0.25, 40, seed)
    head = np.clip((v[:, 2] - top[2] + (0.1 if goose else 0.03)) / 0.01, 0, 1) * (v[:, 0] > 0.04)
    rgb = blend(grey, head, (0.012, 0.012, 0.012) if goose else (0.03, 0.045, 0.05))
    if goose:
        cheek = np.linalg.norm(v - top - (0, 0, -0.008), axis=1) < 0.026
        rgb = blend(
            blend(rgb, cheek * 1.0, (0.6, 0.6, 0.58)),
            np.clip((-0.02 - v[:, 2]) / 0.02, 0, 1),
            (0.4, 0.38, 0.34),
        )
    return rgb


def _wings(flying: bool, goose: bool, tilt: float, rng: np.random.Generator) -> list[Part]:
    tone: Rgb = (0.08, 0.06, 0.045) if goose else (0.2, 0.21, 0.23)
    parts = []
    raise_ = rng.uniform(-25, 40)
    for side in (1, -1):
        if flying:
            wing = Solid().add(
                loft(
                    [(0, 0, 0), (0.03, 0.12, 0), (0.0, 0.22, 0), (-0.08, 0.34, 0)],
                    [(0.012, 0.06), (0.009, 0.075), (0.006, 0.06), (0.003, 0.02)],
                    front=(0, 0, 1),
                )
            )
            v, f = wing.mesh(0.005)
            part = Part(
                v,
                f,
                blend(paint(v, tone, 0.2, 30), (np.abs(v[:, 0] + 0.05) < 0.012) * 0.8, (0.03, 0.03, 0.03)),
                "fur",
            )
            parts += moved(
                [part._replace(v=part.v * (1, side, 1), f=part.f[:, ::-1] if side < 0 else part.f)],
                turn((side * raise_, 0, 0)),
                (0.02, side * 0.04, 0.03),
            )
        else:
            lie = loft(
                [
                    (0.05, 0.048 * side, 0.03),
                    (-0.04, 0.055 * side, 0.012),
                    (-0.2, 0.016 * side, -0.2 * np.sin(tilt) * 0.9 + 0.01),
                ],
                [(0.03, 0.012), (0.045, 0.012), (0.008, 0.006)],
                front=(0, 0, 1),
            )
            v, f = Solid().add(lie).mesh(0.005)
            bars = (np.abs(v[:, 0] + 0.06) < 0.01) | (np.abs(v[:, 0] + 0.1) < 0.01)
            rows = 0.8 + 0.4 * (noise(v * (25, 25, 90)) > 0)
            parts.append(
                Part(
                    v,
                    f,
                    blend(
                        paint(v, tone, 0.15, 30) * rows[:, None],
                        bars * (0.0 if goose else 0.85),
                        (0.025, 0.025, 0.028),
                    ),
                    "fur",
                )
            )
    return parts
