"""``cfgen share recipe`` and ``cfgen share rebuild``: identical, or refused with the reason; no pixel of the source."""

import io
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import cfgen
from cfgen.cli.main import main
from cfgen.core.files import read_image
from cfgen.scenes.folder import load_scene
from cfgen.sharing import recipe as recipes
from cfgen.storage.store import Store
from tests.benches import tree


@pytest.fixture(scope="module")
def recipe(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recipe") / "mine.cfgen-recipe"
    cfgen.export_recipe(bench, out, quiet=True)
    return out


def _told(recipe: Path) -> recipes.Recipe:
    with zipfile.ZipFile(recipe) as archive:
        return recipes.read_recipe(archive, recipe)


def _files(bench: Path) -> dict[str, str]:
    kept = (
        "benchmark.json",
        "plan.jsonl",
        "build.json",
        "cases/**/*",
        "scenes/**/*",
        "rejected/*/rejection.json",
        "perception/**/*",
    )
    return tree(bench, *kept)


def _edited(recipe: Path, out: Path, name: str, content: bytes) -> Path:
    with zipfile.ZipFile(recipe) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, content if entry == name else old.read(entry))
    return out


def test_the_rebuilt_benchmark_is_the_same_byte_for_byte(
    recipe: Path, bench: Path, scenes: Path, tmp_path: Path
):
    out = tmp_path / "again"
    assert main(["share", "rebuild", str(recipe), "--scenes", str(scenes), "--out", str(out), "--quiet"]) == 0
    assert _files(out) == _files(bench)
    assert not cfgen.verify(out).faults
    assert cfgen.export_recipe(out, tmp_path / "second", quiet=True) == _told(recipe).benchmark_hash
    assert (tmp_path / "second").read_bytes() == recipe.read_bytes()


def test_a_recipe_holds_no_pixel_of_the_source(recipe: Path, bench: Path):
    store = Store(bench)
    with zipfile.ZipFile(recipe) as archive:
        stored = {name: archive.read(name) for name in archive.namelist()}
    pictures = {name for name in stored if name.endswith((".png", ".jpg"))}
    # what perception made of frames: planes of yes and no
    assert all(name.startswith("records/perception/") for name in pictures)
    for name in pictures:
        assert set(np.unique(read_image(bench / name.removeprefix("records/")))) <= {0, 255}
    assert {name for name in stored if name not in pictures and not name.endswith((".json", ".jsonl"))} == {
        f"sealed/{case_id}" for case_id in store.case_ids()
    }
    for case in store.cases():
        sealed = stored[f"sealed/{case.case_id}"]
        # without the source's frame it is noise: any byte as often as another, and nothing to inflate
        counts = np.bincount(np.frombuffer(sealed, np.uint8), minlength=256)
        assert counts.max() < 2 * counts.mean() + 20
        assert not zipfile.is_zipfile(io.BytesIO(sealed))


def test_what_is_sealed_are_differences_inside_the_mask_alone(recipe: Path, bench: Path):
    store = Store(bench)
    for case in store.cases():
        folder, root = load_scene(store.scene_dir(case.scene_id)), store.case_dir(case.case_id)
        with zipfile.ZipFile(recipe) as archive:
            content = recipes.unseal(archive.read(f"sealed/{case.case_id}"), case, folder)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert set(archive.namelist()) == set(case.files) - {"original.png"}
            told = archive.read("augmented.png")
        # on a black frame the difference shows as it is: 0 wherever nothing was inserted
        apart = recipes.applied(np.zeros_like(folder.image()), told)
        mask = read_image(root / "mask.png", "L")
        assert apart.any()
        assert not apart[mask == 0].any()


def test_each_missing_or_changed_scene_is_named(recipe: Path, scenes: Path, tmp_path: Path):
    theirs, out = tmp_path / "theirs", tmp_path / "again"
    shutil.copytree(scenes, theirs)
    missing, changed = sorted(_told(recipe).scenes)
    shutil.rmtree(theirs / missing)
    picture = theirs / changed / "frame.jpg"
    picture.write_bytes(picture.read_bytes() + b"\0")
    with pytest.raises(cfgen.InputError) as error:
        cfgen.rebuild(recipe, scenes=theirs, out=out, quiet=True)
    assert f"scene '{missing}' is missing; scene '{changed}' was changed: frame.jpg" in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == ["theirs"]


def test_a_recipe_that_was_edited_is_refused(recipe: Path, scenes: Path, tmp_path: Path):
    case = next(iter(_told(recipe).cases))
    with zipfile.ZipFile(recipe) as archive:
        sealed = archive.read(f"sealed/{case}")
    turned = bytearray(sealed)
    turned[len(sealed) // 2] ^= 1
    broken = _edited(recipe, tmp_path / "a", f"sealed/{case}", bytes(turned))
    with pytest.raises(cfgen.InputError, match=r"a: entry 'sealed/.*' is damaged; fetch the recipe again"):
        cfgen.rebuild(broken, scenes=scenes, out=tmp_path / "again", quiet=True)
    told = _told(recipe)
    away = told.model_copy(update={"files": {**told.files, "../../away": "sha256:" + "0" * 64}})
    outside = _edited(recipe, tmp_path / "b", "recipe.json", away.model_dump_json().encode())
    with pytest.raises(cfgen.InputError, match=r"outside of the benchmark .*\.\./\.\./away"):
        cfgen.rebuild(outside, scenes=scenes, out=tmp_path / "again", quiet=True)
    (tmp_path / "c").write_text("no recipe")
    with pytest.raises(cfgen.InputError, match=r"c: expected a recipe of .*found no whole archive"):
        cfgen.rebuild(tmp_path / "c", scenes=scenes, out=tmp_path / "again", quiet=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c"]


def test_another_encoder_is_told_from_another_picture(
    recipe: Path, scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from PIL import Image

    def otherwise(pixels: np.ndarray) -> bytes:
        Image.fromarray(pixels).save(data := io.BytesIO(), "PNG", compress_level=1)
        return data.getvalue()

    monkeypatch.setattr("cfgen.sharing.recipe.ENCODERS", (otherwise,))
    with pytest.raises(cfgen.StoreError, match=r"pixels are the same, but cfgen .* encode PNG otherwise"):
        cfgen.rebuild(recipe, scenes=scenes, out=tmp_path / "again", quiet=True)
