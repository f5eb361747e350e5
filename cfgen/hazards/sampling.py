"""Which hazard goes into which scene: even over scenes, stratified over hazards, decided by the seed alone."""

import heapq
from collections import Counter
from collections.abc import Collection, Sequence

from cfgen.core.hashing import derive_seed, seeds_after

Pair = tuple[str, str]
#: After so many refusals a scene waits as if it had a case more: one that takes little must not use up the build.
PATIENCE = 4


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
    or planned in this round, and one for every PATIENCE refusals), then the fewest refusals; in it the hazard with the
    fewest cases, then the fewest refusals. Those of the refused that are ``unsuited`` say nothing against the scene.
    What is still tied, the seed decides. Scenes named in ``later`` come when the others have no pair left. Neither the
    order of the ids nor that of the outcomes matters, and pairs whose scene or hazard is no longer listed count for the
    other one.
    """
    hazards_of: dict[str, set[str]] = {}
    for scene, hazard in {*accepted, *refused}:
        hazards_of.setdefault(scene, set()).add(hazard)
    scene_refusals = Counter(s for s, _ in {*refused} - {*unsuited})
    scene_cases = Counter(s for s, _ in accepted)
    for scene, count in scene_refusals.items():
        scene_cases[scene] += count // PATIENCE
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
