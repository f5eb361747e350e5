"""Faithful GRPO's measures of a reasoning trace (sections 3.2 and A.1): consistency, semantic and spatial grounding."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, pi
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

Label = Literal["CORRECT", "INCORRECT", "SKIP"]
#: x0, y0, x1, y1
Box = tuple[float, float, float, float]

#: A sentence ends at . ! or ? before white space, or at a line break; not inside numbers, boxes or abbreviations.
_END = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bapprox\.)(?<=[.!?])[\"')\]]*\s+|\n+")
_BOX = re.compile(r"<bbox>\s*\[\s*([-\d.\s,]+)\]\s*</bbox>", re.IGNORECASE)
#: How sentences begin that plan, hedge or conclude; what follows may still claim something.
_OPENINGS = re.compile(
    r"^(?:let me|let's|let us|i will|i'll|i need to|i should|i must|first|next|now|therefore|thus|hence|so|wait|hmm"
    r"|okay|well|to (?:determine|answer|decide|find|solve)|in (?:conclusion|summary)|overall|finally)\b[, ]*"
    r"(?:see|look|check|examine|think)?\b",
    re.IGNORECASE,
)
#: What a claim about a picture speaks of: things, colours, places, counts of things, coordinates.
_VISUAL = re.compile(
    r"\b(?:image|frame|picture|photo|visible|see|seen|shows?|appears?|located|standing|parked|lying|wearing"
    r"|left|right|ahead|behind|beside|between|above|below|under|near|far|front|back|centre|center|middle|edge|corner"
    r"|red|green|blue|yellow|orange|white|black|gr[ae]y|brown|purple|pink|dark|bright"
    r"|car|cars|truck|bus|van|vehicle|vehicles|motorcycle|bicycle|cyclist|pedestrians?|person|people|man|woman|child"
    r"|road|lane|lanes|street|crosswalk|intersection|sidewalk|shoulder|barrier|cones?|sign|signs|signal|light|lights"
    r"|building|tree|trees|sky|animal|dog|deer|fire|smoke|debris|box|boxes|object|objects|bbox)\b|\[\s*\d",
    re.IGNORECASE,
)


def sentences(trace: str) -> list[str]:
    """The sentences of a trace, in order, without empty ones."""
    return [s.strip() for s in _END.split(trace) if s and re.search(r"\w", s)]


def is_trivial(sentence: str) -> bool:
    """Whether it claims nothing about the picture: after a planning or concluding opening it names nothing visible."""
    return not _VISUAL.search(_OPENINGS.sub("", sentence.strip()))


@dataclass(frozen=True)
class Grounding:
    """Semantic grounding of one trace: ``score`` is the share of CORRECT among the sentences that claim something."""

    correct: int
    incorrect: int
    skipped: int
    trivial: int

    @property
    def score(self) -> float | None:
        """R_S in 0..1; None when no sentence claims anything."""
        claims = self.correct + self.incorrect
        return self.correct / claims if claims else None


def semantic_grounding(labels: Sequence[Label], trivial: int = 0) -> Grounding:
    """Count the labels of the sentences that a judge was asked about.

    Raises:
        ValueError: a label is none of the three.
    """
    strange = sorted(set(labels) - {"CORRECT", "INCORRECT", "SKIP"})
    if strange:
        raise ValueError(f"grounding: expected CORRECT, INCORRECT or SKIP, found {strange}")
    return Grounding(labels.count("CORRECT"), labels.count("INCORRECT"), labels.count("SKIP"), trivial)


def mean_grounding(traces: Sequence[Grounding]) -> float | None:
    """Mean R_S over the traces that have one."""
    scores = [g.score for g in traces if g.score is not None]
    return sum(scores) / len(scores) if scores else None


def inconsistency_rate(consistent: Sequence[bool | None]) -> float | None:
    """Share of NO among the consistency judge's YES and NO; None are answers that were neither."""
    known = [c for c in consistent if c is not None]
    return known.count(False) / len(known) if known else None


def boxes_in(trace: str) -> list[Box]:
    """Every ``<bbox>[x0, y0, x1, y1]</bbox>`` of four numbers, in order; others are left out."""
    found = []
    for match in _BOX.finditer(trace):
        numbers = re.findall(r"-?\d+(?:\.\d+)?", match.group(1))
        if len(numbers) == 4:
            x0, y0, x1, y1 = map(float, numbers)
            found.append((x0, y0, x1, y1))
    return found


def spatial_grounding(predicted: Sequence[Box], truth: Sequence[Box]) -> float | None:
    """R_G (Eq. 1): complete IoU of the best one-to-one matching, over the larger number of boxes.

    Missing and surplus boxes count 0, and so does a sum below 0. None when there are no boxes on either side.
    """
    if not predicted or not truth:
        return None if not predicted and not truth else 0.0
    table = np.array([[complete_iou(p, t) for t in truth] for p in predicted])
    rows, columns = linear_sum_assignment(table, maximize=True)
    return max(0.0, float(table[rows, columns].sum()) / max(len(predicted), len(truth)))


def complete_iou(a: Box, b: Box) -> float:
    """IoU minus the penalties for distance between the centres and for another aspect ratio (Zheng et al. 2019).

    In -1..1 for boxes with an area; a box without one matches nothing: -1.
    """
    width_a, height_a, width_b, height_b = a[2] - a[0], a[3] - a[1], b[2] - b[0], b[3] - b[1]
    if min(width_a, height_a, width_b, height_b) <= 0:
        return -1.0
    inter = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    iou = inter / (width_a * height_a + width_b * height_b - inter)
    hull = (max(a[2], b[2]) - min(a[0], b[0])) ** 2 + (max(a[3], b[3]) - min(a[1], b[1])) ** 2
    centres = ((a[0] + a[2] - b[0] - b[2]) ** 2 + (a[1] + a[3] - b[1] - b[3]) ** 2) / 4
    aspect = 4 / pi**2 * (atan(width_b / height_b) - atan(width_a / height_a)) ** 2
    weight = aspect / (1 - iou + aspect) if aspect else 0.0
    return iou - centres / hull - weight * aspect
