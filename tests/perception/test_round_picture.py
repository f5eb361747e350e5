"""The round picture of a fisheye lens is no pinhole's: told at the import, by the check and by the build."""

import cv2
import numpy as np
import pytest
from PIL import Image

from cfgen.core.errors import InputError
from cfgen.perception.round_picture import is_round, why_not_a_pinhole
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.guess import WorkerNeeds, camera_for
from tests.hazards import drawn

LIT = np.random.default_rng(0).integers(60, 200, (400, 640, 3), np.uint8)


def behind(radius: float, level: int = 4, across: float = 320.0) -> np.ndarray:
    """A picture that is seen within an ellipse, in half diagonals, and black around it."""
    v, u = np.mgrid[:400, :640]
    out = np.hypot(u - across, v - 199.5) > radius * np.hypot(320, 200)
    image = LIT.copy()
    image[out] = level
    return cv2.GaussianBlur(image, (0, 0), 3)


def test_black_corners_behind_an_arc_are_a_fisheyes():
    assert is_round(behind(0.85))
    assert is_round(behind(0.9, across=312.0))
    bumper = behind(0.85)
    bumper[330:, :200] = 150
    assert is_round(bumper), "the car itself may fill a corner"


def bars() -> np.ndarray:
    image = LIT.copy()
    image[:50] = image[-50:] = 0
    return image


def gantry() -> np.ndarray:
    image = LIT.copy()
    cv2.fillPoly(
        image, [np.array([(0, 0), (180, 0), (0, 120)]), np.array([(639, 0), (460, 0), (639, 120)])], (5,) * 3
    )
    return image


@pytest.mark.parametrize(
    "image",
    [LIT, bars(), gantry(), behind(0.85) // 8, behind(1.0), drawn.road()],
    ids=["lit", "letterbox", "two dark corners", "night", "whole", "road"],
)
def test_other_pictures_are_a_pinholes(image):
    assert not is_round(image)


def test_the_import_asks_for_the_lens(tmp_path):
    (tmp_path / "in").mkdir()
    Image.fromarray(behind(0.85)).save(tmp_path / "in" / "round.png")
    Image.fromarray(drawn.road()).save(tmp_path / "in" / "straight.png")
    summary = import_scenes(open_reader("image", tmp_path / "in", {}), tmp_path / "out", quiet=True)
    assert summary.written == 1
    [(name, why)] = summary.failed.items()
    assert name.endswith("round.png")
    assert (
        "found the round one of a fisheye lens (black corners); give the lens with --option camera=FILE"
        in why
    )
    with pytest.raises(InputError, match="fisheye lens"):
        camera_for(640, 400, WorkerNeeds(fov_deg=60.0, horizon_row=180.0), [behind(0.85)], None)


def test_a_scene_that_takes_it_for_a_pinhole_is_refused():
    why = why_not_a_pinhole(behind(0.85), drawn.CAMERA)
    assert why.startswith("the camera is a guess: a pinhole, where the frame is the round picture")
    bent = drawn.CAMERA.model_copy(update={"model": "fisheye", "distortion": (0.1, 0.0, 0.0, 0.0)})
    assert why_not_a_pinhole(behind(0.85), bent) == "" == why_not_a_pinhole(drawn.road(), drawn.CAMERA)
