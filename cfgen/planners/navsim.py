"""NAVSIM agents: wraps any ``AbstractAgent`` of the ``navsim`` package.

Four ego states at 2 Hz up to t0 and the pictures that the agent's ``get_sensor_config()`` names go in as an
``AgentInput``; the ``Trajectory`` that comes out (usually 4 s at 2 Hz) is resampled by cfgen.

With ``--python`` this file is sent to NAVSIM's own environment, so that it has to run on Python 3.9.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.planners.protocol import Requirements, Response

if TYPE_CHECKING:
    from cfgen.planners.protocol import Observation

TIMES = (-1.5, -1.0, -0.5, 0.0)
SLOTS = ("cam_f0", "cam_l0", "cam_l1", "cam_l2", "cam_r0", "cam_r1", "cam_r2", "cam_b0")
#: pixels of NAVSIM's pictures, width and height: agents crop them by fixed numbers; focal length and centre, px
SIZE = (1920, 1080)
FOCAL, CENTRE = 1545.0, (960.0, 560.0)
#: share of the agent's picture that a camera must cover: with less, an agent sees mostly black
_LEAST_COVERED = 0.4
#: of nuPlan's merged lidar in the ego frame, m, without rotation: where scenes have none, ``sensor2lidar`` refers to it
LIDAR = (1.5185, 0.0, 1.6309)


class Navsim:
    """An agent of the public package navsim.

    ``agent`` is ``package.module:factory``; the factory takes ``agent_options`` and returns the agent. Which cameras it
    gets, and at which of the four times, is what its ``get_sensor_config()`` says.

    Args:
        cameras: NAVSIM camera slot -> camera name in the scenes, for the slots that the agent wants; default: the front
            camera for cam_f0, and the slot's own name for the others, as ``cfgen scenes import navsim`` names them.
            "" gives a black picture.
        size: width and height of the pictures that the agent is given; they are scaled to the focal length of NAVSIM's
            cameras at that width, and cut or filled with black around the same centre. None leaves them as they are.
        lidar: x, y, z in the ego frame, m, of the lidar that ``sensor2lidar`` refers to.
        initialize: False skips the agent's ``initialize()``, which loads its weights.

    Raises:
        InputError: ``navsim`` is not installed, the agent cannot be imported or made, a slot is unknown, or the agent
            needs lidar points or a whole scene, or has no ``compute_trajectory``.
    """

    def __init__(
        self,
        agent: str,
        agent_options: Mapping[str, Any] | None = None,
        cameras: Mapping[str, str] | None = None,
        size: Sequence[int] | None = SIZE,
        lidar: Sequence[float] = LIDAR,
        initialize: bool = True,
    ) -> None:
        named = dict(cameras or {})
        unknown = sorted(set(named) - set(SLOTS))
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
        self._agent = _agent(agent, dict(agent_options or {}))
        if initialize:
            self._agent.initialize()
        self._size, self._lidar = None if size is None else tuple(size), np.asarray(lidar, float)
        #: slot -> (camera in the scenes, the steps at which it is wanted)
        self._wanted = {
            slot: (named.get(slot, "front" if slot == "cam_f0" else slot), steps)
            for slot, steps in _steps(self._agent, agent).items()
        }
        steps = sorted({step for _, wanted_steps in self._wanted.values() for step in wanted_steps})
        self.needs = Requirements(
            cameras=tuple(dict.fromkeys(name for name, _ in self._wanted.values() if name)),
            frame_times=tuple(TIMES[step] for step in steps),
        )
        self._place = {step: place for place, step in enumerate(steps)}

    def plan(self, observations: Sequence[Observation]) -> list[Any]:
        return [self._respond(observation) for observation in observations]

    def _respond(self, observation: Observation) -> Any:
        statuses = self._statuses(observation)
        cameras = [self._cameras(observation, step) for step in range(len(TIMES))]
        lidars = [self._types.Lidar() for _ in TIMES]
        answer = self._agent.compute_trajectory(self._types.AgentInput(statuses, cameras, lidars))
        poses = np.asarray(answer.poses, float)
        t = answer.trajectory_sampling.interval_length * np.arange(1, len(poses) + 1)
        return Response(text="", waypoints=poses, t=t, report={})

    def _statuses(self, observation: Observation) -> list[Any]:
        history = observation.history
        if history.t[0] > TIMES[0] + 0.1:
            raise InputError(f"navsim: expected {-TIMES[0]:g} s of history, found {-history.t[0]:g} s")
        speed = np.interp(TIMES, history.t, history.v)
        step = np.diff(TIMES)[0]
        acceleration = np.gradient(speed, step)
        poses = np.array(history.poses, float)
        poses[:, 2] = np.unwrap(poses[:, 2])
        sampled = np.column_stack([np.interp(TIMES, history.t, column) for column in poses.T])
        lateral = speed * np.gradient(sampled[:, 2], step)
        return [
            self._types.EgoStatus(
                ego_pose=sampled[i].astype(np.float32),
                ego_velocity=np.array([speed[i], 0.0], np.float32),
                ego_acceleration=np.array([acceleration[i], lateral[i]], np.float32),
                driving_command=driving_command(observation.instruction),
            )
            for i in range(len(TIMES))
        ]

    def _cameras(self, observation: Observation, step: int) -> Any:
        views = {slot: self._types.Camera() for slot in SLOTS}
        for slot, (name, steps) in self._wanted.items():
            if step in steps:
                views[slot] = self._camera(observation, name, step) if name else self._black()
        return self._types.Cameras(**views)

    def _camera(self, observation: Observation, name: str, step: int) -> Any:
        camera = observation.cameras[name]
        image, (fx, fy, cx, cy) = self._fitted(
            observation.images[name][self._place[step]].pixels, name, camera
        )
        ego_cam = np.linalg.inv(np.array(camera.T_cam_ego, float))
        return self._types.Camera(
            image=image,
            sensor2lidar_rotation=ego_cam[:3, :3],
            sensor2lidar_translation=ego_cam[:3, 3] - self._lidar,
            intrinsics=np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]]),
            distortion=np.array(camera.distortion or (0.0,) * 5),
        )

    def _fitted(
        self, pixels: np.ndarray, name: str, camera: Any
    ) -> tuple[np.ndarray, tuple[float, float, float, float]]:
        """(H, W, 3) uint8 of the agent's size and field of view, and its fx, fy, cx, cy, px."""
        if self._size is None:
            return pixels, (camera.fx, camera.fy, camera.cx, camera.cy)
        import cv2

        width, height = self._size
        size_ratio = width / SIZE[0]
        focal, (cx, cy) = FOCAL * size_ratio, (size_ratio * CENTRE[0], size_ratio * CENTRE[1])
        scale = np.array([focal / camera.fx, focal / camera.fy])
        shift = np.array([cx, cy]) - scale * (camera.cx, camera.cy)
        corners = scale * ((-0.5, -0.5), (pixels.shape[1] - 0.5, pixels.shape[0] - 0.5)) + shift
        inside = np.clip(corners, -0.5, (width - 0.5, height - 0.5))
        covered = float(np.prod(inside[1] - inside[0])) / (width * height)
        if covered < _LEAST_COVERED:
            raise InputError(
                f"navsim: camera '{name}': covers {covered:.0%} of an agent's picture, whose focal length is "
                f"{focal:.0f} px at {width}x{height}; expected {_LEAST_COVERED:.0%} at least: name another camera with "
                "cameras=, or size=None to hand on pictures as they are"
            )
        matrix = np.array([[scale[0], 0, shift[0]], [0, scale[1], shift[1]]])
        blur = max(
            1 / float(scale.min()), 1.0
        )  # what is shrunk is smoothed first: no detail turns into a pattern
        smooth = cv2.GaussianBlur(pixels, (0, 0), 0.5 * np.sqrt(blur**2 - 1)) if blur > 1.01 else pixels
        return cv2.warpAffine(smooth, matrix, (width, height), flags=cv2.INTER_LINEAR), (focal, focal, cx, cy)

    def _black(self) -> Any:
        width, height = self._size or SIZE
        return self._types.Camera(image=np.zeros((height, width, 3), np.uint8))


