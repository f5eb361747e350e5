"""Rewards and constrained advantages worked by hand from the papers' equations."""

from math import exp, log, tanh

import pytest

from cfgen.traces.rewards import (
    SwapBuffer,
    text_of,
    trl_ade_reward,
    trl_faithfulness_reward,
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
    critic = trl_faithfulness_reward(lambda text, row: [0.0 if text == GOOD else 1.0] * 5)
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


def test_trl_form():
    chat = [{"role": "assistant", "content": GOOD}]
    assert text_of(chat) == GOOD
    future = [[i, 0.5, 0.0, 9.9] for i in range(1, 25)]
    assert trl_ade_reward([GOOD, "nothing", chat], future=[future] * 3, prompts=["p"] * 3) == [
        0.0,
        -100.0,
        0.0,
    ]
    assert trl_format_reward([GOOD, "nothing"], prompts=["p", "p"]) == [1.0, -10.0]

    def critic(text, row):
        return [row["quality"]] * 5

    reward = trl_faithfulness_reward(critic)
    assert reward([GOOD, GOOD], quality=[1.0, 0.5], trainer_state=None) == pytest.approx([0.0, 5 * log(0.5)])

    def logprobs(prefix, points, row):
        return [-0.1 if prefix else -0.2] * points.count("<wp>")

    found = trl_reason_reward(logprobs)([GOOD, "no plan"], prompts=["p", "p"])
    assert found == [pytest.approx(tanh(10 * 24 * 0.1)), -1.0]


def test_trl_swap_reward_waits_for_something_to_swap_in():
    other = GOOD.replace("yield", "stop")

    def logprobs(prefix, points, row):
        return [-0.1 if "yield" in prefix else -0.4] * points.count("<wp>")

    reward = trl_swap_reward(logprobs, SwapBuffer())
    assert reward([GOOD, "no plan"], prompts=["p", "p"]) == [None, -1.0]
    assert reward([GOOD], prompts=["p"]) == [None], "the same manoeuvre is no counterfactual"
    assert reward([other], prompts=["p"]) == [pytest.approx(tanh(10 * (exp(-0.4) - exp(-0.1))))]
    assert reward([GOOD], prompts=["p"]) == [pytest.approx(tanh(10 * (exp(-0.1) - exp(-0.4))))]


# --- Faithful GRPO --------------------------------------------------------------------------------------
