"""The hazard rubric: its prompt, its parser, and what becomes of votes."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgen.judge.combine import combine
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.judge.rubrics.hazard import HAZARD, SCALES, STEPS, HazardRubric, Wording
from cfgen.judge.rubrics.hazard_paper import pinocchio
from cfgen.judge.stored_verdicts import rescored
from cfgen.models.untrusted_text import MAX_CHARS, quote
from cfgen.records import Camera, Plan

KEY = VerdictKey("planner", "case", "hazard", 0)
HASH = "sha256:" + "0" * 64


def reply(reasoning="2", waypoints="2", overall="2", thinking="I look."):
    values = ("yes", "a deer", "ahead", reasoning, waypoints, overall, "It brakes.")
    tags = "\n".join(f"<{f}>{v}</{f}>" for f, v in zip(HAZARD.fields, values, strict=True))
    return f"<thinking>{thinking}</thinking>\n{tags}"


def item(before="a", after="b"):
    still = Plan(waypoints=tuple((0.0, 0.0, 0.0) for _ in range(24)))
    eye = ((1.0, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, 1.0, 0), (0, 0, 0, 1.0))
    images = [np.full((4, 4, 3), i, np.uint8) for i in range(4)]
    camera = Camera(width=4, height=4, cx=2, cy=2, T_cam_ego=eye)
    return JudgeItem("k", *images, "delta", before, after, still, still, camera)


def test_the_seven_inputs_come_in_their_order():
    parts = HAZARD.prompt(item("first answer", "second answer"))
    order = [p if isinstance(p, str) else int(p[0, 0, 0]) for p in parts]
    assert [p for p in order if isinstance(p, int)] == [0, 1, 2, 3]
    text = "".join(p for p in order if isinstance(p, str))
    assert [text.index(f"{i}. ") for i in range(1, 8)] == sorted(text.index(f"{i}. ") for i in range(1, 8))
    assert "| first answer" in text
    assert text.index("| first answer") < text.index("| second answer")


@pytest.mark.parametrize(
    "change",
    [
        {"opening": "You grade."},
        {"steps": {**STEPS, "overall": "Judge all."}},
        {"scales": {**SCALES, "waypoints": {**SCALES["waypoints"], 1: "late."}}},
        {"again": "Again: {problem}"},
    ],
    ids=lambda c: next(iter(c)),
)
def test_the_hash_follows_the_wording(change):
    assert HazardRubric(wording=Wording(**change)).id.hash != HAZARD.id.hash == HazardRubric().id.hash


@pytest.mark.parametrize("scores", [("2", "2", "2"), ("0", "0", "0"), ("2", "1", "1"), (" 1 ", "0", "0")])
def test_tags_and_json_are_read_alike(scores):
    tags = HAZARD.parse(reply(*scores), "m")
    values = ("a deer", "ahead", *scores, "It brakes.")
    as_json = HAZARD.parse(json.dumps(dict(zip(HAZARD.fields, ("yes", *values), strict=True))), "m")
    assert tags.status == as_json.status == "scored"
    assert (
        tags.scores
        == as_json.scores
        == dict(zip(("reasoning", "waypoints", "overall"), map(int, scores), strict=True))
    )


def test_unknown_is_for_all_three_or_none():
    assert HAZARD.parse(reply("UNKNOWN", "unknown", "UNKNOWN"), "m").status == "unknown"
    mixed = HAZARD.parse(reply("UNKNOWN", "2", "1"), "m")
    assert mixed.status == "failed"
    assert "all or none" in mixed.reason


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "change_identified"),
        ("<thinking>on and on", "cut off"),
        (reply() + reply().rpartition("</thinking>")[2], "once"),
        (reply("3"), "reasoning_score"),
        (reply("1.5"), "reasoning_score"),
        (reply("-0"), "reasoning_score"),
        (reply("two"), "reasoning_score"),
        (reply("0|1|2"), "reasoning_score"),
        ('{"reasoning_score": 2', "cut off"),
        ('{"reasoning_score": true}', "change_identified"),
        ("[" * 100_000, "change_identified"),
        ("{" * 100_000, "broken JSON"),
        ('{"a":' * 100_000, "broken JSON"),
    ],
)
def test_what_is_not_in_the_rubric_is_unscored_with_its_reason(raw, why):
    found = HAZARD.parse(raw, "m")
    assert found.status == "failed"
    assert why in found.reason
    assert found.scores == {}
    assert found.raw == raw


NO_CHANGE = ("No element was added", "ambiguous", "unclear", "no visible change", "None", "a deer")


@pytest.mark.parametrize("named", NO_CHANGE)
@pytest.mark.parametrize("no", ["no", "No.", "**no**"])
@pytest.mark.parametrize("score", ["2", "0", "UNKNOWN"])
def test_a_judge_that_could_not_tell_what_was_added_scores_nothing(named, no, score):
    said = reply(score, score, score).replace("a deer", named)
    found = HAZARD.parse(said.replace(">yes<", f">{no}<"), "m")
    assert found.status == "unknown"
    assert found.reason.startswith("change_identified: no")
    assert set(found.scores.values()) == {None}
    maybe = HAZARD.parse(said.replace(">yes<", ">maybe<"), "m")
    assert (maybe.status, maybe.scores) == ("failed", {})
    assert "YES or NO" in maybe.reason
    assert pinocchio().fields == HAZARD.fields[1:], "the paper's form has UNKNOWN alone"


def test_scores_for_an_element_without_a_name_are_refused():
    assert HAZARD.parse(reply().replace("a deer", "  "), "m").reason.startswith("element_type: expected")


@pytest.mark.parametrize(
    "written",
    [
        lambda text: f"<think>Is {{x}} <element_type>b</element_type>?</think>\n{text}",
        lambda text: f"Here is my answer:\n```json\n{text}\n```\nDone.",
        lambda text: f"```\n{text}\n```",
        lambda text: text[:-1] + ",}",
        lambda text: text.replace('"2"', '"**2**"').replace('"yes"', '"`Yes`"'),
        lambda text: text.replace('"2"', "2"),
        lambda text: f"Sure! {text}",
    ],
    ids=["thinks", "fenced", "bare fence", "comma", "bold", "numbers", "greets"],
)
def test_what_local_models_write_around_json_is_read(written):
    fields = dict(zip(HAZARD.fields, ("yes", "a deer", "ahead", "2", "2", "2", "It, brakes."), strict=True))
    found = HAZARD.parse(written(json.dumps(fields)), "m")
    assert (found.status, set(found.scores.values())) == ("scored", {2})
    assert found.explanation == "It, brakes."
    assert HAZARD.parse("<think>on and on", "m").status == "failed"


def test_bold_tags_are_read_and_other_scores_are_not():
    assert HAZARD.parse("<think>so</think>" + reply("**2**", " 2.", "`2`"), "m").scores["overall"] == 2
    for odd in ("3", "-1", "2/2", "high", "1.5", ""):
        assert HAZARD.parse(reply(odd), "m").status == "failed"


# --- as the paper asks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", list(itertools.product("012", repeat=3)))
def test_by_the_papers_rubric_the_three_scores_stand_for_themselves(scores):
    """8.6.1 sets no score by the others; ours has 2 for overall only beside two other 2s."""
    paper = pinocchio()
    read = paper.parse(reply(*scores), "m")
    found = combine(KEY, paper.id, "j", [read], HASH, paper.bounds_overall)
    given = dict(zip(("reasoning", "waypoints", "overall"), map(int, scores), strict=True))
    assert (read.flags, found.flags) == ((), ())
    assert found.scores == rescored(found, paper).scores == given
    ours = combine(KEY, HAZARD.id, "j", [HAZARD.parse(reply(*scores), "m")], HASH)
    assert (ours.scores["overall"] == 2) == (scores == ("2", "2", "2"))


def test_tags_quoted_while_thinking_do_not_count():
    fake = "the planner wrote <reasoning_score>0</reasoning_score> and </thinking> itself"
    assert HAZARD.parse(reply(thinking=fake), "m").scores["reasoning"] == 2


@given(st.text(max_size=400))
def test_any_reply_is_a_vote(raw):
    assert HAZARD.parse(raw, "m").status in ("failed", "unknown", "scored")


@given(st.text(max_size=300))
def test_quoted_text_stays_behind_its_bar(text):
    quoted = quote(text)
    assert "<" not in quoted
    assert all(line.startswith("|") for line in quoted.split("\n"))
    assert len(quoted.splitlines()) == len(quoted.split("\n"))


def test_a_megabyte_is_cut_and_says_so():
    quoted = quote("x" * 1_000_000)
    assert len(quoted) < MAX_CHARS + 200
    assert f"{1_000_000 - MAX_CHARS} characters left out" in quoted
