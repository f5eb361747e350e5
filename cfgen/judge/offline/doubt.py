"""Grounds for not giving a 2: what an answer's reaction hangs on, and where the answer itself is not sure.

A doubt never earns a score; it caps one. The words are those of any driver's English, of no single answer.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from cfgen.hazards.vocabulary import things, vague_words
from cfgen.judge.offline.negation import Said

#: The speaker is not sure what it is.
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|(?<!as )(?<!if )possible|potential(?:ly)?|suspect\w*|suspicion|"
    r"conceivabl[ey]|"
    r"alleged(?:ly)?|seemingly|likely (?:a|an|some)|probably|presumably|apparently|supposedly|"
    r"(?:might|may|could) (?:well )?be|"
    r"(?:looks?|seems?|appears?|sounds?) (?:like|to be|as if)|resembl\w+|similar to|reminds? me|"
    r"i (?:think|guess|suppose|believe|assume)|i take (?:it|this|that) (?:for|to be)|"
    r"not (?:sure|certain)|unsure|uncertain|unclear|hard to (?:tell|say)|can(?:not|'t| not) (?:tell|say|"
    r"make out)|"
    r"shadows?|reflections?|silhouettes?|mirage)\b"
)
#: ... said of the very next words.
_KIND_OF = r"\bsome (?:kind|sort) of (?:\w+ ){0,2}?"
#: Classes of what "the animal" can be.
ANIMALS = frozenset({"large animal", "dog", "small animal", "birds"})
#: What no driver stops for.
_TRIVIAL = (
    "leaves",
    "newspaper",
    "paper",
    "bottle",
    "puddle",
    "crack",
    "bird",
    "pigeon",
    "shoe",
    "slippery",
    "mist",
)
#: What the speaker does is no doing of the thing.
_SPEAKER = re.compile(r"\b(?:i|we)(?:'m|'re| am| are| will|'ll)?\s+(?:\w+ly )?\w+")
_FROM_SIDE_TO_SIDE = re.compile(r"\b(\w+) to \1\b")
#: It is none of the car's business where it is.
_CLEAR = re.compile(
    r"\b(?:beside|off|next to|alongside|away from|clear of|outside|well (?:off|away|clear)|far (?:off|away|"
    r"from|side)|"
    r"opposite|other (?:side|lane|carriageway)|oncoming (?:side|lane)|(?:adjacent|next|neighbouring) lane|"
    r"shoulder|lay-?by|verge|sidewalk|pavement|kerb|curb|roadside|edge|field|meadow|garden|driveway|ditch|"
    r"parked|parking|in the distance|behind (?:a|the) (?:fence|barrier|rail|hedge|wall)|"
    r"no conflict|not in (?:my|our|the) (?:way|path|lane)|(?:out of|doesn't touch) (?:my|our|the) (?:way|"
    r"path|lane))\b"
)
#: ... unless it comes into its way, or tells it to stop.
COMING = re.compile(
    r"\b(?:cross\w*|step\w*|enter\w*|com(?:es|ing)|run(?:s|ning)?|dart\w*|roll\w*|pull(?:s|ing) out|revers\w+|"
    r"back(?:s|ing) (?:out|up|into)|turn(?:s|ing)|cut(?:s|ting)|swing\w*|swung|open\w*|fall\w*|lean\w*|"
    r"bolt\w*|dash(?:es|ed|ing)?|sprint\w*|emerg\w+|leap\w*|jump\w*|wander\w*|out of (?:the|a)|veer\w*|"
    r"swerv\w*|mov(?:es|ing)|walk(?:s|ing)? (?:out|into|onto|across)|head(?:s|ing)|approach\w*|into|onto|"
    r"across|over the (?:road|lane|whole)|towards?|from the|signal\w*|wav\w+|hand|arm|paddle|siren|flash\w*|"
    r"by law)\b"
)
_STOP = re.compile(
    r"\b(?:stop\w*|halt\w*|standstill|wait\w*|slam\w*|to rest|pull\w* up|stay\w* put|hold\w* (?:here|short)|"
    r"anchors?|"
    r"hit\w* the brakes)\b"
)
_HARD = re.compile(
    r"\b(?:(?:emergency|maximum|full|panic|hard)[- ]brak\w+|brak\w+ (?:as )?hard|to (?:zero|nought|nothing))\b"
)
_SLIGHT = re.compile(
    r"\b(?:slightly|a (?:little|bit|touch|tad|fraction|shade)|marginally|a couple of|some speed|barely|"
    r"minimal\w*)\b"
)
#: What a driver slows for that is no thing in the way, said as the cause.
_OTHER_END = re.compile(
    r"\b(?:for|because of|due to|owing to|on account of|given|to save|to reach|to take|"
    r"to make)\s+(?:\w+\s+){0,2}?"
    r"(?:bends?|curves?|corners?|bumps?|humps?|sun|glare|dusk|comfort|passengers?|speed limits?|limit|wind|"
    r"rain|"
    r"precaution|hedges?|junction|crest|hill|slope|cobbles?|visibility|zone|fuel|schedule|light|lights|sign|"
    r"exit|"
    r"turn|turning|queue|traffic|crossing|roundabout|gradient|surface)\b"
)
#: ... or whatever else it gives as its reason.
_REASON = re.compile(
    r"\b(?:because of|because|due to|owing to|on account of|in view of|in the face of|on the grounds of|given|"
    r"thanks to|in response to|as a result of|prompted by|caused by|out of|since|seeing that|"
    r"as(?= (?:the|my|our|there|this|a precaution|visibility|traffic|daylight)\b)|"
    r"reason (?:for|to|why|that|i|we|is)|"
    r"(?:slow|brak|stop|reduc|eas|lift|halt|yield|decelerat|speed|pace|off|back|down)\w*(?: \w+){0,3}? for"
    r"(?= (?:the|a|an|this|that|my|our|some|their|its)\b)) ([^,.;:]+)"
)
_MAKES = re.compile(
    r"([^,.;:]+)\b(?:make|force|cause|lead|prompt|require|oblige|tell|bring)s? (?:me|us|it necessary)\b"
)
#: A reason that speaks of a thing named before, or none.
_REFERS = re.compile(
    r"\b(?:it|him|her|them|they|he|she|this|these|those|someone|one|otherwise|way|path|blocked|block(?:s|"
    r"ing)|i|we|animals?|"
    r"contact|collision|impact|crash|room|space|gap|moment|seconds?|while|bit|time|safety|stop|standstill|"
    r"halt|distance|"
    r"clearance|margin|situation|(?:adjacent|next|other|left|right|opposite) lane|oncoming|event|emergency|"
    r"load|other)\b|\b(?:that|there)(?: (?:is|are|has|was)\b|$)"
)
#: Scenery: what stands along the road, and not on it.
_LINING = re.compile(
    r"^(?:s|es)?(?: \w+){0,2} (?:lin(?:e|es|ing)|flank\w*|border\w*|fring\w+|fram(?:e|es|ing))\b|"
    r"^(?:s|es)?(?: \w+){0,3} (?:on|at|to|along) (?:both|either|each) (?:sides?|edges?)\b|"
    r"^(?:s|es)?(?: (?:stand|run|grow|are|is|stands|runs|grows|standing|growing|parked))? "
    r"(?:along|beside|alongside) (?:the|this|our|my) (?:road|street|lane|way|carriageway|route)\b"
)
_LINED = re.compile(r"\b(?:lined (?:with|by)|flanked by|bordered by|avenue of)(?: \w+){0,2} $")
#: Characters on either side of a thing that are looked at.
_NEAR = 80
#: Said to be on the car's own way.
_IN_OUR_WAY = re.compile(
    r"(?<!not )(?<!n't )\b(?:(?:in|on|across|blocking|blocks|over) (?:my|our) (?:path|lane|way|side)|"
    r"(?:in|on|across|blocking|over) the (?:middle of the )?(?:ego lane|road|street)|in the middle of (?:my|"
    r"our|the) (?:lane|road)|"
    r"(?:directly|dead|straight) (?:ahead|in front)|right in front)\b"
)
_EACH_OTHER = re.compile(
    r"\b(?:next to|beside|alongside|off) (?:him|her|it|them|(?:his|its|their|a|the) (?:bi(?:cycl|k)e|"
    r"motorcycle))\b"
)
_CAUSE = r"\b(?:for|because of|due to|owing to|on account of|behind|thanks to)\b[^.,;:]{0,30}?$"

#: Parts of a thing, and "I signal": named later than the thing itself.
_PARTS = ("driver", "wheel", "signal")
#: What keeps the car from passing is not what it brakes for.
_ONCOMING = re.compile(r"\b(?:can't|cannot|not|no|impossible)\b.*\boncoming \w+$")


def hedged(word: str, sentences: Sequence[str]) -> bool:
    """Whether ``word`` is only ever named with a hedge in its clause, or as one of several candidates."""
    named = [c for s in sentences for c in re.split(r"[,:;()–—]| and | so | but ", s) if word in c]
    sure = [c for c in named if not _HEDGE.search(c) and not re.search(_KIND_OF + re.escape(word), c)]
    return bool(named and not sure) or any(_one_of_several(word, s) for s in sentences)


def _one_of_several(word: str, sentence: str) -> bool:
    """ "a dog or a fox": two things with "or" between them."""
    found = things(sentence)
    for (first, at), (second, then) in pairwise(found):
        between = sentence[at + len(first) : then]
        if word in (first, second) and len(between) < 30 and re.search(r"\bor\b", between):
            return True
    return False


def tied(acts: Sequence[Said], named: Sequence[Said], sentences: Sequence[str]) -> frozenset[str]:
    """Words that some act hangs on: said to be its cause, or else in its own sentence, or else named
    nearest before it.

    ``named``: every affirmed thing or vague word, new or not; "the obstacle" can be a thing named before.
    A sentence that blames one thing speaks for no other.
    """
    found: set[str] = set()
    for act in acts:
        text = sentences[act.sentence]
        causes = {
            w
            for w, at in things(text)
            if re.search(_CAUSE, text[:at]) and not _ONCOMING.search(text[:at] + w)
        }
        if not causes and (_OTHER_END.search(text) or blames_another(text)):
            continue
        words: set[str] = set()
        for kind in ("thing", "vague"):
            of_kind = [s for s in named if s.mark.kind == kind]
            of_kind = [s for s in of_kind if s.mark.word not in _PARTS] or of_kind
            words |= {s.mark.word for s in of_kind if s.sentence == _nearest(act.sentence, of_kind)}
        found |= words & causes or words
    return frozenset(found)


def blames_another(text: str) -> bool:
    """Whether a sentence gives a reason that names no thing on the road and speaks of none named before."""
    reasons = [m.group(1) for pattern in (_REASON, _MAKES) for m in pattern.finditer(text)]
    return any(not (things(r) or vague_words(r) or _REFERS.search(r)) for r in reasons)


def scenery(word: str, sentences: Sequence[str]) -> bool:
    """Whether every mention of ``word`` has it line the road."""
    found = [(s, at + len(w), at) for s in sentences for w, at in things(s) if w == word]
    return bool(found) and all(
        _LINING.search(s[end : end + _NEAR]) or _LINED.search(s[max(0, at - _NEAR) : at])
        for s, end, at in found
    )


def _nearest(act: int, named: Sequence[Said]) -> int:
    """The last sentence up to the act's that names a thing; where none does, the one after it."""
    return max((s.sentence for s in named if s.sentence <= act), default=act + 1)


