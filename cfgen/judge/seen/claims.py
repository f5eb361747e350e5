"""From words to claims that geometry can decide: directions, distances, sides, motion of the car and of the hazard.

Only plain statements about the present are read. Plans, conditions, limits and denials claim nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.rubrics.grounding import sentences
from cfgen.judge.seen.directions import OWN, directions
from cfgen.judge.seen.stated import stated

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


_NUMBER = r"(?P<number>\d+(?:\.\d+)?)"
_UNITS = {"m": 1.0, "meter": 1.0, "metre": 1.0, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048, "yard": 0.9144}
_UNITS |= {"km": 1000.0, "kilometer": 1000.0, "kilometre": 1000.0, "mile": 1609.344}
_UNIT = r"(?:m|met(?:er|re)s?|km|kilomet(?:er|re)s?|miles?|ft|feet|foot|yards?)(?!/)"
_TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: 10.0 * (i + 1) for i, word in enumerate(_TENS)} | {"fifteen": 15.0, "hundred": 100.0}
_WORDS |= {"a": 1.0, "one": 1.0, "half a": 0.5, "a hundred": 100.0, "one hundred": 100.0}
_DISTANCE = re.compile(
    rf"(?P<bound>(?:less than|under|within|no more than|at most|more than|over|at least|beyond)\s+)?"
    rf"(?:{_NUMBER}|\b(?P<word>(?:a |one )?hundred|half a|a|one|fifteen|{'|'.join(_TENS)})\b)[\s-]*(?P<unit>{_UNIT})\b"
    r"(?=\s*(?:ahead|away|off\b|in front|out|(?:from|of) (?:us|me|here|the (?:car|ego))|down the (?:road|lane)"
    r"|distant))"
    rf"|\b(?:at|about|around|roughly|approximately|some|a distance of) {_NUMBER.replace('number', 'number2')}[\s-]*"
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
#: Between a distance and the thing that is that far away.
_THEN = re.compile(
    r"[\s,]*(?:ahead|away|off|in front|out)?(?: of (?:us|me|the car|the ego))?[\s,]*(?:(?:there )?(?:is|are"
    r"|stands?|lies?|sits?)|"
    r"(?:i|we) (?:can )?see)?\s*(?:(?:an?|the|some)\b)?\s*(?:\b(?!(?:and|of)\b)[\w-]+ ){0,2}",
    re.IGNORECASE,
)
#: Other places, whose distance it may be; a thing that only says where those are; and one that is named after.
_PLACES = re.compile(
    r"[;:]|\b(?:and|junction|crossing|crossroads|bend|curve|corner|intersection|lights?|line|bridge|crest|exit"
    r"|roundabout|"
    r"signs?|clear|free|visible for)\b",
    re.IGNORECASE,
)
_BEYOND = re.compile(r"\b(?:beyond|behind|past|after|before)(?: (?:the|a|an|this|that))?\s*$", re.IGNORECASE)
_IS_THERE = re.compile(
    r"[\s,]*(?:ahead|away|in front|out)?(?: of us)?[\s,]*(?:there )?(?:is|are|stands|lies) (?:an?|the)\b",
    re.IGNORECASE,
)
_SIDE = re.compile(
    r"(?<!left )(?<!right )\b(?:on|to|at|along|in) (?:the |our |my |its )?"
    r"(?:far |near |very |immediate )?(?P<side>left|right)\b"
    r"(?! of (?:the|a|an)\b(?! (?:road|lane|street)\b))"
    r"|\b(?P<side2>left|right)(?:-hand)? (?:side|shoulder|kerb|curb|verge|edge|pavement|sidewalk)\b",
    re.IGNORECASE,
)
_TOWARDS = re.compile(r"\btowards?(?: the| our| my| its)?\s*$", re.IGNORECASE)
#: From a side that opens a sentence to what stands there.
_FRONTED = re.compile(
    r"(?: of (?:the|our|my) \w+)?(?!.*\b(?:road|lane|path|way|free|clear|is free)\b)[^,;]*,?[^,;]*",
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
    r"\b(?:cross|head|run|walk|dart|roll|step|rid|trot|hop|look|fac|point|gaz|star|turn)\w*(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
_IN_LANE = re.compile(
    r"\b(?:in|(?:in )?the middle of|block(?:s|ing)|across|occup(?:ies|ying)|obstruct(?:s|ing)) (?:our|my|the ego"
    r"|the same|the current) (?:own )?lane\b"
    r"|\bdirectly (?:ahead|in front)\b|\bin our path\b",
    re.IGNORECASE,
)
#: After a thing was named, words about the car itself.
_OWN_DOES = re.compile(
    r"\b(?:we|i|it|the ego|(?:our|my|the) car)\b|\b(?:keep|stay|remain|hold|continu)(?:s|ing|ed)?\b",
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
    rf"\b{_SELF}(?:'re|'m| are| am| is| has been| have been){_NOW}\s+(?:(?:wait|sitt|stand)ing )?{_STILL}\b"
    rf"|\b(?:our|my|the ego) (?:own )?(?:car|vehicle){_NOW}\s+stands\b(?! (?:by|out|for)\b)"
    rf"|^\W*(?:having been|being){_NOW} {_STILL}[^,]*,\s*{_SELF}\b"
    rf"|^\W*(?:currently |now )?{_STILL}(?: for [^,]*)?,\s*{_SELF}\b|\bego:\W*{_STILL}\b"
    rf"|\bwhile (?:we are |the car is ){_STILL}|\bwhile {_STILL},\s*{_SELF}\b|\bfrom (?:a )?(?:standstill"
    rf"|rest),? {_SELF}\b",
    re.IGNORECASE,
)
_OWN_SPEED = re.compile(
    r"\b(?:travel(?:l)?ing|driving|moving|going|doing|cruising|rolling|proceeding|(?:our|my|current"
    r"|ego) (?:current )?speed"
    r"(?: is| of)?|(?:ego|(?:our|my) (?:own )?(?:car|vehicle)|ego (?:car|vehicle))(?: currently| now)?"
    r" (?:moves|travels|drives)"
    r"|(?:we|i) (?:currently|now|presently) (?:move|travel|drive|go)|ego(?=:))"
    r"(?:\W+(?:at|about|around|roughly|approximately|only|just|steady|currently|now))*\W+"
    rf"{_NUMBER}\s*(?P<unit>km/?h|kph|kmh|mph|m/s|mps)\b",
    re.IGNORECASE,
)
_OWN_CHANGE = re.compile(
    rf"\b{_SELF}(?:(?:\s+(?:have|has)|'ve) been|(?:\s+(?:are|am|is)|'re|'m)\s+(?:already|currently"
    rf"|still))\s+(?:\w+ly\s+)?"
    r"(?P<doing>braking|slowing|decelerating|accelerating|speeding up|gathering speed|turning (?:left|right)|reversing|"
    r"backing up|going straight|driving straight)",
    re.IGNORECASE,
)
_REVERSING = re.compile(rf"\b{_SELF}(?:'re|'m| are| am| is)\s+(?:reversing|backing up)\b", re.IGNORECASE)
_ITS = {
    "still": re.compile(
        r"\b(?:stopped|stationary|standing still|stands still|parked|motionless|not moving|at a standstill)\b",
        re.I,
    ),
    "oncoming": re.compile(
        r"\boncoming\b(?! lane| side| traffic lane)|\b(?:driving|coming|charging|heading|moving"
        r"|racing) (?:straight |directly )?"
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


def read_claims(text: str) -> list[Claim]:
    """Every claim of a text, in order."""
    return [claim for sentence in sentences(text) for claim in _of(sentence)]


def _of(sentence: str) -> Iterator[Claim]:
    named = [(class_of(word).name, at) for word, at in things(sentence.lower())]

    def nearest(at: int) -> str:
        return min(named, key=lambda t: abs(t[1] - at), default=("", 0))[0]

    for says, at in directions(sentence):
        yield Claim("direction", says, sentence, nearest(at))
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
        thing = _at_distance(sentence, match, named)
        if thing:
            yield Claim("distance", "ahead", sentence, thing, metres * scale, kind)


def _at_distance(sentence: str, match: re.Match[str], named: list[tuple[str, int]]) -> str:
    """What is that far away: named before, with no other place between, or right after; "" for nothing that tells."""
    after = sentence[match.end() :]
    if match["number3"]:
        return next((name for name, at in reversed(named) if at < match.end()), "")
    later = [(name, at - match.end()) for name, at in named if at >= match.end()]
    if later and _THEN.fullmatch(after[: later[0][1]]):
        return later[0][0]
    for name, at in reversed(named):
        between = sentence[at : match.start()]
        if at < match.start():
            other = _PLACES.search(between) or _BEYOND.search(sentence[:at]) or _IS_THERE.match(after)
            return "" if other else name
    return ""


def _sides(sentence: str, named: list[tuple[str, int]]) -> Iterator[Claim]:
    for match in _SIDE.finditer(sentence):
        earlier = [t for t in named if t[1] < match.start()]
        later = [
            t
            for t in named
            if 0 <= t[1] - match.end() <= _NEAR and _FRONTED.fullmatch(sentence[match.end() : t[1]])
        ]
        before = sentence[earlier[-1][1] if earlier else 0 : match.start()]
        earlier = earlier or (later[:1] if not before.strip() else [])  # "On the right, a deer stands."
        to = match.group().lower().startswith("to ") or _TOWARDS.search(before)
        aim = to and (_AIM.search(before) or _TOWARDS.search(before))
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
        between = sentence[earlier[-1][1] : match.start()] if earlier else ""
        crosses = match.group().lower().startswith("across") and _AIM.search(between)
        if earlier and not crosses and not _OWN_DOES.search(between) and stated(sentence, match):
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
    if re.search(rf"\b{OWN}(?: is|'s)?{_NOW}\s*$", before, re.IGNORECASE):
        return True
    return not named or bool(own and own[-1] > named[-1][1])


def _about_self(sentence: str, match: re.Match[str]) -> bool:
    if re.match(rf"\W*(?:having been|being)\b[^,]*,\s*{_SELF}\b", sentence, re.IGNORECASE):
        return match.start() < sentence.index(",")
    return bool(
        re.search(rf"\b{_SELF}(?:'re|'m| are| am| is)?{_NOW}\s*$", sentence[: match.start()], re.IGNORECASE)
    )
