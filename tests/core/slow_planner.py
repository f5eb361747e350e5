"""A planner for the tests of engines."""

import time

import numpy as np

from cfgen.planners.protocol import Observation, Response

T = np.arange(1, 25) * 0.25


class Slow:
    def plan(self, observations: list[Observation]) -> list[Response]:
        time.sleep(0.3)
        waypoints = np.stack([5 * T, 0 * T, 0 * T], axis=1)
        return [Response("I keep my lane.", waypoints) for _ in observations]
