"""What makes one benchmark: settings that folders must share to go on with it, or to be merged."""

from collections.abc import Mapping
from pathlib import Path

from cfgen import __version__
from cfgen.core.errors import StoreError
from cfgen.core.files import read_record
from cfgen.core.warn import warn
from cfgen.records import Benchmark
from cfgen.store import MARKER, Store

#: options that a benchmark keeps: with n and its scenes they tell how to build it again
KEPT = (
    "seed",
    "hazards",
    "inpainter",
    "inpainter_options",
    "guide",
    "masks",
    "masks_options",
    "detector",
    "detector_options",
    "perception",
    "decel_band",
    "controls",
    "distances",
)
#: what may not change once a benchmark is begun
FIXED = (*KEPT, "taxonomy_hash", "sampling", "scenes", "perception_identity", "gates")


def whole(root: Path) -> Store:
    """The benchmark there.

    Raises:
        StoreError: its record is not as cfgen wrote it.
    """
    store = Store(root)
    read_record(store.root / MARKER, Benchmark, check=True)
    return store


def opened(root: Path, named: Path | None = None) -> Store:
    """As :func:`whole`, to ask and judge on it, with a warning where another version of cfgen built it.

    Args:
        named: the folder in words, where ``root`` is a passing view of it.
    """
    store = whole(root)
    if (built := store.benchmark.cfgen_version) != __version__:
        warn(
            f"{named or root}: was built by cfgen {built}, this is {__version__}: figures may differ from those of "
            f"cfgen {built}; compare only what one version made"
        )
    return store


def check_same(out: Path, found: Benchmark, asked: Benchmark) -> None:
    """
    Raises:
        StoreError: a benchmark that is begun keeps its settings, and the version of cfgen but for the last number.
    """
    _check_version(out, found.cfgen_version, asked.cfgen_version)
    for name in FIXED:
        before, now = getattr(found, name), getattr(asked, name)
        if not (same_scenes(before, now) if name == "scenes" else before == now):
            before, now = apart(before, now)
            raise StoreError(
                f"{out}: was built with {name} = {before}, now asked for {now}; use the same, or another folder"
            )
    if found.n > asked.n:
        raise StoreError(
            f"{out}: holds a benchmark of n = {found.n}, asked for {asked.n}; use another folder"
        )


def _check_version(out: Path, built: str, here: str) -> None:
    if built == here:
        return
    if built.split(".")[:2] != here.split(".")[:2]:
        raise StoreError(
            f"{out}: was built by cfgen {built}, found cfgen {here}, which may make other cases; go on with cfgen "
            f"{built}, or use another folder"
        )
    warn(f"{out}: was begun by cfgen {built} and goes on with {here}; each case.json says which one made it")


def same_scenes(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether they are the same, as far as both were hashed."""
    return one.keys() == other.keys() and all(a == b for k, a in one.items() if a and (b := other[k]))


def apart(before: object, now: object) -> tuple[str, str]:
    """Both in short; long ones that begin alike from shortly before where they differ."""
    short = _short(before), _short(now)
    if short[0] != short[1]:
        return short
    texts = str(before), str(now)
    at = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, at - 60)
    return f"...{_short(texts[0][start:])}", f"...{_short(texts[1][start:])}"


def _short(value: object) -> str:
    text = f"{len(value)} scenes" if isinstance(value, dict) and len(value) > 3 else str(value)
    return text if len(text) < 80 else text[:77] + "..."
