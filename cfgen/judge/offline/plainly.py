"""Whether an answer says plainly that a thing is there and that it reacts to it: what a 2 takes.

One clause has to say that it is there, and one that hangs on it that the car reacts. Words that only describe do no
harm in either; nouns and verbs that nobody listed do, where they could be what is stated or the reason. Words of
denial, doubt and other reasons take the 2 away wherever they stand.
"""

import re
from collections.abc import Sequence
from functools import cache

from cfgen.hazards.vocabulary import VAGUE, class_of, things
from cfgen.judge.offline.acts import AROUND, BRAKE, OTHER_CAUSE, SIDED
from cfgen.judge.offline.doubt import COMING
from cfgen.judge.offline.kinds import describes

#: Where a clause ends.
_ENDS = re.compile(
    r"[.!?;:,()\[\]{}\"–—/]+(?=\s|$)|\s[-–—]\s|\s[-=]>\s|[;:—]|"
    r"\s(?:and|so|but|hence|therefore|thus|while|then|yet|still|which|who)\s|"
    r"\s(?=(?:because|since|as)\s)"
)
_FUNCTION = (
    "a an the some this that these those there there's that's theres here here's is are was were be been "
    "being it's i i'm i'll "
    "i've we we're we'll we've he she it they him her them its his their our my me us one's and so or also "
    "to of off in on at by with from into onto over across along near behind beside before between around "
    "round past "
    "through ahead front under up down out back away toward towards within until till for off against "
    "without but because as "
    "since hence therefore thus while yet still either neither even w due owing to account one presence given"
)
_SEEING = (
    "remain let see seeing notice spot have has got make comes come look watch careful attention "
    "caution whoa oh ok"
)
_WHERE = (
    "lane lanes road roads street path way ways carriageway side sides left right edge kerb curb pavement "
    "sidewalk "
    "shoulder verge middle centre center line asphalt tarmac highway motorway crossing zebra crosswalk "
    "junction half m "
    "metres meters metre meter about roughly some only just directly straight dead right own both entire "
    "whole full "
    "opposite oncoming far close nearby there distance two three several ground vehicles parked section "
    "patch stretch user "
    "users family group herd pair rest halfway scene view position main thing"
)
_WHEN = "now suddenly already currently slowly still again immediately at once soon then ahead first today"
_HOW = (
    "firmly hard harder smoothly smooth gently softly comfortably fully full complete well short safely "
    "safe gap "
    "margin wide clear clearance room space rest standstill halt time good enough speed gear foot brake "
    "brakes stop "
    "stopped slow slower down need must will have should going go pass plenty keep leave leaves left gone "
    "free moves "
    "moved let lets more lower pace walking quickly controlled full completely necessary emergency hazard "
    "lights on "
    "hazards avoid collision contact hitting hit waiting wait check indicate change merge return km kmh h s "
    "position "
    "until stay steady stop's one bit little slightly by can blocked lot extra next other lane's overtake "
    "return "
    "car ready needed carries "
    "distance enough able order prevent give proceed carefully cautiously caution dip drop maybe doing "
    "rather than cover take crawl might may yes that's don't isn't aren't moving i'd drive ensure safety "
    "maintain maintaining ensuring allow allowing reaching requires require safest action decision all very "
    "push press place course mine priority though even ttc zero nought deceleration "
    "braking margin wheel track bonnet hood boot movement consequence conclusion result plan critical "
    "applied object "
    "required requirement option options step response manoeuvre maneuver lateral longitudinal escape both "
    "approx "
    "somewhere indeed reaction answer decide decision sky lanes houses here present presence within "
    "approximately owner warning flashing braking"
)
#: Present doings of things on a road.
_DOES = re.compile(
    r"(?:stand|lie|lying|lies|sit|block|cross|walk|step|run|ran\b|com(?:e|ing)|came|pull|roll|fall|fell|"
    r"hang|drop|swerv|cut|"
    r"revers|back(?:s|ing)|enter|wander|mov(?:e|ing)|jump|dart|leap|spill|scatter|strew|fill|cover|occup|"
    r"stick|jut|open|"
    r"stop|broke|break|stall|burn|overturn|tip|spread|drift|land|obstruct|clos|trot|hop|dash|stray|wait|"
    r"work|wav|"
    r"hold|signal|approach|emerg|merg|slid|skid|crash|straddl|sprint|slip|litter|rest(?:s|ing)|collaps|"
    r"wobbl|tumbl|"
    r"kneel|crouch|dig|waddl|turning|swing|lurch|overtak|rid(?:e|es|ing)|driv(?:es?|ing)|driven|travel|block|"
    r"stuck|dead|immobile|"
    r"stationary|injured|double|tak(?:es|ing) up|on\b|down\b|abreast|facing|trapped|unsteady|caved|lost|"
    r"stay(?:s|ing)?\b|remains?\b|looks?\b|star(?:es|ing)\b|poses?\b|faces?\b|graz(?:es|ing)|"
    r"can't|cannot|doesn't|does\b|tell|order|ask|cutting|ignor|push|carry|carri|chas|on fire|out\b|taper|run|"
    r"barg|shoot|flash|doing)\w*"
)
_REFERS = re.compile(r"\b(?:it(?!'s| is| was)|its|he|he's|she|him|her|them|they|they're|his|their)\b")
_EGO = re.compile(r"\b(?:the |our )?(?:ego|self-driving|autonomous)(?:[- ](?:vehicle|car))?\b")
#: What turns a plain clause into something else.
_TURNS = re.compile(
    r"\b(?:is|are|was|were|turns? out|to be|used to|would|could|should|if|or|exist\w*|be|hold|count|seen|"
    r"told|said)\b"
)
#: Ahead of a thing's name these are no adjectives.
_QUANTITIES = frozenset(
    ["all", "any", "every", "each", "most", "many", "few", "no", "not", "never", "hardly", "barely", "zero"]
)
#: An act on what was named before.
_BOUND = re.compile(
    r"\b(?:it|him|her|them|the (?:animal|obstacle|obstruction|object|hazard|creature|thing|opening|"
    r"poor \w+))\b(?!'s)"
)
#: Past it, with the thing's name behind.
_PASS = re.compile(r"\bpass(?:es|ing)?(?= (?:the|it|him|her|them|this|that)\b)|\bclear of(?= the\b)")
_SPEAKER = re.compile(r"\b(?:i|we|i'm|i'll|we'll|we're|let's|me|us)\b")
_BEHIND_US = re.compile(r"\bbehind (?:me|us)\b")
#: Anywhere in an answer: what it names may be no thing on the road today.
UNREAL = re.compile(
    r"\b(?:detectors?|false (?:alarm|positive)|mistaken|mistook|untrue|wrongly|advert\w*|posters?|"
    r"billboards?|hoarding|"
    r"wrong\b(?![- ](?:way|side|lane|direction|carriageway))|murals?|graffiti|imagin\w+|hypothetical\w*|"
    r"fiction\w*|"
    r"fake|rumou?rs?|alleg\w+|so-called|claims?|contrary|memory|(?:map|report|radio|app|"
    r"navigation) (?:says?|shows?)|"
    r"reported|yesterday|(?:last|previous) (?:week|month|year|time|night)|used to|in the morning|dreams?|"
    r"films?|movies?|"
    r"video|simulat\w+|illusion|misread|would (?:look|be there|stand)|anything but|everything (?:but|"
    r"except)|far from|"
    r"turn(?:s|ed)? out|were (?:a|an|the) \w+ to|exist\w*|i (?:fear|feared|expect|imagine|have a feeling)|"
    r"photo\w*|"
    r"(?:been|was|were|is|are|got|gets) (?:cleared|removed|towed|taken|picked|repaired|fixed|sawed|swept|"
    r"lifted)(?: away| up| off)?|or so\b|theoretic\w*|if (?:they|it|he|she) (?:are|is)\b|guess|as though|"
    r"supposing|at (?:first|second) (?:glance|sight)|long ago|(?:drove|rode|walked|ran|moved|went|"
    r"trotted) (?:off|on|away|home)|brochure|"
    r"so it seems|it seems|who knows|unless my|swear|presume|deceiv\w+|suggests?|joking|nonsense|fantasy|"
    r"statues?|dummy|dummies|mannequin|scarecrow|toy|sticker|painted|replica|cardboard cut-?out)\b"
)
#: Reasons to slow that are no thing in the way; with one of these near the act it may hang on that.
OTHER = re.compile(
    OTHER_CAUSE.pattern
    + r"|\b(?:rain\w*|drizzl\w*|(?:get|gets|getting|turns|grows) dark|dark falls|darkness|"
    r"clouds? gather|night|sick|ill|snow\w*|hail|storm|weather|batter(?:y|ies)|energy|econom\w+|eco|smoothness|"
    r"for (?:the |our |my )?passengers?|address|destination|lunch|coffee|breakfast|toilet|calls?|radio|"
    r"photos?|pictures?|"
    r"(?:better|nice|nicer|good|great) (?:view|look|shot)|lake|toll|cameras?|pads|tired|bor(?:ed|edom)|"
    r"school|village|town|"
    r"exit|turn-off|turning|turnoff|roundabout|narrow\w*|queue|jam|siren|hours?|surface|uneven|rough|"
    r"slippery|cobbled|"
    r"signs?|(?:traffic |red |amber )?lights? (?:ahead|is|are|turn\w*|shows?)|stop line|destination|service|"
    r"smok\w+|"
    r"appointment|shops?|mood|noise|engine|gear|enjoy\w*|music|scenery|asks? me|tells? me|sake|"
    r"ahead of plan|shift is|frost|gravel|bridge|tunnel|rest\b)\b"
)
#: Why something else than the act will not do: no reason of its own.
_NO_OTHER_WAY = re.compile(
    r"\b(?:oncoming|opposite|overtak\w+|other way|(?:left|right|next|adjacent|other|opposing) (?:lane|side)|"
    r"gap|escape|"
    r"verge|no (?:way|room|space|path|getting|going)|solid line|behind me|options?|impossible|"
    r"not (?:possible|feasible)|"
    r"can't|cannot|mirrors?|preceding|(?:fell|fallen|lost|shed) (?:off|from|by)|swerving|steering|dangerous|"
    r"risky|worse|ttc|decel\w*|m/s2?|step|rules?)\b"
)
#: ... that are told of the act itself: ends and grounds.
_BECAUSE = re.compile(
    r"^(?:because|since|as(?! (?:hard|soon|far|well|much|long|possible|i can|needed|necessary|required|"
    r"quickly))|given|being|that)\b"
)
#: A clause of its own right behind the act, which may be its reason.
_SPLICED = re.compile(r"^(?:the|my|our|an?|it has|it is|it's|here|there)\b")
_GROUND = re.compile(
    r"\b(?:blocked|path|safe\w*|contact|collision|crash|in the way|too close|clear|stopping distance)\b"
)
#: What is said of a thing behind its name that takes it off the road, or makes another of it.
NOT_HERE = re.compile(
    r"\b(?:has|have|had|is|are)\b.*\b(?:off(?! (?:the|a|its|his|her))|away|back (?:to|on|in)|gone|leaving|"
    r"moving (?:again|on|off)|closed(?! by| off)|shut|covered|sealed|repaired|fixed|filled)\b|"
    r"\b(?:out of|off|left|leaves|leaving|cleared|past) (?:our|my|the) (?:lane|road|way|path)\b|"
    r"\b(?:is|are|stays?|remains?) (?:a|an|the|some|mere\w*|only|no|what)\b(?! halt\b| standstill\b)"
)
#: Places beside the road, where a thing is none of the car's business.
ASIDE = re.compile(
    r"\b(?:side (?:street|road)|driveway|yard|fields?|bay|car park|parking lot|meadow|garden|roof|window|"
    r"balcony|ridge|"
    r"pavement|sidewalk|shelter|hill|barn|stand|fence|wall|(?:separate|cycle|bike|foot) ?path|platform|"
    r"forecourt|depot|far ahead|home|indoors|screen|dashboard|display|station|square|house|shade|garage|"
    r"cafe|terrace|outside an?|(?:foot)?bridge (?:above|over)|(?:cycle|bike|foot|railway) ?(?:track|path))\b"
)
#: On, at or behind what: places that are no road.
_UPON = re.compile(
    r"\b(?:on|inside|outside|against|in front of|beside|behind|under|at) (?:the|an?) ((?:[\w'-]+ ){0,2}?[\w'-]+)"
    r"(?= (?:on|in|at|of|by|with|to|from|and|ahead|now|right|left|near|beside|behind|beyond|or|who|which|"
    r"that|is|as)\b|\s*(?:$|[,.;:]))"
)
_ROADWAY = re.compile(
    r"\b(?:lanes?|road\w*|carriageway|path|tarmac|asphalt|street|highway|motorway|crossing|crosswalk|"
    r"junction|intersection|"
    r"corner|bend|curve|line|markings?|way|side|edge|kerb|curb|verge|shoulder|middle|centre|center|ground|"
    r"floor|surface|"
    r"right|left|back|phone|move|front|ego|car|other|far|near|end|top|bottom|rails?|tracks?|gap|brakes?|"
    r"exit|entrance|"
    r"bridge|crest|hill|slope|spot|same|distance|night|moment|point|ramp|roundabout|alley|lead)\b"
)
#: What an act may be for.
_TO = re.compile(r"\bto (?:be )?([a-z'-]+)")
_PURPOSES = (
    "avoid let give prevent keep allow maintain ensure pass stay stop wait make yield a an the about "
    "around zero nought nothing walking left right one its my our his her him it them go get come "
    "leave protect not steer brake creep crawl slow drive miss clear evade merge change return remain "
    "minimize mitigate proceed hold reduce null rest move swing react respond preserve guarantee "
    "follow halt shed drop open reopen rebuild restore resume cross finish stand settle rejoin "
    "increase restart continue dodge skirt under below only match account safe sure us me"
)
_ENDS_MEANT = frozenset(_PURPOSES.split())
_STILL = re.compile(
    r"\b(?:is not|are not|isn't|aren't|not) (?:moving|going|driving|yielding|stopping|slowing|looking)\b"
)
#: "has since left": no ground.
_SINCE = re.compile(r"\b(has|have|had) since\b")
_MOST_ADJECTIVES, _MOST_BETWEEN = 3, 30  # words; clauses
#: Clauses right before the act that must give it no other reason.
_CLOSE = 3
#: An item of a list.
_ITEM = re.compile(r"(?:an?|two|three|some|several|many|more) (?:[a-z-]+ ){0,2}[a-z-]+(?<!ing)(?<!ed)")
_FRAGMENT = re.compile(r"(?:no )?[a-z-]+(?<!s)(?: [a-z-]+(?<!s))?")


