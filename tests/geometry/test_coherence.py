"""What no driver means is no motion; what a driver could mean is one, shaken, rounded, late or hard as it may be."""

import math

import numpy as np
import pytest

from cfgen.geometry.coherence import incoherent
from cfgen.geometry.driving import CarState
from cfgen.geometry.trajectory import headings, resample

T = 0.25 * np.arange(1, 25)
RNG = np.random.default_rng(11)


def along(distance, beside=0.0) -> np.ndarray:
    return np.column_stack([distance, beside + 0 * T, 0 * T])


def braked(speed: float, decel: float) -> np.ndarray:
    t = np.minimum(T, speed / decel)
    return along(speed * t - decel * t**2 / 2)


def smooth(offset: float, takes: float) -> np.ndarray:
    part = np.clip(T / takes, 0, 1)
    return offset * part**2 * (3 - 2 * part)


@pytest.mark.parametrize("speed", [7.0, 13.0, 28.0])
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda v: along(v * T, 1.5 * (-1.0) ** np.arange(24)), "beside|scatter|off|side to side"),
        (lambda v: along(v * T, 2.0 * np.sin(2 * np.pi * T / 1.2)), "beside|off|scatter"),
        (lambda v: braked(v, 3)[np.random.default_rng(3).permutation(24)], "backwards|off|scatter"),
        (lambda v: along(v * T - 20.0 * (T > 2)), "backwards|off|scatter"),
        (lambda v: along(v * T, 5.0 * (T > 1.5)), "beside|off|scatter"),
        (lambda v: along(0 * T), "off"),
        (lambda v: along(-v * T), "backwards"),
        (lambda v: along(2.5 * v * T), "off"),
    ],
    ids=["zigzag", "weaving", "scrambled", "jump back", "leap", "instant stop", "reversed", "far too fast"],
)
def test_what_no_car_drives_is_named(make, why, speed):
    found = incoherent(make(speed), CarState(speed))
    assert found
    assert any(word in found for word in why.split("|")), found


@pytest.mark.parametrize("speed", [5.0, 13.0, 28.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda v: along(v * T),
        lambda v: braked(v, 3.0),
        lambda v: braked(v, 9.0),
        lambda v: along(v * T, smooth(3.5, 3.0)),
        lambda v: along(v * T, smooth(2.5, 2.5) - np.append(np.zeros(12), smooth(2.5, 2.5)[:12])),
        lambda v: along(1.12 * v * T),
        lambda v: np.round(braked(v, 3.0), 1),
        lambda v: braked(v, 3.0) + RNG.normal(0, 0.08, (24, 3)),
        lambda v: braked(v, 3.0)[:12],
    ],
    ids=["keeps", "brakes", "brakes hard", "changes lane", "round it", "fast", "rounded", "shakes", "short"],
)
def test_what_a_driver_means_is_a_motion(make, speed):
    assert incoherent(make(speed), CarState(speed)) == ""


@pytest.mark.parametrize("held", [2, 4, 6])
@pytest.mark.parametrize(("speed", "decel"), [(12.0, 2.5), (20.0, 4.0), (28.0, 5.0)])
def test_places_held_and_leapt_between_are_no_motion(speed, decel, held):
    """A braking plan held for 0.5, 1 or 1.5 s: seen so, it stands and leaps as no engine can."""
    fine = braked(speed, decel)
    steps = np.repeat(fine[::held], held, axis=0)
    assert incoherent(fine, CarState(speed)) == ""
    found = incoherent(steps, CarState(speed))
    assert "scatter" in found or "off" in found or "throttle" in found, found


@pytest.mark.parametrize("speed", [3.0, 8.0, 15.0, 28.0])
@pytest.mark.parametrize("seed", range(5))
def test_noise_rounding_and_coarse_samples_make_no_motion_incoherent(speed, seed):
    """0.3 m of noise, rounding to 1 m and 2 Hz; headings from the waypoints are not held against them."""
    fine = braked(speed, 3.0)
    noisy = fine[:, :2] + np.random.default_rng(seed).normal(0, 0.3, (24, 2))
    at_2_hz = resample(T[1::2], fine[1::2, :2] + np.random.default_rng(seed).normal(0, 0.1, (12, 2)))
    for xy in (noisy, np.round(fine[:, :2] + 0.1 * seed), at_2_hz[:, :2]):
        untold = np.vstack([np.zeros(2), xy])
        assert incoherent(np.column_stack([xy, headings(untold)[1:]]), CarState(speed)) == ""


@pytest.mark.parametrize("speed", [1.0, 3.0, 6.0])
@pytest.mark.parametrize("shaken", [0.0, 0.05])
def test_stop_and_go_creeping_and_coarse_samples_are_motions(speed, shaken):
    stands = speed / 3 + 1
    goes = braked(speed, 3.0)[:, 0] + 1.75 * np.maximum(T - stands, 0) ** 2
    half = np.interp(T, np.append(0, T[1::2]), np.append(0, braked(speed, 3.0)[1::2, 0]))
    own_place_first = np.append(0, speed * T[:-1])
    noise = np.random.default_rng(2).normal(0, shaken, 24)
    for way in (goes, np.maximum(braked(speed, 2.0)[:, 0], 0.5 * T), half, own_place_first):
        assert incoherent(along(np.round(way + noise, 1)), CarState(speed)) == ""


@pytest.mark.parametrize("speed", [2.5, 4.0, 5.5, 7.0, 9.9])
@pytest.mark.parametrize("way", [0.0, 0.1, 0.2], ids=["nowhere", "a tenth", "a fifth"])
def test_a_stand_within_a_fraction_of_the_stopping_distance_is_none_at_any_speed(speed, way):
    """Tyres that hold 8 m/s^2, fully braked after 0.4 s, need 0.2 v + v^2 / 16."""
    plan = along(np.minimum(T / 0.5, 1) * way * (0.2 * speed + speed**2 / 16))
    assert "it stands after" in incoherent(plan, CarState(speed)) or "off" in incoherent(
        plan, CarState(speed)
    )
    assert incoherent(braked(speed, 8.0), CarState(speed)) == ""
    assert incoherent(plan, CarState(0.5)) == "", "a car that creeps may stand at once"


def turning(speed: float) -> np.ndarray:
    """A quarter turn to the left at 0.26 rad/s, and where the car looks on it."""
    turned = 0.26 * T
    return np.column_stack([speed / 0.26 * np.sin(turned), speed / 0.26 * (1 - np.cos(turned)), turned])


@pytest.mark.parametrize("speed", [5.0, 13.0])
def test_a_car_looks_where_it_goes(speed):
    rng = np.random.default_rng(4)
    for plan in (turning(speed), along(speed * T), braked(speed, 3.0)):
        for spread in (0.8, math.pi):
            wild = plan.copy()
            wild[:, 2] = rng.uniform(-spread, spread, 24)
            assert "headings" in incoherent(wild, CarState(speed))
        away = plan + np.array([0, 0, math.pi / 2])
        assert "90 degrees" in incoherent(away, CarState(speed))
    untold = turning(speed) * (1, 1, 0)
    wrapped = turning(speed) + np.array([0, 0, 2 * math.pi])
    for plan in (turning(speed), untold, wrapped, untold[:, :2]):
        assert incoherent(plan, CarState(speed, curvature=0.26 / speed)) == ""
    standing = braked(speed, 3.0)
    standing[np.diff(standing[:, 0], prepend=0) < 0.2, 2] = 2.0
    assert incoherent(standing, CarState(speed)) == "", "nobody looks at the heading of a car that stands"
