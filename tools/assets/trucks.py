"""Vans and lorries: delivery van, box truck; the cab and frame that other lorries build on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from cars import SEDAN, Marks, assemble
from common import Color, Look, Model, Objects, box, lathe, material, tube
from fittings import grime, lettering, lorry_wheel, mudguard, rear_seam, sheet, tail_cluster, tape
from shell import Shell, rounded

VAN = replace(
    SEDAN,
    stations=(
        (2.52, 0.82, 0.34, 0.86, 0.70, 0.98, 0.02),
        (2.40, 0.92, 0.28, 0.96, 0.80, 1.11, 0.03),
        (2.10, 0.97, 0.26, 1.06, 0.86, 1.23, 0.03),
        (1.84, 0.98, 0.26, 1.12, 0.87, 1.32, 0.03),
        (1.79, 0.98, 0.26, 1.13, 0.87, 1.36, 0.02),
        (1.16, 0.98, 0.26, 1.18, 0.87, 1.96, 0.03),
        (0.96, 0.98, 0.26, 1.19, 0.87, 2.04, 0.03),
        (0.00, 0.98, 0.26, 1.20, 0.88, 2.09, 0.03),
        (-2.20, 0.98, 0.26, 1.20, 0.88, 2.09, 0.03),
        (-2.48, 0.97, 0.28, 1.20, 0.87, 2.06, 0.02),
        (-2.58, 0.95, 0.32, 1.18, 0.85, 2.02, 0.01),
    ),
    axles=(1.62, -1.62),
    wheel=0.345,
    windows=(((1.58, 1.26), (1.16, 1.74), (0.95, 1.82), (0.42, 1.83), (0.42, 1.24)),),
    windscreen=(1.80, 1.02),
    rear_glass=(-9.0, -9.1),
    doors=(
        (
            (1.72, 1.10),
            (1.66, 0.82),
            (1.42, 0.77),
            (1.27, 0.67),
            (1.18, 0.5),
            (1.13, 0.42),
            (0.34, 0.40),
            (0.33, 1.95),
        ),
        ((0.20, 1.95), (0.20, 0.42), (-0.95, 0.42), (-0.95, 1.95)),
    ),
    handles=((0.46, 1.08), (0.08, 1.08)),
    headlamp=((0.52, 1.0), (0.66, 1.08), (0.92, 1.12), (0.92, 0.88), (0.70, 0.86), (0.54, 0.90)),
    grille=((0.0, 1.0), (0.48, 1.0), (0.44, 0.80), (0.0, 0.78)),
    intake=((0.0, 0.56), (0.56, 0.56), (0.62, 0.40), (0.0, 0.39)),
    tail=((0.80, 0.42), (0.84, 0.42), (0.84, 0.40), (0.80, 0.40)),
    plate_rear=0.66,
    lamps=((0.64, 0.985), (0.77, 1.0)),
    mirror=(1.52, 1.36),
    roof=1.98,
)
CAB = replace(
    VAN,
    stations=(
        (3.36, 1.00, 0.42, 1.22, 0.98, 1.34, 0.02),
        (3.32, 1.04, 0.40, 1.28, 1.00, 1.44, 0.02),
        (3.26, 1.05, 0.40, 1.33, 0.99, 1.56, 0.02),
        (3.08, 1.05, 0.40, 1.34, 0.96, 2.08, 0.03),
        (2.98, 1.05, 0.40, 1.35, 0.94, 2.20, 0.03),
        (2.60, 1.05, 0.40, 1.35, 0.94, 2.26, 0.03),
        (1.82, 1.05, 0.40, 1.35, 0.94, 2.26, 0.03),
    ),
    axles=(2.55, -1.75),
    wheel=0.42,
    windows=(((3.06, 1.46), (2.92, 1.96), (2.76, 2.06), (2.16, 2.06), (2.16, 1.40), (2.7, 1.40)),),
    windscreen=(3.31, 3.0),
    rear_glass=(-9.0, -9.1),
    doors=(((3.16, 1.36), (3.12, 0.9), (3.02, 0.72), (2.08, 0.72), (2.08, 2.14)),),
    handles=((2.2, 1.2),),
    headlamp=((0.62, 0.86), (0.62, 0.98), (0.98, 1.0), (0.98, 0.80), (0.80, 0.78)),
    grille=((0.0, 1.16), (0.66, 1.16), (0.60, 0.80), (0.0, 0.80)),
    intake=((0.0, 0.64), (0.70, 0.64), (0.70, 0.50), (0.0, 0.50)),
    tail=((0.80, 0.62), (0.84, 0.62), (0.84, 0.58), (0.80, 0.58)),
    plate_rear=0.7,
    lamps=((0.72, 0.885), (0.86, 0.885)),
    mirror=(3.02, 1.62),
    roof=2.2,
)
BOX_REAR = -3.38


def corner_lamps(lights: str) -> Marks:
    """The van's upright lamps at its rear corners, painted on the skin."""

    def lamp(low: float, high: float, inset: float = 0.018) -> Callable[[Shell], np.ndarray]:
        """Between two heights (m), inset from the lamp's outline."""
        outline = ((0.805 + inset, low), (1.2, low), (1.2, high), (0.805 + inset, high))
        return lambda shell: np.minimum(shell.rear(outline, -2.3), -2.36 - inset - shell.points[..., 0])

    black, red = Look((0.016, 0.016, 0.016), 0.5, lining=0.02), Look((0.30, 0.006, 0.006), 0.12, coat=1.0)
    lit = {"on": 0.9, "brake": 4.0}.get(lights, 0.25)
    return {
        "bezel": (black, lamp(0.86, 1.50, 0.0)),
        "lamp": (red, lamp(0.88, 1.48)),
        "bulb": (Look((0.7, 0.012, 0.008), 0.2, emit=lit), lamp(1.08, 1.22, 0.04)),
        "turn": (
            Look((0.72, 0.16, 0.008), 0.12, coat=1.0, emit=1.8 if lights == "hazard" else 0.0),
            lamp(1.32, 1.45, 0.03),
        ),
        "reverse": (Look((0.42, 0.43, 0.44), 0.12, coat=1.0), lamp(0.90, 0.99, 0.03)),
    }


