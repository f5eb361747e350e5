"""A vision-language model as a planner: prompted to drive in the papers' format, so that anyone with a key (or a
local model) has a planner that explains itself. The transports are those of the judges.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import CfgenError, InputError
from cfgen.models.base import Ask, Model, ModelError, Picture, Reply, Turn
from cfgen.models.limits import BudgetSpentError, Limits, Meter, with_retries
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.builtin import write_text
from cfgen.planners.protocol import Observation, Requirements, Response
from cfgen.records import LATERAL, LONGITUDINAL, PLAN_DT, PLAN_STEPS, Failure

SYSTEM = f"""You drive a car. You see its front camera and know how it has moved; you decide the next 6 seconds.

Coordinates: metres in the car's frame now, x forward, y to the left, theta in radians counter-clockwise. The car is
at (0, 0, 0). A plan is {PLAN_STEPS} waypoints, {PLAN_DT} s apart: the first is where the car is after {PLAN_DT} s, the
last after {PLAN_STEPS * PLAN_DT:g} s. At v m/s unchanged, waypoint k lies {PLAN_DT} * k * v metres along the lane.

First describe the scene as the picture shows it: road, lanes, signals, road users, anything in or near your path
and where it is. Then say what you will do and which of these things make you do it. Then name one longitudinal and
one lateral action:
longitudinal: {"; ".join(LONGITUDINAL)}
lateral: {"; ".join(LATERAL)}
Then give waypoints that do exactly that and that a real car can drive."""

TAGS = """Answer in exactly this form and with nothing else:
<think>
{"scene": "...", "move_justification": "..."}
</think>
<action>
Longitudinal: ...
Lateral: ...
</action>
<wp>[x, y, theta]</wp>   (24 of these lines)"""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "scene": {"type": "string"},
        "move_justification": {"type": "string"},
        "longitudinal": {"type": "string", "enum": list(LONGITUDINAL)},
        "lateral": {"type": "string", "enum": list(LATERAL)},
        "waypoints": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
            "minItems": PLAN_STEPS,
            "maxItems": PLAN_STEPS,
        },
    },
    "required": ["scene", "move_justification", "longitudinal", "lateral", "waypoints"],
}


@dataclass(frozen=True)
class Look:
    """What of a drive is shown: times of the frames, s relative to t0, and the largest area of each."""

    frame_times: tuple[float, ...] = (-1.0, -0.5, 0.0)
    max_pixels: int = 640 * 480


class Vlm:
    """A planner that asks ``model``; a batch is asked at once, within ``limits``."""

    def __init__(self, model: Model, limits: Limits, look: Look) -> None:
        self._model, self._meter = model, Meter(limits)
        self._at_once = model.at_once or limits.concurrency
        self.needs = Requirements(
            frame_times=look.frame_times,
            max_pixels=look.max_pixels,
            batch_size=self._at_once,
            deterministic=False,
            accepts_trace=True,
        )
        self._runner = asyncio.Runner()
        self._runner.run(model.open())

    def plan(self, observations: Sequence[Observation]) -> list[Response | PlanFaultError]:
        return self._runner.run(self._all(observations))

    async def _all(self, observations: Sequence[Observation]) -> list[Response | PlanFaultError]:
        gate = asyncio.Semaphore(self._at_once)
        return list(await asyncio.gather(*(self._one(o, gate) for o in observations)))

    async def _one(self, observation: Observation, gate: asyncio.Semaphore) -> Response | PlanFaultError:
        ask = question(observation, self._model.form)
        try:
            async with gate:
                reply = await with_retries(partial(self._model.ask, ask), self._meter)
        except ModelError as error:
            if error.kind == "fatal":
                raise CfgenError(str(error)) from error
            kind: Failure = "unavailable" if error.kind in ("rate", "transient") else "error"
            return PlanFaultError(f"the model gave no answer: {error}", kind)
        except BudgetSpentError as spent:
            raise CfgenError(f"the budget is spent ({spent}); raise it and run again to go on") from spent
        if reply.finish != "complete":
            return PlanFaultError(f"the model's answer is {reply.finish} ({reply.reason})")
        return answer(reply, self._model.form)


def question(observation: Observation, form: str) -> Ask:
    """The prompt for one observation: frames oldest first, motion in words, the form of the answer."""
    parts: list[str | Picture] = []
    for shown in observation.images["front"]:
        parts += [f"Front camera {_when(shown.t)}:", Picture(jpeg(shown.pixels))]
    parts.append(_motion(observation))
    if observation.instruction:
        parts.append(f"Route: {observation.instruction}")
    if observation.trace is not None:
        parts.append(_given(observation))
    parts.append(TAGS if form == "tags" else "Answer with one JSON object that fits the schema.")
    turn = Turn("user", tuple(parts))
    return Ask(SYSTEM, (turn,), "tags" if form == "tags" else "json", SCHEMA, observation.token)


def answer(reply: Reply, form: str) -> Response | PlanFaultError:
    """The reply as a response in the papers' format; JSON that does not fit is a fault."""
    report = dict(reply.usage)
    if form == "tags":
        return Response(reply.text, report=report)
    try:
        content = json.loads(reply.text)
        points = np.array(content["waypoints"], float)
        words = [str(content[k]) for k in ("scene", "move_justification", "longitudinal", "lateral")]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return PlanFaultError(f"answer: expected JSON that fits the schema ({type(error).__name__}: {error})")
    scene, why, longitudinal, lateral = words
    text = write_text(scene, why, longitudinal, lateral, np.empty((0, 3)))
    return Response(text, points, report=report)


