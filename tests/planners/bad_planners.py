"""Planners that misbehave, one way each; scored by name in the tests."""

import os
import time

import numpy as np

from cfgen.planners.baselines import constant_turn, write_text
from cfgen.planners.protocol import Requirements, Response


class _Base:
    needs = Requirements(cameras=(), frame_times=())

    def plan(self, observations):
        return [self.one(o) for o in observations]


class Good(_Base):
    def one(self, observation):
        return write_text("A road.", "Clear.", "set speed tracking", "lane keeping", constant_turn(5, 0))


class Throws(_Base):
    def one(self, observation):
        raise RuntimeError("no\nidea")


class Hangs(_Base):
    def one(self, observation):
        time.sleep(3600)


class Exits(_Base):
    def one(self, observation):
        os._exit(3)


class Prints(Good):
    def one(self, observation):
        print("noise " * 100_000)
        return super().one(observation)


class OtherLanguage(_Base):
    def one(self, observation):
        return write_text("前方有一头鹿。", "为鹿减速。", "减速", "保持车道", constant_turn(5, 0))


class IgnoresTheSeed(_Base):
    def one(self, observation):
        speed = 5 + np.random.default_rng().random()
        return write_text("A road.", "Clear.", "set speed tracking", "lane keeping", constant_turn(speed, 0))


class Number(_Base):
    def one(self, observation):
        return 42


class TooFew(_Base):
    def plan(self, observations):
        return []


class WantsTruth(Good):
    needs = Requirements(truth=True)


class NoPlan:
    needs = Requirements()


class OnceBad(Good):
    """Dies on the second question of a batch of three, then answers."""

    needs = Requirements(cameras=(), frame_times=(), batch_size=3)

    def one(self, observation):
        if observation.token == "b":
            os._exit(1)
        return super().one(observation)


class TellsItsCards:
    needs = Requirements(cameras=(), frame_times=())

    def plan(self, observations):
        seen = {"sees": os.environ.get("CUDA_VISIBLE_DEVICES", "")}
        return [
            Response("", np.column_stack([np.arange(1, 25), np.zeros(24)]), report=seen) for _ in observations
        ]
