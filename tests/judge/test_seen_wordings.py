"""Words that hold and words that do not, as several people write them: a true one refuted is the worse fault."""

from pathlib import Path

import yaml

from cfgen.judge.seen.check import check_words
from tests.judge.test_seen import deer, known

FRAMES = {
    "none": known(),
    "mid": known(deer(20.0)),
    "left": known(deer(20.0, 4.5)),
    "right": known(deer(25.0, -4.5)),
    "fromleft": known(deer(25.0, 3.0, 0.0, -2.0)),
    "oncoming": known(deer(40.0, 0.0, -6.0)),
    "braking": known(deer(30.0), decel=2.0),
    "stopped": known(deer(15.0), speed=0.0),
    "turning": known(deer(20.0), yaw_rate=0.2),
}
SAID = yaml.safe_load((Path(__file__).parent / "claims.yaml").read_text(encoding="utf-8"))


def refuted(kind: str) -> dict[str, bool]:
    return {
        f"{frame}: {words}": any(c.verdict == "refuted" for c in check_words(words, FRAMES[frame]))
        for frame, said in SAID[kind].items()
        for words in said
    }


def test_no_true_words_are_refuted():
    found = refuted("true")
    assert len(found) >= 180
    assert not [words for words, wrong in found.items() if wrong]


def test_most_false_words_are_refuted():
    found = refuted("false")
    assert len(found) >= 150
    assert sum(found.values()) / len(found) > 0.93
