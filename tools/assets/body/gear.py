"""What people wear on top or carry: bags, hats, helmets, vests, signs, tools."""

from collections.abc import Callable

import numpy as np
from body.clothes import Cut, top
from body.parts import Part, Rgb, blend, paint, pipe, shell
from body.sdf import Solid, cone, ellipsoid, frame, loft
from body.skeleton import Skeleton

# Fluorescent cloth gives back more light than falls on it in its own colour.
LIME: Rgb = (0.66, 0.92, 0.05)
ORANGE: Rgb = (1.0, 0.27, 0.03)
SILVER: Rgb = (0.85, 0.87, 0.88)


def backpack(s: Skeleton, rgb: Rgb = (0.06, 0.16, 0.2), trim: Rgb = (0.5, 0.13, 0.03)) -> list[Part]:
    """A rucksack with a front pocket and two shoulder straps."""
    k, c = s.k, s.c
    at = lambda x, y, z: s.chest + c @ (np.array([x, y, z]) * k)  # noqa: E731
    b = Solid().add(
        loft(
            [at(-0.2, 0, -0.17), at(-0.205, 0, -0.05), at(-0.19, 0, 0.12), at(-0.165, 0, 0.19)],
            [(0.07 * k, 0.135 * k), (0.085 * k, 0.145 * k), (0.07 * k, 0.13 * k), (0.03 * k, 0.08 * k)],
            c[:, 0],
            3.2,
        )
    )
    b.add(
        loft(
            [at(-0.28, 0, -0.14), at(-0.285, 0, -0.06), at(-0.275, 0, 0.0)],
            [(0.035 * k, 0.1 * k), (0.04 * k, 0.11 * k), (0.025 * k, 0.1 * k)],
            c[:, 0],
            3.2,
        ),
        k=0.01 * k,
    )
    v, f = b.mesh(0.007)
    q = (v - s.chest) @ c / k
    seam = ((np.abs(q[:, 2] - 0.005) < 0.008) & (q[:, 0] < -0.25)) | (np.abs(q[:, 2] - 0.11) < 0.006)
    bag = Part(v, f, blend(paint(v, rgb, 0.1), seam * 0.9, trim), "cloth")
    straps = Solid()
    for y in (1, -1):
        path = [
            at(-0.14, 0.085 * y, 0.17),
            at(-0.02, 0.1 * y, 0.222),
            at(0.1, 0.105 * y, 0.16),
            at(0.148, 0.12 * y, 0.04),
            at(0.08, 0.185 * y, -0.1),
            at(-0.13, 0.14 * y, -0.13),
        ]
        straps.add(loft(path, [(0.024 * k, 0.028 * k)] * 6, front=c[:, 0]), k=0.004)
    return [bag, shell(straps, tuple(np.array(rgb) * 0.7), "cloth", 0.006)]


def shoulder_bag(s: Skeleton, rgb: Rgb = (0.16, 0.075, 0.03)) -> list[Part]:
    """A leather bag at the right hip on a strap over the right shoulder."""
    k = s.k
    shoulder = s.arms[-1].root + s.c @ (np.array([0, 0.035, 0.055]) * k)
    bag = s.pelvis + s.p @ (np.array([-0.02, -0.25, 0.0]) * k)
    b = Solid().add(
        loft(
            [np.add(bag, (0, 0, -0.13 * k)), bag, np.add(bag, (0, 0, 0.1 * k))],
            [(0.15 * k, 0.05 * k), (0.15 * k, 0.06 * k), (0.12 * k, 0.02 * k)],
            s.p[:, 0],
            3.5,
        )
    )
    for x in (0.1, -0.1):
        b.add(
            cone(
                bag + s.p @ (np.array([x, 0.0, 0.08]) * k),
                0.009 * k,
                shoulder + s.c @ (np.array([x * 0.5, 0, 0]) * k),
                0.009 * k,
            ),
            k=0.01,
        )
    b.add(
        cone(
            shoulder + s.c @ (np.array([0.05, 0, 0]) * k),
            0.009 * k,
            shoulder - s.c @ (np.array([0.05, 0, 0]) * k),
            0.009 * k,
        )
    )
    return [shell(b, rgb, "leather", 0.006)]