def build_van(seed: int, color: str = "white", lights: str = "hazard") -> Objects:
    """A delivery van with blind sides and two rear doors."""
    black = Look((0.016, 0.016, 0.016), 0.5, lining=0.02)
    pane = Look((0.010, 0.012, 0.013), 0.05, spec=0.7, coat=1.0, lining=0.02)
    window = ((0.07, 1.34), (0.72, 1.34), (0.70, 1.90), (0.07, 1.90))

    def low_trim(shell: Shell) -> np.ndarray:
        """Bumper at the back, rub strip along the sides."""
        x, _, z = np.moveaxis(shell.points, -1, 0)
        strip = np.minimum(0.045 - abs(z - 0.66), np.minimum(1.1 - x, 0.2 * (shell.ring - 2.2)))
        return np.maximum(strip, np.minimum(0.54 - z, -2.1 - x))

    def slide_rail(shell: Shell) -> np.ndarray:
        x, _, z = np.moveaxis(shell.points, -1, 0)
        return np.minimum(0.018 - abs(z - 1.30), np.minimum(-0.95 - x, x + 2.3))

    marks = {
        **corner_lamps(lights),
        "trim": (black, low_trim),
        "slide": (black, slide_rail),
        "seal": (black, lambda shell: shell.rear(rounded(window, 0.07), -2.3) + 0.02),
        "pane": (pane, lambda shell: shell.rear(rounded(window, 0.06), -2.3)),
    }
    made = assemble(VAN, color, lights, driver=lights == "on", marks=marks)
    grime(made[0].data.materials[0], 1.25, 0.5)
    return [*made, *van_doors(Shell.through(VAN.stations))]


def van_doors(shell: Shell, top: float = 2.0) -> Objects:
    """Shut lines, hinges, handle, plate lamp, wipers and high brake light of two rear doors, `top` metres high."""
    gap = material("gap", (0.012, 0.012, 0.012), 0.9, spec=0.1)
    black = material("fitting", (0.02, 0.02, 0.02), 0.45)
    red = material("brake lamp", (0.35, 0.01, 0.008), 0.15, coat=1.0)
    paint = material("hinge", (0.35, 0.35, 0.34), 0.4, coat=0.5)

    made = [rear_seam(shell, [(0.0, z) for z in np.linspace(0.54, top, 14)], 0.009, gap)]
    for s in (1, -1):
        made.append(rear_seam(shell, [(s * 0.79, z) for z in np.linspace(0.56, top - 0.02, 14)], 0.007, gap))
        made.append(rear_seam(shell, [(s * y, top) for y in np.linspace(0.0, 0.79, 8)], 0.007, gap))
        made.append(rear_seam(shell, [(s * y, 0.55) for y in np.linspace(0.0, 0.8, 8)], 0.009, gap))
        made.append(rear_seam(shell, [(s * y, 1.20) for y in np.linspace(0.06, 0.74, 8)], 0.004, gap))
        made.append(rear_seam(shell, [(s * 0.2, 1.36), (s * 0.42, 1.41), (s * 0.66, 1.44)], 0.011, black))
        for z in (0.74, 1.22, 1.84):
            x, y, _ = shell.on_end(s * 0.80, z, False)
            made.append(box((x - 0.012, y, z), (0.035, 0.07, 0.05), paint, 0.012))
        x, y, _ = shell.on_end(s * 0.72, 0.47, False)
        made.append(box((x - 0.008, y, 0.47), (0.02, 0.16, 0.05), red, 0.008))
    x, _, _ = shell.on_end(-0.07, 1.0, False)
    made.append(box((x - 0.015, -0.08, 1.02), (0.04, 0.05, 0.16), black, 0.015))
    made.append(box((x - 0.02, 0.0, 0.80), (0.04, 0.52, 0.05), black, 0.015))
    x, _, _ = shell.on_end(0.0, top + 0.03, False)
    made.append(box((x - 0.005, 0, top + 0.03), (0.03, 0.26, 0.035), red, 0.008))
    return made


