"""Where planners run: which Python, container or card, what they may see, reach and take, and how they are started."""

import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import IO

from cfgen.core import confine
from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_json
from cfgen.core.machine import memory_bytes
from cfgen.core.network import HUBS, current
from cfgen.planners.client import Channel
from cfgen.planners.fingerprint import file_hash, of_command
from cfgen.planners.response import PlanFaultError
from cfgen.planners.settings import LIMITS

_DEVICE: ContextVar[str] = ContextVar("device", default="")


@contextlib.contextmanager
def use_device(device: str) -> Iterator[None]:
    """Planners that start within the block, or start again, see this card alone; "" leaves it to the environment."""
    before = _DEVICE.set(device)
    try:
        yield
    finally:
        _DEVICE.reset(before)


def device_environment() -> dict[str, str]:
    """What to add to the environment of a planner's process. Cards are numbered as ``nvidia-smi`` does."""
    device = _DEVICE.get()
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": device} if device else {}


def check_devices(devices: Sequence[str], folder: Path = Path("/dev")) -> None:
    """
    Args:
        devices: numbers; names of other forms (``GPU-...``, ``MIG-...``) are left to the driver. folder: of the
            machine's device files.

    Raises:
        InputError: a number that this machine does not show.
    """
    cards = sorted(int(m[1]) for p in folder.glob("nvidia*") if (m := re.fullmatch(r"nvidia(\d+)", p.name)))
    for device in devices:
        if device.isdecimal() and int(device) not in cards:
            shown_cards = f"only {', '.join(map(str, cards))}" if cards else "no NVIDIA card"
            raise InputError(
                f"--devices {device}: expected cards of this machine, found {shown_cards}; see nvidia-smi, or "
                "leave it out"
            )


# --- where a planner runs -------------------------------------------------------------------------

#: bytes on the way at once, where the system permits that
_PIPE = 2**20
_CONFINE = str(Path(confine.__file__).resolve())
#: programs that start a container or work elsewhere: what is seen there is what they are told, not what we hide here
_CONTAINERS = ("apptainer", "docker", "kubectl", "nerdctl", "podman", "singularity", "srun", "ssh")
#: variable -> folder below the planner's own, for libraries that keep what they compile
_CACHES = {
    "TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor", "TORCH_EXTENSIONS_DIR": "extensions",
    "NUMBA_CACHE_DIR": "numba", "MPLCONFIGDIR": "matplotlib", "CUDA_CACHE_PATH": "cuda",
}  # fmt: skip
#: what the shell says of where it is and what it runs
_SHELL = ("OLDPWD", "_", "SUDO_COMMAND", "PYTEST_CURRENT_TEST")


