"""What an edit must keep to become a case: one gate per function, each measures one value against one bound.

A gate returns None where it does not apply.

Images are (H, W, 3) uint8 RGB of the front camera at t0, masks (H, W) uint8, nonzero where pixels may differ.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from cfgen.benchmark.settings import GATE
from cfgen.core.errors import InputError
from cfgen.core.registry import Registry
from cfgen.hazards.settings import PLACEMENT
from cfgen.inpaint.paste import differ
from cfgen.perception.view import SceneView
from cfgen.records import Camera, GateResult, Hazard, Placement


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
        return self.moved > GATE.changed

    @cached_property
    def moved(self) -> np.ndarray:
        """(h, w) uint8: by how much the channel that changed most did."""
        return _largest(cv2.absdiff(self.original[self.box], self.augmented[self.box]))

    @cached_property
    def shrink(self) -> float:
        """Factor on lengths at the planner's size."""
        return min(1.0, (PLACEMENT.planner_pixels / self.mask.size) ** 0.5)

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
        return _largest(np.abs(self.small_change)) > GATE.changed


def judged(gate: str, value: float | None, bound: str, reason: str) -> GateResult:
    """Passed where there is no ``reason`` against it."""
    return GateResult(gate=gate, passed=not reason, value=value, bound=bound, reason=reason)


def outside_mask(edit: GateInput) -> GateResult:
    """Not one value outside the mask differs."""
    count = int(np.count_nonzero(differ(edit.original, edit.augmented)[edit.mask == 0]))
    reason = f"{count} pixels outside the mask changed" if count else ""
    return judged("outside-mask", count, "= 0 pixels", reason)


def visibility(edit: GateInput) -> GateResult | None:
    """Enough pixels changed to be seen, in the frame and after shrinking it to the planner's size."""
    if edit.hazard.kind == "null":
        return None
    x0, y0, x1, y1 = edit.placement.box_px
    full = int(np.count_nonzero(edit.visible))
    small = int(np.count_nonzero(edit.small_visible))
    needed = max(GATE.min_planner_pixels, GATE.min_share * (x1 - x0) * (y1 - y0) * edit.shrink**2)
    passed = full >= GATE.min_pixels and small >= needed
    reason = "" if passed else f"only {full} pixels changed visibly, {small} at the planner's size"
    bound = f">= {needed:.0f} pixels at {PLACEMENT.planner_pixels} px, {GATE.min_pixels} in the frame"
    return judged("visibility", small, bound, reason)


