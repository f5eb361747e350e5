"""Grounding DINO through transformers."""

from typing import Any

import numpy as np

from cfgen.perception.detection import Detection
from cfgen.perception.torch_model import Pretrained


class GroundingDino(Pretrained):
    """Grounding DINO: checkpoints such as ``IDEA-Research/grounding-dino-base``.

    Args:
        model: a folder, or a name on the hub. revision: of the latter.
        threshold: detections with a lower score are left out.
    """

    name = "grounding-dino"

    def __init__(
        self,
        model: str = "IDEA-Research/grounding-dino-base",
        revision: str = "",
        device: str = "auto",
        dtype: str = "float32",
        threshold: float = 0.3,
    ) -> None:
        super().__init__("detector 'grounding-dino'", model, revision, device, dtype, threshold=threshold)
        self.threshold = threshold

    def _load(self) -> tuple[Any, Any]:
        return self._pretrained("GroundingDinoForObjectDetection", "GroundingDinoProcessor")

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        model, processor = self._model
        # trained on lower-case phrases that end with a full stop
        query = text.lower().strip().rstrip(".") + "."
        with self._torch().inference_mode(), self._autocast():
            inputs = processor(images=np.array(image), text=query, return_tensors="pt")
            inputs = inputs.to(self.device)
            out = model(**inputs)
            results = processor.post_process_grounded_object_detection(
                out, inputs["input_ids"], threshold=self.threshold, target_sizes=[image.shape[:2]]
            )[0]
        boxes = zip(results["boxes"].tolist(), results["scores"].tolist(), strict=True)
        return sorted((Detection(tuple(box), score) for box, score in boxes), key=lambda d: -d.score)
