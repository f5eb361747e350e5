"""A gate that holds the height of what was added against the height that it was placed with."""

import numpy as np

from cfgen.benchmark.quality_gates import CHANGED, GateInput, only_darker
from cfgen.records import GateResult

#: Height seen in the picture, as a share of the placed box's, may differ by so much, and by so many pixels more: what
#: is small, thin on top or as dark as what is behind it is not seen to its last row.
APART, SLACK_PX = 0.25, 4.0
#: What repainting alone changes is left out: so many times its 98th percentile in the mask beside the box (8 bit), at
#: most; and from so many pixels on.
_ABOVE_NOISE, _MOST_NOISE, _FEW = 1.3, 40.0, 30


def height(edit: GateInput) -> GateResult | None:
    """What was added reaches as far above the lower edge of its placed box, in the picture, as the box does.

    The value is seen ÷ placed, at the box's columns. None where nothing was added, and where too little of the box is
    in the picture, for the frame cuts it off there.
    """
    _, y0, _, y1 = edit.placement.box_px
    if edit.hazard.kind == "null" or y0 <= 0:
        return None
    first = _highest(edit)
    if first is None:
        return GateResult(
            gate="height",
            passed=False,
            value=0.0,
            bound=_bound(y1 - y0),
            reason="nothing changed where it was placed",
        )
    height_px = y1 - first
    share = height_px / (y1 - y0)
    passed = abs(height_px - (y1 - y0)) <= APART * (y1 - y0) + SLACK_PX
    reason = (
        ""
        if passed
        else f"it is {height_px:.0f} px high in the picture, {share:.2f} of the {y1 - y0:.0f} px ordered"
    )
    return GateResult(
        gate="height", passed=passed, value=round(share, 3), bound=_bound(y1 - y0), reason=reason
    )


def _bound(placed: float) -> str:
    slack = APART + SLACK_PX / placed
    return f"{max(1 - slack, 0):.2f} to {1 + slack:.2f}"


def _highest(edit: GateInput) -> int | None:
    """The first row of the picture that changed by more than repainting does, at the box's columns."""
    x0, _, x1, _ = edit.placement.box_px
    rows, cols = edit.box
    across = slice(max(round(x0) - cols.start, 0), max(round(x1) - cols.start + 1, 1))
    changed = edit.moved[:, across] > max(CHANGED, _noise(edit))
    rows_changed = np.flatnonzero(np.count_nonzero(changed, axis=1) >= max(2, 0.04 * (x1 - x0)))
    return rows.start + int(rows_changed[0]) if len(rows_changed) else None


def _noise(edit: GateInput) -> float:
    """What changed beside the box without getting darker, as a shadow would make it."""
    x0, y0, x1, y1 = edit.placement.box_px
    rows, cols = edit.box
    outside_box = edit.mask[edit.box] > 0
    inside = np.s_[
        max(round(y0) - rows.start, 0) : max(round(y1) - rows.start + 1, 1),
        max(round(x0) - cols.start, 0) : max(round(x1) - cols.start + 1, 1),
    ]
    outside_box[inside] = False
    outside_box &= ~only_darker(edit, slice(None))
    values = edit.moved[outside_box]
    if len(values) < _FEW:
        return 0.0
    return min(_ABOVE_NOISE * float(np.percentile(values, 98)), _MOST_NOISE)
