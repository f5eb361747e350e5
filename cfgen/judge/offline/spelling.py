"""Typing errors: the thing that a word is one slip of the fingers away from."""

import re
from functools import cache

from cfgen.hazards.vocabulary import CLASSES

#: Real words within a letter of a thing's.
_REAL = (
    *(
        "offices",
        "office",
        "prison",
        "barren",
        "trailed",
        "talker",
        "brunch",
        "stable",
        "sheets",
        "walked",
        "worked",
    ),
    *("driven", "drives", "matter", "planes", "talked", "branched", "chairs", "chairman", "placed", "trunks"),
)


@cache
def _long_words() -> tuple[str, ...]:
    """Words long enough to be known again with a letter wrong."""
    return tuple(w for c in CLASSES for w in c.words if len(w) >= 6 and " " not in w)


def spelt(sentence: str) -> str:
    """A sentence with the things in it spelt right."""
    return re.sub(r"[a-z]{6,}", lambda m: _nearest(m.group()), sentence)


@cache
def _nearest(word: str) -> str:
    """The thing's name that a word is one slip of the fingers away from, or the word."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    names = _long_words()
    if word in _REAL or any(word.removesuffix(end) in names for end in ("", "s", "es")):
        return word
    found = process.extractOne(word, names, scorer=OSA.distance, score_cutoff=1)
    if found is None or found[0][0] != word[0]:
        return word
    return str(found[0])
