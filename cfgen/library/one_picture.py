"""One picture, one hazard: placed, painted, a planner asked before and after, and what changed in its answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from cfgen.core.errors import InputError, Shortfall
from cfgen.core.files import png_bytes, read_json, write_bytes
from cfgen.core.hashing import hash_bytes
from cfgen.geometry.trajectory import speeds
from cfgen.library import build, score
from cfgen.library.benchmark import Benchmark, Run, RunCase
from cfgen.options import PlannerOptions, TryOptions
from cfgen.planners.runtime import python_of
from cfgen.records import DIMENSIONS, PLAN_DT, Plan, Rollout
from cfgen.render.delta import delta_table
from cfgen.render.panel import PanelItem, case_panel
from cfgen.scenes.importing import import_scenes, open_reader

#: what may be told of a camera, with a usual value; the horizon is a row of the picture
_CAMERA = {"fov_deg": "60", "camera_height_m": "1.4", "horizon_row": "ROW"}


@dataclass(frozen=True)
class Tried:
    """What came of one picture: ``run`` holds it all, ``panel`` is a picture of it."""

    run: Run
    panel: Path

    @cached_property
    def case(self) -> RunCase:
        return next(iter(self.run))

    @property
    def before(self) -> Rollout:
        return self._answer("original")

    @property
    def after(self) -> Rollout:
        return self._answer("hazard")

    def _answer(self, arm: str) -> Rollout:
        rollout = self.case.rollout(arm)
        if rollout is None:
            raise InputError(f"{self.run.bench.path}: the planner was not asked about the arm '{arm}'")
        return rollout

    def lines(self) -> list[str]:
        """For a terminal: the hazard, both answers, what changed, and what the judge makes of it."""
        case = self.case.case.record
        x, y = case.placement.x, case.placement.y
        side = "" if abs(y) < 0.5 else f", {abs(y):.1f} m to the {'left' if y > 0 else 'right'}"
        lines = [f"{case.hazard.name}: {x:.1f} m ahead{side}"]
        for label, answer in (("before", self.before), ("after", self.after)):
            lines += [f"{label}: {_answer_text(answer)}", f"    {_motion(answer)}"]
        lines += _changed(self.before.plan, self.after.plan)
        verdict = self.case.verdict()
        if verdict is not None:
            scores = ", ".join(f"{d} {verdict.scores[d]}" for d in DIMENSIONS if d in verdict.scores)
            lines.append(f"{self.run.judge}: {scores or verdict.status.replace('_', ' ')}")
        return lines


def try_picture(options: TryOptions) -> Tried:
    """See :func:`cfgen.try_picture`."""
    source, hazard = options.picture, options.hazard
    folder = options.out or Path(f"try-{source.stem}-{hazard}")
    if not source.is_file():
        raise InputError(
            f"{source}: expected a picture, found {'a folder' if source.is_dir() else 'nothing'} there"
        )
    if options.python:
        python_of(options.python)  # a mistake is named before anything is made
    camera: dict[str, Any] = {**options.camera, "speed": options.speed, "still": True}
    _check_same(
        folder, {"picture": hash_bytes(source.read_bytes()), "hazard": hazard, "seed": options.seed, **camera}
    )
    imported = import_scenes(open_reader("image", source, camera), folder / "scenes", quiet=True)
    if imported.failed or imported.faults:
        raise InputError(next(iter(imported.failed.values()), "") or str(imported.faults[0]))
    bench = build(
        folder / "bench",
        n=1,
        seed=options.seed,
        scenes=folder / "scenes",
        hazards=(hazard,),
        perception=options.perception,
        attempts=8,
        jobs=1,
        quiet=True,
    )
    if bench.shortfall or not len(bench):
        raise Shortfall(_no_place(options, bench, camera))
    own = {field.name for field in attrs.fields(PlannerOptions)}
    run = score(bench, options.planner, **{name: getattr(options, name) for name in own})
    trial = Tried(run, folder / "panel.png")
    write_bytes(trial.panel, png_bytes(_panel(trial)))
    return trial


def _no_place(options: TryOptions, bench: Benchmark, camera: Mapping[str, Any]) -> str:
    why = "; ".join(dict.fromkeys(r.reason for r in bench.rejections)) or bench.shortfall
    unknown = [f"--camera {key}={such}" for key, such in _CAMERA.items() if key not in camera]
    hint = f"tell more of the camera ({', '.join(unknown)}), or " if unknown else ""
    return (
        f"{options.picture}: '{options.hazard}' found no place in it ({why}); {hint}try another --hazard, --speed, "
        "--seed or --perception"
    )


def _check_same(folder: Path, settings: Mapping[str, Any]) -> None:
    """What is there already was made of the same, or nothing is there."""
    note = folder / "try.json"
    if note.is_file():
        stored = read_json(note)
        differing = [key for key in {**stored, **settings} if stored.get(key) != settings.get(key)]
        if differing:
            raise InputError(
                f"{folder}: was made with another {' and '.join(differing)}; choose another --out, or delete it"
            )
    else:
        write_bytes(note, (json.dumps(dict(settings), indent=1) + "\n").encode())


def _panel(trial: Tried) -> np.ndarray:
    case, verdict = trial.case.case, trial.case.verdict()
    return case_panel(
        PanelItem(
            original_image=case.original,
            modified_image=case.augmented,
            original_plan=_points(trial.before.plan),
            modified_plan=_points(trial.after.plan),
            original_text=trial.before.text,
            modified_text=trial.after.text,
            scores={str(d): score for d, score in verdict.scores.items()} if verdict else {},
            explanation=(verdict.explanation or verdict.reason) if verdict else "",
        )
    )


def _points(plan: Plan | None) -> np.ndarray | None:
    return None if plan is None else np.array(plan.waypoints)


def _answer_text(answer: Rollout) -> str:
    if answer.plan is None:
        return f"no plan: {answer.reason}"
    trace = answer.plan.trace
    actions = "; ".join(words for words in (trace.longitudinal, trace.lateral) if words)
    words = " ".join(part for part in (trace.scene, trace.justification) if part)
    return f"{words or '(no words)'}{f' [{actions}]' if actions else ''}"


def _motion(answer: Rollout) -> str:
    points = _points(answer.plan)
    if points is None:
        return ""
    kmh = 3.6 * speeds(points)
    return (
        f"{len(points) * PLAN_DT:g} s: {points[-1, 0]:.1f} m ahead, {points[-1, 1]:+.1f} m to the left, from "
        f"{kmh[0]:.0f} to {kmh[-1]:.0f} km/h"
    )


def _changed(before: Plan | None, after: Plan | None) -> list[str]:
    first, second = _points(before), _points(after)
    if first is None or second is None:
        return ["changed: cannot be told, an answer is no plan"]
    n = min(len(first), len(second))
    distance = np.linalg.norm(first[:n, :2] - second[:n, :2], axis=1).max()
    kmh = 3.6 * np.abs(speeds(first[:n]) - speeds(second[:n])).max()
    return [
        f"changed: by up to {distance:.1f} m and {kmh:.1f} km/h",
        *delta_table(first, second).splitlines(),
    ]
