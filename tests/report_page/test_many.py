"""A report of many records is that of few."""

from pathlib import Path

import pytest

from cfgen.core import spill
from cfgen.report import report
from tests.report_page.bench import careful, make_bench, write_answer, write_rating, write_swap


def test_records_in_a_file_give_the_same_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = make_bench(tmp_path / "b", 4, {"careful": careful}, arms=("hazard", "nuisance", "hazard_d0.7"))
    write_answer(store, "careful", 1, "hazard", *careful(0, "hazard"), 1)
    write_rating(store, "careful", 1, (2, 1, 0))
    write_swap(store, "careful", 1, True)
    pages = {}
    for few in (1000, 0):
        monkeypatch.setattr(spill, "FEW", few)
        out = tmp_path / str(few)
        report(store.root, out, panels=1, pages=2, select="best", strict=True)
        pages[few] = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert pages[0] == pages[1000]
