"""Small real benchmarks for the tests."""

import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from cfgen.cli.main import main

HAZARDS = "cone_line,work_barrier"


def build_arguments(real: Path, out: Path, n: int = 5, *more: str) -> list[str]:
    """Of a build into ``out``; an option in ``more`` takes the place of the usual one."""
    # hazards and perception as in tests/conftest.py, also for processes of their own
    usual = {
        "--n": str(n),
        "--scenes": str(real / "udacity_hmb3" / "scenes"),
        "--seed": "7",
        "--hazards": HAZARDS,
        "--perception": "colour",
        "--controls": "none",
    }
    options = [word for name, value in usual.items() if name not in more for word in (name, value)]
    return ["build", *options, "--out", str(out), "--quiet", *more]


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(a) for a in arguments])
    return code, out.getvalue(), err.getvalue()


def kill_when(arguments: list[str], ready) -> None:
    """Start a command in its own session and ``kill -9`` all of it as soon as ``ready()``."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cfgen", *arguments],
        cwd=Path(__file__).resolve().parents[1],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while not ready() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tree(root: Path, *patterns: str) -> dict[str, str]:
    """SHA-256 by path of the files under ``root`` that match; of contents, a failure's difference takes hours."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in patterns
        for path in sorted(root.glob(pattern))
        if path.is_file()
    }


def copy(bench: Path, to: Path) -> Path:
    shutil.copytree(bench, to)
    return to
