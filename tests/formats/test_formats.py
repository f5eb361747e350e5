"""A benchmark of every earlier format opens, verifies, is scored again and reported, before and after ``migrate``.

``format-1.tar.xz`` was built, scored, rated and reviewed by cfgen at the end of its first format: two scenes of 160x90,
one of JPEG and one of PNG, null and nuisance arms, two planners. ``format-1.report.json`` is what that cfgen reported.
"""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

import cfgen
from cfgen.store import Store
from cfgen.verify import Verification
from tests.benches import tree

HERE = Path(__file__).parent
FORMATS = ("format-1",)


@pytest.fixture(scope="module", params=FORMATS)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed: copy it."""
    out = tmp_path_factory.mktemp(request.param) / "bench"
    with tarfile.open(HERE / f"{request.param}.tar.xz") as archive:
        archive.extractall(out, filter="data")
    return out


@pytest.fixture(scope="module")
def told() -> dict:
    return json.loads((HERE / "format-1.report.json").read_text())


@pytest.fixture
def bench(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "bench"))


def _figures(report: Path) -> dict:
    """What a report says, without the version that wrote it."""
    found = json.loads((report / "report.json").read_text())
    return {key: value for key, value in found.items() if key != "cfgen_version"}


def _holds(found: object, before: object) -> bool:
    """Whether every figure of ``before`` is in ``found``; later versions may tell more."""
    if isinstance(before, dict):
        return isinstance(found, dict) and all(k in found and _holds(found[k], v) for k, v in before.items())
    if isinstance(before, list):
        return isinstance(found, list) and len(found) == len(before) and all(map(_holds, found, before))
    return found == before


def test_it_opens_and_verifies(kept: Path):
    assert Verification(kept).run() == []
    opened = cfgen.open_benchmark(kept)
    assert len(opened) == 2
    case = opened.cases[0]
    assert set(case.frames("hazard")) == {-0.5, 0.0}
    assert (case.frames("hazard")[-0.5] != case.frames("original")[-0.5]).any()
    assert opened.runs
    assert Store(kept).ratings()
    assert Store(kept).reviews()


def test_its_report_is_what_it_was(kept: Path, told: dict, tmp_path: Path):
    cfgen.report(kept, tmp_path / "report", panels=1)
    told = {key: value for key, value in told.items() if key != "cfgen_version"}
    assert _holds(_figures(tmp_path / "report"), told)


def test_it_is_scored_again(bench: Path):
    verdicts = tree(bench, "verdicts/offline/cruise/*/*.json")
    shutil.rmtree(bench / "runs" / "cruise")
    shutil.rmtree(bench / "verdicts" / "offline" / "cruise")
    arms = ("original", "hazard", "rerun", "null", "nuisance")
    with pytest.warns(UserWarning, match="not been tested on known answers"):
        cfgen.score(bench, planner="cruise", arms=arms, quiet=True, workers=1)
    assert tree(bench, "verdicts/offline/cruise/*/*.json").keys() == verdicts.keys()
    assert Verification(bench).run() == []
