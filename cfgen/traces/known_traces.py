"""A pool of known answers: consistent traces and broken ones, filtered, balanced by relation and verdict."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cfgen.core.errors import InputError, warn
from cfgen.core.files import write_record
from cfgen.core.hashing import derive_id, derive_seed, hash_json
from cfgen.geometry.manoeuvre import Margin
from cfgen.records import KnownPool, KnownTrace, Relation
from cfgen.storage.store import Store
from cfgen.traces.corruptions import KINDS, Broken, Corruption, near
from cfgen.traces.facts import ComposedTrace, relations
from cfgen.traces.scripted import Source, case_facts, scripted
from cfgen.traces.settings import POOL

RELATIONS: tuple[Relation, ...] = ("E1", "E2", "E2-scene", "E3", "E4", "E5")


@dataclass
class Draft:
    """A trace on its way into the pool."""

    source: Source
    broken: Broken | None
    kind: str
    margins: dict[str, Margin]
    target: Relation | Literal[""] = ""
    seed: int = 0
    provenance: dict[str, Any] = field(default_factory=dict)
    counted: tuple[Relation, ...] = ()

    @property
    def id(self) -> str:
        """Of what is shown: a trace that came out twice is one."""
        answer, points = self.said, _points(self.said)
        return derive_id("known", self.source.facts.case.case_id, self.arm, answer.trace.model_dump(), points)

    @property
    def said(self) -> ComposedTrace:
        return self.broken.said if self.broken else self.source.said

    @property
    def arm(self) -> str:
        return self.broken.arm if self.broken else self.source.arm

    @property
    def edges(self) -> dict[str, bool]:
        return {name: bool(margin.kept) for name, margin in self.margins.items()}


def build_pool(
    store: Store, per_edge: int = 50, seed: int = 0, relations: Sequence[Relation] = RELATIONS
) -> KnownPool:
    """Known answers of a benchmark, the same for the same seed.

    Args:
        per_edge: of either verdict for each of the ``wanted`` relations; no more than the cases can give are taken.

    Raises:
        StoreError: no case. InputError: a relation without known answers of both verdicts.
    """
    rng = random.Random(derive_seed(seed, "known"))
    dropped: Counter[str] = Counter()
    facts = case_facts(store)
    per_edge = bounded(per_edge, len(facts))

    def draw() -> Source:
        return scripted(rng.choice(facts), rng)

    drafts = _broken(draw, per_edge, relations, rng, dropped)
    drafts += _consistent(draw, drafts, relations)
    return KnownPool(
        seed=seed,
        per_edge=per_edge,
        traces=tuple(_known_trace(draft) for draft in balanced(drafts, per_edge, relations, rng)),
        dropped=dict(sorted(dropped.items())),
    )


def bounded(per_edge: int, cases: int) -> int:
    """How many known answers of either verdict so many cases give, said at once where more were wanted."""
    available = POOL.most_per_case * cases
    if per_edge > available:
        warn(
            f"known answers: {per_edge} of either verdict were wanted for each edge; {cases} cases in which the car "
            f"drives give {available} at most, {POOL.most_per_case} a case, and these are taken; build more cases for "
            "more"
        )
    return min(per_edge, available)


def write_pool(store: Store, pool: KnownPool) -> str:
    """Keep a pool beside the traces; returns its hash."""
    digest = hash_json(pool)
    write_record(
        store.root / "traces" / "known" / f"{digest.removeprefix('sha256:')[:12]}.json", pool, store.work
    )
    return digest


def _broken(
    draw: Callable[[], Source],
    per_edge: int,
    relations: Sequence[Relation],
    rng: random.Random,
    dropped: Counter[str],
) -> list[Draft]:
    """``per_edge`` traces for each wanted relation, its kinds taking turns."""
    drafts: list[Draft] = []
    ids: set[str] = set()
    for relation in relations:
        kinds = [(name, kind) for name, kind in KINDS.items() if kind.target == relation]
        count, tries = 0, 0
        while count < per_edge and tries < POOL.tries * per_edge:
            name, kind = kinds[tries % len(kinds)]
            tries += 1
            draft = _corrupt(draw, name, kind, rng)
            if isinstance(draft, Draft) and draft.id in ids:
                draft = "made before"
            if isinstance(draft, str):
                dropped[f"{relation}, {name}: {draft}"] += 1
                continue
            ids.add(draft.id)
            drafts.append(draft)
            count += 1
    return drafts


def _corrupt(draw: Callable[[], Source], name: str, kind: Corruption, rng: random.Random) -> Draft | str:
    """A trace whose target is broken by geometry and construction, or why there is none."""
    source = draw()
    donor = _donor(source, draw, kind.donor) if kind.donor else source
    if donor is None:
        return f"no {kind.donor} case drawn"
    seed = rng.getrandbits(48)
    broken = kind.make(source, donor, random.Random(seed))
    if isinstance(broken, str):
        return broken
    margins = relations(source.facts, broken.arm, broken.said)
    target = margins.get(kind.target)
    if target is None:
        return "nothing tells whether it is broken"
    if target.kept:
        return "still consistent"
    provenance = dict(broken.provenance)
    if target.unit:
        provenance |= {"margin": round(target.by, 3), "unit": target.unit, "measured": target.words}
    return Draft(source, broken, name, margins, kind.target, seed, provenance)


def _donor(source: Source, draw: Callable[[], Source], how: str) -> Source | None:
    for _ in range(POOL.donor_draws):
        donor = draw()
        elsewhere = donor.facts.case.case_id != source.facts.case.case_id
        if elsewhere and near(source, donor) == (how == "near"):
            return donor
    return None


def _consistent(
    draw: Callable[[], Source], broken: Sequence[Draft], targets: Sequence[Relation]
) -> list[Draft]:
    """Whole traces: those that were broken, as they were, and more until every relation has enough of them."""
    drafts: list[Draft] = []
    ids = {draft.id for draft in broken}

    def add(source: Source) -> None:
        draft = Draft(source, None, "consistent", relations(source.facts, source.arm, source.said))
        if all(m.kept for m in draft.margins.values()) and draft.id not in ids:
            ids.add(draft.id)
            drafts.append(draft)

    for draft in broken:
        add(draft.source)
    inconsistent = Counter(n for d in broken for n, holds in d.edges.items() if not holds)
    for _ in range(4 * len(broken)):
        good = Counter(n for d in (*drafts, *broken) for n, holds in d.edges.items() if holds)
        if all(good[relation] >= inconsistent[relation] for relation in targets):
            break
        add(draw())
    return drafts


def balanced(
    drafts: Sequence[Draft], per_edge: int, relations: Sequence[Relation], rng: random.Random
) -> list[Draft]:
    """As many consistent as inconsistent known answers for every relation, those that were aimed at it first.

    Raises:
        InputError: a relation has none of one verdict.
    """
    order = list(range(len(drafts)))
    rng.shuffle(order)
    keep: dict[int, list[Relation]] = {i: [] for i in order}
    for relation in relations:
        by_verdict = {v: [i for i in order if drafts[i].edges.get(relation) is v] for v in (True, False)}
        sides = {
            True: _taking_turns(drafts, by_verdict[True]),
            False: sorted(by_verdict[False], key=lambda i: drafts[i].target != relation),
        }
        n = min(per_edge, *map(len, sides.values()))
        if n == 0:
            counts = f"{len(sides[True])} consistent and {len(sides[False])} inconsistent"
            rest = ",".join(r for r in relations if r != relation)
            raise InputError(
                f"known answers: {relation} cannot be balanced: found {counts} after filtering, expected both; leave "
                f"it out: --edges {rest}"
            )
        for chosen in sides.values():
            for i in chosen[:n]:
                keep[i].append(relation)
    return [replace(drafts[i], counted=tuple(keep[i])) for i in sorted(order) if keep[i]]


def _taking_turns(drafts: Sequence[Draft], consistent: Sequence[int]) -> list[int]:
    """Whole traces and those that are broken elsewhere by turns: neither tells the verdict of one relation."""
    unbroken = [i for i in consistent if drafts[i].broken is None]
    elsewhere = [i for i in consistent if drafts[i].broken is not None]
    turns = [i for pair in zip(unbroken, elsewhere, strict=False) for i in pair]
    short = min(len(unbroken), len(elsewhere))
    return turns + unbroken[short:] + elsewhere[short:]


def _known_trace(draft: Draft) -> KnownTrace:
    source = draft.source
    edges: dict[Relation, bool] = {r: draft.edges[r] for r in RELATIONS if r in draft.edges}
    return KnownTrace(
        id=draft.id,
        case_id=source.facts.case.case_id,
        arm=draft.arm,
        drive=source.facts.drive,
        kind=draft.kind,
        target=draft.target,
        edges={r: edges[r] for r in draft.counted},
        known=edges,
        trace=draft.said.trace,
        waypoints=_points(draft.said),
        seed=draft.seed,
        provenance=draft.provenance,
    )


def _points(answer: ComposedTrace) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(theta)) for x, y, theta in answer.waypoints)
