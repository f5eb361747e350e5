"""What a camera leaves in a picture besides what it shows: numbers of a part of a frame, by what they tell of.

Each measure takes a part of a frame as :class:`Part` and gives a vector; where there is too little to measure, it is
neutral, so that a classifier cannot use that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from scipy.fft import dctn

#: A part has at least this many pixels a side.
SMALLEST = 16
_EDGES = np.array([2, 10, 25, 50, 75, 90, 98])
#: Codes from which a channel is full.
_FULL = 250


@dataclass(frozen=True, eq=False)
class Part:
    """A frame (H, W, 3) uint8 RGB and which of its pixels, (H, W) bool, count; ``box`` x0, y0, x1, y1 holds them."""

    frame: np.ndarray
    counts: np.ndarray
    box: tuple[int, int, int, int]

    @classmethod
    def of(cls, frame: np.ndarray, counts: np.ndarray) -> "Part":
        x, y, w, h = cv2.boundingRect(counts.astype(np.uint8))
        return cls(frame, counts, (x, y, x + w, y + h))

    @cached_property
    def here(self) -> np.ndarray:
        x0, y0, x1, y1 = self.box
        return self.counts[y0:y1, x0:x1]

    @cached_property
    def rgb(self) -> np.ndarray:
        """(h, w, 3) float32."""
        x0, y0, x1, y1 = self.box
        return self.frame[y0:y1, x0:x1].astype(np.float32)

    @cached_property
    def ycc(self) -> np.ndarray:
        """(h, w, 3) float32 Y, Cr, Cb as JPEG has them, codes."""
        return cv2.cvtColor(self.rgb, cv2.COLOR_RGB2YCrCb) - np.float32([0, 0.5, 0.5])

    def phases(self, steps: np.ndarray, axis: int, first: int) -> np.ndarray:
        """(8,) mean of steps (h, w) over columns (axis 1) or rows (0) that are alike modulo 8 in the frame."""
        sums = np.zeros(8)
        at = (np.arange(steps.shape[axis]) + first) % 8
        mean = np.nanmean(np.where(np.isfinite(steps), steps, np.nan), axis=1 - axis)
        for phase in range(8):
            values = mean[(at == phase) & np.isfinite(mean)]
            sums[phase] = values.mean() if len(values) else np.nan
        return np.where(np.isfinite(sums), sums, np.nanmean(sums) if np.isfinite(sums).any() else 1.0)


def grid(part: Part) -> np.ndarray:
    """(22,) the JPEG lattice of the file: steps across its lines, and how many coefficients it has set to zero."""
    y = part.ycc[..., 0]
    found: list[float] = []
    for axis in (1, 0):
        bend = np.abs(np.diff(y, 2, axis=axis))
        inside = _eroded(part.here, 1)
        inside = inside[:, 1:-1] if axis else inside[1:-1]
        phases = part.phases(np.where(inside, bend, np.nan), axis, part.box[1 - axis] + 1)
        found += list(np.log((phases + 0.1) / (phases.mean() + 0.1)))
    for channel, shrink in ((0, 1), (1, 2), (2, 2)):
        own = _zeros(part, channel, shrink, 0)
        found += [own, own - _zeros(part, channel, shrink, 4)]
    return np.array(found)


def _zeros(part: Part, channel: int, shrink: int, shift: int) -> float:
    """Share of a channel's higher coefficients that are next to none, in 8 x 8 blocks ``shift`` off the lattice."""
    x0, y0, _, _ = part.box
    step = shrink * 8
    left, top = (-(x0 - shift * shrink)) % step, (-(y0 - shift * shrink)) % step
    values, here = part.ycc[top:, left:, channel], part.here[top:, left:]
    rows, cols = (n // step * step for n in values.shape)
    if not rows or not cols:
        return 0.8
    values, here = values[:rows, :cols], here[:rows, :cols]
    if shrink > 1:
        values = values.reshape(rows // shrink, shrink, cols // shrink, shrink).mean((1, 3))
        here = here.reshape(rows // shrink, shrink, cols // shrink, shrink).all((1, 3))
    shape = values.shape[0] // 8, 8, values.shape[1] // 8, 8
    whole = here.reshape(shape).all((1, 3))
    if not whole.any():
        return 0.8
    blocks = values.reshape(shape).transpose(0, 2, 1, 3)[whole]
    spectrum = np.abs(dctn(blocks, axes=(1, 2), norm="ortho"))
    high = np.add.outer(np.arange(8), np.arange(8)) >= 3
    return float((spectrum[:, high] < 0.8).mean())


def tone(part: Part) -> np.ndarray:
    """(11,) brightness: percentiles, spread, and the shares that are full and black."""
    y = part.ycc[..., 0][part.here]
    rgb = part.rgb[part.here]
    full, black = (rgb.max(1) >= _FULL).mean(), (y < 16).mean()
    middle = np.percentile(y, 50)
    return np.array([*np.percentile(y, _EDGES), y.std(), full, black, (y > middle + 60).mean()])


def colour(part: Part) -> np.ndarray:
    """(13,) colour differences: level and spread, in all and in the dark and the bright third, and how they vary."""
    ycc = part.ycc[part.here]
    y, differences = ycc[:, 0], ycc[:, 1:]
    low, high = np.percentile(y, [33, 67])
    strength = np.hypot(*differences.T)
    found = [*differences.mean(0), *differences.std(0), *np.percentile(strength, [50, 90, 98])]
    for third in (y <= low, y >= high):
        found += [*differences[third].mean(0), differences[third].std()]
    return np.array(found)


def noise(part: Part) -> np.ndarray:
    """(11,) grain in the smoothest windows: log power by channel, how it hangs together, the mosaic's trace."""
    ycc = part.ycc
    rough = ycc - cv2.GaussianBlur(ycc, (0, 0), 1.5)
    inside = _eroded(part.here, 2).astype(np.float32)
    size = (7, 7)
    count = cv2.blur(inside, size)
    power = cv2.blur(rough**2 * inside[..., None], size) / np.maximum(count, 0.1)[..., None]
    usable = count > 0.7
    if usable.sum() < 30:
        usable = count >= min(0.2, float(count.max()))
    found = [
        float(np.log(np.percentile(power[..., c][usable], q) + 0.05)) for c in range(3) for q in (10, 30)
    ]
    y = rough[..., 0]
    smooth = usable & (power[..., 0] <= np.percentile(power[..., 0][usable], 40))
    for dy, dx in ((0, 1), (1, 0), (1, 1)):
        pair = y * np.roll(y, (-dy, -dx), (0, 1))
        found.append(float(pair[smooth].mean() / max((y[smooth] ** 2).mean(), 0.05)))
    cross = (rough[..., 1] * rough[..., 2])[smooth]
    found.append(float(cross.mean() / max(rough[..., 1:][smooth].var(), 0.05)))
    return np.array([*found, zipper(part)])


def zipper(part: Part) -> float:
    """Log ratio of the green detail on the two fields of a chequerboard: a bilinear mosaic leaves one without."""
    green = part.rgb[..., 1]
    kernel = np.float32([[0, 1, 0], [1, -4, 1], [0, 1, 0]]) / 4
    bend = np.abs(cv2.filter2D(green, -1, kernel))
    x0, y0 = part.box[:2]
    rows, cols = np.indices(green.shape)
    even = (rows + cols + x0 + y0) % 2 == 0
    inside = _eroded(part.here, 1)
    if inside.sum() < 30:
        return 0.0
    return float(np.log((bend[inside & even].mean() + 0.2) / (bend[inside & ~even].mean() + 0.2)))


def sharpness(part: Part) -> np.ndarray:
    """(7,) steps from pixel to pixel: how steep the steepest are, and how much of them a little blur takes."""
    y = part.ycc[..., 0]
    inside = _eroded(part.here, 2)
    if inside.sum() < 30:
        inside = part.here
    once, twice = _slope(y), _slope(cv2.GaussianBlur(y, (0, 0), 1.0))
    steep = inside & (once >= np.percentile(once[inside], 90))
    bend = np.abs(cv2.Laplacian(y, cv2.CV_32F))
    ratio = once[steep] / np.maximum(twice[steep], 1)
    return np.array(
        [
            *np.log(np.percentile(once[inside], [50, 90, 98]) + 2),
            np.median(ratio),
            np.percentile(ratio, 85),
            np.log((bend[steep].mean() + 1) / (once[steep].mean() + 1)),
            np.log((bend[inside].mean() + 0.5) / (once[inside].mean() + 0.5)),
        ]
    )


def _slope(y: np.ndarray) -> np.ndarray:
    return cv2.magnitude(cv2.Sobel(y, cv2.CV_32F, 1, 0), cv2.Sobel(y, cv2.CV_32F, 0, 1)) / 8


def _eroded(here: np.ndarray, by: int) -> np.ndarray:
    kernel = np.ones((2 * by + 1,) * 2, np.uint8)
    return cv2.erode(here.astype(np.uint8), kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0


MEASURES: dict[str, Callable[[Part], np.ndarray]] = {
    "grid": grid,
    "tone": tone,
    "colour": colour,
    "noise": noise,
    "sharpness": sharpness,
}
