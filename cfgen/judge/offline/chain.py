"""Whether a chain of thought comes from a thing that is there to what the car does about it, sentence by sentence.

What an answer says of the light, the road and other traffic on its way does no harm. The sentence that names the thing
has to put it on the road or say what it is doing; none after it may take it back; and the sentence that reacts has to
hang on it: by naming it, by "it" or "the animal", as a conclusion, or because nothing between gives another reason.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Protocol

from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.offline.doubt import ANIMALS, COMING, blames_another
from cfgen.judge.offline.plainly import (
    NOT_HERE,
    OTHER,
    UNREAL,
    acts_out,
    aside,
    ends_elsewhere,
    mentions,
    only_known,
)

#: On the road, or measured on it.
_PLACED = re.compile(
    r"\b(?:lanes?|road|roadway|carriageway|path|tarmac|asphalt|pavement|street|highway|ahead|in front|way|across|"
    r"zebra|crossing|crosswalk|junction|intersection|rails?|track|corridor|alley|corner|line|corridor|kerb|curb|"
    r"verge|beams?|headlights?|headlamps?|view|gap|nose|bonnet|box|between|closing|centre|center|middle|fills?|blocks?|blocked|blocking)\b|"
    r"\d ?m\b|\bm ahead\b"
)
#: What things on a road are said to be or do there.
_THERE = re.compile(
    r"\b(?:there(?:'s| is| are|,)|here(?:'s| is| comes)|i (?:can )?(?:see|notice|spot)|we (?:see|notice)|is an?|"
    r"lying|lies|stands?|standing|sits?|sitting|stopped|stationary|halted|stalled|down|fallen|walking|walks|riding|"
    r"rides|resting|rests|strewn|scattered|spread|spilled|dropped|lost|abandoned|broken|stuck|trapped|pulling|turning|pushing|"
    r"running|trotting|crouch\w*|kneel\w*|work\w*|digging|flashing|indicat\w*|half\w*|partly|"
    r"sideways|wide open|opened?|opens|"
    r"swung|swings?|bounc\w+|skidd\w+|rolled|gap(?:es|ing)|collapsed|missing|uncovered|burst|blown|drift\w*|"
    r"appear\w*|emerg\w*|slow\w*|crawl\w*|tipped|flipped|upside|perpendicular|wobbl\w+|moving|moves|"
    r"loose|overturned|on (?:its|his|her|their) (?:roof|side|back))\b"
)
#: What things do at other times, or in general.
_HABIT = re.compile(
    r"\b(?:often|usually|always|sometimes|tend to|known (?:for|to)|live (?:in|here|on|near)|"
    r"typical\w*|common(?:ly)? here|"
    r"use this|ready for|signs? (?:warn|show|for)\w*|warns? (?:of|about)|warnings? (?:of|for|about)|"
    r"(?:reads?|barks?|grows|sleeps|chained|"
    r"starts? soon|this (?:road|weather)|these woods|all the time|after (?:a|the) storm|lined up|follows us|"
    r"belongs?|stay (?:at|in)))\b"
)
_MAY = re.compile(
    r"^e?s?(?: \w+)? (?:may|might|could|can) (?:appear|come|cross|be|play|run|jump|step|stand|hide)\b"
)
_OURS = re.compile(
    r"\b(?:in|into|on|onto|over|across|blocking|blocks|fills?|towards?|half|inside|within|straddl\w+|of) (?:\w+ )?"
    r"(?:my|our|the ego|ego|the|this|both) (?:(?:own|left|right|centre|center|middle|whole|entire|"
    r"same|ego|near|first|second|driving|"
    r"travel|right-hand|left-hand) )?(?:lanes?|path|way|road|roadway|carriageway|street|tarmac|"
    r"asphalt|crossing|track)\b|"
    r"\b(?:right|directly|straight|dead|just) (?:ahead|in front)\b"
)
_AT = re.compile(
    r"\b(?:[\d.]+|few|some|ten|twenty|thirty|forty|fifty|dozen) ?(?:m|metres?|meters?)? (?:away|off|"
    r"back|out)\b|\baway from\b"
)
#: What takes a thing back once it was named.
_BACK = re.compile(
    r"\b(?:false (?:alarm|positive)|turns? out|turned out|only (?:a|an|the) (?:\w+ )?(?:shadow|reflection|sign|poster|"
    r"stain|picture)|on closer|look(?:ing)? again|second (?:look|glance)|mistook|mistaken|nothing there|not there|"
    r"correction|independent\w*|for (?:another|other|a different) reasons?|not because|"
    r"not real|gone|vanished|disappeared|(?:has|have) (?:left|moved|cleared|passed|driven|reached|"
    r"trotted|wandered|walked) ?(?:on|off|away|back|the|it)?\\b|cleared|removed|"
    r"no (?:concern|threat|danger|risk|influence|conflict|relevance|bearing|issue|need|reason|effect|impact|action)|"
    r"not (?:a |my |our )?(?:concern|relevant|affect|matter|interfere|a factor|in (?:my|our) (?:way|lane|path))|"
    r"(?:doesn't|does not|do not|don't|need not|needn't|won't) (?:affect|matter|concern|bother|interfere|trouble|"
    r"influence|require|call for|change|mind|figure)|irrelevant|unrelated|ignor\w+|regardless|harmless|well clear|"
    r"out of (?:my|our|the) (?:way|lane|path)|aside from|anyway|apart from (?:it|that|this)|incidental\w*|"
    r"(?:has|have|plays?) no (?:part|bearing|role|influence)|nothing to do with)\b"
)
_INDEPENDENT = re.compile(
    r"\bindependent\w*|\bregardless\b|\bunrelated\b|\bfor (?:another|other|a different) reasons?\b"
)
_RETRACTS = re.compile(
    r"\b(?:correction|false (?:alarm|positive)|on closer|second (?:look|glance)|turns? out|scratch that)\b"
)
#: Said of other traffic: it hems the car in or is none of its business, and is no reason of its own.
_CONSTRAINT = re.compile(
    r"\b(?:oncoming|opposite|adjacent|alongside|(?:left|right|l|r|next|other|inner|outer|neighbouring|middle|second|"
    r"third|opposing) (?:lane|side|hand)|lane (?:\d|one|two|three)|behind|tailgat\w+|follower|follows|rear|mirror|"
    r"parked|occupied|boxed|hemmed|pavement|sidewalk|distance|far|irrelevant|no (?:concern|threat|conflict|issue|gap|"
    r"room|space|escape)|not (?:in|on|near|relevant|affect\w*|cross\w*)|neither|none|nobody|no one|away|set aside|"
    r"secondary|swerv\w+|pass(?:ing)?|overtak\w+|going around|change|cannot|can't)\b"
)
#: How a driver weighs a thing up.
_WEIGHED = re.compile(
    r"\b(?:ttc|thw|ttb|headway|stopping|braking|decel\w*|dist\w*|margin|gap|clearance|closing|impact|collision|"
    r"collid\w+|contact|hit\w*|strik\w+|run(?:ning)? over|crash\w*|damag\w+|injur\w+|hurt|kill\w*|harm|destroy\w*|"
    r"danger\w*|risk\w*|unsafe|severe|serious|fatal|hazard\w*|threat\w*|unpredictable|predict\w*|react\w*|intent\w*|"
    r"may|might|could|cannot|can't|won't|will not|room|space|time|metres?|meters?|m/s|km/h|second"
    r"s?|s\b|\d ?m|kg|steer\w*|swerv\w*|straddl\w*|options?|way (?:round|around|past)|block\w*|priority|right of way|"
    r"vulnerable|soft|solid|sharp|fragile|see|seen|sight|notice\w*|aware|unaware|attention|path|trajector\w*|"
    r"conflict|course|speed|slow\w*|stop\w*|brak\w+|yield\w*|wait\w*|occupant\w*|someone|somebody|moment|matters|"
    r"critical|decisive|relevant|constraint|priority|factor|concern|main|that is what)\b"
)
_PRONOUN = re.compile(
    r"\b(?:it|its|it's|he|he's|she|she's|him|her|his|they|they're|them|their|this|that|these|those|one|both|both|"
    r"who(?:ever)?|which|whose)\b"
)
#: What drivers slow for every day.
_SIGNAL = re.compile(
    r"\b(?:traffic lights?|signals? (?:ahead|is|has|turn\w*|chang\w*|show\w*|flip\w*|for|goes|went)|"
    r"(?:red|amber|yellow) "
    r"(?:signal|light|phase|aspect)|stop(?:ping)? (?:line|sign)s?|(?:turn|go|jump|switch|flip|"
    r"chang)\w* (?:to )?(?:red|amber|"
    r"yellow)|at (?:red|amber)|for (?:the |a )?(?:red|lights?|signal|amber)|light (?:ahead )?(?:is|"
    r"has|turn\w*|chang\w*))\b"
)
_ARRIVES = re.compile(
    r"\b(?:bus[- ]stop|arriv\w*|destination|drop-?off|drop(?:s|ping)? off|pick-?up|set down|set-down|"
    r"journey'?s? end|end of (?:the |my |our )"
    r"(?:trip|route|journey)|my (?:stop|exit|turn\w*)|our (?:stop|exit|turn\w*)|the exit|speed limit|"
    r"new limit|limit (?:drops|"
    r"falls|changes|of|is|ahead)|(?:sharp|tight) \w*[- ]?(?:bend|curve)|roundabout|toll|"
    r"speed (?:bump|hump|camera|table)s?)\b"
)
#: Done to it.
_ON_IT = re.compile(
    r"\b(?:for|to|of|behind|before|around|past|by|on|let|lets|give|gives|avoid|clear|pass|hit|hitting|reach|follow|over|at|"
    r"with|from|after|beside|leave|leaves|until|till|once|while|if|than) (?:it|him|her|them|she|he|they)\b"
)
#: ... what it is called the second time.
_AGAIN = re.compile(
    r"\b(?:the|this|that|"
    r"such an?) (?:\w+ )?(?<!lead )(?<!ego )(?<!other )(?<!oncoming )(?<!front )(?:animal|creature|"
    r"beast|person|man|woman|individual|figure|user|rider|"
    r"walker|casualty|victim|vehicle|driver|machine|object|item|obstacle|obstruction|debris|hazard|thing|load|"
    r"blockage|opening|gap|danger|spot|scene|accident|crash|situation|intruder|newcomer|kid|poor \w+)\b"
)
_CONCLUDES = re.compile(
    r"(?:^|[,;:—–] ?|-> ?|\band )(?:therefore|hence|so|thus|consequently|accordingly|as a result|"
    r"for (?:this|that) reason|"
    r"because of (?:this|that)|decision|conclusion|plan|action|response|verdict|rule|result|in response|given (?:this|"
    r"that|all)|under these|that leaves|what remains|what follows|only option|reason enough|the (?:\w+ )?(?:response|"
    r"action|option|choice|decision|thing to do|answer|course|plan)|which is why|which forces|nothing short)\b|"
    r"\b(?:must|have to|has to|need to|needs to|forces?|requires?|compels?|demands?|therefore|hence|thus)\b"
)
#: "Reason: a deer", told after the act.
_REASON_AFTER = re.compile(r"^(?:(?:the |my )?(?:reason|cause|why|because|there)\b|due to)")


#: Said of a thing's being there: that it is not so, or not known.
_UNTRUE = re.compile(
    r"\b(?:not (?:believe|think|suppose)|n't (?:believe|think)|don't (?:believe|think)|count|"
    r"dashboard|screen|display|window|not the case|unfounded|whichever|whatever it|reports? of|"
    r"ready for all|doubt\w*|(?:not|isn't|wasn't) true|untrue|false\b|history|hardly|scarcely|barely a|correction|"
    r"or (?:just|only|not)\b|"
    r"if there|if an?|had (?:been|there)|none of (?:that|those|them|it)|(?:not|isn't) what|(?:(?:is|"
    r"are|was|were) not|isn't|aren't|wasn't|weren't) "
    r"(?:there|cross\w*|present|in\b|on\b|stand\w*|ly\w*)|said the|says the|once\b|bare\b|in vain|"
    r"kept out|these days)\b"
)
_BECAUSE = re.compile(r"\b(?:because|since|as (?=i |we |my |our |the ))([^,;.]+)")
_THIRD = re.compile(r"\b(?:it|its|he|she|him|her|his|they|them|their|this|that|these|those)\b")
_AWAY = re.compile(
    r"already home|-free\b|\b(?:has|have|had) reached|\b(?:run|ran|gone|went|trotted|walked) back|"
    r"back (?:to|on|with) (?:the|her|his|its)\b"
)
_UNTIL = re.compile(r"\b(?:until|till|once|after|when|before|wait\w*)\b")
_CLAUSES = re.compile(r"[,;:—–()]|->|\b(?:and|so|hence|thus|therefore|but)\b")
#: A clause of so few words that names a thing says that it is there.
_FEW = 4
#: In an answer of more sentences, one between that says nothing of the thing is no reason.
_LONG = 4
#: Characters of a sentence that is none, and sentences from a thing to what is done about it.
_ENDLESS, _REACH = 2000, 30
#: Where a thing is on its roof, or who stands with his back to us.
_LIES = re.compile(
    r"\b(?:on|onto) (?:its|his|her|their|the) (?:roof|side|back)\b|\b(?:his|her|its|their|"
    r"with) back (?:turned )?(?:to|towards) "
)
#: People who belong to what is named: no other thing.
_BELONG = frozenset(
    (
        "driver",
        "officer",
        "rider",
        "wheel",
        "parent",
        "passenger",
        "firefighter",
        "paramedic",
        "door",
        "bicycle",
        "bike",
    )
)
#: A clause of its own, not about the thing.
_STARTS = re.compile(r"^(?:the|my|our|an?|we|i|it|here|in|because|since|as|for|due|given)\b")
_FROM_BEHIND = re.compile(r"\b(?:behind (?:me|us)|from behind|flashes|horn)\b")


class Words(Protocol):
    """An answer in sentences: the things that each one shows, and which of them act."""

    @property
    def sentences(self) -> tuple[str, ...]: ...

    @property
    def shown(self) -> tuple[frozenset[str], ...]: ...

    @property
    def acting(self) -> frozenset[int]: ...


def carried(word: str, words: Words) -> bool:
    """Whether some sentence says that ``word`` is there, and some act hangs on that sentence."""
    there = stated(word, words)
    return bool(there) and any(_hangs(word, words, there, act) for act in words.acting)


def stated(word: str, words: Words) -> list[int]:
    """Sentences that say that ``word`` is there; none where another takes it back."""
    kind = class_of(word).name
    named = [i for i, shown in enumerate(words.shown) if any(class_of(w).name == kind for w in shown)]
    if any(UNREAL.search(words.sentences[i]) or _UNTRUE.search(words.sentences[i]) for i in named):
        return []
    if any(
        mentions(word, s) and i not in named for i, s in enumerate(words.sentences) if named and i > named[-1]
    ):
        return []
    if any(len(words.sentences[i]) > _ENDLESS for i in {*named, *words.acting}):
        return []
    there = [i for i in named if _is_there(word, words.sentences[i], i in words.acting)]
    return there if there and not _taken_back(word, words.sentences, there) else []


def blamed_elsewhere(word: str, words: Words) -> bool:
    """Whether each act is given a reason that is not ``word``."""
    acts = [words.sentences[i] for i in words.acting]
    return bool(acts) and all(_grounds(word, s) or _INDEPENDENT.search(s) for s in acts)


def _is_there(word: str, sentence: str, acts: bool) -> bool:
    """Whether a sentence puts ``word`` on the road now."""
    sentence = _LIES.sub(" lying ", sentence)
    for clause in re.split(r"[;:]|,(?= (?:and|but|while) )| while | whereas ", sentence):
        for name, at in mentions(word, clause):
            after = _AT.sub(" ", clause[at + len(name) :])
            if NOT_HERE.search(after) or (_AWAY.search(clause) and not _UNTIL.search(clause)):
                return False
            if _HABIT.search(clause) or _MAY.search(after):
                continue
            if aside(clause) and not (COMING.search(clause) or _OURS.search(clause)):
                continue
            if (
                acts
                or len(clause.split()) <= _FEW
                or any(p.search(sentence) for p in (_PLACED, _THERE, COMING))
            ):
                return True
    return False


def _taken_back(word: str, sentences: Sequence[str], there: Sequence[int]) -> bool:
    """Whether what is said of ``word`` takes it back or makes it nothing to react to."""
    for i in range(there[0], len(sentences)):
        parts = re.split(r"[;:,]| (?:and|but|while|so) ", sentences[i])
        about = [p for p in parts if mentions(word, p)]
        about += [p for p in parts if i > there[0] and _PRONOUN.match(p.strip()) and not things(p)]
        if i == there[0]:
            last = max(n for n, p in enumerate(parts) if mentions(word, p)) if about else -1
            about += [p for p in parts[last + 1 :] if not things(p)]
        if any(map(_BACK.search, about)) or (i > there[0] and _RETRACTS.search(sentences[i])):
            return True
    return False


def _hangs(word: str, words: Words, there: Sequence[int], act: int) -> bool:
    """Whether the sentence ``act`` reacts to what the sentences ``there`` name."""
    sentence = words.sentences[act]
    at = bisect_right(there, act)
    if at and act - there[at - 1] > _REACH:
        return False
    if not at:
        following = act + 1 in there and _REASON_AFTER.match(words.sentences[act + 1])
        return bool(following) and not _foreign(word, sentence, False)
    bound = _bound(word, sentence)
    after = words.sentences[act + 1] if act + 1 < len(words.sentences) else ""
    if _foreign(word, sentence, bound) or (_REASON_AFTER.match(after) and not _about(word, after)):
        return False
    between = words.sentences[there[at - 1] + 1 : act]
    told = (
        bound
        or len(words.sentences) > _LONG
        or bool(_CONCLUDES.search(sentence) or _PRONOUN.search(sentence))
    )
    return all(_neutral(word, s, told) for s in between)


def _bound(word: str, sentence: str) -> bool:
    """Whether an act's sentence names ``word``, again or by a pronoun that can mean nothing else."""
    if mentions(word, sentence) or _AGAIN.search(sentence):
        return True
    on_it = _ON_IT.search(sentence)
    return bool(on_it and not _others(word, sentence[: on_it.start()]))


