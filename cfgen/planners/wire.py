"""Observations and answers as JSON, for planners in other processes, on other machines, or run elsewhere.

Images travel as base64 PNG, so that a planner sees exactly the stored pixels. The same objects are documented as
OpenAPI in ``openapi.yaml`` beside this file.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from cfgen.files import png_bytes
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Needs, Observation, Response

_NEEDS = {
    "cameras": tuple,
    "frame_times": tuple,
    "max_pixels": int,
    "input_pixels": int,
    "batch_size": int,
    "deterministic": bool,
    "accepts_trace": bool,
}


def encode(observation: Observation) -> dict[str, Any]:
    """JSON values of one question; ``history`` rows are x, y, theta, v at the times ``history_t``."""
    return describe(observation) | {
        "images": {
            name: [
                {"t": shown.t, "png": base64.b64encode(png_bytes(shown.pixels)).decode()} for shown in images
            ]
            for name, images in observation.images.items()
        }
    }


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


def decode(content: Any) -> Response:
    """A :class:`Response` from JSON values: ``text`` and/or ``waypoints`` (T x 2 or 3) with optional ``t`` (T).

    Raises:
        PlanFaultError: names the field that does not fit; an ``error`` in the answer is passed on.
    """
    if not isinstance(content, dict):
        raise PlanFaultError(f"answer: expected a JSON object, found {type(content).__name__}")
    if content.get("error"):
        raise PlanFaultError(f"the planner reported: {' '.join(str(content['error']).split())[:300]}")
    text, report = content.get("text", ""), content.get("report", {})
    if not isinstance(text, str):
        raise PlanFaultError(f"answer: 'text': expected a string, found {type(text).__name__}")
    if not isinstance(report, dict):
        raise PlanFaultError(f"answer: 'report': expected an object, found {type(report).__name__}")
    return Response(text, _array(content, "waypoints"), _array(content, "t"), report)


def decode_needs(content: Any) -> Needs:
    """What a planner elsewhere declares; missing fields take their defaults.

    Raises:
        PlanFaultError: an unknown field, or a value of the wrong kind.
    """
    if not isinstance(content, Mapping):
        raise PlanFaultError(f"needs: expected a JSON object, found {type(content).__name__}")
    unknown = sorted(set(content) - set(_NEEDS))
    if unknown:
        raise PlanFaultError(f"needs: unknown fields {unknown}; expected any of {sorted(_NEEDS)}")
    try:
        values: dict[str, Any] = {k: None if v is None else _NEEDS[k](v) for k, v in content.items()}
        needs = Needs(**values)
    except (TypeError, ValueError) as error:
        raise PlanFaultError(f"needs: a value does not fit ({error})") from error
    if needs.batch_size < 1:
        raise PlanFaultError(f"needs: 'batch_size': expected at least 1, found {needs.batch_size}")
    return needs


def _array(content: Mapping[str, Any], field: str) -> np.ndarray | None:
    value = content.get(field)
    if value is None:
        return None
    try:
        return np.array(value, float)
    except (TypeError, ValueError) as error:
        raise PlanFaultError(f"answer: '{field}': expected numbers ({error})") from error