def driving_command(instruction: str) -> np.ndarray:
    """One-hot (4,) int: left, straight, right, unknown."""
    words = instruction.lower()
    index = 0 if "left" in words else 2 if "right" in words else 1
    return np.eye(4, dtype=int)[index]


def _agent(agent: str, options: dict[str, Any]) -> Any:
    module, _, attribute = agent.partition(":")
    try:
        agent_object = getattr(importlib.import_module(module), attribute)(**options)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise InputError(f"navsim: agent '{agent}': expected package.module:factory ({error})") from error
    if not callable(getattr(agent_object, "compute_trajectory", None)):
        raise InputError(f"navsim: agent '{agent}' has no compute_trajectory(agent_input)")
    if getattr(agent_object, "requires_scene", False):
        raise InputError(
            f"navsim: agent '{agent}' needs the whole scene, its future included (requires_scene); it cannot be tested"
        )
    return agent_object


def _steps(agent: Any, name: str) -> dict[str, tuple[int, ...]]:
    """Camera slot -> the steps, 0 to 3, at which the agent wants it."""
    config = agent.get_sensor_config()
    every = tuple(range(len(TIMES)))
    steps_of = {}
    for sensor in (*SLOTS, "lidar_pc"):
        setting = getattr(config, sensor)
        steps = (
            tuple(sorted(step % len(TIMES) for step in setting))
            if isinstance(setting, (list, tuple))
            else every
        )
        if setting is not False and steps:
            steps_of[sensor] = steps
    if "lidar_pc" in steps_of:
        raise InputError(
            f"navsim: agent '{name}' needs lidar points (lidar_pc), and cfgen's scenes hold none; use one that sees by "
            "cameras alone, for example TransFuser with latent=True"
        )
    return steps_of
