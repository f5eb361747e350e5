"""Which hazard goes into which scene: even over scenes, stratified over hazards, decided by the seed alone."""

import heapq
import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

from cfgen.benchmark.settings import PLAN
from cfgen.core.errors import StoreError
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import derive_case_id, derive_seed, hash_json, seeds_after
from cfgen.hazards.taxonomy import merge_taxonomy
from cfgen.perception.camera import GUESSED
from cfgen.perception.road_check import NO_ROAD
from cfgen.records import Planned, Shard
from cfgen.storage.listing import Refused, short_rejections
from cfgen.storage.store import Store

Pair = tuple[str, str]


def plan_round(
    scene_ids: Sequence[str],
    hazard_ids: Sequence[str],
    accepted: Collection[Pair],
    refused: Collection[Pair],
    open_slots: int,
    seed: int,
    unsuited: Collection[Pair] = (),
    later: Collection[str] = (),
) -> list[Pair]:
    """The next (scene, hazard) pairs to try, at most ``open_slots``; fewer when untried pairs run out.

    A pair that was accepted or refused never comes back. Each slot takes the scene with the fewest cases (accepted
    or planned in this round, and one for every ``patience`` refusals), then the fewest refusals; in it the
    hazard with the fewest cases, then the fewest refusals. Those of the refused that are ``unsuited`` say
    nothing against the scene. What is still tied, the seed decides. Scenes named in ``later`` come when the
    others have no pair left. Neither the order of the ids nor that of the outcomes matters, and pairs whose
    scene or hazard is no longer listed count for the other one.
    """
    hazards_of: dict[str, set[str]] = {}
    for scene, hazard in {*accepted, *refused}:
        hazards_of.setdefault(scene, set()).add(hazard)
    scene_refusals = Counter(s for s, _ in {*refused} - {*unsuited})
    scene_cases = Counter(s for s, _ in accepted)
    for scene, count in scene_refusals.items():
        scene_cases[scene] += count // PLAN.patience
    hazard_cases, hazard_refusals = Counter(h for _, h in accepted), Counter(h for _, h in refused)

    queue = [
        (s in later, scene_cases[s], scene_refusals[s], derive_seed(seed, s, scene_cases[s]), s)
        for s in {*scene_ids}
    ]
    heapq.heapify(queue)
    waiting: dict[tuple[int, int], set[str]] = {}
    for hazard in {*hazard_ids}:
        waiting.setdefault((hazard_cases[hazard], hazard_refusals[hazard]), set()).add(hazard)
    pairs: list[Pair] = []
    while queue and len(pairs) < open_slots:
        last, cases, refusals, _, scene = heapq.heappop(queue)
        scene_hazards = hazards_of.setdefault(scene, set())
        fewest = next((key for key in sorted(waiting) if waiting[key] - scene_hazards), None)
        if fewest is None:
            continue
        seed_of = seeds_after(seed, scene)
        hazard = min(waiting[fewest] - scene_hazards, key=lambda h: (seed_of(h), h))
        pairs.append((scene, hazard))
        scene_hazards.add(hazard)
        _move_on(waiting, fewest, hazard)
        heapq.heappush(queue, (last, cases + 1, refusals, derive_seed(seed, scene, cases + 1), scene))
    return pairs


