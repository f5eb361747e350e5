"""A faithfulness critic: P(CONSISTENT) of each edge from the verdict-token logits of a local vision-language model.

Pinocchio section 8.5.1, Eq. 9. Any model that ``transformers`` loads as image-text-to-text will do; a critic that was
fine-tuned on edge labels drops in by its path. Needs torch and transformers.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.judge.rubrics.faithfulness import HEADINGS, QUESTIONS, TEXTS
from cfgen.judge.rubrics.trace import TraceItem
from cfgen.records import Edge

_WORDS = ("CONSISTENT", "INCONSISTENT")
#: of each end of a file, in a model's fingerprint
_END_BYTES = 1 << 20
_ASK = "Answer with <verdict>CONSISTENT</verdict> or <verdict>INCONSISTENT</verdict>."


def critic_content(item: TraceItem, question: str) -> list[dict[str, str]]:
    """What a critic is shown, as a chat message's parts: images under headings, quoted texts, one question.

    A critic is trained on the same words as it is asked with (:mod:`cfgen.traces.export`).
    """
    content: list[dict[str, str]] = []
    for heading in HEADINGS:
        content += [{"type": "text", "text": f"{heading}\n"}, {"type": "image"}]
    texts = [f"{name} (quoted)\n{text}\n" for name, text in zip(TEXTS, item.texts(), strict=True)]
    content.append({"type": "text", "text": "\n".join([*texts, question, _ASK])})
    return content


def fingerprint(path: str | Path) -> str:
    """Hash over the names and sizes of a model folder's files and the ends of each: weights of 8 GB are not read whole.

    A model that is no folder here is named by its path.
    """
    folder = Path(path)
    if not folder.is_dir():
        return str(path)
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder)} {size}\n".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_END_BYTES))
            stream.seek(max(size - _END_BYTES, 0))
            digest.update(stream.read(_END_BYTES))
    return f"sha256:{digest.hexdigest()}"


def expect_model(path: str | Path) -> None:
    """Refuse what is neither a model's folder nor may be a hub's OWNER/NAME, before anything is loaded or asked.

    Raises:
        InputError: it is neither.
    """
    folder = Path(path).expanduser()
    if (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file():
        raise InputError(
            f"critic '{path}': expected a whole model, found a LoRA adapter alone; merge it into its base "
            "(merge_and_unload, as examples/train_critic.py does) and save model and processor"
        )
    hub = re.fullmatch(r"[\w.-]+/[\w.-]+", str(path)) and not str(path).startswith(("/", ".", "~"))
    if not (folder / "config.json").is_file() and (folder.exists() or not hub):
        raise InputError(
            f"critic '{path}': expected a model folder with config.json, weights and processor, found "
            f"{'none in it' if folder.is_dir() else 'a file' if folder.exists() else 'no such folder'}; give the "
            "folder that a model was saved in, or a hub's OWNER/NAME"
        )


@dataclass
class LocalCritic:
    """``model`` and ``processor`` as ``transformers`` loads them; see :meth:`load`."""

    model: Any
    processor: Any
    #: how far from the end of a prompt the verdicts part, and by which tokens; found with the first prompt
    _parting: tuple[int, tuple[int, int]] | None = field(default=None, init=False, repr=False)

    @classmethod
    def load(cls, path: str | Path, revision: str | None = None, device: str = "cpu") -> "LocalCritic":
        """Load weights and processor from a folder or a model hub.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            InputError: no such model, or one that takes no images.
        """
        expect_model(path)
        try:
            import torch  # noqa: F401 - transformers imports without it and fails later
            from transformers import AutoModelForImageTextToText, AutoProcessor
        except ImportError as error:
            raise MissingExtraError("the faithfulness critic", "local", error) from error
        try:
            model: Any = AutoModelForImageTextToText.from_pretrained(path, revision=revision)
            processor = AutoProcessor.from_pretrained(path, revision=revision)
        except Exception as error:  # weights of another format fail in ways of their own
            first = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise InputError(
                f"critic '{path}': expected a vision-language model that transformers can load, found: {first}; "
                "give the path of a folder with config.json, weights and processor"
            ) from error
        return cls(model.to(device).eval(), processor)

    def probabilities(self, item: TraceItem, questions: Mapping[Edge, str] = QUESTIONS) -> dict[Edge, float]:
        """P(CONSISTENT) of each edge, asked by itself, in 0..1."""
        return {edge: self._probability(item, question) for edge, question in questions.items()}

    def _probability(self, item: TraceItem, question: str) -> float:
        """Eq. 9: softmax over the two tokens by which the verdicts differ, after what they share."""
        import torch

        images = [Image.fromarray(np.ascontiguousarray(i)) for i in (item.frame, item.bev, item.speed)]
        with torch.inference_mode():
            logits, (consistent, inconsistent) = self.verdict_logits(critic_content(item, question), images)
        gap = float(logits[inconsistent] - logits[consistent])
        return 1 / (1 + exp(min(gap, 700.0)))

    def verdict_logits(
        self, content: Sequence[Mapping[str, str]], images: Sequence[Image.Image]
    ) -> tuple[Any, tuple[int, int]]:
        """Logits (vocabulary,) of the token by which the verdicts differ, and that token's id for CONSISTENT and
        INCONSISTENT: what a critic is read at, and trained at. ``content``: the user's parts."""
        messages = [{"role": "user", "content": list(content)}]
        prompt = str(self.processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))
        inputs = self._inputs(f"{prompt}<verdict>{_WORDS[0]}", images)
        ids = inputs["input_ids"][0].tolist()
        if self._parting is None or ids[-self._parting[0]] != self._parting[1][0]:
            inconsistent_ids = self._inputs(f"{prompt}<verdict>{_WORDS[1]}", images)["input_ids"][0].tolist()
            at = next(i for i, (a, b) in enumerate(zip(ids, inconsistent_ids, strict=False)) if a != b)
            self._parting = len(ids) - at, (ids[at], inconsistent_ids[at])
        back, tokens = self._parting
        logits = self.model(**inputs.to(self.model.device)).logits
        return logits[0, len(ids) - back - 1].float(), tokens

    def _inputs(self, text: str, images: Sequence[Image.Image]) -> Any:
        return self.processor(text=[text], images=list(images), return_tensors="pt")
