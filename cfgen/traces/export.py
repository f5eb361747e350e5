"""Known answers as a training set: chats with image references, split by drive, balanced, with a card.

For TRL's SFT trainer and for :mod:`examples.train_critic`; a critic reads the words that it was trained on, since both
come from :func:`cfgen.traces.critic.critic_content`.
"""

import json
import random
import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.files import must_be_new, png_bytes
from cfgen.core.hashing import derive_id, derive_seed, hash_bytes
from cfgen.core.progress import Progress
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, faithfulness_scene
from cfgen.judge.rubrics.trace import TraceItem
from cfgen.records import Edge, KnownPool, KnownTrace, Relation, recording_of
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.scenes.folder import load_scene
from cfgen.scenes.licences import check_redistribution, sources
from cfgen.storage.store import Store
from cfgen.traces.critic import critic_content
from cfgen.traces.probe import known_item
from cfgen.traces.settings import POOL

SPLITS = ("train", "test")


@dataclass(frozen=True)
class Exported:
    """``rows`` by split; ``drives`` by split; ``dropped``: examples left out, by reason."""

    folder: Path
    rows: dict[str, int]
    drives: dict[str, int]
    dropped: dict[str, int]


@dataclass(frozen=True)
class Example:
    """One trace asked about one relation."""

    known: KnownTrace
    relation: str
    consistent: bool


def export_known(store: Store, pool: KnownPool, out: Path, allowed: Collection[str] = ()) -> Exported:
    """Write ``out/train.jsonl``, ``test.jsonl``, ``images/`` and ``README.md``, all of it or nothing.

    Raises:
        InputError: ``out`` is there, a licence that forbids it, a single drive, or a relation that cannot be balanced
            in a split.
    """
    must_be_new(out)
    licences = _licences(store, pool, allowed)
    dropped: Counter[str] = Counter()
    pool = by_recording(store, pool)
    examples = [Example(k, r, v) for k in pool.traces for r, v in k.edges.items()]
    splits = split(examples, pool.seed, dropped)
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        for name, rows in splits.items():
            _write(store, part, name, rows)
        exported = Exported(
            out,
            {name: len(rows) for name, rows in splits.items()},
            {name: len({e.known.drive for e in rows}) for name, rows in splits.items()},
            dict(dropped),
        )
        (part / "README.md").write_text(_card(exported, splits, pool, licences), encoding="utf-8")
        part.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot write ({error}); nothing was kept") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return exported


def by_recording(store: Store, pool: KnownPool) -> KnownPool:
    """The pool with each trace's ``drive`` the recording that its frame was cut from.

    The pool's own are the blocks of the metrics' intervals, several to a recording where there are few.
    """
    cases = {case.case_id: case for case in store.cases()}
    recording = {
        case_id: recording_of(load_scene(store.scene_dir(cases[case_id].scene_id)).scene)
        for case_id in {k.case_id for k in pool.traces}
    }
    traces = tuple(k.model_copy(update={"drive": recording[k.case_id]}) for k in pool.traces)
    return pool.model_copy(update={"traces": traces})


def split(examples: Sequence[Example], seed: int, dropped: Counter[str]) -> dict[str, list[Example]]:
    """By drive, a quarter of them held out; within each split as many of either verdict for every relation.

    What carries another split's words or waypoints (a donor's) is dropped, and counted.

    Raises:
        InputError: one drive, or a relation of which a split has one verdict only.
    """
    drives = sorted({e.known.drive for e in examples})
    if len(drives) < 2:
        raise InputError(
            f"export: expected traces of two drives or more, found {len(drives)}: nothing could be held out; build "
            "from more drives"
        )
    best: dict[str, list[Example]] | None = None
    drop_counts: Counter[str] = Counter()
    refused: InputError | None = None
    for attempt in range(POOL.split_draws):
        left_out: Counter[str] = Counter()
        try:
            halves = _split(examples, drives, random.Random(derive_seed(seed, "split", attempt)), left_out)
        except InputError as error:
            refused = error
            continue
        if best is None or _size(halves) > _size(best):
            best, drop_counts = halves, left_out
    if best is None:
        assert refused is not None
        raise refused
    dropped.update(drop_counts)
    return best


def _size(sides: Mapping[str, Sequence[Example]]) -> tuple[int, int]:
    """Relations that both splits hold, then rows."""
    shared = {e.relation for e in sides["train"]} & {e.relation for e in sides["test"]}
    return len(shared), sum(map(len, sides.values()))


def _split(
    examples: Sequence[Example], drives: Sequence[str], rng: random.Random, dropped: Counter[str]
) -> dict[str, list[Example]]:
    drives = list(drives)
    rng.shuffle(drives)
    test_drives = set(drives[: max(1, round(POOL.held_out * len(drives)))])
    of_case = {e.known.case_id: e.known.drive in test_drives for e in examples}
    sides: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for example in examples:
        test = example.known.drive in test_drives
        donor = example.known.provenance.get("donor")
        if donor is not None and of_case.get(donor, not test) != test:
            dropped["its donor is in the other split, or in none"] += 1
        else:
            sides["test" if test else "train"].append(example)
    return {name: _even(name, side, rng, dropped) for name, side in sides.items()}


