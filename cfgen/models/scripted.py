"""Replies from a file, for tests and demos: no model, no network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.files import read_json
from cfgen.core.hashing import hash_json
from cfgen.core.sanitize import plain_text
from cfgen.models.base import Ask, Form, ModelError, Reply


def scripted(file: str, form: Form = "tags") -> "Scripted":
    """Replies from a file, for tests and demos: file=replies.json.

    Raises:
        InputError: the file lacks both ``replies`` and ``default``, or holds something else.
    """
    content = read_json(Path(file))
    replies, default = content.get("replies", {}), content.get("default")
    if not isinstance(replies, dict) or (not replies and not isinstance(default, str)):
        raise InputError(f"{file}: expected an object 'replies' and/or a text 'default', found neither")
    return Scripted(replies, default, form)


class Scripted:
    """``replies`` maps an item's key (a case id, or ``case_id.repeat``) to one reply or a list with one a vote.

    ``default`` answers everything else; without it such an item is a failed vote.
    """

    at_once: int | None = 1
    host = ""
    #: a reply goes by the item's key, which is no part of the question
    cacheable = False

    def __init__(self, replies: dict[str, Any], default: str | None, form: Form = "tags") -> None:
        self.id = "scripted"
        self.form = form
        replies = {plain_text(key)[0]: _plain(reply) for key, reply in replies.items()}
        default = _plain(default)
        self.identity: Mapping[str, Any] = {"provider": "scripted", "replies": hash_json([replies, default])}
        self._replies, self._default = replies, default
        self._asked: dict[str, int] = {}

    def check(self) -> None:
        """Nothing can be missing."""

    async def open(self) -> None:
        self._asked.clear()

    async def ask(self, ask: Ask) -> Reply:
        reply = self._replies.get(ask.key, self._replies.get(ask.key.split(".")[0], self._default))
        if isinstance(reply, list):
            turn = self._asked[ask.key] = self._asked.get(ask.key, -1) + 1
            reply = reply[turn % len(reply)] if reply else None
        if reply is None:
            raise ModelError("bad", "the file of scripted replies has none for this item and no default")
        return Reply(str(reply))

    async def close(self) -> None:
        return None


def _plain(reply: Any) -> Any:
    """Text, or a list of it, through the door; None stays."""
    if isinstance(reply, list):
        return [_plain(item) for item in reply]
    return reply if reply is None else plain_text(str(reply))[0]
