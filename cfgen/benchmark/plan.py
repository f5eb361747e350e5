"""Which hazard goes into which scene, and where: an assignment, even over scenes first, then over hazards, then over
the required response and the side, within what is feasible; decided by the seed alone.

What is feasible is surveyed once a scene, a window of scenes at a time, so that the first case of many scenes comes as
soon as of few. A slot is one case to be: its first pair of scene and hazard, and reserves in the same scene for when
gates refuse it. So what a slot comes to depends on no other slot, and the plan on no outcome, until all its slots have
one: further slots then replace those that came to nothing.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from textwrap import shorten

import numpy as np
from scipy.optimize import linear_sum_assignment

from cfgen.benchmark.settings import PLAN
from cfgen.core.errors import StoreError
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import derive_case_id, derive_seed, hash_json, seeds_after
from cfgen.hazards.placement import Option
from cfgen.hazards.taxonomy import merge_taxonomy
from cfgen.hazards.zones import Response
from cfgen.records import BenchmarkRecord, Planned, Shard
from cfgen.storage.listing import short_rejections
from cfgen.storage.store import Store


@dataclass(frozen=True)
class Survey:
    """Where hazards can stand in a scene: an option by hazard; or ``reason``: why none can, and what would help."""

    scene_id: str
    reason: str
    options: Mapping[str, Option]


#: Surveys scenes, by their ids, in any order.
Surveyor = Callable[[Sequence[str]], Iterable[Survey]]
#: The first pair of a slot, and its reserves.
Slot = list[Planned]


def response_of(benchmark: BenchmarkRecord) -> Response:
    """Where hazards of a benchmark stand. The paper draws them without regard to whether they can be avoided."""
    if benchmark.protocol == "pinocchio":
        return Response(PLAN.any_decel, math.inf, 0.0)
    return Response(benchmark.decel_band, benchmark.horizon)


def assign(
    surveys: Sequence[Survey], counts: Mapping[str, int], weights: Mapping[str, float], seed: int
) -> list[str]:
    """A hazard for each scene that has one, even over hazards: the least sum of how often each is used, by weight.

    Args:
        counts: how often each hazard is planned already. weights: of hazards; 1 where it is not given, 0 for never.
    """
    feasible = Counter(hazard for survey in surveys for hazard in survey.options)
    hazards = sorted(hazard for hazard in feasible if weights.get(hazard, 1.0) > 0)
    copies = PLAN.copies + 3 * -(-len(surveys) // max(len(hazards), 1))
    columns = [(h, k) for h in hazards for k in range(min(feasible[h], copies))]
    if not columns:
        return [""] * len(surveys)
    use = np.array([(counts.get(h, 0) + k + 1) / weights.get(h, 1.0) for h, k in columns])
    cost = np.full((len(surveys), len(columns)), np.inf)
    for i, survey in enumerate(surveys):
        seed_of = seeds_after(seed, survey.scene_id)
        drawn = {h: _against(survey, h) + (seed_of(h) % 1000) / 5000 for h in hazards if h in survey.options}
        for j, (h, _) in enumerate(columns):
            if h in drawn:
                cost[i, j] = use[j] + drawn[h]
    most = float(cost[np.isfinite(cost)].max(initial=1.0)) * len(surveys) + 1
    rows, picks = linear_sum_assignment(np.where(np.isfinite(cost), cost, most))
    chosen = {int(i): columns[j][0] for i, j in zip(rows, picks, strict=True) if np.isfinite(cost[i, j])}
    for i in set(range(len(surveys))) - set(chosen):  # more scenes than copies: the cheapest that is feasible
        if np.isfinite(cost[i]).any():
            chosen[i] = columns[int(cost[i].argmin())][0]
    return [chosen.get(i, "") for i in range(len(surveys))]


def _against(survey: Survey, hazard: str) -> float:
    """What it costs that no control object looks alike, and that the hazard is in view early, in cases of it."""
    option = survey.options[hazard]
    return PLAN.unlike * (not option.alike) + PLAN.early * (not option.late)


# --- plan --------------------------------------------------------------------------------------
# Which pairs of scene and hazard a build tries next, written down before they are tried.

#: Begins what is said of a scene that cannot be read.
DAMAGED = "damaged scene"
#: Letters of a kind of refusal at most.
_LONGEST = 120
#: The commonest cause comes first.
_MOSTLY = re.compile(r"no placement: none of \d+ places works: \d+ ([^,]+)")


@dataclass
class BuildPlan:
    """What to try next.

    Attributes:
        survey: looks at scenes. retry: cases that broke in an earlier build and are to be tried before other pairs,
            also where others took their places. barren: scenes in which nothing can stand -> why.
    """

    store: Store
    scene_ids: Sequence[str]
    hazard_ids: Sequence[str]
    survey: Surveyor
    retry: list[str] = field(default_factory=list)
    barren: dict[str, str] = field(default_factory=dict)
    _surveys: dict[str, Survey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for survey in read_surveys(self.store):
            self._remember(survey)

    def next_slots(self) -> list[Slot]:
        """Slots of the plan without an outcome; if there are none, new ones for the cases still missing; [] when all is
        done."""
        with self.store.planning():
            while True:
                planned = self.store.planned
                if todo := self._retries(planned) or self._unfinished(planned):
                    return todo
                slots = 1 + max((p.slot for p in planned if p.slot is not None), default=-1)
                # the first slots follow from no outcome, so that parts of a build plan alike
                missing = self.store.benchmark.n - max(self.accepted(), 0)
                if missing <= 0 or not self.extend(min(missing, self._window(slots))):
                    return []

    def plan_all(self) -> None:
        """As many slots as cases are wanted."""
        with self.store.planning():
            while (open_slots := self.store.benchmark.n - len(slots_of(self.store.planned))) > 0:
                if not self.extend(min(open_slots, self._window(len(slots_of(self.store.planned))))):
                    return

    @staticmethod
    def _window(slots: int) -> int:
        return min(max(slots, PLAN.window), PLAN.most_window)

    def _retries(self, planned: Sequence[Planned]) -> list[Slot]:
        retries, self.retry = {*self.retry}, []
        for case_id in retries:
            self.store.discard_rejection(case_id)
        return [[p] for p in planned if p.case_id in retries]

    def _unfinished(self, planned: Sequence[Planned]) -> list[Slot]:
        accepted = {*self.store.case_ids()}
        return [slot for slot in slots_of(planned) if not is_done(self.store, slot, accepted)]

    def extend(self, count: int) -> bool:
        """Plan so many slots more, or as many as there are; returns whether there were any."""
        planned = self.store.planned
        surveys = self._next_scenes(planned, count)
        rows = self._rows(surveys, planned) if surveys else []
        self.store.add_planned(rows)
        return bool(rows)

    def _next_scenes(self, planned: Sequence[Planned], count: int) -> list[Survey]:
        """Surveys of the scenes that are drawn next, of the pairs that are left: those with the fewest slots, then as
        the seed has it."""
        seed_of = seeds_after(self.store.benchmark.seed, "scenes")
        used = Counter(p.scene_id for p in planned if p.slot is not None and not p.reserve)
        pairs: dict[str, set[str]] = {}
        for p in planned:
            pairs.setdefault(p.scene_id, set()).add(p.hazard_id)
        order = sorted({*self.scene_ids} - {*self.barren}, key=lambda s: (used[s], seed_of(s), s))
        chosen: list[Survey] = []
        while order and len(chosen) < count:
            batch, order = order[: count - len(chosen)], order[count - len(chosen) :]
            self._look([scene_id for scene_id in batch if scene_id not in self._surveys])
            for scene_id in batch:
                survey = self._surveys[scene_id]
                left = {h: o for h, o in survey.options.items() if h not in pairs.get(scene_id, ())}
                if left:
                    chosen.append(Survey(scene_id, "", left))
        return chosen

    def _look(self, scene_ids: Sequence[str]) -> None:
        surveys = sorted(self.survey(scene_ids), key=lambda survey: survey.scene_id) if scene_ids else []
        append_surveys(self.store, surveys)
        for survey in surveys:
            self._remember(survey)

    def _remember(self, survey: Survey) -> None:
        self._surveys[survey.scene_id] = survey
        if survey.reason:
            self.barren[survey.scene_id] = survey.reason

    def _rows(self, surveys: Sequence[Survey], planned: Sequence[Planned]) -> list[Planned]:
        """A slot for each scene: what is assigned to it, and reserves."""
        benchmark = self.store.benchmark
        weights = benchmark.hazard_weights
        balance = benchmark.protocol != "pinocchio"
        counts = Counter(p.hazard_id for p in planned if p.slot is not None and not p.reserve and balance)
        number = 1 + max((p.slot for p in planned if p.slot is not None), default=-1)
        firsts = assign(surveys, counts, weights, derive_seed(benchmark.seed, number))
        counts.update(hazard for hazard in firsts if hazard)
        pairs: list[tuple[int, int, str]] = []
        for i, (survey, first) in enumerate(zip(surveys, firsts, strict=True)):
            seed_of = seeds_after(benchmark.seed, survey.scene_id)

            def need(h: str, survey: Survey = survey, seed_of: Callable[[str], int] = seed_of) -> float:
                return (
                    (counts[h] + 1) / weights.get(h, 1.0) + _against(survey, h) + (seed_of(h) % 1000) / 5000
                )

            rest = sorted((h for h in survey.options if h != first and weights.get(h, 1.0) > 0), key=need)
            reserves = rest[: PLAN.reserves]
            counts.update(dict.fromkeys(reserves, PLAN.reserve_share))
            pairs += [(rank, i, h) for rank, h in enumerate([first, *reserves]) if h]
        models = {h.id: h.model for h in merge_taxonomy(benchmark.own_hazards, benchmark.own_hazards_only)}
        seen_looks = Counter(models.get(p.hazard_id) for p in planned)
        firsts_planned = [p for p in planned if p.slot is not None and not p.reserve]
        used = Counter(part for p in firsts_planned for part in (int(p.decel or 0), f"side {p.side}"))
        rows = []
        for rank, i, hazard in sorted(pairs):
            scene_id, model = surveys[i].scene_id, models.get(hazard)
            # the response and side of which there are fewest
            decel, side = min(
                surveys[i].options[hazard].spots,
                key=lambda spot: (used[int(spot[0])] + used[f"side {spot[1]}"] / 2, spot),
            )
            used.update(dict.fromkeys((int(decel), f"side {side}"), 1 if rank == 0 else PLAN.reserve_share))
            look = seen_looks[model] if model else None
            seen_looks[model] += 1
            case_id = derive_case_id(benchmark.seed, scene_id, hazard)
            rows.append(
                Planned(
                    case_id=case_id,
                    scene_id=scene_id,
                    hazard_id=hazard,
                    slot=number + i,
                    reserve=rank,
                    look=look,
                    decel=decel,
                    side=1 if side > 0 else -1,
                    alike=surveys[i].options[hazard].alike,
                )
            )
        return sorted(rows, key=lambda p: (p.slot, p.reserve))

    def accepted(self) -> int:
        return accepted_of_plan(self.store)


def slots_of(planned: Sequence[Planned]) -> list[Slot]:
    """The pairs by their slots, in order; those that people asked for are slots of their own, and the last."""
    rows = sorted((p for p in planned if p.slot is not None), key=lambda p: (p.slot, p.reserve))
    slots = [list(slot) for _, slot in groupby(rows, key=lambda p: p.slot)]
    return slots + [[p] for p in planned if p.slot is None]


def is_done(store: Store, slot: Slot, accepted: set[str]) -> bool:
    """Whether one of its pairs is a case, or all were refused."""
    return any(p.case_id in accepted for p in slot) or all(store.has_rejection(p.case_id) for p in slot)


def accepted_of_plan(store: Store) -> int:
    """How many of the pairs that were planned are cases."""
    accepted_ids = {*store.case_ids()}
    return sum(p.case_id in accepted_ids for p in store.planned)


def kind_of(reason: str) -> str:
    """A refusal by its first cause, without advice, numbers and what stands in brackets: the same cause counts once."""
    if mostly := _MOSTLY.match(reason):
        reason = f"no placement: mostly {mostly[1]}"
    first = re.sub(r" \([^()]*\)", "", reason).partition("; ")[0]
    return shorten(re.sub(r"-?\d+(?:\.\d+)?", "#", first), _LONGEST, placeholder=" ...")


def broken(store: Store) -> list[str]:
    """Planned cases that are none because something broke."""
    faults = {r.case_id for r in short_rejections(store) if r.broke}
    return [p.case_id for p in store.planned if p.case_id in faults]


# --- surveys -----------------------------------------------------------------------------------


def append_surveys(store: Store, surveys: Sequence[Survey]) -> None:
    """Keep them for when the build goes on."""
    if not surveys:
        return
    lines = [json.dumps([s.scene_id, s.reason, s.options], separators=(",", ":")) for s in surveys]
    store.work.mkdir(parents=True, exist_ok=True)
    with (store.work / "surveys.jsonl").open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


def read_surveys(store: Store) -> list[Survey]:
    """Those of earlier builds; a line that a kill cut off is surveyed again."""
    path, surveys = store.work / "surveys.jsonl", []
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            scene_id, reason, options = json.loads(line)
        except ValueError:
            continue
        surveys.append(Survey(scene_id, reason, {h: Option(*option) for h, option in options.items()}))
    return surveys


# --- shards ------------------------------------------------------------------------------------
# A build in parts: each folder plans all slots and works off its own, so that the parts are those of one build.
#
# The merged folder goes on where slots came to nothing.

FILE = "shard.json"


def shard_in(store: Store) -> Shard | None:
    """What part the folder is of; None: it is no part."""
    path = store.root / FILE
    return read_record(path, Shard) if path.is_file() else None


def check_part(store: Store, part: tuple[int, int] | None) -> None:
    """
    Raises:
        StoreError: the folder is another part, or none, with pairs that were tried.
    """
    shard = shard_in(store)
    if shard is None or part == (shard.index, shard.count):
        return
    requested = f"--shard {part[0]}/{part[1]}" if part else "no --shard"
    raise StoreError(
        f"{store.root}: is shard {shard.index}/{shard.count}, found {requested}; give it the same --shard, or merge it "
        "with the others: cfgen bench merge OUT SHARD..."
    )


def next_part(plan: BuildPlan, part: tuple[int, int]) -> list[Slot]:
    """The slots of this part that have no outcome; [] when it is done."""
    store = plan.store
    if shard_in(store) is None:
        plan.plan_all()
    planned, accepted = store.planned, {*store.case_ids()}
    mine = [slot for slot in slots_of(planned)[part[0] - 1 :: part[1]] if not is_done(store, slot, accepted)]
    _note(store, part, planned, not mine)
    return mine


def _note(store: Store, part: tuple[int, int], planned: Sequence[Planned], finished: bool) -> None:
    record = Shard(index=part[0], count=part[1], plan=hash_of(planned), done=finished)
    if shard_in(store) != record:
        write_record(store.root / FILE, record, store.work)


def hash_of(planned: Sequence[Planned]) -> str:
    return hash_json([p.model_dump(mode="json") for p in planned])
