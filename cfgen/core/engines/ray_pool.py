"""Workers on a Ray cluster: actors that keep what they have loaded, with a bounded queue before each."""

import contextlib
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cfgen.core.engines import ray_actor
from cfgen.core.engines.asking import served
from cfgen.core.engines.knock import nobody_at, own_signals
from cfgen.core.engines.meeting import Meeting, look, meeting
from cfgen.core.engines.protocol import DEATHS, STARTS, Wanted, WorkerDiedError
from cfgen.core.engines.told import Told, question
from cfgen.core.errors import CfgenError, InputError, MissingExtraError
from cfgen.core.network import HUBS, VARIABLE, current, host_of
from cfgen.version import __version__

T = TypeVar("T")
R = TypeVar("R")

#: items that a worker has at once: one in hand, one that waits
IN_HAND = 2
#: machines that an item may lose before that counts as its own doing
NODES = 5
#: s between two looks at what the cluster has
_LOOK_S = 5.0
#: s that workers get to end
_END_S = 5.0
_PASSED_ON = (VARIABLE, *HUBS, "OMP_NUM_THREADS")


class Ray:
    """actors on a Ray cluster, one a core, or one a card where a model is loaded"""

    elsewhere = True

    def __init__(
        self,
        address: str = "",
        num_cpus: float = 1.0,
        num_gpus: float = -1.0,
        resources: Any = None,
        wait_s: float = 120.0,
        model_workers: int = 0,
    ) -> None:
        """
        Args:
            address: of the cluster; "" leaves it to RAY_ADDRESS, and without that Ray starts on this machine.
            num_cpus, num_gpus: that a worker takes; by itself one card where it loads a model and the cluster has any.
            resources: of the cluster's own that a worker takes, such as {"big": 1}.
            wait_s: for the first worker to start.
            model_workers: that hold a model where others do the rest; 0: one a card, or one where there is none.
                ``num_gpus`` is theirs then.
        """
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError("engine 'ray'", "ray", error) from error
        self._ray = ray
        if not num_cpus >= 0 or num_cpus + max(num_gpus, 0.0) <= 0 or wait_s <= 0:
            raise InputError(
                f"engine 'ray': expected num_cpus or num_gpus above 0 and wait_s above 0, found {num_cpus:g}, "
                f"{num_gpus:g} and {wait_s:g}"
            )
        if model_workers < 0:
            raise InputError(f"engine 'ray': model_workers: expected 0 or more, found {model_workers}")
        own = {} if resources is None else resources
        if not isinstance(own, Mapping) or not all(isinstance(v, int | float) for v in own.values()):
            raise InputError(
                f"engine 'ray': resources: expected a mapping such as {{\"big\": 1}}, found {own!r}"
            )
        self.address, self.num_cpus, self.num_gpus = address, num_cpus, num_gpus
        self.resources, self.wait_s, self.model_workers = dict(own), wait_s, model_workers

    @contextlib.contextmanager
    def pool(self, wanted: Wanted) -> Iterator["RayPool"]:
        with self._connected(), meeting(wanted) as met, RayPool(self, wanted, met) as workers:
            yield workers

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """
        Raises:
            CfgenError: there is no such cluster.
        """
        ray = self._ray
        if ray.is_initialized():
            yield
            return
        address = self.address or os.environ.get("RAY_ADDRESS", "")
        if address not in ("", "auto", "local"):
            current().require(host_of(address if "://" in address else f"ray://{address}"), "engine 'ray'")
            if why := nobody_at(address):
                raise _no_cluster(address, why)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent that nobody asked for
        try:
            with own_signals():
                ray.init(
                    address=address or None,
                    log_to_driver=False,
                    logging_level="error",
                    configure_logging=True,
                )
        except Exception as error:
            raise _no_cluster(address or "this machine", _short(error)) from error
        try:
            yield
        finally:
            ray.shutdown()


@dataclass(eq=False)
class _Item:
    """``deaths``: of workers that had it in hand; ``nodes``: of machines."""

    item: Any
    deaths: int = 0
    nodes: int = 0


@dataclass(eq=False)
class _Hired:
    """One actor. ``start`` is what it says first; then it has items ``in_hand``, in the order in which it does them."""

    actor: Any
    start: Any
    node: str = ""
    in_hand: "deque[tuple[Any, _Item | None]]" = field(default_factory=deque)


