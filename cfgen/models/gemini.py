"""Google's Gemini models through google-genai."""

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.core.network import host_of
from cfgen.models.base import (
    Ask,
    Form,
    ModelError,
    Picture,
    Reply,
    kind_of_status,
    retry_after,
)

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
HOST = "generativelanguage.googleapis.com"
LEVELS = ("minimal", "low", "medium", "high", "xhigh")
#: Ends of a reply that are the server's no, not the model's answer.
_CUT = "MAX_TOKENS"
_DONE = ("STOP", "FINISH_REASON_UNSPECIFIED", "")
#: The SDK asks for contents; ``extra_body`` takes their place.
_REPLACED = "-"


class Gemini:
    """Google's Gemini, held to a JSON schema: model=NAME [thinking=low].

    Sampling parameters are left alone: current models ignore them, so votes differ and are worth taking.

    Raises:
        InputError: an unknown thinking level.
    """

    form: Form = "json"
    at_once: int | None = None
    #: what needs no key, for the message when there is none
    otherwise = "what needs none, such as --judge offline"

    def __init__(self, model: str, thinking: str = "", base_url: str = "", timeout_s: float = 180.0) -> None:
        if thinking and thinking not in LEVELS:
            raise InputError(
                f"model 'gemini': option thinking: expected one of {', '.join(LEVELS)}, found '{thinking}'"
            )
        self.id = model
        self.host = host_of(base_url) if base_url else HOST
        self.identity: Mapping[str, Any] = {"provider": "gemini", "model": model, "thinking": thinking}
        self._thinking, self._base_url, self._timeout_s = thinking, base_url, timeout_s
        self._client: Any = None
        self._key = ""

    def check(self) -> None:
        try:
            from google import genai  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("model 'gemini'", "gemini", error) from error
        self._key = next((os.environ[k] for k in KEYS if os.environ.get(k)), "")
        if not self._key:
            raise SetupError(f"model 'gemini': no key in ${KEYS[0]}; set it, or use {self.otherwise}")

    async def open(self) -> None:
        self.check()
        from google import genai

        options = genai.types.HttpOptions(
            base_url=self._base_url or None, timeout=int(self._timeout_s * 1000)
        )
        self._client = genai.Client(api_key=self._key, http_options=options)

    async def ask(self, ask: Ask) -> Reply:
        """The request goes in as REST has it: the SDK would spend as long on typed parts as on sending them."""
        types = _types()
        http_options = types.HttpOptions(extra_body=self._request(ask))
        try:
            response = await self._client.aio.models.generate_content(
                model=self.id,
                contents=_REPLACED,
                config=types.GenerateContentConfig(http_options=http_options),
            )
        except Exception as error:
            raise self._fault(error) from None
        return self._reply(response)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aio.aclose()

    def _reply(self, response: Any) -> Reply:
        return reply_of(response)

    def _request(self, ask: Ask) -> dict[str, Any]:
        """As the REST interface takes it."""
        config: dict[str, Any] = {
            "responseMimeType": "application/json",
            "responseJsonSchema": dict(ask.schema),
        }
        if self._thinking:
            config["thinkingConfig"] = {"thinkingLevel": self._thinking.upper()}
        turns = [{"role": t.role, "parts": [_part(p) for p in t.parts]} for t in ask.turns]
        system = {"parts": [{"text": ask.system}]}
        return {"contents": turns, "systemInstruction": system, "generationConfig": config}

    def _fault(self, error: Exception) -> ModelError:
        from google.genai import errors

        if isinstance(error, errors.APIError):
            message = f"Gemini answered {error.code} for model '{self.id}': {error.message}"
            headers = getattr(error.response, "headers", None) or {}
            kind = kind_of_status(int(error.code or 500))
            if kind == "bad" and "api key" in str(error.message).lower():
                kind = "fatal"
            return ModelError(kind, self._without_key(message), retry_after(headers) or _asked_delay(error))
        # the network's doing, or an answer that was no JSON; what the SDK itself refuses will never work
        kind = "bad" if type(error).__module__.startswith("google") else "transient"
        return ModelError(kind, self._without_key(f"Gemini: {type(error).__name__}: {error}"))

    def _without_key(self, text: str) -> str:
        return (text.replace(self._key, "[key]") if self._key else text)[:400]


