"""A benchmark's answers -> who rates which, with known answers mixed in. Readable top to bottom."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from cfgen.app.campaigns.gold_answers import (
    GOLD_KINDS,
    TRAINING_KINDS,
    Lent,
    feasible,
    known_rollouts,
    lends,
    lent,
    said,
)
from cfgen.core.errors import InputError, warn
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import derive_seed
from cfgen.judge.validation import KNOWN
from cfgen.records import (
    DIMENSIONS,
    Campaign,
    CampaignItem,
    Case,
    Dimension,
    Rollout,
    answer_in,
    judged_as,
)
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store


def create(
    bench: Path,
    out: Path,
    raters: int | Sequence[str] = 3,
    overlap: float = 0.3,
    gold: int = 12,
    training: int = 4,
    arms: Sequence[str] = (),
    repeats: int = 1,
    seed: int = 0,
) -> Campaign:
    """Plan a campaign and write it to ``out``.

    Args:
        raters: how many, or their names.
        overlap: share of the answers that all rate; the others are rated by one each, evenly.
        gold: known answers that are mixed in for everybody, on as many cases as there are, made of the rated planners'
            own answers, in whose place they stand, and in no words of the training.
        training: known answers with feedback, on other scenes.
        arms: whose answers are rated, as ``hazard``, ``rerun``, ``null``; empty: all that were answered.

    Raises:
        InputError: no raters, no answers to rate, or too few scenes for a training of its own.
    """
    seats = tuple(raters) if not isinstance(raters, int) else tuple(f"rater{n + 1}" for n in range(raters))
    if not seats or len(set(seats)) < len(seats):
        raise InputError("--raters: expected a number above 0, or names that differ")
    if out.exists():
        raise InputError(f"{out}: exists already, and raters may have begun; give another file with --out")
    store, draw = Store(bench), random.Random(derive_seed("campaign", seed))
    answers = _answers(store, arms, repeats)
    scenes = {c.case_id: c.scene_id for c in store.cases()}
    training_scenes = _training_scenes(store, scenes, training, draw) if training else set()
    rated = [a for a in answers if scenes[a.case_id] not in training_scenes]
    if not rated:
        raise InputError(
            f"{bench}: no answer is left to rate; score a planner first: cfgen score {bench} --planner ..."
        )
    training_words: set[str] = set()
    trained = _known_items(store, training_scenes, training, "training", draw, [], training_words)
    if gold > len(rated) // 2:
        raise InputError(
            f"--gold: expected at most {len(rated) // 2}, half of the {len(rated)} answers that are rated, found {gold}"
        )
    mixed_in = _known_items(
        store, set(scenes.values()) - training_scenes, gold, "gold", draw, rated, training_words
    )
    items = [*trained, *mixed_in, *_assigned(_without(rated, mixed_in), seats, overlap, draw)]
    campaign = Campaign(
        name=_name(out),
        seed=seed,
        seats=seats,
        overlap=overlap,
        arms=tuple(sorted({a.arm for a in rated})),
        repeats=repeats,
        items=tuple(i.model_copy(update={"id": f"i{n:05d}"}) for n, i in enumerate(items)),
    )
    write_record(out, campaign)
    return campaign


def load(path: Path) -> Campaign:
    """
    Raises:
        StoreError: there is none, or it is something else.
    """
    return read_record(path, Campaign)


def _answers(store: Store, arms: Sequence[str], repeats: int) -> list[CampaignItem]:
    """Every answer with a plan for the original and its own arm, in order."""
    items = []
    planned: set[tuple[str, str, str, int]] = set()
    cases = set(store.case_ids())
    for planner in sorted(p.name for p in store.root.glob("runs/*") if p.is_dir()):
        for path in store.rollout_paths(planner):
            rollout = read_record(path, Rollout)
            if rollout.plan and rollout.case_id in cases:
                planned.add((planner, rollout.case_id, rollout.arm, rollout.repeat))
    requested = {judged_as(answer_in(a)) for a in arms}
    for planner, case_id, arm, repeat in sorted(planned):
        pair = judged_as(arm)
        if arm == "original" or repeat >= repeats or (requested and pair not in requested):
            continue
        if {(planner, case_id, "original", repeat), (planner, case_id, "original", 0)} & planned:
            items.append(
                CampaignItem(id="i", kind="answer", case_id=case_id, planner=planner, arm=pair, repeat=repeat)
            )
    missing = requested - {a.arm for a in items}
    if missing:
        raise InputError(f"--arms: no planner has answered {', '.join(sorted(map(answer_in, missing)))} here")
    return items


def _training_scenes(store: Store, scenes: dict[str, str], training: int, draw: random.Random) -> set[str]:
    """As few as have enough cases, at most a third of all: they are for the training alone."""
    names = sorted(set(scenes.values()))
    count = Counter(scenes.values())
    draw.shuffle(names)
    chosen: set[str] = set()
    for name in names:
        if (
            len(chosen) < max(1, len(names) // 3)
            and sum(count[n] for n in chosen) * len(GOLD_KINDS) < training
        ):
            chosen.add(name)
    if len(names) < 2:
        raise InputError(
            f"{store.root}: holds one scene, and training needs others than those rated; say --training 0, or build "
            "from more scenes"
        )
    return chosen


def _known_items(
    store: Store,
    scenes: set[str],
    n: int,
    kind: Literal["gold", "training"],
    draw: random.Random,
    rated: Sequence[CampaignItem],
    training_words: set[str],
) -> list[CampaignItem]:
    """``n`` known answers on cases of ``scenes``, every case and every kind as often as can be.

    Gold is made of rated planners' answers, at most one of each planner on each case.

    ``shown``: words that the training shows; it adds its own, and gold has none of them.
    """
    if not n:
        return []
    inputs = RolloutInputs(store, store.benchmark.seed)
    cases = _visible_first([c for c in store.cases() if c.scene_id in scenes], draw)
    kinds = list(GOLD_KINDS if kind == "gold" else TRAINING_KINDS)
    draw.shuffle(kinds)
    lenders: dict[str, list[Lent | None]] = {
        c.case_id: [*_lenders(store, inputs, c, rated, draw)] if kind == "gold" else [None] * len(kinds)
        for c in cases
    }
    items: list[CampaignItem] = []
    while len(items) < n and any(lenders.values()):
        for case in [c for c in cases if lenders[c.case_id]][: n - len(items)]:
            item = _known_on(inputs, case, kind, kinds, lenders[case.case_id], items, training_words)
            items += [item] if item else []
    if len(items) < n and kind == "training":
        raise InputError(
            f"--training: expected at most {len(items)} here, found {n}; more cases make room for more"
        )
    if len(items) < n:
        warn(
            f"--gold: {n} known answers asked for, {len(items)} mixed in: each is made of a rated planner's answer to "
            "an original frame on which it drives on, one of each planner on each case. More cases, or another road, "
            "make room for more"
        )
    return items


def _known_on(
    inputs: RolloutInputs,
    case: Case,
    kind: Literal["gold", "training"],
    kinds: Sequence[str],
    lenders: list[Lent | None],
    items: Sequence[CampaignItem],
    training_words: set[str],
) -> CampaignItem | None:
    """One more on this case, of the lender (it is taken off) and the kind that ``items`` have least of, if any fits."""
    uses = Counter([i.known for i in items] + [f"of {i.words_of}" for i in items])
    of = min(lenders, key=lambda of: uses[f"of {of.planner}"] if of else 0)
    lenders.remove(of)
    on_case = {i.known for i in items if i.case_id == case.case_id}
    for name in sorted((k for k in kinds if k not in on_case), key=lambda k: uses[k]):
        if not feasible(inputs, case, name, of):
            continue
        texts = {said(r) for r in known_rollouts(inputs, case, name, of)} - {""}
        if kind == "training":
            training_words |= texts
        elif texts & training_words:
            continue
        expected: dict[Dimension, Any] = dict(zip(DIMENSIONS, KNOWN[name].expected, strict=True))
        words_of = of.planner if of else ""
        return CampaignItem(
            id="i", kind=kind, case_id=case.case_id, known=name, words_of=words_of, expected=expected
        )
    return None


def _without(rated: Sequence[CampaignItem], gold: Sequence[CampaignItem]) -> list[CampaignItem]:
    """Each known answer stands in for one that it is made of: seen once more, its beginning would tell it."""
    rest = list(rated)
    for item in gold:
        same = [i for i in rest if (i.planner, i.case_id) == (item.words_of, item.case_id)]
        rest.remove(next((i for i in same if i.arm == item.arm), same[0]))
    return rest


def _visible_first(cases: list[Case], draw: random.Random) -> list[Case]:
    """Shuffled, those last whose hazard is small in the frame or was not seen again."""
    draw.shuffle(cases)
    heights = sorted(c.placement.box_px[3] - c.placement.box_px[1] for c in cases)

    def hidden(case: Case) -> tuple[bool, bool]:
        unseen = any(g.gate == "seen-again" and g.passed is False for g in case.gates)
        return unseen, case.placement.box_px[3] - case.placement.box_px[1] < heights[len(heights) // 2]

    return sorted(cases, key=hidden)


def _lenders(
    store: Store, inputs: RolloutInputs, case: Case, rated: Sequence[CampaignItem], draw: random.Random
) -> list[Lent]:
    """Rated planners' answers to the original frame of this case, of those that drive on, shuffled."""
    planners = sorted({i.planner for i in rated if i.case_id == case.case_id})
    lenders = [of for p in planners if (of := lent(store, p, case.case_id)) and lends(inputs, case, of)]
    return draw.sample(lenders, len(lenders))


def _assigned(
    answers: list[CampaignItem], seats: Sequence[str], overlap: float, draw: random.Random
) -> list[CampaignItem]:
    """Some to all seats, the rest to one each in turn."""
    shuffled = draw.sample(answers, len(answers))
    shared = round(overlap * len(shuffled)) if len(seats) > 1 else len(shuffled)
    single = [
        item.model_copy(update={"seats": (seats[n % len(seats)],)})
        for n, item in enumerate(shuffled[shared:])
    ]
    return [*shuffled[:shared], *single]


def _name(out: Path) -> str:
    return "".join(c if c.isalnum() or c in "_.-" else "_" for c in out.stem).lstrip("_.-")[:60] or "campaign"
