"""One tiny benchmark of two demo scenes, and a copy of these scenes, for all tests of this room."""

import json
import shutil
from pathlib import Path

import pytest

import cfgen
from cfgen.core.paths import scenarios_dir
from cfgen.sharing.bundle import read_bundle
from cfgen.storage.store import Store
from tests.benches import run
from tests.sharing.results import ARMS, scored

#: All three have room for the hazard on the path and, as a nuisance, off it.
SCENES = ("lane_clear_04", "residential_day_09", "urban_overcast_02")


@pytest.fixture(scope="package")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("their_copy")
    for name in SCENES:
        shutil.copytree(scenarios_dir() / "scenes" / name, folder / name)
        record = json.loads((folder / name / "scene.json").read_text())
        *older, latest, _ = record["history_images"]
        record["history_images"] = [*(None for _ in older), latest, record["history_images"][-1]]
        (folder / name / "scene.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(scope="package")
def bench(scenes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed: copy it."""
    out = tmp_path_factory.mktemp("shared") / "bench"
    made = cfgen.build(out, n=2, scenes=scenes, hazards="cone_line", jobs=1, quiet=True, perception="colour")
    assert len(made) == 2
    return out


@pytest.fixture(scope="package")
def done(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It with answers of ``reactive`` and ``cruise``, which a scripted judge gives 2s. Not to be changed."""
    out = scored(bench, tmp_path_factory.mktemp("run") / "bench")
    judge = {"file": str(out.parent / "bench-replies.json")}
    cfgen.score(out, "cruise", judge="scripted", judge_options=judge, arms=ARMS, quiet=True)
    return out


@pytest.fixture(scope="package")
def bundle(done: Path) -> Path:
    out = done.parent / "mine.cfgen-bundle"
    code, said, err = run(
        "share", "bundle", done, "--planner", "reactive", "--judge", "scripted", "--out", out
    )
    assert (code, err) == (0, "")
    assert f"no pixel of the sources; benchmark {read_bundle(out).index.benchmark}" in said
    return out


@pytest.fixture
def other_licence(bench: Path, tmp_path: Path) -> Path:
    """The same from a source that forbids handing on its pictures."""
    copy = tmp_path / "bench"
    shutil.copytree(bench, copy)
    for case in Store(copy).cases():
        file = copy / "scenes" / case.scene_id / "scene.json"
        file.write_text(file.read_text().replace('"license": "Apache-2.0"', '"license": "CC BY-NC-SA 4.0"'))
    return copy
