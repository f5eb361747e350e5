"""Stored replies read again, without a call: after a parser or the combining rules have changed."""

from cfgen.judge.combine import SUPERSEDED, combine
from cfgen.judge.protocol import RubricId, VerdictKey
from cfgen.judge.rubrics.registry import Rubric, bounds_overall
from cfgen.records import Verdict, Vote


def rescored(verdict: Verdict, rubric: Rubric) -> Verdict:
    """The verdict that its own raw replies give now, read by ``rubric``. Votes without a raw reply stay as they are.

    The rubric's version and hash stay those of the wording that was asked.
    """
    if verdict.status == "planner_failed" or not verdict.votes:
        return verdict
    key = VerdictKey(verdict.planner, verdict.case_id, verdict.arm, verdict.repeat)
    asked = RubricId(verdict.rubric, verdict.rubric_version, verdict.rubric_hash)
    votes = [_reread(v, rubric) for v in verdict.votes]
    found = combine(key, asked, verdict.judge, votes, verdict.input_hash, bounds_overall(rubric))
    return found.model_copy(update={"notes": verdict.notes})


def _reread(vote: Vote, rubric: Rubric) -> Vote:
    cut_or_refused = vote.status == "failed" and vote.reason.startswith(("cut off", "refused"))
    if not vote.raw or cut_or_refused:
        return vote
    found = rubric.parse(vote.raw, vote.model)
    kept = tuple(f for f in vote.flags if f == SUPERSEDED)
    return found.model_copy(update={"usage": vote.usage, "flags": (*found.flags, *kept)})
