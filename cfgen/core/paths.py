"""Where the files that ship with cfgen are."""

import contextlib
import hashlib
import hmac
import os
import secrets
from functools import lru_cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def scenarios_dir() -> Path:
    """Folder with the taxonomy, demo scenes and sprites: inside the installed package, or beside it in a clone."""
    installed = _PACKAGE / "_scenarios"
    return installed if installed.is_dir() else _PACKAGE.parent / "scenarios"


def license_file() -> Path:
    """The Apache License, which is cfgen's own."""
    installed = _PACKAGE / "_LICENSE"
    return installed if installed.is_file() else _PACKAGE.parent / "LICENSE"


def cache_dir() -> Path:
    """``cfgen`` in the user's cache folder: nothing in it is needed, all of it can be made or fetched again."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "cfgen"


# --- own key -----------------------------------------------------------------------------------
# A secret of this user on this machine: what cfgen kept beside a benchmark counts only where cfgen kept it.

#: bytes of a seal
SEAL = 32


def seal(data: bytes, about: str) -> bytes:
    """``data`` with a seal behind it that nobody else can make."""
    return data + _seal(data, about)


def unseal(sealed_data: bytes, about: str) -> bytes | None:
    """What was sealed here as ``about``; None of anything else."""
    data = sealed_data[:-SEAL]
    return data if hmac.compare_digest(sealed_data[-SEAL:], _seal(data, about)) else None


def _seal(data: bytes, about: str) -> bytes:
    return hmac.digest(_key(cache_dir()), about.encode() + b"\0" + data, hashlib.sha256)


@lru_cache(maxsize=1)
def _key(folder: Path) -> bytes:
    """Made once; where it cannot be kept, this process has one of its own."""
    path, secret = folder / "key", secrets.token_bytes(32)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{secrets.token_hex(8)}.key"
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret)
        with contextlib.suppress(OSError):  # another process was first
            os.link(temporary, path)
        temporary.unlink()
    with contextlib.suppress(OSError):
        stored = path.read_bytes()
        if len(stored) == len(secret):
            return stored
    return secret
