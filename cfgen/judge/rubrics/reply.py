"""Named fields from a model's reply: tags after its thinking, or one JSON object."""

import json
import re
from collections.abc import Sequence

from cfgen.core.sanitize import plain_text


def read_fields(raw: str, names: Sequence[str]) -> dict[str, str] | str:
    """Every field as text, or in one line why the reply cannot be used."""
    text = raw.strip()
    fenced = re.fullmatch(r"```(?:json)?\s*(\{.*\})\s*```", text, re.S)
    text = fenced.group(1) if fenced else text
    return _from_json(text, names) if text.startswith("{") else _from_tags(text, names)


def _from_json(text: str, names: Sequence[str]) -> dict[str, str] | str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"the reply is broken JSON ({str(error)[:80]}); it was probably cut off"
    fields = {}
    for name in names:
        value = found.get(name)
        if not isinstance(value, str | int) or isinstance(value, bool):
            return f"the reply's field '{name}': expected text, found {type(value).__name__}"
        fields[name] = plain_text(str(value))[0]  # JSON can spell what UTF-8 cannot hold
    return fields


def _from_tags(text: str, names: Sequence[str]) -> dict[str, str] | str:
    """Only what follows the last ``</thinking>`` counts: thinking may quote. A tag given twice is no answer."""
    head, closed, tail = text.rpartition("</thinking>")
    if not closed and "<thinking>" in text:
        return "the reply ends inside <thinking>; it was cut off"
    answer = tail if closed else head + tail
    fields = {}
    for name in names:
        parts = answer.split(f"<{name}>")
        if len(parts) != 2 or parts[1].count(f"</{name}>") != 1:
            return f"expected <{name}>...</{name}> once in the reply, found {len(parts) - 1}"
        fields[name] = parts[1].split(f"</{name}>")[0]
    return fields
