"""What a car's skin carries: seams and lamps painted on it; mirrors, plates, wipers and the like standing proud."""

from __future__ import annotations

import math

import bpy
import numpy as np
from car_bodies import Body, Finish
from common import Objects, blob, box, lathe, material, tube
from fittings import lettering
from shell import Polygon, Shell, rounded

# Letters that read the same in a mirror, as half of the views are mirrored.
PLATE = "8XH OTM"


def paint_ends(shell: Shell, body: Body, finish: Finish) -> None:
    """Shut lines of bumpers, boot lid and fuel flap, the plate's hollow, reflectors and lettering."""
    x, _, z = np.moveaxis(shell.points, -1, 0)
    tail, clear = x.min() + 0.42, body.wheel + 0.085
    front, rear = finish.split
    shell.groove(np.minimum(front - z, x - body.axles[0] - clear))
    shell.groove(np.minimum(rear - z, body.axles[1] - clear - x))
    shell.groove(shell.rear(rounded(finish.lid, 0.05), tail))
    shell.groove(shell.sides(_oblong(*finish.flap, 0.14, 0.14)), 0.007)
    shell.fill(shell.rear(_oblong(0.62, rear - 0.17, 0.17, 0.035), tail), "reflector")
    shell.fill(shell.rear(_oblong(0.40, finish.badges[1], 0.17, 0.022), tail), "chrome")
    pocket = ((0.60, front - 0.19), (0.76, front - 0.17), (0.78, front - 0.09), (0.64, front - 0.08))
    shell.fill(shell.front(rounded(pocket, 0.02), x.max() - 0.5), "black")


def _oblong(u: float, v: float, wide: float, tall: float) -> Polygon:
    """A rectangle about (u, v) with rounded corners."""
    a, b = wide / 2, tall / 2
    corners = ((u - a, v - b), (u + a, v - b), (u + a, v + b), (u - a, v + b))
    return rounded(corners, 0.3 * min(wide, tall))


def paint_front(shell: Shell, body: Body, nose: float) -> None:
    """Grille with bright bars, intake, and headlamps: dark glass over bright bowls, amber at the corner."""
    _, y, z = np.moveaxis(shell.points, -1, 0)
    grille = shell.front(rounded(body.grille, 0.04), nose)
    shell.fill(grille + 0.014, "chrome")
    shell.fill(grille, "black")
    heights = [height for _, height in body.grille]
    for bar in np.linspace(max(heights), min(heights), 5)[1:-1]:
        shell.fill(np.minimum(grille - 0.008, bar + 0.006 - z), "chrome")
        shell.fill(np.minimum(grille - 0.008, bar - 0.006 - z), "black")
    shell.fill(shell.front(rounded(body.intake, 0.05), nose), "black")
    lens = shell.front(rounded(body.headlamp, 0.05), nose)
    shell.fill(lens + 0.008, "black")
    shell.fill(lens, "lens")
    for at, height in body.lamps:
        shell.fill(np.minimum(lens - 0.008, 0.07 - np.hypot(abs(y) - at, z - height)), "chrome")
    outer = max(at for at, _ in body.headlamp) - 0.10
    shell.fill(np.minimum(lens - 0.008, abs(y) - outer), "tail_amber")


def paint_tail(shell: Shell, body: Body, behind: float) -> None:
    """Tail lamps: a red housing with a brighter bar above, reversing lamp and indicator below a dark split."""
    _, y, z = np.moveaxis(shell.points, -1, 0)
    lamp = shell.rear(rounded(body.tail, 0.035), behind)
    ys, zs = zip(*body.tail, strict=True)
    low, tall = min(zs), max(zs) - min(zs)
    middle = 0.5 * (min(ys) + min(max(ys), 0.9 * float(y.max())))
    shell.fill(lamp + 0.008, "black")
    shell.fill(lamp, "tail")
    shell.fill(
        np.minimum(lamp - 0.012, np.minimum(z - low - 0.56 * tall, low + 0.88 * tall - z)), "tail_glow"
    )
    shell.fill(np.minimum(lamp, low + 0.47 * tall + 0.004 - z), "black")
    shell.fill(np.minimum(lamp, low + 0.47 * tall - 0.004 - z), "tail")
    lower = np.minimum(lamp - 0.012, np.minimum(z - low - 0.12 * tall, low + 0.38 * tall - z))
    shell.fill(np.minimum(lower, middle - 0.01 - abs(y)), "tail_clear")
    shell.fill(np.minimum(lower, abs(y) - middle - 0.01), "tail_amber")


