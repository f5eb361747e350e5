"""What a planner's words newly say, by keywords: which thing, where, and what it means to do about it.

It reads plain English by vocabulary; what is denied or only considered is out (:mod:`cfgen.judge.offline.negation`).
It weighs the modified answer against the original one: what was said before the scene changed is no reaction to it.
A screen, not a judge: where it is in doubt, nothing was said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cfgen.hazards.vocabulary import class_of, things, vague_words
from cfgen.judge.offline.acts import (
    AFTERWARDS,
    AROUND,
    BRAKE,
    EXCESSIVE,
    GO_ON,
    HURRY,
    NAMES,
    OTHER_CAUSE,
    SIDED,
    denies,
)
from cfgen.judge.offline.doubt import ANIMALS, COMING, contradicted, hedged, scenery, strength, tied
from cfgen.judge.offline.negation import Mark, Said, said_of
from cfgen.judge.offline.spelling import spelt
from cfgen.models.quote import MAX_CHARS
from cfgen.records import Plan

_PLACE = r"\b(?:on|to|from|at|in|along|by|near)\s+(?:the|our|my|its)?\s*(?:far\s+|near\s+|opposite\s+)?(left|right)\b"
_FROM_TO = re.compile(r"\b(?:from )?(?:the )?(?:left to (?:the )?right|right to (?:the )?left)\b")
_PLACE_BARE = r"\b(left|right)(?:-hand)?\s+(?:shoulder|side|edge|lane|kerb|curb|sidewalk|pavement|verge)\b"
_OUR_LANE = (
    r"\b(?:in|on|blocking|blocks|across|occupying|over|fill(?:s|ing))\s+(?:our|my|the ego|ego)\s+"
    r"(?:own )?(?:lane|path|half)\b|"
    r"\b(?:straight|dead) ahead\b|\bright in front of (?:us|me)\b"
)
_OTHER_LANE = (
    r"\b(?:in|on|along|within)\s+(?:the |an? )?(?:oncoming|opposite|opposing|adjacent|next|neighbouring|"
    r"other|far)\s+"
    r"(?:lane|carriageway|side|direction)\b"
)
_BEHIND = (
    r"\bbehind (?:us|me|the ego|our (?:car|vehicle)|my car)\b|"
    r"\bin (?:the|my|our) (?:rear[- ]?view |wing )?mirror\b"
)
#: "30 m ahead": metres, and what else they are told in.
_FAR = (
    r"\b(\d+(?:\.\d+)?) ?(m|metres?|meters?|ft|feet|yards?)\b"
    r"(?= (?:ahead|away|off|out|in front|down|from (?:us|me|here)|up the road))"
)
_METRES = {"f": 0.3048, "y": 0.9144, "m": 1.0}
_OFF_ROAD = (
    r"\b(?<!off the )(?<!left the )(?<!leaves the )(?<!from the )"
    r"(?:shoulder|sidewalk|pavement|verge|roadside|kerb|curb|away from (?:our|my|the ego) lane|lay-?by|"
    r"foot ?path|(?:cycle|bike) (?:path|track)|(?:on|at|by|along) the (?:side|edge) of the (?:road|street)|"
    r"parked (?:along|on|at|by|beside|up|nose)|along the (?:road|street|kerb))\b"
)
_IN_LANE = (
    r"\b(?:in|into|onto|on|blocking|across|occupying|over)\s+(?:our|my|the ego|ego|the|both)?\s*(?:lanes?|"
    r"path|way|"
    r"road|carriageway)\b|\bstraight ahead\b"
)
_ROLE = re.compile(
    r"\b(?:stopped|stationary|fallen|oncoming|wrong way|wrong side|towards us|at us|facing us|crossing|"
    r"blocking|"
    r"blocks|stalled|entering|leaves|leaving|(?:pull|turn|mov|edg|roll|step|swing|open|brak|nos|inch|forc|squeez)(?:e?s|ing)|"
    r"swung|overturned|burning|cutting|crashed|broken down|reversing|pulling out|overtaking|"
    r"(?:in|on|into|onto|across|over) (?:our|my|the ego) (?:lane|path|way|side))\b"
)
_DOING = re.compile(r"s?(?:\s+(?:is|are|was|that is|who is))?(?:\s+\w+ing\b)+")

#: Sentences with these speak to whoever grades, not about the road.
_ADDRESSED = re.compile(
    r"\b(?:scor(?:e|es|ed|ing)|rubric|judges?|grad(?:er|ers|ing)|verdict|evaluat(?:e|es|or|ors|ion)|"
    r"instructed|prompt|"
    r"assistant|planners?|full marks|ignore (?:all|the|any|previous)|disregard|override|element_\w+|json|"
    r"output)\b|"
    r"_score|language model|\bsystem(?: note)?\s*:|note_to|<explanation|\bthinking\s*[:>]|\buser\s*:|"
    r"\bexplanation\s*:"
)
#: What the car does not pass is there.
_NOT_PAST = re.compile(
    r"\b(?:not|cannot|can't|won't|don't|never)(?: going to| want to| try to| be able to)? "
    r"(?:pass|overtake|get past|see past|see around|(?:go|drive|steer|swerve|get) a?round|"
    r"squeeze past) (?=the |this |that |an? )"
)
#: A verdict that the planner wrote for itself.
_FAKE = re.compile(r"<((?=\w{0,60}(?:score|element_|explanation|verdict))\w{1,80})>[^<]*</\1>")
_OPENED = re.compile(r"\b(?:open\w*|swing\w*|swung|ajar|flung|flies|flew)\b")
#: Words for one thing: the second mention of one that was there before names nothing new.
_SAME = (
    "car vehicle sedan suv hatchback automobile taxi",
    "truck lorry lorries semi hgv pickup pick-up van",
    "pedestrian person people somebody someone walker",
    "cyclist bicyclist bicycle bike rider",
    "tree trunk log branch branches",
    "leaves bush hedge shrub",
    "puddle ice icy mud slippery",
)
#: Of these classes nothing is ever what a driver has to answer to.
_SCENERY = ("signal", "roadside thing")
#: Fair words for things that lie about, where they are said to be in the way.
OBSTACLES = ("obstacle", "obstruction", "object", "blockage")
#: What a longer answer decides stands at its end: of more sentences than the first, the last ones.
_LONG, _LAST = 8, 4


@dataclass(frozen=True)
class Spot:
    """Where an answer puts a thing: "left" and "right", off or on the road, m ahead.

    ``our_lane``: it is there already; ``other_lane``: it is in another one. Empty and False where it does not say.
    """

    sides: frozenset[str] = frozenset()
    off_road: bool = False
    in_lane: bool = False
    our_lane: bool = False
    other_lane: bool = False
    behind: bool = False
    distances: tuple[float, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What the modified answer says that the original did not.

    Attributes:
        named: words for road objects that are new, in order. spots: where it puts each.
        vague: it notices, without saying what. blocked: ... and that it is in the way.
        brake, around: what it means to do; steer: the sides it means to steer to.
        refused: it says that no reaction is needed. goes_on: that it drives on. denied: that nothing is there.
        excessive: that it stops for good.
        elsewhere: what it does has other grounds.
        same: the words did not change.
        tied: things, new or not, that a reaction in words hangs on. unsure: named ones that it is not sure of.
        strength: of its reaction, "stop", "slight" or "".
        contradicted: its meta-action goes to another side than its words. hurries: it means to go faster.
        sentences: what is new, lower case. shown: the things that each affirms. acting: those in which the car reacts.
    """

    named: tuple[str, ...] = ()
    spots: Mapping[str, Spot] = field(default_factory=dict)
    vague: bool = False
    blocked: bool = False
    brake: bool = False
    around: bool = False
    steer: frozenset[str] = field(default_factory=frozenset)
    refused: bool = False
    goes_on: bool = False
    denied: bool = False
    elsewhere: bool = False
    excessive: bool = False
    same: bool = False
    tied: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    strength: str = ""
    contradicted: bool = False
    hurries: bool = False
    sentences: tuple[str, ...] = ()
    shown: tuple[frozenset[str], ...] = ()
    acting: frozenset[int] = frozenset()

    @property
    def reacts(self) -> bool:
        return not (self.refused or self.goes_on) and (self.brake or self.around or bool(self.steer))


