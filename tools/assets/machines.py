"""Site and farm machines: road roller, tractor; the cab, lamps and paints that other machines share."""

from __future__ import annotations

import math

import numpy as np
from common import Color, Model, Objects, blob, box, lathe, material, mesh, place, tube
from fittings import chevrons, clear_pane, grime, lettering, louvres, occupant, sheet

YELLOW = (0.60, 0.30, 0.015)


def slab(outline: list[tuple[float, float]], width: float, paint, y: float = 0.0, bevel: float = 0.03):
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


def cab(
    low: tuple[float, float], high: tuple[float, float], width: float, y: float, frame, lean: float = 0.06
) -> Objects:
    """A glazed cab between (x, z) corners: pillars, panes all around, a seat and its driver inside."""
    (x0, z0), (x1, z1) = low, high
    mid, half = (x0 + x1) / 2, width / 2
    pane, seal = clear_pane(), material("seal", (0.012, 0.012, 0.012), 0.6)
    cloth = material("seat", (0.02, 0.02, 0.022), 0.8)
    made: Objects = []
    for s in (1, -1):
        side = [(x0 + 0.03, z0), (x1 - 0.03, z0), (x1 - 0.03 - lean, z1), (x0 + 0.03 + lean, z1)]
        made.append(sheet(side, pane, y + s * (half - 0.02)))
        for a, b in ((x0 + 0.03, lean), (x1 - 0.03, -lean), (mid - 0.1, 0.0)):
            thick = 0.045 if b else 0.025
            made.append(
                tube(
                    [(a, y + s * (half - 0.03), z0), (a + b, y + s * (half - 0.03), z1)],
                    thick,
                    frame if b else seal,
                )
            )
    for x, tip in ((x0 + 0.02, x0 + 0.02 + lean), (x1 - 0.02, x1 - 0.02 - lean)):
        corners = [
            (x, y - half + 0.04, z0),
            (x, y + half - 0.04, z0),
            (tip, y + half - 0.04, z1),
            (tip, y - half + 0.04, z1),
        ]
        made.append(mesh(corners, [(0, 1, 2, 3)], pane, smooth=False))
        made.append(tube(corners, 0.022, seal, cyclic=True))
    made.append(box((mid, y, z1 + 0.02), (x1 - x0 + 0.10, width + 0.08, 0.10), frame, 0.045, segments=3))
    made.append(box((mid, y, z1 - 0.04), (x1 - x0 - 0.10, width - 0.06, 0.04), seal, 0.01))
    made.append(box((mid, y, z0 + 0.10), (x1 - x0, width, 0.22), frame, 0.03))
    made += [
        box((mid - 0.12, y, z0 + 0.3), (0.45, 0.48, 0.14), cloth, 0.05),
        box((mid - 0.33, y, z0 + 0.66), (0.12, 0.46, 0.7), cloth, 0.05),
    ]
    made += [tube([(x1 - 0.22, y, z0 + 0.2), (x1 - 0.3, y, z0 + 0.62)], 0.03, seal)]
    made.append(
        tube(
            [
                (x1 - 0.32, y + 0.17 * math.cos(a), z0 + 0.66 + 0.17 * math.sin(a))
                for a in np.linspace(0, 6.28, 20)
            ],
            0.014,
            seal,
        )
    )
    return [*made, *occupant(mid - 0.12, y, z0 + 0.36, (0.55, 0.22, 0.02))]


def beacon(at: tuple[float, float, float]) -> Objects:
    amber = material("beacon", (1.0, 0.24, 0.008), 0.15, emit=1.8, coat=1.0)
    foot = material("beacon foot", (0.015, 0.015, 0.015), 0.5)
    x, y, z = at
    return [
        lathe([(0.055, 0.0), (0.06, 0.03), (0.055, 0.11), (0.0, 0.125)], amber, 24, center=at),
        lathe([(0.0, 0.0), (0.07, 0.0), (0.075, -0.05)], foot, 24, center=(x, y, z)),
    ]


def work_lamp(at: tuple[float, float, float], e: int) -> Objects:
    """A small work lamp facing forward (e = 1) or back (-1)."""
    x, y, z = at
    black = material("lamp body", (0.012, 0.012, 0.012), 0.5)
    clear = material("lamp glass", (0.50, 0.50, 0.50), 0.1, coat=1.0)
    return [
        box(at, (0.07, 0.13, 0.09), black, 0.02),
        box((x + e * 0.035, y, z), (0.012, 0.11, 0.07), clear, 0.004),
    ]


