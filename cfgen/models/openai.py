"""Any server that speaks OpenAI's chat completions: hosted models, Azure, vLLM, llama.cpp, Ollama, ..."""

import importlib.util
import os
from collections.abc import Mapping
from typing import Any

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.core.network import host_of, without_secrets
from cfgen.models.base import (
    USELESS_TRIES,
    Ask,
    ChatTurn,
    Form,
    ModelError,
    Reply,
    kind_of_status,
    retry_after,
)

DEFAULT_URL = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
#: What bounds an answer: servers know one of these names or both, newer models of OpenAI's only the latter.
_CAPS = ("max_tokens", "max_completion_tokens")
_OPENAIS = ("api.openai.com", ".openai.azure.com")


class OpenAI:
    """Any server that speaks OpenAI's chat completions: model=NAME [base_url=http://host:8000/v1].

    The SDK's own retries are off: the client around it decides.

    Args:
        base_url: up to and including ``/v1``. The key comes from ``$OPENAI_API_KEY``; servers of one's own need none.
        form: "json" holds the model to the rubric's schema where the server can; "tags" works everywhere.
        reasoning_effort: "low", "high", ... for models that take it.

    Raises:
        InputError: another form, or an address without a host.
    """

    at_once: int | None = None

    def __init__(
        self,
        model: str,
        base_url: str = DEFAULT_URL,
        form: Form = "tags",
        max_tokens: int = 4096,
        timeout_s: float = 180.0,
        reasoning_effort: str = "",
    ) -> None:
        if form not in ("tags", "json"):
            raise InputError(f"model 'openai': option form: expected tags or json, found '{form}'")
        self.id, self.form = model, form
        self.base_url, self.timeout_s, self.max_tokens = base_url.rstrip("/"), timeout_s, max_tokens
        self.host = host_of(self.base_url)
        if not self.host:
            raise InputError(
                f"model 'openai': option base_url: expected one like http://host:8000/v1, found '{base_url}'"
            )
        if "?" in base_url or "#" in base_url:
            raise InputError(
                f"model 'openai': option base_url: expected an address without a query, found one with it after "
                f"{without_secrets(base_url)}; the key comes from ${KEY}"
            )
        # The same name can mean another model elsewhere, so the address is part of who answers.
        self.identity: Mapping[str, Any] = {
            "provider": "openai",
            "model": model,
            # but not who asks there
            "base_url": without_secrets(self.base_url),
            "max_tokens": max_tokens,
            **({"reasoning_effort": reasoning_effort} if reasoning_effort else {}),
        }
        self._effort = reasoning_effort
        self._cap = _CAPS[self.host.endswith(_OPENAIS)]
        self._client: Any = None
        self._headers: dict[str, Any] = {}
        self._key = ""
        #: whether it has given a chat completion, and how often something else
        self._spoke, self._others = False, 0

    def check(self) -> None:
        if importlib.util.find_spec("openai") is None:
            missing = ImportError("No module named 'openai'", name="openai")
            raise MissingExtraError("model 'openai'", "openai", missing)
        self._key = os.environ.get(KEY, "")
        if not self._key and self.base_url == DEFAULT_URL:
            raise SetupError(
                f"model 'openai': no key in ${KEY}; set it, or give base_url of a server of your own"
            )

    async def open(self) -> None:
        self.check()
        import openai

        # a server of one's own gets no header rather than a made-up key
        self._headers = {} if self._key else {"extra_headers": {"Authorization": openai.Omit()}}
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self.base_url,
            timeout=self.timeout_s,
            max_retries=0,
        )

    async def ask(self, ask: Ask) -> Reply:
        try:
            response = await self._completion(ask)
        except Exception as error:
            raise self._fault(error) from None
        try:
            reply = _reply(response)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise self._strange(response) from None
        self._spoke = True
        return reply

    async def _completion(self, ask: Ask) -> Any:
        """Asked again, once, where the server knows the bound of an answer by its other name."""
        import openai

        create, cap = self._client.chat.completions.create, self._cap
        try:
            return await create(**self._body(ask, cap))
        except openai.BadRequestError as error:
            alternative = _CAPS[cap == _CAPS[0]]
            if error.param != cap or alternative not in str(error):
                raise
            self._cap = alternative
        return await create(**self._body(ask, alternative))

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _body(self, ask: Ask, cap: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": ask.system}, *map(_message, ask.turns)]
        body = {"model": self.id, "messages": messages, cap: self.max_tokens, **self._headers}
        if self._effort:
            body["reasoning_effort"] = self._effort
        if ask.form == "json":
            schema = {"name": "answer", "strict": True, "schema": ask.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _fault(self, error: Exception) -> ModelError:
        import openai

        if isinstance(error, openai.APIStatusError):
            why = self._why(error)
            message = f"{self.base_url} answered {error.status_code} for model '{self.id}': {why}"
            # no waiting brings back money that an account has not got
            broke = getattr(error, "code", None) == "insufficient_quota"
            kind = "fatal" if broke else kind_of_status(error.status_code)
            return ModelError(kind, message, retry_after(error.response.headers))
        if isinstance(error, openai.APIConnectionError):
            cause = type(error.__cause__ or error).__name__
            return ModelError("transient", f"{self.base_url}: {cause}")
        if isinstance(error, ValueError | openai.APIError):  # a body that is no JSON
            return self._strange(getattr(error, "doc", None) or getattr(error, "body", None) or "")
        return ModelError("bad", f"{self.base_url}: {type(error).__name__}: {str(error)[:200]}")

    def _strange(self, response: Any) -> ModelError:
        """It answered, but with no chat completion; one that never gave any is most likely something else."""
        self._others += 1
        text = (
            response
            if isinstance(response, str)
            else getattr(response, "model_dump_json", lambda: str(response))()
        )
        excerpt = repr(" ".join(text.split())[:60]) if text.strip() else "an empty body"
        words = f"{self.base_url}: expected a chat completion, found {excerpt}"
        if self._spoke or self._others < USELESS_TRIES:
            return ModelError("transient", words, most=USELESS_TRIES)
        return ModelError(
            "fatal", f"{words}; see that base_url ends where the server's API begins (often /v1)"
        )

    def _why(self, error: Any) -> str:
        """The server's own words, shortened and without the key."""
        body = error.body
        message = body.get("message") if isinstance(body, dict) else None
        text = str(message if message else error.response.text)
        return (text.replace(self._key, "[key]") if self._key else text)[:200]


def _message(turn: ChatTurn) -> dict[str, Any]:
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


def _reply(response: Any) -> Reply:
    choice = response.choices[0]
    message, why = choice.message, choice.finish_reason or ""
    counts = response.usage
    usage = {
        "input_tokens": float(getattr(counts, "prompt_tokens", None) or 0),
        "output_tokens": float(getattr(counts, "completion_tokens", None) or 0),
    }
    refusal = getattr(message, "refusal", None)
    if refusal or why == "content_filter":
        return Reply("", "refused", str(refusal or why), usage)
    return Reply(message.content or "", "cut" if why == "length" else "complete", why, usage)
