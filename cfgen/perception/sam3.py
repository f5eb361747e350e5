"""SAM 3 through transformers: prompted like SAM 2, or by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cfgen.perception.detection import Detection
from cfgen.perception.sam2 import PromptedModel
from cfgen.perception.torch_model import Pretrained


class Sam3(PromptedModel):
    """SAM 3: the promptable part of checkpoints such as ``facebook/sam3``."""

    name = "sam3"
    classes = ("Sam3TrackerModel", "Sam3TrackerProcessor")
    #: transformers writes this prefix twice when it saves the whole model, and does not find it again
    renamed: Mapping[str, str] = {r"^tracker_model\.tracker_model\.": "tracker_model."}


class Sam3Detector(Pretrained):
    """SAM 3: the part of the same checkpoints that finds every instance of what a text names, with its mask.

    Args:
        model: a folder, or a name on the hub. revision: of the latter.
        threshold: detections with a lower score are left out.
    """

    name = "sam3"

    def __init__(
        self,
        model: str,
        revision: str = "",
        device: str = "auto",
        dtype: str = "auto",
        threshold: float = 0.4,
    ) -> None:
        super().__init__("detector 'sam3'", model, revision, device, dtype, threshold=threshold)
        self.threshold = threshold

    def _load(self) -> tuple[Any, Any]:
        return self._pretrained("Sam3Model", "Sam3Processor")

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        model, processor = self._model
        with self._torch().inference_mode(), self._autocast():
            inputs = processor(images=np.array(image), text=text, return_tensors="pt")
            inputs = inputs.to(self.device)
            out = model(**{k: v for k, v in inputs.items() if k != "original_sizes"})
            found = processor.post_process_instance_segmentation(
                out, threshold=self.threshold, target_sizes=[image.shape[:2]]
            )[0]
        return sorted(
            (
                Detection(tuple(box), score, mask)
                for box, score, mask in zip(
                    found["boxes"].float().tolist(),
                    found["scores"].float().tolist(),
                    found["masks"].cpu().numpy().astype(bool),
                    strict=True,
                )
            ),
            key=lambda d: -d.score,
        )
