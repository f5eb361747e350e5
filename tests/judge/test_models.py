"""The other model judges: OpenAI-compatible servers, scripted replies, panels; and reading replies again."""

import json

import pytest

from cfgen.core.errors import CfgenError, InputError
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.judge.stored_verdicts import rescored
from tests.judge.fake_gemini import FakeServer, fault, openai, verdict
from tests.judge.items import items, judged
from tests.judge.test_hazard_rubric import reply


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def chat(server, **options):
    return create_judge("openai", model="qwen3-vl", base_url=f"{server.url}/v1", **options)


# --- openai ---------------------------------------------------------------------------------------------------


def test_a_chat_completion_is_a_vote():
    pytest.importorskip("openai")
    with FakeServer(lambda r, n: openai(reply("2", "2", "2"))) as server:
        found = judged(chat(server), items(3))
    assert [v.scores["overall"] for v in found] == [2, 2, 2]
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert "authorization" not in sent.headers
    kinds = [part["type"] for part in sent.json["messages"][1]["content"]]
    assert kinds == ["text", "image_url"] * 4 + ["text"] * 3
    assert found[0].votes[0].usage == {"input_tokens": 7, "output_tokens": 3}


def test_json_form_holds_the_model_to_the_schema():
    pytest.importorskip("openai")
    with FakeServer(lambda r, n: openai(verdict())) as server:
        assert judged(chat(server, form="json"), items(1))[0].status == "scored"
    assert server.requests[0].json["response_format"]["json_schema"]["strict"]


def test_the_key_goes_in_the_header_and_nowhere_else(monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    with FakeServer(lambda r, n: fault(400, "bad request")) as server:
        judge = chat(server)
        found = judged(judge, items(1))[0]
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret-of-the-test"
    assert "sk-secret" not in found.model_dump_json() + judge.run_record().model_dump_json()
    assert "bad request" in found.reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (openai(reply(), finish="length"), "cut off"),
        (openai("", finish="content_filter"), "refused"),
        (openai("fine"), "change_identified"),
    ],
)
def test_no_usable_reply_is_a_failed_row(answer, reason):
    pytest.importorskip("openai")
    with FakeServer(lambda r, n: answer) as server:
        found = judged(chat(server), items(1))[0]
    assert found.status == "failed"
    assert reason in found.reason


def test_an_unknown_model_stops_everything():
    pytest.importorskip("openai")
    with (
        FakeServer(lambda r, n: fault(404, "no such model")) as server,
        pytest.raises(CfgenError, match="qwen3-vl"),
    ):
        judged(chat(server), items(20))


# --- scripted, panel, options -----------------------------------------------------------------------------------


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "replies.json"
    replies = {
        "000000000000": reply("0", "0", "0"),
        "000000000001": [reply("2"), reply("2"), reply("1", "2", "1")],
    }
    path.write_text(json.dumps({"replies": replies, "default": reply("1", "1", "1")}))
    return path


def test_scripted_replies_come_from_the_file(script):
    found = judged(create_judge("scripted", file=str(script), votes=3), items(3))
    assert [v.scores["overall"] for v in found] == [0, 2, 1]
    assert any(f.startswith("split: reasoning 1 x 1, 2 x 2 -> 2") for f in found[1].flags)


def test_a_panel_asks_every_member(script, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"default": reply("2", "2", "2")}))
    members = [
        {"judge": "scripted", "file": str(script), "name": "a"},
        {"judge": "scripted", "file": str(other), "name": "b"},
        {"judge": "scripted", "file": str(other), "name": "c"},
    ]
    found = judged(create_judge("panel", members=members), items(1))[0]
    assert len(found.votes) == 3
    assert found.scores == {"reasoning": 2, "waypoints": 2, "overall": 2}


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("panel", {"members": [{"judge": "offline"}, {"judge": "offline"}]}, "not a model judge"),
        ("panel", {"members": [{"judge": "scripted"}]}, "at least two"),
        ("scripted", {"file": "/nowhere.json"}, "nowhere.json"),
        ("openai", {"model": "m", "votes": 0}, "votes"),
        ("openai", {"model": "m", "votes": "three"}, "votes"),
        ("openai", {"model": "m", "temperature": 0.1}, "temperature"),
        ("openai", {}, "model"),
        ("gemini", {"model": "m", "thinking": "lots"}, "thinking"),
    ],
)
def test_a_wrong_option_is_named(name, options, named):
    with pytest.raises((InputError, Exception), match=named):
        create_judge(name, **options)


# --- reading again -----------------------------------------------------------------------------------------------


def test_rescoring_gives_the_same_from_the_same_replies(script):
    for found in judged(create_judge("scripted", file=str(script), votes=3), items(3)):
        assert rescored(found, HAZARD) == found


def test_rescoring_reads_the_raw_reply_and_not_the_stored_score(script):
    found = judged(create_judge("scripted", file=str(script)), items(1))[0]
    edited = found.votes[0].model_copy(update={"raw": reply("2", "2", "2")})
    again = rescored(found.model_copy(update={"votes": (edited,)}), HAZARD)
    assert again.scores == {"reasoning": 2, "waypoints": 2, "overall": 2}
    assert (again.rubric_hash, again.input_hash) == (found.rubric_hash, found.input_hash)
