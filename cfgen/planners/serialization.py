"""Observations and answers as JSON, for planners in other processes, on other machines, or run elsewhere.

A planner sees exactly the stored pixels: they travel raw through our own channel (:mod:`cfgen.planners.client`), and as
base64 PNG to programs and servers. The latter's objects are documented as OpenAPI in ``openapi.yaml`` beside this file.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cfgen.core.files import png_bytes
from cfgen.core.sanitize import MAX_CHARS, plain_json
from cfgen.planners.answer import CheckedResponse, PlanFaultError, check_response
from cfgen.planners.protocol import Observation, Requirements


def encode(observation: Observation) -> dict[str, Any]:
    """JSON values of one question; ``history`` rows are x, y, theta, v at the times ``history_t``."""
    return describe(observation) | {
        "images": {
            name: [
                {"t": image.t, "png": base64.b64encode(png_bytes(image.pixels)).decode()} for image in images
            ]
            for name, images in observation.images.items()
        }
    }


def pack(observations: Sequence[Observation]) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """Questions as JSON values, and their frames (H, W, 3) uint8 beside them, each once."""
    messages: list[dict[str, Any]] = []
    frames: list[np.ndarray] = []
    numbers: dict[int, int] = {}
    for observation in observations:
        images: dict[str, list[tuple[float, int]]] = {}
        for name, frames_of in observation.images.items():
            for image in frames_of:
                if id(image.pixels) not in numbers:
                    numbers[id(image.pixels)] = len(frames)
                    frames.append(image.pixels)
                images.setdefault(name, []).append((image.t, numbers[id(image.pixels)]))
        messages.append(describe(observation) | {"images": images})
    return messages, frames


def unpacked(content: Any, max_chars: int = MAX_CHARS) -> CheckedResponse | PlanFaultError:
    """What a planner's process says it was answered, checked again: the process may be anybody's by now."""
    if isinstance(content, dict) and "fault" in content:
        return PlanFaultError(content["fault"], content.get("kind", "answer"))
    try:
        answer = check_response(content, max_chars)
    except PlanFaultError as fault:
        return fault
    notes = content.get("notes") if isinstance(content, dict) else None
    short_notes = tuple(str(note)[:300] for note in notes[:40]) if isinstance(notes, list) else ()
    return replace(answer, notes=(*short_notes, *answer.notes))


def describe(observation: Observation) -> dict[str, Any]:
    """The question without its images."""
    history = observation.history
    return {
        "id": observation.token,
        "seed": observation.seed,
        "instruction": observation.instruction,
        "speed": observation.speed,
        "history_t": list(history.t),
        "history": [[*pose, v] for pose, v in zip(history.poses, history.v, strict=True)],
        "trace": None if observation.trace is None else observation.trace.model_dump(),
        "cameras": {name: camera.model_dump(mode="json") for name, camera in observation.cameras.items()},
    }


def decode(content: Any, max_chars: int = MAX_CHARS) -> CheckedResponse:
    """An answer from JSON values: ``text`` and/or ``waypoints`` (T x 2 or 3) with optional ``t`` (T).

    Raises:
        PlanFaultError: names the field that does not fit; an ``error`` in the answer is passed on.
    """
    if not isinstance(content, dict):
        raise PlanFaultError(f"answer: expected a JSON object, found {type(content).__name__}")
    if content.get("error"):
        raise PlanFaultError(f"the planner reported: {str(content['error'])[:300]}", "error")
    return check_response(content, max_chars)


def decode_needs(content: Any, own: bool = False) -> Requirements:
    """What a planner declares, checked; missing fields take their defaults. ``own``: it may ask for ``truth``.

    Raises:
        PlanFaultError: an unknown field, or a value of the wrong kind; names the field, and what was expected.
    """
    if not isinstance(content, Mapping):
        raise PlanFaultError(f"needs: expected a JSON object, found {type(content).__name__}")
    content = plain_json(content)[0]
    checks = _NEEDS | {"truth": _flag} if own else _NEEDS
    unknown = sorted(set(content) - set(checks))
    if unknown:
        raise PlanFaultError(f"needs: unknown fields {unknown}; expected any of {sorted(checks)}")
    values: dict[str, Any] = {}
    for name, value in content.items():
        try:
            values[name] = checks[name](value)
        except ValueError as error:
            raise PlanFaultError(f"needs: '{name}': expected {error}, found {str(value)[:60]!r}") from None
    return Requirements(**values)


def _cameras(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise ValueError("a list of camera names")
    return tuple(value)


def _times(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not all(_finite(v) for v in value):
        raise ValueError("a list of finite times in s")
    return tuple(float(v) for v in value)


def _finite(value: Any) -> bool:
    """A number that is one, and not beyond all sense."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12


def _count(value: Any) -> int:
    if not _finite(value) or value < 1 or value != int(value):
        raise ValueError("a whole number of at least 1")
    return int(value)


def _area(value: Any) -> int | None:
    return None if value is None else _count(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


_NEEDS: dict[str, Callable[[Any], Any]] = {
    "cameras": _cameras,
    "frame_times": _times,
    "max_pixels": _area,
    "input_pixels": _area,
    "batch_size": _count,
    "deterministic": _flag,
    "accepts_trace": _flag,
}
