"""What a worker on a Ray cluster is.

Ray gets it by value, so that a node with another cfgen, or none, says so instead of failing in words of its own:
nothing of cfgen is imported before its version is known.
"""

import os
import queue
import socket
import sys
import threading


class RayWorker:
    """Does one piece of work at a time, in a thread, so that it may ask for something in the middle of it."""

    def __init__(self, environment: "dict[str, str]", folder: str) -> None:
        os.environ.update(environment)
        if os.path.isdir(folder):  # noqa: PTH112 - as little as can be
            os.chdir(folder)
        self._inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()

    def start(self, version: str, requirements: bytes, with_model: bool) -> str:
        """Why it cannot be used, or ""."""
        where = f"node {socket.gethostname()}"
        try:
            import cfgen.version
        except ImportError as error:
            return f"{where} cannot import cfgen ({error}) with {sys.executable}"
        if cfgen.version.__version__ != version:
            return f"{where} has cfgen {cfgen.version.__version__}, this process has {version}"
        from cfgen.core.engines.pool import answer, connect_model, result_of
        from cfgen.core.network import obey

        obey()
        if with_model:
            connect_model(self._ask)
        problem = result_of(answer(requirements))
        threading.Thread(target=self._work, daemon=True).start()
        return f"{where} {problem}" if problem else ""

    def exchange(self, message: bytes) -> "tuple[str, bytes]":
        """Gets a question, or the reply to what it asked; gives "done" and a reply, or "ask" and what it asks."""
        self._inbox.put(message)
        return self._outbox.get()

    def _work(self) -> None:
        from cfgen.core.engines.pool import answer

        while True:
            self._outbox.put(("done", answer(self._inbox.get())))

    def _ask(self, data: bytes) -> bytes:
        self._outbox.put(("ask", data))
        return self._inbox.get()

    def end(self) -> None:
        """What was registered to be done at the end is done."""
        import ray

        ray.actor.exit_actor()
