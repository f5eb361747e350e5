"""What engines promise, of processes and of a Ray cluster of two nodes on this machine: deaths, errors, interrupts."""

import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import cfgen
from cfgen.core.engines.processes import visible_gpus
from cfgen.core.engines.registry import WorkerDiedError, WorkerNeeds, create_engine
from cfgen.core.errors import CfgenError, InputError, MissingExtraError
from cfgen.core.interrupts import Interrupted, interruptible, sigterm_restored
from cfgen.storage.store import Store
from tests import conftest
from tests.benches import build_arguments, run, tree
from tests.core.pieces_of_work import (
    add_100,
    another_taxonomy,
    asking_twice,
    die_once,
    fail,
    square,
    square_unless_deadly,
)

pytest.importorskip("ray", reason='needs pip install ".[dev]"')


@pytest.fixture(scope="module")
def cluster() -> Iterator:
    """Two nodes of one core each; whoever takes one away brings another."""
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    nodes = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    nodes.small = small
    nodes.add_node(**small)
    patch.setenv("RAY_ADDRESS", nodes.address)
    patch.setattr(conftest, "_LOOPBACK", (*conftest._LOOPBACK, nodes.address.partition(":")[0]))
    yield nodes
    patch.undo()
    nodes.shutdown()


def on_death(item: object, error: Exception) -> str:
    return f"{item}: {error}"


def run_with(name: str, work, items, **needs) -> list:
    with create_engine(name).pool(WorkerNeeds(jobs=2, **needs)) as pool:
        return list(pool.run(work, items, on_death))


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_the_pool_does_every_item_once_whatever_dies(cluster, tmp_path, monkeypatch, name):
    monkeypatch.setattr("cfgen.core.engines.pool.MAX_DEATHS", 2)
    with create_engine(name).pool(WorkerNeeds(jobs=2, folders=(tmp_path,))) as pool:
        assert sorted(pool.run(square, range(10), on_death)) == [x * x for x in range(10)]
        results = list(pool.run(square_unless_deadly, range(6), on_death))
        assert Counter(x for x in results if isinstance(x, int)) == Counter([0, 1, 4, 16, 25])
        assert re.fullmatch(r"3: worker (process )?died \(.*\)", *[x for x in results if isinstance(x, str)])
        assert list(pool.run(die_once, [str(tmp_path / "flag")], on_death)) == ["done"]
        with pytest.raises(ValueError, match="bad 0") as caught:
            list(pool.run(fail, ["0"], on_death))
        assert "in fail" in str(caught.value.__cause__), "the whole traceback"
        taken: list[int] = []
        numbers = (taken.append(x) or x for x in range(30))
        for done, _ in enumerate(pool.run(square, numbers, on_death), start=1):
            assert len(taken) <= done + 2, "one for each worker"
        next(pool.run(square, range(10), on_death))
        assert sorted(pool.run(square, range(4), on_death)) == [0, 1, 4, 9], "the rest of a run left early"


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_workers_ask_those_that_hold_a_model(cluster, tmp_path, monkeypatch, name):
    monkeypatch.setattr("cfgen.core.engines.pool.MAX_DEATHS", 2)
    needs = WorkerNeeds(jobs=2, folders=(tmp_path,), serve=partial(add_100, str(tmp_path / "flag")))
    with create_engine(name).pool(needs) as pool:
        assert sorted(pool.run(asking_twice, range(6), print)) == [(x, x + 200) for x in range(6)]
        assert (tmp_path / "flag").exists(), "one of them died in between"
        with pytest.raises(ValueError, match="not seven"):
            list(pool.run(asking_twice, [7], print))
        with pytest.raises(WorkerDiedError):
            list(pool.run(asking_twice, [-1], print))


# --- processes ------------------------------------------------------------------------------------------


