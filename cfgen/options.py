"""What a benchmark is built, scored, judged and reported with: each option once, for the library's signature, the
command line, experiment files and the documentation. How they are declared: :mod:`cfgen.core.options`."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import attrs
from attrs import field

from cfgen.core.options import (
    NAME_OR_PATH,
    Addressable,
    AllowHosts,
    BenchPath,
    Count,
    Dollars,
    Engine,
    EngineOptions,
    Kind,
    Limit,
    Natural,
    Offline,
    Options,
    Quiet,
    Range,
    Seconds,
    Settings,
    SomeNames,
    Spelling,
    Strict,
    factors,
    names,
    names_or_none,
    path,
    path_or_none,
    paths,
    settings,
    text_path,
)
from cfgen.core.sanitize import MAX_CHARS

if TYPE_CHECKING:
    from cfgen.planners.protocol import Planner

#: ``--judge`` that stores answers and judges none
NOBODY = "none"
#: ``--planners`` that means each that has answers
ALL = "all"
#: what a judge of pairs of answers is asked where nothing else is said
DEFAULT_RUBRIC = "cfgen"


def _planner(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return str(Path(value).expanduser())
    if isinstance(value, str | type) or callable(getattr(value, "plan", None)):
        return value
    raise TypeError


PLANNER = Kind(
    "a name, package.module:Class, cmd:PROGRAM, a URL, a .jsonl file, a class, or an object with a method "
    "'plan(observations)'",
    _planner,
)


def planner(value: "str | os.PathLike[str] | type | Planner") -> "str | type | Planner":
    return cast("str | type | Planner", value)


def _not_empty(text: str) -> str:
    """As an unset variable of a shell is."""
    if not text.strip():
        raise ValueError(text)
    return text


_NOT_EMPTY = Spelling("PYTHON|COMMAND", _not_empty)
Where = Annotated[
    str,
    Spelling("CONDITION", _not_empty),
    "Use only scenes whose tags meet this condition, such as \"speed > 5 and road == 'junction'\".",
]
PerceptionName = Annotated[
    str,
    "Which road segmentation model sees road, lanes and traffic in the frames: see cfgen list perceivers.",
]


@attrs.frozen(kw_only=True)
class WorkOptions(Options):
    """What is common to all that works on many items."""

    strict: Strict = False
    offline: Offline = False
    allow_hosts: Annotated[tuple[str, ...], *AllowHosts.__metadata__] = field(default=(), converter=names)
    quiet: Quiet = False


@attrs.frozen(kw_only=True)
class BuildOptions(WorkOptions):
    """What a benchmark is built with."""

    out: Annotated[
        Path, Addressable(records=True), "Benchmark directory; one that is there is continued."
    ] = field(default=Path("bench"), converter=path, kw_only=False)
    definition: Annotated[
        str,
        NAME_OR_PATH,
        "A frozen benchmark, such as cfgen66-demo-v2: its own options count, and every case is held against it.",
    ] = field(default="", converter=text_path)
    n: Annotated[Count, "Accepted cases to end with."] = 66
    seed: Annotated[int, "Seed of all that is drawn."] = 0
    scenes: Annotated[Path | None, "Folder of scenes (default: the demo scenes)."] = field(
        default=None, converter=path_or_none
    )
    where: Where = ""
    taxonomy: Annotated[
        Path | None,
        "YAML file, or folder of them, with hazards of your own: added to those that ship, by name.",
    ] = field(default=None, converter=path_or_none)
    taxonomy_only: Annotated[bool, "The hazards of --taxonomy in place of those that ship."] = False
    hazards: Annotated[tuple[str, ...], "Only these hazards (default: all)."] = field(
        default=(), converter=names
    )
    inpainter: Annotated[str, "Who draws hazards: see cfgen list inpainters."] = "composite"
    inpainter_options: Annotated[dict[str, Any], "Options of the inpainter."] = field(
        factory=dict, converter=settings
    )
    guide: Annotated[
        str, "Start from this inpainter's insert and repaint it, so that size, pose and place stay exact."
    ] = ""
    masks: Annotated[
        str,
        "Segmentation model that cuts out hazards, what hides them and the road (default: the placement).",
    ] = ""
    masks_options: Annotated[dict[str, Any], "Options of the segmentation model."] = field(
        factory=dict, converter=settings
    )
    detector: Annotated[str, "A gate on whether this detector finds what was asked for."] = ""
    detector_options: Annotated[dict[str, Any], "Options of the detector."] = field(
        factory=dict, converter=settings
    )
    perception: PerceptionName = ""
    perception_options: Annotated[dict[str, Any], "Options of the perception."] = field(
        factory=dict, converter=settings
    )
    decel_band: Annotated[
        tuple[float, float],
        Range("0 < LOW < HIGH", lambda band: 0 < band[0] < band[1] < float("inf")),
        "Constant deceleration after 0.5 s that hazards require, m/s^2: LOW,HIGH.",
    ] = (1.0, 4.0)
    horizon: Annotated[
        Seconds, "Seconds within which a response is due: the planner's own horizon, or less."
    ] = 4.0
    protocol: Annotated[
        Literal["even", "pinocchio"],
        "even over hazards, responses and sides; or as the paper: hazards drawn uniformly, avoidable or not.",
    ] = "even"
    hazard_weights: Annotated[
        Path | None, "YAML or JSON file: hazard and weight, for a mix of your own (default: 1 each)."
    ] = field(default=None, converter=path_or_none)
    controls: Annotated[
        tuple[Literal["null", "nuisance", "none"], ...],
        Range(
            "null and/or nuisance, or none",
            lambda arms: {"null", "nuisance"} >= set(arms) or tuple(arms) == ("none",),
        ),
        "Control scenes: null (the same edit without an object), nuisance (the hazard where no response is due).",
    ] = field(default=("null", "nuisance"), converter=names)
    distances: Annotated[
        tuple[float, ...],
        Range("factors from 0.2 to 5", lambda values: all(0.2 <= factor <= 5 for factor in values)),
        "Place the hazard also at these multiples of its distance, such as 0.7,1.4.",
    ] = field(default=(), converter=factors)
    attempts: Annotated[Count, "Attempts at a case before it is rejected."] = 4
    budget: Annotated[
        Dollars,
        "Stop cleanly before the inpainter has cost more, over all builds of this benchmark; 0: no limit.",
    ] = 0.0
    jobs: Annotated[
        int,
        Range("a number of processes, or 0 for one a core", lambda value: value >= 0),
        "Workers; 0: one a core, or one a card where each loads a model.",
    ] = 0
    engine: Engine = ""
    engine_options: Annotated[dict[str, Any], *EngineOptions.__metadata__] = field(
        factory=dict, converter=settings
    )
    shard: Annotated[
        str,
        "I/N: only the I-th of N parts of a round, in a folder of its own, for machines that share no disk; then: "
        "cfgen bench merge.",
    ] = ""
    retry_faults: Annotated[bool, "Try again what broke in an earlier build of this directory."] = False

    @property
    def control_arms(self) -> tuple[Literal["null", "nuisance"], ...]:
        """The arms that ``controls`` asks for; none for ``none``."""
        return tuple(arm for arm in self.controls if arm != "none")


JudgeName = Annotated[str, "Who judges: see cfgen list judges."]
JudgeSettings = Annotated[Settings, "Options of the judge."]
Votes = Annotated[Count | None, "Replies of each judge model to each item."]
_RUBRIC = "What a model judge is asked: an installed rubric, or a YAML file of own wording."
Rubric = Annotated[str | Path, _RUBRIC]
Repeats = Annotated[Count, "Times each question is asked."]


@attrs.frozen(kw_only=True)
class JudgingOptions(WorkOptions):
    """Who judges answers, and how."""

    judge: Annotated[
        str, "Who judges: see cfgen list judges; none stores the answers for cfgen judge run."
    ] = "offline"
    judge_options: Annotated[dict[str, Any], "Options of the judge."] = field(
        factory=dict, converter=settings
    )
    votes: Votes = None
    rubric: Annotated[str, NAME_OR_PATH, _RUBRIC] = field(default=DEFAULT_RUBRIC, converter=text_path)
    retry_failed: Annotated[
        bool,
        "Ask again what that could mend: the planner where network or machine lost its answer or cfgen broke, the "
        "judge where it gave no usable reply.",
    ] = False

    @property
    def judge_settings(self) -> dict[str, Any]:
        """``judge_options`` and, where given, ``votes``."""
        return self.judge_options if self.votes is None else {**self.judge_options, "votes": self.votes}


@attrs.frozen(kw_only=True)
class JudgeOptions(JudgingOptions):
    """What stored answers are judged with."""

    bench: BenchPath = field(converter=path, kw_only=False)
    planners: Annotated[tuple[str, ...], SomeNames, "Whose answers; all: every planner that has some."] = (
        field(default=(ALL,), converter=names, kw_only=False)
    )


@attrs.frozen(kw_only=True)
class PlannerOptions(JudgingOptions):
    """How a planner is started and asked."""

    planner_options: Annotated[dict[str, Any], "Options of the planner."] = field(
        factory=dict, converter=settings
    )
    timeout_s: Annotated[Seconds, "Seconds for one answer; an object in this process is not stopped."] = 120.0
    startup_timeout_s: Annotated[Seconds, "Seconds for the planner to start, loading weights included."] = (
        900.0
    )
    python: Annotated[
        str,
        _NOT_EMPTY,
        "Python of the environment in which the planner runs (VENV/bin/python, 3.9 or later, with NumPy), or a command "
        'that starts one: "docker run -i --rm IMAGE python".',
    ] = ""
    planner_network: Annotated[
        bool,
        "Let the planner reach the network; else a class or a program has one of its own with nothing in it.",
    ] = False
    planner_memory: Annotated[
        float | None,
        Range("GB above 0, or None for the default", lambda value: 0 < value < 1e6),
        "Memory that the planner may take, GB (default: 80% of this machine's).",
    ] = None
    planner_path: Annotated[
        tuple[Path, ...],
        "Files and folders that the planner may read, beside the system, its Python, its modules and the usual caches "
        "of weights; what they hold is part of who answered.",
    ] = field(default=(), converter=paths)
    planner_env: Annotated[
        tuple[str, ...], "Environment variables that decide its answers: part of who answered."
    ] = field(default=(), converter=names)
    writable: Annotated[
        tuple[Path, ...], "Folders that the planner may write to, beside a /tmp of its own."
    ] = field(default=(), converter=paths)


PLANNER_HELP = (
    "A name (see cfgen list planners), package.module:Class, cmd:PROGRAM, a URL, or a .jsonl file of answers."
)


@attrs.frozen(kw_only=True)
class ScoreOptions(PlannerOptions):
    """What a planner is scored with. ``arms`` always hold "original": every other arm is judged against it."""

    bench: BenchPath = field(converter=path, kw_only=False)
    planner: Annotated["str | type | Planner", PLANNER, PLANNER_HELP] = field(
        converter=planner, kw_only=False
    )
    name: Annotated[
        str | None,
        Range("a name, or None for one of cfgen's own", lambda value: bool(value.strip())),
        "Name under which its answers are kept (default: from the planner).",
    ] = None
    arms: Annotated[
        tuple[str, ...],
        SomeNames,
        "Versions of each scene to ask about: original, hazard, rerun, null, nuisance, hazard_d<factor>.",
    ] = field(default=("original", "hazard", "nuisance"), converter=names)
    repeats: Repeats = 1
    workers: Annotated[
        Count | None,
        "Copies of the planner that work side by side (default: one, or one for each of --devices).",
    ] = None
    devices: Annotated[
        tuple[str, ...],
        "Cards, as nvidia-smi numbers them: a worker on each in turn, which sees that one alone.",
    ] = field(default=(), converter=names)
    engine: Engine = ""
    engine_options: Annotated[dict[str, Any], *EngineOptions.__metadata__] = field(
        factory=dict, converter=settings
    )
    shard: Annotated[
        str,
        "I/N: only the I-th of N parts of the cases, for machines that share no disk; then: cfgen bench merge.",
    ] = ""
    intervene: Annotated[bool, "Overwrite the planner's reasoning and see whether it follows."] = False
    retry_all: Annotated[bool, "Ask the planner every failed answer again, also its own failures."] = False
    planner_retries: Annotated[
        Natural, "Further attempts, with growing pauses, before a time-out or a lost connection counts."
    ] = 3
    max_answer_chars: Annotated[Count, "Characters of an answer; the rest is cut, and that recorded."] = (
        MAX_CHARS
    )

    def arms_of(self, built: Collection[str]) -> tuple[str, ...]:
        """``arms``; of those asked by default, no nuisance where none is ``built``: the report then says so."""
        default = attrs.fields(ScoreOptions).arms.default
        absent = {"nuisance"} - set(built) if self.arms == default else set()
        return tuple(arm for arm in self.arms if arm not in absent)


@attrs.frozen(kw_only=True)
class TryOptions(PlannerOptions):
    """What one picture is tried with."""

    picture: Annotated[Path, "Picture of a front camera."] = field(converter=path, kw_only=False)
    planner: Annotated["str | type | Planner", PLANNER, PLANNER_HELP] = field(
        converter=planner, kw_only=False
    )
    hazard: Annotated[str, "What appears: see cfgen list hazards."] = field(kw_only=False)
    out: Annotated[
        Path | None,
        "Folder of the scene, the benchmark of one case and the panel (default: try-PICTURE-HAZARD); what it holds of "
        "the same picture is used again.",
    ] = field(default=None, converter=path_or_none)
    speed: Annotated[
        float, Range("0 to 70 m/s", lambda value: 0 <= value <= 70), "Speed of the car, m/s."
    ] = 10.0
    camera: Annotated[
        dict[str, Any], "What is known of the camera: fov_deg, camera_height_m, horizon_row, yaw_deg."
    ] = field(factory=dict, converter=settings)
    perception: PerceptionName = ""
    seed: Annotated[Natural, "Another place for the hazard."] = 0


@attrs.frozen(kw_only=True)
class ReportOptions(Options):
    """What a report shows."""

    bench: BenchPath = field(converter=path, kw_only=False)
    out: Annotated[Path | None, "Report folder (default: BENCH-report, beside the benchmark)."] = field(
        default=None, converter=path_or_none, kw_only=False
    )
    planners: Annotated[tuple[str, ...] | None, SomeNames, "Only these planners (default: all)."] = field(
        default=None, converter=names_or_none
    )
    panels: Annotated[Limit, "Case panels per planner; all draws every one."] = 4
    pages: Annotated[Limit, "Cases to show one by one; every case counts in the figures."] = 5000
    sections: Annotated[
        tuple[str, ...], "Sections besides those that every report has, such as metrics; or all."
    ] = field(default=(), converter=names)
    strict: Strict = False
