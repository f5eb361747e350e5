"""A benchmark in an object store: its files by fsspec, a working copy of them here, and claims that outlive nobody.

Everything is read from the working copy. What is written goes to the store first and stays here then, so that a
record in the store means that the work is done, as it does in a folder. A claim is an object that only one can make.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from cfgen.core.errors import InputError, MissingExtraError, StoreError
from cfgen.core.network import current, host_of
from cfgen.core.paths import cache_dir

#: fsspec's names of stores that can make an object only where there is none
SCHEMES = ("s3", "gs", "gcs", "az", "abfs", "abfss")
#: a path object swallows one of the two slashes
_URL = re.compile(rf"^({'|'.join(SCHEMES)}):/{{1,2}}([^/].*)$")
#: s between signs of life of a claim, and how long one without them is left alone
BEAT_S, STALE_S = 4.0, 20.0
#: records, which plans and lists need, and what was paid or seen; pictures are fetched where whole cases are read
_RECORDS = (".json", ".jsonl")
#: what begins like an address; letters that a store's names of objects may have, of which 1,024 are allowed in all
_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/")
_LONGEST = 800
#: variable: s for which a store that was reached before and is away is tried again; by default ten minutes. A line
#: tells of it every so many s, and it is tried after pauses that grow up to the last, s
PATIENCE = "CFGEN_STORE_PATIENCE_S"
_PATIENCE_S, _LINE_S, _PAUSE_S = 600.0, 30.0, 10.0
#: words in the errors of clients whose store, or the way to it, is away for the moment
_AWAY = re.compile(
    r"connect|timed? ?out|disconnect|unreachable|name resolution|slow ?down|unavailable|internal ?error|try again|"
    r"\b(429|500|502|503|504)\b",
    re.IGNORECASE,
)
_NEEDED = ("perception/", "cache/")
_CLAIMS = ".work/claims"


#: working copies of this process -> their addresses
COPIES: dict[str, str] = {}
T = TypeVar("T")


def is_url(place: str | os.PathLike[str]) -> bool:
    """Whether it is the address of an object store.

    Raises:
        InputError: an address of another kind, without a bucket, or too long.
    """
    text = os.fspath(place)
    scheme = _ADDRESS.match(text)
    matched = _URL.match(text) is not None
    if scheme and scheme[1] not in SCHEMES:
        raise InputError(
            f"{text[:80]}: expected a folder, or an address that begins with {', '.join(f'{s}://' for s in SCHEMES)}"
        )
    if scheme and not matched:
        raise InputError(f"{text[:80]}: expected an address such as {scheme[1]}://bucket/folder")
    if matched and len(text) > _LONGEST:
        raise InputError(f"{text[:60]}...: expected at most {_LONGEST} characters, found {len(text)}")
    return matched


def url_of(place: str | os.PathLike[str]) -> str:
    """The address that ``place`` is, or whose working copy it is; "" for every other path."""
    if is_url(place) and (match := _URL.match(os.fspath(place))):
        return f"{match[1]}://{match[2].rstrip('/')}"
    bucket = bucket_of(Path(place))
    return bucket.url if bucket and bucket.folder == Path(place) else ""


def working_copy(place: str | os.PathLike[str], everything: bool = True) -> Path:
    """The folder here that stands for the benchmark at ``place``, as it is there now.

    Args:
        everything: pictures too, not the records alone.

    Raises:
        InputError: no address of an object store, or no package for it.
        StoreError: it cannot be reached or read.
    """
    url = url_of(place)
    if not url or _leaves(url.split("://", 1)[1]):
        raise InputError(f"{place}: expected an address such as s3://bucket/folder")
    system = _system(url)
    key = hashlib.sha256(f"{url} {system.to_json()} {_endpoint()}".encode()).hexdigest()[:16]
    home = _home() / key
    home.mkdir(parents=True, exist_ok=True)
    (home / "url").write_text(url)
    bucket = Bucket(url, home / url.rsplit("/", 1)[1])
    bucket.folder.mkdir(exist_ok=True)
    bucket.pull(everything)
    COPIES[str(bucket.folder)] = url
    return bucket.folder


def bucket_of(path: Path) -> "Bucket | None":
    """Where a file of a working copy belongs; None for every other file."""
    home = str(_home()) + os.sep
    text = str(path)
    if not text.startswith(home):
        return None
    return _bucket_of(home + text[len(home) :].split(os.sep, 1)[0])


@functools.cache
def _bucket_of(home: str) -> "Bucket":
    url = (Path(home) / "url").read_text()
    return Bucket(url, Path(home) / url.rsplit("/", 1)[1])


def _home() -> Path:
    return cache_dir() / "benchmarks"


def _endpoint() -> str:
    return " ".join(f"{k}={v}" for k, v in sorted(os.environ.items()) if "ENDPOINT_URL" in k)


def _held() -> tuple[str, bool]:
    """What of this command's own limits stands in the way, for a message, or ""; and whether that is certain."""
    network = current()
    hosts = {host_of(value) for name, value in os.environ.items() if "ENDPOINT_URL" in name} - {""}
    if not network.limits or (hosts and all(map(network.allows, hosts))):
        return "", False
    host = " and ".join(sorted(hosts)) or "the store's host"
    mend = "leave it out" if network.offline else f"name {host} in --allow-hosts, too"
    return f"{network.asked} is in force: {mend}", bool(hosts)


