"""Whatever breaks on one item, and whatever a model says, is that verdict's: the others are there."""

import json
import shutil

import pytest

from cfgen.cli.main import main
from cfgen.core.errors import InputError, SetupError, StoreError
from cfgen.judge.combine import combine
from cfgen.judge.containment import judge_each
from cfgen.judge.offline.judge import OfflineJudge
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.judge.stored_verdicts import ShortVerdict, judge_failures, rescored
from cfgen.models.base import Reply
from cfgen.models.client import Replies
from cfgen.models.limits import with_retries
from tests.judge.fake_gemini import FakeServer, Response, openai, verdict
from tests.judge.items import items
from tests.judge.test_hazard_rubric import reply
from tests.reporting.bench import make_bench

LONE = "\ud83d"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    from cfgen.models import client

    async def quick(call, meter):
        return await with_retries(call, meter, first_wait=0.001)

    monkeypatch.setattr(client, "with_retries", quick)


def each(judge, todo, strict=False, done=None):
    found = []

    def take(one):
        if done is not None:
            done(one)
        one.model_dump_json()  # what cannot be written as UTF-8 raises here
        found.append(one)

    judge_each(judge, todo, take, strict)
    return sorted(found, key=lambda v: v.case_id)


def chat(server, **options):
    pytest.importorskip("openai")
    return create_judge("openai", model="m", base_url=f"{server.url}/v1", **options)


def scripted(tmp_path, default, **replies):
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"replies": replies, "default": default}))
    return create_judge("scripted", file=str(path))


# --- the door ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["tags", "json"])
def test_a_lone_surrogate_in_a_reply_is_made_visible_and_the_verdict_stands(form, tmp_path):
    said = verdict(explanation=f"It brakes {LONE}.")
    said = said if form == "json" else reply().replace("</explanation>", f"{LONE}</explanation>")
    with FakeServer(lambda r, n: openai(said)) as server:
        options = {"form": form, "cache": str(tmp_path / "c")}
        first = each(chat(server, **options), items(2))
        asked = len(server.requests)
        again = each(chat(server, **options), items(2))
        assert len(server.requests) == asked, "the replies were kept"
    assert first == again
    assert [v.status for v in first] == ["scored", "scored"]
    assert "\\ud83d" in first[0].explanation
    assert rescored(first[0], HAZARD) == first[0]


def test_a_poisoned_cache_is_asked_again(tmp_path):
    replies = Replies(tmp_path)
    key = "sha256:" + "0" * 64
    replies.put(key, Reply("fine"))
    path = next(tmp_path.rglob("*.json"))
    path.write_text(json.dumps({"text": f"a {LONE}", "usage": {"input_tokens": "many"}}))
    assert replies.get(key).reply == Reply("a \\ud83d")
    for content in ({"text": ["no"]}, {"text": None}, {}):
        path.write_text(json.dumps(content))
        assert replies.get(key) is None


# --- containment ------------------------------------------------------------------------------------------------


def broken_items(n, at, error):
    todo = items(n)

    def breaks():
        raise error

    todo[at] = (todo[at][0], breaks)
    return todo


JUDGES = {
    "model": lambda tmp_path: scripted(tmp_path, reply()),
    "offline": lambda tmp_path: OfflineJudge(),
}


@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("error", [ZeroDivisionError("by nought"), InputError("frame.png: damaged")])
def test_an_item_that_cannot_be_made_is_a_fault_of_its_verdict(kind, error, tmp_path):
    found = each(JUDGES[kind](tmp_path), broken_items(5, 1, error))
    assert [bool(v.fault) for v in found] == [False, True, False, False, False]
    assert found[1].status == "failed"
    assert str(error) in found[1].fault.message
    assert found[1].fault.inputs["case_id"] == found[1].case_id
    missing = judge_failures(map(ShortVerdict.of, found))
    assert (missing.failed, missing.transient, missing.short) == (1, 0, True)
    with pytest.raises(type(error), match=str(error)):
        each(JUDGES[kind](tmp_path), broken_items(5, 1, error), strict=True)


