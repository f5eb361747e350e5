"""Whether a planner's reasoning is consistent, edge by edge, and whether whoever says so can be trusted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from attrs import field

from cfgen.core.errors import InputError
from cfgen.core.network import within_its_network
from cfgen.core.options import (
    NAME_OR_PATH,
    BenchPath,
    Count,
    SomeNames,
    function_of,
    names,
    path,
    path_or_none,
    settings,
    text_path,
)
from cfgen.options import WorkOptions

if TYPE_CHECKING:
    from cfgen.records import EdgeProbe, KnownPool, Relation, TraceVerdict
    from cfgen.storage.store import Store
    from cfgen.traces.checker import Checker
    from cfgen.traces.export import Exported

#: the rubric that a trace is held against where nothing else is said
FAITHFULNESS = "faithfulness"


@attrs.frozen(kw_only=True)
class CheckerOptions(WorkOptions):
    """Who checks traces, and by what."""

    bench: BenchPath = field(converter=path, kw_only=False)
    judge: Annotated[str | None, "A model judge: gemini, openai, local, scripted."] = None
    critic: Annotated[
        Path | None,
        "In place of a judge, the folder of a local vision-language model, read at its verdict token.",
    ] = field(default=None, converter=path_or_none)
    judge_options: Annotated[dict[str, Any], "Options of the judge."] = field(
        factory=dict, converter=settings
    )
    rubric: Annotated[
        str,
        NAME_OR_PATH,
        "What is asked: faithfulness (E2 against the image), faithfulness-scene (against the scene), or another one "
        "about traces.",
    ] = field(default=FAITHFULNESS, converter=text_path)

    def checker(self, root: Path) -> "Checker":
        """A judge model or a critic, made ready for a rubric about traces."""
        from cfgen.judge.rubrics.faithfulness import FaithfulnessRubric
        from cfgen.judge.rubrics.registry import create_trace_rubric
        from cfgen.storage.store import Store
        from cfgen.traces.checker import CriticChecker, ModelChecker
        from cfgen.traces.critic import expect_model

        if (self.judge is None) == (self.critic is None):
            raise InputError(
                f"judge: expected a judge or a critic, found {'both' if self.judge else 'neither'}"
            )
        rubric = create_trace_rubric(self.rubric)
        if self.judge is not None:
            return ModelChecker(self.judge, self.judge_options, Store(root).reply_cache, rubric)
        if not isinstance(rubric, FaithfulnessRubric):
            raise InputError(
                f"critic: answers the faithfulness rubric only, or faithfulness-scene; found rubric {self.rubric}"
            )
        expect_model(str(self.critic))
        return CriticChecker(str(self.critic), rubric=rubric)


@attrs.frozen(kw_only=True)
class CheckTracesOptions(CheckerOptions):
    """What a planner's traces are checked with."""

    planner: Annotated[str, "One that was scored."] = field(kw_only=False)
    arms: Annotated[tuple[str, ...], SomeNames, "Versions of the scenes."] = field(
        default=("original", "hazard"), converter=names
    )
    retry_failed: Annotated[bool, "Ask again where there was no usable reply."] = False


@dataclass(frozen=True)
class TraceCheck:
    """Every trace that was checked by ``judge``, now or before; ``damaged``: rollouts that cannot be read, and why."""

    judge: str
    verdicts: "tuple[TraceVerdict, ...]"
    damaged: tuple[str, ...]

    def __iter__(self) -> "Iterator[TraceVerdict]":
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)


@within_its_network
def _check_traces(options: CheckTracesOptions) -> TraceCheck:
    """Check each answer of a planner edge by edge; those that were checked are not asked again.

    Raises:
        InputError: no such planner, judge or rubric, both a judge and a critic, or neither.

    >>> cfgen.check_traces("bench", "alpamayo", judge="gemini")  # doctest: +SKIP
    """
    from cfgen.traces.check import check_traces

    root = options.bench.absolute()
    checker = options.checker(root)
    verdicts, damaged = check_traces(
        root,
        options.planner,
        checker,
        options.arms,
        options.quiet,
        options.retry_failed,
        options.strict,
    )
    return TraceCheck(checker.name, tuple(verdicts), tuple(damaged))


# --- validation on known answers -----------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PoolOptions(CheckerOptions):
    """What known answers are made of."""

    edges: Annotated[tuple[str, ...], "Only these, of E1, E2, E2-scene, E3, E4, E5."] = field(
        default=(), converter=names
    )
    per_edge: Annotated[Count, "Known answers of either verdict."] = 50
    seed: Annotated[int, "Seed of what is drawn."] = 0

    def pool(self, store: "Store", relations: "tuple[Relation, ...]") -> "KnownPool":
        """Known answers about the relations; see :func:`cfgen.traces.known_traces.build_pool`."""
        from cfgen.traces.known_traces import build_pool

        return build_pool(store, self.per_edge, self.seed, relations)

    def relations(self, answered: "Iterable[Relation]") -> "tuple[Relation, ...]":
        """Those that were named, else all that are ``answered``.

        Raises:
            InputError: one is named that is not among them.
        """
        expected = tuple(answered)
        if strange := next((edge for edge in self.edges if edge not in expected), None):
            raise InputError(f"edges: expected some of {', '.join(expected)}, found '{strange}'")
        return tuple(r for r in expected if r in self.edges or not self.edges)


@attrs.frozen(kw_only=True)
class ExportTracesOptions(PoolOptions):
    """What a training set is made with; nobody is asked, so that the checker's options have no effect."""

    out: Annotated[Path, "New folder."] = field(converter=path, kw_only=False)
    allow_licenses: Annotated[
        tuple[str, ...],
        "A source's licence, word for word, whose owner gave leave to hand on its pictures, or that permits it for a "
        "set that stays here.",
    ] = ()


@within_its_network
def _probe_traces(options: PoolOptions) -> "tuple[EdgeProbe, KnownPool]":
    """Validate a judge of edges or a critic on traces whose right verdicts are known.

    Returns:
        The figures and a verdict per trace, which ``traces/<checker>/probes/`` holds too, and the pool of them.

    Raises:
        InputError: no such judge or edge, not exactly one of both, or an edge that cannot be balanced.
        Shortfall: the budget is spent. Nothing is written then.

    >>> cfgen.probe_traces("bench", judge="gemini")  # doctest: +SKIP
    """
    from cfgen.storage.store import Store
    from cfgen.traces.probe import asked_of, probe_edges

    checker = options.checker(options.bench)
    pool = options.pool(Store(options.bench), options.relations(asked_of(checker.rubric.name)))
    return probe_edges(options.bench, checker, pool, options.quiet, options.strict), pool


@within_its_network
def _export_traces(options: ExportTracesOptions) -> "Exported":
    """Known answers as a training set for a critic, split by drive and balanced.

    Raises:
        InputError: as for validation, ``out`` is there already, a licence forbids it, or a split cannot be balanced.

    >>> cfgen.export_traces("bench", "training", per_edge=500)  # doctest: +SKIP
    """
    from cfgen.storage.store import Store
    from cfgen.traces.export import export_known
    from cfgen.traces.known_traces import RELATIONS

    store = Store(options.bench)
    pool = options.pool(store, options.relations(RELATIONS))
    return export_known(store, pool, options.out, options.allow_licenses)


check_traces = function_of(CheckTracesOptions, _check_traces)
probe_traces = function_of(PoolOptions, _probe_traces)
export_traces = function_of(ExportTracesOptions, _export_traces)
