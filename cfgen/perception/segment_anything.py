"""Segment Anything through its own package: ``SamPredictor`` on a checkpoint file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError, MissingExtraError, SetupError
from cfgen.models.files import FILES, kept
from cfgen.perception.detection import MaskPrompt, Segment
from cfgen.perception.torch_model import Pretrained, TorchModel, file_hash

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
        models = sorted(set(segment_anything.sam_model_registry) - {"default"})
        if model_type not in models:
            raise InputError(
                f"{_WHAT}: option 'model_type': expected one of {', '.join(models)}, found {model_type!r}"
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

    def segment(self, image: np.ndarray, prompts: Sequence[MaskPrompt]) -> list[list[Segment]]:
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

    def _one(self, predictor: Any, prompt: MaskPrompt) -> list[Segment]:
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
        segments = zip(masks[0].cpu().numpy(), scores[0].float().tolist(), strict=True)
        return sorted((Segment(mask, score) for mask, score in segments), key=lambda s: -s.score)

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


# --- SAM 2 and SAM 3, through transformers ---


class PromptedModel(Pretrained):
    """A model of transformers that takes points and boxes: SAM 2, and the part of SAM 3 that descends from it.

    Args:
        model: a folder, or a name on the hub. revision: of the latter.
        min_score: segments of which it thinks less are no evidence.
    """

    name: str

    def __init__(
        self,
        model: str,
        revision: str = "",
        device: str = "auto",
        dtype: str = "auto",
        min_score: float = 0.8,
    ) -> None:
        super().__init__(f"segmenter '{self.name}'", model, revision, device, dtype, min_score=min_score)
        self.min_score = min_score

    def segment(self, image: np.ndarray, prompts: Sequence[MaskPrompt]) -> list[list[Segment]]:
        with self._torch().inference_mode():
            embedding = self._embedded.of(image, self._look)
            return [self._one(image, embedding, prompt) for prompt in prompts]

    def _look(self, image: np.ndarray) -> Any:
        model, processor = self._model
        pixels = processor(images=np.array(image), return_tensors="pt")["pixel_values"]
        with self._autocast():
            levels = model.get_image_embeddings(pixels.to(self.device))
        return [level.float() for level in levels]

    def _one(self, image: np.ndarray, embedding: Any, prompt: MaskPrompt) -> list[Segment]:
        model, processor = self._model
        size = [list(image.shape[:2])]
        prompts: dict[str, Any] = {}
        if points := [list(map(float, p)) for p in (*prompt.inside, *prompt.outside)]:
            prompts["input_points"] = [[points]]
            prompts["input_labels"] = [[[1] * len(prompt.inside) + [0] * len(prompt.outside)]]
        if prompt.box is not None:
            prompts["input_boxes"] = [[list(map(float, prompt.box))]]
        inputs = processor(original_sizes=size, return_tensors="pt", **prompts)
        tensors = {key: value.to(self.device) for key, value in inputs.items() if key.startswith("input_")}
        out = model(image_embeddings=embedding, multimask_output=True, **tensors)
        masks = processor.post_process_masks(out.pred_masks.cpu(), size)[0][0]
        segments = zip(masks.numpy().astype(bool), out.iou_scores[0, 0].tolist(), strict=True)
        return sorted((Segment(mask, score) for mask, score in segments), key=lambda s: -s.score)


class Sam2(PromptedModel):
    """SAM 2: checkpoints such as ``facebook/sam2.1-hiera-large``."""

    name = "sam2"
    classes = ("Sam2Model", "Sam2Processor")


class Sam3(PromptedModel):
    """SAM 3: the promptable part of checkpoints such as ``facebook/sam3``."""

    name = "sam3"
    classes = ("Sam3TrackerModel", "Sam3TrackerProcessor")
    #: transformers writes this prefix twice when it saves the whole model, and does not find it again
    renamed: Mapping[str, str] = {r"^tracker_model\.tracker_model\.": "tracker_model."}
