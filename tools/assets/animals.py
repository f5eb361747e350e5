"""Animals on the road, alone and in herds."""

from collections.abc import Callable

import numpy as np
from body.beast import DARK, Beast, bundle, ramp
from body.beasts import BOAR, CAT, COW, DEER, DOG, GRAZING, HORSE, SHEEP
from body.birds import bird
from body.parts import Part, Rgb, blend, build, moved, pipe, shell
from body.person import person
from body.poses import ASTRIDE
from body.sdf import Array, Solid, ellipsoid, loft, noise
from body.skeleton import turn
from body.wardrobe import OUTFITS
from common import ACROSS, AHEAD, ALONG, Model, Objects

WHITE: Rgb = (0.5, 0.44, 0.36)


def _deer(seed: int, grazing: bool, antlers: bool) -> list[Part]:
    beast = GRAZING if grazing else DEER

    def colour(p: Array, n: Array) -> Array:
        brown = [
            (0.0, (0.09, 0.06, 0.038)),
            (0.35, (0.17, 0.1, 0.058)),
            (0.7, (0.2, 0.115, 0.062)),
            (1.0, (0.15, 0.082, 0.042)),
            (1.5, (0.17, 0.1, 0.055)),
        ]
        rgb = ramp(p[:, 2], brown) * (1 + 0.25 * noise(p * 5, seed))[:, None]
        under = np.clip((-n[:, 2] - 0.35) / 0.4, 0, 1) * (np.abs(p[:, 0]) < 0.5) * (p[:, 2] > 0.5)
        rump = np.clip((-p[:, 0] - 0.57) / 0.05, 0, 1) * (p[:, 2] > 0.72)
        inner = np.clip((0.07 - np.abs(p[:, 1])) / 0.05, 0, 1) * (p[:, 2] > 0.45) * (p[:, 2] < 0.7)
        t = beast.along_head(p)
        chin = (t > 0.45) & (n[:, 2] < -0.3)
        throat = (n[:, 0] > 0.5) & (p[:, 2] > 1.18) & (p[:, 2] < 1.34) & (t < 0.2)
        rgb = blend(rgb, np.maximum.reduce([under, rump, inner * 0.7, chin * 0.9, throat * 0.7]), WHITE)
        return blend(rgb, np.clip((t - 0.93) / 0.05, 0, 1), DARK)

    crown = np.array([0.73, 0, 1.49])
    return beast.parts(colour, seed) + beast.eyes(0.017) + (_antlers(crown) if antlers else [])


def _antlers(at: Array) -> list[Part]:
    horn: Rgb = (0.28, 0.19, 0.11)
    parts = []
    for s in (1, -1):
        way = (
            (0, 0.035, 0.05),
            (-0.07, 0.11, 0.18),
            (-0.07, 0.2, 0.33),
            (0.02, 0.24, 0.45),
            (0.12, 0.21, 0.5),
        )
        beam = [at + np.array(p) * (1, s, 1) for p in way]
        parts.append(pipe(beam, [0.02, 0.016, 0.014, 0.01, 0.004], horn, "leather"))
        for i, d in ((0, (0.07, 0.01, 0.09)), (2, (0.1, 0, 0.13)), (3, (0.0, 0.03, 0.13))):
            parts.append(pipe([beam[i], beam[i] + np.array(d) * (1, s, 1)], [0.012, 0.003], horn, "leather"))
    return parts


def _pet(beast: Beast, back: Rgb, belly: Rgb, stripes: float, eye: float) -> Callable[[int], list[Part]]:
    def colour(p: Array, n: Array) -> Array:
        rgb = np.tile(np.array(back, np.float32), (len(p), 1)) * (1 + 0.3 * noise(p * 7))[:, None]
        high = max(s[1] for s in beast.trunk)
        rgb *= (1 - stripes * (np.sin(p[:, 0] * 95 + 3 * noise(p * 12)) > 0.2) * (p[:, 2] > high * 0.8))[
            :, None
        ]
        rgb = blend(rgb, np.clip((-n[:, 2] - 0.1) / 0.5, 0, 1) * 0.8 * (p[:, 2] > high * 0.4), belly)
        rgb = blend(rgb, np.clip((high * 0.3 - p[:, 2]) / 0.06, 0, 1) * 0.5, belly)
        return blend(rgb, np.clip((beast.along_head(p) - 0.93) / 0.05, 0, 1), DARK)

    return lambda seed: beast.parts(colour, seed) + beast.eyes(eye)


