"""Planners without weights: the floor and the ceiling that any table should hold."""

import json
from collections.abc import Sequence

import numpy as np

from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Observation, Requirements, Response
from cfgen.records import PLAN_DT, PLAN_STEPS


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
    """Keeps the speed and yaw rate it had: sees nothing, so its hazard response is the floor."""

    needs = Requirements(cameras=(), frame_times=())

    def plan(self, observations: Sequence[Observation]) -> list[str]:
        return [self._one(o) for o in observations]

    def _one(self, observation: Observation) -> str:
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
        return [self._one(o) for o in observations]

    def _one(self, observation: Observation) -> Response:
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
