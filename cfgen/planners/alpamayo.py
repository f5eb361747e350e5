"""Alpamayo R1 and 1.5 through their public packages (``alpamayo_r1``, ``alpamayo1_5``).

Four frames of each camera at 10 Hz up to t0, 16 history poses at 10 Hz in the frame at t0; the model answers with 64
points at 10 Hz, which cfgen resamples, and a chain of causation, which becomes the trace.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.geometry.frames import interpolate
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Observation, Requirements, Response

if TYPE_CHECKING:
    from cfgen.records import Motion

#: variant -> package, module of the model, class, default weights
VARIANTS = {
    "r1": ("alpamayo_r1", "models.alpamayo_r1", "AlpamayoR1", "nvidia/Alpamayo-R1-10B"),
    "1.5": ("alpamayo1_5", "models.alpamayo1_5", "Alpamayo1_5", "nvidia/Alpamayo-1.5-10B"),
}
#: the cameras of the model's data in the order of their indices, as ``cfgen scenes import physical-ai-av`` names them
CAMERAS = (
    "camera_cross_left_120fov",
    "camera_front_wide_120fov",
    "camera_cross_right_120fov",
    "camera_rear_left_70fov",
    "camera_rear_tele_30fov",
    "camera_rear_right_70fov",
    "camera_front_tele_30fov",
)
#: the four that R1 takes and 1.5 takes unless told otherwise
DEFAULT = (
    "camera_cross_left_120fov",
    "camera_front_wide_120fov",
    "camera_cross_right_120fov",
    "camera_front_tele_30fov",
)
#: whose processor the packages load besides their weights
PROCESSOR = "Qwen/Qwen3-VL-2B-Instruct"
HISTORY_STEPS, STEP_S = 16, 0.1
#: the package's processor shrinks each image to at most this area
INPUT_PIXELS = 196_608


@contextlib.contextmanager
def _named_loading(part: str) -> Iterator[None]:
    """
    Raises:
        InputError: a file is missing on this machine; which repository holds it.
    """
    try:
        yield
    except OSError as error:
        words = " ".join(str(error).split())[:300]
        raise InputError(
            f"alpamayo: cannot load {part}: {words}; a planner has no network: bring it into the cache first "
            "(docs/alpamayo.md), or give it --planner-network"
        ) from error


class Alpamayo:
    """Alpamayo, from weights and its public package.

    Args:
        variant: "r1" or "1.5".
        cameras: camera of its data -> camera name in the scenes. R1 wants its four; 1.5 takes any of the seven.
        weights: hub name or folder; default by variant.
        device, dtype: where and in which floating-point type it runs.
        attn_implementation: "sdpa" where flash-attn is not installed; "" leaves it to the package.
        top_p, temperature, max_tokens: of the reasoning.

    Raises:
        InputError: unknown variant or camera, or the package is not installed.
    """

    def __init__(
        self,
        variant: str = "1.5",
        cameras: dict[str, str] | None = None,
        weights: str | None = None,
        device: str = "cuda",
        dtype: str = "bfloat16",
        attn_implementation: str = "",
        top_p: float = 0.98,
        temperature: float = 0.6,
        max_tokens: int = 256,
    ) -> None:
        variant = str(variant)
        if variant not in VARIANTS:
            raise InputError(f"alpamayo: variant: expected one of {', '.join(VARIANTS)}, found '{variant}'")
        named = cameras or {name: name for name in DEFAULT}
        unknown = sorted(set(named) - set(CAMERAS))
        if unknown or (variant == "r1" and set(named) != set(DEFAULT)):
            expected = DEFAULT if variant == "r1" else CAMERAS
            raise InputError(
                f"alpamayo: cameras: expected {'all of' if variant == 'r1' else 'any of'} {', '.join(expected)}, "
                f"found {', '.join(named)}"
            )
        self._cameras = sorted(named.items(), key=lambda camera: CAMERAS.index(camera[0]))
        self._variant, self._device = variant, device
        self._attention = attn_implementation
        self._sampling = {"top_p": top_p, "temperature": temperature, "max_generation_length": max_tokens}
        self._load(weights, device, dtype)
        self.needs = Requirements(
            cameras=tuple(name for _, name in self._cameras),
            frame_times=(-0.3, -0.2, -0.1, 0.0),
            input_pixels=INPUT_PIXELS,
            deterministic=False,
        )

    def plan(self, observations: Sequence[Observation]) -> list[Response]:
        return [self._respond(observation) for observation in observations]

    def _load(self, weights: str | None, device: str, dtype: str) -> None:
        package, module, name, default = VARIANTS[self._variant]
        try:
            import torch

            self._helper = importlib.import_module(f"{package}.helper")
            model_class = getattr(importlib.import_module(f"{package}.{module}"), name)
        except ImportError as error:
            raise InputError(
                f"planner alpamayo {self._variant}: needs the package '{error.name}', which is not installed; "
                f"install {package} from its public repository, as its README says"
            ) from error
        self._torch = torch
        self._dtype = getattr(torch, dtype)
        attention = {"attn_implementation": self._attention} if self._attention else {}
        with _named_loading(f"weights {weights or default} (with the config of the backbone that they name)"):
            self._model = model_class.from_pretrained(weights or default, dtype=self._dtype, **attention).to(
                device
            )
        with _named_loading(f"the processor, from {PROCESSOR}"):
            self._processor = self._helper.get_processor(self._model.tokenizer)

    def _respond(self, observation: Observation) -> Response:
        torch = self._torch
        messages = self._helper.create_message(self._frames(observation), **self._extras(observation))
        tokens = self._processor.apply_chat_template(
            messages,
            tokenize=True,
            add_generation_prompt=False,
            continue_final_message=True,
            return_dict=True,
            return_tensors="pt",
        )
        xyz, rot = history_arrays(observation.history)
        data = {
            "tokenized_data": tokens,
            "ego_history_xyz": torch.from_numpy(xyz),
            "ego_history_rot": torch.from_numpy(rot),
        }
        torch.manual_seed(observation.seed)
        with torch.no_grad(), torch.autocast(self._device.split(":")[0], dtype=self._dtype):
            points, rotations, extra = self._model.sample_trajectories_from_data_with_vlm_rollout(
                data=self._helper.to_device(data, self._device),
                num_traj_samples=1,
                return_extra=True,
                **self._sampling,
            )
        path = points[0, 0, 0, :, :2].float().cpu().numpy()
        turn = rotations[0, 0, 0].float().cpu().numpy()
        theta = np.arctan2(turn[:, 1, 0], turn[:, 0, 0])
        t = STEP_S * np.arange(1, len(path) + 1)
        return Response(_texts(extra["cot"])[0], np.column_stack([path, theta]), t)

    def _frames(self, observation: Observation) -> Any:
        """(cameras x 4, 3, H, W) uint8, cameras in the order of their indices, oldest frame first."""
        stacks = [np.stack([i.pixels for i in observation.images[name]]) for _, name in self._cameras]
        shapes = {stack.shape for stack in stacks}
        if len(shapes) != 1:
            raise PlanFaultError(f"alpamayo: expected cameras of one image size, found {sorted(shapes)}")
        return self._torch.from_numpy(np.concatenate(stacks)).permute(0, 3, 1, 2)

    def _extras(self, observation: Observation) -> dict[str, Any]:
        """What 1.5 takes besides the frames."""
        if self._variant == "r1":
            return {}
        indices = self._torch.tensor([CAMERAS.index(name) for name, _ in self._cameras])
        navigation = {"nav_text": observation.instruction} if observation.instruction else {}
        return {"camera_indices": indices, **navigation}


def history_arrays(history: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(1, 1, 16, 3) positions in m and (1, 1, 16, 3, 3) rotations, float32, at 10 Hz up to t0, in the frame at t0."""
    reach = STEP_S * (HISTORY_STEPS - 1)
    if history.t[0] > 0.1 - reach:
        raise PlanFaultError(f"alpamayo: expected {reach:g} s of history, found {-history.t[0]:g} s")
    # along arcs at speeds that change smoothly: between poses 0.25 s apart a straight line would bias the speed at t0
    poses = interpolate(history.t, history.poses, -STEP_S * np.arange(HISTORY_STEPS - 1, -1, -1))
    xyz = np.column_stack([poses[:, :2], np.zeros(HISTORY_STEPS)])
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    rot = np.zeros((HISTORY_STEPS, 3, 3))
    rot[:, 0, 0], rot[:, 0, 1], rot[:, 1, 0], rot[:, 1, 1], rot[:, 2, 2] = cos, -sin, sin, cos, 1.0
    return xyz[None, None].astype(np.float32), rot[None, None].astype(np.float32)


def _texts(words: Any) -> list[str]:
    """Every string in the nested arrays that the packages return, in order."""
    return [words] if isinstance(words, str) else [text for part in words for text in _texts(part)]
