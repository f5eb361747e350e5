"""Whether what the car does has a ground of its own that is not the thing: an end, a cause, or somebody's wish.

Ends and causes are told by how a sentence is built ("so that", "in memory of", "it is X that"), not by what they are:
no list has every reason. One that speaks of the thing, of the road or of what braking weighs up is none of another.
"""

import re
from collections.abc import Sequence

from cfgen.hazards.vocabulary import class_of
from cfgen.judge.offline.acts import BRAKE
from cfgen.judge.offline.chain import Words, names_another, stated
from cfgen.judge.offline.doubt import ANIMALS
from cfgen.judge.offline.plainly import acts_out, mentions

#: What a driver calls his own without it being a reason.
_OURS = (
    "own|lanes?|path|way|side|half|speed|pace|car|vehicle|trajectory|course|route|position|line|brakes?|braking|"
    "stopping|stop|following|foot|bonnet|hood|bumper|wheels?|tyres?|tires?|distance|gap|headway|margin|direction|"
    "right|left|mirrors?|blind|rear|front|current|present|side|approach|corridor|carriageway|safety|time|reaction|"
    "planned|next|only|best|view|sight|line|beams?|headlights?|lights?|high|low|hazards?|indicators?|horn|nose|"
    "response|decision|plan|priority|first|main|immediate|attention|concern|lateral|longitudinal|manoeuvre|maneuver|"
    "ego|travel|intended|cruise|target|forward|momentum|kinetic|closing|options?|action|choice|safest|answer|"
    "job|street|road|zone|envelope|clearance|space|room|windscreen|windshield|grip|bubble|shoulder|verge|lead"
)
_MINE = re.compile(rf"\b(?:my|our) (?!(?:{_OURS})\b)[a-z]+")
#: Ends that only the thing itself can be.
_WISHES = re.compile(
    r"\b(?:in (?:memory|honou?r|recognition|aid|search|deference|hopes?) of|in the (?:interests?|hope|name) of|"
    r"out of|at the (?:request|wish|behest) of|on behalf of|with a view to|with an eye (?:to|on)|mindful of|"
    r"thinking of|hoping(?: to| for)?|wanting(?: to)?|wishing(?: to)?|keen (?:to|on)|it being|"
    r"for the (?:sake|benefit|comfort|good) of|to (?:pick up|collect|fetch|drop off|meet|greet|buy)) ([^,;.]+)"
)
#: Causes, which can also be what braking weighs up.
_CAUSES = re.compile(
    r"\b(?:in (?:view|anticipation|obedience) of|courtesy (?:of|to)|thanks to|on account of|because of|due to|"
    r"owing to|in order (?:to|that)|so (?:that|as to)|(?<!, )(?<!and )so (?=(?:i|we|he|she|they|my|people|"
    r"someone)\b)|"
    r"because|since|\bas (?=(?:i|we|my|our|there|it)\b)) ([^,;.]+)"
)
#: "It is the ford that makes me slow", "what makes me slow is the ford".
_CLEFT = re.compile(
    r"\bit(?:'s| is) (?=(?:the|a|an|my|our|his|her|their)\b)([^,;.]+?) (?:that|which|who|i|we)\b|"
    r"\bwhat (?:makes|has|gets|lets|forces|causes) (?:me|us)\b[^,;.]* (?:is|are) ([^,;.]+)|"
    r"\b(?:the )?(?:reason|cause)\b[^,;.]*(?:\bis|:) ([^,;.]+)"
)
#: For somebody who wants to get in, out or past.
_SERVES = re.compile(r"\bto (?:let|give|allow|read|look|watch|enjoy|ask|answer) ([^,;.]+)")
#: A clause spliced on right behind the act.
_SPLICED = re.compile(r"[;:] ((?:the|my|our|an?) [^,;.]+)")
#: An end told before the act.
_FRONTED = re.compile(
    r"^(?:to|for) (?!(?:us|me|it|him|her|them)\b)([^,;.]+?),? (?:i|we|i'm|we're|i'll|we'll)\b"
)
#: What no driver in a hazard's way brakes for, whatever else is said with it.
_NEVER = re.compile(
    r"\b(?:parking|booked|reserved|delivery|hotel|petrol|shopping|speed traps?|(?:our|my) (?:break|turn)|"
    r"where (?:we|i) (?:turn|live|stop|get|park))\b"
)
#: Another road user does it, and the car with it.
_ALONG = re.compile(
    r"\b(?:so do (?:i|we)|(?:i|we) do (?:so|the same)|as well|too|likewise|(?:do|does) the same)$"
)
_THEY_BRAKE = re.compile(
    r"\b(?:is|are|was|starts?|begins?|has|have)? ?(?:brak|slow|stopp?|halt)(?:s|es|ing|ed)?\b"
)
_PREMISE = re.compile(
    r"^(.*?)(?:,|;| and| -| —)? (?:so|therefore|hence|thus|which is why|that is why|that's why)\b(.*)"
)
#: A ground that speaks of the thing by another word, of the road ahead, or of what braking weighs up.
_FAIR = re.compile(
    r"\b(?:it|its|it's|he|he's|she|she's|him|her|his|they|they're|them|their|(?:this|that)(?= (?:is|means|"
    r"leaves|makes|forces|requires|calls|would|could|will|can|may)\b|$)|that's|animal|creature|"
    r"obstacle|obstruction|object|hazard|blockage|thing|danger|risk\w*|unsafe|unpredictab\w+|ttc|thw|headway|"
    r"stopping|dist\w+|margin|gap|clearance|room|space|closing|close|impact|collision|collid\w+|contact|hit\w*|"
    r"strik\w+|crash\w*|run(?:ning)? over|(?:dam|inj|hurt|kill|harm|wreck|destroy)\w*|block(?:s|ed|ing)|"
    r"path|way (?:round|around|past)|"
    r"get past|pass|overtak\w+|oncoming|opposite|adjacent|(?:left|right|next|other) (?:lane|side)|lane|shoulder|"
    r"swerv\w*|steer\w*|cannot|can't|no (?:way|time|escape)|steps?|cross\w*|priority|right of way|vulnerable|"
    r"behind|react\w*|metres?|meters?|seconds?|\d ?m|\d ?s|time|late|fast|speed|situation|scene|event|"
    r"emergency|law|must|contents|load|blocked|nobody|no one|anyone|nothing|now|moment|sure|avoid|traffic|"
    r"other way|too \w+ to|over|around|round|through|sight|caution|safe\w*|prudence|care|both|one)\b"
)
_THE_THING = re.compile(
    r"\b(?:it|him|her|them|they|this|that|(?:the|this|that|such an?) (?:\w+ )?(?:animal|creature|person|"
    r"man|woman|rider|"
    r"vehicle|obstacle|obstruction|object|hazard|blockage|thing|danger|way|path|harm|lane))\b|"
    r"\b(?:caution|safety|prudence|collision|contact)\b"
)
#: The car, before "therefore".
_SUBJECT = re.compile(r"^(?:the )?(?:ego(?:[- ](?:vehicle|car))?|i|we|my car|our car|car)\b")
#: Words that make a premise.
_FEWEST = 2
#: Of a short answer, each act has to be free of other grounds; of a longer one, some act.
_SHORT = 4


