import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from cfgen.core.engines.desk import cards
from cfgen.core.engines.processes import Workers
from cfgen.core.engines.protocol import Wanted, WorkerDiedError
from cfgen.core.engines.registry import create_engine
from cfgen.core.errors import CfgenError, InputError, MissingExtraError
from tests.core.pieces_of_work import add_100, asking_twice


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


def test_what_kills_its_worker_is_lost_alone_and_the_rest_is_done(monkeypatch):
    monkeypatch.setattr("cfgen.core.engines.processes.DEATHS", 2)
    found = run(square_unless_deadly, range(3, 8), 2, lambda item, error: f"{item}: {error}")
    lost = {x for x in found if isinstance(x, str)}
    assert lost == {"3: worker process died (signal SIGKILL)", "5: worker process died (exit code 9)"}
    assert {x for x in found if isinstance(x, int)} == {16, 36, 49}
    assert len(found) == 5


def test_those_that_hold_a_model_are_asked_by_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr("cfgen.core.engines.desk.DEATHS", 2)
    wanted = Wanted(jobs=2, serve=partial(add_100, str(tmp_path / "flag")))
    with create_engine("processes").pool(wanted) as workers:
        assert sorted(workers.run(asking_twice, range(6), print)) == [(x, x + 200) for x in range(6)]
        assert (tmp_path / "flag").exists(), "one of them died in between"
        with pytest.raises(ValueError, match="not seven"):
            list(workers.run(asking_twice, [7], print))
        with pytest.raises(WorkerDiedError, match="exit code 9"):
            list(workers.run(asking_twice, [-1], print))


def test_nobody_waits_for_who_cannot_start(monkeypatch):
    def full(**_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("cfgen.core.engines.desk.Worker", full)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    pool = create_engine("processes").pool(Wanted(jobs=2, serve=add_100))
    with pool as workers, pytest.raises(CfgenError, match="that hold a model cannot be started"):
        list(workers.run(asking_twice, [1], print))


def test_cards_are_those_that_this_process_may_use(tmp_path, monkeypatch):
    for name in ("nvidia1", "nvidia0", "nvidiactl"):
        (tmp_path / name).touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert cards(tmp_path) == ("0", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5")
    assert cards(tmp_path) == ("3", "5")


def test_an_engine_without_anybody_that_holds_a_model_is_refused():
    with pytest.raises(InputError, match="model_workers: expected 1 or more, found 0"):
        create_engine("processes", {"model_workers": 0})


def die_once(flag: str) -> str:
    path = Path(flag)
    if not path.exists():
        path.touch()
        os._exit(9)
    return "done"


def test_a_death_that_was_not_the_items_fault_costs_nothing(tmp_path):
    assert run(die_once, [str(tmp_path / "flag")], 2) == ["done"]


def test_a_script_needs_no_guard_but_its_work_comes_from_a_module(tmp_path):
    script = (
        "import math\nfrom cfgen.core.engines.processes import Workers\nfrom cfgen.core.errors import CfgenError\n"
        "def here(x):\n    return x\n"
        "for work in (math.sqrt, here):\n"
        "    try:\n        with Workers(2) as workers:\n            print(list(workers.run(work, [4.0], print)))\n"
        "    except CfgenError as error:\n        print(error)\n"
    )
    (tmp_path / "main.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "main.py")],
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=60,
    )
    fine, refused = done.stdout.splitlines()
    assert fine == "[2.0]"
    assert "worker processes cannot start" in refused
    assert "from a module" in refused


def test_errors_cross_process_borders():
    error = MissingExtraError("judge 'x'", "x", ImportError("no", name="xsdk"))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert "pip install" in str(again)


def fail(x: int) -> int:
    raise ValueError(f"bad {x}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_is_worked_once(jobs: int):
    assert sorted(run(square, range(20), jobs)) == [x * x for x in range(20)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller(jobs: int):
    with pytest.raises(ValueError, match="bad"):
        run(fail, range(3), jobs)


class UnpicklableError(Exception):
    def __init__(self, one, two) -> None:
        super().__init__(f"{one} and {two}")


def fail_unpicklably(x: int) -> int:
    raise UnpicklableError(x, x)


def test_an_error_that_cannot_cross_is_told_in_words():
    with pytest.raises(RuntimeError, match="UnpicklableError: 1 and 1") as caught:
        run(fail_unpicklably, [1], 2)
    assert "in fail_unpicklably" in str(caught.value.__cause__), "the whole traceback"


def _hear() -> None:
    """A test run in the background has been told to ignore interrupts; the child should not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_ends_the_run(tmp_path):
    (tmp_path / "slow_work.py").write_text(
        "import pathlib, time\n"
        f"out = pathlib.Path({str(tmp_path)!r})\n"
        "def work(x):\n    time.sleep(0.05)\n    (out / str(x)).touch()\n    return x\n"
    )
    (tmp_path / "main.py").write_text(
        "from cfgen.core.engines.processes import Workers\nfrom slow_work import work\n"
        "with Workers(2) as workers:\n    list(workers.run(work, range(10_000), print))\n"
    )
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


def leave(how: str) -> str:
    if how == "exit":
        sys.exit(0)
    if how == "interrupt":
        raise KeyboardInterrupt
    return how


@pytest.mark.parametrize(("how", "name"), [("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt")])
def test_what_would_end_a_worker_in_silence_is_an_error(how: str, name: str):
    with pytest.raises(RuntimeError, match=name):
        run(leave, [how], 2)


def test_workers_of_a_run_that_was_left_early_serve_the_next():
    with Workers(2) as workers:
        first = next(workers.run(square, range(10), print))
        assert first in {0, 1}
        assert sorted(workers.run(square, range(4), print)) == [0, 1, 4, 9]


SLOW = """
import os, pathlib, time
def work(out):
    (pathlib.Path(out) / str(os.getpid())).touch()
    time.sleep(60)
"""
MAIN = """
import sys
from cfgen.core.interrupts import heard
from cfgen.core.engines.processes import Workers
from slow import work
def go():
    with Workers(2) as workers:
        list(workers.run(work, [sys.argv[1]] * 4, print))
if sys.argv[2] == "command":
    with heard():
        go()
go()
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize(
    ("how", "signals"),
    [
        ("command", (signal.SIGINT, signal.SIGINT)),
        ("script", (signal.SIGINT, signal.SIGINT)),
        ("command", (signal.SIGTERM, signal.SIGTERM)),
        ("script", (signal.SIGKILL,)),
    ],
)
def test_whoever_presses_twice_or_kills_is_rid_of_the_workers_too(tmp_path, how, signals):
    """``command``: signals heard as on the command line; ``script``: Python's own handling."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "main.py").write_text(MAIN)
    started = tmp_path / "started"
    started.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "main.py"), str(started), how],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([".", str(tmp_path)])},
        stderr=subprocess.PIPE,
        preexec_fn=_hear,
        start_new_session=True,
    )
    end = time.monotonic() + 30
    while len(list(started.iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    workers = [int(path.name) for path in started.iterdir()]
    assert len(workers) == 2
    for number in signals:
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        time.sleep(0.3)
    assert process.wait(timeout=10) != 0
    end = time.monotonic() + 5
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(alive, workers))
