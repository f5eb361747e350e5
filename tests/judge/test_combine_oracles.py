"""What becomes of votes, against the rule counted out by hand for every combination."""

import itertools
from collections import Counter

import pytest

from cfgen.core.hashing import hash_json
from cfgen.judge.combine import SUPERSEDED, combine, faulted, inconsistency, overall_range
from cfgen.judge.protocol import RubricId, VerdictKey
from cfgen.records import DIMENSIONS, Fault, Vote

KEY = VerdictKey("a_planner", "a_case", "null", 3)
HASH = "sha256:" + "7" * 64
RUBRIC = RubricId("hazard", "4", "sha256:" + "1" * 64)
#: The middle of tied scores, rounded down.
MIDDLE = {(0,): 0, (1,): 1, (2,): 2, (0, 1): 0, (0, 2): 0, (1, 2): 1, (0, 1, 2): 1}
#: Overall scores that the rubric allows: both full may still contradict each other; neither reacts; or one of the two.
ALLOWED = {
    (r, w): (1, 2) if r + w == 4 else (0,) if r + w == 0 else (0, 1) for r in (0, 1, 2) for w in (0, 1, 2)
}


def vote(r, w, o, status="scored", **more) -> Vote:
    scores = dict(zip(DIMENSIONS, (r, w, o), strict=True))
    return Vote(**{"model": "m", "status": status, "scores": scores, **more})


def unknown(**more) -> Vote:
    return vote(None, None, None, "unknown", **more)


def failed(reason="cut off", **more) -> Vote:
    return Vote(model="m", status="failed", reason=reason, **more)


def verdict(*votes):
    return combine(KEY, RUBRIC, "a_judge", votes, HASH)


def majority(scores) -> int:
    """The most frequent score; of tied ones the middle."""
    most = max(scores.count(s) for s in scores)
    return MIDDLE[tuple(s for s in (0, 1, 2) if scores.count(s) == most)]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_set_of_votes_has_the_score_that_was_counted_by_hand(n):
    """Reasoning takes the votes as they are; waypoints and overall take them permuted."""
    for scores in itertools.product((0, 1, 2), repeat=n):
        turned, back = scores[1:] + scores[:1], tuple(2 - s for s in scores)
        found = verdict(*(vote(*triple) for triple in zip(scores, turned, back, strict=True)))
        r, w, o = majority(scores), majority(turned), majority(back)
        low, high = ALLOWED[r, w][0], ALLOWED[r, w][-1]
        assert found.scores == {"reasoning": r, "waypoints": w, "overall": min(max(o, low), high)}
        assert (f"overall {o} -> {found.scores['overall']} by the rubric" in found.flags) == (
            o != found.scores["overall"]
        )
        for name, given, combined in zip(DIMENSIONS, (scores, turned, back), (r, w, o), strict=True):
            counts = sorted(Counter(given).items())
            tied = [s for s, k in counts if k == max(Counter(given).values())]
            said = ", ".join(f"{k} x {s}" for s, k in counts)
            flag = f"{'tie' if len(tied) > 1 else 'split'}: {name} {said} -> {combined}"
            assert [f for f in found.flags if f.startswith(("tie", "split"))].count(flag) == (len(counts) > 1)


@pytest.mark.parametrize(("r", "w"), list(itertools.product((0, 1, 2), repeat=2)))
def test_overall_scores_that_cannot_stand_are_named(r, w):
    assert overall_range(r, w) == (ALLOWED[r, w][0], ALLOWED[r, w][-1])
    for o in (0, 1, 2):
        said = inconsistency({"reasoning": r, "waypoints": w, "overall": o})
        allowed = " or ".join(map(str, ALLOWED[r, w]))
        expected = f"inconsistent: overall {o} with reasoning {r}, waypoints {w} (allows {allowed})"
        assert said == ("" if o in ALLOWED[r, w] else expected)


@pytest.mark.parametrize("missing", DIMENSIONS)
def test_what_is_not_scored_is_not_inconsistent(missing):
    scores = {"reasoning": 0, "waypoints": 0, "overall": 2}
    assert inconsistency(scores)
    assert inconsistency({**scores, missing: None}) == ""
    assert inconsistency({d: s for d, s in scores.items() if d != missing}) == ""