@cache
def _known() -> frozenset[str]:
    return frozenset(" ".join((_FUNCTION, _SEEING, _WHERE, _WHEN, _HOW)).split())


@cache
def _leading() -> frozenset[str]:
    return frozenset(" ".join((_FUNCTION, _SEEING, _WHERE, _WHEN, "ACT")).split())


def said_plainly(word: str, sentences: Sequence[str]) -> bool:
    """Whether one clause says that ``word`` is there, and one that hangs on it, that the car reacts."""
    if any(map(UNREAL.search, sentences)):
        return False
    clauses = [
        c.strip()
        for s in sentences
        for c in _ENDS.split(_SINCE.sub(r"\1", _STILL.sub("stationary", _EGO.sub("we", s))))
        if c and re.search(r"\w", c)
    ]
    cores = [i for i, c in enumerate(clauses) if _is_there(word, c)]
    return any(
        _hangs(clauses, core, act, word)
        for core in cores
        for act in range(max(core - 2, 0), min(core + 2 + _MOST_BETWEEN, len(clauses)))
    ) or bool(
        cores and any(_acts_on(word, c) and not _blamed(clauses, i, word) for i, c in enumerate(clauses))
    )


def _is_there(word: str, clause: str) -> bool:
    if aside(clause) and not COMING.search(clause):
        return False
    return any(
        _leads(acts_out(clause[:at])) and _follows(clause[at + len(w) :]) for w, at in mentions(word, clause)
    )


