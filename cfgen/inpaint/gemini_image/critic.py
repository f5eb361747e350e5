"""A second model's opinion on an edit: shown before and after, not told what was asked, it names what was added."""

import json
import re
from dataclasses import dataclass
from typing import Any

from cfgen.core.plain import plain_json
from cfgen.hazards.vocabulary import class_of, things
from cfgen.models.base import Ask, Picture, Turn
from cfgen.records import Hazard

_SYSTEM = (
    "You compare two photographs of the same place, taken by the front camera of a car. You are given no hint of what "
    "differs. Look closely at both before you answer, and judge only what can be seen."
)
_QUESTION = (
    "What does the second photograph show that the first does not? Fill in the fields. added: the thing that was "
    "added, in a few plain words, or 'nothing' if you see no added thing. other_names: up to six other words that "
    "people might use for it, wider ones among them. size: 'yes' if its size is believable for where it stands, else "
    "'no'. place: 'yes' if it stands, lies or hangs where such a thing can be, in contact with the ground if it should "
    "be, else 'no'. why: one sentence for the two."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "added": {"type": "string"},
        "other_names": {"type": "array", "items": {"type": "string"}},
        "size": {"type": "string", "enum": ["yes", "no"]},
        "place": {"type": "string", "enum": ["yes", "no"]},
        "why": {"type": "string"},
    },
    "required": ["added", "other_names", "size", "place", "why"],
}
_NOTHING = ("", "nothing", "none", "no thing", "no change", "no difference")
#: Words of a name that say where, not what.
_IDLE = frozenset("the and into onto acro beside behind from over with toward out off lane road".split())  # noqa: SIM905


@dataclass(frozen=True)
class Finding:
    """What the critic saw."""

    added: str
    other_names: tuple[str, ...]
    size: bool
    place: bool
    why: str

    @property
    def report(self) -> dict[str, Any]:
        return {
            "added": self.added,
            "other_names": list(self.other_names),
            "size": self.size,
            "place": self.place,
            "why": self.why,
        }


def question(before: bytes, after: bytes) -> Ask:
    """``before`` and ``after``: the same crop as PNG."""
    parts = ("First:", Picture(before, "image/png"), "Second:", Picture(after, "image/png"), _QUESTION)
    return Ask(_SYSTEM, (Turn("user", parts),), "json", _SCHEMA)


def read_finding(text: str) -> Finding | None:
    """The critic's answer; None when it is not what was asked for."""
    try:
        fields = plain_json(json.loads(text))[0]
        return Finding(
            added=str(fields["added"]).strip()[:200],
            other_names=tuple(str(name)[:100] for name in fields["other_names"])[:6],
            size={"yes": True, "no": False}[fields["size"]],
            place={"yes": True, "no": False}[fields["place"]],
            why=str(fields["why"])[:400],
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def objection(finding: Finding, hazard: Hazard) -> str:
    """Why the edit is not what was asked for, or ""."""
    added = finding.added.lower().strip(" .!") not in _NOTHING
    if hazard.kind == "null":
        return f"sees '{finding.added}' where nothing was to be added" if added else ""
    if not added:
        return f"sees nothing added, asked was '{hazard.name}'"
    names = [finding.added, *finding.other_names]
    if not any(_same(name, hazard) for name in names):
        return f"sees '{finding.added}', asked was '{hazard.name}'"
    if not finding.size:
        return f"finds the size of '{finding.added}' implausible: {finding.why}"
    if not finding.place:
        return f"finds the place of '{finding.added}' implausible: {finding.why}"
    return ""


def _same(name: str, hazard: Hazard) -> bool:
    """Whether a name is of a kind of thing that the hazard's name holds or, if that has none, shares a word with it."""
    theirs, ours = name.lower(), hazard.name.lower()
    kinds = _kinds(ours)
    return bool(_kinds(theirs) & kinds if kinds else _words(theirs) & _words(ours))


def _kinds(text: str) -> set[str]:
    return {class_of(word).name for word, _ in things(text)}


def _words(text: str) -> set[str]:
    return {w.removesuffix("s") for w in re.findall(r"[a-z]{3,}", text)} - _IDLE
