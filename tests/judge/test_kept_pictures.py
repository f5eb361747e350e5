"""The judge's pictures that are kept: made of what a planner was shown, and believed only as they were kept."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cfgen.core import paths
from cfgen.core.files import FrameFile, png_bytes
from cfgen.core.hashing import hash_bytes
from cfgen.judge.asking import Pictures, picture
from cfgen.judge.panel import Panel
from cfgen.models.limits import Limits

PIXELS = np.random.default_rng(0).integers(0, 256, (40, 60, 3)).astype(np.uint8)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def frame(tmp_path: Path) -> FrameFile:
    (path := tmp_path / "frame.png").write_bytes(data := png_bytes(PIXELS))
    return FrameFile(path, hash_bytes(data))


def test_what_was_held_is_not_read_to_be_judged(frame: FrameFile, tmp_path: Path) -> None:
    decoded = Pictures(None).picture(frame)
    panel = Panel("p", "p", [], Limits(cache=str(tmp_path / "replies")))
    with panel.ahead() as held:
        held(frame, PIXELS)
        held(frame, PIXELS)
    frame.path.unlink()
    assert panel.asking.pictures.picture(frame) == decoded


def swapped(path: Path) -> None:
    path.write_bytes(picture(255 - PIXELS).data)


def sealed_elsewhere(path: Path) -> None:
    path.write_bytes(picture(255 - PIXELS).data + bytes(paths.SEAL))


def of_another_frame(path: Path) -> None:
    path.write_bytes(paths.seal(picture(255 - PIXELS).data, "other.jpg"))


@pytest.mark.parametrize(
    "change", [swapped, sealed_elsewhere, of_another_frame, lambda p: p.write_bytes(b"")]
)
def test_another_picture_in_its_place_is_made_again(
    change: Callable[[Path], None], frame: FrameFile, tmp_path: Path
) -> None:
    Pictures(tmp_path / "kept").keep(frame, PIXELS)
    [path] = (tmp_path / "kept").iterdir()
    good = path.read_bytes()
    change(path)
    assert Pictures(tmp_path / "kept").picture(frame) == picture(PIXELS)
    assert path.read_bytes() == good
