"""Rubrics that are answered with one word."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from cfgen.core.hashing import hash_json
from cfgen.judge.protocol import RubricId
from cfgen.models.quote import MAX_CHARS

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class OneWordRubric(Generic[Answer]):
    """Wording, version and parser; knows nothing of transport. ``words`` maps lower-case words to what they mean."""

    name: str
    version: str
    system: str
    words: Mapping[str, Answer]

    @cached_property
    def id(self) -> RubricId:
        return RubricId(self.name, self.version, hash_json([self.name, self.version, self.system, MAX_CHARS]))

    def parse(self, raw: str) -> Answer | None:
        """None for anything but one of the words."""
        return self.words.get(re.sub(r"[^a-z]", "", raw.lower()))
