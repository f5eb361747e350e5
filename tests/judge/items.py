"""Judge items without a benchmark."""

import numpy as np

from cfgen.geometry.camera import mounted
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.planners.answer import to_plan
from cfgen.planners.baselines import constant_turn, write_text
from cfgen.records import Camera

CAMERA = Camera(width=96, height=64, fx=80, fy=80, cx=48, cy=32, T_cam_ego=mounted(1.5))


def item(key="0123456789ab.0", speed=10.0, text=None, seed=0):
    rng = np.random.default_rng(seed)
    images = [rng.integers(0, 255, (64, 96, 3), np.uint8) for _ in range(4)]
    before = write_text(
        "A road.", "Nothing ahead.", "set speed tracking", "lane keeping", constant_turn(10, 0)
    )
    after = (
        write_text("A deer.", "It slows.", "yield", "lane keeping", constant_turn(speed, 0))
        if text is None
        else text
    )
    (before, plan_a), (_, plan_b) = (
        to_plan(before),
        to_plan(write_text("", "", "", "", constant_turn(speed, 0))),
    )
    return JudgeItem(key, *images, "t dx dy dv", before, after, plan_a, plan_b, CAMERA)


def items(n, **kwargs):
    return [
        (VerdictKey("planner-x", f"{i:012x}", "hazard", 0), lambda i=i: item(f"{i:012x}.0", seed=i, **kwargs))
        for i in range(n)
    ]


def judged(judge, todo):
    found = []
    judge.judge(todo, found.append)
    return sorted(found, key=lambda v: v.case_id)
