"""A rubric in a package: the hazard rubric, with a scale in other words."""

from cfgen.judge.rubrics.hazard import SCALES, HazardRubric, Wording

EARLY = {
    2: "it departs from the original within the first 2 s, in a way that the element explains.",
    1: "it departs from the original, but later, or in a way that the element does not explain.",
    0: "it cannot be told apart from the original.",
}


def early() -> HazardRubric:
    """The waypoints must react within 2 s."""
    return HazardRubric("early", "1", Wording(scales={**SCALES, "waypoints": EARLY}))
