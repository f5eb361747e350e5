"""One picture that tells one case: both frames, the plots, the numbers, the words and the scores."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np

from cfgen.geometry.trajectory import deltas
from cfgen.records import DIMENSIONS
from cfgen.render import canvas as ink
from cfgen.render.bev import bev
from cfgen.render.canvas import INK, MUTED, ORANGE, PAPER, TEAL, Color, put_line, put_text, wrap
from cfgen.render.speed import speed_plot

_WIDTH, _EDGE = 1680, 24
_HALF = (_WIDTH - 3 * _EDGE) // 2
_BACK: Color = (244, 246, 248)
_BEV = (620, 600)
_SPEED = (620, 350)
_WORDS_LINES = 9
_SCORE_COLORS: dict[int | None, Color] = {
    0: ink.RED,
    1: (184, 116, 0),
    2: (25, 118, 68),
    None: MUTED,
}


@dataclass(frozen=True)
class PanelItem:
    """What a panel shows. Images (H, W, 3) uint8 RGB; plans (24, 3) m, rad, or None where the planner failed."""

    original_image: np.ndarray
    modified_image: np.ndarray
    original_plan: np.ndarray | None
    modified_plan: np.ndarray | None
    original_text: str
    modified_text: str
    scores: Mapping[str, int | None] = field(default_factory=dict)
    #: the judge's words, or why there are no scores
    explanation: str = ""
    #: (4, 2) x, y of the hazard's corners on the ground, ego frame at t0, m; for readers of what is scored already
    outline: np.ndarray | None = None


def case_panel(item: PanelItem) -> np.ndarray:
    """The panel, (H, 1680, 3) uint8 RGB; the height follows the frames' aspect."""
    frames = _frames(item)
    canvas = np.full((frames.shape[0] + _BEV[1] + 320, _WIDTH, 3), _BACK, np.uint8)
    canvas[: frames.shape[0]] = frames
    top = frames.shape[0] + _EDGE
    _plots(canvas, item, top)
    _scores(canvas, item, 2 * _BEV[0] + 3 * _EDGE, top)
    top += _BEV[1] + _EDGE
    for x, color, name, text in (
        (_EDGE, TEAL, "original output", item.original_text),
        (2 * _EDGE + _HALF, ORANGE, "modified output", item.modified_text),
    ):
        put_text(canvas, x, top + 16, name, 17, color)
        _paragraph(canvas, x, top + 44, _HALF, spoken(text), _WORDS_LINES)
    return canvas


def spoken(text: str) -> str:
    """A planner's text with its list of waypoints folded to one word."""
    return re.sub(r"(?:<wp>[^<]*</wp>[\s,]*)+", "[waypoints] ", text).strip()


def _frames(item: PanelItem) -> np.ndarray:
    """Both frames side by side under their names."""
    height, width = item.original_image.shape[:2]
    scale = min(_HALF / width, 620 / height)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    canvas = np.full((48 + size[1], _WIDTH, 3), _BACK, np.uint8)
    columns = (
        (_EDGE, TEAL, "original frame", item.original_image),
        (2 * _EDGE + _HALF, ORANGE, "modified frame", item.modified_image),
    )
    for x, color, name, image in columns:
        put_text(canvas, x, 32, name, 17, color)
        resized = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
        canvas[48:, x : x + size[0]] = resized
    return canvas


def _plots(canvas: np.ndarray, item: PanelItem, top: int) -> None:
    """Bird's-eye view left; speed and the numbers to its right."""
    second = 2 * _EDGE + _BEV[0]
    for x in (_EDGE, second):
        canvas[top : top + _BEV[1], x : x + _BEV[0]] = PAPER
    if item.original_plan is None:
        put_text(
            canvas, _EDGE + 24, top + 40, "no plan on the original frame: nothing to compare with", 15, MUTED
        )
        return
    view = bev(item.original_plan, item.modified_plan, _BEV, outline=item.outline)
    canvas[top : top + _BEV[1], _EDGE : _EDGE + _BEV[0]] = view
    speed = speed_plot(item.original_plan, item.modified_plan, _SPEED)
    canvas[top : top + _SPEED[1], second : second + _SPEED[0]] = speed
    if item.modified_plan is None:
        put_text(canvas, second + 24, top + _SPEED[1] + 40, "no plan on the modified frame", 15, MUTED)
        return
    _table(canvas, item.original_plan, item.modified_plan, second, top + _SPEED[1])


def _table(canvas: np.ndarray, original: np.ndarray, modified: np.ndarray, x: int, y: int) -> None:
    """The delta table, set in columns."""
    ends = [x + 80, x + 230, x + 380, x + 580]
    names = ["t (s)", "dx (m)", "dy (m)", "dspeed (km/h)"]
    put_text(canvas, x + 24, y + 24, "modified minus original", 15, INK)
    for end, name in zip(ends, names, strict=True):
        put_text(canvas, end, y + 56, name, 15, MUTED, "r")
    put_line(canvas, np.array([[x + 24, y + 66], [x + 590, y + 66]]), ink.SHADE)
    for i, row in enumerate(deltas(original, modified)):
        line = (f"{row.t:g}", f"{row.dx:+.2f}", f"{row.dy:+.2f}", f"{row.dspeed_kmh:+.1f}")
        for end, value in zip(ends, line, strict=True):
            put_text(canvas, end, y + 92 + 26 * i, value, 16, INK, "r")


def _scores(canvas: np.ndarray, item: PanelItem, x: int, y: int) -> None:
    """A badge for each dimension, then the reasons."""
    width = _WIDTH - _EDGE - x
    canvas[y : y + _BEV[1], x : x + width] = PAPER
    for i, name in enumerate(DIMENSIONS):
        score = item.scores.get(name)
        row = y + 16 + 56 * i
        canvas[row : row + 44, x + 16 : x + 60] = _SCORE_COLORS[score]
        put_text(canvas, x + 38, row + 31, "-" if score is None else str(score), 24, PAPER, "m")
        put_text(canvas, x + 74, row + 29, name, 18, INK)
    _paragraph(canvas, x + 16, y + 216, width - 32, item.explanation, 17)


def _paragraph(canvas: np.ndarray, x: int, y: int, width: int, text: str, limit: int) -> None:
    """Wrapped text; what does not fit is counted, not hidden."""
    lines = wrap(text, width, 15)
    if len(lines) > limit:
        left_out = len(lines) - limit + 1
        lines = [*lines[: limit - 1], f"… {left_out} more lines"]
    for i, line in enumerate(lines):
        put_text(canvas, x, y + 22 * i, line, 15, INK if line[:1] != "…" else MUTED)
