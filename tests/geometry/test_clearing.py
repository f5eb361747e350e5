"""A plan that clears a hazard: against stopping distance by hand, and shapely's areas along the way."""

import numpy as np
import pytest
import shapely

from cfgen.geometry.clearing import clearing_plan
from cfgen.geometry.path import EgoPath
from cfgen.records import Placement, Size
from tests.hazards import drawn

BOX = Size(length=1.0, width=1.0, height=1.0)
PATH = EgoPath.from_scene(drawn.scene())


def box(s: float, lateral: float = 0.0) -> Placement:
    return Placement(
        zone="ego_lane", x=s, y=lateral, yaw=0.0, size=BOX, distance_m=s, lateral_m=lateral, required_decel=1.0,
        foot_px=(0, 0), box_px=(0, 0, 1, 1),
    )  # fmt: skip


@pytest.mark.parametrize(("room", "brakes"), [(-1.0, False), (1.0, True)])
def test_braking_clears_what_lies_beyond_the_stopping_distance(room, brakes):
    """Half a second at 10 m/s and 10^2 / 8 m; the car's nose is 3.8 m ahead, the box begins half a metre before."""
    found = clearing_plan(PATH, 10.0, box(5.0 + 12.5 + 3.8 + 0.5 + room), BOX, lambda s, y: s < 0)
    assert (found is not None) == brakes


def test_a_shift_within_free_road_clears_what_braking_does_not_and_touches_nothing():
    place = box(32.0)
    found = clearing_plan(PATH, 15.0, place, BOX, lambda s, y: (y > -1.5) & (y < 5.0))
    assert np.shape(found) == (24, 3)
    assert max(y for _, y, _ in found) > 1.0
    thing = shapely.box(31.5, -0.5, 32.5, 0.5)
    for x, y, _ in found:
        assert not shapely.box(x - 0.9, y - 0.9, x + 3.7, y + 0.9).intersects(thing)
    assert clearing_plan(PATH, 15.0, place, BOX, lambda s, y: np.abs(y) < 1.2) is None