def test_where_no_process_can_start_nobody_waits(monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("cfgen.core.engines.processes.Child", refuse)
    with pytest.raises(CfgenError, match="workers cannot start"):
        run_with("processes", square, range(3))


@pytest.mark.parametrize(
    ("how", "words"), [("exit", "SystemExit"), ("interrupt", "Interrupt"), ("unpicklable", "1 and one")]
)
def test_what_would_end_a_worker_or_cannot_cross_is_an_error(how, words):
    with pytest.raises(RuntimeError, match=words) as caught:
        run_with("processes", fail, [how])
    assert "in fail" in str(caught.value.__cause__), "the whole traceback"


def test_errors_cross_process_borders():
    error = MissingExtraError("judge 'x'", "x", ImportError("no", name="xsdk"))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_cards_are_those_that_this_process_may_use(tmp_path, monkeypatch):
    for name in ("nvidia1", "nvidia0", "nvidiactl"):
        (tmp_path / name).touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpus(tmp_path) == ("0", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5")
    assert visible_gpus(tmp_path) == ("3", "5")


# --- processes of a script ------------------------------------------------------------------------------

SCRIPT = """
import math, os, pathlib, sys, time
from cfgen.core.engines.processes import process_pool
from cfgen.core.errors import CfgenError
from cfgen.core.interrupts import interruptible
from slow import slow

def own(x):
    return x

how, out = sys.argv[1:]
if how == "no guard":
    for work in (math.sqrt, own):
        try:
            with process_pool(2) as pool:
                print(list(pool.run(work, [4.0], print)))
        except CfgenError as error:
            print(error)
else:
    def go():
        with process_pool(2) as pool:
            list(pool.run(slow, [out + "/" + how] * 100, print))
    if how == "heard":
        with interruptible():
            go()
    go()
"""
SLOW = """
import os, pathlib, time
def slow(path):
    folder, how = path.rsplit("/", 1)
    (pathlib.Path(folder) / str(os.getpid())).touch()
    time.sleep(0.5 if how == "once" else 60)
    (pathlib.Path(folder) / f"done-{time.time_ns()}").touch()
"""


@pytest.fixture
def script(tmp_path) -> Callable[[str], subprocess.Popen]:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "out").mkdir()

    def start(how: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, str(tmp_path / "main.py"), how, str(tmp_path / "out")],
            env={**os.environ, "PYTHONPATH": str(Path(cfgen.__file__).parents[1])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # a test run in the background has been told to ignore interrupts; the child should not
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            start_new_session=True,
        )

    return start


def test_a_script_needs_no_guard_but_its_work_comes_from_a_module(script):
    fine, refused = script("no guard").communicate(timeout=60)[0].splitlines()
    assert fine == "[2.0]"
    assert "worker processes cannot start" in refused


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize(
    ("how", "signals", "finished"),
    [
        ("once", (signal.SIGINT,), True),
        ("heard", (signal.SIGINT, signal.SIGINT), False),
        ("script", (signal.SIGINT, signal.SIGINT), False),
        ("heard", (signal.SIGTERM, signal.SIGTERM), False),
        ("script", (signal.SIGKILL,), False),
    ],
)
def test_interrupts_and_kills_end_the_workers_too(script, tmp_path, how, signals, finished):
    """``heard``: signals as on the command line; others: Python's own handling. What is in hand is ended first."""
    process, out = script(how), tmp_path / "out"
    end = time.monotonic() + 30
    while len(list(out.glob("[0-9]*"))) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    workers = [int(path.name) for path in out.glob("[0-9]*")]
    assert len(workers) == 2
    for number in signals:
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        time.sleep(0.3)
    errors = process.communicate(timeout=10)[1]
    assert process.returncode != 0
    end = time.monotonic() + 5
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    assert len(list(out.glob("done-*"))) in ((2, 3, 4) if finished else (0,))
    assert not finished or "ending what is in hand" in errors


# --- Ray ------------------------------------------------------------------------------------------------


def test_a_node_that_differs_is_refused_in_one_line(cluster, tmp_path, monkeypatch):
    why = r"engine 'ray': node \S+ has taxonomy of \d+, expected of \d+ as here"
    with pytest.raises(CfgenError, match=why):
        run_with("ray", square, [1], folders=(tmp_path,), same=another_taxonomy)
    with pytest.raises(CfgenError, match=r"node \S+ does not see the folder .*/hidden; put it on a disk"):
        run_with("ray", square, [1], folders=(tmp_path, tmp_path / "hidden"))
    assert not list((tmp_path / ".work").iterdir())
    monkeypatch.setattr("cfgen.core.engines.ray_engine.__version__", "9.9")
    with pytest.raises(CfgenError, match=rf"has cfgen {cfgen.__version__}, this process has 9.9"):
        run_with("ray", square, [1])


def test_what_the_cluster_has_not_is_named(cluster):
    why = r"no worker \(CPU 7\) could start in 1 s on 2 nodes that have CPU 2"
    engine = create_engine("ray", {"num_cpus": 7, "wait_s": 1})
    with pytest.raises(CfgenError, match=why), engine.pool(WorkerNeeds()) as pool:
        list(pool.run(square, [1], on_death))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:1", "Connection refused.; start one with"),
        ("ray://127.0.0.1:1", "Connection refused.; start one with"),
        ("127.0.0.1", "expected HOST:PORT"),
        ("127.0.0.1:port", "Port"),
    ],
)
def test_where_no_cluster_is_one_line_says_so_at_once(address, why):
    engine = create_engine("ray", {"address": address})
    with pytest.raises(CfgenError, match=f"no cluster at .*{why}"), engine.pool(WorkerNeeds()):
        pass


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_who_else_listens_there_is_named_and_nothing_stays(greeting, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.sendall(greeting)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(100)
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        options = {"address": f"127.0.0.1:{server.getsockname()[1]}"}
        with pytest.raises(CfgenError, match="something else than Ray listens there"):
            cfgen.build(tmp_path / "b", n=1, engine="ray", engine_options=options, quiet=True)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("processes", {"model_workers": 0}),
        ("ray", {"num_cpus": -1}),
        ("ray", {"resources": 3}),
        ("ray", {"wait_s": 0}),
        ("ray", {"model_workers": -1}),
        ("ray", {"adress": "x"}),
    ],
)
def test_options_that_mean_nothing_are_refused(name, options):
    with pytest.raises(InputError, match=f"engine '{name}'"):
        create_engine(name, options)


