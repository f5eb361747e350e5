"""One file that says what to build, whom to score, who judges and where the report goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import attrs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.files import faults_of, read_yaml, told
from cfgen.core.object_store import is_url, working_copy
from cfgen.core.options import field_types, read, signature_of
from cfgen.judge.rubrics.registry import is_file
from cfgen.options import DEFAULT_RUBRIC, BuildOptions, ReportOptions, ScoreOptions


class _ExperimentPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class PlannerPart(_ExperimentPart):
    """``planner: NAME`` or only ``NAME``, as ``cfgen score --planner`` takes it."""

    planner: str
    name: str | None = Field(default=None, min_length=1)
    options: dict[str, Any] = Field(default_factory=dict)


class JudgePart(_ExperimentPart):
    """``judge: NAME`` or only ``NAME``."""

    judge: str
    options: dict[str, Any] = Field(default_factory=dict)
    votes: int | None = Field(default=None, ge=1)
    rubric: str = DEFAULT_RUBRIC


class _ExperimentFile(_ExperimentPart):
    bench: str
    build: dict[str, Any]
    planners: list[PlannerPart] = Field(min_length=1)
    judges: list[JudgePart] = Field(default=[JudgePart(judge="offline")], min_length=1)
    score: dict[str, Any] = Field(default_factory=dict)
    report: dict[str, Any] = Field(default_factory=dict)


#: what the sections 'planners' and 'judges' say, and what no section does
_OTHERS = {"planner", "name", "planner_options", "judge", "judge_options", "votes", "rubric"}
_NOT_HERE = {"bench", "out", "quiet", "definition"}


@dataclass(frozen=True)
class Experiment:
    """``experiment.yaml``. The sections ``build``, ``score`` and ``report`` take what the functions of these names do.

    Paths of ``bench``, ``build.scenes``, ``build.taxonomy``, ``report.out``, rubrics' and ``.jsonl`` planners' are
    relative to the file; those within options are as they are given.

    Attributes:
        score: without planner and judge, which :meth:`pair` adds.
    """

    bench: Path
    build: BuildOptions
    score: ScoreOptions
    report: ReportOptions
    planners: tuple[PlannerPart, ...]
    judges: tuple[JudgePart, ...]

    @classmethod
    def read(cls, file: Path) -> Self:
        """
        Raises:
            InputError: no such file, not YAML, or a field that is wrong, missing or unknown.
        """
        content = read_yaml(file)
        if not isinstance(content, dict):
            raise InputError(
                f"{file}: expected a mapping with 'bench', 'build' and 'planners', found {repr(content)[:80]}"
            )
        content = _named(content)
        faults = []
        try:
            parts = _ExperimentFile.model_validate(content)
        except ValidationError as error:
            faults = faults_of(error, _ExperimentFile)
        sections = {"build": BuildOptions, "score": ScoreOptions, "report": ReportOptions}
        values: dict[str, dict[str, Any]] = {}
        for section, options in sections.items():
            if isinstance(content.get(section, {}), dict):
                try:
                    values[section] = _section(options, content.get(section, {}), section)
                except InputError as error:
                    faults += str(error).split("; ")
        if faults:
            raise InputError(f"{file}: {told(faults)}")

        def there(path: Path | str) -> Path:
            return file.parent / Path(path).expanduser()

        bench = working_copy(parts.bench) if is_url(parts.bench) else there(parts.bench)
        located = {
            (section, name): there(values[section][name])
            for section, name in (("build", "scenes"), ("build", "taxonomy"), ("report", "out"))
            if values[section].get(name)
        }
        for (section, name), path in located.items():
            values[section][name] = path
        return cls(
            bench,
            BuildOptions(bench, **values["build"]),
            ScoreOptions(bench, "cruise", **values["score"]),
            ReportOptions(bench, **values["report"]),
            tuple(
                p.model_copy(update={"planner": str(there(p.planner))}) if p.planner.endswith(".jsonl") else p
                for p in parts.planners
            ),
            tuple(
                j.model_copy(update={"rubric": str(there(j.rubric))}) if is_file(j.rubric) else j
                for j in parts.judges
            ),
        )

    def pair(self, planner: PlannerPart, judge: JudgePart) -> ScoreOptions:
        """How one planner is scored under one judge."""
        return attrs.evolve(
            self.score,
            planner=planner.planner,
            name=planner.name,
            planner_options=planner.options,
            judge=judge.judge,
            judge_options=judge.options,
            votes=judge.votes,
            rubric=judge.rubric,
        )


def _section(options: type, given: Mapping[str, Any], section: str) -> dict[str, Any]:
    """What a section says, as an options class takes it.

    Raises:
        InputError: names each field that is missing, unknown or does not fit.
    """
    without = _NOT_HERE - {"out"} if options is ReportOptions else _NOT_HERE
    without = without | _OTHERS if options is ScoreOptions else without
    fields = {name: kind for name, kind in field_types(options).items() if name not in without}
    faults = [
        f"{section}.{name}: unknown field{did_you_mean(str(name), fields)}, expected one of {', '.join(fields)}"
        for name in given
        if name not in fields
    ]
    if options is BuildOptions and "n" not in given:
        faults.append("build.n: expected this field, found none")
    defaults = signature_of(options).parameters
    try:
        values = read(
            fields, {name: given.get(name, defaults[name].default) for name in fields}, f"{section}."
        )
    except InputError as error:
        faults.append(str(error))
    if faults:
        raise InputError("; ".join(faults))
    return {name: values[name] for name in given}


def _named(content: dict[str, Any]) -> dict[str, Any]:
    """A bare name stands for its part, and YAML's ``null`` for the control arm of that name."""
    content = dict(content)
    for key, field in (("planners", "planner"), ("judges", "judge")):
        if isinstance(content.get(key), list):
            content[key] = [{field: item} if isinstance(item, str) else item for item in content[key]]
    for section, key in (("build", "controls"), ("score", "arms")):
        part = content.get(section)
        if isinstance(part, dict) and isinstance(part.get(key), list):
            content[section] = {**part, key: ["null" if item is None else item for item in part[key]]}
    return content
