"""A Python planner in a process of its own, so that a hang, an exit or a segfault costs one answer and no more."""

import contextlib
import multiprocessing
import sys
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from cfgen.errors import CfgenError
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Needs, Observation, Planner, Response

#: Loading weights may take long.
STARTUP_TIMEOUT_S = 900.0


class PlannerStartError(CfgenError):
    """The planner could not be made: a mistake in its name, its options or its own start-up."""


class Isolated:
    """Runs ``factory(*arguments)`` in a child process and talks to it through a pipe.

    Args:
        factory: importable callable that makes the planner; called in the child only.
        arguments: picklable.
        timeout_s: for one ``plan`` call per observation in it.

    Raises:
        PlannerStartError: the child did not come up; with the planner's own error.
    """

    def __init__(self, factory: Callable[..., Planner], arguments: tuple[Any, ...], timeout_s: float) -> None:
        self._make = (factory, arguments)
        self._timeout_s = timeout_s
        self._process: Any = None
        self.needs: Needs = self._start()

    def plan(self, observations: Sequence[Observation]) -> list[str | Response | PlanFaultError]:
        """One answer or fault per observation, in order. A batch that fails is asked again one by one."""
        answers = self._ask(observations)
        if isinstance(answers, PlanFaultError):
            if len(observations) == 1:
                return [answers]
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
            self._start()
        limit = self._timeout_s * len(observations)
        try:
            self._pipe.send(list(observations))
            if not self._pipe.poll(limit):
                self._stop()
                return PlanFaultError(f"hung: no answer within {limit:g} s; the planner was restarted")
            status, content = self._pipe.recv()
        except (EOFError, OSError):
            code = self._exit_code()
            self._stop()
            return PlanFaultError(
                f"died: the planner's process ended with exit code {code}; it was restarted"
            )
        return content if status == "answers" else PlanFaultError(content)

    def _start(self) -> Needs:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._make), daemon=True)
        self._process.start()
        theirs.close()
        try:
            if not self._pipe.poll(STARTUP_TIMEOUT_S):
                raise PlannerStartError(f"planner did not start within {STARTUP_TIMEOUT_S:g} s")
            status, content = self._pipe.recv()
        except (EOFError, OSError):
            code = self._exit_code()
            raise PlannerStartError(f"planner: its process ended while starting, exit code {code}") from None
        finally:
            if not self._process.is_alive():
                self._process = None
        if status != "needs":
            self._stop()
            raise PlannerStartError(content)
        return content

    def _exit_code(self) -> int | None:
        self._process.join(1)
        return self._process.exitcode

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _serve(pipe: Connection, factory: Callable[..., Planner], arguments: tuple[Any, ...]) -> None:
    """The child: make the planner, say what it needs, answer until told to end. What it prints goes to stderr."""
    sys.stdout = sys.stderr
    sys.path.insert(0, str(Path.cwd()))
    try:
        planner = factory(*arguments)
        pipe.send(("needs", planner.needs))
    except Exception as error:
        message = str(error) if isinstance(error, CfgenError) else f"planner failed to start: {_brief(error)}"
        pipe.send(("failed", message))
        return
    while (observations := pipe.recv()) is not None:
        try:
            pipe.send(("answers", _answers(planner, observations)))
        except Exception as error:
            pipe.send(("failed", f"raised {_brief(error)}"))


def _answers(planner: Planner, observations: list[Observation]) -> list[str | Response | PlanFaultError]:
    answers: list[str | Response | PlanFaultError] = list(planner.plan(observations))
    if len(answers) != len(observations):
        raise PlanFaultError(f"expected {len(observations)} answers, found {len(answers)}")
    for answer in answers:
        if not isinstance(answer, str | Response | PlanFaultError):
            raise PlanFaultError(f"expected text or a Response, found {type(answer).__name__}")
    return answers


def _brief(error: BaseException) -> str:
    """Type, message and the innermost line: enough to find it, one line long."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"
