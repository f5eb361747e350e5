"""Decisions that mean what they say: policies, what holds and why, undo, and what others see before they decide."""

import shutil
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.app.jobs import Job
from cfgen.app.policy import held
from cfgen.benchmark.verifying import Verification
from cfgen.records import Policy, Review, ReviewFile
from tests.app.asking import ask


def spoken(*said: tuple[str, str, str]) -> list[ReviewFile]:
    """One file a person, of ``(who, decision, role)`` in the order of time."""
    files: dict[str, list[Review]] = {}
    for n, (who, decision, role) in enumerate(said):
        at, reason = f"2026-01-01T00:00:{n:02d}", "brought back" if decision == "back" else "why"
        kind = "accept" if decision == "back" else decision
        files.setdefault(who, []).append(Review(at=at, decision=kind, reason=reason, role=role))
    return [ReviewFile(rater=who, case_id="c", history=tuple(h)) for who, h in files.items()]


A, R, B = "accept", "reject", "back"
CURATOR, MANAGER = "curator", "manager"


@pytest.mark.parametrize(
    ("policy", "said", "out"),
    [
        ("one", [], False),
        ("one", [("a", R, CURATOR)], True),
        ("one", [("a", R, CURATOR), ("b", A, CURATOR)], True),
        ("one", [("a", A, CURATOR), ("b", R, CURATOR)], True),
        ("one", [("a", R, CURATOR), ("b", B, CURATOR)], False),
        ("one", [("a", R, CURATOR), ("b", B, CURATOR), ("c", R, CURATOR)], True),
        ("one", [("a", R, CURATOR), ("a", "clear", CURATOR)], False),
        ("two_of_three", [("a", R, CURATOR)], False),
        ("two_of_three", [("a", R, CURATOR), ("a", R, CURATOR)], False),
        ("two_of_three", [("a", R, CURATOR), ("b", R, CURATOR)], True),
        ("two_of_three", [("a", R, CURATOR), ("b", A, CURATOR), ("c", R, CURATOR)], True),
        ("two_of_three", [("a", R, CURATOR), ("b", A, CURATOR), ("c", A, CURATOR)], False),
        ("two_of_three", [("a", R, CURATOR), ("b", R, CURATOR), ("c", B, MANAGER)], False),
        ("manager", [("a", R, CURATOR), ("b", R, CURATOR)], False),
        ("manager", [("m", R, MANAGER)], True),
        ("manager", [("m", R, MANAGER), ("a", A, CURATOR)], True),
        ("manager", [("m", R, MANAGER), ("n", A, MANAGER)], False),
    ],
)
def test_what_each_policy_makes_of_decisions(policy: Policy, said: list, out: bool) -> None:
    assert held(policy, spoken(*said)).out is out


@pytest.fixture
def api(bench: Path, tmp_path: Path) -> Api:
    return Api(shutil.copytree(bench, tmp_path / "b"))


def decide(api: Api, name: str, case: str, decision: str, role: str = "curator") -> str:
    asked = {"do": "decide", "id": case, "decision": decision, "reason": "too big"}
    return api.call(asked, user=name, role=role)["ok"]["said"]


def test_an_accept_that_changes_nothing_says_what_holds_and_why(api: Api) -> None:
    case = api.store.case_ids()[0]
    assert decide(api, "ben", case, "reject") == "Rejected"
    said = decide(api, "anna", case, "accept")
    assert "stays out" in said
    assert "ben rejected it (too big)" in said
    assert not api.store.has_case(case)


def test_two_of_three_and_managers_decide_where_the_benchmark_says_so(api: Api) -> None:
    one, two = api.store.case_ids()[:2]
    api.store.change_benchmark(lambda b: b.model_copy(update={"policy": "two_of_three"}))
    assert "stays in" in decide(api, "anna", one, "reject")
    assert api.store.has_case(one)
    assert decide(api, "ben", one, "reject") == "Rejected"
    assert not api.store.has_case(one)
    back = {"do": "bring_back", "id": one}
    assert "only a manager" in api.call(back, user="carla", role="curator")["error"]
    assert (
        "only a manager"
        in api.call({**back, "do": "regenerate", "hazard": "x"}, user="c", role="curator")["error"]
    )
    assert "ok" in api.call(back, user="mia", role="manager")
    assert api.store.has_case(one)
    assert "expected a case that is out" in api.call(back, user="mia", role="manager")["error"]
    api.store.change_benchmark(lambda b: b.model_copy(update={"policy": "manager"}))
    assert "stays in: mia, a manager, wants it in" in decide(api, "anna", one, "reject")
    assert "no manager has decided" in decide(api, "anna", two, "reject")
    assert decide(api, "mia", two, "reject", "manager") == "Rejected"
    assert Verification(api.store.root).run() == []


