"""The critic on a tiny vision-language model with random weights: the real architecture, no download."""

import numpy as np
import pytest

import cfgen
from cfgen.core.errors import InputError
from cfgen.judge.rubrics.faithfulness import QUESTIONS
from cfgen.judge.rubrics.trace import TraceItem
from cfgen.traces.critic import LocalCritic
from tests.tiny_models import tiny_llava


def item(level: int = 0) -> TraceItem:
    image = np.full((30, 40, 3), level, np.uint8)
    return TraceItem(image, image, image, "A road.", "It is clear.", "yield, lane keeping", np.zeros((24, 3)))


@pytest.mark.parametrize("name", ["nowhere", "empty", "file"])
def test_a_path_that_is_no_model_is_told_before_anything_is_loaded(name: str, tmp_path, monkeypatch):
    for module in ("torch", "transformers"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("{}")
    found = {"nowhere": "no such folder", "empty": "none in it", "file": "a file"}[name]
    with pytest.raises(InputError, match=rf"{name}': expected a model folder .* found {found}"):
        LocalCritic.load(tmp_path / name)


@pytest.fixture
def folder(tmp_path):
    return tiny_llava(tmp_path)


def test_probabilities_follow_what_the_model_sees(folder):
    critic = LocalCritic.load(folder)
    dark, bright = critic.probabilities(item(0)), critic.probabilities(item(255))
    assert set(dark) == set(QUESTIONS)
    assert all(0 < p < 1 for p in dark.values())
    assert len(set(dark.values())) == 5, "each edge is asked by itself"
    assert dark != bright
    assert critic.probabilities(item(0)) == dark


def test_raising_one_verdicts_logit_raises_its_probability(folder):
    import torch

    critic = LocalCritic.load(folder)
    before = critic.probabilities(item())
    head = critic.model.get_output_embeddings()
    token = critic.processor.tokenizer.convert_tokens_to_ids(
        "C"
    )  # CONSISTENT and INCONSISTENT differ from here
    bias = torch.zeros(head.out_features)
    bias[token] = 2.0
    head.bias = torch.nn.Parameter(bias)
    after = critic.probabilities(item())
    for edge, p in before.items():
        odds = after[edge] / (1 - after[edge]) / (p / (1 - p))
        assert odds == pytest.approx(np.exp(2.0), rel=1e-3)


def test_what_cannot_be_a_model_is_refused_before_the_benchmark_is_read(tmp_path):
    with pytest.raises(InputError, match=r"critic 'critic': expected a model folder .* no such folder"):
        cfgen.check_traces(tmp_path, "any", critic="critic")
