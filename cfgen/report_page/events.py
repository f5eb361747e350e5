"""Events by case: what the judge credits, and what the trajectories show."""

from collections import defaultdict

from cfgen.metrics.floor import judged_events
from cfgen.metrics.kinematics import responds
from cfgen.records import Case, Dimension, Placement
from cfgen.report_page.data import ReportData


def judged(data: ReportData, planner: str, arm: str, dimension: Dimension) -> dict[str, float]:
    """case -> strict success under the main judge."""
    verdicts = data.verdicts_of(data.main_judge, planner, arm)
    return judged_events(verdicts, dimension, control=not arm.startswith("hazard"))


def measured(data: ReportData, planner: str, arm: str) -> dict[str, float]:
    """case -> share of repeats whose trajectory reacts, measured against the original's of the same repeat.

    In the hazard arm a planner's failure is no reaction; elsewhere the repeat is left out.
    """
    originals, answers = data.plans(planner, "original"), data.plans(planner, arm)
    cases = {case.case_id: case for case in data.cases}
    found: dict[str, list[bool]] = defaultdict(list)
    for (case_id, repeat), plan in answers.items():
        original = originals.get((case_id, repeat), originals.get((case_id, 0)))
        if plan is not None and original is not None:
            found[case_id].append(responds(original, plan, place_of(cases[case_id], arm)))
        elif arm.startswith("hazard"):
            found[case_id].append(False)
    return {case_id: sum(hits) / len(hits) for case_id, hits in found.items()}


def place_of(case: Case, arm: str) -> Placement:
    """What the arm is measured against: its own object, else where the hazard is or would be."""
    if arm == "nuisance" and case.nuisance_placement:
        return case.nuisance_placement
    return case.distance_placements.get(arm, case.placement)
