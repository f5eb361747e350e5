"""An image-text-to-text model of transformers on this machine: Qwen3-VL and its like."""

import asyncio
import importlib.util
import io
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cfgen.core.errors import MissingExtraError, SetupError
from cfgen.models.base import Ask, Form, Picture, Reply, Turn


class Local:
    """A vision-language model on this machine: model=/path/to/Qwen3-VL-8B-Instruct.

    One device; one question at a time, decoded greedily so that an answer can be repeated.

    Args:
        model: a folder, or a name that transformers can resolve. revision: of the latter.
        device: "auto" takes a GPU when there is one.
    """

    form: Form = "tags"
    at_once: int | None = 1
    host = ""

    def __init__(
        self, model: str, revision: str = "", device: str = "auto", max_new_tokens: int = 2048
    ) -> None:
        self.id = model.rstrip("/").rsplit("/", 1)[-1]
        self.identity: Mapping[str, Any] = {
            "provider": "local",
            "model": self.id,
            "revision": revision,
            "max_new_tokens": max_new_tokens,
        }
        self._source, self._revision = model, revision
        self._device, self._max_new_tokens = device, max_new_tokens
        self._thread = ThreadPoolExecutor(1, "local-judge")
        self._processor: Any = None
        self._model: Any = None

    def check(self) -> None:
        """Packages only: whether weights load takes loading them."""
        for package in ("torch", "transformers"):
            if importlib.util.find_spec(package) is None:
                missing = ImportError(f"No module named '{package}'", name=package)
                raise MissingExtraError("model 'local'", "local", missing)

    async def open(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def ask(self, ask: Ask) -> Reply:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._generate, ask)

    async def close(self) -> None:
        return None

    def _load(self) -> None:
        if self._model is not None:
            return
        try:
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor
        except ImportError as error:
            raise MissingExtraError("model 'local'", "local", error) from error
        device = ("cuda" if torch.cuda.is_available() else "cpu") if self._device == "auto" else self._device
        kind = torch.bfloat16 if device.startswith("cuda") else torch.float32
        where = {"revision": self._revision} if self._revision else {}
        try:
            self._processor = AutoProcessor.from_pretrained(self._source, **where)
            model: Any = AutoModelForImageTextToText.from_pretrained(self._source, dtype=kind, **where)
        except (OSError, ValueError, RuntimeError) as error:
            raise SetupError(
                f"model 'local': cannot load '{self._source}' as an image-text-to-text model "
                f"({str(error).splitlines()[0][:200]}); give the folder of one"
            ) from error
        self._model = model.to(device).eval()

    def _generate(self, ask: Ask) -> Reply:
        import torch

        system = {"role": "system", "content": [{"type": "text", "text": ask.system}]}
        inputs = self._processor.apply_chat_template(
            [system, *map(_message, ask.turns)],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self._model.device)
        with torch.inference_mode():
            made = self._model.generate(**inputs, max_new_tokens=self._max_new_tokens, do_sample=False)
        fresh = made[0, inputs["input_ids"].shape[1] :]
        text = self._processor.decode(fresh, skip_special_tokens=True)
        cut = len(fresh) >= self._max_new_tokens
        usage = {"input_tokens": float(inputs["input_ids"].shape[1]), "output_tokens": float(len(fresh))}
        return Reply(text, "cut" if cut else "complete", "max_new_tokens" if cut else "", usage)


def _message(turn: Turn) -> dict[str, Any]:
    role = "assistant" if turn.role == "model" else "user"
    return {"role": role, "content": [_content(p) for p in turn.parts]}


def _content(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    from PIL import Image

    return {"type": "image", "image": Image.open(io.BytesIO(part.data)).convert("RGB")}
