"""A tiny SDXL checkpoint as one file in its makers' layout, as such models are often passed on."""

import re
from pathlib import Path

from tests.inpaint.diffusion.tiny_sdxl import torch

_OPEN_CLIP = (
    ("text_model.encoder.layers.", "transformer.resblocks."),
    ("text_model.embeddings.token_embedding", "token_embedding"),
    ("text_model.embeddings.position_embedding.weight", "positional_embedding"),
    ("text_model.final_layer_norm", "ln_final"),
    ("self_attn", "attn"),
    ("layer_norm", "ln_"),
    ("mlp.fc1", "mlp.c_fc"),
    ("mlp.fc2", "mlp.c_proj"),
)
_VAE = (
    *((f"up_blocks.{i}.", f"up.{3 - i}.") for i in range(4)),
    ("down_blocks.", "down."),
    ("mid_block.resnets.0", "mid.block_1"),
    ("mid_block.resnets.1", "mid.block_2"),
    ("mid_block.attentions.0", "mid.attn_1"),
    ("resnets.", "block."),
    ("downsamplers.0", "downsample"),
    ("upsamplers.0", "upsample"),
    ("conv_norm_out", "norm_out"),
    ("conv_shortcut", "nin_shortcut"),
    ("group_norm", "norm"),
    ("to_q", "q"),
    ("to_k", "k"),
    ("to_v", "v"),
    ("to_out.0", "proj_out"),
)
_UNET = (
    ("conv_in", "input_blocks.0.0"),
    ("time_embedding.linear_1", "time_embed.0"),
    ("time_embedding.linear_2", "time_embed.2"),
    ("add_embedding.linear_1", "label_emb.0.0"),
    ("add_embedding.linear_2", "label_emb.0.2"),
    ("conv_norm_out", "out.0"),
    ("conv_out", "out.2"),
)
_RESNET = (
    ("norm1", "in_layers.0"),
    ("conv1", "in_layers.2"),
    ("norm2", "out_layers.0"),
    ("conv2", "out_layers.3"),
    ("time_emb_proj", "emb_layers.1"),
    ("conv_shortcut", "skip_connection"),
)


def single_file(checkpoint: Path, file: Path) -> Path:
    """The weights of a saved pipeline in one file."""
    from safetensors.torch import load_file, save_file

    unet, vae = (
        load_file(checkpoint / name / "diffusion_pytorch_model.safetensors") for name in ("unet", "vae")
    )
    small, large = (
        load_file(checkpoint / name / "model.safetensors") for name in ("text_encoder", "text_encoder_2")
    )
    clip = "conditioner.embedders.0.transformer.text_model."
    one = {f"model.diffusion_model.{_unet(name)}": value for name, value in unet.items()}
    one |= {f"first_stage_model.{_renamed(name, _VAE)}": value for name, value in vae.items()}
    one |= {clip + name.removeprefix("text_model."): value for name, value in small.items()}
    one |= {f"conditioner.embedders.1.model.{name}": value for name, value in _open_clip(large)}
    save_file(one, file)
    return file


def _unet(name: str) -> str:
    """Three levels of one layer each; attention at the innermost."""
    place = re.match(r"(down_blocks|up_blocks|mid_block)\.(?:(\d)\.)?(\w+)\.(\d)\.(.*)", name)
    if place is None:
        return _renamed(name, _UNET)
    side, level, kind, layer, rest = place.groups()
    at, number = int(level or 0), int(layer)
    inner = _renamed(rest, _RESNET) if kind == "resnets" else rest
    if side == "mid_block":
        return f"middle_block.{2 * number if kind == 'resnets' else 1}.{inner}"
    if kind == "downsamplers":
        return f"input_blocks.{2 * at + 2}.0.op.{rest.removeprefix('conv.')}"
    if kind == "upsamplers":
        return f"output_blocks.{2 * at + 1}.{2 if at == 0 else 1}.{rest}"
    part = 0 if kind == "resnets" else 1
    block = (
        f"input_blocks.{1 + 2 * at + number}" if side == "down_blocks" else f"output_blocks.{2 * at + number}"
    )
    return f"{block}.{part}.{inner}"


def _open_clip(text: dict):
    for name, value in text.items():
        if name == "text_projection.weight":
            yield "text_projection", value.T.contiguous()
        elif ".q_proj." in name:
            joined = torch.cat(
                [text[name.replace("q_proj", other)] for other in ("q_proj", "k_proj", "v_proj")]
            )
            yield _renamed(name, _OPEN_CLIP).replace(".q_proj.", ".in_proj_"), joined
        elif ".k_proj." not in name and ".v_proj." not in name:
            yield _renamed(name, _OPEN_CLIP), value


def _renamed(name: str, words: tuple[tuple[str, str], ...]) -> str:
    for ours, theirs in words:
        name = name.replace(ours, theirs)
    return name
