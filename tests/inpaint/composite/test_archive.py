import zipfile
from pathlib import Path

import pytest

from cfgen.inpaint.composite.sprites import Archive


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("stored.bin", b"as it is")
        archive.writestr("deflated.bin", b"again and " * 50, zipfile.ZIP_DEFLATED)
    return tmp_path / "a.zip"


def test_entries_are_read_without_reading_the_directory_again(path, monkeypatch):
    archive = Archive(path)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert archive.read("stored.bin") == b"as it is"
    assert archive.read("deflated.bin") == b"again and " * 50
