"""Whether a detector finds what was asked for where it was put: one gate per function."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from cfgen.benchmark.gates import judged
from cfgen.benchmark.settings import DETECTION
from cfgen.perception.detection import BoxPx, Detection, Detector, MaskPrompt, Segmenter
from cfgen.perception.mask_shapes import box_around
from cfgen.records import GateResult, Hazard

#: A name goes on to where or how with one of these.
_DONE = "while that scattered dropped rolled lost left come put stopped"
_PLACES = "in into on onto over across against ahead at behind beside by from out off towards under with"
_GOES_ON = {*_PLACES.split(), *_DONE.split()}


def noun(name: str) -> str:
    """What a hazard's name names, without what it does or where: other words would be found for themselves.

    "deer crossing the road" is a deer, "burning car in the lane" a burning car.
    """
    words = name.split()
    for i, word in enumerate(words[1:], 1):
        described = i == len(words) - 2 and words[-1] not in _GOES_ON  # "advertising board"
        if word in _GOES_ON or (word.endswith("ing") and not described):
            return " ".join(words[:i]).rstrip(",")
    return name


def detector_gates(
    detector: Detector,
    segmenter: Segmenter | None,
    image: np.ndarray,
    mask: np.ndarray,
    box: BoxPx,
    name: str,
) -> tuple[GateResult, ...]:
    """The gates on what the detector finds by ``name`` in the edited frame; only the first when it finds nothing.

    Args:
        segmenter: cuts out what the detector only boxes; None leaves it at the box.
        image: (H, W, 3) uint8 RGB. mask: (H, W) uint8, nonzero where it may differ from the original.
        box: the placement's box in pixels.
    """
    edited = box_around(mask > 0)
    side = max(DETECTION.around * _longer(edited), DETECTION.min_side)
    x0, y0, x1, y1 = _square(edited, mask.shape, side)
    crop, allowed = np.ascontiguousarray(image[y0:y1, x0:x1]), mask[y0:y1, x0:x1] > 0
    detections = [d for d in detector.detect(crop, name) if d.score >= detector.threshold]
    best = _of_the_edit(detections, allowed)
    named = _named(best, detector.threshold, name)
    if best is None:
        return (named,)
    shape = _shape(best, segmenter, crop)
    return named, _inside(shape, allowed), _size(shape, max(_area(box), 1.0))


def _of_the_edit(detections: Sequence[Detection], allowed: np.ndarray) -> Detection | None:
    """The most certain detection among those that lie mostly where pixels changed."""
    edited = box_around(allowed)
    within = [d for d in detections if _shared(d.box, edited) > 0.5 * _area(d.box)]
    return max(within, key=lambda detection: detection.score, default=None)


def _shape(detection: Detection, segmenter: Segmenter | None, crop: np.ndarray) -> np.ndarray | BoxPx:
    """Its mask (h, w) bool, from the segmenter if the detector has none; its box if neither has."""
    if detection.mask is not None and detection.mask.any():
        return detection.mask
    if segmenter is not None:
        best = next(iter(segmenter.segment(crop, [MaskPrompt(box=detection.box)])[0]), None)
        if best is not None and best.score >= segmenter.min_score and best.mask.any():
            return best.mask
    return detection.box


def _named(best: Detection | None, threshold: float, name: str) -> GateResult:
    value = 0.0 if best is None else round(best.score, 3)
    reason = "" if best else f"the detector finds no {name} in the edit"
    return judged("detected", value, f">= {threshold:g}", reason)


def _inside(shape: np.ndarray | BoxPx, allowed: np.ndarray) -> GateResult:
    """A box is compared with the rectangle around the edit, whose corners it may well fill."""
    if isinstance(shape, np.ndarray):
        share = float(allowed[shape].mean())
    else:
        share = _shared(shape, box_around(allowed)) / max(_area(shape), 1e-6)
    passed = share >= DETECTION.min_inside
    reason = "" if passed else f"only {share:.0%} of what the detector finds lies in the edit"
    return judged("detected_inside", round(share, 3), f">= {DETECTION.min_inside:g}", reason)


def _size(shape: np.ndarray | BoxPx, area: float) -> GateResult:
    value = float(shape.sum() if isinstance(shape, np.ndarray) else _area(shape)) / area
    passed = value >= DETECTION.min_size
    reason = "" if passed else f"what the detector finds fills only {value:.0%} of the box it was given"
    return judged("detected_size", round(value, 3), f">= {DETECTION.min_size:g}", reason)


# --- recognized --------------------------------------------------------------------------------
# Whether a detector with a fixed list of classes takes what was added for what it is.

GATE = "recognized"


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
    refused = not score and hazard.refuse_unseen and box[3] - box[1] >= DETECTION.large_px
    instead = f"; it sees a {on_it[0][0]} there" if on_it else ""
    reason = f"the detector sees no {' or '.join(classes)} in it{instead}" if not score else ""
    bound = (
        f">= {detector.threshold:g}, {DETECTION.large_px:g} px and more"
        if hazard.refuse_unseen
        else "recorded"
    )
    return GateResult(gate=GATE, passed=not refused, value=round(score, 3), bound=bound, reason=reason)


def window(box: BoxPx, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the square around a box that a detector of fixed classes looks at, moved into the picture."""
    return _square(box, shape, max(DETECTION.reach * _longer(box), DETECTION.min_side_px))


def _square(box: BoxPx, shape: tuple[int, ...], side: float) -> tuple[int, int, int, int]:
    spans = []
    for low, high, limit in ((box[0], box[2], shape[1]), (box[1], box[3], shape[0])):
        length = min(round(side), limit)
        start = round(min(max((low + high) / 2 - length / 2, 0), limit - length))
        spans.append((start, start + length))
    return spans[0][0], spans[1][0], spans[0][1], spans[1][1]


def _longer(box: BoxPx) -> float:
    return max(box[2] - box[0], box[3] - box[1])


def _area(box: BoxPx) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _shared(a: BoxPx, b: BoxPx) -> float:
    """Area that two boxes share."""
    return max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)


def _is_on(found: BoxPx, box: BoxPx) -> bool:
    share = DETECTION.on_it
    shared, fits = _shared(found, box), _area(found) < _area(box) / share**3
    return shared > share * min(_area(found), _area(box)) and fits
