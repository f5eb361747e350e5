"""Archives of strangers: bounded, whole, and of the files that a bundle has."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from cfgen.core.errors import InputError
from cfgen.sharing import bundle as bundles
from cfgen.sharing import sealed
from cfgen.sharing.bundle import read_bundle


def _archive(path: Path, entries: list[tuple[str, bytes]]) -> Path:
    """Sealed, whatever it holds."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
        archive.comment = b"0" * 71
    data = path.read_bytes()[:-71]
    path.write_bytes(data + b"sha256:" + hashlib.sha256(data).hexdigest().encode())
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_of_strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = [(name, b"{}") for name in bundles.FILES]
    hostile = {
        "two files named": [*whole[1:], whole[-1]],
        "a file '../../etc/x'": [*whole[1:], ("../../etc/x", b"")],
        "at most 6 files": [*whole, *whole],
        "expected a file bundle.json": whole[1:],
        "unpacks to more than": [("bundle.json", b"0" * 3_000_000), *whole[1:]],
    }
    monkeypatch.setattr(sealed, "MOST_UNPACKED", 2_000_000)
    for words, entries in hostile.items():
        with pytest.raises(InputError, match=words):
            read_bundle(_archive(tmp_path / "hostile", entries))
    monkeypatch.setattr(sealed, "MOST_PACKED", 100)
    with pytest.raises(InputError, match="at most 0 MiB"):
        read_bundle(tmp_path / "hostile")
    for content in (b"", b"not one", b"PK" + b"0" * 200):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(InputError, match=r"expected a bundle|at most|changed or cut"):
            read_bundle(tmp_path / "other")
    with pytest.raises(InputError, match="found no file"):
        read_bundle(tmp_path)
