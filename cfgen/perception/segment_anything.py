"""Segment Anything through its own package: ``SamPredictor`` on a checkpoint file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.models.files import FILES, kept
from cfgen.perception.detection import Prompt, Segment
from cfgen.perception.torch_model import TorchModel, file_hash

_WHAT = "segmenter 'segment-anything'"


class SegmentAnything(TorchModel):
    """SAM, from a file of weights.

    Args:
        checkpoint: that file, such as ``sam_vit_h_4b8939.pth``; "" takes the one that ``cfgen models get sam_vit_h``
            keeps, or that of another ``model_type``.
        model_type: its architecture, a name in ``segment_anything.sam_model_registry``: vit_h, vit_l, vit_b.
        min_score: segments of which it thinks less are no evidence.
    """

    name = "segment-anything"

    def __init__(
        self,
        checkpoint: str = "",
        model_type: str = "vit_h",
        device: str = "auto",
        dtype: str = "auto",
        min_score: float = 0.8,
    ) -> None:
        super().__init__(_WHAT, device, dtype)
        try:
            import segment_anything  # needs torchvision
        except ImportError as error:
            raise MissingExtraError(_WHAT, "sam", error) from error
        self._package = segment_anything
        known = sorted(set(segment_anything.sam_model_registry) - {"default"})
        if model_type not in known:
            raise InputError(
                f"{_WHAT}: option 'model_type': expected one of {', '.join(known)}, found {model_type!r}"
            )
        option = f"{_WHAT}: option 'checkpoint'"
        self._published = FILES.get(f"sam_{model_type}")
        self._advice = self._published.advice if self._published else "check the file"
        self._file = Path(checkpoint) if checkpoint else kept(f"sam_{model_type}", option)
        if not self._file.is_file():
            raise InputError(
                f"{option}: expected a file of SAM weights, found none at {checkpoint}; {self._advice}"
            )
        self.min_score = min_score
        self.options: Mapping[str, Any] = {
            "checkpoint": checkpoint,
            "model_type": model_type,
            "device": self.device,
            "dtype": self.dtype,
            "min_score": min_score,
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.options["model_type"], "file": self._file.name, "weights": self._model[1]}

    def segment(self, image: np.ndarray, prompts: Sequence[Prompt]) -> list[list[Segment]]:
        torch = self._torch()
        with torch.inference_mode():
            predictor = self._embedded.of(image, self._look)
            return [self._one(predictor, prompt) for prompt in prompts]

    def _look(self, image: np.ndarray) -> Any:
        predictor = self._package.SamPredictor(self._model[0])
        with self._autocast():
            predictor.set_image(np.ascontiguousarray(image))
        predictor.features = predictor.features.float()
        return predictor

    def _one(self, predictor: Any, prompt: Prompt) -> list[Segment]:
        torch, size = self._torch(), predictor.original_size
        points = labels = box = None
        if at := (*prompt.inside, *prompt.outside):
            places = predictor.transform.apply_coords(np.array(at, float), size)
            points = torch.as_tensor(places, dtype=torch.float32, device=self.device)[None]
            signs = [1] * len(prompt.inside) + [0] * len(prompt.outside)
            labels = torch.as_tensor(signs, dtype=torch.int, device=self.device)[None]
        if prompt.box is not None:
            corners = predictor.transform.apply_boxes(np.array(prompt.box, float), size)
            box = torch.as_tensor(corners, dtype=torch.float32, device=self.device)
        masks, scores, _ = predictor.predict_torch(points, labels, box, multimask_output=True)
        made = zip(masks[0].cpu().numpy(), scores[0].float().tolist(), strict=True)
        return sorted((Segment(mask, score) for mask, score in made), key=lambda s: -s.score)

    def _load(self) -> tuple[Any, str]:
        """The model on its device and the hash of its weights.

        Raises:
            SetupError: the file is no checkpoint, or one of another architecture.
        """
        torch = self._torch()
        model_type = self.options["model_type"]
        model = self._package.sam_model_registry[model_type]()
        try:
            weights = torch.load(self._file, map_location="cpu", weights_only=True)
            model.load_state_dict(weights)
        except Exception as error:  # torch.load raises what its file formats raise
            raise SetupError(
                f"{_WHAT}: {self._file}: cannot be read as weights of '{model_type}' "
                f"({str(error).splitlines()[0][:160]}); check option model_type, or {self._advice}"
            ) from error
        weights_hash = file_hash(self._file)
        if self._published and self._file == self._published.place:
            wrong = self._published.wrong(self._published.size, weights_hash.removeprefix("sha256:"))
            if wrong:
                raise SetupError(f"{_WHAT}: {self._file}: {wrong}; {self._advice}")
        return model.to(self.device).eval(), weights_hash
