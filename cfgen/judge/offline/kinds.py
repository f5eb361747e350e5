"""What kind of word a word is, by its looks: no dictionary and no model.

Words that describe ("stationary", "suddenly") neither name a thing nor give a reason, so that one which nobody listed
does no harm. Nouns and verbs do, and are told by what they are not.
"""

import re

#: Endings of English adjectives, adverbs and participles.
_DESCRIBES = re.compile(
    r"[a-z-]{2,}(?:ly|ous|ful|less|ive|able|ible|ary|ical|ial|ual|ant|ent|ish|ward|wards|wise|like)|"
    r"[a-z-]{3,}(?:ed|ing)"
)
#: Short ones, and colours.
_DESCRIBING = (
    "big huge large small tiny little tall long short heavy light dark bright thick thin young old "
    "elderly white black red brown grey gray green blue yellow orange silver golden pink purple beige "
    "lone single real live loose stray wet dry flat upright upside busy quiet calm slim nice fine "
    "strong hard poor rude silly typical odd strange weird fair quick rapid swift brief sharp mild "
    "deep steep broad narrow wild tame sick hurt lost shut ajar still idle mid off-centre metal "
    "wooden plastic steel rusty dirty muddy fat lame blind deaf drunk risky unsafe near low high "
    "right left dead smack bang plain sudden early late fast even ever never-ending double public "
    "main next last second third perpendicular parallel sideways askew athwart present solo maximum "
    "minimum immediate moderate adequate appropriate separate ultimate controlled"
)
_SHORT = frozenset(_DESCRIBING.split())
#: Nouns and verbs with the looks of one, and what describes a thing as not being there.
_NOT = re.compile(
    r"family|assembly|supply|butterfly|jelly|rally|ally|belly|fly|reply|apply|rely|drive|archive|motive|"
    r"detective|olive|"
    r"table|cable|vegetable|library|boundary|summary|diary|salary|secretary|trial|memorial|dial|ritual|"
    r"plant|giant|restaurant|elephant|tenant|infant|merchant|event|accident|moment|incident|student|agent|"
    r"client|"
    r"pavement|movement|appointment|apartment|department|monument|payment|comment|advertisement|parent|"
    r"president|"
    r"fish|dish|rubbish|finish|wish|forward|reward|award|wing|king|ring|thing|spring|string|morning|evening|"
    r"building|meeting|wedding|shopping|parking|lighting|ceiling|feeling|meaning|warning|painting|training|"
    r"drawing|"
    r"bed|shed|speed|need|feed|seed|weed|reed|creed|breed|feed|hundred|ride|likelihood|"
    r".*(?:imagin|fiction|suppos|alleg|believ|assum|report|claim|paint|print|mistak|suspect|dream|pictur|"
    r"photograph|reflect|possib|probab|potential|conceiv|hypothe|rare|seldom|usual|occasional|hard(?:ly)|"
    r"scarce|"
    r"formerly|previous|recent|absent|missing|lacking|normal|frequent|ment$).*"
)


def describes(word: str) -> bool:
    """Whether a lower-case word only describes: neither a thing nor a doing, nor a doubt."""
    return word in _SHORT or bool(_DESCRIBES.fullmatch(word) and not _NOT.fullmatch(word))
