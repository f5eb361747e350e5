"""Rewards and advantages against softmaxes, NumPy's standard scores and sums written out."""

import math

import numpy as np
import pytest

from cfgen.traces.rewards import (
    SwapBuffer,
    WeightedFaithfulness,
    action_of,
    ade_reward,
    reason_reward,
    swap_reward,
    trl_ade_reward,
    trl_format_reward,
    trl_reason_reward,
    trl_swap_reward,
    waypoints_of,
    well_formed,
)
from tests.traces.test_rewards import GOOD, WP

# --- rewards --------------------------------------------------------------------------------------------


def chat(text: str) -> list[dict]:
    return [{"role": "assistant", "content": text}]


def test_waypoints_are_read_in_every_way_of_writing_numbers():
    odd = WP.replace("[1.0, 0.5, 0.0]", "[ -1e1 , +.5 ]").replace("[2.0, 0.5, 0.0]", "[2.,5.E-1,0]")
    found = waypoints_of(odd)
    expected = np.column_stack([np.arange(1.0, 25), np.full(24, 0.5)])
    expected[0, 0] = -10.0
    assert np.array_equal(found, expected)
    assert waypoints_of(WP + "<wp>") is None
    assert waypoints_of(WP.replace("[24.0, 0.5", "[x, 0.5") + "<wp>[1, 2, 3]</wp>") is None
    assert waypoints_of(WP.replace("[24.0, 0.5", "[24.0, 1e999")) is None


def test_both_actions_must_be_declared():
    text = "LONGITUDINAL :  Follow Lead \nlateral: Lane KEEPING<wp>"
    assert action_of(text) == ("follow lead", "lane keeping")
    assert action_of("longitudinal: stop") is None
    assert action_of("Lateral: keep") is None
    assert action_of("nothing") is None


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (GOOD.replace("A road.", "A road\nwith a bend."), True),
        (GOOD.replace('"scene"', "'scene'").replace('"A road."', "'A road.'"), True),
        (GOOD.replace("Longitudinal: yield\n", "\n\n"), True),
        (GOOD + "<think>", False),
        (GOOD + "<action>", False),
        (GOOD + "<action>x</action>", False),
        (GOOD.replace("</think>", ""), False),
        (GOOD.replace("</action>", ""), False),
        (GOOD.replace('"move_justification": "It is clear."', '"move_justification": ""'), False),
        (GOOD.replace('"scene": "A road."', "\"scene\": ''"), False),
        (GOOD.replace('"scene": "A road."', '"scene": 3'), False),
        (GOOD.replace("move_justification", "justification"), False),
    ],
)
def test_what_is_well_formed(text, fine):
    assert well_formed(text) is fine
    assert trl_format_reward([text, chat(text)]) == [1.0 if fine else -10.0] * 2


def test_ade_looks_at_places_only():
    rng = np.random.default_rng(0)
    planned, logged = rng.normal(size=(24, 3)), rng.normal(size=(24, 4))
    expected = -sum(math.dist(p[:2], q[:2]) for p, q in zip(planned, logged, strict=True)) / 24
    assert ade_reward(planned, logged) == pytest.approx(expected)
    assert ade_reward(planned.tolist(), logged.tolist()) == pytest.approx(expected)
    with pytest.raises(ValueError, match="ADE: expected plans of one length, found 24 and 20 waypoints"):
        ade_reward(planned, logged[:20])


def test_reason_and_swap_are_bounded_and_odd():
    own, none = [-0.01, -0.03], [-0.02, -0.05]
    assert reason_reward(own, none) == -reason_reward(none, own) == pytest.approx(math.tanh(10 * 0.03))
    assert reason_reward(own, none, alpha=2.0) == pytest.approx(math.tanh(2 * 0.03))
    mean = [math.exp(sum(logs) / 3) for logs in ([-0.1, -0.2, -0.6], [-0.4] * 3, [-0.2, -0.3, -0.1])]
    expected = math.tanh(3.0 * (mean[0] - (mean[1] + mean[2]) / 2))
    assert swap_reward([-0.1, -0.2, -0.6], [[-0.4] * 3, [-0.2, -0.3, -0.1]], alpha=3.0) == pytest.approx(
        expected
    )
    with pytest.raises(ValueError, match=r"^swap reward: expected at least one .* fill the buffer first$"):
        swap_reward([-0.1], [])


