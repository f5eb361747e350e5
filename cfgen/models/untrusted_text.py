"""Other people's text inside a prompt: data that cannot pose as instructions, tags or another speaker."""

import re
import unicodedata
from collections.abc import Mapping

#: Characters of an answer that a judge gets to see, and that one that measures reads: some 60 times what the
#: papers' format needs.
MAX_CHARS = 200_000
#: What stays from the end of a longer text.
_TAIL = 1500

_BRACKETS = str.maketrans({"<": "\u2039", ">": "\u203a", "\uff1c": "\u2039", "\uff1e": "\u203a"})
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")
#: Everything but plain characters: what has to be looked up.
_UNSURE = re.compile(r"[^ -~\n\t]")


def quote(text: str, limit: int = MAX_CHARS) -> str:
    """Every line behind a bar; angle brackets replaced, control and invisible characters dropped.

    Beyond ``limit`` characters the middle is cut out, and the text says so. The result holds no ``<`` and no line that
    does not start with a bar, whatever the input.
    """
    length = len(text)
    if length > limit:
        left_out = f"\n[... {length - limit} characters left out ...]\n"
        text = text[: limit - _TAIL] + left_out + text[-_TAIL:]
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]", "\n", text)
    visible_text = _UNSURE.sub(lambda c: "" if unicodedata.category(c[0]) in _HIDDEN else c[0], text)
    return "\n".join(f"| {line}".rstrip() for line in visible_text.translate(_BRACKETS).split("\n"))


def cut_notes(texts: Mapping[str, str]) -> tuple[str, ...]:
    """What :func:`quote` cuts, in words, of texts by their names: a verdict on part of an answer says so."""
    return tuple(
        f"{name}: {len(text)} characters, {MAX_CHARS} of them were shown to the judge"
        for name, text in texts.items()
        if len(text) > MAX_CHARS
    )
