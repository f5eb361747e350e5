"""Blind rating: a person scores answers without learning whose they are, what was added, or what a judge said."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.app.campaigns.gold_answers import WHY, frame_of, known_rollouts, lent
from cfgen.app.campaigns.log import append, items_of, last, log_of, seat_of
from cfgen.app.pictures import shrunk
from cfgen.app.reviews import append_rating, person, words
from cfgen.core.errors import InputError
from cfgen.core.files import png_bytes, read_json, read_record
from cfgen.geometry.box import box_corners
from cfgen.geometry.trajectory import speeds
from cfgen.judge.combine import Scores, inconsistency
from cfgen.judge.stored_verdicts import short_verdicts
from cfgen.metrics.agreement import agreement
from cfgen.records import (
    CONTROLS,
    DIMENSIONS,
    PLAN_DT,
    Campaign,
    CampaignItem,
    Case,
    Dimension,
    Placement,
    RatingFile,
    Rollout,
    Score,
    Trace,
    answer_in,
    frame_in,
    judged_as,
)
from cfgen.render.delta import delta_table
from cfgen.render.panel import spoken
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store

_BYTES = 32


def secret_of(store: Store) -> bytes:
    """Drawn once for a benchmark; without it tokens cannot be told from random, so names known do not help."""
    path = store.work / "rating.key"
    with store.held("rating-key"):
        if not path.is_file() or path.stat().st_size != _BYTES:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(secrets.token_bytes(_BYTES))
        return path.read_bytes()


# --- scores ---------------------------------------------------------------------------------------

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


def given_scores(scores: Mapping[str, Any]) -> dict[Dimension, Score | None]:
    """
    Raises:
        InputError: a dimension is missing, or a score is not 0, 1, 2 or UNKNOWN (null).
    """
    checked: dict[Dimension, Score | None] = {}
    for dimension in DIMENSIONS:
        score: Any = scores.get(dimension, "nothing")
        fits = score is None or (type(score) is int and score in (0, 1, 2))
        if not fits:
            raise InputError(f"{dimension}: expected 0, 1, 2 or X (null), found {str(score)[:40]!r}")
        checked[dimension] = score
    return checked


def excluded(scores: Scores) -> str:
    """Why the rubric does not allow these three together, or ""."""
    unknown = [d for d in DIMENSIONS if scores[d] is None]
    if unknown and len(unknown) < len(DIMENSIONS):
        return f"{' and '.join(unknown)} cannot be told, yet the rest has scores: where you see nothing new, none can."
    return f"By the rubric these do not go together: {why}." if (why := inconsistency(scores)) else ""


# --- one answer as a rater sees it ----------------------------------------------------------------

#: m; the ego's body around its rear axle as the plots draw it: rear, front, half width
EGO_M = (-1.0, 3.8, 0.95)


def plans(before: Rollout, after: Rollout) -> dict[str, Any]:
    """Both plans in metres, their speeds in km/h, and the table of differences; nothing where one has no plan."""
    if before.plan is None or after.plan is None:
        return {}
    points = [np.array(r.plan.waypoints) for r in (before, after) if r.plan]
    return {
        "plans": [np.round(p, 2).tolist() for p in points],
        "speeds": [np.round(3.6 * speeds(p), 1).tolist() for p in points],
        "dt": PLAN_DT,
        "ego": EGO_M,
        "delta": delta_table(*points),
    }


def read(rollout: Rollout) -> dict[str, str]:
    """What was said, what was then planned, and the text as it came; ``said`` is all of it where nothing was parsed."""
    trace = rollout.plan.trace if rollout.plan else Trace()
    raw = spoken(rollout.text) or rollout.reason
    action = ", ".join(part for part in (trace.longitudinal, trace.lateral) if part)
    parsed = bool(trace.scene or trace.justification)
    return {
        "said": trace.scene or trace.justification or raw,
        "why": trace.justification if trace.scene else "",
        "planned": action,
        "raw": raw if parsed else "",
    }


def footprint(case: Case, arm: str) -> list[list[float]]:
    """Corners (4, 2) in m, ego frame, of what the frame of ``arm`` shows that the original does not; [] for nothing."""
    placement: Placement | None = None
    if arm == "hazard":
        placement = case.placement
    elif arm == "nuisance":
        placement = case.nuisance_placement
    elif arm in case.distance_placements:
        placement = case.distance_placements[arm]
    if placement is None:
        return []
    corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)[0]
    rounded: list[list[float]] = np.round(corners[:4, :2], 2).tolist()
    return rounded


# --- the rating room ------------------------------------------------------------------------------

#: What a rater reads of an answer whose case a curator rejected.
GONE = (
    "This answer's case was taken out of the benchmark. It counts for nobody, and comes back with its case."
)


@dataclass(frozen=True)
class RatingTask:
    """One answer to rate. ``token`` is all that the page learns of it."""

    token: str
    planner: str
    case_id: str
    arm: str
    repeat: int
    #: in a campaign: which item it is
    item: CampaignItem | None = None

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.planner, self.case_id, self.arm, self.repeat


#: s that a rater looked at an answer, and s of pauses within
Spent = tuple[float | None, float | None]
#: answer -> score by dimension
ScoresOf = dict[tuple[str, str, str, int], Mapping[Any, int | None]]


class RatingRoom:
    """Every answer of one benchmark that people rate.

    Args:
        arms: the pairs that are rated, mixed and hidden which; empty: the hazard's and the sham pairs.
        repeats: answers to each question that are rated, the first ones.
        campaign: rates what it says instead.

    Attributes:
        compares: shows the answer to the original before the one that is rated.
    """

    compares = True
    dimensions: tuple[str, ...] = DIMENSIONS

    def __init__(
        self,
        store: Store,
        arms: Sequence[str] = (),
        repeats: int = 1,
        campaign: Campaign | None = None,
    ) -> None:
        self.store = store
        self.campaign = campaign
        self.arms = tuple(arms) or ("hazard", *map(judged_as, CONTROLS))
        self.repeats = repeats
        self._asker = RolloutInputs(store, store.benchmark.seed)
        self._known: dict[tuple[str, str], RatingTask] = {}
        self._encoded = lru_cache(maxsize=60)(self._encode)
        self._of_known = lru_cache(maxsize=1000)(self._act_out)

    def tasks(self, name: str) -> list[RatingTask]:
        """Every answer with plans for the original and the arm, in this rater's own order; not whose case is out."""
        name = person(name)
        rated = self._of_campaign(name) if self.campaign else self._of_benchmark(name)
        rated.sort(key=lambda t: (not _trains(t), self._drawn("order", name, *t.key, _id(t))))
        self._known.update({(name, task.token): task for task in rated})
        return [task for task in rated if self.store.has_case(task.case_id)]

    def _of_benchmark(self, name: str) -> list[RatingTask]:
        cases = sorted(p.parent.name for p in self.store.root.glob("cases/*/*/case.json"))
        return [
            RatingTask(
                self._drawn("token", name, planner, case_id, arm, repeat), planner, case_id, arm, repeat
            )
            for planner in sorted(p.name for p in self.store.root.glob("runs/*") if p.is_dir())
            for case_id, arm, repeat in self._answered(planner, cases)
        ]

    def _of_campaign(self, name: str) -> list[RatingTask]:
        assert self.campaign is not None
        items = items_of(self.campaign, seat_of(self.store, self.campaign, name))
        return [
            RatingTask(
                self._drawn("item", name, self.campaign.name, i.id), i.planner, i.case_id, i.arm, i.repeat, i
            )
            for i in items
        ]

    def _drawn(self, what: str, *of: object) -> str:
        """Random to whoever does not know the secret of this benchmark, and the same after a restart."""
        return hmac.new(self._secret, repr((what, *of)).encode(), hashlib.sha256).hexdigest()[:32]

    def _answered(self, planner: str, cases: Sequence[str]) -> list[tuple[str, str, int]]:
        usable = {
            arm: answered_with_plans(self.store, planner, answer_in(arm)) for arm in ("original", *self.arms)
        }
        return [
            (case_id, arm, repeat)
            for case_id in cases
            for arm in self.arms
            for repeat in range(self.repeats)
            if (case_id, repeat) in usable[arm]
            and (not self.compares or {(case_id, repeat), (case_id, 0)} & usable["original"])
        ]

    def progress(self, name: str) -> dict[str, Any]:
        """Tokens in order, which are done, and the first that is not."""
        tasks = self.tasks(name)
        for task in tasks:  # now, so that none takes longer when it is asked for
            if task.item and task.item.known:
                self._rollouts(task)
        rated = self._done(name, tasks)
        return {
            "tokens": [t.token for t in tasks],
            "done": rated,
            "at": rated.index(False) if False in rated else 0,
            "rubric": {d: list(words) for d, words in RUBRIC.items()},
            "unknown": UNKNOWN,
            "training": sum(map(_trains, tasks)),
            "out": self._out(name),
        }

    def _out(self, name: str) -> int:
        """How many of this rater's answers fell away, since their cases were taken out."""
        if self.campaign is None:
            return 0
        items = items_of(self.campaign, seat_of(self.store, self.campaign, person(name)))
        return sum(not self.store.has_case(i.case_id) for i in items)

    def _gone(self, name: str, task: RatingTask) -> dict[str, Any] | None:
        """What is told of an answer whose case was taken out meanwhile, with the progress; None where it is there."""
        return None if self.store.has_case(task.case_id) else {"gone": GONE, **self.progress(name)}

    def _done(self, name: str, tasks: Sequence[RatingTask]) -> list[bool]:
        if self.campaign:
            saved = last(log_of(self.store, self.campaign, person(name)))
            return [_id(task) in saved for task in tasks]
        root = self.store.root
        rated = {p.relative_to(root) for p in root.glob(f"ratings/{person(name)}/*/*.json")}
        return [self._path(name, task).relative_to(root) in rated for task in tasks]

    def _saved(self, name: str, task: RatingTask) -> dict[str, Any] | None:
        """Scores and note that this rater saved last."""
        if self.campaign:
            entry = last(log_of(self.store, self.campaign, person(name))).get(_id(task))
            return {"scores": dict(entry.scores), "note": entry.note} if entry else None
        path = self._path(name, task)
        rating = read_record(path, RatingFile).history[-1] if path.is_file() else None
        return {"scores": dict(rating.scores), "note": rating.note} if rating else None

    def question(self, name: str, token: str) -> dict[str, Any]:
        """What the rater sees of one answer: never the planner, the judge, the arm or the hazard's name."""
        task = self._task(name, token)
        if gone := self._gone(name, task):
            return gone
        mine = self._saved(name, task)
        return {**self._shown(task, scored=mine is not None), "mine": mine, "training": _trains(task)}

    def seen_by_manager(self, item: CampaignItem) -> dict[str, Any]:
        """The same of any answer of the campaign, with what was added; its pictures are the manager's."""
        token = self._drawn("manager", item.id)
        task = RatingTask(token, item.planner, item.case_id, item.arm, item.repeat, item)
        self._known["", token] = task
        return self._shown(task, scored=True)

    def _shown(self, task: RatingTask, scored: bool) -> dict[str, Any]:
        before, after = self._rollouts(task)
        case, token = self.store.case(task.case_id), task.token
        before_at, after_at = (
            f"picture/rate/{token}/{side}" for side in ("before" if self.compares else "after", "after")
        )
        times = self._asker.front_times(case)
        return {
            "token": token,
            "original": before_at,
            "augmented": after_at,
            "strip": [
                {"t": t, "original": f"{before_at}.{i}", "path": f"{after_at}.{i}"}
                for i, t in enumerate(times)
            ],
            **plans(before, after),
            "words": [read(before), read(after)],
            # where it stands would point at it: only once this rater has scored
            "place": footprint(case, _frame_of(task)) if scored and self.compares else None,
        }

    def picture(
        self, name: str, token: str, which: str, as_small: bool = False, manages: bool = False
    ) -> tuple[bytes, str]:
        """A frame before or after, under an address that tells nothing else, and its media type.

        Every frame is encoded anew, so that its bytes do not tell what wrote the file behind it.

        Raises:
            InputError: it is neither, or this rater was not asked about it, or the room shows one frame.
        """
        task = (self._known.get(("", token)) if manages else None) or self._task(name, token)
        side, dot, number = which.partition(".")
        sides = ("before", "after") if self.compares else ("after",)
        if side not in sides or (dot and not number.isdecimal()):
            raise InputError(f"picture: expected {' or '.join(sides)}, found {which[:20]!r}")
        arm = "original" if side == "before" else _frame_of(task)
        data = self._encoded(task.case_id, arm, int(number) if dot else None)
        return (shrunk(data), "image/jpeg") if as_small else (data, "image/png")

    def _encode(self, case_id: str, arm: str, number: int | None) -> bytes:
        case = self.store.case(case_id)
        return png_bytes(self._asker.front(case, arm, number))

    @cached_property
    def _secret(self) -> bytes:
        return secret_of(self.store)

    def rate(
        self,
        name: str,
        token: str,
        scores: dict[str, Any],
        note: str = "",
        sure: bool = False,
        spent: Spent = (None, None),
    ) -> dict[str, Any]:
        """Append a rating and return the progress; ``{"ask": words}`` where the rubric excludes the three together.

        Args:
            sure: keep them all the same.
            spent: s that the rater looked at it, and s of pauses within.

        Raises:
            InputError: a score is missing or none of this room's, or training is still to do.
        """
        task = self._task(name, token)
        if gone := self._gone(name, task):
            return gone
        self._train_first(name, task)
        return self._save(name, task, scores, note, sure, spent)

    def _save(
        self, name: str, task: RatingTask, scores: dict[str, Any], note: str, sure: bool, spent: Spent
    ) -> dict[str, Any]:
        checked = given_scores(scores)
        if (why := excluded(checked)) and not sure:
            return {"ask": why}
        feedback = None
        if self.campaign:
            append(self.store, self.campaign, person(name), _id(task), checked, words(note), spent, bool(why))
            feedback = _feedback(task) if _trains(task) else None
        if not self.campaign or (task.item and task.item.kind == "answer"):
            append_rating(self.store, name, *task.key, checked, note, spent)
        return {**self.progress(name), "feedback": feedback}

    def _train_first(self, name: str, task: RatingTask) -> None:
        """
        Raises:
            InputError: it is no training, and some of that is left.
        """
        trained = [t for t in self.tasks(name) if _trains(t)] if self.campaign and not _trains(task) else []
        if remaining := self._done(name, trained).count(False):
            raise InputError(f"training: {remaining} of its answers are still to be scored; score them first")

    def after_the_last(self, name: str) -> list[dict[str, Any]]:
        """How the rater agrees with each judge and each other rater.

        Raises:
            InputError: answers are still to be rated; seeing others' scores would colour the rest.
        """
        name = person(name)
        tasks = self.tasks(name)
        remaining = self._done(name, tasks).count(False)
        if remaining or not tasks:
            raise InputError(
                f"agreement: {remaining} of {len(tasks)} answers are still to be rated; it shows after the last"
            )
        keys = [task.key for task in tasks if task.item is None or task.item.kind == "answer"]
        scores = self._scores({planner for planner, *_ in keys})
        mine = scores.pop(name, {})
        return [
            {
                "other": rater,
                "score": d,
                **compared((mine.get(key, {}).get(d), theirs.get(key, {}).get(d)) for key in keys),
            }
            for rater, theirs in scores.items()
            for d in self.dimensions
        ]

    def _scores(self, planners: Iterable[str]) -> dict[str, ScoresOf]:
        """What each rater and each judge gave last."""
        scores: dict[str, ScoresOf] = {}
        for f in sorted(self.store.ratings(), key=lambda f: f.rater):
            if f.history:
                scores.setdefault(f.rater, {})[f.planner, f.case_id, f.arm, f.repeat] = f.history[-1].scores
        for judge in sorted(p.name for p in self.store.root.glob("verdicts/*") if p.is_dir()):
            scores[f"judge {judge}"] = {
                (v.planner, v.case_id, v.arm, v.repeat): v.scores
                for planner in planners
                for v in short_verdicts(self.store, judge, planner)
            }
        return scores

    def _task(self, name: str, token: str) -> RatingTask:
        key = person(name), token
        if key not in self._known:
            self.tasks(name)
        task = self._known.get(key)
        if task is None:
            raise InputError("rating: this answer is no longer in the benchmark; reload the page")
        return task

    def _path(self, name: str, task: RatingTask) -> Path:
        return self.store.rating_path(person(name), *task.key)

    def _act_out(self, case_id: str, kind: str, words_of: str) -> tuple[Rollout, Rollout]:
        of = lent(self.store, words_of, case_id) if words_of else None
        return known_rollouts(self._asker, self.store.case(case_id), kind, of)

    def _rollouts(self, task: RatingTask) -> tuple[Rollout, Rollout]:
        if task.item and task.item.known:
            return self._of_known(task.case_id, task.item.known, task.item.words_of)
        store, planner, case_id = self.store, task.planner, task.case_id
        base = store.rollout_path(planner, "original", case_id, task.repeat)
        if not base.is_file():
            base = store.rollout_path(planner, "original", case_id)
        after = store.rollout_path(planner, answer_in(task.arm), case_id, task.repeat)
        return read_record(base, Rollout), read_record(after, Rollout)


