"""Does the sun shine in a frame? A linear reading of how light and dark are spread over it, fitted by tools/sun_fit."""

import json
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cfgen.perception.cast_shadows import ShadowAxis
from cfgen.perception.colour import level, to_code
from cfgen.perception.light_probe import LightProbe
from cfgen.perception.light_sides import backlit, clear, dark_ground, dark_side, sky_blue

#: The fitted weights, with where they come from.
WEIGHTS = Path(__file__).parent / "weights" / "sun_shines.json"
#: Bands of rows above (< 0) and below the horizon, as shares of the height, and of columns, of the width.
_BANDS = ((-0.45, -0.15), (-0.15, -0.02), (0.03, 0.1), (0.1, 0.25), (0.25, 0.5))
_COLUMNS = ((0.0, 0.2), (0.2, 0.42), (0.42, 0.58), (0.58, 0.8), (0.8, 1.0))
#: A cell of fewer pixels tells nothing; signs count no farther from their mean, standard deviations.
_FEW, _FARTHEST = 25, 3.0
#: Most log odds of the sun where the picture is dark.
_AT_NIGHT = -3.0


class _Fit(NamedTuple):
    mean: np.ndarray
    spread: np.ndarray
    weight: np.ndarray
    bias: float


def sun_shines(frame: LightProbe, shadows: ShadowAxis | None) -> float:
    """Log odds that the sun shines in the scene."""
    fit = _fit()
    signs = np.clip((light_signs(frame, shadows) - fit.mean) / fit.spread, -_FARTHEST, _FARTHEST)
    told = float(np.sum(signs * fit.weight)) + fit.bias
    at_night = frame.is_night and not _deep_blue(frame)  # what lamps light differs from the rest, too
    return min(told, _AT_NIGHT) if at_night else told


@cache
def _fit() -> _Fit:
    told = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    mean, spread, weight = (np.asarray(told[name], float) for name in ("mean", "spread", "weight"))
    return _Fit(mean, spread, weight, float(told["bias"]))


def light_signs(frame: LightProbe, shadows: ShadowAxis | None) -> np.ndarray:
    """(57,) what is weighed: single signs, the whole picture's light, and that of its cells; mirrored frames agree."""
    sky = frame.sky()
    single = (
        _lit(frame, sky, shadows),
        _warmth(frame),
        abs(dark_ground(frame)),
        abs(dark_side(frame)),
        _spread(frame),
        _deep_blue(frame),
        backlit(frame, sky),
        float(frame.is_night),
    )
    codes = to_code(frame.linear)
    vivid = float(np.mean(1 - codes.min(2) / np.maximum(codes.max(2), 1.0)))
    above = (
        float(sky.mean()),
        sky_blue(frame, sky),
        float(np.median(frame.lum[sky])) if sky.any() else 0.5,
        clear(frame, sky),
    )
    return np.array(
        [
            *single,
            *(float(p) for p in np.percentile(frame.lum, (20, 50, 80, 95))),
            *above,
            vivid,
            *_cells(frame, sky),
        ]
    )


def _cells(frame: LightProbe, sky: np.ndarray) -> list[float]:
    """Of each band what its four outer cells are like, and how the middle one differs from them; 0 where too little of
    it is seen."""
    found: list[float] = []
    for cells in light_cells(frame, sky):
        outer = cells[[0, 1, 3, 4]]
        known = np.isfinite(outer[:, 0])
        side = outer[known].mean(0) if known.any() else np.full(4, np.nan)
        for one, middle in zip(side, cells[2], strict=True):
            found += [float(np.nan_to_num(one)), float(np.clip(np.nan_to_num(middle - one), -2, 2))]
    return found


def light_cells(frame: LightProbe, sky: np.ndarray) -> np.ndarray:
    """(5 bands, 5 columns, 4) brightness, how much it varies, blueness, how much is burnt out; NaN where too little of
    a cell is seen."""
    height, width = frame.lum.shape
    rows, at = frame.rows / height, np.arange(width) / width
    logs = np.log(np.clip(frame.lum, 4e-3, 1))
    red, blue = (np.maximum(frame.linear[..., i], 4e-3) for i in (0, 2))
    bluer = np.clip(np.log(blue / red), -1, 1)
    cells = np.full((len(_BANDS), len(_COLUMNS), 4), np.nan)
    for k, (low, high) in enumerate(_BANDS):
        band = (rows > low) & (rows < high) & ~(sky & (rows < 0))
        for i, (first, end) in enumerate(_COLUMNS):
            cell = band & (at >= first) & (at < end)
            if cell.sum() >= _FEW:
                seen = logs[cell]
                cells[k, i] = seen.mean(), seen.std(), bluer[cell].mean(), (frame.lum[cell] > 0.9).mean()
    return cells


