"""One case for the page, as JSON: a short entry for the list, a long one for its own view; and as a panel, a PNG."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.faults import contained
from cfgen.core.files import png_bytes, read_image, write_bytes
from cfgen.geometry.box import box_corners
from cfgen.geometry.driving import DrivenPlan
from cfgen.geometry.trajectory import deltas, speeds
from cfgen.records import (
    DIMENSIONS,
    Case,
    Fault,
    Placement,
    RatingFile,
    Rollout,
    Scene,
    Verdict,
    Vote,
    judged_as,
)
from cfgen.render.panel import PanelItem, case_panel
from cfgen.reporting.data import ReportData
from cfgen.reporting.sections.agreement import people_scores


class CaseFiles:
    """Entries of some cases; what belongs together is looked up once."""

    def __init__(self, data: ReportData, cases: Iterable[Case]) -> None:
        self.data = data
        ids = {case.case_id for case in cases}
        self._repeats: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for planner, answers in data.rollouts.items():
            for arm, places in answers.places.items():
                for case_id, repeat in sorted(key for key in places if key[0] in ids):
                    self._repeats[case_id, planner, arm].append(repeat)
        self._ratings: dict[str, list[RatingFile]] = defaultdict(list)
        for rating in data.ratings:
            if rating.arm == "hazard" and rating.planner in data.rollouts and rating.history:
                self._ratings[rating.case_id].append(rating)
        self._people = {d: people_scores(data, d) for d in DIMENSIONS}

    def _verdict(self, case: Case, planner: str, judge: str, arm: str, repeat: int) -> Verdict | None:
        verdicts = self.data.verdicts.get((judge, planner))
        return verdicts.get(arm, (case.case_id, repeat)) if verdicts is not None else None

    def entry(self, case: Case) -> dict[str, Any]:
        """For the list: what is filtered by."""
        speed = self.data.scenes[case.scene_id].speed
        return {
            "id": case.case_id,
            "hazard": case.hazard.name,
            "cluster": case.hazard.cluster,
            "zone": case.placement.zone.replace("_", " "),
            "distance": round(case.placement.distance_m, 1),
            "decel": round(case.placement.required_decel, 2),
            "speed": round(3.6 * speed, 1),
            "scores": {
                p: {j: _outcome(self._verdict(case, p, j, "hazard", 0)) for j in self.data.judges}
                for p in self.data.planners
            },
            "people": {
                p: scores
                for p, scores in ((p, self._rated(case.case_id, p)) for p in self.data.planners)
                if any(score is not None for score in scores)
            },
        }

    def _rated(self, case_id: str, planner: str) -> list[int | None]:
        return [self._people[d].get((planner, case_id)) for d in DIMENSIONS]

    def detail(self, case: Case, views: dict[str, str]) -> dict[str, Any]:
        """For the case's own view; ``views`` maps arms to image paths.

        ``cut`` is where the slider starts, %: left of the hazard, so that it shows.
        """
        scene = self.data.scenes[case.scene_id]
        return {
            **self.entry(case),
            "views": views,
            "cut": round(max(4.0, min(50.0, 100 * case.placement.box_px[0] / scene.front.width - 4)), 1),
            "answers": {
                planner: {
                    arm: self._answer(case, planner, arm) for arm in ["original", *self.data.arms(planner)]
                }
                for planner in self.data.planners
            },
            "ratings": [
                {"rater": r.rater, "planner": r.planner, **r.history[-1].model_dump(mode="json")}
                for r in self._ratings[case.case_id]
                if r.repeat == 0
            ],
            "provenance": _provenance(case, scene),
        }

    def _answer(self, case: Case, planner: str, arm: str) -> list[dict[str, Any]]:
        """One entry per repeat."""
        return [self._one(case, planner, arm, k) for k in self._repeats[case.case_id, planner, arm]]

    def _one(self, case: Case, planner: str, arm: str, repeat: int) -> dict[str, Any]:
        answers = self.data.rollouts[planner]
        rollout = answers.get(arm, (case.case_id, repeat))
        assert rollout is not None
        base = answers.get("original", (case.case_id, repeat)) or answers.get("original", (case.case_id, 0))
        verdicts = {
            judge: _verdict(v)
            for judge in self.data.judges
            if (v := self._verdict(case, planner, judge, judged_as(arm), repeat))
        }
        place = self.data.place(case.case_id, arm)
        entry = {"place": box_outline(place), "placed": arm in case.arms and arm != "null"}
        driven = self.data.drives(planner, arm).get((case.case_id, repeat))
        motion = self._motion(planner, rollout, base, driven)
        return {**entry, **motion, **_said(rollout), "verdicts": verdicts}

    def _motion(
        self, planner: str, rollout: Rollout, base: Rollout | None, driven: DrivenPlan | None
    ) -> dict[str, Any]:
        """Waypoints in cm, speeds in km/h, what changed, and the drive's encounter with the hazard."""
        if rollout.plan is None or driven is None:
            return {}
        plan = np.array(rollout.plan.waypoints)
        entry: dict[str, Any] = {
            "path": np.round(plan[:, :2], 2).tolist(),
            "speeds": np.round(3.6 * speeds(plan), 2).tolist(),
        }
        if rollout.arm.startswith("hazard"):
            met = self.data.met(planner, rollout.arm, (rollout.case_id, rollout.repeat))
            entry["encounter"] = {
                "smallest gap": f"{met.min_gap_m:.1f} m",
                "time to collision": "-" if met.ttc_s is None else f"{met.ttc_s:.1f} s",
                "stops short": "yes" if met.stops_short else "no",
                "plan ends": f"after {met.horizon_s:g} s",
                "plan and drive": f"up to {driven.off_m:.1f} m apart",
                "braking": f"{met.planned_decel:.1f} m/s², {met.required_decel:.1f} required",
            }
        if base is not None and base.plan is not None and rollout.arm != "original":
            rows = deltas(np.array(base.plan.waypoints), plan)
            entry["deltas"] = [[r.t, round(r.dx, 2), round(r.dy, 2), round(r.dspeed_kmh, 1)] for r in rows]
        return entry


