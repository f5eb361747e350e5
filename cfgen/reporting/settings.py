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
