"""Google's Gemini models through google-genai, one request at a time or as batch jobs."""

import json
import logging
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.core.network import host_of
from cfgen.models.base import (
    Ask,
    Form,
    JobEndedError,
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
    """Google's Gemini, held to a JSON schema: model=NAME [thinking=low] [batch=true].

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

        # the SDK knows fewer states than the service reports
        warnings.filterwarnings("ignore", message=".* is not a valid JobState")
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

    # --- batch jobs ---------------------------------------------------------------------------------------

    async def submit(self, asks: Sequence[Ask]) -> str:
        """Start a job with the questions, sent as a file; returns its name."""
        rows = ({"key": str(i), "request": self._request(a)} for i, a in enumerate(asks))
        try:
            job = await self._client.aio.batches.create(model=self.id, src=await self._upload(rows))
        except Exception as error:
            raise self._fault(error) from None
        return str(job.name)

    async def _upload(self, rows: Iterable[Mapping[str, Any]]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "asks.jsonl"
            with path.open("w") as out:
                out.writelines(json.dumps(row) + "\n" for row in rows)
            sent = await self._client.aio.files.upload(file=path, config={"mime_type": "application/jsonl"})
        return str(sent.name)

    async def collect(self, name: str, count: int) -> list[Reply | ModelError] | None:
        """What the job has brought, in the order of its questions; None while it runs.

        Raises:
            JobEndedError: it failed as a whole. ModelError: it cannot be reached.
        """
        try:
            job = await self._client.aio.batches.get(name=name)
            state = str(getattr(job.state, "name", job.state) or "").rpartition("STATE_")[2]
            if state in ("FAILED", "CANCELLED"):
                raise JobEndedError(name, state, str(job.error.message) if job.error else "")
            if state not in ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "EXPIRED"):
                return None
            rows = await self._rows(job.dest)
        except ModelError:
            raise
        except Exception as error:
            raise self._fault(error) from None
        missing = ModelError(
            "transient", f"batch job {name} ended ({state}) without an answer to this question"
        )
        results: list[Reply | ModelError] = [missing] * count
        for index, row in rows:
            if 0 <= index < count:
                results[index] = self._answer(row)
        return results

    async def _rows(self, dest: Any) -> list[tuple[int, Any]]:
        """Number and content of every row that a job has written and that can be read."""
        if dest is None:
            return []
        data = await self._client.aio.files.download(file=dest.file_name) if dest.file_name else b""
        return [parsed for line in data.splitlines() if (parsed := _row(line)) is not None]

    def _answer(self, row: Any) -> Reply | ModelError:
        if row.response is not None:
            return self._reply(row.response)
        code = int(getattr(row.error, "code", None) or 500)
        # batch rows carry RPC codes: 8 is exhausted, 13 and 14 internal and unavailable
        status = {3: 400, 8: 429, 13: 500, 14: 503}.get(code, code)
        message = self._without_key(str(getattr(row.error, "message", "")))
        return ModelError(kind_of_status(status), f"Gemini: {message[:200]}")

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


def _row(line: bytes) -> tuple[int, Any] | None:
    """Number and content of one line; None where it is damaged: its question counts as not answered."""
    try:
        row = json.loads(line.decode("utf-8", "replace"))
        content = {name: row[name] for name in ("response", "error") if name in row}
        if "error" in content:  # of its other fields the SDK knows none
            content["error"] = {name: content["error"].get(name) for name in ("code", "message")}
        return _place(row["key"]), _types().InlinedResponse.model_validate(content)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _place(key: Any) -> int:
    """The number of a question; -1, which is none, where it cannot be read."""
    return int(key) if str(key).isdecimal() else -1


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
