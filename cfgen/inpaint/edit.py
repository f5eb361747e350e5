"""One hazard to put into one scene, and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import cv2
import numpy as np

from cfgen.core.errors import CfgenError, InpaintPutOffError, InpaintRefusedError, InputError
from cfgen.core.faults import contained
from cfgen.inpaint.paste import blend, differ, layer_of, paste, recompress, spread, weights
from cfgen.inpaint.protocol import (
    Answer,
    Inpainter,
    InpainterRequirements,
    InpaintRequest,
    InpaintResult,
    Setting,
)
from cfgen.inpaint.region import FrameView, carry, views
from cfgen.inpaint.settings import GUIDE
from cfgen.perception.jpeg_grid import JpegGrid
from cfgen.perception.light import SceneLight
from cfgen.records import Fault, Hazard, Placement, Scene

#: camera name and time of a frame, s relative to t0
FrameKey = tuple[str, float]
#: (H, W, 3) uint8 RGB by frame
Images = Mapping[FrameKey, np.ndarray]


@dataclass(frozen=True, eq=False)
class EditJob:
    """One hazard to put into one scene.

    Attributes:
        scene: the scene; its front camera at t0 is edited first.
        images: (H, W, 3) uint8 RGB by frame, the front at t0 among them; never written to.
        hazard: what to add; kind ``null`` adds nothing through the same steps.
        placement: where it is at t0.
        seed: decides everything random.
        light: at t0, where the scene and its drive were looked at.
        masks: (H, W) uint8 by frame, nonzero where it may change, instead of the projected box.
        jpeg_grids: by frame, what JPEG it went through, None: none; unknown for a frame that is missing here.
    """

    scene: Scene
    images: Images
    hazard: Hazard
    placement: Placement
    seed: int
    masks: Mapping[FrameKey, np.ndarray] = field(default_factory=dict)
    light: SceneLight | None = None
    jpeg_grids: Mapping[FrameKey, JpegGrid | None] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Edit:
    """What a job came to.

    Attributes:
        frames: by frame that sees the hazard, the front at t0 always: the image (H, W, 3) uint8 and its mask
            (H, W) uint8, 255 where it may differ from the original.
        placements: by the same frames, the hazard at that time with its foot and box in that camera's pixels.
        layer: (H, W, 4) uint8, straight alpha: the hazard and its shadow in the front frame at t0.
        report: JSON values for the provenance.
    """

    frames: dict[FrameKey, tuple[np.ndarray, np.ndarray]]
    placements: dict[FrameKey, Placement]
    layer: np.ndarray
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EditFailure:
    """Why a job has no edit, in one line.

    Attributes:
        put_off: it was not tried, and a later build is to try it.
        fault: set when it broke.
    """

    reason: str
    report: Mapping[str, Any] = field(default_factory=dict)
    put_off: bool = False
    fault: Fault | None = None


@dataclass(frozen=True, eq=False)
class Shown:
    """What of a view's edit shows in its crop.

    Attributes:
        alpha: (h, w) float32 in [0, 1], the hazard and its shadow; None for all that the inpainter gave.
        hidden: (h, w) bool, behind something real; None for nothing.
        report: JSON values for the provenance.
    """

    alpha: np.ndarray | None = None
    hidden: np.ndarray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


#: Decides what shows; the result is None where the layer of t0 is carried over.
Matte = Callable[[EditJob, FrameView, InpaintResult | None], Shown]


def first_frame(job: EditJob) -> FrameKey:
    """The front frame at t0.

    Raises:
        InputError: the job has no image of it.
    """
    first = (job.scene.front.name, 0.0)
    if first not in job.images:
        raise InputError(
            f"scene '{job.scene.scene_id}': the frame of camera '{first[0]}' at t = 0 is missing"
        )
    return first


# --- guided ------------------------------------------------------------------------------------
# Guided mode: an inpainter repaints another one's insert, so that size, pose and ground contact stay as placed.


@dataclass(frozen=True, eq=False)
class GuidedStart:
    """What a guided edit starts from, in the whole front frame at t0.

    Attributes:
        image: (H, W, 3) uint8 RGB, the frame with the guide's insert.
        cover: (H, W) float32 in [0, 1], coverage of the insert; None for the null edit, which has none.
        mask: (H, W) uint8, nonzero where pixels may change: object, boundary ring and shadow; None leaves it to
            the placement.
        report: JSON values of the guide for the provenance.
    """

    image: np.ndarray
    cover: np.ndarray | None
    mask: np.ndarray | None
    report: Mapping[str, Any]

    def alpha(self, view: FrameView) -> np.ndarray | None:
        """(h, w) float32 in the view's crop: how much is hazard or shadow, fading out across the ring."""
        if self.cover is None:
            return None
        return view.cut(np.maximum(self.cover, _ring(self.cover, self.report["ring_px"])))


