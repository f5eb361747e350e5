"""What a page sends with a rating, checked: its scores, and the time that they took."""

import math
from collections.abc import Mapping
from typing import Any

from cfgen.core.errors import InputError


def scores_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    """
    Raises:
        InputError: there are none.
    """
    scores = asked.get("scores")
    if not isinstance(scores, dict):
        raise InputError("scores: expected one for each dimension, found none")
    return scores


def seconds_of(asked: Mapping[str, Any], field: str) -> float | None:
    """What the page measured; None where it did not.

    Raises:
        InputError: that can be no time.
    """
    value = asked.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise InputError(
            f"{field}: expected a number of seconds from 0, found {str(value)[:20]!r}; reload the page"
        )
    return round(float(value), 1)