def read(original_text: str, original: Plan, modified_text: str, modified: Plan) -> Reading:
    """Compare two answers by their traces; where a trace is empty, by the words outside waypoints and tags."""
    before, after = spoken(original_text, original), spoken(modified_text, modified)
    if before == after and _actions(original) == _actions(modified):
        return Reading(same=True)
    known, old = set(before), {w for w, _ in _things_said(" . ".join(before))}
    fresh = [s for s in after if s not in known]
    text = " . ".join(fresh)
    said, sentences = said_of(text, _marks(text))
    new = [s for s in said if s.mark.kind == "thing" and s.affirmed and not _is_old(s.mark.word, old)]
    named = tuple(dict.fromkeys(s.mark.word for s in new))
    named += tuple(w for w in _known_thing_in_a_new_role(before, said, sentences) if w not in named)
    named = _themselves(named, sentences)
    vague = {s for s in said if s.mark.kind == "vague" and s.affirmed}
    vague = {s for s in vague if s.mark.word not in vague_words(" . ".join(before))}
    return Reading(
        named=named,
        spots={word: _spot(word, fresh) for word in named},
        vague=bool(vague),
        blocked=any(
            s.mark.word in OBSTACLES
            and re.search(_IN_LANE, sentences[s.sentence])
            and not hedged(s.mark.word, sentences)
            for s in vague
        ),
        denied=_denied(said, sentences, named),
        excessive=any(EXCESSIVE.search(sentences[i]) for i in _with(said, "brake", "around")),
        unsure=frozenset(w for w in named if hedged(w, sentences) or scenery(w, sentences)),
        sentences=tuple(sentences),
        shown=_shown(said, len(sentences)),
        **_intent(said, sentences, named, original, modified),
    )


