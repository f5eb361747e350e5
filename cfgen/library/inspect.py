"""A benchmark as a task of inspect_ai: any model that its users have can be planner, judge, or both.

    inspect eval cfgen/hazards -T bench=bench --model openai/gpt-5 --model-role grader=anthropic/claude-sonnet-5

One sample a case. The solver asks the model once for each arm, in conversations that know nothing of each other; the
scorer judges each pair as ``cfgen score`` does, by the same rubric, parser and combining rules. Values are strict
success (1 or 0, NaN where the judge could not tell), so that their means are the shares of ``cfgen report``.
"""

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.model import Model as InspectModel
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_json
from cfgen.core.options import split as names
from cfgen.judge.asking import Pictures
from cfgen.judge.panel import Panel
from cfgen.judge.protocol import Judge, VerdictKey
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.registry import create_rubric
from cfgen.judge.run import judge_item, planner_failed
from cfgen.metrics.success import STRICT, dimensions_scored
from cfgen.metrics.success import response as response_of
from cfgen.models.base import Ask, Form, Model, Picture, Reply
from cfgen.models.limits import Limits
from cfgen.planners.answer import PlanFaultError, check_response, to_plan
from cfgen.planners.protocol import Requirements, Response
from cfgen.planners.vlm import Look, question
from cfgen.records import DIMENSIONS, Dimension, Rollout, Verdict, answer_in, judged_as
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs
from cfgen.rollouts.queries import QueryKey, RolloutInput
from cfgen.storage.store import Store

#: ``judge`` that means inspect's model in the role of that name, or the one under test where there is none
GRADER = "grader"
#: where a sample keeps what the model said: arm -> its words and how they ended
ANSWERS = "cfgen_answers"
_FINISH = {"max_tokens": "cut", "model_length": "cut", "content_filter": "refused"}
R = TypeVar("R")


@task
def hazards(
    bench: str,
    arms: str | Sequence[str] = "hazard",
    judge: str = GRADER,
    judge_options: dict[str, Any] | None = None,
    rubric: str = "cfgen",
    max_pixels: int = Look.max_pixels,
    frame_times: Sequence[float] = Look.frame_times,
) -> Task:
    """Cases of a benchmark that ``cfgen build`` made.

    Args:
        bench: its folder. arms: "hazard", and control arms that it has: "hazard,null,nuisance,rerun".
        judge: "grader" for inspect's model in that role, or any judge of cfgen with its ``judge_options``: "offline".
        rubric: what the judge is asked, an installed one or a YAML file.
        max_pixels, frame_times: what of a drive the planner is shown.
    """
    requested = tuple(arm for arm in names(arms) if arm != "original")
    if "hazard" not in requested:
        raise InputError(f"arms: expected 'hazard' among them, found {', '.join(requested) or 'none'}")
    store = Store(_folder(bench))
    questions = arm_inputs(store, requested, 1)
    of_case: dict[str, list[str]] = {}
    for key in questions.each_key():
        of_case.setdefault(key.case_id, []).append(key.arm)
    samples = [
        Sample(
            id=case_id,
            input=f"Case {case_id}: the solver asks about each of {len(versions)} frames, each by itself.",
            metadata={"arms": versions},
        )
        for case_id, versions in of_case.items()
    ]
    needs = Requirements(frame_times=tuple(map(float, frame_times)), max_pixels=max_pixels)
    RolloutInputs(store, store.benchmark.seed).check(questions, needs)
    return Task(
        dataset=MemoryDataset(samples, name=store.root.name),
        solver=drive(bench, needs.frame_times, max_pixels),
        scorer=response(bench, judge, judge_options, rubric),
    )


@solver
def drive(
    bench: str, frame_times: Sequence[float] = Look.frame_times, max_pixels: int = Look.max_pixels
) -> Solver:
    """Ask the model for a plan in each arm; no conversation knows of another."""
    store = Store(_folder(bench))
    inputs = RolloutInputs(store, store.benchmark.seed)
    needs = Requirements(frame_times=tuple(frame_times), max_pixels=max_pixels)

    def ask(case_id: str, arm: str) -> Ask:
        rollout_input = RolloutInput(store.case(case_id), arm, 0)
        return question(inputs.observation(rollout_input, needs), "tags")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model, case_id, arms = get_model(), str(state.sample_id), list(state.metadata["arms"])
        answers: dict[str, dict[str, str]] = {}
        talks: dict[str, list[ChatMessage]] = {}
        outputs: dict[str, ModelOutput] = {}
        for arm in random.Random(f"{case_id} {state.epoch}").sample(arms, len(arms)):
            messages = chat(await _aside(partial(ask, case_id, arm)))
            outputs[arm] = output = await model.generate(messages)
            answers[arm] = {"text": words_of(output), "finish": _FINISH.get(output.stop_reason, "complete")}
            talks[arm] = [*messages, ChatMessageAssistant(content=words_of(output))]
        state.metadata[ANSWERS] = {arm: answers[arm] for arm in arms}
        # for whoever reads the log: one conversation after the other
        state.messages = [message for arm in arms for message in talks[arm]]
        state.output = outputs["hazard"]
        return state

    return solve