class RayPool:
    """See :class:`cfgen.core.engines.protocol.Pool`."""

    def __init__(self, engine: Ray, wanted: Wanted, met: Meeting) -> None:
        import ray
        from ray import cloudpickle

        self._ray, self._engine, self._wanted, self._met = ray, engine, wanted, met
        cloudpickle.register_pickle_by_value(ray_actor)
        share = self._share()
        given = {"CPU": share["num_cpus"], "GPU": share["num_gpus"], **engine.resources}
        self._takes = {name: each for name, each in given.items() if each}
        self._kind = ray.remote(**share, max_restarts=0, scheduling_strategy="SPREAD")(ray_actor.Worker)
        self._asked = question(look, met.asked)
        self._desk = self._open_desk(wanted.serve) if wanted.serve else None
        self._hired: list[_Hired] = []
        self._looked, self._places = 0.0, 0
        self._stillborn = 0

    def _share(self) -> dict[str, Any]:
        """What a worker takes of the cluster, in Ray's words."""
        engine = self._engine
        cards = 0.0 if self._wanted.serve else self._cards(self._wanted.model)
        return {"num_cpus": engine.num_cpus, "num_gpus": cards, "resources": engine.resources or None}

    def _cards(self, model: bool) -> float:
        if self._engine.num_gpus >= 0:
            return self._engine.num_gpus
        return float(model and self._ray.cluster_resources().get("GPU", 0) > 0)

    def _open_desk(self, serve: Callable[[Any], Any]) -> Any:
        """On this machine, as it is of no use without this process; it does nothing itself."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=False)
        kind = self._ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=here)
        terms = {
            "share": {"num_cpus": 0, "num_gpus": self._cards(True)},
            "most": self._engine.model_workers,
            "deaths": DEATHS,
            "starts": STARTS,
            "wait_s": self._engine.wait_s,
        }
        how, fault = (
            pickle.dumps(partial(served, serve)),
            pickle.dumps(partial(_unfit, self._met)),
        )
        return kind(ray_actor.Desk).remote(terms, self._start(), self._asked, how, fault)

    def _start(self) -> tuple[Any, ...]:
        """What an actor is started with."""
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return __version__, environment, str(Path.cwd())

    # --- workers ------------------------------------------------------------------------------------------

    def __enter__(self) -> "RayPool":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        hired, self._hired = self._hired, []
        if kind is None:
            ends = [one.actor.end.remote() for one in hired if one.node]
            with contextlib.suppress(Exception):
                self._ray.wait(ends, num_returns=len(ends), timeout=_END_S)
        for one in hired:
            with contextlib.suppress(Exception):
                self._ray.kill(one.actor)
        if self._desk is not None:  # and with it those that it hired
            self._ray.kill(self._desk)

    def _size(self) -> int:
        """Workers that there should be now: nodes come and go."""
        if self._wanted.jobs:
            return min(self._wanted.jobs, self._wanted.most or self._wanted.jobs)
        if time.monotonic() - self._looked > _LOOK_S:
            self._looked = time.monotonic()
            there = self._ray.cluster_resources()
            self._places = int(min(there.get(name, 0) // each for name, each in self._takes.items()))
            if self._wanted.model and not self._takes.get("GPU"):  # one takes a whole machine
                self._places = min(self._places, sum(node["Alive"] for node in self._ray.nodes()))
        places = max(self._places, 1)
        return min(places, self._wanted.most or places)

    def _hire(self) -> None:
        while len(self._hired) < self._size():
            actor: Any = self._kind.remote(*self._start(), self._desk)
            self._hired.append(_Hired(actor, actor.ready.remote(self._asked)))

    def _welcome(self, one: _Hired) -> None:
        """
        Raises:
            CfgenError: it cannot be used.
        """
        try:
            said = self._ray.get(one.start)
        except self._ray.exceptions.RayError as error:
            self._dismiss(one)
            self._stillborn += 1  # it, or its machine, may have been killed: that is no fault of the others
            if self._stillborn >= STARTS:
                raise CfgenError(f"engine 'ray': no worker can start ({_short(error)})") from error
            return
        if problem := said.get("problem", "") or _unfit(self._met, said):
            why = f", this process has {__version__}" if problem.startswith("has cfgen") else ""
            raise CfgenError(f"engine 'ray': node {said['host']} {problem}{why}")
        one.node, self._stillborn = said["node"], 0

    def _dismiss(self, one: _Hired) -> None:
        self._hired.remove(one)
        with contextlib.suppress(Exception):
            self._ray.kill(one.actor)

    # --- work ---------------------------------------------------------------------------------------------

    def run(
        self, work: Callable[[T], R], items: Iterable[T], lost: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        self._forget()
        queue = _Queue(items)
        waiting_since = time.monotonic()
        while queue.more() or any(one.in_hand for one in self._hired):
            self._hire()
            self._hand_out(work, queue)
            ready = self._next()
            if any(one.node for one in self._hired):
                waiting_since = time.monotonic()
            elif time.monotonic() - waiting_since > self._engine.wait_s:
                raise self._nobody()
            for one in ready:
                if not one.node:
                    self._welcome(one)
                    continue
                reference, entry = one.in_hand.popleft()
                try:
                    told = self._ray.get(reference)
                except self._ray.exceptions.RayError as error:
                    self._ended(one, entry, queue, error)
                    continue
                if entry is not None:
                    yield _result(told)
            while queue.lost:
                entry, died = queue.lost.popleft()
                yield lost(entry.item, died)

    def _forget(self) -> None:
        """What an earlier run that was left early had in hand is no longer wanted."""
        for one in self._hired:
            one.in_hand = deque((reference, None) for reference, _ in one.in_hand)

    def _hand_out(self, work: Callable[[Any], Any], queue: "_Queue") -> None:
        """In turns, so that no worker has two items while another has none."""
        for depth in range(IN_HAND):
            for one in self._hired:
                if one.node and len(one.in_hand) == depth:
                    entry = queue.take(alone=not one.in_hand)
                    if entry is not None:
                        one.in_hand.append((one.actor.do.remote(question(work, entry.item)), entry))

    def _next(self) -> list[_Hired]:
        """Those that have something to say, waited for."""
        asked = [one for one in self._hired if one.in_hand or not one.node]
        by_sign = {one.in_hand[0][0] if one.node else one.start: one for one in asked}
        if not by_sign:
            time.sleep(0.05)
            return []
        ready, _ = self._ray.wait(list(by_sign), num_returns=1, timeout=min(_LOOK_S, self._engine.wait_s))
        return [by_sign[sign] for sign in ready]

    def _ended(self, one: _Hired, entry: _Item | None, queue: "_Queue", error: Exception) -> None:
        """A worker died: what it had in hand is tried again, what waited behind that was not begun."""
        self._dismiss(one)
        for _, waited in reversed(one.in_hand):
            if waited is not None:
                queue.back(waited)
        if entry is None:
            return
        if self._gone(one.node) and entry.nodes < NODES:
            entry.nodes += 1
            queue.back(entry)
            return
        entry.deaths += 1
        if entry.deaths < DEATHS:
            queue.suspects.append(entry)
        else:
            queue.lost.append((entry, WorkerDiedError(f"worker died ({_short(error)})")))

    def _gone(self, node: str) -> bool:
        """Whether the machine is no longer there, which is no fault of what was done on it."""
        return not any(found["NodeID"] == node and found["Alive"] for found in self._ray.nodes())

    def _nobody(self) -> CfgenError:
        asked = ", ".join(f"{name} {each:g}" for name, each in self._takes.items())
        there = {n: v for n, v in self._ray.cluster_resources().items() if n in self._takes}
        found = ", ".join(f"{name} {value:g}" for name, value in sorted(there.items())) or "none of these"
        nodes = sum(1 for node in self._ray.nodes() if node["Alive"])
        return CfgenError(
            f"engine 'ray': no worker ({asked}) could start in {self._engine.wait_s:g} s on {nodes} nodes that have "
            f"{found}; add nodes, or ask for less with --engine-option num_cpus=..., num_gpus=..."
        )


class _Queue:
    """Items not begun; those that killed a worker come last, and are handed to a worker that has nothing else."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._fresh, self._again = iter(items), deque[_Item]()
        self.suspects: deque[_Item] = deque()
        self.lost: deque[tuple[_Item, WorkerDiedError]] = deque()
        self._ahead: _Item | None = None

    def more(self) -> bool:
        return self._peek() is not None or bool(self.suspects or self.lost)

    def back(self, entry: _Item) -> None:
        self._again.appendleft(entry)

    def take(self, alone: bool) -> _Item | None:
        """The next; ``alone``: whether its worker has nothing else."""
        entry = self._peek()
        if entry is None:
            return self.suspects.popleft() if alone and self.suspects else None
        if self._again:
            return self._again.popleft()
        self._ahead = None
        return entry

    def _peek(self) -> _Item | None:
        if self._again:
            return self._again[0]
        if self._ahead is None:
            for item in self._fresh:
                self._ahead = _Item(item)
                break
        return self._ahead


def _no_cluster(where: str, why: str) -> CfgenError:
    return CfgenError(
        f"engine 'ray': no cluster at {where} ({why}); start one with: ray start --head, and give its address by "
        "RAY_ADDRESS or --engine-option address=HOST:PORT"
    )


def _unfit(met: Meeting, said: Mapping[str, Any]) -> str:
    """Why a worker cannot be used, by what it said first, or ""."""
    return met.fault(_result(said["told"]))


def _result(told: bytes) -> Any:
    found: Told = pickle.loads(told)
    return found.result()


def _short(error: BaseException) -> str:
    """The first line that says what happened, of Ray's many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if "dead because" in line or "died because" in line), None)
    text = told or (lines[-1] if lines else type(error).__name__)
    return text.partition(" Some common causes")[0][:240]
