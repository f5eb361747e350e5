"""The metres of the taxonomy are those of the sprites that stand for it."""

import pytest

from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.composite import sprites

DRAWN = [
    (entry.id, entry.size, entry.model, variant)
    for entry in load_taxonomy()
    if entry.model
    for variant in sprites.list_variants(entry.model)
]


@pytest.mark.parametrize(
    ("name", "size", "model", "variant"), DRAWN, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_sprite_fills_its_hazards_box_and_stays_inside(name, size, model, variant):
    drawn = sprites.load(model, variant).size
    for metres, limit in zip(drawn, (size.length, size.width, size.height), strict=True):
        assert metres <= 1.15 * limit + 0.05
    assert max(drawn) >= 0.7 * max(size.length, size.width, size.height)


def test_most_hazards_have_sprites():
    assert len({name for name, *_ in DRAWN}) >= 12
