"""What makes one benchmark: settings that folders must share to go on with it, or to be merged."""

from collections.abc import Mapping
from pathlib import Path

from cfgen.core.errors import StoreError
from cfgen.records import Benchmark

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


def check_same(out: Path, found: Benchmark, asked: Benchmark) -> None:
    """
    Raises:
        StoreError: a benchmark that is begun keeps its settings.
    """
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
