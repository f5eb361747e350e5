"""A pool of known answers: consistent traces and broken ones, filtered, balanced by relation and verdict."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError, warn
from cfgen.core.files import write_record
from cfgen.core.hashing import derive_id, derive_seed, hash_json
from cfgen.geometry.manoeuvre import Margin
from cfgen.judge.stored import scored_as
from cfgen.records import KnownPool, KnownTrace, Relation
from cfgen.storage.store import Store
from cfgen.traces.corruptions import KINDS, Broken, Kind, near
from cfgen.traces.facts import CaseFacts, Said, relations
from cfgen.traces.sources import SCRIPTED, Source, case_facts, from_file, scripted, stored

RELATIONS: tuple[Relation, ...] = ("E1", "E2", "E2-scene", "E3", "E4", "E5")
#: Tries for every known answer that is wanted.
_TRIES = 30
#: Known answers of either verdict about one edge that a case gives at most: more would say the same again.
MOST_PER_CASE = 15
#: Donors drawn until one is as near or far as wanted.
_DRAWS = 8
#: Asked about every trace at once: source and broken trace -> whether the target is really broken (None: no reply).
Confirm = Callable[[Sequence[tuple[Source, Broken]]], list[bool | None]]
#: Corruptions written elsewhere, by a model: of these sources, each on one of these relations.
Written = Callable[[Sequence[Source], Sequence[Relation]], list[tuple[Source, Broken | str, Relation]]]
#: Their kind.
BY_MODEL = "written by a model"


@dataclass
class Draft:
    """A trace on its way into the pool."""

    source: Source
    broken: Broken | None
    kind: str
    margins: dict[str, Margin]
    seed: int = 0
    provenance: dict[str, Any] = field(default_factory=dict)
    counted: tuple[Relation, ...] = ()

    @property
    def id(self) -> str:
        """Of what is shown: a trace that came out twice is one."""
        said, points = self.said, _points(self.said)
        return derive_id("known", self.source.facts.case.case_id, self.arm, said.trace.model_dump(), points)

    @property
    def said(self) -> Said:
        return self.broken.said if self.broken else self.source.said

    @property
    def arm(self) -> str:
        return self.broken.arm if self.broken else self.source.arm

    @property
    def edges(self) -> dict[str, bool]:
        return {name: bool(margin.kept) for name, margin in self.margins.items()}


def build_pool(
    store: Store,
    sources: Sequence[str] = (),
    per_edge: int = 50,
    seed: int = 0,
    wanted: Sequence[Relation] = RELATIONS,
    confirm: Confirm | None = None,
    written: Written | None = None,
) -> KnownPool:
    """Known answers of a benchmark, the same for the same seed, sources and answers.

    Args:
        sources: "scripted", planners that were scored here, files of answers; empty: scripted and every planner.
        per_edge: of either verdict for each of the ``wanted`` relations; no more than the cases can give are taken.
        confirm: a second model, for what geometry cannot tell; without it such corruptions are dropped.
        written: corruptions by a model.

    Raises:
        StoreError: no case. InputError: no such source, or a relation without known answers of both verdicts.
    """
    rng = random.Random(derive_seed(seed, "known"))
    dropped: Counter[str] = Counter()
    facts = case_facts(store)
    per_edge = bounded(per_edge, len(facts))
    names = tuple(sources) or (SCRIPTED, *sorted(p.name for p in store.root.glob("runs/*") if p.is_dir()))
    takes = _takers(store, names, facts, dropped, seed, rng, chosen=bool(sources))
    drafts = _broken(takes, per_edge, wanted, rng, dropped, confirm)
    if written is not None:
        drafts += _by_model(written, takes, per_edge, wanted, rng, dropped, confirm)
    drafts += _consistent(takes, drafts, wanted, rng)
    kept = balanced(drafts, per_edge, wanted, rng)
    return KnownPool(
        seed=seed,
        per_edge=per_edge,
        sources=tuple(name for name, _ in takes),
        traces=tuple(_known(draft) for draft in kept),
        dropped=dict(sorted(dropped.items())),
    )


def bounded(per_edge: int, cases: int) -> int:
    """How many known answers of either verdict so many cases give, said at once where more were wanted."""
    most = MOST_PER_CASE * cases
    if per_edge > most:
        warn(
            f"known answers: {per_edge} of either verdict were wanted for each edge; {cases} cases in which the car "
            f"drives give {most} at most, {MOST_PER_CASE} a case, and these are taken; build more cases for more"
        )
    return min(per_edge, most)


def write_pool(store: Store, pool: KnownPool) -> str:
    """Keep a pool beside the traces; returns its hash."""
    found = hash_json(pool)
    write_record(
        store.root / "traces" / "known" / f"{found.removeprefix('sha256:')[:12]}.json", pool, store.work
    )
    return found


Taker = tuple[str, Callable[[], Source]]


def _takers(
    store: Store,
    names: Sequence[str],
    facts: Sequence[CaseFacts],
    dropped: Counter[str],
    seed: int,
    rng: random.Random,
    chosen: bool,
) -> list[Taker]:
    """By source, what draws one of its traces. A source that nobody named and that gives none is left out."""
    takers: list[Taker] = []
    scored = {p.name for p in store.root.glob("runs/*") if p.is_dir()}
    for given in names:
        name = scored_as(store, given)
        if name == SCRIPTED:
            takers.append((name, lambda: scripted(rng.choice(list(facts)), rng)))
            continue
        if name in scored:
            found = stored(store, name, facts, dropped) if chosen else _quietly(store, name, facts, dropped)
        elif Path(name).is_file():
            found = from_file(Path(name), facts, dropped, seed)
        else:
            known = ", ".join((SCRIPTED, *sorted(scored)))
            raise InputError(f"sources: expected {known} or a file of answers, found '{name}'")
        if found:
            takers.append((name, lambda found=found: rng.choice(found)))  # type: ignore[misc]
        elif chosen:
            why = "; ".join(f"{n}: {w}" for w, n in dropped.items() if w.startswith("source")) or "no plan"
            raise InputError(
                f"sources: planner '{name}' has no answer that is known to be consistent ({why}); add scripted ones: "
                f"--sources scripted,{name}"
            )
    return takers


def _quietly(store: Store, name: str, facts: Sequence[CaseFacts], dropped: Counter[str]) -> list[Source]:
    try:
        return stored(store, name, facts, dropped)
    except InputError:
        dropped["source: planner without a plan"] += 1
        return []


def _broken(
    takers: Sequence[Taker],
    per_edge: int,
    wanted: Sequence[Relation],
    rng: random.Random,
    dropped: Counter[str],
    confirm: Confirm | None,
) -> list[Draft]:
    """``per_edge`` traces for each wanted relation, its kinds and the sources taking turns."""
    found: list[Draft] = []
    seen: set[str] = set()
    for relation in wanted:
        kinds = [(name, kind) for name, kind in KINDS.items() if kind.target == relation]
        got, tries = 0, 0
        unsure: list[Draft] = []
        while got < per_edge and tries < _TRIES * per_edge:
            name, kind = kinds[tries % len(kinds)]
            taker = takers[tries // len(kinds) % len(takers)]
            tries += 1
            draft, why = _one(taker, takers, name, kind, rng)
            if isinstance(draft, Draft) and draft.id in seen:
                dropped[f"{relation}, {name}: made before"] += 1
                continue
            if isinstance(draft, Draft) and not why:
                seen.add(draft.id)
                found.append(draft)
                got += 1
            elif isinstance(draft, Draft) and confirm is not None and len(unsure) < per_edge:
                seen.add(draft.id)
                unsure.append(draft)
            else:
                dropped[f"{relation}, {name}: {why}"] += 1
        if confirm is not None and unsure and got < per_edge:
            found += _confirmed(unsure, confirm, dropped)[: per_edge - got]
    return found


def _one(
    taker: Taker, takers: Sequence[Taker], name: str, kind: Kind, rng: random.Random
) -> tuple[Draft | None, str]:
    """A broken trace and "", or why not; a trace with a reason is one that only a second model could confirm."""
    source = taker[1]()
    if kind.scripted and source.source != SCRIPTED:
        return None, "only of scripted answers"
    donor = _donor(source, taker, kind.donor) if kind.donor else source
    if donor is None:
        return None, f"no {kind.donor} case drawn"
    seed = rng.getrandbits(48)
    made = kind.make(source, donor, random.Random(seed))
    return (None, made) if isinstance(made, str) else judged(source, made, name, seed)


def _donor(source: Source, taker: Taker, how: str) -> Source | None:
    for _ in range(_DRAWS):
        donor = taker[1]()
        other = donor.facts.case.case_id != source.facts.case.case_id
        if other and near(source, donor) == (how == "near"):
            return donor
    return None


def judged(source: Source, made: Broken, name: str, seed: int) -> tuple[Draft | None, str]:
    """What geometry and construction say of a corruption: kept only where its target is really broken."""
    margins = relations(source.facts, made.arm, made.said)
    draft = Draft(source, made, name, margins, seed, dict(made.provenance))
    target = margins.get(made.target)
    if target is None:
        return draft, "nothing tells whether it is broken"
    if target.kept:
        return None, "still consistent"
    if target.unit:
        draft.provenance |= {"margin": round(target.by, 3), "unit": target.unit, "measured": target.words}
    return draft, ""


def _confirmed(drafts: list[Draft], confirm: Confirm, dropped: Counter[str]) -> list[Draft]:
    """Those that a second model calls inconsistent on their target."""
    kept = []
    pairs = [(d.source, d.broken) for d in drafts if d.broken is not None]
    for draft, consistent in zip(drafts, confirm(pairs), strict=True):
        assert draft.broken is not None
        if consistent is False:
            draft.margins[draft.broken.target] = Margin(False)
            draft.provenance["confirmed"] = "second model"
            kept.append(draft)
        else:
            why = "no verdict" if consistent is None else "called consistent"
            dropped[f"{draft.broken.target}, {draft.kind}: second model: {why}"] += 1
    return kept


def _by_model(
    written: Written,
    takers: Sequence[Taker],
    per_edge: int,
    wanted: Sequence[Relation],
    rng: random.Random,
    dropped: Counter[str],
    confirm: Confirm | None,
) -> list[Draft]:
    sources = [takers[i % len(takers)][1]() for i in range(per_edge)]
    kept: list[Draft] = []
    unsure: list[Draft] = []
    seen: set[str] = set()
    for source, made, relation in written(sources, wanted):
        draft, why = (
            (None, made) if isinstance(made, str) else judged(source, made, BY_MODEL, rng.getrandbits(48))
        )
        if draft is None or (why and confirm is None):
            dropped[f"{relation}, {BY_MODEL}: {why}"] += 1
        elif draft.id in seen:
            dropped[f"{relation}, {BY_MODEL}: made before"] += 1
        else:
            seen.add(draft.id)
            (unsure if why else kept).append(draft)
    return kept + (_confirmed(unsure, confirm, dropped) if confirm and unsure else [])


def _consistent(
    takers: Sequence[Taker], broken: Sequence[Draft], wanted: Sequence[Relation], rng: random.Random
) -> list[Draft]:
    """Whole traces: those that were broken, as they were, and more until every relation has enough of them."""
    found: list[Draft] = []
    seen = {draft.id for draft in broken}

    def add(source: Source) -> None:
        draft = Draft(source, None, "consistent", relations(source.facts, source.arm, source.said))
        if all(m.kept for m in draft.margins.values()) and draft.id not in seen:
            seen.add(draft.id)
            found.append(draft)

    for draft in broken:
        add(draft.source)
    lost = Counter(n for d in broken for n, kept in d.edges.items() if not kept)
    for i in range(4 * len(broken)):
        good = Counter(n for d in (*found, *broken) for n, kept in d.edges.items() if kept)
        if all(good[relation] >= lost[relation] for relation in wanted):
            break
        add(takers[i % len(takers)][1]())
    return found


def balanced(
    drafts: Sequence[Draft], per_edge: int, wanted: Sequence[Relation], rng: random.Random
) -> list[Draft]:
    """As many consistent as inconsistent known answers for every relation, those that were aimed at it first.

    Raises:
        InputError: a relation has none of one verdict.
    """
    order = list(range(len(drafts)))
    rng.shuffle(order)
    keep: dict[int, list[Relation]] = {i: [] for i in order}
    for relation in wanted:
        known = {v: [i for i in order if drafts[i].edges.get(relation) is v] for v in (True, False)}
        sides = {
            True: _taking_turns(drafts, known[True]),
            False: sorted(known[False], key=lambda i: _target(drafts[i]) != relation),
        }
        n = min(per_edge, *map(len, sides.values()))
        if n == 0:
            counts = f"{len(sides[True])} consistent and {len(sides[False])} inconsistent"
            rest = ",".join(r for r in wanted if r != relation)
            raise InputError(
                f"known answers: {relation} cannot be balanced: found {counts} after filtering, expected both; leave "
                f"it out (--edges {rest}), or add scripted answers (--sources scripted,...)"
            )
        for chosen in sides.values():
            for i in chosen[:n]:
                keep[i].append(relation)
    return [replace(drafts[i], counted=tuple(keep[i])) for i in sorted(order) if keep[i]]


def _target(draft: Draft) -> str:
    return draft.broken.target if draft.broken else ""


def _taking_turns(drafts: Sequence[Draft], consistent: Sequence[int]) -> list[int]:
    """Whole traces and those that are broken elsewhere by turns: neither tells the verdict of one relation."""
    whole = [i for i in consistent if drafts[i].broken is None]
    elsewhere = [i for i in consistent if drafts[i].broken is not None]
    turns = [i for pair in zip(whole, elsewhere, strict=False) for i in pair]
    short = min(len(whole), len(elsewhere))
    return turns + whole[short:] + elsewhere[short:]


def _known(draft: Draft) -> KnownTrace:
    source, made = draft.source, draft.broken
    known: dict[Relation, bool] = {r: draft.edges[r] for r in RELATIONS if r in draft.edges}
    return KnownTrace(
        id=draft.id,
        case_id=source.facts.case.case_id,
        arm=draft.arm,
        source=source.source,
        drive=source.facts.drive,
        kind=draft.kind,
        target=made.target if made else "",
        edges={r: known[r] for r in draft.counted},
        known=known,
        trace=draft.said.trace,
        waypoints=_points(draft.said),
        seed=draft.seed,
        provenance=draft.provenance | ({"of": source.place} if source.place else {}),
    )


def _points(said: Said) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(theta)) for x, y, theta in said.waypoints)
