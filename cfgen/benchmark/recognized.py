"""Whether a detector with a fixed list of classes takes what was added for what it is."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from cfgen.benchmark.mask_gates import noun
from cfgen.perception.detection import BoxPx, Detection, Detector
from cfgen.records import GateResult, Hazard

GATE = "recognized"
#: Height in pixels from which a hazard that must be seen is refused when it is not.
LARGE_PX = 45.0
#: The detector looks at a square around the hazard: this many times its longer side, and at least so many pixels. What
#: is small in its input is missed, so the window is scaled up.
REACH, MIN_SIDE = 2.2, 160
#: Share of what is found that has to lie on the hazard's box, or of that box that what is found has to cover.
ON_IT = 0.5


@runtime_checkable
class FixedClasses(Protocol):
    """A :class:`cfgen.perception.detection.Detector` that knows some classes and no other words."""

    classes: Sequence[str]

    def see(self, image: np.ndarray) -> list[tuple[str, Detection]]: ...


def classes_of(hazard: Hazard, detector: FixedClasses) -> tuple[str, ...]:
    """What of the detector's classes a hazard may be taken for; () where none fits.

    An entry that says nothing is one of the classes when it is called so.
    """
    wanted = hazard.seen_as or (noun(hazard.name).lower(),)
    return tuple(c for c in wanted if c in detector.classes)


def recognized(detector: Detector, image: np.ndarray, box: BoxPx, hazard: Hazard) -> GateResult:
    """What the detector sees where the hazard is. The value is the score of the right class, 0 where it is not seen.

    Only hazards that must be seen and are large enough are refused; the others' results are kept for the report.

    Args:
        detector: one of :class:`FixedClasses`. image: (H, W, 3) uint8 RGB, edited. box: of the placement, pixels.
    """
    assert isinstance(detector, FixedClasses)
    classes = classes_of(hazard, detector)
    if not classes:
        return GateResult(gate=GATE, passed=True, bound="not judged", reason="")
    x0, y0, x1, y1 = window(box, image.shape)
    seen = detector.see(np.ascontiguousarray(image[y0:y1, x0:x1]))
    at = box[0] - x0, box[1] - y0, box[2] - x0, box[3] - y0
    on_it = [(kind, found) for kind, found in seen if _is_on(found.box, at)]
    score = max((found.score for kind, found in on_it if kind in classes), default=0.0)
    refused = not score and hazard.refuse_unseen and box[3] - box[1] >= LARGE_PX
    instead = f"; it sees a {on_it[0][0]} there" if on_it else ""
    reason = f"the detector sees no {' or '.join(classes)} in it{instead}" if not score else ""
    bound = f">= {detector.threshold:g}, {LARGE_PX:g} px and more" if hazard.refuse_unseen else "recorded"
    return GateResult(gate=GATE, passed=not refused, value=round(score, 3), bound=bound, reason=reason)


def window(box: BoxPx, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the square around a box that the detector looks at, moved into the picture."""
    side = max(REACH * max(box[2] - box[0], box[3] - box[1]), MIN_SIDE)
    spans = []
    for low, high, limit in ((box[0], box[2], shape[1]), (box[1], box[3], shape[0])):
        length = min(round(side), limit)
        start = round(min(max((low + high) / 2 - length / 2, 0), limit - length))
        spans.append((start, start + length))
    return spans[0][0], spans[1][0], spans[0][1], spans[1][1]


def _is_on(found: BoxPx, box: BoxPx) -> bool:
    width = min(found[2], box[2]) - max(found[0], box[0])
    height = min(found[3], box[3]) - max(found[1], box[1])
    if width <= 0 or height <= 0:
        return False
    smaller = min((b[2] - b[0]) * (b[3] - b[1]) for b in (found, box))
    larger = (found[2] - found[0]) * (found[3] - found[1])
    return width * height > ON_IT * smaller and larger < (box[2] - box[0]) * (box[3] - box[1]) / ON_IT**3
