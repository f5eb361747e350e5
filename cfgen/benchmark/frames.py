"""How the pictures of a case are written, and the one way in which they are read again."""

from pathlib import Path

import numpy as np

from cfgen.core.files import FrameFile, difference, png_bytes, stored_png, write_bytes
from cfgen.core.hashing import hash_image
from cfgen.records import Case, Frame, Patch
from cfgen.storage.store import Store

ORIGINAL, AUGMENTED, MASK, LAYER = "original.png", "augmented.png", "mask.png", "layer.png"


def frame_path(arm: str, camera: str, t: float) -> str:
    """Where a changed frame lies in its case folder, or would lie if it were stored whole."""
    return f"frames/{arm}/{camera}@{round(t * 1000)}.png"


def patch_path(name: str) -> str:
    """Where the difference lies that stands for the frame ``name``."""
    return f"{name.removesuffix('.png')}.patch.png"


def picture_of(case: Case, arm: str, frame: Frame, front: bool) -> str:
    """Name of the picture that ``arm`` shows in place of the scene's ``frame``; "" where it changes nothing.

    ``front``: that of the front camera at t0.
    """
    if arm in ("original", "rerun"):
        name = ORIGINAL if front else ""
    else:
        name = AUGMENTED if arm == "hazard" and front else frame_path(arm, frame.camera, frame.t)
    return name if name in case.pictures else ""


def patched(name: str, pixels: np.ndarray, source: str, base: np.ndarray) -> tuple[Patch, bytes]:
    """What is stored of the frame ``name``, (H, W, 3) RGB, beside the picture ``source`` with its pixels ``base``."""
    x, y, delta = difference(base, pixels)
    return Patch(file=patch_path(name), source=source, x=x, y=y, whole=hash_image(pixels)), stored_png(
        delta, sparse=True
    )


def frame_file(store: Store, case: Case, name: str, folder: Path | None = None) -> FrameFile:
    """A picture of a case by its name in :attr:`Case.pictures`; ``folder``: the case's, where it is not accepted."""
    folder = folder or store.case_dir(case.case_id)
    patch = case.patches.get(name)
    if patch is None:
        return FrameFile(folder / name, case.files.get(name, ""))
    home = folder if patch.source == ORIGINAL else store.scene_dir(case.scene_id)
    return FrameFile(folder / patch.file, patch.whole, home / patch.source, patch.x, patch.y)


def picture_bytes(store: Store, case: Case, name: str, folder: Path | None = None) -> bytes:
    """Its file, or a file of the whole where only the difference is stored."""
    stored = frame_file(store, case, name, folder)
    return stored.path.read_bytes() if stored.source is None else png_bytes(stored.read())


def write_whole(store: Store, case: Case, out: Path, folder: Path | None = None) -> list[Path]:
    """Every picture of a case in full below ``out``, for a person; returns the files.

    Raises:
        InputError, StoreError: a picture cannot be read or written.
    """
    for name in case.pictures:
        write_bytes(out / name, picture_bytes(store, case, name, folder))
    return [out / name for name in sorted(case.pictures)]
