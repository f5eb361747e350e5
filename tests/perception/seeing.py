"""A perceiver that sees lane lines painted from cameras that the test knows."""

from collections.abc import Callable, Sequence

import numpy as np

from cfgen.perception.protocol import CameraFrame, Perceiver
from cfgen.perception.view import SceneView
from cfgen.records import Camera
from tests.hazards import drawn
from tests.perception.painted import paint


class Painted:
    """Sees what ``true(frame)`` would see of a straight road with the given lines."""

    name, options, identity = "painted", {}, {"version": "1"}
    weaker, uses_camera = False, False

    def __init__(
        self, true: Callable[[CameraFrame], Camera], lines: tuple[float, ...] = (5.35, 1.85, -1.65)
    ) -> None:
        self._true, self._lines = true, lines
        self.asked = 0

    def perceive(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        self.asked += len(frames)
        return [self._view(frame) for frame in frames]

    def _view(self, frame: CameraFrame) -> SceneView:
        road, lanes = paint(self._true(frame), lines=self._lines)
        height, width = np.shape(frame.image)[:2]
        return SceneView(road, lanes, (width, height), None, {"name": self.name})


def view_of(perceiver: Perceiver, image: np.ndarray) -> SceneView:
    """What one that goes by pixels alone sees in a frame."""
    [view] = perceiver.perceive([CameraFrame(image, drawn.CAMERA, drawn.path())])
    return view
