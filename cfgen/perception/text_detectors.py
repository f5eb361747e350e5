"""Detectors through transformers that find what a text names: SAM 3 and Grounding DINO."""

from typing import Any

import numpy as np

from cfgen.perception.detection import Detection
from cfgen.perception.torch_model import Pretrained


class TextDetector(Pretrained):
    """A model of transformers that finds every instance of what a text names.

    Args:
        model: a folder, or a name on the hub. revision: of the latter.
        threshold: detections with a lower score are left out.
    """

    name: str

    def __init__(self, model: str, revision: str, device: str, dtype: str, threshold: float) -> None:
        super().__init__(f"detector '{self.name}'", model, revision, device, dtype, threshold=threshold)
        self.threshold = threshold

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        model, processor = self._model
        with self._torch().inference_mode(), self._autocast():
            inputs = processor(images=np.array(image), text=self._query(text), return_tensors="pt")
            inputs = inputs.to(self.device)
            out = model(**{key: value for key, value in inputs.items() if key != "original_sizes"})
            found = self._found(processor, out, inputs, image.shape[:2])
        scores = found["scores"].float().tolist()
        masks = found["masks"].cpu().numpy().astype(bool) if "masks" in found else [None] * len(scores)
        rows = zip(found["boxes"].float().tolist(), scores, masks, strict=True)
        return sorted(
            (Detection(tuple(box), score, mask) for box, score, mask in rows), key=lambda d: -d.score
        )

    def _query(self, text: str) -> str:
        return text

    def _found(self, processor: Any, out: Any, inputs: Any, size: tuple[int, ...]) -> Any:
        """Boxes, scores and, where it gives them, masks in a picture of ``size``."""
        raise NotImplementedError


class Sam3Detector(TextDetector):
    """SAM 3: the part of the checkpoints of segmenter ``sam3`` that finds what a text names, with its mask."""

    name = "sam3"
    classes = ("Sam3Model", "Sam3Processor")

    def __init__(
        self,
        model: str,
        revision: str = "",
        device: str = "auto",
        dtype: str = "auto",
        threshold: float = 0.4,
    ) -> None:
        super().__init__(model, revision, device, dtype, threshold)

    def _found(self, processor: Any, out: Any, inputs: Any, size: tuple[int, ...]) -> Any:
        return processor.post_process_instance_segmentation(
            out, threshold=self.threshold, target_sizes=[size]
        )[0]


class GroundingDino(TextDetector):
    """Grounding DINO: checkpoints such as ``IDEA-Research/grounding-dino-base``."""

    name = "grounding-dino"
    classes = ("GroundingDinoForObjectDetection", "GroundingDinoProcessor")

    def __init__(
        self,
        model: str = "IDEA-Research/grounding-dino-base",
        revision: str = "",
        device: str = "auto",
        dtype: str = "float32",
        threshold: float = 0.3,
    ) -> None:
        super().__init__(model, revision, device, dtype, threshold)

    def _query(self, text: str) -> str:
        """Trained on lower-case phrases that end with a full stop."""
        return text.lower().strip().rstrip(".") + "."

    def _found(self, processor: Any, out: Any, inputs: Any, size: tuple[int, ...]) -> Any:
        return processor.post_process_grounded_object_detection(
            out, inputs["input_ids"], threshold=self.threshold, target_sizes=[size]
        )[0]
