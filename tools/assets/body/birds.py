"""Pigeons on the ground."""

import numpy as np
from body.parts import Part, Rgb, blend, moved, paint, pipe, shell
from body.sdf import Array, Solid, cone, ellipsoid, loft, noise
from body.skeleton import turn

LEG: Rgb = (0.42, 0.12, 0.09)
BEAK: Rgb = (0.06, 0.055, 0.05)
# Body, wing, neck and bars of the kinds that mix in any flock in town.
PLUMAGES: tuple[tuple[Rgb, Rgb, Rgb, Rgb], ...] = (
    ((0.25, 0.27, 0.31), (0.4, 0.42, 0.45), (0.06, 0.1, 0.09), (0.035, 0.035, 0.04)),
    ((0.68, 0.67, 0.64), (0.7, 0.69, 0.66), (0.6, 0.58, 0.55), (0.3, 0.3, 0.32)),
    ((0.2, 0.21, 0.24), (0.3, 0.31, 0.34), (0.07, 0.08, 0.1), (0.04, 0.04, 0.045)),
    ((0.36, 0.22, 0.15), (0.46, 0.32, 0.24), (0.26, 0.14, 0.09), (0.62, 0.58, 0.52)),
)


def pigeon(seed: int) -> list[Part]:
    """One pigeon facing +x on its feet, pecking or looking about."""
    rng = np.random.default_rng(seed)
    pecks = rng.random() < 0.4
    pitch, hips = (rng.uniform(4, 14) if pecks else -rng.uniform(14, 28)), (0.0, 0.0, 0.115)
    colours = PLUMAGES[rng.choice(len(PLUMAGES), p=(0.4, 0.2, 0.25, 0.15))]
    reach = (0.085, 0, -0.06) if pecks else (0.045, rng.uniform(-0.015, 0.015), 0.085)
    neck = np.array((0.075, 0, 0.012))
    trunk = moved(_trunk(neck, neck + reach, colours, seed), turn((0, pitch, 0)), hips)
    return trunk + [part for y in (0.026, -0.026) for part in _leg(y, rng)]


def _trunk(neck: Array, head: Array, colours: tuple[Rgb, ...], seed: int) -> list[Part]:
    """Body, head and folded wings about the hips, level."""
    plain, wing, collar, bars = colours
    b = Solid().add(
        loft(
            [(-0.14, 0, 0.004), (-0.08, 0, 0.0), (0, 0, -0.004), (0.07, 0, 0.002), (0.1, 0, 0.008)],
            [(0.012, 0.03), (0.045, 0.048), (0.064, 0.06), (0.056, 0.05), (0.025, 0.025)],
            front=(0, 0, 1),
        )
    )
    b.add(
        loft([(-0.11, 0, 0.006), (-0.235, 0, 0.0)], [(0.014, 0.03), (0.006, 0.042)], front=(0, 0, 1)), k=0.02
    )
    b.add(cone(neck, 0.04, head, 0.023), k=0.03)
    b.add(ellipsoid(np.add(head, (0.008, 0, 0.004)), (0.028, 0.023, 0.023)), k=0.01)

    def feathers(v: Array) -> Array:
        rgb = paint(v, plain, 0.15, 40, seed)
        along = (v - neck) @ (head - neck) / ((head - neck) @ (head - neck))
        near = np.linalg.norm(v - neck - np.clip(along, 0, 1)[:, None] * (head - neck), axis=1) < 0.055
        rgb = blend(rgb, near * np.clip((along + 0.1) / 0.3, 0, 1), collar)
        return blend(rgb, np.clip((-0.2 - v[:, 0]) / 0.01, 0, 1), bars)

    parts = [shell(b, feathers, "fur", 0.005)]
    beak = np.add(head, (0.028, 0, 0))
    parts.append(pipe([beak, np.add(beak, (0.028, 0, -0.008))], [0.008, 0.003], BEAK, "leather"))
    parts.append(
        shell(
            Solid().add(ellipsoid(np.add(head, (0.014, 0, 0.008)), (0.005, 0.0245, 0.005))),
            (0.3, 0.08, 0.03),
            "glass",
            0.002,
        )
    )

    def flight(v: Array) -> Array:
        rows = 0.88 + 0.24 * (noise(v * (25, 25, 90), seed) > 0)
        banded = (np.abs(v[:, 0] + 0.055) < 0.009) | (np.abs(v[:, 0] + 0.095) < 0.01)
        dark = np.clip((-0.15 - v[:, 0]) / 0.03, 0, 0.7)
        return blend(paint(v, wing, 0.12, 30, seed) * rows[:, None], np.maximum(banded * 0.9, dark), bars)

    for side in (1, -1):
        folded = loft(
            [
                (0.06, 0.046 * side, 0.016),
                (-0.03, 0.057 * side, 0.016),
                (-0.12, 0.036 * side, 0.018),
                (-0.215, 0.014 * side, 0.012),
            ],
            [(0.026, 0.01), (0.042, 0.011), (0.026, 0.01), (0.007, 0.006)],
            front=(0, 0, 1),
        )
        parts.append(shell(Solid().add(folded), flight, "fur", 0.005))
    return parts


def _leg(y: float, rng: np.random.Generator) -> list[Part]:
    """A leg and three toes on the ground."""
    x = rng.uniform(-0.02, 0.025)
    toes = [
        pipe([(x, y, 0.006), (x + 0.035, y + d, 0.004)], 0.004, LEG, "leather", sides=5)
        for d in (-0.014, 0, 0.014)
    ]
    return [pipe([(0, y, 0.08), (x - 0.006, y, 0.04), (x, y, 0.005)], 0.0055, LEG, "leather", sides=6), *toes]
