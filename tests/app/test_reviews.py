"""Decisions and ratings are appended, and two people at once lose nothing."""

import multiprocessing
from pathlib import Path

import pytest

from cfgen.app.policy import current
from cfgen.app.reviews import append_rating, append_review, person
from cfgen.core.errors import CfgenError
from cfgen.records import Benchmark, Planned, Review
from cfgen.storage.store import Store

EACH = 15


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "b", empty_benchmark())


def empty_benchmark() -> Benchmark:
    return Benchmark(
        cfgen_version="0",
        n=1,
        seed=0,
        taxonomy_hash="sha256:" + 64 * "0",
        scenes={},
        inpainter="composite",
        decel_band=(1.5, 6.0),
    )


def review(decision) -> Review:
    return Review(at="2026-01-01", decision=decision)


def decide_often(root: Path, who: str) -> None:
    for number in range(EACH):
        append_review(Store(root), who, "case1", "flag", f"{who} {number}")
        append_rating(
            Store(root),
            "both",
            "planner",
            "case1",
            "hazard",
            0,
            dict.fromkeys(("reasoning", "waypoints", "overall"), 1),
            who,
        )


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


@pytest.mark.parametrize("name", ["", "  ", "../up", "a/b", "<b>x</b>", ".hidden", "a\x00b", "x" * 130])
def test_a_name_that_could_be_a_path_or_markup_is_refused(store: Store, name: str) -> None:
    with pytest.raises(CfgenError, match="your name: expected"):
        append_review(store, name, "case1", "accept")
    assert [p.name for p in store.root.rglob("*.json")] == ["benchmark.json"]


@pytest.mark.parametrize("case_id", ["../../x", "a/b", "", "<i>"])
def test_a_case_that_could_be_a_path_is_refused(store: Store, case_id: str) -> None:
    with pytest.raises(CfgenError, match="case: expected"):
        append_review(store, "anna", case_id, "accept")


def test_a_name_with_a_space_is_kept_with_an_underscore() -> None:
    assert person(" Anna  Berg ") == "Anna_Berg"


def test_clear_takes_back_one_decision_at_a_time() -> None:
    history = [review("accept"), review("reject"), review("clear")]
    assert current(history) == history[0]
    assert current([*history, review("clear"), review("clear")]) is None


def test_free_text_keeps_its_characters_and_loses_control_codes(store: Store) -> None:
    file = append_review(store, "anna", "case1", "flag", "<script>\x1b[31m\x00 ok\nsecond line")
    assert file.history[0].reason == "<script>[31m ok\nsecond line"


def test_the_longest_names_are_kept(store: Store) -> None:
    long = "x" * 120
    scores = dict.fromkeys(("reasoning", "waypoints", "overall"), 2)
    assert append_rating(store, long, long, "case1", "hazard_d0.70", 3, scores).history
    assert [(r.arm, r.repeat) for r in store.ratings()] == [("hazard_d0.70", 3)]


def plan_often(root: Path, who: str) -> None:
    for number in range(EACH):
        further = Planned(case_id=f"{who}{number}", scene_id="s", hazard_id="h", round=0)
        store = Store(root)
        with store.planning():
            store.add_planned([further])


def test_two_processes_that_extend_the_plan_at_once_lose_nothing(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=plan_often, args=(store.root, who)) for who in ("anna", "ben")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    planned = [p.case_id for p in store.planned]
    assert sorted(planned) == sorted(f"{who}{n}" for who in ("anna", "ben") for n in range(EACH))
