"""From words to claims that geometry can decide: directions, distances, sides, motion of the car and of the hazard.

Only plain statements about the present are read. Plans, conditions, limits and denials claim nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.rubrics.grounding import sentences
from cfgen.judge.seen.stated import generic, stated

Topic = Literal["direction", "distance", "side", "own motion", "its motion"]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        says: what is claimed, in a word that :mod:`cfgen.judge.seen.check` knows: "behind", "left", "stopped", ...
        value: m or m/s, where a number is claimed. bound: "about", "less" or "more" than it.
        thing: class of the thing nearest to the words; "" where they name none, or are about the car itself.
    """

    topic: Topic
    says: str
    words: str
    thing: str = ""
    value: float | None = None
    bound: Literal["about", "less", "more"] = "about"


_OWN = r"(?:us|me|our (?:own )?(?:car|vehicle)|my (?:car|vehicle)|the ego(?: (?:vehicle|car))?|ego)"
_BEHIND = re.compile(
    rf"\bbehind {_OWN}\b|\bfrom behind\b"
    r"|\b(?:from|to|in|at) (?:the|our|my) (?:immediate )?rear\b(?! (?:of|lights?|end)\b)"
    r"|\bin (?:the|our|my) (?:rear[- ]?view |side |wing )?mirrors?\b|\btailgat\w+|\b(?:following|chasing) us\b"
    rf"|\bfollowing {_OWN}\b|\bon (?:our|my) tail\b|\brear traffic\b"
    r"|\b(?:traffic|road|lane|cars?|vehicles?|trucks?|lorry|bus|cyclist|motorcycle) behind(?=[,.;!?]|$| is\b| are\b)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"\b(?:beside|alongside|abreast of|level with|right next to|directly next to) {_OWN}\b"
    r"|\bin (?:our|my|the) blind spot",
    re.IGNORECASE,
)
_NUMBER = r"(?P<number>\d+(?:\.\d+)?)"
_UNITS = {"m": 1.0, "meter": 1.0, "metre": 1.0, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048, "yard": 0.9144}
_UNITS |= {"km": 1000.0, "kilometer": 1000.0, "kilometre": 1000.0, "mile": 1609.344}
_UNIT = r"(?:m|met(?:er|re)s?|km|kilomet(?:er|re)s?|miles?|ft|feet|foot|yards?)(?!/)"
_WORDS = {"a": 1.0, "one": 1.0, "half a": 0.5, "a hundred": 100.0, "one hundred": 100.0}
_DISTANCE = re.compile(
    rf"(?P<bound>(?:less than|under|within|no more than|at most|more than|over|at least|beyond)\s+)?"
    rf"(?:{_NUMBER}|\b(?P<word>(?:a|one) hundred|half a|a|one)\b)[\s-]*(?P<unit>{_UNIT})\b"
    r"(?=\s*(?:ahead|away|in front|out|(?:from|of) (?:us|me|here|the (?:car|ego))|down the (?:road|lane)|distant))"
    rf"|\b(?:at|about|around|roughly|approximately|some) {_NUMBER.replace('number', 'number2')}[\s-]*"
    rf"(?P<unit2>{_UNIT})\b(?! (?:long|wide|high|tall|deep|per|of|before|short))"
    r"|(?<!safe )(?<!following )(?<!minimum )\bdistance (?:to|from|of) [^.;,:\d]{1,40}?(?:\bis|:|=)\s*"
    r"(?:about |around |roughly )?"
    rf"{_NUMBER.replace('number', 'number3')}[\s-]*(?P<unit3>{_UNIT})\b",
    re.IGNORECASE,
)
#: What is kept, left or planned is no distance of a thing.
_PLANNED = re.compile(
    r"\b(?:stop|brak|keep|leav|gap|clearance|buffer|margin|within the next|after|before|short of|travel|driv|cover|"
    r"will|would|should|over the next|for the next)\w*(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
_SIDE = re.compile(
    r"(?<!left )(?<!right )\b(?:on|to|at|along|in) (?:the |our |my |its )?"
    r"(?:far |near |very |immediate )?(?P<side>left|right)\b"
    r"(?! of (?:the|a|an)\b(?! (?:road|lane|street)\b))"
    r"|\b(?P<side2>left|right)(?:-hand)? (?:side|shoulder|kerb|curb|verge|edge|pavement|sidewalk)\b",
    re.IGNORECASE,
)
#: Characters between a side that opens a sentence and what stands there.
_NEAR = 40
_BESIDE_ROAD = r"(?:shoulder|kerb|curb|verge|pavement|sidewalk|footpath|ditch|roadside)\b"
#: After a side: that it is one outside the lane, or off the road.
_EDGE = re.compile(
    r"(?:-hand)?(?: of the (?:road|lane|street))?\W*(?:(?:up )?(?:on|in|at|along|beyond|past|over)\W+)?(?:the\W+|a\W+)?"
    rf"(?:(?:far|left|right|hard|grassy?|paved)\W+)*(?:-hand\W+)?{_BESIDE_ROAD}"
    r"|(?: of the (?:road|street))?\W*(?:and )?(?:well |completely |entirely |far )?"
    r"(?:outside|off|beyond|clear of)(?: of)? "
    r"(?:our|my|the)(?: ego)?(?: own)? (?:lane|road|carriageway|path)\b",
    re.IGNORECASE,
)
_EDGE_INSIDE = re.compile(_BESIDE_ROAD, re.IGNORECASE)
_FAR_OFF = re.compile(r"\b(?:well|far|way) (?:off|away|out)\W+$", re.IGNORECASE)
#: A motion's aim is no place.
_AIM = re.compile(
    r"\b(?:cross|head|run|walk|dart|roll|step|rid|trot|hop)\w*(?:\W+\w+){0,4}\W*$", re.IGNORECASE
)
_IN_LANE = re.compile(
    r"\b(?:in|blocking|across|occupying|obstructing) (?:our|my|the ego|the same|the current) (?:own )?lane\b"
    r"|\bdirectly (?:ahead|in front)\b|\bin our path\b",
    re.IGNORECASE,
)
#: What steers is not what stands there.
_STEERS = re.compile(
    r"\b(?:steer|nudg|shift|swerv|veer|mov|pass|turn|merg|chang|pull|edg|swing|drift|go|keep|stay|bear)\w*"
    r"(?:\W+\w+){0,5}\W*$",
    re.IGNORECASE,
)
_SELF = r"(?:we|i|the ego(?: (?:vehicle|car))?|ego|our (?:own )?(?:car|vehicle)|my (?:car|vehicle)|the car)"
_STILL = r"(?:stopped|stationary|standing still|at a standstill|at a stop|parked|not moving|halted|idling)"
_NOW = r"(?:\s+(?:currently|already|now|still|just|presently))*"
_OWN_STOPPED = re.compile(
    rf"\b{_SELF}(?:'re|'m| are| am| is| has been| have been){_NOW}\s+{_STILL}\b"
    rf"|\b(?:our|my|the ego) (?:own )?(?:car|vehicle){_NOW}\s+stands\b(?! (?:by|out|for)\b)"
    rf"|^\W*(?:having been|being){_NOW} {_STILL}[^,]*,\s*{_SELF}\b"
    rf"|\bwhile (?:we are |the car is )?{_STILL}|\bfrom (?:a )?(?:standstill|rest)\b",
    re.IGNORECASE,
)
_OWN_SPEED = re.compile(
    r"\b(?:travel(?:l)?ing|driving|moving|going|cruising|rolling|proceeding|(?:our|my|current|ego) (?:current )?speed"
    r"(?: is| of)?|(?:ego|(?:our|my) (?:own )?(?:car|vehicle)|ego (?:car|vehicle))(?: currently| now)?"
    r" (?:moves|travels|drives)"
    r"|(?:we|i) (?:currently|now|presently) (?:move|travel|drive|go))"
    r"(?:\W+(?:at|about|around|roughly|approximately|only|just|steady|currently|now))*\W+"
    rf"{_NUMBER}\s*(?P<unit>km/?h|kph|kmh|mph|m/s|mps)\b",
    re.IGNORECASE,
)
_OWN_CHANGE = re.compile(
    rf"\b{_SELF}\s+(?:(?:have|has|'ve) been|(?:are|am|is|'re|'m)\s+(?:already|currently|still))\s+(?:\w+ly\s+)?"
    r"(?P<doing>braking|slowing|decelerating|accelerating|speeding up|gathering speed|turning (?:left|right)|reversing|"
    r"backing up|going straight|driving straight)",
    re.IGNORECASE,
)
_REVERSING = re.compile(rf"\b{_SELF}(?:'re|'m| are| am| is)\s+(?:reversing|backing up)\b", re.IGNORECASE)
_ITS = {
    "still": re.compile(
        r"\b(?:stopped|stationary|standing still|parked|motionless|not moving|at a standstill)\b", re.I
    ),
    "oncoming": re.compile(
        r"\boncoming\b(?! lane| side| traffic lane)|\b(?:driving|coming|heading|moving|racing) (?:straight |directly )?"
        r"(?:towards?|at) (?:us|me|the ego)\b|\bthe wrong way\b|\bwrong-way\b|\bcontraflow\b",
        re.I,
    ),
    **{
        f"from the {side}": re.compile(
            r"\b(?:cross|enter|com|run|walk|mov|step|dart|rid)\w*(?: \w+){0,4}"
            rf" from (?:the |our )?{side}\b|\b{way}\b",
            re.I,
        )
        for side, way in (("left", "left to right"), ("right", "right to left"))
    },
    "away": re.compile(
        r"\b(?:pulling|driving|moving|heading) away\b|\bin (?:the|our) same direction\b", re.I
    ),
}
#: Where we stay, and what we leave there.
_STAY = re.compile(
    r"\b(?:stay|remain|keep|fall|drop|slip|recede|vanish|disappear|follow|wait|queue|pull in|slot in)\w*\W*(?:\w+\W+)?$"
    r"|\b(?:leav(?:es?|ing)|left|put(?:s|ting)?|gets?|getting)\b(?:\W+\w+){1,5}\W*$",
    re.IGNORECASE,
)


def read_claims(text: str) -> list[Claim]:
    """Every claim of a text, in order."""
    return [claim for sentence in sentences(text) for claim in _of(sentence)]


def _of(sentence: str) -> Iterator[Claim]:
    named = [(class_of(word).name, at) for word, at in things(sentence.lower())]

    def nearest(at: int) -> str:
        return min(named, key=lambda t: abs(t[1] - at), default=("", 0))[0]

    for match in _BEHIND.finditer(sentence):
        if (
            stated(sentence, match)
            and not generic(sentence, match)
            and not _STAY.search(sentence[: match.start()])
        ):
            yield Claim("direction", "behind", sentence, nearest(match.start()))
            break
    if (beside := _BESIDE.search(sentence)) and stated(sentence, beside) and not generic(sentence, beside):
        yield Claim("direction", "beside", sentence, nearest(beside.start()))
    yield from _distances(sentence, named)
    yield from _sides(sentence, named)
    yield from _own(sentence)
    for says, pattern in _ITS.items():
        for match in pattern.finditer(sentence):
            before = [t for t in named if t[1] < match.start()]
            after = [t for t in named if t[1] >= match.start()]
            subject = (before[-1] if before else after[0] if after else ("", 0))[0]
            # "a stationary truck": the adjective comes first
            if after and after[0][1] - match.end() <= 2:
                subject = after[0][0]
            if subject and stated(sentence, match) and not _about_self(sentence, match):
                yield Claim("its motion", says, sentence, subject)
                break


def _distances(sentence: str, named: list[tuple[str, int]]) -> Iterator[Claim]:
    for match in _DISTANCE.finditer(sentence):
        before = sentence[: match.start()]
        if not named or _PLANNED.search(before) or not stated(sentence, match):
            continue
        number = match["number"] or match["number2"] or match["number3"]
        metres = float(number) if number else _WORDS[match["word"].lower()]
        unit = (match["unit"] or match["unit2"] or match["unit3"]).lower()
        scale = _UNITS.get(unit) or _UNITS[unit.removesuffix("s")]
        bound = (match["bound"] or "").strip().lower()
        kind: Literal["about", "less", "more"] = (
            "less"
            if bound in ("less than", "under", "within", "no more than", "at most")
            else "more"
            if bound
            else "about"
        )
        earlier = [t for t in named if t[1] < (match.end() if match["number3"] else match.start())]
        thing = (earlier[-1] if earlier else named[0])[0]
        yield Claim("distance", "ahead", sentence, thing, metres * scale, kind)


def _sides(sentence: str, named: list[tuple[str, int]]) -> Iterator[Claim]:
    for match in _SIDE.finditer(sentence):
        earlier = [t for t in named if t[1] < match.start()]
        later = [t for t in named if 0 <= t[1] - match.end() <= _NEAR]
        before = sentence[earlier[-1][1] if earlier else 0 : match.start()]
        earlier = earlier or (later[:1] if not before.strip() else [])  # "On the right, a deer stands."
        aim = match.group().lower().startswith("to ") and _AIM.search(before)
        if earlier and not aim and not _STEERS.search(before) and stated(sentence, match):
            side = (match["side"] or match["side2"]).lower()
            off = (
                _EDGE.match(sentence, match.end())
                or _EDGE_INSIDE.search(match.group())
                or _FAR_OFF.search(sentence[: match.start()])
            )
            yield Claim("side", f"{side} edge" if off else side, sentence, earlier[-1][0])
    for match in _IN_LANE.finditer(sentence):
        earlier = [t for t in named if t[1] < match.start()]
        if earlier and stated(sentence, match):
            yield Claim("side", "in lane", sentence, earlier[-1][0])


def _own(sentence: str) -> Iterator[Claim]:
    if (still := _OWN_STOPPED.search(sentence)) and stated(sentence, still):
        yield Claim("own motion", "stopped", sentence)
    for match in _OWN_SPEED.finditer(sentence):
        if stated(sentence, match) and _speaks_of_itself(sentence[: match.start()]):
            scale = {"k": 1 / 3.6, "mph": 0.44704}
            unit = match["unit"].lower()
            per = scale["mph"] if unit == "mph" else scale["k"] if unit.startswith("k") else 1.0
            yield Claim("own motion", "speed", sentence, value=float(match["number"]) * per)
    for match in _OWN_CHANGE.finditer(sentence):
        if stated(sentence, match):
            yield Claim("own motion", _DOING[match["doing"].lower()], sentence)
    if (back := _REVERSING.search(sentence)) and stated(sentence, back):
        yield Claim("own motion", "reversing", sentence)


_DOING = {
    **dict.fromkeys(("braking", "slowing", "decelerating"), "braking"),
    **dict.fromkeys(("accelerating", "speeding up", "gathering speed"), "accelerating"),
    **dict.fromkeys(("reversing", "backing up"), "reversing"),
    **dict.fromkeys(("going straight", "driving straight"), "straight"),
    "turning left": "turning left",
    "turning right": "turning right",
}


def _speaks_of_itself(before: str) -> bool:
    """Whether the last one named before is the car itself, or nobody."""
    named = things(before.lower())
    own = [m.start() for m in re.finditer(rf"\b{_SELF}\b|\bour\b|\bego\b|\bcurrent\b", before, re.IGNORECASE)]
    if re.search(rf"\b{_OWN}(?: is|'s)?{_NOW}\s*$", before, re.IGNORECASE):
        return True
    return not named or bool(own and own[-1] > named[-1][1])


def _about_self(sentence: str, match: re.Match[str]) -> bool:
    if re.match(rf"\W*(?:having been|being)\b[^,]*,\s*{_SELF}\b", sentence, re.IGNORECASE):
        return match.start() < sentence.index(",")
    return bool(
        re.search(rf"\b{_SELF}(?:'re|'m| are| am| is)?{_NOW}\s*$", sentence[: match.start()], re.IGNORECASE)
    )
