"""Whose verdicts the headline is made of."""

from cfgen.records import Verdict
from cfgen.reporting.data import Judges

WORDS = {"reasoning": 2, "waypoints": 2, "overall": 2}


def found(cases: int, scores: dict[str, int]) -> list[Verdict]:
    return [
        Verdict.model_construct(case_id=f"c{i}", arm="hazard", repeat=0, status="scored", scores=scores)
        for i in range(cases)
    ]


def test_a_judge_that_reads_words_is_the_headlines_where_it_has_every_case():
    verdicts = {("offline", p): found(9, {"waypoints": 2}) * 4 for p in ("a", "b", "told")}
    some = {**verdicts, ("reader", "a"): found(9, WORDS), ("reader", "b"): found(7, WORDS)}
    judges = Judges(some, ["told"])
    assert judges.main == "offline"
    [line] = judges.passed_over()
    assert "reader reads the words, but lacks 2 hazard pairs of 1 of 2 planners (b)" in line
    assert "cfgen judge run BENCH --judge reader --planners b" in line
    whole = Judges({**some, ("reader", "b"): found(9, WORDS)}, ["told"])
    assert (whole.main, whole.passed_over()) == ("reader", [])
    assert Judges({}).main == ""
    assert Judges(verdicts).passed_over() == []
