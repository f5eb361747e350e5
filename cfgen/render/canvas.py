"""Ink shared by the pictures: colours, text in the font that ships with Pillow, antialiased lines.

A canvas is a plain (H, W, 3) uint8 RGB array, drawn on in place; points are pixels (x right, y down).
"""

import re
import unicodedata
from functools import lru_cache

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

Color = tuple[int, int, int]

TEAL: Color = (0, 128, 128)
ORANGE: Color = (240, 116, 16)
INK: Color = (33, 37, 41)
MUTED: Color = (104, 112, 122)
GRID: Color = (226, 230, 234)
AXIS: Color = (168, 176, 184)
PAPER: Color = (255, 255, 255)
SHADE: Color = (205, 211, 217)
#: what stands in the way, and the lowest score
RED: Color = (176, 42, 55)

#: The font covers Latin-1 punctuation only in part; what it lacks is spelled out.
_SPELLED = str.maketrans(
    {
        "θ": "theta",
        "Δ": "d",
        "→": "->",
        "←": "<-",
        "−": "-",
        "–": "-",
        "—": "-",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "≤": "<=",
        "≥": ">=",
        "×": "x",
        "²": "^2",
        "\t": "    ",
        "\xa0": " ",
    }
)


def printable(text: str) -> str:
    """``text`` in the characters that the font has: accents dropped, symbols spelled out, the rest as ``?``."""
    if text.isascii() and text.isprintable():
        return text
    spelled = unicodedata.normalize("NFKD", text.translate(_SPELLED))
    letters = (c for c in spelled if not unicodedata.combining(c))
    return "".join(c if c in "\n°…" or " " <= c <= "~" else "?" for c in letters)


@lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's own scalable font, the same on every machine."""
    default = ImageFont.load_default(size)
    assert isinstance(default, ImageFont.FreeTypeFont), "Pillow was built without FreeType"
    return default


def sheet(size: tuple[int, int]) -> np.ndarray:
    """A blank white canvas of (W, H) pixels."""
    return np.full((size[1], size[0], 3), 255, np.uint8)


def text_width(text: str, size: int) -> float:
    """Advance width of one line, pixels."""
    return _advance(printable(text), size)


def wrap(text: str, width: float, size: int) -> list[str]:
    """Lines no wider than ``width`` pixels: broken after spaces, hyphens, underscores, else anywhere; never cut."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        line = ""
        for part in re.findall(r"[^\s_-]*[_-]+|[^\s_-]+\s*", " ".join(paragraph.split())):
            if line and text_width((line + part).rstrip(), size) > width:
                lines.append(line.strip())
                line = ""
            while len(part) > 1 and text_width(part.rstrip(), size) > width:
                fits = (n for n in range(len(part) - 1, 1, -1) if text_width(part[:n], size) <= width)
                end = next(fits, 1)
                lines.append(part[:end])
                part = part[end:]
            line += part
        if line.strip():
            lines.append(line.strip())
    return lines


@lru_cache(maxsize=4096)
def _advance(text: str, size: int) -> float:
    return font(size).getlength(text)


@lru_cache(maxsize=2048)
def _glyphs(text: str, size: int) -> tuple[np.ndarray, int, int, float]:
    """Coverage (h, w, 1) float32 in 0..1, the offset of its corner from the left end of the baseline, the advance."""
    start_x, top, right, bottom = (round(v) for v in font(size).getbbox(text, anchor="ls"))
    image = Image.new("L", (max(1, right - start_x), max(1, bottom - top)))
    ImageDraw.Draw(image).text((-start_x, -top), text, fill=255, font=font(size), anchor="ls")
    return np.asarray(image, np.float32)[..., None] / 255, start_x, top, _advance(text, size)


def put_text(
    canvas: np.ndarray, x: float, y: float, text: str, size: int = 14, color: Color = INK, anchor: str = "l"
) -> None:
    """One line with its baseline at ``y``; ``x`` is its left end, middle or right end: anchor l, m or r."""
    text = printable(text)
    coverage, start_x, top, advance = _glyphs(text, size)
    x -= {"l": 0.0, "m": 0.5, "r": 1.0}[anchor] * advance
    x0, y0 = round(x) + start_x, round(y) + top
    height, width = coverage.shape[:2]
    cut_y, cut_x = max(0, -y0), max(0, -x0)
    region = canvas[max(0, y0) : max(0, y0 + height), max(0, x0) : max(0, x0 + width)]
    part = coverage[cut_y : cut_y + region.shape[0], cut_x : cut_x + region.shape[1]]
    region[:] = np.rint(region + (np.array(color, np.float32) - region) * part).astype(np.uint8)


_SHIFT = 4  # cv2 draws with coordinates in sixteenths of a pixel


def _fixed(points: np.ndarray) -> np.ndarray:
    """Pixel coordinates to cv2's fixed point; far outside stays far outside without overflowing."""
    return np.rint(np.clip(points, -30_000, 30_000) * (1 << _SHIFT)).astype(np.int32)


def put_line(canvas: np.ndarray, points: np.ndarray, color: Color, width: int = 1) -> None:
    """An antialiased polyline through ``points`` (N, 2)."""
    cv2.polylines(canvas, [_fixed(points)], False, color, width, cv2.LINE_AA, _SHIFT)


def put_dots(canvas: np.ndarray, points: np.ndarray, radius: float, color: Color, width: int = -1) -> None:
    """Antialiased discs at ``points`` (N, 2), or rings when ``width`` is positive."""
    for x, y in _fixed(points).tolist():
        cv2.circle(canvas, (x, y), round(radius * (1 << _SHIFT)), color, width, cv2.LINE_AA, _SHIFT)


def put_area(canvas: np.ndarray, points: np.ndarray, color: Color) -> None:
    """A filled antialiased polygon (N, 2)."""
    cv2.fillPoly(canvas, [_fixed(points)], color, cv2.LINE_AA, _SHIFT)


def put_legend(canvas: np.ndarray, x: float, y: float, entries: list[tuple[Color, str]], size: int) -> None:
    """Swatch and words, one entry after the other, on the baseline ``y``."""
    for color, words in entries:
        middle = y - 0.35 * size
        put_line(canvas, np.array([[x, middle], [x + 22, middle]]), color, 4)
        put_text(canvas, x + 30, y, words, size)
        x += 30 + text_width(words, size) + 26


def nice_step(span: float, ticks: int) -> float:
    """The smallest of 1, 2, 5 x 10^k that divides ``span`` into at most ``ticks`` steps."""
    raw = span / ticks
    power = 10.0 ** np.floor(np.log10(raw))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9)))
