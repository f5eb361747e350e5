"""Faithful GRPO's measures of a reasoning trace (sections 3.2 and A.1): consistency, semantic and spatial grounding."""

import re
from collections.abc import Sequence
from math import atan, pi

import numpy as np
from scipy.optimize import linear_sum_assignment

from cfgen.records import Claims

#: x0, y0, x1, y1
Box = tuple[float, float, float, float]

_BOX = re.compile(r"<bbox>\s*\[\s*([-\d.\s,]+)\]\s*</bbox>", re.IGNORECASE)


def grounding_score(claims: Claims) -> float | None:
    """R_S in 0..1: the share of right ones among the claims about the frame; None when there are none."""
    made = claims.correct + claims.incorrect
    return claims.correct / made if made else None


def mean_grounding(traces: Sequence[Claims]) -> float | None:
    """Mean R_S over the traces that have one."""
    scores = [score for claims in traces if (score := grounding_score(claims)) is not None]
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
