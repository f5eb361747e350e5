"""Stable Diffusion XL inpainting: any checkpoint of that family, by name, folder or single file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.base import Diffusion, DiffusionEngine, Task
from cfgen.inpaint.diffusion.load import DiffusionOptions, Guidance, Steps

#: Pixels that the VAE works on at a time.
_VAE_PIXELS = 2**20
Scheduler = Literal["checkpoint", "euler", "euler_a", "dpmpp_2m", "dpmpp_2m_karras", "ddim", "unipc", "lcm"]

#: Scheduler -> class in diffusers, and what is changed of the checkpoint's own settings.
_SCHEDULERS: dict[str, tuple[str, dict[str, Any]]] = {
    "euler": ("EulerDiscreteScheduler", {}),
    "euler_a": ("EulerAncestralDiscreteScheduler", {}),
    "dpmpp_2m": ("DPMSolverMultistepScheduler", {}),
    "dpmpp_2m_karras": ("DPMSolverMultistepScheduler", {"use_karras_sigmas": True}),
    "ddim": ("DDIMScheduler", {"timestep_spacing": "trailing"}),
    "unipc": ("UniPCMultistepScheduler", {}),
    "lcm": ("LCMScheduler", {}),
}


@dataclass(frozen=True)
class Preset:
    """Few-step settings: the adapter they need, and what replaces the defaults."""

    lora: str
    scheduler: str
    steps: int
    guidance: float


#: LCM-LoRA (Luo et al., 2023) and Hyper-SD (Ren et al., 2024), as their authors say to use them.
PRESETS = {
    "lcm": Preset("latent-consistency/lcm-lora-sdxl", "lcm", 8, 1.5),
    "hyper": Preset("ByteDance/Hyper-SD:Hyper-SDXL-8steps-lora.safetensors", "ddim", 8, 0.0),
}


class SdxlOptions(DiffusionOptions):
    model: str = "diffusers/stable-diffusion-xl-1.0-inpainting-0.1"
    steps: Steps = 30
    guidance: Guidance = 7.5
    scheduler: Scheduler = "checkpoint"
    preset: Literal["", "lcm", "hyper"] = ""
    #: where the preset's adapter lies, if not on the Hub
    preset_lora: str = ""
    #: for a single .safetensors file: the folder or name that its configuration is taken from
    config: str = "diffusers/stable-diffusion-xl-1.0-inpainting-0.1"


class Sdxl(Diffusion):
    """SDXL with the 9-channel inpainting UNet, or a base UNet, whose latents are then held outside the mask.

    The VAE works in float32; texts are encoded once each.
    """

    name = "sdxl"
    Options = SdxlOptions
    settings: SdxlOptions

    def complete(self, settings: SdxlOptions) -> SdxlOptions:
        """A preset's settings where they are not given."""
        preset = PRESETS.get(settings.preset)
        if preset is None:
            return settings
        follows = {
            "scheduler": preset.scheduler,
            "steps": preset.steps,
            "guidance": preset.guidance,
            "preset_lora": preset.lora,
        }
        fields = settings.model_fields_set
        return settings.model_copy(update={k: v for k, v in follows.items() if k not in fields})

    def loras(self) -> list[tuple[str, float]]:
        preset = [(self.settings.preset_lora, 1.0)] if self.settings.preset else []
        return preset + super().loras()

    def open(self) -> DiffusionEngine:
        import torch
        from diffusers import StableDiffusionXLInpaintPipeline as Pipeline

        weights = load.find_weights(self.name, self.settings)
        pipe = load.load_pipeline(
            self.name, Pipeline, weights, self.settings, self.dtype, add_watermarker=False
        )
        if self.settings.scheduler != "checkpoint":
            pipe.scheduler = _scheduler(self.settings.scheduler, pipe.scheduler.config)
        load.add_loras(self.name, pipe, self.loras())
        pipe.vae.to(torch.float32)
        pipe.unet.to(memory_format=torch.channels_last)
        pipe.vae.to(memory_format=torch.channels_last)
        load.put_on(pipe, self.settings, self.device, "unet")
        return DiffusionEngine(pipe, weights.revision)

    def paint(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> list[np.ndarray]:
        import torch

        pipe = engine.pipe
        with torch.inference_mode():
            height, width = tasks[0].size
            latents, masked, mask = self._encoded(pipe, tasks)
            images = pipe(
                **self._texts(engine, tasks),
                image=latents,
                mask_image=mask,
                masked_image_latents=masked,
                height=height,
                width=width,
                strength=tasks[0].strength,
                num_inference_steps=self.settings.steps,
                guidance_scale=self.settings.guidance,
                generator=self.generators(tasks),
                output_type="latent",
            ).images
            return self._decoded(pipe, images, tasks[0].size)

    def _encoded(self, pipe: Any, tasks: Sequence[Task]) -> tuple[Any, Any, Any]:
        """Latents of the images and of the images without what is masked, and the mask (B, 1, H, W)."""
        import torch

        device = pipe._execution_device
        masks = np.stack([task.mask(self.cell) for task in tasks])[:, None]
        mask = torch.from_numpy(masks).to(device).float() / 255
        images = np.stack([task.image() for task in tasks]).transpose(0, 3, 1, 2)
        pixels = torch.from_numpy(np.ascontiguousarray(images)).to(device).float() / 127.5 - 1
        stacked = torch.cat([pixels, pixels * (mask < 0.5)])
        latents = torch.cat([_code(pipe.vae, part) for part in _passes(stacked, tasks[0].size)])
        latents = (latents * pipe.vae.config.scaling_factor).to(pipe.unet.dtype)
        unmasked, masked = latents.chunk(2)
        return unmasked, masked, mask

    def _decoded(self, pipe: Any, latents: Any, size: tuple[int, int]) -> list[np.ndarray]:
        pictures: list[np.ndarray] = []
        for part in _passes(latents.float() / pipe.vae.config.scaling_factor, size):
            decoded = pipe.vae.decode(part, return_dict=False)[0]
            pictures += list(((decoded + 1) * 127.5).clamp(0, 255).permute(0, 2, 3, 1).cpu().numpy())
        return pictures

    def _texts(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> dict[str, Any]:
        """The embeddings of the tasks' prompts and negative prompts; each text is encoded once a process."""
        import torch

        embeddings = engine.texts
        prompts = [t.prompt for t in tasks] + [t.negative for t in tasks]
        if new := [text for text in dict.fromkeys(prompts) if text not in embeddings]:
            embeds, _, pooled, _ = engine.pipe.encode_prompt(new, do_classifier_free_guidance=False)
            embeddings.update({text: (embeds[i], pooled[i]) for i, text in enumerate(new)})
        rows = [embeddings[text] for text in prompts]
        embeds, pooled = (torch.stack(part) for part in zip(*rows, strict=True))
        n = len(tasks)
        arguments = {"prompt_embeds": embeds[:n], "pooled_prompt_embeds": pooled[:n]}
        if self.settings.guidance > 1:
            arguments |= {"negative_prompt_embeds": embeds[n:], "negative_pooled_prompt_embeds": pooled[n:]}
        return arguments


def _passes(tensor: Any, size: tuple[int, int]) -> Any:
    """A batch in parts that the VAE's memory is fit for: large pictures one by one, which costs no speed."""
    return tensor.split(max(_VAE_PIXELS // (size[0] * size[1]), 1))


def _code(vae: Any, pixels: Any) -> Any:
    """Latents of pictures, without the noise that a VAE would draw."""
    import torch

    coded = vae.encode(pixels.contiguous(memory_format=torch.channels_last))
    return coded.latent_dist.mode() if hasattr(coded, "latent_dist") else coded.latents


def _scheduler(name: str, config: Any) -> Any:
    import diffusers

    kind, changed = _SCHEDULERS[name]
    return getattr(diffusers, kind).from_config(config, **changed)
