"""Which variant of a model a case shows, and that a coat can be seen."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from cfgen.inpaint.composite.inpainter import pick
from cfgen.inpaint.composite.sprites import load
from cfgen.perception.colour import luminance
from cfgen.records import Size


def test_a_look_means_one_variant_of_the_placements_size():
    names, sizes = ["a", "b", "c"], [Size(length=1, width=1, height=h) for h in (1.0, 1.0, 2.0)]

    def shown(look, height=1.0):
        placement = SimpleNamespace(size=Size(length=1, width=1, height=height))
        return pick(
            names,
            sizes,
            SimpleNamespace(hazard=SimpleNamespace(look=look, prompt="a thing"), placement=placement, seed=3),
        )

    assert [shown(k) for k in (0, 1, 3, 4)] == ["a", "b", "a", "b"]
    assert [shown(2, 2.0), shown(0, 2.0)] == ["c", "c"]  # what does not fit is not shown
    assert {shown(None)} < {"a", "b"}


@pytest.mark.parametrize(("model", "variant"), [("cattle", "three"), ("dog", "labrador")])
@pytest.mark.parametrize("side", [1, -1])
def test_a_coat_is_not_one_black_shape(model, variant, side):
    view = load(model, variant).view(side * math.pi / 2)
    shown = view.rgba[view.rgba[..., 3] > 0.95, :3]
    assert np.median(luminance(shown)) > 0.045  # under a sky that shows the road at 0.10