def _about(word: str, sentence: str) -> bool:
    return bool(mentions(word, sentence) or _PRONOUN.search(sentence) or _AGAIN.search(sentence))


def names_another(word: str, text: str, apart: frozenset[str] = frozenset()) -> bool:
    """Whether ``text`` names another thing than ``word``; those ``apart`` do not count."""
    kind = class_of(word).name
    same = (kind, "animal") if kind in ANIMALS else (kind,)
    return any(class_of(w).name not in same and w not in apart for w, _ in things(text))


def _others(word: str, sentence: str) -> bool:
    return names_another(word, sentence, _BELONG)


def _foreign(word: str, sentence: str, bound: bool) -> bool:
    """Whether an act's sentence gives another reason than ``word``."""
    acting = [c for c in _CLAUSES.split(sentence) if acts_out(c) != c]
    if blames_another(sentence) or _grounds(word, sentence) or any(_elsewhere(word, c) for c in acting):
        return True
    if bound:
        return False
    if ends_elsewhere(sentence) or OTHER.search(sentence) or _FROM_BEHIND.search(sentence):
        return True
    if _others(word, sentence) and not _CONSTRAINT.search(sentence):
        return True
    return any(_alone(c.strip()) for c in _CLAUSES.split(sentence))


def _grounds(word: str, sentence: str) -> bool:
    """Whether what stands behind "because" is neither the thing nor what the act weighs up."""
    return any(
        not (
            mentions(word, c)
            or _AGAIN.search(c)
            or _THIRD.search(c)
            or _WEIGHED.search(c)
            or _CONSTRAINT.search(c)
        )
        for c in _BECAUSE.findall(sentence)
    )


