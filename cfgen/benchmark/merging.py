"""Folders that hold parts of one benchmark -> one folder. Readable top to bottom.

Parts are shards of a build (``cfgen build --shard``) or scored copies of a benchmark (``cfgen score --shard``). The
merged folder is made beside its place and renamed: it is there whole or not at all.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cfgen.benchmark.folders import check_settings_match, open_store
from cfgen.benchmark.plan import FILE, append_surveys, hash_of, read_surveys, shard_in
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_record, write_record
from cfgen.models.limits import FILE as LEDGER
from cfgen.records import JudgeRun, PlannerRun, Shard, Stored
from cfgen.storage.store import Store

#: files of a part that say nothing of the whole
_OWN = (FILE, "build.json")
#: folders whose files are never written to once they are there
_KEPT = ("scenes", "cases", "rejected", "perception")
#: fields of runs that parts have each for itself, and those that are added up
_APART, _ADDED = {"salt"}, {"network", "sight", "arms"}


def merge(out: Path, shards: Sequence[Path]) -> Store:
    """
    Raises:
        InputError: a part is missing or given twice, or the parts are of different builds.
        StoreError: a folder is no benchmark, a part did not end, or ``out`` is not new or empty.
    """
    parts = [open_store(path, any_version=True) for path in shards]
    _check_places(out, parts)
    _check_complete(parts)
    _check_alike(parts)
    Store.check_new(out)
    partial_dir = out.parent / f".{out.name}.merging"
    shutil.rmtree(partial_dir, ignore_errors=True)
    try:
        for part in parts:
            _add(part, partial_dir)
        _check_answers(Store(partial_dir))
        append_surveys(Store(partial_dir), read_surveys(parts[0]))
        with contextlib.suppress(OSError):
            shutil.rmtree(out / ".work", ignore_errors=True)
            out.rmdir()
        partial_dir.rename(out)
    finally:
        shutil.rmtree(partial_dir, ignore_errors=True)
    return Store(out)


# --- whether they belong together -----------------------------------------------------------------------


def _check_places(out: Path, parts: Sequence[Store]) -> None:
    if len(parts) < 2:
        raise InputError(f"merge: expected two folders at least, found {len(parts)}")
    folders: dict[Path, Path] = {}
    for part in parts:
        folder = part.root.resolve()
        if folder in folders:
            raise InputError(f"merge: {part.root} is given twice; give each folder once")
        if folder == out.resolve():
            raise InputError(f"merge: {part.root} is the folder to write as well; name another one")
        folders[folder] = part.root


def _check_alike(parts: Sequence[Store]) -> None:
    first = parts[0]
    for part in parts[1:]:
        versions = [(shard.root, shard.benchmark.cfgen_version) for shard in (first, part)]
        if versions[0][1] != versions[1][1]:
            words = " and ".join(f"{root} by cfgen {version}" for root, version in versions)
            raise InputError(f"merge: {words} are of two versions; build both with one")
        try:
            check_settings_match(first.root, first.benchmark, part.benchmark)
            check_settings_match(part.root, part.benchmark, first.benchmark)
        except StoreError as error:
            raise InputError(
                f"merge: {first.root} and {part.root} are not of one benchmark: {error}"
            ) from error
        if hash_of(part.planned) != hash_of(first.planned):
            raise InputError(
                f"merge: {first.root} and {part.root} plan other pairs; merge shards of one round: begin them in new "
                "folders, or in copies of one merged folder"
            )


def _check_complete(parts: Sequence[Store]) -> None:
    """Shards of a build are all there, once each, and ended; scored copies have none."""
    shards = [(part, shard_in(part)) for part in parts]
    if not any(shard for _, shard in shards):
        return
    by_index: dict[int, tuple[Store, Shard]] = {}
    for part, shard in shards:
        if shard is None:
            raise InputError(
                f"merge: {part.root} is no shard (it has no {FILE}), the others are; leave it out"
            )
        if twice := by_index.get(shard.index):
            raise InputError(
                f"merge: shard {shard.index}/{shard.count} is given twice: {twice[0].root} and {part.root}; leave "
                "one out"
            )
        by_index[shard.index] = part, shard
        if not shard.done:
            raise StoreError(
                f"{part.root}: shard {shard.index}/{shard.count} did not end; run its command again: what is "
                "done is kept"
            )
    counts = {shard.count for _, shard in by_index.values()}
    if len(counts) > 1:
        raise InputError(
            f"merge: expected shards of one number, found parts of {' and of '.join(map(str, sorted(counts)))}"
        )
    count = counts.pop()
    if missing := [f"{i}/{count}" for i in range(1, count + 1) if i not in by_index]:
        raise InputError(
            f"merge: expected all {count} shards, missing {', '.join(missing)}; build them, and give all"
        )


def _check_answers(store: Store) -> None:
    """Every planner answered every question that one of the parts asked it."""
    ids = store.case_ids()
    for run in store.planner_runs():
        arms = {case_id: {"original", "rerun", *store.case(case_id).arms} for case_id in ids}
        keys = [(a, c, k) for c in ids for a in run.arms if a in arms[c] for k in range(run.repeats)]
        lacking = [key for key in keys if not store.rollout_path(run.planner, *key).is_file()]
        if lacking:
            raise InputError(
                f"merge: {len(lacking)} of {len(keys)} answers of planner '{run.planner}' are in none of the folders; "
                "give all shards, or score the missing ones"
            )


# --- files ----------------------------------------------------------------------------------------------


def _add(part: Store, to: Path) -> None:
    """
    Raises:
        InputError: a file is there already and says something else.
    """
    for path, name in _files(part.root):
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            _place(path, target, name)
        elif path.name == LEDGER:
            with target.open("ab") as file:
                file.write(path.read_bytes())
        elif path.read_bytes() != target.read_bytes():
            _settle(path, target, name)


def _files(root: Path) -> Iterator[tuple[Path, Path]]:
    """Each with its place; the folder's own record comes first, so that what is made is a benchmark from then on."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and name.parts[0] != ".work" and str(name) not in _OWN and path.suffix != ".tmp":
            yield path, name


def _place(path: Path, target: Path, name: Path) -> None:
    if name.parts[0] in _KEPT:
        with contextlib.suppress(OSError):  # another disk
            os.link(path, target)
            return
    shutil.copy2(path, target)


def _settle(path: Path, target: Path, name: Path) -> None:
    """Runs of one planner or judge are one where they differ only in what each part has for itself."""
    record: Stored | None = None
    if name.name == "planner.json":
        record = _together(read_record(target, PlannerRun), read_record(path, PlannerRun))
    elif name.name == "judge.json":
        record = _together(read_record(target, JudgeRun), read_record(path, JudgeRun))
    if record is not None:
        write_record(target, record)
        return
    raise InputError(
        f"merge: two folders hold {name} and it differs, the second is {path}: the same part was made twice, or with "
        "other settings; leave one out"
    )


def _together(first: Stored, second: Stored) -> Stored | None:
    added: dict[str, Any] = {}
    for field in type(first).model_fields:
        first_value, second_value = getattr(first, field), getattr(second, field)
        if field in _ADDED:
            added[field] = tuple(dict.fromkeys((*first_value, *second_value)))
        elif first_value != second_value and field not in _APART:
            return None
    return first.model_copy(update=added)
