"""The plan and the lists of a large benchmark: what is read, how often, and what a damaged file does."""

import json
from pathlib import Path

import pytest

from cfgen.benchmark.plan import BuildPlan
from cfgen.benchmark.verifying import Verification
from cfgen.core.errors import StoreError
from cfgen.core.hashing import derive_seed, seeds_after
from cfgen.records import Planned
from cfgen.storage import listing
from cfgen.storage.plan_file import PLAN_FILE
from cfgen.storage.store import Store
from tests.benches import run
from tests.storage.test_store import benchmark

MANY = 600


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cfgen" / "index"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "b", benchmark(n=3))


def pairs(first: int, count: int) -> list[Planned]:
    numbers = range(first, first + count)
    return [Planned(case_id=f"c{i}", scene_id=f"s{i}", hazard_id="h") for i in numbers]


def case(store: Store, case_id: str, road: str = "network") -> None:
    """As much of a record as lists need."""
    content = {
        "schema_version": 3,
        "case_id": case_id,
        "scene_id": "a",
        "hazard": {"id": "h", "name": "a hazard", "cluster": "c"},
        "placement": {"distance_m": 20.0, "lateral_m": 0.0, "box_px": [0, 0, 1, 1]},
        "provenance": {"scene_hash": "", "report": {"perception": {"road": road}}},
    }
    path = store.case_dir(case_id) / "case.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".tmp")
    new.write_text(json.dumps(content))
    new.rename(path)


def test_the_plan_only_grows_and_what_a_killed_writer_left_does_not_count(store: Store):
    before = (store.root / "benchmark.json").read_bytes()
    store.add_planned(pairs(0, 3))
    path, first = store.root / PLAN_FILE, (store.root / PLAN_FILE).read_bytes()
    with path.open("ab") as file:
        file.write(first.splitlines(keepends=True)[0] + b'{"case_id": "cut sh')
    assert Store(store.root).planned == tuple(pairs(0, 3))
    Store(store.root).add_planned(pairs(3, 2))
    assert path.read_bytes().startswith(first)
    assert store.planned == Store(store.root).planned == tuple(pairs(0, 5))
    assert (store.root / "benchmark.json").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new"), [(b'"s1"', b'"s9"'), (b'"pairs": 3', b'"pairs": 2'), (b'"c0"', b"c0")]
)
def test_a_changed_plan_is_refused(store: Store, old: bytes, new: bytes):
    store.add_planned(pairs(0, 3))
    path = store.root / PLAN_FILE
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(StoreError, match=r"plan.jsonl: line \d: .*restore the file from a copy"):
        _ = Store(store.root).planned
    assert "plan.jsonl: line" in Verification(store.root).run()[0]


def test_a_folder_of_another_schema_version_is_refused_in_one_line(store: Store):
    record = store.root / "benchmark.json"
    record.write_text(record.read_text().replace('"schema_version": 3', '"schema_version": 2'))
    code, _, err = run("report", store.root)
    assert code == 2
    assert err.count("\n") == 1
    assert "'schema_version': expected 3, found 2" in err
    assert "make the folder anew" in err


def test_the_benchmark_is_read_once_until_it_changes(store: Store, monkeypatch: pytest.MonkeyPatch):
    reads: list[Path] = []
    read = listing.read_json
    monkeypatch.setattr("cfgen.core.files.read_json", lambda path: reads.append(path) or read(path))
    plan = BuildPlan(store, ["a"], ["h"], lambda ids: [])
    for _ in range(20):
        assert (plan.accepted(), store.benchmark.n) == (0, 3)
    assert len(reads) == 1
    Store(store.root).change_benchmark(lambda b: b.model_copy(update={"n": 4}))
    assert store.benchmark.n == 4


def test_only_cases_that_changed_are_read_again(store: Store, cache: Path, monkeypatch: pytest.MonkeyPatch):
    reads: list[Path] = []
    read = listing.read_json
    monkeypatch.setattr(listing, "read_json", lambda path: reads.append(path) or read(path))

    def read_now() -> int:
        reads.clear()
        told = listing.short_cases(Store(store.root))
        assert list(told) == store.case_ids()
        return len(reads)

    for i in range(MANY):
        case(store, f"c{i:03d}")
    assert read_now() == MANY
    assert read_now() == 0
    case(store, "c007", "annotated")
    case(store, "d000")
    (store.case_dir("c008") / "case.json").unlink()
    assert read_now() == 2
    assert listing.short_cases(store)["c007"]["road_from"] == "annotated"
    [database] = cache.glob("*.sqlite")
    for damage in (b"no database", database.read_bytes()[:5000]):
        database.write_bytes(damage)
        assert read_now() == MANY
        assert read_now() == 0


def test_a_seed_after_others_is_the_seed_of_all():
    assert seeds_after(7, 'ä"s')("h\\é") == derive_seed(7, 'ä"s', "h\\é")
