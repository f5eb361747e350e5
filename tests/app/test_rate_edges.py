"""People rate edges in the Rate room: blind, one frame, all five; without a browser."""

import json
from pathlib import Path

import pytest

from cfgen.app.api import Api
from cfgen.core.errors import CfgenError
from cfgen.records import TraceVerdict
from cfgen.storage.store import Store
from tests.app.asking import ask, picture
from tests.reporting.bench import HASH, blind, case_id, make_bench

EDGES = ("E1", "E2", "E3", "E4", "E5")


@pytest.fixture
def api(tmp_path: Path) -> Api:
    return Api(
        make_bench(tmp_path / "b", 2, {"blind": blind}, arms=("hazard",)).root, rubric="faithfulness-scene"
    )


def test_one_frame_one_plan_five_questions(api: Api):
    progress = ask(api, "rate_progress", "ann")
    assert len(progress["tokens"]) == 4, "two cases, original and hazard"
    assert (progress["dimensions"], progress["values"]) == (list(EDGES), [0, 1, None])
    assert "scene description" in progress["questions"]["E2"], "the other reading of E2"
    hazards = {c.hazard.name for c in api.store.cases()} | {c.hazard.id for c in api.store.cases()}
    for token in progress["tokens"]:
        shown = ask(api, "rate_question", "ann", token=token)
        assert shown["original"] == shown["augmented"]
        said = json.dumps({k: v for k, v in shown.items() if k not in ("delta", "words")})
        assert not [word for word in ("blind", "original.png", *hazards) if word in said]
        assert picture(api, shown["original"], "ann")
        with pytest.raises(CfgenError, match="expected after, found"):
            picture(api, f"picture/rate/{token}/before", "ann")


def test_ratings_are_kept_and_agree_after_the_last(api: Api):
    tokens = ask(api, "rate_progress", "ann")["tokens"]
    with pytest.raises(AssertionError, match="4 of 4 answers are still to be rated"):
        ask(api, "rate_agreement", "ann")
    for token in tokens:
        ask(api, "rate", "ann", token=token, scores={**dict.fromkeys(EDGES, 1), "E4": 0, "E1": None})
    files = sorted((api.store.root / "edge_ratings" / "faithfulness-scene" / "ann" / "blind").glob("*.json"))
    assert len(files) == 4
    assert json.loads(files[0].read_text())["history"][0]["edges"] == {
        **dict.fromkeys(EDGES, True),
        "E4": False,
        "E1": None,
    }
    assert all(Api(api.store.root, rubric="faithfulness-scene").rating.progress("ann")["done"])
    store = Store(api.store.root)
    for i in range(2):
        verdict = {**dict.fromkeys(EDGES, True), "E4": i == 0}
        store.write_trace_verdict(
            TraceVerdict(
                checker="m",
                rubric="faithfulness-scene",
                rubric_version="1",
                rubric_hash=HASH,
                planner="blind",
                case_id=case_id(i),
                arm="hazard",
                repeat=0,
                status="checked",
                edges=verdict,
            )
        )
    rows = {r["score"]: r for r in ask(api, "rate_agreement", "ann")}
    assert (rows["E4"]["n"], rows["E4"]["same"]) == (2, 0.5)
    assert rows["E1"]["n"] == 0, "what she could not tell is left out"
    assert rows["overall"]["same"] == 0.5, "by rule: a broken edge breaks the whole"


def test_half_a_rating_is_refused(api: Api):
    token = ask(api, "rate_progress", "ann")["tokens"][0]
    with pytest.raises(AssertionError, match="E2: expected 0, 1 or null"):
        ask(api, "rate", "ann", token=token, scores={"E1": 1})
    assert not (api.store.root / "edge_ratings").exists()


def test_another_rubric_is_named(tmp_path: Path):
    root = make_bench(tmp_path / "b", 1, {}, arms=("hazard",)).root
    with pytest.raises(CfgenError, match="expected faithfulness or faithfulness-scene, found 'cfgen'"):
        Api(root, rubric="cfgen")