def test_a_buffer_holds_each_prefix_once_and_no_more_than_it_may():
    buffer = SwapBuffer()
    for i in range(5000):
        buffer.add(("stop", "keep"), f"p{i}")
    assert len(buffer) == 4096
    drawn = buffer.draw(("go", "keep"), 5000)
    assert sorted(drawn) == sorted(f"p{i}" for i in range(904, 5000))
    assert len(buffer.draw(("go", "keep"))) == 5
    assert buffer.draw(("stop", "keep")) == []
    few = SwapBuffer(seed=3)
    for _ in range(4):
        few.add(("stop", "keep"), "same")
    assert few.draw(("go", "left"), 3) == ["same"]


def test_rewards_get_the_row_of_their_own_completion():
    seen = []

    def critic(text, row):
        seen.append((text, row))
        return [0.5 ** row["k"]] * 5

    reward = WeightedFaithfulness(critic, rate=0.0)
    found = reward([GOOD, chat(GOOD), "b"], k=[1, 2, 3], name=("x", "y", "z"), one=["only"], step=7)
    assert found == pytest.approx([5 * math.log(0.5), 10 * math.log(0.5), 5 * math.log(1e-3)])
    assert seen == [(GOOD, {"k": 1, "name": "x"}), (GOOD, {"k": 2, "name": "y"})]


def test_the_reason_reward_asks_with_the_trace_and_without():
    asked = []

    def logprobs(prefix, points, row):
        asked.append((prefix, points, row))
        return [-0.5 * (not prefix)]

    own, points = GOOD[: GOOD.index("<wp>")], GOOD[GOOD.index("<wp>") :]
    assert trl_reason_reward(logprobs)([GOOD, "none"], k=["r0", "r1"]) == [
        pytest.approx(math.tanh(5.0)),
        -1.0,
    ]
    assert asked == [(own, points, {"k": "r0"}), ("", points, {"k": "r0"})]


def test_the_swap_reward_asks_with_its_own_and_with_others_prefixes():
    asked = []

    def logprobs(prefix, points, row):
        asked.append((prefix, points, row))
        return [-0.1 if "yield" in prefix else -0.4]

    buffer = SwapBuffer()
    buffer.add(("stop", "keep"), "other trace ")
    own, points = GOOD[: GOOD.index("<wp>")], GOOD[GOOD.index("<wp>") :]
    reward = trl_swap_reward(logprobs, buffer)
    found = reward([GOOD, "no plan", "only " + WP], k=["r0", "r1", "r2"])
    expected = math.tanh(10 * (math.exp(-0.1) - math.exp(-0.4)))
    assert found == [pytest.approx(expected), -1.0, -1.0]
    assert asked == [(own, points, {"k": "r0"}), ("other trace ", points, {"k": "r0"})]
    assert len(buffer) == 2, "only what has a plan and an action is kept"
    assert buffer.draw(("stop", "keep")) == [own]
    assert trl_swap_reward(logprobs, SwapBuffer())([GOOD]) == [None], "nothing to swap in yet"
    asked.clear()
    for i in range(9):
        buffer.add(("stop", "left"), f"more {i} ")
    assert trl_swap_reward(logprobs, buffer, k=3)([GOOD]) == [pytest.approx(expected)]
    assert len(asked) == 1 + 3


def test_ade_of_completions_pairs_them_with_their_futures():
    logged = [[i, 0.5, 9.0] for i in range(1, 25)]
    off = [[i, 2.5, 9.0] for i in range(1, 25)]
    assert trl_ade_reward([GOOD, "none", chat(GOOD)], [logged, logged, off]) == pytest.approx(
        [0.0, -100.0, -2.0]
    )
    with pytest.raises(ValueError, match=r"shorter|longer"):
        trl_ade_reward([GOOD], [logged, off])