def aside(clause: str) -> bool:
    """Whether a clause puts what it names beside the road, or on something that is no road."""
    if ASIDE.search(clause):
        return True
    return any(
        not _ROADWAY.search(m.group(1))
        and all(class_of(w).name == "roadside thing" for w, _ in things(m.group(1)))
        for m in _UPON.finditer(clause)
    )


def mentions(word: str, clause: str) -> list[tuple[str, int]]:
    if word in VAGUE:
        return [(word, m.start()) for m in re.finditer(rf"\b{word}", clause)]
    if word == "leaves":  # "the ferry leaves"
        return [(word, m.start()) for m in re.finditer(r"(?<=of |et |ad )leaves\b|^leaves\b", clause)]
    name = class_of(word).name
    return [(w, at) for w, at in things(clause) if class_of(w).name == name]


def _leads(before: str) -> bool:
    """Whether what stands before a thing only leads up to it: ``there is a big brown``."""
    words = _words(re.sub(r"\b(?:an?|the) [\w-]+ of (?=[^,]*$)", "", before))
    free = 0
    while words and words[-1] not in _leading() | _QUANTITIES and free < _MOST_ADJECTIVES:
        words.pop()
        free += 1
    if free and words and words[-1] in ("my", "our", "their", "his", "her"):
        return False
    subject = next((i for i, w in enumerate(words) if things(w)), len(words))
    if any(w.endswith("ed") and w not in _leading() for w in words[subject + 1 :]):
        return False  # "somebody removed the"
    return all(
        w in _leading() or w.isdigit() or _DOES.fullmatch(w) or describes(w) or things(w) for w in words
    )


