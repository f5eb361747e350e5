"""Workers on a Ray cluster: actors that keep what they have loaded."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cfgen.core.engines import ray_actor
from cfgen.core.engines.pool import ModelPool, WorkerPool, question
from cfgen.core.engines.registry import Pool, WorkerDiedError, WorkerNeeds
from cfgen.core.errors import CfgenError, InputError, MissingExtraError
from cfgen.core.interrupts import sigterm_restored
from cfgen.core.network import HUBS, VARIABLE, current, host_of
from cfgen.version import __version__

#: s between two looks at what the cluster has
_LOOK_S = 5.0
#: s that a worker gets to end
_END_S = 5.0
#: s in which a cluster takes a connection and greets
_CONNECT_S = 5.0
#: variables that workers get from this process
_PASSED_ON = (VARIABLE, *HUBS, "OMP_NUM_THREADS")
#: packages that decide pixels and the bytes of a picture
_DECISIVE = ("numpy", "opencv-python", "pillow", "scipy")


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
        self._address, self._num_cpus, self._num_gpus = address, num_cpus, num_gpus
        self._resources, self._wait_s, self._model_workers = dict(own), wait_s, model_workers

    @contextlib.contextmanager
    def pool(self, needs: WorkerNeeds) -> Iterator[Pool]:
        from ray import cloudpickle

        cloudpickle.register_pickle_by_value(ray_actor)
        with self._connection(), _requirements(needs) as required, self._workers(needs, required) as workers:
            yield workers

    @contextlib.contextmanager
    def _connection(self) -> Iterator[None]:
        """
        Raises:
            CfgenError: there is no such cluster.
        """
        ray = self._ray
        if ray.is_initialized():
            yield
            return
        address = self._address or os.environ.get("RAY_ADDRESS", "")
        if address not in ("", "auto", "local"):
            current().require(host_of(address if "://" in address else f"ray://{address}"), "engine 'ray'")
            if why := why_unreachable(address):
                raise _no_cluster(address, why)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent that nobody asked for
        try:
            with sigterm_restored():
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

    def _workers(self, needs: WorkerNeeds, requirements: bytes) -> WorkerPool:
        with_model = needs.serve is not None
        cards = 0.0 if with_model else self._cards(needs.model)
        share = {"num_cpus": self._num_cpus, "num_gpus": cards, "resources": self._resources or None}
        model_share = {"num_cpus": 0, "num_gpus": self._cards(True)}
        model = None
        if needs.serve is not None:
            model = ModelPool(
                needs.serve,
                lambda _: ActorWorker(self._ray, model_share, requirements, False),
                lambda: self._model_workers or (self._places(model_share) if model_share["num_gpus"] else 1),
                patient=False,
                start_limit=(self._wait_s, lambda: self._nobody_starts(model_share)),
            )
        places, checked_at = 0, 0.0

        def size() -> int:
            """Nodes come and go."""
            nonlocal places, checked_at
            if needs.jobs:
                return min(needs.jobs, needs.most or needs.jobs)
            if not places or time.monotonic() - checked_at > _LOOK_S:
                checked_at, places = time.monotonic(), self._places(share, one_a_node=needs.model)
            return min(places, needs.most or places)

        return WorkerPool(
            lambda _: ActorWorker(self._ray, share, requirements, with_model),
            size,
            retry_alone=False,
            patient=False,
            model=model,
            start_limit=(self._wait_s, lambda: self._nobody_starts(share)),
        )

    def _cards(self, model: bool) -> float:
        if self._num_gpus >= 0:
            return self._num_gpus
        return float(model and self._ray.cluster_resources().get("GPU", 0) > 0)

    def _places(self, share: Mapping[str, Any], one_a_node: bool = False) -> int:
        """Workers of this share that the cluster has room for, at least 1."""
        takes, total = _takes(share), self._ray.cluster_resources()
        places = int(min(total.get(name, 0) // amount for name, amount in takes.items()))
        if one_a_node and "GPU" not in takes:  # a model takes the whole machine
            places = min(places, sum(node["Alive"] for node in self._ray.nodes()))
        return max(places, 1)

    def _nobody_starts(self, share: Mapping[str, Any]) -> CfgenError:
        takes, total = _takes(share), self._ray.cluster_resources()
        requested = ", ".join(f"{name} {amount:g}" for name, amount in takes.items())
        available = ", ".join(f"{name} {total[name]:g}" for name in sorted(takes) if name in total)
        nodes = sum(1 for node in self._ray.nodes() if node["Alive"])
        return CfgenError(
            f"engine 'ray': no worker ({requested}) could start in {self._wait_s:g} s on {nodes} nodes that have "
            f"{available or 'none of these'}; add nodes, or ask for less with --engine-options num_cpus=..., "
            "num_gpus=..."
        )


def _takes(share: Mapping[str, Any]) -> dict[str, float]:
    amounts = {"CPU": share["num_cpus"], "GPU": share["num_gpus"], **(share.get("resources") or {})}
    return {name: amount for name, amount in amounts.items() if amount}


class ActorWorker:
    """See :class:`cfgen.core.engines.pool.Worker`. ``share``: of the cluster, in Ray's words."""

    def __init__(self, ray: Any, share: Mapping[str, Any], requirements: bytes, with_model: bool) -> None:
        self._ray, self._terms = ray, (__version__, requirements, with_model)
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        kind = ray.remote(**share, max_restarts=0, scheduling_strategy="SPREAD")(ray_actor.RayWorker)
        self._actor = kind.remote(environment, str(Path.cwd()))

    def start(self) -> None:
        if problem := self._get(self._actor.start.remote(*self._terms)):
            raise CfgenError(f"engine 'ray': {problem}")

    def work(self, request: bytes, ask_model: Callable[[bytes], bytes]) -> bytes:
        kind, data = self._get(self._actor.exchange.remote(request))
        while kind == "ask":
            kind, data = self._get(self._actor.exchange.remote(ask_model(data)))
        reply: bytes = data
        return reply

    def _get(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            raise WorkerDiedError(f"worker died ({_short(error)})") from error

    def end(self) -> None:
        with contextlib.suppress(Exception):
            self._ray.wait([self._actor.end.remote()], timeout=_END_S)
        self.kill()

    def kill(self) -> None:
        with contextlib.suppress(Exception):
            self._ray.kill(self._actor)


# --- what workers on other machines must have in common with this process -------------------------------


@contextlib.contextmanager
def _requirements(needs: WorkerNeeds) -> Iterator[bytes]:
    """For :meth:`ray_actor.RayWorker.start`; meanwhile a file in the first folder tells it from others of that path.

    Raises:
        CfgenError: the folder cannot be written to.
    """
    token = needs.folders[0] / ".work" / f"ray-{os.getpid()}-{time.time_ns()}" if needs.folders else None
    try:
        if token is not None:
            token.parent.mkdir(parents=True, exist_ok=True)
            token.touch()
    except OSError as error:
        raise CfgenError(
            f"{token}: cannot write ({error.strerror}); free space or fix permissions"
        ) from error
    try:
        yield question(why_unfit, (needs.folders, token, needs.same, versions(needs.same)))
    finally:
        if token is not None:
            token.unlink(missing_ok=True)


def versions(same: Callable[[], Mapping[str, str]] | None) -> dict[str, str]:
    """Of what decides the bytes of a benchmark, in this process."""
    installed = {}
    for package in _DECISIVE:
        with contextlib.suppress(PackageNotFoundError):
            installed[package] = version(package)
    return {**installed, **(same() if same else {})}


def why_unfit(
    required: tuple[tuple[Path, ...], Path | None, Callable[[], Mapping[str, str]] | None, dict[str, str]],
) -> str:
    """At a worker: why it cannot be used, or ""."""
    folders, token, same, expected = required
    for folder in folders:
        if not folder.is_dir():
            return f"does not see the folder {folder}; put it on a disk that every node sees, or leave the node out"
    if token is not None and not token.is_file():
        return (
            f"sees another folder at {folders[0]}; put it on a disk that every node sees under the same path"
        )
    installed = versions(same)
    for name, value in expected.items():
        if installed.get(name) != value:
            return f"has {name} {installed.get(name, 'missing')}, expected {value} as here; install the same there"
    return ""


def why_unreachable(address: str) -> str:
    """Why there is no Ray at HOST:PORT, or "": Ray itself would wait for minutes where nobody listens."""
    parts = urlsplit(address if "://" in address else f"ray://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme != "ray":
        return ""  # of somebody who knows more of Ray
    if not host or not port:
        return f"expected HOST:PORT, found {address}"
    try:
        with socket.create_connection((host, port), _CONNECT_S) as connection:
            if os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true"):
                return ""
            # Ray speaks gRPC: whom a client greets in HTTP/2 answers with its settings, a frame of kind 4
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            greeting = connection.recv(64)
    except TimeoutError:
        return "no answer"
    except OSError as error:
        return str(error.strerror or error)
    return "" if greeting[3:4] == bytes([4]) else "something else than Ray listens there"


def _no_cluster(where: str, why: str) -> CfgenError:
    return CfgenError(
        f"engine 'ray': no cluster at {where} ({why}); start one with: ray start --head, and give its address by "
        "RAY_ADDRESS or --engine-options address=HOST:PORT"
    )


def _short(error: BaseException) -> str:
    """The first line that says what happened, of Ray's many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = next((line for line in lines if "dead because" in line or "died because" in line), None)
    text = cause or (lines[-1] if lines else type(error).__name__)
    return text.partition(" Some common causes")[0][:240]
