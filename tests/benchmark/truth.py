"""A segmenter that knows the truth, and edits whose hazard is known to the pixel."""

from dataclasses import dataclass

import numpy as np

from cfgen.inpaint.composite import inpainter
from cfgen.inpaint.composite.harmonize import insert
from cfgen.inpaint.protocol import InpainterRequirements, InpaintResult
from cfgen.perception.detection import Segment
from cfgen.perception.mask_shapes import box_around, iou


class Truth:
    """Answers with the parts of a label picture (H, W) int, by image size; 0 is nothing, as is any other picture."""

    name, options, identity, min_score = "truth", {}, {"model": "truth"}, 0.8

    def __init__(self, *labels, score=0.95):
        self.labels = {picture.shape: picture for picture in labels}
        self.score, self.asked = score, 0

    def segment(self, image, prompts):
        labels = self.labels.get(image.shape[:2], np.zeros(image.shape[:2], int))
        self.asked += len(prompts)
        meant = [self._meant(labels, p) for p in prompts]
        return [[Segment(labels == value, self.score if value else 0.0)] for value in meant]

    def _meant(self, labels, prompt):
        if prompt.inside:
            under = [labels[round(v), round(u)] for u, v in prompt.inside]
            return max(set(under), key=under.count)
        return max(np.unique(labels), key=lambda value: iou(box_around(labels == value), prompt.box))


@dataclass
class Repaint:
    """Stands for a generative model: the compositor's picture, all of the mask in another grain and tone, no alpha.

    Notes what it drew in its crops: the objects alone, and the last one with its shadow. ``guess``: an alpha to claim.
    """

    guess: np.ndarray | None = None
    tone: float = 3.0
    grain: float = 3.0
    name, version, options = "repaint", "1", {}
    needs = InpainterRequirements(every_frame=False, context=0.2, shadow=2.5)

    def can_draw(self, hazard):
        return True

    def inpaint(self, requests):
        self.bodies, bodies = [], []

        def draw(request, light):
            drawing, told = inpainter._draw(request, light)
            body = np.zeros(request.mask.shape, bool)
            x0, y0, x1, y1 = drawing.box
            body[y0:y1, x0:x1] = drawing.rgba[..., 3] > 0.5
            bodies.append(body)
            return drawing, told

        results = []
        for request, result in zip(requests, insert(requests, draw), strict=True):
            rng = np.random.default_rng(request.seed)
            noise = rng.normal(self.tone, self.grain, request.mask.shape)[..., None]
            image = np.clip(result.image + noise, 0, 255).astype(np.uint8)
            self.alpha = result.alpha
            results.append(InpaintResult(image, self.guess, {}, self.guess is not None))
        self.bodies = bodies
        return results