def _follows(after: str) -> bool:
    """Whether what stands behind it says where it is, or what it is doing there."""
    after = re.sub(r"^(?:e?s|'s)?\b", "", after)
    if NOT_HERE.search(after):
        return False
    words = _words(re.sub(r"\bwith (?:[\w-]+ ){0,2}[\w-]+", "", after))
    for i, w in enumerate(words):
        if (
            _DOES.fullmatch(w) or (w not in _known() and re.fullmatch(r"[a-z-]{3,}(?:ing|ed)", w))
        ) and w not in (
            "on",
            "out",
            "down",
        ):
            return not _TURNS.search(" ".join(words[i + 1 :]))
        if not (w in _known() or re.fullmatch(r"[\d.]+m?", w) or things(w) or describes(w)):
            return False
    return True


def _acts_on(word: str, clause: str) -> bool:
    """Whether a clause has the car react to ``word``: before it is named, or by its speaker."""
    mentioned = mentions(word, clause)
    if not mentioned or acts_out(clause) == clause:
        return False
    first = mentioned[0][1]
    return acts_out(clause[:first]) != clause[:first] or bool(_SPEAKER.search(clause))


def _hangs(clauses: Sequence[str], core: int, act: int, word: str) -> bool:
    """Whether the clause ``act``, near the one that has ``word``, has the car react, and no other reason
    is given."""
    clause = clauses[act]
    if act == core or acts_out(clause) == clause or mentions(word, clause) or _blamed(clauses, act, word):
        return False
    between = clauses[min(core, act) + 1 : max(core, act)]
    if act - core > _CLOSE and any(OTHER.search(c) and not mentions(word, c) for c in between):
        return False
    between = between[-_CLOSE:]
    if _BOUND.search(clause) and act > core:
        return all(_neutral(c, word) for c in between)
    last = len(between) - 1
    return only_known(clause) and all(
        _idle(c, word) or (i < last and _FRAGMENT.fullmatch(c) and not OTHER.search(c))
        for i, c in enumerate(between)
    )