def build_trim(
    shell: Shell, body: Body, paint: bpy.types.Material, lights: str, with_door: bool = True
) -> Objects:
    """Shut lines, handles, mirrors, plates, lamps. with_door: the left front door is there, with what it carries."""
    gap = material("gap", (0.008, 0.008, 0.008), 0.8, spec=0.1)
    made: Objects = []
    for door in body.doors:
        made += shell.seam(door, gap, 0.0055)
    for i, at in enumerate(body.handles):
        for side in (1, -1) if with_door or i else (-1,):
            made += build_handle(shell, at, side, paint, gap)
    for side in (1, -1) if with_door else (-1,):
        made += build_mirror(shell, body, side, paint)
    start, run = body.windscreen[0] + 0.06, shell.points[..., 0].max() - 0.22
    hood = [(start + t * (run - start), 0.70 - 0.12 * t) for t in np.linspace(0, 1, 12)]
    for s in (1, -1):
        spots = [shell.on_top(u, v) for u, v in hood]
        made.append(tube([(a, s * b, c + 0.001) for a, b, c in spots], 0.006, gap, sides=4))
    return made + _plates(shell, body) + _lamps(shell, body, lights)


def build_handle(
    shell: Shell, at: tuple[float, float], side: int, paint: bpy.types.Material, gap: bpy.types.Material
) -> Objects:
    """A door's handle over its hollow, on the left (1) or right (-1) flank."""
    x, z = at
    _, y, _ = shell.on_side(x, z)
    bar = box((x, side * (y + 0.014), z), (0.19, 0.028, 0.03), paint, 0.01)
    return [bar, box((x + 0.01, side * (y + 0.002), z - 0.018), (0.15, 0.01, 0.03), gap, 0.004)]


def build_mirror(shell: Shell, body: Body, side: int, paint: bpy.types.Material) -> Objects:
    """The mirror of the left (1) or right (-1) front door."""
    black = material("black trim", (0.014, 0.014, 0.014), 0.45)
    silvered = material("silvered", (0.62, 0.62, 0.64), 0.05, metal=1.0)
    x, z = body.mirror
    _, y, _ = shell.on_side(x, z - 0.04)
    near, far, middle = (x, side * (y + 0.11), z), (x - 0.01, side * (y + 0.19), z + 0.005), side * (y + 0.15)
    foot = [(x, side * (y - 0.01), z - 0.06), (x, side * (y + 0.09), z - 0.03)]
    return [
        blob([(near, 0.075, far, 0.065, (0.65, 1, 0.95))], paint, 0.012, 4),
        box((x - 0.048, middle, z), (0.03, 0.19, 0.125), black, 0.014),
        box((x - 0.06, middle, z), (0.012, 0.155, 0.095), silvered, 0.005),
        tube(foot, 0.022, black),
    ]


def _plates(shell: Shell, body: Body) -> Objects:
    plate = material("plate", (0.58, 0.58, 0.56), 0.5)
    ink = material("ink", (0.02, 0.03, 0.10), 0.6)
    frame = material("plate frame", (0.012, 0.012, 0.012), 0.5)
    made: Objects = []
    for forward, z in ((True, body.intake[0][1] + 0.035), (False, body.plate_rear)):
        x, _, _ = shell.on_end(0.0, z, forward)
        out = 0.012 if forward else -0.012
        made.append(box((x + out * 0.7, 0, z), (0.012, 0.37, 0.14), frame, 0.004))
        made.append(box((x + out, 0, z), (0.012, 0.34, 0.115), plate, 0.004))
        made.append(lettering(PLATE, (x + out * 1.7, 0, z), 0.047, ink, "front" if forward else "rear"))
    return made


