"""What a worker on a Ray cluster is.

Ray gets it by value, so that a node with another cfgen, or none, says so instead of failing in words of its own:
nothing of cfgen is imported before its version is known.
"""

import asyncio
import os
import pickle
import socket
import sys
from typing import Any


class Worker:
    """Does one piece of work at a time, and loads what these need once."""

    def __init__(self, version: str, environment: "dict[str, str]", folder: str, desk: Any = None) -> None:
        """``desk``: whom it asks of a model, see :class:`Desk`."""
        self._version, self._desk = version, desk
        os.environ.update(environment)
        if os.path.isdir(folder):  # noqa: PTH112 - as little as can be
            os.chdir(folder)

    def ready(self, asked: bytes) -> "dict[str, Any]":
        """Where it is; ``problem`` says why it cannot be used; ``told`` answers what was ``asked``."""
        import ray

        where = {
            "host": socket.gethostname(),
            "node": ray.get_runtime_context().get_node_id(),
            "pid": os.getpid(),
        }
        try:
            import cfgen
        except ImportError as error:
            return {**where, "problem": f"cfgen cannot be imported ({error}) by {sys.executable}"}
        if cfgen.__version__ != self._version:
            return {**where, "problem": f"has cfgen {cfgen.__version__}"}
        from cfgen.core.engines.told import answer
        from cfgen.core.network import obey

        obey()
        if self._desk is not None:
            from cfgen.core.engines.asking import connect

            connect(self._asked)
        return {**where, "told": answer(asked)}

    def do(self, asked: bytes) -> bytes:
        from cfgen.core.engines.told import answer

        return answer(asked)

    def serve(self, how: bytes, data: bytes) -> bytes:
        """What ``how``, a function, makes of what a worker asked."""
        from cfgen.core.engines.told import answer

        return answer(pickle.dumps((pickle.loads(how), data)))

    def _asked(self, data: bytes) -> bytes:
        import ray

        told: bytes = ray.get(self._desk.ask.remote([ray.put(data)]))
        return told

    def end(self) -> None:
        """What was registered to be done at the end is done."""
        import ray

        ray.actor.exit_actor()


class Desk:
    """Between workers and those that hold a model, which it hires: one that dies is replaced.

    A worker asks one thing at a time and waits, so that at most as many things wait here as there are workers. What is
    asked goes from node to node without passing here.
    """

    def __init__(
        self, terms: "dict[str, Any]", worker: "tuple[Any, ...]", asked: bytes, how: bytes, fault: bytes
    ) -> None:
        """
        Args:
            terms: ``share`` of the cluster that one takes; ``most`` of them, 0 for one a card; ``deaths`` of one thing,
                ``starts`` and ``wait_s`` as elsewhere.
            worker: arguments of each. asked: what it is asked first. fault: a function of what it says then.
            how: what it does with what workers ask.
        """
        self._terms, self._worker, self._asked_first, self._how, self._fault = (
            terms,
            worker,
            asked,
            how,
            fault,
        )
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        self._hired, self._alive, self._stillborn, self._problem = 0, 0, 0, ""
        self._hiring: list[Any] = []

    async def ask(self, wrapped: "list[Any]") -> bytes:
        import ray

        deaths = 0
        while True:
            model = await self._one()
            if model is None:
                return self._refusal()
            try:
                told: bytes = await model.serve.remote(self._how, wrapped[0])
            except ray.exceptions.RayActorError as error:
                self._hired, self._alive, deaths = self._hired - 1, self._alive - 1, deaths + 1
                if deaths >= self._terms["deaths"]:
                    return self._died(error)
            else:
                self._free.put_nowait(model)
                return told

    async def _one(self) -> Any:
        """One that is free; None: there can be none."""
        while not self._problem:
            if self._free.empty() and self._hired < self._most():
                self._hired += 1
                self._hiring = [task for task in self._hiring if not task.done()]
                self._hiring.append(asyncio.ensure_future(self._hire()))
            try:
                model = await asyncio.wait_for(self._free.get(), self._terms["wait_s"])
            except TimeoutError:
                if not self._alive:
                    self._problem = f"nobody that holds a model ({self._terms['share']}) could start"
                continue
            if model is not None:
                return model
        self._free.put_nowait(None)  # for the next one that waits
        return None

    async def _hire(self) -> None:
        import ray

        model = ray.remote(**self._terms["share"], max_restarts=0, scheduling_strategy="SPREAD")(
            Worker
        ).remote(*self._worker)
        try:
            said = await model.ready.remote(self._asked_first)
        except ray.exceptions.RayActorError as error:
            self._hired, self._stillborn = self._hired - 1, self._stillborn + 1
            if self._stillborn >= self._terms["starts"]:
                self._problem = f"nobody that holds a model can start ({str(error).splitlines()[0]})"
                self._free.put_nowait(None)
            elif self._hired < self._most():
                self._hired += 1
                await self._hire()
            return
        try:
            problem = said.get("problem", "") or pickle.loads(self._fault)(said)
        except Exception as error:  # another cfgen, or none, beside the command
            problem = f"cannot be looked at from the node of the command ({error})"
        if problem:
            self._problem = f"node {said['host']} {problem}"
            self._free.put_nowait(None)
            return
        self._alive, self._stillborn = self._alive + 1, 0
        self._free.put_nowait(model)

    def _most(self) -> int:
        """As many as there should be now: nodes come and go."""
        import ray

        cards = self._terms["share"]["num_gpus"]
        if self._terms["most"] or not cards:
            return int(self._terms["most"] or 1)
        return max(1, int(ray.cluster_resources().get("GPU", 0) // cards))

    def _refusal(self) -> bytes:
        from cfgen.core.engines.told import Told
        from cfgen.core.errors import CfgenError

        return pickle.dumps(Told(error=CfgenError(f"engine 'ray': {self._problem}")))

    def _died(self, error: Exception) -> bytes:
        from cfgen.core.engines.protocol import WorkerDiedError
        from cfgen.core.engines.told import Told

        why = f"who holds the model died ({str(error).splitlines()[0]})"
        return pickle.dumps(Told(error=WorkerDiedError(why)))
