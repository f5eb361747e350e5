"""Shares and their uncertainty."""

from dataclasses import dataclass
from math import sqrt

from scipy.special import ndtri

CONFIDENCE = 0.95


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """The score interval of a share ``p`` of ``n`` cases, ``z`` standard errors to each side.

    It ends at 0 and 1 exactly where the share does. ``n`` need not be whole.
    """
    centre, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return 0.0 if p == 0 else (centre - half) / scale, 1.0 if p == 1 else (centre + half) / scale


@dataclass(frozen=True)
class Rate:
    """A share of ``n`` cases with its Wilson interval; all three are None when there are no cases.

    ``hits`` may be fractional: with repeats, each case counts by the mean of its repeats.
    """

    hits: float
    n: int
    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, hits: float, n: int, confidence: float = CONFIDENCE) -> "Rate":
        """The Wilson score interval, as ``scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")`` gives it."""
        if n == 0:
            return cls(hits, 0, None, None, None)
        low, high = wilson(hits / n, n, float(ndtri(0.5 + confidence / 2)))
        return cls(hits, n, hits / n, low, high)

    def percent(self, digits: int = 1) -> str:
        """``18.2``, or ``-`` without cases."""
        return "-" if self.value is None else f"{100 * self.value:.{digits}f}"

    def interval(self, digits: int = 1) -> str:
        """``10.7-29.1``, or ``-`` without cases."""
        if self.low is None or self.high is None:
            return "-"
        return f"{100 * self.low:.{digits}f}-{100 * self.high:.{digits}f}"
