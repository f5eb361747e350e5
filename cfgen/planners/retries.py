"""Asking a planner with retries: what the network or the machine did is asked again before it counts."""

import contextlib
import contextvars
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from cfgen.core.errors import InputError, warn
from cfgen.core.faults import contained
from cfgen.planners import runtime
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.registry import OpenPlanner
from cfgen.planners.settings import PATIENCE
from cfgen.records import TRANSIENT, Fault


@contextlib.contextmanager
def heartbeat(what: str, quiet: bool = False) -> Iterator[None]:
    """Says "waiting for ``what``, N s" on stderr every ten seconds until the block ends."""
    start, over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not over.wait(PATIENCE.heartbeat_s):
            elapsed = time.monotonic() - start
            print(f"cfgen: waiting for {what}, {elapsed:.0f} s", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    if not quiet:
        teller.start()
    try:
        yield
    finally:
        over.set()


# --- retries --------------------------------------------------------------------------------------


Answer = str | Response | PlanFaultError | Fault


class PlannerGoneError(Exception):
    """The planner cannot be reached. ``answers``: what it answered of the batch before; None was not asked."""

    def __init__(self, reason: str, answers: Sequence[Answer | None]) -> None:
        super().__init__(reason)
        self.answers = list(answers)


class RetryingPlanner:
    """Asks ``planner``, each question up to ``retries`` times more after a transient failure.

    A planner that cannot be reached at all is waited for: that never counts as an answer. A question on which it broke
    off just before does, as it may be what ended it: the next run does not start with it.
    """

    def __init__(
        self,
        planner: OpenPlanner,
        retries: int = 3,
        strict: bool = False,
        quiet: bool = False,
        stopped: threading.Event | None = None,
    ) -> None:
        self._stopped = stopped or threading.Event()
        self._planner, self._strict, self._quiet = planner, strict, quiet
        self._pauses = [
            min(PATIENCE.longest_pause_s, PATIENCE.first_pause_s * PATIENCE.growth**k) for k in range(retries)
        ]
        self._unmended = 0
        #: of the last call, s for each question in it
        self.latency_s = 0.0

    def ask_prepared(
        self, makers: Sequence[Callable[[], Observation]]
    ) -> tuple[list[Answer | None], PlannerGoneError | None]:
        """Make a batch of observations and :meth:`ask`; one that cannot be made is the fault of that question.

        From a planner that is gone: what it answered before, None for the rest, and the error.
        """
        results = [contained(make, "reading the frames", strict=self._strict) for make in makers]
        observations = [result for result in results if not isinstance(result, Fault)]
        gone = None
        answers: Sequence[Answer | None] = []
        if observations:
            try:
                answers = self.ask(observations)
            except PlannerGoneError as error:
                gone, answers = error, error.answers
        remaining = iter(answers)
        return [result if isinstance(result, Fault) else next(remaining) for result in results], gone

    def ask(self, observations: Sequence[Observation]) -> list[Answer | None]:
        """One answer, failure or fault of cfgen per observation, in order.

        Once ``stopped`` is set, a failure says nothing of the planner: it is None, as if it had not been asked.

        Raises:
            PlannerGoneError: it cannot be reached, and could not be for some minutes.
        """
        answers, before = self._asked_again(observations)
        mended = any(_kind(answer) not in TRANSIENT for answer in answers)
        self._unmended = 0 if mended else self._unmended + 1
        if self._stopped.is_set():
            return [None if isinstance(answer, PlanFaultError | Fault) else answer for answer in answers]
        gone = [i for i, answer in enumerate(answers) if _kind(answer) == "unreachable"]
        if gone:
            raise PlannerGoneError(
                str(answers[gone[0]]), [before[i] if i in gone else a for i, a in enumerate(answers)]
            )
        return list(answers)

    def _asked_again(self, observations: Sequence[Observation]) -> tuple[list[Answer], list[Answer | None]]:
        """The last answer to each question, and the failure before the planner was gone, which counts."""
        answers = self._timed_answers(observations)
        before: list[Answer | None] = [None] * len(answers)
        tries = list(self._pauses) if self._unmended < PATIENCE.hopeless_after else []
        waits = self._pauses * PATIENCE.rounds
        while failed := [i for i, answer in enumerate(answers) if _kind(answer) in TRANSIENT]:
            gone = [i for i in failed if _kind(answers[i]) == "unreachable"]
            for i in set(failed) - set(gone):
                before[i] = answers[i]
            pauses = waits if gone else tries
            if not pauses:
                break
            self._wait(pauses.pop(0), [answers[i] for i in gone or failed])
            if self._stopped.is_set():
                break
            for i, answer in zip(failed, self._timed_answers([observations[i] for i in failed]), strict=True):
                answers[i] = answer
        return answers, before

    def _timed_answers(self, observations: Sequence[Observation]) -> list[Answer]:
        start = time.perf_counter()
        with heartbeat(f"{self._planner.name} to answer", self._quiet):
            result = contained(lambda: self._answers(observations), "asking the planner", strict=self._strict)
        self.latency_s = (time.perf_counter() - start) / len(observations)
        if not isinstance(result, Fault):
            return result
        if len(observations) == 1:
            return [result]
        return [answer for observation in observations for answer in self._timed_answers([observation])]

    def _answers(self, observations: Sequence[Observation]) -> list[Answer]:
        answers = list(self._planner.ask(observations))
        if len(answers) != len(observations):
            raise ValueError(f"expected {len(observations)} answers, found {len(answers)}")
        return list(answers)

    def _wait(self, pause_s: float, failures: Sequence[Answer]) -> None:
        """For the pause, or as long as the planner asked to be left alone."""
        asked = max(getattr(failure, "retry_after_s", None) or 0.0 for failure in failures)
        seconds = max(pause_s, min(asked, PATIENCE.longest_retry_after_s))
        if not self._quiet and not self._stopped.is_set():
            print(
                f"cfgen: {self._planner.name}: {failures[0]}; asking again in {seconds:g} s",
                file=sys.stderr,
                flush=True,
            )
        self._stopped.wait(seconds)


def _kind(answer: Answer) -> str:
    return answer.kind if isinstance(answer, PlanFaultError) else ""


# --- copies side by side -------------------------------------------------------------


@dataclass(frozen=True)
class Replica:
    """One copy, and the card it starts on; "" leaves that to the environment."""

    planner: OpenPlanner
    device: str = ""


def start_replicas(
    open_one: Callable[[], OpenPlanner], workers: int, cards: Sequence[str] = ()
) -> list[Replica]:
    """Start ``workers`` copies of a planner, on the ``cards`` in turn; the first alone, the others together.

    One that runs in this process, or is weightless, stays one.

    Raises:
        InputError: the planner cannot be opened, or takes no card from us. Nothing is left running.
    """
    runtime.check_devices(cards)
    on = [cards[i % len(cards)] if cards else "" for i in range(workers)]
    first = _open(open_one, on[0])
    if cards and first.planner.isolation != "process":
        first.planner.close()
        where = "on its server" if first.planner.isolation == "server" else "in this process"
        raise InputError(
            f"--devices: planner '{first.planner.spec}' runs {where} and takes no card from here; leave it out"
        )
    if first.planner.isolation == "none" and workers > 1:
        warn(f"planner '{first.planner.spec}' runs in this process: one worker asks it")
        return [first]
    replicas = [first]
    try:
        with ThreadPoolExecutor(max(1, workers - 1)) as pool:
            started = [pool.submit(contextvars.copy_context().run, _open, open_one, card) for card in on[1:]]
        replicas += [future.result() for future in started if future.exception() is None]
        for future in started:
            future.result()
    except BaseException:
        for replica in replicas:
            replica.planner.close()
        raise
    return replicas


def _open(open_one: Callable[[], OpenPlanner], card: str) -> Replica:
    with runtime.use_device(card):
        return Replica(open_one(), card)
