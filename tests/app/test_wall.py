"""The queue in pages, facets, decisions on many cases at once, and a selection as a benchmark of its own."""

import csv
import shutil
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.benchmark.verifying import Verification
from cfgen.storage.store import Store
from tests.app.asking import ask, picture


@pytest.fixture
def api(bench: Path, tmp_path: Path) -> Api:
    return Api(shutil.copytree(bench, tmp_path / "b"))


def test_pages_follow_one_another_and_hold_the_case_that_is_kept(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cfgen.app.wall.PAGE", 2)
    ids = api.store.case_ids()
    seen, start = [], 0
    while start < len(ids):
        told = ask(api, "queue", show="all", **{"from": start})
        assert (told["from"], told["total"]) == (start, len(ids))
        seen += [row["id"] for row in told["rows"]]
        start += 2
    assert seen == ids
    told = ask(api, "queue", show="all", keep=ids[-1])
    assert (told["from"], told["at"]) == ((len(ids) - 1) // 2 * 2, len(ids) - 1)
    assert ids[-1] in [row["id"] for row in told["rows"]]
    assert ask(api, "queue", show="all", **{"from": 99})["rows"]
    assert ask(api, "queue", show="all", **{"from": -5})["from"] == 0
    assert "expected one of" in api.call({"do": "queue", "show": "nothing"}, user="anna")["error"]


def test_facets_narrow_down_and_count_what_is_there(api: Api) -> None:
    told = ask(api, "queue", show="all")
    hazards = [case.hazard.id for case in api.store.cases()]
    assert told["facets"]["hazard"] == [(h, hazards.count(h)) for h in sorted(set(hazards))]
    for facet, values in told["facets"].items():
        for value, n in values:
            found = ask(api, "queue", show="all", **{facet: value})
            assert found["total"] == n, (facet, value)
            assert found["listed"] == len(hazards)
    near = ask(api, "queue", show="all", band="20-40 m")["rows"]
    metres = {c.case_id: c.placement.distance_m for c in api.store.cases()}
    assert {r["id"] for r in near} == {i for i, d in metres.items() if 20 <= d < 40}
    nothing = ask(api, "queue", show="all", find="no such hazard")
    assert (nothing["total"], nothing["listed"]) == (0, len(hazards)), "a fruitless search is no empty queue"


def test_a_case_that_much_resembles_another_is_flagged(api: Api) -> None:
    first = api.store.cases()[0]
    twin = first.model_copy(update={"case_id": "zz" + first.case_id[2:]})
    shutil.copytree(api.store.case_dir(first.case_id), api.store.case_dir(twin.case_id))
    from cfgen.core.files import write_record

    write_record(api.store.case_dir(twin.case_id) / "case.json", twin)
    assert [r["id"] for r in ask(api, "queue", show="twin")["rows"]] == [twin.case_id]


def test_pictures_of_the_wall_are_small(api: Api) -> None:
    row = ask(api, "queue", show="all")["rows"][0]
    for side in ("before", "after"):
        assert row[side].endswith("&small")
        assert picture(api, row[side])[:4] == b"\x89PNG"
        _, kind, owner, name = row[side].partition("?")[0].split("/", 3)
        data, media = api.picture(kind, owner, name, as_small=True)
        assert media == "image/jpeg"
        assert len(data) < 20_000


def test_many_are_decided_at_once_and_one_undo_takes_all_of_it_back(api: Api) -> None:
    ids = api.store.case_ids()
    ask(api, "decide", id=ids[0], decision="accept")
    assert (
        ask(api, "decide_all", ids=ids[1:4], decision="reject", reason="too dark")["said"] == "3 × Rejected"
    )
    assert api.store.case_ids() == [ids[0], *ids[4:]]
    ask(api, "undo")
    assert api.store.case_ids() == ids
    mine = {r["id"]: r["mine"] for r in ask(api, "queue", show="all")["rows"]}
    assert [mine[i] for i in ids[:4]] == ["accept", "", "", ""]
    assert (
        "expected a reason"
        in api.call({"do": "decide_all", "ids": ids, "decision": "reject"}, user="a")["error"]
    )
    for bad in ([], "all", [1], ["x"] * 2000):
        assert (
            "choose some"
            in api.call({"do": "decide_all", "ids": bad, "decision": "accept"}, user="a")["error"]
        )


def test_a_selection_is_a_benchmark_of_its_own(api: Api) -> None:
    chosen = api.store.case_ids()[:2]
    said = ask(api, "export", ids=chosen)["said"]
    made = Store(api.store.root.parent / said.split()[-1])
    assert made.case_ids() == chosen
    assert made.benchmark.n == 2
    assert Verification(made.root).run() == []
    assert ask(api, "export", ids=chosen)["said"] != said, "an earlier selection is not overwritten"
    other = api.store.root.parent / ask(api, "export", ids=chosen, to="fiftyone")["said"].split()[-1]
    rows = list(csv.DictReader((other / "labels.csv").open()))
    assert [(r["case_id"], r["frame"]) for r in rows] == [
        (i, f) for i in chosen for f in ("original", "augmented")
    ]
    for row in rows:
        assert (other / "data" / row["filepath"]).read_bytes()[:4] == b"\x89PNG"
        assert float(row["distance_m"]) == api.store.case(row["case_id"]).placement.distance_m
    denied = {"do": "export", "ids": chosen}
    assert "only a manager" in api.call(denied, user="anna", role="curator")["error"]
    assert "is not accepted here" in api.call({"do": "export", "ids": ["nothere"]}, user="a")["error"]
