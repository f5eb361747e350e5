"""Rewards with models plugged in: tiny real models, and answers whose order is known."""

from contextlib import contextmanager
from math import log

import numpy as np
import pytest

pytest.importorskip("torch", reason='needs pip install ".[local]"')
pytest.importorskip("transformers")

from cfgen.metrics.faithfulness import EDGES
from cfgen.planners.baselines import write_text
from cfgen.traces.critic import LocalCritic
from cfgen.traces.rewards import (
    LEAST_P,
    CriticOfCompletions,
    WaypointLogprobs,
    WeightedFaithfulness,
    reason_reward,
    trl_reason_reward,
)
from tests.tiny_models import tiny_llava

POINTS = np.column_stack([3.0 * np.arange(1, 25), np.zeros(24), np.zeros(24)])
GOOD = write_text("A road.", "It is clear.", "set speed tracking", "lane keeping", POINTS)
BAD = GOOD.replace("<wp>", "", 1)
FRAME = np.full((30, 40, 3), 90, np.uint8)


@pytest.fixture(scope="module")
def critic(tmp_path_factory: pytest.TempPathFactory) -> LocalCritic:
    return LocalCritic.load(tiny_llava(tmp_path_factory.mktemp("critic")))


@contextmanager
def leaning(critic: LocalCritic, **letters: float):
    """A model that likes some letters more, whatever it sees."""
    import torch

    head = critic.model.get_output_embeddings()
    bias = torch.zeros(head.out_features)
    for letter, value in letters.items():
        bias[critic.processor.tokenizer.convert_tokens_to_ids(letter.removeprefix("_"))] = value
    old, head.bias = head.bias, torch.nn.Parameter(bias)
    yield
    head.bias = old


def test_a_real_critic_in_the_reward_and_malformed_is_worst(critic: LocalCritic):
    reward = WeightedFaithfulness(CriticOfCompletions(critic), rate=0.0)
    with leaning(critic, C=8.0):  # CONSISTENT and INCONSISTENT differ from their first letter on
        good, bad = reward([GOOD, BAD], image=[FRAME, FRAME])
    assert bad == pytest.approx(5 * log(LEAST_P))
    assert bad < good < 0


def test_weights_follow_the_edges_that_fail():
    """E4 always fails, the others hold: its weight grows by rate times its gap, theirs fall."""
    reward = WeightedFaithfulness(lambda text, row: [1, 1, 1, 0.2, 1], rate=0.5, least_samples=1)
    assert reward([GOOD, BAD]) == pytest.approx([log(0.2), 5 * log(LEAST_P)])
    assert reward.weights == pytest.approx([1 - 0.5 * 0.1] * 3 + [1 + 0.5 * 0.7, 1 - 0.5 * 0.1])
    assert reward([GOOD])[0] == pytest.approx(1.35 * log(0.2))
    for _ in range(40):
        good, bad = reward([GOOD, BAD])
        assert bad < good, "whatever the weights"
    assert reward.weights.tolist() == [0, 0, 0, 5, 0]


@pytest.mark.parametrize(("n", "moves"), [(7, False), (8, True)])
def test_weights_move_by_a_twentieth_of_the_gap_from_eight_completions_on(n, moves):
    reward = WeightedFaithfulness(lambda text, row: [0.2] * 5)
    reward([GOOD] * n + [BAD] * 3)
    assert reward.weights == pytest.approx([1.0 + moves * 0.05 * 0.7] * len(EDGES))


def test_waypoint_log_probabilities_are_those_of_their_tokens():
    """A model that ignores its input gives every letter one probability, so a waypoint's is a sum over its letters."""
    import torch
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    letters = {c: i for i, c in enumerate([*map(chr, range(32, 127)), "\n"])}
    core = Tokenizer(WordLevel(letters, unk_token=" "))
    core.pre_tokenizer = Split(Regex("[\\s\\S]"), behavior="isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token=" ")
    chance = torch.log_softmax(torch.linspace(-1, 1, len(letters)), 0)

    class Deaf:
        device = "cpu"

        def __call__(self, ids):
            return type("Out", (), {"logits": chance.expand(*ids.shape, -1)})

    points = "<wp>[1.0, 0.0, 0.0]</wp>\n<wp>[2.5, 0.0, 0.0]</wp>"
    found = WaypointLogprobs(Deaf(), tokenizer)("Because.", points, {"prompt": "drive: "})
    first, second = points.split("\n")
    assert found == pytest.approx(
        [
            sum(float(chance[letters[c]]) for c in first),
            sum(float(chance[letters[c]]) for c in "\n" + second),
        ],
        abs=1e-3,
    )
    reward = trl_reason_reward(WaypointLogprobs(Deaf(), tokenizer))
    assert reward([GOOD, BAD], prompt=["drive: "] * 2) == [pytest.approx(0.0, abs=1e-6), -1.0]
    assert reason_reward([0.0], [-1.0]) > 0