def _elsewhere(word: str, clause: str) -> bool:
    """Whether an act's clause gives a reason that is no thing on the road."""
    other = _SIGNAL.search(clause) or _ARRIVES.search(clause) or OTHER.search(clause)
    return bool(other) and not (mentions(word, clause) or _AGAIN.search(clause) or _ON_IT.search(clause))


def _alone(clause: str) -> bool:
    """Whether a clause beside an act can be its reason, and is no word of the thing or of what the act weighs up."""
    if not _STARTS.search(clause) or acts_out(clause) != clause:
        return False
    return not (
        _PRONOUN.search(clause) or _WEIGHED.search(clause) or _CONSTRAINT.search(clause) or only_known(clause)
    )


def _neutral(word: str, sentence: str, told: bool) -> bool:
    """Whether a sentence between a thing and the act gives the act no other reason.

    ``told``: the act hangs on the thing anyway.
    """
    if mentions(word, sentence):
        return True
    if _others(word, sentence) and not (_CONSTRAINT.search(sentence) or _PRONOUN.search(sentence)):
        return False
    if (_SIGNAL.search(sentence) or _ARRIVES.search(sentence)) and not told:
        return False
    if OTHER.search(sentence) and not _WEIGHED.search(sentence):
        return False
    return told or bool(
        _PRONOUN.search(sentence) or _WEIGHED.search(sentence) or _CONSTRAINT.search(sentence)
    )
