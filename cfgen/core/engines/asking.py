"""What a worker asks, in the middle of its work, of those that hold a model: a further stage, on a card of its own."""

import pickle
from collections.abc import Callable
from typing import Any

from cfgen.core.engines.told import Told

#: sends what is asked, and waits for what was told
Line = Callable[[bytes], bytes]
_lines: list[Line] = []


def connect(line: Line) -> None:
    """In a worker, for good."""
    _lines[:] = [line]


def connected() -> bool:
    """Whether somebody can be asked; otherwise a worker holds what it needs itself."""
    return bool(_lines)


def ask(thing: Any) -> Any:
    """What ``Wanted.serve`` makes of it. Raises what that raises, or WorkerDiedError."""
    told: Told = pickle.loads(_lines[0](pickle.dumps(thing)))
    return told.result()


def served(serve: Callable[[Any], Any], data: bytes) -> Any:
    """There."""
    return serve(pickle.loads(data))
