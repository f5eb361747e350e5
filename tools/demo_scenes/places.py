"""Surface and dressing for each kind of place, from a scene's spec."""

import numpy as np

from . import dress, furniture
from .shape import put
from .surface import Sheet


def surface(site):
    """Bake and lay the road of the site's place."""
    spec, rng = site.spec, site.rng
    wide = site.inner - site.right
    pix = (0.03, 0.0125) if wide < 13 else (0.035, 0.016)
    lo, hi = -72.0, 190.0
    sheet = Sheet(rng, lo, hi, site.right, site.inner, pix, spec.get("tone", 0.085))
    age = spec.get("age", 0.5)
    sheet.tracks(spec["lanes"])
    sheet.cracks(
        int(70 * age),
        int(60 * age),
        rng.uniform(0.1, 0.55),
        [t for t, _ in spec["lines"]][:2] if age > 0.4 else (),
    )
    for _ in range(rng.poisson(7 * age)):
        sheet.patch(
            rng.uniform(lo, hi - 9),
            rng.uniform(site.right, site.inner - 2.5),
            rng.uniform(1.2, 9),
            rng.uniform(0.8, 2.6),
            rng.choice([0.7, 0.8, 1.25]),
        )
    if spec.get("kerb"):
        for _ in range(7):
            sheet.manhole(rng.uniform(lo + 2, hi - 2), rng.choice(spec["lanes"]) + rng.normal(0, 0.5))
    for t, kind in spec["lines"]:
        dash = {"wd": (3.0, 9.0), "yd": (3.0, 9.0)}.get(kind)
        sheet.line(t, 0.13, dash, kind.startswith("y"))
    if site.side:
        _junction_paint(site, sheet)
    for at in spec.get("crossings", ()):
        _crossing(sheet, at, site)
    sheet.dusty_edges(site.inner, site.right, 0.35 if spec.get("kerb") else 0.75)
    site.pave(sheet, spec.get("worn", 0.3))


def _crossing(sheet, at, site):
    """Ladder crossing from at to at + 3 m with a stop line before it."""
    sheet.clear(at - 0.2, at + 3.2)
    for t in np.arange(site.right + 0.6, site.inner - 0.5, 1.2):
        sheet.bar(at, at + 3.0, t, t + 0.6)
    sheet.bar(at - 1.8, at - 1.4, site.right + 0.4, -0.3)


def _junction_paint(site, sheet):
    at, half = site.spec["junction"], site.side_half
    sheet.clear(at - half - site.radius + 1, at + half + site.radius - 1)
    if site.spec.get("zebra"):
        _crossing(sheet, at - half - 4.6, site)
        _crossing(sheet, at + half + 1.8, site)


def furnish(site, nursery, light, scratch):
    """Dress the site as its place asks."""
    night = light == "dusk"
    {
        "rural": _rural,
        "lane": _rural,
        "forest": _forest,
        "residential": _residential,
        "urban": _urban,
        "street": _urban,
        "arterial": _arterial,
        "highway": _highway,
        "freeway": _highway,
    }[site.spec["place"]](site, nursery, night, scratch)
    dress.signs(site, site.spec.get("signs", ()), scratch)


def _rural(site, nursery, night, scratch):
    spec, rng = site.spec, site.rng
    trees = spec.get("trees", ("oak", "oak", "shrub"))
    tall = {"golden": 0.42, "green": 0.22}.get(spec["soil"], 0.3)
    dress.turf(site, tall, {"golden": 0.85, "green": 0.3}.get(spec["soil"], 0.5), 0.06, start=0.5)
    dress.woods(site, nursery, spec.get("count", 90), trees, 7.0, 75.0, clump=0.75)
    dress.woods(site, nursery, 90, ("shrub", "scrub"), 4.5, 30.0, scale=(0.4, 1.2), clump=0.6)
    dress.woods(site, nursery, 170, trees, 60.0, 260.0, lo=20, hi=420, clump=0.8, scale=(0.9, 1.5))
    if spec.get("poles", True):
        dress.pole_line(site, (site.left + 4.2) * spec.get("pole_side", 1))
    if spec.get("fence"):
        for side in spec.get("fence_sides", (-1,)):
            t = (site.left + 5.2) if side > 0 else (site.right - 5.2)
            _low(site, furniture.fence(site.road, -60, 200, t, spec["fence"]), -0.32)
    if spec.get("rail"):
        for a, b, side in spec["rail"]:
            put(furniture.guardrail(site.road, a, b, (site.left + 0.9) if side > 0 else (site.right - 0.9)))
    for s, t, yaw in spec.get("barns", ()):
        from .buildings import barn

        site.stand(barn(f"barn{s}", rng), s, t, yaw)
    if spec.get("homes"):
        site.spec = spec
        dress.houses(site, 14.0, 20, 200, pitch=(38, 60), night=night)
    for s in np.arange(-50, 200, 25.0) if spec.get("delineators") else ():
        for t in (site.left + 0.6, site.right - 0.6):
            site.stand(furniture.small("delineator"), s, t)


def _low(site, mesh, z):
    return put(mesh, (0, 0, z))


def _forest(site, nursery, night, scratch):
    spec = site.spec
    kinds = spec.get("trees", ("spruce", "spruce", "pine", "oak"))
    dress.turf(site, 0.2, 0.5, 0.03, start=0.8, reach=6.0)
    dress.woods(site, nursery, 90, ("shrub", "scrub"), 3.6, 16.0, scale=(0.35, 1.0))
    dress.woods(site, nursery, spec.get("count", 520), kinds, 5.0, 48.0, scale=(0.7, 1.3))
    if spec.get("rail"):
        for a, b, side in spec["rail"]:
            put(furniture.guardrail(site.road, a, b, (site.left + 0.9) if side > 0 else (site.right - 0.9)))
    for s in np.arange(-50, 200, 25.0) if spec.get("delineators") else ():
        for t in (site.left + 0.6, site.right - 0.6):
            site.stand(furniture.small("delineator"), s, t)


