"""A rating campaign from planning to report, without a browser."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.app.campaigns.create import create, load
from cfgen.app.campaigns.exchange import export, import_ratings
from cfgen.app.campaigns.figures import figures
from cfgen.app.campaigns.log import logs, seat_of
from cfgen.app.rate import plans, read
from cfgen.benchmark.verifying import Verification
from cfgen.core.errors import InputError
from cfgen.core.files import read_record
from cfgen.judge.calibrate import calibrate
from cfgen.records import DIMENSIONS, Rollout
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.sections.agreement import people_scores
from tests.app.asking import ask, picture
from tests.benches import run

RATERS = ("anna", "ben", "carla")


@pytest.fixture(scope="module")
def plan(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("campaign") / "campaign.json"
    code, said, err = run(
        *("campaign", "create", str(scored), "--raters", "3", "--overlap", "0.5", "--gold", "3"),
        *("--training", "2", "--arms", "hazard", "--out", str(out)),
    )
    assert code == 0, err
    assert "3 known ones mixed in" in said
    return out


@pytest.fixture
def api(scored: Path, plan: Path, tmp_path: Path) -> Api:
    return Api(shutil.copytree(scored, tmp_path / "b"), campaign=load(plan))


def rate(api: Api, name: str, score: int | None, n: int = 1000) -> list[dict]:
    """The first ``n`` items in this rater's order."""
    scores, answers = dict.fromkeys(DIMENSIONS, score), []
    for token in ask(api, "rate_progress", name)["tokens"][:n]:
        answers.append(
            ask(api, "rate", name, token=token, scores=scores, seconds=10 + len(answers), paused=1)
        )
    return answers


def test_answers_are_shared_out_with_overlap_and_training_on_scenes_of_its_own(
    scored: Path, plan: Path
) -> None:
    campaign, scenes = load(plan), {c.case_id: c.scene_id for c in Api(scored).store.cases()}
    kinds: dict[str, list] = {"answer": [], "gold": [], "training": []}
    for item in campaign.items:
        kinds[item.kind].append(item)
    assert (len(kinds["gold"]), len(kinds["training"])) == (3, 2)
    apart = {scenes[i.case_id] for i in kinds["training"]}
    assert not apart & {scenes[i.case_id] for i in (*kinds["answer"], *kinds["gold"])}
    rated = [c for c, scene in scenes.items() if scene not in apart]
    both = [*kinds["answer"], *(i.model_copy(update={"planner": i.words_of}) for i in kinds["gold"])]
    assert Counter((i.planner, i.case_id) for i in both) == Counter(
        (p, c) for p in ("cruise", "logged") for c in rated
    ), "gold stands in for answers"
    shared = [i for i in kinds["answer"] if not i.seats]
    assert len(shared) == round(0.5 * len(kinds["answer"]))
    alone = Counter(i.seats for i in kinds["answer"] if i.seats)
    assert max(alone.values()) - min([alone.get((s,), 0) for s in campaign.seats]) <= 1


def test_gold_is_spread_over_cases_and_shares_no_words_with_the_training(api: Api) -> None:
    campaign, room = api.rating.campaign, api.rating
    gold = [i for i in campaign.items if i.kind == "gold"]
    assert len({i.case_id for i in gold}) == min(
        len(gold), len({i.case_id for i in campaign.items if i.planner})
    )
    assert len({i.known for i in gold}) == len(gold)
    shown: dict[str, set[str]] = {"gold": set(), "training": set(), "answer": set()}
    for task in room.tasks("zoe"):
        before, after = room.question("zoe", task.token)["words"]
        shown[task.item.kind] |= {f"{w['said']} {w['why']}".strip() for w in (before, after)} - {""}
    assert shown["training"]
    assert not shown["gold"] & shown["training"]


def test_gold_is_a_rated_planners_answer_driven_otherwise_and_seen_once(api: Api) -> None:
    """What a script can count in JSON and plots: nothing of it is there in gold alone."""
    begins = Counter()
    for task in api.rating.tasks("zoe"):
        if task.item.kind == "training":
            continue
        question = api.rating.question("zoe", task.token)
        planner = task.item.words_of or task.planner
        told = read_record(api.store.rollout_path(planner, "original", task.case_id), Rollout)
        assert question["words"][0] == read(told)
        assert {k: v[0] for k, v in question.items() if k in ("plans", "speeds")} == {
            k: v[0] for k, v in plans(told, told).items() if k in ("plans", "speeds")
        }
        before, after = question["speeds"]
        assert (before[0], len(before)) == (after[0], len(after))
        assert {bool(w["raw"]) for w in question["words"]} == {bool(read(told)["raw"])}
        assert ["[waypoints]" in w["raw"] for w in question["words"]] == [planner == "cruise"] * 2
        begins[planner, task.case_id] += 1
    assert {planner for planner, _ in begins} == {"cruise", "logged"}
    assert set(begins.values()) == {1}


