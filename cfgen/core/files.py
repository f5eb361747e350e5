"""Files that appear whole or not at all, and images without metadata."""

import contextlib
import inspect
import io
import json
import shutil
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import cv2
import numpy as np
import yaml
from PIL import Image, UnidentifiedImageError
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cfgen.core.errors import InputError, StoreError, did_you_mean
from cfgen.core.faults import ends_the_run
from cfgen.core.hashing import hash_bytes, hash_image, hash_json
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
    value = repr(first.get("input"))
    others_note = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"field '{field}': {first['msg']}, found {value[:80]}{others_note}"


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
            f"{path}: expected {expected}, found {stand_in(path) or _parser_message(error)}; {advice}"
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


def _parser_message(error: Exception) -> str:
    """An exception of somebody else's parser in one short line."""
    if isinstance(error, ValidationError):
        return explain(error)
    message = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, KeyError):
        message = f"no {message}"
    return " ".join(message.split())[:200] or type(error).__name__


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
    encoded, data = cv2.imencode(".png", pixels, settings)
    if not encoded:
        raise InputError(f"cannot encode an image of shape {pixels.shape} as PNG")
    return data.tobytes()


# --- yaml file ---------------------------------------------------------------------------------
# YAML that people write: read strictly, and what does not fit is told in words, fault by fault.

#: faults of one file that are told; the rest is counted
MOST_FAULTS = 10


def read_yaml(path: Path) -> Any:
    """The content of a file.

    Raises:
        InputError: it cannot be read, is not YAML, or gives a key twice, of which YAML would silently drop one.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    try:
        return yaml.load(text, _OneKeyOnce)
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # ValueError: a date that is none
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        words = " ".join(str(getattr(error, "problem", None) or error).split())
        raise InputError(f"{path}: not readable as YAML: {words}{where}") from error


class _OneKeyOnce(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: list[Any] = []  # a key need not be hashable yet
        for place, _ in node.value:
            key = self.construct_object(place, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key}' is given twice", place.start_mark
                )
            keys.append(key)
        return super().construct_mapping(node, deep)


def told(faults: Sequence[str]) -> str:
    """Faults as one line: the first :data:`MOST_FAULTS`, and how many there are besides."""
    others_note = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return "; ".join([*faults[:MOST_FAULTS], *others_note])


def faults_of(error: ValidationError, model: type[BaseModel], hidden: Collection[str] = ()) -> list[str]:
    """One fault for each field: what was expected, what was found, and the nearest right word.

    Args:
        model: what the content was to be. hidden: its fields that nobody may give.
    """
    faults: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        place, words = _told(detail, model, hidden)
        faults[place] = f"{faults[place]}, or {words}" if place in faults else words
    return [f"{place}: {words}" for place, words in faults.items()]


def _told(error: ErrorDetails, model: type[BaseModel], hidden: Collection[str]) -> tuple[str, str]:
    place, within = _place(error["loc"], model)
    field = ".".join(place) or "(the whole)"
    if error["type"] == "missing":
        return f"{field}", "expected this field, found none"
    if error["type"] == "extra_forbidden":
        holder = _model_in(within) or model
        fields = [info.alias or name for name, info in holder.model_fields.items() if name not in hidden]
        last = str(error["loc"][-1])
        field = ".".join([*place, last])
        return field, f"unknown field{did_you_mean(last, fields)}; expected one of {', '.join(fields)}"
    message = error["msg"].removeprefix("Value error, ")
    hint = did_you_mean(str(error["input"]), _words_in(within)) if error["type"] == "literal_error" else ""
    return field, f"{message[:1].lower()}{message[1:]}, found {repr(error['input'])[:80]}{hint}"


def _place(loc: tuple[str | int, ...], model: Any) -> tuple[list[str], Any]:
    """The part of a pydantic location that stands in the file, and the annotation that it ends at."""
    place: list[str] = []
    level = model
    for part in loc[:-2] if loc[-1] == "[key]" else loc:
        if get_origin(level) is dict:
            level = get_args(level)[1]
        elif isinstance(part, str):
            holder = _model_in(level)
            fields = {
                info.alias or name: info for name, info in (holder.model_fields if holder else {}).items()
            }
            if part not in fields:
                break  # a field that is not known, or a member of a union
            level = fields[part].annotation
        place.append(str(part))
    return place, level


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _model_in(arg))), None)


def _words_in(annotation: Any) -> list[str]:
    """What a field of literals may hold."""
    words = [arg for arg in get_args(annotation) if isinstance(arg, str)]
    return words or [word for arg in get_args(annotation) for word in _words_in(arg)]


# --- stored frame ------------------------------------------------------------------------------
# A stored frame: whole in its file, or the difference from another picture that its file holds.


@dataclass(frozen=True)
class FrameFile:
    """Read when its pixels are wanted. ``hash`` names its content, not its place.

    ``source``: the picture that ``path`` tells the difference from, with its upper left at ``x``, ``y``; None: ``path``
    is the whole frame.
    """

    path: Path
    hash: str
    source: Path | None = None
    x: int = 0
    y: int = 0

    @cached_property
    def pixels(self) -> np.ndarray:
        """What :meth:`read` gives, kept."""
        return self.read()

    def read(self) -> np.ndarray:
        """(H, W, 3) uint8 RGB.

        Raises:
            InputError: a file of it is missing, no whole image, does not fit the other, or was changed since.
        """
        if self.source is not None:
            pixels = self.over(read_image(self.source))
            self._check(hash_image(pixels))
            return pixels
        with reading(self.path, "a readable file", "check the path and restore the file"):
            data = file_bytes(self.path)
        pixels = decode_image(data, self.path, "RGB")
        self._check(hash_bytes(data))
        return pixels

    def _check(self, digest: str) -> None:
        if self.hash and digest != self.hash:
            raise InputError(
                f"{self.path}: was changed since its case was made: expected {self.hash[:19]}..., found "
                f"{digest[:19]}...; restore it, or see: cfgen bench verify"
            )

    def over(self, source: np.ndarray) -> np.ndarray:
        """The frame, from the pixels (H, W, 3) of its source."""
        return added(source, read_image(self.path), self.x, self.y, self.path)


#: a frame (H, W, 3) uint8 RGB, or the file that holds it
FrameLike = np.ndarray | FrameFile


def difference(source: np.ndarray, changed: np.ndarray) -> tuple[int, int, np.ndarray]:
    """Of two pictures (H, W, 3) uint8, where they differ (x, y) and by how much modulo 256 (h, w, 3)."""
    delta = changed - source  # wraps round
    height, width, planes = delta.shape
    first, y, wide, h = cv2.boundingRect(delta.reshape(height, width * planes))
    x, w = first // planes, -(-(first + wide) // planes) - first // planes
    return x, y, delta[y : y + max(h, 1), x : x + max(w, 1)]  # equal ones: one pixel of zeros


def added(source: np.ndarray, delta: np.ndarray, x: int, y: int, path: Path) -> np.ndarray:
    """The picture that :func:`difference` told of; ``path`` is where that was read.

    Raises:
        InputError: it does not lie within ``source``.
    """
    h, w = delta.shape[:2]
    if y + h > source.shape[0] or x + w > source.shape[1]:
        raise InputError(
            f"{path}: expected a difference within {source.shape[1]}x{source.shape[0]} pixels, found {w}x{h} at "
            f"{x}, {y}; restore the file, or build the case again"
        )
    image = source.copy()
    image[y : y + h, x : x + w] += delta
    return image
