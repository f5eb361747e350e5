"""A gate that looks again: what was added is a thing on the road, and the rest of the frame is seen as before."""

import cv2
import numpy as np

from cfgen.benchmark.quality_gates import GateInput
from cfgen.perception.view import SceneView
from cfgen.records import GateResult

#: Road away from the edit that may be seen no more, and that may be seen for the first time, as shares of all road in
#: the frame before. A network takes heart where it was unsure before: new road says less.
MOST_LOST, MOST_NEW = 0.1, 0.3
#: What lies this near to the edit, as a share of the frame's width, may be seen otherwise: networks look around.
NEAR = 0.02
#: The lowest part of the box, as a share of its height, and the share of it that was road before.
BASE, LEAST_ROAD = 0.15, 0.3
#: From this height and these sides on, m, a thing hides road: share of its lower half where none is seen any more.
TALL_M, WIDE_M, LEAST_HIDDEN = 1.2, 1.4, 0.3
#: Cells of road behind it that are enough to tell.
_ENOUGH = 30


def seen_again(edit: GateInput) -> GateResult | None:
    """What was added is a thing on the road, and the rest of the frame is seen as before.

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
    stands = _stands(before, edit)
    hidden = _hidden(before, after, edit)
    reason = ""
    if lost_share > MOST_LOST:
        reason = f"{lost_share:.0%} of the road away from it is seen no more"
    elif new_share > MOST_NEW:
        reason = f"away from it, {new_share:.0%} more road is seen than before"
    elif edit.hazard.kind == "hazard" and stands < LEAST_ROAD:  # harmless objects may stand beside the road
        reason = f"only {stands:.0%} of where it stands was seen as road"
    elif hidden is not None and hidden < LEAST_HIDDEN:
        reason = f"road is still seen through it: hidden is {hidden:.0%} of what lies behind its lower half"
    return GateResult(
        gate="seen-again",
        passed=not reason,
        value=round(lost_share, 4),
        bound=f"<= {MOST_LOST:g}; stands on >= {LEAST_ROAD:.0%} road; vehicles hide >= {LEAST_HIDDEN:.0%}",
        reason=reason,
    )


def _changed(before: SceneView, after: SceneView, mask: np.ndarray) -> tuple[float, float]:
    """Road that is lost, and road that is new, away from the edit, as shares of all road in the frame before."""
    edited = cv2.resize((mask > 0).astype(np.float32), before.road.shape[::-1], interpolation=cv2.INTER_AREA)
    reach = 2 * max(round(NEAR * before.road.shape[1]), 1) + 1
    away = cv2.dilate((edited > 0).astype(np.uint8), np.ones((reach, reach), np.uint8)) == 0
    road_cells = max(int(np.count_nonzero(before.road)), 1)
    gone, gained = before.road & ~after.road & away, after.road & ~before.road & away
    return int(np.count_nonzero(gone)) / road_cells, int(np.count_nonzero(gained)) / road_cells


def _stands(before: SceneView, edit: GateInput) -> float:
    """Share of the lowest part of the placement's box that was road."""
    x0, y0, x1, y1 = edit.placement.box_px
    part = before.road[_cells(before, x0, y1 - BASE * (y1 - y0), x1, y1)]
    return float(part.mean()) if part.size else 0.0


def _hidden(before: SceneView, after: SceneView, edit: GateInput) -> float | None:
    """Share of the road behind the lower half that is seen no more; None for what is small or flat."""
    size = edit.placement.size
    if size.height < TALL_M or min(size.width, size.length) < WIDE_M:
        return None
    visible = np.zeros(edit.mask.shape, np.float32)
    visible[edit.box] = edit.visible
    object_cells = cv2.resize(visible, before.road.shape[::-1], interpolation=cv2.INTER_AREA) > 0.5
    x0, y0, x1, y1 = edit.placement.box_px
    lower = _cells(before, x0, (y0 + y1) / 2, x1, y1)
    behind = before.road[lower] & object_cells[lower]
    if np.count_nonzero(behind) < _ENOUGH:
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
