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
