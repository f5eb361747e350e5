"""A gate: no case from a frame that is too dark for people to tell what was added."""

import numpy as np

from cfgen.benchmark.gates import GateInput
from cfgen.records import GateResult

LEAST = 20  # of 255


def bright_enough(edit: GateInput) -> GateResult | None:
    """The frame is not black where something was added."""
    if edit.hazard.kind == "null":  # nothing was added: the gate does not apply
        return None
    there = edit.original[edit.mask > 0]  # (n, 3) uint8 RGB; arrays cannot be written to
    value = float(np.median(there))
    reason = "" if value >= LEAST else f"the frame is black there: {value:.0f} of 255"
    return GateResult(
        gate="bright-enough", passed=not reason, value=value, bound=f">= {LEAST}", reason=reason
    )