@pytest.mark.parametrize(
    ("n_scored", "n_unknown", "n_failed", "status"),
    [
        (1, 0, 0, "scored"),
        (1, 1, 0, "unknown"),  # as many cannot name it as can
        (2, 1, 0, "scored"),
        (2, 2, 0, "unknown"),
        (1, 2, 0, "unknown"),
        (0, 1, 0, "unknown"),
        (0, 0, 1, "failed"),
        (0, 0, 0, "failed"),
        (1, 0, 1, "scored"),  # half of the votes are usable
        (1, 0, 2, "failed"),
        (2, 0, 2, "scored"),
        (2, 0, 3, "failed"),
        (1, 1, 2, "unknown"),
        (2, 1, 3, "scored"),
        (0, 1, 1, "unknown"),
        (0, 1, 2, "failed"),
    ],
)
def test_status_of_mixed_votes(n_scored, n_unknown, n_failed, status):
    votes = (
        [vote(2, 2, 2)] * n_scored + [unknown(reason="no change seen")] * n_unknown + [failed()] * n_failed
    )
    found = verdict(*votes)
    assert found.status == status
    assert found.scores == (dict.fromkeys(DIMENSIONS, 2) if status == "scored" else {})
    assert (
        found.reason == {"scored": "", "unknown": "no change seen", "failed": "cut off" * bool(votes)}[status]
    )
    counts = {"scored": n_scored, "unknown": n_unknown, "failed": n_failed}
    mixed = ["split: " + ", ".join(f"{n} {s}" for s, n in counts.items() if n)]
    assert [f for f in found.flags if f.startswith("split")] == (mixed if mixed[0].count(",") else [])


def test_an_unknown_is_explained_by_the_first_who_says_why():
    assert verdict(unknown(explanation="too dark")).reason == "too dark"
    assert verdict(unknown(reason="no change", explanation="too dark")).reason == "no change"
    assert (
        verdict(failed("cut off"), unknown(reason="no change"), unknown(reason="other")).reason == "no change"
    )


def test_the_vote_nearest_to_the_verdict_speaks_the_first_of_equals():
    far = vote(0, 2, 2, element_type="a dog", element_position="left", explanation="far")
    near = vote(2, 2, 2, element_type="a deer", element_position="ahead", explanation="near")
    also = vote(2, 2, 2, element_type="a cow", element_position="right", explanation="also")
    found = verdict(far, near, also)
    assert (found.element_type, found.element_position, found.explanation) == ("a deer", "ahead", "near")
    assert verdict(far, also, near).explanation == "also"
    assert verdict(failed(), far, unknown(explanation="none"), near, near).explanation == "near"


def test_of_an_unknown_verdict_the_first_usable_vote_speaks():
    said = unknown(element_type="nothing", element_position="nowhere", explanation="I see none")
    found = verdict(failed(element_type="x"), said, unknown(element_type="y"))
    assert (found.element_type, found.element_position) == ("nothing", "nowhere")
    assert found.explanation == "I see none"


def test_superseded_votes_are_stored_and_nothing_more():
    old = vote(0, 0, 0, flags=(SUPERSEDED, "odd"))
    found = verdict(old, vote(2, 2, 2, flags=("terse", "late")), vote(2, 2, 2, flags=("terse",)))
    assert found.scores == dict.fromkeys(DIMENSIONS, 2)
    assert found.flags == ("terse", "late"), "each flag once, in the order of the votes that count"
    assert found.votes[0] == old
    assert verdict(failed(flags=(SUPERSEDED,)), vote(1, 1, 1)).flags == ()


def test_the_record_says_whose_verdict_it_is():
    votes = (vote(1, 1, 1), vote(1, 1, 0))
    found = verdict(*votes)
    assert (found.judge, found.rubric, found.rubric_version, found.rubric_hash) == (
        "a_judge", "hazard", "4", RUBRIC.hash,
    )  # fmt: skip
    assert (found.planner, found.case_id, found.arm, found.repeat) == ("a_planner", "a_case", "null", 3)
    assert (found.votes, found.input_hash) == (votes, HASH)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([failed(transient=True), failed()], ("failed", True)),
        ([failed(), failed()], ("failed", False)),
        ([vote(2, 2, 2), vote(2, 2, 2), failed(transient=True)], ("scored", False)),
        ([vote(2, 2, 2), failed(), failed(transient=True)], ("failed", True)),
    ],
)
def test_what_may_pass_is_a_failure_that_a_vote_hopes_of(votes, expected):
    found = verdict(*votes)
    assert (found.status, found.transient) == expected


def test_a_fault_is_a_failed_verdict_that_tells_it():
    fault = Fault(where="drawing", exception="ValueError", message="no")
    found = faulted(KEY, RUBRIC, "a_judge", fault)
    assert (found.status, found.reason, found.fault) == ("failed", f"fault: {fault}", fault)
    assert (found.judge, found.rubric, found.case_id, found.repeat) == ("a_judge", "hazard", "a_case", 3)
    assert (found.scores, found.votes, found.input_hash) == ({}, (), hash_json(None))