def guide_start(image: np.ndarray, layer: np.ndarray, allowed: np.ndarray, height: float) -> GuidedStart:
    """The start that a guide's edit gives.

    Args:
        image: (H, W, 3) uint8, the edited frame. layer: (H, W, 4) uint8, the insert, straight alpha.
        allowed: (H, W) uint8, nonzero where the guide could change pixels.
        height: of the object in the picture, pixels.
    """
    cover = layer[..., 3] / np.float32(255)
    ring = float(np.clip(GUIDE.ring_share * height, *GUIDE.ring_px))
    touched = ((cover > GUIDE.shadow) | (_ring(cover, ring) > 0)).astype(np.uint8)
    region = cv2.morphologyEx(touched, cv2.MORPH_CLOSE, _disc(round(ring)))
    mask = np.where((cv2.dilate(region, _disc(GUIDE.margin)) > 0) & (allowed > 0), 255, 0).astype(np.uint8)
    return GuidedStart(image, cover, mask, {"ring_px": round(ring, 1)})


def _disc(radius: int) -> np.ndarray:
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1,) * 2)


def _ring(cover: np.ndarray, width: float) -> np.ndarray:
    """(H, W) float32: 1 on what is solid, falling to 0 over ``width`` pixels around it."""
    away = cv2.distanceTransform((cover < GUIDE.solid).astype(np.uint8), cv2.DIST_L2, 5)
    return np.clip(1 - away / np.float32(width), 0, 1)


def repaint_share(hazard: Hazard) -> float:
    """Strength, in [0, 1], with which a guide's insert of this hazard is repainted."""
    return GUIDE.default_repaint if hazard.repaint is None else hazard.repaint


def can_draw(hazard: Hazard, inpainter: Inpainter, guide: Inpainter | None) -> bool:
    """Whether the inpainter, and its guide if it has one, can draw the hazard."""
    return inpainter.can_draw(hazard) and (guide is None or guide.can_draw(hazard))


# --- edit --------------------------------------------------------------------------------------
# From a scene and a placed hazard to every frame it changes: cut, inpaint, paste back.
#
# Pixels outside a frame's mask stay bit-identical, whatever the inpainter does. Every frame that is changed leaves
# through the compression that it came through, whichever arm it is of.

T = TypeVar("T")

#: What reproduces a piece of work, noted as it goes on.
At = dict[str, Any]

#: Untouched picture that a mask holds around what changed, pixels: gates look there for a shift of tone.
_RIM = np.ones((19, 19), np.uint8)


def make_edits(
    jobs: Sequence[EditJob],
    inpainter: Inpainter,
    guide: Inpainter | None = None,
    matte: Matte | None = None,
    strict: bool = False,
) -> list[Edit | EditFailure]:
    """Every job's edit, or the reason why there is none, in the order of the jobs.

    With a ``guide``, the guide's insert is made first and the inpainter is asked to repaint it. A ``matte`` holds
    back parts of each frame's edit, or refuses the edit by raising InpaintRefusedError. A job that breaks in any of
    its frames is a failure with its fault and does its neighbours no harm; with ``strict``, it raises.
    """
    needs = inpainter.needs
    if not needs.every_frame:
        # a model repaints its whole crop: compressed once more, that would show as steps along the mask's border
        jobs = [replace(job, jpeg_grids={}) for job in jobs]
    starts: Sequence[GuidedStart | EditFailure | None] = [None] * len(jobs)
    if guide is not None:
        reach = guide.needs
        needs = replace(needs, shadow=max(needs.shadow, reach.shadow), turn=max(needs.turn, reach.turn))
        starts = _starts(jobs, guide, strict)
    works = [_Work(job, inpainter, needs, start, matte) for job, start in zip(jobs, starts, strict=True)]
    questions = [_contained_work(work.job, partial(_ask, work), strict) for work in works]
    requests = [
        (work.job, view.key, request)
        for work, ask in zip(works, questions, strict=True)
        if not isinstance(ask, EditFailure)
        for view, request in ask
    ]
    answers = iter(_answers(inpainter, requests, strict))
    edits: list[Edit | EditFailure] = []
    for work, ask in zip(works, questions, strict=True):
        if isinstance(ask, EditFailure):
            edits.append(ask)
            continue
        results = [next(answers) for _ in ask]
        work_views = [view for view, _ in ask]
        if failed := _failure(results):
            edits.append(failed)
        else:
            edits.append(_contained_work(work.job, partial(_assemble, work, work_views, results), strict))
    return edits