def _system(url: str) -> Any:
    try:
        import fsspec

        return fsspec.core.url_to_fs(url, use_listings_cache=False)[0]
    except ImportError as error:
        if url.startswith("s3://"):
            raise MissingExtraError(url, "s3", error) from None
        raise InputError(
            f"{url}: needs a package that is not here ({error}); install it beside cfgen"
        ) from None


def _leaves(name: str) -> bool:
    """Whether a file of that name could be written outside the folder that it is relative to."""
    return name.startswith("/") or ".." in name.split("/")


def _is_away(error: Exception) -> bool:
    """Whether an error is of the moment; what is forbidden, missing or in the way stays so."""
    if isinstance(error, FileNotFoundError | FileExistsError | PermissionError):
        return False
    return isinstance(error, ConnectionError | TimeoutError) or bool(
        _AWAY.search(f"{type(error).__name__} {error}")
    )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class Bucket:
    """What lies under ``url``, with its working copy in ``folder``."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self._root = url.split("://", 1)[1]
        self._seen: dict[str, tuple[str, float]] = {}
        #: it answered this process at least once
        self._reached = False

    @functools.cached_property
    def _fs(self) -> Any:
        return _system(self.url)

    # --- files ----------------------------------------------------------------------------------------

    def send(self, path: Path, data: bytes) -> None:
        """Put a file of the working copy there, whole.

        Raises:
            StoreError: it cannot be written there.
        """
        if not self._private(path):
            with self._store_errors("write"):
                self._patiently(lambda: self._fs.pipe_file(self._there(path), data))

    def remove(self, path: Path) -> None:
        """Take a file or folder of the working copy away there; what is not there is no fault."""
        if not self._private(path):
            with self._store_errors("remove"), contextlib.suppress(FileNotFoundError):
                self._patiently(lambda: self._fs.rm(self._there(path), recursive=True))

    def move(self, source: Path, target: Path) -> None:
        """Every file of a folder, before the folder is moved here."""
        for path in sorted(p for p in source.rglob("*") if p.is_file()):
            self.send(target / path.relative_to(source), path.read_bytes())
        self.remove(source)

    def pull(self, everything: bool = True) -> None:
        """Make the working copy what is there: its records, and with ``everything`` its pictures too."""
        listed_at = time.time()
        remote = {
            name: info for name, info in self._listing(self._root).items() if not name.startswith(".work/")
        }
        etags = _FetchedFiles(self.folder.parent / "etags.json")
        names = [n for n in remote if everything or n.endswith(_RECORDS) or n.startswith(_NEEDED)]
        self._download([n for n in names if not etags.same(self.folder / n, n, remote[n])])
        etags.keep({n: remote[n] for n in names}, self.folder)
        for path in self.folder.rglob("*"):
            if path.relative_to(self.folder).as_posix() not in remote and not self._private(path):
                with contextlib.suppress(FileNotFoundError):
                    if (
                        path.is_file() and path.stat().st_mtime < listed_at - 1
                    ):  # else sent since by another command
                        path.unlink()

    def fetch(self, *places: Path) -> None:
        """What lies there under these files or folders of the working copy, and is not here yet."""
        for place in places:
            files = self._listing(self._there(place))
            self._download([name for name in files if not (self.folder / name).is_file()])

    def _listing(self, root: str) -> dict[str, dict[str, Any]]:
        with self._store_errors("read"):
            entries = self._entries(root)
        files = {name[len(self._root) + 1 :]: info for name, info in entries.items()}
        files = {
            name: info for name, info in files.items() if name and not name.endswith("/")
        }  # folders' marks
        if outside := next((name for name in files if _leaves(name)), None):
            raise StoreError(f"{self.url}: holds '{outside[:80]}', which lies outside it; remove that object")
        return files

    def _entries(self, root: str, **narrow: str) -> dict[str, dict[str, Any]]:
        """Nothing where there is no such folder."""
        try:
            entries: dict[str, dict[str, Any]] = self._patiently(
                lambda: self._fs.find(root, detail=True, **narrow)
            )
        except FileNotFoundError:
            return {}
        return entries

    def _download(self, names: Iterable[str]) -> None:
        names = sorted(
            names, key=lambda name: (name.endswith(_RECORDS), name)
        )  # a record after what it speaks of
        with self._store_errors("read"):
            for start in range(0, len(names), 200):
                some = names[start : start + 200]
                # taken away since it was listed: left out
                contents = self._patiently(partial(self._contents, [f"{self._root}/{n}" for n in some]))
                for url, data in contents.items() if isinstance(contents, dict) else [(some[0], contents)]:
                    if isinstance(data, bytes):
                        _put(self.folder / url.removeprefix(f"{self._root}/"), data)

    def _contents(self, names: list[str]) -> Any:
        """Of each its bytes, or FileNotFoundError."""
        contents = self._fs.cat(names, on_error="return")
        for data in contents.values() if isinstance(contents, dict) else [contents]:
            if isinstance(data, Exception) and not isinstance(data, FileNotFoundError):
                raise data
        return contents

    def _patiently(self, act: Callable[[], T]) -> T:
        """What ``act`` gives; tried again for a while where the store was reached before and is away now."""
        start, pause, line = time.monotonic(), 0.5, 0.0
        while True:
            try:
                result = act()
            except Exception as error:  # each kind of store raises its own
                waited = time.monotonic() - start
                limit = float(os.environ.get(PATIENCE) or _PATIENCE_S) if self._reached else 0.0
                if waited + pause > limit or not _is_away(error):
                    raise
                if waited >= line:
                    print(
                        f"cfgen: {self.url} is away ({_one_line(error)}); trying again for {limit - waited:.0f} s "
                        f"(${PATIENCE})",
                        file=sys.stderr,
                    )
                    line = waited + _LINE_S
                time.sleep(pause)
                pause = min(2 * pause, _PAUSE_S)
            else:
                self._reached = True
                return result

    def _there(self, path: Path) -> str:
        return f"{self._root}/{path.relative_to(self.folder).as_posix()}"

    def _private(self, path: Path) -> bool:
        """Temporary files and locks are this machine's."""
        return path.relative_to(self.folder).parts[:1] == (".work",)

    @contextlib.contextmanager
    def _store_errors(self, verb: str) -> Iterator[None]:
        claim, certain = _held()
        if certain:  # the store's client would try again and again
            raise StoreError(f"{self.url}: cannot {verb}; {claim}")
        try:
            yield
        except Exception as error:  # each kind of store raises its own
            words = _one_line(error)
            check = f"{claim}; check" if claim else "check"
            raise StoreError(
                f"{self.url}: cannot {verb} ({words}); {check} the address, the keys and their rights and run the same "
                "command again: what is already there is kept"
            ) from error

    # --- claims ---------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def claim(self, name: str) -> Iterator[bool]:
        """Whether the claim ``name`` is this block's. One that shows no sign of life for STALE_S is taken over."""
        mine = self.take(name)
        try:
            yield mine is not None
        finally:
            if mine is not None:
                self.release(mine)

    def take(self, name: str) -> "Claimed | None":
        """A claim to :meth:`release`, or None where somebody else holds it."""
        prefix = f"{self._root}/{_CLAIMS}/{quote(name, safe='')}@"
        generations = self._generations(prefix)
        number = max(generations, default=-1)
        if generations and not self._stale(prefix, number, generations[number]):
            return None
        claimed = Claimed(
            self, f"{prefix}{number + 1:06d}", tuple(f"{prefix}{n:06d}" for n in sorted(generations))
        )
        try:
            self._patiently(lambda: self._fs.pipe_file(claimed.path, claimed.body(), mode="create"))
        except FileExistsError:
            return None
        except OSError as error:
            if "PreconditionFailed" in str(error) or "ConditionalRequestConflict" in str(error):
                return None
            with self._store_errors("claim"):
                raise
        _BEATS.add(claimed)
        return claimed

    def release(self, claimed: "Claimed") -> None:
        _BEATS.drop(claimed)
        with contextlib.suppress(Exception):  # it goes stale
            for path in (*claimed.before, claimed.path):  # the newest last: until then it is held
                with contextlib.suppress(FileNotFoundError):
                    self._fs.rm_file(path)

    def _generations(self, prefix: str) -> dict[int, str]:
        """Number of each take-over of a claim -> what its last sign of life left."""
        folder, name = prefix.rsplit("/", 1)
        with self._store_errors("claim"):
            entries = self._entries(folder, prefix=name)
        ours = {p.rsplit("@", 1)[1]: i for p, i in entries.items() if p.startswith(prefix)}
        return {int(n): _mark(info) for n, info in ours.items() if n.isdigit()}

    def _stale(self, prefix: str, number: int, mark: str) -> bool:
        """By this machine's clock alone: whether the same sign of life has stood there for STALE_S of our looks."""
        now, key = time.monotonic(), f"{prefix}{number}"
        before = self._seen.get(key)
        if before is None or before[0] != mark:
            self._seen[key] = mark, now
            return False
        return now - before[1] > STALE_S


