"""``verified:<base>``: sample several plans from a planner, verify each, execute one.

Modes, after SEAL and VEGAS (papers/seal-..., papers/vegas-...): ``early_exit`` runs the first plan that passes;
``best_of_n`` averages M verifications of each of N candidates and runs the best; ``self_consistency`` spends the
same N (M + 1) calls on candidates and runs one of the most common meta-action pair; ``random`` and ``oracle`` are
the bounds. What was spent is in the rollout's report.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.hashing import derive_seed
from cfgen.planners.answer import CheckedResponse, PlanFaultError, check_response, to_plan
from cfgen.planners.plan_check import check_plan
from cfgen.planners.protocol import Observation, Response
from cfgen.records import PLAN_DT, TRANSIENT, Plan

MODES = ("early_exit", "best_of_n", "self_consistency", "random", "oracle")

#: (observation, the planner's words, its plan, seed) -> how far the plan does what its words say, in [0, 1]
Verifier = Callable[[Observation, str, Plan, int], float]
Ask = Callable[[Sequence[Observation]], Sequence[str | Response | PlanFaultError]]


def offline_verifier(observation: Observation, text: str, plan: Plan, seed: int) -> float:
    """:func:`cfgen.planners.plan_check.check_plan` as a verifier; the same every time."""
    return check_plan(plan, observation.speed, observation.yaw_rate).score


@dataclass(frozen=True)
class Candidate:
    """One sampled plan and the answer it came from."""

    answer: CheckedResponse
    plan: Plan


class Verified:
    """Selection over what ``ask`` answers.

    Args:
        n: candidates. m: verifications of each (``best_of_n``).
        threshold: score from which ``early_exit`` executes a plan.
        workers: verifications under way at once. base, by: names of planner and verifier, for the report.

    Raises:
        InputError: unknown mode, or n, m, threshold out of range.
    """

    def __init__(
        self,
        ask: Ask,
        mode: str = "best_of_n",
        n: int = 4,
        m: int = 1,
        threshold: float = 0.99,
        verifier: Verifier = offline_verifier,
        workers: int = 8,
        base: str = "",
        by: str = "offline",
    ) -> None:
        if mode not in MODES:
            raise InputError(f"verified planner: mode: expected one of {', '.join(MODES)}, found '{mode}'")
        if n < 1 or m < 1 or not 0 <= threshold <= 1:
            raise InputError(
                f"verified planner: expected n, m >= 1 and threshold in 0..1, found {n}, {m}, {threshold}"
            )
        self._ask, self._mode, self._n, self._m = ask, mode, n, m
        self._threshold, self._verifier, self._workers = threshold, verifier, workers
        self._names = {"base": base, "verifier": by if mode in ("early_exit", "best_of_n") else ""}

    def plan(self, observations: Sequence[Observation]) -> list[str | Response | PlanFaultError]:
        return [self._one(observation) for observation in observations]

    def _one(self, observation: Observation) -> Response | PlanFaultError:
        start = time.perf_counter()
        spent = Counter[str]()
        faults: list[PlanFaultError] = []
        if self._mode == "early_exit":
            chosen, scores = self._early_exit(observation, spent, faults)
        else:
            count = self._n * (self._m + 1) if self._mode == "self_consistency" else self._n
            candidates = self._candidates(observation, range(count), spent, faults)
            chosen, scores = self._choose(observation, candidates, spent)
        if chosen is None:
            why = f", the last: {faults[-1]}" if faults else ""
            kind = faults[-1].kind if faults and all(f.kind in TRANSIENT for f in faults) else "answer"
            return PlanFaultError(f"none of {spent['plans']} sampled answers is a plan{why}", kind)
        report = {
            "mode": self._mode,
            **self._names,
            "plan_calls": spent["plans"],
            "verifier_calls": spent["verifications"],
            "scores": [round(s, 4) for s in scores],
            "seconds": round(time.perf_counter() - start, 4),
        }
        return replace(chosen.answer, report={**chosen.answer.report, "verified": report})

    def _candidates(
        self,
        observation: Observation,
        numbers: Sequence[int] | range,
        spent: Counter[str],
        faults: list[PlanFaultError],
    ) -> list[Candidate]:
        """Plans sampled with seeds of their own; answers that are no plan are counted and dropped."""
        queries = [
            replace(observation, token=f"{observation.token}.{i}", seed=derive_seed(observation.seed, i))
            for i in numbers
        ]
        spent["plans"] += len(queries)
        candidates = []
        for answer in self._ask(queries):
            try:
                _, plan = to_plan(answer)
            except PlanFaultError as fault:
                faults.append(fault)
            else:
                candidates.append(Candidate(check_response(answer), plan))
        return candidates

    def _early_exit(
        self, observation: Observation, spent: Counter[str], faults: list[PlanFaultError]
    ) -> tuple[Candidate | None, list[float]]:
        best: Candidate | None = None
        scores: list[float] = []
        for number in range(self._n):
            for candidate in self._candidates(observation, [number], spent, faults):
                score = self._verify(observation, [candidate], 1, spent)[0]
                if best is None or score > max(scores):
                    best = candidate
                scores.append(score)
                if score >= self._threshold:
                    return candidate, scores
        return best, scores

    def _choose(
        self, observation: Observation, candidates: list[Candidate], spent: Counter[str]
    ) -> tuple[Candidate | None, list[float]]:
        if not candidates:
            return None, []
        if self._mode == "random":
            index = derive_seed(observation.seed, "choice") % len(candidates)
            return candidates[index], []
        if self._mode == "self_consistency":
            pairs = [(c.plan.trace.longitudinal, c.plan.trace.lateral) for c in candidates]
            common = Counter(pairs).most_common(1)[0][0]
            return candidates[pairs.index(common)], []
        if self._mode == "oracle":
            scores = [oracle_score(observation, c.plan) for c in candidates]
        else:
            scores = self._verify(observation, candidates, self._m, spent)
        return candidates[int(np.argmax(scores))], scores

    def _verify(
        self, observation: Observation, candidates: Sequence[Candidate], m: int, spent: Counter[str]
    ) -> list[float]:
        """Mean of ``m`` verifications of each candidate; all under way together."""
        jobs = [(c, derive_seed(observation.seed, i, k)) for i, c in enumerate(candidates) for k in range(m)]
        spent["verifications"] += len(jobs)
        with ThreadPoolExecutor(self._workers) as pool:
            scores = list(
                pool.map(lambda j: self._verifier(observation, j[0].answer.text, j[0].plan, j[1]), jobs)
            )
        return [float(np.mean(scores[i * m : (i + 1) * m])) for i in range(len(candidates))]


def oracle_score(observation: Observation, plan: Plan) -> float:
    """How good a plan is when the truth is known: clearance to what was added, or else closeness to the log."""
    waypoints = np.array(plan.waypoints)
    truth = observation.truth
    if truth is not None and truth.placement is not None:
        place = truth.placement
        t = PLAN_DT * np.arange(1, len(waypoints) + 1)
        positions = np.column_stack([place.x + place.vx * t, place.y + place.vy * t])
        return float(np.hypot(*(waypoints[:, :2] - positions).T).min())
    if observation.logged is not None:
        t = PLAN_DT * np.arange(1, len(waypoints) + 1)
        logged = np.array(observation.logged.poses)
        x, y = (np.interp(t, observation.logged.t, logged[:, k]) for k in (0, 1))
        return -float(np.hypot(waypoints[:, 0] - x, waypoints[:, 1] - y).mean())
    return 0.0
