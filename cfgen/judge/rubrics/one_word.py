"""Rubrics that are answered with one word."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from cfgen.core.hashing import hash_json
from cfgen.judge.protocol import RubricId
from cfgen.judge.rubrics.trace import Asker, TraceReply
from cfgen.models.base import Ask, Form, Turn
from cfgen.models.quote import MAX_CHARS

Answer = TypeVar("Answer")
_FREE: dict[str, Any] = {"type": "string"}


@dataclass(frozen=True)
class OneWordRubric(Generic[Answer]):
    """Wording, version and parser; knows nothing of transport. ``words`` maps lower-case words to what they mean."""

    name: str
    version: str
    wording: str
    words: Mapping[str, Answer]
    headings: tuple[str, ...] = ()

    @cached_property
    def id(self) -> RubricId:
        return RubricId(
            self.name, self.version, hash_json([self.name, self.version, self.wording, MAX_CHARS])
        )

    def system(self, form: Form = "tags") -> str:
        return self.wording

    async def one_word(
        self, asker: Asker, key: str, parts: Sequence[str | np.ndarray]
    ) -> tuple[Answer | None, TraceReply]:
        """What the model's word means and its reply; None, with the reason in the reply, where it cannot be read."""
        ask = Ask(self.wording, (Turn("user", await asker.shown(parts)),), "tags", _FREE, key)
        text, none = await asker.answer(ask, lambda text: self.parse(text) is not None)
        found = self.parse(text)
        *others, last = (word.upper() for word in self.words)
        unread = f"expected {', '.join(others)} or {last}, found {text[:40]!r}"
        reason = none.reason or ("" if found is not None else unread)
        return found, replace(none, reason=reason, raw=text)

    def parse(self, raw: str) -> Answer | None:
        """None for anything but one of the words."""
        return self.words.get(re.sub(r"[^a-z]", "", raw.lower()))
