"""Events by case: what the judge credits, and what the trajectories show."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from cfgen.metrics.kinematics import responds
from cfgen.metrics.success import successes
from cfgen.records import Case, Dimension, Placement, Rollout, judged_as
from cfgen.reporting.data import ReportData, placements


def judged(
    data: ReportData, planner: str, arm: str, dimension: Dimension, judge: str = ""
) -> dict[str, float]:
    """case -> strict success under ``judge``, the main one unless told; of a control arm in its sham pair."""
    judge = judge or data.main_judge
    return data.once(
        ("judged", judge, planner, arm, dimension),
        lambda: successes(data.verdicts_of(judge, planner, judged_as(arm)), dimension, data.scores(judge)),
    )


def measured(data: ReportData, planner: str, arm: str) -> dict[str, float]:
    """case -> share of the repeats that count whose drive reacts, measured against the original's of the same repeat.

    A planner's failure, or a plan that no car could drive, is no reaction, in every arm alike.
    """
    return data.once(("measured", planner, arm), lambda: _measured(data, planner, arm))


def _measured(data: ReportData, planner: str, arm: str) -> dict[str, float]:
    originals, answers = data.drives(planner, "original"), data.answers(planner, arm)
    nothing = data.incoherent(planner, arm)
    found: dict[str, list[bool]] = defaultdict(list)
    for (case_id, repeat), driven in answers.items():
        original = originals.get((case_id, repeat) if (case_id, repeat) in originals else (case_id, 0))
        if driven is not None and original is not None:
            place = data.place(case_id, arm)
            moved = (case_id, repeat) not in nothing and responds(original.poses, driven.poses, place)
            found[case_id].append(moved)
        else:
            found[case_id].append(False)
    return {case_id: sum(hits) / len(hits) for case_id, hits in found.items()}


def credited_contact(data: ReportData, planner: str, event: Dimension | Literal["trajectory"]) -> str:
    """How many of the plans credited in the hazard arm run into the hazard; "" where none is credited."""
    if event == "trajectory":
        return ""
    credited, answers = judged(data, planner, "hazard", event), data.answers(planner, "hazard")
    met = [
        data.met(planner, "hazard", key).collides
        for key in answers
        if answers.has(key) and credited.get(key[0], 0.0) > 0.5
    ]
    if not met:
        return ""
    return f" Driven, {sum(met)} of the {len(met)} plans in the cases so credited run into it."


def place_of(case: Case, arm: str) -> Placement:
    """What the arm is measured against: its own object, else where the hazard is or would be."""
    found = placements(case)
    return found.get(arm, found["hazard"])


def seeded_unlike(rollouts: Iterable[Rollout]) -> list[str]:
    """Arms that answered under the original's seeds where others did not; none where all were drawn alike."""
    seeds: dict[str, dict[tuple[str, int], int]] = defaultdict(dict)
    for r in rollouts:
        seeds[r.arm][r.case_id, r.repeat] = r.seed
    original = seeds.pop("original", {})
    same = {
        arm: any(original.get(key) == seed for key, seed in found.items()) for arm, found in seeds.items()
    }
    return sorted(arm for arm, alike in same.items() if alike) if len(set(same.values())) > 1 else []
