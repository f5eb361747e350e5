"""Bicycles and their riders, upright and fallen."""

from dataclasses import replace

import numpy as np
from body.clothes import Cut
from body.parts import Part, Rgb, build, moved, pipe, settle, shell
from body.person import Outfit, person
from body.poses import PROPPED
from body.sdf import Solid, cone, ellipsoid, loft
from body.skeleton import Foot, Hand, Pose, turn
from body.wardrobe import JEANS, WHITE
from common import Model, Objects, about

BLACK: Rgb = (0.015, 0.015, 0.016)
STEEL: Rgb = (0.55, 0.55, 0.56)
CRANK = 0.17
#: The crank of who waits, degrees: the right pedal ahead and up.
HALTED = 205.0
#: The sides from which who crosses is seen.
SIDES = (75, 90, 105, 255, 270, 285)
BB = np.array([-0.06, 0, 0.285])


def wheel(x: float, radius: float, tyre: float, spokes: int = 32, turned: float = 0.0) -> list[Part]:
    """A spoked wheel on the ground with its axle at x."""
    a = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    hub = np.array([x, 0, radius])
    c, s = np.cos(turned), np.sin(turned)

    def rim(r: float, y: float = 0.0, angles=a) -> np.ndarray:
        return hub + np.stack(
            [r * np.cos(angles) * c - y * s, r * np.cos(angles) * s + y * c, r * np.sin(angles)], -1
        )

    parts = [pipe(rim(radius - tyre), tyre, (0.02, 0.02, 0.02), "rubber", True)]
    parts.append(pipe(rim(radius - tyre * 2.3), tyre * 0.62, (0.3, 0.3, 0.31), "metal", True))
    parts.append(pipe([np.add(hub, (0, -0.05, 0)), np.add(hub, (0, 0.05, 0))], 0.02, STEEL, "metal"))
    for i in range(spokes):
        t, side = 2 * np.pi * i / spokes, 0.028 * (-1) ** i
        root = rim(0.02, side, np.array([t + 1.2 * (-1) ** (i // 2)]))[0]
        parts.append(
            pipe([root, rim(radius - tyre * 2.3, 0, np.array([t]))[0]], 0.0017, STEEL, "metal", sides=5)
        )
    return parts


SEAT, TOP, FORK = np.array([-0.185, 0, 0.8]), np.array([0.365, 0, 0.875]), np.array([0.405, 0, 0.735])


def bicycle(
    rgb: Rgb, crank: float, drop: bool = False, rack: bool = True, basket: bool = False, steer: float = 0.0
) -> list[Part]:
    """A bicycle 1.7 m long facing +x.

    crank: the left pedal's angle in degrees, 0 forward, 90 up; drop: racing bars; steer: the bars' turn to the left.
    """
    parts = wheel(-0.5, 0.34, 0.014 if drop else 0.02)
    for a, b, r in ((BB, SEAT, 0.016), (BB, FORK, 0.021), (SEAT, TOP, 0.016)):
        parts.append(pipe([a, b], r, rgb, "gloss"))
    parts.append(pipe([SEAT, np.add(SEAT, (-0.03, 0, 0.13))], 0.013, STEEL, "metal"))
    for y in (0.06, -0.06):
        parts.append(pipe([np.add(BB, (0, y * 0.5, 0)), [-0.5, y, 0.34]], 0.009, rgb, "gloss"))
        parts.append(pipe([np.add(SEAT, (0, y * 0.3, -0.02)), [-0.5, y, 0.34]], 0.008, rgb, "gloss"))
    saddle = [cone((-0.33, y, 0.95), 0.045, (-0.1, 0.0, 0.955), 0.022) for y in (0.045, -0.045)]
    parts.append(shell(Solid().add(*saddle).clip((0, 0, 0.93), (0, 0, -1)), BLACK, "leather"))
    parts.append(_lamp((-0.235, 0, 0.84), (0.02, 0.025, 0.032)))
    if not drop:
        parts.append(_guard(-0.5, 0.375, np.linspace(0.5, 3.0, 20)))
    if rack:
        parts += [
            pipe([(-0.16, y, 0.76), (-0.66, y, 0.76), (-0.5, y * 1.3, 0.36)], 0.006, BLACK, "metal")
            for y in (0.06, -0.06)
        ]
        parts.append(_lamp((-0.67, 0, 0.75), (0.012, 0.045, 0.022)))
    axis = (TOP - FORK) / np.linalg.norm(TOP - FORK)
    cross = np.cross(np.eye(3), axis)
    turned = np.eye(3) - np.sin(np.radians(steer)) * cross + (1 - np.cos(np.radians(steer))) * cross @ cross
    return parts + _drive(crank) + moved(_front(rgb, drop, basket), turned, FORK - turned @ FORK)


def _front(rgb: Rgb, drop: bool, basket: bool) -> list[Part]:
    """What turns with the bars: fork, wheel, guard, stem, basket."""
    parts = wheel(0.53, 0.34, 0.014 if drop else 0.02) + _bars(drop)
    parts.append(pipe([TOP + (TOP - FORK) * 0.15, FORK], 0.021, rgb, "gloss"))
    for y in (0.06, -0.06):
        parts.append(
            pipe(
                [np.add(FORK, (0, y * 0.7, -0.01)), [0.44, y, 0.64], [0.53, y, 0.34]],
                [0.014, 0.013, 0.009],
                rgb,
                "gloss",
            )
        )
    if not drop:
        parts.append(_guard(0.53, 0.372, np.linspace(0.7, 3.0, 16)))
    if basket:
        box = Solid().add(loft([(0.62, 0, 0.78), (0.64, 0, 1.02)], [(0.1, 0.15), (0.13, 0.19)], power=5))
        box.cut(loft([(0.62, 0, 0.8), (0.64, 0, 1.1)], [(0.09, 0.14), (0.12, 0.18)], power=5))
        parts.append(shell(box, (0.2, 0.12, 0.05), "leather"))
    return parts


def _lamp(at: tuple, radii: tuple) -> Part:
    return shell(Solid().add(ellipsoid(at, radii)), (0.5, 0.01, 0.01), "gloss")


def _guard(x: float, r: float, angles: np.ndarray) -> Part:
    return pipe(
        [(x + r * np.cos(t), 0, 0.34 + r * np.sin(t)) for t in angles], 0.018, BLACK, "gloss", sides=6
    )


def _bars(drop: bool) -> list[Part]:
    stem = pipe(
        [(0.36, 0, 0.9), (0.35, 0, 0.95 if drop else 1.0), (0.42, 0, 0.97 if drop else 1.02)],
        0.014,
        BLACK,
        "gloss",
    )
    if drop:
        side = [
            (0.42, 0, 0.97),
            (0.42, 0.17, 0.97),
            (0.45, 0.2, 0.97),
            (0.52, 0.2, 0.96),
            (0.545, 0.205, 0.91),
            (0.51, 0.21, 0.85),
            (0.43, 0.21, 0.835),
        ]
        hoods = [
            pipe(
                [(0.5, 0.2 * s, 0.965), (0.57, 0.2 * s, 1.0), (0.585, 0.2 * s, 0.93)],
                [0.018, 0.016, 0.008],
                BLACK,
                "rubber",
            )
            for s in (1, -1)
        ]
    else:
        side = [(0.42, 0, 1.02), (0.43, 0.12, 1.025), (0.41, 0.22, 1.03), (0.36, 0.31, 1.02)]
        hoods = [
            pipe([(0.405, 0.235 * s, 1.03), (0.36, 0.32 * s, 1.02)], 0.017, BLACK, "rubber") for s in (1, -1)
        ]
    return [
        stem,
        *hoods,
        *(pipe([(x, y * s, z) for x, y, z in side], 0.0125, BLACK, "gloss") for s in (1, -1)),
    ]


def _pedal(crank: float, side: int) -> np.ndarray:
    a = np.radians(crank + (0 if side > 0 else 180))
    return np.add(BB, (CRANK * np.cos(a), 0.13 * side, CRANK * np.sin(a)))


def _drive(crank: float) -> list[Part]:
    ring = [
        np.add(BB, (0.095 * np.cos(a), -0.05, 0.095 * np.sin(a)))
        for a in np.linspace(0, 2 * np.pi, 32, endpoint=False)
    ]
    parts = [pipe(ring, 0.006, STEEL, "metal", True)]
    for z in (1, -1):
        parts.append(
            pipe(
                [np.add(BB, (0, -0.05, 0.095 * z)), [-0.5, -0.05, 0.34 + 0.035 * z]],
                0.004,
                BLACK,
                "metal",
                sides=5,
            )
        )
    for side in (1, -1):
        p = _pedal(crank, side)
        parts.append(pipe([np.add(BB, (0, 0.06 * side, 0)), p - [0, 0.05 * side, 0]], 0.011, STEEL, "metal"))
        parts.append(
            shell(
                Solid().add(
                    loft(
                        [p - [0.05, 0, 0], np.add(p, (0.05, 0, 0))],
                        [(0.012, 0.04)] * 2,
                        front=(0, 0, 1),
                        power=5,
                    )
                ),
                BLACK,
                "rubber",
            )
        )
    return parts


def riding(crank: float, k: float, drop: bool = False) -> Pose:
    """The pose of a rider `k` times 1.75 m tall on a `bicycle`."""

    def foot(side: int) -> Foot:
        p = _pedal(crank, side)
        tip = 12.0 + 14 * np.sin(np.radians(crank + (0 if side > 0 else 180)))
        t = np.radians(tip)
        back, rise = 0.07 * np.sin(t) - 0.12 * np.cos(t), 0.12 * np.sin(t) + 0.095 * np.cos(t)
        ankle = np.add(p, (back, -0.015 * side, rise))
        return Foot(tuple(ankle / k), pitch=tip, yaw=4, knee=(1, 0.1, 0.4))

    wrist, fingers, palm = (
        ((0.45, 0.2, 1.045), (1, 0, -0.2), (-0.2, -0.5, -1))
        if drop
        else ((0.315, 0.275, 1.07), (1, -0.1, -0.4), (-0.4, 0, -1))
    )
    hands = [
        Hand(
            tuple(np.array(wrist) * (1, s, 1) / k),
            fingers,
            (palm[0], palm[1] * s, palm[2]),
            58,
            True,
            (-0.4, 0.8, -0.9),
        )
        for s in (1, -1)
    ]
    lean = (38, 58) if drop else (20, 36)
    return Pose(
        foot(1),
        foot(-1),
        *hands,
        pelvis=tuple(np.array([-0.215, 0, 1.055]) / k),
        pelvis_turn=(0, lean[0], 0),
        chest_turn=(0, lean[1], 0),
        head_turn=(0, 8, 0),
    )


RIDERS: dict[str, dict] = {
    "commuter": {
        "wear": Outfit(
            False,
            1.78,
            top=(0.62, 0.72, 0.05),
            cut=Cut(0.017, -0.13, collar=0.03, fold=0.01),
            bottom=JEANS,
            loose=0.006,
            ankle=0.052,
            shoes=WHITE,
            gear=[("helmet", {"rgb": (0.65, 0.65, 0.63)})],
        ),
        "bike": {"rgb": (0.5, 0.06, 0.03)},
        "crank": -65,
    },
    "racer": {
        "wear": Outfit(
            False,
            1.8,
            skin=1,
            top=(0.45, 0.03, 0.025),
            cut=Cut(0.004, -0.1, sleeve=0.35, fold=0.004),
            bottom=(0.012, 0.012, 0.014),
            kind="shorts",
            loose=0.002,
            ankle=0.058,
            shoes=(0.5, 0.5, 0.5),
            sole=(0.05, 0.05, 0.05),
            gear=[("helmet", {"rgb": (0.6, 0.6, 0.58), "trim": (0.4, 0.03, 0.025)})],
        ),
        "bike": {"rgb": (0.5, 0.5, 0.5), "drop": True, "rack": False},
        "crank": 100,
    },
    "woman": {
        "wear": Outfit(
            True,
            1.68,
            hair="fair",
            style="tail",
            top=(0.2, 0.36, 0.45),
            cut=Cut(0.016, -0.14, collar=0.02, fold=0.009),
            bottom=JEANS,
            loose=0.004,
            ankle=0.048,
            shoes=(0.35, 0.33, 0.3),
            gear=[("backpack", {"rgb": (0.25, 0.16, 0.06)})],
        ),
        "bike": {"rgb": (0.35, 0.33, 0.26), "basket": True},
        "crank": 20,
    },
}


def waiting(k: float, drop: bool, over: np.ndarray) -> Pose:
    """Astride the frame before the saddle: the left foot on the road, the right one on its pedal, hands on the bars.

    over: how the bicycle leans, its crank at HALTED.
    """
    ride, pedal = riding(HALTED, k, drop), _pedal(HALTED, -1)
    hands = {
        side: replace(hand, wrist=tuple(over @ np.array(hand.wrist)), curl=50)
        for side, hand in (("left_hand", ride.left_hand), ("right_hand", ride.right_hand))
    }
    return replace(
        ride,
        left_foot=Foot((0.0, 0.27, 0.085), pitch=4, yaw=10),
        right_foot=Foot(
            tuple(over @ np.add(pedal, (-0.1, 0.01, 0.1)) / k), pitch=6, yaw=2, knee=(1, 0.15, 0.4)
        ),
        **hands,
        pelvis=(-0.1, 0.055, 0.91),
        pelvis_turn=(-3, 10, 0),
        chest_turn=(-2, 30 if drop else 22, 0),
        head_turn=(0, 5, 0),
    )


def waiting_cyclist(seed: int = 0, who: str = "commuter", waits: bool = True) -> Objects:
    """Someone who has not set off on a bicycle yet, a foot on the road."""
    spec, over = RIDERS[who], turn((-6, 0, 0))
    pose = waiting(spec["wear"].height / 1.75, spec["bike"].get("drop", False), over)
    helmeted = any(name == "helmet" for name, _ in spec["wear"].gear)
    parts = person(pose, spec["wear"], seed, bare_head=not helmeted)[1]
    return build(settle([*parts, *moved(bicycle(crank=HALTED, **spec["bike"]), over)]))


def cyclist(seed: int = 0, who: str = "commuter") -> Objects:
    """Someone riding a bicycle."""
    spec = RIDERS[who]
    drop = spec["bike"].get("drop", False)
    helmeted = any(name == "helmet" for name, _ in spec["wear"].gear)
    _, parts = person(
        riding(spec["crank"], spec["wear"].height / 1.75, drop), spec["wear"], seed, bare_head=not helmeted
    )
    return build([*parts, *bicycle(crank=spec["crank"], **spec["bike"])])


def falling_cyclist(seed: int = 0, who: str = "commuter", lean: float = 38.0) -> Objects:
    """A cyclist going down to the left, a leg thrown out."""
    spec = RIDERS[who]
    k, over = spec["wear"].height / 1.75, turn((-lean, 0, 0))
    pose = riding(80, k)
    out = np.array([-0.05, 0.98, 0.12]) @ over / k
    pose = replace(
        pose,
        left_foot=Foot(tuple(out), pitch=-5, roll=lean, knee=(0.6, 1, 0.2)),
        chest_turn=(14, 40, -8),
        head_turn=(24, 20, 10),
    )
    parts = person(pose, spec["wear"], seed, bare_head=False)[1]
    bike = bicycle(crank=80, steer=26, **spec["bike"])
    return build(settle(moved([*parts, *bike], over)))


def parked(seed: int = 0, rgb: Rgb = (0.06, 0.3, 0.2)) -> Objects:
    """A bicycle on its stand, nobody near."""
    stand = pipe([(-0.12, 0.04, 0.3), (-0.2, 0.16, 0.02)], 0.009, STEEL, "metal")
    return build(settle(moved([*bicycle(rgb, 70, basket=True, steer=18), stand], turn((-6, 0, 0)))))


def fallen_cyclist(seed: int = 0, who: str = "commuter") -> Objects:
    """A cyclist half sitting on the road after a fall, side on, the bicycle on its side behind."""
    spec = RIDERS[who]
    helmeted = any(name == "helmet" for name, _ in spec["wear"].gear)
    _, parts = person(PROPPED, spec["wear"], seed, bare_head=not helmeted)
    bike = moved(bicycle(crank=-10, steer=38, **spec["bike"]), turn((0, 0, 84)) @ turn((72, 4, 0)))
    low = min(float(p.v[:, 2].min()) for p in bike)
    bike = moved(bike, np.eye(3), (-0.5, -0.1, -0.012 - low))
    return build(settle([*moved(parts, turn((0, 0, -72)), (0.62, 0.25, 0)), *bike]))


MODELS = {
    "cyclist_falling": Model(falling_cyclist, {"commuter": {}}, samples=10),
    "bicycle": Model(parked, {"green": {}}, samples=10),
    "cyclist": Model(cyclist, {w: {"who": w} for w in RIDERS}, samples=10),
    # who has not set off yet (cfgen/inpaint/composite/inpainter.py: in_step)
    "cyclist_gait": Model(
        waiting_cyclist,
        {f"{w}_stand": {"who": w, "waits": True} for w in RIDERS},
        azimuths=SIDES,
        samples=10,
    ),
    "cyclist_fallen": Model(
        fallen_cyclist, {"commuter": {}, "racer": {"who": "racer"}}, pixels=330, azimuths=about(0), samples=10
    ),
}
