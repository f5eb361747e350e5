"""Small pictures that travel inside an answer; whole frames go by their path."""

import base64

import numpy as np

from cfgen.files import png_bytes


def data_url(pixels: np.ndarray) -> str:
    """Lossless ``data:`` URL of (H, W, 3 or 4) uint8."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(pixels)).decode()
