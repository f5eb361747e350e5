"""Planners that a planner should beat: they do not look, or look without understanding.

``cruise`` and ``logged`` see nothing. ``edges``, ``brightness``, ``colors``, ``saliency`` and ``random-network`` brake
for what a picture's numbers say of the lane ahead.

``reactive`` looks: it follows its own arc over the ground from near to far, keeps a running idea of what road looks
like there, and brakes for the first stretch that stays different. It sees one frame, knows no classes, and mistakes
strong shadows and paint for obstacles at times: a baseline to compare with, not a detector.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import project
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Observation, Requirements, Response
from cfgen.planners.settings import LOOKING, REACTIVE
from cfgen.records import PLAN_DT, PLAN_STEPS, Camera


def write_text(scene: str, justification: str, longitudinal: str, lateral: str, waypoints: np.ndarray) -> str:
    """An answer in the papers' format; ``waypoints`` (T, 3) x, y, theta in m and rad."""
    think = json.dumps({"scene": scene, "move_justification": justification}, ensure_ascii=False)
    points = "\n".join(f"<wp>[{x:.3f}, {y:.3f}, {theta:.4f}]</wp>" for x, y, theta in waypoints)
    action = f"Longitudinal: {longitudinal}\nLateral: {lateral}"
    return f"<think>\n{think}\n</think>\n<action>\n{action}\n</action>\n{points}"


def constant_turn(speed: float, yaw_rate: float) -> np.ndarray:
    """(24, 3) x, y, theta after driving on at ``speed`` m/s and ``yaw_rate`` rad/s, exact along the arc."""
    t = np.arange(1, PLAN_STEPS + 1) * PLAN_DT
    theta = yaw_rate * t
    # sin(a)/a and (1 - cos(a))/a without dividing by a small angle
    along = speed * t * np.sinc(theta / np.pi)
    side = speed * t * np.sinc(theta / 2 / np.pi) * np.sin(theta / 2)
    return np.column_stack([along, side, theta])


class Cruise:
    """Keeps the speed and yaw rate it had: sees nothing, and answers to nothing."""

    needs = Requirements(cameras=(), frame_times=())

    def plan(self, observations: Sequence[Observation]) -> list[str]:
        return [self._respond(o) for o in observations]

    def _respond(self, observation: Observation) -> str:
        return write_text(
            "The road ahead continues as before.",
            "Nothing calls for a change, so the vehicle keeps its speed and its lane.",
            "set speed tracking",
            "lane keeping",
            constant_turn(observation.speed, observation.yaw_rate),
        )


class Logged:
    """Replays what the recording vehicle did, in every arm: right on the original, blind to the hazard."""

    needs = Requirements(cameras=(), frame_times=())
    replays_log = True

    def plan(self, observations: Sequence[Observation]) -> list[Response | str]:
        return [self._respond(o) for o in observations]

    def _respond(self, observation: Observation) -> Response:
        if observation.logged is None:
            raise PlanFaultError("the scene has no recorded future to replay")
        text = write_text(
            "The road ahead as recorded.",
            "The vehicle follows the recorded drive.",
            "set speed tracking",
            "lane keeping",
            np.empty((0, 3)),
        )
        return Response(text, np.array(observation.logged.poses), np.array(observation.logged.t))


# --- baselines that look without understanding -----------------------------------------------------


class _AlarmPlanner:
    """Brakes where ``alarm`` says so of the front frame; else keeps its speed and yaw rate."""

    needs = Requirements(cameras=("front",), frame_times=(0.0,), max_pixels=196_608)

    def plan(self, observations: Sequence[Observation]) -> list[str]:
        return [self._respond(o) for o in observations]

    def alarm(self, image: np.ndarray) -> bool:
        """``image``: (H, W, 3) uint8 RGB."""
        raise NotImplementedError

    def _respond(self, observation: Observation) -> str:
        speed, yaw_rate = observation.speed, observation.yaw_rate
        if not self.alarm(observation.images["front"][-1].pixels):
            return Cruise()._respond(observation)
        return write_text(
            "Something stands out in the picture ahead.",
            "As something stands out ahead, the vehicle slows down.",
            "speed adapt",
            "lane keeping",
            stopping_path(speed, yaw_rate / max(speed, 1.0), speed**2 / (2 * LOOKING.brake)),
        )