def cab_and_frame(color: str, lights: str, marks: Marks | None = None, rear: float = BOX_REAR) -> Objects:
    """A cab-over lorry without its load: cab, frame rails, twin rear wheels, rear bumper with lamps and plate."""
    steel = grime(material("frame", (0.02, 0.02, 0.022), 0.6), 1.2, 0.5)
    dark = material("dark", (0.010, 0.010, 0.010), 0.9, spec=0.1)
    made = assemble(CAB, color, lights, driver=True, marks=marks)
    grime(made[0].data.materials[0], 1.0, 0.55)
    made += [box(((rear + 2.4) / 2, s * 0.4, 0.72), (2.4 - rear, 0.09, 0.22), steel, 0.01) for s in (1, -1)]
    back = CAB.axles[1]
    hub = [(0.0, 0.2), (0.17, 0.12), (0.2, 0.0), (0.17, -0.12), (0.0, -0.2)]
    made += [
        tube([(back, -0.9, 0.44), (back, 0.9, 0.44)], 0.09, dark),
        lathe(hub, dark, 24, center=(back, 0, 0.46)),
    ]
    for s in (1, -1):
        made += lorry_wheel(0.43, CAB.axles[0], s, 1.055, 0.76)
        made += lorry_wheel(0.44, back, s, 1.10, 0.56, twin=True)
        made.append(mudguard(back, 0.5, s * 0.82, 0.58, dark))
        made.append(box((back - 0.58, s * 0.82, 0.40), (0.02, 0.52, 0.48), dark, 0.0))
    return [*made, *_cab_fittings(dark), *_rear_bumper(rear, lights, steel), *_under_frame(steel)]


def _cab_fittings(dark) -> Objects:
    """Mirrors on arms, wipers, roof markers, a step below either door."""
    amber = material("roof marker", (0.75, 0.24, 0.01), 0.2, coat=1.0, emit=0.4)
    black = material("mirror housing", (0.014, 0.014, 0.014), 0.4, spec=0.4)
    silver = material("mirror", (0.45, 0.47, 0.50), 0.05, metal=1.0)
    made: Objects = []
    for s in (1, -1):
        made.append(
            tube([(3.04, s * 0.98, 1.98), (3.10, s * 1.18, 1.96), (3.10, s * 1.18, 1.5)], 0.016, black)
        )
        made.append(box((3.06, s * 1.19, 1.68), (0.12, 0.19, 0.36), black, 0.04, segments=3))
        made.append(box((2.995, s * 1.19, 1.68), (0.01, 0.15, 0.31), silver, 0.004))
        made.append(
            tube(
                [(3.37, s * 0.45 - 0.3, 1.52), (3.33, s * 0.45, 1.62), (3.25, s * 0.45 + 0.2, 1.82)],
                0.011,
                dark,
            )
        )
        made.append(box((2.35, s * 1.02, 0.50), (0.40, 0.10, 0.10), dark, 0.02))
    return made + [box((2.9, y, 2.25), (0.08, 0.12, 0.05), amber, 0.02) for y in (-0.7, 0.0, 0.7)]


