"""One file that says what to build, whom to score, who judges and where the report goes; and carrying it out."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from cfgen import library
from cfgen.core.errors import CfgenError, InputError, Shortfall
from cfgen.core.files import explain
from cfgen.inpaint.registry import create_inpainter
from cfgen.judge.registry import create_judge, make_judge
from cfgen.judge.rubrics.registry import DEFAULT, is_file
from cfgen.library.benchmark import Benchmark
from cfgen.library.estimate import Estimate, Guess, estimate
from cfgen.library.runs import Run
from cfgen.planners.registry import PLANNERS
from cfgen.report import Report


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _part(function: Callable[..., Any], without: set[str]) -> Any:
    """The arguments of a function of the library, with their types and defaults, as a section of the file."""
    fields: dict[str, Any] = {
        p.name: (p.annotation, p.default)
        for p in inspect.signature(function).parameters.values()
        if p.name not in without
    }
    return create_model(function.__name__, __base__=_Part, **fields)


_WHO = {"planner", "name", "planner_options", "judge", "judge_options", "votes", "rubric"}
if TYPE_CHECKING:
    _Build: TypeAlias = Any
    _Score: TypeAlias = Any
    _Report: TypeAlias = Any
else:
    _Build = _part(library.build, {"out", "quiet"})
    _Score = _part(library.score, {"bench", "quiet"} | _WHO)
    _Report = _part(library.report, {"bench"})


class PlannerPart(_Part):
    """``planner: NAME`` or only ``NAME``, as ``cfgen score --planner`` takes it."""

    planner: str
    name: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class JudgePart(_Part):
    """``judge: NAME`` or only ``NAME``."""

    judge: str
    options: dict[str, Any] = Field(default_factory=dict)
    votes: int | None = Field(default=None, ge=1)
    rubric: str = DEFAULT


class Experiment(_Part):
    """``experiment.yaml``. The sections ``build``, ``score`` and ``report`` take what the functions of these names do.

    Paths of ``bench``, ``build.scenes``, ``build.taxonomy``, ``report.out``, rubrics' and ``.jsonl`` planners' are
    relative to the file; those within options are as they are given.
    """

    bench: str = "bench"
    build: _Build = Field(default_factory=_Build)
    planners: tuple[PlannerPart, ...] = Field(min_length=1)
    judges: tuple[JudgePart, ...] = Field(default=(JudgePart(judge="offline"),), min_length=1)
    score: _Score = Field(default_factory=_Score)
    report: _Report = Field(default_factory=_Report)
    estimate: Guess = Guess()

    @classmethod
    def read(cls, file: Path) -> Self:
        """
        Raises:
            InputError: no such file, not YAML, or a field that is wrong, missing or unknown.
        """
        try:
            content = yaml.safe_load(file.read_text("utf-8"))
        except OSError as error:
            raise InputError(f"{file}: cannot read ({error.strerror}); check the path") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            found = " ".join(str(error).split())
            raise InputError(f"{file}: expected YAML, found something else ({found})") from error
        try:  # as JSON, so that lists may be tuples while all else is strict
            return cls.model_validate_json(json.dumps(_words(content), default=str)).relative_to(file.parent)
        except ValidationError as error:
            raise InputError(f"{file}: {explain(error)}") from error

    def relative_to(self, folder: Path) -> Self:
        def there(path: Any) -> str | None:
            return None if path is None else str(folder / Path(path).expanduser())

        build = self.build.model_copy(
            update={"scenes": there(self.build.scenes), "taxonomy": there(self.build.taxonomy)}
        )
        planners = tuple(
            p.model_copy(update={"planner": there(p.planner)}) if p.planner.endswith(".jsonl") else p
            for p in self.planners
        )
        judges = tuple(
            j.model_copy(update={"rubric": there(j.rubric)}) if is_file(j.rubric) else j for j in self.judges
        )
        report = self.report.model_copy(update={"out": there(self.report.out)})
        changed = {
            "bench": there(self.bench),
            "build": build,
            "planners": planners,
            "judges": judges,
            "report": report,
        }
        return self.model_copy(update=changed)

    def check(self) -> None:
        """Who is named exists and takes its options: found out before anything is done.

        Raises:
            InputError: somebody does not.
        """
        create_inpainter(self.build.inpainter, self.build.inpainter_options)
        for judge in self.judges:
            make_judge(judge.judge, None, judge.rubric, **_options(judge))
        for planner in self.planners:
            name = planner.planner.removeprefix("verified:")
            if name.endswith(".jsonl") and not Path(name).is_file():
                raise InputError(f"planners: expected a file of outputs, found none at {name}")
            if ":" not in name and not name.endswith(".jsonl") and name not in PLANNERS.names():
                raise InputError(
                    f"planners: '{name}': expected a name ({', '.join(PLANNERS.names())}), package.module:Class, "
                    "cmd:PROGRAM, a URL or a .jsonl file"
                )


def _words(content: Any) -> Any:
    """A bare name stands for its part, and YAML's ``null`` for the control arm of that name."""
    if not isinstance(content, dict):
        return content
    content = dict(content)
    for key, field in (("planners", "planner"), ("judges", "judge")):
        if isinstance(content.get(key), list):
            content[key] = [{field: one} if isinstance(one, str) else one for one in content[key]]
    for section, key in (("build", "controls"), ("score", "arms")):
        part = content.get(section)
        if isinstance(part, dict) and isinstance(part.get(key), list):
            content[section] = {**part, key: ["null" if one is None else one for one in part[key]]}
    return content


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


def carry_out(file: Path, dry_run: bool, quiet: bool) -> Outcome:
    """See :func:`cfgen.run`. Each step goes on where it was interrupted."""
    wanted = Experiment.read(file)
    wanted.check()
    expected = estimate(wanted)
    if dry_run:
        return Outcome(expected)
    for judge in wanted.judges:
        create_judge(judge.judge, None, judge.rubric, **_options(judge))
    bench = library.build(wanted.bench, quiet=quiet, **_arguments(wanted.build))
    shortfalls = [bench.shortfall] if bench.shortfall else []
    runs: list[Run] = []
    for planner in wanted.planners:
        for judge in wanted.judges:
            try:
                runs.append(_score(bench, planner, judge, wanted, quiet))
            except (CfgenError, Shortfall) as error:  # one planner or judge; the others go on
                shortfalls.append(f"{planner.name or planner.planner} under {judge.judge}: {error}")
    written = library.report(bench, **_arguments(wanted.report)) if runs else None
    return Outcome(expected, bench, tuple(runs), written, tuple(shortfalls))


def _score(bench: Benchmark, planner: PlannerPart, judge: JudgePart, wanted: Experiment, quiet: bool) -> Run:
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
        **_arguments(wanted.score),
    )


def _arguments(part: BaseModel) -> dict[str, Any]:
    return {name: getattr(part, name) for name in type(part).model_fields}


def _options(judge: JudgePart) -> dict[str, Any]:
    return judge.options if judge.votes is None else {**judge.options, "votes": judge.votes}
