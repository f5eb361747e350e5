"""Long vehicles: a school bus with its lamps flashing, a tram."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from cars import SEDAN, assemble
from common import ACROSS, ALONG, Look, Model, Objects, box, lathe, material, tube
from shell import Shell, rounded
from trucks import tail_lights

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
    tail=((0.80, 1.32), (1.06, 1.32), (1.06, 1.08), (0.80, 1.08)),
    plate_rear=0.98,
    lamps=((0.72, 1.07), (0.84, 1.07)),
    mirror=(3.05, 1.9),
    roof=2.3,
)


def build_school_bus(seed: int) -> Objects:
    """A yellow school bus, red lamps flashing front and back."""
    black = Look((0.015, 0.015, 0.015), 0.5)

    def rails(shell: Shell) -> np.ndarray:
        z, x = shell.points[..., 2], shell.points[..., 0]
        bands = np.max([w - abs(z - h) for h, w in ((1.02, 0.035), (1.42, 0.03), (1.74, 0.025))], axis=0)
        return np.minimum(np.minimum(bands, 2.9 - x), x + 4.4)

    def rear_panes(shell: Shell) -> np.ndarray:
        panes = [
            ((-0.34, 1.78), (0.34, 1.78), (0.34, 2.5), (-0.34, 2.5)),
            ((0.5, 1.85), (0.95, 1.85), (0.92, 2.5), (0.5, 2.5)),
        ]
        panes.append(((-0.34, 0.85), (0.34, 0.85), (0.34, 1.55), (-0.34, 1.55)))
        return np.max([shell.rear(rounded(p, 0.05), -4.2) for p in panes], axis=0)

    marks = {"rails": (black, rails), "panes": (Look((0.015, 0.018, 0.02), 0.08, spec=0.6), rear_panes)}
    made = assemble(BUS, "yellow", "hazard", driver=True, marks=marks)
    red = material("flasher", (1.0, 0.015, 0.01), 0.2, emit=3.0)
    amber = material("amber flasher", (0.8, 0.25, 0.02), 0.2)
    board = material("board", (0.015, 0.015, 0.015), 0.5)
    text = material("lettering", (0.02, 0.02, 0.02), 0.6)
    for x, face in ((3.0, 1), (-4.5, -1)):
        made.append(box((x + face * 0.02, 0, 2.78), (0.06, 1.9, 0.2), board, 0.03))
        for s in (1, -1):
            for y, one in ((0.84, red), (0.6, amber)):
                made.append(
                    lathe(
                        [(0.0, 0.05), (0.07, 0.03), (0.085, 0.0)],
                        one,
                        24,
                        center=(x + face * 0.05, s * y, 2.78),
                        rot=(0, face * math.pi / 2, 0),
                    )
                )
        made += [
            box((x + face * 0.055, y, 2.78), (0.01, 0.05, 0.1), material("glyph", (0.6, 0.3, 0.02), 0.5), 0.0)
            for y in np.linspace(-0.42, 0.42, 11)
        ]
    made.append(box((-4.52, 0, 0.62), (0.14, 2.3, 0.22), board, 0.04))
    made.append(box((-4.505, 0.6, 1.55), (0.012, 0.5, 0.1), text, 0.0))
    return [*made, *tail_lights(-4.52, 0.95, 1.12, "brake")]


TRAM_BODY = (
    (5.85, 0.86, 0.35, 1.15, 0.82, 1.32, 0.03),
    (5.78, 1.02, 0.30, 1.22, 0.96, 1.50, 0.03),
    (5.70, 1.10, 0.28, 1.30, 1.02, 1.75, 0.04),
    (5.45, 1.18, 0.28, 1.36, 1.05, 2.75, 0.06),
    (5.25, 1.20, 0.28, 1.38, 1.06, 3.05, 0.07),
    (4.90, 1.20, 0.28, 1.38, 1.06, 3.12, 0.08),
    (0.0, 1.20, 0.28, 1.38, 1.06, 3.12, 0.08),
)


def build_tram(seed: int, color: tuple[float, float, float] = (0.55, 0.03, 0.03)) -> Objects:
    """A two-tone tram, 12 m long, alike at both ends, pantograph up."""
    stations = TRAM_BODY + tuple((-x, *rest) for x, *rest in reversed(TRAM_BODY[:-1]))
    shell = Shell.through(stations, bulge=0.06, bow=0.14, step=0.03)
    x, _, z = np.moveaxis(shell.points, -1, 0)
    flank = np.minimum(shell.ring - 4.4, 5.98 - shell.ring) * 0.3
    shell.fill(1.25 - z, "lower")
    shell.fill(0.09 - abs(z - 1.34), "line")
    shell.fill(0.42 - z, "skirt")
    panes = [
        ((a, 1.52), (a, 2.55), (a - 1.12, 2.55), (a - 1.12, 1.52))
        for a in np.arange(4.9, -4.0, -1.25).tolist()
    ]
    doors = [((a, 0.45), (a, 2.6), (a - 1.12, 2.6), (a - 1.12, 0.45)) for a in (3.65, 0.05 - 0.15, -2.6)]
    for pane in panes:
        shell.fill(np.minimum(shell.sides(rounded(pane, 0.1)), flank), "pane")
    for door in doors:
        inside = shell.sides(door)
        shell.fill(np.minimum(inside, np.minimum(shell.ring - 2.2, 5.98 - shell.ring) * 0.3), "door")
        middle = (door[0][0] + door[2][0]) / 2
        for side in (0.05, -0.51):
            leaf = (
                (middle + side + 0.46, 0.65),
                (middle + side + 0.46, 2.45),
                (middle + side, 2.45),
                (middle + side, 0.65),
            )
            shell.fill(
                np.minimum(
                    shell.sides(rounded(leaf, 0.06)), np.minimum(shell.ring - 2.4, 5.95 - shell.ring) * 0.3
                ),
                "pane",
            )
    shell.fill(np.minimum(np.minimum(abs(x) - 5.30, (shell.ring - 6.1) * 0.2), z - 1.55), "pane")
    looks = {
        "lower": Look(color, 0.35, coat=0.6),
        "line": Look((0.02, 0.02, 0.03), 0.4),
        "skirt": Look((0.03, 0.03, 0.03), 0.7),
        "door": Look((0.35, 0.35, 0.34), 0.4),
        "pane": Look((0.018, 0.02, 0.022), 0.07, spec=0.6, coat=0.5),
    }
    made = [shell.build(Look((0.66, 0.65, 0.60), 0.35, coat=0.6), looks)]
    return made + _tram_details()


def _tram_details() -> Objects:
    steel = material("steel", (0.25, 0.25, 0.25), 0.5, metal=0.6)
    dark = material("dark", (0.02, 0.02, 0.02), 0.8)
    lamp = material("lamp", (1.0, 0.95, 0.85), 0.2, emit=14.0)
    sign = material("sign", (1.0, 0.45, 0.05), 0.4, emit=1.2)
    made: Objects = [box((0, 0, 3.3), (4.2, 1.6, 0.22), material("roof box", (0.4, 0.4, 0.4), 0.6), 0.05)]
    for a in (3.6, 2.0, -2.0, -3.6):
        for s in (1, -1):
            made.append(
                lathe(
                    [(0.0, -0.05), (0.33, -0.05), (0.33, 0.05), (0.0, 0.05)],
                    steel,
                    32,
                    center=(a, s * 0.95, 0.33),
                    rot=(math.pi / 2, 0, 0),
                )
            )
    made += [box((a, 0, 0.35), (2.6, 2.2, 0.3), dark, 0.03) for a in (2.8, -2.8)]
    for e in (1, -1):
        for s in (1, -1):
            made.append(
                lathe(
                    [(0.0, 0.03), (0.09, 0.02), (0.1, -0.02)],
                    lamp,
                    24,
                    center=(e * 5.84, s * 0.66, 0.95),
                    rot=(0, e * math.pi / 2, 0),
                )
            )
        made.append(box((e * 5.42, 0, 2.86), (0.14, 0.9, 0.2), sign, 0.02))
        made.append(box((e * 5.9, 0, 0.55), (0.12, 1.5, 0.16), dark, 0.05))
    for s in (1, -1):
        made.append(tube([(0.6, s * 0.5, 3.42), (-0.5, s * 0.42, 3.95), (0.5, s * 0.35, 4.45)], 0.025, steel))
    made.append(tube([(0.5, -0.75, 4.43), (0.5, -0.5, 4.5), (0.5, 0.5, 4.5), (0.5, 0.75, 4.43)], 0.03, steel))
    return made


MODELS = {
    "school_bus": Model(
        build_school_bus,
        {"a": {}},
        symmetry="mirror",
        pixels=340,
        samples=8,
        azimuths=ALONG,
    ),
    "tram": Model(
        build_tram,
        {"red": {}},
        symmetry="mirror",
        pixels=420,
        samples=8,
        azimuths=ACROSS,
    ),
}
