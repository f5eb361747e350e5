"""What a planner is scored with."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cfgen.core.plain import MAX_CHARS
from cfgen.judge.rubrics.registry import DEFAULT
from cfgen.planners.protocol import Planner
from cfgen.planners.waiting import STARTUP_TIMEOUT_S


@dataclass(frozen=True)
class ScoreOptions:
    """``arms`` always hold "original": every other arm is judged against it."""

    bench: Path
    #: an object runs in this process
    planner: str | type | Planner
    name: str | None = None
    planner_options: dict[str, Any] = field(default_factory=dict)
    judge: str = "offline"
    judge_options: dict[str, Any] = field(default_factory=dict)
    #: what a judge made of models is asked: a registered name or a file
    rubric: str = DEFAULT
    arms: tuple[str, ...] = ("original", "hazard")
    repeats: int = 1
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
    quiet: bool = False
