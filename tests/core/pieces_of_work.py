"""Work for the tests of engines; workers import it."""

import os
import signal
import sys
from pathlib import Path

from cfgen.core.engines.pool import ask_model


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


class UnpicklableError(Exception):
    def __init__(self, number, name) -> None:
        super().__init__(f"{number} and {name}")


def fail(how: str) -> None:
    if how == "exit":
        sys.exit(0)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "unpicklable":
        raise UnpicklableError(1, "one")
    raise ValueError(f"bad {how}")


def another_taxonomy() -> dict[str, str]:
    return {"taxonomy": f"of {os.getpid()}"}


def asking_twice(x: int) -> tuple[int, int]:
    """A model worker is asked in the middle of it."""
    return x, ask_model(ask_model(x))


def add_100(flag: str, x: int) -> int:
    """As a model worker; the first of them dies at 3, all do at -1, and 7 is refused."""
    if x == 3 and not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if x == -1:
        os._exit(9)
    if x == 7:
        raise ValueError("not seven")
    return x + 100
