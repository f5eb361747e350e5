"""Work for the tests of engines; workers import it."""

import os
import signal
import time
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


def note(asked: tuple[str, int, float]) -> tuple[int, int, str]:
    """Leaves a file for each time it is begun, one line a time."""
    import ray

    folder, x, seconds = asked
    with (Path(folder) / str(x)).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return x, os.getpid(), ray.get_runtime_context().get_node_id()


def another_taxonomy() -> dict[str, str]:
    return {"taxonomy": f"of {os.getpid()}"}
