"""The Gemini judge through the real SDK, against a server on loopback."""

import base64
import json
import time

import pytest

from cfgen.core.errors import CfgenError, Shortfall
from cfgen.judge.combine import SUPERSEDED
from cfgen.judge.registry import create_judge
from tests.judge.fake_gemini import FakeServer, Response, fault, gemini, verdict
from tests.judge.items import items, judged

pytest.importorskip("google.genai")
KEY = "AIzaSECRET-of-the-test-0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    from cfgen.models import client, limits

    async def quick(call, meter):
        return await limits.with_retries(call, meter, first_wait=0.01)

    monkeypatch.setattr(client, "with_retries", quick)


def make(server, **options):
    return create_judge("gemini", model="gemini-test", base_url=server.url, **options)


def test_items_become_verdicts_with_their_usage():
    with FakeServer(lambda r, n: gemini(verdict("2", "1", "1"), thoughtsTokenCount=40)) as server:
        found = judged(make(server), items(5))
    assert [v.scores for v in found] == [{"reasoning": 2, "waypoints": 1, "overall": 1}] * 5
    assert found[0].votes[0].usage == {"input_tokens": 5000, "output_tokens": 100, "thinking_tokens": 40}
    assert found[0].votes[0].raw == verdict("2", "1", "1")
    assert len({v.input_hash for v in found}) == 5


def test_what_is_sent_is_the_seven_inputs_in_order_and_the_schema():
    with FakeServer() as server:
        judged(make(server, thinking="low"), items(1))
    sent = server.requests[0].json
    parts = sent["contents"][0]["parts"]
    kinds = ["image" if "inlineData" in p else p["text"].split()[0] for p in parts]
    assert kinds == ["1.", "image", "2.", "image", "3.", "image", "4.", "image", "5.", "6.", "7."]
    assert sent["generationConfig"]["responseJsonSchema"]["required"]
    assert list(sent["generationConfig"]["thinkingConfig"].values()) == ["LOW"]
    assert "You grade" in json.dumps(sent["systemInstruction"])


def test_nothing_names_the_case_the_planner_or_the_arm():
    with FakeServer() as server:
        judged(make(server), items(3))
    for request in server.requests:
        parts = request.json["contents"][0]["parts"]
        pictures = b"".join(
            base64.urlsafe_b64decode(p["inlineData"]["data"]) for p in parts if "inlineData" in p
        )
        sent = request.body + pictures + request.path.encode() + json.dumps(request.headers).encode()
        for word in (
            b"planner-x",
            b"000000000000",
            b"000000000002",
            b"hazard_",
            b'"hazard"',
            b"Exif",
            b"composite",
        ):
            assert word not in sent


def test_an_inconsistent_reply_is_kept_flagged_and_asked_once_more():
    def answer(request, number):
        again = len(request.json["contents"]) > 1
        return gemini(verdict("0", "2", "1") if again else verdict("0", "2", "2"))

    with FakeServer(answer) as server:
        found = judged(make(server), items(1))[0]
    assert found.scores == {"reasoning": 0, "waypoints": 2, "overall": 1}
    assert [SUPERSEDED in v.flags for v in found.votes] == [True, False]
    assert found.votes[0].scores["overall"] == 2
    second = server.requests[1].json["contents"]
    assert [c["role"] for c in second] == ["user", "model", "user"]
    assert "inconsistent" in second[2]["parts"][0]["text"]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (gemini("", "SAFETY"), "refused: SAFETY"),
        (gemini(verdict()[:40], "MAX_TOKENS"), "cut off"),
        (gemini("I think it is fine."), "change_identified"),
        (gemini(verdict("7")), "reasoning_score"),
        (Response(b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}'), "PROHIBITED_CONTENT"),
        (fault(400, "image too large"), "image too large"),
    ],
)
def test_what_is_no_verdict_is_a_failed_row_with_its_reason_and_not_cached(reply, reason, tmp_path):
    with FakeServer(lambda r, n: reply) as server:
        found = judged(make(server, cache=str(tmp_path / "c")), items(1))[0]
        assert found.status == "failed"
        assert reason in found.reason
        assert found.scores == {}
        asked = len(server.requests)
        judged(make(server, cache=str(tmp_path / "c")), items(1))
        assert len(server.requests) == 2 * asked


def test_retries_by_class_and_retry_after():
    times = []

    def answer(request, number):
        times.append(time.monotonic())
        if number == 0:
            return fault(429, headers={"retry-after": "0.5"})
        return fault(503) if number == 1 else gemini(verdict())

    with FakeServer(answer) as server:
        assert judged(make(server), items(1))[0].status == "scored"
    assert len(times) == 3
    assert times[1] - times[0] >= 0.5


def test_a_refused_key_stops_everything_and_is_never_shown():
    def answer(request, number):
        return fault(400, f"API key not valid: {KEY}. Please pass a valid API key.")

    with FakeServer(answer) as server, pytest.raises(CfgenError) as caught:
        judged(make(server), items(40))
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)
    assert caught.value.__cause__ is None or KEY not in repr(caught.value.__cause__)


def test_the_key_is_in_no_record(tmp_path):
    with FakeServer(lambda r, n: fault(400, f"bad {KEY}")) as server:
        judge = make(server, cache=str(tmp_path))
        found = judged(judge, items(2))
    assert KEY not in judge.run_record().model_dump_json()
    assert all(KEY not in v.model_dump_json() for v in found)


def test_replies_are_cached_by_what_decides_them(tmp_path):
    with FakeServer() as server:
        judged(make(server, cache=str(tmp_path)), items(3))
        judged(make(server, cache=str(tmp_path)), items(3))
        assert len(server.requests) == 3
        judged(make(server, cache=str(tmp_path), thinking="high"), items(3))
        assert len(server.requests) == 6
        judged(make(server, cache=str(tmp_path), votes=2), items(3))
        assert len(server.requests) == 9
    assert KEY not in "".join(p.read_text() for p in tmp_path.rglob("*.json"))


def test_a_budget_stops_cleanly_and_the_next_run_goes_on(tmp_path):
    with FakeServer() as server:
        judge = make(server, max_requests=4, concurrency=1, cache=str(tmp_path))
        found = []
        with pytest.raises(Shortfall, match="4 of 10"):
            judge.judge(items(10), found.append)
        assert len(found) == 4
        done = {v.case_id for v in found}
        rest = [i for i in items(10) if i[0].case_id not in done]
        make(server).judge(rest, found.append)
    assert len(found) == 10
    assert len(server.requests) == 10


def test_requests_a_minute_are_kept():
    with FakeServer() as server:
        start = time.monotonic()
        judged(make(server, rpm=300), items(6))
    assert time.monotonic() - start >= 5 * 0.2 * 0.95


def test_no_more_than_agreed_at_once():
    with FakeServer(latency=0.05) as server:
        judged(make(server, concurrency=3), items(12))
    assert server.most_at_once == 3
