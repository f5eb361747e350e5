"""SDXL inpainting with tiny random weights: the real classes, saved and loaded as a checkpoint, no download."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason='needs pip install ".[sdxl]"')
diffusers = pytest.importorskip("diffusers", reason='needs pip install ".[sdxl]"')
transformers = pytest.importorskip("transformers", reason='needs pip install ".[sdxl]"')


def clip_tokenizer(folder: Path):
    """One token a character."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(c) for c in range(33, 127)]
    words = [*letters, *(f"{c}</w>" for c in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return transformers.CLIPTokenizer(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77
    )


def text_config(words: int, width: int):
    return transformers.CLIPTextConfig(
        hidden_size=width,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=words,
        max_position_embeddings=77,
        bos_token_id=words - 2,
        eos_token_id=words - 1,
        pad_token_id=1,
        projection_dim=32,
        hidden_act="gelu",
    )


def tiny_unet(channels: int = 9):
    return diffusers.UNet2DConditionModel(
        block_out_channels=(16, 32, 64),
        layers_per_block=1,
        sample_size=32,
        in_channels=channels,
        out_channels=4,
        down_block_types=("DownBlock2D", "DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D", "UpBlock2D"),
        attention_head_dim=(2, 2, 4),
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        transformer_layers_per_block=(1, 1, 2),
        projection_class_embeddings_input_dim=80,
        cross_attention_dim=80,
        norm_num_groups=8,
    )


def four_stages(channels, latent_channels=4, **more):
    """A VAE that shrinks by eight."""
    return diffusers.AutoencoderKL(
        block_out_channels=channels,
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        latent_channels=latent_channels,
        **more,
    )


def tiny_vae():
    return four_stages((8, 16, 16, 16), norm_num_groups=4, sample_size=64)


def clear_vae():
    """A VAE that gives back what it is given: no cell is coarser than a pixel, channels go straight through."""
    vae = diffusers.AutoencoderTiny(
        encoder_block_out_channels=(8,),
        decoder_block_out_channels=(8,),
        num_encoder_blocks=(1,),
        num_decoder_blocks=(1,),
        latent_channels=4,
        scaling_factor=60.0,
    )
    with torch.no_grad():
        for parameter in vae.parameters():
            parameter.zero_()
        encoder = [m for m in vae.encoder.layers if isinstance(m, torch.nn.Conv2d)]
        decoder = [m for m in vae.decoder.layers if isinstance(m, torch.nn.Conv2d)]
        for i in range(3):
            encoder[0].weight[i, i, 1, 1] = 0.1  # small, where the decoder's tanh is straight
            encoder[-1].weight[i, i, 1, 1] = 1
            decoder[0].weight[i, i, 1, 1] = 1
            decoder[-1].weight[i, i, 1, 1] = 10
    return vae


def tiny_sdxl(folder: Path, vae=None, channels: int = 9) -> Path:
    """A saved checkpoint of about 2 MB."""
    torch.manual_seed(0)
    tokenizer = clip_tokenizer(folder / "words")
    small, large = (text_config(len(tokenizer), width) for width in (32, 48))
    pipe = diffusers.StableDiffusionXLInpaintPipeline(
        vae=vae or tiny_vae(),
        text_encoder=transformers.CLIPTextModel(small),
        text_encoder_2=transformers.CLIPTextModelWithProjection(large),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=tiny_unet(channels),
        scheduler=diffusers.EulerDiscreteScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", timestep_spacing="leading"
        ),
        add_watermarker=False,
    )
    pipe.save_pretrained(folder / "sdxl")
    return folder / "sdxl"
