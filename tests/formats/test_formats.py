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
from cfgen.cases.frames import frame_file
from cfgen.core.files import read_image, write_record
from cfgen.core.hashing import hash_image
from cfgen.migrate import migrate
from cfgen.store import Store
from cfgen.verify import Verification
from tests.benches import run, tree

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


def _pixels(bench: Path) -> dict[str, str]:
    store = Store(bench)
    return {
        f"{case.case_id}/{name}": hash_image(frame_file(store, case, name).read())
        for case in store.cases()
        for name in case.pictures
    }


def test_migrating_changes_how_frames_are_stored_and_no_pixel_figure_or_answer(
    bench: Path, told: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pixels, others = _pixels(bench), tree(bench, "runs/**/*", "verdicts/**/*", "ratings/**/*", "reviews/**/*")
    before = sum(path.stat().st_size for path in bench.glob("cases/**/*.png"))
    monkeypatch.chdir(bench.parent)
    code, out, err = run("migrate", bench.name, "--quiet")
    assert code == 0, err
    assert "2 of 2 cases" in out
    assert _pixels(bench) == pixels
    assert tree(bench, "runs/**/*", "verdicts/**/*", "ratings/**/*", "reviews/**/*") == others
    assert sum(path.stat().st_size for path in bench.glob("cases/**/*.png")) < 0.6 * before
    assert all(case.schema_version == 2 and case.patches for case in Store(bench).cases())
    assert Verification(Path(bench.name)).run() == []
    cfgen.report(Path(bench.name), tmp_path / "report", panels=0)
    told = {key: value for key, value in told.items() if key != "cfgen_version"}
    assert _holds(_figures(tmp_path / "report"), told)
    assert run("migrate", bench, "--quiet")[1].strip().endswith("all in today's format")


@pytest.mark.parametrize("after", [1, 4, 6, 9, 11])
def test_a_killed_migration_leaves_a_whole_benchmark_and_goes_on(
    bench: Path, after: int, monkeypatch: pytest.MonkeyPatch
):
    """It ends at its ``after``-th write, rename or removal; what can be read is the same before and after."""
    pixels, steps = _pixels(bench), iter(range(100))

    def counted(real):
        def step(*args, **kwargs):
            if next(steps) == after:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        return step

    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))
    with pytest.raises(KeyboardInterrupt):
        migrate(bench, quiet=True)
    monkeypatch.undo()
    assert _pixels(bench) == pixels
    migrate(bench, quiet=True)
    assert _pixels(bench) == pixels
    assert Verification(bench).run() == []


def test_its_recipe_rebuilds_it(kept: Path, tmp_path: Path):
    """Its pictures were written by other settings of the encoder."""
    cfgen.export_recipe(kept, tmp_path / "recipe", quiet=True)
    cfgen.rebuild(tmp_path / "recipe", scenes=kept / "scenes", out=tmp_path / "again", quiet=True)
    assert tree(tmp_path / "again", "cases/**/*") == tree(kept, "cases/**/*")


def test_a_changed_frame_is_not_migrated(bench: Path):
    path = next(bench.glob("cases/*/*/frames/hazard/*.png"))
    path.write_bytes(path.read_bytes() + b"\0")
    code, _, err = run("migrate", bench, "--quiet")
    assert code == 2
    assert f"{path}: is missing or was changed" in err
    assert path.is_file()


def test_show_writes_whole_frames(bench: Path, tmp_path: Path):
    migrate(bench, quiet=True)
    store = Store(bench)
    case = store.cases()[0]
    code, out, err = run("show", bench, case.case_id, "--out", tmp_path / "shown")
    assert code == 0, err
    assert f"{len(case.pictures)} pictures" in out
    for name in case.pictures:
        assert read_image(tmp_path / "shown" / name).shape == (90, 160, 3)
    assert run("show", bench, case.case_id, "--out", tmp_path / "shown")[0] == 2, "holds files"
    assert "expected the id of a case" in run("show", bench, "nobody", "--out", tmp_path / "b")[2]


def test_verify_sees_a_patch_that_gives_another_frame(bench: Path):
    """Its file is whole by its hash, and yet the frame is not: another place, another source, one pixel outside."""
    migrate(bench, quiet=True)
    store = Store(bench)
    case = store.cases()[0]
    name, patch = next(iter(case.patches.items()))
    record = store.case_dir(case.case_id) / "case.json"
    for change, words in (
        ({"x": patch.x + 1}, "does not give the frame"),
        ({"x": 159}, "expected a difference within 160x90"),
        ({"source": "frame.gif"}, "cannot be read as a frame"),
    ):
        other = {**case.patches, name: patch.model_copy(update=change)}
        write_record(record, case.model_copy(update={"patches": other}))
        faults = Verification(bench).run()
        assert any(words in fault for fault in faults), faults
    write_record(record, case)
    (store.case_dir(case.case_id) / patch.file).unlink()
    assert sum("is missing" in fault for fault in Verification(bench).run()) == 1
