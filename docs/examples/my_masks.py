"""A segmenter without weights: OpenCV's GrabCut inside the box that it is asked about."""

from collections.abc import Sequence

import cv2
import numpy as np

from cfgen.masks.protocol import Prompt, Segment


class GrabCut:
    """OpenCV's GrabCut; no weights."""

    name, min_score = "grabcut", 0.5

    def __init__(self, rounds: int = 3) -> None:  # --masks-option rounds=5
        self.options = {"rounds": rounds}

    @property
    def identity(self) -> dict[str, str]:
        return {"model": "grabcut", "revision": cv2.__version__}

    def segment(self, image: np.ndarray, prompts: Sequence[Prompt]) -> list[list[Segment]]:
        return [self.one(image, prompt) for prompt in prompts]

    def one(self, image: np.ndarray, prompt: Prompt) -> list[Segment]:
        marks = np.full(image.shape[:2], cv2.GC_BGD if prompt.box else cv2.GC_PR_BGD, np.uint8)
        if prompt.box:
            x0, y0, x1, y1 = (max(0, round(v)) for v in prompt.box)
            marks[y0:y1, x0:x1] = cv2.GC_PR_FGD
        for points, mark in ((prompt.inside, cv2.GC_FGD), (prompt.outside, cv2.GC_BGD)):
            for u, v in points:
                cv2.circle(marks, (round(u), round(v)), 3, mark, -1)
        if not np.isin(marks, (cv2.GC_FGD, cv2.GC_PR_FGD)).any():
            return []
        cv2.setRNGSeed(0)  # same picture and prompt, same masks
        models = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(image, marks, (0, 0, 0, 0), *models, self.options["rounds"], cv2.GC_INIT_WITH_MASK)
        return [Segment(np.isin(marks, (cv2.GC_FGD, cv2.GC_PR_FGD)), score=0.6)]
