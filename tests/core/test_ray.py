"""A Ray cluster of two nodes on this machine: workers and nodes that die, and nodes that do not fit."""

import re
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

import cfgen
from cfgen.core.engines.knock import nobody_at, own_signals
from cfgen.core.engines.meeting import Meeting, facts
from cfgen.core.engines.protocol import Wanted
from cfgen.core.engines.registry import create_engine
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.interrupts import Interrupted, heard
from cfgen.storage.store import Store
from tests.benches import build_arguments, run, tree
from tests.core.pieces_of_work import (
    add_100,
    another_taxonomy,
    asking_twice,
    die_once,
    fail,
    square,
    square_unless_deadly,
    wait_for,
)

pytest.importorskip("ray", reason='needs pip install ".[dev]"')


@pytest.fixture(scope="module")
def cluster() -> Iterator:
    """Two nodes of one core each; whoever takes one away brings another."""
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    made = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    made.small = small
    made.add_node(**small)
    patch.setenv("RAY_ADDRESS", made.address)
    yield made
    patch.undo()
    made.shutdown()


def lost(item: object, error: Exception) -> str:
    return f"{item}: {error}"


def test_the_pool_does_every_item_once_whatever_dies(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("cfgen.core.engines.ray_pool.DEATHS", 2)
    with create_engine("ray").pool(Wanted(folders=(tmp_path,))) as pool:
        assert sorted(pool.run(square, range(10), lost)) == [x * x for x in range(10)]
        found = list(pool.run(square_unless_deadly, range(6), lost))
        assert Counter(x for x in found if isinstance(x, int)) == Counter([0, 1, 4, 16, 25])
        assert [x.partition(" (")[0] for x in found if isinstance(x, str)] == ["3: worker died"]
        assert list(pool.run(die_once, [str(tmp_path / "flag")], lost)) == ["done"]
        with pytest.raises(ValueError, match="bad 0") as caught:
            list(pool.run(fail, [0], lost))
        assert "in fail" in str(caught.value.__cause__), "the whole traceback"
        taken: list[int] = []
        for done, _ in enumerate(pool.run(square, (taken.append(x) or x for x in range(30)), lost), start=1):
            assert len(taken) <= done + 5, "two for each worker, and one that is looked at"
        next(pool.run(square, range(10), lost))
        assert sorted(pool.run(square, range(4), lost)) == [0, 1, 4, 9], (
            "the rest of the run before is dropped"
        )
    assert not list((tmp_path / ".work").iterdir())


def test_those_that_hold_a_model_are_asked_by_the_others(cluster, tmp_path):
    wanted = Wanted(jobs=2, folders=(tmp_path,), serve=partial(add_100, str(tmp_path / "flag")))
    with create_engine("ray").pool(wanted) as pool:
        assert sorted(pool.run(asking_twice, range(6), lost)) == [(x, x + 200) for x in range(6)]
        with pytest.raises(ValueError, match="not seven"):
            list(pool.run(asking_twice, [7], lost))
    assert (tmp_path / "flag").exists(), "one of them died in between"


def seen(word="the word", hidden=(), **own):
    return word, list(hidden), own


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (seen(kind="new"), ""),
        (seen(hidden=["/data"]), "does not see the folder /data; put it on a disk that every node sees"),
        (
            seen(word="another"),
            "sees another folder at .*; put it on a disk that every node sees under the same",
        ),
        (seen(kind="old"), "has kind old, expected new as here; install the same there"),
        (seen(), "has kind missing, expected new"),
    ],
)
def test_what_makes_a_node_unfit_is_one_line(tmp_path, said, why):
    (tmp_path / "token").write_text("the word")
    met = Meeting(Wanted(folders=(tmp_path,), same=lambda: {"kind": "new"}), tmp_path / "token")
    word, hidden, own = said
    fault = met.fault((word, hidden, {**facts(None), **own}))
    assert re.match(why, fault) if why else fault == ""


def test_a_node_with_another_taxonomy_is_refused(cluster, tmp_path):
    why = r"engine 'ray': node \S+ has taxonomy of \d+, expected of \d+ as here"
    wanted = Wanted(folders=(tmp_path,), same=another_taxonomy)
    with pytest.raises(CfgenError, match=why), create_engine("ray").pool(wanted) as pool:
        list(pool.run(square, [1], lost))


