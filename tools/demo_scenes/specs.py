"""What is in each demo scene: a place, a light, a road shape and traffic, drawn from a seed."""

import numpy as np

from .kinds_of_place import PLACES

CURVES = {  # curvature (1/m) at s (m); positive bends left
    "straight": ((0, 0.0), (130, 0.0), (210, 0.0035), (420, 0.0035)),
    "left": ((-80, 0.0), (10, 0.0005), (70, 0.0050), (200, 0.0050), (300, 0.0)),
    "right": ((-80, 0.0), (10, -0.0005), (70, -0.0050), (200, -0.0050), (300, 0.0)),
    "in_left": ((-100, 0.0065), (40, 0.0065), (90, 0.001), (300, 0.0)),
    "in_right": ((-100, -0.0065), (40, -0.0065), (90, -0.001), (300, 0.0)),
    "ess": ((-60, 0.003), (0, 0.001), (40, -0.006), (95, -0.004), (150, 0.006), (300, 0.0)),
    "sweep_left": ((-100, 0.0008), (300, 0.0012)),
    "sweep_right": ((-100, -0.0008), (300, -0.0012)),
    "bend_left": ((-60, 0.0), (10, 0.0), (30, 0.012), (80, 0.012), (110, 0.0)),
    "bend_right": ((-60, 0.0), (10, 0.0), (30, -0.012), (80, -0.012), (110, 0.0)),
}
SPEEDS = {
    "rural": (16, 21),
    "lane": (11, 14),
    "forest": (14, 18),
    "residential": (7, 10),
    "street": (8, 11),
    "urban": (9, 13),
    "arterial": (13, 17),
    "highway": (23, 27),
    "freeway": (25, 28),
}
KINDS = ("sedan", "suv", "hatch", "wagon", "sedan", "suv", "pickup", "van")
PAINTS = ("white", "black", "silver", "grey", "silver", "white", "red", "blue", "green", "sand")
AHEAD = {  # lanes beside the ego's, lanes of oncoming traffic, kerbside parking: t in metres
    "rural": ((), (1.75,), ()),
    "lane": ((), (1.6,), ()),
    "forest": ((), (1.75,), ()),
    "residential": ((), (1.75,), (-4.15, 4.15)),
    "street": ((), (1.75,), (-4.9, 4.9)),
    "urban": ((-5.0,), (1.75, 5.0), (-8.15, 8.15)),
    "arterial": ((-7.0,), (3.5, 7.0), ()),
    "highway": ((1.8,), (7.6, 11.2), ()),
    "freeway": ((3.5, -3.9), (10.2, 13.8, 17.4), ()),
}


def _car(rng):
    return str(rng.choice(KINDS)), str(rng.choice(PAINTS))


def _traffic(place, rng, speed, lead, busy, gaps):
    """Vehicles as make.py reads them; the ego's lane stays free up to the lead vehicle's gap."""
    beside, oncoming, kerb = AHEAD[place]
    out = []
    if lead:
        kind, paint = _car(rng)
        out.append(
            (kind, paint, float(lead), PLACES[place]["ego_t"], round(speed + rng.uniform(-0.5, 0.6), 2))
        )
    for t in beside:
        s = rng.uniform(14, 60)
        for _ in range(int(rng.integers(1, 3))):
            kind, paint = ("lorry", "white") if rng.random() < 0.22 and s > 25 else _car(rng)
            out.append(
                (
                    kind,
                    paint,
                    round(s, 1),
                    t,
                    round(speed + rng.uniform(-1.5, 1.5) + (1.0 if t > 0 else 0), 2),
                )
            )
            s += rng.uniform(22, 70)
    for t in oncoming:
        s = rng.uniform(16, 70)
        for _ in range(int(rng.integers(0, 2 + busy))):
            out.append((*_car(rng), round(s, 1), t, round(speed * rng.uniform(0.85, 1.05), 2), -1))
            s += rng.uniform(18, 60)
    for t in kerb:
        s = rng.uniform(-30, -12)
        while s < 150:
            near = 1.0 < s < 11.0
            if rng.random() < 0.35 + 0.2 * busy and not near and not any(a - 4 < s < b + 4 for a, b in gaps):
                out.append(
                    (*_car(rng), round(s, 1), t + round(rng.normal(0, 0.07), 2), None, 1 if t < 0 else -1)
                )
            s += rng.uniform(5.9, 8.5)
    return tuple(out)


def scene(place, light, seed, curve="straight", lead=0, busy=1, profile=None, **more):
    """One spec. profile = the ego's speed 2 s ago, in 3 s and in 6 s, relative to now (m/s)."""
    rng = np.random.default_rng([seed, 77])
    v = round(rng.uniform(*SPEEDS[place]), 1) if "v" not in more else more.pop("v")
    half = 3.6 + 6.0 + 6.0
    gaps = [(more["junction"] - half, more["junction"] + half)] if "junction" in more else []
    gaps += [(a - 7, a + 5) for a in more.get("crossings", ())]
    lens = (
        round(rng.uniform(65, 88), 1),
        round(rng.uniform(1.3, 1.6), 2),
        round(rng.uniform(0.5, 3.8), 2),
        round(rng.uniform(-0.8, 0.8), 2),
    )
    mood = np.random.default_rng([seed, 78])
    past, soon, late = profile or np.round(mood.normal(0, 0.045, 3) * v * [0.6, 0.7, 1.2], 2).tolist()
    spec = {
        "place": place,
        "light": light,
        "seed": seed,
        "curve": CURVES[curve],
        "camera": lens,
        "speed": ((-2, v + past), (0, v), (3, v + soon), (6, v + late)),
        "traffic": _traffic(place, rng, v, lead, busy, gaps) + tuple(more.pop("extra", ())),
        "azimuth": float(rng.choice([-140, -110, -75, -45, 45, 75, 110, 140])),
        "age": round(rng.uniform(0.25, 1.0), 2),
        "worn": round(rng.uniform(0.1, 0.6), 2),
        "tone": round(rng.uniform(0.065, 0.11), 3),
        "shape": curve,
    }
    return {**spec, **more}
