"""Rewards and constrained advantages worked by hand from the papers' equations."""

from math import exp, log, tanh

import numpy as np
import pytest

from cfgen.metrics.constrained import (
    DualAscent,
    combined_advantages,
    constraint_score,
    group_advantages,
    task_reward,
)
from cfgen.traces.reward_formulas import (
    SwapBuffer,
    ade_reward,
    composite_reward,
    consistency_probability,
    faithfulness_reward,
    format_reward,
    reason_reward,
    swap_reward,
    text_of,
    trl_ade_reward,
    trl_faithfulness_reward,
    trl_format_reward,
    trl_reason_reward,
    trl_swap_reward,
    waypoints_of,
)

WP = "".join(f"<wp>[{i}.0, 0.5, 0.0]</wp>\n" for i in range(1, 25))
GOOD = (
    '<think>{"scene": "A road.", "move_justification": "It is clear."}</think>'
    f"<action>Longitudinal: yield\nLateral: lane keeping</action>\n{WP}"
)


def test_ade_by_hand():
    planned = np.array([[3.0, 0.0], [6.0, 8.0]])
    assert ade_reward(planned, np.array([[0.0, 4.0], [6.0, 8.0]])) == pytest.approx(-2.5)
    with pytest.raises(ValueError, match="found 2 and 3"):
        ade_reward(planned, np.zeros((3, 2)))


def test_faithfulness_by_hand():
    assert consistency_probability(2.0, 0.0) == pytest.approx(1 / (1 + exp(-2)))
    assert consistency_probability(-900.0, 900.0) == 0.0
    assert consistency_probability(900.0, -900.0) == 1.0
    assert faithfulness_reward([0.5, 0.25]) == pytest.approx(log(0.125))
    assert faithfulness_reward([1.0] * 5) == 0
    assert faithfulness_reward([1.0, 0.0]) < -700, "one broken edge outweighs all others, and stays finite"


@pytest.mark.parametrize(
    "broken",
    [
        GOOD.replace('"A road."', '""'),
        GOOD.replace('"scene": "A road.", ', ""),
        GOOD.replace("<think>", "<think></think><think>"),
        GOOD.replace("Longitudinal: yield\nLateral: lane keeping", " "),
        GOOD.replace("<wp>[1.0, 0.5, 0.0]</wp>\n", ""),
        GOOD + "<wp>[25.0, 0.5, 0.0]</wp>",
        GOOD.replace("[7.0, 0.5", "[seven, 0.5"),
        "",
    ],
)
def test_format(broken):
    assert format_reward(GOOD) == 1
    assert format_reward(broken) == -10


def test_composite_is_the_sum_and_least_for_a_malformed_completion():
    assert composite_reward(-4.0, -0.5, 1.0) == -3.5
    worst = composite_reward(-1e9, -1e9, 1.0)
    assert composite_reward(None, 0.0, -10.0) == composite_reward(-0.1, 0.0, -10.0) < worst
    assert worst == pytest.approx(-100 + 5 * log(1e-3) + 1)


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


def test_reason_and_swap_by_hand():
    assert reason_reward([-0.01, -0.02], [-0.03, -0.03]) == pytest.approx(tanh(10 * 0.03))
    assert reason_reward([-1.0], [-1.0]) == 0
    # geometric means: exp(-.1) against the mean of exp(-.2) and exp(-.3)
    expected = tanh(10 * (exp(-0.1) - (exp(-0.2) + exp(-0.3)) / 2))
    assert swap_reward([-0.1, -0.1], [[-0.2, -0.2], [-0.25, -0.35]]) == pytest.approx(expected)
    with pytest.raises(ValueError, match="found none; fill the buffer"):
        swap_reward([-0.1], [])


def test_swap_buffer_draws_other_manoeuvres_only_and_forgets_the_oldest():
    buffer = SwapBuffer(capacity=3)
    for i, action in enumerate([("stop", "keep"), ("yield", "keep"), ("stop", "keep"), ("pass", "left")]):
        buffer.add(action, f"p{i}")
    assert len(buffer) == 3
    assert sorted(buffer.draw(("stop", "keep"))) == ["p1", "p3"]
    assert len(buffer.draw(("merge", "keep"), k=2)) == 2


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


def test_waypoints_need_all_24():
    assert waypoints_of(GOOD).shape == (24, 2)
    assert waypoints_of(GOOD.replace("0.5, 0.0]", "1e999, 0.0]", 1)) is None


# --- Faithful GRPO --------------------------------------------------------------------------------------


def test_task_reward():
    assert [task_reward(1, True), task_reward(1, False), task_reward(0, True)] == [1, 0.5, 0.5]


def test_group_advantages_by_hand():
    # mean 2, standard deviation sqrt(2/3)
    found = group_advantages(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]))
    assert found[0] == pytest.approx([-(1.5**0.5), 0, 1.5**0.5], abs=1e-5)
    assert found[1] == pytest.approx([0, 0, 0]), "a group of equals teaches nothing"
    masked = group_advantages(np.array([[1.0, 3.0, 99.0]]), np.array([[True, True, False]]))
    assert masked[0] == pytest.approx([-1, 1, 0], abs=1e-5)


def test_decoupled_signals_do_not_drown_each_other():
    """Scaled up a thousandfold, the constraint weighs as much as before."""
    task, constraint = np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 0.0, 1.0, 1.0]])
    once = combined_advantages(task, {"c": constraint}, {"c": 1.0})
    scaled = combined_advantages(task, {"c": 1000 * constraint}, {"c": 1.0})
    assert once == pytest.approx(scaled, abs=1e-3)
    # advantages -1 and 1 each: sums -2, 0, 0, 2, whitened by sqrt(2)
    assert once[0] == pytest.approx([-(2**0.5), 0, 0, 2**0.5], abs=1e-4)
    ignored = combined_advantages(task, {"c": constraint}, {"c": 0.0})
    assert ignored[0] == pytest.approx([-1, 1, -1, 1], abs=1e-4)


def test_dual_ascent_by_hand():
    dual = DualAscent(least_samples=2)
    rewards = {
        "consistency": np.array([[1.0, 0.0]]),
        "semantic": np.ones((1, 2)),
        "spatial": np.zeros((1, 2)),
    }
    masks = {"consistency": np.ones((1, 2)), "semantic": np.ones((1, 2)), "spatial": np.array([[1, 0]])}
    found = dual.update(rewards, masks)
    assert found["consistency"] == pytest.approx(1 + 0.05 * (0.95 - 0.5))
    assert found["semantic"] == pytest.approx(1 - 0.05 * 0.05)
    assert found["spatial"] == 1.0, "one sample is too few to move on"
    for _ in range(2000):
        found = dual.update(rewards, masks)
    assert found["consistency"] == 5.0
    assert found["semantic"] == 0.0


def test_constraint_score_counts_only_where_it_applies():
    assert constraint_score(np.array([[1.0, 0.0, 0.5]]), np.array([[1, 0, 1]])) == 0.75
    assert constraint_score(np.array([[1.0]]), np.array([[0]])) is None
