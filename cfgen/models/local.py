"""An image-text-to-text model of transformers on this machine: Qwen3-VL and its like."""

import asyncio
import importlib.util
import io
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.models.base import Ask, ChatTurn, Form, Picture, Reply


class Local:
    """A vision-language model on this machine: model=/path/to/Qwen3-VL-8B-Instruct.

    One device, unless it is offloaded; decoded greedily so that an answer can be repeated.

    Args:
        model: a folder, or a name that transformers can resolve. revision: of the latter.
        device: "auto" takes a GPU when there is one.
        bits: 8 or 4 loads the weights in so many bits (package bitsandbytes); 0 as they are.
        offload: spread the weights over all cards and, where these are too small, the main memory (package accelerate).
        batch: questions that are answered together; padding may then change an answer in its last digits.
        attn_implementation: "sdpa", "flash_attention_2", "eager"; "" leaves it to transformers.

    Raises:
        InputError: other bits, or a batch below 1.
    """

    form: Form = "tags"
    host = ""

    def __init__(
        self,
        model: str,
        revision: str = "",
        device: str = "auto",
        max_new_tokens: int = 2048,
        bits: int = 0,
        offload: bool = False,
        batch: int = 1,
        attn_implementation: str = "",
    ) -> None:
        if bits not in (0, 4, 8):
            raise InputError(f"model 'local': option bits: expected 8, 4 or 0 (as they are), found {bits!r}")
        if type(batch) is not int or batch < 1:
            raise InputError(f"model 'local': option batch: expected a whole number above 0, found {batch!r}")
        self.at_once: int | None = batch
        decisive = {
            "bits": bits,
            "batch": batch if batch > 1 else 0,
            "attn_implementation": attn_implementation,
        }
        self.id = model.rstrip("/").rsplit("/", 1)[-1]
        self.identity: Mapping[str, Any] = {
            "provider": "local",
            "model": self.id,
            "revision": revision,
            "max_new_tokens": max_new_tokens,
            **{key: value for key, value in decisive.items() if value},
        }
        self._bits, self._offload, self._attention = bits, offload, attn_implementation
        self._waiting: deque[tuple[Ask, asyncio.Future[Reply]]] = deque()
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
        for option, package in (("bits", "bitsandbytes"), ("bits", "accelerate"), ("offload", "accelerate")):
            if getattr(self, f"_{option}") and importlib.util.find_spec(package) is None:
                raise SetupError(
                    f"model 'local': option {option} needs the package '{package}', which is not installed; "
                    f"run: pip install {package}"
                )

    async def open(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def ask(self, ask: Ask) -> Reply:
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Reply] = loop.create_future()
        self._waiting.append((ask, reply))
        await asyncio.sleep(0)  # others that are asked at the same time come along
        if not reply.done():
            await loop.run_in_executor(self._thread, self._answer_waiting, loop)
        return await reply

    def _answer_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer what waits now, up to a batch; each call leaves no fewer answered than it came for."""
        batch: list[tuple[Ask, asyncio.Future[Reply]]] = []
        while self._waiting and len(batch) < (self.at_once or 1):
            batch.append(self._waiting.popleft())
        if not batch:
            return
        try:
            replies = self._generate([ask for ask, _ in batch])
        except BaseException as error:
            loop.call_soon_threadsafe(_settle, [(reply, error) for _, reply in batch])
            return
        answers = [(reply, answer) for (_, reply), answer in zip(batch, replies, strict=True)]
        loop.call_soon_threadsafe(_settle, answers)

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
            model: Any = AutoModelForImageTextToText.from_pretrained(
                self._source, dtype=kind, **where, **self._loading(device)
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise SetupError(
                f"model 'local': cannot load '{self._source}' as an image-text-to-text model "
                f"({str(error).splitlines()[0][:200]}); give the folder of one"
            ) from error
        placed = self._bits or self._offload
        self._model = (model if placed else model.to(device)).eval()

    def _loading(self, device: str) -> dict[str, Any]:
        """What ``from_pretrained`` is told of bits, places and attention."""
        options: dict[str, Any] = {"attn_implementation": self._attention} if self._attention else {}
        if self._offload:
            options["device_map"] = "auto"
        elif self._bits:
            options["device_map"] = {"": device}
        if self._bits:
            from transformers import BitsAndBytesConfig

            options["quantization_config"] = BitsAndBytesConfig(
                load_in_8bit=self._bits == 8, load_in_4bit=self._bits == 4
            )
        return options

    def _generate(self, asks: list[Ask]) -> list[Reply]:
        import torch

        talks = [[_system(ask), *map(_message, ask.turns)] for ask in asks]
        padded = {"processor_kwargs": {"padding": True, "padding_side": "left"}}
        several: dict[str, Any] = padded if len(asks) > 1 else {}
        inputs = self._processor.apply_chat_template(
            talks if several else talks[0],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **several,
        ).to(self._model.device)
        with torch.inference_mode():
            tokens = self._model.generate(**inputs, max_new_tokens=self._max_new_tokens, do_sample=False)
        width = inputs["input_ids"].shape[1]
        read = inputs["attention_mask"].sum(1).tolist() if several else [width]
        return [self._reply(row[width:], count) for row, count in zip(tokens, read, strict=True)]

    def _reply(self, fresh: Any, read: int) -> Reply:
        """``fresh``: the tokens made; where others took longer, filled up behind the one that ends it."""
        ends = self._model.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends])
        count = next((i + 1 for i, token in enumerate(fresh.tolist()) if token in stops), len(fresh))
        text = self._processor.decode(fresh[:count], skip_special_tokens=True)
        cut = count >= self._max_new_tokens
        usage = {"input_tokens": float(read), "output_tokens": float(count)}
        return Reply(text, "cut" if cut else "complete", "max_new_tokens" if cut else "", usage)


def _settle(answers: "Sequence[tuple[asyncio.Future[Reply], Reply | BaseException]]") -> None:
    """All in one step: who were answered together can ask together again."""
    for reply, result in answers:
        if reply.done():
            continue
        if isinstance(result, BaseException):
            reply.set_exception(result)
        else:
            reply.set_result(result)


def _system(ask: Ask) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": "text", "text": ask.system}]}


def _message(turn: ChatTurn) -> dict[str, Any]:
    role = "assistant" if turn.role == "model" else "user"
    return {"role": role, "content": [_content(p) for p in turn.parts]}


def _content(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    from PIL import Image

    return {"type": "image", "image": Image.open(io.BytesIO(part.data)).convert("RGB")}
