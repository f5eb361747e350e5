"""What a worker on a Ray cluster is.

Ray gets it by value, so that a node with another cfgen, or none, says so instead of failing in words of its own:
nothing of cfgen is imported before its version is known.
"""

import os
import socket
import sys
from typing import Any


class Worker:
    """Does one piece of work at a time, and loads what these need once."""

    def __init__(self, version: str, environment: "dict[str, str]", folder: str) -> None:
        self._version = version
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
        return {**where, "told": answer(asked)}

    def do(self, asked: bytes) -> bytes:
        from cfgen.core.engines.told import answer

        return answer(asked)

    def end(self) -> None:
        """What was registered to be done at the end is done."""
        import ray

        ray.actor.exit_actor()
