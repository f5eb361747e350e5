"""Outfits, by name."""

from dataclasses import replace

from body.clothes import Cut
from body.gear import LIME, ORANGE
from body.person import Outfit

JEANS, FADED, NAVY = (0.075, 0.115, 0.21), (0.17, 0.24, 0.38), (0.035, 0.045, 0.085)
WHITE = (0.52, 0.52, 0.5)
_VEST = ("vest", {})
MAN = Outfit(zip=(0.2, 0.18, 0.15), top=(0.46, 0.4, 0.31), bottom=JEANS, shoes=WHITE, sole=(0.7, 0.7, 0.68))
WOMAN = Outfit(True, 1.66, hair="brown", style="long", top=(0.48, 0.035, 0.04), bottom=FADED, shoes=WHITE)
WOMAN = replace(WOMAN, cut=Cut(0.018, -0.13, fold=0.008, collar=0.03), loose=0.003, ankle=0.046)
TEEN = Outfit(False, 1.68, 0.2, 2, "black", "curly", top=(0.42, 0.43, 0.42), bottom=JEANS, shoes=WHITE)
TEEN = replace(
    TEEN, cut=Cut(0.02, -0.12, hood=True, fold=0.01), loose=0.012, ankle=0.07, gear=[("backpack", {})]
)
OLDER = Outfit(False, 1.69, 0, 0, "white", "short", top=(0.16, 0.24, 0.36), bottom=(0.36, 0.3, 0.21))
OLDER = replace(OLDER, cut=Cut(0.024, -0.16, collar=0.025, fold=0.012, belly=0.045), loose=0.014, ankle=0.07)
CHILD = Outfit(False, 1.18, 1.0, 0, "fair", "short", top=(0.7, 0.4, 0.03), bottom=FADED)
CHILD = replace(
    CHILD, cut=Cut(0.016, -0.12, hood=True, fold=0.009), loose=0.01, ankle=0.062, shoes=(0.5, 0.06, 0.04)
)
WORKER = Outfit(False, 1.79, 0, 1, "black", "crop", top=LIME, bottom=NAVY, bands=2)
WORKER = replace(
    WORKER, cut=Cut(0.016, -0.12, collar=0.02, fold=0.01), loose=0.016, ankle=0.074, shoes=(0.22, 0.13, 0.05)
)
OFFICER = Outfit(False, 1.82, 0, 0, "brown", "crop", top=(0.03, 0.04, 0.075), bottom=(0.025, 0.03, 0.055))
SHIRT = Cut(0.018, -0.11, sleeve=0.36, fold=0.009)

OUTFITS: dict[str, Outfit] = {
    "man": MAN,
    "woman": replace(WOMAN, gear=[("shoulder_bag", {})]),
    "teen": TEEN,
    "older": OLDER,
    "summer": replace(
        MAN,
        skin=2,
        hair="black",
        top=(0.66, 0.65, 0.62),
        cut=SHIRT,
        zip=None,
        gear=[("cap", {"rgb": (0.45, 0.4, 0.3)})],
    ),
    "dress": replace(
        WOMAN,
        hair="black",
        skin=1,
        style="bun",
        kind="skirt",
        top=(0.1, 0.3, 0.5),
        bottom=(0.1, 0.3, 0.5),
        cut=Cut(0.008, -0.08, sleeve=0.35),
    ),
    "coat": replace(
        WOMAN,
        hair="grey",
        style="bob",
        kind="coat",
        top=(0.44, 0.29, 0.15),
        bottom=(0.08, 0.07, 0.07),
        shoes=(0.12, 0.06, 0.03),
        cut=Cut(0.024, -0.16, collar=0.03),
    ),
    "suit": replace(
        MAN,
        skin=3,
        hair="grey",
        style="crop",
        top=(0.16, 0.175, 0.21),
        bottom=(0.16, 0.175, 0.21),
        shoes=(0.08, 0.04, 0.02),
        sole=(0.03, 0.03, 0.03),
        zip=(0.7, 0.7, 0.7),
        wedge=0.3,
        cut=Cut(0.016, -0.15, fold=0.007),
    ),
    "child": CHILD,
    "girl": replace(
        CHILD,
        hair="brown",
        style="tail",
        top=(0.55, 0.1, 0.2),
        bottom=JEANS,
        height=1.24,
    ),
    "worker": replace(WORKER, gear=[_VEST, ("hard_hat", {})]),
    "worker_orange": replace(
        WORKER,
        skin=2,
        top=ORANGE,
        bottom=ORANGE,
        gear=[("vest", {"rgb": ORANGE}), ("hard_hat", {"rgb": (0.8, 0.8, 0.77)})],
    ),
    "marshal": replace(MAN, top=(0.11, 0.19, 0.33), zip=None, gear=[_VEST]),
    "driver": replace(
        WOMAN,
        style="tail",
        hair="fair",
        top=(0.5, 0.48, 0.44),
        bottom=JEANS,
        gear=[("vest", {"woman": True})],
    ),
    "officer": replace(OFFICER, gear=[("vest", {}), ("peaked_cap", {})]),
    "rider": replace(
        WOMAN,
        style="tail",
        top=(0.07, 0.13, 0.26),
        bottom=(0.5, 0.45, 0.35),
        shoes=(0.02, 0.016, 0.014),
        gear=[("helmet", {"rgb": (0.02, 0.02, 0.025)})],
    ),
    "biker": replace(
        MAN,
        top=(0.05, 0.14, 0.4),
        zip=(0.6, 0.6, 0.6),
        cut=Cut(0.018, -0.11, collar=0.03, fold=0.008),
        bottom=JEANS,
        gloves=(0.05, 0.045, 0.04),
        shoes=(0.06, 0.05, 0.045),
        sole=(0.04, 0.04, 0.04),
        gear=[("full_helmet", {})],
    ),
    "courier": replace(
        MAN,
        skin=1,
        hair="black",
        top=(0.04, 0.32, 0.27),
        zip=None,
        gear=[("full_helmet", {"stripe": (0.04, 0.32, 0.27)})],
    ),
    "hauler": replace(
        OLDER, skin=1, hair="black", style="short", top=(0.45, 0.47, 0.5), cut=SHIRT, zip=None, gear=[]
    ),
    "hooded": replace(
        TEEN,
        skin=0,
        hair="brown",
        style="short",
        top=(0.1, 0.21, 0.14),
        bottom=(0.24, 0.24, 0.25),
        gear=[("cap", {"rgb": (0.45, 0.05, 0.04)})],
    ),
}

#: Outfits of those on wheels.
ON_WHEELS: dict[str, Outfit] = {
    "biker": replace(
        OUTFITS["biker"],
        top=(0.035, 0.075, 0.17),
        zip=(0.3, 0.3, 0.3),
        cut=Cut(0.02, -0.11, collar=0.03, fold=0.012),
        gear=[("full_helmet", {"rgb": (0.05, 0.055, 0.065), "stripe": (0.34, 0.03, 0.02)})],
    ),
    "courier": replace(
        OUTFITS["courier"],
        gear=[("full_helmet", {"rgb": (0.3, 0.3, 0.29), "stripe": (0.03, 0.05, 0.06)})],
    ),
    "pensioner": replace(
        OLDER, top=(0.26, 0.05, 0.035), bottom=(0.1, 0.1, 0.11), gear=[("cap", {"rgb": (0.05, 0.05, 0.06)})]
    ),
}
