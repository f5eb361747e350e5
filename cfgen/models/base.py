"""What a model is asked and what it may answer."""

import base64
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, Literal, Protocol

from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.sanitize import plain_text

Form = Literal["tags", "json"]
#: tries at a question that was answered at once by something of no use
USELESS_TRIES = 3


@dataclass(frozen=True)
class Picture:
    """An encoded image without metadata."""

    data: bytes
    mime: str = "image/jpeg"

    @cached_property
    def hash(self) -> str:
        return hash_bytes(self.data)

    @cached_property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode("ascii")


@dataclass(frozen=True)
class ChatTurn:
    """One side's words and pictures, in order."""

    role: Literal["user", "model"]
    parts: tuple[str | Picture, ...]


@dataclass(frozen=True)
class Ask:
    """One question. ``schema`` is the JSON schema of the answer, for form "json".

    ``key`` is opaque, is never sent, and only lets the scripted model find its line.
    """

    system: str
    turns: tuple[ChatTurn, ...]
    form: Form
    schema: Mapping[str, Any]
    key: str = ""

    @cached_property
    def hash(self) -> str:
        """Over all that is sent, in its order."""
        turns = [[t.role, [p if isinstance(p, str) else p.hash for p in t.parts]] for t in self.turns]
        return hash_json([self.system, turns, self.form, self.schema if self.form == "json" else None])


@dataclass(frozen=True)
class Reply:
    """``finish``: complete; cut (ran out of tokens); refused (with ``reason``).

    Whatever a model or a stored reply holds passes the door here: text that UTF-8 can hold, and finite counts.

    Raises:
        ModelError: the text is no text.
    """

    text: str
    finish: Literal["complete", "cut", "refused"] = "complete"
    reason: str = ""
    #: input_tokens, output_tokens, thinking_tokens as the server counts them
    usage: Mapping[str, float] = field(default_factory=dict)
    #: what a model of images made
    pictures: tuple[Picture, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ModelError("bad", f"the reply: expected text, found {type(self.text).__name__}")
        usage = self.usage if isinstance(self.usage, Mapping) else {}
        sanitized = {
            "text": plain_text(self.text)[0],
            "reason": plain_text(str(self.reason))[0],
            "usage": {k: float(v) for k, v in usage.items() if _is_count(v)},
        }
        for name, value in sanitized.items():
            object.__setattr__(self, name, value)

    @property
    def empty(self) -> bool:
        """Complete, but without a word or a picture."""
        return self.finish == "complete" and not self.text.strip() and not self.pictures


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


class ModelError(Exception):
    """A call that gave no reply.

    ``kind``: "rate" (wait, then again), "transient" (again), "bad" (this request will never work), "fatal" (no
    request will: key, model name, address). ``retry_after``: seconds that the server asked for. ``most``: tries after
    which it is given up, where these are fewer than the limits allow.
    """

    def __init__(
        self,
        kind: Literal["rate", "transient", "bad", "fatal"],
        message: str,
        retry_after: float | None = None,
        most: int | None = None,
    ) -> None:
        super().__init__(plain_text(message)[0])
        self.kind = kind
        self.retry_after = retry_after
        self.most = most

    @property
    def transient(self) -> bool:
        """Whether asking again later could give a reply."""
        return self.kind in ("rate", "transient")


class EmptyReplyError(ModelError):
    """A whole reply without a word: the service works, and longer waits change nothing."""

    def __init__(self) -> None:
        super().__init__("transient", "the model gave an empty reply", most=USELESS_TRIES)


def kind_of_status(code: int) -> Literal["rate", "transient", "bad", "fatal"]:
    """How to go on after an HTTP error."""
    if code == 429:
        return "rate"
    if code in (401, 403, 404):
        return "fatal"
    return "transient" if code in (408, 409, 425) or code >= 500 else "bad"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now that a Retry-After header asks for, as a number or a date; None when there is none."""
    header = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


class Model(Protocol):
    """Transport to one model.

    ``id`` is its name in verdicts. ``identity`` holds everything that changes its answers and nothing about
    transport; it is the model's part of the cache key. Neither holds a key.
    """

    id: str
    identity: Mapping[str, Any]
    form: Form
    #: requests that may be under way at once; None leaves it to who asks
    at_once: int | None
    #: that it talks to, for --offline and --allow-hosts; "" when it runs here
    host: str

    def check(self) -> None:
        """Whether it could be asked: quick, without a call. Raises CfgenError as ``open`` does."""
        return

    async def open(self) -> None:
        """Connect or load. Raises CfgenError when a key, a package or the model is missing."""
        return

    async def ask(self, ask: Ask) -> Reply: ...

    async def close(self) -> None:
        return None
