"""Before Ray is asked: it waits for minutes where nobody listens, and takes the wish to end for itself."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from cfgen.core.interrupts import Interrupted

#: s until nobody is there
KNOCK_S = 5.0
#: Ray speaks gRPC: who is greeted in HTTP/2 answers with its settings, frames of kind 4
_KNOCK = """
import socket, sys
try:
    door = socket.create_connection((sys.argv[1], int(sys.argv[2])), float(sys.argv[3]))
except OSError as error:
    sys.exit(str(error.strerror or error))
said = b""
try:
    door.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    while len(said) < 4 and (part := door.recv(64)):
        said += part
except OSError:
    pass
if said[3:4] != bytes([4]) and sys.argv[4] != "tls":
    sys.exit("something else than Ray listens there")
"""


def nobody_at(address: str) -> str:
    """Why nobody can be reached at HOST:PORT, or ""; by a process of its own, which ends however long names take."""
    found = urlsplit(address if "://" in address else f"ray://{address}")
    try:
        host, port = found.hostname, found.port
    except ValueError as error:
        return str(error)
    if found.scheme != "ray":
        return ""  # of somebody who knows more of Ray
    if not host or not port:
        return f"expected HOST:PORT, found {address}"
    sealed = os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true")
    knock = [sys.executable, "-I", "-S", "-c", _KNOCK, host, str(port), str(KNOCK_S), "tls" if sealed else ""]
    try:
        done = subprocess.run(knock, capture_output=True, text=True, timeout=2 * KNOCK_S + 1)
    except subprocess.TimeoutExpired:
        return "no answer"
    return done.stderr.strip() or "no answer" if done.returncode else ""


@contextlib.contextmanager
def own_signals() -> Iterator[None]:
    """What is done within may set a handler for SIGTERM that exits; afterwards ours is back.

    Raises:
        Interrupted: SIGTERM came meanwhile.
    """
    ours = signal.getsignal(signal.SIGTERM) if threading.current_thread() is threading.main_thread() else None
    try:
        yield
    except SystemExit as error:
        raise Interrupted(signal.SIGTERM) from error
    finally:
        if ours is not None:
            signal.signal(signal.SIGTERM, ours)
