"""DriveLMM-o1's measures (OmniDrive-R1 supplement, A.1): twelve scores of 1 to 10, and multiple choice."""

import re
from collections.abc import Mapping, Sequence

#: The twelve, by the key under which a judge reports them.
ASPECTS = (
    "faithfulness_step",
    "informativeness_step",
    "risk_assessment_accuracy",
    "traffic_rule_adherence",
    "scene_awareness",
    "repetition_token",
    "hallucination",
    "semantic_coverage_step",
    "commonsense_reasoning",
    "missing_step",
    "relevance",
    "missing_details",
)


def overall_score(scores: Mapping[str, float]) -> float:
    """The mean of the twelve, 1..10; averaged here, whatever a judge may say of it.

    Raises:
        ValueError: one is missing or outside 1..10.
    """
    for aspect in ASPECTS:
        if aspect not in scores or not 1 <= scores[aspect] <= 10:
            raise ValueError(f"drivelmm: {aspect}: expected a score of 1 to 10, found {scores.get(aspect)}")
    return sum(scores[aspect] for aspect in ASPECTS) / len(ASPECTS)


def reasoning_score(answers: Sequence[Mapping[str, float]]) -> float | None:
    """Mean overall score of all answers, as a percentage of 10; None without answers."""
    return 10 * sum(map(overall_score, answers)) / len(answers) if answers else None


def choice_of(answer: str) -> str | None:
    """The letter that an answer settles on: alone, in brackets, or after "answer"; None when it is not clear."""
    text = answer.strip()
    alone = re.fullmatch(r"[(\[]?([A-Ha-h])[)\].:]?", text)
    if alone:
        return alone.group(1).upper()
    named = re.findall(r"(?:answer|option|choice)\s*(?:is|:)?\s*[(\[]?([A-H])\b", text, re.IGNORECASE)
    led = re.match(r"[(\[]?([A-H])[)\].:]\s", text)
    letters = {letter.upper() for letter in named} or ({led.group(1)} if led else set())
    return letters.pop() if len(letters) == 1 else None


def choice_accuracy(answers: Sequence[str], truth: Sequence[str]) -> float | None:
    """MCQ: share of answers with the right letter; one that settles on none is wrong."""
    pairs = list(zip(answers, truth, strict=True))
    return sum(choice_of(a) == t.strip().upper() for a, t in pairs) / len(pairs) if pairs else None
