"""Animals on the road, alone and in herds."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from body import coats
from body.beast import Beast, Colour, bundle
from body.beasts import (
    BOAR,
    CAT,
    COLLIE,
    COW,
    DEER,
    DOG,
    HORSE,
    SHEEP,
    SHEPHERD,
    STANDING,
    STEPPING,
    WALKING,
    WALKING_DEER,
)
from body.birds import pigeon
from body.parts import Part, Rgb, build, moved, pipe, shell
from body.person import person
from body.poses import ASTRIDE
from body.sdf import Solid, ellipsoid, loft
from body.skeleton import turn
from body.wardrobe import OUTFITS
from common import Model, Objects, about


def _antlers(beast: Beast) -> list[Part]:
    horn: Rgb = (0.34, 0.24, 0.15)
    x, z, high, _ = beast.head[0]
    crown = np.array([x + 0.02, 0, z + high * 0.8])
    way = ((0, 0.03, 0.0), (-0.035, 0.07, 0.08), (-0.03, 0.12, 0.16), (0.03, 0.14, 0.21), (0.1, 0.12, 0.24))
    tines = ((0, (0.04, 0.01, 0.05)), (2, (0.06, 0, 0.09)), (3, (0.02, 0.02, 0.09)))
    parts = []
    for s in (1, -1):
        beam = beast.looking([crown + np.multiply(p, (1, s, 1)) for p in way])
        parts.append(pipe(beam, [0.019, 0.016, 0.014, 0.01, 0.004], horn, "leather"))
        for i, d in tines:
            tip = beam[i] + beast.heading(np.multiply(d, (1, s, 1)))
            parts.append(pipe([beam[i], tip], [0.012, 0.003], horn, "leather"))
    return parts


def _collar(beast: Beast, rgb: Rgb) -> Part:
    """A collar round the middle of the neck."""
    x, z, high, wide = beast.neck[1]
    way = np.subtract(beast.neck[2][:2], beast.neck[0][:2])
    along, up = np.array([-way[1], way[0]]) / np.linalg.norm(way), way / np.linalg.norm(way)
    ring = []
    for a in np.linspace(0, 2 * np.pi, 28, endpoint=False):
        off = along * high * 1.04 * np.cos(a) + up * 0.012
        ring.append((x + off[0], wide * 1.04 * np.sin(a), z + off[1]))
    return pipe(ring, 0.009, rgb, "leather", ring=True)


def _varied(beast: Beast, seed: int) -> Beast:
    """One of a herd: its own step, its own look to the side."""
    look = float(np.random.default_rng(seed).uniform(-40, 40))
    return replace(beast, stride=(WALKING, STEPPING, STANDING)[seed % 3], look=look)


def _cow(seed: int, kind: str, look: float) -> list[Part]:
    beast = replace(COW, stride=(WALKING, STEPPING, STANDING)[seed % 3], look=look)
    udder = shell(
        Solid().add(ellipsoid((-0.42, 0, 0.66), (0.2, 0.16, 0.14))), (0.5, 0.3, 0.25), "skin", 0.012
    )
    parts = [*beast.parts(coats.cow(beast, kind, seed), seed), udder, *beast.eyes(0.028)]
    return parts if kind == "patched" else [*parts, *_horns(beast)]


def _horns(beast: Beast) -> list[Part]:
    """Two short horns, out and up."""
    x, z, high, wide = beast.head[0]
    way = np.array(
        [(x + 0.03, wide * 0.6, z + high * 0.6), (x + 0.05, 0.2, z + 0.12), (x + 0.08, 0.25, z + 0.24)]
    )
    return [
        pipe(beast.looking(list(way * (1, s, 1))), [0.032, 0.024, 0.006], (0.55, 0.48, 0.36), "leather")
        for s in (1, -1)
    ]


def _sheep(seed: int) -> list[Part]:
    beast = _varied(SHEEP, seed)
    face: Rgb = (0.5, 0.43, 0.35) if seed % 3 == 1 else (0.03, 0.026, 0.023)
    return beast.parts(coats.sheep(beast, face, seed), seed) + beast.eyes(0.016)


def _boar(seed: int, young: bool) -> list[Part]:
    parts = BOAR.parts(coats.boar(young, seed), seed) + BOAR.eyes(0.011)
    if young:
        return parts
    tusks = [
        pipe(
            [(0.84, 0.045 * s, 0.305), (0.86, 0.062 * s, 0.33), (0.85, 0.066 * s, 0.37)],
            [0.009, 0.008, 0.002],
            (0.6, 0.55, 0.45),
            "skin",
        )
        for s in (1, -1)
    ]
    crest = np.array(
        [[x, 0, np.interp(x, (-0.4, 0.2, 0.5), (0.68, 0.8, 0.74))] for x in np.linspace(-0.4, 0.5, 50)]
    )
    mane = bundle(crest, np.add(crest, (-0.07, 0, 0.035)), 0.035, 1800, (0.08, 0.065, 0.05), seed, 0.0)
    return [*parts, mane, *tusks]


def _horse(coat: Rgb, hair: Rgb, seed: int) -> list[Part]:
    u = np.linspace(0, 1, 40)[:, None]
    crest = (
        np.array([0.36, 0, 1.5]) * (1 - u)
        + np.array([0.92, 0, 1.95]) * u
        + np.array([-0.06, 0, 0.08]) * 4 * u * (1 - u)
    )
    hairs = [
        bundle(crest, crest + np.array((-0.04, -0.13, -0.24)), 0.03, 1100, hair, seed, 0.25),
        bundle(crest, crest + np.array((-0.05, 0.1, -0.13)), 0.03, 700, hair, seed + 2, 0.35),
    ]
    brow = np.array([[0.94, 0, 1.96], [0.98, 0, 1.95]])
    hairs.append(bundle(brow, brow + np.array((0.11, 0.01, -0.17)), 0.025, 120, hair, seed + 3, 0.1))
    dock = np.array([[-0.92, 0, 1.28], [-0.96, 0, 1.2]])
    tail = [bundle(dock, dock + np.array((-0.08, 0, -0.42)), 0.04, 700, hair, seed, 0.1)]
    tail.append(
        bundle(
            dock + np.array((-0.06, 0, -0.34)),
            dock + np.array((-0.05, 0, -0.74)),
            0.055,
            700,
            hair,
            seed + 1,
            0.1,
        )
    )
    colour = coats.horse(coat, hair, seed)
    return [*HORSE.parts(colour, seed, (0.06, 0.047, 0.038)), *HORSE.eyes(0.024), *hairs, *tail]


def _tack(held: bool) -> list[Part]:
    """Saddle, girth, bridle and reins, held or hanging on the neck."""
    leather: Rgb = (0.026, 0.013, 0.008)
    b = Solid().add(
        loft(
            [(-0.28, 0, 1.47), (-0.1, 0, 1.42), (0.12, 0, 1.43), (0.24, 0, 1.52)],
            [(0.055, 0.17), (0.06, 0.22), (0.055, 0.2), (0.045, 0.08)],
            front=(0, 0, 1),
        )
    )
    for y in (1, -1):
        b.add(
            loft(
                [(0.0, 0.21 * y, 1.42), (0.06, 0.305 * y, 1.15), (0.07, 0.295 * y, 0.98)],
                [(0.2, 0.025), (0.18, 0.025), (0.13, 0.02)],
            ),
            k=0.05,
        )
    across = ((0.275, 1.1), (0.195, 1.365), (0, 1.435), (-0.195, 1.365), (-0.275, 1.1))
    pad = loft([(-0.03, y, z) for y, z in across], [(0.28, 0.017)] * 5)
    parts = [shell(b, leather, "leather", 0.011), shell(Solid().add(pad), (0.36, 0.34, 0.3), "cloth", 0.012)]
    girth = [(0.1, 0.275 * np.cos(a), 1.13 + 0.32 * np.sin(a)) for a in np.linspace(np.pi, 2 * np.pi, 24)]
    parts.append(pipe(girth, 0.02, leather, "leather"))
    reins = ((1.26, 0.07, 1.53), (0.8, 0.12, 1.62), (0.3, 0.06, 1.66))
    if not held:
        reins = (
            (1.26, 0.07, 1.53),
            (1.06, 0.12, 1.38),
            (0.84, 0.13, 1.42),
            (0.62, 0.145, 1.52),
            (0.5, 0.03, 1.6),
        )
    cheek = ((1.27, 0.07, 1.54), (1.08, 0.095, 1.8), (0.93, 0.07, 1.93))
    for side in ((1, 1, 1), (1, -1, 1)):
        parts.append(pipe(np.multiply(reins, side), 0.008, leather, "leather"))
        parts.append(pipe(np.multiply(cheek, side), 0.01, leather, "leather"))
        stirrup = np.multiply(((0.02, 0.29, 1.2), (0.05, 0.33, 0.77)), side)
        parts.append(pipe(stirrup, 0.01, (0.3, 0.3, 0.3), "metal"))
    return parts


def deer(seed: int = 0, antlers: bool = False) -> Objects:
    """A doe that stands and looks, or a stag that walks across."""
    beast = WALKING_DEER if antlers else DEER
    parts = beast.parts(coats.deer(beast, seed), seed) + beast.eyes(0.016)
    return build([*parts, *(_antlers(beast) if antlers else [])])


def boars(seed: int = 0) -> Objects:
    """A wild boar and two striped young."""
    young = [
        moved(_boar(seed + i, True), turn((0, 0, a)) * 0.5, at)
        for i, a, at in ((1, 12, (-1.0, 0.42, 0)), (2, -8, (-1.15, -0.3, 0)))
    ]
    return build([*_boar(seed, False), *young[0], *young[1]])


DOGS: dict[str, tuple[Beast, Callable[[Beast, int], Colour]]] = {
    "labrador": (DOG, coats.labrador),
    "shepherd": (SHEPHERD, coats.shepherd),
    "collie": (COLLIE, coats.collie),
}


def dog(seed: int = 0, breed: str = "labrador") -> Objects:
    """A trotting dog, its mouth open; the red one wears a collar."""
    beast, coat = DOGS[breed]
    parts = beast.parts(coat(beast, seed), seed) + beast.eyes(0.0115, 0.9, 0.86)
    parts += [beast.nose(0.019), beast.tongue(0.05)]
    return build([*parts, _collar(beast, (0.3, 0.02, 0.02))] if breed == "labrador" else parts)


#: Back, stripes, and how far up legs are white (m).
CATS: dict[str, tuple[Rgb, Rgb, float]] = {
    "ginger": ((0.45, 0.25, 0.115), (0.31, 0.145, 0.055), 0.085),
    "tabby": ((0.24, 0.2, 0.155), (0.06, 0.048, 0.038), 0.05),
    "black": ((0.022, 0.02, 0.019), (0.015, 0.014, 0.013), 0.075),
}


def cat(seed: int = 0, coat: str = "ginger") -> Objects:
    """A cat on its way across, its tail up, with a white face and paws."""
    back, stripe, white = CATS[coat]
    return build(
        CAT.parts(coats.cat(CAT, seed, back, stripe, white), seed)
        + CAT.eyes(0.0095, 0.6, 0.92)
        + [CAT.nose(0.006, (0.3, 0.13, 0.11))]
    )


def cattle(seed: int = 0, count: int = 3) -> Objects:
    """A few cows, as many as `count`, each of another coat."""
    rng = np.random.default_rng(seed + 4)
    parts = []
    for i, (kind, x, y, way, look) in enumerate(HERD[:count]):
        parts += moved(
            _cow(seed * 10 + i, kind, look), turn((0, 0, way)) * rng.uniform(0.96, 1.03), (x, y, 0)
        )
    return build(parts)


def sheep(seed: int = 0, count: int = 6) -> Objects:
    """A flock of sheep."""
    return build(_herd(_sheep, FLOCK[:count], seed))


def birds(seed: int = 0, count: int = 7) -> Objects:
    """Pigeons at the roadside."""
    return build(_spread(pigeon, count, 0.5, seed, 60))


#: Where each stands, metres, and which way it faces, degrees: apart, so that each head is seen from the side.
FLOCK = (
    (-1.4, 0.65, 6),
    (-0.15, 0.75, -8),
    (1.1, 0.6, 10),
    (-0.85, -0.6, -5),
    (0.45, -0.7, 9),
    (1.6, -0.65, -10),
)


#: Coat of each of the cattle, where it stands (metres), which way it faces and how far it looks to its left (degrees):
#: one broadside, two end on, so that from either long side none hides another and two faces show.
HERD = (("patched", 0.76, -0.04, 24, 0), ("red", -0.64, -0.44, 93, 30), ("tan", -1.76, 0.42, -93, 20))


def _herd(
    make: Callable[[int], list[Part]], places: Sequence[tuple[float, float, float]], seed: int
) -> list[Part]:
    """One at each place, each built a little differently."""
    rng = np.random.default_rng(seed + 4)
    parts = []
    for i, (x, y, way) in enumerate(places):
        parts += moved(make(seed * 10 + i), turn((0, 0, way)) * rng.uniform(0.94, 1.05), (x, y, 0))
    return parts


def _spread(
    make: Callable[[int], list[Part]],
    count: int,
    gap: float,
    seed: int,
    swing: float = 14,
) -> list[Part]:
    """`count` of them, about `gap` metres apart across the way, each turned and built a little differently."""
    rng = np.random.default_rng(seed + 4)
    parts = []
    for i in range(count):
        row, pair = i % 2 - 0.5, i // 2 - (count - 1) // 2 / 2
        at = (rng.normal(0, 0.15) + (1.7 * row + 0.45 * pair) * gap, (pair + 0.5 * row) * gap, 0.0)
        parts += moved(make(seed * 10 + i), turn((0, 0, rng.normal(0, swing))) * rng.uniform(0.92, 1.06), at)
    return parts


def horse(seed: int = 0, rider: str | None = None) -> Objects:
    """A saddled horse, loose or ridden."""
    parts = _horse(*(CHESTNUT if rider else BAY), seed) + _tack(rider is not None)
    if rider:
        parts += person(ASTRIDE, OUTFITS[rider], seed, bare_head=False)[1]
    return build(parts)


BAY: tuple[Rgb, Rgb] = ((0.15, 0.066, 0.032), (0.02, 0.016, 0.014))
CHESTNUT: tuple[Rgb, Rgb] = ((0.26, 0.12, 0.052), (0.3, 0.17, 0.085))

FEW: dict = {"samples": 10}
MODELS = {
    "deer": Model(deer, {"doe": {}, "stag": {"antlers": True}}, **FEW, fur=0.03),
    "dog": Model(dog, {breed: {"breed": breed} for breed in DOGS}, **FEW, pixels=200, fur=0.03),
    "cat": Model(
        cat, {coat: {"coat": coat} for coat in CATS}, **FEW, pixels=150, azimuths=about(90, 270), fur=0.012
    ),
    "cattle": Model(
        cattle,
        {"three": {"seed": 1}},
        **FEW,
        pixels=420,
        azimuths=(*range(50, 140, 10), *range(230, 320, 10)),
        fur=0.05,
    ),
    "sheep": Model(sheep, {"flock": {}}, **FEW, pixels=400),
    "boar": Model(boars, {"family": {}}, **FEW, pixels=240, fur=0.03),
    "horse": Model(horse, {"loose": {}}, **FEW, pixels=320, fur=0.04),
    "horse_rider": Model(horse, {"a": {"rider": "rider"}}, **FEW, pixels=330),
    "birds": Model(birds, {"pigeons": {}}, **FEW, pixels=220),
}
