"""The ground that the car drives on, as a segmenter sees it, and whether a hazard stands on it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np

from cfgen.benchmark.detector_gates import FixedClasses, detector_gates, noun, recognized
from cfgen.benchmark.settings import MASK
from cfgen.core.errors import InpaintRefusedError
from cfgen.core.identity_cache import IdentityCache
from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, ground_points, horizon_rows, inside, project
from cfgen.geometry.frames import camera_at
from cfgen.geometry.path import EgoPath
from cfgen.inpaint.edit import Edit, EditJob, Shown, first_frame
from cfgen.inpaint.paste import spread
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.region import FrameView
from cfgen.perception.detection import (
    BoxPx,
    Detector,
    MaskPrompt,
    Segment,
    Segmenter,
    create_detector,
    create_segmenter,
)
from cfgen.perception.mask_shapes import (
    box_around,
    disc,
    iou,
    polygon,
    share_above_horizon,
    touching,
    widened,
)
from cfgen.perception.protocol import CameraFrame
from cfgen.perception.road_by_colour import FAR_M, ColourGround
from cfgen.perception.views import Views
from cfgen.records import BenchmarkRecord, Camera, GateResult, Hazard, Placement, Scene, Size


def ground_ahead(
    segmenter: Segmenter, image: np.ndarray, camera: Camera, path: EgoPath
) -> tuple[np.ndarray | None, np.ndarray]:
    """The ground segment (H, W) bool just ahead of the car, None when none is found with confidence.

    Also the pixels (N, 2) asked about. ``image`` (H, W, 3) uint8 RGB is the original frame.
    """
    x, y, _ = path.at(np.array(MASK.ahead_m))
    points, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    points = points[valid & inside(camera, points, 2)]
    if not len(points):
        return None, points
    return _ground(segmenter, image, camera, points, points), points


def stands_on_ground(
    segmenter: Segmenter,
    image: np.ndarray,
    camera: Camera,
    placement: Placement,
    standing: Size,
    ground: np.ndarray,
    points: np.ndarray,
) -> float:
    """Share of the footprint, as far as it is in the frame, on the ground segment that the car drives on.

    Where the segment ahead ends before the footprint, at a shadow or a change of surface, the segment at the footprint
    counts if it holds the points ahead too.

    Args:
        standing: what of the hazard takes up ground. ground, points: as :func:`ground_ahead` gave them.
    """
    corners = box_corners(placement.x, placement.y, placement.yaw, standing)[0, :4]
    px, valid = project(camera, corners)
    foot = polygon(ground.shape, px) if valid.all() else np.zeros_like(ground)
    if not foot.any():
        return 0.0
    share = float(ground[foot].mean())
    if share >= 1:
        return share
    rows, cols = np.nonzero(foot)
    pick = np.linspace(0, len(rows) - 1, min(len(rows), 5)).astype(int)
    under = np.column_stack([cols[pick], rows[pick]]).astype(float)
    same = _ground(segmenter, image, camera, under, points)
    return share if same is None else max(share, float((ground | same)[foot].mean()))


def _ground(
    segmenter: Segmenter, image: np.ndarray, camera: Camera, prompts: np.ndarray, points: np.ndarray
) -> np.ndarray | None:
    """The largest confident segment at the points asked about (N, 2) that holds the points ahead (M, 2).

    The largest: a lane between its lines is a segment too, and the road that it is part of is what counts.
    """
    prompt = MaskPrompt(inside=tuple((float(u), float(v)) for u, v in prompts))
    cols, rows = np.clip(np.round(points).astype(int), 0, (image.shape[1] - 1, image.shape[0] - 1)).T
    low, high = MASK.shares
    segments = [
        segment.mask
        for segment in segmenter.segment(image, [prompt])[0]
        if segment.score >= segmenter.min_score
        and low <= segment.mask.mean() <= high
        and segment.mask[rows, cols].mean() >= MASK.holds
        and share_above_horizon(segment.mask, camera) <= MASK.rises
    ]
    return max(segments, key=np.count_nonzero, default=None)


# --- occlusion ---------------------------------------------------------------------------------
# Real things that stand nearer to the camera than a hazard and hide some of it.


def nearer_things(
    segmenter: Segmenter,
    image: np.ndarray,
    camera: Camera,
    placement: Placement,
    clear_road: np.ndarray | None = None,
    driven: np.ndarray | None = None,
    where: np.ndarray | None = None,
) -> np.ndarray:
    """(H, W) bool: pixels of things that stand nearer than the hazard, among those that reach into ``where``.

    A segment is taken to stand where its lowest pixels meet the ground; what hangs in the air unsupported counts as
    behind.

    Args:
        image: (H, W, 3) uint8 RGB, the original frame. camera: for the frame in which the placement stands.
        plain: (H, W) bool, what looks like plain ground; None where that is not known.
        driven: (H, W) bool, the ground segment that the car drives on, which is no thing.
        where: (H, W) bool, the pixels that matter; None for the hazard's box.
    """
    hidden = np.zeros(image.shape[:2], bool)
    corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)[0]
    px, valid = project(camera, corners)
    if not valid.all():
        return hidden
    where = polygon(hidden.shape, px) if where is None else where
    eye = centre(camera)[:2]
    away = float(np.hypot(*(corners[:4, :2] - eye).T).min())
    limit = away - max(MASK.nearer_m, MASK.nearer_share * away)
    for mask in _segments(segmenter, image, where if driven is None else where & ~driven):
        if not _is_flat(mask, camera, clear_road):
            hidden |= mask & _stands_within(mask, camera, limit)
    return hidden


def share_hidden(hidden: np.ndarray, camera: Camera, placement: Placement) -> float:
    """Share of the hazard's box in the frame that lies in ``hidden`` (H, W) bool."""
    px, valid = project(camera, box_corners(placement.x, placement.y, placement.yaw, placement.size)[0])
    box = polygon(hidden.shape, px) if valid.all() else np.zeros_like(hidden)
    return float(hidden[box].mean()) if box.any() else 0.0