def _with(said: list[Said], *kinds: str) -> set[int]:
    """The sentences that hold marks of these kinds."""
    return {s.sentence for s in said if s.mark.kind in kinds}


def _denied(said: list[Said], sentences: list[str], named: tuple[str, ...]) -> bool:
    """Whether it says that nothing is there, and names nothing after that."""
    naming = [s.sentence for s in said if s.mark.kind == "thing" and s.affirmed and s.mark.word in named]
    return any(denies(s) for s in sentences[max(naming, default=0) :])


def _shown(said: list[Said], count: int) -> tuple[frozenset[str], ...]:
    """The things that each sentence affirms."""
    shown: list[set[str]] = [set() for _ in range(count)]
    for s in said:
        if s.mark.kind == "thing" and s.affirmed:
            shown[s.sentence].add(s.mark.word)
    return tuple(map(frozenset, shown))


def _spot(word: str, sentences: list[str]) -> Spot:
    placed = _FROM_TO.sub(" ", " . ".join(c for s in sentences for c in _clauses(s) if word in c))
    alone = " . ".join(s for s in sentences if {w for w, _ in things(s)} == {word})
    return Spot(
        frozenset(re.findall(_PLACE, placed)) | frozenset(re.findall(_PLACE_BARE, placed)),
        bool(re.search(_OFF_ROAD, placed)),
        bool(re.search(_IN_LANE, placed)),
        bool(re.search(_OUR_LANE, placed)) and not COMING.search(placed),
        bool(re.search(_OTHER_LANE, placed)),
        bool(re.search(_BEHIND, placed)),
        tuple(float(number) * _METRES[unit[0]] for number, unit in re.findall(_FAR, alone or placed)),
    )


def _actions(plan: Plan) -> tuple[str, str]:
    return plan.trace.longitudinal, plan.trace.lateral


def _is_old(word: str, old: set[str]) -> bool:
    if word in old or class_of(word).name in _SCENERY:
        return True
    return any(word in group.split() and old & set(group.split()) for group in _SAME)


def _marks(text: str) -> list[Mark]:
    marks = [Mark(at, at + len(word), "thing", word) for word, at in things(text)]
    marks += [
        Mark(m.start(), m.end(), "vague", w) for w in vague_words(text) for m in re.finditer(rf"\b{w}", text)
    ]
    acting = NAMES.sub(lambda m: " " * len(m.group()), _own_doing(text))
    for kind, pattern in (
        ("brake", BRAKE),
        ("around", AROUND),
        ("steer", SIDED),
        ("on", GO_ON),
        ("hurry", HURRY),
    ):
        for m in pattern.finditer(acting):
            marks.append(Mark(m.start(), m.end(), kind, m.group(1) if kind == "steer" else m.group()))
    return marks


def _things_said(text: str) -> list[tuple[str, int]]:
    """What a text affirms: things that it says are not there can still be new."""
    marks = [Mark(at, at + len(word), "thing", word) for word, at in things(text)]
    return [(s.mark.word, s.mark.start) for s in said_of(text, marks)[0] if s.affirmed]


def _themselves(named: tuple[str, ...], sentences: list[str]) -> tuple[str, ...]:
    """Without "the animal" where a dog is named, and without doors that nobody opens."""
    kinds = {class_of(w).name for w in named}
    if kinds & ANIMALS:
        named = tuple(w for w in named if class_of(w).name != "animal")
    opened = any("door" in s and _OPENED.search(s) for s in sentences)
    return tuple(w for w in named if opened or class_of(w).name != "door")


def _known_thing_in_a_new_role(before: list[str], said: list[Said], sentences: list[str]) -> tuple[str, ...]:
    """A thing that was named before counts when its sentence now says that it does something to us."""
    was = {r for s in before for r in _ROLE.findall(s)}
    roles = [set(_ROLE.findall(sentence)) - was for sentence in sentences]  # once each: mentions are many
    words = [
        s.mark.word
        for s in said
        if s.mark.kind == "thing"
        and s.affirmed
        and class_of(s.mark.word).name not in _SCENERY
        and roles[s.sentence]
    ]
    return tuple(dict.fromkeys(words))


