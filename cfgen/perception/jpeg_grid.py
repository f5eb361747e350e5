"""The JPEG grid of a frame: quantization tables, chroma subsampling and grid, from its file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, JpegImagePlugin, UnidentifiedImageError

#: Rows are the basis of the 8-point DCT-II (ITU-T T.81, A.3.3).
BASIS = np.array(
    [
        [math.sqrt((1 if k == 0 else 2) / 8) * math.cos((2 * n + 1) * k * math.pi / 16) for n in range(8)]
        for k in range(8)
    ]
)
Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class JpegGrid:
    """How a frame was compressed; blocks begin at its first pixel.

    Attributes:
        luma, chroma: (8, 8) quantization steps by vertical and horizontal frequency, as tuples of rows.
        sampling: luma samples a chroma sample, across and down: (2, 2) for 4:2:0, (1, 1) for 4:4:4.
    """

    luma: Table
    chroma: Table
    sampling: tuple[int, int] = (2, 2)

    @property
    def report(self) -> dict[str, Any]:
        return {
            "tables": [self.luma[0][0], self.luma[7][7], self.chroma[0][0]],
            "sampling": list(self.sampling),
        }


def jpeg_grid_of(data: bytes) -> JpegGrid | None:
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
    steps = [np.array(tables[layer[3]], int).reshape(8, 8).tolist() for layer in (luma, chroma)]
    rows = [tuple(tuple(row) for row in table) for table in steps]
    return JpegGrid(rows[0], rows[1], (luma[1] // chroma[1], luma[2] // chroma[2]))


def transform(plane: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """A plane (h, w) of whole blocks with each 8 x 8 block taken to ``basis``; by its transpose, back."""
    height, width = plane.shape
    rows = (plane.reshape(-1, 8) @ basis.T).reshape(height, width)
    return np.ascontiguousarray(
        (np.ascontiguousarray(rows.T).reshape(-1, 8) @ basis.T).reshape(width, height).T
    )
