"""What an experiment takes, before it begins: calls, money, time and disk. Rough on purpose, and it says on what."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from cfgen.core.engines.registry import default_jobs
from cfgen.core.paths import scenarios_dir
from cfgen.judge.registry import make_judge
from cfgen.library.experiment import Experiment, JudgePart, PlannerPart
from cfgen.models.limits import _TYPICAL, PRICES, Limits
from cfgen.reporting.section import Table
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.storage.store import MARKER, Store

# Measured on two cores of a cloud machine, on the demo scenes (960 x 540) and on Udacity drives (640 x 480).
#: s of one core for a case of the compositor, and for each further arm of it
_COMPOSITE_S = 1.0
#: s for a weightless planner's answer and for a verdict of the offline judge
_ANSWER_S, _VERDICT_S = 0.01, 0.08
#: s and bytes of the report for a case
_REPORT_S, _REPORT_BYTES = 0.5, 1_000_000
#: bytes of a PNG for each pixel; 0.8 for clean frames, 1.5 for a noisy camera
_PNG_BYTES = 1.5
#: bytes of a record
_RECORD_BYTES = 5_000

_OFFLINE = ("offline", "scripted")
_PAID = ("gemini", "openai")
_WEIGHTLESS = ("cruise", "logged", "reactive", "scripted")


@dataclass(frozen=True)
class Step:
    """``calls`` of a model or a planner that are left to make; ``done`` of them are on disk. None: not known."""

    name: str
    calls: int
    done: int
    usd: float | None
    seconds: float | None
    bytes: int


@dataclass(frozen=True)
class Estimate:
    """Iterating gives its steps; prints as a table."""

    steps: tuple[Step, ...]

    def table(self) -> Table:
        steps = self.steps
        total = Step(
            "all",
            sum(s.calls for s in steps),
            sum(s.done for s in steps),
            sum(s.usd or 0 for s in steps),
            sum(s.seconds or 0 for s in steps),
            sum(s.bytes for s in steps),
        )
        unknown = [
            " + ?" if None in figures else ""
            for figures in ([s.usd for s in steps], [s.seconds for s in steps])
        ]
        last = list(_words(total))
        last[3:5] = [words + suffix for words, suffix in zip(last[3:5], unknown, strict=True)]
        return Table(
            name="estimate",
            title="What is left to do, about",
            columns=("step", "calls", "done", "USD", "time", "disk"),
            rows=(*map(_words, steps), tuple(last)),
            note="Calls: pictures of a generative inpainter, answers of planners, replies of judges' models; refused "
            "pictures, retries and interventions come on top. Done: on disk already, and in no other column. '?': give "
            "prices among the options, or dollars and seconds in the section 'estimate'. Time: on the "
            f"{default_jobs()} cores here. A call takes {_TYPICAL['input_tokens']:.0f} tokens and gives "
            f"{_TYPICAL['output_tokens']:.0f}.",
        )

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(step) for step in self.steps]

    def __str__(self) -> str:
        return self.table().markdown()

    def _repr_html_(self) -> str:
        return self.table().html()


def estimate(experiment: Experiment) -> Estimate:
    """From the numbers in the file, the scenes, and what is on disk already.

    Raises:
        InputError: there are no scenes.
    """
    store = Store(experiment.bench) if (experiment.bench / MARKER).is_file() else None
    arms = {"original", *experiment.score.arms_of(experiment.build.control_arms)}
    steps = [_build(experiment, store)]
    for planner in experiment.planners:
        steps.append(_answers(experiment, planner, len(arms), store))
        steps += [_verdicts(experiment, planner, judge, len(arms) - 1, store) for judge in experiment.judges]
    cases = experiment.build.n
    steps.append(Step("report", 0, 0, 0.0, cases * _REPORT_S, cases * _REPORT_BYTES))
    return Estimate(tuple(steps))


def _build(experiment: Experiment, store: Store | None) -> Step:
    part = experiment.build
    finished = min(part.n, len(store.case_ids())) if store else 0
    remaining = part.n - finished
    edits = 1 + len(part.control_arms) + len(part.distances)
    frames, pixels, scene_bytes = _scene(part.scenes)
    size = int(remaining * ((1 + edits * frames) * pixels * _PNG_BYTES + scene_bytes))
    jobs = part.jobs or default_jobs()
    if part.inpainter == "composite":
        return Step("build", 0, 0, 0.0, remaining * edits * _COMPOSITE_S / jobs, size)
    usd = _usd(part.inpainter_options, {"images": 1.0})
    name, seconds = f"build ({part.inpainter})", experiment.estimate.picture_s
    return replace(_step(name, remaining * edits, finished * edits, 1, usd, seconds), bytes=size)


def _scene(folder: Path | None) -> tuple[int, float, float]:
    """Frames, pixels of the front camera's, and bytes on disk, of the first scene."""
    first = find_scenes(folder or scenarios_dir() / "scenes")[0]
    scene = load_scene(first).scene
    size = sum(file.stat().st_size for file in first.rglob("*") if file.is_file())
    return len(scene.frames), scene.front.width * scene.front.height, size


