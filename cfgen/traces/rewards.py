"""The Pinocchio paper's rewards (section 8.5, Eq. 8-13), as plain functions and in the form that TRL's trainers call.

Where a trainer adds rewards up, a malformed completion is never better than a well-formed one: it gets the least of
every term, and the terms that have no least (distance, log-probability) are cut at one, ``WORST_ADE`` and ``LEAST_P``.

A TRL reward function takes ``completions`` and, by name, the columns of the data set, and returns one number for each
completion, or None where it does not apply to a well-formed one. A completion is text or a list of chat messages.
"""

import random
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import exp, log, tanh
from typing import Any, Protocol

import numpy as np

from cfgen.judge.rubrics.trace import TraceItem
from cfgen.metrics.faithfulness import EDGES
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.records import PLAN_STEPS
from cfgen.traces.critic import LocalCritic

Completion = str | Sequence[Mapping[str, Any]]
#: (longitudinal, lateral)
MetaAction = tuple[str, str]

WELL_FORMED, MALFORMED = 1.0, -10.0
#: m; P of one edge
WORST_ADE, LEAST_P = 100.0, 1e-3
ALPHA = 10.0
SWAPS = 5

_NUMBER = r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
_WAYPOINT = re.compile(rf"<wp>\s*\[{_NUMBER},{_NUMBER}(?:,{_NUMBER})?\]\s*</wp>")


class RewardFunction(Protocol):
    """What TRL's GRPOTrainer accepts; it logs rewards under ``__name__``."""

    __name__: str

    def __call__(self, completions: Sequence[Completion], **columns: Any) -> list[float | None]: ...


# --- reading a completion -------------------------------------------------------------------------------


def text_of(completion: Completion) -> str:
    """The text of a completion, whether plain or a list of messages."""
    if isinstance(completion, str):
        return completion
    return "".join(m["content"] for m in completion if isinstance(m.get("content"), str))


def waypoints_of(text: str) -> np.ndarray | None:
    """(24, 2) x, y in m of exactly 24 ``<wp>`` tags that all hold finite numbers; None otherwise."""
    tags = _WAYPOINT.findall(text)
    if len(tags) != PLAN_STEPS or text.count("<wp>") != PLAN_STEPS:
        return None
    points = np.array([[float(x), float(y)] for x, y, _ in tags])
    return points if np.isfinite(points).all() else None


def action_of(text: str) -> MetaAction | None:
    """The declared pair of meta-actions, lower case; None when one of them is not declared."""
    matches = [
        re.search(rf"{name}\s*:\s*([^\n<]+)", text, re.IGNORECASE) for name in ("longitudinal", "lateral")
    ]
    words = [match.group(1).strip().lower() for match in matches if match]
    return (words[0], words[1]) if len(words) == 2 else None


def well_formed(text: str) -> bool:
    """Eq. 10's condition: one think block with both fields filled, one action block with content, 24 waypoints."""
    think = re.findall(r"<think>(.*?)</think>", text, re.DOTALL)
    action = re.findall(r"<action>(.*?)</action>", text, re.DOTALL)
    if len(think) != 1 or len(action) != 1 or text.count("<think>") != 1 or text.count("<action>") != 1:
        return False
    fields = [
        re.search(rf"""["']?{name}["']?\s*:\s*(["'])\s*(?!\1)\S""", think[0])
        for name in ("scene", "move_justification")
    ]
    return all(fields) and bool(action[0].strip()) and waypoints_of(text) is not None


# --- the rewards ----------------------------------------------------------------------------------------


def ade_reward(planned: np.ndarray, logged: np.ndarray) -> float:
    """Eq. 8: minus the mean distance of (T, 2+) planned to (T, 2+) logged waypoints, m.

    Raises:
        ValueError: they differ in length.
    """
    if len(planned) != len(logged):
        raise ValueError(
            f"ADE: expected plans of one length, found {len(planned)} and {len(logged)} waypoints"
        )
    return -float(np.linalg.norm(np.asarray(planned)[:, :2] - np.asarray(logged)[:, :2], axis=1).mean())


def format_reward(text: str) -> float:
    """Eq. 10."""
    return WELL_FORMED if well_formed(text) else MALFORMED


def reason_reward(with_trace: Sequence[float], without_trace: Sequence[float], alpha: float = ALPHA) -> float:
    """Eq. 12: does the trace make the planned waypoints likelier? In -1..1.

    Args:
        with_trace, without_trace: log-probability of each waypoint under teacher forcing.
    """
    return tanh(alpha * (sum(with_trace) - sum(without_trace)))


