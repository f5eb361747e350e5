"""What a planner is scored with."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.core.plain import MAX_CHARS
from cfgen.planners.protocol import Planner
from cfgen.planners.runtime import Runtime, python_of
from cfgen.planners.waiting import STARTUP_TIMEOUT_S
from cfgen.records import DEFAULT_RUBRIC, FloorKind


@dataclass(frozen=True)
class ScoreOptions:
    """``arms`` always hold "original": every other arm is judged against it."""

    bench: Path
    #: an object runs in this process
    planner: str | type | Planner
    name: str | None = None
    planner_options: dict[str, Any] = field(default_factory=dict)
    #: "none" leaves the answers to be judged later
    judge: str = "offline"
    judge_options: dict[str, Any] = field(default_factory=dict)
    #: what a judge made of models is asked: a registered name or a file
    rubric: str = DEFAULT_RUBRIC
    arms: tuple[str, ...] = ("original", "hazard")
    repeats: int = 1
    #: copies of the planner that work side by side; None: one, or one for each of ``devices``, the cards that they see
    workers: int | None = None
    devices: tuple[str, ...] = ()
    #: who asks: a name of :mod:`cfgen.core.engines.registry`
    engine: str = ""
    engine_options: dict[str, Any] = field(default_factory=dict)
    #: "2/8": only the second of eight parts of the cases; "": all
    shard: str = ""
    #: what the response is held against; "" keeps what was declared, or declares the mean
    floor: FloorKind | Literal[""] = ""
    timeout_s: float = 120.0
    #: for the planner to start, and to start again
    startup_timeout_s: float = STARTUP_TIMEOUT_S
    intervene: bool = False
    #: ask again what a retry could mend: answers that network or machine lost, faults, judges without a usable reply
    retry_failed: bool = False
    #: ask every failed answer again, also where the planner itself failed
    retry_all: bool = False
    #: further tries, with growing pauses, before a time-out or a lost connection counts
    planner_retries: int = 3
    #: a longer text is cut, and the cut recorded
    max_answer_chars: int = MAX_CHARS
    #: end at the first fault, with its traceback
    strict: bool = False
    #: send nothing off this machine; reach these hosts only; see :class:`cfgen.core.network.Network`
    offline: bool = False
    allow_hosts: tuple[str, ...] = ()
    #: words that start the Python, in another environment or a container, in which the planner runs; "": cfgen's own
    python: str = ""
    #: it may reach what cfgen may; else it has a network of its own with nothing in it, where the system permits that
    planner_network: bool = False
    #: GB of its own that it may take, with all that it starts; None: no limit
    planner_memory: float | None = None
    #: folders that it may write to, beside its own temporary one
    writable: tuple[Path, ...] = ()
    quiet: bool = False

    @property
    def runtime(self) -> Runtime:
        """Where the planner runs.

        Raises:
            InputError: ``python`` cannot be started, or a folder is not there.
        """
        for folder in self.writable:
            if not folder.is_dir():
                raise InputError(f"--writable {folder}: expected a folder, found none; make it first")
            here, bench = folder.resolve(), self.bench.resolve()
            if here.is_relative_to(bench) or bench.is_relative_to(here):
                where = (
                    "is the benchmark, or lies in it" if here.is_relative_to(bench) else "holds the benchmark"
                )
                raise InputError(
                    f"--writable {folder}: {where} ({self.bench}), which planners must not see; name a folder beside it"
                )
        return Runtime(
            python=python_of(self.python) if self.python else (),
            hidden=(self.bench, Path(f"{self.bench.resolve()}-report"), scenarios_dir() / "scenes"),
            writable=self.writable,
            network=(self.planner_network and not self.offline) or bool(self.allow_hosts),
            memory=int((self.planner_memory or 0) * 1e9),
        )