def contrast(edit: GateInput) -> GateResult | None:
    """The change stands out from what was there: mean colour distance over it at the planner's size."""
    if edit.hazard.kind == "null":
        return None
    change = edit.small_change[edit.small_visible]
    value = float(np.sqrt((change**2).sum(1)).mean()) if len(change) else 0.0
    passed = value >= GATE.min_contrast
    reason = "" if passed else f"what was added differs from what was there by only {value:.0f} of 255"
    return judged("contrast", round(value, 2), f">= {GATE.min_contrast:g}", reason)


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
    tolerance = GATE.base_px + GATE.base_share * (y1 - y0)
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
    return judged("base", value, bound, reason)


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
        blocks = np.array_split(step, max(1, len(step) // GATE.stretch))
        worst = max(worst, *(float(np.abs(b.mean(0)).max()) for b in blocks))
    all_steps = np.concatenate(steps) if steps else np.zeros((1, 3), np.float32)
    share = float((np.abs(all_steps).max(1) > GATE.changed).mean())
    tone = _tone(edit, mask)
    reason = ""
    if worst > GATE.max_step or share > GATE.max_step_share:
        reason = f"a step of {worst:.0f} along the mask's border, visible on {share:.0%} of it"
    elif abs(tone) > GATE.max_tone:
        reason = f"the whole mask is {abs(tone):.0f} {'brighter' if tone > 0 else 'darker'} than the picture around it"
    bound = f"<= {GATE.max_step:g}, visible on <= {GATE.max_step_share:.0%} of the border; tone <= {GATE.max_tone:g}"
    return judged("seam", round(worst, 2), bound, reason)


def _tone(edit: GateInput, mask: np.ndarray) -> float:
    """Median change of the channel that shifted most, along a line ``rim_px`` inside the mask's border."""
    inner = cv2.erode(mask, np.ones((2 * GATE.rim_px + 1,) * 2, np.uint8), borderValue=1)
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


# --- height ------------------------------------------------------------------------------------
# A gate that holds the height of what was added against the height that it was placed with.


def height(edit: GateInput) -> GateResult | None:
    """What was added reaches as far above the lower edge of its placed box, in the picture, as the box does.

    The value is seen ÷ placed, at the box's columns. None where nothing was added, and where too little of the box is
    in the picture, for the frame cuts it off there.
    """
    _, y0, _, y1 = edit.placement.box_px
    if edit.hazard.kind == "null" or y0 <= 0:
        return None
    first = _highest(edit)
    placed = y1 - y0
    slack = GATE.apart + GATE.slack_px / placed
    bound = f"{max(1 - slack, 0):.2f} to {1 + slack:.2f}"
    if first is None:
        return judged("height", 0.0, bound, "nothing changed where it was placed")
    height_px = y1 - first
    share = height_px / placed
    passed = abs(height_px - placed) <= GATE.apart * placed + GATE.slack_px
    wrong = f"it is {height_px:.0f} px high in the picture, {share:.2f} of the {placed:.0f} px ordered"
    return judged("height", round(share, 3), bound, "" if passed else wrong)


def _highest(edit: GateInput) -> int | None:
    """The first row of the picture that changed by more than repainting does, at the box's columns."""
    x0, _, x1, _ = edit.placement.box_px
    rows, cols = edit.box
    across = slice(max(round(x0) - cols.start, 0), max(round(x1) - cols.start + 1, 1))
    changed = edit.moved[:, across] > max(GATE.changed, _noise(edit))
    rows_changed = np.flatnonzero(np.count_nonzero(changed, axis=1) >= max(2, 0.04 * (x1 - x0)))
    return rows.start + int(rows_changed[0]) if len(rows_changed) else None


def _noise(edit: GateInput) -> float:
    """What changed beside the box without getting darker, as a shadow would make it."""
    x0, y0, x1, y1 = edit.placement.box_px
    rows, cols = edit.box
    outside_box = edit.mask[edit.box] > 0
    inside = np.s_[
        max(round(y0) - rows.start, 0) : max(round(y1) - rows.start + 1, 1),
        max(round(x0) - cols.start, 0) : max(round(x1) - cols.start + 1, 1),
    ]
    outside_box[inside] = False
    outside_box &= ~only_darker(edit, slice(None))
    values = edit.moved[outside_box]
    if len(values) < GATE.few:
        return 0.0
    return min(GATE.above_noise * float(np.percentile(values, 98)), GATE.most_noise)


# --- seen again --------------------------------------------------------------------------------
# A gate that looks again: what was added is a thing on the road, and the rest of the frame is seen as before.


def seen_again(edit: GateInput) -> GateResult | None:
    """What was added hides the road behind it, and the rest of the frame is seen as before.

    The value is the share of road away from the edit that is seen no more. Not judged where only colours tell the road:
    they tell it from the near road on, and its shadow would lead them astray. None where nothing was added.
    """
    if edit.hazard.kind == "null":
        return None
    if edit.look is None:
        why = "not judged: only colours tell the road"
        return GateResult(gate="seen-again", passed=True, bound=why, reason=why)
    before, after = edit.look(edit.original), edit.look(edit.augmented)
    lost_share, new_share = _changed(before, after, edit.mask)
    hidden = _hidden(before, after, edit)
    reason = ""
    if lost_share > GATE.most_lost:
        reason = f"{lost_share:.0%} of the road away from it is seen no more"
    elif new_share > GATE.most_new:
        reason = f"away from it, {new_share:.0%} more road is seen than before"
    elif hidden is not None and hidden < GATE.least_hidden:
        reason = f"road is still seen through it: hidden is {hidden:.0%} of what lies behind its lower half"
    bound = f"<= {GATE.most_lost:g}; vehicles hide >= {GATE.least_hidden:.0%}"
    return judged("seen-again", round(lost_share, 4), bound, reason)


def _changed(before: SceneView, after: SceneView, mask: np.ndarray) -> tuple[float, float]:
    """Road that is lost, and road that is new, away from the edit, as shares of all road in the frame before."""
    edited = cv2.resize((mask > 0).astype(np.float32), before.road.shape[::-1], interpolation=cv2.INTER_AREA)
    reach = 2 * max(round(GATE.near * before.road.shape[1]), 1) + 1
    away = cv2.dilate((edited > 0).astype(np.uint8), np.ones((reach, reach), np.uint8)) == 0
    road_cells = max(int(np.count_nonzero(before.road)), 1)
    gone, gained = before.road & ~after.road & away, after.road & ~before.road & away
    return int(np.count_nonzero(gone)) / road_cells, int(np.count_nonzero(gained)) / road_cells


def _hidden(before: SceneView, after: SceneView, edit: GateInput) -> float | None:
    """Share of the road behind the lower half that is seen no more; None for what is small or flat."""
    size = edit.placement.size
    if size.height < GATE.tall_m or min(size.width, size.length) < GATE.wide_m:
        return None
    visible = np.zeros(edit.mask.shape, np.float32)
    visible[edit.box] = edit.visible
    object_cells = cv2.resize(visible, before.road.shape[::-1], interpolation=cv2.INTER_AREA) > 0.5
    x0, y0, x1, y1 = edit.placement.box_px
    lower = _cells(before, x0, (y0 + y1) / 2, x1, y1)
    behind = before.road[lower] & object_cells[lower]
    if np.count_nonzero(behind) < GATE.enough:
        return None
    return float((behind & ~after.road[lower]).sum() / behind.sum())


def _cells(view: SceneView, x0: float, y0: float, x1: float, y1: float) -> tuple[slice, slice]:
    """The view's cells that a box in pixels covers, at least one each way where it is in the frame."""
    low, high = view.cells(np.array([[x0, y0], [x1, y1]]))
    height, width = view.road.shape
    (first_col, first_row), (end_col, end_row) = (
        np.clip(np.floor(low + 0.5).astype(int), 0, (width, height)),
        np.clip(np.ceil(high + 0.5).astype(int), 0, (width, height)),
    )
    return slice(int(first_row), int(end_row)), slice(int(first_col), int(end_col))


# --- gates -------------------------------------------------------------------------------------
# Every gate on an edit: ours, then the detector's, then third parties' by name.

#: What a gate says of an edit; None where it does not apply.
Gate = Callable[[GateInput], GateResult | None]

GATES = Registry(
    "gate",
    "cfgen.gates",
    {
        "outside-mask": "cfgen.benchmark.gates:outside_mask",
        "seam": "cfgen.benchmark.gates:seam",
        "visibility": "cfgen.benchmark.gates:visibility",
        "contrast": "cfgen.benchmark.gates:contrast",
        "base": "cfgen.benchmark.gates:base",
        "height": "cfgen.benchmark.gates:height",
        "seen-again": "cfgen.benchmark.gates:seen_again",
    },
)


class GateError(Exception):
    """A third party's gate broke, or answered with something else: the edit can neither pass nor be refused."""


def extra_gates() -> dict[str, str]:
    """Third parties' gates that can be run here, by name: whose they are. A broken one is warned of and left out."""
    loaded, _ = GATES.load_each()
    return {name: GATES.source(name) for name in loaded if name not in GATES.builtin}


def own_gates() -> dict[str, Gate]:
    """Ours, in their order."""
    return {name: GATES.get(name) for name in GATES.builtin}


def load_gates(sources: Mapping[str, str]) -> dict[str, Gate]:
    """The third parties' gates that a benchmark was begun with.

    Raises:
        InputError: one of them is not installed here, cannot be imported, or is another version of it.
    """
    gates = {}
    for name, source in sources.items():
        gates[name] = GATES.get(name)
        if GATES.source(name) != source:
            raise InputError(
                f"gate '{name}': the benchmark was built with that of {source}, found {GATES.source(name)}; "
                "install that one"
            )
    return gates


def read_only(array: np.ndarray) -> np.ndarray:
    """The same values, so that no gate changes what is stored."""
    view = array.view()
    view.flags.writeable = False
    return view


def run_gates(edit: GateInput, gates: Mapping[str, Gate]) -> tuple[GateResult, ...]:
    """What each gate that applies says, under its registered name.

    Raises:
        GateError: one broke, or returned something else than a result.
    """
    results = []
    for name, gate in gates.items():
        try:
            result = gate(edit)
        except Exception as error:
            raise GateError(f"gate '{name}': {error!r}") from error
        if result is not None and not isinstance(result, GateResult):
            raise GateError(f"gate '{name}': expected a GateResult or None, found {result!r}"[:300])
        if result is not None:
            results.append(result.model_copy(update={"gate": name}))
    return tuple(results)