def _types() -> Any:
    from google.genai import types

    return types


def _part(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    return {"inlineData": {"mimeType": part.mime, "data": part.base64}}


def _asked_delay(error: Any) -> float | None:
    """Seconds from the RetryInfo in an error's details."""
    details = error.details if isinstance(error.details, dict) else {}
    for detail in details.get("error", details).get("details", []) or []:
        delay = str(detail.get("retryDelay", ""))
        if delay.endswith("s"):
            try:
                return float(delay[:-1])
            except ValueError:
                return None
    return None


def reply_of(response: Any) -> Reply:
    """Text without thoughts, how it ended, and what it cost."""
    counts = response.usage_metadata
    usage = {
        "input_tokens": float(getattr(counts, "prompt_token_count", None) or 0),
        "output_tokens": float(getattr(counts, "candidates_token_count", None) or 0),
        "thinking_tokens": float(getattr(counts, "thoughts_token_count", None) or 0),
    }
    candidate = (response.candidates or [None])[0]
    if candidate is None:
        blocked = getattr(response.prompt_feedback, "block_reason", None)
        if not blocked:
            return Reply("", usage=usage)
        return Reply("", "refused", f"no answer ({getattr(blocked, 'name', blocked)})", usage)
    parts = (candidate.content.parts if candidate.content else None) or []
    text = "".join(p.text for p in parts if p.text and not p.thought)
    reason = str(getattr(candidate.finish_reason, "name", candidate.finish_reason) or "")
    if reason == _CUT:
        return Reply(text, "cut", reason, usage)
    if reason not in _DONE:
        return Reply(text, "refused", reason, usage)
    return Reply(text, "complete", "", usage)


# --- gemini image ------------------------------------------------------------------------------
# Gemini models that answer with a picture (Nano Banana).


class GeminiImage(Gemini):
    """One image model: pictures and words in, a picture out.

    The question's schema holds ``aspect_ratio`` and ``image_size`` of the answer ("" leaves the latter to the model).
    """

    otherwise = "--inpainter composite"

    def __init__(self, model: str, base_url: str, timeout_s: float) -> None:
        super().__init__(model, base_url=base_url, timeout_s=timeout_s)
        self.identity: Mapping[str, Any] = {"provider": "gemini", "model": model}

    async def open(self) -> None:
        # the SDK warns of every picture in an answer as if it were a mistake
        logging.getLogger("google_genai.types").setLevel(logging.ERROR)
        await super().open()

    def _request(self, ask: Ask) -> dict[str, Any]:
        request = super()._request(ask)
        shape = {"aspectRatio": ask.schema["aspect_ratio"]}
        if ask.schema["image_size"]:
            shape["imageSize"] = ask.schema["image_size"]
        return {
            "contents": request["contents"],
            "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": shape},
        }

    def _reply(self, response: Any) -> Reply:
        """Complete with a picture; refused, with the finish reason, without one."""
        reply = reply_of(response)
        candidate = (response.candidates or [None])[0]
        parts = (candidate.content.parts if candidate and candidate.content else None) or []
        blobs = [p.inline_data for p in parts if p.inline_data and p.inline_data.data and not p.thought]
        pictures = tuple(Picture(b.data, b.mime_type or "image/png") for b in blobs)
        usage = {**reply.usage, "images": float(len(pictures))}
        if not pictures:
            return replace(reply, finish="refused", reason=reply.reason or "no picture", usage=usage)
        return replace(reply, finish="complete", reason="", usage=usage, pictures=pictures)
