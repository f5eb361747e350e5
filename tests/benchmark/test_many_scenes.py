"""Of many scenes only ids are read before the first case: what comes of it is the same, and what is wrong is told."""

import shutil
from pathlib import Path

import pytest

from cfgen.benchmark import context, scene_choice
from cfgen.benchmark.context import BuildContext, WorkerSettings
from cfgen.benchmark.scene_choice import choose
from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.scenes.folder import SCENE_FILE
from cfgen.storage.store import Store
from tests.benches import run, tree


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two scenes are many."""
    for module in (scene_choice, context):
        monkeypatch.setattr(module, "AT_ONCE", 1)


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    for name in ("residential_clear_04", "residential_day_05"):
        shutil.copytree(scenarios_dir() / "scenes" / name, tmp_path / "scenes" / name)
    return tmp_path / "scenes"


def build(scenes: Path, out: Path, n: int = 2) -> tuple[int, str, str]:
    fixed = [
        "build",
        "--n",
        n,
        "--out",
        out,
        "--scenes",
        scenes,
        "--seed",
        1,
        "--hazards",
        "cone_line,work_barrier",
    ]
    return run(*fixed, "--attempts", 2, "--jobs", 1, "--quiet")


def test_the_build_is_the_same_byte_for_byte_and_a_changed_scene_is_refused(
    scenes, tmp_path, monkeypatch, request
):
    whole, later = tmp_path / "whole", tmp_path / "later"
    assert build(scenes, whole)[0] == 0
    request.getfixturevalue("many")
    assert set(choose(scenes, "", False).hashes.values()) == {""}
    assert build(scenes, later)[0] == 0
    files = ("*.json*", "[a-z]*/**/*")
    assert tree(later, *files) == tree(whole, *files)
    assert run("bench", "verify", later)[0] == 0
    assert build(scenes, later)[0] == 0
    first = sorted(scenes.iterdir())[0]
    path = first / SCENE_FILE
    path.write_text(path.read_text().replace('"license": "', '"license": "not '))
    made = BuildContext(
        WorkerSettings(later, context.save_folder_index(Store(later), choose(scenes, "", False).folders))
    )
    with pytest.raises(InputError, match="was changed since a case was made in it; restore it"):
        made.scene(first.name)
    assert made.scene(sorted(scenes.iterdir())[1].name)
