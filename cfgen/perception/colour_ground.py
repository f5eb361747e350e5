"""Road guessed from its colour: for machines and lenses on which no network serves."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cfgen.perception.clear_ground import find_clear_ground
from cfgen.perception.protocol import Frame
from cfgen.perception.view import SceneView


class ColourGround:
    """The weaker test: guesses the road from the colours before the car; parked cars and kerbs may pass as road."""

    name = "colour"
    options: Mapping[str, Any] = {}
    weaker, uses_camera = True, True
    identity: Mapping[str, Any] = {"version": "1"}

    def perceive(self, frames: Sequence[Frame]) -> list[SceneView]:
        return [self._view(frame) for frame in frames]

    def _view(self, frame: Frame) -> SceneView:
        free = find_clear_ground(frame.image, frame.camera, frame.path)
        by = {"name": self.name, **self.identity}
        height, width = frame.image.shape[:2]
        return SceneView(free, np.zeros_like(free), (width, height), None, by)
