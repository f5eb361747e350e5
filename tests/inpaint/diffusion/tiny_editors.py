"""The newer editors with tiny random weights, saved as checkpoints."""

from pathlib import Path

from tests.inpaint.diffusion.tiny_sdxl import (
    diffusers,
    four_stages,
    torch,
    transformers,
)

_CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def _tokenizer():
    """One token a character, and the marks that the Qwen models use."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split

    marks = [
        "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
        "<|video_pad|>",
    ]  # fmt: skip
    words = {word: i for i, word in enumerate([*marks, "[UNK]", "\n", *map(chr, range(32, 127))])}
    core = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    core.pre_tokenizer = Split(Regex("[\\s\\S]"), behavior="isolated")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        unk_token="[UNK]",
        additional_special_tokens=marks[1:],
        model_max_length=1024,
    )
    tokenizer.chat_template = _CHAT
    return tokenizer


def _schedule():
    return diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)


def _reader(words: int, width: int, layers: int, head: int):
    """The configuration of a Qwen3 that reads words alone."""
    return transformers.Qwen3Config(
        vocab_size=words,
        hidden_size=width,
        intermediate_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=head,
        max_position_embeddings=1024,
    )


def tiny_klein(folder: Path, distilled: bool = True) -> Path:
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    reader = transformers.Qwen3ForCausalLM(_reader(len(tokenizer), 8, layers=28, head=4))
    painter = diffusers.Flux2Transformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=24,
        timestep_guidance_channels=32,
        axes_dims_rope=(4, 4, 4, 4),
        guidance_embeds=False,
    )
    vae = diffusers.AutoencoderKLFlux2(
        block_out_channels=(4, 4, 4, 4),
        latent_channels=4,
        norm_num_groups=1,
        layers_per_block=1,
        sample_size=64,
    )
    pipe = diffusers.Flux2KleinInpaintPipeline(
        scheduler=_schedule(),
        vae=vae,
        text_encoder=reader,
        tokenizer=tokenizer,
        transformer=painter,
        is_distilled=distilled,
    )
    pipe.save_pretrained(folder)
    return folder


def _seeing(tokenizer):
    """A reader of words and pictures, and what brings them to it."""
    ids = {name: tokenizer.convert_tokens_to_ids(f"<|{name}|>") for name in ("image_pad", "video_pad")}
    reader = transformers.Qwen2_5_VLForConditionalGeneration(
        transformers.Qwen2_5_VLConfig(
            text_config={
                "vocab_size": len(tokenizer),
                "hidden_size": 16,
                "intermediate_size": 16,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "num_key_value_heads": 2,
                "rope_scaling": {"mrope_section": [1, 1, 2], "rope_type": "default", "type": "default"},
            },
            vision_config={
                "depth": 2,
                "hidden_size": 16,
                "intermediate_size": 16,
                "num_heads": 2,
                "out_hidden_size": 16,
                "fullatt_block_indexes": [1],
            },
            image_token_id=ids["image_pad"],
            video_token_id=ids["video_pad"],
            vision_start_token_id=tokenizer.convert_tokens_to_ids("<|vision_start|>"),
            vision_end_token_id=tokenizer.convert_tokens_to_ids("<|vision_end|>"),
        )
    )
    processor = transformers.Qwen2VLProcessor(
        transformers.Qwen2VLImageProcessor(), tokenizer, transformers.Qwen2VLVideoProcessor()
    )
    return reader, processor


def tiny_qwen(folder: Path, kind: str = "QwenImageEditInpaintPipeline") -> Path:
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    reader, processor = _seeing(tokenizer)
    painter = diffusers.QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=4,
        num_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=16,
        axes_dims_rope=(8, 4, 4),
    )
    vae = diffusers.AutoencoderKLQwenImage(
        base_dim=8,
        z_dim=4,
        dim_mult=[1, 1, 1, 1],
        num_res_blocks=1,
        latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )
    pipe = getattr(diffusers, kind)(
        scheduler=_schedule(),
        vae=vae,
        text_encoder=reader,
        tokenizer=tokenizer,
        processor=processor,
        transformer=painter,
    )
    pipe.save_pretrained(folder)
    return folder


def tiny_qwen_plus(folder: Path) -> Path:
    return tiny_qwen(folder, "QwenImageEditPlusPipeline")


def tiny_z_image(folder: Path) -> Path:
    torch.manual_seed(0)
    letters = _tokenizer()
    reader = transformers.Qwen3Model(_reader(len(letters), 16, layers=2, head=8))
    painter = diffusers.ZImageTransformer2DModel(
        in_channels=4, dim=32, n_layers=1, n_refiner_layers=1, n_heads=2, n_kv_heads=2, cap_feat_dim=16,
        axes_dims=[8, 4, 4], axes_lens=[1024, 64, 64],
    )  # fmt: skip
    for name, weight in painter.named_parameters():
        if name in ("x_pad_token", "cap_pad_token"):  # they are left as memory has them
            torch.nn.init.normal_(weight, std=0.02)
    pipe = diffusers.ZImageInpaintPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0),
        vae=four_stages((4, 4, 4, 4), norm_num_groups=1, sample_size=64, shift_factor=0.1),
        text_encoder=reader,
        tokenizer=letters,
        transformer=painter,
    )
    pipe.save_pretrained(folder)
    return folder
