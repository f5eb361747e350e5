"""Zip archives: written whole or not at all, equal ones of equal files; read as from a stranger, within bounds.

Number, names and sizes of the files are bounded before they are unpacked: what an archive's list says of sizes binds
nobody.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.files import must_be_new, stand_in

#: bytes of a bundle, and of all its files unpacked; also of one file of a recipe
MOST_PACKED, MOST_UNPACKED = 2**27, 2**29
#: the end record of an archive: signature, two disks, entries twice, size and place of the list, length of the comment
_END = struct.Struct("<4s4H2LH")
_ZIP64_LOCATOR = b"PK\x06\x07"
_LIST_BYTES = 64 * 1024
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
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror or error})") from error
    except zipfile.BadZipFile as error:
        content = stand_in(path) or f"no whole archive ({error})"
        raise InputError(f"{path}: expected {what}, found {content}; fetch it again") from error


def read_entry(archive: zipfile.ZipFile, name: str, path: Path, max_bytes: int = 0) -> bytes:
    """
    Args:
        most: bytes; by default :data:`MOST_UNPACKED`.

    Raises:
        InputError: it is missing, damaged or too large.
    """
    limit = max_bytes or MOST_UNPACKED
    try:
        with archive.open(name) as file:
            content = file.read(limit + 1)
    except KeyError:
        raise InputError(f"{path}: expected an entry '{name}', found none; fetch it again") from None
    except _BROKEN as error:
        raise InputError(f"{path}: entry '{name[:80]}' is damaged ({error}); fetch it again") from error
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
    if not path.is_file():
        raise InputError(f"{path}: expected {what}, found no file")
    if (size := path.stat().st_size) > MOST_PACKED:
        raise InputError(f"{path}: expected at most {MOST_PACKED >> 20} MiB, found {size >> 20} MiB")
    _check_list(path, what, len(allowed))
    with open_archive(path, what) as archive:
        names = [entry.filename for entry in archive.infolist()]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"{path}: holds two files named {twice[:80]!r}; refused")
        if strange := next((name for name in names if name not in allowed), None):
            raise InputError(f"{path}: holds a file {strange[:80]!r}, which is not of {what}; refused")
        if missing := next((n for n, needed in allowed.items() if needed and n not in names), None):
            raise InputError(f"{path}: expected a file {missing} in it, found none; fetch it again")
        files, space = dict[str, bytes](), MOST_UNPACKED
        for name in names:
            files[name] = read_entry(archive, name, path, space)
            space = max(1, space - len(files[name]))
    return files


def _check_list(path: Path, what: str, max_files: int) -> None:
    """Before the list of files is read: it is short, and of the plain kind.

    Raises:
        InputError: it is not.
    """
    tail = path.read_bytes()[-_END.size - 20 :]
    end = _END.unpack_from(tail, len(tail) - _END.size) if len(tail) >= _END.size else (b"",) * 8
    if end[0] != b"PK\x05\x06" or tail[:4] == _ZIP64_LOCATOR or end[4] > max_files or end[5] > _LIST_BYTES:
        content = stand_in(path) or "something else, cut or changed"
        raise InputError(
            f"{path}: expected {what}, an archive of at most {max_files} files, found {content}; fetch it again"
        )