def _lit(frame: LightProbe, sky: np.ndarray, shadows: ShadowAxis | None) -> float:
    """Log odds: sun casts shadows with a blue cast on the road, makes the ground as bright as a sky that is blue, and
    what it lights warmer than what lies in shade; at night nearly all is dark.

    Fitted on 32 stills of six data sets and a drive, light that is flat weighing more: on 38 stills of other data
    sets it called none of 22 flat ones sunny, and 8 of 16 sunny ones; scenes of a drive help each other.
    """
    night = min(math.log(max(float(np.percentile(frame.lum, 80)), 1e-4)) + 1.9, 0.0)
    length = 0.2 if shadows is None else shadows.length / (shadows.length + 30)
    against, blue = -0.4, 0.0
    if sky.any():
        bright, above = (
            max(level(frame.lum[frame.rows > 0], 95, frame.lum), 1e-3),
            float(np.median(frame.lum[sky])),
        )
        against = float(np.clip(math.log(bright / above), -1.5, 0.8))
        open_sky = (1 - float(np.clip((above - 0.75) / 0.2, 0, 1))) * min(float(sky.mean()) / 0.08, 1.0)
        blue = (sky_blue(frame, sky) - 0.4) * open_sky
    warm = 3.5 * float(np.clip(_warmth(frame) - 0.4, -0.05, 0.3))
    told = 0.6 * against + 3.8 * blue + 1.9 * night + 3.4 * length + warm - 1.05
    # at night lamps do what the sun does by day
    day = float(np.clip((night + 0.3) / 0.8, 0, 1))
    return told + day * (0.8 * float(np.clip(_spread(frame) - 2.4, 0, 1.2)) + 1.6 * backlit(frame, sky))


def _spread(frame: LightProbe) -> float:
    """How far (log) the light parts of what lies below the horizon are above the dark ones."""
    ground = frame.lum[frame.rows > 0.03 * frame.height]
    if not ground.size:
        return 0.0
    dark, light = np.percentile(ground, (15, 85))
    return math.log(max(float(light), 1e-3) / max(float(dark), 1e-3))


def _warmth(frame: LightProbe) -> float:
    """How much redder (log, red against blue) the brightest fifth of what lies below the horizon is than its darkest
    quarter: the sky lights shade alone, and under clouds it lights all alike."""
    ground = frame.rows > 0
    if not ground.any():
        return 0.0
    level, colour = frame.lum[ground], frame.linear[ground] + 0.003
    dark, bright = np.percentile(level, (25, 80))
    reds = [
        float(np.log(part[:, 0].mean() / part[:, 2].mean()))
        for part in (colour[level >= bright], colour[level <= dark])
    ]
    return reds[0] - reds[1]


def _deep_blue(frame: LightProbe) -> float:
    """In [0, 1]: whether the sky is deep blue and the ground about as bright, however dark the picture was taken."""
    above, ground = frame.rows < -0.04 * frame.height, frame.lum[frame.rows > 0.05 * frame.height]
    deep = 1 - frame.linear[..., 0] / np.maximum(frame.linear[..., 2], 1e-3)
    blue = above & (deep > 0.45) & (frame.lum > 0.015) & (frame.linear[..., 1] < frame.linear[..., 2])
    if blue.mean() < 0.02 or not ground.size:
        return 0.0
    bright = math.log(max(float(np.percentile(ground, 80)), 1e-3) / float(np.median(frame.lum[blue])))
    share = min(float(blue.mean()) / 0.1, 1.0)
    return share * float(
        np.clip((bright + 1.0) / 0.8, 0, 1) * np.clip((np.median(deep[blue]) - 0.45) / 0.15, 0, 1)
    )