def cap(s: Skeleton, rgb: Rgb = (0.04, 0.05, 0.09), brim: bool = True) -> list[Part]:
    """A baseball cap, or (no brim) a woollen hat."""
    k, m = s.head_k, s.h.T
    at = lambda x, y, z: s.head + (np.array([x, y, z]) * k) @ m  # noqa: E731
    b = Solid().add(ellipsoid(at(-0.012, 0, 0.04), np.array([0.108, 0.088, 0.088]) * k, m))
    b.clip(at(0, 0, 0.035 if brim else 0.025), -s.h[:, 2] + s.h[:, 0] * 0.12)
    if brim:
        b.add(
            ellipsoid(
                at(0.11, 0, 0.04),
                np.array([0.075, 0.075, 0.008]) * k,
                frame(s.h @ np.array([0.25, 0, 1.0]), s.h[:, 0]),
            ),
            k=0.008 * k,
        )
    else:
        b.add(loft([at(0, 0, 0.02), at(-0.004, 0, 0.055)], [(0.112 * k, 0.092 * k)] * 2, s.h[:, 0]), k=0.008)
    return [shell(b, rgb, "cloth", 0.005)]


def helmet(s: Skeleton, rgb: Rgb = (0.6, 0.6, 0.58), trim: Rgb = (0.03, 0.03, 0.035)) -> list[Part]:
    """A bicycle helmet with vents and chin straps."""
    k, m = s.head_k, s.h.T
    at = lambda x, y, z: s.head + (np.array([x, y, z]) * k) @ m  # noqa: E731
    b = Solid().add(ellipsoid(at(-0.02, 0, 0.05), np.array([0.135, 0.1, 0.098]) * k, m))
    b.add(ellipsoid(at(-0.09, 0, 0.05), np.array([0.075, 0.075, 0.06]) * k, m), k=0.03 * k)
    b.cut(ellipsoid(at(-0.012, 0, 0.03), np.array([0.108, 0.087, 0.093]) * k, m))
    b.clip(at(0.0, 0, 0.045), s.h @ np.array([0.22, 0, -1.0]), k=0.01)
    for y, z in ((0, 0.155), (0.04, 0.145), (-0.04, 0.145), (0.078, 0.115), (-0.078, 0.115)):
        front = at(0.075, y * 0.75, z - 0.028)
        b.cut(
            cone(front, 0.011 * k, at(-0.02, y, z), 0.013 * k),
            cone(at(-0.055, y, z - 0.006), 0.012 * k, at(-0.13, y * 0.7, z - 0.055), 0.012 * k),
            k=0.01 * k,
        )
    v, f = b.mesh(0.005)
    low = ((v - s.head) @ s.h)[:, 2] < 0.062 * k
    shell_ = Part(v, f, blend(paint(v, rgb, 0.03), low * 1.0, trim), "gloss")
    straps = [
        pipe(
            [at(0.045, 0.078 * y, 0.06), at(0.02, 0.076 * y, -0.05), at(0.035, 0.0, -0.125)],
            0.006 * k,
            trim,
            "cloth",
        )
        for y in (1, -1)
    ]
    return [shell_, *straps]


def vest(s: Skeleton, rgb: Rgb = LIME, woman: bool = False) -> list[Part]:
    """A high-visibility vest with two hoops and two braces that shine."""
    v, f = top(s, rgb, Cut(0.034, -0.13, sleeve=0.07, fold=0.007), woman, 3)[:2]
    q = (v - s.chest) @ s.c / s.k
    low = (v - s.pelvis) @ s.p / s.k
    hoops = (np.abs(low[:, 2] - 0.02) < 0.027) | (np.abs(low[:, 2] - 0.15) < 0.027)
    braces = (np.abs(np.abs(q[:, 1]) - 0.1) < 0.027) & (low[:, 2] > 0.15)
    front = (np.abs(q[:, 1]) < 0.006) & (q[:, 0] > 0)
    rgbs = blend(paint(v, rgb, 0.06), (hoops | braces) * 1.0, SILVER)
    return [Part(v, f, blend(rgbs, front * 0.8, (0.05, 0.05, 0.05)), "cloth")]


def banded(trousers: Part, s: Skeleton, bands: int) -> Part:
    """Trousers with so many reflective bands round each shin."""
    on = np.zeros(len(trousers.v), bool)
    for leg in s.legs.values():
        shin = leg.end - leg.mid
        along = (trousers.v - leg.mid) @ shin / (shin @ shin)
        away = np.linalg.norm(trousers.v - leg.mid - along[:, None] * shin, axis=1)
        for i in range(bands):
            on |= (away < 0.13 * s.k) & (np.abs(along - 0.2 - 0.32 * i) < 0.065)
    return trousers._replace(rgb=blend(trousers.rgb, on * 1.0, SILVER))


