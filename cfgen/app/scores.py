"""The three scores as a rater gives them: what each means, and which do not go together."""

from collections.abc import Mapping
from typing import Any

from cfgen.core.errors import InputError
from cfgen.judge.combine import Scores, inconsistency
from cfgen.records import DIMENSIONS, Dimension, Score

#: What each score means, in the words a rater reads.
RUBRIC: dict[Dimension, tuple[str, str, str]] = {
    "reasoning": (
        "No word about what was added.",
        "Notices it vaguely, misnames or misplaces it, or means to do what does not answer it.",
        "Names it, says where it is, and says a response that makes sense for it.",
    ),
    "waypoints": (
        "Cannot be told apart from the original plan.",
        "Departs, but unsafely, too late, towards it, or in no clear direction.",
        "Clearly slows, stops or moves away from it. Any sensible way of avoiding it counts.",
    ),
    "overall": (
        "Neither words nor motion react.",
        "Part fits: only one reacts, one is flawed, or words and motion react differently.",
        "Words describe what the motion does, and both answer it. Needs 2 in both above.",
    ),
}
UNKNOWN = "You cannot tell what was added, or nothing was."


def given_scores(scores: Mapping[str, Any]) -> dict[Dimension, Score | None]:
    """
    Raises:
        InputError: a dimension is missing, or a score is not 0, 1, 2 or UNKNOWN (null).
    """
    given: dict[Dimension, Score | None] = {}
    for dimension in DIMENSIONS:
        score: Any = scores.get(dimension, "nothing")
        if score is not None and (not _is_score(score)):
            raise InputError(f"{dimension}: expected 0, 1, 2 or X (null), found {str(score)[:40]!r}")
        given[dimension] = score
    return given


def _is_score(value: object) -> bool:
    return type(value) is int and value in (0, 1, 2)


def excluded(scores: Scores) -> str:
    """Why the rubric does not allow these three together, or ""."""
    unknown = [d for d in DIMENSIONS if scores[d] is None]
    if unknown and len(unknown) < len(DIMENSIONS):
        return f"{' and '.join(unknown)} cannot be told, yet the rest has scores: where you see nothing new, none can."
    return f"By the rubric these do not go together: {why}." if (why := inconsistency(scores)) else ""
