"""Carrying out an experiment: what would be refused, and then build, score, judge and report."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import attrs

from cfgen.benchmark.builder import distance_name
from cfgen.build import build, check_build
from cfgen.core.errors import CfgenError, InputError, Shortfall, StoreError, did_you_mean
from cfgen.core.files import told
from cfgen.core.network import Network, limited
from cfgen.core.options import Place, Quiet, checked
from cfgen.judge.registry import create_judge
from cfgen.library import report
from cfgen.library.benchmark import Benchmark, Run
from cfgen.library.experiment import Experiment, JudgePart, PlannerPart
from cfgen.planners.check import check_planner
from cfgen.report import Report, check_target_beside, default_target
from cfgen.score import score


@dataclass(frozen=True)
class ExperimentResult:
    """What came of an experiment.

    Attributes:
        shortfalls: what fell short or could not be done, in words; the rest was done.
    """

    bench: Benchmark
    runs: tuple[Run, ...]
    report: Report | None
    shortfalls: tuple[str, ...]

    def __repr__(self) -> str:
        short = f", fell short: {'; '.join(self.shortfalls)}" if self.shortfalls else ""
        return f"ExperimentResult({self.bench!r}, {len(self.runs)} runs{short})"


@checked
def run(
    file: Annotated[Place, "experiment.yaml"],
    *,
    quiet: Quiet = False,
) -> ExperimentResult:
    """Build, score, judge and report as one file says; each step goes on where it was interrupted.

    Raises:
        InputError: a field of the file is wrong or missing, or somebody in it cannot do what is asked; names each.

    >>> cfgen.run("experiment.yaml")  # doctest: +SKIP
    """
    file = Path(file)
    experiment = Experiment.read(file)
    check(file, experiment)
    build(attrs.evolve(experiment.build, quiet=quiet))
    bench = Benchmark(experiment.bench)
    shortfalls = [bench.shortfall] if bench.shortfall else []
    runs: list[Run] = []
    for planner in experiment.planners:
        for judge in experiment.judges:
            try:
                summary = score(attrs.evolve(experiment.pair(planner, judge), quiet=quiet))
                runs.append(Run(bench, summary.planner, summary.judge, summary))
            except (CfgenError, Shortfall) as error:  # one planner or judge; the others go on
                shortfalls.append(f"{planner.name or planner.planner} under {judge.judge}: {error}")
    written = report(**attrs.asdict(experiment.report, recurse=False)) if runs else None
    return ExperimentResult(bench, tuple(runs), written, tuple(shortfalls))


# --- what would be refused ------------------------------------------------------------------------------


def check(file: Path, experiment: Experiment) -> None:
    """Refuse before anything is done what would be refused on the way, all of it at once.

    Raises:
        InputError: names each field.
    """
    if faults := list(_faults(experiment)):
        raise InputError(f"{file}: {told(faults)}")


def _faults(experiment: Experiment) -> Iterator[str]:
    yield from _arms(experiment)
    yield from _fault("build", lambda: check_build(attrs.evolve(experiment.build, quiet=True)))
    out = experiment.report.out or default_target(experiment.bench)
    yield from _fault("report.out", lambda: check_target_beside(out, experiment.bench))
    with limited(Network(experiment.score.offline, experiment.score.allow_hosts)):
        names: dict[str, int] = {}
        for i, planner in enumerate(experiment.planners):
            yield from _fault(f"planners.{i}", partial(_check_planner, experiment, planner, i, names))
        names = {}
        for i, judge in enumerate(experiment.judges):
            yield from _fault(f"judges.{i}", partial(_check_judge, experiment, judge, i, names))


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


def _arms(experiment: Experiment) -> Iterator[str]:
    distances = [distance_name(factor) for factor in experiment.build.distances if factor != 1.0]
    built = ["original", "hazard", "rerun", *experiment.build.control_arms, *distances]
    for arm in experiment.score.arms_of(built):
        if arm not in built:
            yield (
                f"score.arms: expected any of {', '.join(built)}, found '{arm}'{did_you_mean(arm, built)}; "
                "build.controls and build.distances add more"
            )


def _check_planner(experiment: Experiment, planner: PlannerPart, index: int, names: dict[str, int]) -> None:
    startup_s = experiment.score.startup_timeout_s
    name = check_planner(planner.planner, planner.options, planner.name, startup_s)
    _check_unique(name, index, names, "planners", "name: ...")


def _check_judge(experiment: Experiment, judge: JudgePart, index: int, names: dict[str, int]) -> None:
    options = experiment.pair(experiment.planners[0], judge)
    name = create_judge(options.judge, None, options.rubric, **options.judge_settings).name
    _check_unique(name, index, names, "judges", "options: {name: ...}")


def _check_unique(name: str, index: int, names: dict[str, int], section: str, mend: str) -> None:
    """Answers and verdicts lie under names."""
    first = names.setdefault(name, index)
    if first != index:
        raise InputError(
            f"is kept under the name '{name}', as {section}.{first} is; give it another with {mend}"
        )
