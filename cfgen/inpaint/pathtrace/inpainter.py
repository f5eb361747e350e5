"""Path-traces a hazard's model straight into the scene: its camera, sun, ground and shadow. Needs bpy ([pathtrace]).

bpy wants a Python and a numpy of its own, so it runs in a worker process that may belong to another environment.
"""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import CfgenError, InpaintRefusedError, InputError, MissingExtraError
from cfgen.core.isolate import available, isolated
from cfgen.core.network import current
from cfgen.core.paths import models_dir
from cfgen.geometry.camera import centre, cropped, project, rotation, unproject
from cfgen.inpaint.composite.draw import Drawing
from cfgen.inpaint.composite.harmonize import insert
from cfgen.inpaint.composite.inpainter import gait_of, in_step, pick
from cfgen.inpaint.composite.light import Light
from cfgen.inpaint.composite.relight import dull
from cfgen.inpaint.protocol import InpainterRequirements, InpaintRequest, InpaintResult
from cfgen.inpaint.region import box_of
from cfgen.records import Camera, Hazard, Size

_WORKER = Path(__file__).with_name("worker.py")
_PYTHON_VARIABLE = "CFGEN_BLENDER_PYTHON"
#: Part of a lens that a flat picture still holds: cosine of the angle from its middle, and pixels a side.
_LEAST_AHEAD, _MOST_SIDE = 0.1, 8192
#: Paths per pixel beyond which nothing is gained.
_MOST_SAMPLES = 16384
#: Shadows are smooth: they are traced at this share of the image's resolution.
_GROUND_SCALE = 0.5
_TOO_WIDE = "pathtrace: the hazard takes up too much of a wide lens for one flat picture"


class PathTrace:
    """Models rendered by Cycles at the hazard's exact pose, then set in like the compositor's sprites.

    Args:
        python: an interpreter with bpy; by default ``$CFGEN_BLENDER_PYTHON``, else this one.
        samples: paths per pixel.
        threads: render threads, 0 for all.

    Raises:
        InputError: samples or threads out of range.
    """

    name = "pathtrace"
    version = "1"
    needs = InpainterRequirements(
        every_frame=True, context=0.0, min_side=16, square=False, shadow=2.0, batch_size=4
    )

    def __init__(self, python: str = "", samples: int = 48, threads: int = 0) -> None:
        for name, value, lowest, highest in (
            ("samples", samples, 1, _MOST_SAMPLES),
            ("threads", threads, 0, 1024),
        ):
            if not lowest <= value <= highest:
                raise InputError(
                    f"inpainter 'pathtrace': option {name}: expected {lowest} to {highest}, found {value}"
                )
        self.options: Mapping[str, Any] = {"samples": samples}
        self._worker = _Worker(python or os.environ.get(_PYTHON_VARIABLE, "") or sys.executable, threads)

    def can_draw(self, hazard: Hazard) -> bool:
        return hazard.kind == "null" or hazard.model in self._worker.variants()

    def sizes(self, hazard: Hazard) -> list[Size]:
        return [] if hazard.model is None else self._worker.sizes(hazard.model)

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[InpaintResult | InpaintRefusedError]:
        return insert(requests, self._draw)

    def _draw(self, request: InpaintRequest, light: Light) -> tuple[Drawing | None, Mapping[str, Any]]:
        model = str(request.hazard.model)
        variant = pick(self._worker.variants()[model], self._worker.sizes(model), request)
        report = {"model": f"{model}/{variant}"}
        step = in_step(self._worker.ask({"do": "params", "model": model, "variant": variant}), request)
        gait, phase = gait_of(model, variant, step)
        if step and phase in self._worker.variants().get(gait, ()):
            model, variant = gait, phase
        part = cv2.boundingRect(request.mask)
        body = _body(request, part)
        lens, bend = _pinhole(_cropped(request.camera, body))
        ground, bend_ground = _pinhole(_cropped(request.camera, part), _GROUND_SCALE)
        answer = self._worker.ask(
            {
                "do": "draw",
                "model": model,
                "variant": variant,
                "pose": (request.placement.x, request.placement.y, request.placement.yaw),
                "lens": lens,
                "ground": ground,
                "sky": (light.sky * light.bounce).tolist(),
                "sun": light.sun.tolist(),
                "sun_dir": None if light.sun_dir is None else [float(v) for v in light.sun_dir],
                "day": light.day,
                "samples": self.options["samples"],
            }
        )
        x, y, w, h = part
        rgba = np.zeros((h, w, 4), np.float32)
        at = np.s_[body[1] - y : body[1] - y + body[3], body[0] - x : body[0] - x + body[2]]
        rgba[at] = cv2.remap(answer["rgba"], *bend, cv2.INTER_LINEAR)
        shade = cv2.remap(answer["shade"], *bend_ground, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        burns = model in {"fire", "car_fire"}
        drawing = Drawing((x, y, x + w, y + h), rgba, shade, burns=burns, dull=dull(model))
        return drawing, {**report, "bpy": answer["version"]}


def _body(request: InpaintRequest, part: Sequence[int]) -> tuple[int, int, int, int]:
    """x, y, width, height of the hazard's box in the crop, with a rim, within ``part``."""
    corners, _ = project(request.camera, box_of(request.placement))
    rim = 4 + 0.06 * np.ptp(corners, axis=0)
    x, y, w, h = part
    low = np.clip(np.floor(corners.min(0) - rim), (x, y), (x + w - 1, y + h - 1)).astype(int)
    high = np.clip(np.ceil(corners.max(0) + rim), low + 1, (x + w, y + h)).astype(int)
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def _cropped(camera: Camera, part: Sequence[int]) -> Camera:
    x, y, w, h = part
    return cropped(camera, x, y, w, h)


def _pinhole(camera: Camera, scale: float = 1.0) -> tuple[dict[str, Any], tuple[np.ndarray, np.ndarray]]:
    """A pinhole camera that sees all of ``camera``'s image, and where each pixel of that image is in its picture.

    Its picture has ``scale`` times the image's resolution; the map is two (H, W) float32, columns and rows.

    Raises:
        InpaintRefusedError: the image spans too much of a wide lens for a flat picture.
    """
    turn = rotation(camera)
    grid = np.stack(np.meshgrid(np.arange(camera.width), np.arange(camera.height)), -1).reshape(-1, 2)
    if camera.model == "pinhole":
        aim, focal = np.eye(3), np.array([camera.fx, camera.fy])
        flat = (grid - (camera.cx, camera.cy)).astype(float)
    else:
        rays, valid = unproject(camera, grid)
        middle = rays[valid].mean(0) if valid.any() else np.zeros(3)
        if np.linalg.norm(middle) < _LEAST_AHEAD:
            raise InpaintRefusedError(_TOO_WIDE)
        aim = _towards(middle)
        local = np.where(valid[:, None], rays, middle / np.linalg.norm(middle)) @ aim.T
        if local[:, 2].min() < _LEAST_AHEAD:
            raise InpaintRefusedError(_TOO_WIDE)
        slopes = local[:, :2] / local[:, 2:]
        pitch = np.median(np.hypot(*np.diff(slopes, axis=0).T)) if len(slopes) > 1 else 1 / camera.width
        focal = np.full(2, 1 / max(float(pitch), 1e-6))
        flat = focal * slopes
    flat, focal = flat * scale, focal * scale
    low = np.floor(flat.min(0)) - 1
    width, height = (np.ceil(flat.max(0)) + 2 - low).astype(int)
    if max(width, height) > _MOST_SIDE:
        raise InpaintRefusedError(_TOO_WIDE)
    columns, rows = (flat - low).T.astype(np.float32).reshape(2, camera.height, camera.width)
    lens = {
        "eye": centre(camera).tolist(),
        "turn": (aim @ turn).tolist(),
        "lens": (
            float(focal[0]),
            float(focal[1]),
            0.5 - float(low[0]),
            0.5 - float(low[1]),
            int(width),
            int(height),
        ),
    }
    return lens, (columns, rows)


def _towards(middle: np.ndarray) -> np.ndarray:
    """(3, 3): takes camera-frame directions into a frame that looks along ``middle``."""
    forward = middle / np.linalg.norm(middle)
    right = np.cross([0.0, 1.0, 0.0], forward)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(forward, right), forward])


