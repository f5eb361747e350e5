"""An archive of a few named files that ends in a hash of all its bytes, read as one from a stranger.

Not one byte of it can change unnoticed, and what is read is bounded before it is unpacked: number, names and sizes.
Whoever writes a whole new one can make the hash fit; what its content claims is checked by who reads it.
"""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.files import must_be_new

#: bytes of the archive, and of all its files unpacked
MOST_PACKED, MOST_UNPACKED = 2**27, 2**29
_MARK = b"sha256:"
_TAIL = len(_MARK) + 64
#: the end record of an archive: signature, two disks, entries twice, size and place of the list, length of the comment
_END = struct.Struct("<4s4H2LH")
_ZIP64 = b"PK\x06\x07"
_LIST_BYTES = 64 * 1024
#: what reading a damaged or strange archive raises
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, EOFError)


def write_sealed(out: Path, files: Mapping[str, bytes]) -> None:
    """Whole or not at all; equal files give equal archives.

    Raises:
        InputError: ``out`` is there, or cannot be written.
    """
    must_be_new(out)
    part = out.with_name(f".{out.name}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name)  # of no date
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
            archive.comment = b"0" * _TAIL
        with part.open("r+b") as file:
            data = file.read()[:-_TAIL]
            file.seek(len(data))
            file.write(_MARK + hashlib.sha256(data).hexdigest().encode())
        part.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot write ({error}); nothing was kept") from error
    finally:
        part.unlink(missing_ok=True)


def read_sealed(path: Path, allowed: Mapping[str, bool]) -> dict[str, bytes]:
    """The files of an archive by name.

    Args:
        allowed: the names that it may have -> whether it has to.

    Raises:
        InputError: it is no such archive, was changed, or is larger than one can be.
    """
    try:
        return _read(path, allowed)
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror or error})") from error


def seal_of(data: bytes) -> str:
    """The hash that the archive ends in; "" where it is not that of the bytes before it."""
    told = "sha256:" + hashlib.sha256(data[:-_TAIL]).hexdigest()
    return told if data[-_TAIL:] == told.encode() else ""


def _read(path: Path, allowed: Mapping[str, bool]) -> dict[str, bytes]:
    if not path.is_file():
        raise InputError(f"{path}: expected a bundle of 'cfgen export bundle', found no file")
    if (size := path.stat().st_size) > MOST_PACKED:
        raise InputError(
            f"{path}: expected a bundle of at most {MOST_PACKED >> 20} MiB, found {size >> 20} MiB"
        )
    data = path.read_bytes()
    if data[:2] != b"PK":
        raise InputError(f"{path}: expected a bundle of 'cfgen export bundle', found something else")
    if not seal_of(data):
        raise InputError(
            f"{path}: does not end in the hash of its own bytes: it was changed or cut after it was written; fetch it "
            "again"
        )
    _check_list(path, data, len(allowed))
    try:
        with zipfile.ZipFile(path) as archive:
            return _unpacked(path, archive, allowed)
    except _BROKEN as error:
        raise InputError(f"{path}: is no whole archive ({error}); fetch it again") from error


def _check_list(path: Path, data: bytes, most: int) -> None:
    """Before the list of files is read: it is short, and of the plain kind."""
    at = len(data) - _TAIL - _END.size
    end = _END.unpack_from(data, max(at, 0)) if len(data) >= _END.size else (b"",) * 8
    plain = end[0] == b"PK\x05\x06" and data[max(at - 20, 0) : max(at - 20, 0) + 4] != _ZIP64
    if not plain or end[4] > most or end[5] > _LIST_BYTES:
        raise InputError(f"{path}: expected an archive of at most {most} files, found another kind; refused")


def _unpacked(path: Path, archive: zipfile.ZipFile, allowed: Mapping[str, bool]) -> dict[str, bytes]:
    names = [entry.filename for entry in archive.infolist()]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{path}: holds two files named {twice[:80]!r}; refused")
    if strange := next((name for name in names if name not in allowed), None):
        raise InputError(f"{path}: holds a file {strange[:80]!r} that no bundle has; refused")
    if missing := next((name for name, needed in allowed.items() if needed and name not in names), None):
        raise InputError(f"{path}: expected a file {missing} in it, found none; fetch it again")
    found, left = {}, MOST_UNPACKED
    for name in names:
        with archive.open(name) as file:
            content = file.read(left + 1)  # what the list says of sizes binds nobody
        left -= len(content)
        if left < 0:
            raise InputError(f"{path}: unpacks to more than {MOST_UNPACKED >> 20} MiB; refused")
        found[name] = content
    return found
