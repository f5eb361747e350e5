"""Which words a sentence states as plain facts of the present: no denial, condition, other tense or purpose."""

import re

#: What parts a sentence into statements of their own.
_PARTS = re.compile(
    r"[,;:]|\b(?:because|but|since|although|though|whereas|so(?! that\b)|therefore)\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"\b(?:no|not|without|nothing|nobody|none|never|neither|nor|cannot|free of|clear of|instead of|rather than)\b"
    r"|\b\w+n['’]t\b",
    re.IGNORECASE,
)
#: Not now, or not so: futures, pasts, conditions, and what only may be.
_ELSEWHEN = re.compile(
    r"\b(?:will|shall|going to|about to|soon|shortly|should|could|might|may|would|was|were|had|used to|if|in case|"
    r"unless|until|once|whether|suppos(?:e|ing)|assuming|provided|by the time|as soon as|as if|as though|so that"
    r"|in order|"
    r"often|usually|sometimes|typically|tends? to|perhaps|maybe|probably|possibly|likely|watch(?:ing)? (?:out )?for|"
    r"look(?:ing)? out for|beware of|prepared? for|ready for|expect(?:ing|s|ed)?|"
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


def stated(sentence: str, match: re.Match[str]) -> bool:
    """Whether the words of ``match`` are stated of now, and not denied, supposed, expected or remembered."""
    opened = re.split(r"[;:]", sentence[: match.start()])[-1]
    clause, after = parts(sentence, match)
    if any(_OPENS.match(part) for part in opened.split(",")):
        return False
    return not (_DENIED.search(clause) or _ELSEWHEN.search(clause) or _ENDS.search(after))


def parts(sentence: str, match: re.Match[str]) -> tuple[str, str]:
    """The part of the sentence that ``match`` is in, before and after it."""
    before = _PARTS.split(sentence[: match.start()])[-1]
    return before, _PARTS.split(sentence[match.end() :])[0]
