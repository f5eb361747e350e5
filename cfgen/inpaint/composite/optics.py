"""How sharp and how noisy a frame is, and the same done to what is put into it."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.inpaint.settings import OPTICS
from cfgen.perception.linear_light import to_code


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
    if min(height, width) < OPTICS.smallest:
        return Optics(OPTICS.own_blur, 0.0)
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
    once, twice = cv2.magnitude(across, down), _slope(cv2.GaussianBlur(grey, (0, 0), OPTICS.probe))
    every = _spread(once, twice, None, OPTICS.strong)
    if every is None:
        return OPTICS.own_blur, (0.0, 0.0)
    wide, high = (
        _spread(once, twice, along_axis > 2 * cross_axis, OPTICS.strong_of_alike)
        for along_axis, cross_axis in ((across, down), (down, across))
    )
    if wide is None or high is None or max(wide, high) < OPTICS.shaken * min(wide, high):
        return every, (0.0, 0.0)
    extra = math.sqrt(abs(wide**2 - high**2))
    return min(every, wide, high), ((extra, 0.0) if wide > high else (0.0, extra))


def _spread(once: np.ndarray, twice: np.ndarray, among: np.ndarray | None, percent: float) -> float | None:
    """Blur by the strongest edges of an image, or ``among`` some (H, W) bool; None where there are few."""
    slopes = once.ravel() if among is None else once[among]
    if slopes.size < OPTICS.enough:
        return None
    strong = once > max(float(np.percentile(slopes, percent)), 8.0)
    if among is not None:
        strong &= among
    if np.count_nonzero(strong) < OPTICS.enough:
        return None
    ratio = np.maximum(once[strong] / np.maximum(twice[strong], 1e-3), 1.01)
    variance = OPTICS.probe**2 / (ratio**2 - 1) - OPTICS.filter
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
    telling = grain[(level > OPTICS.telling[0]) & (level < OPTICS.telling[1])]
    return float(np.clip(np.percentile(telling if telling.size else grain, 10), 0.0, 6.0))


def soften(premultiplied: np.ndarray, optics: Optics, later: float = 0.0) -> np.ndarray:
    """The insert (H, W, C) with the frame's sharpness, less the blur that is ``later`` to come, pixels.

    Alpha is blurred like colour; where the frame is sharper than the insert, colour alone is sharpened.
    """
    missing = optics.blur**2 - OPTICS.own_blur**2 - later**2
    if any(optics.shake):
        across, down = (math.sqrt(max(missing + shake**2, OPTICS.least_missing)) for shake in optics.shake)
        return cv2.GaussianBlur(premultiplied, (0, 0), across, sigmaY=down)
    if missing > OPTICS.least_missing:
        return cv2.GaussianBlur(premultiplied, (0, 0), math.sqrt(missing))
    if missing > -OPTICS.least_missing or premultiplied.shape[2] < 4:
        return premultiplied
    # to second order in frequency this undoes a Gaussian of that variance
    sharp = premultiplied.copy()
    colour = premultiplied[..., :3]
    sharp[..., :3] += (colour - cv2.GaussianBlur(colour, (0, 0), 1.0)) * np.float32(
        min(-missing, OPTICS.most_sharpened)
    )
    return np.maximum(sharp, 0)


def settle(codes: np.ndarray, cover: np.ndarray, optics: Optics) -> np.ndarray:
    """Codes (H, W, 3) float32, grain and all, blurred as scaling and video blur them, where ``cover`` (H, W) is new.

    Blurred as light alone, inserts are sharper and grainier than vehicles in the same places of such frames.
    """
    missing = OPTICS.in_codes * (optics.blur**2 - OPTICS.own_blur**2)
    if missing <= OPTICS.least_missing:
        return codes
    blurred = cv2.GaussianBlur(codes, (0, 0), math.sqrt(missing))
    return codes + (blurred - codes) * cover[..., None]


def smear(picture: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """A picture (H, W, C) blurred along the way (2,), pixels, that what it shows moves while the shutter is open."""
    length = float(np.hypot(*motion))
    if length < OPTICS.still:
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


# --- sensor ------------------------------------------------------------------------------------
# What a camera's sensor does to light: full wells, bloom, grain, and colours guessed from a mosaic of single ones.

#: Sites of one colour that bilinear demosaicing gathers a pixel's from: red or blue, and green.
_SPARSE = np.outer([0.5, 1, 0.5], [0.5, 1, 0.5]).astype(np.float32)
_DENSE = np.array([[0, 0.25, 0], [0.25, 1, 0.25], [0, 0.25, 0]], np.float32)
#: On the blue sites of a mosaic brightness is all guessed: log of its detail there against that of all sites.
_SMOOTHER, _BEND = -0.04, np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], np.float32)
#: False colour, codes, that rows as fine as the mosaic's leave at most, and over how many pixels it is one colour.
_MOIRE, _MOIRE_REACH, _AROUND = 8.0, 2.0, np.ones((5, 5), np.uint8)
#: JPEG's brightness.
_BRIGHTNESS = np.array([0.299, 0.587, 0.114], np.float32)


#: Colours, 0 to 2, of a mosaic's sites, and where these are.
Sites = tuple[tuple[int, tuple[slice, slice]], ...]


@dataclass(frozen=True)
class Sensor:
    """blue: row and column, 0 or 1, of the blue sites of a Bayer mosaic in the frame; None where none shows.
    clips: whether highlights are cut off; reach: how far light spills, pixels."""

    blue: tuple[int, int] | None
    clips: bool
    reach: float

    @property
    def blur(self) -> float:
        """Standard deviation of what demosaicing blurs, pixels."""
        return 0.0 if self.blue is None else OPTICS.mosaic_blur


def find_sensor(image: np.ndarray) -> Sensor:
    """The sensor of a frame (H, W, 3) uint8, by its middle part."""
    grey = cv2.cvtColor(_middle(image), cv2.COLOR_RGB2GRAY).astype(np.float32)
    return Sensor(_blue(grey), cuts(full(image)), max(OPTICS.spill_reach * image.shape[1], 1.0))


def cuts(share: float) -> bool:
    """Whether that share of full pixels tells that highlights are cut off."""
    return share > OPTICS.clipping


def full(image: np.ndarray) -> float:
    """Share of the pixels of a frame (H, W, 3) uint8 that are full in a channel."""
    part = _middle(image)
    peak = np.maximum(np.maximum(part[..., 0], part[..., 1]), part[..., 2])
    return float((peak >= OPTICS.full).mean()) if part.size else 0.0


def _middle(image: np.ndarray) -> np.ndarray:
    """The middle of a frame, from an even row and column on."""
    height, width = image.shape[:2]
    top, first_col = height // 3 // 2 * 2, width // 4 // 2 * 2
    return image[top : top + max(height // 2, 1), first_col : first_col + max(width // 2, 1)]


def _blue(grey: np.ndarray) -> tuple[int, int] | None:
    if min(grey.shape) < 64:
        return None
    bend = np.minimum(np.abs(cv2.filter2D(grey, -1, _BEND / 4)), OPTICS.most_bend)
    sites = np.array([[bend[row::2, col::2].mean() for col in (0, 1)] for row in (0, 1)])
    detail = np.log((sites + 0.05) / (bend.mean() + 0.05))
    row, col = np.unravel_index(int(np.argmin(detail)), (2, 2))
    across = detail[1 - row, 1 - col]
    neighbours = (detail[1 - row, col] + detail[row, 1 - col]) / 2
    smooth = detail[row, col]
    return (int(row), int(col)) if smooth < _SMOOTHER and smooth < min(across, neighbours) - 0.02 else None


def expose(
    linear: np.ndarray,
    cover: np.ndarray,
    sensor: Sensor,
    origin: tuple[int, int],
    noise: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Codes (H, W, 3) float32 that the sensor makes of linear light (H, W, 3), where ``cover`` (H, W) in [0, 1] says
    how much is new.

    The mosaic holds codes: cameras bend a site's light to a code before they guess its other colours, or a bright
    neighbour would outshine what is dark.

    Args:
        origin: column and row of the part in the frame.
        noise: standard deviation of brightness's grain at mid-grey, codes.
    """
    if sensor.clips:
        linear = np.minimum(_spilt(linear, cover, sensor.reach), 1)
    new = to_code(linear)
    if noise <= 0.05 and sensor.blue is None:
        return new
    sites = _sites(sensor.blue or (1, 1), origin)
    level = np.empty(new.shape[:2], np.float32)
    for colour, site in sites:
        level[site] = new[..., colour][site]
    grain = rng.standard_normal(level.shape, dtype=np.float32) * _strength(level, noise) * cover
    if sensor.blue is None:
        # nothing of the mosaic shows but in the grain
        return new + demosaic(grain, sites)
    raw = np.clip(level + grain, 0, 255)
    around = np.clip(cv2.dilate(cover, np.ones((3, 3), np.uint8)), 0, 1)[..., None]
    return new + _coloured(demosaic(raw, sites) - new) * around


