"""Verdicts as lists and counts need them: read again only where a file changed."""

import pytest

from cfgen.core import disk_backed
from cfgen.core.hashing import hash_json
from cfgen.judge import stored_verdicts as module
from cfgen.judge.stored_verdicts import ShortVerdict, short_verdicts, stored_verdicts
from cfgen.records import Verdict
from cfgen.storage.store import Store


def verdict(case_id: str, **more) -> Verdict:
    told = {"scores": dict.fromkeys(("reasoning", "waypoints", "overall"), 1), "status": "scored", **more}
    made = {"judge": "j", "planner": "p", "case_id": case_id, "arm": "hazard", "repeat": 0}
    rubric = {"rubric": "r", "rubric_version": "1", "rubric_hash": hash_json(1), "input_hash": hash_json(2)}
    return Verdict(**made, **rubric, **told)


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_backed, "WORTH_AN_INDEX", 1)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "benchmark.json").touch()
    made = Store(tmp_path / "bench")
    made.work.mkdir()
    made.write_verdict(verdict("a"))
    made.write_verdict(verdict("b", status="failed", scores={}, reason="no reply", transient=True))
    return made


def read_now(store: Store, monkeypatch) -> tuple[list[ShortVerdict], list[str]]:
    read, each = [], module.read_each
    monkeypatch.setattr(
        module, "read_each", lambda paths, kind: each((read.append(p.stem) or p for p in paths), kind)
    )
    found = short_verdicts(store, "j", "p")
    monkeypatch.setattr(module, "read_each", each)
    return found, read


def test_only_what_changed_is_read_again(store, monkeypatch):
    first, read = read_now(store, monkeypatch)
    assert (read, first) == (["a.0", "b.0"], [ShortVerdict.of(v) for v in stored_verdicts(store, "j", "p")])
    assert read_now(store, monkeypatch) == (first, [])
    store.write_verdict(verdict("b", reason="now it did"))
    again, read = read_now(store, monkeypatch)
    assert (read, [v.status for v in again]) == (["b.0"], ["scored", "scored"])


def test_what_is_damaged_keeps_its_place_and_what_is_gone_is_not_told(store, monkeypatch):
    store.verdict_path("j", "p", "hazard", "a").write_text("{")
    found, _ = read_now(store, monkeypatch)
    assert [(v.case_id, v.status, bool(v.broke)) for v in found] == [
        ("a", "failed", True),
        ("b", "failed", False),
    ]
    store.verdict_path("j", "p", "hazard", "a").unlink()
    assert [v.case_id for v in read_now(store, monkeypatch)[0]] == ["b"]
