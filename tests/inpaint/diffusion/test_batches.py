"""Batches that shrink when memory runs out."""

import pytest

from cfgen.core.errors import CfgenError
from cfgen.inpaint.diffusion.base import Batches

torch = pytest.importorskip("torch", reason='needs pip install ".[sdxl]"')


def fits(most: int, sizes: list[int]):
    def work(part):
        sizes.append(len(part))
        if len(part) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return [2 * n for n in part]

    return work


def test_batches_halve_until_they_fit_and_stay_that_small():
    sizes: list[int] = []
    batches = Batches(8)
    assert list(batches.run(range(10), fits(3, sizes))) == [2 * n for n in range(10)]
    assert sizes == [8, 4, 2, 2, 2, 2, 2]
    assert list(batches.run(range(3), fits(3, sizes))) == [0, 2, 4]
    assert batches.report() == {"out_of_memory": {"asked": 8, "fits": 2}}


def test_enough_memory_leaves_no_trace():
    batches = Batches(4)
    assert list(batches.run(range(6), fits(4, []))) == [0, 2, 4, 6, 8, 10]
    assert batches.report() == {}


def test_a_single_image_that_does_not_fit_is_an_error_that_says_what_to_do():
    with pytest.raises(CfgenError, match=r"out of memory with a single image.*resolution"):
        list(Batches(4).run(range(4), fits(0, [])))
