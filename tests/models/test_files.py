"""Model files: brought from a server, checked, put in their place whole or not at all."""

import hashlib
import http.server
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cfgen.models import files
from cfgen.models.files import FILES, kept
from tests.benches import run

DATA = bytes(range(256)) * 9000
ONE = replace(
    FILES["twinlitenet"], size=len(DATA), sha256=hashlib.sha256(DATA).hexdigest(), file="one.onnx", name="one"
)


class Handler(http.server.BaseHTTPRequestHandler):
    """/whole gives the file, the others what servers do when they fail."""

    def do_GET(self):
        answers = {
            "/whole": (len(DATA), DATA),
            "/cut": (len(DATA), DATA[:70_000]),
            "/short": (70_000, DATA[:70_000]),
            "/long": (len(DATA) + 5, DATA + b"12345"),
            "/other": (len(DATA), DATA[:-1] + b"x"),
        }
        if self.path not in answers:
            self.send_error(404)
            return
        length, body = answers[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()


@pytest.fixture
def folder(tmp_path, monkeypatch, server) -> Path:
    """An empty folder of model files, and one file in the catalogue that the server has."""
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "models"))
    monkeypatch.setitem(FILES, "one", replace(ONE, url=f"{server}/whole"))
    return tmp_path / "models"


def there(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def test_a_file_comes_after_its_licence_and_into_its_place(folder):
    code, out, _ = run("models", "get", "one", "--yes")
    assert code == 0
    assert out.index("Permission is hereby granted") < out.index("one.onnx")
    assert there(folder) == ["one.onnx"]
    assert (folder / "one.onnx").read_bytes() == DATA
    assert kept("one", "x") == folder / "one.onnx"
    assert "here already" in run("models", "get", "one")[1]
    listed = run("models", "list")[1]
    assert [line.split()[3] for line in listed.splitlines() if line.startswith("one ")] == ["yes"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/cut", "expected 2304000 or 1799919 bytes, found 70000"),
        ("/short", "expected 2304000 or 1799919 bytes, found 70000"),
        ("/long", "expected 2304000 or 1799919 bytes, found more"),
        ("/other", f"expected sha256 {ONE.sha256[:12]}..., found"),
        ("/none", "the server says 404"),
    ],
)
def test_a_download_that_fails_is_one_line_and_leaves_what_was_there(folder, server, monkeypatch, path, said):
    monkeypatch.setitem(FILES, "one", replace(ONE, url=server + path))
    folder.mkdir()
    (folder / "one.onnx").write_bytes(b"older")
    code, _, err = run("models", "get", "one", "--yes", "--quiet")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert said in err
    assert "cfgen models get one --from FILE" in err
    assert there(folder) == ["one.onnx"]
    assert (folder / "one.onnx").read_bytes() == b"older"


def test_no_server_no_network_no_folder(folder, monkeypatch):
    monkeypatch.setitem(FILES, "one", replace(ONE, url="http://127.0.0.1:9/one"))
    code, _, err = run("models", "get", "one", "--yes", "--quiet")
    assert (code, "Connection refused" in err) == (2, True)
    monkeypatch.setitem(FILES, "one", replace(ONE, url="https://upstream.example/one"))
    code, _, err = run("models", "get", "one", "--yes", "--quiet", "--offline")
    assert (code, "upstream.example, which --offline does not allow" in err) == (2, True)
    assert there(folder) == []
    folder.rmdir()
    folder.write_text("a file")
    code, _, err = run("models", "get", "one", "--yes", "--quiet")
    assert (code, "cannot write" in err, len(err.splitlines())) == (2, True, 1)


def test_a_file_from_another_machine_is_checked_the_same(folder, tmp_path, server):
    copy = tmp_path / "copy"
    copy.write_bytes(DATA[:-1] + b"x")
    assert run("models", "get", "one", "--yes", "--quiet", "--source", copy)[0] == 2
    assert run("models", "get", "one", "--yes", "--quiet", "--source", tmp_path / "none")[0] == 2
    assert there(folder) == []
    copy.write_bytes(DATA)
    assert run("models", "get", "one", "--yes", "--quiet", "--offline", "--source", copy)[0] == 0
    (folder / "one.onnx").unlink()
    assert run("models", "get", "one", "--yes", "--quiet", "--offline", "--source", f"{server}/whole")[0] == 0
    assert there(folder) == ["one.onnx"]


def test_what_a_killed_download_left_is_taken_over(folder):
    folder.mkdir()
    (folder / ".one.onnx.part").write_bytes(DATA + b"more")
    assert run("models", "get", "one", "--yes", "--quiet")[0] == 0
    assert there(folder) == ["one.onnx"]
    assert (folder / "one.onnx").read_bytes() == DATA


def test_nothing_comes_without_agreement(folder, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert run("models", "get", "one")[0] == 1
    assert there(folder) == []

    def ended(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)
    code, _, err = run("models", "get", "one")
    assert (code, "--yes" in err) == (2, True)
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert run("models", "get", "one", "--quiet")[0] == 0


def test_every_file_is_pinned():
    for file in FILES.values():
        assert file.url.startswith("https://")
        assert len(file.sha256) == 64
        if "githubusercontent" in file.url:
            assert len(file.url.split("/")[5]) == 40, "a commit, not a branch"
        else:
            assert file.url.endswith(f"_{file.sha256[:6]}.pth")
