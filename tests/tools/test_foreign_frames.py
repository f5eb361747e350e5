"""Road pictures come from clones or a server, whole and checked, or with a line that says why not."""

import hashlib
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.errors import SetupError
from cfgen.core.files import png_bytes
from cfgen.scenes.readers.image import ImageReader
from cfgen.scenes.readers.sources import IMAGE_SUFFIXES
from tools.foreign_frames import fetch
from tools.foreign_frames.fetch import Picture, bring, from_mirrors, from_web, read_manifest

PIXELS = png_bytes(np.full((36, 64, 3), 90, np.uint8))
PATH = "day time/[a]road #1.png"


def git(folder: Path, *command: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@t")
    return subprocess.run(
        ["git", *who, *command], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    """A clone of ann/roads with one picture."""
    clone = tmp_path / "mirrors" / "ann+roads" / "repo"
    (clone / PATH).parent.mkdir(parents=True)
    (clone / PATH).write_bytes(PIXELS)
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "roads")
    return tmp_path / "mirrors"


@pytest.fixture
def picture(mirrors: Path) -> Picture:
    commit = git(mirrors / "ann+roads/repo", "rev-parse", "HEAD").strip()
    return Picture("roads_01.png", "roads", "ann/roads", commit, PATH, hashlib.sha256(PIXELS).hexdigest())


@pytest.fixture
def server(tmp_path: Path, picture: Picture) -> Iterator[str]:
    """The same picture under the address that GitHub would give it."""
    place = tmp_path / "web" / picture.repository / picture.commit / PATH
    place.parent.mkdir(parents=True)
    place.write_bytes(PIXELS)
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path / "web"))) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def changed(picture: Picture, **fields: str) -> Picture:
    return Picture(**{**vars(picture), **fields})


def test_the_manifest_names_enough_pictures_and_a_licence_for_each():
    data_sets, pictures = read_manifest()
    assert len(pictures) >= 24
    assert len(data_sets) >= 6
    assert {one.data_set for one in pictures} == set(data_sets)
    for one in pictures:
        assert re.fullmatch("[0-9a-f]{40}", one.commit), one
        assert re.fullmatch("[0-9a-f]{64}", one.sha256), one
        assert one.file.endswith(IMAGE_SUFFIXES), one
    assert (
        len({one.sha256 for one in pictures})
        == len({(p.data_set, p.file) for p in pictures})
        == len(pictures)
    )
    for name, whose in data_sets.items():
        assert whose.licence, name
        assert whose.use, name
        assert whose.split in ("dev", "test"), name
        assert whose.fov_deg is None or 20 < whose.fov_deg < 120, name


@pytest.mark.parametrize("way", ["mirrors", "server"])
def test_pictures_come_whole_and_only_once(way: str, picture: Picture, tmp_path: Path, request):
    place = request.getfixturevalue(way)
    get = from_mirrors(place) if way == "mirrors" else from_web(place)
    asked: list[Picture] = []

    def counted(one: Picture) -> bytes:
        asked.append(one)
        return get(one)

    out = tmp_path / "out"
    assert bring([picture], out, counted, pytest.fail) == 0
    assert (out / "roads/roads_01.png").read_bytes() == PIXELS
    assert bring([picture], out, counted, pytest.fail) == 0
    assert len(asked) == 1
    (out / "roads/roads_01.png").write_bytes(PIXELS[:-9])  # cut short by whatever
    assert bring([picture], out, counted, pytest.fail) == 0
    assert (out / "roads/roads_01.png").read_bytes() == PIXELS
    [drive] = [open_one() for open_one in ImageReader(out / "roads").recordings()]
    assert drive.name == "roads_01"


def test_what_is_wrong_or_gone_is_told_and_the_rest_comes(
    picture: Picture, mirrors: Path, server: str, tmp_path: Path
):
    wrong = changed(picture, file="wrong.png", sha256="0" * 64)
    gone = changed(picture, file="gone.png", path="no.png")
    unknown = changed(picture, file="unknown.png", repository="bob/none")
    for get, why in ((from_mirrors(mirrors), "git clone --bare"), (from_web(server), "HTTP 404")):
        said: list[str] = []
        out = tmp_path / why
        assert bring([wrong, gone, unknown, picture], out, get, said.append) == 3
        assert [path.name for path in out.rglob("*.*")] == ["roads_01.png"]
        assert "sha256 000" in said[0]
        assert "no.png" in said[1]
        assert "bob" in said[2]
        assert why in said[2]


def test_without_a_network_it_stops_at_once(picture: Picture, tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(SetupError, match="--from"):
        bring([picture, picture], tmp_path / "out", from_web(closed), pytest.fail)
    assert not (tmp_path / "out").exists()


def test_the_command_tells_what_is_missing_and_how_to_go_on(
    picture: Picture, mirrors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    manifest = tmp_path / "m.yaml"
    row = f"{{file: roads_01.png, data_set: roads, path: '{PATH}', sha256: {picture.sha256}}}"
    manifest.write_text(
        "data_sets: {roads: {split: test, licence: CC BY 4.0, use: any, fov_deg: 50}}\n"
        f"repositories: [{{repository: ann/roads, commit: {picture.commit}, pictures: [{row}]}}]"
    )
    monkeypatch.setattr(fetch, "read_manifest", lambda: read_manifest(manifest))
    out = tmp_path / "out"
    assert fetch.main([str(out), "--from", str(tmp_path / "empty")]) == 2
    assert "--from" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert fetch.main([str(out), "--from", str(tmp_path / "empty")]) == 1
    assert "0 of 1 pictures" in capsys.readouterr().out
    assert fetch.main([str(out), "--from", str(mirrors), "--split", "test"]) == 0
    told = capsys.readouterr().out
    assert f"cfgen scenes import image {out}/roads" in told
    assert "--options 'license=CC BY 4.0' --options fov_deg=50" in told
    assert (
        f"roads/roads_01.png,test,CC BY 4.0,any,ann/roads,{picture.commit}"
        in (out / "sources.csv").read_text()
    )
