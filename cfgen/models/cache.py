"""Replies that need not be paid for twice: one JSON file each, named by the hash of everything that decides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cfgen.core.errors import StoreError
from cfgen.core.files import read_json, write_bytes
from cfgen.core.hashing import canonical_json, hash_json
from cfgen.models.base import Ask, ModelError, Picture, Reply

#: What was told of each call, in order: what for, how it ended, what it cost.
Calls = list[dict[str, Any]]
_ENDING = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


@dataclass(frozen=True)
class Kept:
    """A reply and the calls it took, those before it that were declined among them."""

    reply: Reply
    calls: Calls


class Replies:
    """``folder``: None keeps nothing. Only complete replies that could be read belong in here."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @staticmethod
    def key(identity: Mapping[str, Any], ask: Ask, vote: int) -> str:
        """Everything that changes the answer: model, wording, pictures in their order, and which vote or seed."""
        return hash_json({"model": dict(identity), "ask": ask.hash, "vote": vote})

    def has(self, key: str) -> bool:
        path = self._path(key)
        return path is not None and path.is_file()

    def get(self, key: str) -> Kept | None:
        """None when there is none, or none that can be read."""
        path = self._path(key)
        if path is None or not path.is_file():
            return None
        try:
            found = read_json(path)
            named = found.get("pictures", [])
            pictures = tuple(Picture((path.parent / name).read_bytes(), mime) for name, mime in named)
            reply = Reply(found["text"], usage=found.get("usage", {}), pictures=pictures)
            return Kept(reply, [dict(call) for call in found.get("calls", [])])
        except (StoreError, KeyError, OSError, ModelError, TypeError, ValueError):
            return None

    def put(self, key: str, reply: Reply, calls: Sequence[Mapping[str, Any]] = ()) -> None:
        """Pictures first, then the JSON file whose existence makes it count."""
        path = self._path(key)
        if path is None:
            return
        names = []
        for number, picture in enumerate(reply.pictures):
            name = f"{path.stem}.{number}.{_ENDING.get(picture.mime, 'bin')}"
            write_bytes(path.parent / name, picture.data)
            names.append([name, picture.mime])
        content = {"text": reply.text, "usage": dict(reply.usage), "pictures": names, "calls": list(calls)}
        write_bytes(path, canonical_json(content))

    def _path(self, key: str) -> Path | None:
        digest = key.removeprefix("sha256:")
        return None if self.folder is None else self.folder / digest[:2] / f"{digest}.json"