def paints(top: float = 1.3):
    """The machine's materials; mud reaches up to `top` metres."""
    yellow = material("yellow", YELLOW, 0.38, coat=0.5, dark=tuple(c * 0.8 for c in YELLOW), vary_scale=1.5)
    return {
        "yellow": grime(yellow, top, 0.7),
        "dark": grime(material("dark", (0.020, 0.020, 0.020), 0.6), top, 0.5),
        "black": material("black", (0.008, 0.008, 0.008), 0.9, spec=0.1),
        "rubber": grime(material("rubber", (0.020, 0.019, 0.018), 0.85, vary=0.4, vary_scale=6), 1.6, 0.55),
        "steel": grime(material("steel", (0.30, 0.29, 0.27), 0.4, metal=0.8, vary=0.2), 0.6, 0.5),
        "chrome": material("ram", (0.6, 0.6, 0.6), 0.15, metal=1.0),
        "mud": material(
            "mud", (0.12, 0.09, 0.065), 0.95, dark=(0.04, 0.037, 0.033), vary_scale=5, bump=0.5, bump_scale=14
        ),
    }


def build_roller(seed: int) -> Objects:
    """A tandem road roller with steel drums, an open canopy and its operator."""
    p = paints(1.1)
    drum = material("drum", (0.20, 0.19, 0.18), 0.38, metal=0.7, vary=0.35, vary_scale=4)
    made: Objects = []
    for x in (-1.05, 1.05):
        e = 1 if x > 0 else -1
        tread = [
            (0.0, -0.66),
            (0.44, -0.66),
            (0.46, -0.72),
            (0.55, -0.72),
            (0.56, -0.70),
            (0.56, 0.70),
            (0.55, 0.72),
            (0.46, 0.72),
            (0.44, 0.66),
            (0.0, 0.66),
        ]
        made.append(lathe(tread, drum, 64, center=(x, 0, 0.56), rot=(math.pi / 2, 0, 0)))
        made.append(box((x + e * 0.56, 0, 0.66), (0.05, 1.4, 0.07), p["dark"], 0.015))
        for s in (1, -1):
            yoke = [
                (x - 0.45, 0.95),
                (x - 0.14, 0.42),
                (x + 0.14, 0.42),
                (x + 0.45, 0.95),
                (x + 0.52, 1.2),
                (x - 0.52, 1.2),
            ]
            made.append(slab(yoke, 0.05, p["yellow"], s * 0.77, 0.01))
            hub = [(0.0, 0.05), (0.08, 0.045), (0.13, 0.02), (0.14, -0.02)]
            made.append(lathe(hub, p["dark"], 24, center=(x, s * 0.79, 0.56), rot=(-s * math.pi / 2, 0, 0)))
    body = [
        (-1.62, 1.10),
        (-1.64, 1.38),
        (-1.52, 1.5),
        (-0.6, 1.58),
        (-0.5, 0.85),
        (0.5, 0.85),
        (0.55, 1.5),
        (1.5, 1.46),
        (1.62, 1.36),
        (1.62, 1.10),
        (0.5, 0.6),
        (-0.5, 0.6),
    ]
    made.append(slab(body, 1.3, p["yellow"], 0, 0.06))
    return [*made, *_roller_ends(p), *_roller_deck(p)]


def _roller_ends(p: dict) -> Objects:
    """Grille, lamps, stripes, reflectors and name at both ends."""
    red = material("tail", (0.4, 0.01, 0.008), 0.12, coat=1.0, emit=0.2)
    stripes = (
        material("stripe black", (0.012, 0.012, 0.012), 0.5),
        material("stripe yellow", (0.70, 0.45, 0.02), 0.4, coat=0.4),
    )
    made: Objects = louvres((-1.655, 0, 1.36), 0.62, 0.14, 4, p["dark"], p["black"], "y")
    made += chevrons(0.0, 0.64, 1.17, 0.10, -1.66, stripes)
    made.append(lettering("OVATAVO", (1.655, 0, 1.22), 0.12, p["black"], "front"))
    for s, side in ((1, "left"), (-1, "right")):
        made += louvres((-1.05, s * 0.655, 1.38), 0.6, 0.16, 4, p["yellow"], p["black"])
        made += [box((x, s * 0.653, 1.36), (0.010, 0.006, 0.3), p["black"], 0.0) for x in (-1.42, -0.68)]
        made.append(lettering("OVATAVO", (1.05, s * 0.655, 1.32), 0.12, p["black"], side))
        made += [*work_lamp((1.63, s * 0.5, 1.42), 1), *work_lamp((-1.60, s * 0.56, 1.58), -1)]
        made += [
            box((-1.66, s * 0.5, 1.35), (0.04, 0.14, 0.09), p["black"], 0.015),
            box((-1.68, s * 0.5, 1.35), (0.02, 0.11, 0.06), red, 0.008),
        ]
    return made


