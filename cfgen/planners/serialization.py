"""Observations and answers as JSON, for planners in other processes, on other machines, or run elsewhere.

A planner sees exactly the stored pixels: they travel raw through our own channel (:mod:`cfgen.planners.client`), and as
base64 PNG to programs and servers. The latter's objects are documented as OpenAPI in ``openapi.yaml`` beside this file.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from pydantic import FiniteFloat, PositiveInt, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from cfgen.core.files import explain, png_bytes
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
    known = [field.name for field in fields(Requirements) if own or field.name != "truth"]
    if unknown := sorted(set(content) - set(known)):
        raise PlanFaultError(f"needs: unknown fields {unknown}; expected any of {sorted(known)}")
    try:
        return Requirements(**vars(_NEEDS.validate_json(json.dumps(content), strict=True)))
    except ValidationError as error:
        raise PlanFaultError(f"needs: {explain(error)}") from None


@pydantic_dataclass(frozen=True)
class _Needs(Requirements):
    frame_times: tuple[FiniteFloat, ...] = (0.0,)
    max_pixels: PositiveInt | None = None
    input_pixels: PositiveInt | None = None
    batch_size: PositiveInt = 1


_NEEDS = TypeAdapter(_Needs)
