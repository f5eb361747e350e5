"""How fast and how much a model may be asked: requests and tokens a minute, retries, money."""

import asyncio
import json
import os
import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationError
from pydantic.dataclasses import dataclass

from cfgen.core.errors import InputError
from cfgen.core.files import explain
from cfgen.models.base import EmptyReplyError, ModelError, Reply
from cfgen.records import Spent

#: What a question with four pictures takes, until the first reply tells.
_TYPICAL = {"input_tokens": 5500.0, "output_tokens": 500.0}
_PRICE_POLL_S = 0.02
#: s between two lines about tries that failed
_TELL_S = 10.0
PRICES = ("usd_in", "usd_out", "usd_image")


@dataclass(frozen=True, config=ConfigDict(strict=True))
class Limits:
    """Options that whatever asks a model takes. 0 means no limit.

    Attributes:
        votes: replies of each model to each item. concurrency: requests under way at once.
        rpm, tpm: requests and tokens a minute. retries: further tries after a failed call.
        max_requests, max_usd: stop cleanly when so much is spent, over all runs that share ``cache``.
        usd_in, usd_out: price of a million input and output tokens. usd_image: of one picture made.
        cache: folder of replies that need not be asked for again; "" for none.
    """

    votes: PositiveInt = 1
    concurrency: PositiveInt = 32
    rpm: NonNegativeFloat = 0.0
    tpm: NonNegativeFloat = 0.0
    retries: NonNegativeInt = 6
    max_requests: NonNegativeInt = 0
    max_usd: NonNegativeFloat = 0.0
    usd_in: NonNegativeFloat = 0.0
    usd_out: NonNegativeFloat = 0.0
    usd_image: NonNegativeFloat = 0.0
    cache: str = ""

    @classmethod
    def of(cls, options: dict[str, Any], of: str = "judge", further: Iterable[str] = ()) -> Self:
        """``of``: whose options these are, ``further``: more that it takes, for messages.

        Raises:
            InputError: an unknown option, one of another type, or one out of range.
        """
        option_names = [f.name for f in fields(cls)]
        if unknown := [name for name in options if name not in option_names]:
            ours = [n for n in option_names if n != "votes" or "judge" in of]
            names = ", ".join(dict.fromkeys([*further, *ours]))
            raise InputError(f"{of} option '{unknown[0]}' is not known; expected one of: {names}")
        if options.get("max_usd") and not any(options.get(p) for p in PRICES):
            raise InputError(
                f"{of} option 'max_usd' needs prices: usd_in and usd_out (a million tokens) or usd_image (a picture)"
            )
        try:
            return cls(**options)
        except ValidationError as error:
            raise InputError(f"{of} option: {explain(error)}") from None

    def cost(self, usage: Mapping[str, float]) -> float:
        """Dollars for what a reply used; thoughts are paid as output."""
        out = usage.get("output_tokens", 0) + usage.get("thinking_tokens", 0)
        tokens = usage.get("input_tokens", 0) * self.usd_in + out * self.usd_out
        return tokens / 1e6 + usage.get("images", 0) * self.usd_image


#: options that change cost, speed or patience but no answer
TERMS = (*(f.name for f in fields(Limits) if f.name != "votes"), "timeout_s")


class BudgetSpentError(Exception):
    """The budget is used up; what is answered is kept."""


