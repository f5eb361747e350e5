"""Python processes that end with this one and never run the caller's script again.

``multiprocessing`` imports the caller's ``__main__`` in every process that it spawns, so that work started at the top
of a script without an ``if __name__ == "__main__":`` ends in children that start children. A :class:`Child` is started
as a program instead, and told which function of a module to call.
"""

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection, Pipe
from typing import Any

#: s between two looks whether a process that is silent still lives
_LOOK_S = 1.0


class Child:
    """A process that calls a function with its end of a :class:`Connection`.

    Interrupts of the terminal, which reach it too, are left to this process; it never outlives this one, however that
    ends.

    Args:
        function: ``package.module:name``; it takes the connection.
        environment: variables besides those of this process.

    Raises:
        OSError: the system starts no more processes.
    """

    def __init__(self, function: str, environment: Mapping[str, str] | None = None) -> None:
        self.connection, theirs = Pipe()
        its_leash, self._leash = Pipe(duplex=False)
        descriptors = theirs.fileno(), its_leash.fileno()
        # held back until the child ignores them, so that none ends it halfway into its imports
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__, function, *map(str, descriptors)],
                stdin=subprocess.DEVNULL,
                pass_fds=descriptors,
                env={**os.environ, **(environment or {})},
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            theirs.close()
            its_leash.close()
        with contextlib.suppress(OSError):  # it has died: noticed when it is read from
            self.connection.send(sys.path)

    def receive(self) -> Any:
        """What it sends next.

        Raises:
            EOFError: it has ended.
        """
        while not self.connection.poll(_LOOK_S):
            if self.process.poll() is not None:  # what it forked may hold the connection open
                raise EOFError
        try:
            return self.connection.recv()
        except OSError as error:
            raise EOFError from error

    def exit_words(self) -> str:
        """How it ended; waits for that."""
        code = self.process.wait()
        if code >= 0:
            return f"exit code {code}"
        return f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"


def _main(function: str, connection_fd: str, leash_fd: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for descriptor in (connection_fd, leash_fd):
        os.set_inheritable(int(descriptor), False)
    threading.Thread(target=_end_with_parent, args=(Connection(int(leash_fd)),), daemon=True).start()
    connection = Connection(int(connection_fd))
    sys.path[:] = connection.recv()
    module, _, name = function.partition(":")
    getattr(importlib.import_module(module), name)(connection)


def _end_with_parent(leash: Connection) -> None:
    """However the parent ended, by ``kill -9`` too, its end of the leash is closed."""
    with contextlib.suppress(EOFError, OSError):
        leash.recv_bytes()
    os._exit(1)


if __name__ == "__main__":
    _main(*sys.argv[1:])
