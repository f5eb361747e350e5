"""A detector without weights: what is named after a colour is looked for by it."""

import cv2
import numpy as np

from cfgen.masks.protocol import Detection

HUES = {"cone": (3, 18), "barrier": (3, 18), "fire": (0, 25)}  # OpenCV's hue, 0 to 180


class ByColour:
    """Looks for what is named by its colour; no weights."""

    name = "by-colour"

    def __init__(self, threshold: float = 0.3) -> None:  # --detector-option threshold=0.5
        self.threshold = threshold
        self.options = {"threshold": threshold}

    @property
    def identity(self) -> dict[str, str]:
        return {"model": "by-colour", "revision": "1"}

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
        found = []
        for lo, hi in (hues for word, hues in HUES.items() if word in text):
            mask = cv2.inRange(hsv, (lo, 120, 80), (hi, 255, 255))
            _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
            for label, (x, y, w, h, area) in enumerate(stats[1:], start=1):
                score = area / (w * h)  # how much of its box it fills
                if area >= 30 and score >= self.threshold:
                    found.append(Detection((x, y, x + w, y + h), float(score), labels == label))
        return sorted(found, key=lambda one: -one.score)
