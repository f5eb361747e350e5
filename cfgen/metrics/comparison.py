"""Agreement of two raters as a record."""

from collections.abc import Sequence

from cfgen.metrics.agreement import agreement
from cfgen.records import Comparison


def comparison(reference: Sequence[int], other: Sequence[int]) -> Comparison:
    """Accuracy, both kappas and recall, each with a bootstrap interval, and confusion of two raters of one set."""
    found = agreement(reference, other)
    return Comparison(
        n=found.n,
        accuracy=found.accuracy,
        accuracy_interval=found.accuracy_interval,
        kappa=found.kappa,
        kappa_interval=found.kappa_interval,
        quadratic=found.quadratic,
        quadratic_interval=found.quadratic_interval,
        confusion=found.confusion,
        recall=found.recall,
        recall_interval=found.recall_interval,
    )
