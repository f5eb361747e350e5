"""Faces and plates are unknowable in every frame before anything else sees it, and the scene says so."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cfgen
from cfgen.cli.main import main
from cfgen.core.files import png_bytes, read_image
from cfgen.core.hashing import hash_bytes
from cfgen.core.paths import scenarios_dir
from cfgen.scenes.anonymize import Anonymizing, Private, YuNet, blurred, create_anonymizer
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from tests.perception.tiny_onnx import tiny_onnx
from tests.scenes.tiny_yunet import tiny_yunet


class Corner:
    """Finds a face in the upper left corner of every frame."""

    name = "corner"
    identity = {"faces_by": "sha256:0"}  # noqa: RUF012

    def find(self, image: np.ndarray) -> list[Private]:
        return [Private("face", (8.0, 8.0, 40.0, 48.0))]


@pytest.fixture
def corner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfgen.scenes.anonymize.create_anonymizer", lambda name, options: Corner())


def test_what_is_blurred_cannot_be_read_and_the_rest_is_as_it_was():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (80, 120, 3), np.uint8)
    image[30:50, 40:80:4] = 255
    made = blurred(image, [Private("plate", (40.0, 30.0, 80.0, 50.0))])
    assert made[32:48, 42:78].std() < 0.15 * image[32:48, 42:78].std()
    away = np.ones(image.shape[:2], bool)
    away[24:56, 30:90] = False
    assert np.array_equal(made[away], image[away])
    assert np.array_equal(blurred(image, []), image)


def test_a_jpeg_stays_one_with_its_own_tables():
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(data := io.BytesIO(), "JPEG", quality=61, subsampling=2)
    work = Anonymizing(Corner())
    made = work.picture(data.getvalue(), "frame.jpg")
    assert isinstance(made, bytes)
    before, after = Image.open(io.BytesIO(data.getvalue())), Image.open(io.BytesIO(made))
    assert (after.format, after.quantization) == ("JPEG", before.quantization)
    png = work.picture(png_bytes(noise), "frame.png")
    assert isinstance(png, bytes)
    assert png.startswith(b"\x89PNG")


def test_every_arm_starts_from_the_blurred_frames_and_the_case_says_by_whom(
    corner: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    source = tmp_path / "scenes" / "street_day_02"
    shutil.copytree(scenarios_dir() / "scenes" / "street_day_02", source)
    record = json.loads((source / "scene.json").read_text())
    record["history_images"] = [*[None] * (len(record["history_images"]) - 1), record["history_images"][-1]]
    (source / "scene.json").write_text(json.dumps(record))
    out, bench = tmp_path / "out", tmp_path / "bench"
    assert main(["scenes", "anonymize", str(source.parent), "--out", str(out), "--quiet"]) == 0
    frames = len(load_scene(source).scene.frames)
    assert f"{frames} faces and 0 plates blurred in {frames} frames" in capsys.readouterr().out
    assert cfgen.anonymize_scenes(source.parent, out, quiet=True) == {}, "what is there is kept"
    cfgen.build(
        bench,
        n=1,
        scenes=out,
        hazards="work_barrier,pallet",
        controls="null",
        perception="colour",
        jobs=1,
        quiet=True,
    )
    store = Store(bench)
    [case] = store.cases()
    told = {"by": "corner", "faces_by": "sha256:0", "frames": frames, "faces": frames, "plates": 0}
    assert case.provenance.report["anonymized"] == told
    sharp = read_image(source / "frame.jpg")[12:44, 12:36].std()
    folder = load_scene(store.scene_dir(case.scene_id))
    arms = [folder.image(), *(read_image(p) for p in store.case_dir(case.case_id).glob("*ed.png"))]
    assert all(picture[12:44, 12:36].std() < max(0.7 * sharp, 4) for picture in arms)
    with pytest.raises(cfgen.InputError, match="was anonymized already by 'corner'"):
        cfgen.anonymize_scenes(out, tmp_path / "twice", quiet=True)
    with pytest.raises(cfgen.InputError, match="is the source itself"):
        cfgen.anonymize_scenes(out, out, quiet=True)


def test_an_import_blurs_before_it_writes_and_links_to_nothing(corner: None, tmp_path: Path):
    noise = np.random.default_rng(2).integers(0, 256, (270, 480, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "still.png")
    options = {"fov_deg": 60, "camera_height_m": 1.5, "horizon_row": 130}
    kept = {"options": options, "quiet": True, "anonymize": "corner"}
    cfgen.import_scenes("image", tmp_path / "still.png", tmp_path / "out", **kept)
    [record] = (tmp_path / "out").rglob("scene.json")
    folder = load_scene(record.parent)
    assert folder.scene.extra["anonymized"]["faces"] == 1
    assert folder.image()[12:44, 12:36].std() < 0.3 * noise.std()
    with pytest.raises(cfgen.InputError, match="--by-reference: links to frames as they are"):
        cfgen.import_scenes("image", tmp_path / "still.png", tmp_path / "x", by_reference=True, **kept)


def test_yunet_is_read_by_opencv_and_finds_at_both_scales(tmp_path: Path):
    path = tmp_path / "yunet.onnx"
    path.write_bytes(data := tiny_yunet())
    finder = create_anonymizer("yunet", {"path": str(path), "plates": False})
    assert finder.identity == {"faces_by": hash_bytes(data), "score": 0.5}
    image = np.zeros((128, 160, 3), np.uint8)
    image[64:96, 64:96] = 255
    found = finder.find(image)
    assert found
    assert {one.kind for one in found} == {"face"}
    x0, y0, x1, y1 = found[0].box
    assert 48 <= x0 < x1 <= 112
    assert 48 <= y0 < y1 <= 112
    assert not finder.find(np.zeros((128, 160, 3), np.uint8))


def test_models_that_do_not_serve_are_told(tmp_path: Path):
    (tmp_path / "other.onnx").write_bytes(tiny_onnx((32, 32), {"x": ([(1.0, 0, 0)], (0.0,))}))
    with pytest.raises(cfgen.InputError, match=r"other\.onnx: expected an ONNX file of YuNet"):
        YuNet(str(tmp_path / "other.onnx"))


def test_plates_on_a_real_street_are_gone(real: Path):
    [frame] = (real / "comma2k19" / "scenes").rglob("frame.jpg")
    image = read_image(frame)
    found = create_anonymizer("coarse", {}).find(image)
    made = blurred(image, found)
    # the plates of the two white cars, told by a person
    for x0, y0, x1, y1 in ((770, 391, 788, 404), (977, 404, 1001, 417)):
        before, after = image[y0:y1, x0:x1].astype(float), made[y0:y1, x0:x1].astype(float)
        assert np.abs(np.diff(after, axis=1)).mean() < 0.4 * np.abs(np.diff(before, axis=1)).mean()