def _cow(brown: bool) -> Callable[[int], list[Part]]:
    def make(seed: int) -> list[Part]:
        def colour(p: Array, n: Array) -> Array:
            t = COW.along_head(p)
            dark: Rgb = (0.16, 0.06, 0.025) if brown else (0.014, 0.012, 0.011)
            patch = noise(p * (1.7, 1.3, 1.5), seed * 7 + 2) + 0.15 * noise(p * 9, seed)
            pale = (t > 0.2) | (p[:, 2] < 0.45) | (n[:, 2] < -0.6) if brown else patch > 0.03
            face = 1.0 * (t > 0.35) * (np.abs(p[:, 1]) < 0.06) * (not brown)
            rgb = np.tile(np.array(dark, np.float32), (len(p), 1)) * (1 + 0.2 * noise(p * 6))[:, None]
            rgb = blend(rgb, np.maximum(np.where((t > 0.1) & (not brown), 0, pale), face), (0.55, 0.5, 0.44))
            return blend(rgb, np.clip((t - 0.9) / 0.06, 0, 1), (0.16, 0.09, 0.075))

        udder = shell(
            Solid().add(ellipsoid((-0.42, 0, 0.66), (0.2, 0.15, 0.13))), (0.45, 0.24, 0.19), "skin", 0.012
        )
        return [*COW.parts(colour, seed), udder, *COW.eyes(0.028)]

    return make


def _sheep(face: Rgb) -> Callable[[int], list[Part]]:
    def make(seed: int) -> list[Part]:
        def colour(p: Array, n: Array) -> Array:
            wool = np.array((0.42, 0.37, 0.29), np.float32) * (1 + 0.25 * noise(p * 5, seed))[:, None]
            bare = np.maximum(1.0 * (SHEEP.along_head(p) > 0.12), np.clip((0.34 - p[:, 2]) / 0.04, 0, 1))
            return blend(wool, bare, face)

        return SHEEP.parts(colour, seed) + SHEEP.eyes(0.016)

    return make


def _horse(coat: Rgb, hair: Rgb, seed: int) -> list[Part]:
    def colour(p: Array, n: Array) -> Array:
        rgb = np.tile(np.array(coat, np.float32), (len(p), 1)) * (1 + 0.2 * noise(p * 4, seed))[:, None]
        rgb = blend(rgb, np.clip((0.5 - p[:, 2]) / 0.25, 0, 0.85), DARK)
        t = HORSE.along_head(p)
        blaze = (t > 0.15) & (t < 0.85) & (np.abs(p[:, 1]) < 0.028) & (n[:, 0] > 0.2)
        return blend(blend(rgb, blaze * 1.0, (0.5, 0.46, 0.42)), np.clip((t - 0.88) / 0.1, 0, 0.7), DARK)

    u = np.linspace(0, 1, 40)[:, None]
    crest = (
        np.array([0.36, 0, 1.5]) * (1 - u)
        + np.array([0.86, 0, 1.93]) * u
        + np.array([-0.06, 0, 0.08]) * 4 * u * (1 - u)
    )
    mane = bundle(crest, crest + np.array((-0.05, -0.11, -0.2)), 0.02, 900, hair, seed, 0.2)
    dock = np.array([[-0.92, 0, 1.28], [-0.96, 0, 1.2]])
    tail = [bundle(dock, dock + np.array((-0.07, 0, -0.42)), 0.035, 500, hair, seed, 0.1)]
    tail.append(
        bundle(
            dock + np.array((-0.06, 0, -0.34)),
            dock + np.array((-0.06, 0, -0.72)),
            0.05,
            500,
            hair,
            seed + 1,
            0.1,
        )
    )
    return [*HORSE.parts(colour, seed), *HORSE.eyes(0.024), mane, *tail]


