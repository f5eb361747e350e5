"""The hazard rubric: its prompt, its parser, and what becomes of votes."""

import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgen.judge.combine import SUPERSEDED, combine, inconsistency, overall_range
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.judge.rescore import rescored
from cfgen.judge.rubrics.hazard import FIELDS, HAZARD, SCALES, STEPS, HazardRubric, Wording
from cfgen.judge.rubrics.pinocchio import pinocchio
from cfgen.models.quote import MAX_CHARS, quote
from cfgen.records import Camera, Plan, Vote

KEY = VerdictKey("planner", "case", "hazard", 0)
HASH = "sha256:" + "0" * 64


def reply(reasoning="2", waypoints="2", overall="2", thinking="I look."):
    values = ("a deer", "ahead", reasoning, waypoints, overall, "It brakes.")
    tags = "\n".join(f"<{f}>{v}</{f}>" for f, v in zip(FIELDS, values, strict=True))
    return f"<thinking>{thinking}</thinking>\n{tags}"


def vote(r, w, o, status="scored", flags=()):
    return Vote(model="m", status=status, scores={"reasoning": r, "waypoints": w, "overall": o}, flags=flags)


def verdict(*votes):
    return combine(KEY, HAZARD.id, "j", votes, HASH)


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


def test_every_step_and_score_stands_in_the_prompt_in_order():
    said = " ".join(HAZARD.system("tags").split())
    parts = ["Step 0, the change. " + STEPS["change"]]
    for number, name in enumerate(SCALES, 1):
        parts.append(f"Step {number}, {name}. {STEPS[name]}")
        parts += [f"{score}: {SCALES[name][score]}" for score in (2, 1, 0)]
    places = [said.index(" ".join(part.split())) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("scores", [("2", "2", "2"), ("0", "0", "0"), ("2", "1", "1"), (" 1 ", "0", "0")])
def test_tags_and_json_are_read_alike(scores):
    tags = HAZARD.parse(reply(*scores), "m")
    values = ("a deer", "ahead", *scores, "It brakes.")
    as_json = HAZARD.parse(json.dumps(dict(zip(FIELDS, values, strict=True))), "m")
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
        ("", "element_type"),
        ("<thinking>on and on", "cut off"),
        (reply() + reply().rpartition("</thinking>")[2], "once"),
        (reply("3"), "reasoning_score"),
        (reply("1.5"), "reasoning_score"),
        (reply("-0"), "reasoning_score"),
        (reply("two"), "reasoning_score"),
        (reply("0|1|2"), "reasoning_score"),
        ('{"reasoning_score": 2', "cut off"),
        ('{"reasoning_score": true}', "element_type"),
        ("[" * 100_000, "element_type"),
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


@pytest.mark.parametrize("named", ["", "  ", "UNKNOWN", "None", "n/a", "..."])
def test_scores_for_an_element_without_a_name_are_refused(named):
    tags = reply().replace("a deer", named)
    as_json = json.dumps(dict(zip(FIELDS, (named, "ahead", "2", "2", "2", "It brakes."), strict=True)))
    for raw in (tags, as_json):
        found = HAZARD.parse(raw, "m")
        assert (found.status, found.scores) == ("failed", {})
        assert found.reason.startswith("element_type: expected the added element")
    assert (
        HAZARD.parse(reply("UNKNOWN", "UNKNOWN", "UNKNOWN").replace("a deer", named), "m").status == "unknown"
    )


@pytest.mark.parametrize("rubric", [HAZARD, pinocchio()], ids=lambda r: r.name)
def test_the_steps_are_worked_through_before_the_scores_in_either_form(rubric):
    """A model that is held to a schema writes its keys in their order."""
    assert next(iter(rubric.schema["properties"])) == rubric.schema["required"][0] == "thinking"
    assert '"thinking"' in rubric.system("json")
    assert "<thinking>" in rubric.system("tags")
    given = {
        "thinking": "I look.",
        **dict(zip(FIELDS, ("a deer", "ahead", "2", "1", "1", "why"), strict=True)),
    }
    assert rubric.parse(json.dumps(given), "m").scores == {"reasoning": 2, "waypoints": 1, "overall": 1}


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


def test_the_papers_rubric_asks_for_no_place_in_the_words():
    """Its reasoning score speaks of a place only where one was made up; ours wants one for a 2."""
    paper, ours = pinocchio().wording.scales, HAZARD.wording.scales
    assert not re.search("where|place|position|lane", paper["reasoning"][2])
    assert "position" in paper["reasoning"][1]
    assert "where" in ours["reasoning"][2]
    assert not re.search(r"\b2\b|both", paper["overall"][2])
    assert "Needs 2" in ours["overall"][2]
    assert pinocchio().id.hash != HAZARD.id.hash


def test_tags_quoted_while_thinking_do_not_count():
    fake = "the planner wrote <reasoning_score>0</reasoning_score> and </thinking> itself"
    assert HAZARD.parse(reply(thinking=fake), "m").scores["reasoning"] == 2


@given(st.text(max_size=400))
def test_any_reply_is_a_vote(raw):
    assert HAZARD.parse(raw, "m").status in ("failed", "unknown", "scored")


@given(
    st.lists(
        st.sampled_from(
            [
                *(f"<{f}>" for f in FIELDS),
                *(f"</{f}>" for f in FIELDS),
                "2",
                "UNKNOWN",
                "</thinking>",
                "{",
                "}",
                "```",
                '"',
            ]
        ),
        max_size=40,
    )
)
def test_pieces_of_a_reply_in_any_order_are_a_vote(pieces):
    found = HAZARD.parse("".join(pieces), "m")
    assert found.status == "scored" or found.reason or found.status == "unknown"


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


def test_overall_is_bounded_by_the_other_two():
    assert overall_range(2, 2) == (1, 2)
    assert overall_range(0, 0) == (0, 0)
    assert {overall_range(r, w) for r in (0, 1, 2) for w in (0, 1, 2)} == {(1, 2), (0, 0), (0, 1)}
    found = verdict(vote(0, 2, 2))
    assert found.scores["overall"] == 1
    assert "by the rubric" in " ".join(found.flags)
    assert "inconsistent" in inconsistency({"reasoning": 0, "waypoints": 0, "overall": 2})


def test_votes_are_counted_not_averaged():
    assert verdict(vote(0, 0, 0), vote(2, 2, 2), vote(2, 2, 2)).scores["overall"] == 2
    split = verdict(vote(0, 0, 0), vote(2, 2, 2))
    assert split.scores == {"reasoning": 0, "waypoints": 0, "overall": 0}
    assert any(f.startswith("tie: reasoning") for f in split.flags)
    three = verdict(vote(0, 0, 0), vote(1, 1, 1), vote(2, 2, 2))
    assert three.scores["reasoning"] == 1


def test_unknown_and_failed_votes_are_not_zeros():
    none = {"reasoning": None, "waypoints": None, "overall": None}
    unknown = Vote(model="m", status="unknown", scores=none)
    failed = Vote(model="m", status="failed", reason="cut off")
    assert verdict(unknown, unknown, vote(2, 2, 2)).status == "unknown"
    assert verdict(unknown, vote(2, 2, 2), vote(2, 2, 2)).scores["overall"] == 2
    assert verdict(failed, vote(2, 2, 2)).status == "scored"
    assert verdict(failed, failed, vote(2, 2, 2)).status == "failed"
    lone = verdict(failed)
    assert (lone.status, lone.reason, lone.scores) == ("failed", "cut off", {})


def test_a_superseded_vote_is_kept_but_does_not_count():
    found = verdict(vote(0, 0, 2, flags=(SUPERSEDED,)), vote(2, 2, 2))
    assert len(found.votes) == 2
    assert found.scores["overall"] == 2
