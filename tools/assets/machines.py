"""Site and farm machines, and trailers: excavator, road roller, tractor, car trailer, light-tower generator."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from common import ALONG, Model, Objects, blob, box, lathe, material, mesh, place, tube

YELLOW = (0.60, 0.30, 0.015)


def _slab(outline: list[tuple[float, float]], width: float, paint, y: float = 0.0, bevel: float = 0.03):
    """A plate of an (x, z) outline, `width` across y."""
    n = len(outline)
    verts = [(x, y + s * width / 2, z) for s in (-1, 1) for x, z in outline]
    faces: list = [tuple(range(n)), tuple(reversed(range(n, 2 * n)))]
    faces += [(i, n + i, n + (i + 1) % n, (i + 1) % n) for i in range(n)]
    made = mesh(verts, faces, paint, smooth=False)
    edge = made.modifiers.new("bevel", "BEVEL")
    edge.width, edge.segments = bevel, 2
    return made


def _wheel(
    radius: float, width: float, at: tuple[float, float, float], rubber, rim, lugs: int = 0
) -> Objects:
    w = width / 2
    profile = [
        (radius * 0.58, -w),
        (radius * 0.9, -w),
        (radius, -w * 0.75),
        (radius, w * 0.75),
        (radius * 0.9, w),
        (radius * 0.58, w),
    ]
    made = [
        lathe(profile, rubber, 48),
        lathe(
            [(0.0, w * 0.5), (radius * 0.2, w * 0.7), (radius * 0.5, w * 0.3), (radius * 0.6, w * 0.95)],
            rim,
            40,
        ),
    ]
    made.append(lathe([(radius * 0.6, -w * 0.95), (radius * 0.5, -w * 0.3), (0.0, -w * 0.3)], rim, 40))
    for i in range(lugs):
        for s in (1, -1):
            turn = 2 * math.pi * (i + 0.5 * (s > 0)) / lugs
            spot = (radius * 1.01 * math.cos(turn), radius * 1.01 * math.sin(turn), s * w * 0.45)
            made.append(
                box(
                    spot,
                    (radius * 0.07, radius * 0.09, w * 1.0),
                    rubber,
                    0.01,
                    rot=(s * 0.6, 0, turn),
                    segments=1,
                )
            )
    side = 1 if at[1] >= 0 else -1
    return [place(made, at, roll=-side * math.pi / 2)]


def _cab(low: tuple[float, float], high: tuple[float, float], width: float, y: float, frame, pane) -> Objects:
    """A glazed cab between (x, z) corners."""
    (x0, z0), (x1, z1) = low, high
    mid = (x0 + x1) / 2
    made = [box((mid, y, (z0 + z1) / 2), (x1 - x0 - 0.06, width - 0.06, z1 - z0 - 0.04), pane, 0.04)]
    made += [
        box((x, y + s * (width / 2 - 0.03), (z0 + z1) / 2), (0.07, 0.07, z1 - z0), frame, 0.015)
        for x in (x0 + 0.03, x1 - 0.03)
        for s in (1, -1)
    ]
    made.append(box((mid, y, z1), (x1 - x0 + 0.14, width + 0.1, 0.1), frame, 0.03))
    made.append(box((mid, y, z0 + 0.12), (x1 - x0 + 0.02, width + 0.02, 0.28), frame, 0.02))
    return made


def _beacon(at: tuple[float, float, float]) -> Objects:
    amber = material("beacon", (1.0, 0.28, 0.01), 0.2, emit=2.2)
    return [lathe([(0.06, -0.04), (0.07, 0.0), (0.065, 0.1), (0.0, 0.12)], amber, 24, center=at)]


def _paints():
    return {
        "yellow": material(
            "yellow", YELLOW, 0.45, coat=0.3, dark=tuple(c * 0.7 for c in YELLOW), vary_scale=1.5
        ),
        "dark": material("dark", (0.025, 0.025, 0.025), 0.6),
        "rubber": material("rubber", (0.022, 0.021, 0.02), 0.85, vary=0.4, vary_scale=6),
        "steel": material("steel", (0.30, 0.29, 0.27), 0.4, metal=0.8, vary=0.2),
        "pane": material("pane", (0.02, 0.024, 0.025), 0.06, spec=0.6),
        "mud": material("mud", (0.14, 0.10, 0.07), 0.95, dark=(0.05, 0.045, 0.04), vary_scale=5),
    }


def build_excavator(seed: int) -> Objects:
    """A tracked excavator, its arm folded in front of it, beacon lit."""
    p = _paints()
    made: Objects = []
    for s in (1, -1):
        track = [
            (-1.4, 0.12),
            (-1.6, 0.35),
            (-1.4, 0.62),
            (1.25, 0.62),
            (1.45, 0.35),
            (1.25, 0.12),
            (1.0, 0.02),
            (-1.15, 0.02),
        ]
        made.append(_slab(track, 0.44, p["mud"], s * 0.88, 0.06))
        made += [
            box((x, s * 0.88, z), (0.04, 0.48, 0.05), p["dark"], 0.01)
            for x in np.arange(-1.3, 1.3, 0.17)
            for z in (0.03, 0.63)
        ]
        made += [
            lathe(
                [(0.0, 0.01), (0.13, 0.01), (0.15, -0.02)],
                p["steel"],
                24,
                center=(x, s * 1.11, 0.3),
                rot=(-s * math.pi / 2, 0, 0),
            )
            for x in np.linspace(-1.05, 0.95, 5)
        ]
    made.append(box((0, 0, 0.55), (1.6, 1.3, 0.3), p["dark"], 0.04))
    made.append(
        _slab(
            [(-1.75, 0.82), (-1.85, 1.2), (-1.7, 1.75), (-0.55, 1.78), (-0.5, 1.2), (0.7, 1.15), (0.8, 0.82)],
            2.1,
            p["yellow"],
            0,
            0.08,
        )
    )
    made.append(box((-1.2, 0, 1.45), (0.5, 2.12, 0.3), p["dark"], 0.02))
    made += _cab((-0.45, 1.1), (0.75, 2.62), 0.95, 0.52, p["yellow"], p["pane"])
    boom = [
        (0.3, 1.15),
        (0.1, 1.45),
        (1.4, 2.55),
        (2.2, 2.72),
        (3.05, 2.0),
        (2.95, 1.85),
        (2.15, 2.42),
        (1.55, 2.28),
        (0.6, 1.15),
    ]
    made.append(_slab(boom, 0.3, p["yellow"], -0.25, 0.03))
    made.append(_slab([(2.85, 2.35), (3.2, 2.2), (2.75, 0.75), (2.6, 0.75)], 0.24, p["yellow"], -0.25, 0.03))
    made.append(
        _slab(
            [(2.85, 0.95), (2.5, 0.9), (1.95, 0.55), (1.9, 0.2), (2.3, 0.1), (2.75, 0.3)],
            0.8,
            p["steel"],
            -0.25,
            0.02,
        )
    )
    made += [
        box((1.86, -0.25 + y, 0.24), (0.14, 0.06, 0.05), p["steel"], 0.01) for y in (-0.33, -0.11, 0.11, 0.33)
    ]
    made.append(tube([(0.9, -0.25, 1.25), (1.6, -0.25, 2.25)], 0.06, p["steel"]))
    made.append(tube([(1.7, -0.25, 2.75), (2.9, -0.25, 2.42)], 0.055, p["steel"]))
    return [*made, *_beacon((-0.1, 0.3, 2.72))]


def build_roller(seed: int) -> Objects:
    """A tandem road roller with steel drums and an open canopy."""
    p = _paints()
    made: Objects = []
    for x in (-1.05, 1.05):
        made.append(
            lathe(
                [(0.0, -0.72), (0.54, -0.72), (0.56, -0.70), (0.56, 0.70), (0.54, 0.72), (0.0, 0.72)],
                p["steel"],
                64,
                center=(x, 0, 0.56),
                rot=(math.pi / 2, 0, 0),
            )
        )
        made += [
            _slab(
                [
                    (x - 0.45, 0.9),
                    (x - 0.12, 0.45),
                    (x + 0.12, 0.45),
                    (x + 0.45, 0.9),
                    (x + 0.5, 1.2),
                    (x - 0.5, 1.2),
                ],
                0.05,
                p["yellow"],
                s * 0.76,
                0.01,
            )
            for s in (1, -1)
        ]
    made.append(
        _slab(
            [
                (-1.6, 1.12),
                (-1.6, 1.45),
                (-0.6, 1.55),
                (-0.5, 0.85),
                (0.5, 0.85),
                (0.55, 1.5),
                (1.6, 1.42),
                (1.6, 1.12),
                (0.5, 0.6),
                (-0.5, 0.6),
            ],
            1.3,
            p["yellow"],
            0,
            0.05,
        )
    )
    made += [
        tube([(x, s * 0.6, 1.2), (x, s * 0.6, 2.5)], 0.035, p["dark"]) for x in (-0.62, 0.62) for s in (1, -1)
    ]
    made.append(box((0, 0, 2.52), (1.6, 1.45, 0.09), p["yellow"], 0.03))
    made.append(
        blob(
            [
                ((-0.3, 0, 1.05), 0.22, (-0.3, 0, 1.15), 0.2, (1, 1.1, 0.6)),
                ((-0.48, 0, 1.2), 0.12, (-0.52, 0, 1.55), 0.12, (0.6, 1.7, 1)),
            ],
            p["dark"],
            0.02,
            3,
        )
    )
    made.append(
        tube(
            [(0.3, 0.17 * math.cos(a), 1.5 + 0.17 * math.sin(a)) for a in np.linspace(0, 6.28, 20)],
            0.014,
            p["dark"],
        )
    )
    made.append(tube([(0.5, 0, 1.3), (0.3, 0, 1.5)], 0.03, p["dark"]))
    return [*made, *_beacon((0.3, 0, 2.58))]


def build_tractor(seed: int, color: tuple[float, float, float] = (0.03, 0.16, 0.035)) -> Objects:
    """A farm tractor seen on a road, beacon lit."""
    p = _paints()
    paint = material("tractor", color, 0.35, coat=0.6, vary=0.1)
    rim = material("rim", (0.55, 0.42, 0.03), 0.5)
    made = [
        _slab(
            [(0.1, 0.75), (0.1, 1.55), (0.5, 1.62), (1.85, 1.45), (2.0, 1.2), (1.95, 0.75)],
            0.72,
            paint,
            0,
            0.06,
        )
    ]
    made.append(box((1.99, 0, 1.1), (0.05, 0.55, 0.6), p["dark"], 0.02))
    made.append(box((0.5, 0, 0.7), (2.8, 0.5, 0.35), p["dark"], 0.04))
    made += _cab((-1.05, 1.15), (0.25, 2.65), 1.25, 0.0, paint, p["pane"])
    for s in (1, -1):
        made += _wheel(0.82, 0.5, (-0.75, s * 0.85, 0.82), p["rubber"], rim, 20)
        made += _wheel(0.55, 0.36, (1.35, s * 0.75, 0.55), p["rubber"], rim, 16)
        arc = [(-0.75 + 0.92 * math.cos(a), 0.82 + 0.92 * math.sin(a)) for a in np.linspace(0.35, 2.6, 10)]
        inner = [(-0.75 + 0.86 * math.cos(a), 0.82 + 0.86 * math.sin(a)) for a in np.linspace(2.6, 0.35, 10)]
        made.append(_slab(arc + inner, 0.5, paint, s * 0.82, 0.01))
        made.append(
            box(
                (-1.62, s * 0.85, 1.35),
                (0.05, 0.16, 0.1),
                material("tail", (0.6, 0.01, 0.01), 0.3, emit=0.8),
                0.01,
            )
        )
        made.append(
            box(
                (2.0, s * 0.2, 1.32),
                (0.04, 0.16, 0.09),
                material("lamp", (0.9, 0.9, 0.85), 0.2, emit=1.5),
                0.01,
            )
        )
    made.append(tube([(0.75, 0.3, 1.5), (0.75, 0.3, 2.35)], 0.045, p["steel"]))
    made.append(box((-1.5, 0, 0.75), (0.5, 0.7, 0.12), p["dark"], 0.02))
    return [*made, *_beacon((-0.9, 0.45, 2.75))]


def build_trailer(seed: int) -> Objects:
    """A loose single-axle trailer, nose down on its drawbar, under a grey cover."""
    p = _paints()
    zinc = material("zinc", (0.42, 0.43, 0.44), 0.45, metal=0.6, vary=0.15)
    cover = material("cover", (0.10, 0.12, 0.15), 0.75, vary=0.15, vary_scale=3, bump=0.2, bump_scale=6)
    red = material("tail", (0.5, 0.01, 0.01), 0.25, emit=0.4)
    body = [
        box((0, 0, 0.72), (2.2, 1.35, 0.4), zinc, 0.015),
        box((0, 0, 1.1), (2.18, 1.33, 0.42), cover, 0.09, segments=3),
    ]
    body += [box((x, 0, 0.72), (0.03, 1.38, 0.4), zinc, 0.005) for x in np.linspace(-1.0, 1.0, 6)]
    body += [tube([(1.1, s * 0.45, 0.52), (1.95, 0, 0.50)], 0.035, zinc) for s in (1, -1)]
    body.append(blob([((1.95, 0, 0.5), 0.06, (2.1, 0, 0.49), 0.05)], p["dark"], 0.012, 2))
    for s in (1, -1):
        body += _wheel(0.3, 0.18, (-0.1, s * 0.8, 0.3), p["rubber"], zinc)
        body.append(box((-0.1, s * 0.8, 0.68), (0.72, 0.22, 0.05), p["dark"], 0.02))
        body.append(box((-1.12, s * 0.55, 0.6), (0.03, 0.22, 0.1), red, 0.01))
    return [place(body, (0.0, 0, 0.015), Random(seed).uniform(-0.1, 0.1), pitch=0.09)]


def build_light_tower(seed: int) -> Objects:
    """A generator trailer with a folded light mast, lamps lit."""
    p = _paints()
    lamp = material("floodlight", (1.0, 0.95, 0.85), 0.2, emit=12.0)
    made = [
        box((-0.2, 0, 0.88), (1.9, 1.15, 0.85), p["yellow"], 0.07, segments=3),
        box((-0.2, 0, 0.42), (2.0, 1.2, 0.12), p["dark"], 0.02),
    ]
    made += [
        box((-0.75 + 0.13 * i, s * 0.58, 0.95), (0.06, 0.012, 0.4), p["dark"], 0.0)
        for i in range(5)
        for s in (1, -1)
    ]
    made.append(box((0.3, 0.58, 0.95), (0.5, 0.012, 0.5), p["dark"], 0.01))
    made += [tube([(0.75, s * 0.4, 0.42), (1.45, 0, 0.42)], 0.04, p["dark"]) for s in (1, -1)]
    made.append(tube([(1.25, 0, 0.42), (1.25, 0, 0.02)], 0.035, p["steel"]))
    for s in (1, -1):
        made += _wheel(0.31, 0.19, (-0.25, s * 0.68, 0.31), p["rubber"], p["steel"])
        made += [tube([(x, s * 0.55, 0.42), (x, s * 0.78, 0.05)], 0.03, p["steel"]) for x in (-1.1, 0.7)]
    made.append(tube([(-0.95, 0, 1.3), (-0.95, 0, 1.75)], 0.06, p["steel"]))
    made.append(box((-0.95, 0, 1.62), (0.08, 1.3, 0.06), p["dark"], 0.01))
    for y in (-0.48, -0.16, 0.16, 0.48):
        made.append(box((-1.0, y, 1.68), (0.12, 0.27, 0.22), p["dark"], 0.02))
        made.append(box((-1.065, y, 1.68), (0.01, 0.23, 0.18), lamp, 0.0))
    return made


MACHINE = {"symmetry": "none", "pixels": 280, "samples": 12}
MODELS = {
    "excavator": Model(build_excavator, {"a": {}}, **MACHINE, azimuths=ALONG),
    "road_roller": Model(build_roller, {"a": {}}, **{**MACHINE, "symmetry": "mirror"}),
    "tractor": Model(build_tractor, {"green": {}}, **{**MACHINE, "symmetry": "mirror"}),
    "trailer": Model(build_trailer, {"a": {}}, **{**MACHINE, "pixels": 230}, azimuths=ALONG),
    "generator_trailer": Model(
        build_light_tower, {"a": {}}, **{**MACHINE, "symmetry": "mirror", "pixels": 230}
    ),
}
