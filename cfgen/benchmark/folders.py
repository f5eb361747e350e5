"""What makes one benchmark: settings that folders must share to go on with it, or to be merged."""

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import attrs

from cfgen.core.engines.registry import Pool
from cfgen.core.errors import StoreError, warn
from cfgen.core.files import read_record, remove
from cfgen.options import BuildOptions
from cfgen.records import BenchmarkRecord
from cfgen.storage.store import MARKER, Store
from cfgen.version import __version__

#: options that a benchmark keeps: with n and its scenes they tell how to build it again
STORED_OPTIONS = tuple(
    option.name
    for option in attrs.fields(BuildOptions)
    if option.name in BenchmarkRecord.model_fields and option.name not in ("n", "scenes")
)
#: what may not change once a benchmark is begun
FIXED_SETTINGS = (*STORED_OPTIONS, "taxonomy_hash", "sampling", "scenes", "perception_identity", "gates")


def open_store(root: Path, named: Path | None = None, *, any_version: bool = False) -> Store:
    """The benchmark in ``root``, with a warning where another version of cfgen built it.

    Args:
        named: the folder in words, where ``root`` is a passing view of it. any_version: no warning.

    Raises:
        StoreError: its record is not as cfgen wrote it.
    """
    store = Store(root)
    read_record(store.root / MARKER, BenchmarkRecord, check=True)
    if not any_version and (built := store.benchmark.cfgen_version) != __version__:
        warn(
            f"{named or root}: was built by cfgen {built}, this is {__version__}: figures may differ from those of "
            f"cfgen {built}; compare only what one version made"
        )
    return store


def check_settings_match(out: Path, existing: BenchmarkRecord, requested: BenchmarkRecord) -> None:
    """
    Raises:
        StoreError: a benchmark that is begun keeps its settings, and the version of cfgen but for the last number.
    """
    _check_version(out, existing.cfgen_version, requested.cfgen_version)
    for name in FIXED_SETTINGS:
        old, new = getattr(existing, name), getattr(requested, name)
        if not (scenes_match(old, new) if name == "scenes" else old == new):
            old, new = diff_settings(old, new)
            raise StoreError(
                f"{out}: was built with {name} = {old}, now asked for {new}; use the same, or another folder"
            )
    if existing.n > requested.n:
        raise StoreError(
            f"{out}: holds a benchmark of n = {existing.n}, asked for {requested.n}; use another folder"
        )


def _check_version(out: Path, built: str, running: str) -> None:
    if built == running:
        return
    if built.split(".")[:2] != running.split(".")[:2]:
        raise StoreError(
            f"{out}: was built by cfgen {built}, found cfgen {running}, which may make other cases; go on with cfgen "
            f"{built}, or use another folder"
        )
    warn(
        f"{out}: was begun by cfgen {built} and goes on with {running}; each case.json says which one made it"
    )


def scenes_match(hashes: Mapping[str, str], other_hashes: Mapping[str, str]) -> bool:
    """Whether they are the same, as far as both were hashed."""
    hash_pairs = ((a, other_hashes.get(k)) for k, a in hashes.items())
    return hashes.keys() == other_hashes.keys() and all(a == b for a, b in hash_pairs if a and b)


def diff_settings(old: object, new: object) -> tuple[str, str]:
    """Both in short; long ones that begin alike from shortly before where they differ."""
    short = _short(old), _short(new)
    if short[0] != short[1]:
        return short
    texts = str(old), str(new)
    at = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, at - 60)
    return f"...{_short(texts[0][start:])}", f"...{_short(texts[1][start:])}"


def _short(value: object) -> str:
    text = f"{len(value)} scenes" if isinstance(value, dict) and len(value) > 3 else str(value)
    return text if len(text) < 80 else text[:77] + "..."


# --- begun -------------------------------------------------------------------------------------
# A build that has just begun, and its workers.


@contextlib.contextmanager
def cleanup_on_failure(pool: AbstractContextManager[Pool], store: Store, existed: bool) -> Iterator[Pool]:
    """The workers; where there can be none, nothing stays of a benchmark that had not ``begun`` before."""
    with contextlib.ExitStack() as stack:
        try:
            workers = stack.enter_context(pool)
        except Exception:
            if not existed and not store.planned:  # nobody else has gone on with it
                remove(store.root / MARKER)
                remove(store.work)
                with contextlib.suppress(OSError):
                    store.root.rmdir()
            raise
        yield workers