def _segments(segmenter: Segmenter, image: np.ndarray, where: np.ndarray) -> Iterator[np.ndarray]:
    """Every confident segment in ``where`` (H, W) bool, each asked for in the middle of what is not known yet."""
    if not where.any():
        return
    x0, y0, x1, y1 = (int(v) for v in box_around(where))
    open_ = where[y0:y1, x0:x1].astype(np.uint8)
    radius = max(1, round(0.7 * math.sqrt(int(open_.sum()) / MASK.asked)))
    for _ in range(MASK.asked):
        depth = cv2.distanceTransform(np.pad(open_, 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
        if depth.max() < 1.5:
            return
        v, u = np.unravel_index(int(depth.argmax()), depth.shape)
        cv2.circle(open_, (int(u), int(v)), radius, 0, -1)
        at = (float(u + x0), float(v + y0))
        for segment in segmenter.segment(image, [MaskPrompt(inside=(at,))])[0]:
            if segment.score >= segmenter.min_score and segment.mask.mean() <= MASK.most_nearer:
                open_[segment.mask[y0:y1, x0:x1]] = 0
                yield segment.mask


def _is_flat(mask: np.ndarray, camera: Camera, clear_road: np.ndarray | None) -> bool:
    """Whether a segment lies on the ground; where that is not known, all does that stays below the horizon."""
    if share_above_horizon(mask, camera) > MASK.tall:
        return False
    return clear_road is None or not mask.any() or float(clear_road[mask].mean()) > MASK.flat


def _stands_within(mask: np.ndarray, camera: Camera, limit: float) -> np.ndarray:
    """(W,) bool: columns in which the segment (H, W) bool meets the ground within ``limit`` metres of the camera.

    A thing no deeper than ``compact_m`` is nearer or not as a whole. Of a longer one, such as a wall that recedes, each
    column counts for itself, but a gap between two lower parts stands where they do.
    """
    cols = np.flatnonzero(mask.any(0))
    lowest = np.full(mask.shape[1], -1.0)
    lowest[cols] = mask.shape[0] - 1 - mask[::-1, cols].argmax(0)
    near = np.zeros(mask.shape[1], bool)
    if not len(cols):
        return near
    middle, in_view = ground_points(camera, [(float(np.median(cols)), float(lowest.max()) + 0.5)])
    if not in_view[0]:
        return near
    gap = min(MASK.gap_m * _pixels_per_metre(camera, middle[0]), 2.0 * mask.shape[1])
    from scipy.ndimage import grey_closing  # slow to import

    lowest = grey_closing(lowest, size=max(3, round(gap)), mode="constant", cval=-1.0)
    places, valid = ground_points(camera, np.column_stack([cols, lowest[cols] + 0.5]))
    if not valid.any():
        return near
    away = np.hypot(*(places - centre(camera)[:2]).T)
    first, last = np.percentile(away[valid], (10, 90))
    near[cols] = first < limit if last - first <= MASK.compact_m else valid & (away < limit)
    return near


def _pixels_per_metre(camera: Camera, place: np.ndarray) -> float:
    """Across the line of sight, at a place (2,) on the ground."""
    sight = place - centre(camera)[:2]
    across = np.array([-sight[1], sight[0]]) / max(float(np.hypot(*sight)), 1e-6)
    ends, valid = project(camera, [(*(place - across / 2), 0.0), (*(place + across / 2), 0.0)])
    return float(np.hypot(*(ends[1] - ends[0]))) if valid.all() else 0.0


# --- mask refine -------------------------------------------------------------------------------
# After the edit: which pixels of it are the hazard and its shadow, so that nothing else of it is pasted.


@dataclass(frozen=True, eq=False)
class Matte:
    """What to paste of an edited crop.

    Attributes:
        alpha: (h, w) float32 in [0, 1].
        object: (h, w) bool, the hazard alone.
        score: what the segmenter thinks of the segment. fit: how well it agrees with what changed, 0 to 1.
    """

    alpha: np.ndarray
    object: np.ndarray
    score: float
    fit: float


def refine(
    segmenter: Segmenter,
    before: np.ndarray,
    after: np.ndarray,
    mask: np.ndarray,
    camera: Camera,
    placement: Placement,
) -> Matte | None:
    """The hazard and its shadow in an edited crop; None when no segment agrees with the change.

    Args:
        before, after: (h, w, 3) uint8 RGB. mask: (h, w) uint8, nonzero where pixels may change.
        camera: of the crop, for the frame in which the placement stands.
    """
    corners, valid = project(camera, box_corners(placement.x, placement.y, placement.yaw, placement.size)[0])
    if not valid.all():
        return None
    allowed = mask > 0
    solid = polygon(mask.shape, corners)
    if not solid.any():
        return None
    rest = allowed & ~widened(solid, MASK.rest * float(np.ptp(np.flatnonzero(solid.any(1)))))
    after_toned = _in_tone(before, after, rest)
    change = _change(before, after_toned, allowed, rest)
    segment = _object(segmenter, after, allowed, change, _clipped(corners, mask.shape))
    if segment is None:
        return None
    body, score, fit = segment
    height = float(np.ptp(np.flatnonzero(body.any(1)))) + 1
    margin = max(MASK.least, MASK.margin * height)
    # thin ends that the segmenter's coarse mask lost
    body = touching(body | ((change > MASK.certain) & widened(body, margin)), body)
    shade = _shadow(before, after_toned, camera, allowed & ~body)
    base = _base(body, height, margin) | widened(polygon(mask.shape, corners[:4]), margin)
    shade *= widened(touching((shade > 0.3) & ~body, base), 2)
    alpha = np.maximum(_feathered(body, height), cv2.GaussianBlur(shade, (0, 0), 1.0))
    alpha = np.maximum(alpha, _between(body, shade > 0.3))
    return Matte(np.where(allowed, alpha, 0).astype(np.float32), body & allowed, score, fit)


def _in_tone(before: np.ndarray, after: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """(h, w, 3) float32: the edit without the shift in tone that the model gave to what it left alone."""
    shifted = after.astype(np.float32)
    if rest.any():
        shifted -= np.median(shifted[rest] - before[rest], axis=0)
    return shifted


def _change(before: np.ndarray, after: np.ndarray, allowed: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """(h, w) float32 in [0, 1]: by how much a pixel changed more than the model changes what it leaves alone."""
    moved = cv2.GaussianBlur(np.abs(after - before).max(2), (0, 0), 0.8)
    floor = MASK.over_rest * float(np.median(moved[rest])) if rest.any() else 0.0
    threshold = min(max(MASK.changed, floor), MASK.most)
    return np.where(allowed, np.clip((moved - threshold) / 48, 0, 1), 0).astype(np.float32)


def _object(
    segmenter: Segmenter, after: np.ndarray, allowed: np.ndarray, change: np.ndarray, box: BoxPx
) -> tuple[np.ndarray, float, float] | None:
    """The segment (h, w) bool that explains the change best, its score, and how well it does."""
    if not change.any():
        return None
    best: tuple[float, Segment] | None = None
    for segments in segmenter.segment(after, _prompts(change, box)):
        for segment in segments:
            fit = _fit(segment.mask & allowed, segment.mask, change, box)
            if best is None or fit > best[0]:
                best = fit, segment
    if best is None or best[0] < MASK.min_fit:
        return None
    return best[1].mask & allowed, best[1].score, best[0]


def _prompts(change: np.ndarray, box: BoxPx) -> list[MaskPrompt]:
    """The placement's box, what changed most within it, and the box around all that changed with it."""
    x0, y0, x1, y1 = (round(v) for v in box)
    near = np.zeros(change.shape, bool)
    near[max(y0, 0) : y1 + 1, max(x0, 0) : x1 + 1] = True
    strong = change > 0.25
    if not (strong & near).any():
        strong = change > 0
    parts = touching(strong, near) if (strong & near).any() else strong
    depth = cv2.distanceTransform(parts.astype(np.uint8), cv2.DIST_L2, 3) * (1 + near)
    v, u = np.unravel_index(int(depth.argmax()), depth.shape)
    inside = ((float(u), float(v)),)
    around = box_around(parts)
    return [
        MaskPrompt(box=box),
        MaskPrompt(box=box, inside=inside),
        MaskPrompt(box=around, inside=inside),
        MaskPrompt(inside=inside),
    ]


def _fit(inner: np.ndarray, region: np.ndarray, change: np.ndarray, box: BoxPx) -> float:
    """0 to 1: how much of the segment changed, how much of the change it explains, and whether it is of the right size.

    What changed outside the placement's box may be shadow or a repainted road: it need not be explained.
    """
    if not inner.any():
        return 0.0
    inside = float(inner.sum()) / float(region.sum())
    changed = float((change[inner] > 0).mean())
    x0, y0, x1, y1 = (round(v) for v in box)
    near = np.zeros(change.shape, np.float32)
    near[max(y0, 0) : y1 + 1, max(x0, 0) : x1 + 1] = 1
    target = change * np.maximum(near, inner)
    explained = float(change[inner].sum()) / max(float(target.sum()), 1e-6)
    agreement = 2 * changed * explained / max(changed + explained, 1e-6)
    return inside * agreement * (0.4 + 0.6 * iou(box_around(inner), box))


def _shadow(before: np.ndarray, after: np.ndarray, camera: Camera, where: np.ndarray) -> np.ndarray:
    """(h, w) float32 in [0, 1]: ground that lost light evenly."""
    was = cv2.GaussianBlur(before, (0, 0), 1.2).astype(np.float32) + 4
    light_loss = (was - 4 - np.asarray(cv2.GaussianBlur(after, (0, 0), 1.2))) / was
    even = light_loss.max(2) - light_loss.min(2) < MASK.same
    low, high = MASK.shade
    share = np.clip((light_loss.mean(2) - low) / (high - low), 0, 1)
    horizon = np.nan_to_num(horizon_rows(camera, np.arange(where.shape[1])), nan=0.0)
    ground = np.arange(where.shape[0])[:, None] > horizon
    return np.where(where & even & ground, share, 0).astype(np.float32)


def _between(body: np.ndarray, shadow: np.ndarray) -> np.ndarray:
    """(h, w) bool: the thin seam where an object meets its shadow, whose mixed pixels look like neither."""
    closed = cv2.morphologyEx((body | shadow).astype(np.uint8), cv2.MORPH_CLOSE, disc(1)) > 0
    return closed & widened(shadow, 2) & widened(body, 2)


def _base(body: np.ndarray, height: float, margin: float) -> np.ndarray:
    """(h, w) bool: the lowest part of the object and a little around it."""
    rows = np.flatnonzero(body.any(1))
    lowest = body.copy()
    lowest[: int(rows[-1] - MASK.base * height)] = False
    return widened(lowest, 2 * margin)


def _feathered(body: np.ndarray, height: float) -> np.ndarray:
    """(h, w) float32: 1 on the object, fading within a few pixels around it, as its soft edge did in the edit."""
    away = cv2.distanceTransform((~body).astype(np.uint8), cv2.DIST_L2, 5)
    width = float(np.clip(0.015 * height, 1.5, 5.0))
    return np.clip(1 - away / width, 0, 1).astype(np.float32)


def _clipped(corners: np.ndarray, shape: tuple[int, ...]) -> BoxPx:
    (x0, y0), (x1, y1) = corners.min(0), corners.max(0)
    height, width = shape[:2]
    return max(float(x0), 0.0), max(float(y0), 0.0), min(float(x1), width - 1.0), min(float(y1), height - 1.0)


# --- mask pipeline -----------------------------------------------------------------------------
# What a segmenter and a detector add to a build: a further test of a place, what of an edit shows, further gates.
#
# Without them nothing changes: the masks that follow from the placement serve.


class MaskPipeline:
    """The segmenter and the detector of a build, either of which may be missing."""

    def __init__(
        self,
        segmenter: Segmenter | None = None,
        detector: Detector | None = None,
        views: Views | None = None,
    ) -> None:
        self.segmenter, self.detector = segmenter, detector
        self._views = views or Views.of(ColourGround())
        self._frames = IdentityCache()

    @classmethod
    def of(cls, benchmark: BenchmarkRecord, views: Views | None = None) -> "MaskPipeline":
        """As the benchmark was asked for. Raises as :func:`cfgen.perception.detection.create_segmenter`."""
        segmenter = detector = None
        if benchmark.masks:
            segmenter = create_segmenter(benchmark.masks, benchmark.masks_options)
        if benchmark.detector:
            detector = create_detector(benchmark.detector, benchmark.detector_options)
        return cls(segmenter, detector, views)

    @property
    def identity(self) -> dict[str, Any]:
        """Names, options and weights, for the provenance."""
        used = {"segmenter": self.segmenter, "detector": self.detector}
        return {
            part: {"name": model.name, **model.identity, "options": dict(model.options)}
            for part, model in used.items()
            if model is not None
        }

    def fault(self, scene: Scene, image: np.ndarray, hazard: Hazard) -> Callable[[Placement], str] | None:
        """A test of placements in the front frame at t0, ``image`` (H, W, 3) uint8: what is wrong with one, or ""."""
        if self.segmenter is None:
            return None
        frame = self._frame(scene, scene.front.name, 0.0, image)

        def wrong(placement: Placement) -> str:
            if hazard.kind != "nuisance" and frame.on_ground(placement, hazard) < MASK.on_ground:
                return "not on the ground that the car drives on"
            hidden = share_hidden(frame.nearer(placement), frame.camera, placement)
            return "hidden by something nearer" if hidden > MASK.max_hidden else ""

        return wrong

    def matte(self, job: EditJob, view: FrameView, result: InpaintResult | None) -> Shown:
        """What of a frame's edit shows: the hazard and its shadow, less what stands before it.

        Raises:
            InpaintRefusedError: too much of it is hidden at t0.
        """
        if self.segmenter is None:
            return Shown()
        report: dict[str, Any] = {}
        refined = None
        unknown = result is not None and (result.alpha is None or result.guessed)
        if result is not None and unknown and job.hazard.kind != "null":
            before = view.cut(job.images[view.key])
            refined = refine(
                self.segmenter, before, result.image, view.mask, view.crop_camera, view.placement
            )
            report["object"] = refined and {"score": round(refined.score, 3), "fit": round(refined.fit, 3)}
        alpha = refined.alpha if refined else result.alpha if result else None
        frame = self._frame(job.scene, *view.key, job.images[view.key])
        hazard_pixels = view.mask > 0 if alpha is None else alpha > 1 / 255
        nearer = frame.nearer(view.placement, spread(hazard_pixels, view.crop, *frame.image.shape[:2]))
        hidden = share_hidden(nearer, view.camera, view.placement)
        if view.key == first_frame(job) and hidden > MASK.max_hidden:
            raise InpaintRefusedError(f"{hidden:.0%} of it is hidden by something nearer")
        report["hidden"] = round(hidden, 3)
        return Shown(refined.alpha if refined else None, view.cut(nearer) if nearer.any() else None, report)

    def gates(self, job: EditJob, edit: Edit) -> tuple[GateResult, ...]:
        """What the detector says of the front frame at t0; nothing of an edit that adds nothing."""
        if self.detector is None or job.hazard.kind == "null":
            return ()
        front = first_frame(job)
        box = edit.placements[front].box_px
        if isinstance(self.detector, FixedClasses):
            return (recognized(self.detector, edit.frames[front][0], box, job.hazard),)
        return detector_gates(self.detector, self.segmenter, *edit.frames[front], box, noun(job.hazard.name))

    def _frame(self, scene: Scene, camera: str, t: float, image: np.ndarray) -> "_Frame":
        assert self.segmenter is not None
        segmenter, views = self.segmenter, self._views
        return self._frames.of(image, lambda picture: _Frame(segmenter, views, scene, camera, t, picture))


@dataclass(frozen=True, eq=False)
class _Frame:
    """One original frame (H, W, 3) uint8 and what is known of it; placements are in the ego frame at t0."""

    segmenter: Segmenter
    views: Views
    scene: Scene
    name: str
    t: float
    image: np.ndarray

    @cached_property
    def camera(self) -> Camera:
        return camera_at(self.scene, self.name, self.t)

    @cached_property
    def path(self) -> EgoPath:
        return EgoPath.since(self.scene, self.t, FAR_M)

    @cached_property
    def clear(self) -> np.ndarray | None:
        """(H, W) bool: road by its look; None when no road is in view."""
        [view] = self.views.see([CameraFrame(self.image, self.camera, self.path)])
        if not view.road.any():
            return None
        return cv2.resize(view.road.astype(np.uint8), view.size, interpolation=cv2.INTER_NEAREST) > 0

    @cached_property
    def ahead(self) -> tuple[np.ndarray | None, np.ndarray]:
        return ground_ahead(self.segmenter, self.image, self.camera, self.path)

    def on_ground(self, placement: Placement, hazard: Hazard) -> float:
        """Share of the footprint on the ground that the car drives on; 1 where no segment of it is found."""
        ground, points = self.ahead
        if ground is None:
            return 1.0
        standing = hazard.model_copy(update={"size": placement.size}).standing
        return stands_on_ground(self.segmenter, self.image, self.camera, placement, standing, ground, points)

    def nearer(self, placement: Placement, where: np.ndarray | None = None) -> np.ndarray:
        """(H, W) bool: what stands nearer than the hazard and reaches into ``where`` (H, W) bool, or into its box."""
        return nearer_things(
            self.segmenter, self.image, self.camera, placement, self.clear, self.ahead[0], where
        )