def _coloured(error: np.ndarray) -> np.ndarray:
    """What demosaicing gets wrong, (H, W, 3), after the matrix that makes a sensor's pale colours full.

    At edges false colours change from pixel to pixel; over grilles they add up to one, which lenses keep pale.
    """
    red, green, blue = (error[..., c] * _BRIGHTNESS[c] for c in range(3))
    grey = (red + green + blue)[..., None]
    false = error - grey
    broad = cv2.GaussianBlur(false, (0, 0), _MOIRE_REACH)
    strength = cv2.erode(np.sqrt((broad * broad).sum(-1)), _AROUND)[..., None]
    damping = np.maximum(1 - _MOIRE / np.maximum(strength, np.float32(1e-3)), 0)
    result: np.ndarray = grey + (false - broad * damping) * np.float32(OPTICS.matrix)
    return result


def _strength(level: np.ndarray, noise: float) -> np.ndarray:
    """Standard deviation (H, W) of the grain of a mosaic's codes: less of it in the dark."""
    return np.float32(noise / OPTICS.left) * np.clip(level / np.float32(90), 0.4, 1.2)


def _spilt(linear: np.ndarray, cover: np.ndarray, reach: float) -> np.ndarray:
    """Light beyond what a well of the new part holds, spread around it."""
    beyond = np.clip(linear - 1, 0, OPTICS.spill_most) * cover[..., None]
    if not beyond.any():
        return linear
    return linear + OPTICS.spill * cv2.GaussianBlur(beyond, (0, 0), reach)


def _sites(blue: tuple[int, int], origin: tuple[int, int]) -> Sites:
    """Where a part's sites of each colour are."""
    row, col = (blue[0] - origin[1]) % 2, (blue[1] - origin[0]) % 2
    offsets = (0, 1 - row, 1 - col), (1, row, 1 - col), (1, 1 - row, col), (2, row, col)
    return tuple((colour, np.s_[first_row::2, first_col::2]) for colour, first_row, first_col in offsets)


def demosaic(raw: np.ndarray, sites: Sites) -> np.ndarray:
    """(H, W, 3) float32 colours of a mosaic (H, W), bilinear; ``sites`` says which colour each site has."""
    planes = np.zeros((3, *raw.shape), np.float32)
    for colour, site in sites:
        planes[colour][site] = raw[site]
    kernels = (_SPARSE, _DENSE, _SPARSE)
    spread = [
        cv2.filter2D(p, -1, k, borderType=cv2.BORDER_REFLECT_101)
        for p, k in zip(planes, kernels, strict=True)
    ]
    return cv2.merge(spread)
