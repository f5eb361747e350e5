"""A Python planner in a process of its own, so that a hang, an exit or a segfault costs one answer and no more."""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core import processes
from cfgen.core.errors import CfgenError, Shortfall
from cfgen.core.faults import ends_the_run
from cfgen.core.network import obey
from cfgen.core.plain import MAX_CHARS, plain_text, visible
from cfgen.planners.answer import PlanFaultError, Received, end_of, received, words_of
from cfgen.planners.network import transient_kind
from cfgen.planners.protocol import Observation, Planner, Requirements, Response, needs_of
from cfgen.planners.serialization import decode_needs, needs_content
from cfgen.planners.waiting import STARTUP_TIMEOUT_S

#: said of a connection that failed in a network of its own
_OUT_OF_REACH = (
    "; offline it cannot reach servers on this machine either, unless --allow-hosts localhost names them"
)
#: bytes of an answer beside its text
_BESIDES = 32 * 2**20


class PlannerStartError(CfgenError):
    """The planner could not be made: a mistake in its name, its options or its own start-up."""


class PlannerProcess:
    """Runs ``factory(*arguments)`` in a child process; what comes back through the pipe is JSON, never an object.

    Args:
        factory: importable callable that makes the planner; called in the child only.
        arguments: picklable.
        timeout_s: for one ``plan`` call per observation in it.
        max_chars: of a text; the child cuts the rest.
        startup_s: for the child to make the planner.
        alone: it gets a network of its own (:mod:`cfgen.core.isolate`).

    Raises:
        PlannerStartError: the child did not come up; with the planner's own error.
    """

    def __init__(
        self,
        factory: Callable[..., Planner],
        arguments: tuple[Any, ...],
        timeout_s: float,
        max_chars: int = MAX_CHARS,
        startup_s: float = STARTUP_TIMEOUT_S,
        alone: bool = False,
    ) -> None:
        self._alone = alone
        self._make = (factory, arguments, max_chars)
        self._timeout_s, self._startup_s = timeout_s, startup_s
        self._largest = _BESIDES + 6 * max_chars
        self._process: Any = None
        self.needs: Requirements = self._start()

    def plan(self, observations: Sequence[Observation]) -> list[str | Response | PlanFaultError]:
        """One answer or fault per observation, in order. A batch that fails is asked again one by one.

        Raises:
            CfgenError: the planner says that no question will be answered, for a wrong key. Shortfall: nor is one any
                more, for a budget that is spent.
        """
        answers = self._ask(observations)
        if isinstance(answers, PlanFaultError):
            if len(observations) == 1 or answers.kind == "unreachable":
                return [answers] * len(observations)
            return [answer for one in observations for answer in self.plan([one])]
        return answers

    def close(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._pipe.send(None)
            self._process.join(2)
            self._stop()

    def _ask(
        self, observations: Sequence[Observation]
    ) -> list[str | Response | PlanFaultError] | PlanFaultError:
        if self._process is None:
            try:
                self._start()
            except PlannerStartError as error:
                return PlanFaultError(f"cannot be started again: {error}", "unreachable")
        limit = self._timeout_s * len(observations)
        try:
            self._pipe.send(list(observations))
            if not self._pipe.poll(limit):
                self._stop()
                return PlanFaultError(
                    f"hung: no answer within {limit:g} s; the planner was restarted", "timeout"
                )
            status, content = json.loads(self._pipe.recv_bytes(self._largest * len(observations)))
        except (EOFError, OSError):
            words, kind = end_of(self._exit_code())
            self._stop()
            return PlanFaultError(f"died: the planner's process ended with {words}; it was restarted", kind)
        except ValueError as error:
            self._stop()
            return PlanFaultError(f"answer: expected JSON from the planner's process ({error})")
        if status in ("ends", "short"):
            raise (CfgenError if status == "ends" else Shortfall)(content)
        if status == "answers":
            return [_unpacked(one) for one in content]
        fault = _unpacked_fault(content)
        hint = _OUT_OF_REACH if self._alone and fault.kind == "unavailable" else ""
        return PlanFaultError(f"{fault}{hint}", fault.kind)

    def _start(self) -> Requirements:
        context = processes.context(self._alone)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._make), daemon=True)
        self._process.start()
        theirs.close()
        try:
            if not self._pipe.poll(self._startup_s):
                raise PlannerStartError(
                    f"planner did not start within {self._startup_s:g} s; --startup-timeout gives it more"
                )
            status, content = json.loads(self._pipe.recv_bytes(self._largest))
            if status != "needs":
                refused = self._alone and "Connection refused" in content
                raise PlannerStartError(f"{content}{_OUT_OF_REACH if refused else ''}")
            return decode_needs(content, own=True)
        except (EOFError, OSError):
            words, _ = end_of(self._exit_code())
            self._stop()
            raise PlannerStartError(f"planner: its process ended while starting, {words}") from None
        except (PlannerStartError, PlanFaultError) as error:
            self._stop()
            raise PlannerStartError(str(error)) from None

    def _exit_code(self) -> int | None:
        self._process.join(1)
        return self._process.exitcode

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