def gemini(look: dict[str, Any] | None = None, **options: Any) -> Vlm:
    """Options: model (required), thinking, base_url, timeout_s, and those of :class:`Limits`."""
    return Vlm(*transport("gemini", options), _look(look))


def openai(look: dict[str, Any] | None = None, **options: Any) -> Vlm:
    """Options: model (required), base_url, form ("tags" or "json"), max_tokens, timeout_s, and :class:`Limits`."""
    return Vlm(*transport("openai", options), _look(look))


def local(look: dict[str, Any] | None = None, **options: Any) -> Vlm:
    """Options: model (a folder or name, required), revision, device, max_new_tokens, and :class:`Limits`."""
    return Vlm(*transport("local", options), _look(look))


def transport(provider: str, options: dict[str, Any]) -> tuple[Model, Limits]:
    """The model and the limits that ``options`` describe; see :func:`gemini`, :func:`openai`, :func:`local`.

    Raises:
        InputError: no model named, or an option that is not known.
    """
    options = dict(options)
    name = str(options.pop("model", ""))
    if not name:
        raise InputError(f"'{provider}': expected an option model=NAME, found none")
    timeout_s = float(options.pop("timeout_s", 180.0))
    made: Model
    if provider == "gemini":
        from cfgen.models.gemini import Gemini

        made = Gemini(name, str(options.pop("thinking", "")), str(options.pop("base_url", "")), timeout_s)
    elif provider == "openai":
        from cfgen.models.openai import DEFAULT_URL, OpenAI

        url, form = str(options.pop("base_url", DEFAULT_URL)), options.pop("form", "tags")
        made = OpenAI(name, url, form, int(options.pop("max_tokens", 4096)), timeout_s)
    else:
        from cfgen.models.local import Local

        revision, device = str(options.pop("revision", "")), str(options.pop("device", "auto"))
        made = Local(name, revision, device, int(options.pop("max_new_tokens", 1600)))
    return made, Limits.of(options)


def _look(options: dict[str, Any] | None) -> Look:
    given = dict(options or {})
    if "frame_times" in given:
        given["frame_times"] = tuple(float(t) for t in given["frame_times"])
    try:
        return Look(**given)
    except TypeError as error:
        raise CfgenError(
            f"planner option 'look': expected frame_times and/or max_pixels ({error})"
        ) from error


def _when(t: float) -> str:
    return "now" if abs(t) < 0.02 else f"{-t:.1f} s ago"


def _motion(observation: Observation) -> str:
    history = observation.history
    rows = [
        f"t={t:+.2f} s: x={pose[0]:.2f}, y={pose[1]:.2f}, theta={pose[2]:.3f}, v={v:.2f} m/s"
        for t, pose, v in zip(history.t, history.poses, history.v, strict=True)
    ]
    return "The car's own motion up to now:\n" + "\n".join(rows[-9:])


def _given(observation: Observation) -> str:
    trace = observation.trace
    assert trace is not None
    fixed = {k: v for k, v in trace.model_dump().items() if v}
    names = {"scene": "scene", "justification": "move_justification"}
    told = {names.get(k, k): v for k, v in fixed.items()}
    return (
        "This much of the reasoning is already settled; copy it unchanged, fill in the rest, and plan for it:\n"
        + json.dumps(told, ensure_ascii=False)
    )


def jpeg(pixels: np.ndarray) -> bytes:
    """(H, W, 3) uint8 RGB as JPEG without metadata."""
    done, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 92])
    if not done:
        raise CfgenError(f"cannot encode an image of shape {pixels.shape} as JPEG")
    return data.tobytes()
