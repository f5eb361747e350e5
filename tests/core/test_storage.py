"""Pictures and lists that are written and read again; nobody can tell what was on disk."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from cfgen.core import disk_backed
from cfgen.core.disk_backed import DiskList, DiskMap, DiskStore, ListView, indexed
from cfgen.core.errors import StoreError
from cfgen.core.files import decode_image, png_bytes, stored_png
from cfgen.core.identity_cache import IdentityCache


@pytest.mark.parametrize("shape", [(1, 1, 3), (5, 7, 3), (200, 33, 4), (97, 1, 3), (40, 30)])
def test_a_stored_picture_is_read_again_as_it_was(shape: tuple[int, ...]) -> None:
    mode = {2: "L", 3: "RGB", 4: "RGBA"}[2 if len(shape) == 2 else shape[2]]
    for highest in (2, 256):
        pixels = np.random.default_rng(0).integers(0, highest, shape).astype(np.uint8)
        for data in (png_bytes(pixels), stored_png(pixels), stored_png(pixels, sparse=True)):
            assert np.array_equal(decode_image(data, Path("x.png"), mode), pixels)


@pytest.mark.parametrize("in_memory", [0, 3, 100])
def test_what_is_on_disk_reads_as_what_is_in_memory(in_memory: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(disk_backed, "IN_MEMORY", in_memory)
    items = DiskList(store := DiskStore(), ({"n": i} for i in range(9)))
    arrays = DiskMap(store, ((i, None if i % 3 else np.full(2, i)) for i in range(9)))
    assert [item["n"] for item in items] == [item["n"] for item in items] == list(range(9))
    assert (len(items), items[-1], list(items[2:8:3])) == (9, {"n": 8}, [{"n": 2}, {"n": 5}])
    assert [item["n"] for item in ListView(items, [7, 1])[::-1]] == [1, 7]
    with pytest.raises(IndexError):
        items[9]
    assert [key for key in arrays if arrays.has(key)] == [0, 3, 6]
    assert (len(arrays), arrays[1], 9 in arrays, arrays.get(9, "none")) == (9, None, False, "none")
    assert [int(v[0]) for v in arrays.only({6, 3}).values() if v is not None] == [3, 6]
    assert int(DiskMap.joined({"a": 3}, arrays)["a"][0]) == 3


def test_no_room_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(disk_backed, "IN_MEMORY", 0)
    store = DiskStore()
    store._connection.execute("PRAGMA max_page_count = 2")
    with pytest.raises(StoreError, match=r"full.; make room in /var/tmp"):
        DiskList(store, (np.random.default_rng(i).bytes(9000) for i in range(9)))


def test_an_index_reads_only_what_changed_and_is_gone_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_backed, "WORTH_AN_INDEX", 1)
    monkeypatch.setattr(disk_backed, "_TIMEOUT_S", 0.01)

    def names_read(*keys: tuple[str, str]) -> list[str]:
        names: list[str] = []
        answers = indexed(tmp_path, "k", keys, lambda new: names.extend(new) or [len(n) for n in new])
        assert answers == {name: len(name) for name, _ in keys}
        return names

    a, b, changed = ("a", "1"), ("bb", "1"), ("a", "2")
    assert names_read(a, b) == ["a", "bb"]
    assert names_read(a, b) == []
    assert names_read(changed, b) == ["a"]
    assert names_read(changed) == []
    assert names_read(changed, b) == ["bb"], "what was gone is forgotten"
    (path,) = (tmp_path / "cache").rglob("*.sqlite")
    for damage in (b"no database", path.read_bytes()[:5000]):
        path.write_bytes(damage)
        assert names_read(changed, b) == ["a", "bb"]
        assert names_read(changed, b) == []
    with sqlite3.connect(path) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert names_read(changed, b) == ["a", "bb"], "while another process writes"
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert names_read(a) == ["a"]


def test_an_array_is_worked_on_once_while_it_is_among_the_last():
    results, pictures = [], [np.zeros(1) for _ in range(3)]

    def count(picture: np.ndarray) -> int:
        results.append(picture)
        return len(results)

    cache = IdentityCache(limit=2)
    assert [cache.of(pictures[i], count) for i in (0, 1, 0, 2, 0, 1)] == [1, 2, 1, 3, 1, 4]
