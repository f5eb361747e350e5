"""Annotated boxes as the vehicles that a scene tells of."""

import numpy as np
import pytest

from cfgen.records import RoadUser
from cfgen.scenes.drive import raised
from cfgen.scenes.readers.traffic import Vehicles

TIMES = tuple(-2 + 0.25 * i for i in range(9))
DRIVE_T = np.arange(0, 12, 0.1)


def told(*rows: tuple[str, float, float, float, float], looked=None, size=(4.5, 1.8, 1.5), z=0.75, t0=4.0):
    """What a scene at ``t0`` of a car that stands at the world's origin is told of boxes: id, t, x, y, theta."""
    boxes = raised(np.array([row[2:] for row in rows]).reshape(-1, 3))
    boxes[:, 2, 3] = z
    stands = (DRIVE_T, np.tile(np.eye(4), (len(DRIVE_T), 1, 1)))
    vehicles = Vehicles.of(
        [row[0] for row in rows], ["car"] * len(rows), [row[1] for row in rows], boxes, [size] * len(rows),
        np.arange(0, 12, 0.5) if looked is None else looked, stands,
    )  # fmt: skip
    found = vehicles(t0, TIMES)
    for one in found or []:
        RoadUser.model_validate(one)
    return found


def way(one: dict, t: float) -> list[float]:
    return next(row[1:] for row in one["track"] if row[0] == t)


def test_a_parked_car_trembles_and_has_no_way():
    [one] = told(*[("p", t, 20 + 0.1 * (-1) ** i, 3.0, 0.0) for i, t in enumerate(np.arange(2, 5, 0.5))])
    assert one["v"] == 0
    assert "track" not in one
    assert (one["x"], one["y"]) == pytest.approx((20, 3), abs=0.11)


def test_one_that_was_annotated_for_half_a_second_drove_straight_on_before_and_after():
    [one] = told(("c", 3.0, 30.0, 0.0, 0.0), ("c", 2.5, 25.0, 0.0, 0.0))
    assert (one["x"], one["v"]) == pytest.approx((40, 10))
    assert way(one, -2.0) == pytest.approx([20, 0, 0])


def test_one_that_turned_about_is_told_by_its_nearest_boxes_whatever_came_later():
    rows = [("u", 2.0 + 0.5 * i, 20.0, 2.0 * i, 1.5) for i in range(5)]
    [one] = told(*rows, ("u", 9.0, 90.0, 90.0, 0.0))
    assert (one["x"], one["y"], one["v"]) == pytest.approx((20, 8, 4), abs=0.01)


@pytest.mark.parametrize(
    ("boxes", "how"),
    [
        ([("far", 4.0, 130.0, 0.0, 0.0)], {}),
        ([("gone", 1.0, 20.0, 0.0, 0.0)], {}),
        ([("later", 5.0, 20.0, 0.0, 0.0)], {}),
        ([("on a bridge", 4.0, 20.0, 0.0, 0.0)], {"z": 7.0}),
        ([("below", 4.0, 20.0, 0.0, 0.0)], {"z": -7.0}),
        ([], {}),
    ],
)
def test_what_is_elsewhere_is_not_told(boxes, how):
    assert told(*boxes, **how) == []


@pytest.mark.parametrize("looked", [[], [0.0, 1.0], [3.0, 3.5, 4.0], [1.0, 2.0, 3.0], [2.0, 2.5, 4.0], [6.0]])
def test_a_moment_that_nobody_annotated_tells_nothing(looked):
    assert told(("c", 4.0, 20.0, 0.0, 0.0), looked=looked) is None


def test_what_no_vehicle_does_is_bounded():
    jumps = [("j", 3.0, -110.0, 0.0, 0.0), ("j", 3.9, -110.0, 0.0, 0.0), ("j", 4.0, 110.0, 0.0, 0.0)]
    [one] = told(*jumps, size=(4.5, 0.0, 9.0))
    assert one["v"] <= 70
    assert one["track"] == [], "before, it was another"
    assert (one["width_m"], one["height_m"]) == (0.3, 6.0)


def test_values_that_are_no_numbers_are_named():
    with pytest.raises(ValueError, match="nan in row 1"):
        told(("a", 4.0, 1.0, 0.0, 0.0), ("b", 4.0, np.nan, 0.0, 0.0))
