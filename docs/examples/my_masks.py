"""A segmenter without weights: it grows from points as long as the colour stays."""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np

from cfgen.perception.detection import MaskPrompt, Segment

FLAGS = 4 | cv2.FLOODFILL_MASK_ONLY | cv2.FLOODFILL_FIXED_RANGE | (1 << 8)


class GrowColour:
    """Areas of one colour around points, or what such areas leave over of a box."""

    name, min_score = "grow-colour", 0.5

    def __init__(self, tolerance: int = 12) -> None:  # --masks-options tolerance=15
        self.options, self.identity = {"tolerance": tolerance}, {"model": self.name, "revision": "1"}

    def segment(self, image: np.ndarray, prompts: Sequence[MaskPrompt]) -> list[list[Segment]]:
        found = [self.one(cv2.medianBlur(image, 5), prompt) for prompt in prompts]
        return [[Segment(mask, score=0.6)] if mask.any() else [] for mask in found]

    def one(self, image: np.ndarray, prompt: MaskPrompt) -> np.ndarray:
        if prompt.box is None:
            return self.grown(image, prompt.inside)
        x0, y0, x1, y1 = (max(0, round(v)) for v in prompt.box)
        inner, mask = image[y0:y1, x0:x1], np.zeros(image.shape[:2], bool)
        edge = np.ones(inner.shape[:2], bool)
        edge[1:-1, 1:-1] = False
        mask[y0:y1, x0:x1] = ~self.grown(inner, np.argwhere(edge)[::4, ::-1])
        return mask

    def grown(self, image: np.ndarray, points: Iterable[Sequence[float]]) -> np.ndarray:
        around, most = np.zeros(np.add(image.shape[:2], 2), np.uint8), (self.options["tolerance"],) * 3
        for u, v in points:
            cv2.floodFill(image, around, (round(u), round(v)), 0, most, most, FLAGS)
        return around[1:-1, 1:-1] > 0
