"""A Python planner in a process of its own, so that a crash costs one answer, or an object in the caller's process."""

import contextlib
import fcntl
import inspect
import json
import os
import re
import select
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from shlex import quote
from types import CodeType, FunctionType
from typing import Any

from cfgen.core import confine
from cfgen.core.errors import CfgenError, Shortfall
from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.interrupts import by_the_user
from cfgen.core.sanitize import MAX_CHARS, visible
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.client import COMPLAINT, VERSION, ChannelError
from cfgen.planners.fingerprint import changes
from cfgen.planners.protocol import Observation, Planner, Requirements, Response
from cfgen.planners.runtime import Running, Runtime, start
from cfgen.planners.serialization import decode_needs, pack, unpacked
from cfgen.planners.serving import answers, ends_run, fault_of_exception, pack_fault
from cfgen.planners.settings import LIMITS, PATIENCE

Answers = Sequence[str | Response | PlanFaultError]

_READ_ONLY = "; a planner may write to a /tmp of its own alone, unless --writable opens another folder"
_MISSING = re.compile(r"No such file or directory: ['\"](/[^'\"]+)")
_HERE = Path(__file__).parents[1]
#: modules that are sent to an environment without cfgen, and what stands for others there
_SENT = (
    "core.errors", "core.isolate", "core.network", "core.sanitize", "planners.client", "planners.fingerprint",
    "planners.response", "planners.serving",
)  # fmt: skip
_STANDS_FOR = {
    "cfgen": "from cfgen.planners.client import Requirements\n",
    "cfgen.core": "",
    "cfgen.geometry": "",
    "cfgen.planners": "",
    "cfgen.planners.protocol": "from cfgen.planners.client import *\n",
    "cfgen.planners.answer": "from cfgen.planners.response import PlanFaultError\n",
}
#: what cfgen's own adapters need beside these, in the environment of the package that they adapt
_ADAPTERS = {
    "alpamayo": ("planners.alpamayo", "geometry.frames", "geometry.camera", "geometry.lens"),
    "navsim": ("planners.navsim",),
}
_RECORDS = "from cfgen.planners.client import Motion, Trace\nCamera = Scene = object\n"


class PlannerStartError(CfgenError):
    """The planner could not be made: a mistake in its name, its options or its own start-up."""