def _rear_bumper(rear: float, lights: str, steel) -> Objects:
    """The guard at the end of the frame with its tape, the lamps and the plate."""
    plate = material("plate", (0.6, 0.6, 0.58), 0.5)
    ink = material("ink", (0.02, 0.03, 0.10), 0.6)
    made: Objects = [box((rear + 0.05, 0, 0.52), (0.10, 2.1, 0.12), steel, 0.015)]
    made += [box((rear + 0.12, s * 0.55, 0.62), (0.08, 0.08, 0.24), steel, 0.01) for s in (1, -1)]
    made.append(box((rear, 0.25, 0.70), (0.012, 0.40, 0.12), plate, 0.004))
    made += [
        box((rear - 0.009, 0.25 + y, 0.70), (0.006, 0.03, 0.07), ink, 0.0)
        for y in (-0.14, -0.09, -0.03, 0.03, 0.10, 0.15)
    ]
    made += tape((rear - 0.004, -0.98, 0.52), (rear - 0.004, 0.98, 0.52), 0.07)
    return [*made, *tail_cluster(rear + 0.01, 0.84, 0.72, lights, 0.24, 0.18)]


def _under_frame(steel) -> Objects:
    """What hangs between the axles: side guards, fuel tank, battery box, air tanks."""
    alloy = grime(material("tank", (0.45, 0.45, 0.46), 0.3, metal=0.9), 1.1, 0.5)
    strap = material("strap", (0.03, 0.03, 0.03), 0.6)
    made: Objects = []
    for s in (1, -1):
        ends = [(0.0, 0.52), (0.2, 0.5), (0.235, 0.44), (0.235, -0.44), (0.2, -0.5), (0.0, -0.52)]
        made.append(lathe(ends, alloy, 32, center=(1.15, s * 0.78, 0.62), rot=(0, math.pi / 2, 0)))
        made += [
            tube(
                [
                    (x, s * 0.78 + 0.24 * math.cos(a), 0.62 + 0.24 * math.sin(a))
                    for a in np.linspace(0, 6.28, 24)
                ],
                0.014,
                strap,
            )
            for x in (0.85, 1.45)
        ]
        made.append(box((0.28, s * 0.8, 0.62), (0.5, 0.42, 0.4), steel, 0.02))
        made += [box((-0.15, s * 1.06, z), (1.9, 0.03, 0.10), steel, 0.01) for z in (0.42, 0.64)]
        made += [box((x, s * 1.03, 0.62), (0.05, 0.04, 0.5), steel, 0.01) for x in (-0.9, -0.3, 0.4)]
    return made


def build_truck_box(
    seed: int, color: str = "white", load: Color = (0.62, 0.62, 0.60), lights: str = "on"
) -> Objects:
    """A box truck in a carrier's colours: panelled body with corner rails and a roller door."""
    skin = grime(
        material("panel", load, 0.34, coat=0.35, vary=0.06, vary_scale=1.2, bump=0.12, bump_scale=1.6),
        1.9,
        0.5,
    )
    made = cab_and_frame(color, lights)
    front, half, low, top = 1.72, 1.14, 0.88, 3.0
    middle, length = (front + BOX_REAR) / 2, front - BOX_REAR
    made.append(box((middle, 0, (low + top) / 2), (length, 2 * half, top - low), skin, 0.02))
    made += [*_box_frame(front, half, low, top), *_roller_door(half, low, top, skin)]
    return [*made, *_livery(half, front, load)]


def _box_frame(front: float, half: float, low: float, top: float) -> Objects:
    """Corner rails, panel joints, marker lamps and tape of a box body."""
    rail = grime(material("rail", (0.40, 0.41, 0.42), 0.35, metal=0.8), 1.4, 0.5)
    gap = material("gap", (0.05, 0.05, 0.05), 0.8)
    shadow = material("below", (0.012, 0.012, 0.012), 0.9)
    red = material("marker", (0.5, 0.015, 0.01), 0.2, emit=0.4)
    amber = material("side marker", (0.7, 0.22, 0.01), 0.2, emit=0.4)
    middle, length = (front + BOX_REAR) / 2, front - BOX_REAR
    made: Objects = [box((middle, 0, low - 0.07), (length - 0.2, 1.7, 0.1), shadow, 0.0)]
    for s in (1, -1):
        made += [
            box((middle, s * half, z), (length + 0.01, 0.045, 0.1), rail, 0.012)
            for z in (low + 0.05, top - 0.04)
        ]
        made += [
            box((x, s * half, (low + top) / 2), (0.1, 0.045, top - low), rail, 0.012)
            for x in (front - 0.03, BOX_REAR + 0.04)
        ]
        for x in np.arange(front - 0.6, BOX_REAR + 0.3, -0.6):
            made.append(
                box((x, s * (half + 0.003), (low + top) / 2), (0.010, 0.008, top - low - 0.2), gap, 0.0)
            )
            made += [
                lathe(
                    [(0.0, 0.006), (0.008, 0.0)],
                    rail,
                    6,
                    center=(x + 0.03, s * (half + 0.001), z),
                    rot=(-s * math.pi / 2, 0, 0),
                )
                for z in np.arange(low + 0.2, top - 0.1, 0.12)
            ]
        made.append(
            box((BOX_REAR - 0.005, s * (half - 0.05), (low + top) / 2), (0.05, 0.11, top - low), rail, 0.012)
        )
        made += [
            box((x, s * (half + 0.025), low + 0.05), (0.09, 0.02, 0.035), amber, 0.006)
            for x in (1.5, 0.0, -1.6, -3.2)
        ]
        made += tape(
            (front - 0.2, s * (half + 0.022), low - 0.03),
            (BOX_REAR + 0.1, s * (half + 0.022), low - 0.03),
            0.05,
        )
        made += tape(
            (BOX_REAR - 0.028, s * (half - 0.05), top - 0.35),
            (BOX_REAR - 0.028, s * (half - 0.05), top - 0.06),
            0.05,
        )
    made.append(box((BOX_REAR - 0.005, 0, top - 0.06), (0.05, 2 * half, 0.14), rail, 0.012))
    made += [
        box((BOX_REAR - 0.034, y, top - 0.06), (0.02, 0.09, 0.04), red, 0.006)
        for y in (-0.95, -0.16, 0.0, 0.16, 0.95)
    ]
    return made