def grounded_elsewhere(word: str, words: Words) -> bool:
    """Whether what the car does is said to be done for something else than ``word``."""
    acts = sorted(words.acting)
    foreign = [i for i in acts if _foreign(word, words.sentences[i])]
    foreign += [i for i in acts if i + 1 < len(words.sentences) and _NEVER.search(words.sentences[i + 1])]
    if not foreign:
        return False
    own = [i for i in acts if i not in foreign and mentions(word, words.sentences[i])]
    return len(set(foreign)) == len(acts) or (len(words.sentences) <= _SHORT and not own)


def _foreign(word: str, sentence: str) -> bool:
    wishes = [g for p in (_WISHES, _CLEFT) for m in p.finditer(sentence) for g in m.groups() if g]
    if any(not (mentions(word, g) or _THE_THING.search(g)) for g in wishes):
        return True
    given = [m.group(1) for m in _CAUSES.finditer(sentence)]
    given += [m.group(1) for m in _SPLICED.finditer(sentence) if _acts(sentence[: m.start()])]
    given += [m.group(1) for m in _FRONTED.finditer(sentence)]
    if any(not _speaks_of(word, g) for g in given):
        return True
    if any(
        names_another(word, m.group(1)) and not mentions(word, m.group(1)) for m in _SERVES.finditer(sentence)
    ):
        return True
    if _MINE.search(sentence) and not mentions(word, sentence):
        return True
    return _follows_another(word, sentence) or _premised(word, sentence)


def _speaks_of(word: str, ground: str) -> bool:
    """Whether a ground is ``word``, or fair to give beside it."""
    if mentions(word, ground):
        return True
    if _MINE.search(ground) or _NEVER.search(ground):
        return False
    if names_another(word, ground) and BRAKE.search(ground):
        return False
    return bool(_FAIR.search(ground))


def _acts(text: str) -> bool:
    return acts_out(text) != text


def _follows_another(word: str, sentence: str) -> bool:
    """Whether another road user brakes and the car does as it does, or for it."""
    return bool(_ALONG.search(sentence)) and names_another(word, sentence) and not mentions(word, sentence)


def _premised(word: str, sentence: str) -> bool:
    """Whether what stands before "so I brake" is about something else."""
    found = _PREMISE.match(sentence)
    if not found or not _acts(found.group(2)):
        return False
    premise = found.group(1)
    if _acts(premise) or mentions(word, premise) or len(_SUBJECT.sub("", premise).split()) < _FEWEST:
        return False
    if names_another(word, premise) and re.search(r"\bfor (?:it|him|her|them)\b", found.group(2)):
        return True
    return bool(_NEVER.search(premise)) or not _FAIR.search(premise)


def passed_over(word: str, fitting: Sequence[str], words: Words) -> bool:
    """Whether a short answer states another thing that fits, and only then ``word``, for which alone it reacts.

    Pixels then tell nothing of which of the two is there.
    """
    if len(words.sentences) > _SHORT:
        return False
    kind = class_of(word).name
    first = min((i for i, s in enumerate(words.sentences) if mentions(word, s)), default=0)
    for other in fitting:
        if class_of(other).name in (kind, "cone") or {class_of(other).name, kind} <= {*ANIMALS, "animal"}:
            continue
        said = [i for i, s in enumerate(words.sentences) if mentions(other, s)]
        if said and max(said) < first and stated(other, words) and not words.acting & set(said):
            return True
    return False