class AskedPlanner:
    """Asks in batches; one that fails as a whole is asked again one by one.

    Its process, if it has one, is started again after it died, hung, or wrote what is no answer.
    """

    needs: Requirements
    _runtime: Runtime
    _running: Running | None = None

    def plan(self, observations: Sequence[Observation]) -> Answers:
        """One answer or fault per observation, in order.

        Raises:
            CfgenError: the planner says that no question will be answered, for a wrong key. Shortfall: nor is one any
                more, for a budget that is spent.
        """
        try:
            return self._ask(observations)
        except PlanFaultError as fault:
            if len(observations) == 1 or fault.kind == "unreachable":
                return [fault] * len(observations)
        return [answer for observation in observations for answer in self.plan([observation])]

    def close(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.stop()

    def renew(self) -> None:
        """Whatever it remembers goes: the next question is put to a new process."""
        self.close()

    def _ask(self, observations: Sequence[Observation]) -> Answers:
        """Raises: PlanFaultError, for all of them."""
        raise NotImplementedError

    def _start(self) -> Requirements:
        """Raises: PlannerStartError."""
        raise NotImplementedError

    def _restart(self) -> None:
        """Start it unless it runs."""
        if self._running is None:
            try:
                self._start()
            except PlannerStartError as error:
                raise PlanFaultError(f"cannot be started again: {error}", "unreachable") from error

    def _exit_fault(self) -> PlanFaultError:
        assert self._running is not None
        fault = self._running.exit_fault(self._runtime.memory)
        self.close()
        return fault


class PlannerProcess(AskedPlanner):
    """Makes ``spec`` in a process of its own and asks it; what comes back is JSON, never an object.

    Args:
        spec: ``package.module:Class`` or, in another environment, a name that is installed there; called with
            ``options``, JSON values, in the process only.
        timeout_s: for one ``plan`` call per observation in it.
        max_chars: of a text; the process cuts the rest.
        startup_s: for it to make the planner.
        sends: further modules to send along to another environment, and their source.

    Raises:
        PlannerStartError: it did not come up; with the planner's own error.
    """

    def __init__(
        self,
        spec: str,
        options: Mapping[str, Any],
        timeout_s: float,
        max_chars: int = MAX_CHARS,
        startup_s: float = PATIENCE.startup_s,
        runtime: Runtime = Runtime(),  # noqa: B008 - frozen
        sends: Mapping[str, str] | None = None,
    ) -> None:
        try:
            json.dumps(options)
        except (TypeError, ValueError) as error:
            raise PlannerStartError(
                f"planner_options: expected JSON values, which is what crosses to its process ({error}); pass the "
                "planner as an object to run it in this one"
            ) from error
        self._setup: dict[str, Any] = {"spec": spec, "options": dict(options), "max_chars": max_chars}
        self._runtime, self._sends = runtime, dict(sends or {})
        self._timeout_s, self._startup_s = timeout_s, startup_s
        self._unreachable_hint = runtime.unreachable_hint
        self._largest = LIMITS.besides_text + 6 * max_chars
        self._number = 0
        #: what it consists of; see :func:`cfgen.planners.fingerprint.fingerprint`
        self.fingerprint: dict[str, str] = {}
        #: what its process said of itself: versions of Python and NumPy
        self.about: dict[str, Any] = {}
        self.needs = self._start()

    def renew(self) -> None:
        """Whatever it remembers goes: the next question is put to a new process.

        Raises:
            CfgenError: it is another planner than the one that was asked so far.
        """
        if self._runtime.trusted:  # cfgen's own code may remember what it saw
            return
        self.close()
        with contextlib.suppress(PlannerStartError):  # then the next question finds out why
            self._start()

    def _ask(self, observations: Sequence[Observation]) -> Answers:
        self._restart()
        limit = self._timeout_s * len(observations)
        self._number += 1
        messages, frames = pack(observations)
        try:
            deadline = time.monotonic() + limit
            request = {"number": self._number, "fresh": True, "observations": messages}
            self._channel.send(request, frames, deadline)
            reply, _ = self._channel.receive(deadline, self._largest * len(observations))
            return self._read(reply, len(observations))
        except TimeoutError:
            self.close()
            raise PlanFaultError(
                f"hung: no answer within {limit:g} s; the planner was restarted", "timeout"
            ) from None
        except (EOFError, OSError):
            raise self._exit_fault() from None
        except ChannelError as error:
            words = _describe_noise(error, self._channel.source)
            self.close()
            raise PlanFaultError(f"answer: {words}; the planner was restarted") from None

    def _read(self, reply: Any, count: int) -> Answers:
        if not isinstance(reply, dict) or reply.get("number") != self._number:
            reply_number = reply.get("number") if isinstance(reply, dict) else type(reply).__name__
            raise ChannelError(
                f"expected the answer to question {self._number}, found that to {str(reply_number)[:20]}"
            )
        for word, error in (("ends", CfgenError), ("short", Shortfall)):
            if word in reply:
                raise error(visible(str(reply[word])[:1000]))
        if "answers" in reply and isinstance(reply["answers"], list) and len(reply["answers"]) == count:
            return [unpacked(content, self._setup["max_chars"]) for content in reply["answers"]]
        if not isinstance(reply.get("failed"), dict):
            raise ChannelError(f"expected {count} answers, found others")
        fault = unpacked(reply["failed"])
        assert isinstance(fault, PlanFaultError)
        raise PlanFaultError(f"{fault}{self._hint(str(fault), fault.kind == 'unavailable')}", fault.kind)

    def _hint(self, words: str, connection: bool) -> str:
        if "Read-only file system" in words and not self._runtime.trusted:
            return _READ_ONLY
        missing = _MISSING.search(words)
        if missing and Path(missing[1]).exists() and not self._runtime.trusted:
            return f"; it is there, but a planner reads only what it was given: --planner-path {missing[1]}"
        return self._unreachable_hint if connection and self._runtime.isolated_network else ""

    def _start(self) -> Requirements:
        python = self._runtime.python or (sys.executable,)
        try:
            shared = -1 if self._runtime.container else _shared_memory()
            self._running = start([*python, "-c", _bootstrap()], self._runtime, shared=shared)
        except OSError as error:
            raise PlannerStartError(f"{python[0]}: cannot be started ({error.strerror})") from error
        self._channel = self._running.channel()
        try:
            return self._handshake(time.monotonic() + self._startup_s)
        except TimeoutError:
            words = f"planner did not start within {self._startup_s:g} s; --startup-timeout-s gives it more"
        except (EOFError, OSError):
            words = f"planner: {self._start_fault()}{self._start_hint()}"
        except ChannelError as error:
            words = _describe_noise(error, self._channel.source)
        except (PlannerStartError, PlanFaultError) as error:
            words = str(error)
        except CfgenError:
            self.close()
            raise
        self.close()
        raise PlannerStartError(words) from None

    def _handshake(self, deadline: float) -> Requirements:
        """What is sent to a new process, and what it says of itself."""
        foreign = bool(self._runtime.python)
        modules = {**_sources(), **self._sends} if foreign else {}
        bootstrap = json.dumps({"path": [] if foreign else _path(), "modules": modules}).encode()
        self._channel.write(str(len(bootstrap)).rjust(confine.DIGITS).encode() + bootstrap, deadline)
        hello, _ = self._channel.receive(deadline, self._largest)
        if not isinstance(hello, dict) or hello.get("client") != VERSION:
            spoken = hello.get("client") if isinstance(hello, dict) else None
            raise PlannerStartError(
                f"expected a client that speaks version {VERSION}, found {str(spoken)[:20]}; its environment has "
                "another cfgen: bring both to one version"
            )
        self._channel.send({**self._setup, "shared": self._channel.shared}, (), deadline)
        reply, _ = self._channel.receive(deadline, self._largest)
        if not isinstance(reply, dict) or "needs" not in reply:
            words = visible(str(reply.get("failed", reply) if isinstance(reply, dict) else reply)[:2000])
            no_connection = any(
                word in words
                for word in ("Connection refused", "onnectionError", "getaddrinfo", "resolution")
            )
            raise PlannerStartError(f"{words}{self._hint(words, no_connection)}")
        consists = {str(name): str(value) for name, value in dict(reply.get("fingerprint") or {}).items()}
        if self.fingerprint and (edits := changes(self.fingerprint, consists)):
            raise CfgenError(
                f"the planner is not what it was when the run began: {', '.join(edits[:5])}; "
                "run the same command again"
            )
        self.about = {name: str(hello.get(name))[:40] for name in ("python", "numpy")}
        self.fingerprint = consists
        return decode_needs(reply["needs"], own=True)

    def _start_fault(self) -> str:
        words = str(self._exit_fault())
        if "The first words to a planner" in words:  # it took them for something else
            return "the program of --python is no Python"
        return words

    def _start_hint(self) -> str:
        """What to do about a command that starts no Python."""
        command = " ".join(map(quote, self._runtime.python))
        return f"; see that this prints 1: {command} -c 'import numpy; print(1)'" if command else ""


def _describe_noise(error: ChannelError, source: int) -> str:
    """What came instead of a message, in one line."""
    data = error.found
    if COMPLAINT.startswith(data[: len(COMPLAINT)]) and data:
        with contextlib.suppress(OSError):
            while b"\n" not in data and (part := _read_available(source)):
                data += part
        return data.decode("utf-8", "replace").removeprefix(COMPLAINT.decode()).strip()
    if not data:
        return str(error)
    return (
        f"{error} of cfgen's client, found {data[:60]!r}: something writes into the channel; print to stdout or "
        "stderr, which are free, and let the command of --python print nothing itself"
    )


def _read_available(source: int) -> bytes:
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return os.read(source, 500) if poll.poll(1000) else b""


def _shared_memory() -> int:
    """A descriptor of memory for frames, which nobody who shares it can make smaller under those who read it."""
    memory = os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return memory


@lru_cache(maxsize=1)
def _bootstrap() -> str:
    return (_HERE / "planners" / "bootstrap.txt").read_text("utf-8")


@lru_cache(maxsize=1)
def _sources() -> dict[str, str]:
    return {**_STANDS_FOR, **_read_all(_SENT)}


def _read_all(names: Iterable[str]) -> dict[str, str]:
    return {f"cfgen.{n}": _HERE.joinpath(*n.split(".")).with_suffix(".py").read_text("utf-8") for n in names}


def adapter(name: str) -> dict[str, str]:
    """Modules to send, and their source, for one of cfgen's own adapters to run in another environment.

    Raises:
        PlannerStartError: it runs in cfgen's own alone.
    """
    if name not in _ADAPTERS:
        raise PlannerStartError(
            f"runs in cfgen's own Python; --python is for {', '.join(_ADAPTERS)} and for classes"
        )
    return {"cfgen.records": _RECORDS, **_read_all(_ADAPTERS[name])}


def _path() -> list[str]:
    """Where our own process finds modules; the first place is that where it was started."""
    return [str(Path(folder or ".").absolute()) for folder in sys.path]


# --- an object in the caller's process ------------------------------------------------------------


class PlannerObject(AskedPlanner):
    """An object in the caller's process.

    Whatever it raises is its failed answer, ``SystemExit`` as well: were it a fault of cfgen, the planner would choose
    which cases it is measured on. Only the user's own interrupt goes through.
    """

    def __init__(self, planner: Planner, needs: Requirements, max_chars: int) -> None:
        self._planner, self.needs, self._max_chars = planner, needs, max_chars

    def _ask(self, observations: Sequence[Observation]) -> Answers:
        try:
            if callable(reset := getattr(self._planner, "reset", None)):
                reset()
            packed = answers(self._planner, list(observations), self._max_chars)
            return [unpacked(item, self._max_chars) for item in packed]
        except BaseException as error:
            if _by_the_user(error) or ends_run(error):
                raise
            raise _safe_fault(error) from None


def spec_of(planner: Planner) -> str:
    """``module:Class()``: the brackets say that it was an object, which no command line can make again."""
    kind = type(planner)
    return f"{kind.__module__}:{kind.__qualname__}()"


def parts_of(planner: Planner) -> dict[str, str]:
    """Hashes of what an object consists of beside its class: the source of that, and its options.

    Source: the file of its module; for a class of the running script or notebook the text of the class, or, where
    there is none, its compiled code. Options: its attribute ``options`` if it has one, else its public attributes
    that are JSON values. Not covered: weights, private attributes, other files that it imports.
    """
    return {"source": _source(type(planner)), "options": hash_json(_options(planner))}


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
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


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
