"""Frozen benchmarks: what others build is held against it, pixel by pixel."""

import shutil
from dataclasses import replace
from pathlib import Path

import cv2
import pytest

import cfgen
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.core.files import read_image
from cfgen.core.paths import scenarios_dir
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.options import BuildOptions
from cfgen.scenes.folder import scene_hash
from cfgen.sharing import definitions
from cfgen.sharing.definitions import build_definition, case_hash, check, definition
from cfgen.storage.store import Store


@pytest.fixture(scope="module")
def frozen(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frozen") / "mini-v1.json"
    assert main(["share", "definition", str(bench), "--name", "mini-v1", "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("name", ["noversion", "../x-v1", "x-v1\n"])
def test_a_name_ends_in_its_version_and_is_no_path(name: str, bench: Path, tmp_path: Path):
    with pytest.raises(InputError, match="such as mine-v1, found"):
        cfgen.export_definition(bench, tmp_path / "x.json", name=name)


def _build(frozen: Path, out: Path, scenes: Path, *more: str) -> int:
    where = ("--definition", str(frozen), "--out", str(out), "--scenes", str(scenes))
    return main(["build", *where, "--jobs", "1", "--quiet", *more])


def test_a_build_of_it_is_held_against_it_pixel_by_pixel(
    frozen: Path, scenes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "new"
    # who does the work, where it may reach and what is tried again is not frozen
    assert _build(frozen, out, scenes, "--engine", "serial", "--offline", "--retry-faults") == 0
    assert f"2 cases in {out}, each as '{frozen}' tells" in capsys.readouterr().out
    store = Store(out)
    case_id = store.case_ids()[0]
    picture = store.case_dir(case_id) / "augmented.png"
    bgr = cv2.cvtColor(read_image(picture), cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(picture), bgr, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    check(definition(str(frozen)), store)  # how a file is encoded counts for nothing
    bgr[0, 0, 0] ^= 1
    cv2.imwrite(str(picture), bgr)
    assert _build(frozen, out, scenes) == 1
    said = capsys.readouterr().err
    assert f"1 cases are not those of 'mini-v1', such as {case_id}" in said
    assert "do not report figures" in said


def test_its_own_options_and_scenes_are_all_it_takes(frozen: Path, scenes: Path, tmp_path: Path, capsys):
    # what it is frozen with may be said, another value not
    assert _build(frozen, tmp_path / "new", scenes, "--n", "5", "--seed", "0") == 2
    assert "--n: 'mini-v1' is frozen with 2, found 5; leave it out" in capsys.readouterr().err
    assert _build(frozen, tmp_path / "new", scenes, "--engine-options", "a=1") == 2
    assert "engine 'processes'" in capsys.readouterr().err
    assert _build(frozen, tmp_path / "new", scenes, "--n", str(BuildOptions().n)) == 2, (
        "though it is the default"
    )
    assert "--n: 'mini-v1' is frozen with 2, found 66; leave it out" in capsys.readouterr().err
    theirs = shutil.copytree(scenes, tmp_path / "theirs")
    gone, changed, _ = sorted(path.name for path in theirs.iterdir())
    shutil.rmtree(theirs / gone)
    record = theirs / changed / "scene.json"
    record.write_text(record.read_text().replace('"weather"', '"weather_told"'))
    shutil.copytree(scenarios_dir() / "scenes" / "lane_day_01", theirs / "lane_day_01")
    assert _build(frozen, tmp_path / "new", theirs) == 2
    said = capsys.readouterr().err
    assert f"1 missing ({gone}); 1 changed ({changed}); 1 not of it (lane_day_01)" in said
    assert not (tmp_path / "new").exists()


def test_only_what_a_score_depends_on_counts(bench: Path):
    store = Store(bench)
    case = store.cases()[0]
    told = case_hash(store, case)
    words = case.hazard.model_copy(update={"prompt": "other words", "seen_as": ("dog",)})
    assert case_hash(store, case.model_copy(update={"hazard": words})) == told
    why = case.hazard.model_copy(update={"why": "another reason"})
    assert case_hash(store, case.model_copy(update={"hazard": why})) != told


def test_another_taxonomy_is_refused_before_anything_is_built(
    frozen: Path, scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shipped = load_taxonomy()

    def changed(**update: object) -> None:
        entry = shipped.null.model_copy(update=update)
        monkeypatch.setattr(definitions, "load_taxonomy", lambda: replace(shipped, null=entry))

    changed(prompt="other words")  # no rendered insert is made of them
    definitions._check_decided(definition(str(frozen)))
    changed(cluster="Another")
    with pytest.raises(
        cfgen.InputError, match=r"expected the taxonomy that it was frozen with, .*commit that"
    ):
        build_definition(BuildOptions(definition=str(frozen), out=tmp_path / "new", scenes=scenes))
    assert not (tmp_path / "new").exists()


def test_a_definition_is_never_changed(frozen: Path, bench: Path, tmp_path: Path):
    with pytest.raises(cfgen.InputError, match="never changed"):
        cfgen.export_definition(bench, frozen, name="mini-v1")
    text = frozen.read_text()
    (tmp_path / "edited.json").write_text(text.replace('"name": "mini-v1"', '"name": "mini-v2"'))
    with pytest.raises(cfgen.StoreError, match="changed after cfgen wrote it"):
        definition(str(tmp_path / "edited.json"))
    with pytest.raises(cfgen.InputError, match="did you mean 'cfgen66-demo-v2'"):
        definition("cfgen66-demo-v")


def test_the_one_that_ships_is_over_the_scenes_that_ship():
    made = definition("cfgen66-demo-v2")
    assert len(made.cases) == made.options["n"] == 66
    assert made.scenes == {
        path.parent.name: scene_hash(path.parent) for path in scenarios_dir().glob("scenes/*/scene.json")
    }


def test_scenes_that_nobody_looked_at_are_looked_at_when_it_is_frozen(bench: Path, tmp_path: Path):
    store = Store(shutil.copytree(bench, tmp_path / "bench"))
    told = store.benchmark.scenes
    first = min(told)
    store.change_benchmark(lambda b: b.model_copy(update={"scenes": {**b.scenes, first: ""}}))
    source = store.scenes_source
    made = definitions.freeze(store, "mini-v2", tmp_path / "mini-v2.json")
    assert made.scenes == told
    store.remember_scenes(tmp_path / "gone")
    with pytest.raises(
        cfgen.StoreError, match=rf"the 1 that gave none in .*gone, found 1 missing \({first}\)"
    ):
        definitions.freeze(store, "mini-v3", tmp_path / "mini-v3.json")
    assert source
