"""Outfits, by name."""

from dataclasses import replace

from body.clothes import Cut
from body.person import Outfit

_VEST = ("vest", {})
MAN = Outfit(zip=(0.02, 0.02, 0.02), top=(0.045, 0.05, 0.055), bottom=(0.2, 0.15, 0.095))
WOMAN = Outfit(True, 1.66, hair="brown", style="long", top=(0.3, 0.025, 0.03), bottom=(0.03, 0.032, 0.04))
WOMAN = replace(WOMAN, cut=Cut(0.018, -0.13, fold=0.008, collar=0.03), loose=0.003, ankle=0.046)
TEEN = Outfit(False, 1.68, 0.2, 2, "black", "curly", top=(0.33, 0.34, 0.33), bottom=(0.1, 0.14, 0.22))
TEEN = replace(
    TEEN, cut=Cut(0.02, -0.12, hood=True, fold=0.01), loose=0.012, ankle=0.07, gear=[("backpack", {})]
)
OLDER = Outfit(False, 1.69, 0, 0, "grey", "thin", top=(0.22, 0.17, 0.11), bottom=(0.09, 0.085, 0.075))
OLDER = replace(OLDER, cut=Cut(0.024, -0.16, collar=0.025, fold=0.012, belly=0.045), loose=0.014, ankle=0.07)
CHILD = Outfit(False, 1.18, 1.0, 0, "fair", "short", top=(0.04, 0.13, 0.36), bottom=(0.06, 0.075, 0.11))
CHILD = replace(
    CHILD, cut=Cut(0.016, -0.12, hood=True, fold=0.009), loose=0.01, ankle=0.062, shoes=(0.35, 0.05, 0.04)
)
WORKER = Outfit(False, 1.79, 0, 1, "black", "crop", top=(0.05, 0.055, 0.075), bottom=(0.045, 0.05, 0.065))
WORKER = replace(
    WORKER, cut=Cut(0.016, -0.12, collar=0.02, fold=0.01), loose=0.016, ankle=0.074, shoes=(0.1, 0.06, 0.025)
)
OFFICER = Outfit(False, 1.82, 0, 0, "brown", "crop", top=(0.012, 0.015, 0.03), bottom=(0.012, 0.014, 0.026))
SHIRT = Cut(0.012, -0.11, sleeve=0.36, fold=0.009)

OUTFITS: dict[str, Outfit] = {
    "man": MAN,
    "woman": replace(WOMAN, gear=[("shoulder_bag", {})]),
    "teen": TEEN,
    "older": OLDER,
    "summer": replace(
        MAN, skin=2, hair="black", top=(0.4, 0.4, 0.38), cut=SHIRT, zip=None, bottom=(0.035, 0.04, 0.06)
    ),
    "dress": replace(
        WOMAN,
        hair="black",
        skin=1,
        style="bun",
        kind="skirt",
        top=(0.05, 0.13, 0.12),
        bottom=(0.05, 0.13, 0.12),
        cut=Cut(0.008, -0.08, sleeve=0.35),
    ),
    "coat": replace(
        WOMAN,
        hair="grey",
        style="bob",
        kind="coat",
        top=(0.13, 0.07, 0.05),
        cut=Cut(0.024, -0.16, collar=0.03),
    ),
    "suit": replace(
        MAN,
        skin=3,
        hair="black",
        style="crop",
        top=(0.02, 0.022, 0.03),
        bottom=(0.02, 0.022, 0.03),
        zip=(0.4, 0.4, 0.4),
    ),
    "child": CHILD,
    "girl": replace(
        CHILD,
        woman=False,
        hair="brown",
        style="tail",
        top=(0.45, 0.08, 0.13),
        bottom=(0.12, 0.1, 0.2),
        height=1.24,
    ),
    "worker": replace(WORKER, gear=[_VEST, ("hard_hat", {})]),
    "worker_orange": replace(
        WORKER,
        skin=2,
        bottom=(0.6, 0.12, 0.015),
        gear=[("vest", {"rgb": (0.8, 0.15, 0.015)}), ("hard_hat", {"rgb": (0.75, 0.75, 0.72)})],
    ),
    "marshal": replace(MAN, top=(0.03, 0.035, 0.05), bottom=(0.03, 0.03, 0.035), gear=[_VEST]),
    "driver": replace(WOMAN, style="tail", top=(0.1, 0.1, 0.1), bottom=(0.06, 0.075, 0.12), gear=[_VEST]),
    "officer": replace(OFFICER, gear=[("vest", {}), ("peaked_cap", {})]),
    "rider": replace(
        WOMAN,
        style="tail",
        top=(0.03, 0.05, 0.08),
        bottom=(0.35, 0.3, 0.22),
        shoes=(0.02, 0.016, 0.014),
        gear=[("helmet", {"rgb": (0.02, 0.02, 0.025)})],
    ),
    "biker": replace(
        MAN,
        top=(0.015, 0.015, 0.017),
        cut=Cut(0.018, -0.11, collar=0.03, fold=0.008),
        bottom=(0.03, 0.035, 0.05),
        gloves=(0.015, 0.015, 0.016),
        shoes=(0.015, 0.014, 0.013),
        sole=(0.02, 0.02, 0.02),
        gear=[("full_helmet", {})],
    ),
    "courier": replace(
        MAN,
        skin=1,
        hair="black",
        top=(0.03, 0.2, 0.17),
        zip=None,
        bottom=(0.03, 0.032, 0.038),
        gear=[("full_helmet", {"rgb": (0.35, 0.35, 0.34)})],
    ),
    "hauler": replace(
        OLDER, skin=1, hair="black", style="short", top=(0.2, 0.22, 0.24), cut=SHIRT, zip=None, gear=[]
    ),
    "hooded": replace(
        TEEN,
        skin=0,
        hair="brown",
        style="short",
        top=(0.02, 0.022, 0.025),
        bottom=(0.03, 0.032, 0.036),
        gear=[("cap", {})],
    ),
}
