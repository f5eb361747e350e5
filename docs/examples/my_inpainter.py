"""An inpainter that stands a plain orange board where the hazard is to be."""

from collections.abc import Sequence

import cv2
import numpy as np

from cfgen.geometry.camera import project
from cfgen.inpaint.protocol import InpainterRequirements, InpaintRequest, InpaintResult
from cfgen.records import Hazard, Size


class OrangeBoard:
    """A plain orange board as wide and as high as the hazard."""

    name, version = "orange-board", "1"
    needs = InpainterRequirements(every_frame=False)  # the front crop at t0; cfgen carries it to other frames

    def __init__(self, red: int = 230) -> None:  # an option: --inpainter-options red=200
        self.options = {"red": red}

    def can_draw(self, hazard: Hazard) -> bool:
        return True

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        return ()  # any size will do

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[InpaintResult]:
        return [self.one(request) for request in requests]

    def one(self, request: InpaintRequest) -> InpaintResult:
        at, (half, top) = request.placement, (request.placement.size.width / 2, request.placement.size.height)
        corners = [(at.x, at.y + side, z) for side, z in ((-half, 0), (half, 0), (half, top), (-half, top))]
        alpha = np.zeros(request.mask.shape, np.float32)
        if request.hazard.kind != "null":  # the null edit changes nothing
            cv2.fillConvexPoly(alpha, np.rint(project(request.camera, corners)[0]).astype(np.int32), 1.0)
        image = np.full_like(request.image, (self.options["red"], 110, 20))
        return InpaintResult(image, cv2.GaussianBlur(alpha, (0, 0), 0.7), {"area": float(alpha.sum())})