def _tack() -> list[Part]:
    """Saddle, girth, bridle and reins."""
    leather: Rgb = (0.05, 0.022, 0.01)
    b = Solid().add(
        loft(
            [(-0.28, 0, 1.47), (-0.1, 0, 1.42), (0.12, 0, 1.43), (0.24, 0, 1.52)],
            [(0.05, 0.16), (0.055, 0.2), (0.05, 0.17), (0.04, 0.07)],
            front=(0, 0, 1),
        )
    )
    for y in (1, -1):
        b.add(
            loft(
                [(0.0, 0.2 * y, 1.4), (0.06, 0.285 * y, 1.15), (0.07, 0.28 * y, 0.98)],
                [(0.2, 0.025), (0.18, 0.025), (0.13, 0.02)],
            ),
            k=0.05,
        )
    parts = [shell(b, leather, "leather", 0.011)]
    girth = [(0.1, 0.275 * np.cos(a), 1.13 + 0.32 * np.sin(a)) for a in np.linspace(np.pi, 2 * np.pi, 24)]
    parts.append(pipe(girth, 0.02, leather, "leather"))
    for y in (1, -1):
        parts.append(
            pipe(
                [(1.26, 0.07 * y, 1.53), (0.8, 0.12 * y, 1.62), (0.3, 0.06 * y, 1.66)],
                0.008,
                leather,
                "leather",
            )
        )
        parts.append(
            pipe(
                [(1.27, 0.07 * y, 1.54), (1.08, 0.095 * y, 1.8), (0.93, 0.07 * y, 1.93)],
                0.01,
                leather,
                "leather",
            )
        )
        parts.append(pipe([(0.02, 0.29 * y, 1.2), (0.05, 0.33 * y, 0.77)], 0.01, (0.3, 0.3, 0.3), "metal"))
    return parts


def _boar(seed: int, young: bool) -> list[Part]:
    def colour(p: Array, n: Array) -> Array:
        dark: Rgb = (0.13, 0.075, 0.035) if young else (0.032, 0.025, 0.019)
        rgb = (
            np.tile(np.array(dark, np.float32), (len(p), 1))
            * (1 + 0.35 * noise(p * (5, 9, 9), seed))[:, None]
        )
        band = young & (np.sin(p[:, 2] * 62) > 0.35) & (p[:, 2] > 0.42) & (p[:, 0] < 0.4)
        rgb = blend(rgb, band * 0.85, (0.36, 0.25, 0.14))
        return blend(rgb, np.clip((BOAR.along_head(p) - 0.9) / 0.06, 0, 1), (0.06, 0.035, 0.03))

    return BOAR.parts(colour, seed) + BOAR.eyes(0.011)


PETS = {
    "labrador": _pet(DOG, (0.3, 0.18, 0.085), (0.42, 0.3, 0.18), 0, 0.013),
    "black": _pet(DOG, (0.014, 0.012, 0.011), (0.03, 0.024, 0.02), 0, 0.013),
    "tabby": _pet(CAT, (0.13, 0.085, 0.05), (0.36, 0.3, 0.24), 0.55, 0.008),
    "ginger": _pet(CAT, (0.36, 0.15, 0.045), (0.5, 0.4, 0.3), 0.3, 0.008),
}
CATTLE = {"holstein": _cow(False), "hereford": _cow(True)}
FLOCK = {"white": _sheep((0.4, 0.34, 0.28)), "blackface": _sheep((0.02, 0.018, 0.016))}


def deer(seed: int = 0, grazing: bool = False, antlers: bool = False) -> Objects:
    """A deer, crossing with its head up or grazing."""
    return build(_deer(seed, grazing, antlers))


