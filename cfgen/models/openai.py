"""Any server that speaks OpenAI's chat completions: hosted models, vLLM, llama.cpp, Ollama, ..."""

import os
from collections.abc import Mapping
from typing import Any

from cfgen.core.errors import MissingExtraError, SetupError
from cfgen.models.base import Ask, Form, ModelError, Reply, Turn, kind_of_status, retry_after

DEFAULT_URL = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


class OpenAI:
    """Plain HTTP: the SDK would add retries of its own under ours.

    Args:
        base_url: up to and including ``/v1``. The key comes from ``$OPENAI_API_KEY``; servers of one's own need none.
        form: "json" holds the model to the rubric's schema where the server can; "tags" works everywhere.
    """

    at_once: int | None = None

    def __init__(self, model: str, base_url: str, form: Form, max_tokens: int, timeout_s: float) -> None:
        self.id, self.form = model, form
        self.base_url, self.timeout_s, self.max_tokens = base_url.rstrip("/"), timeout_s, max_tokens
        # The same name can mean another model elsewhere, so the address is part of who answers.
        self.identity: Mapping[str, Any] = {
            "provider": "openai",
            "model": model,
            "base_url": self.base_url,
            "max_tokens": max_tokens,
        }
        self._client: Any = None

    async def open(self) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("model 'openai'", "openai", error) from error
        key = os.environ.get(KEY, "")
        if not key and self.base_url == DEFAULT_URL:
            raise SetupError(
                f"model 'openai': no key in ${KEY}; set it, or give base_url of a server of your own"
            )
        headers = {"authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=256)
        self._client = httpx.AsyncClient(headers=headers, timeout=self.timeout_s, limits=limits)

    async def ask(self, ask: Ask) -> Reply:
        import httpx

        try:
            response = await self._client.post(f"{self.base_url}/chat/completions", json=self._body(ask))
        except httpx.HTTPError as error:
            raise ModelError("transient", f"{self.base_url}: {type(error).__name__}") from error
        if response.status_code != 200:
            message = (
                f"{self.base_url} answered {response.status_code} for model '{self.id}': {_why(response)}"
            )
            raise ModelError(kind_of_status(response.status_code), message, retry_after(response.headers))
        try:
            return _reply(response.json())
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise ModelError("transient", f"{self.base_url}: the answer is no chat completion") from error

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _body(self, ask: Ask) -> dict[str, Any]:
        messages = [{"role": "system", "content": ask.system}, *map(_message, ask.turns)]
        body: dict[str, Any] = {"model": self.id, "messages": messages, "max_tokens": self.max_tokens}
        if ask.form == "json":
            schema = {"name": "verdict", "strict": True, "schema": ask.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def _message(turn: Turn) -> dict[str, Any]:
    if turn.role == "model":
        return {"role": "assistant", "content": "".join(p for p in turn.parts if isinstance(p, str))}
    content: list[dict[str, Any]] = []
    for part in turn.parts:
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
        else:
            url = f"data:{part.mime};base64,{part.base64}"
            content.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": "user", "content": content}


def _reply(found: dict[str, Any]) -> Reply:
    choice = found["choices"][0]
    message, why = choice["message"], choice.get("finish_reason") or ""
    counts = found.get("usage") or {}
    usage = {
        "input_tokens": float(counts.get("prompt_tokens") or 0),
        "output_tokens": float(counts.get("completion_tokens") or 0),
    }
    if message.get("refusal") or why == "content_filter":
        return Reply("", "refused", str(message.get("refusal") or why), usage)
    text = message["content"] or ""
    return Reply(text, "cut" if why == "length" else "complete", why, usage)


def _why(response: Any) -> str:
    """The server's own words, shortened; keys are sent in headers and never come back in them."""
    try:
        return str(response.json()["error"]["message"])[:200]
    except (ValueError, KeyError, TypeError):
        return str(response.text)[:200]
