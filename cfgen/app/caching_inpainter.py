"""A slow inpainter made bearable: asked frame by frame, so that progress shows, and never twice for one drawing.

What a person looked at and what they then save is the same drawing, whatever the inpainter's randomness or price.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.inpaint.protocol import Answer, Inpainter, InpainterRequirements, InpaintRequest, InpaintResult
from cfgen.records import Hazard, Size

_KEPT = 64


class CachingInpainter:
    """An inpainter like the one inside.

    Attributes:
        hear: told before each drawing how many of those asked for are done, and how many there are.
    """

    def __init__(self, inner: Inpainter) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.version: str = inner.version
        self.options: Mapping[str, Any] = inner.options
        self.needs: InpainterRequirements = inner.needs
        self.hear: Callable[[int, int], None] = lambda done, of: None
        self._drawn: OrderedDict[str, InpaintResult] = OrderedDict()

    def can_draw(self, hazard: Hazard) -> bool:
        return self._inner.can_draw(hazard)

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        return self._inner.sizes(hazard)

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[Answer]:
        answers: list[Answer] = []
        for number, request in enumerate(requests):
            self.hear(number, len(requests))
            answers.append(self._draw(request))
        return answers

    def _draw(self, request: InpaintRequest) -> Answer:
        key = _key(request)
        if key in self._drawn:
            self._drawn.move_to_end(key)
            return self._drawn[key]
        answer = self._inner.inpaint([request])[0]
        if isinstance(answer, InpaintResult):
            self._drawn[key] = answer
            while len(self._drawn) > _KEPT:
                self._drawn.popitem(last=False)
        return answer


def _key(request: InpaintRequest) -> str:
    pixels = [p for p in (request.image, request.mask, request.guide, request.guide_alpha) if p is not None]
    told = [request.camera, request.hazard, request.placement]
    return hash_json(
        [
            [(*p.shape, hash_bytes(p.tobytes())) for p in pixels],
            [record.model_dump(mode="json") for record in told],
            request.seed,
            request.t,
        ]
    )
