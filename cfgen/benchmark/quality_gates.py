"""What an edit must keep to become a case: one gate per function, each measures one value against one bound.

They are run by :mod:`cfgen.benchmark.gates`. A gate returns None where it does not apply.

Images are (H, W, 3) uint8 RGB of the front camera at t0, masks (H, W) uint8, nonzero where pixels may differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from cfgen.perception.view import SceneView
from cfgen.records import Camera, GateResult, Hazard, Placement

#: Planners shrink a frame to at most this many pixels.
PLANNER_PIXELS = 196_608
#: A pixel has changed visibly when its largest channel moved by more than this (8 bit): above noise and JPEG.
CHANGED = 10
#: Visible pixels that a hazard needs, in the frame and at the planner's size, and as a share of its box.
MIN_PIXELS, MIN_PLANNER_PIXELS, MIN_SHARE = 100, 60, 0.1
#: Mean colour distance (8-bit RGB) of the visible change at the planner's size.
MIN_CONTRAST = 28.0
#: Base of the change above or below where the hazard stands: pixels, plus a share of its height in the picture.
BASE_PX, BASE_SHARE = 4.0, 0.14
#: Step across the mask's border (8 bit): of the mean over a stretch, and the share of pixels with a visible one.
MAX_STEP, MAX_STEP_SHARE = 5.0, 0.04
_STRETCH = 24
#: Median shift (8 bit) of what lies RIM_PX inside the border: more is a box of another tone, however soft its edge.
MAX_TONE, RIM_PX = 3.0, 5


@dataclass(frozen=True, eq=False)
class GateInput:
    """The two frames, what was put where, and what several gates need of them, worked out once within the mask's
    rectangle.

    Attributes:
        original, augmented: (H, W, 3) uint8 RGB, not to be written to. mask: (H, W) uint8.
        hazard: of kind "hazard", "nuisance" (a harmless object) or "null" (nothing was added).
        look: what a picture of this camera shows; None where nobody but the colour test could tell.
    """

    original: np.ndarray
    augmented: np.ndarray
    mask: np.ndarray
    camera: Camera
    placement: Placement
    hazard: Hazard
    look: Callable[[np.ndarray], SceneView] | None = None

    @cached_property
    def box(self) -> tuple[slice, slice]:
        x, y, w, h = cv2.boundingRect((self.mask > 0).astype(np.uint8))
        return slice(max(y - 1, 0), y + h + 1), slice(max(x - 1, 0), x + w + 1)

    @cached_property
    def change(self) -> np.ndarray:
        """(h, w, 3) int16: augmented minus original in the rectangle around the mask."""
        return self.augmented[self.box].astype(np.int16) - self.original[self.box].astype(np.int16)

    @cached_property
    def visible(self) -> np.ndarray:
        """(h, w) bool: visibly changed pixels in the rectangle."""
        return self.moved > CHANGED

    @cached_property
    def moved(self) -> np.ndarray:
        """(h, w) uint8: by how much the channel that changed most did."""
        return _largest(cv2.absdiff(self.original[self.box], self.augmented[self.box]))

    @cached_property
    def shrink(self) -> float:
        """Factor on lengths at the planner's size."""
        return min(1.0, (PLANNER_PIXELS / self.mask.size) ** 0.5)

    @cached_property
    def small_change(self) -> np.ndarray:
        """(h, w, 3) float32: augmented minus original in the rectangle at the planner's size."""
        size = [max(1, round(n * self.shrink)) for n in self.visible.shape[::-1]]
        before, after = (
            cv2.resize(frame[self.box], size, interpolation=cv2.INTER_AREA).astype(np.float32)
            for frame in (self.original, self.augmented)
        )
        return after - before

    @cached_property
    def small_visible(self) -> np.ndarray:
        """(h, w) bool: visibly changed pixels in the rectangle at the planner's size."""
        return _largest(np.abs(self.small_change)) > CHANGED


def outside_mask(edit: GateInput) -> GateResult:
    """Not one value outside the mask differs."""
    count = int(np.count_nonzero(edit.moved[edit.mask[edit.box] == 0]))
    rows, cols = edit.box
    for part in (
        np.s_[: rows.start],
        np.s_[rows.stop :],
        np.s_[rows, : cols.start],
        np.s_[rows, cols.stop :],
    ):
        before, after = edit.original[part], edit.augmented[part]
        if not np.array_equal(before, after):
            count += int(np.count_nonzero((before != after).any(-1)))
    reason = f"{count} pixels outside the mask changed" if count else ""
    return GateResult(gate="outside-mask", passed=count == 0, value=count, bound="= 0 pixels", reason=reason)


def visibility(edit: GateInput) -> GateResult | None:
    """Enough pixels changed to be seen, in the frame and after shrinking it to the planner's size."""
    if edit.hazard.kind == "null":
        return None
    x0, y0, x1, y1 = edit.placement.box_px
    full = int(np.count_nonzero(edit.visible))
    small = int(np.count_nonzero(edit.small_visible))
    needed = max(MIN_PLANNER_PIXELS, MIN_SHARE * (x1 - x0) * (y1 - y0) * edit.shrink**2)
    passed = full >= MIN_PIXELS and small >= needed
    reason = "" if passed else f"only {full} pixels changed visibly, {small} at the planner's size"
    bound = f">= {needed:.0f} pixels at {PLANNER_PIXELS} px, {MIN_PIXELS} in the frame"
    return GateResult(gate="visibility", passed=passed, value=small, bound=bound, reason=reason)


