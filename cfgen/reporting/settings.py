"""The tuned numbers of a report: chosen by eye, on reports of 3 to 1,000 cases and up to six planners."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DrawingSettings:
    """Sizes in CSS pixels."""

    text: int = 13
    #: ticks, counts and captions
    small: int = 11
    line: float = 16.0
    #: between words and what stands beside them
    space: float = 10.0
    #: radius of a mark
    mark: float = 4.5
    #: between 0 and 100% in a curve
    height: float = 240.0
    #: another font than the one that is measured here is this much wider
    wider: float = 1.2
    #: widths at which plots are drawn: for a screen or a paper, and for a phone
    wide: float = 560.0
    narrow: float = 350.0


DRAWING = DrawingSettings()


@dataclass(frozen=True)
class ResultSettings:
    """What it takes for counts to be given as a rate, set large."""

    #: cases; of fewer, an interval spans half of the scale and more
    cases: int = 10
    #: of the built cases that count; the rest may be missing for a reason that goes with the answer
    judged_share: float = 0.8


RESULT = ResultSettings()
