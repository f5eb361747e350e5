"""Who is said to be behind or beside the car now: a road user that a sentence states, and no place, look or worry."""

import re
from collections.abc import Iterator

from cfgen.judge.seen.stated import parts, stated

OWN = r"(?:us|me|our (?:own )?(?:car|vehicle)|my (?:car|vehicle)|the ego(?: (?:vehicle|car))?|ego)"
_MOVER = (
    r"(?:cars?|vehicles?|trucks?|lorry|lorries|vans?|bus|buses|coach|coaches|suvs?|taxis?|trams?|tractors?|ambulances?|"
    r"(?:fire|police) (?:engines?|trucks?|cars?)|pick-?ups?|motor(?:cycl(?:es?|ists?)|bikes?)|scooters?|mopeds?|bikes?|"
    r"(?:bi)?cycl(?:es?|ists?)|riders?|traffic|drivers?|motorists?|road users?|trailers?|pedestrians?|people"
    r"|persons?|man|"
    r"woman|child(?:ren)?|dogs?|deer|cows?|horses?|animals?)"
)
_NEARS = (
    r"(?:approach|clos|com|catch|overtak|follow|rac|driv|speed|mov|rush|pull|advanc)(?:es?|s|ing|ing up)?"
)
_BEHIND = re.compile(
    rf"\bbehind {OWN}\b"
    rf"|\b{_NEARS}(?: (?!(?:out|off|away|can|could|may|might|will|would)\b)[\w-]+){{0,3}} from (?:behind|(?:the"
    rf"|our|my) rear)\b"
    r"|\b(?:to|at|in) (?:our|my) (?:immediate )?rear\b"
    r"|\bin (?:the|our|my) (?:rear[- ]?view |rear |side |wing )?mirrors?\b"
    rf"|\btailgat(?:es|ing) {OWN}\b|\b(?:being|getting|are|am|is) tailgated\b|\btailgating(?=[,.;!]|$)"
    rf"|\b(?:following|chasing) {OWN}\b|\bon (?:our|my) tail\b"
    rf"|\b{_MOVER} (?:(?:right|close|directly|just) )?behind(?=[,.;!?]|$| is\b| are\b)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"\b(?:beside|alongside|abreast of|level with|right next to|directly next to) {OWN}\b"
    r"|\bin (?:our|my|the) blind spot",
    re.IGNORECASE,
)
_IS = r"(?:is|are|'s|sits?|drives?|rides?|follows?|travels?|stays?|hangs?|appears?|comes?)"
#: One that is there: counted or pointed at, or with a verb of its own.
_NAMED = re.compile(
    rf"\b(?:an?|the|this|that|these|those|one|two|three|four|several|many|some|another|our|my|\d+)(?: [\w-]+){{0,3}}? "
    rf"{_MOVER}\b|\b{_MOVER}(?: (?!that\b|who\b)\w+)? {_IS}\b|^\W*{_MOVER} (?:behind|beside|alongside)\b"
    r"|\b(?:are|am|is) (?:being |getting )?tailgated\b",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"\W*(?:there )?(?:is |are |'s )?(?:no|not|nothing|nobody|none|clear|free|empty)\b", re.IGNORECASE
)
_MODAL = re.compile(
    r"\b(?:might|may|could|would|will|should|can(?! (?:\w+ )?see\b))\b|['’]ll\b|\bneeds?\b", re.IGNORECASE
)
_IF_ANY = re.compile(r"\bif (?:there (?:is|are)|any|one)\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\b(?:the|this|that)(?: [\w-]+){1,3} $", re.IGNORECASE)
#: A look, a worry, a guess: nobody is said to be there.
_PURPOSE = re.compile(
    r"\b(?:any\w*|who\w*|whatever|someone|somebody|other|possibl[ey]|potential|perhaps|probably|likely|hop(?:e"
    r"|ing)|assum\w*|"
    r"imagin\w*|expect\w*|suspect\w*|guess\w*|consider\w*|check\w*|monitor\w*|watch\w*|mind\w*|risks?|forget"
    r"|remember|sake|benefit|"
    r"with (?:a|an|the)|to (?:warn|alert|avoid|allow|give|let|signal|keep|spare)|(?:warn|alert|signal)(?:s|ing))\b"
    r"(?:\W+\w+){0,7}\W*$",
    re.IGNORECASE,
)
#: Where we stay, and what we leave there.
_STAY = re.compile(
    r"\b(?:stay|remain|keep|fall|drop|slip|recede|vanish|disappear|follow(?!s\b)|wait|queue|pull in|slot in)\w*\W*"
    r"(?:\w+\W+)?$"
    r"|\b(?:leav(?:es?|ing)|left|put(?:s|ting)?|gets?|getting|keeps?)\b(?:\W+\w+){1,5}\W*$",
    re.IGNORECASE,
)


def directions(sentence: str) -> Iterator[tuple[str, int]]:
    """("behind" or "beside", where in the sentence), each once at most."""
    for says, pattern in (("behind", _BEHIND), ("beside", _BESIDE)):
        for match in pattern.finditer(sentence):
            if stated(sentence, match) and _there(sentence, match):
                yield says, match.start()
                break


def _there(sentence: str, match: re.Match[str]) -> bool:
    """Whether somebody on the road is said to be there."""
    before, after = parts(sentence, match)
    if not before.strip() and not after.strip(" ,"):  # "Behind us, a bus is near."
        after = sentence[match.end() :].lstrip(" ,")
    if (
        _IF_ANY.search(sentence)
        or _ABSENT.match(sentence, match.end())
        or _PURPOSE.search(before)
        or _STAY.search(before)
    ):
        return False
    if _MODAL.search(after) and not _DEFINITE.search(before):
        return False
    if re.match(_MOVER, match.group(), re.IGNORECASE) and re.search(rf"\b{_MOVER}\b", before, re.IGNORECASE):
        return False  # behind another one
    opens = not before.strip() or before.strip().lower() in (
        "in",
        "and",
        "right",
        "directly",
        "close",
        "just",
    )
    named = _NAMED.search(f"{before}{match.group()}") or (
        _NAMED.search(after) if opens or "mirror" in match.group().lower() else None
    )
    return named is not None