@metric
def strict_success() -> Metric:
    """The share of cases that the judge scored 2, in percent: that of ``cfgen report``."""

    def of(scores: list[SampleScore]) -> float:
        values = [score.score.as_float() for score in scores]
        return 100 * sum(values) / len(values) if values else math.nan

    return of


@metric
def minus_false_alarms() -> Metric:
    """Hit rate minus false-alarm rate of the last dimension that the judge scores, in percentage points."""

    def of(scores: list[SampleScore]) -> float:
        values = {str(s.sample_id): s.score.value for s in scores if isinstance(s.score.value, dict)}

        def events(name: str) -> dict[str, float]:
            scored = {case: value.get(name) for case, value in values.items()}
            return {case: float(v) for case, v in scored.items() if v is not None and not math.isnan(v)}

        leading = _judged(scores)[-1]
        false_alarms = events(f"{leading}_{judged_as('nuisance')}")
        value = response_of(events(leading), {"nuisance": false_alarms}).difference.value
        return math.nan if value is None else 100 * value

    return of


def _judged(scores: Sequence[SampleScore]) -> tuple[Dimension, ...]:
    """What the judge scores, by its verdicts: a planner's failure has a figure in every dimension."""
    verdicts = (v for s in scores for v in (s.score.metadata or {}).get("verdicts", ()))
    return dimensions_scored(map(Verdict.model_validate, verdicts))


@scorer(metrics=[minus_false_alarms(), {"*": [strict_success()]}])
def response(
    bench: str, judge: str = GRADER, judge_options: dict[str, Any] | None = None, rubric: str = "cfgen"
) -> Scorer:
    """Judge the answers of :func:`drive` pair by pair, as ``cfgen score`` does."""
    store = Store(_folder(bench))
    inputs = RolloutInputs(store, store.benchmark.seed)
    wording = create_rubric(rubric)
    own = None if judge == GRADER else create_judge(judge, store.reply_cache, rubric, **(judge_options or {}))

    async def score(state: TaskState, target: Target) -> Score:
        answers = state.metadata.get(ANSWERS)
        if not isinstance(answers, dict):
            raise InputError(
                "cfgen's scorer: expected answers of its solver 'drive', found none; use the task"
            )
        judging: Panel | Judge = own or _panel(get_model(role=GRADER))
        if isinstance(judging, Panel) and own is None:
            judging.use_rubric(wording, judging.name)
        case_id, model = str(state.sample_id), _plain(str(state.model))
        rollouts = {arm: rollout(model, case_id, arm, answer) for arm, answer in answers.items()}
        verdicts = []
        for arm in answers:
            if arm != "original":
                key = VerdictKey(model, case_id, judged_as(arm), 0)
                verdicts.append(await _verdict(judging, store, inputs, key, rollouts))
        return scored(verdicts)

    return score


async def _verdict(
    judge: Panel | Judge,
    store: Store,
    inputs: RolloutInputs,
    key: VerdictKey,
    rollouts: Mapping[str, Rollout],
) -> Verdict:
    before, after = rollouts["original"], rollouts[answer_in(key.arm)]
    failed = next((f"{r.arm}: {r.reason}" for r in (before, after) if r.status == "failed"), None)
    if failed is not None:
        return planner_failed(judge.run_record(), key, failed)
    case = await _aside(partial(store.case, key.case_id))
    build = partial(judge_item, inputs, RolloutInput(case, key.arm, key.repeat), before, after)
    if isinstance(judge, Panel) and isinstance(judge.asking, _InspectClient):
        return await judge.verdict(key, build)
    verdicts: list[Verdict] = []
    await _aside(partial(judge.judge, [(key, build)], verdicts.append))
    return verdicts[0]


