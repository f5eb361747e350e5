"""Work for the tests of engines; workers import it."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cfgen.core.engines.asking import ask


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


def asking_twice(x: int) -> tuple[int, int]:
    """Who holds a model is asked in the middle of it."""
    return x, ask(ask(x))


def add_100(flag: str, x: int) -> int:
    """As one that holds a model; the first of them dies at 3, all do at -1, and 7 is refused."""
    if x == 3 and not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if x == -1:
        os._exit(9)
    if x == 7:
        raise ValueError("not seven")
    return x + 100
