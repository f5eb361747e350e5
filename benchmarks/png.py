"""Ways to write the pictures of a case: milliseconds of processor time and bytes, each on the same frames.

Usage: python benchmarks/png.py BENCH [N]: front frames of the first N cases (default 8) of a benchmark.
"""

import io
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from cfgen.core.files import difference, png_bytes, read_image, stored_png
from cfgen.storage.store import Store

Encode = Callable[[np.ndarray], bytes]
PAETH = getattr(cv2, "IMWRITE_PNG_FILTER_PAETH", None)


def opencv(level: int, *more: int) -> Encode:
    """With OpenCV's own choice of filters, or settings of ``more``."""
    settings = [cv2.IMWRITE_PNG_COMPRESSION, level, *more]
    return lambda pixels: cv2.imencode(".png", pixels, settings)[1].tobytes()


def pillow(level: int) -> Encode:
    def encode(pixels: np.ndarray) -> bytes:
        Image.fromarray(pixels).save(data := io.BytesIO(), "PNG", compress_level=level)
        return data.getvalue()

    return encode


def ways() -> dict[str, Encode]:
    found: dict[str, Encode] = {"cfgen, quick": png_bytes, "cfgen, stored": stored_png}
    found |= {f"OpenCV, level {level}": opencv(level) for level in (1, 3, 6)}
    if PAETH is not None:
        found |= {
            f"OpenCV, level {level}, Paeth": opencv(level, cv2.IMWRITE_PNG_FILTER, PAETH)
            for level in (1, 3, 5, 6, 7, 9)
        }
        found["OpenCV, level 1, up"] = opencv(1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP)
        found["OpenCV, Huffman, Paeth"] = opencv(
            1, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_HUFFMAN_ONLY, cv2.IMWRITE_PNG_FILTER, PAETH
        )
    return found | {f"Pillow, level {level}": pillow(level) for level in (1, 3, 6)}


def measured(encode: Encode, pictures: list[np.ndarray]) -> tuple[float, float]:
    """Milliseconds and kB a picture, the faster of two goes."""
    times, sizes = [], []
    for pixels in pictures:
        goes = []
        for _ in range(2):
            start = time.process_time()
            data = encode(pixels)
            goes.append(time.process_time() - start)
        times.append(min(goes))
        sizes.append(len(data))
    return 1000 * statistics.mean(times), statistics.mean(sizes) / 1000


def main() -> None:
    store = Store(Path(sys.argv[1]))
    cases = store.cases()[: int(sys.argv[2]) if len(sys.argv) > 2 else 8]
    read = [
        [read_image(store.case_dir(c.case_id) / f"{n}.png") for n in ("original", "augmented")] for c in cases
    ]
    fronts = [pixels for pair in read for pixels in pair]
    parts = [difference(*pair)[2] for pair in read]
    height, width = fronts[0].shape[:2]
    print(f"{len(fronts)} frames of {width}x{height}, OpenCV {cv2.__version__}\n")
    print("| encoder | ms | kB |\n| --- | ---: | ---: |")
    for name, encode in ways().items():
        print("| {} | {:.1f} | {:.0f} |".format(name, *measured(encode, fronts)), flush=True)
    print("| what changed, cfgen | {:.1f} | {:.0f} |".format(*measured(lambda p: stored_png(p, True), parts)))


if __name__ == "__main__":
    main()
