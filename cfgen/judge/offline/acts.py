"""Words for what a driver means to do: brake, steer, or go on. English, lower case."""

import re

#: "stop" and "slow" that are no doing of the car's
NAMES = re.compile(
    r"\b(?:bus|tram|taxi)[- ]stops?\b|\bstop[- ](?:sign|paddle|line|arm|light|board)s?\b|\bslow[- ]moving\b|"
    r"\bstop(?:ped|ping)? (?:truck|lorry|van|car|bus|vehicle)s?\b|\bbrak(?:e|ing)[- ]lights?\b|"
    r"\bspeed (?:bump|hump)s?\b|"
    r"\b(?:drop|hold|wait|slow)(?:ped|ed)? (?:cyclist|tractor|vehicle|car|truck|rider)s?\b|\bslow(?:er)? lane\b"
)
_SPEED = r"(?:speed|pace|velocity)"
_PEDAL = r"(?:throttle|gas|accelerator|power|pedal)"
BRAKE = re.compile(
    r"\b(?:slow(?:s|ing|ed)?\b|brak(?:e|es|ed|ing)\b|decel\w*|stop(?:s|ping)?\b|yield(?:s|ing)?\b|"
    r"giv(?:e|es|ing) way|"
    rf"(?:reduc|lower|cut|shed|drop|los|tak|shav)(?:e|es|ing|s|ping|ting|ding)?\b[^.,;]{{0,24}}\b{_SPEED}|"
    rf"{_SPEED} (?:is |gets )?(?:being )?(?:reduced|lowered|cut)|reduction (?:in|of) (?:the )?{_SPEED}|"
    r"wait(?:s|ing)?\b|halt(?:s|ing)?\b|creep\w*|crawl(?:s|ing)?\b|standstill|walking (?:pace|speed)|"
    rf"(?:come|comes|coming|get|ease|easing|lift|lifting|back|backing) (?:right )?off\b(?: the {_PEDAL})?|"
    rf"(?:scrub|bleed|wash)(?:s|bing|ing)? (?:off )?(?:some |the |my )?{_SPEED}|"
    r"throttl(?:e|es|ing) (?:back|down)|coast(?:s|ing)?\b|"
    rf"(?:release|releasing|off) the {_PEDAL}|on the brakes?|brakes? on|foot (?:is )?off|speed (?:comes )?down|"
    r"giv(?:e|es|ing) (?:it|him|her|them|that|the \w+) (?:more |some |plenty of |the )?(?:time|priority|"
    r"space|room)|"
    r"(?:sit|wait|queue|trail|stick|remain)(?:s|ting|ing)? behind|pause\b|remain(?:s|ing)? stopped|roll(?:s|"
    r"ing)? to a|"
    rf"off the {_PEDAL}|lift(?:s|ing)?\b(?! (?:a |the )?(?:bag|box))|eas(?:e|es|ing) (?:up|back|down)|"
    r"(?:hang|hold|drop|fall|stay|keep)(?:s|ing|ping)? (?:well )?(?:back|behind)|tuck(?:s|ing)? in|"
    r"slam\w*|hit(?:ting)? the brakes|anchors?\b|pull(?:s|ing)? up\b|com(?:e|es|ing) (?:to a|to rest|down to)|"
    r"bring\w* (?:it|her|the car)|"
    r"match(?:es|ing)? (?:its|his|her|their|the)|follow(?:s|ing)? (?:the )?lead|"
    r"(?:let|lets|letting)\b[^.;]{0,30}\b(?:pass|cross|by|through|go|clear|run|out|past|waddle|off|time|"
    r"finish)|"
    r"(?:drop|down|slow|ease|reduce|brake|fall|go|roll)(?:s|ing|ping)? (?:down )?to (?:about |around |some )?\d|"
    r"(?:shed|drop|bleed|scrub|lose|cut|trim|take)(?:s|ting|ding|ping)? (?:off |about |"
    r"around )?\d+(?:\.\d+)? ?(?:m/s|km/h|mph)|"
    r"\d+(?:\.\d+)? ?(?:m/s |km/h )?(?:->|→|—|to) ?\d+(?:\.\d+)? ?(?:m/s|km/h|mph)|"
    r"(?:v|speed|target)(?: speed)? ?(?:=|->|→|to|at)? ?(?:\d|zero)(?!\d)|v/2|match(?:es|ing)? \d|"
    rf"adapt(?:s|ing)?\b[^.,;]{{0,16}}\b{_SPEED}|moderat(?:e|es|ing)\b[^.,;]{{0,12}}\b{_SPEED}|"
    r"tak(?:e|es|ing) (?:it |things )?slow\w*|(?:be|being|get|gets|getting) (?:slow|on the brakes?)|"
    r"dead stop|full stop|"
    r"(?:sit|sits|sitting|stays?|hangs?|holds?|keeps?) (?:\d+(?:\.\d+)? ?m|well) (?:back|behind)|"
    r"stand(?:s|ing)? on (?:the |my )?brakes?|"
    r"stay(?:s|ing)? put|hold(?:s|ing)? (?:here|short|off))\b"
)
SIDED = re.compile(
    r"(?:\b(?:steer\w*|nudg\w*|swerv\w*|veer\w*|shift\w*|mov(?:e|es|ing)|edg(?:e|es|ing)|go(?:es|ing)?|"
    r"chang\w+|turn\w*|drift\w*|"
    r"pass(?:es|ing)?|merg(?:e|es|ing)|pull(?:s|ing)?|bear\w*|switch\w*|hug\w*|offset\w*|deviat\w*|slip(?:s|"
    r"ping)?|eas(?:e|es|ing) over|squeez\w+|keep(?:s|ing)?|swing\w*|get\w*|tak(?:e|es|ing)|"
    r"lane change|out)\b(?:(?!\b(?:on|at|from|in|near)\b)(?:[^.,;]|\.(?=\d))){0,40}?|\bpass(?:es|"
    r"ing)?\b[^.,;]{0,40}?)"
    r"\b(left|right)(?:wards?|most)?\b(?! (?:away|down|up|in front|off))"
)
AROUND = re.compile(
    r"\b(?:avoid\w*|(?:go|goes|going|steer\w*|pass\w*|driv\w+|get\w*|mov\w+|swing\w*|manoeuvre|maneuver|"
    r"pull\w*|edge|way|out|"
    r"weave) (?:\w+ ){0,2}?(?:around|round|clear|past|over)|(?:a?round) (?:it|the|him|her|them|that)|"
    r"evad\w*|evasive|squeez\w+ past|keep(?:s|ing)? (?:well )?(?:clear|away|(?:my |our |a |"
    r"plenty of )?distance)|"
    r"mov(?:e|es|ing) over|swerv\w*|"
    r"(?:steer|stay)(?:s|ing)? (?:well )?clear|(?:leav|giv)(?:e|es|ing) (?:it |him |her |them |the \w+ )?"
    r"(?:more|extra|plenty of|enough|a lot of|ample|wide) (?:room|space|clearance|margin)|"
    r"extra (?:room|space|clearance)|"
    r"sidestep\w*|dodg\w+|skirt\w*|wide berth|bypass\w*|overtak(?:e|es|ing)|chang(?:e|es|ing) (?:lanes?|"
    r"over|to)|"
    r"lane change|switch(?:es|ing)? (?:lanes?|to)|(?:next|other|adjacent|neighbouring) lane|plenty of room|"
    r"with room)\b"
)
GO_ON = re.compile(
    r"\b(?:carry(?:ing)? on|carries on|continu\w+|proceed\w*|"
    rf"keep(?:s|ing)? (?:going|rolling|driving|(?:my|our|the|its)? ?{_SPEED})|"
    rf"maintain\w*|hold(?:s|ing)? (?:\d|{_SPEED}|my|our)|cruis\w+|driv(?:e|es|ing) on|go(?:es|ing)? on|"
    r"no change|unchanged|as before|"
    r"roll over|drive over|straight over|(?:keep|keeping) (?:to )?\d+)\b"
)
#: Going faster because of a thing: no answer to a hazard.
HURRY = re.compile(
    r"\b(?:speed(?:s|ing)? up|accelerat\w+|hurry\w*|hurries|floor(?:s|ing)? it|step(?:s|ping)? on (?:it|"
    r"the gas)|"
    r"full throttle|rush(?:es|ing)?|rac(?:e|es|ing) (?:past|by|through|ahead)|nip (?:past|by)|beat (?:it|"
    r"him|her|them)|"
    r"(?:pick|picking) up (?:the )?(?:speed|pace)|"
    r"(?:increas|gain|add|rais)(?:e|es|ing|s)? (?:\w+ ){0,2}?(?:speed|pace)|"
    r"more (?:gas|throttle|speed)|full throttle|outrun\w*|gun(?:s|ning)? it|"
    r"put(?:s|ting)? my foot down|(?:go|going|drive|driving|get by|get past) faster)\b"
)
#: ... what is done only afterwards: said before it, or anywhere.
AFTERWARDS = re.compile(
    r"\b(?:then|before)\b[^<]*<|\b(?:once|after\w*|until|till|when|again|resum\w+|later|as soon as)\b"
)
#: Grounds for slowing that are no hazard on the road.
OTHER_CAUSE = re.compile(
    r"\b(?:bends?|curves?|corners?|bumps?|humps?|sun(?:light)?|glare|dazzl\w+|dusk|dawn|comfort|"
    r"speed limits?|limit|wind|gusts?|"
    r"precaution|habit|hedges?|blind|junction|crest|hill|slope|gradient|cobbles?|rain|visibility|school zone|"
    r"zone|fuel|schedule|traffic light|red light|amber)\b"
)
#: What says of the whole scene that nothing is there.
DENIAL = re.compile(
    r"\bnothing (?:new|ahead|unusual|else|special|on the|in the|in our|in my|to |worth|that calls|there|"
    r"has changed|"
    r"of note|in sight)|"
    r"\bno (?:obstacles?|hazards?|dangers?|objects?|change|changes|threats?|risks?|special)\b|\b(?:no one|"
    r"nobody)\b(?!(?:'s \w+| is|'s)? (?:behind|follow|com|hurt|wait|next to|beside|can|knows|else))|"
    r"\b(?:road|lane|street|path|way|carriageway)(?: (?:ahead|itself|before (?:me|us)|in front(?: of (?:me|"
    r"us))?))? "
    r"(?:(?:is|are|remains?|looks?|stays?|seems?) )?(?:all |still |completely |quite )?(?:clear|free|empty)\b"
)
#: ... where it speaks of another lane or of what follows.
_ELSEWHERE = re.compile(
    r"\b(?:left|right|other|oncoming|opposite|adjacent|next|neighbouring|middle|fast|until|till|once|when|"
    r"before|centre|center|passing|"
    r"overtaking|l|r|outer|inner|if|opposing|bike|bus|except|but|apart|rather)\b"
)


#: Stopping without end for what needs less.
EXCESSIVE = re.compile(
    r"\b(?:engine off|further (?:instructions?|notice)|for good|indefinitely|for ?ever|"
    r"as long as it takes|until (?:help|the police|someone|somebody|told)|u-turn|turn (?:around(?! (?:it|"
    r"him|her|them|the)\b)|back)|abandon\w*|"
    r"(?:a|one|two|several|some) minutes?\b(?! ago)|"
    r"(?:thirty|sixty|twenty|30|60|20) ?s(?:ec|econds?)?)\b"
)


def denies(sentence: str) -> bool:
    """Whether a sentence says that nothing is there, and names no exception."""
    return bool(DENIAL.search(sentence)) and not _ELSEWHERE.search(sentence)
