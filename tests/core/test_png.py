"""Stored pictures: lossless whoever encodes them, and filtered as PNG says."""

from pathlib import Path

import numpy as np
import pytest

from cfgen.core import files, png
from cfgen.core.files import decode_image, opencv_png, png_bytes, stored_png

SHAPES = [(1, 1, 3), (5, 7, 3), (200, 33, 4), (97, 1, 3), (96, 5, 3)]


def pictures(shape: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, most, shape).astype(np.uint8) for most in (2, 256)]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_stored_is_read_again_as_it_was(shape: tuple[int, ...]) -> None:
    for pixels in pictures(shape):
        for encode in (stored_png, opencv_png):
            found = decode_image(encode(pixels), Path("x.png"), "RGB" if shape[2] == 3 else "RGBA")
            assert np.array_equal(found, pixels)


def test_without_libdeflate_opencv_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "has_libdeflate", lambda: False)
    pixels = pictures((9, 9, 3))[1]
    assert stored_png(pixels) == opencv_png(pixels)


def paeth(a: int, b: int, c: int) -> int:
    """As the standard writes it."""
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def test_each_byte_is_told_by_paeths_filter() -> None:
    for pixels in pictures((100, 4, 3)):
        rows = png.filtered(pixels)
        assert (rows[:, 0] == 4).all()
        around = np.zeros((101, 5, 3), int)
        around[1:, 1:] = pixels
        for y, x, plane in np.ndindex(pixels.shape):
            a, b, c = around[y + 1, x, plane], around[y, x + 1, plane], around[y, x, plane]
            assert rows[y, 1 + 3 * x + plane] == (pixels[y, x, plane] - paeth(a, b, c)) % 256


def test_laid_open_it_is_the_same_picture() -> None:
    pytest.importorskip("deflate")
    for pixels in (*pictures((200, 33, 3)), *pictures((1, 1, 3))):
        for encode in (stored_png, opencv_png, png_bytes):
            opened = png.inflated(encode(pixels))
            assert opened != encode(pixels)
            assert np.array_equal(decode_image(opened, Path("x.png")), pixels)


def test_what_cannot_be_laid_open_is_left_to_who_says_why() -> None:
    whole = stored_png(pictures((40, 30, 3))[1])
    damaged = (
        whole[:-40],
        whole[:600] + b"\0\0\0\0" + whole[604:],
        whole[:33],
        whole[:20],
        b"",
        b"\xff\xd8\xff",
    )
    for data in (*damaged, stored_png(pictures((9, 9, 4))[1])):
        assert png.inflated(data) == data