def _lane(values: np.ndarray) -> np.ndarray:
    """The part of (H, W, ...) in which the own lane lies."""
    height, width = values.shape[:2]
    top, bottom = (round(height * share) for share in LOOKING.rows)
    left, right = (round(width * share) for share in LOOKING.columns)
    return values[top:bottom, left:right]


class Edges(_AlarmPlanner):
    """Brakes for many edges in the lane."""

    def alarm(self, image: np.ndarray) -> bool:
        edges = cv2.Canny(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), 60, 150)
        return bool((_lane(edges) > 0).mean() > LOOKING.edges)


class Brightness(_AlarmPlanner):
    """Brakes for contrast in the lane."""

    def alarm(self, image: np.ndarray) -> bool:
        low, high = np.percentile(_lane(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)), (5, 95))
        return bool(high - low > LOOKING.brightness)


class Colors(_AlarmPlanner):
    """Brakes for colours in the lane."""

    def alarm(self, image: np.ndarray) -> bool:
        lab = _lane(cv2.cvtColor(image, cv2.COLOR_RGB2LAB))
        return bool(lab[..., 1:].std(axis=(0, 1)).max() > LOOKING.colors)


class Saliency(_AlarmPlanner):
    """Brakes for what is salient by its spectral residual (Hou and Zhang 2007, Eq. 1-5)."""

    def alarm(self, image: np.ndarray) -> bool:
        grey = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (64, 64)).astype(np.float32)
        spectrum = np.fft.fft2(grey)
        size = np.log1p(np.abs(spectrum)).astype(np.float32)
        residual = np.exp(size - cv2.blur(size, (3, 3)) + 1j * np.angle(spectrum))
        salient = cv2.GaussianBlur(np.abs(np.fft.ifft2(residual)) ** 2, (0, 0), 2.5)
        return bool(_lane(salient).mean() > LOOKING.saliency * salient.mean())


class RandomNetwork(_AlarmPlanner):
    """Brakes when a network with random weights says so."""

    def __init__(self) -> None:
        rng = np.random.default_rng(LOOKING.seed)
        self._first = rng.standard_normal((LOOKING.units, 16 * 32 * 3))
        self._second = rng.standard_normal(LOOKING.units)

    def alarm(self, image: np.ndarray) -> bool:
        pixels = cv2.resize(image, (32, 16), interpolation=cv2.INTER_AREA).astype(float).ravel()
        hidden = np.tanh(self._first @ (pixels - pixels.mean()) / max(pixels.std(), 1.0) / pixels.size**0.5)
        return bool(self._second @ hidden > 0)


# --- a baseline that looks for obstacles -----------------------------------------------------------

#: ground samples along and across the path, m
ALONG = np.arange(REACTIVE.nearest_m, REACTIVE.farthest_m, REACTIVE.step_m)
ACROSS = np.linspace(-1.0, 1.0, 17)


@dataclass(frozen=True)
class Obstacle:
    """``distance`` along the path in m; ``offset`` to its left in m (mean of what is blocked)."""

    distance: float
    offset: float


class Reactive:
    """Constant speed and yaw rate, or braking to stop before the first obstacle on the path."""

    needs = Requirements(cameras=("front",), frame_times=(0.0,), max_pixels=196_608)

    def plan(self, observations: Sequence[Observation]) -> list[str]:
        return [self._respond(o) for o in observations]

    def _respond(self, observation: Observation) -> str:
        yaw_rate = observation.yaw_rate
        curvature = yaw_rate / max(observation.speed, 1.0)
        image = observation.images["front"][-1].pixels
        obstacle = find_obstacle(image, observation.cameras["front"], curvature)
        if obstacle is None:
            return write_text(
                "The lane ahead looks clear.",
                "Nothing stands on the path, so the vehicle keeps its speed and lane.",
                "set speed tracking",
                "lane keeping",
                constant_turn(observation.speed, yaw_rate),
            )
        side = (
            "on the left of"
            if obstacle.offset > 0.5
            else "on the right of"
            if obstacle.offset < -0.5
            else "in"
        )
        path = stopping_path(observation.speed, curvature, obstacle.distance - REACTIVE.margin_m)
        return write_text(
            f"There is an obstacle {side} the ego lane about {obstacle.distance:.0f} m ahead.",
            f"The obstacle {side} the lane blocks the path, so the vehicle brakes to stop before it.",
            "stop",
            "lane keeping",
            path,
        )


