"""Carrying out an experiment: what it takes, what would be refused, and then build, score, judge and report."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel

from cfgen import library
from cfgen.benchmark.builder import distance_name
from cfgen.build import check_build
from cfgen.core.errors import CfgenError, InputError, Shortfall, StoreError, did_you_mean
from cfgen.core.files import told
from cfgen.core.network import Network, limited
from cfgen.core.object_store import is_url, working_copy
from cfgen.core.options import Place, Quiet, checked, field_types, read, signature_of
from cfgen.judge.registry import create_judge, make_judge
from cfgen.library.benchmark import Benchmark, Run
from cfgen.library.estimate import Estimate, estimate
from cfgen.library.experiment import Experiment, JudgePart, PlannerPart
from cfgen.options import BuildOptions, ReportOptions, ScoreOptions
from cfgen.planners.check import check_planner
from cfgen.report import Report, check_target_beside, default_target


@dataclass(frozen=True)
class Outcome:
    """What an experiment takes and what came of it; after a dry run the estimate alone.

    Attributes:
        shortfalls: what fell short or could not be done, in words; the rest was done.
    """

    estimate: Estimate
    bench: Benchmark | None = None
    runs: tuple[Run, ...] = ()
    report: Report | None = None
    shortfalls: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.bench is None:
            return f"Outcome of a dry run: {self.estimate!r}"
        short = f", fell short: {'; '.join(self.shortfalls)}" if self.shortfalls else ""
        return f"Outcome({self.bench!r}, {len(self.runs)} runs{short})"


@checked
def run(
    file: Annotated[Place, "experiment.yaml"],
    *,
    dry_run: Annotated[bool, "Only say what it takes."] = False,
    quiet: Quiet = False,
) -> Outcome:
    """Build, score, judge and report as one file says; says first what it takes: calls, money, time, disk.

    Raises:
        InputError: a field of the file is wrong or missing, or somebody in it cannot do what is asked; names each.
    """
    return carry_out(Path(file), dry_run, quiet)


def carry_out(
    file: Path, dry_run: bool, quiet: bool, told_before: Callable[[Estimate], None] = lambda _: None
) -> Outcome:
    """See :func:`run`. Each step goes on where it was interrupted; ``told_before`` gets the estimate first."""
    experiment = Experiment.read(file)
    if is_url(experiment.bench):
        experiment = experiment.model_copy(update={"bench": str(working_copy(experiment.bench))})
    check(file, experiment, ready=not dry_run)
    expected = estimate(experiment)
    told_before(expected)
    if dry_run:
        return Outcome(expected)
    bench = library.build(experiment.bench, quiet=quiet, **_arguments(experiment.build))
    shortfalls = [bench.shortfall] if bench.shortfall else []
    runs: list[Run] = []
    for planner in experiment.planners:
        for judge in experiment.judges:
            try:
                runs.append(_score(bench, planner, judge, experiment, quiet))
            except (CfgenError, Shortfall) as error:  # one planner or judge; the others go on
                shortfalls.append(f"{planner.name or planner.planner} under {judge.judge}: {error}")
    written = library.report(bench, **_arguments(experiment.report)) if runs else None
    return Outcome(expected, bench, tuple(runs), written, tuple(shortfalls))


def _score(
    bench: Benchmark, planner: PlannerPart, judge: JudgePart, experiment: Experiment, quiet: bool
) -> Run:
    return library.score(
        bench,
        planner.planner,
        name=planner.name,
        planner_options=planner.options,
        judge=judge.judge,
        judge_options=judge.options,
        votes=judge.votes,
        rubric=judge.rubric,
        quiet=quiet,
        **_arguments(experiment.score),
    )


def _arguments(part: BaseModel) -> dict[str, Any]:
    return {name: getattr(part, name) for name in type(part).model_fields}


# --- what would be refused ------------------------------------------------------------------------------


def check(file: Path, experiment: Experiment, ready: bool) -> None:
    """Refuse before anything is done what would be refused on the way, all of it at once.

    Args:
        ready: also what only stands in the way of doing it now: a missing key or package of a judge.

    Raises:
        InputError: names each field.
    """
    if faults := list(_faults(experiment, ready)):
        raise InputError(f"{file}: {told(faults)}")


def _faults(experiment: Experiment, ready: bool) -> Iterator[str]:
    wrong: dict[str, list[str]] = {}
    for section, options in (("build", BuildOptions), ("score", ScoreOptions), ("report", ReportOptions)):
        values = _arguments(getattr(experiment, section))
        wrong[section] = list(_fault("", partial(_read_section, options, values, f"{section}.")))
        yield from wrong[section]
    if not wrong["build"]:
        if not wrong["score"]:
            yield from _arms(experiment)
        yield from _fault("build", partial(_check_build, experiment, ready))
    yield from _fault("report.out", partial(_check_target, experiment))
    if wrong["score"]:  # the rest is asked on its terms: how long to wait, whom to reach
        experiment = experiment.model_copy(update={"score": _readable(experiment.score)})
    names: dict[str, int] = {}
    for i, planner in enumerate(experiment.planners):
        yield from _fault(f"planners.{i}", partial(_check_planner, experiment, planner, i, names))
    judges: dict[str, int] = {}
    for i, judge in enumerate(experiment.judges):
        yield from _fault(f"judges.{i}", partial(_check_judge, experiment, judge, i, judges, ready))


def _fault(where: str, work: Callable[[], None]) -> Iterator[str]:
    try:
        work()
    except StoreError as error:  # the only folder of that kind
        yield f"bench: {error}"
    except CfgenError as error:
        # an option of the command line is a field of the section here
        field, _, rest = str(error).partition(" ") if str(error).startswith("--") else ("", "", str(error))
        name = ".".join(filter(None, (where, field.strip("-:").replace("-", "_"))))
        yield f"{name} {rest}" if field and not field.endswith(":") else f"{name}: {rest}" if name else rest


def _read_section(options: type, values: dict[str, Any], where: str) -> None:
    defaults = {name: parameter.default for name, parameter in signature_of(options).parameters.items()}
    places = {"out": "bench", "bench": "bench", "planner": "cruise"}
    read(field_types(options), {**defaults, **places, **values}, where)


def _score_options(experiment: Experiment) -> ScoreOptions:
    return ScoreOptions("bench", "cruise", **_arguments(experiment.score))


def _arms(experiment: Experiment) -> Iterator[str]:
    controls = experiment.build.controls
    distances = [distance_name(factor) for factor in experiment.build.distances if factor != 1.0]
    built = ["original", "hazard", "rerun", *controls, *distances]
    for arm in _score_options(experiment).arms:
        if arm in built:
            continue
        if arm in ("null", "nuisance"):
            yield f"score.arms: '{arm}' is not built; add it to build.controls, or leave it out"
        elif arm.startswith("hazard_d"):
            yield f"score.arms: '{arm}' is not built; add its factor to build.distances, or leave it out"
        else:
            near = did_you_mean(arm, [*built, "null", "nuisance"])
            yield f"score.arms: '{arm}' is no arm{near}; expected any of {', '.join(built)}"


def _check_build(experiment: Experiment, ready: bool) -> None:
    check_build(BuildOptions(experiment.bench, quiet=True, **_arguments(experiment.build)), ready)


def _check_target(experiment: Experiment) -> None:
    bench, out = Path(experiment.bench), experiment.report.out
    check_target_beside(Path(out) if out else default_target(bench), bench)


def _readable(score: BaseModel) -> BaseModel:
    """With the defaults in place of what is out of its range."""
    whom = {name: getattr(score, name) for name in ("offline", "allow_hosts")}
    return type(score)(**whom)


def _check_planner(experiment: Experiment, planner: PlannerPart, index: int, names: dict[str, int]) -> None:
    score = _score_options(experiment)
    with limited(Network(score.offline, score.allow_hosts)):
        name = check_planner(planner.planner, planner.options, planner.name, score.startup_timeout_s)
    _once(name, index, names, "planners", "name: ...")


def _check_judge(
    experiment: Experiment, judge: JudgePart, index: int, names: dict[str, int], ready: bool
) -> None:
    score = _score_options(experiment)
    make = create_judge if ready else make_judge
    with limited(Network(score.offline, score.allow_hosts)):
        name = make(judge.judge, None, judge.rubric, **judge.all_options).name
    _once(name, index, names, "judges", "options: {name: ...}")


def _once(name: str, index: int, names: dict[str, int], section: str, mend: str) -> None:
    """Answers and verdicts lie under names."""
    first = names.setdefault(name, index)
    if first != index:
        raise InputError(
            f"is kept under the name '{name}', as {section}.{first} is; give it another with {mend}"
        )
