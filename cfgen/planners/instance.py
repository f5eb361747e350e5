"""A planner object that the caller holds: it runs in the caller's process, with nothing between it and cfgen."""

import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.interrupts import by_the_user
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Observation, Planner, Response
from cfgen.planners.serialization import unpacked
from cfgen.planners.serving import answers, ends_run, fault_of_exception, pack_fault


def spec_of(planner: Planner) -> str:
    """``module:Class()``: the brackets say that it was an object, which no command line can make again."""
    kind = type(planner)
    return f"{kind.__module__}:{kind.__qualname__}()"


def parts_of(planner: Planner) -> dict[str, Any]:
    """What an object consists of beside its class: the source of that, and its options.

    Source: the file of its module; for a class of the running script or notebook the text of the class, or, where
    there is none, its compiled code. Options: its attribute ``options`` if it has one, else its public attributes
    that are JSON values. Not covered: weights, private attributes, other files that it imports.
    """
    return {"source": _source(type(planner)), "options": _options(planner)}


def fingerprint_of(parts: dict[str, Any]) -> dict[str, str]:
    """The parts by their hashes."""
    return {"source": parts["source"], "options": hash_json(parts["options"])}


def ask_instance(
    planner: Planner, max_chars: int, observations: Sequence[Observation]
) -> list[str | Response | PlanFaultError]:
    """One answer or fault for each. A batch that fails is asked again one by one.

    Whatever it raises is its failed answer, ``SystemExit`` as well: were it a fault of cfgen, the planner would choose
    which cases it is measured on.

    Raises:
        CfgenError: the planner says that no question will be answered. Shortfall: nor is one any more.
        KeyboardInterrupt: the user's.
    """
    try:
        if callable(reset := getattr(planner, "reset", None)):
            reset()
        return [unpacked(item, max_chars) for item in answers(planner, list(observations), max_chars)]
    except BaseException as error:
        if _by_the_user(error) or ends_run(error):
            raise
        if len(observations) > 1:
            return [answer for item in observations for answer in ask_instance(planner, max_chars, [item])]
        return [_safe_fault(error)]


def _safe_fault(error: BaseException) -> PlanFaultError:
    """A fault of plain words, with nothing of the planner's in it that could break later."""
    try:
        fault = unpacked(pack_fault(fault_of_exception(error)))
        assert isinstance(fault, PlanFaultError)
        return fault
    except BaseException as worse:  # it breaks while saying what broke
        if _by_the_user(worse):
            raise
        return PlanFaultError(f"raised {type(error).__name__} without words", "error")


def _by_the_user(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) and by_the_user(error)


def _options(planner: Planner) -> dict[str, Any]:
    options = getattr(planner, "options", None)
    values = options if isinstance(options, Mapping) else getattr(planner, "__dict__", {})
    return {
        str(key): value for key, value in values.items() if not str(key).startswith("_") and _plain(value)
    }


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    return (
        value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and value == value)
    )


def _source(kind: type) -> str:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if kind.__module__ != "__main__" and file and Path(file).is_file():
        return hash_bytes(Path(file).read_bytes())
    try:
        return hash_bytes(inspect.getsource(kind).encode())
    except (OSError, TypeError):  # typed at a prompt, or run from stdin
        functions = {name: f for name, f in vars(kind).items() if isinstance(f, FunctionType)}
        return hash_json({name: _compiled(f.__code__) for name, f in sorted(functions.items())})


def _compiled(code: CodeType) -> list[Any]:
    """What it does, without the names of files and numbers of lines."""
    constants = [_compiled(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), constants]