def find_obstacle(image: np.ndarray, camera: Camera, curvature: float) -> Obstacle | None:
    """The first stretch of the path that does not look like the road before it.

    Args:
        image: (H, W, 3) uint8 RGB. curvature: of the path, 1/m, positive to the left.
    """
    cells, in_frame = _sample(image, camera, curvature)
    usable = np.flatnonzero(in_frame.mean(axis=1) > 0.8)
    if len(usable) < 12:
        return None
    near = usable[:8]
    road = cells[near][in_frame[near]]
    centre, spread = np.median(road, axis=0), _spread(road)
    blocked = np.zeros(in_frame.shape, bool)
    for row in usable:
        off = np.abs(cells[row] - centre) / spread
        blocked[row] = in_frame[row] & (
            (off[:, 1:3].max(axis=1) > REACTIVE.different) | (off[:, [0, 3]].min(axis=1) > REACTIVE.different)
        )
        if blocked[row].mean() < REACTIVE.blocked_share:
            clear = cells[row][in_frame[row] & ~blocked[row]]
            if len(clear):
                centre = 0.85 * centre + 0.15 * np.median(clear, axis=0)
    share = blocked.mean(axis=1)
    depth = int(REACTIVE.hidden_m / REACTIVE.step_m)
    for row in usable[2:]:
        stretch = share[row : row + depth]
        if len(stretch) == depth and stretch.min() >= 0.15 and np.median(stretch) >= REACTIVE.blocked_share:
            columns = blocked[row : row + depth].mean(axis=0)
            return Obstacle(float(ALONG[row]), float((columns * ACROSS).sum() / columns.sum()))
    return None


def stopping_path(speed: float, curvature: float, distance: float) -> np.ndarray:
    """(24, 3) x, y, theta: constant deceleration along the arc to stand after ``distance`` m."""
    brake = min(REACTIVE.max_brake, speed**2 / (2 * max(distance, 0.5)))
    t = np.arange(1, PLAN_STEPS + 1) * PLAN_DT
    t = np.minimum(t, speed / max(brake, 1e-6))
    s = speed * t - brake * t**2 / 2
    theta = curvature * s
    x = s * np.sinc(theta / np.pi)
    y = s * np.sinc(theta / 2 / np.pi) * np.sin(theta / 2)
    return np.column_stack([x, y, theta])


def _sample(image: np.ndarray, camera: Camera, curvature: float) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns, 4) lightness, a, b and local contrast on the path's grid, and where it is in the frame."""
    theta = curvature * ALONG
    x = ALONG * np.sinc(theta / np.pi)
    y = ALONG * np.sinc(theta / 2 / np.pi) * np.sin(theta / 2)
    px_x = x[:, None] - ACROSS * np.sin(theta)[:, None]
    px_y = y[:, None] + ACROSS * np.cos(theta)[:, None]
    points = np.stack([px_x, px_y, np.zeros_like(px_x)], axis=-1).reshape(-1, 3)
    px, valid = project(camera, points)
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.float32)
    lightness = lab[..., 0]
    contrast = cv2.magnitude(cv2.Sobel(lightness, cv2.CV_32F, 1, 0), cv2.Sobel(lightness, cv2.CV_32F, 0, 1))
    features = cv2.GaussianBlur(np.dstack([lab, np.log1p(contrast)]), (0, 0), 1.2)
    size = np.array([image.shape[1], image.shape[0]])
    inside = valid & np.all((px >= 0) & (px <= size - 1), axis=1)
    px = np.where(inside[:, None], px, 0).astype(np.float32)
    sampled = cv2.remap(features, px[:, 0], px[:, 1], cv2.INTER_LINEAR)
    shape = (len(ALONG), len(ACROSS))
    return sampled.reshape(*shape, 4), inside.reshape(shape)


def _spread(cells: np.ndarray) -> np.ndarray:
    """Robust standard deviation per feature, no less than what a sensor makes of even ground."""
    deviation = 1.48 * np.median(np.abs(cells - np.median(cells, axis=0)), axis=0)
    return np.maximum(deviation, [4.0, 1.5, 1.5, 0.25])