@dataclass(frozen=True)
class Runtime:
    """What a planner is given. The defaults are those of a planner in cfgen's own Python.

    Attributes:
        python: the words that start a Python, in another environment or in a container; () is cfgen's own.
        hidden: folders that must not be seen. writable: those that may be written to, beside its own /tmp. paths: files
            and folders that it may read, beside the system, its Python and its code. options_paths: those that its
            options name.
        variables: of the environment, those that decide its answers.
        network: it may reach what cfgen itself may reach.
        memory: bytes of its own, with all that it starts; 0: no limit.
        log: the file to which its stderr goes; None: to ours.
        trusted: cfgen's own code: nothing is hidden from it.
    """

    python: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    options_paths: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()
    network: bool = False
    memory: int = 0
    log: Path | None = None
    trusted: bool = False

    @property
    def container(self) -> bool:
        return bool(self.python) and Path(self.python[0]).name in _CONTAINERS

    @property
    def isolated_network(self) -> bool:
        """Whether it gets a network of its own with nothing in it."""
        return not self.network and not self.container and not self.trusted and "network" in permitted()

    @property
    def container_network(self) -> str:
        """The network that a container's command line names; "" where it names none, or it is no container."""
        words = [part for word in self.python if self.container for part in word.split("=", 1)]
        return next((b for a, b in pairwise(words) if a in ("--network", "--net")), "")

    @property
    def no_network(self) -> bool:
        """Whether it can reach nothing, by cfgen's doing or a container's."""
        return self.isolated_network or self.container_network == "none"

    @property
    def unreachable_hint(self) -> str:
        """Said of a connection that failed in a network of its own."""
        if current().offline:
            return "; offline it cannot reach servers on this machine either, unless --allow-hosts localhost names them"
        return "; a planner has no network, not even this machine's, unless --planner-network gives it one"

    def sight_record(self) -> str:
        """For the record: what the planner could see, and how that was held."""
        if self.trusted:
            return "cfgen's own code: nothing is hidden from it"
        if self.container:
            return f"{Path(self.python[0]).name}: it sees what its command line gives it"
        had = permitted()
        if "space" not in had:
            return "the system permits no namespaces: the planner is told nothing, but COULD COMPARE VERSIONS"
        what = ["sees no other process"] if "processes" in had else ["sees OTHER PROCESSES"]
        what += ["of the disk the system and its code"] if "sight" in had else ["COULD COMPARE VERSIONS"]
        what += ["writes to a /tmp of its own"] if "writes" in had else ["can WRITE ANYWHERE"]
        what += [] if "devices" in had else ["sees the DEVICES of this machine"]
        what += [] if "settings" in had else ["may reach the KERNEL'S SETTINGS"]
        what += [] if "keys" in had else ["may leave notes in the KERNEL'S KEYRINGS"]
        what += [f"reads {len(self.paths)} more that were named"] if self.paths else []
        what += [f"writes to {len(self.writable)} more that were opened"] if self.writable else []
        return f"namespaces: {', '.join(what)}"


def python_of(text: str) -> tuple[str, ...]:
    """The words of ``--python``: a path, or a command such as ``docker run -i --rm IMAGE python``.

    Raises:
        InputError: there is no such program.
    """
    path = Path(text).expanduser()
    if path.is_dir() and (path / "bin" / "python").exists():
        path = path / "bin" / "python"
    try:
        words = (str(path.absolute()),) if path.exists() else tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"--python: expected a path or a command ({error}), found '{text}'") from error
    if not words or shutil.which(words[0]) is None:
        raise InputError(
            f"--python {text}: expected a Python that can be started, found none; give the path of one "
            "(VENV/bin/python), or a command that starts one"
        )
    return words


