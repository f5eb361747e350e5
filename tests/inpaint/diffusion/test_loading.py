"""Checkpoints, adapters, devices and packages: what loads, and what each thing that is missing says."""

import builtins
import shutil
from pathlib import Path

import pytest

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.inpaint.diffusion.sdxl import Sdxl
from cfgen.inpaint.registry import create_inpainter
from tests.benches import run
from tests.inpaint.diffusion.asked import apart, request
from tests.inpaint.diffusion.tiny_sdxl import diffusers, torch


def sdxl(model, **options) -> Sdxl:
    return Sdxl(model=str(model), **({"resolution": 64, "steps": 3} | options))


def painted(painter: Sdxl):
    return painter.inpaint([request()])[0]


@pytest.fixture(scope="module")
def adapter(tiny, tmp_path_factory) -> Path:
    """A LoRA for the tiny UNet with weights that show."""
    from peft import LoraConfig, get_peft_model_state_dict

    unet = diffusers.UNet2DConditionModel.from_pretrained(tiny / "unet")
    torch.manual_seed(1)
    unet.add_adapter(LoraConfig(r=2, init_lora_weights=False, target_modules=["to_k", "to_q", "to_v"]))
    layers = {k: 20 * v for k, v in get_peft_model_state_dict(unet).items()}
    folder = tmp_path_factory.mktemp("lora")
    diffusers.StableDiffusionXLPipeline.save_lora_weights(folder, unet_lora_layers=layers)
    return folder


def test_a_lora_changes_the_picture_by_its_weight(tiny, adapter):
    plain = painted(sdxl(tiny))
    whole = painted(sdxl(tiny, lora=str(adapter)))
    none = painted(sdxl(tiny, lora=str(adapter), lora_weight=0.0))
    assert apart(whole.image, plain.image) > 10
    assert apart(none.image, plain.image) <= 1
    assert whole.report["loras"] == [[str(adapter), 1.0]]
    file = f"{adapter}:pytorch_lora_weights.safetensors"
    assert apart(painted(sdxl(tiny, lora=file)).image, whole.image) <= 1
    alone = str(adapter / "pytorch_lora_weights.safetensors")
    assert apart(painted(sdxl(tiny, lora=alone)).image, whole.image) <= 1


@pytest.mark.parametrize(
    ("preset", "scheduler", "guidance"), [("lcm", "LCMScheduler", 1.5), ("hyper", "DDIMScheduler", 0.0)]
)
def test_a_preset_brings_its_steps_scheduler_guidance_and_adapter(tiny, adapter, preset, scheduler, guidance):
    model = {"model": str(tiny), "resolution": 64, "preset": preset}
    report = painted(Sdxl(**model, preset_lora=str(adapter))).report
    assert (report["scheduler"], report["steps"], report["guidance"]) == (scheduler, 8, guidance)
    assert report["loras"] == [[str(adapter), 1.0]]
    assert report["steps_run"] == 7
    other = Sdxl(**model, steps=5, scheduler="euler_a")
    assert (other.settings.steps, other.settings.scheduler) == (5, "euler_a")
    assert "/" in other.settings.preset_lora, "by default its adapter comes from the Hub"


def test_a_folder_is_told_from_another_by_its_weights(tiny, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tiny, copy)
    same = painted(sdxl(copy)).report["revision"]
    assert same == painted(sdxl(tiny)).report["revision"]
    weights = copy / "unet" / "diffusion_pytorch_model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert painted(sdxl(copy)).report["revision"] != same


def test_a_damaged_or_foreign_checkpoint_is_named(tiny, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(tiny, damaged)
    weights = damaged / "unet" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"cannot load '.*damaged' as a StableDiffusionXLInpaintPipeline"):
        painted(sdxl(damaged))
    shutil.rmtree(damaged / "unet")
    with pytest.raises(InputError, match="give a whole checkpoint"):
        painted(sdxl(damaged))
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"not tensors")
    with pytest.raises(InputError, match=r"cannot load '.*model.safetensors' as a StableDiffusionXL"):
        painted(sdxl(file, config=str(tiny)))


@pytest.mark.parametrize("model", ["/no/such/folder", "./here", "nothing"])
def test_a_missing_folder_is_told_before_anything_is_built(tmp_path, model):
    code, _, err = run(
        *("build", "--out", tmp_path / "b", "--n", 1, "--quiet"),
        *("--inpainter", "sdxl", "--inpainter-options", f"model={model}"),
    )
    assert code == 2
    assert f"model '{model}': no such file or folder" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"strenght": 0.5},
            r"unknown option 'strenght' \(did you mean 'strength'\?\); expected one of: model",
        ),
        ({"steps": 0}, r"option steps: input should be greater than or equal to 1, found 0"),
        ({"steps": "many"}, r"option steps: .*integer.*found 'many'"),
        ({"scheduler": "heun"}, r"option scheduler: .*found 'heun'"),
        ({"device": "tpu"}, r"option device: .*found 'tpu'"),
        ({"steps": 2, "strength": 0.3}, r"2 steps at strength 0.3 come to less than one; use steps=4"),
        ({"offload": "model", "device": "cpu"}, r"offload=model saves GPU memory, and device is cpu"),
    ],
)
def test_wrong_options_are_named(tiny, options, message):
    with pytest.raises(InputError, match=message):
        create_inpainter("sdxl", {"model": str(tiny), **options})


@pytest.mark.parametrize("package", ["torch", "diffusers", "accelerate"])
def test_a_missing_package_names_the_extra(tiny, monkeypatch, package):
    real = builtins.__import__

    def without(name, *more):
        if name.split(".")[0] == package:
            raise ImportError(f"No module named '{package}'", name=package)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf"inpainter 'sdxl' needs .*'{package}'.*\.\[sdxl\]"):
        sdxl(tiny)