def _id(task: RatingTask) -> str:
    return task.item.id if task.item else ""


def _trains(task: RatingTask) -> bool:
    return task.item is not None and task.item.kind == "training"


def _frame_of(task: RatingTask) -> str:
    """The arm whose frame is shown second."""
    return frame_of(task.item.known) if task.item and task.item.known else frame_in(task.arm)


def _feedback(task: RatingTask) -> dict[str, Any]:
    """The right scores of an answer for training, and why."""
    assert task.item is not None
    return {"scores": dict(task.item.expected), "why": WHY[task.item.known]}


def compared(pairs: Iterable[tuple[int | None, int | None]]) -> dict[str, Any]:
    """Agreement of two raters, on what both scored."""
    pairs_of_scores = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not pairs_of_scores:
        return {"n": 0, "same": None, "kappa": None, "quadratic": None}
    figures = agreement([a for a, _ in pairs_of_scores], [b for _, b in pairs_of_scores])
    return {"n": figures.n, "same": figures.accuracy, "kappa": figures.kappa, "quadratic": figures.quadratic}


def answered_with_plans(store: Store, planner: str, arm: str) -> frozenset[tuple[str, int]]:
    """Case and repeat of every answer that holds a plan."""
    folder = store.root / "runs" / planner / arm
    return _read_answered(str(folder), folder.stat().st_mtime_ns) if folder.is_dir() else frozenset()


@lru_cache(maxsize=200)
def _read_answered(folder: str, mtime: int) -> frozenset[tuple[str, int]]:
    """Without checking every field of thousands of records; what is shown is read in full.

    ``mtime`` is new whenever a record was put into the folder.
    """
    read = (read_json(path) for path in sorted(Path(folder).glob("*.json")))
    return frozenset((r["case_id"], r["repeat"]) for r in read if r.get("status") == "ok")
