"""Where an edit starts: the share of noise that a guide's insert is given, whatever the number of steps.

A pipeline's own ``strength`` drops whole steps off the front of its schedule. Schedules that are shifted towards noise
and have few steps start at nearly the same noise then for every strength: four steps of FLUX.2 klein at 0.3 to 0.5
all start at 0.91.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

#: From this strength on an edit runs the whole schedule, from nothing but noise.
FULL = 0.99


def schedule(start: float, steps: int, bend: float) -> list[float]:
    """Sigmas of ``steps`` steps of rectified flow (Esser et al., 2024, Eq. 23), the first exactly ``start``.

    Args:
        start: in (0, 1]: sigma to begin at, the share of noise; 1 from FULL on.
        bend: the schedule's shift: 1 is a straight line, more spends its steps nearer to noise.
    """
    first = 1.0 if start >= FULL else start
    straight = first / (bend + first * (1 - bend))  # shifted, this is ``first``
    at = np.linspace(straight, straight / steps, steps)
    return [float(v) for v in bend * at / (1 + (bend - 1) * at)]


def schedule_shift(scheduler: Any, mu: float) -> float:
    """How a flow-matching scheduler shifts its sigmas, ``mu`` being what the pipeline derives from the canvas."""
    config = scheduler.config
    if not config.use_dynamic_shifting:
        return float(config.shift)
    return math.exp(mu) if config.get("time_shift_type", "exponential") == "exponential" else float(mu)


@contextmanager
def unshifted_schedule(pipe: Any) -> Iterator[None]:
    """The pipeline takes sigmas as they are told while this is open: they are shifted already."""
    original = pipe.scheduler
    unshifted = {"use_dynamic_shifting": False, "shift": 1.0, "shift_terminal": None}
    pipe.scheduler = type(original).from_config(original.config, **unshifted)
    try:
        yield
    finally:
        pipe.scheduler = original


def noise_at(scheduler: Any, steps: int, strength: float) -> float:
    """Share of noise, sqrt(1 - alpha bar), that a diffusion schedule of so many steps starts an edit with."""
    order = getattr(scheduler, "order", 1)
    skipped = max(steps - min(int(steps * strength), steps), 0)
    moment = min(int(scheduler.timesteps[skipped * order]), len(scheduler.alphas_cumprod) - 1)
    return float((1 - scheduler.alphas_cumprod[moment]) ** 0.5)
