"""Child processes that do not run the caller's script again.

Python's own "spawn" imports the caller's ``__main__`` in every child, so that work started at the top of a script
without an ``if __name__ == "__main__":`` ends in children that start children. Nothing that cfgen sends to a child
comes from there: work and planners are named by modules that can be imported. So a child is told nothing of it.
"""

import os
import signal
import sys
import threading
from multiprocessing import connection, parent_process, popen_spawn_posix, spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from types import FunctionType, SimpleNamespace
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.isolate import isolated


def context(alone: bool = False) -> SpawnContext:
    """For ``Process``, ``Pipe`` and pools; from a script, a notebook or a thread alike.

    Args:
        alone: processes get a network of their own, with all that they start; ``isolate.available()`` says where.
    """
    return _AloneContext() if alone else _Context()


def importable(thing: Any) -> str:
    """``module:name`` by which a child finds a class or function.

    Raises:
        InputError: it was defined in a script, a notebook or another function, where no child can find it.
    """
    module, name = str(thing.__module__), str(thing.__qualname__)
    if module == "__main__":  # that of ``python -m package.module`` has a name of its own
        module = getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", module)
    if module == "__main__" or "<locals>" in name:
        raise InputError(
            f"class '{name}' is defined in the script, notebook or function that runs now, and a process of its own "
            f"cannot import it from there: pass an instance, {thing.__name__}(), to run it in this process, or move "
            "it to a module"
        )
    return f"{module}:{name}"


def _without_main(name: str) -> dict[str, Any]:
    told = spawn.get_preparation_data(name)
    return {key: value for key, value in told.items() if not key.startswith("init_main_from")}


def _isolated_command(**handles: Any) -> list[str]:
    return isolated([os.fsdecode(word) for word in spawn.get_command_line(**handles)])


def _launching(**other: Any) -> FunctionType:
    # The standard launch, reading other functions of ``spawn``: neither a copy of its code nor a patch that other
    # users of multiprocessing in this process, or in another thread of it, would feel.
    return FunctionType(
        popen_spawn_posix.Popen._launch.__code__,  # type: ignore[attr-defined]
        {**vars(popen_spawn_posix), "spawn": SimpleNamespace(**{**vars(spawn), **other})},
    )


class _Popen(popen_spawn_posix.Popen):
    _launch = _launching(get_preparation_data=_without_main)


class _AlonePopen(popen_spawn_posix.Popen):
    # By a program before Python's start: once libraries have threads, a system may refuse a process a new network.
    _launch = _launching(get_preparation_data=_without_main, get_command_line=_isolated_command)


class _Process(SpawnProcess):
    """Interrupts of the terminal, which reach it too, are left to its parent; it never outlives that."""

    def start(self) -> None:
        # held back until the child ignores them, so that none ends it halfway into its imports
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().run()

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        return _Popen(process_obj)


def _end_with_parent() -> None:
    """However the parent ended, by ``kill -9`` too, its end of a pipe is closed."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


class _AloneProcess(_Process):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        return _AlonePopen(process_obj)


class _Context(SpawnContext):
    Process = _Process


class _AloneContext(SpawnContext):
    Process = _AloneProcess
