"""Case panels as PNG, for papers and talks."""

from functools import partial
from pathlib import Path

import numpy as np

from cfgen.core.faults import contained
from cfgen.core.files import png_bytes, read_image, write_bytes
from cfgen.records import Case, Fault, Rollout, Verdict
from cfgen.render.panel import PanelItem, case_panel
from cfgen.reporting.casefile import box_outline
from cfgen.reporting.data import ReportData


def write_panels(
    out: Path, data: ReportData, per_planner: int | None, strict: bool = False
) -> tuple[int, list[Fault]]:
    """``panels/<planner>/<case>.png`` of the hazard arm, of the sample that counts.

    Args:
        per_planner: how many, taking turns over the overall scores 2, 1, 0 and no score; None writes all.

    Returns:
        How many were written, and what came in the way of others.
    """
    cases = data.by_id
    written, faults = 0, []
    for planner in data.planners:
        shown = {case_id: data.shown(planner, "hazard", case_id) for case_id in cases}
        answers = data.rollouts[planner]
        verdicts = data.verdicts_of(data.judge_of(planner), planner, "hazard")
        # the last score of each, and where its verdict is
        scored = {
            v.case_id: (next(reversed(v.scores.values()), None), i)
            for i, v in enumerate(verdicts)
            if v.repeat == shown[v.case_id]
        }
        asked = sorted(i for i, k in answers.places.get("hazard", ()) if k == shown[i])
        for case_id in _varied(asked, {i: score for i, (score, _) in scored.items()})[:per_planner]:
            k = shown[case_id]
            rollouts = {  # an original that was asked less often stands for all repeats
                "original": answers.get("original", (case_id, k)) or answers.get("original", (case_id, 0)),
                "hazard": answers.get("hazard", (case_id, k)),
            }
            verdict = verdicts[scored[case_id][1]] if case_id in scored else None
            made = partial(_panel, data, cases[case_id], rollouts, verdict)
            found = contained(made, f"panel of case {case_id}, {planner}", strict=strict)
            if isinstance(found, Fault):
                faults.append(found)
                continue
            write_bytes(out / "panels" / planner / f"{case_id}.png", found)
            written += 1
    return written, faults


def _panel(
    data: ReportData, case: Case, rollouts: dict[str, Rollout | None], verdict: Verdict | None
) -> bytes:
    return png_bytes(case_panel(_item(data, case, rollouts, verdict)))


def _varied(case_ids: list[str], scores: dict[str, int | None]) -> list[str]:
    """In turns over the overall scores, so that the first few show every kind."""
    queues: dict[int | None, list[str]] = {2: [], 1: [], 0: [], None: []}
    for case_id in case_ids:
        queues[scores.get(case_id)].append(case_id)
    turns = max(map(len, queues.values()))
    return [queue[i] for i in range(turns) for queue in queues.values() if i < len(queue)]


def _item(
    data: ReportData, case: Case, rollouts: dict[str, Rollout | None], verdict: Verdict | None
) -> PanelItem:
    folder = data.store.case_dir(case.case_id)
    original, modified = (rollouts[arm] for arm in ("original", "hazard"))
    return PanelItem(
        original_image=read_image(folder / "original.png"),
        modified_image=read_image(folder / "augmented.png"),
        original_plan=_plan(original),
        modified_plan=_plan(modified),
        original_text=_words(original),
        modified_text=_words(modified),
        scores={str(name): score for name, score in verdict.scores.items()} if verdict else {},
        explanation=f"{verdict.judge}: {verdict.explanation or verdict.reason}" if verdict else "not judged",
        outline=np.array(box_outline(case.placement)) if verdict else None,
    )


def _plan(rollout: Rollout | None) -> np.ndarray | None:
    return np.array(rollout.plan.waypoints) if rollout and rollout.plan else None


def _words(rollout: Rollout | None) -> str:
    if rollout is None:
        return "not asked"
    return rollout.text if rollout.status == "ok" else f"failed: {rollout.reason}\n{rollout.text}"
