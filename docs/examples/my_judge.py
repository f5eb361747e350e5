"""A judge that only asks whether the car slows down: reasoning 2 for other words, waypoints 2 for less way."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from cfgen.core.hashing import hash_json
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.records import JudgeRun, Verdict

RUBRIC = {"rubric": "slows-down", "rubric_version": "1", "rubric_hash": hash_json("slows-down 1")}


class SlowsDown:
    """Asks whether the car slows down; no model."""

    note = ""  # a word on cost for the progress line

    def __init__(self, share: float = 0.8, name: str = "slows-down") -> None:  # --judge-options share=0.7
        self.share, self.name = share, name  # the name is the folder of its verdicts

    def run_record(self) -> JudgeRun:
        own = {"judge": self.name, "spec": "slows-down", "options": {"share": self.share}}
        return JudgeRun.model_validate(own | RUBRIC)

    def judge(
        self, items: Sequence[tuple[VerdictKey, Callable[[], JudgeItem]]], done: Callable[[Verdict], None]
    ) -> None:
        for key, build in items:
            done(self.one(key, build()))

    def one(self, key: VerdictKey, item: JudgeItem) -> Verdict:
        before, after = (p.waypoints[-1][0] for p in (item.original_plan, item.modified_plan))  # m, at 6 s
        words, way = item.original_text != item.modified_text, after < self.share * before
        scores = {"reasoning": 2 * words, "waypoints": 2 * way, "overall": 2 * (words and way)}
        seen = hash_json([item.original_text, item.modified_text, before, after])
        own = {"judge": self.name, "status": "scored", "scores": scores, "input_hash": seen}
        return Verdict.model_validate(own | RUBRIC | asdict(key))
