"""SURDS (OmniDrive-R1 supplement, A.2): six spatial tasks, five by exact match and one by centerness."""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from cfgen.metrics.grounding import Box

TASKS = ("yaw", "pixel", "depth", "distance", "left_right", "front_back")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def normalize(text: str) -> str:
    """Lower case without punctuation, articles and superfluous space (the paper's N, Eq. 8)."""
    bare = re.sub(f"[{re.escape(string.punctuation)}]", " ", text.lower())
    return " ".join(_ARTICLES.sub(" ", bare).split())


def centerness(point: tuple[float, float], box: Box) -> float:
    """How central ``point`` x, y is in ``box`` (Eq. 7): 1 in the middle, 0 on the border and outside."""
    left, right, top, bottom = point[0] - box[0], box[2] - point[0], point[1] - box[1], box[3] - point[1]
    if min(left, right, top, bottom) <= 0:
        return 0.0
    return sqrt(min(left, right) / max(left, right) * min(top, bottom) / max(top, bottom))


def point_in(answer: str) -> tuple[float, float] | None:
    """The one point x, y that an answer gives; None when it gives no two numbers, or more."""
    numbers = _NUMBER.findall(answer)
    return (float(numbers[0]), float(numbers[1])) if len(numbers) == 2 else None


@dataclass(frozen=True)
class TaskScore:
    """``accuracy`` over all questions, invalid ones counting 0; ``accuracy_valid`` over the valid ones; 0..1."""

    n: int
    valid_rate: float
    accuracy: float
    accuracy_valid: float | None


def score_task(task: str, answers: Sequence[str | None], truth: Sequence[str | Box]) -> TaskScore:
    """Score one task.

    Args:
        answers: the model's answers; None, or one without words (pixel: without a point), is invalid.
        truth: the right words, or for ``pixel`` the box.

    Raises:
        ValueError: unknown task, no questions, or as many answers as questions it is not.
    """
    if task not in TASKS:
        raise ValueError(f"surds: expected a task of {', '.join(TASKS)}, found '{task}'")
    if not truth or len(answers) != len(truth):
        raise ValueError(
            f"surds: {task}: expected an answer to each question, found {len(answers)} to {len(truth)}"
        )
    scores = [_score(answer, right) for answer, right in zip(answers, truth, strict=True)]
    valid = [s for s in scores if s is not None]
    return TaskScore(
        n=len(scores),
        valid_rate=len(valid) / len(scores),
        accuracy=sum(valid) / len(scores),
        accuracy_valid=sum(valid) / len(valid) if valid else None,
    )


def overall(scores: Mapping[str, TaskScore]) -> float:
    """Mean accuracy of the six tasks.

    Raises:
        ValueError: a task is missing.
    """
    missing = [task for task in TASKS if task not in scores]
    if missing:
        raise ValueError(f"surds: the overall score needs all six tasks, missing: {', '.join(missing)}")
    return sum(scores[task].accuracy for task in TASKS) / len(TASKS)


def _score(answer: str | None, right: str | Box) -> float | None:
    """0..1, or None for an invalid answer."""
    if answer is None:
        return None
    if not isinstance(right, str):
        point = point_in(answer)
        return None if point is None else centerness(point, right)
    return float(normalize(answer) == normalize(right)) if normalize(answer) else None
