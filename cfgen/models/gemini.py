"""Google's Gemini models through google-genai, one request at a time or as batch jobs."""

import base64
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cfgen.errors import InputError, MissingExtraError
from cfgen.models.base import Ask, Form, ModelError, Picture, Reply, kind_of_status, retry_after

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
LEVELS = ("minimal", "low", "medium", "high", "xhigh")
#: Ends of a reply that are the server's no, not the model's answer.
_CUT = "MAX_TOKENS"
_DONE = ("STOP", "FINISH_REASON_UNSPECIFIED", "")


class Gemini:
    """One model, held to the rubric's JSON schema.

    Sampling parameters are left alone: current models ignore them, so votes differ and are worth taking.
    """

    form: Form = "json"
    at_once: int | None = None

    def __init__(self, model: str, thinking: str, base_url: str, timeout_s: float) -> None:
        self.id = model
        self.identity: Mapping[str, Any] = {"provider": "gemini", "model": model, "thinking": thinking}
        self._thinking, self._base_url, self._timeout_s = thinking, base_url, timeout_s
        self._client: Any = None
        self._key = ""

    async def open(self) -> None:
        try:
            from google import genai
        except ImportError as error:
            raise MissingExtraError("model 'gemini'", "gemini", error) from error
        self._key = next((os.environ[k] for k in KEYS if os.environ.get(k)), "")
        if not self._key:
            raise InputError(f"model 'gemini': no key in ${KEYS[0]}; set it, or use --judge offline")
        options = genai.types.HttpOptions(
            base_url=self._base_url or None, timeout=int(self._timeout_s * 1000)
        )
        self._client = genai.Client(api_key=self._key, http_options=options)

    async def ask(self, ask: Ask) -> Reply:
        types = _types()
        contents = [
            types.Content(role=turn.role, parts=[_part(types, p) for p in turn.parts]) for turn in ask.turns
        ]
        config = types.GenerateContentConfig(
            system_instruction=ask.system,
            response_mime_type="application/json",
            response_json_schema=dict(ask.schema),
            thinking_config=types.ThinkingConfig(thinking_level=self._thinking) if self._thinking else None,
        )
        try:
            found = await self._client.aio.models.generate_content(
                model=self.id, contents=contents, config=config
            )
        except Exception as error:
            raise self._fault(error) from None
        return reply_of(found)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aio.aclose()

    # --- batch jobs ---------------------------------------------------------------------------------------

    async def submit(self, asks: Sequence[Ask]) -> str:
        """Upload the questions and start a job; returns its name."""
        lines = (json.dumps({"key": str(i), "request": self._request(a)}) for i, a in enumerate(asks))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "asks.jsonl"
            with path.open("w") as out:
                out.writelines(line + "\n" for line in lines)
            try:
                sent = await self._client.aio.files.upload(
                    file=path, config={"mime_type": "application/jsonl"}
                )
                job = await self._client.aio.batches.create(model=self.id, src=sent.name)
            except Exception as error:
                raise self._fault(error) from None
        return str(job.name)

    async def collect(self, name: str, count: int) -> list[Reply | ModelError] | None:
        """What the job has brought, in the order of its questions; None while it runs.

        Raises:
            ModelError: it failed as a whole, or cannot be reached.
        """
        try:
            job = await self._client.aio.batches.get(name=name)
            state = job.state.name if job.state else ""
            if state in ("JOB_STATE_FAILED", "JOB_STATE_CANCELLED"):
                why = job.error.message if job.error else state
                raise ModelError("bad", f"batch job {name}: {why}")
            if state not in ("JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_EXPIRED"):
                return None
            file = job.dest.file_name if job.dest else None
            data = await self._client.aio.files.download(file=file) if file else b""
        except ModelError:
            raise
        except Exception as error:
            raise self._fault(error) from None
        missing = ModelError(
            "transient", f"batch job {name} ended ({state}) without an answer to this question"
        )
        found: list[Reply | ModelError] = [missing] * count
        for line in data.decode().splitlines():
            row = json.loads(line)
            found[int(row["key"])] = _row(row)
        return found

    def _request(self, ask: Ask) -> dict[str, Any]:
        """As the REST interface takes it."""
        config: dict[str, Any] = {
            "responseMimeType": "application/json",
            "responseJsonSchema": dict(ask.schema),
        }
        if self._thinking:
            config["thinkingConfig"] = {"thinkingLevel": self._thinking.upper()}
        turns = [{"role": t.role, "parts": [_plain_part(p) for p in t.parts]} for t in ask.turns]
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
        if type(error).__module__.split(".")[0] in (
            "httpx",
            "httpx2",
            "aiohttp",
            "asyncio",
            "builtins",
            "ssl",
        ):
            return ModelError("transient", self._without_key(f"Gemini: {type(error).__name__}: {error}"))
        return ModelError("bad", self._without_key(f"Gemini: {type(error).__name__}: {error}"))

    def _without_key(self, text: str) -> str:
        return (text.replace(self._key, "[key]") if self._key else text)[:400]


def _types() -> Any:
    from google.genai import types

    return types


def _part(types: Any, part: str | Picture) -> Any:
    if isinstance(part, str):
        return types.Part(text=part)
    return types.Part(inline_data=types.Blob(data=part.data, mime_type=part.mime))


def _plain_part(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    return {"inlineData": {"mimeType": part.mime, "data": base64.b64encode(part.data).decode()}}


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


def _row(row: dict[str, Any]) -> Reply | ModelError:
    if "response" not in row:
        error = row.get("error") or {}
        code = int(error.get("code") or 500)
        # batch rows carry RPC codes: 8 is exhausted, 13 and 14 internal and unavailable
        status = {3: 400, 8: 429, 13: 500, 14: 503}.get(code, code)
        return ModelError(kind_of_status(status), f"Gemini: {str(error.get('message'))[:200]}")
    return reply_of(_types().GenerateContentResponse.model_validate(row["response"]))


def reply_of(found: Any) -> Reply:
    """Text without thoughts, how it ended, and what it cost."""
    counts = found.usage_metadata
    usage = {
        "input_tokens": float(getattr(counts, "prompt_token_count", None) or 0),
        "output_tokens": float(getattr(counts, "candidates_token_count", None) or 0),
        "thinking_tokens": float(getattr(counts, "thoughts_token_count", None) or 0),
    }
    candidate = (found.candidates or [None])[0]
    if candidate is None:
        blocked = getattr(found.prompt_feedback, "block_reason", None)
        return Reply(
            "", "refused", f"no answer ({getattr(blocked, 'name', blocked) or 'no reason given'})", usage
        )
    parts = (candidate.content.parts if candidate.content else None) or []
    text = "".join(p.text for p in parts if p.text and not p.thought)
    reason = str(getattr(candidate.finish_reason, "name", candidate.finish_reason) or "")
    if reason == _CUT:
        return Reply(text, "cut", reason, usage)
    if reason not in _DONE or not text:
        return Reply(text, "refused", reason or "empty answer", usage)
    return Reply(text, "complete", "", usage)