def boars(seed: int = 0) -> Objects:
    """A wild boar and two striped young."""
    young = [
        moved(_boar(seed + i, True), turn((0, 0, a)) * 0.5, at)
        for i, a, at in ((1, 12, (-0.75, 0.5, 0)), (2, -8, (-0.9, -0.25, 0)))
    ]
    return build([*_boar(seed, False), *young[0], *young[1]])


def pet(seed: int = 0, kind: str = "labrador") -> Objects:
    """A dog or a cat."""
    return build(PETS[kind](seed))


def cows(seed: int = 0, kind: str = "holstein", count: int = 1) -> Objects:
    """A cow, or a few."""
    return build(_spread(CATTLE[kind], count, 1.5, seed))


def sheep(seed: int = 0, kind: str = "white", count: int = 6) -> Objects:
    """A flock of sheep."""
    return build(_spread(FLOCK[kind], count, 0.85, seed))


def birds(seed: int = 0, kind: str = "pigeon", count: int = 6, flying: bool = False) -> Objects:
    """Birds on the road, or taking off."""
    lift = (0.5, 1.6) if flying else (0.0, 0.0)
    return build(_spread(lambda s: bird(kind, flying, s), count, 0.55, seed, 40, lift))


def _spread(
    make: Callable[[int], list[Part]],
    count: int,
    gap: float,
    seed: int,
    swing: float = 14,
    lift: tuple[float, float] = (0, 0),
) -> list[Part]:
    """`count` of them, about `gap` metres apart across the way, each turned and built a little differently."""
    rng = np.random.default_rng(seed + 4)
    if count == 1:
        return make(seed)
    parts = []
    for i in range(count):
        row = i % 2
        at = (
            rng.normal(0, 0.25) + (row - 0.5) * gap * 1.9,
            (i // 2 - (count - 1) // 2 / 2) * gap + row * gap * 0.5,
            rng.uniform(*lift),
        )
        parts += moved(make(seed * 10 + i), turn((0, 0, rng.normal(0, swing))) * rng.uniform(0.92, 1.06), at)
    return parts


def horse(seed: int = 0, saddled: bool = True, rider: str | None = None) -> Objects:
    """A horse, loose or ridden."""
    parts = _horse((0.12, 0.05, 0.022), (0.012, 0.01, 0.009), seed)
    parts += _tack() if saddled or rider else []
    if rider:
        parts += person(ASTRIDE, OUTFITS[rider], seed, bare_head=False)[1]
    return build(parts)


FEW: dict = {"samples": 10}
CROSSING: dict = {**FEW, "azimuths": ACROSS}
MODELS = {
    "deer": Model(deer, {"doe": {}, "stag": {"antlers": True}, "grazing": {"grazing": True}}, **CROSSING),
    "dog": Model(pet, {"labrador": {}, "black": {"kind": "black"}}, **CROSSING, pixels=200),
    "cat": Model(pet, {"tabby": {"kind": "tabby"}, "ginger": {"kind": "ginger"}}, **CROSSING, pixels=120),
    "cow": Model(cows, {"holstein": {}, "hereford": {"kind": "hereford"}}, **FEW, pixels=320),
    "cattle": Model(
        cows,
        {"three": {"count": 3, "seed": 1, "kind": "hereford"}, "mixed": {"count": 3, "seed": 2}},
        **FEW,
        azimuths=ALONG,
        pixels=420,
    ),
    "sheep": Model(
        sheep, {"flock": {}, "blackface": {"kind": "blackface", "count": 4}}, **CROSSING, pixels=400
    ),
    "boar": Model(boars, {"family": {}}, **CROSSING, pixels=240),
    "horse": Model(horse, {"loose": {}}, **FEW, pixels=320),
    "horse_rider": Model(horse, {"a": {"rider": "rider"}}, **FEW, azimuths=AHEAD, pixels=330),
    "birds": Model(
        birds,
        {"pigeons": {}, "geese": {"kind": "goose", "count": 4}, "flying": {"flying": True, "count": 5}},
        **FEW,
        pixels=220,
    ),
}
