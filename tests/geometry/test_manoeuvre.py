"""What a plan does, against arithmetic on its waypoints."""

import numpy as np
import pytest

from cfgen.geometry.manoeuvre import Manoeuvre
from cfgen.geometry.path import EgoPath


def test_the_speed_at_the_end_is_that_of_its_last_half_second():
    """8 m/s until the last quarter of a second, which is driven at 4 m/s: 6 m/s over the last half."""
    speeds = np.array([8.0] * 15 + [4.0])
    waypoints = np.column_stack([np.cumsum(speeds * 0.25), np.zeros(16)])
    lane = EgoPath(np.array([0.0, 100.0]), np.array([[0.0, 0.0], [100.0, 0.0]]), np.zeros(2), 100.0)
    driven = Manoeuvre.of(waypoints, 8.0, lane)
    assert (driven.end, driven.slowest, driven.fastest) == pytest.approx((6.0, 4.0, 8.0))