def swap_reward(
    with_trace: Sequence[float], with_swaps: Sequence[Sequence[float]], alpha: float = ALPHA
) -> float:
    """Eq. 13: are the waypoints likelier under their own trace than under traces for other manoeuvres? In -1..1.

    Args:
        with_trace: log-probability of each waypoint under its own trace.
        with_swaps: the same under each of K counterfactual prefixes.

    Raises:
        ValueError: no counterfactual prefix.
    """
    if not with_swaps:
        raise ValueError(
            "swap reward: expected at least one counterfactual prefix, found none; fill the buffer first"
        )
    swapped = sum(map(_geometric_mean, with_swaps)) / len(with_swaps)
    return tanh(alpha * (_geometric_mean(with_trace) - swapped))


def _geometric_mean(logs: Sequence[float]) -> float:
    return exp(sum(logs) / len(logs))


class SwapBuffer:
    """Reasoning prefixes by meta-action, the oldest dropped first: where Eq. 13's counterfactuals come from."""

    def __init__(self, capacity: int = 4096, seed: int = 0) -> None:
        self._kept: deque[tuple[MetaAction, str]] = deque(maxlen=capacity)
        self._random = random.Random(seed)

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, action: MetaAction, prefix: str) -> None:
        self._kept.append((action, prefix))

    def draw(self, action: MetaAction, k: int = SWAPS) -> list[str]:
        """Up to ``k`` different prefixes whose pair of meta-actions is another than ``action``."""
        prefixes = list(
            dict.fromkeys(prefix for stored_action, prefix in self._kept if stored_action != action)
        )
        return self._random.sample(prefixes, min(k, len(prefixes)))


# --- as TRL calls them ----------------------------------------------------------------------------------


def trl_format_reward(completions: Sequence[Completion], **columns: Any) -> list[float | None]:
    """Eq. 10 for each completion."""
    return [format_reward(text_of(c)) for c in completions]


def trl_ade_reward(
    completions: Sequence[Completion], future: Sequence[Any], **columns: Any
) -> list[float | None]:
    """Eq. 8 against the column ``future`` (24 x [x, y, ...]), no less than -WORST_ADE; so much when malformed."""
    rewards: list[float | None] = []
    for text, logged in zip(map(text_of, completions), future, strict=True):
        plan = waypoints_of(text) if well_formed(text) else None
        reward = -WORST_ADE if plan is None else ade_reward(plan, np.asarray(logged, float))
        rewards.append(max(reward, -WORST_ADE))
    return rewards


