"""A frame that was changed since its case was made is not shown to a planner: its answer fails, with the file named."""

from pathlib import Path

import cv2
import numpy as np
import pytest

import cfgen
from cfgen.storage.store import Store


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    out = tmp_path / "bench"
    cfgen.build(out, n=2, controls=(), quiet=True)
    return out


def _scored(bench: Path, file: Path) -> list[str]:
    pixels = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    pixels[-12:] = np.roll(pixels[-12:], 40, axis=1) ^ 1  # it still decodes
    assert cv2.imwrite(str(file), pixels)
    cfgen.score(bench, "cheating", planner_options={"looks": False}, judge="none", quiet=True)
    store = Store(bench)
    rollouts = [rollout for run in store.planner_runs() for rollout in store.rollouts(run.planner)]
    return [str(rollout.fault or rollout.error) for rollout in rollouts if rollout.status == "failed"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["augmented.png", "original.png"])
def test_a_changed_picture_of_a_case_is_named(bench: Path, name: str):
    case = Store(bench).case_ids()[0]
    folder = Store(bench).case_dir(case)
    words = _scored(bench, folder / name)
    assert len(words) == 1
    assert name in words[0]
    assert "was changed since its case was made" in words[0]


@pytest.mark.filterwarnings("ignore")
def test_a_changed_picture_of_a_scene_is_named(bench: Path):
    scene = next(Store(bench).root.glob("scenes/*"))
    words = _scored(bench, next(scene.glob("hist/*.jpg")))
    assert words
    assert all(scene.name in line and "was changed since case" in line for line in words)
