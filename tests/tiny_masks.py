"""Segmenters and detectors of the real classes with tiny random weights, saved as checkpoints: no download."""

from functools import partial
from pathlib import Path
from typing import Any

#: side of the picture that the tiny models see, and of their patches, pixels
SIDE, PATCH = 64, 16


#: what every tiny model has behind its vision encoder
_HEADS: dict[str, Any] = {
    "prompt_encoder_config": {"hidden_size": 32, "image_size": SIDE, "patch_size": PATCH},
    "mask_decoder_config": {
        "hidden_size": 32,
        "mlp_dim": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "iou_head_depth": 2,
        "iou_head_hidden_dim": 16,
    },
}


def build_tiny_sam(checkpoint=None):
    """Like the builders in ``segment_anything.sam_model_registry``, but of a thousandth of the size."""
    import torch
    from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer

    grid, width = SIDE // PATCH, 16
    return Sam(
        image_encoder=ImageEncoderViT(
            depth=1,
            embed_dim=16,
            img_size=SIDE,
            mlp_ratio=2,
            norm_layer=partial(torch.nn.LayerNorm, eps=1e-6),
            num_heads=2,
            patch_size=PATCH,
            qkv_bias=True,
            use_rel_pos=True,
            global_attn_indexes=(0,),
            window_size=0,
            out_chans=width,
        ),
        prompt_encoder=PromptEncoder(
            embed_dim=width,
            image_embedding_size=(grid, grid),
            input_image_size=(SIDE, SIDE),
            mask_in_chans=4,
        ),
        mask_decoder=MaskDecoder(
            num_multimask_outputs=3,
            transformer=TwoWayTransformer(depth=1, embedding_dim=width, mlp_dim=16, num_heads=2),
            transformer_dim=width,
            iou_head_depth=2,
            iou_head_hidden_dim=16,
        ),
        pixel_mean=[123.675, 116.28, 103.53],
        pixel_std=[58.395, 57.12, 57.375],
    ).eval()


def tiny_sam(file: Path) -> Path:
    """A checkpoint of :func:`build_tiny_sam`; tests register it as model type ``tiny``."""
    import torch

    torch.manual_seed(1)
    torch.save(build_tiny_sam().state_dict(), file)
    return file


def _prompted(cls: str, config, processor: str, images, folder: Path) -> Path:
    import torch
    import transformers

    torch.manual_seed(2)
    getattr(transformers, cls)(config).save_pretrained(folder)
    getattr(transformers, processor)(images).save_pretrained(folder)
    return folder


def tiny_sam2(folder: Path) -> Path:
    import transformers

    vision = {
        "backbone_config": {
            "hidden_size": 8,
            "num_attention_heads": 1,
            "image_size": [SIDE, SIDE],
            "blocks_per_stage": [1, 1, 2, 1],
            "embed_dim_per_stage": [8, 16, 32, 64],
            "num_attention_heads_per_stage": [1, 1, 1, 1],
            "window_size_per_stage": [8, 4, 4, 2],
            "global_attention_blocks": [3],
            "model_type": "sam2_hiera_det_model",
        },
        "backbone_channel_list": [64, 32, 16, 8],
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "fpn_hidden_size": 32,
        "model_type": "sam2_vision_model",
    }
    config = transformers.Sam2Config(
        vision_config=vision,
        **_HEADS,
    )
    images = transformers.Sam2ImageProcessor(
        size={"height": SIDE, "width": SIDE}, mask_size={"height": 16, "width": 16}
    )
    return _prompted("Sam2Model", config, "Sam2Processor", images, folder)


def tiny_grounding_dino(folder: Path, side: int = SIDE) -> Path:
    import torch
    import transformers

    # the model knows its special tokens by their number
    words = [f"[unused{i}]" for i in range(1040)]
    words[0], words[100], words[101], words[102], words[1012], words[1029] = (
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        ".",
        "?",
    )
    words += [*map(chr, range(97, 123)), *(f"##{chr(c)}" for c in range(97, 123))]
    tokenizer = transformers.BertTokenizer(vocab={word: i for i, word in enumerate(words)})
    torch.manual_seed(4)
    config = transformers.GroundingDinoConfig(
        backbone_config={
            "model_type": "swin",
            "image_size": SIDE,
            "patch_size": 4,
            "embed_dim": 8,
            "depths": [1, 1, 1, 1],
            "num_heads": [1, 1, 1, 1],
            "window_size": 2,
            "out_indices": [2, 3, 4],
        },
        text_config={
            "model_type": "bert",
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "vocab_size": len(words),
        },
        num_queries=12,
        d_model=32,
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=16,
        decoder_attention_heads=2,
    )
    transformers.GroundingDinoForObjectDetection(config).save_pretrained(folder)
    images = transformers.GroundingDinoImageProcessorPil(
        size={"shortest_edge": side, "longest_edge": 2 * side}
    )
    transformers.GroundingDinoProcessor(images, tokenizer).save_pretrained(folder)
    return folder


