"""Motorcycles, mopeds and other small wheels, with the people on them."""

from dataclasses import replace

import numpy as np
from body.parts import Part, Rgb, build, moved, pipe, settle, shell
from body.person import person
from body.poses import GLIDE, HALTED_MOPED, HALTED_MOTO, HALTED_SCOOTER, MOPED, MOTO, SEATED
from body.props import sacks
from body.sdf import Solid, ellipsoid, loft
from body.skeleton import turn
from body.wardrobe import ON_WHEELS, OUTFITS
from common import Model, Objects, material
from two_wheelers import SIDES, bicycle, riding, wheel

BLACK: Rgb = (0.015, 0.015, 0.016)
STEEL: Rgb = (0.5, 0.5, 0.51)
CHROME: Rgb = (0.34, 0.34, 0.35)
DULL: Rgb = (0.07, 0.07, 0.073)
RED: Rgb = (0.45, 0.01, 0.01)


def _disc(
    x: float, y: float, radius: float, tyre: float, spokes: int, rgb: Rgb = (0.25, 0.25, 0.26)
) -> list[Part]:
    """A cast wheel with a fat tyre, on the ground at (x, y)."""
    a = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    hub = np.array([x, y, radius])
    ring = hub + np.stack([np.cos(a), 0 * a, np.sin(a)], 1) * (radius - tyre)
    parts = [pipe(ring, tyre, (0.02, 0.02, 0.02), "rubber", True)]
    inner = hub + (ring - hub) * ((radius - 1.8 * tyre) / (radius - tyre))
    parts.append(pipe(inner, tyre * 0.55, rgb, "gloss", True))
    parts += [
        pipe([hub, inner[i * 48 // spokes]], [0.024, 0.013], rgb, "gloss", sides=6) for i in range(spokes)
    ]
    return [*parts, pipe([np.add(hub, (0, -0.07, 0)), np.add(hub, (0, 0.07, 0))], 0.035, STEEL, "metal")]


def _light(
    at: tuple[float, float, float], radius: float, strength: float, rgb: Rgb = (1.0, 0.9, 0.75)
) -> Objects:
    """A lit lamp."""
    v, f = Solid().add(ellipsoid(at, (radius * 0.5, radius, radius))).mesh(0.008)
    made = build([Part(v, f, np.ones_like(v), "glass")])
    made[0].data.materials[0] = material("lamp", rgb, emit=strength)
    return made


def _tail_light(at: tuple[float, float, float], radius: float) -> Objects:
    return _light(at, radius, 3, (1.0, 0.03, 0.02))


def _motorcycle(rgb: Rgb) -> list[Part]:
    parts = _disc(-0.72, 0, 0.31, 0.068, 10, DULL) + _disc(0.72, 0, 0.31, 0.056, 10, DULL)
    tank = Solid().add(
        loft(
            [(-0.06, 0, 0.83), (0.1, 0, 0.9), (0.28, 0, 0.92), (0.42, 0, 0.85)],
            [(0.05, 0.07), (0.12, 0.135), (0.12, 0.15), (0.06, 0.08)],
            front=(0, 0, 1),
        )
    )
    tail = Solid().add(
        loft(
            [(-0.38, 0, 0.8), (-0.62, 0, 0.86), (-0.86, 0, 0.92)],
            [(0.06, 0.12), (0.055, 0.1), (0.03, 0.05)],
            front=(0, 0, 1),
        )
    )
    tail.add(loft([(0.6, 0, 0.655), (0.72, 0, 0.675), (0.86, 0, 0.63)], [(0.012, 0.06)] * 3, front=(0, 0, 1)))
    seat = Solid().add(
        loft(
            [(0.02, 0, 0.82), (-0.2, 0, 0.79), (-0.42, 0, 0.84), (-0.66, 0, 0.92)],
            [(0.05, 0.09), (0.06, 0.13), (0.06, 0.13), (0.04, 0.09)],
            front=(0, 0, 1),
        )
    )
    engine = Solid().add(
        loft([(-0.22, 0, 0.42), (0.18, 0, 0.44)], [(0.14, 0.15), (0.15, 0.16)], front=(0, 0, 1), power=4)
    )
    engine.add(loft([(0.1, 0, 0.5), (0.2, 0, 0.76)], [(0.11, 0.12), (0.1, 0.11)], power=4), k=0.03)
    engine.add(ellipsoid((-0.08, 0, 0.42), (0.13, 0.2, 0.13)), k=0.03)
    parts += [
        shell(tank, rgb, "gloss"),
        shell(tail, rgb, "gloss"),
        shell(seat, BLACK, "leather"),
        shell(engine, (0.12, 0.12, 0.125), "metal"),
    ]
    for y in (1, -1):
        parts.append(
            pipe(
                [(0.72, 0.09 * y, 0.31), (0.57, 0.1 * y, 0.66), (0.45, 0.1 * y, 0.97)],
                [0.032, 0.028, 0.022],
                DULL,
                "metal",
            )
        )
        parts.append(pipe([(-0.72, 0.1 * y, 0.31), (-0.2, 0.11 * y, 0.4)], 0.028, BLACK, "gloss"))
        parts.append(pipe([(-0.35, 0.1 * y, 0.78), (-0.6, 0.12 * y, 0.42)], [0.03, 0.024], DULL, "metal"))
        parts.append(
            pipe(
                [(0.42, 0.1 * y, 0.85), (0.1, 0.13 * y, 0.62), (-0.3, 0.11 * y, 0.5), (-0.6, 0.1 * y, 0.84)],
                0.02,
                BLACK,
                "gloss",
            )
        )
        parts.append(
            pipe(
                [(0.47, 0.05 * y, 1.0), (0.46, 0.2 * y, 1.06), (0.36, 0.38 * y, 1.03)],
                [0.014, 0.014, 0.018],
                BLACK,
                "rubber",
            )
        )
        parts.append(pipe([(0.42, 0.28 * y, 1.05), (0.44, 0.34 * y, 1.2)], 0.006, BLACK, "gloss"))
        parts.append(
            shell(Solid().add(ellipsoid((0.44, 0.36 * y, 1.21), (0.02, 0.07, 0.04))), BLACK, "gloss")
        )
        parts.append(pipe([(-0.06, 0.12 * y, 0.34), (-0.06, 0.26 * y, 0.34)], 0.015, BLACK, "rubber"))
        parts.append(
            shell(
                Solid().add(ellipsoid((0.5, 0.19 * y, 0.86), (0.03, 0.03, 0.02))), (0.6, 0.2, 0.01), "gloss"
            )
        )
    parts.append(
        pipe(
            [
                (0.2, -0.1, 0.6),
                (0.28, -0.14, 0.35),
                (-0.1, -0.17, 0.25),
                (-0.45, -0.19, 0.32),
                (-0.85, -0.2, 0.42),
            ],
            [0.025, 0.025, 0.028, 0.05, 0.05],
            (0.16, 0.16, 0.165),
            "metal",
        )
    )
    parts.append(shell(Solid().add(ellipsoid((0.53, 0, 0.92), (0.1, 0.105, 0.105))), BLACK, "gloss"))
    parts.append(shell(Solid().add(ellipsoid((-0.87, 0, 0.9), (0.025, 0.07, 0.03))), RED, "gloss"))
    plate = Solid().add(loft([(-0.88, 0, 0.62), (-0.9, 0, 0.78)], [(0.006, 0.1)] * 2, power=6))
    return [
        *parts,
        shell(plate, (0.6, 0.6, 0.58), "gloss", 0.006),
        pipe([(-0.7, 0, 0.9), (-0.88, 0, 0.7)], 0.03, BLACK, "gloss"),
    ]


def motorcyclist(
    seed: int = 0, rgb: Rgb = (0.4, 0.02, 0.02), who: str = "biker", waits: bool = False
) -> Objects:
    """Someone on a motorcycle, headlamp on; who waits has both feet on the road."""
    parts = person(HALTED_MOTO if waits else MOTO, ON_WHEELS[who], seed, bare_head=False)[1]
    lamps = [*_light((0.602, 0, 0.92), 0.075, 9), *_tail_light((-0.885, 0, 0.9), 0.045)]
    return [*build(settle([*parts, *_motorcycle(rgb)])), *lamps]


def _moped(rgb: Rgb, box: Rgb) -> list[Part]:
    parts = _disc(-0.6, 0, 0.22, 0.05, 5) + _disc(0.6, 0, 0.22, 0.05, 5)
    body = Solid().add(
        loft(
            [(-0.1, 0, 0.42), (-0.3, 0, 0.55), (-0.62, 0, 0.62), (-0.85, 0, 0.66)],
            [(0.14, 0.14), (0.19, 0.17), (0.14, 0.17), (0.05, 0.08)],
            front=(0, 0, 1),
        )
    )
    body.add(
        loft([(-0.15, 0, 0.31), (0.32, 0, 0.31)], [(0.035, 0.15), (0.035, 0.14)], front=(0, 0, 1), power=4),
        k=0.05,
    )
    body.add(
        loft(
            [(0.34, 0, 0.3), (0.37, 0, 0.55), (0.33, 0, 0.86)],
            [(0.04, 0.15), (0.04, 0.21), (0.05, 0.12)],
            power=2.6,
        ),
        k=0.06,
    )
    body.add(ellipsoid((0.3, 0, 0.98), (0.11, 0.13, 0.08)), k=0.05)
    body.add(
        loft([(0.45, 0, 0.46), (0.6, 0, 0.475), (0.75, 0, 0.43)], [(0.03, 0.075)] * 3, front=(0, 0, 1)),
        k=0.03,
    )
    seat = Solid().add(
        loft(
            [(0.0, 0, 0.74), (-0.3, 0, 0.76), (-0.62, 0, 0.78)],
            [(0.05, 0.11), (0.06, 0.15), (0.05, 0.13)],
            front=(0, 0, 1),
            power=2.6,
        )
    )
    parts += [shell(body, rgb, "gloss"), shell(seat, BLACK, "leather")]
    for y in (1, -1):
        parts.append(pipe([(0.6, 0.075 * y, 0.22), (0.45, 0.075 * y, 0.5)], 0.022, STEEL, "metal"))
        parts.append(pipe([(0.3, 0.05 * y, 1.0), (0.26, 0.34 * y, 1.0)], [0.012, 0.018], BLACK, "rubber"))
        parts.append(pipe([(0.3, 0.2 * y, 1.02), (0.31, 0.27 * y, 1.16)], 0.005, BLACK, "gloss"))
        parts.append(
            shell(Solid().add(ellipsoid((0.31, 0.28 * y, 1.18), (0.015, 0.055, 0.045))), BLACK, "gloss")
        )
    parts.append(shell(Solid().add(ellipsoid((-0.86, 0, 0.68), (0.025, 0.08, 0.035))), RED, "gloss"))
    parts.append(pipe([(-0.3, -0.16, 0.26), (-0.75, -0.18, 0.3)], [0.035, 0.05], (0.2, 0.2, 0.2), "metal"))
    plate = Solid().add(loft([(-0.86, 0, 0.42), (-0.87, 0, 0.56)], [(0.006, 0.09)] * 2, power=6))
    parts.append(shell(plate, (0.6, 0.6, 0.58), "gloss", 0.006))
    crate = Solid().add(loft([(-0.66, 0, 0.84), (-0.66, 0, 1.28)], [(0.23, 0.23)] * 2, power=8))
    parts.append(shell(crate, box, "cloth", 0.009))
    parts.append(
        pipe(
            [(-0.44, 0.23, 1.22), (-0.44, -0.23, 1.22), (-0.88, -0.23, 1.22), (-0.88, 0.23, 1.22)],
            0.008,
            BLACK,
            "cloth",
            True,
        )
    )
    return parts


def moped(
    seed: int = 0,
    rgb: Rgb = (0.5, 0.04, 0.03),
    box: Rgb = (0.03, 0.36, 0.31),
    who: str = "courier",
    waits: bool = False,
) -> Objects:
    """Someone on a moped with a courier's box; who waits has both feet on the road."""
    parts = person(HALTED_MOPED if waits else MOPED, OUTFITS[who], seed, bare_head=False)[1]
    lamps = [*_light((0.385, 0, 0.98), 0.06, 10), *_tail_light((-0.875, 0, 0.68), 0.04)]
    return [*build(settle([*parts, *_moped(rgb, box)])), *lamps]


def scooter(seed: int = 0, who: str = "teen", waits: bool = False) -> Objects:
    """Someone standing on an electric kick scooter; who waits has a foot on the road."""
    deck = Solid().add(
        loft([(-0.42, 0, 0.13), (0.28, 0, 0.13)], [(0.022, 0.075)] * 2, front=(0, 0, 1), power=4)
    )
    deck.add(loft([(0.26, 0, 0.13), (0.43, 0, 0.24)], [(0.03, 0.04), (0.03, 0.03)], front=(0, 0, 1)), k=0.02)
    parts = [
        shell(deck, BLACK, "gloss", 0.006),
        *_disc(-0.5, 0, 0.11, 0.03, 6),
        *_disc(0.48, 0, 0.11, 0.03, 6),
    ]
    parts.append(
        pipe([(0.48, 0, 0.14), (0.43, 0, 0.26), (0.36, 0, 1.12)], [0.026, 0.026, 0.02], BLACK, "gloss")
    )
    parts.append(pipe([(0.34, 0.27, 1.12), (0.36, 0, 1.13), (0.34, -0.27, 1.12)], 0.015, BLACK, "rubber"))
    parts.append(
        shell(
            Solid().add(
                loft(
                    [(-0.36, 0, 0.245), (-0.52, 0, 0.245), (-0.62, 0, 0.2)],
                    [(0.008, 0.035)] * 3,
                    front=(0, 0, 1),
                )
            ),
            BLACK,
            "gloss",
            0.006,
        )
    )
    parts.append(shell(Solid().add(ellipsoid((-0.62, 0, 0.19), (0.012, 0.025, 0.02))), RED, "gloss", 0.006))
    return build(settle([*parts, *person(HALTED_SCOOTER if waits else GLIDE, OUTFITS[who], seed)[1]]))


def tricycle(seed: int = 0, who: str = "hauler") -> Objects:
    """A cargo tricycle: one wheel in front, a loaded bed between two behind."""
    full = bicycle((0.05, 0.1, 0.16), -30, rack=False)
    bike = [p._replace(v=p.v, f=p.f[(p.v[p.f][..., 0] > -0.47).all(1)]) for p in full]
    parts = [*bike, *person(riding(-30, OUTFITS[who].height / 1.75), OUTFITS[who], seed)[1]]
    for y in (0.52, -0.52):
        parts += moved(wheel(0, 0.34, 0.04, 28), np.eye(3), (-0.98, y, 0))
        arch = np.linspace(0.15, np.pi - 0.15, 14)
        guard = [(-0.98 + 0.4 * np.cos(a), y, 0.34 + 0.4 * np.sin(a)) for a in arch]
        parts.append(pipe(guard, 0.045, (0.04, 0.13, 0.2), "gloss", sides=6))
    parts.append(pipe([(-0.98, -0.52, 0.34), (-0.98, 0.52, 0.34)], 0.02, BLACK, "gloss"))
    bed = Solid().add(
        loft([(-1.5, 0, 0.56), (-0.44, 0, 0.56)], [(0.025, 0.46)] * 2, front=(0, 0, 1), power=8)
    )
    for y in (0.45, -0.45):
        bed.add(loft([(-1.5, y, 0.68), (-0.44, y, 0.68)], [(0.1, 0.015)] * 2, front=(0, 0, 1), power=8))
    parts.append(shell(bed, (0.04, 0.13, 0.2), "gloss", 0.01))
    for y in (0.2, -0.2):
        parts.append(
            pipe([(-0.1, y * 0.2, 0.3), (-0.5, y, 0.5), (-1.4, y, 0.5)], 0.02, (0.04, 0.1, 0.15), "gloss")
        )
    return build([*parts, *sacks((-0.97, 0, 0.58), seed)])


def wheelchair(seed: int = 0, who: str = "pensioner") -> Objects:
    """Someone in a wheelchair, hands on its rims."""
    parts: list[Part] = []
    for y in (0.3, -0.3):
        parts += moved(wheel(0, 0.3, 0.016, 24), turn((-4 * np.sign(y), 0, 0)), (-0.06, y, 0))
        rim = [
            (-0.06 + 0.26 * np.cos(a), y * 1.13, 0.3 + 0.26 * np.sin(a))
            for a in np.linspace(0, 2 * np.pi, 40, endpoint=False)
        ]
        parts.append(pipe(rim, 0.012, CHROME, "metal", True))
        parts += _disc(0.4, y * 0.75, 0.085, 0.022, 5)
        frame = [
            (-0.42, y * 0.8, 0.97),
            (-0.33, y * 0.8, 0.92),
            (-0.22, y * 0.8, 0.48),
            (0.32, y * 0.8, 0.5),
            (0.4, y * 0.75, 0.12),
            (0.56, y * 0.5, 0.1),
        ]
        parts.append(pipe(frame, 0.014, CHROME, "metal"))
        parts.append(
            pipe(
                [(0.36, y * 0.78, 0.3), (-0.1, y * 0.8, 0.26), (-0.22, y * 0.8, 0.48)], 0.012, CHROME, "metal"
            )
        )
        parts.append(
            pipe(
                [(-0.14, y * 0.85, 0.7), (0.18, y * 0.85, 0.7), (0.2, y * 0.85, 0.5)],
                [0.022, 0.022, 0.01],
                BLACK,
                "leather",
            )
        )
        parts.append(
            shell(
                Solid().add(
                    loft(
                        [(0.5, y * 0.42, 0.1), (0.64, y * 0.42, 0.14)],
                        [(0.008, 0.07)] * 2,
                        front=(0, 0, 1),
                        power=5,
                    )
                ),
                BLACK,
                "gloss",
                0.006,
            )
        )
    seat = Solid().add(loft([(-0.2, 0, 0.5), (0.28, 0, 0.51)], [(0.03, 0.22)] * 2, front=(0, 0, 1), power=5))
    seat.add(loft([(-0.25, 0, 0.52), (-0.34, 0, 0.93)], [(0.015, 0.22)] * 2, power=5))
    parts.append(shell(seat, (0.03, 0.034, 0.045), "cloth", 0.008))
    return build(settle([*parts, *person(SEATED, ON_WHEELS[who], seed, bare_head=False)[1]]))


FEW: dict = {"samples": 10}
RIDERS = {
    "motorcyclist": Model(
        motorcyclist, {"red": {}, "white": {"rgb": (0.4, 0.4, 0.39), "who": "courier"}}, **FEW, pixels=290
    ),
    "moped": Model(moped, {"courier": {}}, **FEW, pixels=270),
    "scooter_rider": Model(scooter, {"teen": {}}, **FEW),
}


def halted(model: Model) -> Model:
    """How a model's riders stand before they set off, from the sides."""
    variants = {f"{name}_stand": {**params, "waits": True} for name, params in model.variants.items()}
    return replace(model, variants=variants, azimuths=SIDES)


MODELS = {
    **RIDERS,
    **{f"{name}_gait": halted(model) for name, model in RIDERS.items()},
    "tricycle": Model(tricycle, {"loaded": {}}, **FEW, pixels=300),
    "wheelchair": Model(wheelchair, {"older": {}}, **FEW, pixels=220),
}
