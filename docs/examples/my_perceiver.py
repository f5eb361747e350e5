"""A perceiver without weights: grey pixels in the lower part of the frame are road, bright ones lines."""

from collections.abc import Sequence

import cv2
import numpy as np

from cfgen.perception.protocol import CameraFrame
from cfgen.perception.view import SceneView


class GreyRoad:
    name, weaker, uses_camera = "grey-road", True, False

    def __init__(self, least: float = 0.5) -> None:  # --perception-options least=0.6
        self.options = {"least": least}
        self.identity = {"version": "1", "least": least}  # whatever changes what it sees

    def perceive(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        return [self.one(frame.image) for frame in frames]

    def one(self, image: np.ndarray) -> SceneView:
        size = image.shape[1], image.shape[0]
        small = cv2.resize(image, (160, 90), interpolation=cv2.INTER_AREA)
        hsv = cv2.cvtColor(small, cv2.COLOR_RGB2HSV)
        road = hsv[..., 1] < 60
        road[: round(90 * self.options["least"])] = False
        lines = road & (hsv[..., 2] > 190)
        return SceneView(road, lines, size, None, {"name": self.name, **self.identity})