def _lamps(shell: Shell, body: Body, lights: str) -> Objects:
    """Projectors in the headlamps, the third brake light."""
    white = material("beam", (1.0, 0.93, 0.82), 0.2, emit=24.0 if lights == "on" else 0.0)
    red = material("brake", (0.5, 0.01, 0.008), 0.2, emit={"brake": 7.0, "on": 0.8}.get(lights, 0.0))
    made: Objects = []
    for s in (1, -1):
        for (y, z), r, turn in zip(body.lamps, (0.05, 0.04), (0.2, 0.5), strict=True):
            x, _, _ = shell.on_end(s * y, z, True)
            profile, at = [(0.0, 0.012), (r * 0.7, 0.008), (r, -0.01)], (x - 0.006, s * y, z)
            made.append(lathe(profile, white, 24, center=at, rot=(0, math.pi / 2, s * turn)))
    x, _, z = shell.on_top(body.rear_glass[0] - 0.05, 0.0)
    made.append(box((x + 0.03, 0, z - 0.01), (0.02, 0.28, 0.02), red, 0.005))
    return made


def build_extras(shell: Shell, body: Body, finish: Finish, paint: bpy.types.Material) -> Objects:
    """Badges, wipers, exhaust, aerial; a hatch's spoiler and rear wiper; roof rails on what wears cladding."""
    black = material("black trim", (0.012, 0.012, 0.012), 0.4)
    chrome = material("chrome", (0.62, 0.62, 0.64), 0.15, metal=1.0)
    made: Objects = []
    for forward, z, r in ((True, finish.badges[0], 0.055), (False, finish.badges[1], 0.042)):
        x, _, _ = shell.on_end(0.0, z, forward)
        profile = [(0.0, 0.012), (r * 0.6, 0.012), (r * 0.75, 0.006), (r, 0.004), (r, -0.01)]
        turn = math.pi / 2 if forward else -math.pi / 2
        made.append(lathe(profile, chrome, 24, center=(x, 0, z), rot=(0, turn, 0)))
    x, _, z = shell.on_end(0.5, body.stations[-1][2], False)
    for s in (1, -1):
        made.append(tube([(x + 0.3, s * 0.5, z - 0.03), (x - 0.02, s * 0.5, z - 0.025)], 0.03, black))
    foot = body.windscreen[0]
    for y, reach in ((0.50, -0.02), (0.0, -0.48)):
        made.append(
            _on_top(shell, [(foot - 0.02, y), (foot - 0.10, 0.5 * (y + reach)), (foot - 0.14, reach)], black)
        )
    x, _, z = shell.on_top(body.rear_glass[0] + 0.2, 0.0)
    made.append(blob([((x, 0, z), 0.03, (x - 0.09, 0, z + 0.035), 0.014, (1, 0.6, 1))], black, 0.008, 2))
    if finish.hatch:
        made += _spoiler(shell, body, paint)
        foot = body.rear_glass[1]
        made.append(_on_top(shell, [(foot + 0.03, 0.0), (foot + 0.10, 0.22), (foot + 0.11, 0.42)], black))
    if finish.cladding:
        ends = np.linspace(body.windscreen[1] - 0.15, body.rear_glass[0] + 0.1, 12)
        rail = body.stations[len(body.stations) // 2][4] * 0.90
        for s in (1, -1):
            made.append(_on_top(shell, [(u, s * rail) for u in ends.tolist()], chrome, 0.016, 0.035))
    return made


def _on_top(
    shell: Shell, line: Polygon, paint: bpy.types.Material, radius: float = 0.008, over: float = 0.012
) -> bpy.types.Object:
    """A bar through (x, y) points, `over` metres above the upper skin."""
    spots = [shell.on_top(x, y) for x, y in line]
    return tube([(x, y, z + over) for x, y, z in spots], radius, paint, sides=8)


def _spoiler(shell: Shell, body: Body, paint: bpy.types.Material) -> Objects:
    """The roof drawn out over the rear glass, casting its shade on it."""
    x, _, z = shell.on_top(body.rear_glass[0] + 0.03, 0.0)
    wide = body.stations[-4][4] * 1.75
    return [box((x - 0.03, 0, z - 0.003), (0.2, wide, 0.036), paint, 0.016, rot=(0, -0.10, 0), segments=3)]
