"""Many things in a file, few in memory: nobody can tell which."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from cfgen.core import spill
from cfgen.core.errors import StoreError
from cfgen.core.spill import Part, Spill, Spilled, SpilledMap


@pytest.mark.parametrize("few", [0, 3, 100])
def test_what_is_in_the_file_reads_as_what_is_in_memory(few: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spill, "FEW", few)
    found = Spilled(shared := Spill(), ({"n": i} for i in range(9)))
    other = SpilledMap(shared, ((i, None if i % 3 else np.full(2, i)) for i in range(9)))
    assert [one["n"] for one in found] == [one["n"] for one in found] == list(range(9))
    assert (len(found), found[-1], list(found[2:8:3])) == (9, {"n": 8}, [{"n": 2}, {"n": 5}])
    assert [one["n"] for one in Part(found, [7, 1])[::-1]] == [1, 7]
    with pytest.raises(IndexError):
        found[9]
    assert [key for key in other if other.has(key)] == [0, 3, 6]
    assert (len(other), other[1], 9 in other, other.get(9, "none"), other.has(9)) == (
        9,
        None,
        False,
        "none",
        False,
    )
    assert [int(v[0]) for v in other.only({6, 3}).values() if v is not None] == [3, 6]
    assert int(SpilledMap.joined({"a": 3}, other)["a"][0]) == 3


def test_the_file_goes_with_the_last_who_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(spill, "FEW", 0)
    found = Spilled(Spill(), ["a" * 100])
    file = found._spill._open()
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    del found
    gc.collect()
    assert file.closed


def test_no_room_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spill, "FEW", 0)
    monkeypatch.setattr(Spill, "_open", lambda self: open("/dev/full", "wb", buffering=0))  # noqa: PTH123, SIM115
    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("no /dev/full here")
    with pytest.raises(StoreError, match="it is full\\); make room there, or set XDG_CACHE_HOME"):
        Spilled(Spill(), ["a"])