def _contained_work(job: EditJob, work: Callable[[At], T], strict: bool) -> T | EditFailure:
    """What ``work`` makes of the job. It is given what reproduces it, to note there the frame it is about."""
    at: At = {
        "scene_id": job.scene.scene_id,
        "hazard_id": job.hazard.id,
        "seed": job.seed,
        "placement": job.placement.model_dump(mode="json"),
    }

    def done() -> T | EditFailure:
        try:
            return work(at)
        except InpaintRefusedError as refusal:
            return EditFailure(str(refusal), refusal.report)

    result = contained(done, "edit", at, strict)
    if isinstance(result, Fault):
        frame = f" of frame {at['camera']} at {at['t']:g} s" if "camera" in at else ""
        fault = result.model_copy(update={"where": f"edit{frame}"})
        return EditFailure(str(fault), fault=fault)
    return result


def _failure(results: Sequence[Answer | EditFailure]) -> EditFailure | None:
    """What several answers come to, if they are no edit: a fault or a refusal stands, whatever else was put off."""
    broken = next((r for r in results if isinstance(r, EditFailure)), None)
    errors = [r for r in results if isinstance(r, CfgenError)]
    if broken is not None or not errors:
        return broken
    refused = next((e for e in errors if isinstance(e, InpaintRefusedError)), None)
    if refused is not None:
        return EditFailure(str(refused), refused.report)
    return EditFailure(str(errors[0]), put_off=True)


@dataclass(frozen=True, eq=False)
class _Work:
    """A job with who does it and what from."""

    job: EditJob
    inpainter: Inpainter
    needs: InpainterRequirements
    start: GuidedStart | EditFailure | None
    matte: Matte | None

    def shown(self, view: FrameView, result: InpaintResult | None, report: dict[str, Any]) -> Shown:
        """What of a view's edit shows; ``report`` takes what is told of the first view."""
        visible = Shown() if self.matte is None else self.matte(self.job, view, result)
        if visible.report:
            report.setdefault("masks", dict(visible.report))
        return visible

    def shown_alpha(self, view: FrameView, alpha: np.ndarray | None) -> np.ndarray | None:
        """What shows, with all that the guide drew: its cover is known, also of smoke, which no segment holds."""
        cover = self.start.cover if isinstance(self.start, GuidedStart) else None
        return alpha if alpha is None or cover is None else np.maximum(alpha, view.cut(cover))


def _starts(jobs: Sequence[EditJob], guide: Inpainter, strict: bool) -> list[GuidedStart | EditFailure]:
    """What each job's guided edit starts from; the null edit starts from the frame as it is."""
    fronts = [replace(job, images={first_frame(job): job.images[first_frame(job)]}) for job in jobs]
    guide_edits = iter(
        make_edits([front for front in fronts if front.hazard.kind != "null"], guide, strict=strict)
    )
    return [
        GuidedStart(
            front.images[first_frame(front)], None, front.masks[first_frame(front)], {"name": guide.name}
        )
        if front.hazard.kind == "null"
        else _contained_work(front, partial(_start, front, next(guide_edits), guide), strict)
        for front in fronts
    ]


def _start(front: EditJob, edit: Edit | EditFailure, guide: Inpainter, at: At) -> GuidedStart | EditFailure:
    if isinstance(edit, EditFailure):
        return replace(edit, reason=f"guide '{guide.name}': {edit.reason}")
    key = first_frame(front)
    image, mask = edit.frames[key]
    _, top, _, bottom = edit.placements[key].box_px
    start = guide_start(image, edit.layer, mask, bottom - top)
    report = {"name": guide.name, "version": guide.version, **start.report, **edit.report["inpainter"]}
    return replace(start, report=report)