def strength(acts: Sequence[Said], sentences: Sequence[str]) -> str:
    """How hard the acts of a car that stays in its lane are: "stop", "slight", or "" for anything between."""
    if any(act.mark.kind in ("steer", "around") for act in acts):
        return ""
    said = {sentences[act.sentence] for act in acts}
    if any(_STOP.search(act.mark.word) for act in acts) or any(map(_HARD.search, said)):
        return "stop"
    return "slight" if any(map(_SLIGHT.search, said)) else ""


def overdone(word: str, sentences: Sequence[str], beside: bool) -> bool:
    """Whether a stop is more than ``word`` asks for: nobody stops for such a thing, or it stands clear.

    It does ``beside`` by measure, or by the answer's own words.
    """
    about = [
        _EACH_OTHER.sub(" ", _FROM_SIDE_TO_SIDE.sub(" ", _SPEAKER.sub(" ", s)))
        for s in sentences
        if word in s
    ]
    if word in _TRIVIAL:
        return True
    if any(map(COMING.search, about)):
        return False
    if not beside and any(map(_IN_OUR_WAY.search, about)):
        return False
    return beside or any(_CLEAR.search(c) for s in about for c in re.split(r"[,;:]", s) if word in c)


def contradicted(sides: frozenset[str], lateral: str) -> bool:
    """Whether the lateral meta-action goes to the other side than the one that the words steer to."""
    other = {"left": "right", "right": "left"}
    return len(sides) == 1 and any(other[side] in lateral for side in sides)
