"""Judges by name."""

import inspect
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cfgen.core.errors import InputError, SetupError
from cfgen.core.files import read_record
from cfgen.core.registry import Registry
from cfgen.judge.protocol import Judge
from cfgen.judge.rubrics.registry import RUBRICS, Rubric, create_rubric
from cfgen.models.registry import MODELS
from cfgen.options import DEFAULT_RUBRIC
from cfgen.records import JudgeRun
from cfgen.storage.store import Store

JUDGES = Registry(
    "judge",
    "cfgen.judges",
    {
        "offline": "cfgen.judge.offline.judge:OfflineJudge",
        "panel": "cfgen.judge.panel:panel",
    },
    MODELS,
    "cfgen.judge.panel:model_judge",
)


@runtime_checkable
class TakesRubric(Protocol):
    """A judge that can be asked to judge by another rubric than its own."""

    def use_rubric(self, rubric: Rubric, name: str) -> None:
        """Judge by ``rubric`` from now on, under ``name``."""


def create_judge(
    judge: str, cache_dir: Path | None = None, rubric: str = DEFAULT_RUBRIC, /, **options: Any
) -> Judge:
    """As :func:`make_judge`, and ready to be asked.

    Raises:
        CfgenError: its models cannot be asked: no key, a package that is missing, a host that may not be reached.
    """
    instance = make_judge(judge, cache_dir, rubric, **options)
    if command := JUDGES.missing_extra(judge):
        raise SetupError(f"judge '{judge}' needs packages that are not here; install them with: {command}")
    if check := getattr(instance, "check", None):
        check()
    return instance


def make_judge(
    judge: str, cache_dir: Path | None = None, rubric: str = DEFAULT_RUBRIC, /, **options: Any
) -> Judge:
    """A judge by its registered name, or by that of a model provider; ``options`` go to its factory.

    ``cache_dir`` is where model judges keep replies unless their option ``cache`` says otherwise. ``rubric`` is a name
    or a file; with another than the default, the judge's folder is called ``<judge>--<rubric>`` unless the options
    name it, so that verdicts by two wordings never mix.

    Raises:
        InputError: no such judge or rubric, an option or a rubric that it does not take.
    """
    factory = JUDGES.get(judge)
    takes = inspect.signature(factory).parameters
    if cache_dir is not None and any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        options.setdefault("cache", str(cache_dir))
    requested = create_rubric(rubric)
    instance: Judge = JUDGES.create(judge, options)
    if rubric != DEFAULT_RUBRIC:
        if not isinstance(instance, TakesRubric):
            raise InputError(
                f"judge '{judge}' judges by a rubric of its own, found --rubric {rubric}; leave it out, or choose a "
                "judge made of models"
            )
        instance.use_rubric(
            requested, instance.name if options.get("name") else folder_name(instance.name, requested)
        )
    return instance


def folder_name(judge: str, rubric: Rubric) -> str:
    """Of the verdicts of ``judge`` by ``rubric``."""
    return judge if rubric.id.name == DEFAULT_RUBRIC else f"{judge}--{rubric.id.name}"


def stored_judge(store: Store, judge: str, rubric: str | None = None) -> tuple[str, Rubric]:
    """The folder under ``verdicts/`` of ``judge``, and the rubric by which it judged there.

    Args:
        judge: that folder, or what it was called before the rubric was added. rubric: name or file; None: that of its
            verdicts, which has to be an installed one.

    Raises:
        InputError: the verdicts there are by another rubric, or by one that is not installed.
    """
    requested = create_rubric(rubric) if rubric else None
    folder = judge
    if requested and store.judge_run_path(folder_name(judge, requested)).is_file():
        folder = folder_name(judge, requested)
    path = store.judge_run_path(folder)
    if not path.is_file():
        return folder, requested or create_rubric()
    run = read_record(path, JudgeRun)
    if requested is None:
        if run.rubric not in RUBRICS.names():
            raise InputError(
                f"{path}: '{folder}' judged by the rubric '{run.rubric}', which is not installed; give its file with "
                "--rubric"
            )
        return folder, create_rubric(run.rubric)
    if run.rubric != requested.id.name:
        raise InputError(
            f"{path}: '{folder}' judged by the rubric '{run.rubric}', found --rubric '{requested.id.name}'"
        )
    return folder, requested
