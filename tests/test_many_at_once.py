"""Many workers: each question is put once, and what one of them had in hand when it ended is put by another."""

import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cfgen
from cfgen.core.engines.registry import shard_of
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.locks import NameClaims
from cfgen.options import ScoreOptions
from cfgen.planners import retries, runtime
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Requirements, Response
from cfgen.planners.registry import OpenPlanner, open_planner
from cfgen.planners.retries import Replica
from cfgen.planners.settings import Patience
from cfgen.rollouts import workers as crews
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs
from cfgen.rollouts.queries import Queries, QueryKey, Queue
from cfgen.rollouts.runner import roll_out
from cfgen.storage.store import Store
from tests.benches import copy, tree
from tests.planners.test_vlm_planners import asked

T = np.arange(1, 25) * 0.25


def questions(cases: int, repeats: int = 1) -> Queries:
    arms = ("original", "hazard", "rerun", "null")
    return Queries(
        lambda _: pytest.fail("no case is read"), {f"{k:012x}": arms for k in range(cases)}, repeats
    )


def test_questions_come_in_order_and_shards_are_all_of_them_once():
    every = questions(3, repeats=2)
    keys = list(every.each_key())
    assert len(every) == len(keys) == len(set(keys)) == 24
    assert keys[:3] == [("0" * 12, "original", 0), ("0" * 12, "original", 1), ("0" * 12, "hazard", 0)]
    assert Counter(every.shuffled(5).each_key()) == Counter(keys)
    assert list(every.shuffled(5).each_key()) == list(every.shuffled(5).each_key()) != keys
    assert [k.arm for k in every.only(lambda key: key.arm == "null").each_key()] == ["null"] * 6
    parts = [list(every.shard(i, 2).each_key()) for i in (1, 2)]
    assert Counter(parts[0] + parts[1]) == Counter(keys)
    assert not {k.case_id for k in parts[0]} & {k.case_id for k in parts[1]}


@pytest.mark.parametrize("text", ["3", "0/2", "a/b"])
def test_what_is_no_shard_is_named(text: str):
    with pytest.raises(InputError, match="--shard: expected I/N"):
        shard_of(text)


def test_a_claim_ends_with_the_process_that_holds_it(tmp_path: Path):
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        held = NameClaims(tmp_path, "asking.p")
        held.take("a")
        os.write(told, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
    with NameClaims(tmp_path, "asking.p") as one, NameClaims(tmp_path, "asking.p") as other:
        assert not one.take("a")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert one.take("a")
        assert not other.take("a")
        assert other.take("b")
        one.release("a")
        assert other.take("a")


def test_eight_askers_in_two_commands_put_each_question_once(tmp_path: Path):
    """One worker of the second command ends in the middle with questions in hand: the first command puts them."""
    every = questions(40)
    put: Counter[QueryKey] = Counter()
    lock = threading.Lock()

    def queue() -> Queue:
        store = SimpleNamespace(root=tmp_path, look_again=lambda _: None, rollout_path=lambda *_: tmp_path)
        return Queue(store, "p", every.each_key(), lambda key: key not in put, lambda: None, lambda _: None)  # type: ignore[arg-type]

    def ask(source: Queue) -> None:
        while batch := source.take(3):
            assert len({key.case_id for key in batch}) == len(batch)
            time.sleep(0.001)
            for key in batch:
                with lock:
                    put[key] += 1
                source.done(key)

    first, second = queue(), queue()
    lost = second.take(3)
    assert len(lost) == 3
    threads = [threading.Thread(target=ask, args=(source,)) for source in (first,) * 4 + (second,) * 3]
    for thread in threads:
        thread.start()
    for thread in threads[4:]:
        thread.join(0.2)
    second.__exit__()
    for thread in threads:
        thread.join(20)
    first.__exit__()
    assert put == Counter(every.each_key())


# --- with a planner -------------------------------------------------------------------------------------


class Slow:
    """Counts what it is asked, by all its copies."""

    asked: Counter[str] = Counter()  # noqa: RUF012

    def plan(self, observations):
        for o in observations:
            Slow.asked[o.token] += 1
        time.sleep(0.02)
        return [Response("I keep my lane.", np.column_stack([o.speed * T, 0 * T]), T) for o in observations]


@pytest.fixture
def out(bench: Path, tmp_path: Path) -> Path:
    Slow.asked.clear()
    return copy(bench, tmp_path / "b")


def replica(ask, name: str = "p", **needs) -> Replica:
    return Replica(OpenPlanner(name, name, "sha256:" + 64 * "0", Requirements(**needs), ask, "server"))


def test_two_scores_at_once_ask_and_judge_each_question_once(out: Path, bench: Path, tmp_path: Path):
    raised: list[BaseException] = []

    def score() -> None:
        try:
            cfgen.score(out, Slow(), name="p", quiet=True)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=score) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised
    # once each, and one again by each command to see whether the planner wavers
    assert len(Slow.asked) == 10
    assert 10 <= Slow.asked.total() <= 12
    alone = copy(bench, tmp_path / "alone")
    cfgen.score(alone, Slow(), name="p", quiet=True)
    assert tree(out, "verdicts/**/*.json") == tree(alone, "verdicts/**/*.json")


