"""Plans that a car can drive are driven as drawn; of the others, what physics leaves of them, in closed form."""

import math
import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cfgen.geometry.driving import GRIP, MAX_JERK, MAX_STEER_RATE, WHEELBASE_M, CarState, drive
from cfgen.metrics.kinematics import encounter
from cfgen.records import Motion, Placement, Size

T = 0.25 * np.arange(1, 25)


def along(distance) -> np.ndarray:
    return np.column_stack([distance, np.zeros(len(distance)), np.zeros(len(distance))])


def circle(speed: float, curvature: float) -> np.ndarray:
    s = speed * T
    return np.column_stack([np.sin(curvature * s), 1 - np.cos(curvature * s), curvature**2 * s]) / curvature


@pytest.mark.parametrize("decel", [0.0, 1.5, 3.0, 5.0])
@pytest.mark.parametrize("speed", [4.0, 12.0, 30.0])
def test_a_plan_that_the_car_is_already_driving_is_driven_as_drawn(speed, decel):
    t = np.minimum(T, speed / decel) if decel else T
    found = drive(along(speed * t - decel * t**2 / 2), CarState(speed, -decel))
    assert found.off_m < 0.1
    assert found.speed[-1] == pytest.approx(max(speed - decel * 6, 0), abs=0.1)


@pytest.mark.parametrize("curvature", [0.03, -0.05, 0.1])
def test_a_circle_is_driven_at_its_lateral_acceleration(curvature):
    speed = math.sqrt(3.0 / abs(curvature))
    found = drive(circle(speed, curvature), CarState(speed, 0.0, curvature))
    assert found.off_m < 0.02
    assert found.lateral == pytest.approx(speed**2 * curvature, abs=0.05)


@pytest.mark.parametrize("speed", [5.0, 12.0, 30.0])
def test_a_plan_of_zeros_is_an_emergency_stop(speed):
    """Full braking after a ramp of MAX_JERK: v0 t - J t^3 / 6 for GRIP / J seconds, then v^2 / 2 GRIP."""
    ramp = GRIP / MAX_JERK
    left = speed - MAX_JERK * ramp**2 / 2
    way = speed * ramp - MAX_JERK * ramp**3 / 6 + left**2 / (2 * GRIP)
    found = drive(np.zeros((24, 3)), CarState(speed))
    assert found.poses[-1] == pytest.approx([way, 0, 0], rel=0.05)
    assert found.off_m == pytest.approx(way, rel=0.05)
    ahead = Placement(
        zone="ego_lane", x=7.0, y=0, yaw=0, size=Size(length=1, width=1, height=1), distance_m=7, lateral_m=0,
        required_decel=6, foot_px=(0, 0), box_px=(0, 0, 1, 1),
    )  # fmt: skip
    met = encounter(found.poses, ahead)
    assert not met.comfortable
    assert met.collides == (way > 7 - 0.5 - 3.8)


def test_a_stretch_that_starts_too_fast_is_caught_up_with():
    """2 m/s more than the car has: at first it falls behind, by at least the closed form of full throttle."""
    found = drive(along(14.0 * T), CarState(12.0))
    assert found.off_m > 2.0**2 / (2 * 4.0), "v^2 / 2a with 4 m/s^2"
    assert found.off[-1] < 0.05
    assert found.speed[-1] == pytest.approx(14.0, abs=0.02)


def test_no_limit_is_passed_whatever_is_drawn():
    rng = np.random.default_rng(4)
    for i in range(30):
        plan = rng.normal(0, 20, (24, 2)) if i % 2 else along(12.0 * T)[rng.permutation(24)]
        speed = rng.uniform(0, 30)
        found = drive(plan, CarState(speed))
        assert np.hypot(found.acceleration, found.lateral).max() <= GRIP + 1e-9
        assert found.acceleration.max() <= 4.0 + 1e-9
        assert found.speed.min() >= 0


def test_a_bend_that_begins_at_once_waits_for_the_wheels():
    """From straight to a radius of 8 m at 5 m/s: the wheels need atan(L / R) / MAX_STEER_RATE seconds for it."""
    found = drive(circle(5.0, 1 / 8), CarState(5.0))
    needed = math.atan(WHEELBASE_M / 8) / MAX_STEER_RATE
    reached = 0.05 * (1 + int((found.lateral >= 25 / 8).argmax()))
    assert reached >= needed
    assert found.off_m > 0.05
    assert found.off[-1] < 0.05


def test_the_bicycle_moves_as_its_equations_say():
    """Steered by what the drive reports, SciPy's integrator ends where the drive ends."""
    rng = np.random.default_rng(2)
    plan = np.column_stack([10.0 * T - 0.3 * T**2, 1.5 * np.sin(T * 0.8), 0 * T]) + rng.normal(
        0, 0.02, (24, 3)
    )
    found = drive(plan, CarState(10.0))
    a, lateral = found.acceleration, found.lateral
    before = 10.0 + np.concatenate([[0.0], np.cumsum(a)[:-1]]) * 0.05
    curvature = lateral / before**2

    def rates(t: float, state: np.ndarray) -> list[float]:
        i = min(int(t / 0.05 + 1e-9), len(a) - 1)
        return [state[3] * math.cos(state[2]), state[3] * math.sin(state[2]), state[3] * curvature[i], a[i]]

    exact = solve_ivp(rates, (0, 6), [0, 0, 0, 10.0], max_step=0.01, rtol=1e-6)
    assert found.poses[-1] == pytest.approx(exact.y[:3, -1], abs=0.01)


def test_the_car_does_not_reverse():
    found = drive(along(-5.0 * T), CarState(6.0))
    assert (np.diff(found.poses[:, 0]) >= -1e-9).all()
    assert found.off_m > 30


@pytest.mark.parametrize("n", [12, 16, 24])
def test_a_short_plan_gives_a_short_drive(n):
    whole, cut = drive(along(9.0 * T), CarState(9.0)), drive(along(9.0 * T)[:n], CarState(9.0))
    assert cut.poses.shape == (n, 3)
    assert cut.poses == pytest.approx(whole.poses[:n], abs=1e-6)


def test_the_start_is_read_from_the_history():
    t = np.linspace(-1, 0, 11)
    s = 10 * t - 1.0 * t**2  # 10 m/s now, braking at 2 m/s^2
    k = 0.02
    poses = np.column_stack([np.sin(k * s) / k, (1 - np.cos(k * s)) / k, k * s])
    history = Motion(t=tuple(t), poses=tuple(map(tuple, poses.tolist())), v=tuple(10 - 2 * t))
    found = CarState.of(history)
    assert (found.speed, found.acceleration, found.curvature) == pytest.approx((10, -2, k), rel=0.01)
    still = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(3.0,))
    assert CarState.of(still) == CarState(3.0)


def test_following_a_plan_takes_less_than_two_milliseconds():
    plan = circle(10.0, 0.02)
    drive(plan, CarState(10.0))
    began = time.process_time()
    for _ in range(40):
        drive(plan, CarState(10.0))
    assert (time.process_time() - began) / 40 < 0.002
