"""Stored replies of a judge read again: what they say now."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import contained
from cfgen.core.files import read_each
from cfgen.judge.registry import stored_judge
from cfgen.judge.stored_verdicts import rescored
from cfgen.records import Fault, Verdict
from cfgen.storage.store import Store


@dataclass(frozen=True)
class Rescoring:
    """``verdicts`` that were read again, those that ``changed`` as they were and as they are, and what ``broke``."""

    verdicts: int
    changed: tuple[tuple[Verdict, Verdict], ...]
    broke: tuple[str, ...]


def rescore(bench: Path, judge: str, rubric: str | None, strict: bool) -> Rescoring:
    """See :func:`cfgen.rescore`."""
    store = Store(bench)
    name, read_by = stored_judge(store, judge, rubric)
    paths = store.verdict_paths(name, "*")
    if not paths:
        raise InputError(f"{store.root}: judge '{name}' has no verdicts here")

    def reread(old: Verdict) -> Verdict:
        new = rescored(old, read_by)
        if new != old:
            store.write_verdict(new)
        return new

    changed, broke = [], []
    for path, old in read_each(paths, Verdict):
        if isinstance(old, StoreError):
            broke.append(str(old))
            continue
        new = contained(partial(reread, old), str(path.relative_to(store.root)), strict=strict)
        if isinstance(new, Fault):
            broke.append(str(new))
        elif new != old:
            changed.append((old, new))
    return Rescoring(len(paths) - len(broke), tuple(changed), tuple(broke))