def _ask(work: _Work, at: At) -> list[tuple[FrameView, InpaintRequest]] | EditFailure:
    """The frames that the inpainter draws itself, the front at t0 first, with what it is asked for each."""
    job, inpainter, needs, start = work.job, work.inpainter, work.needs, work.start
    if isinstance(start, EditFailure):
        return start
    if not inpainter.can_draw(job.hazard):
        return EditFailure(f"inpainter '{inpainter.name}' cannot draw '{job.hazard.id}'")
    first = first_frame(job)
    keys = job.images if needs.every_frame else [first]
    masks = {first: start.mask} if start and start.mask is not None else job.masks
    job_views = list(views(job.scene, keys, job.placement, needs, masks))
    if not job_views or job_views[0].key != first:
        return EditFailure("the hazard is not in view of the front camera at t0")
    settings = _settings(job, job_views)
    return [
        (
            view,
            InpaintRequest(
                image=view.cut(job.images[view.key]),
                mask=view.mask,
                camera=view.crop_camera,
                hazard=job.hazard,
                placement=view.placement,
                setting=settings[view.key[0]],
                seed=job.seed,
                t=view.key[1],
                corner=view.crop[:2],
                guide=None if start is None else view.cut(start.image),
            ),
        )
        for view in job_views
    ]


def _settings(job: EditJob, job_views: Sequence[FrameView]) -> dict[str, Setting]:
    """By camera, its frame nearest to t0 among those that see the hazard; the front at t0 first."""
    settings: dict[str, Setting] = {}
    front = None
    for view in sorted(job_views, key=lambda v: (v is not job_views[0], abs(v.key[1]))):
        if view.key[0] not in settings:
            image, scene = job.images[view.key], job.scene
            settings[view.key[0]] = Setting(
                image,
                view.camera,
                view.placement,
                scene.extra,
                front,
                scene.timestamp,
                job.light if view is job_views[0] else None,
                view.key in job.jpeg_grids and job.jpeg_grids[view.key] is None,
            )
            front = front or settings[view.key[0]]
    return settings


def _answers(
    inpainter: Inpainter, requests: Sequence[tuple[EditJob, FrameKey, InpaintRequest]], strict: bool
) -> Sequence[Answer | EditFailure]:
    """One for each request; when a batch breaks, each is asked for alone, so that only the guilty one is lost."""
    if len(requests) > 1:
        answers = contained(lambda: _inpaint(inpainter, [r for *_, r in requests]), "batch", strict=strict)
        if not isinstance(answers, Fault):
            return answers

    def alone(key: FrameKey, request: InpaintRequest, at: At) -> Answer:
        at["camera"], at["t"] = key
        return _inpaint(inpainter, [request])[0]

    return [_contained_work(job, partial(alone, key, request), strict) for job, key, request in requests]


def _inpaint(inpainter: Inpainter, requests: Sequence[InpaintRequest]) -> Sequence[Answer]:
    try:
        answers = inpainter.inpaint(requests)
    except (InpaintRefusedError, InpaintPutOffError) as error:
        return [error] * len(requests)
    if len(answers) != len(requests):
        raise InputError(
            f"inpainter '{inpainter.name}' returned {len(answers)} results for {len(requests)} requests; "
            "it must return one for each, in their order"
        )
    return answers


def _assemble(
    work: _Work, work_views: Sequence[FrameView], answers: Sequence[Answer | EditFailure], at: At
) -> Edit:
    job, inpainter = work.job, work.inpainter
    results = [answer for answer in answers if isinstance(answer, InpaintResult)]
    edit = Edit({}, {}, np.empty(0), {"inpainter": dict(results[0].report)})
    if isinstance(work.start, GuidedStart):
        edit.report["guide"] = dict(work.start.report)
    for view, result in zip(work_views, results, strict=True):
        at["camera"], at["t"] = view.key
        _check(inpainter, view, result)
        matte = work.shown(view, result, edit.report)
        if result.guessed and matte.alpha is not None:
            result = replace(result, alpha=None)
        if result.alpha is None and isinstance(work.start, GuidedStart):
            result = replace(result, alpha=work.start.alpha(view))
        original = job.images[view.key]
        weight_map = _weight(view, result.alpha, work.shown_alpha(view, matte.alpha))
        weight = weight_map if matte.hidden is None else weight_map * ~matte.hidden
        _add(job, edit, view, paste(original, view.crop, result.image, weight))
        if view is work_views[0]:
            layer = _layer(edit.frames[view.key], view, job, _cover(job, result, weight))
            if not work.needs.every_frame:
                # in other frames it may stand free, and is compressed as they are
                free = blend(view.cut(original), result.image, weight_map)
                carried = layer_of(view.cut(original), free, _cover(job, result, weight_map))
    if not work.needs.every_frame:
        _carry_over(work, edit, work_views[0], carried, at)
    if jpeg_grid := job.jpeg_grids.get(work_views[0].key):
        edit.report["jpeg"] = jpeg_grid.report
    return Edit(edit.frames, edit.placements, layer, edit.report)


