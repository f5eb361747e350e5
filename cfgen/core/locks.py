"""Locks of a folder that any number of workers share; they end with their block or their process."""

import contextlib
import fcntl
import hashlib
import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from cfgen.core.errors import StoreError
from cfgen.core.object_store import Claimed, bucket_of

#: s that a short lock is waited for
_PATIENCE_S = 30.0


@contextlib.contextmanager
def hold(root: Path, name: str) -> Iterator[None]:
    """The lock ``name`` of a folder, waited for.

    Raises:
        StoreError: somebody else holds it for too long.
    """
    end = time.monotonic() + _PATIENCE_S
    while True:
        with claim(root, name) as mine:
            if mine:
                yield
                return
        if time.monotonic() > end:
            raise StoreError(f"{root}: '{name}' is in use by somebody else; try again in a moment")
        time.sleep(0.01)


@contextlib.contextmanager
def turn(root: Path, name: str, wait: Callable[[], None]) -> Iterator[None]:
    """The lock ``name`` of a folder, for work that takes long: waited for without end, ``wait()`` called once first."""
    announced = False
    while True:
        with claim(root, name) as mine:
            if mine:
                yield
                return
        if not announced:
            wait()
            announced = True
        time.sleep(0.2)


@contextlib.contextmanager
def claim(root: Path, name: str) -> Iterator[bool]:
    """Whether the lock ``name`` of a folder is this block's.

    Raises:
        StoreError: the folder cannot be written to.
    """
    path = root / ".work" / f"{name}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = path.open("w")
    except OSError as error:
        raise StoreError(
            f"{path}: cannot write ({error.strerror}); free space or fix permissions and run the same command again: "
            "what is already there is kept"
        ) from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        if bucket := bucket_of(path):  # others may be on other machines
            with bucket.claim(name) as mine:
                yield mine
            return
        yield True


class NameClaims:
    """Claims of any number of names in one folder, in one file that stays empty.

    Each name is one byte of the file's address space, locked for as long as it is claimed. A claim ends with its
    release, or with the process that holds it, however that ended.

    Raises:
        StoreError: the folder cannot be written to.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.path = root / ".work" / f"{name}.claims"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        except OSError as error:
            raise StoreError(f"{self.path}: cannot write ({error.strerror}); fix permissions") from error
        self._bucket, self._there = bucket_of(self.path), dict[str, Claimed]()

    def take(self, name: str) -> bool:
        """Whether the claim is ours now; one that is ours already is."""
        try:
            self._lock(name, fcntl.F_WRLCK)
        except (BlockingIOError, PermissionError):
            return False
        if self._bucket is None or name in self._there:
            return True
        claimed = self._bucket.take(f"{self.path.stem}/{name}")
        if claimed is None:
            self._lock(name, fcntl.F_UNLCK)
            return False
        self._there[name] = claimed
        return True

    def release(self, name: str) -> None:
        if self._bucket is not None and (claimed := self._there.pop(name, None)) is not None:
            self._bucket.release(claimed)
        self._lock(name, fcntl.F_UNLCK)

    def _lock(self, name: str, kind: int) -> None:
        at = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")
        # of this open file, not of the process: two runs in one process are two
        fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, at, 1, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._there):
            self.release(name)
        self._file.close()
