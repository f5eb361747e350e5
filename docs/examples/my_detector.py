"""A detector without weights: what has one strong colour is looked for by it."""

import cv2
import numpy as np

from cfgen.perception.detection import Detection

HUES = {"bus": (10, 30), "barrier": (0, 12), "drum": (0, 12)}  # OpenCV's hue, 0 to 180


class ByColour:
    """Buses, barriers and drums, by their colour."""

    name = "by-colour"

    def __init__(self, threshold: float = 0.3) -> None:  # --detector-options threshold=0.4
        self.threshold = threshold
        self.options = {"threshold": threshold}

    @property
    def identity(self) -> dict[str, str]:
        return {"model": "by-colour", "revision": "1"}

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
        found = []
        for lo, hi in (hues for word, hues in HUES.items() if word in text):
            mask = cv2.inRange(hsv, (lo, 110, 60), (hi, 255, 255))
            mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))  # windows, stripes
            _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
            for label, (x, y, w, h, area) in enumerate(stats[1:], start=1):
                score = area / (w * h)  # how much of its box it fills
                if area >= 100 and score >= self.threshold:
                    found.append(Detection((x, y, x + w, y + h), float(score), labels == label))
        return sorted(found, key=lambda one: -one.score)
