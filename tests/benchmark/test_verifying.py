"""``cfgen bench verify``: whole is what a build that ended has left, and nothing less."""

import shutil
from pathlib import Path

from cfgen.benchmark.drive_heights import FOLDER as HEIGHTS
from cfgen.benchmark.verifying import Verification
from cfgen.core.hashing import derive_case_id
from cfgen.storage.store import VIEWS, Store
from tests.benches import copy


def test_reserves_that_nobody_needed_are_not_missing_and_a_lost_case_is(bench: Path, tmp_path: Path):
    store = Store(copy(bench, tmp_path / "b"))
    first = next(p for p in store.planned if store.has_case(p.case_id) and p.slot is not None)
    untried = derive_case_id(store.benchmark.seed, first.scene_id, "moose")
    reserve = first.model_copy(update={"case_id": untried, "hazard_id": "moose", "reserve": 9})
    store.add_planned([reserve])
    assert Verification(store.root).run() == []
    shutil.rmtree(store.case_dir(first.case_id))
    (fault,) = Verification(store.root).run()
    assert fault.endswith("case.json: is planned but missing; run the build again")


def test_heights_of_drives_belong_to_a_benchmark_and_other_files_do_not(bench: Path, tmp_path: Path):
    root = copy(bench, tmp_path / "b")
    for name in (f"{HEIGHTS}/47475b42.json", f"{HEIGHTS}/47475b42.txt", "47475b42.json"):
        (root / VIEWS / name).parent.mkdir(parents=True, exist_ok=True)
        (root / VIEWS / name).write_text("{}")
    faults = Verification(root).run()
    assert [fault.partition(": ")[0] for fault in faults] == [
        str(root / VIEWS / "47475b42.json"),
        str(root / VIEWS / HEIGHTS / "47475b42.txt"),
    ]