def _roller_door(half: float, low: float, top: float, skin) -> Objects:
    """Slats set back in their frame, a lock bar, a sill with tape, a step."""
    gap = material("slat gap", (0.03, 0.03, 0.03), 0.8)
    steel = grime(material("sill", (0.25, 0.25, 0.26), 0.45, metal=0.6), 1.4, 0.6)
    made: Objects = []
    for z in np.arange(low + 0.16, top - 0.2, 0.2):
        made.append(
            box((BOX_REAR - 0.004, 0, z + 0.1), (0.014, 2 * half - 0.22, 0.185), skin, 0.012, segments=2)
        )
        made.append(box((BOX_REAR - 0.001, 0, z), (0.006, 2 * half - 0.22, 0.02), gap, 0.0))
    made.append(box((BOX_REAR - 0.02, 0, low + 0.06), (0.08, 2 * half, 0.13), steel, 0.012))
    made.append(box((BOX_REAR - 0.03, 0, low + 0.26), (0.03, 0.09, 0.22), steel, 0.01))
    made.append(box((BOX_REAR - 0.04, 0, low + 0.3), (0.03, 0.34, 0.035), steel, 0.01))
    made.append(box((BOX_REAR - 0.03, -0.55, low + 0.24), (0.03, 0.22, 0.04), gap, 0.01))
    return [
        *made,
        *tape(
            (BOX_REAR - 0.063, -half + 0.05, low + 0.06), (BOX_REAR - 0.063, half - 0.05, low + 0.06), 0.06
        ),
    ]


def _livery(half: float, front: float, load: Color) -> Objects:
    """Two bands that rise to the front and a made-up name that reads the same in a mirror."""
    bright = sum(load) > 1.0
    deep = (0.012, 0.06, 0.20) if bright else (0.60, 0.60, 0.58)
    band = grime(material("band", deep, 0.35, coat=0.4, vary=0.08), 1.9, 0.5)
    accent = grime(material("accent", (0.55, 0.12, 0.012), 0.35, coat=0.4, vary=0.08), 1.9, 0.5)
    made: Objects = []
    for s, side in ((1, "left"), (-1, "right")):
        y = s * (half + 0.0015)
        for paint, low, tall, rise in ((band, 1.02, 0.34, 1.15), (accent, 1.42, 0.09, 1.0)):
            along = np.linspace(0, 1, 14)
            lower = [(BOX_REAR + 0.1 + 4.93 * t, low + rise * t**2.2) for t in along]
            upper = [(x, z + tall * (1 - 0.45 * t)) for (x, z), t in zip(lower, along, strict=True)]
            made.append(sheet([*lower, *reversed(upper)], paint, y))
        made.append(lettering("OTAVATO", (-1.05, s * (half + 0.002), 2.42), 0.42, band, side, 1.15))
    made.append(lettering("OTAVATO", (BOX_REAR - 0.012, 0, 2.3), 0.2, band, "rear", 1.2))
    made.append(lettering("OTAVATO", (front + 0.002, 0, 2.68), 0.22, band, "front", 1.2))
    return made


LONG = {"symmetry": "mirror", "pixels": 384, "samples": 11}
MODELS = {
    "van": Model(build_van, {"white": {}, "grey": {"color": "grey", "lights": "on"}}, **LONG),
    "truck_box": Model(
        build_truck_box,
        {"white": {}, "blue": {"color": "blue", "load": (0.05, 0.09, 0.20)}},
        **LONG,
    ),
}
