"""Gemini models that answer with a picture (Nano Banana)."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cfgen.models.base import Ask, Picture, Reply
from cfgen.models.gemini import Gemini, reply_of


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
        asked = super()._request(ask)
        shape = {"aspectRatio": ask.schema["aspect_ratio"]}
        if ask.schema["image_size"]:
            shape["imageSize"] = ask.schema["image_size"]
        return {
            "contents": asked["contents"],
            "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": shape},
        }

    def _reply(self, found: Any) -> Reply:
        """Complete with a picture; refused, with the finish reason, without one."""
        reply = reply_of(found)
        candidate = (found.candidates or [None])[0]
        parts = (candidate.content.parts if candidate and candidate.content else None) or []
        blobs = [p.inline_data for p in parts if p.inline_data and p.inline_data.data and not p.thought]
        pictures = tuple(Picture(b.data, b.mime_type or "image/png") for b in blobs)
        usage = {**reply.usage, "images": float(len(pictures))}
        if not pictures:
            return replace(reply, finish="refused", reason=reply.reason or "no picture", usage=usage)
        return replace(reply, finish="complete", reason="", usage=usage, pictures=pictures)