def contrast(edit: GateInput) -> GateResult | None:
    """The change stands out from what was there: mean colour distance over it at the planner's size."""
    if edit.hazard.kind == "null":
        return None
    change = edit.small_change[edit.small_visible]
    value = float(np.sqrt((change**2).sum(1)).mean()) if len(change) else 0.0
    passed = value >= MIN_CONTRAST
    reason = "" if passed else f"what was added differs from what was there by only {value:.0f} of 255"
    return GateResult(
        gate="contrast", passed=passed, value=round(value, 2), bound=f">= {MIN_CONTRAST:g}", reason=reason
    )


def base(edit: GateInput) -> GateResult | None:
    """The change begins at the ground it was placed on: it does not float above it or reach below it.

    The value is how far the lowest change lies under the nearest edge of the footprint, pixels. A shadow may reach
    lower: pixels that only darkened count for floating, not for sinking.
    """
    if edit.hazard.kind == "null":
        return None
    placement = edit.placement
    x0, y0, x1, y1 = placement.box_px
    rows, cols = edit.box
    first_col, end_col = round(x0) - cols.start, round(x1) - cols.start + 1
    below = slice(max(first_col, 0), max(end_col, 1))
    visible = edit.visible[:, below]
    solid = visible & ~only_darker(edit, below)
    needed = max(2, 0.04 * (x1 - x0))
    lowest = _lowest_row(visible, needed)
    lowest_solid = _lowest_row(solid, needed)
    tolerance = BASE_PX + BASE_SHARE * (y1 - y0)
    # far edge to near edge of the footprint: what lies flat begins anywhere between
    high = min(placement.foot_px[1], y1) - tolerance
    low = y1 + tolerance
    bound = f"{high:.0f} to {low:.0f} px"
    if lowest is None:
        reason, value = "nothing changed where it was placed", None
    else:
        value = float(rows.start + lowest)
        sunk = lowest_solid is not None and rows.start + lowest_solid > low
        reason = "it reaches below the ground it was placed on" if sunk else ""
        if value < high:
            reason = f"it ends {placement.foot_px[1] - value:.0f} px above the ground it was placed on"
    return GateResult(gate="base", passed=not reason, value=value, bound=bound, reason=reason)


def seam(edit: GateInput) -> GateResult:
    """No step along the mask's border: what changed fades out before it.

    The value is the largest mean step over a stretch of the border; the frame's own border does not count.
    """
    mask = (edit.mask[edit.box] > 0).astype(np.uint8)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    height, width = edit.mask.shape
    worst, steps = 0.0, []
    for contour in contours:
        u, v = contour[:, 0, 0], contour[:, 0, 1]
        at_u, at_v = u + edit.box[1].start, v + edit.box[0].start
        inner = (at_u > 0) & (at_v > 0) & (at_u < width - 1) & (at_v < height - 1)
        step = edit.change[v[inner], u[inner]].astype(np.float32)
        if len(step) == 0:
            continue
        steps.append(step)
        blocks = np.array_split(step, max(1, len(step) // _STRETCH))
        worst = max(worst, *(float(np.abs(b.mean(0)).max()) for b in blocks))
    all_steps = np.concatenate(steps) if steps else np.zeros((1, 3), np.float32)
    share = float((np.abs(all_steps).max(1) > CHANGED).mean())
    tone = _tone(edit, mask)
    reason = ""
    if worst > MAX_STEP or share > MAX_STEP_SHARE:
        reason = f"a step of {worst:.0f} along the mask's border, visible on {share:.0%} of it"
    elif abs(tone) > MAX_TONE:
        reason = f"the whole mask is {abs(tone):.0f} {'brighter' if tone > 0 else 'darker'} than the picture around it"
    bound = f"<= {MAX_STEP:g}, visible on <= {MAX_STEP_SHARE:.0%} of the border; tone <= {MAX_TONE:g}"
    return GateResult(gate="seam", passed=not reason, value=round(worst, 2), bound=bound, reason=reason)


def _tone(edit: GateInput, mask: np.ndarray) -> float:
    """Median change of the channel that shifted most, along a line RIM_PX inside the mask's border."""
    inner = cv2.erode(mask, np.ones((2 * RIM_PX + 1,) * 2, np.uint8), borderValue=1)
    line = edit.change[(inner > 0) & (cv2.erode(inner, np.ones((3, 3), np.uint8), borderValue=1) == 0)]
    return max((float(m) for m in np.median(line, axis=0)), key=abs) if len(line) else 0.0


def only_darker(edit: GateInput, columns: slice) -> np.ndarray:
    """(h, w) bool: every channel lost about the same share of its light: what a shadow does to the ground."""
    before = edit.original[edit.box][:, columns].astype(np.float32) + 4
    light_loss = -edit.change[:, columns] / before
    smallest = -_largest(-light_loss)
    return (smallest > 0) & (_largest(light_loss) - smallest < 0.18)


def _largest(channels: np.ndarray) -> np.ndarray:
    """(h, w) the largest of three channels (h, w, 3)."""
    return np.maximum(np.maximum(channels[..., 0], channels[..., 1]), channels[..., 2])


def _lowest_row(changed: np.ndarray, needed: float) -> int | None:
    """The lowest row with at least ``needed`` changed pixels."""
    rows = np.flatnonzero(np.count_nonzero(changed, axis=1) >= needed)
    return int(rows[-1]) if len(rows) else None
