"""Cases that look alike, by their pixels."""

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.app.api import Api
from cfgen.app.similarity import ImageHash, alike, hash_image, phash
from cfgen.core.files import read_image, write_record
from tests.app.asking import ask


def test_a_picture_saved_again_keeps_its_hash_and_other_pictures_have_others(bench: Path) -> None:
    grey = [read_image(p, "L") for p in sorted(bench.glob("cases/*/*/augmented.png"))]
    again = [cv2.imdecode(cv2.imencode(".jpg", g, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], 0) for g in grey]
    apart = [[(phash(a) ^ phash(b)).bit_count() for b in again] for a in grey]
    assert max(row[i] for i, row in enumerate(apart)) <= 4
    assert min(d for i, row in enumerate(apart) for j, d in enumerate(row) if i != j) > 6


def test_alike_are_those_whose_frame_part_and_place_are() -> None:
    box = (0.4, 0.4, 0.6, 0.6)
    one = ImageHash(1, 0, 0, box)
    found = alike(
        {
            "a": one,
            "b": ImageHash(1, 0b111, 0b1, (0.41, 0.4, 0.61, 0.6)),
            "other frame": ImageHash(1, 0xFFFF, 0, box),
            "other thing": ImageHash(1, 0, 0xFFFF, box),
            "elsewhere": ImageHash(1, 0, 0, (0.0, 0.0, 0.2, 0.2)),
        }
    )
    assert found == {"a": {"b"}, "b": {"a"}}


def test_the_same_picture_under_another_scene_is_flagged_and_looked_at_once(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(shutil.copytree(bench, tmp_path / "b"))
    first = api.store.case_ids()[0]
    case = api.store.case(first)
    other = next(c.scene_id for c in api.store.cases() if c.scene_id != case.scene_id)
    twin = case.model_copy(update={"case_id": "zz" + first[2:], "scene_id": other})
    shutil.copytree(api.store.case_dir(first), api.store.case_dir(twin.case_id))
    write_record(api.store.case_dir(twin.case_id) / "case.json", twin)
    assert ask(api, "queue", show="twin")["rows"] == []
    api.case_index.look()
    assert [(r["id"], r["twin"]) for r in ask(api, "queue", show="twin")["rows"]] == [(twin.case_id, first)]

    def again(*_: object) -> ImageHash:
        raise AssertionError("was looked at before")

    monkeypatch.setattr("cfgen.app.similarity.hash_image", again)
    restarted = Api(api.store.root)
    restarted.case_index.look()
    assert ask(restarted, "queue", show="twin")["total"] == 1
    api.close()
    restarted.close()


def test_a_look_is_of_the_changed_part(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 255, (90, 160), np.uint8)
    cv2.imwrite(str(tmp_path / "a.png"), image)
    look = hash_image(tmp_path / "a.png", (16.0, 9.0, 80.0, 45.0))
    assert look.box == (0.1, 0.1, 0.5, 0.5)
    assert (look.frame, look.part) == (phash(image), phash(image[9:45, 16:80]))
    assert hash_image(tmp_path / "a.png", (-5.0, -5.0, 900.0, 0.0)).box[0] == 0
