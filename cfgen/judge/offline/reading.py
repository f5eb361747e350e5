"""What a planner's words newly say: which thing, where, and what it means to do about it.

It reads plain English by vocabulary. It weighs the modified answer against the original one: what was said before
the scene changed is no reaction to the change.
"""

import re
from dataclasses import dataclass, field

from cfgen.hazards.vocabulary import things, vague_words
from cfgen.models.quote import MAX_CHARS
from cfgen.records import Plan

_BRAKE = r"\b(?:slow(?:s|ing|ed)?|brak(?:e|es|ing)|decelerat\w*|stop(?:s|ping)?|yield(?:s|ing)?|giv(?:e|es|ing) way|"
_BRAKE += r"reduc(?:e|es|ing)[^.,;]{0,20}speed|wait(?:s|ing)?|halt(?:s|ing)?|lower(?:s|ing)?[^.,;]{0,12}speed|creep\w*|"
_BRAKE += r"com(?:e|es|ing) to a (?:stop|halt)|follow(?:s|ing)? (?:the )?lead)\b"
_STEER = r"\b(?:steer\w*|nudg\w*|swerv\w*|veer\w*|shift\w*|mov(?:e|es|ing)|edg(?:e|es|ing)|go(?:es|ing)?|"
_STEER += r"chang(?:e|es|ing) lanes?|lane change|turn\w*|drift\w*|"
_STEER += r"pass(?:es|ing)?|merg(?:e|es|ing)|pull(?:s|ing)?|bear\w*)"
#: "swerving on the left shoulder" is a place, "steers left" and "passes it on the left" are manoeuvres.
_SIDED = (
    rf"(?:{_STEER}\b(?:(?!\b(?:on|at|from|in|near)\b)[^.,;]){{0,40}}?|\bpass(?:es|ing)?\b[^.,;]{{0,40}}?)"
    r"\b(left|right)(?:wards?)?\b"
)
_AROUND = r"\b(?:avoid\w*|go(?:es|ing)? around|steer\w* (?:around|round|clear)|pass(?:es|ing)? (?:around|by)|"
_AROUND += r"around (?:it|the)|evad\w*|keep(?:s|ing)? clear|mov(?:e|es|ing) over|swerv\w*|sidestep\w*|"
_AROUND += r"go(?:es|ing)? round)\b"
_REFUSED = (
    r"\b(?:no|not|n't|never|without|nor|needless|unnecessary)\b(?:\s+\w+){0,4}?\s+"
    r"(?:slow\w*|brak\w+|decelerat\w*|stop\w*|yield\w*|react\w*|reaction|response|respond\w*|change|reduc\w*|wait\w*|"
    r"steer\w*|swerv\w*|nudg\w*|avoid\w*)"
)
_PLACE = r"\b(?:on|to|from|at|in|along|by|near)\s+(?:the|our|my|its)?\s*(?:far\s+|near\s+|opposite\s+)?(left|right)\b"
_PLACE_BARE = r"\b(left|right)(?:-hand)?\s+(?:shoulder|side|edge|lane|kerb|curb|sidewalk|pavement|verge)\b"
_OFF_ROAD = r"\b(?:shoulder|sidewalk|pavement|verge|roadside|kerb|curb|away from (?:our|my|the ego) lane)\b"
_IN_LANE = (
    r"\b(?:in|into|blocking|across|occupying)\s+(?:our|my|the ego|ego)\s+(?:lane|path)\b|\bstraight ahead\b"
)


_DOING = re.compile(r"s?(?:\s+\w+ing\b)+")

#: Sentences with these speak to whoever grades, not about the road.
_ADDRESSED = (
    r"\b(?:scor(?:e|es|ed|ing)|rubric|judge|grad(?:e|er|ing)|verdict|evaluat\w*|instruct\w*|prompt|assistant|system|user|"
    r"ignore (?:all|the|any|previous)|disregard|override|element_\w+|explanation|thinking|json|output)\b|_score"
)


#: A verdict that the planner wrote for itself.
_FAKE = r"<((?=\w{0,60}(?:score|element_|explanation|verdict))\w{1,80})>[^<]*</\1>"


@dataclass(frozen=True)
class Reading:
    """What the modified answer says that the original did not.

    Attributes:
        named: words for road objects that are new, in order. vague: it notices, without saying what.
        sides: "left" and "right" where it puts the object. off_road, in_lane: other places it gives.
        brake, around: what it means to do; steer: the sides it means to steer to.
        refused: it says that no reaction is needed.
        same: the words did not change.
    """

    named: tuple[str, ...] = ()
    vague: bool = False
    sides: frozenset[str] = frozenset()
    off_road: bool = False
    in_lane: bool = False
    brake: bool = False
    around: bool = False
    steer: frozenset[str] = field(default_factory=frozenset)
    refused: bool = False
    same: bool = False

    @property
    def reacts(self) -> bool:
        return not self.refused and (self.brake or self.around or bool(self.steer))


