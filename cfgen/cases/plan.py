"""Which pairs of scene and hazard a build tries next, written down before they are tried."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfgen.core.hashing import derive_case_id
from cfgen.hazards.sampling import plan_round
from cfgen.perception.no_road import NO_ROAD
from cfgen.records import Planned
from cfgen.store import Store


@dataclass
class Plan:
    """What to try next. ``again``: cases that broke in an earlier build and are to be tried before other pairs."""

    store: Store
    scene_ids: Sequence[str]
    hazard_ids: Sequence[str]
    again: list[str]

    def next_round(self) -> list[Planned]:
        """Unfinished pairs of the plan; if there are none, pairs for the cases still missing; [] when all is done."""
        with self.store.planning():
            return self._next_round()

    def _next_round(self) -> list[Planned]:
        store, benchmark = self.store, self.store.benchmark
        unfinished = [p for p in benchmark.planned if not store.is_finished(p.case_id)]
        if unfinished:
            return unfinished
        accepted = [p for p in benchmark.planned if store.has_case(p.case_id)]
        missing = benchmark.n - len(accepted)
        if missing <= 0:
            return []
        if self.again:
            taken, self.again = self.again[:missing], self.again[missing:]
            for case_id in taken:
                store.discard_rejection(case_id)
            return [p for p in benchmark.planned if p.case_id in taken]
        refused = [(p.scene_id, p.hazard_id) for p in benchmark.planned if not store.has_case(p.case_id)]
        roadless = scenes_without_road(store)
        pairs = plan_round(
            [scene_id for scene_id in self.scene_ids if scene_id not in roadless],
            self.hazard_ids,
            [(p.scene_id, p.hazard_id) for p in accepted],
            refused,
            missing,
            benchmark.seed,
        )
        number = 1 + max((p.round for p in benchmark.planned), default=-1)
        planned = [
            Planned(case_id=derive_case_id(benchmark.seed, s, h), scene_id=s, hazard_id=h, round=number)
            for s, h in pairs
        ]
        if planned:
            store.write_benchmark(benchmark.model_copy(update={"planned": (*benchmark.planned, *planned)}))
        return planned

    def accepted(self) -> int:
        return sum(self.store.has_case(p.case_id) for p in self.store.benchmark.planned)

    def untried(self) -> int:
        """Pairs without an outcome yet."""
        pairs = {(p.scene_id, p.hazard_id) for p in self.store.benchmark.planned}
        return len(self.scene_ids) * len(self.hazard_ids) - len(pairs)


def scenes_without_road(store: Store) -> dict[str, str]:
    """Scenes that showed no road when a pair of them was tried, and what was found: no hazard can stand there."""
    return {r.scene_id: r.reason for r in store.rejections() if r.reason.startswith(NO_ROAD)}


def broken(store: Store) -> list[str]:
    """Planned cases that are none because something broke."""
    faults = {r.case_id for r in store.rejections() if r.fault}
    return [p.case_id for p in store.benchmark.planned if p.case_id in faults]
