"""The official SDK under our client, against a server on loopback."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from cfgen.core.errors import InputError, SetupError, Shortfall
from cfgen.judge.registry import create_judge
from cfgen.models.client import BudgetSpentError, Client
from cfgen.models.limits import Limits
from tests.judge.fake_gemini import FakeServer, Response, fault, openai
from tests.judge.items import items, judged
from tests.judge.test_hazard_rubric import reply

pytest.importorskip("openai")


def chat(server, **options):
    return create_judge("openai", model="m", base_url=f"{server.url}/v1", **options)


def error(status, message, **more):
    return Response(json.dumps({"error": {"message": message, **more}}).encode(), status)


def test_the_wait_that_a_server_asks_for_is_kept_and_the_sdk_tries_nothing_itself():
    with FakeServer(
        lambda r, n: openai(reply()) if n else fault(429, headers={"retry-after": "0.6"})
    ) as server:
        start = time.monotonic()
        assert judged(chat(server), items(1))[0].status == "scored"
        assert time.monotonic() - start >= 0.6
        assert len(server.requests) == 2
    with FakeServer(lambda r, n: fault(503)) as server:
        assert judged(chat(server, retries=0), items(1))[0].transient
        assert len(server.requests) == 1


def test_a_model_that_knows_the_bound_by_its_newer_name_is_asked_by_that():
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    def answer(request, number):
        if "max_tokens" in request.json:
            return error(400, said, param="max_tokens", code="unsupported_parameter")
        return openai(reply())

    with FakeServer(answer) as server:
        found = judged(chat(server, concurrency=1, max_tokens=99, reasoning_effort="low"), items(2))
    assert [v.status for v in found] == ["scored"] * 2
    sent = [{k: v for k, v in r.json.items() if k.startswith("max")} for r in server.requests]
    assert sent == [{"max_tokens": 99}, *[{"max_completion_tokens": 99}] * 2], "learnt once"
    assert server.requests[-1].json["reasoning_effort"] == "low"


def test_another_bad_request_is_not_asked_again():
    with FakeServer(lambda r, n: error(400, "no picture", param="max_tokens")) as server:
        assert "no picture" in judged(chat(server), items(1))[0].reason
        assert len(server.requests) == 1


def test_an_account_without_money_ends_the_run():
    with (
        FakeServer(lambda r, n: error(429, "You exceeded your quota", code="insufficient_quota")) as server,
        pytest.raises(SetupError, match=r"judge 'm': .* answered 429 .*exceeded your quota"),
    ):
        judged(chat(server), items(2))
    assert len(server.requests) <= 2


@pytest.mark.parametrize(("option", "value"), [("form", "xml"), ("base_url", "localhost")])
def test_options_that_cannot_work_are_named(option, value):
    with pytest.raises(InputError, match=f"option {option}: expected"):
        create_judge("openai", **{"model": "m", "base_url": "http://localhost/v1", option: value})


def test_a_server_that_answers_only_errors_ends_the_run_and_what_is_done_is_kept():
    answers = [openai(reply())] * 3
    with FakeServer(lambda r, n: answers.pop() if answers else fault(500)) as server:
        kept = []
        judge = chat(server, retries=0, concurrency=1)
        with pytest.raises(
            Shortfall, match=r"8 questions in a row got no answer, after 1 tries each.*is kept"
        ):
            judge.judge(items(40), kept.append)
        assert [verdict.status for verdict in kept] == ["scored"] * 3 + ["failed"] * 7
        assert len(server.requests) in (11, 12), "one more was on its way"


def test_two_commands_at_once_share_one_budget(tmp_path: Path):
    first, second = (Client("judge 'x'", Limits(cache=str(tmp_path), max_requests=5)) for _ in range(2))
    for number in range(5):
        client = (first, second)[number % 2]
        asyncio.run(client.meter.admit())
        client.ledger.add("m", "", True, {})
    for client in (first, second):
        with pytest.raises(BudgetSpentError):
            asyncio.run(client.meter.admit())
