"""Does the sun shine in a scene, does the hazard's place lie in shade, and where does the sun stand?"""

import cmath
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgen.perception.cast_shadows import ShadowAxis
from cfgen.perception.colour import LUMA
from cfgen.perception.foot_shade import Shade, height_by
from cfgen.perception.light_probe import LightProbe
from cfgen.perception.sun_position import sun_by_time
from cfgen.perception.sun_signs import SunSigns, sun_signs

#: Confidence below which a finding is not used.
CONFIDENT = 0.5
#: Sine of the sun's elevation below which it does not shine: refraction lifts it by half a degree.
_SET_BELOW = math.sin(math.radians(-0.8))


def shade(local: np.ndarray, lit: float, white: float) -> float:
    """Probability that the hazard's place, (3,) linear RGB, lies in shade if the sun shines in the scene.

    Shade is blue, darker than other road, and far below what a white card shows in the scene's main light. Weights were
    set on real drives.
    """
    ground = max(float(local @ LUMA), 1e-4)
    blue = math.log(max(float(local[2]), 1e-4) / max(float(local[0]), 1e-4))
    return _sigmoid(
        4 * (blue - 0.5)
        + 2 * (math.log(max(white, 1e-3) / ground) - 3.0)
        + 3 * (math.log(lit / ground) - 0.5)
    )


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-float(np.clip(x, -30, 30))))


@dataclass(frozen=True, eq=False)
class Sun:
    """Where the sun stands.

    Attributes:
        direction: (3,) unit vector to it, ego frame at t0; None: known to be none, or nothing shows where.
        confidence: in [0, 1]; of a direction seen, that it is right to within 45 degrees of azimuth.
        source: ``told`` by the scene, ``time and place``, ``sky`` (the sun itself, or the sky's colour and
            brightness), ``shadows`` (cast on the road, or on what stands up), ``drive`` (it takes other scenes of its
            drive to tell), or ``unknown``.
        shines: probability that it shines in the scene.
        height_by: who tells its elevation: ``told``, ``time and place``, ``sky`` (the sun itself), ``shadows`` (the
            length of vehicles' shade), ``assumed`` (none of them).
        apart: degrees of azimuth between time and place and what a confident look at the frame says, else None.
    """

    direction: np.ndarray | None
    confidence: float
    source: str
    shines: float
    apart: float | None = None
    height_by: str = "assumed"


def find_sun(
    frame: LightProbe,
    shadows: ShadowAxis | None = None,
    extra: Mapping[str, Any] | None = None,
    timestamp: str = "",
    others: Iterable[SunSigns] = (),
    feet: Sequence[Shade] = (),
) -> Sun:
    """The sun as the scene tells it, else by time and place, else as the frame shows it.

    Args:
        others: what frames of other scenes of its drive say, turned into this one.
        feet: where the shade of vehicles in the frame lies.
    """
    extra = extra or {}
    if "sun" in extra:
        told = extra["sun"]
        towards = None if told is None else np.asarray(told, float) / np.linalg.norm(told)
        return Sun(towards, 1.0, "told", float(towards is not None), height_by="told")
    by_time, seen = sun_by_time(timestamp, extra), _seen(frame, shadows, list(others), feet)
    if by_time is None:
        return seen
    if by_time[2] < _SET_BELOW:
        return Sun(None, 1.0, "time and place", 0.0, height_by="time and place")
    apart = None
    if seen.direction is not None and seen.confidence >= CONFIDENT:
        a, b = (complex(v[0], v[1]) for v in (by_time, seen.direction))
        apart = abs(math.degrees(cmath.phase(a * b.conjugate())))
    return Sun(by_time, 0.95, "time and place", seen.shines, apart, "time and place")


def _seen(
    frame: LightProbe, shadows: ShadowAxis | None, others: Sequence[SunSigns], feet: Sequence[Shade]
) -> Sun:
    own = sun_signs(frame, shadows, feet=feet)
    signs = own.with_others(others)
    towards, sure = signs.likeliest()
    if sure < CONFIDENT:
        source = "unknown"
    elif own.disc is None and own.likeliest()[1] < CONFIDENT:
        source = "drive"
    else:
        source = "shadows" if own.disc is None and signs.shadows > signs.sky else "sky"
    rise = height_by(feet, towards) if own.disc is None and sure >= CONFIDENT else None
    if rise is not None:
        flat = towards[:2] / np.hypot(*towards[:2])
        towards = np.array([*(math.cos(rise) * flat), math.sin(rise)])
    by = "sky" if own.disc is not None else "assumed" if rise is None else "shadows"
    return Sun(towards, sure, source, _sigmoid(signs.shines), height_by=by)
