"""What ``cfgen app`` says before it starts."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benches import run


def test_a_folder_that_is_no_benchmark_is_named(tmp_path: Path) -> None:
    pytest.importorskip("gradio", reason="the app needs gradio: pip install 'cfgen-bench[app]'")
    code, _, err = run("app", str(tmp_path / "nothing"), "--port", str(free_port()))
    assert code == 2
    assert "expected a benchmark directory" in err


def test_a_taken_port_is_named_with_another(bench: Path) -> None:
    pytest.importorskip("gradio", reason="the app needs gradio: pip install 'cfgen-bench[app]'")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, err = run("app", str(bench), "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "cannot listen" in err


def test_without_the_extra_it_says_what_to_install(bench: Path) -> None:
    """On the base install there is neither Gradio nor what comes with it."""
    code = """
import sys
sys.modules |= dict.fromkeys(("gradio", "anyio", "starlette", "fastapi", "uvicorn"))
from cfgen.cli.main import main
sys.exit(main(["app", sys.argv[1], "--port", sys.argv[2]]))
"""
    arguments = [sys.executable, "-c", code, str(bench), str(free_port())]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert 'pip install ".[app]" (in your copy of cfgen)' in done.stderr


@pytest.mark.parametrize("port", ["99999", "-5"])
def test_a_port_that_no_machine_has_is_refused(port: str) -> None:
    code, _, err = run("app", "--port", port)
    assert (code, err) == (2, f"cfgen: error: port: expected a port from 0 to 65535, found {port}\n")


def test_adding_an_account_says_what_it_replaces_and_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ("app", "--users", str(tmp_path / "users"), "--add-user", "rater/anna")
    monkeypatch.setenv("CFGEN_APP_PASSWORD", "correct horse")
    assert [("replaced" in run(*wanted)[1]) for _ in range(2)] == [False, True]
    monkeypatch.delenv("CFGEN_APP_PASSWORD")

    def no_terminal(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("getpass.getpass", no_terminal)
    code, _, err = run(*wanted)
    assert (code, "no terminal" in err) == (2, True)


@pytest.mark.parametrize("login", ["anna", "../x:secret", "king/anna:secret"])
def test_a_login_without_a_proper_name_or_password_is_refused(
    bench: Path, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFGEN_APP_USERS", login)
    code, _, err = run("app", str(bench))
    assert code == 2
    assert "expected" in err
    assert "secret" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rooms", "kitchen"], "rooms: expected some of curate"),
        (["--inpainter-options", "sdxl"], "expected NAME.KEY=VALUE"),
        (["--inpainter-options", "nothing.steps=2"], "with one of composite"),
    ],
)
def test_an_option_that_does_not_fit_is_explained(bench: Path, arguments: list[str], words: str) -> None:
    pytest.importorskip("gradio", reason="the app needs gradio: pip install 'cfgen-bench[app]'")
    code, _, err = run("app", str(bench), "--port", str(free_port()), *arguments)
    assert code == 2
    assert words in err


def test_an_answer_that_is_still_worked_out_does_not_abort_the_end() -> None:
    """A thread in OpenCV while Python winds down ended the process with SIGABRT."""
    code = """
import threading
import cv2, numpy as np
from cfgen.cli.browser import options_by_inpainter
from cfgen.app import server
def work():
    while True:
        cv2.resize(np.zeros((2000, 3000, 3), np.uint8), (1500, 1000), interpolation=cv2.INTER_AREA)
server._END_S, before = 0.05, threading.enumerate()
threading.Thread(target=work, daemon=True).start()
print("over")
server.end_with_threads(before)
print("no thread was waited for")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
