import os
import signal
import subprocess
import sys
import time

import pytest

from cfgen import engine


def square(x: int) -> int:
    return x * x


def fail(x: int) -> int:
    raise ValueError(f"bad {x}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_is_worked_once(jobs: int):
    assert sorted(engine.run(square, range(20), jobs)) == [x * x for x in range(20)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller(jobs: int):
    with pytest.raises(ValueError, match="bad"):
        list(engine.run(fail, range(3), jobs))


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
        [sys.executable, str(tmp_path / "main.py")], env=environment, stderr=subprocess.PIPE
    )
    for _ in range(600):
        if any(p.name.isdigit() for p in tmp_path.iterdir()):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert 0 < sum(p.name.isdigit() for p in tmp_path.iterdir()) < 10_000
