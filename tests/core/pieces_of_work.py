"""Work for the tests of engines; workers import it."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path


def square(x: int) -> int:
    return x * x


def square_unless_deadly(x: int) -> int:
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def die_once(flag: str) -> str:
    path = Path(flag)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def fail(x: int) -> int:
    raise ValueError(f"bad {x}")


def another_taxonomy() -> dict[str, str]:
    return {"taxonomy": f"of {os.getpid()}"}


def wait_for(sign: Callable[[], object], then: Callable[[], object]) -> threading.Thread:
    """``then()`` in a thread, once there is a ``sign``."""

    def look() -> None:
        end = time.monotonic() + 120
        while sign() is None and time.monotonic() < end:
            time.sleep(0.02)
        then()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    return thread
