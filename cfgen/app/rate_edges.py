"""The rating room for the edges of single answers: one frame, one plan, its words, five questions; blind as ever."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cfgen.app.rate import RatingRoom, RatingTask, ScoresOf, Spent
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

    compares = False
    dimensions = (*EDGES, "overall")

    def __init__(self, store: Store, rubric: str, arms: Sequence[str] = (), repeats: int = 1) -> None:
        if rubric not in RUBRICS:
            raise InputError(f"--rate-rubric: expected {' or '.join(RUBRICS)}, found '{rubric}'")
        super().__init__(store, tuple(arms) or ("original", "hazard"), repeats)
        self.rubric = rubric
        self._asks = (faithfulness_scene() if rubric == OTHER_READING else FAITHFULNESS).questions

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

    def _saved(self, name: str, task: RatingTask) -> dict[str, Any] | None:
        file = self._rated(name).get(task.key)
        if file is None:
            return None
        entry = file.history[-1]
        return {"scores": _numbers(entry.edges), "note": entry.note}

    def _rollouts(self, task: RatingTask) -> tuple[Rollout, Rollout]:
        rollout = read_record(
            self.store.rollout_path(task.planner, task.arm, task.case_id, task.repeat), Rollout
        )
        return rollout, rollout

    def _save(
        self, name: str, task: RatingTask, scores: dict[str, Any], note: str, sure: bool, spent: Spent
    ) -> dict[str, Any]:
        """All five edges: 1 consistent, 0 inconsistent, null cannot tell."""
        verdicts: dict[Edge, bool | None] = {}
        for edge in EDGES:
            score = scores.get(edge, "nothing")
            if score is not None and (isinstance(score, bool) or score not in (0, 1)):
                raise InputError(f"{edge}: expected 0, 1 or null, found {str(score)[:40]!r}")
            verdicts[edge] = None if score is None else bool(score)
        rate_edges(self.store, self.rubric, person(name), *task.key, verdicts, note)
        return {**self.progress(name), "feedback": None}

    def _scores(self, planners: Iterable[str]) -> dict[str, ScoresOf]:
        raters = sorted(p.name for p in self.store.root.glob(f"edge_ratings/{self.rubric}/*") if p.is_dir())
        scores: dict[str, ScoresOf] = {
            r: {k: _with_overall(f.history[-1].edges) for k, f in self._rated(r).items()} for r in raters
        }
        for planner in planners:
            for v in self.store.trace_verdicts(planner):
                if v.rubric == self.rubric and v.edges:
                    judge = scores.setdefault(f"judge {v.checker}", {})
                    judge[v.planner, v.case_id, v.arm, v.repeat] = _with_overall(v.edges)
        return scores


def _numbers(edges: Mapping[Any, bool | None]) -> dict[Any, int | None]:
    return {edge: None if holds is None else int(holds) for edge, holds in edges.items()}


def _with_overall(edges: Mapping[Any, bool | None]) -> dict[Any, int | None]:
    """Each edge, and what follows for all of them by rule."""
    return _numbers({**edges, "overall": EdgeVerdicts(dict(edges)).overall})
