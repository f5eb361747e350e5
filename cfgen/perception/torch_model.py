"""What the backends in torch share: a device, a number format, weights that load once, embeddings that are kept."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.core.identity_cache import IdentityCache

#: Share of a model's weights that a checkpoint may lack; more of them: it is another model's.
MISSING = 0.05
_DTYPES = ("auto", "float32", "float16", "bfloat16")


class TorchModel:
    """A model on one device, loaded at first use.

    Attributes:
        device: "cpu", "cuda", "cuda:1", ...; "auto" takes a GPU when there is one.
        dtype: "float32", "float16" or "bfloat16", for the work on the picture; "auto": bfloat16 on a GPU, else float32.
            Weights and prompts stay in float32: half precision would round points to several pixels.
    """

    def __init__(self, what: str, device: str, dtype: str) -> None:
        self._what = what
        torch = self._torch()
        if dtype not in _DTYPES:
            raise InputError(f"{what}: option 'dtype': expected one of {', '.join(_DTYPES)}, found {dtype!r}")
        self.device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        number, gpus = int(self.device.partition(":")[2] or 0), torch.cuda.device_count()
        if self.device.startswith("cuda") and number >= gpus:
            raise InputError(
                f"{what}: option 'device': '{device}' asked for, but torch {torch.__version__} sees "
                f"{gpus or 'no'} GPU{'s' * (gpus > 1)}; use another, or device=cpu"
            )
        on_gpu = self.device.startswith("cuda")
        self.dtype = ("bfloat16" if on_gpu else "float32") if dtype == "auto" else dtype
        self._loaded: Any = None
        self._embedded = IdentityCache()

    def _load(self) -> Any:
        raise NotImplementedError

    @property
    def _model(self) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _torch(self) -> Any:
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError(self._what, "sam", error) from error
        return torch

    def _autocast(self) -> Any:
        torch = self._torch()
        number, on = getattr(torch, self.dtype), self.dtype != "float32"
        return torch.autocast(self.device.split(":")[0], dtype=number, enabled=on)


class Pretrained(TorchModel):
    """Weights in transformers' format: a folder, or a name that its hub resolves.

    Attributes:
        classes: of the model and its processor, by their names in transformers.
        renamed: patterns in the names of weights, and what takes their place.
    """

    classes: tuple[str, str]
    renamed: Mapping[str, str] = {}

    def __init__(
        self, what: str, model: str, revision: str, device: str, dtype: str, **options: float
    ) -> None:
        super().__init__(what, device, dtype)
        self.options: Mapping[str, Any] = {
            "model": model,
            "revision": revision,
            "device": self.device,
            "dtype": self.dtype,
            **options,
        }
        self._source, self._revision = model, revision
        try:
            import torchvision  # noqa: F401 - its image processors need it
            import transformers
        except ImportError as error:
            raise MissingExtraError(what, "sam", error) from error
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self._transformers = transformers

    def check(self) -> None:
        """
        Raises:
            SetupError: a name on the hub whose configuration is neither here nor to be had.
        """
        if Path(self._source).is_dir():
            return
        try:
            self._transformers.AutoConfig.from_pretrained(self._source, revision=self._revision or None)
        except Exception as error:
            raise SetupError(
                f"{self._what}: '{self._source}' cannot be had ({str(error).splitlines()[0][:200]}); without a "
                "network, copy the folder here and give it as option model"
            ) from error

    def _load(self) -> tuple[Any, Any]:
        """The model, ready on its device, and its processor.

        Raises:
            SetupError: not there, or weights of something else.
        """
        model, processor = self.classes
        where = {"revision": self._revision} if self._revision else {}
        how = {"dtype": self._torch().float32, "output_loading_info": True, **where}
        if self.renamed:
            how["key_mapping"] = dict(self.renamed)
        try:
            prepare = getattr(self._transformers, processor).from_pretrained(self._source, **where)
            model_instance, notes = getattr(self._transformers, model).from_pretrained(self._source, **how)
        except Exception as error:  # each file format has errors of its own
            raise SetupError(
                f"{self._what}: cannot load '{self._source}' as {model} ({str(error).splitlines()[0][:200]}); "
                "give the folder or the name of such a checkpoint as option model"
            ) from error
        missing, total = len(notes["missing_keys"]), len(model_instance.state_dict())
        if missing > MISSING * total:
            raise SetupError(
                f"{self._what}: '{self._source}' lacks {missing} of the {total} weights of {model}: it is a "
                "checkpoint of something else; give another as option model"
            )
        return model_instance.to(self.device).eval(), prepare

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, and the commit that the hub gave for it or the hash of its weights in a folder."""
        folder = Path(self._source)
        if folder.is_dir():
            return {"model": folder.name, "weights": file_hash(*sorted(folder.glob("*.safetensors")))}
        return {"model": self._source, "revision": getattr(self._model[0].config, "_commit_hash", None)}


def file_hash(*paths: Path) -> str:
    """``sha256:`` over the bytes of the files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return f"sha256:{digest.hexdigest()}"
