"""Bringing a model file: read from its upstream address or from elsewhere, checked, and only then put in its place."""

import contextlib
import fcntl
import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from cfgen.core.errors import InputError, StoreError
from cfgen.core.network import current, host_of
from cfgen.core.progress import Progress
from cfgen.models.files import ModelFile

#: s without a byte before a server is given up
TIMEOUT_S = 30.0
_BLOCK = 1 << 20
_MB = 1_000_000


def bring(file: ModelFile, source: str = "", quiet: bool = False) -> Path:
    """Put the file in its place, over whatever is there; returns the place.

    Args:
        source: a file or a URL to take it from instead of its upstream address; the same size and hash count.

    Raises:
        InputError: the source cannot be reached or read, or gives something else. Nothing is left behind.
        StoreError: the folder cannot be written, or another process is bringing this file.
    """
    source = source or file.url
    with _partial(file) as (target, path):
        with _opened(file, source) as stream:
            size, sha256 = _copy(file, source, stream, target, quiet)
        if wrong := file.wrong(size, sha256):
            raise InputError(f"model file '{file.name}' from {source}: {wrong}; {_again(file, source)}")
        path.replace(file.place)
    return file.place


def check_source(file: ModelFile, source: str) -> None:
    """Look at a ``source`` that is a file before anything else; a URL is looked at by :func:`bring` alone.

    Raises:
        InputError: it cannot be read, or is something else than ``file``.
    """
    if "://" in source:
        return
    with _opened(file, source):
        wrong = file.wrong_with(Path(source).expanduser())
    if wrong:
        raise InputError(f"model file '{file.name}' from {source}: {wrong}; {_again(file, source)}")


@contextlib.contextmanager
def _partial(file: ModelFile) -> Iterator[tuple[BinaryIO, Path]]:
    """The file under a temporary name, locked; gone at the end unless it was renamed.

    One name for each file, so that what a killed process leaves is taken over by the next one.
    """
    path = file.place.with_name(f".{file.file}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.open("ab")
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    with target:
        try:
            fcntl.flock(target, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(
                f"{path}: another process is bringing '{file.name}'; wait until it is done"
            ) from None
        try:
            target.truncate(0)
            yield target, path
        finally:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(file: ModelFile, source: str) -> Iterator[BinaryIO]:
    """Bytes of a file or a URL, with every failure to read them as one line."""
    try:
        if "://" not in source:
            with Path(source).expanduser().open("rb") as stream:
                yield stream
            return
        if not source.startswith(("http://", "https://")):
            raise InputError(f"--from {source}: expected a file, or an address with http:// or https://")
        current().require(host_of(source), f"model file '{file.name}'")
        with urllib.request.urlopen(source, timeout=TIMEOUT_S) as answer:
            yield answer
    except (OSError, http.client.HTTPException, ValueError) as error:  # URLError is an OSError
        why = _words(error)
        raise InputError(
            f"model file '{file.name}': cannot read {source} ({why}); {_again(file, source)}"
        ) from error


def _copy(file: ModelFile, source: str, stream: BinaryIO, target: BinaryIO, quiet: bool) -> tuple[int, str]:
    """Size and hash of what was copied; one block more than expected is the most that is read."""
    digest, size = hashlib.sha256(), 0
    progress = Progress(f"{file.file}, MB", -(-file.size // _MB), quiet)
    while size <= max(file.sizes) and (block := stream.read(_BLOCK)):
        digest.update(block)
        try:
            target.write(block)
        except OSError as error:
            raise _unwritable(file.place.parent, error) from error
        before, size = size, size + len(block)
        progress.step(by=-(-size // _MB) - -(-before // _MB))
    try:
        target.flush()
    except OSError as error:
        raise _unwritable(file.place.parent, error) from error
    return size, digest.hexdigest()


def _again(file: ModelFile, source: str) -> str:
    if source != file.url:
        return f"it has to be the file of {file.url}"
    return f"try again, or bring it from another machine: cfgen models get {file.name} --from FILE"


def _words(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server says {error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT_S:g} s"
    said = (reason.strerror if isinstance(reason, OSError) else None) or str(reason)
    return " ".join(said.split())[:200] or type(reason).__name__


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{folder}: cannot write ({error.strerror or error}); free space, fix permissions, or name another folder "
        "in $CFGEN_MODELS"
    )
