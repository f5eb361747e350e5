"""Blind rating, without a browser."""

import json
import shutil
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.core.errors import CfgenError
from cfgen.core.files import read_image
from cfgen.judge.calibrate import calibrate
from tests.app.asking import ask, picture


@pytest.fixture
def api(scored: Path, tmp_path: Path) -> Api:
    return Api(shutil.copytree(scored, tmp_path / "b"))


def rate_all(api: Api, name: str, score: int) -> None:
    for token in ask(api, "rate_progress", name)["tokens"]:
        ask(
            api, "rate", name, token=token, scores=dict.fromkeys(("reasoning", "waypoints", "overall"), score)
        )


def test_a_question_tells_neither_planner_nor_judge_nor_hazard(api: Api) -> None:
    case_names = {c.hazard.id for c in api.store.cases()} | {c.hazard.name for c in api.store.cases()}
    for token in ask(api, "rate_progress")["tokens"]:
        shown = {k: v for k, v in ask(api, "rate_question", token=token).items() if k != "delta"}
        said = json.dumps(shown).lower()
        assert not [word for word in ("cruise", "logged", "offline", *case_names) if word in said]


def test_every_rater_gets_all_answers_in_an_order_of_their_own(api: Api) -> None:
    anna, ben = (ask(api, "rate_progress", name)["tokens"] for name in ("anna", "ben"))
    assert len(anna) == len(set(anna)) == 2 * len(api.store.cases())
    assert not set(anna) & set(ben)
    assert anna == ask(api, "rate_progress", "anna")["tokens"]


def test_ratings_append_and_progress_goes_on_after_a_restart(api: Api) -> None:
    first = ask(api, "rate_progress")["tokens"][0]
    for score in (0, None):
        scores = dict.fromkeys(("reasoning", "waypoints", "overall"), score)
        ask(api, "rate", token=first, scores=scores, note="hm")
    history = api.store.ratings()[0].history
    assert [entry.scores["overall"] for entry in history] == [0, None]
    again = ask(Api(api.store.root), "rate_progress")
    assert again["done"][0]
    assert again["at"] == 1


def test_agreement_shows_only_after_the_last_answer(api: Api) -> None:
    rate_all(api, "ben", 0)
    assert "still to be rated" in api.call({"do": "rate_agreement", "name": "anna"})["error"]
    rate_all(api, "anna", 0)
    rows = ask(api, "rate_agreement")
    assert {row["other"] for row in rows} == {"ben", "judge offline"}
    with_ben = next(r for r in rows if r["other"] == "ben" and r["score"] == "overall")
    assert with_ben["same"] == 1.0
    assert with_ben["kappa"] is None, "kappa is undefined where both give one score throughout"


def test_bad_ratings_are_refused(api: Api) -> None:
    token = ask(api, "rate_progress")["tokens"][0]
    good = dict.fromkeys(("reasoning", "waypoints", "overall"), 1)
    for scores, words in (
        (None, "scores: expected"),
        ({}, "reasoning: expected"),
        ({**good, "overall": 3}, "overall:"),
        ({**good, "overall": 1.0}, "overall:"),
        ({**good, "overall": True}, "overall:"),
    ):
        assert words in api.call({"do": "rate", "name": "anna", "token": token, "scores": scores})["error"]
    assert "no longer" in api.call({"do": "rate", "name": "anna", "token": "x", "scores": good})["error"]
    assert api.store.ratings() == []


@pytest.fixture
def controls(api: Api) -> Api:
    """With a control arm: here the planner's answers to the hazard stand for those to the null edit."""
    for case in api.store.cases():
        for planner in ("cruise", "logged"):
            answer = api.store.rollouts(planner, "hazard")[0]
            api.store.write_rollout(answer.model_copy(update={"case_id": case.case_id, "arm": "null"}))
    return Api(api.store.root)


def test_controls_are_mixed_among_the_hazards_and_nothing_tells_which(controls: Api) -> None:
    tasks = controls.rating.tasks("anna")
    arms = [task.arm for task in tasks]
    assert sorted(set(arms)) == ["hazard", "sham_null"]
    assert len(tasks) == 4 * len(controls.store.cases())
    assert arms not in (sorted(arms), sorted(arms, reverse=True))
    shapes = set()
    for token in ask(controls, "rate_progress")["tokens"]:
        question = ask(controls, "rate_question", token=token)
        assert "null" not in json.dumps({k: v for k, v in question.items() if k not in ("mine", "place")})
        shapes.add((tuple(question), question["augmented"].replace(token, "")))
    assert len(shapes) == 1
    only = Api(controls.store.root, arms=("hazard",))
    assert {task.arm for task in only.rating.tasks("anna")} == {"hazard"}


def test_ratings_of_controls_stay_apart_from_those_of_hazards(controls: Api) -> None:
    scores = dict.fromkeys(("reasoning", "waypoints", "overall"), 2)
    for task in controls.rating.tasks("anna"):
        if task.arm == "sham_null":
            ask(controls, "rate", token=task.token, scores=scores)
    assert {r.arm for r in controls.store.ratings()} == {"sham_null"}
    with pytest.raises(CfgenError, match="no verdict on a rated answer"):
        calibrate(controls.store.root, "offline")
    rate_all(controls, "anna", 0)
    found = calibrate(controls.store.root, "offline")
    assert (found.n, found.unscored) == (2 * len(controls.store.cases()), 0)


def test_a_picture_of_a_question_is_the_frame_the_planner_got(api: Api, tmp_path: Path) -> None:
    for task in api.rating.tasks("anna"):
        question = ask(api, "rate_question", token=task.token)
        folder = api.store.case_dir(task.case_id)
        for shown, name in (("original", "original.png"), ("augmented", "augmented.png")):
            (tmp_path / "got.png").write_bytes(picture(api, question[shown]))
            assert (read_image(tmp_path / "got.png") == read_image(folder / name)).all()