def _roller_deck(p: dict) -> Objects:
    """The driver's place: seat, wheel, rails, posts and canopy, beacon."""
    made: Objects = []
    for s in (1, -1):
        made += [tube([(x, s * 0.6, 1.2), (x, s * 0.6, 2.5)], 0.04, p["dark"]) for x in (-0.62, 0.62)]
        made.append(tube([(-0.62, s * 0.62, 1.75), (0.62, s * 0.62, 1.75)], 0.018, p["dark"]))
        made.append(tube([(-0.62, s * 0.6, 2.3), (-0.4, s * 0.6, 2.5)], 0.025, p["dark"]))
    made += [
        box((0, 0, 2.53), (1.65, 1.46, 0.08), p["yellow"], 0.035, segments=3),
        box((0, 0, 2.47), (1.5, 1.3, 0.04), p["black"], 0.01),
    ]
    cushion = ((-0.3, 0, 1.05), 0.22, (-0.3, 0, 1.15), 0.2, (1, 1.1, 0.6))
    back = ((-0.48, 0, 1.2), 0.12, (-0.52, 0, 1.55), 0.12, (0.6, 1.7, 1))
    made.append(blob([cushion, back], p["dark"], 0.02, 3))
    made += [
        *occupant(-0.28, 0.0, 1.2, (0.60, 0.24, 0.01), (0.60, 0.58, 0.52)),
        tube([(0.5, 0, 1.3), (0.3, 0, 1.5)], 0.03, p["dark"]),
    ]
    rim = [(0.28, 0.17 * math.cos(a), 1.52 + 0.17 * math.sin(a)) for a in np.linspace(0, 6.28, 20)]
    return [*made, tube(rim, 0.014, p["dark"]), *beacon((0.3, 0, 2.62))]


def build_tractor(seed: int, color: Color = (0.022, 0.13, 0.028)) -> Objects:
    """A farm tractor seen on a road, its driver in the cab, beacon lit."""
    p = paints(1.6)
    look = material("tractor", color, 0.32, coat=0.8, vary=0.06)
    paint, rim = grime(look, 1.7, 0.6), grime(material("rim", (0.55, 0.40, 0.03), 0.4, coat=0.3), 1.6, 0.6)
    hood = [(0.1, 0.80), (0.1, 1.55), (0.5, 1.62), (1.75, 1.47), (1.96, 1.3), (2.0, 1.1), (1.95, 0.80)]
    made: Objects = [
        slab(hood, 0.70, paint, 0, 0.07),
        box((1.99, 0, 1.08), (0.05, 0.5, 0.46), p["black"], 0.03),
    ]
    made += [
        box((0.5, 0, 0.7), (2.8, 0.46, 0.32), p["dark"], 0.04),
        box((2.08, 0, 0.75), (0.3, 0.7, 0.26), p["dark"], 0.05),
    ]
    made += cab((-1.05, 1.22), (0.25, 2.62), 1.32, 0.0, paint, 0.10)
    made += [box((-0.75, s * 0.45, 1.1), (0.8, 0.3, 0.5), p["black"], 0.05) for s in (1, -1)]
    for s, side in ((1, "left"), (-1, "right")):
        made += louvres((1.1, s * 0.353, 1.2), 0.8, 0.3, 6, p["dark"], p["black"])
        made.append(
            lettering("KORVA", (0.95, s * 0.354, 1.47), 0.1, material("name", (0.6, 0.5, 0.05), 0.4), side)
        )
        made += _wheel(0.82, 0.5, (-0.75, s * 0.85, 0.82), p["rubber"], rim, 20)
        made += _wheel(0.55, 0.36, (1.35, s * 0.75, 0.55), p["rubber"], rim, 16)
        made += _tractor_side(s, paint, p)
    made += [
        tube([(0.55, -0.46, 1.4), (0.55, -0.46, 2.3), (0.5, -0.46, 2.4)], 0.05, p["dark"]),
        tube([(-0.75, -0.8, 0.82), (-0.75, 0.8, 0.82)], 0.16, p["dark"]),
    ]
    return [*made, *_hitch(p), *beacon((-0.9, 0.45, 2.75))]


