"""A model behind a server of one's own: cfgen adds cache, retries, budget and network limits around ``ask``."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from cfgen.models.base import Ask, Form, Model, ModelError, Reply, kind_of_status


class House(Model):
    """A server that takes JSON."""  # check, open, close: as they are there, for a key, a package, a connection

    form: Form = "tags"  # how it answers: "tags", or "json" where it can be held to a schema
    at_once: int | None = 8

    def __init__(self, model: str, url: str, timeout_s: float = 60.0) -> None:  # options by their names
        self.id, self.url, self.timeout_s = model, url, timeout_s
        self.host = urlsplit(url).hostname or ""  # for --offline and --allow-hosts; "" when it runs here
        self.identity: Mapping[str, Any] = {"provider": "house", "model": model}  # what decides its answers

    async def ask(self, ask: Ask) -> Reply:
        said = [[p if isinstance(p, str) else {p.mime: p.base64} for p in t.parts] for t in ask.turns]
        body = json.dumps({"model": self.id, "system": ask.system, "turns": said}).encode()
        try:
            found = json.loads(await asyncio.to_thread(self._post, body))
        except urllib.error.HTTPError as error:
            raise ModelError(kind_of_status(error.code), f"{self.url} answered {error.code}") from error
        except OSError as error:
            raise ModelError("transient", f"{self.url}: {error}") from error
        # finish="cut" or "refused" where the answer is no whole one
        return Reply(found["text"], usage={"input_tokens": found["tokens"]})

    def _post(self, body: bytes) -> bytes:
        with urllib.request.urlopen(self.url, body, self.timeout_s) as reply:
            return bytes(reply.read())
