"""Images a second of cfgen's sdxl inpainter against the plain diffusers call, one image at a time, in the same run.

Both start from the same crops, masks, words and weights (random), run the same steps at the same resolution in the same
dtype, and end with crops of the original size. The plain call is the documented one: PIL pictures in and out, prompt
and negative prompt, resized there and back. Ours is ``Sdxl.inpaint``: canvases, prompts from hazard and light, batches,
tone, provenance.

By default a tiny model on the CPU: it shows what is lost around the model. Prints wall-clock and processor time, as
other work on the machine slows the first. ``--full --device cuda`` builds the
full-size architecture from its configuration and also prints the share of the measured matmul rate that is reached.
Needs the dev extra.
Usage: python benchmarks/diffusion.py [--n 32] [--batch 8] [--steps 30] [--full] [--device cuda] [--compile]
"""

import argparse
import gc
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cfgen.hazards.taxonomy import load_taxonomy  # noqa: E402
from cfgen.inpaint.diffusion.base import DiffusionEngine  # noqa: E402
from cfgen.inpaint.diffusion.load import require_packages  # noqa: E402
from cfgen.inpaint.diffusion.sdxl import Sdxl  # noqa: E402
from cfgen.inpaint.protocol import InpaintRequest  # noqa: E402
from tests.inpaint.diffusion import tiny_sdxl as tiny  # noqa: E402
from tests.inpaint.diffusion.asked import request  # noqa: E402

STRENGTH, GUIDANCE = 0.99, 7.5


def full_pipeline(folder: Path, dtype: torch.dtype) -> Any:
    """SDXL inpainting at its real size, from configuration, with random weights and a tokenizer of characters."""
    import diffusers
    import transformers

    words = tiny.clip_tokenizer(folder)
    shared = {"vocab_size": 49408, "max_position_embeddings": 77, "eos_token_id": len(words) - 1}
    small = transformers.CLIPTextConfig(
        hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, **shared
    )
    large = transformers.CLIPTextConfig(
        hidden_size=1280,
        intermediate_size=5120,
        num_hidden_layers=32,
        num_attention_heads=20,
        projection_dim=1280,
        hidden_act="gelu",
        **shared,
    )
    torch.set_default_dtype(dtype)
    try:
        return diffusers.StableDiffusionXLInpaintPipeline(
            vae=tiny.four_stages(
                (128, 256, 512, 512), layers_per_block=2, scaling_factor=0.13025, sample_size=1024
            ),
            text_encoder=transformers.CLIPTextModel(small),
            text_encoder_2=transformers.CLIPTextModelWithProjection(large),
            tokenizer=words,
            tokenizer_2=words,
            unet=diffusers.UNet2DConditionModel(
                sample_size=128,
                in_channels=9,
                out_channels=4,
                block_out_channels=(320, 640, 1280),
                down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
                up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
                transformer_layers_per_block=(1, 2, 10),
                attention_head_dim=(5, 10, 20),
                cross_attention_dim=2048,
                addition_embed_type="text_time",
                addition_time_embed_dim=256,
                projection_class_embeddings_input_dim=2816,
                use_linear_projection=True,
            ),
            scheduler=diffusers.EulerDiscreteScheduler(
                beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", timestep_spacing="leading"
            ),
            add_watermarker=False,
        )
    finally:
        torch.set_default_dtype(torch.float32)


def tiny_pipeline(folder: Path, dtype: torch.dtype) -> Any:
    where = tiny.tiny_sdxl(folder)
    return tiny.diffusers.StableDiffusionXLInpaintPipeline.from_pretrained(where, dtype=dtype)


def requests(n: int) -> list[InpaintRequest]:
    """Crops of several sizes and scenes, with hazards of the taxonomy in turn."""
    hazards = load_taxonomy().hazards
    sides = (192, 224, 288, 360)
    return [
        replace(request(sides[i % 4], sides[i % 4], seed=i), hazard=hazards[i % len(hazards)])
        for i in range(n)
    ]


