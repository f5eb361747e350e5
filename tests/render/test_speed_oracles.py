"""The curve in the picture, read back from its pixels, against a Gaussian summed by hand."""

import math

import numpy as np
import pytest

from cfgen.geometry.trajectory import SPEED_SIGMA_S, speeds
from cfgen.render.canvas import TEAL
from cfgen.render.speed import SIZE, speed_plot

SIGMA_S = 0.25
T = 0.25 * np.arange(25)


def plan_of(v: np.ndarray) -> np.ndarray:
    """(24, 3) straight ahead with these mean speeds over the 24 steps."""
    return np.column_stack([np.cumsum(v * 0.25), np.zeros(24), np.zeros(24)])


def smoothed(steps: np.ndarray) -> np.ndarray:
    """(25,) central differences, then weights exp(-t^2 / 2 sigma^2), term by term; ends must be constant."""
    raw = np.concatenate([steps[:1], (steps[1:] + steps[:-1]) / 2, steps[-1:]])
    out = []
    for i in range(25):
        weight = [math.exp(-((0.25 * k / SIGMA_S) ** 2) / 2) for k in range(-8, 9)]
        near = [raw[min(max(i + k, 0), 24)] for k in range(-8, 9)]
        out.append(sum(w * n for w, n in zip(weight, near, strict=True)) / sum(weight))
    return np.array(out)


STEP = np.where(np.arange(24) < 12, 12.0, 4.0)
BUMP = 8.0 + 6.0 * (np.arange(24) == 12)


@pytest.mark.parametrize("steps", [STEP, BUMP])
def test_speeds_are_smoothed_by_a_quarter_of_a_second(steps):
    # the filter is cut off at four sigmas, which holds all but 6e-5 of it
    assert speeds(plan_of(steps)) == pytest.approx(smoothed(steps), abs=2e-3)


def test_the_width_of_a_bump_is_that_of_its_parts():
    """Variances add: the Gaussian's, and that of a difference over two steps."""
    bump = speeds(plan_of(BUMP)) - 8.0
    mean = (bump * T).sum() / bump.sum()
    width = (bump * (T - mean) ** 2).sum() / bump.sum()
    assert mean == pytest.approx(12.5 * 0.25)
    assert width == pytest.approx(SIGMA_S**2 + 0.125**2, rel=2e-3)
    assert bump.sum() == pytest.approx(6.0, rel=1e-4), "smoothing adds and takes nothing"
    assert SPEED_SIGMA_S == SIGMA_S


@pytest.mark.parametrize("steps", [STEP, BUMP])
def test_the_picture_shows_the_smoothed_speed(steps):
    """At each second on the time axis the curve's middle row is read off the speed axis."""
    picture = speed_plot(plan_of(steps))
    width, height = SIZE
    left, right, top, bottom = 62, width - 66, 74, height - 46
    expected = 3.6 * smoothed(steps)
    full = next(v for v in (20.0, 40.0, 60.0, 80.0) if v >= 1.06 * expected.max())
    for i in range(2, 23):
        x = round(left + T[i] / 6 * (right - left))
        rows = np.flatnonzero((picture[top:bottom, x] == TEAL).all(axis=-1)) + top
        shown = full * (bottom - rows.mean()) / (bottom - top)
        assert shown == pytest.approx(expected[i], abs=0.9), f"at {T[i]} s"
