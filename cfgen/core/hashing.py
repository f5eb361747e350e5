"""Content hashes: sha256 over canonical JSON or raw bytes, with the algorithm as prefix."""

import hashlib
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import BaseModel


def canonical_json(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces; equal values give equal bytes. NaN and infinity raise ValueError."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def hash_json(value: Any) -> str:
    """``sha256:`` and 64 hex digits over :func:`canonical_json` of a record or plain JSON value."""
    return hash_bytes(canonical_json(value))


def hash_bytes(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def hash_image(pixels: np.ndarray) -> str:
    """Over shape, dtype and values of an array."""
    head = f"{pixels.shape}{pixels.dtype}".encode()
    digest = hashlib.sha256(head)
    digest.update(np.ascontiguousarray(pixels).data)
    return "sha256:" + digest.hexdigest()


def derive_seed(*parts: Any) -> int:
    """A 63-bit seed that depends on every part and on nothing else."""
    return int.from_bytes(hashlib.sha256(canonical_json(list(parts))).digest()[:8], "big") >> 1


def seeds_after(*parts: Any) -> Callable[[str], int]:
    """:func:`derive_seed` of these parts and one more text, for when many are asked for."""
    prefix = hashlib.sha256(canonical_json(list(parts))[:-1] + b",")

    def seed(last: str) -> int:
        digest = prefix.copy()
        digest.update(_ending(last))
        return int.from_bytes(digest.digest()[:8], "big") >> 1

    return seed


@lru_cache(maxsize=4096)
def _ending(text: str) -> bytes:
    return canonical_json(text) + b"]"


def derive_id(*parts: Any) -> str:
    """A random-looking 12-character name: tells nothing about the parts."""
    return hashlib.sha256(canonical_json(list(parts))).hexdigest()[:12]


def derive_case_id(seed: int, scene_id: str, hazard_id: str, variant: int = 0) -> str:
    """The name of a case; ``variant`` counts further cases of the same pair, made by hand or again."""
    return derive_id("case", seed, scene_id, hazard_id, *([variant] if variant else []))
