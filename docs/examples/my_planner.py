"""A planner that brakes when the road ahead looks unlike the road beside it."""

from collections.abc import Sequence

import numpy as np

from cfgen.planners.protocol import Observation, Requirements, Response


class Careful:
    """Stops where the road ahead is unevenly bright, else keeps on."""

    # The cameras and times (s relative to now) of the images it gets, and the area they are shrunk to.
    needs = Requirements(cameras=("front",), frame_times=(-0.5, 0.0), max_pixels=196_608)

    def __init__(self, threshold: float = 25.0) -> None:  # --planner-options threshold=40
        self.threshold = threshold

    def plan(self, observations: Sequence[Observation]) -> list[Response]:
        return [self.one(observation) for observation in observations]

    def one(self, observation: Observation) -> Response:
        image = observation.images["front"][-1].pixels.astype(float)  # (H, W, 3) RGB, now
        height, width = image.shape[:2]
        road = image[height // 2 : 3 * height // 4, 2 * width // 5 : 3 * width // 5]
        strange = float(road.std()) > self.threshold
        t = np.arange(1, 25) * 0.25  # s; any rate and horizon will do
        v = np.maximum(observation.speed - 4.0 * t, 0) if strange else np.full(24, observation.speed)
        x = np.cumsum(v * 0.25)  # m, ego frame: x forward, y left
        words = "Something stands in my lane, so I stop." if strange else "The lane is clear, so I keep on."
        return Response(words, np.column_stack([x, np.zeros(24)]), t)
