"""Files that appear whole or not at all, and images without metadata."""

import contextlib
import io
import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import cv2
import numpy as np
from PIL import Image, UnidentifiedImageError
from pydantic import ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import ends_the_run
from cfgen.core.hashing import hash_json
from cfgen.core.object_store import bucket_of
from cfgen.core.record import Stored

R = TypeVar("R", bound=Stored)
_HASH_KEY = "sha256"


def write_bytes(path: Path, data: bytes | Iterable[bytes], work: Path | None = None) -> None:
    """Write, at once or part by part, to a temporary name (in ``work``, on the same file system) and rename.

    What belongs to an object store is sent there first.

    Raises:
        StoreError: the disk is full or the place cannot be written; nothing half-written stays behind.
    """
    if bucket := bucket_of(path):
        bucket.send(path, data := data if isinstance(data, bytes) else b"".join(data))
    folder = work or path.parent
    temporary = folder / f".{uuid.uuid4().hex}.tmp"
    try:
        try:
            _put(temporary, data)
            temporary.replace(path)
        except FileNotFoundError:  # the folders are there nearly always
            folder.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            _put(temporary, data)
            temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot write ({error.strerror or error}); free space or fix permissions and run the same "
            "command again: what is already there is kept"
        ) from error


def _put(path: Path, data: bytes | Iterable[bytes]) -> None:
    if isinstance(data, bytes):
        path.write_bytes(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)  # parts may be there only once
    with path.open("wb") as file:
        file.writelines(data)


def must_be_new(out: Path) -> None:
    """
    Raises:
        InputError: something is there.
    """
    if out.exists():
        raise InputError(f"{out}: is there already; delete it or choose another --out")


def remove(place: Path) -> None:
    """A file or a folder with all in it, in its object store too; what is not there is no fault."""
    if bucket := bucket_of(place):
        bucket.remove(place)
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def move(source: Path, target: Path) -> None:
    """A folder to another place in the same benchmark; what was there goes."""
    if bucket := bucket_of(source):
        bucket.move(source, target)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def write_record(path: Path, record: Stored, work: Path | None = None) -> None:
    """JSON that people can read, with a hash of its own content under ``sha256``."""
    content = record.model_dump(mode="json")
    content[_HASH_KEY] = hash_json(content)
    write_bytes(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode(), work)


def read_record(path: Path, kind: type[R], check: bool = False) -> R:
    """Load a record; with ``check``, also re-derive its hash.

    Raises:
        StoreError: missing, not JSON, another schema version, a field that does not fit, or a changed hash.
    """
    content = read_json(path)
    stored = content.pop(_HASH_KEY, None)
    check_version(path, content, kind)
    if check and stored != hash_json(content):
        raise StoreError(
            f"{path}: content does not match its own sha256: it was changed after cfgen wrote it; restore it "
            "from a copy"
        )
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise StoreError(f"{path}: {explain(error)}") from error


def check_version(path: Path, content: Mapping[str, Any], kind: type[Stored]) -> None:
    """
    Raises:
        StoreError: a record of another schema version.
    """
    expected, version = kind.model_fields["schema_version"].default, content.get("schema_version")
    if version != expected:
        raise StoreError(
            f"{path}: field 'schema_version': expected {expected}, found {version!r}: written by another version of "
            "cfgen; make the folder anew with this one, or use the one that wrote it"
        )


def read_each(paths: Iterable[Path], kind: type[R]) -> Iterator[tuple[Path, R | StoreError]]:
    """Each record, or what is wrong with its file: one that is damaged does not keep the others from being read."""
    for path in paths:
        try:
            yield path, read_record(path, kind)
        except StoreError as error:
            yield path, error


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises:
        StoreError: missing, unreadable, or not a JSON object.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{path}: expected a file, found none") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path}: expected JSON, found {stand_in(path) or f'something else ({error})'}; restore or delete it"
        ) from error
    if not isinstance(content, dict):
        raise StoreError(f"{path}: expected a JSON object, found {type(content).__name__}")
    return content


def explain(error: ValidationError) -> str:
    """The first fault of a pydantic error as one line: field, problem, what was found."""
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "(whole record)"
    found = repr(first.get("input"))
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"field '{field}': {first['msg']}, found {found[:80]}{more}"