def read(original_text: str, original: Plan, modified_text: str, modified: Plan) -> Reading:
    """Compare two answers by their traces; where a trace is empty, by the words outside waypoints and tags."""
    before, after = _sentences(original_text, original), _sentences(modified_text, modified)
    actions = (original.trace.longitudinal, original.trace.lateral) == (
        modified.trace.longitudinal,
        modified.trace.lateral,
    )
    if before == after and actions:
        return Reading(same=True)
    known = set(before)
    fresh = [s for s in after if s not in known]
    old_text, new_text = " . ".join(before), " . ".join(fresh)
    old = {word for word, _ in things(old_text)}
    named = tuple(dict.fromkeys(w for w, _ in things(new_text) if w not in old))
    if not named:
        named = _known_thing_in_a_new_role(before, fresh)
    about = [s for s in fresh if any(w in named for w, _ in things(s))] or fresh
    placed = " . ".join(re.sub(_SIDED, " ", s) for s in about)
    brake, around, steer, refused = _intent(new_text, original, modified)
    return Reading(
        named=named,
        vague=bool(vague_words(new_text) - vague_words(old_text)),
        sides=frozenset(re.findall(_PLACE, placed)) | frozenset(re.findall(_PLACE_BARE, placed)),
        off_road=bool(re.search(_OFF_ROAD, placed)),
        in_lane=bool(re.search(_IN_LANE, placed)),
        brake=brake,
        around=around,
        steer=steer,
        refused=refused,
    )


def _known_thing_in_a_new_role(before: list[str], fresh: list[str]) -> tuple[str, ...]:
    """A thing that was named before counts when its sentence now says that it does something to us."""
    role = r"\b(?:stopped|stationary|fallen|oncoming|wrong way|wrong side|towards us|facing us|crossing|blocking|"
    role += (
        r"entering|overturned|burning|cutting|crashed|broken down|in our lane|in my lane|in the ego lane)\b"
    )
    said = {r for s in before for r in re.findall(role, s)}
    for sentence in fresh:
        if set(re.findall(role, sentence)) - said and (found := things(sentence)):
            return tuple(dict.fromkeys(w for w, _ in found))
    return ()


def _intent(new_text: str, original: Plan, modified: Plan) -> tuple[bool, bool, frozenset[str], bool]:
    """brake, around, steer, refused: from new sentences, and from the meta-actions where they changed."""
    refused = bool(re.search(_REFUSED, new_text))
    positive = _own_doing(re.sub(_REFUSED, " ", new_text))
    lon, lat = modified.trace.longitudinal, modified.trace.lateral
    new_lon = lon if lon != original.trace.longitudinal else ""
    new_lat = lat if lat != original.trace.lateral else ""
    steer = set(re.findall(_SIDED, positive))
    steer |= {side for side in ("left", "right") if side in new_lat}
    brake = bool(re.search(_BRAKE, positive)) or new_lon in ("stop", "yield", "follow lead vehicle")
    around = bool(re.search(_AROUND, positive)) or any(w in new_lat for w in ("nudge", "change", "pull over"))
    return brake, around, frozenset(steer), refused


def _own_doing(text: str) -> str:
    """Without what a thing is said to be doing: in "the rider swerving ahead" it is not the car that swerves."""
    kept, start = [], 0
    for word, at in things(text):
        end = at + len(word)
        if end >= start and (doing := _DOING.match(text, end)):
            kept += [text[start:end], " "]
            start = doing.end()
    return "".join([*kept, text[start:]])


def _sentences(text: str, plan: Plan) -> list[str]:
    """Lower-case sentences of the trace, or of the raw words."""
    spoken = f"{plan.trace.scene}\n{plan.trace.justification}"
    if not spoken.strip():
        spoken = re.sub(r"<wp>[^<]*</wp>", "\n", text[:MAX_CHARS])
    spoken = re.sub(_FAKE, " ; ", spoken[:MAX_CHARS].lower().replace("\u2019", "'"))
    spoken = re.sub(r"<[^<>]{0,200}>", " ; ", spoken)
    parts = (" ".join(p.split()) for p in re.split(r"[.!?;\n]+", spoken))
    return [p for p in parts if p and not re.search(_ADDRESSED, p)]
