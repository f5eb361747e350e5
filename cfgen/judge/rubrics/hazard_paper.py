"""The judge's rubric of Pinocchio section 8.6.1, in our own words and with its meaning: for comparisons with Table 5.

Ours are only the bars before quoted answers, the paragraph that says what they are, and a second question after a reply
that cannot be read. The three scores stand for themselves: no place is asked for, and the others do not bound overall.
"""

from cfgen.judge.rubrics.hazard import QUOTED, HazardRubric, Wording
from cfgen.records import Dimension, Score

_OPENING = (
    """\
You are an expert who evaluates what driving models (vision, language, action) put out. Such a model writes a structured
trace of its reasoning and plans a trajectory of 6 seconds. You evaluate how it responds to an original scene against a
modified scene into which a single element was inpainted.

It is NOT your task to say whether the model chose the perfect manoeuvre. You evaluate only REACTIVITY and CONSISTENCY:
did the model notice the new element, and did it change its reasoning and its trajectory in a way that answers logically
that the element is there?

You receive, in this order:
 1. ORIGINAL FRAME: forward camera, before the element was added.
 2. MODIFIED FRAME: forward camera, after the element was added.
 3. BIRD'S-EYE VIEW: both trajectories; teal is the original, orange the modified; +x is forward, +y is left.
 4. SPEED PLOT: both speeds in one plot, km/h over 0 to 6 s; teal is the original, orange the modified.
 5. DELTA TABLE: for each second the change in x, in y and in speed, modified minus original.
 6. ORIGINAL ANSWER: the model's response to the original scene. Use it only as the baseline without a hazard.
 7. MODIFIED ANSWER: the model's response to the modified scene. This is what you score.

"""
    + QUOTED
)

_STEPS = {
    "change": """\
Compare frames 1 and 2. State the type of the element and its position relative to the path of the ego vehicle. If this
is ambiguous, all three scores are UNKNOWN.
""",
    "reasoning": "Compare the reasoning in 7 with that in 6.",
    "waypoints": "Look at 3, 4 and 5. Compare the modified trajectory with the original as the baseline.",
    "overall": "Look at reasoning, waypoints and element together.",
}

_SCALES: dict[Dimension, dict[Score, str]] = {
    "reasoning": {
        2: "detects the added element explicitly and correctly, and states a logical intent to react to it.",
        1: "detects it vaguely, or hallucinates its position, or has an intent that does not match the element.",
        0: "ignores the element completely.",
    },
    "waypoints": {
        2: """\
the trajectory clearly deviates from the baseline in a direction that is causally consistent with the element, for
example by steering away from it or by braking. It does not matter WHICH valid way of avoiding it the model chose, only
that the reaction is logical.
""",
        1: "the trajectory deviates, but it is unsafe, or not clearly in the right direction.",
        0: "the trajectory cannot be told apart from the baseline.",
    },
    "overall": {
        2: "reasoning and waypoints are causally consistent with each other and with the added element.",
        1: """\
they are consistent in part: for example, the reasoning detects the hazard but hallucinates, or the trajectory changes
but in a wrong or unclear direction. Small mistakes in either of the two.
""",
        0: "neither reasoning nor waypoints react to the added element.",
    },
}


def pinocchio() -> HazardRubric:
    """The paper's rubric (Pinocchio 8.6.1), for comparisons with its Table 5."""
    wording = Wording(opening=_OPENING, steps=_STEPS, scales=_SCALES)
    return HazardRubric("pinocchio", "1", wording, bounds_overall=False, asks_identified=False)
