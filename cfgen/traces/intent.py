"""What a justification says that the car will do, read strictly: where it could mean two things it means none."""

import re
from dataclasses import dataclass

from cfgen.geometry.manoeuvre import ASIDE

#: Clauses that give grounds; what moves in them is not the car.
_GROUNDS = re.compile(
    r"\b(?:because|since|as|while|due to|where|which|that|who|so that|in case|if|when|after|before)\b[^,.;:!?]*"
    r"|(?:^|(?<=[.;:!?] ))given\b[^,.;:!?]*",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:no need (?:to|for)|no reason (?:to|for)|not|never|without|rather than|instead of|neither|nor|needs? no|"
    r"no|\w+n['’]t)\b(?: (?!but\b|and\b|so\b|however\b)\w+){0,4} ?$",
    re.IGNORECASE,
)
_SPEEDS = {
    "stop": r"\bstop(?:s|ping)?\b(?! (?:sign|line|light|lamp|signal|bar))|\bhalt(?:s|ing)?\b"
    r"|\bstandstill\b|\bcom\w+ to rest",
    "yield": r"\bbrak(?:e|es|ing)\b(?! (?:light|lamp))|\bslow(?:s|ing)?\b|\bdecelerat\w+|\breduc\w+ (?:\w+ ){0,2}speed"
    r"|\byield\w*|\bgiv\w+ way|\beas\w+ off|\bshed\w* speed|\bwait(?:s|ing)?\b|\blower\w* (?:\w+ ){0,2}speed",
    "set speed tracking": r"\b(?:keep|maintain|hold|continu)\w*(?: \w+){0,3} (?:speed|pace)\b|\bcruis\w+"
    r"|\bsame (?:speed|pace)\b|\bspeed (?:stays|remains) (?:\w+ )?(?:the same|constant|unchanged)|\bsteady speed",
    "pass": r"\baccelerat\w+|\bspeed(?:s|ing)? up\b|\bgather\w* speed|\bpick\w* up (?:the )?(?:speed|pace)"
    r"|\bovertak\w+|\bgo\w* faster\b|\brais\w+ (?:\w+ ){0,2}speed",
}
_WAYS = {
    "turn": r"\bturn(?:s|ing)? (?:to the )?{side}\b|\b{side} turn\b",
    "lane change": r"\b(?:chang\w+|mov\w+|merg\w+|switch\w*|shift\w*)(?: \w+){{0,3}} {side}(?:-hand)? lane\b"
    r"|\bchang\w+ lanes? (?:to the )?{side}|\blane change (?:to the )?{side}|\b{side} lane change",
    "aside": r"\b(?:steer|nudg|shift|edg|swerv|veer|mov|pass|go|drift|swing|pull)\w*"
    r"(?: (?!turn)\w+){{0,5}} (?:to the |on the )?{side}\b(?!(?:-hand)? lane)"
    r"|\b(?:then|and) (?:back )?(?:to the )?{side}\b",
}
_STRAIGHT = re.compile(
    r"\b(?:stay|keep|remain|hold)\w*(?: \w+){0,3} lane\b|\blane keeping|\bstraight (?:on|ahead)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Intent:
    """``longitudinal`` and ``lateral`` as meta-actions (laterally also one of ``ASIDE``); "" where words are silent."""

    longitudinal: str = ""
    lateral: str = ""


def read_intent(justification: str) -> Intent | None:
    """What the words announce; None where they announce two things, deny something, or nothing can be told."""
    words = _GROUNDS.sub(" ", justification)
    longitudinal, lateral = _speed(words), _way(words)
    if longitudinal is None or lateral is None or not (longitudinal or lateral):
        return None
    return Intent(longitudinal, lateral)


def _speed(words: str) -> str | None:
    said = {
        name: [not _NOT.search(words[: m.start()]) for m in re.finditer(pattern, words, re.IGNORECASE)]
        for name, pattern in _SPEEDS.items()
    }
    found = {name for name, meant in said.items() if any(meant)}
    if found == {"stop", "yield"}:
        return "yield"  # braking, ready to stop: slowing is all that both of them mean
    if len(found) > 1:
        return None
    if found:
        return found.pop()
    if denied := {name for name, meant in said.items() if meant}:
        return "set speed tracking" if denied <= {"stop", "yield"} else None
    return ""


def _way(words: str) -> str | None:
    found = set()
    for side in ("left", "right"):
        for kind, pattern in _WAYS.items():
            if any(
                not _NOT.search(words[: m.start()])
                for m in re.finditer(pattern.format(side=side), words, re.IGNORECASE)
            ):
                found.add(f"to the {side}" if kind == "aside" else f"{kind} {side}")
    for side, exact in (("left", ASIDE[0]), ("right", ASIDE[1])):
        if exact in found and found - {exact} and all(f.endswith(side) for f in found):
            found.discard(exact)
    if _STRAIGHT.search(words):
        found.add("lane keeping")
    return None if len(found) > 1 else found.pop() if found else ""


# --- does an action follow? -----------------------------------------------------------------------------------

_PACE = {"stop": "slow", "yield": "slow", "set speed tracking": "keep", "pass": "fast"}


def follows(intent: Intent, longitudinal: str, lateral: str) -> bool | None:
    """Whether a declared action is the announced one (E3); None where neither can be said.

    Where words are silent about speed or way they contradict no speed and no small move aside.
    """
    both = _speed_follows(intent.longitudinal, longitudinal), _way_follows(intent.lateral, lateral)
    return False if False in both else None if None in both else True


def _speed_follows(said: str, declared: str) -> bool | None:
    if not said or said == declared:
        return True
    if declared == "speed adapt":
        return True if _PACE[said] == "slow" else None
    if declared not in _PACE:
        return None
    return _PACE[said] == _PACE[declared]


def _way_follows(said: str, declared: str) -> bool | None:
    side, kind = _side(declared), declared.removesuffix(" left").removesuffix(" right")
    if not declared or kind in ("merge", "pull over"):
        return None
    if not said:
        return True if kind in ("lane keeping", "in-lane nudge") else None
    if _side(said) != side:
        # a small move within the lane is still keeping it
        return None if {kind, said} == {"in-lane nudge", "lane keeping"} or _small(said, kind) else False
    if said == declared or said in ASIDE:
        return True if said not in ASIDE or kind != "turn" else None
    return False if "turn" in (kind, said.split()[0]) else None


def _small(said: str, kind: str) -> bool:
    return kind == "lane keeping" and said.startswith("in-lane nudge")


def _side(action: str) -> str:
    return next((side for side in ("left", "right") if action.endswith(side)), "")