def box_outline(place: Placement) -> list[list[float]]:
    """The four corners on the ground of what stands there at t0, [x, y] in m in the ego frame."""
    corners = box_corners([place.x], [place.y], [place.yaw], place.size)
    return np.round(corners[0, :4, :2], 2).tolist()


def _outcome(judged: Verdict | Vote | None) -> list[int | None] | str:
    """Three scores, or the word for why there are none."""
    if judged is None:
        return "missing"
    scores: Mapping[Any, int | None] = judged.scores
    if isinstance(judged, Verdict) and judged.fault:
        return "fault"
    return [scores.get(d) for d in DIMENSIONS] if judged.status == "scored" else judged.status


def _said(rollout: Rollout) -> dict[str, Any]:
    return {
        "repeat": rollout.repeat,
        "status": rollout.status,
        "reason": rollout.reason,
        "text": rollout.text,
        "trace": rollout.plan.trace.model_dump() if rollout.plan else {},
        "faults": rollout.plan.faults if rollout.plan else (),
        "seconds": round(rollout.latency_s, 3),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": _outcome(verdict),
        "element": ", ".join(w for w in (verdict.element_type, verdict.element_position) if w),
        "explanation": verdict.explanation or verdict.reason,
        "flags": (*verdict.flags, *verdict.notes),
        "votes": [
            {
                "model": vote.model,
                "outcome": _outcome(vote),
                "explanation": vote.explanation or vote.reason,
                "raw": vote.raw,
            }
            for vote in verdict.votes
        ],
    }


