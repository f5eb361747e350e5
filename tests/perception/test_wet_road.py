"""Houses painted along a road that mirrors them, or does not."""

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import horizon_rows, mounted
from cfgen.perception.light_probe import probe_light
from cfgen.perception.wet_road import wet_road
from cfgen.records import Camera

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=319.5, cy=179.5, T_cam_ego=mounted(1.5, 0.04))


def street(mirrors: float, of: str = "its houses") -> np.ndarray:
    """Walls of different greys before a bright sky over a grey road that shows ``mirrors`` of them upside down."""
    horizon = round(float(horizon_rows(CAMERA, np.array([320.0]))[0]))
    rng = np.random.default_rng(2)
    walls = np.repeat(rng.integers(40, 220, 40), 16).astype(float)
    above = np.repeat(walls[None], horizon, 0)
    above[:60] = 230
    shown = above[::-1] if of == "its houses" else np.roll(above[::-1], 100, 1)
    shown = (
        np.vstack([shown, np.full((360 - 2 * horizon, 640), 230.0)])
        if 2 * horizon < 360
        else shown[: 360 - horizon]
    )
    road = 110 * (1 - mirrors) + mirrors * shown
    grey = np.vstack([above, road]) + rng.normal(0, 2, (360, 640))
    return np.repeat(cv2.GaussianBlur(np.clip(grey, 0, 255), (0, 0), 1).astype(np.uint8)[..., None], 3, 2)


@pytest.mark.parametrize(
    ("mirrors", "of", "sunny", "wet"),
    [
        (0.5, "its houses", 0.1, True),
        (0.0, "its houses", 0.1, False),
        (0.5, "others", 0.1, False),
        (0.5, "its houses", 0.6, False),
    ],
    ids=["a mirror", "dull", "patches that mirror nothing", "shade on a sunny road"],
)
def test_a_road_that_shows_what_stands_along_it_upside_down_is_wet(mirrors, of, sunny, wet):
    found = wet_road(probe_light(street(mirrors, of), CAMERA), sunny)
    assert (found > 0.9) if wet else (found < 0.05)


def test_where_hardly_any_road_is_seen_nothing_is_told():
    assert wet_road(probe_light(street(0.5)[:172], CAMERA.model_copy(update={"height": 172})), 0.1) == 0
