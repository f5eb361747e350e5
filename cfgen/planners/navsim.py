"""NAVSIM agents: wraps any ``AbstractAgent`` of the ``navsim`` package.

Four ego states and camera frames at 2 Hz up to t0 go in as an ``AgentInput``; the ``Trajectory`` that comes out
(usually 4 s at 2 Hz) is resampled by cfgen.
"""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.geometry.frames import pose_at
from cfgen.planners.protocol import Observation, Requirements, Response

TIMES = (-1.5, -1.0, -0.5, 0.0)
SLOTS = ("cam_f0", "cam_l0", "cam_l1", "cam_l2", "cam_r0", "cam_r1", "cam_r2", "cam_b0")


class Navsim:
    """An agent of the public package navsim.

    ``agent`` is ``package.module:factory``; the factory takes ``agent_options`` and returns the agent.

    Args:
        cameras: NAVSIM camera slot -> camera name in the scenes; slots left out are empty, as in NAVSIM.

    Raises:
        InputError: ``navsim`` is not installed, the agent cannot be imported, a slot is unknown, or the agent has
            no ``compute_trajectory``.
    """

    def __init__(
        self, agent: str, agent_options: dict[str, Any] | None = None, cameras: dict[str, str] | None = None
    ) -> None:
        self._slots = cameras or {"cam_f0": "front"}
        unknown = sorted(set(self._slots) - set(SLOTS))
        if unknown:
            raise InputError(
                f"navsim: cameras: expected slots {', '.join(SLOTS)}, found {', '.join(unknown)}"
            )
        try:
            self._types = importlib.import_module("navsim.common.dataclasses")
        except ImportError as error:
            raise InputError(
                f"planner navsim: needs the package '{error.name}', which is not installed; "
                "install navsim from its public repository, as its README says"
            ) from error
        module, _, attribute = agent.partition(":")
        try:
            self._agent = getattr(importlib.import_module(module), attribute)(**(agent_options or {}))
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"navsim: agent '{agent}': expected package.module:factory ({error})") from error
        if not callable(getattr(self._agent, "compute_trajectory", None)):
            raise InputError(f"navsim: agent '{agent}' has no compute_trajectory(agent_input)")
        self._agent.initialize()
        self.needs = Requirements(cameras=tuple(self._slots.values()), frame_times=TIMES)

    def plan(self, observations: Sequence[Observation]) -> list[Response]:
        return [self._one(observation) for observation in observations]

    def _one(self, observation: Observation) -> Response:
        statuses = self._statuses(observation)
        cameras = [self._cameras(observation, index) for index in range(len(TIMES))]
        lidars = [self._types.Lidar() for _ in TIMES]
        answer = self._agent.compute_trajectory(self._types.AgentInput(statuses, cameras, lidars))
        poses = np.asarray(answer.poses, float)
        t = answer.trajectory_sampling.interval_length * np.arange(1, len(poses) + 1)
        return Response("", poses, t)

    def _statuses(self, observation: Observation) -> list[Any]:
        history = observation.history
        speed = np.interp([*TIMES, -0.25], history.t, history.v)
        acceleration = np.gradient(np.interp(TIMES, history.t, history.v), np.diff(TIMES)[0])
        return [
            self._types.EgoStatus(
                ego_pose=np.asarray(pose_at(history, t), np.float32),
                ego_velocity=np.array([speed[i], 0.0], np.float32),
                ego_acceleration=np.array([acceleration[i], 0.0], np.float32),
                driving_command=driving_command(observation.instruction),
            )
            for i, t in enumerate(TIMES)
        ]

    def _cameras(self, observation: Observation, index: int) -> Any:
        views = {slot: self._types.Camera() for slot in SLOTS}
        for slot, name in self._slots.items():
            camera = observation.cameras[name]
            cam_ego = np.array(camera.T_cam_ego)
            ego_cam = np.linalg.inv(cam_ego)
            views[slot] = self._types.Camera(
                image=observation.images[name][index].pixels,
                sensor2lidar_rotation=ego_cam[:3, :3],
                sensor2lidar_translation=ego_cam[:3, 3],
                intrinsics=np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1.0]]),
                distortion=np.array(camera.distortion or (0.0,) * 5),
            )
        return self._types.Cameras(**views)


def driving_command(instruction: str) -> np.ndarray:
    """One-hot (4,) int: left, straight, right, unknown."""
    words = instruction.lower()
    index = 0 if "left" in words else 2 if "right" in words else 1
    return np.eye(4, dtype=int)[index]