def rollout(planner: str, case_id: str, arm: str, answer: Mapping[str, str]) -> Rollout:
    """What the model said, as cfgen records it: a plan, or why there is none."""
    fields: dict[str, Any] = {
        "planner": planner,
        "planner_hash": hash_json(planner),
        **QueryKey(case_id, arm, 0)._asdict(),
        "seed": 0,
    }
    try:
        if answer["finish"] != "complete":
            raise PlanFaultError(f"the model's answer is {answer['finish']}")
        checked = check_response(Response(answer["text"]))
        fields |= {"text": checked.text, "notes": checked.notes}
        _, plan = to_plan(checked)
    except PlanFaultError as fault:
        return Rollout(status="failed", reason=str(fault), failure=fault.kind, **fields)
    return Rollout(status="ok", plan=plan, **fields)


def scored(verdicts: Sequence[Verdict]) -> Score:
    """Verdicts on one case as inspect has them: strict success by dimension, those of control pairs beside them."""
    value: dict[str, float] = {}
    lines = []
    for verdict in verdicts:
        for dimension in DIMENSIONS:
            name = dimension if verdict.arm == "hazard" else f"{dimension}_{verdict.arm}"
            value[name] = math.nan
            if verdict.status == "planner_failed":
                value[name] = 0.0
            elif verdict.status == "scored" and dimension in verdict.scores:
                value[name] = float(verdict.scores[dimension] == STRICT)
        scores = "/".join(str(s) for s in verdict.scores.values())
        lines.append(
            f"{verdict.arm}: {verdict.status} {scores} {verdict.explanation or verdict.reason}".strip()
        )
    return Score(
        value=value,
        explanation="\n\n".join(lines),
        metadata={"verdicts": [verdict.model_dump(mode="json") for verdict in verdicts]},
    )


# --- inspect's models as cfgen's --------------------------------------------------------------------------


class InspectTransport(Model):
    """A model of inspect as one of cfgen; retries, caching, limits and logging are inspect's."""

    form: Form = "tags"
    at_once: int | None = None
    host = ""

    def __init__(self, model: InspectModel) -> None:
        self._model = model
        self.id = str(model)
        self.identity: Mapping[str, Any] = {"provider": "inspect", "model": self.id}

    async def ask(self, ask: Ask) -> Reply:
        output = await self._model.generate(chat(ask), config=GenerateConfig())
        finish: Any = _FINISH.get(output.stop_reason, "complete")
        return Reply(words_of(output), finish, str(output.stop_reason) if finish != "complete" else "")


def words_of(output: ModelOutput) -> str:
    """What the model said, whole: inspect takes a ``<think>`` block out, in which our planners give their reasons.

    Reasoning that came beside the text, by a field or a signature of the provider's, is no part of it.
    """
    content = output.message.content if output.choices else ""
    parts = [
        f"<think>\n{part.reasoning}\n</think>\n"
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, ContentReasoning)
        and part.internal in (None, "think")
        and not (part.redacted or part.signature or part.summary)
    ]
    return "".join(parts) + output.completion


def chat(ask: Ask) -> list[ChatMessage]:
    """A question as inspect's messages, pictures in their places."""
    messages: list[ChatMessage] = [ChatMessageSystem(content=ask.system)]
    for turn in ask.turns:
        parts = [_part(part) for part in turn.parts]
        message = ChatMessageUser if turn.role == "user" else ChatMessageAssistant
        messages.append(message(content=parts))
    return messages


def _part(part: str | Picture) -> Content:
    if isinstance(part, str):
        return ContentText(text=part)
    return ContentImage(image=f"data:{part.mime};base64,{part.base64}")


def _panel(model: InspectModel) -> Panel:
    transport = InspectTransport(model)
    panel = Panel(_plain(transport.id), f"inspect {transport.id}", [transport], Limits())
    panel.asking = _InspectClient()  # type: ignore[assignment]
    return panel


class _InspectClient:
    """In place of cfgen's own client and event loop: within inspect's."""

    def __init__(self) -> None:
        self.pictures = Pictures()

    async def aside(self, prepare: Callable[[], R]) -> R:
        return await _aside(prepare)

    async def reply(self, model: Model, ask: Ask, vote: int, fits: Callable[[str], bool]) -> Reply:
        return await model.ask(ask)


async def _aside(work: Callable[[], R]) -> R:
    """Reading and drawing, off the event loop."""
    result: R = await anyio.to_thread.run_sync(work)
    return result


def _folder(bench: str) -> Path:
    return Path(bench).expanduser().resolve()


def _plain(name: str) -> str:
    """As a name of a record."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-_")[:100] or "model"
