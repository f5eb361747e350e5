"""Which words of an answer are said of the scene, and which are denied or only thought of: sentence by sentence.

Negation scope is NegEx's (Chapman et al. 2001), by negspacy on spaCy's tokens and sentences, without a trained model;
the phrases are for drivers instead of doctors. What is only considered ("could", "if", "would") counts as not said.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

#: before what they deny, or leave open
_BEFORE = """
no; not; n't; never; nor; neither; without; none of; nobody; no one; nothing; zero; cannot; absence of; lack of;
free of; clear of; empty of; no sign of; instead of; rather than; looked for; looking for; looking out for;
checked for; check for; watch for; watching for; in case; if; unless; whether; could; might; may; would; would
have; imagine; suppose; hardly any; needless to; unnecessary to; any; such as; for example; for instance; e.g.;
potential; ready for; prepared for; in the event of; anticipating; beware of; warns of; warning of; as if; as though
"""
#: after what they deny
_AFTER = """
none; is absent; are absent; not present; not there; not needed; is n't needed; are n't needed; not required; is
n't required; unnecessary; not in sight; nowhere; is out of the question; are out of the question; is not an
option; could step out; could pull out; could come; could run; could jump; could hide; could appear; might hide;
might appear; may hide; may appear; might be hiding; could be hiding; may cross; might cross; could cross; may step;
might step; may run; might run; is gone; are gone; has gone; have gone; has cleared; have cleared; has moved off;
has moved on; have moved on; had been; used to be
"""
#: hold a word of denial and deny nothing
_HARMLESS = """
not only; not just; not merely; no doubt; no longer; no choice but; no option but; nothing but; nothing else
than; nothing short of; nothing less than;
 no way round; no way around; no way past; no room; no space; no time; no matter; without delay; without
