"""Entries of a ZIP archive whose directory is read but once: zipfile reads it anew each time it opens one."""

import os
import struct
import zipfile
import zlib
from pathlib import Path

#: Bytes of an entry's own header, which ends with the lengths of its name and of what comes after that.
_HEADER = 30


class Archive:
    """A ZIP archive that is open only while an entry is read.

    Raises:
        OSError, zipfile.BadZipFile: it cannot be read, or is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with zipfile.ZipFile(path) as archive:
            self._entries = {info.filename: info for info in archive.infolist()}

    def read(self, name: str) -> bytes:
        """
        Raises:
            KeyError: there is no such entry.
            OSError, zipfile.BadZipFile: it cannot be read, or is damaged.
        """
        info = self._entries[name]
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            head = file.read(_HEADER)
            if len(head) < _HEADER:
                raise zipfile.BadZipFile(f"an archive cut short before {name}")
            file.seek(sum(struct.unpack("<HH", head[-4:])), os.SEEK_CUR)
            data = file.read(info.compress_size)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            try:
                data = zlib.decompress(data, -zlib.MAX_WBITS)
            except zlib.error as cause:
                raise zipfile.BadZipFile(f"{name}: {cause}") from cause
        if zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile(f"a wrong checksum of {name}")
        return data