# --- in the child ---------------------------------------------------------------------------------------


def _serve(pipe: Connection, factory: Callable[..., Planner], arguments: tuple[Any, ...], limit: int) -> None:
    """Make the planner, say what it needs, answer until told to end. What it prints goes to stderr."""
    obey()
    sys.stdout = sys.stderr
    sys.path.insert(0, str(Path.cwd()))
    try:
        planner = factory(*arguments)
        _say(pipe, "needs", needs_content(needs_of(planner)))
    except BaseException as error:
        known = isinstance(error, CfgenError)
        _say(pipe, "failed", str(error) if known else f"planner failed to start: {_brief(error)}")
        return
    # Nobody is left to ask, or the user interrupts: not worth a traceback.
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        _answer_all(pipe, planner, limit)


def _answer_all(pipe: Connection, planner: Planner, limit: int) -> None:
    own = os.getpid()
    while (observations := pipe.recv()) is not None:
        try:
            status, content = "answers", json.dumps(_answers(planner, observations, limit))
        except BaseException as error:
            if answers_nothing(error):
                status = "short" if isinstance(error, Shortfall) else "ends"
                content = json.dumps(plain_text(str(error))[0])
            else:
                status, content = "failed", json.dumps(_packed_fault(fault_in(error)))
        if os.getpid() != own:  # a fork of the planner's came back as well: the question was not put to it
            os._exit(0)
        pipe.send_bytes(f'["{status}", {content}]'.encode())


def _say(pipe: Connection, status: str, content: Any) -> None:
    pipe.send_bytes(json.dumps([status, content]).encode())


def _answers(planner: Planner, observations: list[Observation], limit: int) -> list[dict[str, Any]]:
    given = planner.plan(observations)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        kind = "None" if given is None else type(given).__name__
        raise PlanFaultError(f"plan() returned {kind}, expected a list of {len(observations)} answers")
    answers = list(islice(given, len(observations) + 1))
    if len(answers) != len(observations):
        found = len(answers) if len(answers) < len(observations) else "more"
        raise PlanFaultError(f"expected {len(observations)} answers, found {found}")
    return [_packed(answer, limit) for answer in answers]


def _packed(answer: Any, limit: int) -> dict[str, Any]:
    try:
        found = received(answer, limit)
    except PlanFaultError as fault:
        return _packed_fault(fault)
    arrays = {"waypoints": found.waypoints, "t": found.t}
    return {
        "text": found.text,
        **{name: None if values is None else values.tolist() for name, values in arrays.items()},
        "report": found.report,
        "notes": found.notes,
    }


def _packed_fault(fault: PlanFaultError) -> dict[str, Any]:
    return {"fault": str(fault), "kind": fault.kind}


def answers_nothing(error: BaseException) -> bool:
    """Whether the planner says that no question will be answered: a wrong key, a budget that is spent."""
    ours = isinstance(error, CfgenError | Shortfall) and not isinstance(error, PlanFaultError)
    return ours and ends_the_run(error)


def fault_in(error: BaseException) -> PlanFaultError:
    """What is kept of an exception of the planner's: its own failure, unless it tells of network or machine."""
    if isinstance(error, PlanFaultError):
        return error
    return PlanFaultError(f"raised {_brief(error)}", transient_kind(error) or "error")


def _brief(error: BaseException) -> str:
    """Type, message and the innermost line: enough to find it, one line long."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return visible(f"{type(error).__name__}: {' '.join(words_of(error).split())[:300]}{place}")


# --- and back -------------------------------------------------------------------------------------------


def _unpacked(content: dict[str, Any]) -> Received | PlanFaultError:
    if "fault" in content:
        return _unpacked_fault(content)
    points, t = (None if content[n] is None else np.array(content[n], float) for n in ("waypoints", "t"))
    return Received(content["text"], points, t, content["report"], tuple(content["notes"]))


def _unpacked_fault(content: dict[str, Any]) -> PlanFaultError:
    return PlanFaultError(content["fault"], content["kind"])