def _provenance(case: Case, scene: Scene) -> list[list[str]]:
    """Name and value, in reading order."""
    place = case.placement
    rows = [
        ("case", case.case_id),
        ("scene", case.scene_id),
        ("source", scene.source),
        ("licence", scene.license),
        ("hazard", f"{case.hazard.name} ({case.hazard.id})"),
        ("why it matters", case.hazard.why),
        (
            "place",
            f"{place.distance_m:.1f} m ahead, {place.lateral_m:+.1f} m to the left, {place.zone.replace('_', ' ')}",
        ),
        ("size", f"{place.size.length:g} x {place.size.width:g} x {place.size.height:g} m"),
        ("seed", str(case.seed)),
        ("attempts", str(len(case.attempts))),
        ("inpainter", f"{case.provenance.inpainter} {case.provenance.inpainter_version}"),
        ("scene hash", case.provenance.scene_hash),
        ("hazard hash", case.provenance.hazard_hash),
        ("cfgen", case.provenance.cfgen_version),
    ]
    gates = [
        (
            f"gate {g.gate}",
            f"{'-' if g.value is None else f'{g.value:.3g}'} {g.bound} {'' if g.passed else 'FAILED'}",
        )
        for g in case.gates
    ]
    return [[name, value.strip()] for name, value in (*rows, *gates) if value.strip()]


# --- case panels as PNG, for papers and talks -------------------------------------------------------------


def write_panels(
    out: Path, data: ReportData, per_planner: int | None, strict: bool = False
) -> tuple[int, list[Fault]]:
    """``panels/<planner>/<case>.png`` of the hazard arm, of the first sample.

    Args:
        per_planner: how many, taking turns over the overall scores 2, 1, 0 and no score; None writes all.

    Returns:
        How many were written, and what came in the way of others.
    """
    cases = data.by_id
    written, faults = 0, []
    for planner in data.planners:
        answers = data.rollouts[planner]
        verdicts = data.verdicts_of(data.judge_of(planner), planner, "hazard")
        # the last score of each, and where its verdict is
        scored = {
            v.case_id: (next(reversed(v.scores.values()), None), i)
            for i, v in enumerate(verdicts)
            if v.repeat == 0
        }
        case_ids = sorted(i for i, k in answers.places.get("hazard", ()) if k == 0)
        for case_id in _varied(case_ids, {i: score for i, (score, _) in scored.items()})[:per_planner]:
            rollouts = {arm: answers.get(arm, (case_id, 0)) for arm in ("original", "hazard")}
            verdict = verdicts[scored[case_id][1]] if case_id in scored else None
            draw = partial(_panel, data, cases[case_id], rollouts, verdict)
            png = contained(draw, f"panel of case {case_id}, {planner}", strict=strict)
            if isinstance(png, Fault):
                faults.append(png)
                continue
            write_bytes(out / "panels" / planner / f"{case_id}.png", png)
            written += 1
    return written, faults


def _varied(case_ids: list[str], scores: dict[str, int | None]) -> list[str]:
    """In turns over the overall scores, so that the first few show every kind."""
    queues: dict[int | None, list[str]] = {2: [], 1: [], 0: [], None: []}
    for case_id in case_ids:
        queues[scores.get(case_id)].append(case_id)
    turns = max(map(len, queues.values()))
    return [queue[i] for i in range(turns) for queue in queues.values() if i < len(queue)]


def _panel(
    data: ReportData, case: Case, rollouts: dict[str, Rollout | None], verdict: Verdict | None
) -> bytes:
    folder = data.store.case_dir(case.case_id)
    original, modified = (rollouts[arm] for arm in ("original", "hazard"))
    item = PanelItem(
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
    return png_bytes(case_panel(item))


def _plan(rollout: Rollout | None) -> np.ndarray | None:
    return np.array(rollout.plan.waypoints) if rollout and rollout.plan else None


def _words(rollout: Rollout | None) -> str:
    if rollout is None:
        return "not asked"
    return rollout.text if rollout.status == "ok" else f"failed: {rollout.reason}\n{rollout.text}"
