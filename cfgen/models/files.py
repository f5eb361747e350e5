"""Every model file that cfgen can use: where it is from, under which licence, its size and hash, and where it is kept.

cfgen ships none of these. ``cfgen models get NAME`` brings one into one folder; who uses it looks for it there.
"""

import contextlib
import fcntl
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cfgen.core.errors import InputError, StoreError
from cfgen.core.network import current, host_of
from cfgen.core.paths import cache_dir
from cfgen.core.progress import Progress

#: names another folder for the files
VARIABLE = "CFGEN_MODELS"
_RAW = "https://raw.githubusercontent.com"
_SAM = "https://dl.fbaipublicfiles.com/segment_anything"
_SAM_NOTE = "Segment Anything, trained by Meta on SA-1B; large"


@dataclass(frozen=True)
class ModelFile:
    """
    Attributes:
        file: its name in the folder. use: what takes it, as a user types it.
        size: bytes. sha256: 64 hex digits; a file of another size or hash is refused.
        other: sha256 -> bytes of other exports that serve as well, and that are found nowhere to download.
        licence: its short name. holder: of the rights. origin: a page about it. about: what it does and was trained on.
    """

    name: str
    file: str
    use: str
    url: str
    size: int
    sha256: str
    licence: str
    holder: str
    origin: str
    about: str
    other: Mapping[str, int] = field(default_factory=dict)

    @property
    def terms(self) -> str:
        """The words of its licence."""
        return licence_text(self.licence).format(holder=self.holder)

    @property
    def place(self) -> Path:
        """Where it is kept, whether it is there or not."""
        return models_folder() / self.file

    @property
    def advice(self) -> str:
        return f"get it with: cfgen models get {self.name} (--from FILE where you have it already)"

    @property
    def here(self) -> bool:
        """Whether a file of its size is there; its hash is looked at by who reads it."""
        return self.place.is_file() and self.place.stat().st_size in self.sizes

    @property
    def sizes(self) -> set[int]:
        """Bytes of every file that serves."""
        return {self.size, *self.other.values()}

    def wrong_with(self, path: Path) -> str:
        """What keeps ``path`` from being this file: its size, else its hash; "" where nothing does.

        Raises:
            InputError: it cannot be read.
        """
        try:
            size = path.stat().st_size
            digest = sha256_of(path) if size in self.sizes else ""
        except OSError as error:
            raise InputError(f"{path}: cannot read ({error.strerror}); {self.advice}") from error
        return self.wrong(size, digest)

    def wrong(self, size: int, sha256: str) -> str:
        """The same of a size, and of a hash where the size is right."""
        if self.other.get(sha256) == size:
            return ""
        if size not in self.sizes:
            expected = " or ".join(
                f"{one}" for one in (self.size, *sorted({*self.other.values()} - {self.size}))
            )
            return f"expected {expected} bytes, found {size if size < max(self.sizes) else 'more'}"
        of_size = {self.sha256: self.size, **self.other}
        if size == self.size and sha256 == self.sha256:
            return ""
        expected = " or ".join(f"{one[:12]}..." for one, its in of_size.items() if its == size)
        return f"expected sha256 {expected}, found {sha256[:12]}..."


@dataclass(frozen=True)
class HubModel:
    """Weights that transformers or diffusers fetch by a hub's name, at first use, into a cache of their own."""

    names: str
    use: str
    licence: str


