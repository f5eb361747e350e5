"""A planner whose plans differ by seed: some do what they say, some do not."""

import numpy as np

from cfgen.planners.baselines import constant_turn, write_text
from cfgen.planners.protocol import Requirements


class RandomPlanner:
    needs = Requirements(cameras=(), frame_times=(), batch_size=8, deterministic=False)

    def plan(self, observations):
        return [self.one(o) for o in observations]

    def one(self, observation):
        draw = np.random.default_rng(observation.seed).random()
        if draw < 0.1:
            return "no plan at all"
        says_stop, does_stop = draw < 0.6, draw < 0.35
        t = np.arange(1, 25) * 0.25
        path = constant_turn(observation.speed, 0.0)
        if does_stop:
            speed = observation.speed
            brake = np.minimum(t, speed / 4.0)
            path[:, 0] = speed * brake - 2.0 * brake**2
        words = (
            ("stop", "It brakes for the obstacle.")
            if says_stop
            else ("set speed tracking", "It keeps its speed.")
        )
        return write_text("A road.", words[1], words[0], "lane keeping", path)
