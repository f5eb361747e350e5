"""Judges made of models: one function a provider, named as ``--judge`` names them."""

from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.files import read_json
from cfgen.judge.panel import Panel
from cfgen.models.base import Form
from cfgen.models.batcher import Batcher
from cfgen.models.gemini import LEVELS, Gemini
from cfgen.models.limits import Limits
from cfgen.models.local import Local
from cfgen.models.openai import DEFAULT_URL, OpenAI
from cfgen.models.scripted import Scripted


def gemini(
    model: str,
    thinking: str = "",
    base_url: str = "",
    name: str = "",
    timeout_s: float = 180.0,
    batch_size: int = 500,
    poll_s: float = 30.0,
    **options: Any,
) -> Panel:
    """Google's Gemini: --judge-option model=NAME [thinking=low] [batch=true].

    Raises:
        InputError: an unknown thinking level or option.
    """
    if thinking and thinking not in LEVELS:
        raise InputError(
            f"judge 'gemini': option thinking: expected one of {', '.join(LEVELS)}, found '{thinking}'"
        )
    limits = Limits.of(options)
    made = Gemini(model, thinking, base_url, timeout_s)
    asked = Batcher(made, batch_size, poll_s, limits.cache) if limits.batch else made
    return Panel(name or model, f"gemini {model}", [asked], limits)


def openai(
    model: str,
    base_url: str = DEFAULT_URL,
    name: str = "",
    form: Form = "tags",
    max_tokens: int = 4096,
    timeout_s: float = 180.0,
    **options: Any,
) -> Panel:
    """Any server that speaks OpenAI's chat completions: --judge-option model=NAME [base_url=http://host:8000/v1]."""
    made = OpenAI(model, base_url, form, max_tokens, timeout_s)
    return Panel(name or model, f"openai {model}", [made], Limits.of(options))


def local(
    model: str,
    revision: str = "",
    device: str = "auto",
    max_new_tokens: int = 2048,
    name: str = "",
    **options: Any,
) -> Panel:
    """A vision-language model on this machine: --judge-option model=/path/to/Qwen3-VL-8B-Instruct."""
    made = Local(model, revision, device, max_new_tokens)
    return Panel(name or made.id, f"local {made.id}", [made], Limits.of(options))


def scripted(file: str, name: str = "scripted", form: Form = "tags", **options: Any) -> Panel:
    """Replies from a file, for tests and demos: --judge-option file=replies.json, see :class:`Scripted`.

    Raises:
        InputError: the file lacks both, or holds something else.
    """
    content = read_json(Path(file))
    replies, default = content.get("replies", {}), content.get("default")
    if not isinstance(replies, dict) or (not replies and not isinstance(default, str)):
        raise InputError(f"{file}: expected an object 'replies' and/or a text 'default', found neither")
    return Panel(name, f"scripted {file}", [Scripted(replies, default, form)], Limits.of(options))