def _blamed(clauses: Sequence[str], act: int, word: str) -> bool:
    """Whether the act's clause or the one after it gives a reason that is not ``word``."""
    if OTHER.search(clauses[act]) or ends_elsewhere(clauses[act]):
        return True
    after = clauses[act + 1] if act + 1 < len(clauses) else ""
    if _REFERS.search(after) or mentions(word, after) or _NO_OTHER_WAY.search(after) or _GROUND.search(after):
        return False
    return bool(
        OTHER.search(after) or _BECAUSE.search(after) or (_SPLICED.search(after) and not only_known(after))
    )


def ends_elsewhere(text: str) -> bool:
    """Whether it names an end ("to buy") that is none of a reaction's."""
    return any(not (w in _ENDS_MEANT or describes(w) or things(w)) for w in _TO.findall(text))


def _neutral(clause: str, word: str) -> bool:
    """Whether a clause between a thing and what is done about "it" brings up nothing else that "it" could
    be."""
    return _idle(clause, word) or not (
        things(clause) or OTHER.search(clause) or re.match(r"(?:my|our|the|an?|its)\b", clause)
    )


def _idle(clause: str, word: str) -> bool:
    """Whether a clause between a thing and the act can give the act no other reason."""
    if _BEHIND_US.search(clause) or (OTHER.search(clause) and not mentions(word, clause)):
        return False
    if _REFERS.search(clause) or mentions(word, clause) or re.match(r"\w+ing\b", clause):
        return True
    if _NO_OTHER_WAY.search(clause) or _ITEM.fullmatch(clause):
        return True
    rest = " ".join(w for w in _words(clause) if not _DOES.fullmatch(w))
    for other, _ in things(rest) if acts_out(clause) == clause else ():
        rest = rest.replace(other, "")
    return only_known(rest)


def only_known(clause: str) -> bool:
    """Whether a clause has no word that could be a reason: all are known, or only describe."""
    words = _words(re.sub(r"\bACT [a-z]+$", "ACT", acts_out(clause).strip()))
    return all(
        w in _known() or w == "ACT" or re.fullmatch(r"[\d.]+m?|[a-z]", w) or describes(w) for w in words
    )


def acts_out(clause: str) -> str:
    for pattern in (BRAKE, AROUND, SIDED, _PASS):
        clause = pattern.sub(" ACT ", clause)
    return clause


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9.'-]*[A-Za-z0-9']", text)