def test_a_node_with_another_cfgen_is_refused_before_anything_is_imported(cluster, monkeypatch):
    monkeypatch.setattr("cfgen.core.engines.ray_pool.__version__", "9.9")
    why = rf"has cfgen {cfgen.__version__}, this process has 9.9"
    with pytest.raises(CfgenError, match=why), create_engine("ray").pool(Wanted()) as pool:
        list(pool.run(square, [1], lost))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_where_nobody_listens_one_line_says_so_at_once(address):
    since = time.monotonic()
    why = "no cluster at .*127.0.0.1:1 .Connection refused.; start one with"
    with pytest.raises(CfgenError, match=why), create_engine("ray", {"address": address}).pool(Wanted()):
        pass
    assert time.monotonic() - since < 10


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_who_else_listens_there_is_told_at_once(said, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            door, _ = server.accept()
            door.sendall(said)
            door.shutdown(socket.SHUT_WR)
            door.recv(100)
            door.close()

        threading.Thread(target=answer, daemon=True).start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        out, terms = tmp_path / "bench", {"address": address}
        with pytest.raises(CfgenError, match=r"something else than Ray listens there.; start one with"):
            cfgen.build(out, n=1, engine="ray", engine_options=terms, perception="colour", quiet=True)
    assert not out.exists()


def test_what_is_no_address_is_told(cluster):
    assert nobody_at("127.0.0.1") == "expected HOST:PORT, found 127.0.0.1"
    assert "Port" in nobody_at("127.0.0.1:port")
    assert nobody_at("theirs://somewhere") == ""
    assert nobody_at(cluster.address) == ""


def test_the_wish_to_end_is_ours_whoever_takes_it_meanwhile():
    ours = signal.getsignal(signal.SIGTERM)

    def take_it() -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(15))
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted) as caught, own_signals():
        take_it()
    assert caught.value.number == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is ours


@pytest.mark.parametrize("theirs", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_end_that_ray_tells_in_its_own_words_is_still_one(theirs):
    def raise_it() -> None:
        try:
            signal.raise_signal(signal.SIGINT)  # Ray's own handler for SIGTERM may be in force here
        except Interrupted as error:
            raise theirs from error

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        with pytest.raises(Interrupted) as caught, heard():
            raise_it()
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught.value.number == signal.SIGINT


def test_what_the_cluster_has_not_is_named(cluster):
    why = r"no worker \(CPU 7\) could start in 1 s on 2 nodes that have CPU 2"
    engine = create_engine("ray", {"num_cpus": 7, "wait_s": 1})
    with pytest.raises(CfgenError, match=why), engine.pool(Wanted()) as pool:
        list(pool.run(square, [1], lost))


@pytest.mark.parametrize(
    "options", [{"num_cpus": -1}, {"resources": 3}, {"wait_s": 0}, {"model_workers": -1}, {"adress": "x"}]
)
def test_options_that_are_none_are_refused(options):
    with pytest.raises(InputError, match="engine 'ray'"):
        create_engine("ray", options)


def test_a_build_and_a_run_lose_a_node_and_nothing_else(cluster, real, bench, tmp_path):
    """The build of ``bench`` and a score of it, each with a node killed in the middle: the same files."""
    out = tmp_path / "b"
    begun = wait_for(
        lambda: next(out.glob("*/*/*/case.json"), None), lambda: cluster.remove_node(_other(cluster))
    )
    code, _, err = run(*build_arguments(real, out, 5, "--engine", "ray"))
    begun.join()
    assert code == 0, err
    whole = ("*.json*", "[a-z]*/**/*")
    assert tree(out, *whole) == tree(bench, *whole)
    cluster.add_node(**cluster.small)
    begun = wait_for(
        lambda: next(out.glob("runs/*/*/*.json"), None), lambda: cluster.remove_node(_other(cluster))
    )
    planner = "tests.core.slow_planner:Slow"
    code, _, err = run("score", out, "--planner", planner, "--engine", "ray", "--workers", 2, "--quiet")
    begun.join()
    cluster.add_node(**cluster.small)
    assert code == 0, err
    found = Store(out).rollouts("tests.core.slow_planner.Slow")
    assert Counter(r.status for r in found) == {"ok": 10}
    assert run("verify", out)[0] == 0


def _other(cluster):
    """Not the node that holds the cluster together."""
    return next(iter(cluster.worker_nodes))
