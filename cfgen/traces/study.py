"""Is better reasoning better driving? Two checkpoints by stratum (Pinocchio sections 4 and 8.2, Figure 2)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from cfgen.metrics.intervals import CONFIDENCE, Rate
from cfgen.traces.settings import POOL

#: (changed, first grounded, second grounded) -> the category of section 8.2
STRATA: dict[tuple[bool, bool, bool], str] = {
    (True, True, True): "changed, both grounded",
    (True, False, True): "changed, only B grounded",
    (True, True, False): "changed, only A grounded",
    (True, False, False): "changed, neither grounded",
    (False, True, True): "unchanged, grounded",
    (False, False, False): "unchanged, not grounded",
}
ALL = "all"
ERRORS = ("ADE", "lateral", "longitudinal")
#: m: errors nearer than this are a tie
_TIE_M = 1e-6
_STOP = frozenset(re.findall(r"\w+", "a an the and or of to in on at is are be it its this that"))


@dataclass(frozen=True)
class Sample:
    """One checkpoint's answer to one input. ``errors``: m by name of ERRORS. ``grounded``: None where nobody said."""

    id: str
    words: str
    errors: Mapping[str, float]
    grounded: bool | None


@dataclass(frozen=True)
class Stratum:
    """B against A where reasoning fell alike.

    Attributes:
        n: samples. ties: by error, those on which both are as far off. wins: by error, the share of the others on which
            B is nearer. means: by error, mean of A and of B, m. differences: by error, B minus A with its interval, m.
    """

    name: str
    n: int
    ties: dict[str, int]
    wins: dict[str, Rate]
    means: dict[str, tuple[float, float]]
    differences: dict[str, tuple[float, float | None, float | None]]


def displacement(plan: np.ndarray, logged: np.ndarray) -> dict[str, float]:
    """Mean displacement of (T, >= 2) waypoints, m: as a distance, sideways (y) and along (x) in the ego frame at t0.

    Raises:
        ValueError: they differ in length.
    """
    if len(plan) != len(logged):
        raise ValueError(f"expected as many waypoints as recorded, found {len(plan)} and {len(logged)}")
    gap = np.abs(np.asarray(plan, float)[:, :2] - np.asarray(logged, float)[:, :2])
    return {
        "ADE": float(np.hypot(*gap.T).mean()),
        "lateral": float(gap[:, 1].mean()),
        "longitudinal": float(gap[:, 0].mean()),
    }


def words_changed(first: str, second: str) -> bool:
    """Whether two texts differ substantially, by the words they share: a stand-in for an annotator's eye."""
    a, b = (set(re.findall(r"[a-z0-9]+", text.lower())) - _STOP for text in (first, second))
    return bool(a | b) and len(a & b) / len(a | b) < POOL.same_words


def strata(
    pairs: Sequence[tuple[Sample, Sample, bool]],
) -> tuple[list[Stratum], list[str]]:
    """Every stratum in the order of STRATA, then all; and the ids of unchanged answers whose grounding differs.

    Args:
        pairs: A's sample, B's, and whether the reasoning changed. Samples without grounding are left out.
    """
    groups: dict[str, list[tuple[Sample, Sample]]] = {name: [] for name in STRATA.values()}
    odd = []
    for a, b, changed in pairs:
        if a.grounded is None or b.grounded is None:
            continue
        name = STRATA.get((changed, a.grounded, b.grounded))
        if name is None:
            odd.append(a.id)
        else:
            groups[name].append((a, b))
    every = [pair for group in groups.values() for pair in group]
    return [_stratum(name, group) for name, group in {**groups, ALL: every}.items()], odd


def _stratum(name: str, group: Sequence[tuple[Sample, Sample]]) -> Stratum:
    stratum = Stratum(name, len(group), {}, {}, {}, {})
    for error in ERRORS:
        a, b = (np.array([pair[k].errors[error] for pair in group]) for k in (0, 1))
        gap = b - a
        ties = int((np.abs(gap) <= _TIE_M).sum())
        stratum.ties[error] = ties
        stratum.wins[error] = Rate.of(int((gap < -_TIE_M).sum()), len(group) - ties)
        if len(group):
            stratum.means[error] = float(a.mean()), float(b.mean())
            stratum.differences[error] = (float(gap.mean()), *_interval(gap))
    return stratum


def _interval(values: np.ndarray) -> tuple[float | None, float | None]:
    """Student's, of a mean; none of a single value."""
    if len(values) < 2:
        return None, None
    half = float(student.ppf(0.5 + CONFIDENCE / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)
    return float(values.mean()) - half, float(values.mean()) + half