@pytest.mark.parametrize("kind", JUDGES)
def test_what_all_items_would_meet_ends_the_run_and_keeps_what_is_done(kind, tmp_path):
    kept = []

    def full(one):
        if len(kept) == 2:
            raise StoreError("disk full")
        kept.append(one)

    with pytest.raises(StoreError, match="disk full"):
        each(JUDGES[kind](tmp_path), items(5), done=full)
    assert len(kept) == 2


@pytest.mark.parametrize("kind", JUDGES)
def test_a_verdict_that_cannot_be_written_is_a_fault(kind, tmp_path):
    def refuses(one):
        if one.case_id.endswith("2") and one.fault is None:
            raise ValueError("cannot be written")

    found = each(JUDGES[kind](tmp_path), items(4), done=refuses)
    assert [bool(v.fault) for v in found] == [False, False, True, False]


def test_an_exception_in_parsing_or_combining_is_contained(tmp_path, monkeypatch):
    from cfgen.judge import panel

    def breaks(key, *rest):
        if key.case_id.endswith("1"):
            raise KeyError("votes")
        return combine(key, *rest)

    monkeypatch.setattr(panel, "combine", breaks)
    found = each(scripted(tmp_path, reply()), items(3))
    assert [v.status for v in found] == ["scored", "failed", "scored"]
    assert found[1].fault.exception == "KeyError"


def test_a_judge_of_others_that_breaks_or_says_nothing_is_contained():
    class Theirs(OfflineJudge):
        def judge(self, todo, done):
            for key, build in todo:
                if key.case_id.endswith("1"):
                    raise AttributeError("of theirs")
                if not key.case_id.endswith("2"):
                    super().judge([(key, build)], done)

    found = each(Theirs(), items(4))
    assert [v.fault.exception if v.fault else "" for v in found] == ["", "AttributeError", "RuntimeError", ""]

    class NoKey(OfflineJudge):
        def judge(self, todo, done):
            raise InputError("no key")

    with pytest.raises(InputError, match="no key"):
        each(NoKey(), items(2))


# --- transient --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (Response(b""), "an empty body"),
        (Response(b"<html>It works!", headers={"Content-Type": "text/html"}), "'<html>It works!'"),
        (Response(b'{"choices": []}'), r"'{.*\"choices\":\[\].*'"),
        (Response(b"null"), "'None'"),
    ],
)
def test_a_server_that_never_gives_a_chat_completion_ends_the_run(other, found):
    with (
        FakeServer(lambda r, n: other) as server,
        pytest.raises(
            SetupError, match=rf"/v1: expected a chat completion, found {found}; see that base_url"
        ),
    ):
        each(chat(server), items(1))
    assert len(server.requests) == 3


def test_a_run_in_which_every_verdict_failed_exits_1_and_names_the_command_that_mends_it(tmp_path, capsys):
    bench = make_bench(tmp_path / "b", 2, {}, arms=("hazard",)).root
    script = tmp_path / "replies.json"
    script.write_text(json.dumps({"replies": {}, "default": "I would rather not."}))
    command = ["score", str(bench), "--planner", "cruise", "--judge", "scripted", "--quiet"]
    command += ["--judge-options", f"file={script}", "--judge-options", "name=mine"]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "Nothing was judged: all 4 verdicts failed." in out
    assert "the same command with --retry-failed" in out
    shutil.rmtree(bench / "verdicts")  # replies are part of who judges
    script.write_text(json.dumps({"replies": {}, "default": reply()}))
    assert main([*command, "--retry-failed"]) == 0
    path = next(bench.glob("verdicts/mine/cruise/hazard/*.json"))
    path.write_text('{"cut')
    capsys.readouterr()
    assert main(command) == 0, "a damaged verdict is made again"
    assert "mine: 2 scored" in capsys.readouterr().out
    path.write_text('{"cut')
    assert main(["judge", "rescore", str(bench), "--judge", "mine"]) == 1
    assert "1 of 4 could not be read again" in capsys.readouterr().out
