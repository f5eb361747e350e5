"""Options that every diffusers inpainter takes, checked before anything is loaded."""

import contextlib
import difflib
import hashlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from cfgen.core.errors import CfgenError, InputError, MissingExtraError, SetupError, warn
from cfgen.core.record import Record

O = TypeVar("O", bound="DiffusionOptions")  # noqa: E741 - options
Steps = Annotated[int, Field(ge=1, le=1000)]
Guidance = Annotated[float, Field(ge=0, le=100)]


class DiffusionOptions(Record):
    """What can be said with ``--inpainter-options KEY=VALUE``; each model adds its own defaults."""

    #: a name on the Hub or a folder in diffusers' layout
    model: str
    #: branch, tag or commit on the Hub, and the variant of the weights there, e.g. fp16
    revision: str = ""
    variant: str = ""
    #: auto: a GPU where there is one, bfloat16 on it and float32 elsewhere
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    steps: Steps
    guidance: Guidance
    #: share of the noise where nothing guides the edit
    strength: float = Field(default=0.99, gt=0, le=1)
    #: the same where a guide does, for every hazard; None: each as its taxonomy says
    repaint: float | None = Field(default=None, gt=0, le=1)
    #: added to the hazard's own
    negative_prompt: str = ""
    #: the model paints about this squared pixels
    resolution: int = Field(default=1024, ge=32, le=4096)
    #: images at a time; halved when memory runs out
    batch_size: int = Field(default=4, ge=1, le=256)
    #: a file, a folder, or a name on the Hub; a file in the latter two follows a colon
    lora: str = ""
    lora_weight: float = 1.0
    #: what lies in main memory while another part works: whole models, or layer by layer
    offload: Literal["none", "model", "sequential"] = "none"
    compile: bool = False


def read_options(inpainter: str, kind: type[O], values: Mapping[str, Any]) -> O:
    """The options with their defaults.

    Raises:
        InputError: an unknown option, or a value out of range.
    """
    for name in values:
        if name not in kind.model_fields:
            near = difflib.get_close_matches(name, list(kind.model_fields), n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise InputError(
                f"inpainter '{inpainter}': unknown option '{name}'{hint}; expected one of: "
                f"{', '.join(kind.model_fields)}"
            )
    try:
        options = kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"inpainter '{inpainter}': option {'.'.join(map(str, first['loc']))}: "
            f"{first['msg'][:1].lower()}{first['msg'][1:]}, found {first['input']!r}"
        ) from error
    return options


def steps_short(steps: int, strength: float) -> str:
    """Why there is nothing to do, in one line; "" when there is."""
    if int(steps * strength) >= 1:
        return ""
    return f"{steps} steps at strength {strength:g} come to less than one; use steps={int(1 / strength) + 1} or more"


# --- load --------------------------------------------------------------------------------------
# Packages, device, weights: each missing one is named with what to do.

#: Bytes of a weight file, from its start and its end, that go into a folder's fingerprint.
_SAMPLE = 65_536
#: Weights from which a model is slow without a GPU.
_LARGE = 500_000_000


@dataclass(frozen=True)
class Weights:
    """Where a pipeline's weights lie, and what tells them from others: a commit on the Hub, or a fingerprint."""

    path: Path
    revision: str


def require_packages(inpainter: str, extra: str, lora: bool = False) -> None:
    """
    Raises:
        MissingExtraError: one of them is not installed.
    """
    try:
        import accelerate  # noqa: F401
        import diffusers
        import torch  # noqa: F401
        import transformers

        if lora:
            import peft  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"inpainter '{inpainter}'", extra, error) from error
    for package in (diffusers, transformers):
        package.utils.logging.set_verbosity_error()
        package.utils.logging.disable_progress_bar()


