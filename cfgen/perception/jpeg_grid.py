"""The JPEG grid of a frame: quantization tables, chroma subsampling and grid, from its file or from its pixels."""

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import cv2
import numpy as np
from PIL import Image, JpegImagePlugin, UnidentifiedImageError

from cfgen.core.hashing import hash_bytes

#: Rows are the basis of the 8-point DCT-II (ITU-T T.81, A.3.3).
BASIS = np.array(
    [
        [math.sqrt((1 if k == 0 else 2) / 8) * math.cos((2 * n + 1) * k * math.pi / 16) for n in range(8)]
        for k in range(8)
    ]
)
#: A file whose tables are no coarser than this on average leaves an older grid visible below its own.
_FINE = 6.0
#: By so much of all coefficients more are next to none on the grid than off it.
_STANDS_OUT = 0.06
#: Least periodicity of coefficients, 0 to 1, for a table to be taken as found, and the qualities tried.
_PERIODIC, _QUALITIES = 0.35, range(40, 97)
#: Part of the frame that a grid is looked for in, pixels, and the least.
_PART, _LEAST = (160, 256), 64
#: Frames whose grid is remembered.
_REMEMBERED = 256
#: Higher frequencies, which quantization sets to nothing, and lower ones, which are left to tell the steps by.
_HIGH = np.add.outer(np.arange(8), np.arange(8)) >= 5
_LOW = np.add.outer(np.arange(8), np.arange(8)) <= 5

Table = tuple[tuple[int, ...], ...]


def _rows(table: Any) -> Table:
    flat = [int(v) for v in table]
    return tuple(tuple(flat[8 * k : 8 * k + 8]) for k in range(8))


def _standard_tables() -> tuple[Table, Table]:
    """Luma's and chroma's example tables of ITU-T T.81, K.1, by row: encoders scale these by their quality."""
    data = BytesIO()
    Image.new("RGB", (16, 16)).save(data, "JPEG", quality=50)  # at which libjpeg writes them as they are
    with Image.open(data) as file:
        assert isinstance(file, JpegImagePlugin.JpegImageFile)
        return _rows(file.quantization[0]), _rows(file.quantization[1])


_TABLES = _standard_tables()


