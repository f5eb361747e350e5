"""SAM 2 and SAM 3 through transformers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cfgen.perception.detection import MaskPrompt, Segment
from cfgen.perception.torch_model import Pretrained


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
