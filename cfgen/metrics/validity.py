"""Whether inserts predict real obstacles: the same event on both, in the same classes, distances and speeds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from cfgen.metrics.intervals import NOTHING, Blocks, Difference, Events, Rate, difference, rate_of

#: class, distance band, speed band
Cell = tuple[str, ...]


@dataclass(frozen=True)
class CellAgreement:
    """Real obstacles and inserts of one cell; ``difference``: real minus inserts, of independent cases."""

    real: Rate
    inserts: Rate
    difference: Difference


@dataclass(frozen=True)
class Validity:
    """One planner on real obstacles and on inserts.

    Attributes:
        cells: those that hold both. real, inserts, difference: over these cells, each weighted by its real cases.
        unmatched: real cases in cells without an insert; they count nowhere else.
        paired: real minus insert on the same clear scene, where there are such.
    """

    cells: dict[Cell, CellAgreement]
    real: Rate
    inserts: Rate
    difference: Difference
    unmatched: int
    paired: Difference


def independent_difference(first: Rate, second: Rate) -> Difference:
    """Difference of two rates of different cases, joining their score intervals (Newcombe 1998, method 10)."""
    values = (first.value, first.low, first.high, second.value, second.low, second.high)
    if None in values:
        return NOTHING
    a, low_a, high_a, b, low_b, high_b = (v or 0.0 for v in values)
    low = a - b - sqrt((a - low_a) ** 2 + (high_b - b) ** 2)
    high = a - b + sqrt((high_a - a) ** 2 + (b - low_b) ** 2)
    return Difference(first.n + second.n, a - b, max(-1.0, low), min(1.0, high))


def standardized(rates: Sequence[Rate], weights: Sequence[float]) -> Rate:
    """The mean of independent ``rates`` by ``weights``, whose intervals join as in MOVER (Zou and Donner 2008)."""
    total = sum(weights)
    if not total or any(rate.value is None for rate in rates):
        return Rate.of(0, 0)
    parts = [
        (w / total, r.value or 0.0, r.low or 0.0, r.high or 0.0) for w, r in zip(weights, rates, strict=True)
    ]
    value = sum(w * p for w, p, _, _ in parts)
    low = value - sqrt(sum((w * (p - at)) ** 2 for w, p, at, _ in parts))
    high = value + sqrt(sum((w * (at - p)) ** 2 for w, p, _, at in parts))
    n = sum(rate.n for rate in rates)
    return Rate(value * n, n, value, max(0.0, low), min(1.0, high))


def validity(
    real: Events,
    inserts: Events,
    real_cells: Mapping[str, Cell],
    insert_cells: Mapping[str, Cell],
    same_scene: Mapping[str, Sequence[str]] | None = None,
    real_blocks: Blocks | None = None,
    insert_blocks: Blocks | None = None,
) -> Validity:
    """How far a planner's events on inserts agree with those on real obstacles.

    Args:
        real, inserts: case -> event, 0..1. real_cells, insert_cells: case -> class, distance band and speed band.
        same_scene: real case -> inserts on the same clear scene.
        real_blocks, insert_blocks: case -> block of alike cases, such as its drive.
    """
    by_real, by_insert = _by_cell(real, real_cells), _by_cell(inserts, insert_cells)
    shared = [cell for cell in by_real if cell in by_insert]
    cells = {}
    for cell in shared:
        a, b = rate_of(by_real[cell], real_blocks), rate_of(by_insert[cell], insert_blocks)
        cells[cell] = CellAgreement(a, b, independent_difference(a, b))
    matched = {case: event for cell in shared for case, event in by_real[cell].items()}
    ours = rate_of(matched, real_blocks) if matched else Rate.of(0, 0)
    theirs = standardized([cells[c].inserts for c in shared], [len(by_real[c]) for c in shared])
    pairs = {
        case: [inserts[i] for i in inserts_there if i in inserts]
        for case, inserts_there in (same_scene or {}).items()
        if case in real
    }
    means = {
        case: sum(inserts_there) / len(inserts_there)
        for case, inserts_there in pairs.items()
        if inserts_there
    }
    return Validity(
        cells=cells,
        real=ours,
        inserts=theirs,
        difference=independent_difference(ours, theirs),
        unmatched=len(real) - len(matched),
        paired=difference({case: real[case] for case in means}, means, real_blocks),
    )


def _by_cell(events: Events, cells: Mapping[str, Cell]) -> dict[Cell, dict[str, float]]:
    grouped: dict[Cell, dict[str, float]] = defaultdict(dict)
    for case, event in events.items():
        grouped[cells[case]][case] = event
    return dict(grouped)
