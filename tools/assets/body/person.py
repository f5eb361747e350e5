"""Someone dressed: who they are, what they wear, and the parts it takes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from body.anatomy import hair, hand, head
from body.clothes import Cut, arms, legs, shoe, skirt, top, trousers, zip_line
from body.gear import banded, gear
from body.parts import Part, Rgb
from body.skeleton import Pose, Skeleton

SKINS: tuple[Rgb, ...] = ((0.52, 0.32, 0.23), (0.42, 0.24, 0.15), (0.31, 0.17, 0.1), (0.17, 0.095, 0.06))
HAIRS: dict[str, Rgb] = {
    "black": (0.024, 0.019, 0.016),
    "brown": (0.045, 0.025, 0.014),
    "fair": (0.24, 0.15, 0.07),
    "grey": (0.36, 0.35, 0.34),
    "white": (0.62, 0.61, 0.59),
    "red": (0.14, 0.05, 0.02),
}


JACKET = Cut(ease=0.02, hem=-0.15, collar=0.03, fold=0.01)


@dataclass(frozen=True)
class Outfit:
    """Who it is and what they wear; colours are linear. wedge: how open the top is over a shirt of the
    zip's colour; bands: reflective ones round each shin."""

    woman: bool = False
    height: float = 1.76
    child: float = 0.0
    skin: int = 0
    hair: str = "brown"
    style: str = "short"
    top: Rgb = (0.05, 0.06, 0.09)
    cut: Cut = JACKET
    zip: Rgb | None = None
    wedge: float = 0.0
    bottom: Rgb = (0.05, 0.065, 0.11)
    kind: str = "trousers"
    loose: float = 0.01
    ankle: float = 0.066
    shoes: Rgb = (0.06, 0.05, 0.045)
    sole: Rgb = (0.5, 0.5, 0.48)
    bands: int = 0
    gloves: Rgb | None = None
    gear: Sequence[tuple[str, dict]] = field(default=())


def person(pose: Pose, wear: Outfit, seed: int = 0, bare_head: bool = True) -> tuple[Skeleton, list[Part]]:
    """The parts of a dressed person in a pose, and the skeleton they hang on."""
    s = Skeleton(pose, wear.height, wear.child, 0.15 if wear.woman else 0.168 - 0.02 * wear.child)
    skin, tint = SKINS[wear.skin], HAIRS[wear.hair]
    parts = [head(s, skin, tint, wear.woman, wear.child, seed)]
    parts += hair(s, wear.style if bare_head else "crop", tint, seed)
    parts += [hand(arm, s.k, wear.gloves or skin, side, seed) for side, arm in s.arms.items()]
    upper = top(s, wear.top, wear.cut, wear.woman, seed)
    parts.append(zip_line(upper, s, wear.zip, wear.wedge) if wear.zip else upper)
    if wear.cut.sleeve < 1:
        parts.append(arms(s, skin, seed))
    if wear.kind == "skirt":
        parts += [legs(s, skin, seed), skirt(s, wear.bottom, 0.42, 0.05, seed)]
    elif wear.kind == "shorts":
        parts += [
            legs(s, skin, seed),
            trousers(s, wear.bottom, wear.woman, seed, wear.loose, wear.ankle, 0.46),
        ]
    else:
        worn = trousers(s, wear.bottom, wear.woman, seed, wear.loose, wear.ankle, belly=wear.cut.belly)
        parts.append(banded(worn, s, wear.bands))
    if wear.kind == "coat":
        parts.append(skirt(s, wear.top, 0.36, 0.05, seed + 3))
    parts += [shoe(leg, s.k, wear.shoes, wear.sole, seed) for leg in s.legs.values()]
    for name, options in wear.gear:
        parts += gear(s, name, **options)
    return s, parts
