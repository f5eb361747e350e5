"""How sharp and how noisy a frame is, and the same done to what is put into it."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

#: Blur that rendering and resampling leave in a sprite, pixels, against vehicles in the same places.
_OWN_BLUR = 0.53
_PROBE = 1.0
#: Variance that matters, pixels squared, and most that is undone.
_LEAST_MISSING, _MOST_SHARPENED = 0.0225, 0.5
#: Variance that codes are blurred by, against light: as vehicles in frames without a mosaic have it.
_IN_CODES = 0.5
#: Motion over less than this, pixels, shows no blur.
_STILL = 0.5
#: Pictures of fewer pixels a side show neither sharpness nor grain.
_SMALLEST = 32
#: Edges that blur is measured on, percentiles of all and of those of one direction, and how many it takes.
_STRONG, _STRONG_OF_ALIKE, _ENOUGH = 98.5, 97.0, 50
#: How much blurrier edges of one direction are than the others in a shaken picture.
_SHAKEN = 1.6
#: Levels between which blocks tell of grain, codes.
_TELLING = (20, 235)
#: Variance that the gradient filter itself adds to an edge.
_FILTER = 0.5


@dataclass(frozen=True)
class Optics:
    """blur: standard deviation of the point spread, pixels; noise: that of the grain, codes, on mid-grey; shake: what
    a shaken camera adds across and down, pixels."""

    blur: float
    noise: float
    shake: tuple[float, float] = (0.0, 0.0)


def measure(image: np.ndarray) -> Optics:
    """Optics of a frame (H, W, 3) uint8: sharpness from its middle part, grain from top to bottom."""
    height, width = image.shape[:2]
    if min(height, width) < _SMALLEST:
        return Optics(_OWN_BLUR, 0.0)
    part = image[int(0.35 * height) : int(0.8 * height), int(0.15 * width) : int(0.85 * width)]
    grey = cv2.cvtColor(part, cv2.COLOR_RGB2GRAY)
    blur, shake = _blurs_of(grey.astype(np.float32))
    upright = np.ascontiguousarray(image[:, width // 4 : max(3 * width // 4, width // 4 + 16)])
    return Optics(blur, _noise_of(cv2.cvtColor(upright, cv2.COLOR_RGB2GRAY).astype(np.float32)), shake)


def _blurs_of(grey: np.ndarray) -> tuple[float, tuple[float, float]]:
    """Blur of the sharpest strong edges, and how much blurrier upright ones are than level ones, or the other way.

    By blurring again (Zhuo and Sim, Pattern Recognition 2011, Eq. 5): the gradient of a step blurred by s drops to
    s / sqrt(s^2 + p^2) when blurred by p more.
    """
    across, down = (np.abs(cv2.Sobel(grey, cv2.CV_32F, *axis)) for axis in ((1, 0), (0, 1)))
    once, twice = cv2.magnitude(across, down), _slope(cv2.GaussianBlur(grey, (0, 0), _PROBE))
    every = _spread(once, twice, None, _STRONG)
    if every is None:
        return _OWN_BLUR, (0.0, 0.0)
    wide, high = (
        _spread(once, twice, along_axis > 2 * cross_axis, _STRONG_OF_ALIKE)
        for along_axis, cross_axis in ((across, down), (down, across))
    )
    if wide is None or high is None or max(wide, high) < _SHAKEN * min(wide, high):
        return every, (0.0, 0.0)
    extra = math.sqrt(abs(wide**2 - high**2))
    return min(every, wide, high), ((extra, 0.0) if wide > high else (0.0, extra))


def _spread(once: np.ndarray, twice: np.ndarray, among: np.ndarray | None, percent: float) -> float | None:
    """Blur by the strongest edges of an image, or ``among`` some (H, W) bool; None where there are few."""
    slopes = once.ravel() if among is None else once[among]
    if slopes.size < _ENOUGH:
        return None
    strong = once > max(float(np.percentile(slopes, percent)), 8.0)
    if among is not None:
        strong &= among
    if np.count_nonzero(strong) < _ENOUGH:
        return None
    ratio = np.maximum(once[strong] / np.maximum(twice[strong], 1e-3), 1.01)
    variance = _PROBE**2 / (ratio**2 - 1) - _FILTER
    return float(np.clip(math.sqrt(max(float(np.percentile(variance, 50)), 0.0)), 0.3, 1.8))


def _slope(grey: np.ndarray) -> np.ndarray:
    return cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))


def _noise_of(grey: np.ndarray) -> float:
    """Grain in the smoothest tenth of 8 x 8 blocks that are neither black nor full, codes: most others show texture."""
    rough = grey - cv2.GaussianBlur(grey, (0, 0), 1.5)
    rows, cols = (n // 8 * 8 for n in rough.shape)
    shape = rows // 8, 8, cols // 8, 8
    grain = rough[:rows, :cols].reshape(shape).std((1, 3))
    level = cv2.resize(grey[:rows, :cols], (cols // 8, rows // 8), interpolation=cv2.INTER_AREA)
    telling = grain[(level > _TELLING[0]) & (level < _TELLING[1])]
    return float(np.clip(np.percentile(telling if telling.size else grain, 10), 0.0, 6.0))


def soften(premultiplied: np.ndarray, optics: Optics, later: float = 0.0) -> np.ndarray:
    """The insert (H, W, C) with the frame's sharpness, less the blur that is ``later`` to come, pixels.

    Alpha is blurred like colour; where the frame is sharper than the insert, colour alone is sharpened.
    """
    missing = optics.blur**2 - _OWN_BLUR**2 - later**2
    if any(optics.shake):
        across, down = (math.sqrt(max(missing + shake**2, _LEAST_MISSING)) for shake in optics.shake)
        return cv2.GaussianBlur(premultiplied, (0, 0), across, sigmaY=down)
    if missing > _LEAST_MISSING:
        return cv2.GaussianBlur(premultiplied, (0, 0), math.sqrt(missing))
    if missing > -_LEAST_MISSING or premultiplied.shape[2] < 4:
        return premultiplied
    # to second order in frequency this undoes a Gaussian of that variance
    sharp = premultiplied.copy()
    colour = premultiplied[..., :3]
    sharp[..., :3] += (colour - cv2.GaussianBlur(colour, (0, 0), 1.0)) * np.float32(
        min(-missing, _MOST_SHARPENED)
    )
    return np.maximum(sharp, 0)


def settle(codes: np.ndarray, cover: np.ndarray, optics: Optics) -> np.ndarray:
    """Codes (H, W, 3) float32, grain and all, blurred as scaling and video blur them, where ``cover`` (H, W) is new.

    Blurred as light alone, inserts are sharper and grainier than vehicles in the same places of such frames.
    """
    missing = _IN_CODES * (optics.blur**2 - _OWN_BLUR**2)
    if missing <= _LEAST_MISSING:
        return codes
    blurred = cv2.GaussianBlur(codes, (0, 0), math.sqrt(missing))
    return codes + (blurred - codes) * cover[..., None]


def smear(picture: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """A picture (H, W, C) blurred along the way (2,), pixels, that what it shows moves while the shutter is open."""
    length = float(np.hypot(*motion))
    if length < _STILL:
        return picture
    if length > max(picture.shape):  # more than all of it shows nothing else
        length, motion = max(picture.shape), motion * (max(picture.shape) / length)
    reach = math.ceil(length / 2)
    kernel = np.zeros((2 * reach + 1,) * 2, np.float32)
    steps = np.linspace(-0.5, 0.5, 8 * reach + 1)[:, None] * motion + reach
    for u, v in steps:
        col, row = min(int(u), 2 * reach - 1), min(int(v), 2 * reach - 1)
        right, down = u - col, v - row
        kernel[row : row + 2, col : col + 2] += np.outer((1 - down, down), (1 - right, right))
    return cv2.filter2D(picture, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)


def to_pixels(codes: np.ndarray) -> np.ndarray:
    """(H, W, 3) float codes to uint8."""
    return np.clip(codes + 0.5, 0, 255).astype(np.uint8)