def trl_reason_reward(
    waypoint_logprobs: Callable[[str, str, Mapping[str, Any]], Sequence[float]],
) -> RewardFunction:
    """Eq. 12 with ``waypoint_logprobs(prefix, waypoints, row)`` of the policy; -1 where a completion is malformed."""

    def reason(completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        rewards: list[float | None] = []
        for completion, row in zip(completions, rows_of(columns, len(completions)), strict=True):
            text = text_of(completion)
            prefix, mark, points = text.partition("<wp>")
            rewards.append(
                reason_reward(
                    waypoint_logprobs(prefix, mark + points, row), waypoint_logprobs("", mark + points, row)
                )
                if well_formed(text)
                else -1.0
            )
        return rewards

    return reason


def trl_swap_reward(
    waypoint_logprobs: Callable[[str, str, Mapping[str, Any]], Sequence[float]],
    buffer: SwapBuffer,
    k: int = SWAPS,
) -> RewardFunction:
    """Eq. 13 with counterfactual prefixes from ``buffer``, to which each completion then adds its own.

    -1 where a completion is malformed or declares no action; None while there is nothing to swap in.
    """

    def swap(completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        rewards: list[float | None] = []
        for completion, row in zip(completions, rows_of(columns, len(completions)), strict=True):
            text = text_of(completion)
            prefix, mark, points = text.partition("<wp>")
            action = action_of(prefix) if well_formed(text) else None
            if action is None:
                rewards.append(-1.0)
                continue
            swaps = buffer.draw(action, k)
            own = waypoint_logprobs(prefix, mark + points, row) if swaps else ()
            swapped = [waypoint_logprobs(prefix_swap, mark + points, row) for prefix_swap in swaps]
            rewards.append(swap_reward(own, swapped) if swaps else None)
            buffer.add(action, prefix)
        return rewards

    return swap


def rows_of(columns: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """The samples behind the columns that hold one value for each completion."""
    per_sample = {k: v for k, v in columns.items() if isinstance(v, list | tuple) and len(v) == n}
    return [{k: v[i] for k, v in per_sample.items()} for i in range(n)]


# --- with real models plugged in ------------------------------------------------------------------------


class CriticOfCompletions:
    """A critic for :class:`WeightedFaithfulness`: P(CONSISTENT) of E1 to E5.

    Args:
        critic: as :meth:`LocalCritic.load` gives it. image: the column of the data set with the frame.
    """

    def __init__(self, critic: LocalCritic, image: str = "image") -> None:
        self._critic, self._image = critic, image

    def __call__(self, text: str, row: Mapping[str, Any]) -> list[float]:
        """LEAST_P throughout where the text is no plan."""
        try:
            _, plan = to_plan(text if well_formed(text) else "")
        except PlanFaultError:
            return [LEAST_P] * len(EDGES)
        frame = row[self._image]
        pixels = frame if isinstance(frame, np.ndarray) else frame.convert("RGB")
        item = TraceItem.of(np.asarray(pixels, np.uint8), plan.trace, np.array(plan.waypoints))
        return [*self._critic.probabilities(item).values()]


class WeightedFaithfulness:
    """Eq. 7: the sum of lambda_e log P_e, with lambda_e by dual ascent as in Faithful GRPO (its Eq. 4, Table 6); at
    ``rate`` 0 it is Eq. 9.

    After each batch lambda_e grows while the mean P_e of well-formed completions is below ``threshold``, and shrinks
    while it is above. A malformed completion gets LEAST_P on every edge at a weight of 1 or more: never more than any
    well-formed one.

    Args:
        critic: (text, row) -> P(CONSISTENT) of E1 to E5.
        rate, limit: of the ascent. least_samples: well-formed completions without which a batch moves nothing.
    """

    __name__ = "weighted_faithfulness"

    def __init__(
        self,
        critic: Callable[[str, Mapping[str, Any]], Sequence[float]],
        threshold: float = 0.9,
        rate: float = 0.05,
        limit: float = 5.0,
        least_samples: int = 8,
    ) -> None:
        self.critic, self.weights = critic, np.ones(len(EDGES))
        self._threshold, self._rate, self._limit, self._least = threshold, rate, limit, least_samples

    def __call__(self, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        texts = [text_of(c) for c in completions]
        formed = np.array([well_formed(text) for text in texts], bool)
        table = np.full((len(texts), len(EDGES)), LEAST_P)
        for i, row in enumerate(rows_of(columns, len(texts))):
            if formed[i]:
                table[i] = np.maximum(self.critic(texts[i], row), LEAST_P)
        worst = np.maximum(self.weights, 1.0).sum() * log(LEAST_P)
        rewards = np.where(formed, np.log(table) @ self.weights, worst)
        if formed.sum() >= max(self._least, 1):
            moved = self.weights + self._rate * (self._threshold - table[formed].mean(axis=0))
            self.weights = np.clip(moved, 0.0, self._limit)
        return [float(reward) for reward in rewards]


class WaypointLogprobs:
    """Log-probability of every waypoint under teacher forcing, for Eq. 12 and 13.

    Called as ``(prefix, waypoints, row)``: the row's prompt, then the prefix, then the waypoints; one number for each
    ``<wp>...</wp>``. Needs a fast tokenizer.

    Args:
        model: a causal language model. prompt: the column with the prompt's text.
    """

    def __init__(self, model: Any, tokenizer: Any, prompt: str = "prompt") -> None:
        self.model, self.tokenizer, self._prompt = model, tokenizer, prompt

    def __call__(self, prefix: str, waypoints: str, row: Mapping[str, Any]) -> list[float]:
        import torch

        before = f"{row[self._prompt]}{prefix}"
        coded = self.tokenizer(before + waypoints, return_offsets_mapping=True, add_special_tokens=False)
        ids = torch.tensor([coded["input_ids"]], device=self.model.device)
        with torch.inference_mode():
            scores = torch.log_softmax(self.model(ids).logits[0, :-1].float(), -1)
        each = scores.gather(1, ids[0, 1:, None])[:, 0].tolist()
        ends = np.cumsum([len(part) + len("</wp>") for part in waypoints.split("</wp>")[:-1]])
        logprobs = [0.0] * len(ends)
        for (start, _), value in zip(coded["offset_mapping"][1:], each, strict=True):
            if start >= len(before):
                place = int(np.searchsorted(ends, start - len(before), side="right"))
                if place < len(logprobs):
                    logprobs[place] += value
        return logprobs