def test_a_campaign_that_cannot_be_is_explained(scored: Path, plan: Path, tmp_path: Path) -> None:
    for asked, words in (
        ({"raters": []}, "names that differ"),
        ({"gold": 9999}, "expected at most"),
        ({"arms": ["nuisance"]}, "no planner has answered nuisance"),
    ):
        with pytest.raises(InputError, match=words):
            create(scored, tmp_path / "c.json", **asked)
    with pytest.raises(InputError, match="exists already"):
        create(scored, plan)


def test_training_comes_first_with_feedback_and_nothing_tells_gold_from_answers(api: Api) -> None:
    progress = ask(api, "rate_progress")
    questions = [ask(api, "rate_question", token=t) for t in progress["tokens"]]
    assert [q["training"] for q in questions] == [n < 2 for n in range(len(questions))]
    rest = questions[progress["training"] :]
    assert len({tuple(q) for q in rest}) == 1
    said = json.dumps([{k: v for k, v in q.items() if k not in ("words", "delta")} for q in rest])
    assert not [w for w in ("gold", "known", "cruise", "logged", "expected", "i000") if w in said.lower()]
    assert all(picture(api, q["augmented"])[:4] == b"\x89PNG" for q in rest)
    told = rate(api, "anna", 1, n=3)
    assert [bool(t["feedback"]) for t in told] == [True, True, False]
    assert set(told[0]["feedback"]["scores"]) == set(DIMENSIONS)
    assert told[0]["feedback"]["why"]


def test_nothing_is_rated_before_the_training_and_what_is_out_counts_nowhere(api: Api) -> None:
    tokens = ask(api, "rate_progress")["tokens"]
    ahead = {"do": "rate", "name": "anna", "token": tokens[2], "scores": dict.fromkeys(DIMENSIONS, 1)}
    assert "2 of its answers are still to be scored" in api.call(ahead)["error"]
    rate(api, "anna", 0)
    rate(api, "ben", 2)
    before = ask(api, "campaign", "mia")
    out = next(i.case_id for i in api.rating.campaign.items if i.id == before["disputed"][0]["item"])
    lost = [i for i in api.rating.campaign.items if i.case_id == out]
    gone = next(t.token for t in api.rating.tasks("anna") if t.case_id == out)
    n = len(tokens)
    ask(api, "decide", "kurt", id=out, decision="reject", reason="ugly")
    after = ask(api, "campaign", "mia")
    for told in (
        ask(api, "rate_question", token=gone),
        ask(api, "rate", token=gone, scores=dict.fromkeys(DIMENSIONS, 1)),
    ):
        assert "taken out of the benchmark" in told["gone"]
        assert gone not in told["tokens"]
        assert len(told["tokens"]) + told["out"] == n
    disputed = api.call({"do": "dispute", "item": before["disputed"][0]["item"]}, user="mia")
    assert f"case {out} has been taken out" in disputed["error"]
    assert (before["out"], after["out"]) == (0, len(lost))
    assert not {d["item"] for d in after["disputed"]} & {i.id for i in lost}
    assert after["progress"][0]["of"] == len(ask(api, "rate_progress")["tokens"])
    ask(api, "undo", "kurt")
    assert ask(api, "campaign", "mia") == before


def test_the_managers_page_tells_progress_agreement_gold_and_disputes(api: Api) -> None:
    rate(api, "anna", 0)
    rate(api, "ben", 2)
    found = ask(api, "campaign", "mia")
    assert [(p["rater"], p["done"] == p["of"]) for p in found["progress"]] == [("anna", True), ("ben", True)]
    shared = sum(i.kind == "answer" and not i.seats for i in api.rating.campaign.items)
    by = {a["score"]: a for a in found["agreement"]}
    assert by["overall"]["n"] == shared
    assert by["overall"]["alpha"] < 0, "one says 0 and the other 2 throughout"
    assert by["overall"]["ac1"] < 0
    low, high = by["overall"]["ac1_interval"]
    assert low <= by["overall"]["ac1"] <= high
    assert {tuple(p["raters"]) for p in found["pairs"]} == {("anna", "ben")}
    assert len(found["gold"]) == 2 * (3 + 2)
    assert {tuple(g["given"]) for g in found["gold"] if g["rater"] == "anna"} == {(0, 0, 0)}
    assert [d["third"] for d in found["drift"] if d["rater"] == "ben"] == [1, 2, 3]
    assert len(found["disputed"]) == shared
    assert {d["apart"] for d in found["disputed"]} == {6}
    for role in ("rater", "curator"):
        assert "which is nothing" in api.call({"do": "campaign"}, user="anna", role=role)["error"]