@dataclass(frozen=True)
class JpegGrid:
    """How a frame was compressed.

    Attributes:
        luma, chroma: (8, 8) quantization steps by vertical and horizontal frequency, as tuples of rows.
        sampling: luma samples a chroma sample, across and down: (2, 2) for 4:2:0, (1, 1) for 4:4:4.
        phase: column and row of the first block's first pixel, in [0, 8 * sampling).
    """

    luma: Table
    chroma: Table
    sampling: tuple[int, int] = (2, 2)
    phase: tuple[int, int] = (0, 0)

    @classmethod
    def of_quality(
        cls, quality: int, sampling: tuple[int, int] = (2, 2), phase: tuple[int, int] = (0, 0)
    ) -> "JpegGrid":
        """As an encoder with the tables of ITU-T T.81 and the common scale of qualities from 1 to 100 makes it."""
        scale = 5000 // quality if quality < 50 else 200 - 2 * quality

        def scaled(table: Table) -> Table:
            return tuple(tuple(min(max((v * scale + 50) // 100, 1), 255) for v in row) for row in table)

        luma, chroma = _TABLES
        return cls(scaled(luma), scaled(chroma), sampling, phase)

    @property
    def report(self) -> dict[str, Any]:
        return {
            "tables": [self.luma[0][0], self.luma[7][7], self.chroma[0][0]],
            "sampling": list(self.sampling),
            "phase": list(self.phase),
        }


#: What a frame went through, in this order; nothing for one without a trace of JPEG.
JpegGrids = tuple[JpegGrid, ...]


def jpeg_grids_of(data: bytes, image: np.ndarray) -> JpegGrids:
    """What a frame's file ``data`` tells of its compression, its pixels (H, W, 3) uint8 where the file tells nothing.

    A file with fine tables may hold a frame that was compressed more coarsely before: that grid is looked for too.
    """
    own = _read(data)
    if own is not None and np.mean(own.luma) > _FINE:
        return (own,)
    older = _remembered_grid(hash_bytes(data), image)
    if own is None:
        return () if older is None else (older,)
    coarser = older is not None and np.mean(older.luma) > 1.3 * np.mean(own.luma)
    return (older, own) if older is not None and coarser else (own,)


_remembered: OrderedDict[str, JpegGrid | None] = OrderedDict()


def _remembered_grid(digest: str, image: np.ndarray) -> JpegGrid | None:
    """The grid that shows in a frame, looked for once for all cases of its scene."""
    if digest not in _remembered:
        _remembered[digest] = find_jpeg_grid(image)
        while len(_remembered) > _REMEMBERED:
            _remembered.popitem(last=False)
    return _remembered[digest]


def _read(data: bytes) -> JpegGrid | None:
    """The grid of an encoded image; None when it is no colour JPEG."""
    try:
        with Image.open(BytesIO(data)) as file:
            if not isinstance(file, JpegImagePlugin.JpegImageFile) or file.mode != "RGB":
                return None
            tables: Mapping[int, Any] = file.quantization
            layers = file.layer  # (id, across, down, table) a component
    except (UnidentifiedImageError, OSError, ValueError):
        return None
    luma, chroma = layers[0], layers[1]
    across, down = luma[1] // chroma[1], luma[2] // chroma[2]
    return JpegGrid(_rows(tables[luma[3]]), _rows(tables[chroma[3]]), (across, down))


def find_jpeg_grid(image: np.ndarray) -> JpegGrid | None:
    """The grid that shows in a frame (H, W, 3) uint8, or None.

    Its grid is where most high frequencies of 8 x 8 blocks are next to none; its tables are those of the quality whose
    multiples the others keep to best (after Fan and de Queiroz, IEEE Transactions on Image Processing 2003).
    """
    height, width = image.shape[:2]
    if min(height, width) < _LEAST:
        return None
    tall, wide = (min(n, limit) for n, limit in zip((height, width), _PART, strict=True))
    top, left = (height - tall) * 2 // 3 // 16 * 16, (width - wide) // 2 // 16 * 16
    part = cv2.cvtColor(image[top : top + tall, left : left + wide], cv2.COLOR_RGB2YCrCb)
    grey = part[..., 0].astype(np.float32)
    phase = _grid(grey)
    if phase is None:
        return None
    quality = _quality(_blocks(grey, *phase))
    return None if quality is None else JpegGrid.of_quality(quality, phase=_with_chroma(part, phase))


def transform(plane: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """A plane (h, w) of whole blocks with each 8 x 8 block taken to ``basis``; by its transpose, back."""
    height, width = plane.shape
    rows = (plane.reshape(-1, 8) @ basis.T).reshape(height, width)
    return np.ascontiguousarray(
        (np.ascontiguousarray(rows.T).reshape(-1, 8) @ basis.T).reshape(width, height).T
    )


def _blocks(grey: np.ndarray, column: int, row: int) -> np.ndarray:
    """(N, 8, 8) coefficients of the whole blocks of a picture whose grid begins at a column and row."""
    part = grey[row:, column:]
    rows, cols = (n // 8 * 8 for n in part.shape)
    coefficients = transform(part[:rows, :cols] - np.float32(128), BASIS)
    return coefficients.reshape(rows // 8, 8, cols // 8, 8).transpose(0, 2, 1, 3).reshape(-1, 8, 8)


def _grid(grey: np.ndarray) -> tuple[int, int] | None:
    """Column and row, below 8, at which blocks begin; None where no grid stands out."""
    # what is flat or full says nothing: blocks of some contrast do
    none = np.array([[_none(_blocks(grey, column, row)) for column in range(8)] for row in range(8)])
    row, column = np.unravel_index(int(np.argmax(none)), none.shape)
    rest = np.delete(none.ravel(), row * 8 + column)
    out = none[row, column] - float(rest.max())
    return (int(column), int(row)) if out > _STANDS_OUT else None


def _none(blocks: np.ndarray) -> float:
    """Share of high frequencies that are next to none in the blocks (N, 8, 8) that have any contrast."""
    high = np.abs(blocks[:, _HIGH])
    busy = np.abs(blocks[:, _LOW]).sum(1) - np.abs(blocks[:, 0, 0]) > 20
    return float((high[busy] < 0.7).mean()) if busy.sum() >= 20 else 0.0


def _quality(coefficients: np.ndarray) -> int | None:
    """The quality whose steps coefficients (N, 8, 8) are multiples of."""
    best, quality_fit = _PERIODIC, None
    for quality in _QUALITIES:
        steps = np.array(JpegGrid.of_quality(quality).luma, np.float32)
        informative = (steps >= 3) & _LOW
        c, q = coefficients[:, informative], steps[informative]
        off_zero = np.abs(c) > 0.6 * q
        if off_zero.sum() < 200:
            continue
        periodic = float(np.cos(2 * np.pi * c / q)[off_zero].mean())
        # half a step is as periodic: a coarser table that explains as much is the one
        if periodic > best + (0.02 if quality_fit else 0.0):
            best, quality_fit = periodic, quality
    return quality_fit


def _with_chroma(ycc: np.ndarray, phase: tuple[int, int]) -> tuple[int, int]:
    """The phase modulo 16, since chroma's blocks are twice as large: where its steps are larger."""
    chroma = ycc[..., 1:].astype(np.float32).sum(-1)
    starts = []
    for plane, first in ((chroma, phase[0]), (chroma.T, phase[1])):
        step = np.abs(np.diff(plane, axis=1)).mean(0)
        options = [float(step[(first + shift - 1) % 16 :: 16].mean()) for shift in (0, 8)]
        starts.append(first + 8 * int(options[1] > options[0]))
    return starts[0], starts[1]
