"""The papers' other metrics on cases worked by hand."""

import pytest

from cfgen.metrics.faithfulness import (
    grounding_score,
    inconsistency_rate,
    mean_grounding,
)
from cfgen.records import Claims

# --- faithfulness ---------------------------------------------------------------------------------------


# --- Faithful GRPO --------------------------------------------------------------------------------------


def test_semantic_grounding_by_hand():
    first = Claims(correct=2, incorrect=1, skipped=1)
    assert grounding_score(first) == pytest.approx(2 / 3)
    silent = Claims(correct=0, incorrect=0, skipped=1)
    assert grounding_score(silent) is None
    right = Claims(correct=1, incorrect=0, skipped=0)
    assert mean_grounding([first, silent, right]) == pytest.approx(5 / 6)


def test_inconsistency_rate_leaves_unreadable_answers_out():
    assert inconsistency_rate([True, False, None, True]) == pytest.approx(1 / 3)
    assert inconsistency_rate([None]) is None


# --- DriveLMM-o1 ----------------------------------------------------------------------------------------


# --- SURDS ----------------------------------------------------------------------------------------------
