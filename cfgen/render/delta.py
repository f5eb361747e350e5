"""What changed between two plans, second by second, as text."""

import numpy as np

from cfgen.geometry.trajectory import deltas
from cfgen.render.bev import as_plan


def delta_table(original: np.ndarray, modified: np.ndarray) -> str:
    """Modified minus original, a line for each of the seconds 1 to 6, or to the end of the shorter, under a heading.

    Args:
        original, modified: (N, 3) x, y, theta in the ego frame at t0; m, rad.

    Raises:
        InputError: one is not (T, 2+) of finite numbers.
    """
    original, modified = as_plan(original, "original"), as_plan(modified, "modified")
    lines = ["t (s)   dx (m)   dy (m)   dspeed (km/h)"]
    for row in deltas(original, modified):
        dx, dy, dspeed = _signed(row.dx, 2), _signed(row.dy, 2), _signed(row.dspeed_kmh, 1)
        lines.append(f"{row.t:5g} {dx:>8} {dy:>8} {dspeed:>15}")
    return "\n".join(lines)


def _signed(value: float, digits: int) -> str:
    """With its sign, and zero without one."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else f"{0:.{digits}f}"
