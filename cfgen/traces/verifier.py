"""A verifier of plans as a checker: one verdict, whether the trajectory does what the writing says."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.hashing import derive_seed, hash_json
from cfgen.judge.checker import Done, Items, broken
from cfgen.judge.protocol import RubricId
from cfgen.judge.rubrics.trace import TraceItem, TraceReply
from cfgen.planners.verified import SYSTEM, Verifier, named_verifier
from cfgen.records import Fault
from cfgen.traces.probe import KnownItem


class VerifierChecker:
    """``name`` as for ``verified:`` planners; a plan is consistent from a score of ``threshold`` on.

    Raises:
        InputError: an unknown verifier or option.
    """

    def __init__(
        self,
        name: str,
        options: Mapping[str, Any] | None = None,
        threshold: float = 0.99,
        cache: str = "",
    ) -> None:
        self.name = f"verifier-{name}"
        self._verifier, by = named_verifier(name, options, cache)
        self.model = f"verifier {by}, threshold {threshold:g}"
        self.rubric = RubricId("verifier", "1", hash_json([SYSTEM, name, threshold]))
        self._threshold = threshold

    def check(self, items: Items, done: Done, strict: bool = False) -> None:
        """Raises:
        InputError: items that are no known answers.
        """
        for key, build in items:
            found = contained(partial(self._one, self._verifier, build), f"trace {key}", strict=strict)
            done(key, broken(self.model, found) if isinstance(found, Fault) else found)

    def _one(self, verifier: Verifier, build: Callable[[], TraceItem]) -> TraceReply:
        item = build()
        if not isinstance(item, KnownItem):
            raise InputError("verifier: expected a known trace with its plan, found one without; probe it")
        score = verifier(item.observation, item.text, item.plan, derive_seed(item.text))
        return TraceReply(self.model, consistent=score >= self._threshold)
