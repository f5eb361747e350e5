"""In every reward a malformed completion is worst."""

import pytest

from cfgen.traces.rewards import (
    SwapBuffer,
    WeightedFaithfulness,
    trl_ade_reward,
    trl_format_reward,
    trl_reason_reward,
    trl_swap_reward,
)

WP = "".join(f"<wp>[{i}.0, 0.5, 0.0]</wp>\n" for i in range(1, 25))
GOOD = (
    '<think>{"scene": "A road.", "move_justification": "It is clear."}</think>'
    f"<action>Longitudinal: yield\nLateral: lane keeping</action>\n{WP}"
)


@pytest.mark.parametrize(
    "broken",
    ["", "nothing", GOOD.replace("</think>", ""), GOOD.replace("<wp>", "", 1), GOOD + "<wp>[1, 2]</wp>"],
)
def test_no_malformed_completion_is_better_than_the_worst_well_formed_one(broken: str):
    """In every reward by itself, and in the sum that a trainer makes, where None counts as nothing."""
    far = [[-1e6 * i, 0.0, 0.0] for i in range(1, 25)]
    near = [[i, 0.5, 0.0] for i in range(1, 25)]
    critic = WeightedFaithfulness(lambda text, row: [0.0 if text == GOOD else 1.0] * 5, rate=0.0)
    reason = trl_reason_reward(lambda prefix, points, row: [-9.0 if prefix else -0.1])
    buffer = SwapBuffer()
    buffer.add(("stop", "keep"), "other ")
    swap = trl_swap_reward(lambda prefix, points, row: [-0.1 if prefix == "other " else -9.0], buffer)
    both = [GOOD, broken]
    found = [
        trl_format_reward(both),
        trl_ade_reward(both, future=[far, near]),
        critic(both),
        reason(both, p=["", ""]),
        swap(both, p=["", ""]),
    ]
    assert all(bad <= good for good, bad in found), found
    assert sum(bad for _, bad in found) < sum(good for good, _ in found)
