"""What a worker is asked and what it tells, as bytes across the border between processes."""

import contextlib
import pickle
import traceback
from collections.abc import Callable
from typing import Any

from cfgen.core.errors import CfgenError
from cfgen.core.faults import words


class _There(Exception):  # noqa: N818 - not raised: the cause of what is
    """Where it was raised in the worker."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Told:
    """What came of one item, across the border between processes: a result, or an error with its traceback."""

    def __init__(self, result: Any = None, error: Exception | None = None, trace: str = "") -> None:
        self._result, self._error, self._trace = result, error, trace

    def result(self) -> Any:
        if self._error is not None:
            raise self._error from _There(self._trace)
        return self._result


def question(work: Callable[[Any], Any], item: Any) -> bytes:
    return pickle.dumps((work, item))


def answer(asked: bytes) -> bytes:
    try:
        work, item = pickle.loads(asked)
    except Exception as error:
        refusal = CfgenError(
            f"worker processes cannot start ({error}): what they do must come from a module that can be imported; or "
            "use one process (--jobs 1)"
        )
        return pickle.dumps(Told(error=refusal))
    try:
        return pickle.dumps(Told(work(item)))
    except BaseException as error:
        return pickle.dumps(Told(error=_portable(error), trace=traceback.format_exc()))


def _portable(error: BaseException) -> Exception:
    """The error; what cannot cross to another process, or would end that one, is told in words."""
    with contextlib.suppress(Exception):
        if isinstance(error, Exception) and isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return error
    return RuntimeError(f"{type(error).__qualname__}: {words(error)}")
