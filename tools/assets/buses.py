"""A school bus with its lamps flashing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from cars import SEDAN, assemble
from common import Look, Model, Objects, box, lathe, material, mesh, tube
from fittings import grime, lettering, lorry_wheel, rear_seam, tape
from shell import Shell, rounded

BUS_WINDOWS = tuple(
    ((x, 1.86), (x, 2.42), (x - 0.52, 2.42), (x - 0.52, 1.86)) for x in np.arange(2.25, -3.9, -0.62).tolist()
)
BUS = replace(
    SEDAN,
    stations=(
        (4.40, 0.88, 0.55, 1.10, 0.74, 1.22, 0.04),
        (4.28, 0.98, 0.50, 1.20, 0.82, 1.38, 0.04),
        (3.75, 1.04, 0.48, 1.30, 0.88, 1.50, 0.04),
        (3.40, 1.07, 0.48, 1.38, 0.90, 1.58, 0.04),
        (3.34, 1.09, 0.48, 1.42, 0.92, 1.66, 0.04),
        (3.10, 1.15, 0.48, 1.62, 1.02, 2.60, 0.05),
        (2.98, 1.18, 0.48, 1.66, 1.06, 2.88, 0.06),
        (2.70, 1.20, 0.48, 1.68, 1.08, 2.98, 0.07),
        (-4.20, 1.20, 0.48, 1.68, 1.08, 2.98, 0.07),
        (-4.36, 1.18, 0.50, 1.66, 1.05, 2.92, 0.06),
        (-4.42, 1.14, 0.54, 1.62, 1.00, 2.84, 0.05),
    ),
    axles=(3.55, -2.45),
    wheel=0.48,
    windows=(((3.02, 1.80), (2.93, 2.42), (2.44, 2.42), (2.44, 1.80)), *BUS_WINDOWS),
    windscreen=(3.36, 2.99),
    rear_glass=(-9.0, -9.1),
    doors=(((3.1, 0.7), (3.1, 2.5), (2.36, 2.5), (2.36, 0.7)),),
    handles=(),
    headlamp=((0.62, 1.0), (0.62, 1.14), (0.92, 1.16), (0.92, 0.98)),
    grille=((0.0, 1.2), (0.5, 1.2), (0.5, 0.82), (0.0, 0.82)),
    intake=((0.0, 0.66), (0.8, 0.66), (0.8, 0.52), (0.0, 0.52)),
    tail=((0.80, 0.56), (0.84, 0.56), (0.84, 0.54), (0.80, 0.54)),
    plate_rear=0.93,
    lamps=((0.72, 1.07), (0.84, 1.07)),
    mirror=(3.05, 1.9),
    roof=2.3,
)


def build_school_bus(seed: int) -> Objects:
    """A yellow school bus, red lamps flashing front and back, its stop arm out."""
    black = Look((0.015, 0.015, 0.015), 0.4, coat=0.3, lining=0.03)
    pane = Look((0.010, 0.012, 0.013), 0.05, spec=0.7, coat=1.0, lining=0.02)

    def rails(shell: Shell) -> np.ndarray:
        z, x = shell.points[..., 2], shell.points[..., 0]
        bands = np.max([w - abs(z - h) for h, w in ((0.98, 0.035), (1.36, 0.03), (1.72, 0.025))], axis=0)
        return np.minimum(np.minimum(bands, 2.9 - x), x + 4.36)

    def rear_panes(grow: float):
        panes = [
            ((-0.36, 1.80), (0.36, 1.80), (0.36, 2.46), (-0.36, 2.46)),
            ((0.54, 1.84), (0.98, 1.84), (0.92, 2.44), (0.54, 2.44)),
            ((-0.36, 1.14), (0.36, 1.14), (0.36, 1.58), (-0.36, 1.58)),
        ]
        return lambda shell: np.max([shell.rear(rounded(p, 0.06), -4.2) + grow for p in panes], axis=0)

    marks = {"rails": (black, rails), "seals": (black, rear_panes(0.025)), "panes": (pane, rear_panes(0.0))}
    made = assemble(BUS, "yellow", "hazard", driver=True, marks=marks)
    grime(made[0].data.materials[0], 1.5, 0.6)
    for s in (1, -1):
        made += lorry_wheel(0.49, BUS.axles[0], s, 1.20, 0.90)
        made += lorry_wheel(0.49, BUS.axles[1], s, 1.20, 0.66, twin=True)
    shell = Shell.through(BUS.stations)
    return [*made, *_seat_backs(), *_flashers(shell), *_rear(shell), *_stop_arm()]


def _seat_backs() -> Objects:
    cover = material("seat back", (0.02, 0.035, 0.03), 0.7)
    return [
        box((x, s * 0.62, 1.72), (0.1, 0.85, 0.62), cover, 0.05)
        for x in np.arange(1.9, -4.1, -0.72)
        for s in (1, -1)
    ]


def _flashers(shell: Shell) -> Objects:
    """Red and amber warning lamps in black boards over both ends, and the words between them."""
    red = material("flasher", (1.0, 0.015, 0.01), 0.15, emit=3.0, coat=1.0)
    amber = material("amber flasher", (0.55, 0.14, 0.01), 0.12, coat=1.0)
    board = material("board", (0.012, 0.012, 0.012), 0.5)
    hood = material("visor", (0.02, 0.02, 0.02), 0.6)
    ink = material("lettering", (0.012, 0.012, 0.012), 0.6)
    yellow = material("sign yellow", (0.66, 0.34, 0.012), 0.5)
    made: Objects = []
    for x, e, words in ((2.99, 1, "front"), (shell.on_end(0.0, 2.76, False)[0] - 0.02, -1, "rear")):
        made.append(box((x, 0, 2.76), (0.05, 0.98, 0.20), yellow, 0.02))
        made.append(lettering("SCHOOL BUS", (x + e * 0.027, 0, 2.76), 0.115, ink, words, 0.95))
        for s in (1, -1):
            made.append(box((x, s * 0.74, 2.75), (0.06, 0.46, 0.24), board, 0.03))
            for y, one in ((0.85, red), (0.63, amber)):
                turn = (0, e * math.pi / 2, 0)
                made.append(
                    lathe(
                        [(0.0, 0.05), (0.065, 0.035), (0.08, 0.0)],
                        one,
                        24,
                        center=(x + e * 0.03, s * y, 2.75),
                        rot=turn,
                    )
                )
                arc = [
                    (x + e * 0.03, s * y + 0.095 * math.cos(a), 2.75 + 0.095 * math.sin(a))
                    for a in np.linspace(0, math.pi, 12)
                ]
                verts = arc + [(u + e * 0.1, v, w) for u, v, w in arc]
                made.append(mesh(verts, [(i, i + 1, 13 + i, 12 + i) for i in range(11)], hood))
    return made


def _rear(shell: Shell) -> Objects:
    """The emergency door, lamps, reflective tape, bumper and tailpipe."""
    gap = material("gap", (0.012, 0.012, 0.012), 0.9, spec=0.1)
    board = grime(material("bumper", (0.014, 0.014, 0.014), 0.5), 1.1, 0.6)
    ink = material("ink", (0.012, 0.012, 0.012), 0.6)
    steel = material("handle", (0.5, 0.5, 0.5), 0.25, metal=1.0)
    reflect = material("reflective yellow", (0.75, 0.50, 0.02), 0.35, coat=0.5)
    door = [(-0.46, 0.78), (-0.46, 2.56), (0.46, 2.56), (0.46, 0.78)]
    outline = [*_between(door[0], door[1]), *_between(door[1], door[2]), *_between(door[2], door[3])]
    made: Objects = [rear_seam(shell, outline, 0.011, gap)]
    made += [
        box((shell.on_end(0.5, z, False)[0] - 0.01, 0.5, z), (0.03, 0.07, 0.1), gap, 0.01)
        for z in (1.0, 1.66, 2.35)
    ]
    made.append(
        box((shell.on_end(-0.3, 1.67, False)[0] - 0.02, -0.3, 1.67), (0.04, 0.16, 0.035), steel, 0.01)
    )
    made.append(
        lettering("EMERGENCY DOOR", (shell.on_end(0, 2.6, False)[0] - 0.006, 0, 2.615), 0.05, ink, "rear")
    )
    for s in (1, -1):
        x = shell.on_end(s * 0.9, 1.55, False)[0]
        made.append(
            lettering(
                "27", (shell.on_end(s * 0.76, 1.2, False)[0] - 0.008, s * 0.76, 1.20), 0.12, ink, "rear"
            )
        )
        made.append(rear_seam(shell, [(s * 1.02, z) for z in np.linspace(0.8, 2.5, 12)], 0.012, reflect))
        made += _lamps_of_one_side(x, s)
    made += [
        box((-4.52, 0, 0.62), (0.16, 2.34, 0.24), board, 0.05),
        box((-4.46, 0, 0.80), (0.06, 1.9, 0.05), gap, 0.01),
    ]
    made += tape((-4.604, -1.0, 0.62), (-4.604, 1.0, 0.62), 0.05)
    made.append(
        lathe(
            [(0.05, -0.2), (0.055, 0.0), (0.045, 0.0), (0.045, -0.15)],
            steel,
            20,
            center=(-4.56, 0.75, 0.42),
            rot=(0, -math.pi / 2, 0),
        )
    )
    return made


def _between(a: tuple[float, float], b: tuple[float, float], n: int = 9) -> list[tuple[float, float]]:
    return [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for t in np.linspace(0, 1, n).tolist()]


def _lamps_of_one_side(x: float, s: int) -> Objects:
    """Two round red lamps, an amber one and a clear one in a black panel."""
    black = material("lamp panel", (0.012, 0.012, 0.012), 0.45)
    red = material("brake", (0.85, 0.012, 0.008), 0.12, emit=3.5, coat=1.0)
    dim = material("tail", (0.42, 0.008, 0.006), 0.12, emit=0.3, coat=1.0)
    amber = material("turn", (0.7, 0.17, 0.008), 0.12, coat=1.0, emit=0.6)
    clear = material("reverse", (0.5, 0.5, 0.5), 0.12, coat=1.0)
    made: Objects = [
        box((x - 0.005, s * 0.86, 1.54), (0.04, 0.42, 0.22), black, 0.02),
        box((x - 0.0, s * 0.90, 1.20), (0.03, 0.16, 0.16), black, 0.02),
    ]
    for y, z, r, one in (
        (0.96, 1.54, 0.085, red),
        (0.76, 1.54, 0.085, amber),
        (0.86, 2.6, 0.035, dim),
        (0.90, 1.20, 0.06, clear),
        (0.62, 0.88, 0.045, dim),
    ):
        made.append(
            lathe(
                [(0.0, 0.03), (r * 0.85, 0.02), (r, -0.02)],
                one,
                24,
                center=(x - 0.02, s * y, z),
                rot=(0, -math.pi / 2, 0),
            )
        )
    return made


def _stop_arm() -> Objects:
    """The red octagon swung out on the left side, read from ahead and from behind."""
    red = material("stop red", (0.42, 0.012, 0.012), 0.35, coat=0.4)
    white = material("stop white", (0.62, 0.62, 0.6), 0.4)
    lamp = material("stop lamp", (1.0, 0.02, 0.01), 0.15, emit=2.5)
    steel = material("arm", (0.05, 0.05, 0.05), 0.5)
    x, y, z, r = 2.15, 1.44, 1.55, 0.235
    made: Objects = [tube([(x, 1.16, z), (x, y, z)], 0.02, steel)]
    for size, deep, one in ((r, 0.012, white), (r * 0.93, 0.018, red)):
        made.append(
            lathe(
                [(0.0, deep), (size, deep), (size, -deep), (0.0, -deep)],
                one,
                8,
                center=(x, y, z),
                rot=(math.pi / 8, math.pi / 2, 0),
            )
        )
    for e, face in ((1, "front"), (-1, "rear")):
        made.append(lettering("STOP", (x + e * 0.021, y, z), 0.12, white, face))
        made += [
            lathe(
                [(0.0, 0.02), (0.03, 0.0)],
                lamp,
                16,
                center=(x + e * 0.02, y, z + s * 0.165),
                rot=(0, e * math.pi / 2, 0),
            )
            for s in (1, -1)
        ]
    return made


MODELS = {
    "school_bus": Model(build_school_bus, {"a": {}}, pixels=440, samples=10),
}