def _tractor_side(s: int, paint, p: dict) -> Objects:
    """Fender with its lamps, steps, mirror and a headlamp."""
    red = material("tail", (0.5, 0.01, 0.008), 0.12, coat=1.0, emit=0.5)
    amber = material("turn", (0.7, 0.17, 0.008), 0.12, coat=1.0)
    lamp = material("headlamp", (0.8, 0.8, 0.78), 0.1, coat=1.0)
    angles = np.linspace(0.35, 2.75, 14)
    arc = [(-0.75 + 0.93 * math.cos(a), 0.82 + 0.93 * math.sin(a)) for a in angles]
    inner = [(-0.75 + 0.88 * math.cos(a), 0.82 + 0.88 * math.sin(a)) for a in reversed(angles)]
    made: Objects = [slab(arc + inner, 0.52, paint, s * 0.84, 0.015)]
    made.append(box((-1.60, s * 0.92, 1.36), (0.06, 0.34, 0.13), p["black"], 0.02))
    made += [
        box((-1.635, s * 0.85, 1.36), (0.03, 0.14, 0.09), red, 0.012),
        box((-1.635, s * 1.01, 1.36), (0.03, 0.1, 0.09), amber, 0.012),
    ]
    made += [box((0.1, s * 0.75, z), (0.32, 0.22, 0.03), p["dark"], 0.008) for z in (0.5, 0.8)]
    made += [
        tube([(0.2, s * 0.66, 2.3), (0.3, s * 0.95, 2.3), (0.3, s * 0.95, 2.05)], 0.014, p["black"]),
        box((0.3, s * 0.97, 2.0), (0.05, 0.17, 0.28), p["black"], 0.03),
    ]
    made += [
        box((1.99, s * 0.2, 1.36), (0.05, 0.2, 0.1), p["black"], 0.02),
        box((2.012, s * 0.2, 1.36), (0.02, 0.17, 0.07), lamp, 0.015),
    ]
    return [*made, *work_lamp((-1.02, s * 0.5, 2.55), -1), *work_lamp((0.24, s * 0.5, 2.55), 1)]


def _hitch(p: dict) -> Objects:
    """What the back shows: axle, lift arms and links, the shaft's guard, hoses, a slow-vehicle triangle, a plate."""
    orange, red = (
        material("fluorescent", (0.95, 0.16, 0.01), 0.5),
        material("rim red", (0.4, 0.012, 0.01), 0.3, coat=0.4),
    )
    made: Objects = [
        box((-1.25, 0, 0.85), (0.5, 0.62, 0.5), p["dark"], 0.06),
        box((-1.5, 0, 0.62), (0.12, 0.3, 0.22), p["yellow"], 0.05),
    ]
    for s in (1, -1):
        made.append(tube([(-1.3, s * 0.3, 0.6), (-1.85, s * 0.42, 0.48)], 0.035, p["dark"]))
        made.append(
            tube([(-1.4, s * 0.3, 1.12), (-1.72, s * 0.4, 1.08), (-1.72, s * 0.4, 0.52)], 0.025, p["steel"])
        )
        made.append(
            lathe(
                [(0.03, -0.03), (0.06, -0.03), (0.06, 0.03), (0.03, 0.03)],
                p["steel"],
                16,
                center=(-1.88, s * 0.43, 0.48),
                rot=(math.pi / 2, 0, 0),
            )
        )
        made.append(
            tube([(-1.45, s * 0.16, 1.15), (-1.6, s * 0.2, 1.2), (-1.62, s * 0.22, 0.95)], 0.014, p["black"])
        )
    made += [
        tube([(-1.4, 0, 1.05), (-1.75, 0, 0.98)], 0.03, p["steel"]),
        box((-1.75, 0, 0.42), (0.5, 0.1, 0.05), p["dark"], 0.01),
    ]
    for r, x, one in ((0.23, -1.085, red), (0.17, -1.09, orange)):
        corners = [
            (r * math.cos(a), 1.36 + r * math.sin(a))
            for a in (math.pi / 2, math.pi * 7 / 6, math.pi * 11 / 6)
        ]
        made.append(sheet(corners, one, x, "x"))
    return [
        *made,
        box((-1.66, -0.75, 1.20), (0.01, 0.34, 0.11), material("plate", (0.6, 0.6, 0.58), 0.5), 0.003),
    ]


MACHINE = {"symmetry": "none", "pixels": 300, "samples": 10}
MODELS = {
    "road_roller": Model(build_roller, {"a": {}}, **{**MACHINE, "symmetry": "mirror"}),
    "tractor": Model(build_tractor, {"green": {}}, **{**MACHINE, "symmetry": "mirror"}),
}
