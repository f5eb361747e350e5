"""Rewards of the Pinocchio paper with real models plugged in, in the form that TRL's trainers call.

The plain functions are in :mod:`cfgen.traces.reward_formulas`. A malformed completion gets the least reward there is.
"""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from cfgen.judge.critic import LocalCritic
from cfgen.judge.rubrics.trace import TraceItem
from cfgen.metrics.constrained import DualAscent
from cfgen.metrics.faithfulness import EDGES
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.render.bev import bev
from cfgen.render.speed import speed_plot
from cfgen.traces.reward_formulas import LEAST_P, Completion, rows_of, text_of, well_formed

#: What the VLM judge's reward gives a malformed completion: less than the lowest score.
WORST_SCORE = -1.0


def trace_of(text: str, frame: Any) -> TraceItem | None:
    """A completion as a critic sees it; None where it is no plan. ``frame``: an image (H, W, 3) uint8 RGB, or PIL's."""
    try:
        _, plan = to_plan(text)
    except PlanFaultError:
        return None
    points, trace = np.array(plan.waypoints), plan.trace
    return TraceItem(
        frame=np.asarray(frame if isinstance(frame, np.ndarray) else frame.convert("RGB"), np.uint8),
        bev=bev(points),
        speed=speed_plot(points),
        scene=trace.scene,
        justification=trace.justification,
        action=f"Longitudinal: {trace.longitudinal}\nLateral: {trace.lateral}",
        waypoints=points,
    )


class CriticOfCompletions:
    """A critic for :func:`cfgen.traces.reward_formulas.trl_faithfulness_reward`: P(CONSISTENT) of E1 to E5.

    Args:
        critic: as :meth:`LocalCritic.load` gives it. image: the column of the data set with the frame.
    """

    def __init__(self, critic: LocalCritic, image: str = "image") -> None:
        self._critic, self._image = critic, image

    def __call__(self, text: str, row: Mapping[str, Any]) -> list[float]:
        """LEAST_P throughout where the text is no plan."""
        item = trace_of(text, row[self._image]) if well_formed(text) else None
        found = self._critic.probabilities(item) if item else {}
        return [found.get(edge, LEAST_P) for edge in EDGES]


class WeightedFaithfulness:
    """Eq. 7: the sum of lambda_e log P_e, with lambda_e by dual ascent as in Faithful GRPO (its Eq. 4).

    After each batch lambda_e grows while the mean P_e of well-formed completions is below its threshold, and shrinks
    while it is above. A malformed completion gets LEAST_P on every edge at a weight of 1 or more: never more than any
    well-formed one.

    Args:
        critic: (text, row) -> P(CONSISTENT) of E1 to E5. ascent: thresholds, rate and limits by edge.
    """

    __name__ = "weighted_faithfulness"

    def __init__(self, critic: Any, ascent: DualAscent | None = None) -> None:
        self.critic = critic
        self.ascent = ascent or DualAscent(thresholds=dict.fromkeys(EDGES, 0.9))

    def __call__(self, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        weights = dict(self.ascent.multipliers)
        worst = sum(max(w, 1.0) * log(LEAST_P) for w in weights.values())
        texts = [text_of(c) for c in completions]
        formed = np.array([well_formed(text) for text in texts], bool)
        table = np.full((len(texts), len(EDGES)), LEAST_P)
        for i, row in enumerate(rows_of(columns, len(texts))):
            if formed[i]:
                table[i] = np.maximum(self.critic(texts[i], row), LEAST_P)
        rewards = [
            float(np.dot([weights[e] for e in EDGES], np.log(table[i]))) if formed[i] else worst
            for i in range(len(texts))
        ]
        self.ascent.update({edge: table[:, k] for k, edge in enumerate(EDGES)}, dict.fromkeys(EDGES, formed))
        return list(rewards)


JUDGE_SYSTEM = """\
You compare what a driving planner reasoned (PREDICTED) with a reference for the same scene (REFERENCE). Score how far
the predicted behaviour and its grounds agree with the reference, as one digit:
5 behaviour and grounds agree throughout; 4 behaviour right, grounds mostly; 3 behaviour roughly right, grounds
incomplete or partly off; 2 behaviour partly wrong or grounds mostly off; 1 behaviour wrong or against the reference;
0 unrelated or the opposite.
Answer with one digit from 0 to 5.
"""


class DigitJudge:
    """The VLM judge of section 8.5.2: the likeliest digit token of a vision-language model, 0 to 5.

    Called as ``(text, row)``; ``row`` holds the frame and, under ``reference``, the reference's words.
    """

    def __init__(
        self, model: Any, processor: Any, image: str = "image", reference: str = "reference"
    ) -> None:
        self.model, self.processor = model, processor
        self._image, self._reference = image, reference

    def __call__(self, text: str, row: Mapping[str, Any]) -> int:
        import torch

        words = f"{JUDGE_SYSTEM}\nREFERENCE\n{row[self._reference]}\n\nPREDICTED\n{text}\n\nScore (0 to 5): "
        content = [{"type": "image"}, {"type": "text", "text": words}]
        prompt = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        inputs = self.processor(text=[prompt], images=[row[self._image]], return_tensors="pt")
        with torch.inference_mode():
            logits = self.model(**inputs.to(self.model.device)).logits[0, -1]
        tokens = [
            self.processor.tokenizer(str(d), add_special_tokens=False)["input_ids"][-1] for d in range(6)
        ]
        return int(np.argmax([float(logits[token]) for token in tokens]))


def trl_judge_reward(judge: Any) -> Any:
    """The score of a 0-to-5 judge ``(text, row) -> int``; WORST_SCORE for a malformed completion."""

    def vlm_judge(completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        texts = [text_of(c) for c in completions]
        rows = rows_of(columns, len(texts))
        return [
            float(judge(text, row)) if well_formed(text) else WORST_SCORE
            for text, row in zip(texts, rows, strict=True)
        ]

    return vlm_judge


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
        found = [0.0] * len(ends)
        for (start, _), value in zip(coded["offset_mapping"][1:], each, strict=True):
            if start >= len(before):
                place = int(np.searchsorted(ends, start - len(before), side="right"))
                if place < len(found):
                    found[place] += value
        return found