def _weight(view: FrameView, alpha: np.ndarray | None, matte: np.ndarray | None) -> np.ndarray:
    """(h, w) float32 in [0, 1]: how much of the crop's edit is pasted."""
    weight = weights(view.mask, alpha)
    return weight if matte is None else weight * matte


def _cover(job: EditJob, result: InpaintResult, weight: np.ndarray) -> np.ndarray:
    """(h, w) float32: how much of the crop is hazard or shadow when the result is pasted with this weight."""
    cover = weight if result.alpha is None else np.minimum(weight, result.alpha)
    if job.hazard.kind == "null":  # a difference, not a thing: carried as faintly as explains it
        cover = cover / np.float32(255)
    return cover


def _layer(
    frame: tuple[np.ndarray, np.ndarray], view: FrameView, job: EditJob, cover: np.ndarray
) -> np.ndarray:
    """(H, W, 4) uint8: what a frame that was made has more than the original; faintly, what compression spreads."""
    image, mask = frame
    original = job.images[view.key]
    weight = spread(cover, view.crop, *original.shape[:2]) * (mask > 0)
    x, y, w, h = cv2.boundingRect(mask)
    part = np.s_[y : y + h, x : x + w]
    changed = differ(original[part], image[part])
    weight[part] = np.maximum(weight[part], changed / np.float32(255))
    return layer_of(original, image, weight)


def _add(job: EditJob, edit: Edit, view: FrameView, image: np.ndarray) -> None:
    """Keep a frame's edit as the frame's own compression leaves it, with a mask that hugs what changed."""
    original = job.images[view.key]
    compressed, (x0, y0, x1, y1) = recompress(job.jpeg_grids.get(view.key), original, image, view.crop)
    part = np.s_[y0:y1, x0:x1]
    changed = differ(original[part], compressed[part])
    around: Any = cv2.dilate(cv2.morphologyEx(changed, cv2.MORPH_CLOSE, _RIM), _RIM)
    mask = spread(view.mask, view.crop, *original.shape[:2])
    mask[part] = (around & (mask[part] > 0) | changed) * np.uint8(255)
    edit.frames[view.key] = compressed, mask
    edit.placements[view.key] = view.placement


def _carry_over(work: _Work, edit: Edit, source: FrameView, layer: np.ndarray, at: At) -> None:
    """Draw the layer of t0 into every other frame that sees the hazard."""
    job = work.job
    other_keys = [key for key in job.images if key != source.key]
    for view in views(job.scene, other_keys, job.placement, work.needs, job.masks):
        at["camera"], at["t"] = view.key
        moved = carry(layer, source, view)
        image = job.images[view.key]
        weight = weights(view.mask, None) * (moved[..., 3] / np.float32(255))
        hidden = work.shown(view, None, edit.report).hidden
        weight = weight if hidden is None else weight * ~hidden
        _add(job, edit, view, paste(image, view.crop, moved[..., :3], weight))


def _check(inpainter: Inpainter, view: FrameView, result: InpaintResult) -> None:
    expected = (*view.mask.shape, 3)
    if result.image.shape != expected or result.image.dtype != np.uint8:
        raise InputError(
            f"inpainter '{inpainter.name}' returned an image of {result.image.dtype} {result.image.shape}; "
            f"expected uint8 {expected}, the shape of its request"
        )
    if result.alpha is not None and result.alpha.shape != view.mask.shape:
        raise InputError(
            f"inpainter '{inpainter.name}' returned alpha of shape {result.alpha.shape}; "
            f"expected {view.mask.shape}, the shape of its request"
        )