def test_copies_share_the_questions_and_one_that_is_gone_loses_none(out: Path, monkeypatch):
    monkeypatch.setattr(retries, "PATIENCE", Patience(first_pause_s=0.0))
    store = Store(out)
    inputs, every = RolloutInputs(store, 7), arm_inputs(store, ("hazard",), 2)
    options = ScoreOptions(out, "p", quiet=True, planner_retries=1)
    by: Counter[str] = Counter()

    def answering(name: str):
        def ask(observations):
            by[name] += len(observations)
            return Slow().plan(observations)

        return ask

    def gone(observations):
        return [PlanFaultError("no route", "unreachable")] * len(observations)

    with pytest.raises(Shortfall, match="cannot be reached any more"):
        roll_out(store, inputs, [replica(answering("a")), replica(gone)], every, options)
    kept = len(store.rollouts("p"))
    assert kept == len(Slow.asked) < len(every)
    roll_out(store, inputs, [replica(answering(name)) for name in "bcd"], every, options)
    assert {r.status for r in store.rollouts("p")} == {"ok"}
    assert set(Slow.asked) == {o.token for o in (inputs.observation(q, Requirements()) for q in every)}
    assert by.total() - len(every) <= 2  # looks for wavering
    assert min(by[name] for name in "bcd") > 0


# --- cards ----------------------------------------------------------------------------------------------


def test_each_copy_sees_its_own_card_alone(monkeypatch):
    monkeypatch.setattr(runtime, "check_devices", lambda _: None)
    replicas = crews.start_replicas(
        lambda: open_planner("tests.planners.bad_planners:TellsItsCards"), 2, ["5", "7"]
    )
    try:
        told = [one.planner.ask([asked()])[0] for one in replicas]
    finally:
        for one in replicas:
            one.planner.close()
    assert [one.report["sees"] for one in told] == ["5", "7"]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="--devices: planner 'cruise' runs in this process"):
        crews.start_replicas(lambda: open_planner("cruise"), 1, ["5"])


def test_one_copy_that_cannot_start_ends_all():
    closed: list[int] = []
    opened = iter(range(3))

    def open_one() -> OpenPlanner:
        number = next(opened)
        if number == 2:
            raise InputError("planner: no memory for another")
        return OpenPlanner(
            "p", "p", "", Requirements(), lambda _: [], "process", close=lambda: closed.append(number)
        )

    with pytest.raises(InputError, match="no memory for another"):
        crews.start_replicas(open_one, 3)
    assert sorted(closed) == [0, 1]