class Meter:
    """Counts what was spent, holds requests back to the agreed rate, and stops at the budget."""

    def __init__(self, limits: Limits, owner: str = "") -> None:
        self.limits, self.owner = limits, owner
        #: requests and dollars of other commands that share the budget, since this one began
        self.others: Callable[[], tuple[int, float]] = lambda: (0, 0.0)
        self._told = -_TELL_S
        self.requests = 0
        self.cached = 0
        self.tokens_in = 0.0
        self.tokens_out = 0.0
        self.usd = 0.0
        self._under_way = 0
        self._priced = False
        self._next_request = 0.0
        self._next_tokens = 0.0
        self._not_before = 0.0

    def resume(self, before: Spent, usd: float) -> None:
        """Earlier runs count as well. ``usd``: what they cost."""
        self.requests, self.usd = before.requests, usd
        self.tokens_in, self.tokens_out = before.tokens_in, before.tokens_out
        self._priced = usd > 0

    @property
    def note(self) -> str:
        """What was spent so far, over all runs, for a progress line."""
        words = [f"{self.requests} requests"]
        if self.cached:
            words.append(f"{self.cached} from cache")
        if self.tokens_in:
            words.append(f"{(self.tokens_in + self.tokens_out) / 1e6:.2f}M tokens")
        if self.usd:
            words.append(f"${self.usd:.2f}")
        return "(" + ", ".join(words) + ")"

    async def admit(self) -> None:
        """Wait for a turn. Where money is limited, nothing follows the first request until it has told the price.

        Raises:
            BudgetSpentError: the budget leaves no further request.
        """
        limits = self.limits
        while limits.max_usd and self._under_way and not self._priced:
            await asyncio.sleep(_PRICE_POLL_S)
        if limits.max_requests and self.requests + self.others()[0] >= limits.max_requests:
            raise BudgetSpentError(f"{self.requests} requests")
        if limits.max_usd and not self._affordable():
            raise BudgetSpentError(f"${self.usd:.2f}")
        self.requests += 1
        self._under_way += 1
        now = time.monotonic()
        start = max(now, self._not_before, self._next_tokens)
        if limits.rpm:
            start = max(start, self._next_request)
            self._next_request = start + 60 / limits.rpm
        if limits.tpm and self.requests > 1:
            self._next_tokens = max(start, self._next_tokens) + 60 * self._typical_tokens() / limits.tpm
        if start > now:
            await asyncio.sleep(start - now)

    def spend(self, reply: Reply) -> None:
        """Count a reply. Its usage may name its own cost in ``usd``: another model, another price."""
        usage = reply.usage
        self._priced = True
        self.tokens_in += usage.get("input_tokens", 0)
        self.tokens_out += usage.get("output_tokens", 0) + usage.get("thinking_tokens", 0)
        self.usd += usage["usd"] if "usd" in usage else self.limits.cost(usage)

    def finished(self) -> None:
        """A request that was admitted has come back, in whatever way."""
        self._under_way -= 1

    def pause(self, seconds: float) -> None:
        """The server asked everyone to wait."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def tell(self, error: ModelError, seconds: float, attempt: int) -> None:
        """Say what is being waited for: not at a first hiccup, and not for each of many requests."""
        now = time.monotonic()
        if attempt and now - self._told >= _TELL_S:
            self._told = now
            attempts = min(self.limits.retries + 1, error.most or self.limits.retries + 1)
            owner = self.owner and f"{self.owner}: "
            again = f"asking again in {seconds:.0f} s (try {attempt + 2} of {attempts})"
            print(f"cfgen: {owner}{error}; {again}", file=sys.stderr, flush=True)

    def _affordable(self) -> bool:
        """Whether the budget covers what is under way and, as far as its price is known, one request more."""
        budget, image_price = self.limits.max_usd, self.limits.usd_image
        committed = self.usd + self.others()[1] + self._under_way * max(self._typical_usd(), image_price)
        return committed < budget and committed + image_price <= budget + 1e-9

    def _typical_usd(self) -> float:
        if not self._priced:
            return self.limits.cost(_TYPICAL)
        return self.usd / max(self.requests - self._under_way, 1)

    def _typical_tokens(self) -> float:
        back = max(self.requests - self._under_way, 1)
        return (self.tokens_in + self.tokens_out) / back or sum(_TYPICAL.values())


async def with_retries(
    call: Callable[[], Awaitable[Reply]], meter: Meter, first_wait: float = 1.0, longest_wait: float = 60.0
) -> Reply:
    """Call again after rate limits, transient faults and empty replies, with growing, jittered waits or those the
    server names.

    Raises:
        ModelError: bad or fatal, or still failing after the last retry. BudgetSpentError: no budget for a try.
    """
    tries = meter.limits.retries + 1
    for attempt in range(tries):
        await meter.admit()
        try:
            reply = await call()
            meter.spend(reply)
            if reply.empty:
                raise EmptyReplyError
            return reply
        except ModelError as error:
            if error.kind in ("bad", "fatal") or attempt + 1 >= min(tries, error.most or tries):
                raise
            backoff = min(longest_wait, first_wait * 2**attempt) * random.uniform(0.5, 1.0)
            delay = backoff if error.retry_after is None else min(error.retry_after, 600.0)
            if error.kind == "rate":
                meter.pause(delay)
            meter.tell(error, delay, attempt)
        finally:
            meter.finished()
        await asyncio.sleep(delay)
    raise AssertionError("unreachable: the last try returns or raises")


# --- ledger ------------------------------------------------------------------------------------
# What was paid for: one line a call in a file, so that a budget holds over commands that stop and go on.

FILE = "spent.jsonl"


class Ledger:
    """``folder``: None keeps nothing and has spent nothing. ``account``: only lines for this are summed; "": all."""

    def __init__(self, folder: Path | None, account: str = "") -> None:
        self.path = None if folder is None else folder / FILE
        self._account = account
        #: names its own lines among those of commands that run at the same time
        self._writer = uuid.uuid4().hex[:12]
        self._others_end = self.path.stat().st_size if self.path and self.path.is_file() else 0
        self._others = (0, 0.0)
        #: of the lines before byte ``_end``
        self._end = 0
        self._counts: Counter[str] = Counter()
        self._usage: Counter[str] = Counter()

    def add(self, model: str, what: str, good: bool, usage: Mapping[str, float], failed: str = "") -> None:
        """Note one call. ``what`` it was for; ``good``: was the answer of use; ``failed``: why there was none."""
        if self.path is None:
            return
        content: dict[str, Any] = {"model": model, "for": what, "good": good, "usage": dict(usage)}
        content["by"] = self._writer
        if failed:
            content["failed"] = failed
        # on a line of its own, even if a kill cut the one before it short
        line = "\n" + json.dumps(content)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # one write to the end of the file: lines of several processes do not mix
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    def total(self) -> Spent | None:
        """The sum so far; None when nothing was spent. What it has read it does not read again."""
        counts, usage = self._counts, self._usage
        for line in self._after(self._end):
            answered = "failed" not in line
            counts["requests"] += 1
            counts["declined"] += answered and not line["good"]
            counts["unpriced"] += answered and "usd" not in line["usage"]
            usage.update(line["usage"])
        if not counts["requests"]:
            return None
        return Spent(
            requests=counts["requests"],
            declined=counts["declined"],
            images=round(usage["images"]),
            tokens_in=round(usage["input_tokens"]),
            tokens_out=round(usage["output_tokens"] + usage["thinking_tokens"]),
            usd=round(usage["usd"], 6) if "usd" in usage else None,
            unpriced=counts["unpriced"],
        )

    def usd(self, prices: Limits) -> float:
        """Dollars so far; calls that were made without a price count at ``prices``."""
        return sum(_usd(line, prices) for line, _ in self._lines(0))

    def of_others(self, prices: Limits) -> tuple[int, float]:
        """Requests and dollars of other commands since this ledger was opened."""
        requests, usd = self._others
        for line, end in self._lines(self._others_end):
            self._others_end = end
            if line.get("by") != self._writer:
                requests, usd = requests + 1, usd + _usd(line, prices)
        self._others = (requests, usd)
        return self._others

    def _after(self, end: int) -> Iterator[dict[str, Any]]:
        """Calls noted from byte ``end`` on, which are not read again."""
        for content, reached in self._lines(end):
            self._end = reached
            yield content

    def _lines(self, end: int) -> Iterator[tuple[dict[str, Any], int]]:
        """Calls noted from byte ``end`` on, each with where it ends."""
        if self.path is None or not self.path.is_file() or self.path.stat().st_size == end:
            return
        with self.path.open("rb") as file:
            file.seek(end)
            for line in file:
                try:
                    content = json.loads(line)
                except ValueError:  # empty, or cut short: the last one may be being written
                    if not line.endswith(b"\n"):
                        return
                    content = None
                end += len(line)
                if content is not None and self._account in ("", content["for"]):
                    yield content, end


def _usd(line: Mapping[str, Any], prices: Limits) -> float:
    return float(line["usage"].get("usd", prices.cost(line["usage"])))


def in_words(spent: Spent) -> str:
    """For a progress line and the end of a build."""
    words = [f"{spent.requests} requests", f"{spent.images} pictures"]
    if spent.declined:
        words.append(f"{spent.declined} declined")
    words.append(f"{(spent.tokens_in + spent.tokens_out) / 1e6:.2f}M tokens")
    if spent.usd is not None:
        words.append(f"${spent.usd:.2f}")
    if spent.unpriced:
        words.append("no prices given" if spent.usd is None else f"{spent.unpriced} of them without a price")
    return ", ".join(words)
