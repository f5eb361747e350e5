"""The critic on a tiny vision-language model with random weights: the real architecture, no download."""

import numpy as np
import pytest

from cfgen.errors import InputError, MissingExtraError
from cfgen.judge.critic import LocalCritic
from cfgen.judge.rubrics.faithfulness import QUESTIONS, TraceItem


def item(level: int = 0) -> TraceItem:
    image = np.full((30, 40, 3), level, np.uint8)
    return TraceItem(image, image, image, "A road.", "It is clear.", "yield, lane keeping", np.zeros((24, 3)))


def test_what_is_missing_is_named():
    pytest.importorskip("transformers", reason='needs pip install ".[local]"')
    with pytest.raises(InputError, match="critic '/nowhere'"):
        LocalCritic.load("/nowhere")


def test_without_transformers_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"cfgen\[local\]"):
        LocalCritic.load("/nowhere")


@pytest.fixture
def folder(tmp_path):
    """A saved Llava with random weights and a tokenizer of single characters."""
    torch = pytest.importorskip("torch", reason='needs pip install ".[local]"')
    transformers = pytest.importorskip("transformers")
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split

    letters = [*map(chr, range(32, 127)), "\n"]
    vocabulary = {
        "[PAD]": 0,
        "[EOS]": 1,
        "[UNK]": 2,
        "<image>": 3,
        **{c: i + 4 for i, c in enumerate(letters)},
    }
    core = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    core.pre_tokenizer = Split(Regex("[\\s\\S]"), behavior="isolated")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", eos_token="[EOS]", unk_token="[UNK]"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    template = (
        "{% for m in messages %}{% for c in m.content %}"
        "{{ '<image>' if c.type == 'image' else c.text }}{% endfor %}{% endfor %}ANSWER: "
    )
    images = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}
    )
    processor = transformers.LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=template,
        num_additional_image_tokens=1,
    )
    torch.manual_seed(3)
    config = transformers.LlavaConfig(
        vision_config={
            "model_type": "clip_vision_model",
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 28,
            "patch_size": 14,
        },
        text_config={
            "model_type": "llama",
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 8192,
            "initializer_range": 1.0,
        },
        image_token_index=3,
    )
    transformers.LlavaForConditionalGeneration(config).save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    return tmp_path


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