def plain(pipe: Any, asked: list[InpaintRequest], side: int, steps: int) -> list[np.ndarray]:
    """The documented call in a loop."""
    made = []
    for one in asked:
        image, mask = (Image.fromarray(p).resize((side, side)) for p in (one.image, one.mask))
        picture = pipe(
            prompt=one.hazard.prompt,
            negative_prompt=one.hazard.negative_prompt,
            image=image,
            mask_image=mask,
            height=side,
            width=side,
            strength=STRENGTH,
            num_inference_steps=steps,
            guidance_scale=GUIDANCE,
            generator=torch.Generator("cpu").manual_seed(one.seed),
        ).images[0]
        made.append(np.array(picture.resize(one.mask.shape[::-1])))
    return made


def plain_seconds(
    built: Any, asked: list[InpaintRequest], side: int, steps: int, device: str
) -> tuple[float, float]:
    pipe = built().to(device)
    plain(pipe, asked[:1], side, steps)
    return seconds(lambda: plain(pipe, asked, side, steps), device)


def matmul_rate(device: str, dtype: torch.dtype) -> float:
    """FLOP/s of a large square product, the best of several runs."""
    n = 8192 if device.startswith("cuda") else 1536
    a, b = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(2))
    best = float("inf")
    for _ in range(8):
        best = min(best, seconds(lambda: a @ b, device)[0])
    return 2 * n**3 / best


def seconds(work: Any, device: str) -> tuple[float, float]:
    """Wall-clock and processor seconds."""
    settle(device)
    start, busy = time.perf_counter(), time.process_time()
    work()
    settle(device)
    return time.perf_counter() - start, time.process_time() - busy


def settle(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def memory_mb(device: str) -> float:
    if device.startswith("cuda"):
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def flops(inpainter: Sdxl, asked: list[InpaintRequest]) -> float:
    """Floating-point operations an image, counted."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        inpainter.inpaint(asked[:1])
    return counter.get_total_flops()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="the architecture at its real size")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--n", type=int, default=32)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument(
        "--side", type=int, default=0, help="resolution (default 1024, or 64 for the tiny model)"
    )
    parser.add_argument("--compile", action="store_true", help="ours with torch.compile")
    args = parser.parse_args()
    device, side = args.device, args.side or (1024 if args.full else 64)
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    asked = requests(args.n)
    require_packages("sdxl", "sdxl")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def built() -> Any:
            torch.manual_seed(0)
            made = (full_pipeline if args.full else tiny_pipeline)(folder, dtype)
            made.set_progress_bar_config(disable=True)
            return made

        class Built(Sdxl):
            def fetch(self) -> DiffusionEngine:
                return DiffusionEngine(built(), "random weights")

        slow, slow_busy = plain_seconds(built, asked, side, args.steps, device)
        rate = matmul_rate(device, dtype)
        plain_memory = memory_mb(device)
        gc.collect()
        if device.startswith("cuda"):
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        inpainter = Built(
            device=device, steps=args.steps, guidance=GUIDANCE, strength=STRENGTH, resolution=side,
            batch_size=args.batch, compile=args.compile,
        )  # fmt: skip
        inpainter.inpaint(asked[: args.batch])
        quick, quick_busy = seconds(lambda: inpainter.inpaint(asked), device)
        per_image = flops(inpainter, asked)
    print(
        f"{'full-size' if args.full else 'tiny'} model, {side} px, {args.steps} steps, {device}, {dtype}, n = {args.n}"
    )
    for name, taken, busy, memory in (
        ("plain call, one at a time", slow, slow_busy, plain_memory),
        (f"cfgen sdxl, batch {args.batch}", quick, quick_busy, memory_mb(device)),
    ):
        each = 1000 * busy / args.n
        print(f"{name:<27}{args.n / taken:8.3f} images/s {each:8.0f} ms of processor time {memory:8.0f} MB")
    print(f"ratio {slow / quick:.2f} by the clock, {slow_busy / quick_busy:.2f} by processor time")
    print(
        f"matmul rate {rate / 1e12:.3f} TFLOP/s; ours reaches {per_image * args.n / quick / rate:.1%} of it, "
        f"the plain call {per_image * args.n / slow / rate:.1%}"
    )


if __name__ == "__main__":
    main()
