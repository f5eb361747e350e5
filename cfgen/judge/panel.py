"""A judge made of models: every item put to every model, as often as votes ask for, and combined in code."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, replace
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.faults import ends_the_run, fault_of
from cfgen.core.hashing import hash_json
from cfgen.core.registry import own_doc
from cfgen.judge.asking import Asking
from cfgen.judge.combine import SUPERSEDED, combine, faulted
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.judge.rubrics.registry import Rubric, bounds_overall
from cfgen.models.base import Ask, ChatTurn, Model, ModelError, Reply
from cfgen.models.limits import Limits
from cfgen.models.registry import MODELS, create_model
from cfgen.models.untrusted_text import cut_notes
from cfgen.records import JudgeRun, Verdict, Vote

Item = tuple[VerdictKey, Callable[[], JudgeItem]]
Done = Callable[[Verdict], None]


class Panel:
    """One or several models with one rubric.

    Args:
        name: folder of the verdicts. spec: what the user asked for, for the record.
        models: asked in this order; the order of votes in a verdict is models, then repeats.
    """

    def __init__(self, name: str, spec: str, models: Sequence[Model], limits: Limits) -> None:
        self.name = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-_")[:100] or "judge"
        self.spec = spec
        self.models = tuple(models)
        self.limits = limits
        self.rubric: Rubric = HAZARD
        self.asking = Asking(self.name, limits)

    def use_rubric(self, rubric: Rubric, name: str) -> None:
        """Judge by ``rubric`` from now on, under ``name``."""
        self.rubric, self.name = rubric, name
        self.asking = Asking(name, self.limits)

    @property
    def note(self) -> str:
        return self.asking.client.meter.note

    def check(self) -> None:
        """Whether its models could be asked, without a call.

        Raises:
            CfgenError: a key, a package or the model is missing, or its host may not be reached.
        """
        self.asking.client.check(self.models)

    def run_record(self) -> JudgeRun:
        rubric = self.rubric.id
        return JudgeRun(
            judge=self.name,
            spec=self.spec,
            rubric=rubric.name,
            rubric_version=rubric.version,
            rubric_hash=rubric.hash,
            options={"models": [dict(m.identity) for m in self.models], "votes": self.limits.votes},
        )

    def judge(self, items: Sequence[Item], on_verdict: Done) -> None:
        """See :class:`cfgen.judge.protocol.Judge`.

        Raises:
            Shortfall: the budget is spent; verdicts so far were handed to ``done``.
            CfgenError: a key, a package or a model is missing or refused.
        """

        async def work(item: Item) -> None:
            on_verdict(await self.verdict(*item))

        def broke(item: Item, error: Exception) -> None:
            key = item[0]
            on_verdict(faulted(key, self.rubric.id, self.name, fault_of(error, key.words, asdict(key))))

        self.asking.run(self.models, items, work, broke, "verdicts")

    # --- one item ---------------------------------------------------------------------------------------

    async def verdict(self, key: VerdictKey, build: Callable[[], JudgeItem]) -> Verdict:
        """Of one item, within an event loop that runs and with :attr:`asking` open."""
        asks, notes = await self.asking.aside(lambda: self._asks(build))
        requests = [(m, asks[m.form], i) for m in self.models for i in range(self.limits.votes)]
        votes = await _all([self._vote(m, a, i) for m, a, i in requests])
        input_hash = hash_json([a.hash for _, a in sorted(asks.items())])
        every = [v for pair in votes for v in pair]
        combined = combine(key, self.rubric.id, self.name, every, input_hash, bounds_overall(self.rubric))
        return combined.model_copy(update={"notes": notes})

    def _asks(self, build: Callable[[], JudgeItem]) -> tuple[dict[str, Ask], tuple[str, ...]]:
        """The question in every form that a model wants, and what it leaves out of the answers."""
        item = build()
        asks: dict[str, Ask] = {
            f: self.asking.pictures.ask(item, self.rubric, f) for f in {m.form for m in self.models}
        }
        for ask in asks.values():
            ask.hash  # noqa: B018 - worked out here rather than on the event loop
        return asks, cut_notes(item.answers)

    async def _vote(self, model: Model, ask: Ask, index: int) -> list[Vote]:
        """One vote, asked a second time when the first reply is malformed or contradicts itself."""
        first = await self._answer(model, ask, index)
        problem = first.reason if first.status == "failed" else "; ".join(first.flags)
        if not problem or not first.raw:
            return [first]
        turns = (*ask.turns, ChatTurn("model", (first.raw,)), ChatTurn("user", (self.rubric.again(problem),)))
        second = await self._answer(model, replace(ask, turns=turns), index)
        if second.status == "failed" and first.status != "failed":
            return [first, _superseded(second)]
        return [_superseded(first), second]

    async def _answer(self, model: Model, ask: Ask, index: int) -> Vote:
        def vote(text: str) -> Vote:
            return self.rubric.parse(text, model.id)

        try:
            reply = await self.asking.client.reply(
                model, ask, index, lambda text: vote(text).status != "failed"
            )
        except ModelError as error:
            return Vote(model=model.id, status="failed", reason=str(error), transient=error.transient)
        return read(reply, vote(reply.text))


async def _all(votes: list[Coroutine[Any, Any, list[Vote]]]) -> list[list[Vote]]:
    """Every vote, or the gravest of what came in the way, after all have ended: none is left running."""
    results = await asyncio.gather(*votes, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:
        raise next(filter(ends_the_run, errors), errors[0])
    return [result for result in results if not isinstance(result, BaseException)]


def read(reply: Reply, vote: Vote) -> Vote:
    """The parsed vote, or why the reply does not count; a refusal or a cut reply is no vote whatever it holds."""
    usage = {k: float(v) for k, v in reply.usage.items()}
    if reply.finish == "refused":
        return Vote(model=vote.model, status="failed", reason=f"refused: {reply.reason}", raw="", usage=usage)
    if reply.finish == "cut":
        reason = f"cut off: {reply.reason or 'out of tokens'}"
        return Vote(model=vote.model, status="failed", reason=reason, raw=reply.text, usage=usage)
    return vote.model_copy(update={"usage": usage})


def _superseded(vote: Vote) -> Vote:
    return vote.model_copy(update={"flags": (*vote.flags, SUPERSEDED)})


def model_judge(provider: str) -> Callable[..., Panel]:
    """What makes a judge of one model of a registered provider."""

    def make(name: str = "", **options: Any) -> Panel:
        model, limits = create_model(provider, options, "judge")
        return Panel(name or model.id, f"{provider} {model.id}", [model], limits)

    make.__doc__ = own_doc(MODELS.get(provider))
    return make


def panel(members: list[dict[str, Any]], name: str = "panel", **options: Any) -> Panel:
    """Several models as one judge: --judge-options 'members=[{"judge": "gemini", "model": "..."}, ...]'.

    Raises:
        InputError: fewer than two members, or one that is not a model judge.
    """
    from cfgen.judge.registry import create_judge

    if not isinstance(members, list) or len(members) < 2:
        raise InputError("judge 'panel': option members: expected a list of at least two judges")
    models: list[Model] = []
    for member in members:
        if not isinstance(member, dict) or "judge" not in member:
            raise InputError(
                f"judge 'panel': member {member!r}: expected an object with 'judge' and its options"
            )
        judge = create_judge(member["judge"], **{k: v for k, v in member.items() if k != "judge"})
        if not isinstance(judge, Panel):
            raise InputError(
                f"judge 'panel': '{member['judge']}' is not a model judge and cannot be a member"
            )
        models += judge.models
    return Panel(name, "panel", models, Limits.of(options))