hesitation; without braking first; without its cover; without a cover; without warning; without lights; without
looking; not sure; not certain; not far; not moving; no question; not enough; no harm in; why not; not until;
not before; may be full; if needed; if necessary; if need be; if possible; nothing comes; not take any chances;
not risk; no gap
"""
#: where what was denied ends
_END = """
but; however; for the; for that; for this; yet; still; although; though; except; apart from; so; therefore;
thus; hence; then; because; since; as there; i; we; it; that; there; he; she; they; just; only; instead; because
of; due to; nevertheless; nonetheless; while; whereas; and the; and a; and an; is; are; 's; which; who
"""


#: Words of absence: what their clause names is not there, before them or after.
_ABSENT = re.compile(
    r"\b(?:absent|absence|nowhere|devoid|void of|bereft|bare of|empty of|free of|lack(?:s|ed|ing)?|"
    r"missing(?! (?:a|its|his|her|the|cover|lid|wheel)\b)|"
    r"rul(?:e|es|ed|ing)(?: \w+)? out|exclud\w+|dismiss\w*|(?:sign|trace|hint|glimpse)s? of|"
    r"fail(?:s|ed)? to (?:show|see|spot|find|reveal|detect|notice)|"
    r"(?:not|n't|never) (?:see|spot|notice|find|detect|show|exist|there|here|present|around|on|in)|"
    r"vanish\w*|disappear\w*|departed|(?:has|have|had|is|are|was|were|being|long|already) gone|"
    r"(?:has|have|had)(?: \w+)? left(?= (?:the|this|our|my) "
    r"(?:road|scene|lane|street|carriageway|area|picture|frame|way)|"
    r"(?: \w+)?\W*$)|"
    r"out of (?:the )?(?:picture|sight|view|frame)|none|negative|imaginary|hypothetical\w*|"
    r"(?:that|which|who|where) (?:\w+ )?(?:usually|normally|sometimes|often)|"
    r"would (?:have )?(?:be|been|stand|stood|show|strike|catch))\b"
)
_LIKE_ABSENT = re.compile(
    r"\b(?:cover|lid|wheel|bumper|driver|rider|lights?) (?:is |are |has |have )?(?:missing|gone|absent)\b|"
    r"\bout of (?:sight|view) (?:until|till|before)\b|\bno longer (?:absent|missing)\b"
)
#: Where such a clause ends; in a list ("cars, people and dogs are absent") it goes on.
_CLAUSE = re.compile(
    r"[;:()–—]| (?:but|yet|however|although|though|so|whereas|while|except|"
    r"until|till|once|when|before(?! ha[sd]| have| is| was)|if|unless) |"
    r"(?:,| and)(?= (?:i|we|the|a|an|it|there|he|she|they|my|our|now|still|some)\b)"
)
#: Tokens of a sentence that are looked at together.
_PIECE = 160


def _phrases(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(";") if part.strip()]


@dataclass(frozen=True)
class Mark:
    """Something found in a text: where, what kind of thing, and in which words."""

    start: int
    end: int
    kind: str
    word: str


@dataclass(frozen=True)
class Said:
    """A mark, whether it is said of the scene (``affirmed``), and the number of its sentence."""

    mark: Mark
    affirmed: bool
    sentence: int


@cache
def _pipeline() -> Any:
    import spacy
    from negspacy.negation import Negex  # noqa: F401 - registers the component

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": [".", "!", "?", ";", "\n", "\n\n"]})
    ends = [*_phrases(_END), ";", *':–—()[]{}"→', "=>", "->"]
    terms = {
        "pseudo_negations": _phrases(_HARMLESS),
        "preceding_negations": _phrases(_BEFORE),
        "following_negations": _phrases(_AFTER),
        "termination": [e for e in dict.fromkeys(ends) if e],
    }
    nlp.add_pipe("negex", config={"neg_termset": terms, "span_keys": ["said"]})
    return nlp


def said_of(text: str, marks: Iterable[Mark]) -> tuple[list[Said], list[str]]:
    """Each mark in lower-case ``text`` with its standing, and the sentences. A question affirms nothing.

    Scope ends with the sentence, so each sentence is looked at by itself, and an endless one in pieces: NegEx takes
    time by the square of what it is given.
    """
    nlp = _pipeline()
    doc = nlp.get_pipe("sentencizer")(nlp.make_doc(text))
    sentences = list(doc.sents)
    begins = [sentence.start for sentence in sentences]
    words = [sentence.text.strip() for sentence in sentences]
    at = [token.idx for token in doc]
    pieces: dict[tuple[int, int], list[tuple[int, int, Mark]]] = {}
    for mark in marks:
        start, end = bisect_right(at, mark.start) - 1, bisect_left(at, mark.end)
        n = bisect_right(begins, start) - 1
        pieces.setdefault((n, (start - begins[n]) // _PIECE), []).append((start, end, mark))
    denied = _Denied()
    found = []
    for (n, piece), here in pieces.items():
        first = begins[n] + piece * _PIECE
        part = doc[first : min(first + _PIECE, sentences[n].end)]
        asked = words[n].rstrip(" .;").endswith("?")
        gone = [] if asked else _absences(text, doc[begins[n]].idx, sentences[n].end_char)
        places = tuple((start - first, min(end - first, len(part))) for start, end, _ in here)
        standing = denied.of(part, places)
        for (_, _, mark), no in zip(here, standing, strict=True):
            absent = mark.kind in ("thing", "vague") and any(a <= mark.start < b for a, b in gone)
            found.append(Said(mark, not (no or asked or absent), n))
    return found, words


@lru_cache(maxsize=4)
def _absences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """From and to of every clause of ``text[start:end]`` that says of what it names that it is not there."""
    cuts = [start, *(m.end() for m in _CLAUSE.finditer(text, start, end)), end]
    parts = [(a, b, _LIKE_ABSENT.sub(" ", text[a:b])) for a, b in pairwise(cuts)]
    return [(a, b) for a, b, words in parts if _ABSENT.search(words.strip(" ,.;"))]


class _Denied:
    """Which spans a negation covers, once for words that come again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[tuple[int, int], ...]], list[bool]] = {}

    def of(self, part: Any, places: tuple[tuple[int, int], ...]) -> list[bool]:
        key = part.text, places
        if key not in self._known:
            doc = part.as_doc()
            doc.spans["said"] = [doc[start:end] for start, end in places]
            doc = _pipeline().get_pipe("negex")(doc)
            self._known[key] = [bool(span._.negex) for span in doc.spans["said"]]
        return self._known[key]
