"""Faithful GRPO's two judges on planners' traces: does the action follow, and is each sentence true to the frame?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cfgen.judge.edges import ModelChecker
from cfgen.judge.rubrics.consistency import CONSISTENCY
from cfgen.judge.rubrics.faithfulness import TraceItem, TraceReply
from cfgen.judge.rubrics.grounding import GROUNDING, Label, is_trivial, sentences
from cfgen.models.base import Ask, Turn
from cfgen.records import Claims

QUESTION = "What should the car do over the next six seconds, and why?"
_FREE: dict[str, Any] = {"type": "string"}


class ConsistencyChecker(ModelChecker):
    """YES or NO: the declared action follows from the words, from text alone."""

    rubric = CONSISTENCY.id

    def __init__(self, judge: str, options: dict[str, Any], cache_dir: Path | None = None) -> None:
        super().__init__(judge, options, cache_dir)
        self.name += "-consistency"

    async def reply(self, key: str, item: TraceItem) -> TraceReply:
        prompt = CONSISTENCY.prompt(QUESTION, f"{item.scene}\n{item.justification}", item.action)
        ask = Ask(CONSISTENCY.system, (Turn("user", (prompt,)),), "tags", _FREE, key)
        text, none = await self.answer(ask, lambda text: CONSISTENCY.parse(text) is not None)
        said = CONSISTENCY.parse(text)
        reason = none.reason or ("" if said is not None else f"expected YES or NO, found {text[:40]!r}")
        return replace(none, consistent=said, reason=reason, raw=text)


class GroundingChecker(ModelChecker):
    """CORRECT, INCORRECT or SKIP for every sentence that claims something; one unreadable label spoils the trace."""

    rubric = GROUNDING.id

    def __init__(self, judge: str, options: dict[str, Any], cache_dir: Path | None = None) -> None:
        super().__init__(judge, options, cache_dir)
        self.name += "-grounding"

    async def reply(self, key: str, item: TraceItem) -> TraceReply:
        spoken = sentences(f"{item.scene}\n{item.justification}")
        labels: list[Label] = []
        for i, sentence in enumerate(spoken):
            if is_trivial(sentence):
                continue
            text, none = await self._label(key, item, spoken[:i], sentence)
            label = GROUNDING.parse(text)
            if label is None:
                reason = none.reason or f"expected CORRECT, INCORRECT or SKIP, found {text[:40]!r}"
                return replace(none, reason=f"{reason}, for: {sentence[:80]}", raw=text)
            labels.append(label)
        claims = Claims(
            correct=labels.count("CORRECT"),
            incorrect=labels.count("INCORRECT"),
            skipped=labels.count("SKIP"),
            trivial=len(spoken) - len(labels),
        )
        return TraceReply(self.model.id, claims=claims, raw="\n".join(labels))

    async def _label(
        self, key: str, item: TraceItem, so_far: list[str], sentence: str
    ) -> tuple[str, TraceReply]:
        parts = await self.shown(GROUNDING.prompt(item.frame, QUESTION, so_far, sentence))
        ask = Ask(GROUNDING.system, (Turn("user", parts),), "tags", _FREE, key)
        return await self.answer(ask, lambda text: GROUNDING.parse(text) is not None)