def test_a_page_cannot_give_itself_a_role(api: Api) -> None:
    case = api.store.case_ids()[0]
    api.store.change_benchmark(lambda b: b.model_copy(update={"policy": "manager"}))
    asked = {"do": "decide", "id": case, "decision": "reject", "reason": "x", "role": "manager"}
    api.call(asked, user="anna", role="curator")
    assert api.store.has_case(case)


def test_undoing_what_was_made_again_brings_the_old_one_back_and_puts_the_new_one_away(api: Api) -> None:
    from cfgen.app.curate import replaced

    old, new = api.store.case_ids()[:2]
    replaced(api.case_index, "anna", old, new)
    assert api.store.case_ids().count(old) == 0
    assert ask(api, "undo")["id"] == old
    assert api.store.has_case(old)
    assert not api.store.has_case(new)
    assert f"in place of {old}" in ask(api, "item", id=new)["reason"]
    blind = api.call({"do": "queue"}, user="ben", role="curator")["ok"]
    assert {row["id"]: row["status"] for row in blind["rows"]}[new] == "rejected"
    assert blind["counts"]["here"] == len(api.store.case_ids())


def test_others_decisions_show_after_ones_own(api: Api) -> None:
    case = api.store.case_ids()[0]
    decide(api, "ben", case, "accept")
    seen = {row["id"]: row for row in ask(api, "queue", "anna")["rows"]}[case]
    assert (seen["others"], ask(api, "item", "anna", id=case)["reviews"]) == ([], [])
    decide(api, "anna", case, "flag")
    seen = {row["id"]: row for row in ask(api, "queue", "anna")["rows"]}[case]
    assert seen["others"] == [["ben", "accept"]]
    assert [r["who"] for r in ask(api, "item", "anna", id=case)["reviews"]] == ["ben", "anna"]


@pytest.mark.parametrize("policy", ["one", "two_of_three", "manager"])
def test_a_curator_sees_no_verdict_before_her_own(api: Api, policy: Policy) -> None:
    case = api.store.case_ids()[0]
    api.store.change_benchmark(lambda b: b.model_copy(update={"policy": policy}))
    decide(api, "ben", case, "reject")
    decide(api, "mia", case, "reject", "manager")
    assert not api.store.has_case(case)

    def seen(name: str, **asked: str) -> tuple[dict, str]:
        page = api.call({"do": "queue", **asked}, user=name, role="curator")["ok"]
        item = api.call({"do": "item", "id": case}, user=name, role="curator")["ok"]
        return {row["id"]: row for row in page["rows"]}, str(page["counts"]) + str(item)

    rows, told = seen("anna", show="todo")
    assert rows[case]["status"] == "accepted"
    assert not [w for w in ("rejected", "too big", "ben", "mia") if w in f"{rows[case]}{told}"]
    assert seen("anna", show="rejected")[0] == {}
    assert "stays out" in decide(api, "anna", case, "accept")
    rows, told = seen("anna", show="rejected")
    assert rows[case]["status"] == "rejected"
    assert "too big" in told


def test_undo_says_what_it_takes_back_and_waits_for_what_is_being_made(api: Api) -> None:
    case = api.store.case_ids()[0]
    decide(api, "anna", case, "reject")
    job = Job("regenerate", "anna", "w", "making it again", state="running")
    api.jobs._jobs[job.id] = job
    assert "still being made" in api.call({"do": "undo", "name": "anna"})["error"]
    job.state = "failed"
    said = ask(api, "undo", "anna")["said"]
    assert said == f"Taken back: you rejected {case} (too big)."


def test_a_failure_that_nobody_followed_is_told_once(api: Api) -> None:
    job = Job("regenerate", "anna", "w", "the old one stays", state="failed")
    api.jobs._jobs[job.id] = job
    told = ask(api, "jobs", "anna")
    assert [(j["state"], j["words"]) for j in told] == [("failed", "the old one stays")]
    assert ask(api, "jobs", "anna") == []
    assert ask(api, "job", "anna", job=job.id)["state"] == "failed"


def test_topping_up_finds_the_scenes_again_or_asks_for_them(api: Api, real: Path, tmp_path: Path) -> None:
    from cfgen.app.regenerate import _source
    from cfgen.core.errors import StoreError

    scenes = real / "udacity_hmb3" / "scenes"
    (api.store.work / "scenes-from").unlink(missing_ok=True)
    with pytest.raises(StoreError, match="name their folder"):
        _source(api.store, None)
    with pytest.raises(StoreError, match="does not hold"):
        _source(api.store, tmp_path)
    assert _source(api.store, scenes) == scenes
    assert _source(api.store, None) == scenes.resolve()
    asked = {"do": "top_up", "n": 9, "scenes": "/"}
    assert "only a manager" in api.call(asked, user="anna", role="curator")["error"]