@contextlib.contextmanager
def others_quiet() -> Iterator[None]:
    """Without the warnings that these packages give about each other."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(diffusers|transformers|torch|peft|huggingface_hub)\b")
        yield


def pick_device(inpainter: str, options: DiffusionOptions) -> tuple[str, str]:
    """Device and dtype by name.

    Raises:
        SetupError: the device is not there, or offloading has nothing to offload from.
    """
    import torch

    has_gpu = torch.cuda.is_available()
    device = options.device
    if device == "auto":
        device = "cuda" if has_gpu else "mps" if torch.backends.mps.is_available() else "cpu"
    if device.startswith("cuda") and not (has_gpu and _index(device) < torch.cuda.device_count()):
        hardware = f"{torch.cuda.device_count()} GPUs" if has_gpu else "none"
        raise SetupError(
            f"inpainter '{inpainter}': device={options.device}: expected a CUDA GPU, PyTorch {torch.__version__} finds "
            f"{hardware}; use device=cpu (minutes an image), or composite, which needs no GPU"
        )
    if options.offload != "none" and not device.startswith("cuda"):
        raise SetupError(
            f"inpainter '{inpainter}': offload={options.offload} saves GPU memory, and device is {device}; "
            "leave it out"
        )
    dtype = options.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    return device, dtype


def _index(device: str) -> int:
    return int(device.partition(":")[2] or 0)


def find_weights(inpainter: str, options: DiffusionOptions) -> Weights:
    """The folder or file with the weights, downloaded where ``model`` names a repository.

    Raises:
        SetupError: no such folder, a folder of something else, or the Hub cannot be reached.
    """
    path = local_weights(inpainter, options)
    return _download(inpainter, options) if path is None else Weights(path, fingerprint(path))


def local_weights(inpainter: str, options: DiffusionOptions) -> Path | None:
    """The folder or file that ``model`` names, or None when it is a name on the Hub.

    Raises:
        SetupError: no such folder, or a folder of something else.
    """
    path = Path(options.model).expanduser()
    if path.is_file():
        return path
    if path.is_dir():
        if not (path / "model_index.json").is_file():
            raise SetupError(
                f"inpainter '{inpainter}': model folder '{options.model}': expected model_index.json in it, found "
                "none; give a folder in diffusers' layout, as written by save_pretrained"
            )
        return path
    if path.is_absolute() or options.model.count("/") != 1 or options.model.startswith("."):
        raise SetupError(
            f"inpainter '{inpainter}': model '{options.model}': no such file or folder; expected one, or a name on the "
            "Hub such as owner/name"
        )
    return None


def require_weights(inpainter: str, options: DiffusionOptions) -> None:
    """Whether the weights can be had, by the small file that names their parts.

    Raises:
        SetupError: no such folder, or they are neither here nor to be had from the Hub.
    """
    if local_weights(inpainter, options) is not None:
        return
    from huggingface_hub import hf_hub_download

    try:
        hf_hub_download(options.model, "model_index.json", revision=options.revision or None)
    except Exception as error:  # the Hub's client raises many kinds, of several packages
        raise _not_to_be_had(inpainter, options, error) from error


def _not_to_be_had(inpainter: str, options: DiffusionOptions, error: Exception) -> SetupError:
    return SetupError(
        f"inpainter '{inpainter}': weights '{options.model}' cannot be had from the Hub ({one_line(error)}). "
        "Without a network, copy the folder here and give model=FOLDER; where the licence must be accepted first, "
        "do so on its page and run: hf auth login"
    )


def _download(inpainter: str, options: DiffusionOptions) -> Weights:
    from diffusers import DiffusionPipeline

    arguments = {"revision": options.revision, "variant": options.variant}
    try:
        folder = DiffusionPipeline.download(
            options.model, use_safetensors=True, **{k: v for k, v in arguments.items() if v}
        )
    except Exception as error:  # the Hub's client raises many kinds, of several packages
        raise _not_to_be_had(inpainter, options, error) from error
    path = Path(folder)
    return Weights(path, path.name if path.parent.name == "snapshots" else options.revision)


def fingerprint(path: Path) -> str:
    """``sha256:`` over a checkpoint's configuration, and over names, sizes, starts and ends of its weight files."""
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        size = file.stat().st_size
        digest.update(f"{'' if file == path else file.relative_to(path).as_posix()}\0{size}\0".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_SAMPLE))
            stream.seek(max(size - _SAMPLE, 0))
            digest.update(stream.read(_SAMPLE))
    return "sha256:" + digest.hexdigest()


def load_pipeline(
    inpainter: str, kind: type[Any], weights: Weights, options: DiffusionOptions, dtype: str, **arguments: Any
) -> Any:
    """A pipeline of class ``kind`` on the CPU, without progress bars; ``options.config`` also reads a single file.

    Raises:
        SetupError: the checkpoint is damaged or of another kind, or its configuration cannot be had.
    """
    import torch

    path, config = weights.path, getattr(options, "config", "")
    arguments["dtype"] = getattr(torch, dtype)
    if options.variant:
        arguments["variant"] = options.variant
    try:
        if config and path.is_file():
            pipe = kind.from_single_file(str(path), config=config, **arguments)
        else:
            pipe = kind.from_pretrained(str(path), use_safetensors=True, **arguments)
    except Exception as error:  # safetensors' and the Hub's errors are of several packages
        raise SetupError(
            f"inpainter '{inpainter}': cannot load '{options.model}' as a {kind.__name__} ({one_line(error)}); "
            "give a whole checkpoint of that kind, with .safetensors weights"
        ) from error
    pipe.set_progress_bar_config(disable=True)
    return pipe


def add_loras(inpainter: str, pipe: Any, loras: list[tuple[str, float]]) -> None:
    """Melt LoRA adapters, each a source and a weight, into the pipeline's weights.

    Raises:
        SetupError: an adapter cannot be had or does not fit the model.
    """
    names = [f"lora{i}" for i in range(len(loras))]
    for name, (source, _) in zip(names, loras, strict=True):
        place, _, file = source.partition(":")
        try:
            arguments = {"weight_name": file} if file else {}
            pipe.load_lora_weights(place, adapter_name=name, use_safetensors=True, **arguments)
            if not any(name in parts for parts in pipe.get_list_adapters().values()):
                raise ValueError("none of its layers is one of this model's")
        except Exception as error:  # the Hub's client raises many kinds, of several packages
            raise SetupError(
                f"inpainter '{inpainter}': LoRA '{source}' cannot be loaded ({one_line(error)}); give a .safetensors "
                "file, a folder or a Hub name of one for this kind of model (lora=, or preset_lora= for a preset's)"
            ) from error
    if names:
        pipe.set_adapters(names, [weight for _, weight in loras])
        pipe.fuse_lora(adapter_names=names)
        pipe.unload_lora_weights()


def put_on(pipe: Any, options: DiffusionOptions, device: str, core: str) -> None:
    """Move the pipeline to its device, or leave it to offloading; compile its ``core`` if asked."""
    import torch

    if device == "cpu" and sum(weight.numel() for weight in getattr(pipe, core).parameters()) > _LARGE:
        warn(f"{type(pipe).__name__} runs on the CPU: expect minutes for each picture")
    if options.offload == "model":
        pipe.enable_model_cpu_offload(device=device)
    elif options.offload == "sequential":
        pipe.enable_sequential_cpu_offload(device=device)
    else:
        try:
            pipe.to(device)
        except torch.OutOfMemoryError:
            raise CfgenError(
                f"the model does not fit into the memory of {device}; use offload=model, or dtype=bfloat16"
            ) from None
    if options.compile:
        getattr(pipe, core).compile()


def one_line(error: BaseException) -> str:
    """The first line of an error, cut."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
