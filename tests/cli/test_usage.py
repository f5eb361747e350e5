"""What the command line says to a command that it cannot read: one clean sentence, with what is near."""

import pytest

from tests.benches import run


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("try a.png cruise", "expected HAZARD, found none; see: cfgen try --help"),
        ("try a.png cruise --hazard", "--hazard: expected a value, found none; see: cfgen try --help"),
        ("score --plannr x", "unknown option --plannr (did you mean '--planner'?); see: cfgen score --help"),
        ("score --qqq", "unknown option --qqq; see: cfgen score --help"),
        ("biuld", "unknown command 'biuld' (did you mean 'build'?); see: cfgen --help"),
        ("modle", "unknown command 'modle' (did you mean 'models'?); see: cfgen --help"),
        ("models lst", "unknown command 'lst' (did you mean 'list'?); see: cfgen models --help"),
        ("score a b c", "no argument is left for 'c'; see: cfgen score --help"),
    ],
)
def test_a_command_that_cannot_be_read_is_explained_in_one_sentence(command: str, words: str) -> None:
    assert run(*command.split()) == (2, "", f"cfgen: error: {words}\n")
