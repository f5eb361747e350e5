"""Inside a planner's process: make the planner, say what it needs and consists of, answer until there is nobody left.

Shipped to planners' environments, so it keeps to Python 3.9 and NumPy.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import CfgenError, InputError, Shortfall
from cfgen.core.network import obey
from cfgen.core.sanitize import plain_json, plain_text, visible
from cfgen.planners.client import VERSION, Channel, Requirements, connect, fields_of, observation
from cfgen.planners.fingerprint import fingerprint
from cfgen.planners.response import PlanFaultError, check_response, transient_kind, words_of


def serve() -> None:
    """Speak with cfgen over stdin and stdout until it ends."""
    channel = connect()
    obey()
    sys.stdout = sys.stderr
    # Nobody is left to ask: not worth a traceback.
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        channel.send({"client": VERSION, "python": platform.python_version(), "numpy": np.__version__})
        setup, _ = channel.receive()
        channel.shared = setup["shared"]
        try:
            planner = make(setup["spec"], setup["options"])
            needs = declared_needs(planner)
            channel.send({"needs": needs, "fingerprint": fingerprint(setup["spec"], planner)})
        except BaseException as error:
            expected = isinstance(error, CfgenError)
            channel.send(
                {
                    "failed": str(error)
                    if expected
                    else f"planner failed to start: {summarize_exception(error)}"
                }
            )
            return
        _answer_all(channel, planner, setup["max_chars"])


def make(spec: str, options: Mapping[str, Any]) -> Any:
    """The planner that ``package.module:Class``, or the name of an installed entry point, stands for.

    Raises:
        InputError: there is none.
    """
    return (class_of(spec) if ":" in spec else _installed(spec))(**options)


def class_of(spec: str) -> Callable[..., Any]:
    """What ``package.module:Class`` names; imports the module.

    Raises:
        InputError: there is no such module, or no such name in it.
    """
    module_name, _, attribute = spec.partition(":")
    try:
        factory: Callable[..., Any] = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        if error.name and module_name.startswith(error.name):
            raise InputError(
                f"module '{error.name}' is not found; install its package or run from its folder"
            ) from error
        raise
    except AttributeError as error:
        raise InputError(f"module '{module_name}' has no '{attribute}'") from error
    return factory


def _installed(name: str) -> Callable[..., Any]:
    points: Any = importlib.metadata.entry_points()
    group = "cfgen.planners"
    entry_points = points.select(group=group) if hasattr(points, "select") else points.get(group, ())
    for point in entry_points:
        if point.name == name:
            factory: Callable[..., Any] = point.load()
            return factory
    names = ", ".join(sorted(point.name for point in entry_points)) or "none"
    raise InputError(
        f"expected package.module:Class or a planner that is installed there ({names}), found '{name}'"
    )


def declared_needs(planner: object) -> dict[str, Any]:
    """What a planner declares, as JSON values; the plain :class:`Requirements` where it declares nothing.

    Raises:
        CfgenError: it is no planner: its ``needs`` are something else, or it has no ``plan``.
    """
    needs = getattr(planner, "needs", Requirements())
    readable = isinstance(needs, Mapping) or hasattr(needs, "frame_times")
    if not readable or not callable(getattr(planner, "plan", None)):
        raise CfgenError(
            f"'{type(planner).__name__}' is no planner: expected a method 'plan(observations)' and, if it has one, an "
            "attribute 'needs': cfgen.Requirements, or a mapping with its fields"
        )
    return {name: plain_json(value)[0] for name, value in fields_of(needs).items()}


# --- which there are ------------------------------------------------------------------------------


def _answer_all(channel: Channel, planner: Any, limit: int) -> None:
    own = os.getpid()
    while True:
        request, arrays = channel.receive()
        try:
            if request["fresh"] and callable(getattr(planner, "reset", None)):
                planner.reset()
            observations = [observation(message, arrays) for message in request["observations"]]
            reply: dict[str, Any] = {"answers": answers(planner, observations, limit)}
        except BaseException as error:
            if ends_run(error):
                reply = {"short" if isinstance(error, Shortfall) else "ends": plain_text(str(error))[0]}
            else:
                reply = {"failed": pack_fault(fault_of_exception(error))}
        if os.getpid() != own:  # a fork of the planner's came back as well: the question was not put to it
            os._exit(0)
        channel.send({"number": request["number"], **reply})


def answers(planner: Any, observations: list[Any], limit: int) -> list[dict[str, Any]]:
    """What ``planner`` answers, as JSON values for :func:`cfgen.planners.serialization.unpacked`.

    Raises:
        PlanFaultError: not one answer for each. What the planner raises is passed on.
    """
    returned = planner.plan(observations)
    if isinstance(returned, (str, bytes, Mapping)) or not isinstance(returned, Iterable):
        kind = "None" if returned is None else type(returned).__name__
        raise PlanFaultError(f"plan() returned {kind}, expected a list of {len(observations)} answers")
    listed = list(islice(returned, len(observations) + 1))
    if len(listed) != len(observations):
        count = len(listed) if len(listed) < len(observations) else "more"
        raise PlanFaultError(f"expected {len(observations)} answers, found {count}")
    return [_pack_answer(answer, limit) for answer in listed]


def _pack_answer(answer: Any, limit: int) -> dict[str, Any]:
    try:
        response = check_response(answer, limit)
    except PlanFaultError as fault:
        return pack_fault(fault)
    arrays = {"waypoints": response.waypoints, "t": response.t}
    return {
        "text": response.text,
        **{name: None if values is None else values.tolist() for name, values in arrays.items()},
        "report": response.report,
        "notes": response.notes,
    }


def pack_fault(fault: PlanFaultError) -> dict[str, Any]:
    return {"fault": str(fault), "kind": fault.kind}


def ends_run(error: BaseException) -> bool:
    """Whether the planner says that no question will be answered: a wrong key, a budget that is spent."""
    if isinstance(error, PlanFaultError) or not isinstance(error, (CfgenError, Shortfall)):
        return False
    from cfgen.core.faults import ends_the_run  # raised by cfgen's own code, which is here then

    return ends_the_run(error)


def fault_of_exception(error: BaseException) -> PlanFaultError:
    """What is kept of an exception of the planner's: its own failure, unless it tells of network or machine."""
    if isinstance(error, PlanFaultError):
        return error
    return PlanFaultError(f"raised {summarize_exception(error)}", transient_kind(error) or "error")


def summarize_exception(error: BaseException) -> str:
    """Type, message and the innermost line: enough to find it, one line long."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return visible(f"{type(error).__name__}: {' '.join(words_of(error).split())[:300]}{place}")
