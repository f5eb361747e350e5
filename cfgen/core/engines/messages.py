"""What crosses the border between this process and its workers, as bytes: questions, replies, and what workers ask."""

import contextlib
import pickle
import traceback
from collections.abc import Callable
from typing import Any

from cfgen.core.errors import CfgenError
from cfgen.core.faults import words


class _TraceInWorker(Exception):  # noqa: N818 - not raised: the cause of what is
    """Where it was raised in the worker."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Reply:
    """What came of one piece of work: a result, or an error with its traceback."""

    def __init__(self, result: Any = None, error: Exception | None = None, trace: str = "") -> None:
        self._result, self._error, self._trace = result, error, trace

    def result(self) -> Any:
        if self._error is not None:
            raise self._error from _TraceInWorker(self._trace)
        return self._result


def question(work: Callable[[Any], Any], item: Any) -> bytes:
    return pickle.dumps((work, item))


def answer(asked: bytes) -> bytes:
    """At a worker: a :class:`Reply` to a :func:`question`."""
    try:
        work, item = pickle.loads(asked)
    except Exception as error:
        refusal = CfgenError(
            f"worker processes cannot start ({error}): what they do must come from a module that can be imported; or "
            "use one process (--jobs 1)"
        )
        return pickle.dumps(Reply(error=refusal))
    try:
        return pickle.dumps(Reply(work(item)))
    except BaseException as error:
        return pickle.dumps(Reply(error=_portable(error), trace=traceback.format_exc()))


def result_of(reply: bytes) -> Any:
    """Raises what the work raised."""
    loaded: Reply = pickle.loads(reply)
    return loaded.result()


def _portable(error: BaseException) -> Exception:
    """The error; what cannot cross to another process, or would end that one, as a RuntimeError that describes it."""
    with contextlib.suppress(Exception):
        if isinstance(error, Exception) and isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return error
    return RuntimeError(f"{type(error).__qualname__}: {words(error)}")


# --- a worker asks those that hold a model, in the middle of its work -------------------------------------

#: sends a pickled thing to a model worker and waits for the reply
ModelLine = Callable[[bytes], bytes]
_model_line: list[ModelLine] = []


def connect_model(line: ModelLine) -> None:
    """In a worker, for good."""
    _model_line[:] = [line]


def has_model_workers() -> bool:
    """Whether a model worker can be asked; otherwise a worker holds what it needs itself."""
    return bool(_model_line)


def ask_model(thing: Any) -> Any:
    """What ``WorkerNeeds.serve`` makes of it. Raises what that raises, or WorkerDiedError."""
    return result_of(_model_line[0](pickle.dumps(thing)))


def serve_pickled(serve: Callable[[Any], Any], data: bytes) -> Any:
    """At a model worker."""
    return serve(pickle.loads(data))
