"""One real GRPO step on the CPU: TRL's trainer, a tiny language model, the paper's rewards. Needs the extra [grpo]."""

import pytest

pytest.importorskip("trl", reason='needs pip install ".[grpo]"')
pytest.importorskip("transformers")

from math import log as log_of

from cfgen.traces.rewards import (
    LEAST_P,
    MALFORMED,
    WORST_ADE,
    WeightedFaithfulness,
    trl_ade_reward,
    trl_format_reward,
)

LETTERS = [chr(c) for c in range(32, 127)]


@pytest.fixture
def tokenizer():
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    vocabulary = {"[PAD]": 0, "[EOS]": 1, "[UNK]": 2, **{c: i + 3 for i, c in enumerate(LETTERS)}}
    core = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    core.pre_tokenizer = Split(Regex("."), behavior="isolated")
    return PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", eos_token="[EOS]", unk_token="[UNK]", padding_side="left"
    )


def test_one_step_with_the_papers_rewards(tmp_path, tokenizer):
    import torch
    from datasets import Dataset
    from transformers import Qwen2Config, Qwen2ForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        **sizes,
    )
    model = Qwen2ForCausalLM(config)
    before = [p.detach().clone() for p in model.parameters()]
    seen = []
    weighted = WeightedFaithfulness(lambda text, row: [0.5] * 5, least_samples=1)

    def letters(completions, **columns):
        """Malformed completions are all alike to the papers' rewards: only one's own tells them apart."""
        seen.extend(columns["future"])
        return [sum(c.isalpha() for c in text) / (1 + len(text)) for text in completions]

    future = [[0.5 * i, 0.0, 0.0] for i in range(1, 25)]
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[trl_format_reward, trl_ade_reward, letters, weighted],
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=8,
            learning_rate=0.1,
            beta=0.0,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([{"prompt": "drive: ", "future": future}] * 4),
        processing_class=tokenizer,
    )
    trainer.train()
    log = next(entry for entry in trainer.state.log_history if "reward" in entry)
    assert log["rewards/trl_format_reward/mean"] == MALFORMED, "random letters are no plan"
    assert log["rewards/trl_ade_reward/mean"] == -WORST_ADE, (
        "random letters are no better than the worst plan"
    )
    assert log["rewards/weighted_faithfulness/mean"] == pytest.approx(5 * log_of(LEAST_P))
    assert set(weighted.weights) == {1.0}, "no well-formed completion, no step"
    assert seen == [future] * 4, "columns reach the reward"
    changed = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert any(changed), "the step moved the weights"
