"""Stored answers and replies asked again by the library, which the command line calls."""

import pytest

import cfgen
from cfgen.core.errors import InputError
from tests.benches import copy


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ({}, "expected a judge or a critic, found neither"),
        ({"judge": "scripted", "critic": "there"}, "expected a judge or a critic, found both"),
        ({"critic": "there", "rubric": "consistency"}, "critic: answers the faithfulness rubric only"),
        ({"judge": "scripted", "arms": []}, "arms: expected"),
        ({"judge": "scripted", "rubric": "faithfulnes"}, "faithfulness"),
    ],
)
def test_a_check_of_traces_says_what_it_cannot_do(tmp_path, who, said):
    with pytest.raises(InputError, match=said):
        cfgen.check_traces(tmp_path, "cruise", **who)


def test_a_judge_without_verdicts_is_named(bench):
    with pytest.raises(InputError, match="nobody"):
        cfgen.rescore(bench, "nobody")


def test_replies_read_again_by_the_same_rules_stay(bench, tmp_path):
    own = copy(bench, tmp_path / "b")
    cfgen.score(own, "cruise", judge="offline", quiet=True)
    found = cfgen.rescore(own, "offline")
    assert found.verdicts > 0
    assert found.changed == found.broke == ()