FILES = {
    one.name: one
    for one in (
        ModelFile(
            "twinlitenet",
            "twinlitenet.onnx",
            "--perception twinlitenet",
            f"{_RAW}/chequanghuy/TwinLiteNet/8b1aa6cf30187cf4bb80e3c5b743511cae105532/twinlitenet.onnx",
            1_800_338,
            "9548df62a3c64c321eddfff531fe96400f6c8ce072f8334c46086c12d8d4e512",
            "MIT",
            "2023 Chế Quang Huy",
            "https://github.com/chequanghuy/TwinLiteNet",
            "sees drivable road and lane lines; trained on BDD100K",
            # exported at the network's own 640 x 360 from upstream's pretrained/best.pth
            {"f390fb6c7d71d35ca483c41a524b1cc622ae3fd2b055569fc20b8b904deed7b7": 1_799_919},
        ),
        *(
            ModelFile(
                f"sam_{kind}",
                f"sam_{kind}_{sha256[:6]}.pth",
                f"--masks segment-anything --masks-options model_type={kind}",
                f"{_SAM}/sam_{kind}_{sha256[:6]}.pth",
                size,
                sha256,
                "Apache-2.0",
                "Meta Platforms, Inc. and affiliates",
                "https://github.com/facebookresearch/segment-anything",
                _SAM_NOTE,
            )
            for kind, size, sha256 in (
                # as published by several who downloaded them; the file names carry the first digits
                (
                    "vit_h",
                    2_564_550_879,
                    "a7bf3b02f3ebf1267aba913ff637d9a2d5c33d3173bb679e46d9f338c26f262e",
                ),
                (
                    "vit_l",
                    1_249_524_607,
                    "3adcc4315b642a4d2101128f611684e8734c41232a17c648ed1693702a49a622",
                ),
                (
                    "vit_b",
                    375_042_383,
                    "ec2df62732614e57411cdcf32a23ffdf28910380d03139ee0f4fcbe91eb8c912",
                ),
            )
        ),
    )
}

HUB = (
    HubModel("facebook/sam2.1-hiera-large, -base-plus, -small, -tiny", "--masks sam2", "Apache-2.0"),
    HubModel("facebook/sam3", "--masks sam3, --detector sam3", "its own: read it first"),
    HubModel("IDEA-Research/grounding-dino-base, -tiny", "--detector grounding-dino", "Apache-2.0"),
)


def licence_text(name: str) -> str:
    """The words of MIT, BSD-2-Clause or BSD-3-Clause, or the notice of Apache-2.0, with ``{holder}`` to fill in."""
    return Path(__file__).with_name("licences").joinpath(f"{name}.txt").read_text("utf-8").strip()


def models_folder() -> Path:
    """Where model files are kept: ``$CFGEN_MODELS``, else ``cfgen/models`` in the user's cache folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    return cache_dir() / "models"


def model_file(name: str) -> ModelFile:
    """
    Raises:
        InputError: no such file; names those that there are, or how a model on a hub is got.
    """
    if name in FILES:
        return FILES[name]
    hub = next((m for m in HUB if name in m.names or name in m.use.split()), None)
    if hub is not None:
        raise InputError(
            f"model file '{name}': {hub.names.partition(',')[0]} comes from a hub: {hub.use} fetches it at first use; "
            "for a machine without network, bring its folder and name that as option 'model'"
        )
    raise InputError(f"model file '{name}' is not known; expected one of: {', '.join(FILES)}")


def kept(name: str, who: str) -> Path:
    """The file that ``cfgen models get`` has brought.

    Args:
        who: wants it, for messages: "perception 'twinlitenet': option 'path'".

    Raises:
        InputError: it is not there, or not whole.
    """
    file = model_file(name)
    if not file.place.is_file():
        raise InputError(f"{who}: expected {file.file} in {file.place.parent}, found none; {file.advice}")
    if not file.here:
        size = file.place.stat().st_size
        raise InputError(f"{who}: {file.place}: {file.wrong(size, '')}; {file.advice}")
    return file.place


def sha256_of(path: Path) -> str:
    """64 hex digits over the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- download ----------------------------------------------------------------------------------
# Bringing a model file: read from its upstream address or from elsewhere, checked, and only then put in its place.

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
    message = (reason.strerror if isinstance(reason, OSError) else None) or str(reason)
    return " ".join(message.split())[:200] or type(reason).__name__


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{folder}: cannot write ({error.strerror or error}); free space, fix permissions, or name another folder "
        "in $CFGEN_MODELS"
    )