def test_what_is_adjudicated_counts_in_report_and_calibration(api: Api) -> None:
    rate(api, "anna", 0)
    rate(api, "ben", 2)
    item = ask(api, "campaign", "mia")["disputed"][0]["item"]
    seen = ask(api, "dispute", "mia", item=item)
    assert [s["who"] for s in seen["said"]] == ["anna", "ben"]
    assert picture(api, seen["augmented"], "mia")[:4] == b"\x89PNG"
    scores = {"reasoning": 1, "waypoints": 2, "overall": 1}
    found = ask(api, "adjudicate", "mia", item=item, scores=scores, note="brakes for it")
    assert [d["final"] for d in found["disputed"] if d["item"] == item] == [[1, 2, 1]]
    wanted = next(i for i in api.rating.campaign.items if i.id == item)
    data = read_report_data(api.store)
    assert people_scores(data, "waypoints")[wanted.planner, wanted.case_id] == 2
    disputed = {d["item"] for d in found["disputed"]} - {item}
    tied = [(i.planner, i.case_id) for i in api.rating.campaign.items if i.id in disputed]
    assert not set(tied) & set(people_scores(data, "waypoints")), "0 against 2 without a last word is a tie"
    assert calibrate(api.store.root, "offline").raters == ("anna", "ben")
    assert "your name" in api.call({"do": "rate_progress", "name": "adjudicated"})["error"]
    assert Verification(api.store.root).run() == []


def test_a_campaign_goes_out_and_comes_back_whole(api: Api, scored: Path, plan: Path, tmp_path: Path) -> None:
    campaign, file = api.rating.campaign, tmp_path / "ratings"
    rate(api, "anna", 1)
    rate(api, "ben", 2, n=4)
    token = ask(api, "rate_progress")["tokens"][-1]
    ask(api, "rate", token=token, scores=dict.fromkeys(DIMENSIONS, 0), note="after all")
    item = next(i.id for i in campaign.items if i.kind == "answer")
    odd = {"reasoning": 0, "waypoints": 0, "overall": 2}
    assert "do not go together" in ask(api, "adjudicate", "mia", item=item, scores=odd)["ask"]
    ask(api, "adjudicate", "mia", item=item, scores=odd, sure=True)
    n = export(api.store.root, campaign, file)
    assert n == len(ask(api, "rate_progress")["tokens"]) + 1 + 4 + 1
    rows = list(csv.DictReader(file.open()))
    assert Counter(r["kind"] for r in rows)["training"] == 4
    assert float(rows[0]["seconds"]) == 10
    assert Counter(r["counts"] for r in rows) == {"yes": n - 1, "no": 1}
    anew = [r for r in rows if r["place_shown"] == "yes"]
    assert [(r["rater"], r["kept_anyway"]) for r in anew] == [("anna", "no"), ("adjudicated", "yes")]
    assert sum(r["kept_anyway"] == "yes" for r in rows) == 1
    other = Api(shutil.copytree(scored, tmp_path / "other"))
    told = run("campaign", "import", str(other.store.root), str(file), "--campaign", str(plan))
    assert told[:2] == (0, f"{n} ratings added\n"), told
    assert figures(other.store, campaign) == figures(api.store, campaign)
    again = tmp_path / "again"
    export(other.store.root, campaign, again)
    assert again.read_bytes() == file.read_bytes()
    theirs, ours = (
        {(r.rater, r.planner, r.case_id, r.arm): r.history[-1].scores for r in a.store.ratings()}
        for a in (other, api)
    )
    assert theirs == ours
    assert import_ratings(other.store.root, file, campaign) == 0, "what is there already is not added twice"
    rate(api, "ben", 0, n=1)
    export(api.store.root, campaign, file)
    assert [import_ratings(a.store.root, file, campaign) for a in (api, other, other)] == [0, 1, 0]


def test_an_import_says_what_is_missing_and_writes_nothing(api: Api, scored: Path, tmp_path: Path) -> None:
    campaign, file, other = api.rating.campaign, tmp_path / "r.csv", shutil.copytree(scored, tmp_path / "o")
    rate(api, "anna", 1, n=4)
    export(api.store.root, campaign, file)
    moved = [i.model_copy(update={"case_id": "0" * 12}) for i in campaign.items]
    for plan, words in (
        (None, "give the file that 'create' wrote too, with --campaign"),
        (campaign.model_copy(update={"name": "next"}), "expected one of campaign 'next'"),
        (campaign.model_copy(update={"items": tuple(moved)}), "expected case_id '000000000000'"),
    ):
        with pytest.raises(InputError, match=words):
            import_ratings(other, file, plan)
    store = Api(other).store
    seat_of(store, campaign, "ben")  # who sits where anna sat
    with pytest.raises(InputError, match="rater 'anna': expected seat rater2, rater3, found rater1"):
        import_ratings(other, file, campaign)
    assert [log.entries for log in logs(store, campaign)] == [()]
    assert not store.ratings()


def test_show_says_where_it_stands(api: Api, plan: Path) -> None:
    code, said, _ = run("campaign", "show", str(api.store.root), str(plan))
    assert (code, said.splitlines()[0]) == (0, "nobody has begun")
    rate(api, "anna", 0)
    code, said, _ = run("campaign", "show", str(api.store.root), str(plan))
    assert code == 0
    right = sum(
        g["given"] == g["expected"] for g in figures(api.store, load(plan))["gold"] if g["kind"] == "gold"
    )
    assert f"{right} of 3" in said
