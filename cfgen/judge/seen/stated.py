"""Which words a sentence states as plain facts of the present: no denial, condition, other tense or purpose."""

import re

#: What parts a sentence into statements of their own.
_PARTS = re.compile(r"[,;:]|\b(?:because|but|since|although|though|whereas|so|therefore)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:no|not|without|nothing|nobody|none|never|neither|nor|cannot|free of|clear of|instead of|rather than)\b"
    r"|\b\w+n['’]t\b",
    re.IGNORECASE,
)
#: Not now, or not so: futures, pasts, conditions, and what only may be.
_ELSEWHEN = re.compile(
    r"\b(?:will|shall|going to|about to|soon|shortly|should|could|might|may|would|was|were|had|used to|if|in case|"
    r"unless|until|once|whether|suppos(?:e|ing)|assuming|provided|by the time|as soon as|as if|as though|"
    r"limit|limited)\b"
    r"|['’]ll\b",
    re.IGNORECASE,
)
#: What a sentence may open with, or end on, that makes all of it a condition or another time.
_OPENS = re.compile(
    r"\W*(?:if|in case|unless|until|once|suppos(?:e|ing)|assuming|provided|by the time|by then|as soon as|as if|soon|"
    r"shortly|when (?:we|i)|after (?:we|i|passing|that)|then|in (?:a|\d+|two|three) (?:moments?|seconds?|s))\b",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\b(?:if|in case|unless|once|by the time|by then|as soon as|assuming|provided|soon|shortly|in a moment)\b",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"\W*(?:there )?(?:is |are |'s )?(?:no|not|nothing|nobody|none|clear|free|empty)\b", re.IGNORECASE
)
_MODAL = re.compile(r"\b(?:might|may|could|would|will|should|can)\b|['’]ll\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\b(?:the|this|that)(?: [\w-]+){1,3} $", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\b(?:any|other|possible|potential|check\w*|monitor\w*|watch\w*|risk\w*|"
    r"to (?:warn|alert|avoid|allow|give|let|signal)|(?:warn|alert|signal)(?:s|ing))\b(?:\W+\w+){0,7}\W*$",
    re.IGNORECASE,
)


def stated(sentence: str, match: re.Match[str]) -> bool:
    """Whether the words of ``match`` are stated of now, and not denied, supposed, expected or remembered."""
    opened = re.split(r"[;:]", sentence[: match.start()])[-1]
    clause, after = _around(sentence, match)
    if any(_OPENS.match(part) for part in opened.split(",")):
        return False
    return not (_DENIED.search(clause) or _ELSEWHEN.search(clause) or _ENDS.search(after))


def generic(sentence: str, match: re.Match[str]) -> bool:
    """Whether a direction tells of nothing that is there: absence, traffic that may be, a look or a warning."""
    clause, after = _around(sentence, match)
    if _ABSENT.match(sentence, match.end()) or _PURPOSE.search(clause):
        return True
    return bool(_MODAL.search(after)) and not _DEFINITE.search(clause)


def _around(sentence: str, match: re.Match[str]) -> tuple[str, str]:
    """The part of the sentence that ``match`` is in, before and after it."""
    before = _PARTS.split(sentence[: match.start()])[-1]
    return before, _PARTS.split(sentence[match.end() :])[0]
