"""Under which name a planner's answers are kept: its own, or, once it has changes, ``name@fingerprint`` beside it."""

from dataclasses import replace

from cfgen.core.errors import StoreError, warn
from cfgen.core.files import read_record
from cfgen.planners.fingerprint import changes
from cfgen.planners.registry import OpenPlanner
from cfgen.records import PlannerRun
from cfgen.storage.store import Store

#: of a hash, hexadecimal digits in a name
_DIGITS = 8
#: changes that are named
_MOST = 5


def settled(store: Store, planner: OpenPlanner) -> OpenPlanner:
    """``planner`` under the name of its run: that which it has, or a new one beside the run of what it was before.

    Raises:
        StoreError: its name is that of another planner, or of the same with other options.
    """
    path = store.planner_run_path(planner.name)
    if not path.is_file():
        return planner
    found = read_record(path, PlannerRun)
    if found.planner_hash == planner.hash:
        return planner
    other = found.fingerprint.get("options", "") != planner.fingerprint.get("options", "")
    if found.spec != planner.spec or (found.fingerprint and other) or not planner.fingerprint:
        raise StoreError(
            f"{path}: '{planner.name}' has answers of another version of this planner (its file, code or options "
            f"differ); score it under another name with --name, or delete {path.parent}"
        )
    digest = planner.hash.partition(":")[2][:_DIGITS]
    beside = replace(planner, name=f"{planner.name[: 118 - _DIGITS]}@{digest}")
    if not store.planner_run_path(beside.name).is_file():
        latest = _latest(store, planner, found)
        told = (
            changes(latest.fingerprint, planner.fingerprint)
            if latest.fingerprint
            else ["its file, code or options"]
        )
        more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
        warn(
            f"planner '{planner.name}' is not what it was when it was scored: {', '.join(told[:_MOST])}{more}; its "
            f"answers are kept as they are, and a new run begins beside them, '{beside.name}'"
        )
    return beside


def _latest(store: Store, planner: OpenPlanner, first: PlannerRun) -> PlannerRun:
    """The run of this planner that was written last."""
    paths = [store.planner_run_path(planner.name), *store.root.glob(f"runs/{planner.name}@*/planner.json")]
    latest = max(paths, key=lambda path: path.stat().st_mtime_ns)
    return first if latest == paths[0] else read_record(latest, PlannerRun)
