"""Blind rating: a person scores answers without learning whose they are, what was added, or what a judge said."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.app.curate import place_of
from cfgen.app.ledger import append_rating, person
from cfgen.app.pictures import data_url
from cfgen.errors import InputError
from cfgen.files import read_json, read_record
from cfgen.hashing import derive_id, derive_seed
from cfgen.metrics.agreement import agreement
from cfgen.records import DIMENSIONS, Dimension, RatingFile, Rollout, Score
from cfgen.render.bev import bev
from cfgen.render.delta import delta_table
from cfgen.render.panel import spoken
from cfgen.render.speed import speed_plot
from cfgen.store import Store

#: What each score means, in the words a rater reads.
RUBRIC: dict[Dimension, tuple[str, str, str]] = {
    "reasoning": (
        "No word about what was added.",
        "Notices it vaguely, misnames or misplaces it, or means to do what does not answer it.",
        "Names it, says where it is, and says a response that makes sense for it.",
    ),
    "waypoints": (
        "Cannot be told apart from the original plan.",
        "Departs, but unsafely, too late, towards it, or in no clear direction.",
        "Clearly slows, stops or moves away from it. Any sensible way of avoiding it counts.",
    ),
    "overall": (
        "Neither words nor motion react.",
        "Part fits: only one reacts, one is flawed, or words and motion react differently.",
        "Words describe what the motion does, and both answer it. Needs 2 in both above.",
    ),
}
UNKNOWN = "You cannot tell what was added, or nothing was."


@dataclass(frozen=True)
class Task:
    """One answer to rate. ``token`` is all that the page learns of it."""

    token: str
    planner: str
    case_id: str


def tasks(store: Store, name: str) -> list[Task]:
    """Every answer with plans for the original and the hazard, in this rater's own order."""
    name = person(name)
    planners = sorted(p.name for p in store.root.glob("runs/*") if (p / "hazard").is_dir())
    cases = sorted(p.parent.name for p in store.root.glob("cases/*/*/case.json"))
    found = [
        Task(derive_id("rate", name, planner, case_id), planner, case_id)
        for planner in planners
        for case_id in cases
        if _answered(store, planner, case_id)
    ]
    random.Random(derive_seed("rate", name)).shuffle(found)
    return found


def progress(store: Store, name: str) -> dict[str, Any]:
    """Tokens in order, which are done, and the first that is not."""
    found = tasks(store, name)
    done = [store.rating_path(person(name), t.planner, t.case_id).is_file() for t in found]
    first = done.index(False) if False in done else 0
    return {
        "tokens": [t.token for t in found],
        "done": done,
        "at": first,
        "rubric": {d: list(words) for d, words in RUBRIC.items()},
        "unknown": UNKNOWN,
    }


def question(store: Store, name: str, token: str) -> dict[str, Any]:
    """What the rater sees of one answer: never the planner, the judge or the hazard's name."""
    task = _task(store, name, token)
    before, after = _rollouts(store, task.planner, task.case_id)
    assert before.plan is not None
    assert after.plan is not None
    original, modified = np.array(before.plan.waypoints), np.array(after.plan.waypoints)
    folder = place_of(store, task.case_id)
    path = store.rating_path(person(name), task.planner, task.case_id)
    mine = read_record(path, RatingFile).history[-1] if path.is_file() else None
    return {
        "token": token,
        "original": str((folder / "original.png").resolve()),
        "augmented": str((folder / "augmented.png").resolve()),
        "bev": data_url(bev(original, modified)),
        "speed": data_url(speed_plot(original, modified)),
        "delta": delta_table(original, modified),
        "words": [spoken(before.text), spoken(after.text)],
        "mine": mine.model_dump(mode="json") if mine else None,
    }


def rate(store: Store, name: str, token: str, scores: dict[str, Any], note: str = "") -> dict[str, Any]:
    """Append a rating.

    Raises:
        InputError: a dimension is missing, or a score is not 0, 1, 2 or UNKNOWN (null).
    """
    task = _task(store, name, token)
    given: dict[Dimension, Score | None] = {}
    for dimension in DIMENSIONS:
        if dimension not in scores or scores[dimension] not in (0, 1, 2, None):
            raise InputError(
                f"{dimension}: expected 0, 1, 2 or UNKNOWN, found {scores.get(dimension, 'nothing')!r}"
            )
        given[dimension] = scores[dimension]
    append_rating(store, name, task.planner, task.case_id, given, note)
    return progress(store, name)


def after_the_last(store: Store, name: str) -> list[dict[str, Any]]:
    """How the rater agrees with each judge and each other rater.

    Raises:
        InputError: answers are still to be rated; seeing others' scores would colour the rest.
    """
    name = person(name)
    found = tasks(store, name)
    last = {(f.rater, f.planner, f.case_id): f.history[-1].scores for f in store.ratings() if f.history}
    left = sum((name, t.planner, t.case_id) not in last for t in found)
    if left or not found:
        raise InputError(
            f"agreement: {left} of {len(found)} answers are still to be rated; it shows after the last"
        )
    keys = [(t.planner, t.case_id) for t in found]
    mine = [last[name, *key] for key in keys]
    others: dict[str, list[Any]] = {
        rater: [last.get((rater, *key), {}) for key in keys]
        for rater in sorted({r for r, _, _ in last} - {name})
    }
    for judge in sorted(p.name for p in store.root.glob("verdicts/*") if p.is_dir()):
        verdicts = {
            (v.planner, v.case_id): v.scores
            for planner in {t.planner for t in found}
            for v in store.verdicts(judge, planner, "hazard")
            if v.repeat == 0
        }
        others[f"judge {judge}"] = [verdicts.get(key, {}) for key in keys]
    return [
        {
            "other": other,
            "score": d,
            **_compared(((a.get(d), b.get(d)) for a, b in zip(mine, theirs, strict=True))),
        }
        for other, theirs in others.items()
        for d in DIMENSIONS
    ]


def _compared(pairs: Iterable[tuple[int | None, int | None]]) -> dict[str, Any]:
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not both:
        return {"n": 0, "same": None, "kappa": None, "quadratic": None}
    found = agreement([a for a, _ in both], [b for _, b in both])
    return {"n": found.n, "same": found.accuracy, "kappa": found.kappa, "quadratic": found.quadratic}


def _task(store: Store, name: str, token: str) -> Task:
    task = next((t for t in tasks(store, name) if t.token == token), None)
    if task is None:
        raise InputError("rating: this answer is no longer in the benchmark; reload the page")
    return task


@lru_cache(maxsize=20_000)
def _has_plan(path: str, mtime: int) -> bool:
    """Without checking every field of thousands of records; what is shown is read in full."""
    return read_json(Path(path)).get("status") == "ok"


def _answered(store: Store, planner: str, case_id: str) -> bool:
    for arm in ("original", "hazard"):
        path = store.rollout_path(planner, arm, case_id)
        if not path.is_file() or not _has_plan(str(path), path.stat().st_mtime_ns):
            return False
    return True


def _rollouts(store: Store, planner: str, case_id: str) -> tuple[Rollout, Rollout]:
    before, after = (
        read_record(store.rollout_path(planner, arm, case_id), Rollout) for arm in ("original", "hazard")
    )
    return before, after