def _residential(site, nursery, night, scratch):
    spec, rng = site.spec, site.rng
    dress.houses(site, spec.get("setback", 11.5), night=night)
    dress.lawn(site, -25, 55, 0.1, 1.5, 0.15)
    dress.lawn(site, -10, 48, 3.3, 9.5, 0.17)
    dress.row(site, nursery, spec.get("tree", "street"), 1.0, -40, 190, 11.0)
    dress.row(site, nursery, "oak", 9.0, -40, 200, 21.0, skip=0.35, scale=(0.55, 0.9))
    dress.row(site, nursery, "shrub", 10.3, -40, 160, 3.1, skip=0.45, scale=(0.35, 0.8))
    dress.row(
        site,
        nursery,
        "hedge",
        4.3,
        -30,
        130,
        2.0,
        sides=spec.get("hedges", (1,)),
        skip=0.08,
        scale=(0.7, 0.8),
    )
    dress.woods(site, nursery, 150, ("oak", "oak", "poplar", "spruce"), 26.0, 90.0, hi=260)
    if spec.get("poles", True):
        dress.pole_line(site, site.left + 0.8, step=34.0)
    dress.lamps(site, -site.right + 0.7, sides=(-1,), step=36.0, lit=night)
    for s in np.arange(-20, 140, 19.0):
        site.stand(furniture.small("mailbox"), s + rng.normal(0, 2), site.right - 0.5, -np.pi / 2)
        if rng.random() < 0.4:
            site.stand(furniture.small("bin"), s + 4, site.right - 0.8, rng.normal(0, 0.4) + np.pi / 2)
    site.stand(furniture.small("hydrant"), 26.0, site.right - 0.6)


def _urban(site, nursery, night, scratch):
    spec, rng = site.spec, site.rng
    dress.street(
        site, spec["walk"] + 0.35, night=night, low=spec.get("low", False), gap=spec.get("gap", 0.12)
    )
    dress.row(
        site, nursery, spec.get("tree", "street"), 0.9, -40, 220, spec.get("tree_step", 10.0), skip=0.25
    )
    dress.lamps(site, site.left + 0.5, sides=(1, -1), step=30.0, lit=night)
    for s in np.arange(-20, 120, 14.0):
        for side in (-1, 1):
            t = (site.left + 0.7) if side > 0 else (site.right - 0.7)
            if rng.random() < 0.35 and not any(a < s < b for a, b in site.gaps):
                site.stand(furniture.small(rng.choice(["hydrant", "bin"])), s, t, rng.uniform(0, 6))
    if site.side and spec.get("signals", True):
        _signals(site)


def _signals(site):
    at, half = site.spec["junction"], site.side_half
    state = site.spec.get("state", "green")
    far = at + half + 5.5
    for s, t, yaw, colour in (
        (far, site.right - 0.8, 0, state),
        (at - half - 5.5, site.left + 0.8, np.pi, state),
    ):
        p = site.road.at(s, t)
        arm = min(7.5, abs(t) - 1.2)
        put(
            furniture.signal(round(arm, 1), colour),
            (p[0], p[1], p[2] + 0.1),
            float(site.road.heading(s)) + yaw,
        )


def _arterial(site, nursery, night, scratch):
    spec = site.spec
    site.drives = {1: [], -1: []}
    dress.street(site, 17.0, -40, 280, night, True, 0.8)
    dress.lawn(site, -30, 55, 0.1, 1.9, 0.15)
    dress.row(site, nursery, "street", 1.1, -50, 240, 12.0, skip=0.3)
    dress.row(site, nursery, "shrub", 6.5, -50, 160, 2.2, skip=0.3, scale=(0.35, 0.6))
    dress.woods(site, nursery, 140, ("oak", "poplar", "oak"), 40.0, 120.0, hi=320)
    dress.lamps(site, site.left + 0.6, sides=(1, -1), step=42.0, lit=night)
    if site.side and spec.get("signals", True):
        _signals(site)


def _highway(site, nursery, night, scratch):
    spec = site.spec
    trees = spec.get("trees", ("oak", "shrub", "oak", "scrub"))
    golden = spec["soil"] == "golden"
    dress.turf(site, 0.4 if golden else 0.22, 0.85 if golden else 0.4, 0.06, start=1.0, reach=7.5, hi=58)
    dress.woods(site, nursery, spec.get("count", 60), trees, 9.0, 60.0, sides=(-1,), clump=0.7)
    dress.woods(
        site,
        nursery,
        200,
        ("oak", "oak", "shrub", "poplar"),
        45.0,
        300.0,
        lo=10,
        hi=460,
        clump=0.75,
        scale=(0.9, 1.6),
    )
    if spec.get("median", "jersey") == "jersey":
        put(furniture.jersey(site.road, -90, 320, site.inner + 0.35))
    else:
        put(furniture.guardrail(site.road, -90, 320, site.inner + 0.6))
    for a, b in spec.get("rails", ((-70, 120),)):
        put(furniture.guardrail(site.road, a, b, site.right - 0.6))
    if night:
        dress.lamps(site, -site.right + 1.5, sides=(-1,), step=45.0, lit=True)
