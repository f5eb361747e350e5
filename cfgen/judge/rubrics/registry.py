"""Rubrics by name, and a user's own wording of one of ours from a file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.files import FrameLike, faults_of, read_yaml, told
from cfgen.core.registry import Registry
from cfgen.judge.protocol import JudgeItem, RubricId
from cfgen.judge.rubrics.hazard import Form, HazardRubric, Wording
from cfgen.judge.rubrics.trace import TraceRubric
from cfgen.options import DEFAULT_RUBRIC
from cfgen.records import Dimension, Identifier, Score, Vote

RUBRICS = Registry(
    "rubric",
    "cfgen.rubrics",
    {
        "cfgen": "cfgen.judge.rubrics.hazard:HazardRubric",
        "pinocchio": "cfgen.judge.rubrics.hazard_paper:pinocchio",
        "faithfulness": "cfgen.judge.rubrics.faithfulness:FaithfulnessRubric",
        "faithfulness-scene": "cfgen.judge.rubrics.faithfulness:faithfulness_scene",
        "consistency": "cfgen.judge.rubrics.consistency:consistency",
        "grounding": "cfgen.judge.rubrics.grounding:grounding",
        "visibility": "cfgen.judge.rubrics.visibility:visibility",
    },
)
#: of one answer by itself, where none is named
TRACE_DEFAULT = "faithfulness"


class Rubric(Protocol):
    """Of pairs of answers: what a model judge is asked, and how its answer is read; knows nothing of transport.

    ``id`` hashes every word and the schema. ``headings`` name the inputs in the order of ``prompt``. It may have
    ``bounds_overall`` (True where it has not): an overall score that the other two do not allow is bounded in code.
    """

    @property
    def id(self) -> RubricId: ...

    @property
    def headings(self) -> tuple[str, ...]: ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON schema of an answer."""
        ...

    def system(self, form: Form) -> str: ...

    def again(self, problem: str) -> str:
        """What is said after a reply that cannot be used."""
        ...

    def prompt(self, item: JudgeItem) -> list[str | FrameLike]:
        """The inputs in order: strings and images. Planner text is quoted by :mod:`cfgen.models.untrusted_text`."""
        ...

    def parse(self, raw: str, model: str) -> Vote:
        """One vote; ``status`` "failed" with a reason where the reply cannot be used, never a guess."""
        ...


def bounds_overall(rubric: Rubric) -> bool:
    """Whether overall is kept within what the other two scores allow."""
    return bool(getattr(rubric, "bounds_overall", True))


def is_file(name_or_file: str) -> bool:
    """Whether it names a file rather than an installed rubric."""
    return Path(name_or_file).suffix.lower() in (".yaml", ".yml") or "/" in name_or_file


def create_rubric(name_or_file: str = DEFAULT_RUBRIC) -> Rubric:
    """A rubric for judges by its registered name, or one of ours in the words of a YAML file.

    Raises:
        InputError: no such name or file, one about traces, or a fault in the file: names file, field, expected and
            found.
    """
    rubric = find_rubric(name_or_file)
    if isinstance(rubric, TraceRubric):
        raise InputError(
            f"--rubric: '{name_or_file}' is about one answer by itself; choose one about pairs, such as "
            f"'{DEFAULT_RUBRIC}', or use it with: cfgen analyze traces"
        )
    return rubric


def create_trace_rubric(name: str = TRACE_DEFAULT) -> TraceRubric:
    """A rubric about traces by its registered name.

    Raises:
        InputError: no such name, or a rubric about pairs of answers.
    """
    rubric = find_rubric(name)
    if not isinstance(rubric, TraceRubric):
        raise InputError(
            f"--rubric: '{name}' is about pairs of answers; choose one about traces, such as '{TRACE_DEFAULT}' (see: "
            "cfgen list rubrics)"
        )
    return rubric


def find_rubric(name_or_file: str) -> Rubric | TraceRubric:
    """Of either kind.

    Raises:
        InputError: as :func:`create_rubric`.
    """
    if is_file(name_or_file):
        return read_rubric(Path(name_or_file).expanduser())
    if name_or_file not in RUBRICS.names():
        raise InputError(
            f"--rubric: expected a YAML file or one of: {', '.join(RUBRICS.names())}; found '{name_or_file}'"
            f"{did_you_mean(name_or_file, RUBRICS.names())}. "
            f"Third parties register theirs under the entry-point group '{RUBRICS.group}'."
        )
    rubric: Rubric | TraceRubric = RUBRICS.create(name_or_file, {})
    return rubric


# --- a wording of one's own -----------------------------------------------------------------------------------


Text = Annotated[str, Field(min_length=1)]


class _File(BaseModel):
    """What is not given stays as cfgen has it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Identifier
    version: Text = "1"
    #: whose words stand where none are given, and whether overall is bounded by the other scores
    base: Literal["cfgen", "pinocchio"] = "cfgen"
    #: what comes before the steps
    opening: Text | None = None
    steps: dict[Literal["change", "reasoning", "waypoints", "overall"], Text] = {}
    #: dimension -> score -> when it is given
    scales: dict[Dimension, dict[Score, Text]] = {}
    #: said after a reply that cannot be used
    again: Annotated[str, Field(pattern=r"\{problem\}")] | None = None

    @field_validator("name")
    @classmethod
    def _own_name(cls, name: str) -> str:
        if name in RUBRICS.names():
            raise ValueError("expected another name than that of an installed rubric")
        return name


def read_rubric(path: Path) -> HazardRubric:
    """A rubric of ours in a user's own words; the shape of the answer and its parser stay.

    Raises:
        InputError: the file cannot be read, or a field is not as expected.
    """
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: expected a mapping with 'name' and own wording, found {str(data)[:60]!r}")
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {told(faults_of(error, _File))}") from error
    base: HazardRubric = RUBRICS.create(file.base, {})
    shipped = base.wording
    wording = Wording(
        opening=file.opening or shipped.opening,
        steps={**shipped.steps, **{str(step): text for step, text in file.steps.items()}},
        scales={d: {**scale, **file.scales.get(d, {})} for d, scale in shipped.scales.items()},
        again=file.again or shipped.again,
    )
    if wording == shipped:
        raise InputError(
            f"{path}: expected own wording under opening, steps, scales or again, found none that differs"
        )
    return replace(base, name=file.name, version=file.version, wording=wording)
