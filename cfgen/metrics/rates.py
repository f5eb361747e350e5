"""Shares and their uncertainty."""

from dataclasses import dataclass
from math import sqrt

from scipy.special import ndtri

CONFIDENCE = 0.95


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
        z, p = float(ndtri(0.5 + confidence / 2)), hits / n
        centre, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        low, high = (centre - half) / scale, (centre + half) / scale
        return cls(hits, n, p, 0.0 if hits == 0 else low, 1.0 if hits == n else high)

    def percent(self, digits: int = 1) -> str:
        """``18.2``, or ``-`` without cases."""
        return "-" if self.value is None else f"{100 * self.value:.{digits}f}"

    def interval(self, digits: int = 1) -> str:
        """``10.7-29.1``, or ``-`` without cases."""
        if self.low is None or self.high is None:
            return "-"
        return f"{100 * self.low:.{digits}f}-{100 * self.high:.{digits}f}"
