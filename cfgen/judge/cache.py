"""Replies that need not be paid for twice: one JSON file each, named by the hash of everything that decides it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.core.errors import StoreError
from cfgen.core.files import read_json, write_bytes
from cfgen.core.hashing import canonical_json, hash_json
from cfgen.models.base import Ask, ModelError, Reply


class Replies:
    """``folder``: None keeps nothing. Only complete replies that could be read belong in here."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @staticmethod
    def key(identity: Mapping[str, Any], ask: Ask, vote: int) -> str:
        """Everything that changes the answer: model, wording, pictures in their order, and which vote it is."""
        return hash_json({"model": dict(identity), "ask": ask.hash, "vote": vote})

    def get(self, key: str) -> Reply | None:
        path = self._path(key)
        if path is None or not path.is_file():
            return None
        try:
            found = read_json(path)
            return Reply(text=found["text"], usage=found.get("usage", {}))
        except (StoreError, KeyError, ModelError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        path = self._path(key)
        if path is not None:
            write_bytes(path, canonical_json({"text": reply.text, "usage": dict(reply.usage)}))

    def _path(self, key: str) -> Path | None:
        digest = key.removeprefix("sha256:")
        return None if self.folder is None else self.folder / digest[:2] / f"{digest}.json"
