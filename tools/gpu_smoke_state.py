"""What tools/gpu_smoke.py keeps between two runs, and what it needs before one: a damaged file is made again."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.core.errors import CfgenError
from cfgen.core.files import read_image
from cfgen.core.hashing import hash_json


def whole(*pictures: Path) -> bool:
    """Whether all are there and can be read to their ends."""
    try:
        return all(path.is_file() and read_image(path).size for path in pictures)
    except (CfgenError, OSError, ValueError):
        return False


def store(file: Path, found: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Write a result down with what it holds for, and a sum over both."""
    kept = {**found, "key": key}
    kept["sum"] = _sum(kept)
    file.write_text(json.dumps(kept, indent=1))
    return kept


def stored(file: Path, key: str) -> dict[str, Any] | None:
    """The result as it was written down for ``key``; None, and a word where it was damaged, where there is none."""
    try:
        kept = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        kept = None
    if not isinstance(kept, dict) or kept.get("sum") != _sum(kept):
        print(f"{file.stem}: {file} is damaged or was changed: it is run again", flush=True)
        return None
    return kept if kept["key"] == key else None


def _sum(kept: Mapping[str, Any]) -> str:
    return hash_json(json.dumps({k: v for k, v in kept.items() if k != "sum"}, sort_keys=True))


def no_weights(kind: str, options: Mapping[str, Any]) -> str:
    """Why a model cannot be loaded from the Hub's cache, without asking the Hub; "" where it is there."""
    from huggingface_hub import try_to_load_from_cache

    name, revision = options["model"], options["revision"]
    first = "model_index.json" if kind == "painter" else "config.json"
    if Path(name).is_dir() or isinstance(try_to_load_from_cache(name, first, revision=revision), str):
        return ""
    return f"not run: no weights of {name} at {revision[:12]} in the Hub's cache; get them with --download"


class Meter:
    """Seconds of each piece of work, the first with loading, and memory."""

    def __init__(self) -> None:
        import torch

        self.torch, self.taken = torch, list[float]()

    def timed(self, work: Any) -> Any:
        start = time.perf_counter()
        done = work()
        if self.torch.cuda.is_available():
            self.torch.cuda.synchronize()
        self.taken.append(round(time.perf_counter() - start, 2))
        return done

    @property
    def first(self) -> float:
        return self.taken[0]

    def rest(self) -> float:
        """The slowest after the first."""
        return max(self.taken[1:])

    def peak_gb(self) -> float:
        """The GPU's peak, or the process's where there is none."""
        if self.torch.cuda.is_available():
            return float(self.torch.cuda.max_memory_allocated() / 2**30)
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
