"""Plots: what they draw, where, and that they keep still between pictures."""

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.render.bev import bev
from cfgen.render.canvas import ORANGE, TEAL, printable, text_width, wrap
from cfgen.render.delta import delta_table
from cfgen.render.panel import PanelItem, case_panel
from cfgen.render.speed import speed_plot

T = 0.25 * np.arange(1, 25)


def straight(speed: float, left: float = 0.0) -> np.ndarray:
    return np.stack([speed * T, left * T / 6, np.zeros(24)], axis=1)


def braking(speed: float, decel: float) -> np.ndarray:
    t = np.minimum(T, speed / decel)
    return np.stack([speed * t - decel * t**2 / 2, np.zeros(24), np.zeros(24)], axis=1)


def where(picture: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    """(N, 2) x, y of the pixels of one colour below the legend."""
    ys, xs = np.nonzero((picture[60:] == color).all(axis=-1))
    return np.stack([xs, ys + 60], axis=1)


def test_bev_draws_both_plans_forward_and_left():
    picture = bev(straight(10), straight(10, left=3))
    assert picture.shape == (720, 720, 3)
    assert picture.dtype == np.uint8
    teal, orange = where(picture, TEAL), where(picture, ORANGE)
    assert orange[:, 0].min() < teal[:, 0].min(), "a plan to the left must be drawn to the left"
    shorter = where(bev(straight(10), braking(10, 4)), ORANGE)
    assert shorter[:, 1].min() > teal[:, 1].min() + 100, "a plan that ends earlier must end lower"


def test_bev_of_one_plan_has_no_orange():
    assert len(where(bev(straight(10)), ORANGE)) == 0
    assert len(where(bev(straight(10)), TEAL)) > 200


def test_identical_plans_show_both_colours():
    picture = bev(straight(12), straight(12))
    assert len(where(picture, TEAL)) > 100
    assert len(where(picture, ORANGE)) > 100


@pytest.mark.parametrize(
    "plan",
    [
        np.zeros((24, 3)),
        straight(60, 2),
        np.stack([-T, T, T], axis=1),
        straight(1e9),
        np.stack([8 * np.sin(T), 8 - 8 * np.cos(T), T], axis=1),
    ],
)
def test_any_plan_stays_inside_the_picture(plan):
    picture = bev(straight(10), plan)
    drawn = where(picture, ORANGE)
    assert len(drawn) > 20
    assert drawn.min() > 20
    assert drawn.max() < 715
    assert speed_plot(straight(10), plan).shape == (380, 720, 3)


def test_speed_plot_goes_down_when_braking():
    drawn = where(speed_plot(straight(10), braking(10, 3)), ORANGE)
    left, right = drawn[drawn[:, 0] < 100], drawn[drawn[:, 0] > 600]
    assert np.median(left[:, 1]) + 50 < np.median(right[:, 1])


@pytest.mark.parametrize("bad", [np.full((24, 3), np.nan), np.zeros(24), np.zeros((1, 3))])
def test_plans_that_cannot_be_drawn_are_named(bad):
    with pytest.raises(InputError, match="modified plan: expected"):
        bev(straight(10), bad)
    with pytest.raises(InputError, match="modified plan: expected"):
        speed_plot(straight(10), bad)


def test_delta_table_by_hand():
    lines = delta_table(straight(10), straight(8, left=3)).splitlines()
    assert len(lines) == 7
    assert lines[1].split() == ["1", "-2.00", "+0.50", "-7.1"]  # hypot(8, 0.5) - 10 = -1.984 m/s
    assert lines[6].split() == ["6", "-12.00", "+3.00", "-7.1"]
    assert delta_table(straight(10), straight(10)).splitlines()[3].split() == ["3", "0.00", "0.00", "0.0"]


def test_pictures_are_the_same_every_time():
    def draw() -> list[np.ndarray]:
        return [bev(straight(9), straight(8, 1)), speed_plot(straight(9), straight(8, 1))]

    for first, second in zip(draw(), draw(), strict=True):
        assert np.array_equal(first, second)


def test_printable_keeps_to_the_font():
    assert printable("θ → é “x” 日本\tok") == 'theta -> e "x" ??    ok'


def test_wrap_keeps_every_word_and_every_width():
    text = "one two three " * 12 + "x" * 300 + "\nlast"
    lines = wrap(text, 200, 15)
    assert max(text_width(line, 15) for line in lines) <= 200
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def panel(**changes) -> np.ndarray:
    image = np.random.default_rng(0).integers(0, 255, (240, 320, 3), np.uint8)
    item = {
        "original_image": image,
        "modified_image": 255 - image,
        "original_plan": straight(10),
        "modified_plan": straight(7),
        "original_text": "keeps going <wp>[1,0,0]</wp> <wp>[2,0,0]</wp>",
        "modified_text": "slows down",
        "scores": {"reasoning": 2, "waypoints": 1, "overall": 0},
        "explanation": "names it",
    }
    return case_panel(PanelItem(**{**item, **changes}))


def test_panel_shows_both_frames_and_survives_what_is_missing():
    whole = panel()
    assert whole.shape[1] == 1680
    for missing in ({"modified_plan": None}, {"original_plan": None}, {"scores": {}}):
        assert panel(**missing).shape == whole.shape
        assert not np.array_equal(panel(**missing), whole)
    assert not np.array_equal(panel(modified_text="word " * 5000), whole)
