"""The rating room for the edges of single answers: one frame, one plan, its words, five questions; blind as ever."""

from collections.abc import Sequence
from typing import Any

from cfgen.app.rate import RatingRoom, RatingTask, answered_with_plans, compared, plans, read
from cfgen.app.reviews import person
from cfgen.core.errors import InputError
from cfgen.core.files import read_each, read_record
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, faithfulness_scene
from cfgen.metrics.faithfulness import EDGES, OTHER_READING, EdgeVerdicts
from cfgen.records import Edge, EdgeRatingFile, Rollout
from cfgen.storage.store import Store
from cfgen.traces.edge_ratings import RUBRICS, rate_edges

#: The choices 0 and 1, in the words a rater reads.
_CHOICES = ("Inconsistent.", "Consistent.")
UNKNOWN = "You cannot tell."
INTRO = (
    "Does this answer hang together? Judge each question by itself, by the frame, the words, the declared action and "
    "the plan. Whose answer this is stays hidden."
)


class EdgeRoom(RatingRoom):
    """Every answer of one benchmark, edge by edge.

    Args:
        rubric: "faithfulness" (E2 against the image) or "faithfulness-scene" (E2 against the scene description).
        arms: whose answers are rated; empty: originals and hazards.

    Raises:
        InputError: another rubric.
    """

    def __init__(self, store: Store, rubric: str, arms: Sequence[str] = (), repeats: int = 1) -> None:
        if rubric not in RUBRICS:
            raise InputError(f"--rate-rubric: expected {' or '.join(RUBRICS)}, found '{rubric}'")
        super().__init__(store, tuple(arms) or ("original", "hazard"), repeats)
        self.rubric = rubric
        self._asks = (faithfulness_scene() if rubric == OTHER_READING else FAITHFULNESS).questions

    def _answered(self, planner: str, cases: Sequence[str]) -> list[tuple[str, str, int]]:
        usable = {arm: answered_with_plans(self.store, planner, arm) for arm in self.arms}
        return [
            (case_id, arm, k)
            for case_id in cases
            for arm in self.arms
            for k in range(self.repeats)
            if (case_id, k) in usable[arm]
        ]

    def progress(self, name: str) -> dict[str, Any]:
        """As of the hazard's room, with the edges in place of its dimensions."""
        return {
            **super().progress(name),
            "dimensions": list(EDGES),
            "values": [0, 1, None],
            "rubric": {edge: list(_CHOICES) for edge in EDGES},
            "questions": dict(self._asks),
            "unknown": UNKNOWN,
            "intro": INTRO,
        }

    def _rated(self, name: str) -> dict[tuple[str, str, str, int], EdgeRatingFile]:
        paths = sorted(self.store.root.glob(f"edge_ratings/{self.rubric}/{person(name)}/*/*.json"))
        files = [file for _, file in read_each(paths, EdgeRatingFile)]
        return {(f.planner, f.case_id, f.arm, f.repeat): f for f in files if isinstance(f, EdgeRatingFile)}

    def _done(self, name: str, tasks: Sequence[RatingTask]) -> list[bool]:
        rated = self._rated(name)
        return [task.key in rated for task in tasks]

    def question(self, name: str, token: str) -> dict[str, Any]:
        """One frame, one plan and its words."""
        task = self._task(name, token)
        if gone := self._gone(name, task):
            return gone
        rollout = self._rollouts(task)[1]
        file = self._rated(name).get(task.key)
        mine = file.history[-1] if file else None
        address = f"picture/rate/{task.token}"
        times = self._asker.front_times(self.store.case(task.case_id))
        strip = [f"{address}/after.{i}" for i in range(len(times))]
        return {
            "token": token,
            "original": f"{address}/after",
            "augmented": f"{address}/after",
            "strip": [{"t": t, "original": p, "path": p} for t, p in zip(times, strip, strict=True)],
            **plans(rollout, rollout),
            "words": [read(rollout), read(rollout)],
            "place": None,
            "training": False,
            "mine": {
                "scores": {e: None if v is None else int(v) for e, v in mine.edges.items()},
                "note": mine.note,
            }
            if mine
            else None,
        }

    def picture(
        self, name: str, token: str, which: str, as_small: bool = False, manages: bool = False
    ) -> tuple[bytes, str]:
        """As in the hazard's room, but of the answer's own frame alone: another would tell what was added."""
        if which.startswith("before"):
            raise InputError("picture: this room shows one frame")
        return super().picture(name, token, which, as_small, manages)

    def _rollouts(self, task: RatingTask) -> tuple[Rollout, Rollout]:
        rollout = read_record(
            self.store.rollout_path(task.planner, task.arm, task.case_id, task.repeat), Rollout
        )
        return rollout, rollout

    def rate(
        self,
        name: str,
        token: str,
        scores: dict[str, Any],
        note: str = "",
        sure: bool = False,
        spent: tuple[float | None, float | None] = (None, None),
    ) -> dict[str, Any]:
        """Append a rating of all five edges: 1 consistent, 0 inconsistent, null cannot tell.

        Raises:
            InputError: an edge is missing, or has another score.
        """
        task = self._task(name, token)
        if gone := self._gone(name, task):
            return gone
        verdicts: dict[Edge, bool | None] = {}
        for edge in EDGES:
            score = scores.get(edge, "nothing")
            if score is not None and (isinstance(score, bool) or score not in (0, 1)):
                raise InputError(f"{edge}: expected 0, 1 or null, found {str(score)[:40]!r}")
            verdicts[edge] = None if score is None else bool(score)
        rate_edges(self.store, self.rubric, person(name), *task.key, verdicts, note)
        return {**self.progress(name), "feedback": None}

    def after_the_last(self, name: str) -> list[dict[str, Any]]:
        """How the rater agrees with each judge of edges and each other rater, by edge and overall by rule.

        Raises:
            InputError: answers are still to be rated.
        """
        tasks = self.tasks(name)
        remaining = self._done(name, tasks).count(False)
        if remaining or not tasks:
            raise InputError(
                f"agreement: {remaining} of {len(tasks)} answers are still to be rated; it shows after the last"
            )
        keys = [task.key for task in tasks]
        raters = sorted(p.name for p in self.store.root.glob(f"edge_ratings/{self.rubric}/*") if p.is_dir())
        verdicts = {r: {k: f.history[-1].edges for k, f in self._rated(r).items()} for r in raters}
        mine = verdicts.pop(person(name))
        for planner in {planner for planner, *_ in keys}:
            for v in self.store.trace_verdicts(planner):
                if v.rubric == self.rubric and v.edges:
                    judge = verdicts.setdefault(f"judge {v.checker}", {})
                    judge[v.planner, v.case_id, v.arm, v.repeat] = dict(v.edges)
        return [
            {
                "other": rater,
                "score": edge,
                **compared((_score(mine[k], edge), _score(theirs.get(k, {}), edge)) for k in keys),
            }
            for rater, theirs in verdicts.items()
            for edge in (*EDGES, "overall")
        ]


def _score(edges: Any, edge: str) -> int | None:
    value = EdgeVerdicts(edges).overall if edge == "overall" else edges.get(edge)
    return None if value is None else int(value)
