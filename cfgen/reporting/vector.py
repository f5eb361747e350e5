"""Drawings that can be written as SVG for the page and as PDF for a paper, from the same strokes.

Points are in a y-down frame; one unit is a CSS pixel in SVG and 0.75 pt in PDF.
"""

import html
import re
import zlib
from dataclasses import dataclass, field

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
#: Advance widths of Helvetica for the characters 32 to 126, in 1/1000 of the size.
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556,) * 10,
    *(278, 278, 584, 584, 584, 556, 1015),
    *(667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833),
    *(722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611),
    *(278, 278, 278, 469, 556, 333),
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833),
    *(556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500),
    *(334, 260, 334, 584),
)
#: Corners of marks in units of their radius; none: a disc.
SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    ((0, 1.2), (1.1, -0.8), (-1.1, -0.8)),
    (
        *((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4)),
        *((0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ),
    ((-1.2, -0.5), (1.2, -0.5), (1.2, 0.5), (-1.2, 0.5)),
)


@dataclass
class Drawing:
    """A canvas of ``width`` x ``height``; colours are ``#rrggbb``. ``title`` is what a screen reader says."""

    width: float
    height: float
    title: str
    _svg: list[str] = field(default_factory=list)
    _pdf: list[str] = field(default_factory=list)
    #: what a caption adds to the height
    _below: float = 0.0

    def line(self, points: list[tuple[float, float]], color: str, width: float = 1.0) -> None:
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self._svg.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )
        (x0, y0), *rest = points
        steps = " ".join(f"{x:.2f} {self._up(y)} l" for x, y in rest)
        self._pdf.append(f"{_rgb(color)} RG {width:g} w {x0:.2f} {self._up(y0)} m {steps} S")

    def disc(self, x: float, y: float, radius: float, color: str) -> None:
        self._svg.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}" fill="{color}"/>')
        self._pdf.append(
            f"{_rgb(color)} RG 1 J {2 * radius:g} w {x:.2f} {self._up(y)} m {x:.2f} {self._up(y)} l S"
        )

    def mark(self, x: float, y: float, radius: float, color: str, shape: int) -> None:
        """A disc for shape 0, else one of :data:`SHAPES`, about as large."""
        corners = SHAPES[shape % len(SHAPES)]
        if not corners:
            self.disc(x, y, radius, color)
            return
        points = [(x + radius * dx, y + radius * dy) for dx, dy in corners]
        path = " ".join(f"{px:.2f},{py:.2f}" for px, py in points)
        self._svg.append(f'<polygon points="{path}" fill="{color}"/>')
        (x0, y0), *rest = points
        steps = " ".join(f"{px:.2f} {self._up(py)} l" for px, py in rest)
        self._pdf.append(f"{_rgb(color)} rg {x0:.2f} {self._up(y0)} m {steps} f")

    def caption(self, words: str, size: float = 11, color: str = "#68707a") -> None:
        """Sentences below everything else, over as many lines as they need."""
        for line in wrapped(words, self.width - 8, size):
            self._below += 1.4 * size
            self.text(0, self.height + self._below - 0.4 * size, line, size, color)

    def text(
        self, x: float, y: float, words: str, size: float = 13, color: str = "#212529", anchor: str = "start"
    ) -> None:
        """One line with its baseline at ``y``; anchor: start, middle or end."""
        self._svg.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:g}" fill="{color}" text-anchor="{anchor}">'
            f"{html.escape(words)}</text>"
        )
        words = latin(words)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * text_width(words, size)
        quoted = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self._pdf.append(f"BT {_rgb(color)} rg /F1 {size:g} Tf {left:.2f} {self._up(y)} Td ({quoted}) Tj ET")

    def svg(self) -> str:
        """A standalone or inline SVG element that scales with its container."""
        height = self.height + self._below
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {height:g}" '
            f'width="{self.width:g}" height="{height:g}" role="img" font-family="{html.escape(_FONT)}">'
            f"<title>{html.escape(self.title)}</title>{''.join(self._svg)}</svg>"
        )

    def pdf(self) -> bytes:
        """One page of exactly the drawing's size, in Helvetica."""
        start = f"0.75 0 0 0.75 0 {0.75 * self._below:g} cm 1 j 1 J\n"
        content = (start + "\n".join(self._pdf)).encode("latin-1")
        packed = zlib.compress(content, 9)
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %.2f %.2f] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>"
            % (0.75 * self.width, 0.75 * (self.height + self._below)),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        ]
        out, offsets = bytearray(b"%PDF-1.4\n"), []
        for number, body in enumerate(objects, start=1):
            offsets.append(len(out))
            out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
        table = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
        out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
        out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
        return bytes(out)

    def _up(self, y: float) -> str:
        return f"{self.height - y:.2f}"


def latin(words: str) -> str:
    """What a PDF's standard font can show; other characters as ``?``."""
    return (
        words.replace("\n", " ")
        .encode("cp1252", "replace")
        .decode("cp1252")
        .encode("latin-1", "replace")
        .decode("latin-1")
    )


def text_width(words: str, size: float) -> float:
    """Advance width in Helvetica; characters beyond ASCII count as wide as a digit."""
    return size / 1000 * sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in words)


def wrapped(words: str, width: float, size: float) -> list[str]:
    """``words`` in lines no wider than ``width``: broken after spaces, hyphens, underscores, else anywhere."""
    lines = [""]
    for part in re.findall(r"[^\s_-]*[_-]+|[^\s_-]+\s*|\s+", " ".join(words.split())):
        if lines[-1] and text_width((lines[-1] + part).rstrip(), size) > width:
            lines.append("")
        for letter in part:
            if lines[-1] and text_width((lines[-1] + letter).rstrip(), size) > width:
                lines.append("")
            lines[-1] += letter
    return [line.strip() for line in lines]


def _rgb(color: str) -> str:
    return " ".join(f"{int(color[i : i + 2], 16) / 255:.3f}" for i in (1, 3, 5))
