"""A vision-language model as a planner: prompted to drive in the papers' format, so that anyone with a key (or a
local model) has a planner that explains itself. Any registered model provider will do.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import CfgenError, InputError, Shortfall
from cfgen.core.registry import own_doc
from cfgen.models.base import Ask, ChatTurn, EmptyReplyError, Model, ModelError, Picture, Reply
from cfgen.models.client import Client
from cfgen.models.limits import BudgetSpentError, Limits
from cfgen.models.registry import MODELS, create_model
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.baselines import write_text
from cfgen.planners.prompts import (
    Parser,
    Prompt,
    create_parser,
    create_prompt,
    motion_in_words,
    papers,
    parsed,
)
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
    """A planner that asks ``model``; a batch is asked at once, within ``limits``.

    Args:
        prompt: in place of cfgen's own, with the ``parser`` of what comes back.

    Raises:
        CfgenError: the model cannot be asked.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        look: Look,
        prompt: Prompt | None = None,
        parser: Parser = papers,
    ) -> None:
        self._model, self._prompt, self._parser = model, prompt, parser
        self._client = Client(f"planner '{model.id}'", limits, f"planner {model.id}")
        self._at_once = model.at_once or limits.concurrency
        self.needs = Requirements(
            frame_times=look.frame_times,
            max_pixels=look.max_pixels,
            batch_size=self._at_once,
            deterministic=False,
            accepts_trace=prompt is None,
        )
        self._runner = asyncio.Runner()
        self._runner.run(self._client.open(model))

    def plan(self, observations: Sequence[Observation]) -> list[Response | PlanFaultError]:
        """
        Raises:
            Shortfall: the budget is spent; replies so far are in the cache. SetupError: a refused key or model.
        """
        return self._runner.run(self._all(observations))

    async def _all(self, observations: Sequence[Observation]) -> list[Response | PlanFaultError]:
        """All are waited for, so that nothing under way is paid for in vain."""
        results = await asyncio.gather(*map(self._respond, observations), return_exceptions=True)
        answers: list[Response | PlanFaultError] = []
        if any(isinstance(result, BudgetSpentError) for result in results):
            raise Shortfall(self._client.broke())
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, PlanFaultError):
                raise result
            answers.append(result)
        return answers

    async def _respond(self, observation: Observation) -> Response | PlanFaultError:
        if self._prompt is not None:
            return await self._staged(self._prompt, observation)
        ask = question(observation, self._model.form)
        form = self._model.form
        reply = await self._reply(ask, observation, lambda text: _is_plan(answer(Reply(text), form)))
        return reply if isinstance(reply, PlanFaultError) else answer(reply, self._model.form)

    async def _staged(self, prompt: Prompt, observation: Observation) -> Response | PlanFaultError:
        """Stage after stage, each told what the earlier ones were answered; the parser reads them all."""
        answers: dict[str, str] = {}
        report: dict[str, float] = {}
        for stage in prompt.stages:
            last = stage == prompt.last
            words = prompt.fill(stage, observation, answers)
            turn = ChatTurn("user", (*_pictures(observation), words))
            ask = Ask(prompt.system, (turn,), "tags", {}, f"{observation.token}.{stage}")

            def fits(text: str, stage: str = stage, last: bool = last) -> bool:
                replies = {**answers, stage: text}
                return not last or _is_plan(parsed(self._parser, replies, observation, {}))

            reply = await self._reply(ask, observation, fits)
            if isinstance(reply, PlanFaultError):
                return PlanFaultError(f"{stage}: {reply}", reply.kind)
            answers[stage] = reply.text
            report |= {k: report.get(k, 0.0) + v for k, v in reply.usage.items()}
        return parsed(self._parser, answers, observation, report)

    async def _reply(
        self, ask: Ask, observation: Observation, fits: Callable[[str], bool]
    ) -> Reply | PlanFaultError:
        """A whole reply, or why there is none."""
        try:
            reply = await self._client.reply(self._model, ask, observation.seed, fits)
        except ModelError as error:
            away = error.transient and not isinstance(error, EmptyReplyError)
            kind: Failure = "unavailable" if away else "error"
            return PlanFaultError(f"the model gave no answer: {error}", kind)
        if reply.finish != "complete":
            return PlanFaultError(f"the model's answer is {reply.finish} ({reply.reason})")
        return reply


def question(observation: Observation, form: str) -> Ask:
    """The prompt for one observation: frames oldest first, motion in words, the form of the answer."""
    parts: list[str | Picture] = [*_pictures(observation), motion_in_words(observation)]
    if observation.instruction:
        parts.append(f"Route: {observation.instruction}")
    if observation.trace is not None:
        parts.append(_fixed_reasoning(observation))
    parts.append(TAGS if form == "tags" else "Answer with one JSON object that fits the schema.")
    turn = ChatTurn("user", tuple(parts))
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


def _pictures(observation: Observation) -> Iterator[str | Picture]:
    for image in observation.images["front"]:
        yield f"Front camera {_when(image.t)}:"
        yield Picture(jpeg(image.pixels))


def _is_plan(response: Response | PlanFaultError) -> bool:
    try:
        return bool(to_plan(response))
    except PlanFaultError:
        return False


def model_planner(provider: str) -> Callable[..., Vlm]:
    """What makes a planner of one model of a registered provider."""

    def make(
        look: dict[str, Any] | None = None, prompt: Any = None, parser: Any = None, **options: Any
    ) -> Vlm:
        if parser is not None and prompt is None:
            raise InputError(
                "planner option 'parser': reads the answers to a prompt of your own; give it with prompt=FILE"
            )
        own_prompt = None if prompt is None else create_prompt(prompt)
        reads = create_parser(parser or (own_prompt.parser if own_prompt else "papers"))
        model, limits = create_model(provider, options, "planner")
        look_options = {**(own_prompt.look if own_prompt else {}), **(look or {})}
        return Vlm(model, limits, _look(look_options), own_prompt, reads)

    make.__doc__ = own_doc(MODELS.get(provider))
    return make


def _look(options: dict[str, Any] | None) -> Look:
    values = dict(options or {})
    if "frame_times" in values:
        values["frame_times"] = tuple(float(t) for t in values["frame_times"])
    try:
        return Look(**values)
    except TypeError as error:
        raise CfgenError(
            f"planner option 'look': expected frame_times and/or max_pixels ({error})"
        ) from error


def _when(t: float) -> str:
    return "now" if abs(t) < 0.02 else f"{-t:.1f} s ago"


def _fixed_reasoning(observation: Observation) -> str:
    trace = observation.trace
    assert trace is not None
    fixed = {k: v for k, v in trace.model_dump().items() if v}
    names = {"scene": "scene", "justification": "move_justification"}
    fixed_names = {names.get(k, k): v for k, v in fixed.items()}
    return (
        "This much of the reasoning is already settled; copy it unchanged, fill in the rest, and plan for it:\n"
        + json.dumps(fixed_names, ensure_ascii=False)
    )


def jpeg(pixels: np.ndarray) -> bytes:
    """(H, W, 3) uint8 RGB as JPEG without metadata."""
    encoded, data = cv2.imencode(
        ".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 92]
    )
    if not encoded:
        raise CfgenError(f"cannot encode an image of shape {pixels.shape} as JPEG")
    return data.tobytes()
