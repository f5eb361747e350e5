"""Which cases look alike: perceptual hashes of whole frames and of what was changed in them.

Two are alike whose frames, changed parts and places in the frame all are. Hashes are worked out behind the first
screen and kept in the benchmark's ``.work``.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.core.files import read_json, write_bytes

#: Bits of 64 that may differ, chosen on the demo drives: see tests/app/test_looks.py.
_FRAME_BITS, _PART_BITS, _OVERLAP = 6, 8, 0.5
_ROWS = 500


@dataclass(frozen=True)
class ImageHash:
    """``box``: what was changed, as shares of the frame. ``mtime_ns``: the file's time of writing."""

    mtime_ns: int
    frame: int
    part: int
    box: tuple[float, float, float, float]


def hash_image(path: Path, box_px: tuple[float, float, float, float]) -> ImageHash:
    """The look of a frame whose changed part is ``box_px``.

    Raises:
        CfgenError: it is no picture.
    """
    grey = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if grey is None:
        raise CfgenError(f"{path}: expected a picture, found something else; run: cfgen bench verify")
    height, width = grey.shape
    x0, y0 = max(0, min(width - 2, int(box_px[0]))), max(0, min(height - 2, int(box_px[1])))
    x1, y1 = max(x0 + 2, min(width, round(box_px[2]))), max(y0 + 2, min(height, round(box_px[3])))
    box = x0 / width, y0 / height, x1 / width, y1 / height
    return ImageHash(path.stat().st_mtime_ns, phash(grey), phash(grey[y0:y1, x0:x1]), box)


def phash(grey: np.ndarray) -> int:
    """64 bits: which of the lowest frequencies of the picture are above their median (pHash)."""
    small = cv2.resize(grey, (32, 32), interpolation=cv2.INTER_AREA).astype(np.float32)
    low = cv2.dct(small)[:8, :8].ravel()
    return int.from_bytes(np.packbits(low > np.median(low[1:])).tobytes(), "big")


def alike(looks: Mapping[str, ImageHash]) -> dict[str, set[str]]:
    """Of each, the others that it looks like."""
    ids = sorted(looks)
    frames, parts = (_bits([getattr(looks[i], which) for i in ids]) for which in ("frame", "part"))
    boxes = np.array([looks[i].box for i in ids])
    pairs_of: dict[str, set[str]] = {}
    for start in range(0, len(ids), _ROWS):
        rows = slice(start, start + _ROWS)
        near = (_apart(frames, rows) <= _FRAME_BITS) & (_apart(parts, rows) <= _PART_BITS)
        pairs = np.argwhere(near & (np.arange(len(ids)) > np.arange(start, start + len(near))[:, None]))
        pairs[:, 0] += start
        for i, j in pairs[_share(boxes[pairs[:, 0]], boxes[pairs[:, 1]]) >= _OVERLAP].tolist():
            pairs_of.setdefault(ids[i], set()).add(ids[j])
            pairs_of.setdefault(ids[j], set()).add(ids[i])
    return pairs_of


def _share(boxes: np.ndarray, others_boxes: np.ndarray) -> np.ndarray:
    """Intersection over union of boxes (N, 4)."""
    low, high = np.maximum(boxes[:, :2], others_boxes[:, :2]), np.minimum(boxes[:, 2:], others_boxes[:, 2:])
    shared = np.clip(high - low, 0, None).prod(1)
    return shared / (
        (boxes[:, 2:] - boxes[:, :2]).prod(1) + (others_boxes[:, 2:] - others_boxes[:, :2]).prod(1) - shared
    )


def _bits(hashes: list[int]) -> np.ndarray:
    """(N, 64) of -1 and 1."""
    raw = np.frombuffer(b"".join(h.to_bytes(8, "big") for h in hashes), np.uint8).reshape(-1, 8)
    return np.unpackbits(raw, axis=1).astype(np.float32) * 2 - 1


def _apart(bits: np.ndarray, rows: slice) -> np.ndarray:
    return (64 - bits[rows] @ bits.T) / 2


@dataclass
class SimilarityIndex:
    """Those of a benchmark's cases, kept in ``path``."""

    path: Path
    stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _alike: dict[str, set[str]] = field(default_factory=dict)

    def alike(self) -> Mapping[str, set[str]]:
        """As far as it is known yet."""
        return self._alike

    def learn(
        self, pictures: Iterable[tuple[str, Path, tuple[float, ...]]], pause: Callable[[], object]
    ) -> None:
        """ImageHash at those whose picture is new: id, picture and box of each. ``pause`` is called between two."""
        with self._lock:
            before = _read(self.path)
            looks: dict[str, ImageHash] = {}
            for case_id, path, box in pictures:
                if self.stop.is_set():
                    return
                try:
                    look = before.get(case_id)
                    if look is None or look.mtime_ns != path.stat().st_mtime_ns:
                        look = hash_image(path, (box[0], box[1], box[2], box[3]))
                        pause()
                except (OSError, CfgenError):  # it went away, or verify will name it
                    continue
                looks[case_id] = look
            self._alike = alike(looks) if looks else {}
            if looks != before:
                content = {i: [x.mtime_ns, x.frame, x.part, *x.box] for i, x in looks.items()}
                write_bytes(self.path, json.dumps(content).encode())


def _read(path: Path) -> dict[str, ImageHash]:
    try:
        return {i: ImageHash(m, f, p, (a, b, c, d)) for i, (m, f, p, a, b, c, d) in read_json(path).items()}
    except (OSError, CfgenError, ValueError, TypeError, AttributeError):  # not there yet, or half of it
        return {}