def _intent(
    said: list[Said], sentences: list[str], named: tuple[str, ...], original: Plan, modified: Plan
) -> dict[str, Any]:
    """What it means to do: by its words where it decides, and by meta-actions that changed."""
    decides = len(sentences) - _LAST if len(sentences) > _LONG else 0
    acts = [s for s in said if s.mark.kind in ("brake", "around", "steer", "on")]
    hurry = [s for s in said if s.mark.kind == "hurry" and s.affirmed and s.sentence >= decides]
    meant = [s for s in acts if s.affirmed and s.sentence >= decides]
    ours = [s for s in meant if s.mark.kind != "on"]
    spoken_of = {s.sentence for s in said if s.mark.kind == "thing" and s.mark.word in named}
    grounds = {
        s.sentence for s in ours if s.sentence not in spoken_of and OTHER_CAUSE.search(sentences[s.sentence])
    }
    kinds = {s.mark.kind for s in ours}
    said_steer = frozenset(s.mark.word for s in ours if s.mark.kind == "steer")
    steer = set(said_steer)
    (lon, lat), (old_lon, old_lat) = _actions(modified), _actions(original)
    steer |= {side for side in ("left", "right") if lat != old_lat and side in lat}
    brake = "brake" in kinds or (lon != old_lon and lon in ("stop", "yield", "follow lead vehicle"))
    around = "around" in kinds or (lat != old_lat and any(w in lat for w in ("nudge", "change", "pull over")))
    on = any(s.mark.kind == "on" for s in meant)
    drives_on = (lon, lat) == ("set speed tracking", "lane keeping") or (on and not ours)
    return {
        "brake": brake,
        "around": around,
        "steer": frozenset(steer),
        "goes_on": drives_on,
        "refused": any(s.mark.kind != "on" for s in acts) and not ours and not (brake or around or steer),
        "tied": tied(ours, [s for s in said if s.mark.kind in ("thing", "vague") and s.affirmed], sentences),
        "strength": strength(ours, sentences),
        "contradicted": contradicted(said_steer, lat),
        "hurries": "brake" not in kinds and not all(_afterwards(s, sentences) for s in hurry),
        "acting": frozenset(s.sentence for s in ours),
        "elsewhere": bool(grounds) and grounds == {s.sentence for s in ours},
    }


def _afterwards(act: Said, sentences: list[str]) -> bool:
    """Whether an act is only done once something else is over."""
    before, _, after = sentences[act.sentence].partition(act.mark.word)
    return bool(AFTERWARDS.search(f"{before}<{after}"))


def _clauses(sentence: str) -> list[str]:
    """Parts of a sentence; without those that say a place is free, and what the car does to a side."""
    parts = re.split(r"[,:()–—]| and | so | but ", sentence)
    kept = [p for p in parts if not re.search(r"\b(?:free|empty|clear|open|room)\b", p)]
    return [SIDED.sub(" ", p) for p in kept]


def _own_doing(text: str) -> str:
    """What a thing is said to be doing blanked: in "the rider swerving ahead" it is not the car that
    swerves."""
    kept, start = [], 0
    for word, at in things(text):
        end = at + len(word)
        if end >= start and (doing := _DOING.match(text, end)):
            kept += [text[start:end], " " * (doing.end() - end)]
            start = doing.end()
    return "".join([*kept, text[start:]])


def spoken(text: str, plan: Plan) -> list[str]:
    """Lower-case sentences about the road, spelt right: of the trace, or of the raw words."""
    words = f"{plan.trace.scene}\n{plan.trace.justification}"
    if not words.strip():
        words = re.sub(r"<wp>[^<]*</wp>", "\n", text[:MAX_CHARS])
    words = _FAKE.sub(" ; ", words[:MAX_CHARS].lower().replace("\u2019", "'"))
    words = re.sub(r"<[^<>]{0,200}>", " ; ", words)
    words = re.sub(r'"\s*,\s*"', " ; ", words)
    words = re.sub(r":\s*(none|no|nil)(?=[.,;\n]|$)", r" none", words)
    words = _NOT_PAST.sub("remain by ", words)
    words = re.sub(r"\s(?:-+|[-=]>|→)\s", " — ", words)
    parts = re.findall(r"(?:[^.!?;\n]|\.(?=\d))+[.!?;\n]*", words)
    tidy = (" ".join(p.split()).strip(" ;.!-*") for p in parts)
    return [spelt(p) for p in tidy if re.search(r"\w", p) and not _ADDRESSED.search(p)]