def _move_on(waiting: dict[tuple[int, int], set[str]], key: tuple[int, int], hazard: str) -> None:
    """It has a case more."""
    waiting[key].discard(hazard)
    if not waiting[key]:
        del waiting[key]
    waiting.setdefault((key[0] + 1, key[1]), set()).add(hazard)


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
    """What to try next. ``again``: cases that broke in an earlier build and are to be tried before other pairs, also
    where others took their places."""

    store: Store
    scene_ids: Sequence[str]
    hazard_ids: Sequence[str]
    again: list[str]
    #: scenes that are still drawn from
    drawn_from: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.drawn_from = self.scene_ids

    def next_round(self) -> list[Planned]:
        """Unfinished pairs of the plan; if there are none, pairs for the cases still missing; [] when all is done."""
        with self.store.planning():
            return self._next_round()

    def _next_round(self) -> list[Planned]:
        store, benchmark, planned = self.store, self.store.benchmark, self.store.planned
        accepted_ids = {*store.case_ids()}
        unfinished = [
            p for p in planned if p.case_id not in accepted_ids and not store.has_rejection(p.case_id)
        ]
        if unfinished:
            return unfinished
        accepted = [p for p in planned if p.case_id in accepted_ids]
        missing = benchmark.n - len(accepted)
        if retries := {*self.again}:
            self.again = []
            for case_id in retries:
                store.discard_rejection(case_id)
            return [p for p in planned if p.case_id in retries]
        if missing <= 0:
            return []
        new_pairs = self._more(planned, accepted, missing)
        store.add_planned(new_pairs)
        return new_pairs

    def _more(self, planned: Sequence[Planned], accepted: Sequence[Planned], missing: int) -> list[Planned]:
        """Pairs that were not tried yet, for so many cases that are missing."""
        store, benchmark = self.store, self.store.benchmark
        rejections, accepted_ids = short_rejections(store), {p.case_id for p in accepted}
        rows = refusals_in_a_row(planned, accepted_ids, rejections)
        dropped = {**scenes_refused(rejections), **scenes_to_skip(rows, bool(accepted_ids))}
        later = {scene_id for scene_id, row in rows.items() if len(row) >= PLAN.later}
        self.drawn_from = [scene_id for scene_id in self.scene_ids if scene_id not in dropped]
        refused = [(p.scene_id, p.hazard_id) for p in planned if p.case_id not in accepted_ids]
        taken_pairs = [(p.scene_id, p.hazard_id) for p in accepted]
        unsuited = [(r.scene_id, r.hazard_id) for r in rejections if r.unsuited]
        pairs = plan_round(
            self.drawn_from,
            self.hazard_ids,
            taken_pairs,
            refused,
            missing,
            benchmark.seed,
            unsuited,
            later,
        )
        number = 1 + max((p.round for p in planned), default=-1)
        taxonomy = merge_taxonomy(benchmark.own_hazards, benchmark.own_hazards_only)
        new_looks = looks([h for _, h in pairs], accepted, {h.id: h.model for h in taxonomy if h.model})
        return [
            Planned(
                case_id=derive_case_id(benchmark.seed, s, h), scene_id=s, hazard_id=h, round=number, look=look
            )
            for (s, h), look in zip(pairs, new_looks, strict=True)
        ]

    def accepted(self) -> int:
        return accepted_of_plan(self.store)

    def untried(self) -> int:
        """Pairs without an outcome yet, of scenes that are still drawn from."""
        scenes = {*self.drawn_from}
        pairs = {(p.scene_id, p.hazard_id) for p in self.store.planned if p.scene_id in scenes}
        return len(scenes) * len(self.hazard_ids) - len(pairs)


def accepted_of_plan(store: Store) -> int:
    """How many of the pairs that were planned are cases."""
    accepted_ids = {*store.case_ids()}
    return sum(p.case_id in accepted_ids for p in store.planned)


def looks(
    hazard_ids: Sequence[str], accepted: Sequence[Planned], models: Mapping[str, str]
) -> list[int | None]:
    """For each hazard that is planned the least look that no case of its model has yet; None where it has no model."""
    used: dict[str, set[int]] = {}
    #: model -> all looks below are taken
    next_free: dict[str, int] = {}
    for pair in accepted:
        if pair.look is not None and pair.hazard_id in models:
            used.setdefault(models[pair.hazard_id], set()).add(pair.look)
    chosen: list[int | None] = []
    for hazard_id in hazard_ids:
        model = models.get(hazard_id)
        if model is None:
            chosen.append(None)
            continue
        model_looks = used.setdefault(model, set())
        look = next(k for k in itertools.count(next_free.get(model, 0)) if k not in model_looks)
        model_looks.add(look)
        next_free[model] = look + 1
        chosen.append(look)
    return chosen


