"""An inpainter that another process holds: one that paints, on a card, for many that place and look at what came."""

from collections.abc import Mapping, Sequence
from typing import Any

from cfgen.core.engines.messages import ask_model
from cfgen.inpaint.protocol import Answer, Inpainter, InpainterRequirements, InpaintRequest
from cfgen.records import Hazard, Size


class RemoteInpainter:
    """As :class:`cfgen.inpaint.protocol.Inpainter`; every question goes there, about a hazard once."""

    name: str
    version: str
    options: Mapping[str, Any]
    needs: InpainterRequirements

    def __init__(self) -> None:
        self.name, self.version, self.options, self.needs = ask_model(("describe", ()))
        self._known: dict[tuple[str, str], Any] = {}

    def can_draw(self, hazard: Hazard) -> bool:
        return bool(self._about("can_draw", hazard))

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        answer: Sequence[Size] = self._about("sizes", hazard)
        return answer

    def inpaint(self, requests: Sequence[InpaintRequest]) -> Sequence[Answer]:
        answers: Sequence[Answer] = ask_model(("inpaint", (requests,)))
        return answers

    def _about(self, what: str, hazard: Hazard) -> Any:
        key = what, hazard.model_dump_json()
        if key not in self._known:
            self._known[key] = ask_model((what, (hazard,)))
        return self._known[key]


def answer_request(inpainter: Inpainter, request: tuple[str, tuple[Any, ...]]) -> Any:
    """What a :class:`RemoteInpainter` asks, where the inpainter is."""
    method, arguments = request
    if method == "describe":
        return inpainter.name, inpainter.version, dict(inpainter.options), inpainter.needs
    return getattr(inpainter, method)(*arguments)
