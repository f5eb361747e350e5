"""Plots of plans of any size: a picture, or an error that says what is wrong with the plan."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgen.core.errors import InputError
from cfgen.geometry.trajectory import FARTHEST_M, deltas, resample, speeds
from cfgen.render.bev import bev
from cfgen.render.delta import delta_table
from cfgen.render.panel import PanelItem, case_panel
from cfgen.render.speed import speed_plot
from tests.properties import worlds

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1e-300, 1e-9, 0.5, -3.0, 1e6, -1e6, 1e12]), st.floats(-1e12, 1e12)
)


@st.composite
def plans(draw: st.DrawFn) -> np.ndarray:
    """(24, 3): zeros, one point again and again, a line to anywhere, or anything."""
    kind = draw(st.sampled_from(["zeros", "point", "line", "any"]))
    end = np.array([draw(NUMBERS) for _ in range(3)])
    if kind == "any":
        return np.array([[draw(NUMBERS) for _ in range(3)] for _ in range(24)])
    share = {"zeros": np.zeros(24), "point": np.ones(24), "line": np.linspace(0, 1, 24)}[kind]
    return share[:, None] * end


@worlds.examples(25)
@given(original=plans(), modified=st.one_of(st.none(), plans()))
def test_every_finite_plan_is_drawn(original, modified):
    assert bev(original, modified).shape == (720, 720, 3)
    assert speed_plot(original, modified).shape == (380, 720, 3)
    assert np.isfinite(speeds(original)).all()
    if modified is not None:
        assert len(delta_table(original, modified).splitlines()) == 7
        assert np.isfinite(np.array(deltas(original, modified))).all()


@worlds.examples(10)
@given(plan=plans(), bad=st.sampled_from([np.nan, np.inf, -np.inf, 1e13, 1.7e308]))
def test_a_plan_without_numbers_is_refused(plan, bad):
    plan[5, 1] = bad
    for draw in (bev, speed_plot, lambda p: delta_table(np.zeros((24, 3)), p)):
        with pytest.raises(InputError, match=r"(modified|original) plan"):
            draw(plan)
    with pytest.raises(InputError, match="plan: "):
        resample(np.arange(1, 25) / 4, plan)


@worlds.examples(4)
@given(plan=plans(), size=st.sampled_from([(1, 1, 3), (1, 500, 3), (900, 1, 3), (90, 160, 3)]))
def test_a_panel_takes_frames_of_any_shape(plan, size):
    frame = np.zeros(size, np.uint8)
    panel = case_panel(PanelItem(frame, frame, plan, None, "", "a" * 300))
    assert panel.shape[1] == 1680


@worlds.examples(40)
@given(st.data())
def test_a_resampled_plan_is_on_the_path_it_came_from(data):
    """A straight drive at constant speed, sampled at any times, comes back exactly."""
    speed = data.draw(st.sampled_from([0.0, 1e-9, 3.0, 60.0, FARTHEST_M / 10]))
    steps = data.draw(st.lists(st.floats(0.01, 2.0), min_size=1, max_size=30))
    times = np.cumsum(steps)
    plan = np.column_stack([speed * times, np.zeros((len(times), 2))])
    if times[-1] < 4.0:
        with pytest.raises(InputError, match="at most"):
            resample(times, plan)
        return
    expected = speed * 0.25 * np.arange(1, 25)
    assert resample(times, plan)[:, 0] == pytest.approx(expected, rel=1e-6, abs=1e-6)