def scenes_refused(rejections: Sequence[Refused]) -> dict[str, str]:
    """Scenes in which no hazard can stand, as was found when a pair was tried: no road, a guessed camera, damage."""
    unusable = NO_ROAD, GUESSED, DAMAGED
    return {r.scene_id: r.reason for r in rejections if r.reason.startswith(unusable)}


def scenes_given_up(
    planned: Sequence[Planned], accepted: Collection[str], rejections: Sequence[Refused]
) -> dict[str, str]:
    """Scenes whose other pairs are not tried, since too many in a row were refused, and why most often.

    Args:
        accepted: ids of cases.
    """
    return scenes_to_skip(
        refusals_in_a_row(planned, accepted, rejections), any(p.case_id in accepted for p in planned)
    )


def refusals_in_a_row(
    planned: Sequence[Planned], accepted: Collection[str], rejections: Sequence[Refused]
) -> dict[str, list[str]]:
    """Of each scene the kinds of its last refusals, back to its last case."""
    by_case = {r.case_id: r for r in rejections}
    rows: dict[str, list[str]] = {}
    for pair in planned:
        row = rows.setdefault(pair.scene_id, [])
        if pair.case_id in accepted:
            row.clear()
        elif (refused := by_case.get(pair.case_id)) and refused.by_gates:
            row.append(kind_of(refused.reason))
    return rows


def scenes_to_skip(rows: Mapping[str, Sequence[str]], any_case: bool) -> dict[str, str]:
    """As :func:`scenes_given_up`, by what :func:`refusals_in_a_row` tells.

    Args:
        any_case: a scene of the benchmark gave a case.
    """
    limit = PLAN.give_up if any_case else PLAN.later
    return {
        scene_id: f"{len(row)} refusals in a row, most often: {Counter(row).most_common(1)[0][0]}"
        for scene_id, row in rows.items()
        if len(row) >= limit
    }


def kind_of(reason: str) -> str:
    """A refusal by its first cause, without advice, numbers and what stands in brackets: the same cause counts once."""
    if reason.startswith(GUESSED):
        return GUESSED
    if mostly := _MOSTLY.match(reason):
        reason = f"no placement: mostly {mostly[1]}"
    first = re.sub(r" \([^()]*\)", "", reason).partition("; ")[0]
    return shorten(re.sub(r"-?\d+(?:\.\d+)?", "#", first), _LONGEST, placeholder=" ...")


def broken(store: Store) -> list[str]:
    """Planned cases that are none because something broke."""
    faults = {r.case_id for r in short_rejections(store) if r.broke}
    return [p.case_id for p in store.planned if p.case_id in faults]


# --- shards ------------------------------------------------------------------------------------
# A build in parts: each folder plans all pairs and works off its own, so that the parts are those of one build.
#
# What a round plans follows from every outcome of the rounds before it. So a part ends with its round; merged, the
# next round is that of a build in one folder, which the merged folder goes on with, or copies of it, in parts again.

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


def next_part(plan: BuildPlan, part: tuple[int, int]) -> list[Planned]:
    """The pairs of this part that have no outcome; [] when it is done."""
    store = plan.store
    if shard_in(store) is None:
        plan.next_round()
    planned = store.planned
    mine = [p for p in planned[part[0] - 1 :: part[1]] if not store.is_finished(p.case_id)]
    _note(store, part, planned, not mine)
    return mine


def _note(store: Store, part: tuple[int, int], planned: Sequence[Planned], finished: bool) -> None:
    record = Shard(index=part[0], count=part[1], plan=hash_of(planned), done=finished)
    if shard_in(store) != record:
        write_record(store.root / FILE, record, store.work)


def hash_of(planned: Sequence[Planned]) -> str:
    return hash_json([p.model_dump(mode="json") for p in planned])
