"""Which variant of a model a case shows, and that a coat can be seen."""

from types import SimpleNamespace

from cfgen.inpaint.composite.inpainter import pick
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