def _answers(experiment: Experiment, planner: PlannerPart, arms: int, store: Store | None) -> Step:
    every = experiment.build.n * arms * experiment.score.repeats
    name = _run_of(planner, store)
    finished = min(every, len(store.rollouts(name))) if store and name else 0
    quick = planner.planner in _WEIGHTLESS or planner.planner.endswith(".jsonl")
    usd = _usd(planner.options, _TYPICAL)
    if usd is None:
        usd = experiment.estimate.answer_usd
    if usd is None and planner.planner not in _PAID:
        usd = 0.0
    seconds = _ANSWER_S if quick else experiment.estimate.answer_s
    return _step(planner.name or planner.planner, every - finished, finished, 1, usd, seconds)


def _verdicts(
    experiment: Experiment, planner: PlannerPart, judge: JudgePart, arms: int, store: Store | None
) -> Step:
    options = experiment.pair(planner, judge).judge_settings
    transport = make_judge(judge.judge, None, **options)
    label = f"{planner.name or planner.planner} under {transport.name}"
    every = experiment.build.n * arms * experiment.score.repeats
    name = _run_of(planner, store)
    finished = min(every, len(store.verdict_paths(transport.name, name))) if store and name else 0
    if judge.judge in _OFFLINE:
        return _step(label, every - finished, finished, 0, 0.0, _VERDICT_S)
    members = options.get("members")
    asks = int(options.get("votes", 1)) * (len(members) if isinstance(members, list) else 1)
    seconds = experiment.estimate.reply_s
    if seconds is not None:
        seconds /= int(options.get("concurrency", Limits.concurrency))
    if rpm := float(options.get("rpm", 0)):
        seconds = max(60 / rpm, seconds or 0.0)
    usd = 0.0 if judge.judge == "local" else _usd(options, _TYPICAL)
    return _step(label, every - finished, finished, asks, usd, seconds)


def _run_of(planner: PlannerPart, store: Store | None) -> str | None:
    """The name under which its answers are on disk."""
    runs = store.planner_runs() if store else []
    names = (
        run.planner for run in runs if run.spec == planner.planner and planner.name in (None, run.planner)
    )
    return next(names, None)


def _step(
    name: str, remaining: int, finished: int, asks: int, usd: float | None, seconds: float | None
) -> Step:
    """``left`` pieces of work with a record each, ``asks`` calls for one; dollars and seconds of one call or piece."""
    times = remaining * max(1, asks)
    return Step(
        name,
        remaining * asks,
        finished * asks,
        None if usd is None else times * usd,
        None if seconds is None else times * seconds,
        remaining * _RECORD_BYTES,
    )


def _usd(options: Mapping[str, Any] | None, usage: Mapping[str, float]) -> float | None:
    """Of one call, at the prices among the options; None without any."""
    values = options or {}
    prices = {name: float(values[name]) for name in PRICES if values.get(name)}
    return Limits(**prices).cost(usage) if prices else None  # type: ignore[arg-type]


def _words(step: Step) -> tuple[str, ...]:
    usd = "?" if step.usd is None else f"{step.usd:.2f}"
    seconds = "?" if step.seconds is None else _time(step.seconds)
    return (step.name, str(step.calls), str(step.done), usd, seconds, f"{step.bytes / 1e6:.0f} MB")


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{ceil(seconds)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
