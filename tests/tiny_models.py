"""Real architectures with tiny random weights, saved as checkpoints: no download."""

from pathlib import Path

import pytest


def tiny_llava(folder: Path) -> Path:
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
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
