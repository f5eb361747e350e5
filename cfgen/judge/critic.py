"""A faithfulness critic: P(CONSISTENT) of each edge from the verdict-token logits of a local vision-language model.

Pinocchio section 8.5.1, Eq. 9. Any model that ``transformers`` loads as image-text-to-text will do; a critic that was
fine-tuned on edge labels drops in by its path. Needs torch and transformers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
_ASK = "Answer with <verdict>CONSISTENT</verdict> or <verdict>INCONSISTENT</verdict>."


@dataclass
class LocalCritic:
    """``model`` and ``processor`` as ``transformers`` loads them; see :meth:`load`."""

    model: Any
    processor: Any

    @classmethod
    def load(cls, path: str | Path, revision: str | None = None, device: str = "cpu") -> "LocalCritic":
        """Load weights and processor from a folder or a model hub.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            InputError: no such model, or one that takes no images.
        """
        try:
            import torch  # noqa: F401 - transformers imports without it and fails later
            from transformers import AutoModelForImageTextToText, AutoProcessor
        except ImportError as error:
            raise MissingExtraError("the faithfulness critic", "local", error) from error
        try:
            model: Any = AutoModelForImageTextToText.from_pretrained(path, revision=revision)
            processor = AutoProcessor.from_pretrained(path, revision=revision)
        except (OSError, ValueError, KeyError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise InputError(
                f"critic '{path}': expected a vision-language model that transformers can load, found: {first}; "
                "give the path of a folder with config.json, weights and processor"
            ) from error
        return cls(model.to(device).eval(), processor)

    def probabilities(self, item: TraceItem) -> dict[Edge, float]:
        """P(CONSISTENT) of E1 to E5, each asked by itself, in 0..1."""
        return {edge: self._probability(item, question) for edge, question in QUESTIONS.items()}

    def _probability(self, item: TraceItem, question: str) -> float:
        """Eq. 9: softmax over the two tokens by which the verdicts differ, after what they share."""
        import torch

        images = [Image.fromarray(np.ascontiguousarray(i)) for i in (item.frame, item.bev, item.speed)]
        prompt = self._prompt(item, question)
        ids = [self._inputs(f"{prompt}<verdict>{word}", images)["input_ids"][0].tolist() for word in _WORDS]
        shared = next(i for i, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
        inputs = self._inputs(f"{prompt}<verdict>{_WORDS[0]}", images).to(self.model.device)
        with torch.inference_mode():
            logits = self.model(**inputs).logits[0, shared - 1].float()
        gap = float(logits[ids[1][shared]] - logits[ids[0][shared]])
        return 1 / (1 + exp(min(gap, 700.0)))

    def _prompt(self, item: TraceItem, question: str) -> str:
        """Images under their headings, quoted texts, one question, and the model's turn opened."""
        content: list[dict[str, str]] = []
        for heading in HEADINGS:
            content += [{"type": "text", "text": f"{heading}\n"}, {"type": "image"}]
        texts = [f"{name} (quoted)\n{text}\n" for name, text in zip(TEXTS, item.texts(), strict=True)]
        content.append({"type": "text", "text": "\n".join([*texts, question, _ASK])})
        messages = [{"role": "user", "content": content}]
        return str(self.processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))

    def _inputs(self, text: str, images: Sequence[Image.Image]) -> Any:
        return self.processor(text=[text], images=list(images), return_tensors="pt")