@lru_cache(maxsize=1)
def permitted() -> frozenset[str]:
    """What planners have here of "space", "network", "sight", "writes", "processes", "devices", "settings", "shm",
    "keys".
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.suppress(OSError, ValueError, subprocess.SubprocessError),
    ):
        settings = {
            "network": "own",
            "confine": True,
            "folder": "/tmp",
            "root": folder,
            "home": "/tmp",
            "visible": _pythons(sys.executable),
            "hidden": [],
            "writable": [],
            "memory": 0,
            "report": True,
        }
        with _leash() as (leash, _):
            sent = _framed({**settings, "leash": leash})
            words = [sys.executable, "-I", "-S", _CONFINE]
            trial = subprocess.run(
                words, input=sent, capture_output=True, timeout=60, pass_fds=[leash], check=False
            )
        return frozenset(json.loads(trial.stdout))
    return frozenset()


def default_memory() -> int:
    """Bytes that a planner may take unless told otherwise; 0 where the machine does not say what it has."""
    return int(LIMITS.memory_share * memory_bytes()[0])


@dataclass
class Running:
    """A planner's process. ``process`` is its watchman: killed or left alone, it takes all of the planner along."""

    process: subprocess.Popen[bytes]
    folder: Path
    leash: int
    shared: int
    #: processes that the kernel had ended for want of memory when it was started
    kernel_kills: int = field(default_factory=lambda: _kernel_kills())
    #: its last lines on stderr
    stderr_lines: "deque[str]" = field(default_factory=lambda: deque(maxlen=40))
    _pumps: list[Thread] = field(default_factory=list)

    @property
    def source(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def sink(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    def exit_code(self, within_s: float = 1.0) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(within_s)
        return None

    def channel(self) -> Channel:
        """Both pipes, not blocking, with room for a frame on the way where the system permits that."""
        for stream in (self.source, self.sink):
            os.set_blocking(stream.fileno(), False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
        return Channel(self.source.fileno(), self.sink.fileno(), self.shared)

    def exit_fault(self, memory: int) -> PlanFaultError:
        """How it ended, and whether the machine (out of memory, shutting down) ended it.

        Args:
            memory: bytes that it was given.
        """
        code = self.exit_code(2.0)
        if code is None:
            return PlanFaultError("died: it closed the channel to cfgen; it was restarted", "died")
        if code == confine.OVER_MEMORY:
            return PlanFaultError(
                f"died: took more than the {memory / 1e9:.3g} GB that it is given; --planner-memory gives it more",
                "died",
            )
        words = f"exit code {code}"
        if code < 0:
            known = -code in set(signal.Signals)
            words = f"signal {signal.Signals(-code).name if known else -code}"
        # a planner can send itself every signal: only the kernel's count of processes that it ended for want of memory
        # tells that the machine did
        short_of_memory = -code == signal.SIGKILL and _kernel_kills() > self.kernel_kills
        words += " (the machine ran out of memory)" if short_of_memory else ""
        return PlanFaultError(
            f"died: its process ended with {words}, last on stderr: {self.last_line}",
            "machine" if short_of_memory else "died",
        )

    @property
    def last_line(self) -> str:
        """What it said last on stderr; "nothing" if it said nothing."""
        for pump in self._pumps:
            pump.join(0.2)
        return next(
            (line for line in reversed(self.stderr_lines) if line.strip() and "--help" not in line), "nothing"
        )[:200]

    def stop(self) -> None:
        """End it with all that it started, and take its folder away."""
        for descriptor in {self.leash, self.shared} - {-1}:
            os.close(descriptor)
        self.leash = self.shared = -1
        if self.exit_code(5.0) is None:
            self.process.kill()
            self.process.wait()
        for pump in self._pumps:
            pump.join(0.2)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        _remove(self.folder)


def _kernel_kills() -> int:
    """How many processes of this machine the kernel has ended for want of memory, of this container's too."""
    count = 0
    for place, key in (("/proc/vmstat", "oom_kill "), ("/sys/fs/cgroup/memory.events", "oom_kill ")):
        with contextlib.suppress(OSError):
            lines = Path(place).read_text().splitlines()
            count += sum(int(line.split()[1]) for line in lines if line.startswith(key))
    return count


def _remove(folder: Path) -> None:
    """A folder with all in it, also what its owner may not write to."""
    for below, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(below, 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)


def start(
    command: Sequence[str],
    runtime: Runtime,
    shared: int = -1,
) -> Running:
    """Start ``command`` as a planner, with pipes for stdin and stdout.

    Args:
        shared: a descriptor that it gets, under the same number, and that is closed with it.

    Raises:
        FileNotFoundError: there is no such program.
    """
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(2, os.strerror(2), command[0])
    folder = Path(tempfile.mkdtemp(prefix="planner-"))
    settings = _confinement(command, str(folder), runtime)
    with _leash() as (leash, ours):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", _CONFINE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**planner_environment(runtime, folder), **device_environment()},
            pass_fds=[leash, *([shared] if shared >= 0 else [])],
            bufsize=0,
            start_new_session=True,
        )
        leash_end = os.dup(ours)
    running = Running(process, folder, leash_end, shared)
    with contextlib.suppress(OSError):
        running.sink.write(_framed({**settings, "leash": leash}))
    pump = Thread(target=_pump, args=(process.stderr, running.stderr_lines, runtime.log), daemon=True)
    pump.start()
    running._pumps.append(pump)
    return running


def planner_environment(runtime: Runtime, folder: Path) -> dict[str, str]:
    """Ours, but for what names a hidden folder, with temporary files and caches in the planner's own ``folder``."""
    places = {
        str(form) for hidden in runtime.hidden for form in (hidden, hidden.absolute(), hidden.resolve())
    }
    variables = {}
    for name, value in os.environ.items():
        visible_parts = [part for part in value.split(os.pathsep) if not _names(part, places)]
        if name in _SHELL or (len(visible_parts) < value.count(os.pathsep) + 1 and not name.endswith("PATH")):
            continue
        variables[name] = os.pathsep.join(visible_parts)
    variables["PWD"] = str(_folder(runtime, "/tmp" if _is_confined(runtime) else str(folder)))
    if runtime.isolated_network:
        variables = {**HUBS, **variables}
    if not runtime.trusted:
        own = Path("/tmp") if _is_confined(runtime) else folder
        variables |= {"TMPDIR": str(own), "PYTHONDONTWRITEBYTECODE": "1"}
        variables |= {name: str(own / below) for name, below in _CACHES.items() if name not in os.environ}
    return variables


def _names(text: str, places: set[str]) -> bool:
    absolute = [place for place in places if place.startswith(os.sep) and len(place) > 1]
    return text in places or any(re.search(rf"{re.escape(place)}(?![\w.-])", text) for place in absolute)


def _confinement(command: Sequence[str], folder: str, runtime: Runtime) -> dict[str, object]:
    confined = _is_confined(runtime)
    return {
        "command": list(command),
        "folder": str(_folder(runtime, "/tmp" if confined else folder)),
        "root": folder,
        "home": str(Path.home()),
        "visible": _visible(command, runtime) if confined else [],
        "hidden": [str(p.resolve()) for p in runtime.hidden if p.is_dir()] if confined else [],
        "writable": [str(p.resolve()) for p in runtime.writable],
        "network": "own" if runtime.isolated_network else "all",
        "memory": runtime.memory,
        "confine": confined,
    }


def _is_confined(runtime: Runtime) -> bool:
    return not runtime.trusted and not runtime.container and "space" in permitted()


def _folder(runtime: Runtime, own: str) -> Path:
    """Where it starts: where cfgen was started, unless that is to be hidden."""
    cwd = Path.cwd().resolve()
    return Path(own) if any(cwd.is_relative_to(p.resolve()) for p in runtime.hidden) else Path.cwd()


# --- what a planner may read ----------------------------------------------------------------------

#: weights that hubs brought: variable -> below it what may be read; where it is not set, below ~/.cache
_WEIGHTS = {"HF_HOME": "hub", "HF_HUB_CACHE": "", "TORCH_HOME": ""}
_CACHED_WEIGHTS = ("huggingface/hub", "torch")
#: of a folder in which Python looks for modules, those files
_MODULES = (".py", ".so", ".pyi", ".pth")


def _visible(command: Sequence[str], runtime: Runtime) -> list[str]:
    """Files and folders that a planner may read beside the system: its Python, its modules, files on its command
    line with their kind beside them, weights in the usual caches, and what was named."""
    program = shutil.which(command[0]) or command[0]
    words = list(command[: command.index("-c")] if "-c" in command else command)  # behind it is no file
    places = [*_pythons(program), *_pythons(sys.executable)]
    places += map(str, (*runtime.paths, *runtime.options_paths))
    for folder in dict.fromkeys(
        [str(Path.cwd()), *sys.path, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    ):
        places += modules_of(Path(folder or "."))
    places += [*map(str, of_command(shlex.join(words)).values()), *words[1:]]
    weights = [Path(os.environ[name], below) for name, below in _WEIGHTS.items() if os.environ.get(name)]
    weights += [Path.home() / ".cache" / name for name in _CACHED_WEIGHTS]
    places += map(str, weights)
    return [os.path.abspath(place) for place in places if os.path.exists(place)]  # noqa: PTH100, PTH110


def given(runtime: Runtime) -> dict[str, str]:
    """Parts of a fingerprint: every file of the paths that it was given, and the variables that decide its answers."""
    parts = {f"variable {name}": os.environ.get(name, "is not set") for name in runtime.variables}
    for path in runtime.paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        parts |= {f"path {os.path.relpath(file, path.parent)}": file_hash(file) for file in files}
    return {name: value if name.startswith("path") else hash_json(value) for name, value in parts.items()}


def modules_of(folder: Path) -> list[str]:
    """What Python can import from a folder: modules and packages. A folder of an environment is taken whole."""
    if not folder.is_dir() or folder.name in ("site-packages", "dist-packages"):
        return [str(folder)]
    entries = sorted(folder.iterdir()) if os.access(folder, os.R_OK | os.X_OK) else []
    return [str(entry) for entry in entries if entry.suffix in _MODULES or _is_package(entry)]


def _is_package(folder: Path) -> bool:
    return folder.name.isidentifier() and any(folder.glob("*.py"))


@lru_cache(maxsize=8)
def _pythons(program: str) -> list[str]:
    """The environment of a Python, and the installation that it is made from; [] of another program."""
    path, places = Path(os.path.abspath(program)), []  # noqa: PTH100
    for step in (path, path.resolve()):
        if not re.match(r"python|pypy", step.name):
            continue
        prefix = step.parent.parent
        places += [str(step), str(prefix)] if str(prefix) != "/" else [str(step)]
        with contextlib.suppress(OSError):
            settings = (prefix / "pyvenv.cfg").read_text("utf-8")
            places += [str(Path(m[1]).parent) for m in re.finditer(r"(?m)^home *= *(.+)$", settings)]
    if path == Path(sys.executable):
        places += [sys.prefix, sys.base_prefix]
    return list(dict.fromkeys(places))


def _framed(content: Mapping[str, object]) -> bytes:
    data = json.dumps(content).encode()
    return str(len(data)).rjust(confine.DIGITS).encode() + data


@contextlib.contextmanager
def _leash() -> Iterator[tuple[int, int]]:
    """Two ends of a pipe: whoever holds the first sees when the second is closed, by the kernel too."""
    theirs, ours = os.pipe()
    try:
        yield theirs, ours
    finally:
        os.close(theirs)
        os.close(ours)


def _pump(stream: IO[bytes], words: "deque[str]", log: Path | None) -> None:
    """To ``log``, up to a size, or to our stderr; in small pieces, so that no flood grows here."""
    partial = b""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(OSError, ValueError))
        target = stack.enter_context(log.open("a")) if log else sys.stderr
        while part := os.read(stream.fileno(), 4096):
            if log is None or target.tell() < LIMITS.log_bytes:
                target.write(part.decode("utf-8", "replace"))
                target.flush()
            *lines, partial = (partial + part).split(b"\n")
            words.extend(" ".join(line.decode("utf-8", "replace").split()) for line in lines)
            partial = partial[-4096:]
    words.append(" ".join(partial.decode("utf-8", "replace").split()))


def network_record(runtime: Runtime) -> str:
    """For the record: what it could reach and how that was held; "" where nothing was."""
    if runtime.isolated_network:
        held = "the planner has a network of its own with nothing in it"
        return current().words(held) or f"none ({held})"
    if not runtime.container:
        return ""
    network = runtime.container_network
    named = f"--network {network}" if network else "its default network"
    held = f"{Path(runtime.python[0]).name}: {named}, as its command line gives it"
    return current().words(held) or (f"none ({held})" if network == "none" else held)
