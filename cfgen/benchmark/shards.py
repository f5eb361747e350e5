"""A build in parts: each folder plans all pairs and works off its own, so that the parts are those of one build.

What a round plans follows from every outcome of the rounds before it. So a part ends with its round; merged, the
next round is that of a build in one folder, which the merged folder goes on with, or copies of it, in parts again.
"""

from collections.abc import Sequence

from cfgen.benchmark.plan import Plan
from cfgen.core.errors import StoreError
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import hash_json
from cfgen.records import Planned, Shard
from cfgen.storage.store import Store

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
        "with the others: cfgen merge OUT SHARD..."
    )


def next_part(plan: Plan, part: tuple[int, int]) -> list[Planned]:
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
