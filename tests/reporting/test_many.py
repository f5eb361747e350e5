"""A report of many records is that of few."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from cfgen.core import disk_backed
from cfgen.metrics.intervals import redrawn
from cfgen.report import report
from tests.reporting.bench import careful, make_bench, write_answer, write_rating, write_swap


def test_records_in_a_file_give_the_same_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = make_bench(tmp_path / "b", 4, {"careful": careful}, arms=("hazard", "nuisance", "hazard_d0.7"))
    write_answer(store, "careful", 1, "hazard", *careful(0, "hazard"), 1)
    write_rating(store, "careful", 1, (2, 1, 0))
    write_swap(store, "careful", 1, True)
    pages = {}
    for few in (1000, 0):
        monkeypatch.setattr(disk_backed, "IN_MEMORY", few)
        out = tmp_path / str(few)
        report(store.root, out, panels=1, pages=2, strict=True)
        pages[few] = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert pages[0] == pages[1000]
    told = pages[0][Path("report.json")].decode()
    assert told == json.dumps(json.loads(told), indent=1) + "\n"
    assert len(json.loads(told)["encounters"]) == 2 * 5, "four cases, one of them answered twice"


def test_draws_of_many_cases_are_those_of_few_at_once():
    rows = np.random.default_rng(1).random((2, 30_000))
    picks = np.random.default_rng(5).integers(0, 30_000, (100, 30_000))
    tracemalloc.start()
    found = redrawn(rows, 5, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, rows[:, picks].sum(axis=2))
    assert peak < 40e6  # at once: 72 MB, and gigabytes for 4,000 draws of 100,000
