"""An inpainter that stands a plain orange board where the hazard is to be."""

from collections.abc import Sequence

import numpy as np

from cfgen.inpaint.protocol import InpainterRequirements, InpaintRequest, InpaintResult
from cfgen.records import Hazard, Size


class OrangeBoard:
    """An orange board, whatever the hazard."""

    name, version = "orange-board", "1"
    # One crop of the front frame at t0; cfgen carries the result to the other frames.
    needs = InpainterRequirements(every_frame=False, context=0.3)

    def __init__(self, red: int = 230) -> None:  # an option: --inpainter-option red=200
        self.options = {"red": red}

    def can_draw(self, hazard: Hazard) -> bool:
        return True

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        return ()  # any size will do

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[InpaintResult]:
        return [self.one(request) for request in requests]

    def one(self, request: InpaintRequest) -> InpaintResult:
        image = request.image.copy()  # (H, W, 3) uint8 RGB
        if request.hazard.kind != "null":  # the null edit changes nothing
            image[request.mask > 0] = (self.options["red"], 110, 20)
        return InpaintResult(image, report={"mean": float(np.mean(image))})