@dataclass(eq=False)
class Claimed:
    """A claim that is held. ``before``: those of the dead that it took over."""

    bucket: Bucket
    path: str
    before: tuple[str, ...]
    _beat: int = 0
    _who: str = field(default_factory=lambda: f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}")

    def body(self) -> bytes:
        self._beat += 1
        return json.dumps({"by": self._who, "beat": self._beat}).encode()

    def beat(self) -> None:
        with contextlib.suppress(Exception):  # the next one may pass
            self.bucket._fs.pipe_file(self.path, self.body())


class _Beats:
    """One thread a process that shows that what it claimed is in hand."""

    def __init__(self) -> None:
        self._claims: set[Claimed] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, claimed: Claimed) -> None:
        with self._lock:
            self._claims.add(claimed)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def drop(self, claimed: Claimed) -> None:
        with self._lock:  # no beat after this one
            self._claims.discard(claimed)

    def _run(self) -> None:
        while True:
            time.sleep(BEAT_S)
            for claimed in list(self._claims):
                with self._lock:
                    if claimed in self._claims:
                        claimed.beat()


_BEATS = _Beats()


class _FetchedFiles:
    """What of the working copy is as it was fetched: file -> mark there, size and time here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._files: dict[str, list[Any]] = json.loads(path.read_text())
        except (OSError, ValueError):
            self._files = {}

    def same(self, path: Path, name: str, info: dict[str, Any]) -> bool:
        try:
            at = path.stat()
        except OSError:
            return False
        if self._files.get(name) == [_mark(info), at.st_size, at.st_mtime_ns]:
            return True
        return info.get("size") == at.st_size and hashlib.md5(path.read_bytes()).hexdigest() == _mark(info)

    def keep(self, files: dict[str, dict[str, Any]], folder: Path) -> None:
        for name, info in files.items():
            with contextlib.suppress(FileNotFoundError):
                at = (folder / name).stat()
                self._files[name] = [_mark(info), at.st_size, at.st_mtime_ns]
        _put(self._path, json.dumps(self._files).encode())


def _mark(info: dict[str, Any]) -> str:
    return str(info.get("ETag") or info.get("etag") or info.get("md5Hash") or info.get("LastModified")).strip(
        '"'
    )


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    part.write_bytes(data)
    part.replace(path)
