"""Whether a picture is the round one of a fisheye lens: black corners behind an arc that runs round the middle."""

import cv2
import numpy as np

from cfgen.perception.camera_doubt import GUESSED
from cfgen.records import Camera

#: Side on which it is looked at, px; what is left out at the frame's edge, px: encoders draw lines there.
_SIDE, _EDGE = 240, 3
#: Corners that must be black, of four: the car itself may fill others.
_CORNERS = 3
#: Black is less than this (8 bit), or this share of the median; of darker pictures nothing is told.
_BLACK, _OF_MEDIAN, _NIGHT = 20.0, 0.25, 30.0
#: A black corner takes up so much of either side; of the rectangle that it spans so much is black: beyond a straight
#: line half of it would be, beyond an arc less.
_SPANS, _FILLS = (0.03, 0.5), (0.1, 0.55)
#: All corners together are no larger than one so many times as small.
_ALIKE = 3.0


def is_round(image: np.ndarray) -> bool:
    """Whether at least three corners of (H, W, 3) uint8 RGB are black beyond one circle or ellipse about its middle."""
    grey = _small(image)
    middle = float(np.median(grey))
    if middle < _NIGHT:
        return False
    black = grey < max(_BLACK, _OF_MEDIAN * middle)
    corners = [_spans(black[::down, ::across]) for down in (1, -1) for across in (1, -1)]
    spans = sorted(span for span in corners if span > 0)
    return len(spans) >= _CORNERS and spans[-1] < _ALIKE * spans[-_CORNERS]


def why_not_a_pinhole(image: np.ndarray, camera: Camera) -> str:
    """What is wrong with a frame (H, W, 3) uint8 RGB of a camera without distortion, and what to do; "" if nothing."""
    if camera.model != "pinhole" or not is_round(image):
        return ""
    return (
        f"{GUESSED}: a pinhole, where the frame is the round picture of a fisheye lens (black corners); import again "
        "with --option camera=FILE, a calibration of model 'fisheye' or 'ftheta'"
    )


def _small(image: np.ndarray) -> np.ndarray:
    height, width = image.shape[:2]
    scale = _SIDE / max(height, width)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA).max(2)
    inner: np.ndarray = small[_EDGE : len(small) - _EDGE, _EDGE : small.shape[1] - _EDGE].astype(float)
    return inner


def _spans(black: np.ndarray) -> float:
    """How much of the sides, as a share, the black top left corner takes up that an arc cuts off; 0 where none does."""
    across, down = (int(np.append(edge, False).argmin()) for edge in (black[0], black[:, 0]))
    shares = across / black.shape[1], down / len(black)
    low, high = _SPANS
    if not all(low <= share <= high for share in shares):
        return 0.0
    fills = float(black[:down, :across].mean())
    return (shares[0] + shares[1]) / 2 if _FILLS[0] <= fills <= _FILLS[1] else 0.0
