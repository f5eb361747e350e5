"""One file that says what to build, whom to score, who judges and where the report goes."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from cfgen.core.errors import InputError
from cfgen.core.files import faults_of, read_yaml, told
from cfgen.core.object_store import is_url
from cfgen.core.options import signature_of
from cfgen.judge.rubrics.registry import is_file
from cfgen.options import DEFAULT_RUBRIC, BuildOptions, ReportOptions, ScoreOptions


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _part(options: type, without: set[str], required: str = "") -> Any:
    """The fields of an options class, with their types and defaults, as a section of the file."""
    fields: dict[str, Any] = {}
    for name, parameter in signature_of(options).parameters.items():
        if name not in without:
            fields[name] = (parameter.annotation, ... if name == required else parameter.default)
    return create_model(options.__name__, __base__=_Part, **fields)


#: what the sections 'planners' and 'judges' say
_OTHERS = {"planner", "name", "planner_options", "judge", "judge_options", "votes", "rubric"}
if TYPE_CHECKING:
    _Build: TypeAlias = Any
    _Score: TypeAlias = Any
    _Report: TypeAlias = Any
else:
    _Build = _part(BuildOptions, {"out", "quiet", "definition"}, required="n")
    _Score = _part(ScoreOptions, {"bench", "quiet"} | _OTHERS)
    _Report = _part(ReportOptions, {"bench"})


class PlannerPart(_Part):
    """``planner: NAME`` or only ``NAME``, as ``cfgen score --planner`` takes it."""

    planner: str
    name: str | None = Field(default=None, min_length=1)
    options: dict[str, Any] = Field(default_factory=dict)


class JudgePart(_Part):
    """``judge: NAME`` or only ``NAME``."""

    judge: str
    options: dict[str, Any] = Field(default_factory=dict)
    votes: int | None = Field(default=None, ge=1)
    rubric: str = DEFAULT_RUBRIC

    @property
    def all_options(self) -> dict[str, Any]:
        return self.options if self.votes is None else {**self.options, "votes": self.votes}


class Guess(_Part):
    """What cfgen cannot know: seconds for one picture of a generative inpainter, one answer of a planner, one reply of
    a judge's model; dollars for one answer of a planner that is paid for."""

    picture_s: float | None = Field(default=None, gt=0)
    answer_s: float | None = Field(default=None, gt=0)
    reply_s: float | None = Field(default=None, gt=0)
    answer_usd: float | None = Field(default=None, ge=0)


class Experiment(_Part):
    """``experiment.yaml``. The sections ``build``, ``score`` and ``report`` take what the functions of these names do.

    Paths of ``bench``, ``build.scenes``, ``build.taxonomy``, ``report.out``, rubrics' and ``.jsonl`` planners' are
    relative to the file; those within options are as they are given.
    """

    bench: str
    build: _Build
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
        content = read_yaml(file)
        if not isinstance(content, dict):
            raise InputError(
                f"{file}: expected a mapping with 'bench', 'build' and 'planners', found {repr(content)[:80]}"
            )
        try:  # as JSON, so that lists may be tuples while all else is strict
            experiment = cls.model_validate_json(json.dumps(_words(content), default=str))
        except ValidationError as error:
            raise InputError(f"{file}: {told(faults_of(error, cls))}") from error
        if "where" in experiment.build.model_fields_set and not experiment.build.where.strip():
            raise InputError(
                f"{file}: build.where: expected a condition, found nothing; leave it out for all scenes"
            )
        return experiment.relative_to(file.parent)

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
            "bench": self.bench if is_url(self.bench) else there(self.bench),
            "build": build,
            "planners": planners,
            "judges": judges,
            "report": report,
        }
        return self.model_copy(update=changed)


def _words(content: Any) -> Any:
    """A bare name stands for its part, and YAML's ``null`` for the control arm of that name."""
    if not isinstance(content, dict):
        return content
    content = dict(content)
    for key, field in (("planners", "planner"), ("judges", "judge")):
        if isinstance(content.get(key), list):
            content[key] = [{field: item} if isinstance(item, str) else item for item in content[key]]
    for section, key in (("build", "controls"), ("score", "arms")):
        part = content.get(section)
        if isinstance(part, dict) and isinstance(part.get(key), list):
            content[section] = {**part, key: ["null" if item is None else item for item in part[key]]}
    return content