def read_image(path: Path, mode: str = "RGB") -> np.ndarray:
    """(H, W, 3) uint8 RGB; with ``mode`` "RGBA" (H, W, 4), with "L" (H, W).

    Raises:
        InputError: missing, or not a whole image.
    """
    with reading(path, "a readable file", "check the path and restore the file"):
        data = file_bytes(path)
    return decode_image(data, path, mode)


def file_bytes(path: Path) -> bytes:
    """
    Raises:
        OSError: missing or unreadable. InputError: a pipe or a device, whose reading might never end.
    """
    check_no_pipe(path)
    return path.read_bytes()


def check_no_pipe(path: Path) -> None:
    """
    Raises:
        InputError: ``path`` is a pipe, a socket or a device.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: expected a file, found a pipe, a socket or a device; put the file there")


def decode_image(data: bytes, path: Path, mode: str = "RGB") -> np.ndarray:
    """(H, W, 3) uint8 RGB, or as ``mode`` says, of the encoded image ``data``; ``path`` is where it comes from.

    Raises:
        InputError: not a whole image, or a pointer of Git LFS or git-annex in its place.
    """
    with reading(path, "an image", "restore the file"):
        try:
            with Image.open(io.BytesIO(data)) as file:
                return np.asarray(file if file.mode == mode else file.convert(mode))
        except UnidentifiedImageError:
            raise ValueError(f"{len(data)} bytes of something else") from None


@contextlib.contextmanager
def reading(path: Path, expected: str, advice: str) -> Iterator[None]:
    """For the parsing of one file of others: parsers raise anything on damaged bytes, and here it is one clear line.

    Raises:
        InputError: whatever went wrong inside; names ``path``, what was ``expected``, found, and the ``advice``.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if ends_the_run(error):
            raise
        raise InputError(
            f"{path}: expected {expected}, found {stand_in(path) or _said(error)}; {advice}"
        ) from error


def stand_in(path: Path) -> str:
    """What lies in the place of the content of ``path``, and the command that brings it; else empty."""
    try:
        if path.is_symlink() and not path.exists():
            target = path.readlink()
            return f"a link to {target}, which is not here" + (
                "; run: git annex get" if "annex" in target.parts else ""
            )
        check_no_pipe(path)
        with path.open("rb") as file:
            head = file.read(64)
    except (OSError, InputError):
        return ""
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer; run: git lfs pull"
    return "a git-annex pointer; run: git annex get" if head.startswith(b"/annex/objects/") else ""


def _said(error: Exception) -> str:
    """An exception of somebody else's parser in one short line."""
    if isinstance(error, ValidationError):
        return explain(error)
    said = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, KeyError):
        said = f"no {said}"
    return " ".join(said.split())[:200] or type(error).__name__


def png_bytes(pixels: np.ndarray) -> bytes:
    """Lossless PNG without metadata from (H, W), (H, W, 3) RGB or (H, W, 4) RGBA uint8, quickly made."""
    return _png(pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])


def stored_png(pixels: np.ndarray, sparse: bool = False) -> bytes:
    """The same, smaller, for what is kept; ``sparse``: most of it is zero. ``benchmarks/png.py`` compares the ways."""
    if sparse:
        return _png(pixels, [cv2.IMWRITE_PNG_COMPRESSION, 6])
    # OpenCV before 4.12 chooses the filter itself
    paeth = getattr(cv2, "IMWRITE_PNG_FILTER_PAETH", 0)
    return _png(pixels, [cv2.IMWRITE_PNG_COMPRESSION, 3, *([cv2.IMWRITE_PNG_FILTER, paeth] if paeth else [])])


def _png(pixels: np.ndarray, settings: list[int]) -> bytes:
    if pixels.ndim == 3:
        code = cv2.COLOR_RGB2BGR if pixels.shape[2] == 3 else cv2.COLOR_RGBA2BGRA
        pixels = cv2.cvtColor(pixels, code)
    done, data = cv2.imencode(".png", pixels, settings)
    if not done:
        raise InputError(f"cannot encode an image of shape {pixels.shape} as PNG")
    return data.tobytes()
