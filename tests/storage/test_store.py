import errno
import json
from pathlib import Path

import numpy as np
import pytest

from cfgen.core import files
from cfgen.core.errors import StoreError
from cfgen.core.files import png_bytes, read_image, read_record, write_bytes, write_record
from cfgen.core.hashing import canonical_json, derive_id, derive_seed, hash_json
from cfgen.records import BenchmarkRecord, Rating, RatingFile
from cfgen.storage.store import Store

HASH = hash_json("x")


def benchmark(**changes) -> BenchmarkRecord:
    fields = {
        "cfgen_version": "0",
        "n": 2,
        "seed": 1,
        "taxonomy_hash": HASH,
        "scenes": {"a": HASH},
        "inpainter": "composite",
        "decel_band": (1.5, 6.0),
    }
    return BenchmarkRecord(**{**fields, **changes})


def rating() -> RatingFile:
    scores = {"reasoning": 2, "waypoints": None, "overall": 0}
    return RatingFile(rater="r", planner="p", case_id="c", history=(Rating(at="2026-01-01", scores=scores),))


def test_a_record_survives_the_disk(tmp_path: Path):
    write_record(tmp_path / "a.json", rating())
    assert read_record(tmp_path / "a.json", RatingFile, check=True) == rating()


def test_one_changed_character_is_found(tmp_path: Path):
    path = tmp_path / "a.json"
    write_record(path, rating())
    path.write_text(path.read_text().replace('"reasoning": 2', '"reasoning": 1'))
    assert read_record(path, RatingFile).history[0].scores["reasoning"] == 1
    with pytest.raises(StoreError, match="changed after cfgen wrote it"):
        read_record(path, RatingFile, check=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected JSON"),
        ("[]", "expected a JSON object, found list"),
        ('{"schema_version": 7}', "expected 3, found 7"),
        ('{"schema_version": 3, "rater": "r"}', "field 'planner': Field required"),
    ],
)
def test_bad_records_name_file_and_field(tmp_path: Path, content: str, message: str):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(StoreError, match=message) as caught:
        read_record(path, RatingFile)
    assert str(path) in str(caught.value)


def test_a_full_disk_is_one_clear_line_and_leaves_what_was_there(tmp_path: Path, monkeypatch):
    path = tmp_path / "a.bin"
    write_bytes(path, b"old")

    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.Path, "write_bytes", full)
    with pytest.raises(StoreError, match=r"cannot write \(No space left on device\); free space"):
        write_bytes(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_png_is_lossless_and_holds_no_metadata(tmp_path: Path):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)
    data = png_bytes(pixels)
    (tmp_path / "a.png").write_bytes(data)
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), pixels)
    chunks, at = [], 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        chunks.append(data[at + 4 : at + 8])
        at += 12 + length
    assert set(chunks) == {b"IHDR", b"IDAT", b"IEND"}


def test_canonical_json_does_not_depend_on_order():
    assert canonical_json({"b": 1, "a": 2.5}) == canonical_json({"a": 2.5, "b": 1}) == b'{"a":2.5,"b":1}'
    with pytest.raises(ValueError, match="Out of range float"):
        canonical_json({"a": float("nan")})


def test_derived_names_and_seeds_depend_on_every_part():
    assert (
        len({derive_id("case", 1, "s", "h"), derive_id("case", 2, "s", "h"), derive_id("case", 1, "s", "i")})
        == 3
    )
    assert 0 <= derive_seed("a") < 2**63
    assert derive_seed("a", 1) != derive_seed("a", 2)


def test_a_folder_that_is_no_benchmark_says_so(tmp_path: Path):
    with pytest.raises(StoreError, match="expected a benchmark directory"):
        Store(tmp_path)
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(StoreError, match="expected a new or empty folder"):
        Store.create(tmp_path, benchmark())


def test_a_claim_is_exclusive_and_ends_with_its_block(tmp_path: Path):
    store = Store.create(tmp_path / "b", benchmark())
    with store.claim("c") as mine, store.claim("c") as again:
        assert (mine, again) == (True, False)
    with store.claim("c") as mine:
        assert mine


def test_the_benchmark_file_is_plain_json(tmp_path: Path):
    store = Store.create(tmp_path / "b", benchmark(n=66))
    assert json.loads((store.root / "benchmark.json").read_text())["n"] == 66
