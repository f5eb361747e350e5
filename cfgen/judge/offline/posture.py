"""Who stands or rides is taller than who lies, sits or is a child: it tells people from things of their size."""

import re
from collections.abc import Sequence

#: What who stands or rides is at least tall, m; children are not told from grown people by these words.
STANDS_M = 1.55
_GROWN = (
    "cyclist bicyclist motorcyclist biker pedestrian man woman worker officer policeman policewoman workman motorist "
    "gentleman lady bloke constable firefighter paramedic labourer roadworker flagger jogger runner"
)
GROWN = frozenset(_GROWN.split())
_LOW = re.compile(
    r"\b(?:lying|lies?|laid|fall\w*|fell|down|crouch\w*|kneel\w*|knelt|squat\w*|sits?|sitting|seated|sat|prone|toppl\w*|"
    r"tumbl\w*|slump\w*|collaps\w*|crash\w*|came off|come off|off (?:his|her|the|their) (?:bi|mo|sc)\w*|ground|bend\w*|"
    r"bent|dig\w*|wheelchair|unconscious|motionless|injured|sprawl\w*|stretched|small|little|young|boy|girl|child\w*|"
    r"kid)\b"
)


def upright(sentences: Sequence[str]) -> bool:
    """Whether nothing says that somebody lies, sits or is small."""
    return not any(map(_LOW.search, sentences))


#: They ride, or bring their tools and signs.
_NEVER_SLIM = (
    "cyclist bicyclist motorcyclist biker motorist worker workman labourer roadworker flagger firefighter "
    "paramedic"
)
_WIDER = frozenset(_NEVER_SLIM.split())
_MORE = re.compile(
    r"\b(?:and|two|three|four|several|some|group|pair|couple|people|both|with|pushing|carrying|"
    r"walking (?:a|an|his|her)|"
    r"arms?|men|women|crew|team|bi(?:ke|cycle)|dog)\b"
)


def slim(word: str, sentences: Sequence[str]) -> bool:
    """Whether ``word`` is one grown person on foot with nothing beside: taller than wide."""
    if word not in GROWN - _WIDER:
        return False
    about = [s for s in sentences if word in s]
    return upright(sentences) and not any(_MORE.search(s) or f"{word}s" in s for s in about)