def hard_hat(s: Skeleton, rgb: Rgb = (0.85, 0.55, 0.03)) -> list[Part]:
    """A builder's helmet with a peak and ribs."""
    k, m = s.head_k, s.h.T
    at = lambda x, y, z: s.head + (np.array([x, y, z]) * k) @ m  # noqa: E731
    b = Solid().add(ellipsoid(at(-0.01, 0, 0.055), np.array([0.128, 0.105, 0.105]) * k, m))
    for y in (0.0, 0.035, -0.035):
        b.add(ellipsoid(at(-0.01, y, 0.062), np.array([0.125, 0.012, 0.108]) * k, m), k=0.008 * k)
    b.clip(at(0, 0, 0.05), -s.h[:, 2])
    b.add(ellipsoid(at(0.02, 0, 0.052), np.array([0.155, 0.118, 0.009]) * k, m), k=0.008 * k)
    return [shell(b, rgb, "gloss", 0.005)]


def peaked_cap(s: Skeleton, rgb: Rgb = (0.012, 0.014, 0.028)) -> list[Part]:
    """A police cap: flat top, chequered band, shining peak."""
    k, m = s.head_k, s.h.T
    at = lambda x, y, z: s.head + (np.array([x, y, z]) * k) @ m  # noqa: E731
    crown = [at(-0.012, 0, 0.035), at(-0.012, 0, 0.075), at(-0.005, 0, 0.105), at(-0.002, 0, 0.13)]
    b = Solid().add(
        loft(
            crown,
            [(0.107 * k, 0.087 * k), (0.108 * k, 0.088 * k), (0.138 * k, 0.125 * k), (0.125 * k, 0.112 * k)],
            s.h[:, 0],
        )
    )
    v, f = b.mesh(0.005)
    q = (v - s.head) @ s.h / k
    angle = np.arctan2(q[:, 1], q[:, 0] + 0.012)
    check = (np.sin(angle * 16) * np.sign(q[:, 2] - 0.056) > 0) & (q[:, 2] > 0.038) & (q[:, 2] < 0.074)
    peak = ellipsoid(
        at(0.1, 0, 0.034),
        np.array([0.062, 0.07, 0.008]) * k,
        frame(s.h @ np.array([0.45, 0, 1.0]), s.h[:, 0]),
    )
    return [
        Part(v, f, blend(paint(v, rgb, 0.05), check * 1.0, (0.6, 0.6, 0.6)), "cloth"),
        shell(Solid().add(peak), (0.01, 0.01, 0.012), "gloss", 0.005),
    ]


def full_helmet(s: Skeleton, rgb: Rgb = (0.6, 0.6, 0.58), stripe: Rgb = (0.5, 0.02, 0.02)) -> list[Part]:
    """A motorcycle helmet with a dark visor."""
    k, m = s.head_k, s.h.T
    at = lambda x, y, z: s.head + (np.array([x, y, z]) * k) @ m  # noqa: E731
    b = Solid().add(ellipsoid(at(-0.01, 0, 0.03), np.array([0.138, 0.118, 0.125]) * k, m))
    b.add(ellipsoid(at(0.06, 0, -0.07), np.array([0.085, 0.085, 0.055]) * k, m), k=0.05 * k)
    b.clip(at(0, 0, -0.105), -s.h[:, 2], k=0.02)
    v, f = b.mesh(0.006)
    q = (v - s.head) @ s.h / k
    visor = (q[:, 0] > 0.02) & (q[:, 2] > -0.035) & (q[:, 2] < 0.05)
    trim = (np.abs(np.abs(q[:, 1]) - 0.04) < 0.018) & (q[:, 2] > 0.05)
    trim |= np.abs(q[:, 2] + 0.06) < 0.016
    rgbs = blend(paint(v, rgb, 0.03), trim * 1.0, stripe)
    return [Part(v, f, blend(rgbs, visor * 1.0, (0.01, 0.01, 0.012)), "gloss")]


GEAR: dict[str, Callable[..., list[Part]]] = {
    "backpack": backpack,
    "shoulder_bag": shoulder_bag,
    "cap": cap,
    "helmet": helmet,
    "full_helmet": full_helmet,
    "vest": vest,
    "hard_hat": hard_hat,
    "peaked_cap": peaked_cap,
}


def gear(s: Skeleton, name: str, **options) -> list[Part]:
    """A thing worn or carried, by name."""
    return GEAR[name](s, **options)
