import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from cfgen import engine
from cfgen.errors import CfgenError, MissingExtraError


def square(x: int) -> int:
    return x * x


def vanish(x: int) -> int:
    os._exit(9)


def test_a_worker_that_dies_is_one_clear_line():
    with pytest.raises(CfgenError, match="run the same command with fewer --jobs"):
        list(engine.run(vanish, range(3), 2))


def test_errors_cross_process_borders():
    error = MissingExtraError("judge 'x'", "x", ImportError("no", name="xsdk"))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert "pip install" in str(again)


def fail(x: int) -> int:
    raise ValueError(f"bad {x}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_is_worked_once(jobs: int):
    assert sorted(engine.run(square, range(20), jobs)) == [x * x for x in range(20)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller(jobs: int):
    with pytest.raises(ValueError, match="bad"):
        list(engine.run(fail, range(3), jobs))


def _hear() -> None:
    """A test run in the background has been told to ignore interrupts; the child should not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_ends_the_run(tmp_path):
    script = (
        "import time, pathlib\nfrom cfgen import engine\n"
        f"out = pathlib.Path({str(tmp_path)!r})\n"
        "def work(x):\n    time.sleep(0.05)\n    (out / str(x)).touch()\n    return x\n"
        "if __name__ == '__main__':\n    list(engine.run(work, range(10_000), 2))\n"
    )
    (tmp_path / "main.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["."])}
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "main.py")], env=environment, stderr=subprocess.PIPE, preexec_fn=_hear
    )
    for _ in range(600):
        if any(p.name.isdigit() for p in tmp_path.iterdir()):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert 0 < sum(p.name.isdigit() for p in tmp_path.iterdir()) < 10_000
