"""A secret of this user on this machine: what cfgen kept beside a benchmark counts only where cfgen kept it."""

import contextlib
import hashlib
import hmac
import os
import secrets
from functools import lru_cache
from pathlib import Path

from cfgen.core.paths import cache_dir

#: bytes of a seal
SEAL = 32


def sealed(data: bytes, about: str) -> bytes:
    """``data`` with a seal behind it that nobody else can make."""
    return data + _seal(data, about)


def opened(found: bytes, about: str) -> bytes | None:
    """What was sealed here as ``about``; None of anything else."""
    data = found[:-SEAL]
    return data if hmac.compare_digest(found[-SEAL:], _seal(data, about)) else None


def _seal(data: bytes, about: str) -> bytes:
    return hmac.digest(_key(cache_dir()), about.encode() + b"\0" + data, hashlib.sha256)


@lru_cache(maxsize=1)
def _key(folder: Path) -> bytes:
    """Made once; where it cannot be kept, this process has one of its own."""
    path, made = folder / "key", secrets.token_bytes(32)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{secrets.token_hex(8)}.key"
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
        with contextlib.suppress(OSError):  # another process was first
            os.link(temporary, path)
        temporary.unlink()
    with contextlib.suppress(OSError):
        found = path.read_bytes()
        if len(found) == len(made):
            return found
    return made
