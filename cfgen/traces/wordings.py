"""Many ways to say the same thing: scenes and justifications by what they mean.

``{thing}`` carries its article, ``{place}`` is where it stands, ``{side}`` left or right. A scene says nothing but that
the thing is there, so that it is as true of a frame as the thing is.
"""

import re

SCENES = (
    "There is {thing} {place}.",
    "I can see {thing} {place}.",
    "In view: {thing}, {place}.",
    "The camera shows {thing} {place}.",
    "What matters here is {thing} {place}.",
    "One thing stands out: {thing} {place}.",
    "{Thing} can be made out {place}.",
    "{Thing} is visible {place}.",
    "We have {thing} {place}.",
    "Straight from the picture: {thing} {place}.",
    "The road scene contains {thing} {place}.",
    "Of note in this frame is {thing} {place}.",
)

#: Nothing is in the car's way: false of a frame with something in its lane.
DENIALS = (
    "The lane ahead is empty; nothing stands in our way.",
    "No obstacle is to be seen in our lane.",
    "Our lane is free of people, vehicles and objects as far as one can see.",
    "There is nothing in the lane in front of us.",
    "The way ahead is clear of any object.",
    "I see an open lane with nothing on it.",
)

#: manoeuvre -> (longitudinal, lateral, sentences); ``{side}`` in the lateral action too
MANOEUVRES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "stop": (
        "stop",
        "lane keeping",
        (
            "Because of {thing} {place}, the car stops.",
            "We come to a halt since {thing} is {place}.",
            "{Thing} {place} leaves no choice but to stop.",
            "With {thing} {place}, I am stopping the car.",
            "The right thing to do about {thing} {place} is to stop.",
            "Given {thing} {place}, a full stop is called for.",
            "{Thing} is {place}, hence we stop in good time.",
            "I bring the car to a standstill because {thing} is {place}.",
            "The car will halt: {thing} {place}.",
            "Seeing {thing} {place}, the plan is to stop.",
        ),
    ),
    "yield": (
        "yield",
        "lane keeping",
        (
            "Because of {thing} {place}, the car slows down.",
            "I am braking since {thing} is {place}.",
            "{Thing} {place} makes us reduce our speed.",
            "With {thing} {place}, we ease off and give way.",
            "The car sheds speed on account of {thing} {place}.",
            "{Thing} is {place}, hence we decelerate.",
            "Speed has to come off: there is {thing} {place}, and so I brake.",
            "We yield to {thing} {place}.",
            "Out of caution about {thing} {place}, we are slowing.",
            "The car brakes early for {thing} {place}.",
        ),
    ),
    "keep": (
        "set speed tracking",
        "lane keeping",
        (
            "{Thing} {place} asks for nothing, and the car keeps its speed.",
            "We hold our speed past {thing} {place}.",
            "There is no need to slow down for {thing} {place}.",
            "Despite {thing} {place}, we continue at the same speed.",
            "{Thing} is {place} and does not concern us: we maintain our pace.",
            "I keep the present speed, {thing} {place} notwithstanding.",
            "The car cruises on with {thing} {place}.",
            "{Thing} {place} calls for no braking; the speed stays constant.",
            "We go on at a steady speed with {thing} {place}.",
            "Without slowing, the car drives on; {thing} {place} is no threat.",
        ),
    ),
    "nudge": (
        "set speed tracking",
        "out-of-lane nudge {side}",
        (
            "To clear {thing} {place}, the car steers to the {side} and keeps its speed.",
            "We swing out to the {side} round {thing} {place} at the same speed.",
            "The car moves over to the {side} for {thing} {place}, holding its speed.",
            "{Thing} {place} is given room by steering {side} at a steady speed.",
            "Holding its pace, the car veers to the {side} of {thing} {place}.",
            "There is {thing} {place}: we swerve to the {side} and maintain our speed.",
            "With {thing} {place}, I edge out to the {side} at the same pace.",
        ),
    ),
    "lane change": (
        "set speed tracking",
        "lane change {side}",
        (
            "Because of {thing} {place}, the car changes to the {side} lane and keeps its speed.",
            "We move into the {side} lane at the same speed, since {thing} is {place}.",
            "{Thing} is {place}: I merge into the {side} lane and hold my speed.",
            "A lane change to the {side} at a steady speed takes us clear of {thing} {place}.",
            "With {thing} {place}, we switch into the {side} lane, keeping our pace.",
            "The car shifts to the {side} lane on account of {thing} {place} and maintains its speed.",
            "Keeping its speed, the car moves into the {side} lane to leave {thing} {place} behind.",
            "I change lanes to the {side} for {thing} {place}, at the same pace.",
        ),
    ),
    "pass": (
        "pass",
        "lane change {side}",
        (
            "We speed up and move into the {side} lane to get past {thing} {place}.",
            "The car accelerates and changes to the {side} lane because of {thing} {place}.",
            "I gather speed and merge into the {side} lane, since {thing} is {place}.",
            "With {thing} {place}, the car picks up speed and shifts into the {side} lane.",
            "Accelerating, we change lanes to the {side} and leave {thing} {place} behind.",
            "{Thing} is {place}: I raise my speed and switch to the {side} lane.",
        ),
    ),
}

#: They announce no motion, and so contradict none.
VAGUE = (
    "{Thing} {place} deserves attention.",
    "The car takes {thing} {place} into account.",
    "I am aware of {thing} {place} and act with care.",
    "Care is due because of {thing} {place}.",
    "{Thing} {place} is what this decision rests on.",
    "The plan allows for {thing} {place}.",
    "We respond to {thing} {place} as the situation asks.",
    "Caution is advised: {thing} {place}.",
)


def say(wording: str, thing: str, place: str, side: str = "") -> str:
    """A wording with its gaps filled; ``thing`` with its article, or several of them without one."""
    words = wording.format(thing=thing, Thing=thing[:1].upper() + thing[1:], place=place, side=side)
    if _ONE.match(thing):
        return words
    subject = rf"({re.escape(thing)}(?: {re.escape(place)})?) ({'|'.join(_OF_SEVERAL)})\b"
    found = re.sub(subject, lambda m: f"{m[1]} {_OF_SEVERAL[m[2].lower()]}", words, flags=re.IGNORECASE)
    return found.replace("and does not concern", "and do not concern")


_ONE = re.compile(r"(?:a|an|the|water|dense)\b", re.IGNORECASE)
_OF_SEVERAL = {
    "is": "are",
    "asks": "ask",
    "leaves": "leave",
    "makes": "make",
    "calls": "call",
    "deserves": "deserve",
}
