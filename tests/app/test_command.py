"""What ``cfgen app`` says before it starts."""

import socket
import sys
from pathlib import Path

import pytest

from tests.benches import run


def test_a_folder_that_is_no_benchmark_is_named(tmp_path: Path) -> None:
    pytest.importorskip("gradio", reason="the app needs gradio: pip install 'cfgen[app]'")
    code, _, err = run("app", str(tmp_path / "nothing"), "--port", str(free_port()))
    assert code == 2
    assert "expected a benchmark directory" in err


def test_a_taken_port_is_named_with_another(bench: Path) -> None:
    pytest.importorskip("gradio", reason="the app needs gradio: pip install 'cfgen[app]'")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, err = run("app", str(bench), "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "cannot listen" in err


def test_without_gradio_it_says_what_to_install(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    code, _, err = run("app", str(bench))
    assert code == 2
    assert 'pip install "cfgen[app]"' in err


@pytest.mark.parametrize("login", ["anna", "anna:", "../x:secret", ":secret"])
def test_a_login_without_a_proper_name_or_password_is_refused(bench: Path, login: str) -> None:
    code, _, err = run("app", str(bench), "--auth", login)
    assert code == 2
    assert "expected" in err
    assert "secret" not in err


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