def _sam3_vision() -> dict:
    return {
        "backbone_config": {
            "model_type": "sam3_vit_model",
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": SIDE,
            "patch_size": PATCH,
            "pretrain_image_size": SIDE,
            "window_size": 2,
            "global_attn_indexes": [1],
        },
        "fpn_hidden_size": 32,
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "model_type": "sam3_vision_model",
    }


def tiny_sam3_tracker(folder: Path) -> Path:
    import transformers

    config = transformers.Sam3TrackerConfig(
        vision_config=_sam3_vision(),
        **_HEADS,
    )
    images = transformers.Sam3ImageProcessor(
        size={"height": SIDE, "width": SIDE}, mask_size={"height": 16, "width": 16}
    )
    return _prompted("Sam3TrackerModel", config, "Sam3TrackerProcessor", images, folder)


def tiny_sam3(folder: Path) -> Path:
    import torch
    import transformers

    letters = [chr(c) for c in range(97, 123)]
    words = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{c}</w>" for c in letters)]
    tokenizer = transformers.CLIPTokenizer(vocab={word: i for i, word in enumerate(words)}, merges=[])
    small = {"hidden_size": 32, "num_attention_heads": 2}
    layers = {**small, "intermediate_size": 16, "num_layers": 1}
    torch.manual_seed(5)
    config = transformers.Sam3Config(
        vision_config=_sam3_vision(),
        text_config={
            "model_type": "clip_text_model",
            "hidden_size": 16,
            "intermediate_size": 16,
            "projection_dim": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "max_position_embeddings": 32,
            "vocab_size": len(words),
            "eos_token_id": 1,
        },
        geometry_encoder_config=layers,
        detr_encoder_config=layers,
        detr_decoder_config={**layers, "num_queries": 6},
        mask_decoder_config={**small, "num_upsampling_stages": 2},
    )
    transformers.Sam3Model(config).save_pretrained(folder)
    images = transformers.Sam3ImageProcessor(
        size={"height": SIDE, "width": SIDE}, mask_size={"height": 16, "width": 16}
    )
    transformers.Sam3Processor(images, tokenizer).save_pretrained(folder)
    return folder


def tiny_sam3_whole(folder: Path) -> Path:
    """Detector and tracker as transformers' own ``save_pretrained`` writes them: the layout of ``facebook/sam3``."""
    import torch
    import transformers

    detector = tiny_sam3(folder / "detector")
    small = {
        f"memory_{part}": 32 for part in ("attention_hidden_size", "encoder_hidden_size", "fuser_embed_dim")
    }
    tracker = transformers.Sam3TrackerVideoConfig(
        vision_config=_sam3_vision(),
        **_HEADS,
        **small,
        memory_attention_num_layers=1,
        memory_attention_num_attention_heads=1,
        memory_attention_feed_forward_hidden_size=16,
        memory_encoder_output_channels=8,
        mask_downsampler_embed_dim=32,
        memory_fuser_num_layers=1,
        memory_fuser_intermediate_dim=16,
        image_size=SIDE,
    )
    config = transformers.Sam3VideoConfig(
        detector_config=transformers.Sam3Config.from_pretrained(detector).to_dict(),
        tracker_config=tracker.to_dict(),
    )
    torch.manual_seed(6)
    transformers.Sam3VideoModel(config).save_pretrained(folder / "whole")
    read = transformers.Sam3Processor.from_pretrained(detector)
    transformers.Sam3VideoProcessor(
        read.image_processor, transformers.Sam2VideoVideoProcessor(), read.tokenizer
    ).save_pretrained(folder / "whole")
    return folder / "whole"