class _Worker:
    """The process that holds bpy; started when first needed, ends with this one."""

    def __init__(self, python: str, threads: int) -> None:
        self.python, self.threads = python, threads
        self._process: subprocess.Popen[bytes] | None = None
        self._variants: dict[str, list[str]] | None = None
        self._sizes: dict[str, list[Size]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_process": None}

    def variants(self) -> dict[str, list[str]]:
        """Models and their variants, those that lie in the ground left out."""
        if self._variants is None:
            self._variants = self.ask({"do": "list"})
        return self._variants

    def sizes(self, model: str) -> list[Size]:
        """Of each variant, in their order."""
        if model not in self._sizes:
            answers = [self.ask({"do": "size", "model": model, "variant": v}) for v in self.variants()[model]]
            self._sizes[model] = [Size(length=x, width=y, height=z) for x, y, z in answers]
        return self._sizes[model]

    def ask(self, question: dict[str, Any]) -> Any:
        """The worker's answer.

        Raises:
            MissingExtraError: its interpreter has no bpy.
            InpaintRefusedError: the model failed to build or render.
            CfgenError: the worker died.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(question, process.stdin)
            process.stdin.flush()
            kind, answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self._process = None
            raise CfgenError(
                f"pathtrace: the worker ({self.python}) ended unexpectedly with code {process.wait()}; "
                "run it again, and with fewer threads or jobs if memory is short"
            ) from error
        if kind == "missing":
            raise MissingExtraError(
                f"inpainter 'pathtrace' ({self.python})", "pathtrace", ImportError(name="bpy")
            )
        if kind == "failed":
            raise InpaintRefusedError(f"pathtrace: {answer}")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            command = [self.python, str(_WORKER), str(models_dir()), str(self.threads)]
            try:
                self._process = subprocess.Popen(
                    isolated(command) if current().limits and available() else command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                raise CfgenError(
                    f"pathtrace: cannot start '{self.python}': {error.strerror}; set ${_PYTHON_VARIABLE} or the "
                    "option python to an interpreter that has bpy"
                ) from error
            atexit.register(self._process.terminate)
        return self._process
