"""Curation over a real benchmark, without a browser."""

import shutil
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.benchmark.verifying import Verification
from tests.app.asking import ask, ended, picture


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


def test_two_people_on_one_case_are_both_kept_with_names_and_times(api: Api) -> None:
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
    assert all(r["at"] for r in reviews)
    assert rows(api, "anna")[case_id]["others"] == [["ben", "reject"]]
    ask(api, "undo", "anna")
    assert case_id not in accepted(api), "anna's undo must not take back ben's rejection"


def test_anybody_can_bring_a_rejected_case_back(api: Api) -> None:
    case_id = accepted(api)[0]
    ask(api, "decide", "ben", id=case_id, decision="reject", reason="too big")
    ask(api, "bring_back", "anna", id=case_id)
    assert case_id in accepted(api)
    ask(api, "undo", "anna")
    assert case_id not in accepted(api), "ben's rejection stands again"


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


def test_regenerating_makes_another_case_and_puts_the_old_one_away(api: Api) -> None:
    old = api.store.cases()[0]
    job = ended(api, ask(api, "regenerate", id=old.case_id, hazard=old.hazard.id))
    if job["state"] == "failed":
        assert "the old one stays" in job["words"]
        assert old.case_id in accepted(api)
        return
    new = api.store.case(job["result"])
    assert (new.scene_id, new.hazard.id) == (old.scene_id, old.hazard.id)
    assert new.seed != old.seed
    assert rows(api)[old.case_id]["status"] == "rejected"
    assert Verification(api.store.root).run() == []


def test_topping_up_continues_the_build(api: Api, real: Path) -> None:
    api.scenes = real / "udacity_hmb3" / "scenes"
    n = len(accepted(api))
    ask(api, "decide", id=accepted(api)[0], decision="reject", reason="floats")
    job = ended(api, ask(api, "top_up", n=n))
    assert job["state"] == "done", job
    assert job["result"] == len(accepted(api)) == n


def test_a_fault_of_an_action_is_an_error_shown(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfgen.app.curate.item", lambda *_: 1 / 0)
    answer = api.call({"do": "item", "name": "anna", "id": accepted(api)[0]})
    assert "ZeroDivisionError: division by zero" in answer["error"]
    assert ask(api, "queue")["rows"]
