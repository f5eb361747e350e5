"""Runs that are scored: two compared, rankings held against each other, real frames against inserts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cfgen.core.options import Addressable, Kind, Names, Place, SomeNames, checked, split

if TYPE_CHECKING:
    from cfgen.library.benchmark import Run
    from cfgen.library.comparison import Comparison
    from cfgen.library.stability import Stability
    from cfgen.library.study import Study

Event = Literal["overall", "reasoning", "waypoints", "trajectory"]


def _run(value: Any) -> Any:
    from cfgen.library.benchmark import Run

    if not isinstance(value, str | Run):
        raise TypeError
    return value


_RUN = Kind("BENCH:PLANNER or a cfgen.Run", _run)


@checked
def compare(
    a: Annotated["str | Run", _RUN, "What was before: BENCH:PLANNER."],
    b: Annotated["str | Run", _RUN, "What is new: BENCH:PLANNER, or another planner on the benchmark of A."],
    *,
    arm: Annotated[str, "Version of the scenes that is compared."] = "hazard",
    judge: Annotated[str | None, "Whose verdicts (default: who judged most of both)."] = None,
) -> "Comparison":
    """Pair two runs case by case: exact McNemar test, differences with intervals.

    Raises:
        InputError: the runs are of unlike things: other cases, another judge or wording.

    >>> cfgen.compare("bench:cruise", "bench:reactive").names
    ('cruise', 'reactive')
    """
    from cfgen.library.comparison import compare_runs

    return compare_runs(a, b, arm, judge)


@checked
def stability(
    benches: Annotated[
        Sequence[Place],
        Addressable(),
        "Benchmark directories, such as builds with another seed or inpainter.",
    ],
    *,
    event: Annotated[Event, "What counts as success: a judge's 2, or the drive alone."] = "overall",
    planners: Annotated[Names | None, SomeNames, "Only these planners (default: all)."] = None,
    seed: Annotated[int, "Seed of the bootstrap."] = 0,
) -> "Stability":
    """Compare rankings of planners across benchmarks, their judges and clusters of hazards.

    They rank by hit rate minus false-alarm rate where all of them have one, else all by the hit rate.

    Raises:
        InputError: no benchmark holds two planners with an event on shared cases.
        StoreError: one is no benchmark.

    >>> cfgen.stability(["bench", "bench_seed8"])  # doctest: +SKIP
    """
    from cfgen.library.stability import rank_stability

    return rank_stability(
        [Path(bench) for bench in benches], event, split(planners) if planners else None, seed
    )


@checked
def study(
    a: Annotated[str | Path, "What was before: a JSON file of samples, or BENCH:PLANNER."],
    b: Annotated[str | Path, "What is new."],
    *,
    checker: Annotated[str, "Of BENCH:PLANNER: whose edges E1 and E2 say what is grounded."] = "",
) -> "Study":
    """Win rates of B against A by stratum of changed and grounded reasoning (Pinocchio sections 4 and 8.2).

    Raises:
        InputError: a file that cannot be read, no sample in common, or none with grounding; names sample and field.

    >>> cfgen.study("bench:cruise", "bench:reactive", labels="labels.csv")  # doctest: +SKIP
    """
    from cfgen.library.study import compare_checkpoints

    return compare_checkpoints(str(a), str(b), checker)
