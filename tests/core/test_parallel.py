import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cfgen.core.errors import MissingExtraError
from cfgen.core.parallel import Workers


def square(x: int) -> int:
    return x * x


def run(work, items, jobs: int, lost=lambda item, error: str(error)) -> list:
    with Workers(jobs) as workers:
        return list(workers.run(work, items, lost))


def square_unless_deadly(x: int) -> int:
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 5:
        os._exit(9)
    return x * x


def test_what_kills_its_worker_is_lost_alone_and_the_rest_is_done():
    found = run(square_unless_deadly, range(3, 8), 2, lambda item, error: f"{item}: {error}")
    lost = {x for x in found if isinstance(x, str)}
    assert lost == {"3: worker process died (signal SIGKILL)", "5: worker process died (exit code 9)"}
    assert {x for x in found if isinstance(x, int)} == {16, 36, 49}
    assert len(found) == 5


def die_once(flag: str) -> str:
    path = Path(flag)
    if not path.exists():
        path.touch()
        os._exit(9)
    return "done"


def test_a_death_that_was_not_the_items_fault_costs_nothing(tmp_path):
    assert run(die_once, [str(tmp_path / "flag")], 2) == ["done"]


def test_workers_that_cannot_start_end_the_run_with_what_to_do(tmp_path):
    (tmp_path / "slow_work.py").write_text(
        "import pathlib, time\n"
        f"out = pathlib.Path({str(tmp_path)!r})\n"
        "def work(x):\n    time.sleep(0.05)\n    (out / str(x)).touch()\n    return x\n"
    )
    (tmp_path / "main.py").write_text(
        "from cfgen.core.parallel import Workers\nfrom slow_work import work\n"
        "with Workers(2) as workers:\n    list(workers.run(work, range(10_000), print))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([".", os.environ.get("PYTHONPATH", "")])}
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
