"""What of a planner's options is on record in words: which model it asked, where and how; keys and passwords never."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.core.hashing import hash_bytes
from cfgen.core.network import without_secrets
from cfgen.core.sanitize import visible
from cfgen.records import PlannerRun

#: of what is in a fingerprint, an option
_OPTION = "option "
#: of planners of others, whose other options may be anything
_KNOWN = ("model", "checkpoint", "weights", "revision", "base_url", "provider")
_SECRET = re.compile(r"key|token(?!s)|secret|passw|credential|auth|header|cookie", re.I)
_LONGEST = 200


def recordable_options(options: Mapping[str, Any], ours: bool) -> dict[str, str]:
    """Parts of a fingerprint. ``ours``: the options are those of a planner of cfgen's, so all but secrets are told."""
    return {
        f"{_OPTION}{name}": _word(value)
        for name, value in options.items()
        if not _SECRET.search(name) and (ours or name in _KNOWN)
    }


def told(run: PlannerRun) -> dict[str, str]:
    """The options that its fingerprint tells in words."""
    return {
        name.removeprefix(_OPTION): words
        for name, words in run.fingerprint.items()
        if name.startswith(_OPTION)
    }


def model_of(run: PlannerRun) -> str:
    """Which model it asked; "" where none is on record."""
    return told(run).get("model", "")


def _word(value: Any) -> str:
    if isinstance(value, Mapping) and {"file", "text"} <= value.keys():
        return f"{value['file']} {hash_bytes(str(value['text']).encode())}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_word(v)}" for k, v in value.items() if not _SECRET.search(str(k)))[:_LONGEST]
    return visible(without_secrets(str(value)).replace(str(Path.home()), "~"))[:_LONGEST]
