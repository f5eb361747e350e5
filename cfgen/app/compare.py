"""What was scored: the leaderboard, and every answer with what judges and people said of it, disagreements first."""

from typing import Any

import numpy as np

from cfgen.app.case_index import CaseIndex
from cfgen.app.curate import item
from cfgen.app.pictures import data_url
from cfgen.core.errors import StoreError
from cfgen.core.files import read_record
from cfgen.records import DIMENSIONS, Rollout, Verdict
from cfgen.render.bev import bev
from cfgen.render.delta import delta_table
from cfgen.render.panel import spoken
from cfgen.render.speed import speed_plot
from cfgen.report_page.data import read_report_data
from cfgen.report_page.sections.people import people_scores
from cfgen.report_page.sections.success import leaderboard, success_rows
from cfgen.store import Store


def overview(store: Store) -> dict[str, Any]:
    """The leaderboard of the hazard arm, and one row an answer; the widest gap between judge and people first.

    Raises:
        StoreError: nothing was scored here.
    """
    data = read_report_data(store)
    if not data.judges:
        raise StoreError(
            f"{store.root.name}: nothing was scored here yet; run: cfgen score {store.root.name} --planner cruise"
        )
    judge = data.main_judge
    people = {d: people_scores(data, d) for d in DIMENSIONS}
    names = {case.case_id: case.hazard.name for case in data.cases}
    answers = []
    for planner in data.planners:
        for verdict in data.verdicts_of(judge, planner, "hazard"):
            if verdict.repeat:
                continue
            scored = [verdict.scores.get(d) for d in DIMENSIONS]
            rated = [people[d].get((planner, verdict.case_id)) for d in DIMENSIONS]
            gap = sum(
                abs(a - b) for a, b in zip(scored, rated, strict=True) if a is not None and b is not None
            )
            answers.append(
                {
                    "id": verdict.case_id,
                    "name": names[verdict.case_id],
                    "planner": planner,
                    "status": verdict.status,
                    "judge": scored,
                    "people": rated,
                    "gap": gap,
                }
            )
    ranked = sorted(
        (r for r in success_rows(data) if r.arm == "hazard"),
        key=lambda r: (r.judge, -(r.rates["overall"].value or 0), r.planner),
    )
    table = leaderboard(ranked)
    return {
        "columns": table.columns,
        "rows": table.rows,
        "note": table.note,
        "judge": judge,
        "answers": sorted(answers, key=lambda a: (-a["gap"], a["planner"], a["id"])),
    }


def answer(case_index: CaseIndex, planner: str, case_id: str, judge: str) -> dict[str, Any]:
    """One answer: the frames, plots, words and scores, and each person's rating."""
    store = case_index.store
    before, after = (
        read_record(store.rollout_path(planner, arm, case_id), Rollout) for arm in ("original", "hazard")
    )
    path = store.verdict_path(judge, planner, "hazard", case_id)
    verdict = read_record(path, Verdict) if path.is_file() else None
    ratings = [
        {"who": f.rater, **f.history[-1].model_dump(mode="json")}
        for f in store.ratings()
        if (f.planner, f.case_id, f.arm, f.repeat) == (planner, case_id, "hazard", 0) and f.history
    ]
    shown = item(case_index, case_id)
    return {
        **_plots(before, after),
        "words": [spoken(r.text) or r.reason or "(no words)" for r in (before, after)],
        "scores": [verdict.scores.get(d) if verdict else None for d in DIMENSIONS],
        "explanation": (verdict.explanation or verdict.reason) if verdict else "There is no verdict.",
        "ratings": ratings,
        "name": shown.get("name", case_id),
        "planner": planner,
        **{k: shown[k] for k in ("original", "augmented", "size", "box", "outline") if k in shown},
    }


def _plots(before: Rollout, after: Rollout) -> dict[str, Any]:
    """Both plans drawn; nothing where one of them failed."""
    if before.plan is None or after.plan is None:
        return {}
    plans = np.array(before.plan.waypoints), np.array(after.plan.waypoints)
    return {
        "bev": data_url(bev(*plans)),
        "speed": data_url(speed_plot(*plans)),
        "delta": delta_table(*plans),
    }
