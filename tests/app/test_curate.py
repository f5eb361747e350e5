"""Curation over a real benchmark, without a browser."""

import multiprocessing
import shutil
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.app.reviews import append_rating, append_review
from cfgen.benchmark.verifying import Verification
from cfgen.core.errors import CfgenError
from cfgen.records import BenchmarkRecord
from cfgen.storage.store import Store
from tests.app.asking import ask, picture


@pytest.fixture
def api(bench: Path, tmp_path: Path) -> Api:
    return Api(shutil.copytree(bench, tmp_path / "b"))


def rows(api: Api, name: str = "anna") -> dict[str, dict]:
    return {row["id"]: row for row in ask(api, "queue", name)["rows"]}


def accepted(api: Api) -> list[str]:
    return [case.case_id for case in api.store.cases()]


def test_the_queue_holds_every_case_and_an_item_shows_where_it_came_from(api: Api) -> None:
    assert [i for i, row in rows(api).items() if row["status"] == "accepted"] == accepted(api)
    case = api.store.cases()[0]
    item = ask(api, "item", id=case.case_id)
    file = api.store.case_dir(case.case_id) / "augmented.png"
    assert picture(api, item["augmented"]) == file.read_bytes()
    assert [g["gate"] for g in item["gates"]] == [g.gate for g in case.gates]
    assert ["Seed", str(case.seed)] in [list(row) for row in item["provenance"]]
    assert item["strip"][-1]["path"] == item["augmented"]
    assert item["outline"]


def test_rejecting_moves_the_case_and_undo_brings_it_back_byte_for_byte(api: Api) -> None:
    case_id = accepted(api)[0]
    before = {p.name: p.read_bytes() for p in api.store.case_dir(case_id).glob("*.*")}
    ask(api, "decide", id=case_id, decision="reject", reason="floats")
    assert case_id not in accepted(api)
    assert rows(api)[case_id]["status"] == "rejected"
    assert ask(api, "item", id=case_id)["by"] == "anna"
    assert ask(api, "undo")["id"] == case_id
    assert {p.name: p.read_bytes() for p in api.store.case_dir(case_id).glob("*.*")} == before
    assert rows(api)[case_id]["mine"] == ""
    assert Verification(api.store.root).run() == []


def test_bad_questions_are_answered_in_words(api: Api) -> None:
    case_id = accepted(api)[0]
    for asked, words in (
        ({"do": "decide", "id": case_id, "decision": "reject"}, "expected a reason"),
        ({"do": "decide", "id": case_id, "decision": "burn"}, "expected accept, reject or flag"),
        ({"do": "decide", "id": "../../etc", "decision": "accept"}, "case: expected"),
        ({"do": "item", "id": "nothere"}, "is not in"),
        ({"do": "item"}, "id: expected text"),
        ({"do": "undo"}, "no decision that stands"),
        ({"do": "__init__"}, "which is nothing"),
    ):
        assert words in api.call({"name": "anna", **asked})["error"]
    assert "your name" in api.call({"do": "decide", "id": case_id, "decision": "accept"})["error"]


def test_the_login_decides_the_name_whatever_the_page_says(api: Api) -> None:
    case_id = accepted(api)[0]
    assert "ok" in api.call({"do": "decide", "name": "anna", "id": case_id, "decision": "accept"}, user="ben")
    assert ask(api, "item", "ben", id=case_id)["reviews"][0]["who"] == "ben"


def test_a_fault_of_an_action_is_an_error_shown(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfgen.app.curate.item", lambda *_: 1 / 0)
    answer = api.call({"do": "item", "name": "anna", "id": accepted(api)[0]})
    assert "ZeroDivisionError: division by zero" in answer["error"]
    assert ask(api, "queue")["rows"]


def test_the_latest_decision_that_stands_holds_whoever_made_it(api: Api) -> None:
    case_id = accepted(api)[0]
    ask(api, "decide", "anna", id=case_id, decision="accept")
    ask(api, "decide", "ben", id=case_id, decision="reject", reason="too big")
    ask(api, "decide", "anna", id=case_id, decision="flag", reason="look again")
    reviews = ask(api, "item", id=case_id)["reviews"]
    assert [(r["who"], r["decision"]) for r in reviews] == [
        ("anna", "accept"),
        ("ben", "reject"),
        ("anna", "flag"),
    ]
    assert rows(api, "anna")[case_id]["others"] == [["ben", "reject"]]
    ask(api, "undo", "anna")
    assert case_id not in accepted(api), "anna's undo must not take back ben's rejection"
    ask(api, "decide", "cara", id=case_id, decision="accept")
    assert case_id in accepted(api), "anybody can bring it back"
    ask(api, "undo", "cara")
    assert case_id not in accepted(api), "ben's rejection stands again"
    assert "you rejected" in ask(api, "undo", "ben")["said"]
    assert case_id in accepted(api)
    assert Verification(api.store.root).run() == []


def test_pages_follow_one_another_and_hold_the_case_that_is_kept(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cfgen.app.curate.PAGE", 2)
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


def test_many_are_decided_at_once_and_one_undo_takes_all_of_it_back(api: Api) -> None:
    ids = api.store.case_ids()
    ask(api, "decide", id=ids[0], decision="accept")
    many = ask(api, "decide_all", ids=ids[1:4], decision="reject", reason="too dark")
    assert many["said"] == "3 × Rejected"
    assert api.store.case_ids() == [ids[0], *ids[4:]]
    ask(api, "undo")
    assert api.store.case_ids() == ids
    mine = {r["id"]: r["mine"] for r in ask(api, "queue", show="all")["rows"]}
    assert [mine[i] for i in ids[:4]] == ["accept", "", "", ""]
    for bad in ([], "all", ["x"] * 2000):
        refused = api.call({"do": "decide_all", "ids": bad, "decision": "accept"}, user="a")
        assert "choose some" in refused["error"]


# --- what is stored ---

EACH = 15


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "b", empty_benchmark())


def empty_benchmark() -> BenchmarkRecord:
    return BenchmarkRecord(
        cfgen_version="0",
        n=1,
        seed=0,
        taxonomy_hash="sha256:" + 64 * "0",
        scenes={},
        inpainter="composite",
        decel_band=(1.5, 6.0),
    )


def decide_often(root: Path, who: str) -> None:
    for number in range(EACH):
        append_review(Store(root), who, "case1", "flag", f"{who} {number}")
        scores = dict.fromkeys(("reasoning", "waypoints", "overall"), 1)
        append_rating(Store(root), "both", "planner", "case1", "hazard", 0, scores, who)


def test_two_processes_on_one_case_keep_every_entry(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=decide_often, args=(store.root, who)) for who in ("anna", "ben")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    by_rater = {file.rater: [e.reason for e in file.history] for file in store.reviews()}
    assert by_rater == {who: [f"{who} {n}" for n in range(EACH)] for who in ("anna", "ben")}
    notes = [entry.note for entry in store.ratings()[0].history]
    assert sorted(notes) == EACH * ["anna"] + EACH * ["ben"]


@pytest.mark.parametrize("name", ["  ", "../up", "<b>x</b>", "x" * 130])
def test_a_name_that_could_be_a_path_or_markup_is_refused(store: Store, name: str) -> None:
    with pytest.raises(CfgenError, match="your name: expected"):
        append_review(store, name, "case1", "accept")
    assert [p.name for p in store.root.rglob("*.json")] == ["benchmark.json"]
