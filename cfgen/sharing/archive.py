"""Zip archives: written whole or not at all, equal ones of equal files; read as from a stranger, within bounds.

What an archive's list says of sizes binds nobody: what is unpacked is counted.
"""

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.files import must_be_new, stand_in

#: bytes of a bundle, and of all its files unpacked; also of one file of a recipe
MOST_PACKED, MOST_UNPACKED = 2**27, 2**29
#: what reading a damaged or strange archive raises
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, EOFError)


def undated(name: str) -> zipfile.ZipInfo:
    """An entry without a date, so that equal files give equal archives."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


@contextmanager
def new_archive(out: Path) -> Iterator[zipfile.ZipFile]:
    """To write to; it becomes ``out`` at the end of the block, or nothing.

    Raises:
        InputError: ``out`` is there, or cannot be written.
    """
    must_be_new(out)
    part = out.with_name(f".{out.name}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            yield archive
        part.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot write ({error}); nothing was kept") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def open_archive(path: Path, what: str) -> Iterator[zipfile.ZipFile]:
    """To read from.

    Args:
        what: it should be, in words.

    Raises:
        InputError: it cannot be read, or is no whole archive.
    """
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror or error})") from error
    except _BROKEN as error:
        content = stand_in(path) or f"no whole archive ({error})"
        raise InputError(f"{path}: expected {what}, found {content}; fetch it again") from error
    with archive:
        yield archive


def read_entry(archive: zipfile.ZipFile, name: str, path: Path, max_bytes: int | None = None) -> bytes:
    """
    Args:
        max_bytes: by default :data:`MOST_UNPACKED`.

    Raises:
        InputError: it is missing, damaged or too large.
    """
    limit = MOST_UNPACKED if max_bytes is None else max_bytes
    try:
        with archive.open(name) as file:
            content = file.read(limit + 1)
    except (KeyError, *_BROKEN) as error:
        raise InputError(
            f"{path}: entry '{name[:80]}' is missing or damaged ({error}); fetch it again"
        ) from error
    if len(content) > limit:
        raise InputError(f"{path}: unpacks to more than {MOST_UNPACKED >> 20} MiB; refused")
    return content


def read_files(path: Path, what: str, allowed: Mapping[str, bool]) -> dict[str, bytes]:
    """All files of a small archive by name.

    Args:
        what: it should be, in words. allowed: the names that it may have -> whether it has to.

    Raises:
        InputError: it is no such archive, or larger than one can be.
    """
    if path.is_file() and (size := path.stat().st_size) > MOST_PACKED:
        raise InputError(f"{path}: expected at most {MOST_PACKED >> 20} MiB, found {size >> 20} MiB")
    with open_archive(path, what) as archive:
        names = archive.namelist()
        if len(names) > len(set(names)) or not set(names) <= set(allowed) <= {
            *names,
            *(name for name, needed in allowed.items() if not needed),
        }:
            raise InputError(
                f"{path}: expected {what}, with the files {', '.join(allowed)}, found {str(names)[:200]}; refused"
            )
        files, space = dict[str, bytes](), MOST_UNPACKED
        for name in names:
            files[name] = read_entry(archive, name, path, space)
            space -= len(files[name])
    return files
