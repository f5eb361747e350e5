"""A judge made of models: every item put to every model, as often as votes ask for, and combined in code."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfgen.errors import InputError, Shortfall
from cfgen.hashing import hash_json
from cfgen.judge.cache import Replies
from cfgen.judge.combine import SUPERSEDED, combine
from cfgen.judge.payload import Pictures
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.models.base import Ask, Model, ModelError, Reply, Turn
from cfgen.models.limits import BudgetSpentError, Limits, Meter, with_retries
from cfgen.records import JudgeRun, Verdict, Vote

Items = Sequence[tuple[VerdictKey, Callable[[], JudgeItem]]]
Done = Callable[[Verdict], None]


class Panel:
    """One or several models with one rubric.

    Args:
        name: folder of the verdicts. spec: what the user asked for, for the record.
        models: asked in this order; the order of votes in a verdict is models, then repeats.
    """

    blind_to: Mapping[str, str] = {}

    def __init__(self, name: str, spec: str, models: Sequence[Model], limits: Limits) -> None:
        self.name = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-_")[:100] or "judge"
        self.spec = spec
        self.models = tuple(models)
        self.limits = limits
        self.rubric = HAZARD
        self.meter = Meter(limits)
        cache = Path(limits.cache) if limits.cache else None
        self.replies = Replies(cache)
        self.pictures = Pictures(cache / "frames" if cache else None)

    @property
    def note(self) -> str:
        return self.meter.note

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

    def judge(self, items: Items, done: Done) -> None:
        """See :class:`cfgen.judge.protocol.Judge`.

        Raises:
            Shortfall: the budget is spent; verdicts so far were handed to ``done``.
            InputError: a key, a package or a model is missing or refused.
        """
        if items:
            asyncio.run(self._judge(items, done))

    # --- the run ----------------------------------------------------------------------------------------

    async def _judge(self, items: Items, done: Done) -> None:
        slots = {m.id: asyncio.Semaphore(m.at_once or self.limits.concurrency) for m in self.models}
        for model in self.models:
            await model.open()
        try:
            with ThreadPoolExecutor(2, "render") as pool:
                judged = await self._all(_Run(self, slots, pool), items, done)
        finally:
            for model in self.models:
                await model.close()
        if judged < len(items):
            raise Shortfall(
                f"judge '{self.name}': the budget is spent {self.note} after {judged} of {len(items)} verdicts; "
                "run the same command again to go on"
            )

    async def _all(self, run: "_Run", items: Items, done: Done) -> int:
        """Workers pull items, so that no more are rendered than can soon be sent. Returns how many were judged."""
        queue: Iterator[tuple[VerdictKey, Callable[[], JudgeItem]]] = iter(items)
        judged = 0

        async def work() -> None:
            nonlocal judged
            for key, build in queue:
                try:
                    verdict = await run.verdict(key, build)
                except BudgetSpentError:
                    return
                done(verdict)
                judged += 1

        workers = min(len(items), 2 * self.limits.concurrency)
        tasks = [asyncio.create_task(work()) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return judged


class _Run:
    """What one call of ``judge`` shares: slots for requests and threads for rendering."""

    def __init__(
        self, panel: Panel, slots: Mapping[str, asyncio.Semaphore], pool: ThreadPoolExecutor
    ) -> None:
        self.panel, self.slots, self.pool = panel, slots, pool

    async def verdict(self, key: VerdictKey, build: Callable[[], JudgeItem]) -> Verdict:
        panel = self.panel
        try:
            asks = await asyncio.get_running_loop().run_in_executor(self.pool, self._asks, build)
        except Exception as error:
            vote = Vote(
                model="", status="failed", reason=f"could not be shown: {type(error).__name__}: {error}"
            )
            return combine(key, panel.rubric.id, panel.name, [vote], hash_json(None))
        wanted = [(m, asks[m.form], i) for m in panel.models for i in range(panel.limits.votes)]
        votes = await asyncio.gather(*(self._vote(m, a, i) for m, a, i in wanted))
        shown = hash_json([a.hash for _, a in sorted(asks.items())])
        return combine(key, panel.rubric.id, panel.name, [v for pair in votes for v in pair], shown)

    def _asks(self, build: Callable[[], JudgeItem]) -> dict[str, Ask]:
        item = build()
        return {
            form: self.panel.pictures.ask(item, self.panel.rubric, form)
            for form in {m.form for m in self.panel.models}
        }

    async def _vote(self, model: Model, ask: Ask, index: int) -> list[Vote]:
        """One vote, asked a second time when the first reply is malformed or contradicts itself."""
        first = await self._answer(model, ask, index)
        problem = first.reason if first.status == "failed" else "; ".join(first.flags)
        if not problem or not first.raw:
            return [first]
        turns = (*ask.turns, Turn("model", (first.raw,)), Turn("user", (self.panel.rubric.again(problem),)))
        second = await self._answer(model, replace(ask, turns=turns), index)
        if second.status == "failed" and first.status != "failed":
            return [first, _superseded(second)]
        return [_superseded(first), second]

    async def _answer(self, model: Model, ask: Ask, index: int) -> Vote:
        panel = self.panel
        key = panel.replies.key(model.identity, ask, index)
        reply = panel.replies.get(key)
        if reply is not None:
            panel.meter.cached += 1
            return panel.rubric.parse(reply.text, model.id)
        try:
            reply = await with_retries(lambda: self._call(model, ask), panel.meter)
        except ModelError as error:
            if error.kind == "fatal":
                raise InputError(f"judge '{panel.name}': {error}") from error
            return Vote(model=model.id, status="failed", reason=str(error))
        vote = read(reply, panel.rubric.parse(reply.text, model.id))
        if vote.status != "failed":
            panel.replies.put(key, reply)
        return vote

    async def _call(self, model: Model, ask: Ask) -> Reply:
        async with self.slots[model.id]:
            return await model.ask(ask)


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


def panel(members: list[dict[str, Any]], name: str = "panel", **options: Any) -> Panel:
    """Several models as one judge: ``members`` such as ``[{"judge": "gemini", "model": "..."}, ...]``.

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
        made = create_judge(member["judge"], **{k: v for k, v in member.items() if k != "judge"})
        if not isinstance(made, Panel):
            raise InputError(
                f"judge 'panel': '{member['judge']}' is not a model judge and cannot be a member"
            )
        models += made.models
    return Panel(name, "panel", models, Limits.of(options))