def test_the_wish_to_end_is_ours_whoever_takes_it_meanwhile():
    ours = signal.getsignal(signal.SIGTERM)

    def take_it() -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(15))
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted) as caught, sigterm_restored():
        take_it()
    assert caught.value.number == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is ours


@pytest.mark.parametrize("theirs", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_end_that_ray_repeats_in_its_own_words_is_still_one(theirs):
    def raise_it() -> None:
        try:
            signal.raise_signal(signal.SIGINT)  # Ray's own handler for SIGTERM may be in force here
        except Interrupted as error:
            raise theirs from error

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        with pytest.raises(Interrupted) as caught, interruptible():
            raise_it()
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught.value.number == signal.SIGINT


def once(sign: Callable[[], object], then: Callable[[], object]) -> threading.Thread:
    """``then()`` in a thread, once there is a ``sign``."""

    def look() -> None:
        end = time.monotonic() + 120
        while sign() is None and time.monotonic() < end:
            time.sleep(0.02)
        then()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    return thread


def test_a_build_and_a_run_lose_a_node_and_nothing_else(cluster, real, bench, tmp_path):
    """The build of ``bench`` and a score of it, each with a node killed in the middle: the same files."""

    def lose_node() -> None:
        cluster.remove_node(next(iter(cluster.worker_nodes)))  # not the one that holds the cluster together
        cluster.add_node(**cluster.small)

    out = tmp_path / "b"
    loss = once(lambda: next(out.glob("*/*/*/case.json"), None), lose_node)
    code, _, err = run(*build_arguments(real, out, 5, "--engine", "ray"))
    loss.join()
    assert code == 0, err
    everything = ("*.json*", "[a-z]*/**/*")
    assert tree(out, *everything) == tree(bench, *everything)
    loss = once(lambda: next(out.glob("runs/*/*/*.json"), None), lose_node)
    planner = "tests.core.slow_planner:Slow"
    code, _, err = run("score", out, "--planner", planner, "--engine", "ray", "--workers", 2, "--quiet")
    loss.join()
    assert code == 0, err
    rollouts = Store(out).rollouts("tests.core.slow_planner.Slow")
    assert Counter(rollout.status for rollout in rollouts) == {"ok": 10}
    assert run("bench", "verify", out)[0] == 0
