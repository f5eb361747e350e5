"""What an edit changes is compressed as its frame was; the oracle is libjpeg, through Pillow."""

import io

import cv2
import numpy as np
import pytest
from PIL import Image

from cfgen.inpaint.paste import recompress
from cfgen.perception.jpeg_grid import jpeg_grid_of

SAMPLINGS = {"4:4:4": (0, (1, 1)), "4:2:2": (1, (2, 1)), "4:2:0": (2, (2, 2))}


def picture(height=192, width=256):
    """Soft patches with some grain: what photographs have."""
    rng = np.random.default_rng(2)
    patches = cv2.resize(rng.integers(30, 220, (9, 12, 3)).astype(np.float32), (width, height))
    return np.clip(patches + rng.normal(0, 5, (height, width, 1)), 0, 255).astype(np.uint8)


def packed(image, quality=70, sampling="4:2:0"):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality, subsampling=SAMPLINGS[sampling][0])
    return file.getvalue()


def opened(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def everything(image):
    return 0, 0, image.shape[1], image.shape[0]


def with_disc(image):
    changed = image.copy()
    cv2.circle(changed, (130, 90), 40, (200, 40, 60), -1)
    return changed


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_tables_and_sampling_are_those_of_the_file(sampling):
    data = packed(picture(), 70, sampling)
    found = jpeg_grid_of(data)
    expected = Image.open(io.BytesIO(data)).quantization
    assert list(np.ravel(found.luma)) == list(expected[0])
    assert list(np.ravel(found.chroma)) == list(expected[1])
    assert found.sampling == SAMPLINGS[sampling][1]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_an_insert_comes_out_as_libjpeg_would_have_it(sampling):
    data = packed(picture(), 70, sampling)
    frame = opened(data)
    changed = with_disc(frame)
    jpeg_grid = jpeg_grid_of(data)
    truth = opened(packed(changed, 70, sampling)).astype(int)
    compressed = recompress(jpeg_grid, frame, changed, everything(frame))[0].astype(int)
    inside = np.s_[60:120, 100:160]
    off, uncompressed = (np.abs(image - truth)[inside].mean() for image in (compressed, changed.astype(int)))
    assert off < 0.5
    assert off < 0.4 * uncompressed
    far = np.ones(frame.shape[:2], bool)
    far[32:144, 80:192] = False
    assert np.array_equal(compressed[far], frame[far])


def test_what_did_not_change_and_what_has_no_jpeg_grid_is_left_alone():
    frame = picture()
    jpeg_grid = jpeg_grid_of(packed(frame, 60))
    assert np.array_equal(recompress(jpeg_grid, frame, frame.copy(), everything(frame))[0], frame)
    changed = with_disc(frame)
    compressed, within = recompress(None, frame, changed, (80, 40, 180, 140))
    assert np.array_equal(compressed, changed)
    assert within == (80, 40, 180, 140)


def test_a_frame_that_is_no_jpeg_has_no_grid():
    file = io.BytesIO()
    Image.fromarray(picture()).save(file, "PNG")
    assert jpeg_grid_of(file.getvalue()) is jpeg_grid_of(b"no image") is None


def test_a_part_at_the_frames_edge_and_beyond_whole_blocks():
    data = packed(picture(101, 117))
    frame = opened(data)
    changed = frame.copy()
    changed[90:, 100:] = (250, 10, 10)
    jpeg_grid = jpeg_grid_of(data)
    compressed = recompress(jpeg_grid, frame, changed, everything(frame))[0]
    truth = opened(packed(changed)).astype(int)
    assert np.abs(compressed.astype(int) - truth)[92:, 102:].mean() < 3
    assert np.array_equal(compressed[:80, :96], frame[:80, :96])