def _even(name: str, side: Sequence[Example], rng: random.Random, dropped: Counter[str]) -> list[Example]:
    balanced: list[Example] = []
    for relation in sorted({e.relation for e in side}):
        by_verdict = {
            v: [e for e in side if (e.relation, e.consistent) == (relation, v)] for v in (True, False)
        }
        n = min(map(len, by_verdict.values()))
        if n == 0:
            raise InputError(
                f"export: {relation} cannot be balanced in the split '{name}': found {len(by_verdict[True])} "
                f"consistent and {len(by_verdict[False])} inconsistent; raise --per-edge, or leave it out with --edges"
            )
        for same_verdict in by_verdict.values():
            rng.shuffle(same_verdict)
            dropped["one verdict too many in its split"] += len(same_verdict) - n
            balanced += same_verdict[:n]
    rng.shuffle(balanced)
    return balanced


def _licences(store: Store, pool: KnownPool, allowed: Collection[str]) -> dict[str, int]:
    """Licence -> scenes behind the pool.

    Raises:
        InputError: one that is not known to permit handing on what is made of its images, and is not in ``allowed``.
    """
    cases = {k.case_id for k in pool.traces}
    scene_sources = sources(store, (c.scene_id for c in store.cases() if c.case_id in cases))
    check_redistribution(store.root, scene_sources, allowed, "for a set that stays with you, or")
    licences: Counter[str] = Counter()
    for (licence, _), n in scene_sources.items():
        licences[licence] += n
    return dict(licences)


# --- rows ---------------------------------------------------------------------------------------------------


def _write(store: Store, part: Path, name: str, examples: Sequence[Example]) -> None:
    (part / "images").mkdir(parents=True, exist_ok=True)
    inputs = RolloutInputs(store, store.benchmark.seed)
    cases = {case.case_id: case for case in store.cases()}
    of_trace: dict[str, list[int]] = {}
    for i, e in enumerate(examples):
        of_trace.setdefault(e.known.id, []).append(i)
    rows: dict[int, str] = {}
    progress = Progress(f"{name}: rows", len(examples))
    for places in of_trace.values():  # one trace's pictures in memory at a time
        trace = examples[places[0]].known
        item = known_item(inputs, cases[trace.case_id], trace)
        images = [_image(part, png_bytes(pixels)) for pixels in (item.frame, item.bev, item.speed)]
        for i in places:
            rows[i] = json.dumps(_row(examples[i], item, images), ensure_ascii=False)
        progress.step(by=len(places))
    lines = "".join(f"{rows[i]}\n" for i in range(len(examples)))
    (part / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def _row(example: Example, item: TraceItem, images: list[str]) -> dict[str, Any]:
    verdict = "CONSISTENT" if example.consistent else "INCONSISTENT"
    answer = f"<verdict>{verdict}</verdict>"
    return {
        "messages": [
            {"role": "user", "content": critic_content(item, _question(example.relation))},
            {"role": "assistant", "content": [{"type": "text", "text": answer}]},
        ],
        "images": images,
        "verdict": verdict,
        "id": derive_id(example.known.id, example.relation),
        "edge": example.relation,
        "drive": derive_id("drive", example.known.drive),
        "kind": example.known.kind,
    }


def _image(part: Path, data: bytes) -> str:
    name = f"images/{hash_bytes(data).removeprefix('sha256:')[:20]}.png"
    if not (part / name).is_file():
        (part / name).write_bytes(data)
    return name


def _question(relation: str) -> str:
    edge: Edge = "E2" if relation == "E2-scene" else relation  # type: ignore[assignment]
    rubric = faithfulness_scene() if relation == "E2-scene" else FAITHFULNESS
    return rubric.questions[edge]


def _card(
    exported: Exported,
    splits: Mapping[str, Sequence[Example]],
    pool: KnownPool,
    licences: Mapping[str, int],
) -> str:
    relations: list[Relation | str] = sorted({e.relation for side in splits.values() for e in side})
    kinds = Counter(e.known.kind for side in splits.values() for e in side)
    lines = [
        "# Known answers for a critic",
        "",
        "Traces of driving planners whose right verdict is known by construction and geometry, made by `cfgen analyze "
        "traces export`. One row asks about one relation; the answer is one word inside `<verdict>`. Train on it "
        "alone.",
        "",
        "| split | rows | drives | " + " | ".join(relations) + " |",
        "|---|---:|---:|" + "---:|" * len(relations),
        *(
            f"| {name} | {exported.rows[name]} | {exported.drives[name]} | "
            + " | ".join(str(sum(e.relation == r for e in splits[name])) for r in relations)
            + " |"
            for name in SPLITS
        ),
        "",
        "Half of each number is consistent, half is not. No drive is in both splits, and no trace carries words or "
        "waypoints of a drive of the other. Plots of equal waypoints may be in both; they show nothing of a drive.",
        "",
        f"- Scripted answers, broken in one part by construction. Seed {pool.seed}.",
        f"- Licences of the scenes: {', '.join(f'{name} ({n} scenes)' for name, n in licences.items())}.",
        f"- Left out here: {', '.join(f'{n}: {why}' for why, n in exported.dropped.items() if n) or 'nothing'}.",
        f"- Dropped before, while they were made: {sum(pool.dropped.values())}.",
        "- Kinds: " + ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items())) + ".",
        "",
        "What a model learns here is to tell these kinds apart; probe it on other answers before it is trusted.",
        "",
    ]
    return "\n".join(lines)
