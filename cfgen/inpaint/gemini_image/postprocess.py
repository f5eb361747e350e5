"""A crop on a canvas of a shape that an image service accepts, and the way back."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageOps

from cfgen.inpaint.align import align, astray
from cfgen.inpaint.paste import blend
from cfgen.inpaint.protocol import InpaintRequest
from cfgen.inpaint.settings import ANSWER

#: Width over height by the names that the service knows.
RATIOS = {
    "1:1": 1.0,
    "2:3": 2 / 3,
    "3:2": 3 / 2,
    "3:4": 3 / 4,
    "4:3": 4 / 3,
    "9:16": 9 / 16,
    "16:9": 16 / 9,
    "21:9": 21 / 9,
}


@dataclass(frozen=True)
class Letterbox:
    """Where a crop lies on its canvas, pixels of the canvas.

    Attributes:
        crop: height and width of the crop. ratio: name of the canvas's shape.
        width, height: of the canvas. x0, y0, inner_width, inner_height: the crop's rectangle on it.
    """

    crop: tuple[int, int]
    ratio: str
    width: int
    height: int
    x0: int
    y0: int
    inner_width: int
    inner_height: int

    @property
    def report(self) -> dict[str, Any]:
        inner = [self.x0, self.y0, self.inner_width, self.inner_height]
        return {
            "ratio": self.ratio,
            "sent": [self.width, self.height],
            "crop_at": inner,
            "padding": "mirrored",
        }

    def wrap(self, crop: np.ndarray) -> np.ndarray:
        """(H, W, 3) uint8 of the crop to the canvas's size; what is left over is filled with its mirror image."""
        size = (self.inner_width, self.inner_height)
        larger = self.inner_width > crop.shape[1]
        inner = cv2.resize(crop, size, interpolation=cv2.INTER_CUBIC if larger else cv2.INTER_AREA)
        right, bottom = self.width - self.x0 - size[0], self.height - self.y0 - size[1]
        return cv2.copyMakeBorder(inner, self.y0, bottom, self.x0, right, cv2.BORDER_REFLECT)

    def mappings(self, answer: np.ndarray) -> Mapping[str, np.ndarray]:
        """The crop's part of an answer of any size, (H, W, 3) uint8 at the crop's size, by how it was found.

        An answer of the canvas's shape is only scaled. Of another shape it may have been squeezed, cut to fill, or
        shrunk to fit: then there is one result for each, and the pixels must tell.
        """
        high, wide = answer.shape[:2]
        across, down = wide / self.width, high / self.height
        if abs(across / down - 1) <= ANSWER.same_shape:
            return {"scaled": self._unwrap(answer, across, down)}
        return {
            "squeezed": self._unwrap(answer, across, down),
            "cut to fill": self._unwrap(answer, max(across, down), max(across, down)),
            "shrunk to fit": self._unwrap(answer, min(across, down), min(across, down)),
        }

    def _unwrap(self, answer: np.ndarray, across: float, down: float) -> np.ndarray:
        """With the canvas scaled by ``across`` and ``down`` and centred in the answer."""
        high, wide = answer.shape[:2]
        x0 = (wide - self.width * across) / 2 + self.x0 * across
        y0 = (high - self.height * down) / 2 + self.y0 * down
        rows, columns = self.crop
        step_x, step_y = self.inner_width * across / columns, self.inner_height * down / rows
        shrink = max(step_x, step_y)
        if shrink > 1:  # warping skips pixels: average first those that fall on one
            soft = cv2.GaussianBlur(answer, (0, 0), 0.42 * shrink)
            answer = soft if shrink > 1.25 else cv2.addWeighted(answer, 0.5, soft, 0.5, 0)
        shift = np.array([[step_x, 0, x0 + step_x / 2 - 0.5], [0, step_y, y0 + step_y / 2 - 0.5]])
        flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        return cv2.warpAffine(answer, shift, (columns, rows), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def fit(height: int, width: int, side: int) -> Letterbox:
    """The canvas for a crop of that size with the least padding, its longer side about ``side`` pixels."""
    shape = width / height
    ratio = min(RATIOS, key=lambda name: max(RATIOS[name] / shape, shape / RATIOS[name]))
    target = RATIOS[ratio]
    canvas_width, canvas_height = max(width, height * target), max(height, width / target)
    scale = min(side / max(canvas_width, canvas_height), ANSWER.max_enlarge)
    full_width, full_height = round(canvas_width * scale), round(canvas_height * scale)
    inner_width = min(round(width * scale), full_width)
    inner_height = min(round(height * scale), full_height)
    x0, y0 = (full_width - inner_width) // 2, (full_height - inner_height) // 2
    return Letterbox((height, width), ratio, full_width, full_height, x0, y0, inner_width, inner_height)


# --- matte -------------------------------------------------------------------------------------
# What of a redrawn crop is the hazard: the part that differs from the original by more than redrawing alone does.
#
# Pasting only that leaves the road around it untouched, and lets the hazard be carried to other frames without a
# piece of road around it.


def matte(image: np.ndarray, crop: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(H, W) float32 in [0, 1]: coverage of what was added inside the mask, 0 outside it.

    Args:
        image: (H, W, 3) uint8, the answer laid over the crop. crop: (H, W, 3) uint8, the original.
        mask: (H, W) uint8, nonzero where pixels may change.
    """
    allowed = mask > 0
    if not allowed.any():
        return np.zeros(mask.shape, np.float32)
    off = cv2.absdiff(cv2.GaussianBlur(image, (0, 0), 1.2), cv2.GaussianBlur(crop, (0, 0), 1.2)).max(2)
    around = off[cv2.dilate(mask, np.ones((7, 7), np.uint8)) == 0]
    noise = float(np.percentile(around, 95)) if len(around) else 0.0
    threshold = float(np.clip(ANSWER.above_noise * noise, ANSWER.least, ANSWER.most))
    body = _solid((off > threshold) & allowed, mask)
    if np.count_nonzero(body) < ANSWER.min_share * np.count_nonzero(allowed):
        return np.zeros(mask.shape, np.float32)
    # what lies beside the body and is half as different is its edge or the soft end of its shadow
    near = cv2.dilate(body, np.ones((9, 9), np.uint8)) > 0
    edge = np.clip(off / threshold * 2 - 1, 0, 1) * near
    cover = np.maximum(cv2.GaussianBlur(body.astype(np.float32), (0, 0), 1.0), edge.astype(np.float32))
    return np.where(allowed, np.clip(cover, 0, 1), 0).astype(np.float32)


def _solid(differs: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(H, W) uint8, 1 on what differs, without specks, gaps closed and holes filled."""
    _, _, w, h = cv2.boundingRect((mask > 0).astype(np.uint8))
    gap = max(3, round(ANSWER.gap * max(w, h))) | 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (gap, gap))
    joined = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_CLOSE, kernel)
    contours, _ = cv2.findContours(joined, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    min_area = ANSWER.speck * np.count_nonzero(mask)
    solid = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(solid, [c for c in contours if cv2.contourArea(c) >= min_area], -1, 1, cv2.FILLED)
    return solid & (mask > 0)


# --- postprocess -------------------------------------------------------------------------------
# From the bytes that an image service sent to what is pasted: decoded, laid over the crop, and cut out.


@dataclass(frozen=True, eq=False)
class Laid:
    """A usable answer as the crop lies: image (H, W, 3) uint8, and coverage (H, W) float32 of what was added.

    For the null edit the coverage is None: all of the mask is pasted, so that it shows what redrawing does.
    """

    image: np.ndarray
    alpha: np.ndarray | None
    report: dict[str, Any]


def lay(data: bytes, request: InpaintRequest, box: Letterbox, max_drift: float) -> Laid | str:
    """The answer laid over its crop, or why it is of no use."""
    answer = _decode(data)
    if isinstance(answer, str):
        return answer
    aligned = align(_mappings(answer, request.image, box), request.image, request.mask)
    why, tile = astray(aligned, request.image, request.mask, max_drift)
    if why:
        return why
    report = {"answer_size": [answer.shape[1], answer.shape[0]], **aligned.report, "worst_tile": tile}
    if request.hazard.kind == "null":
        return Laid(aligned.image, None, report)
    alpha = matte(aligned.image, request.image, request.mask)
    if not alpha.any():
        return "the answer shows nothing new where it was asked for"
    return Laid(aligned.image, alpha, report)


def _mappings(answer: np.ndarray, crop: np.ndarray, box: Letterbox) -> Mapping[str, np.ndarray]:
    """The crop's part of the answer by how it was found; what is transparent shows the crop."""
    mappings = box.mappings(np.ascontiguousarray(answer[..., :3]))
    if answer.shape[2] == 3:
        return mappings
    covers = box.mappings(np.repeat(answer[..., 3:], 3, axis=2))
    return {name: blend(crop, mappings[name], covers[name][..., 0] / np.float32(255)) for name in mappings}


def _decode(data: bytes) -> np.ndarray | str:
    """(H, W, 3) uint8 RGB as a viewer would turn it, or (H, W, 4) where parts are transparent; or why not."""
    try:
        with Image.open(io.BytesIO(data)) as file:
            if not all(ANSWER.least_side <= side <= ANSWER.most_side for side in file.size):
                return f"the answer is a picture of {file.width} x {file.height} pixels"
            upright = ImageOps.exif_transpose(file)
            return np.asarray(upright.convert("RGBA" if upright.has_transparency_data else "RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):  # PIL raises each of them
        return f"the answer is no whole picture ({len(data)} bytes)"
