"""Runs that are scored: two compared, rankings held against each other, real frames against inserts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cfgen.core.options import Addressable, Kind, Names, Place, Quiet, Settings, SomeNames, checked, split
from cfgen.options import PLANNER, PLANNER_HELP, JudgeName, JudgeSettings

if TYPE_CHECKING:
    from cfgen.library.benchmark import Run
    from cfgen.library.comparison import Comparison
    from cfgen.library.stability import Stability
    from cfgen.library.study import Study
    from cfgen.library.validity import RealValidity
    from cfgen.planners.protocol import Planner

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


@checked
def validate_real(
    folder: Annotated[Place, "Pairs of real frames: pairs.json and its scenes."],
    planner: Annotated["str | Path | type | Planner", PLANNER, PLANNER_HELP],
    *,
    bench: Annotated[
        Place | None, Addressable(), "Benchmark on which it was scored under the same name."
    ] = None,
    out: Annotated[Place | None, "The pairs' benchmark (default: FOLDER-bench, beside it)."] = None,
    name: Annotated[str | None, "Name under which its answers are kept (default: from the planner)."] = None,
    planner_options: Annotated[Settings, "Options of the planner."] = None,
    judge: JudgeName = "offline",
    judge_options: JudgeSettings = None,
    event: Annotated[
        Event, "What counts as an answer: the drive, or a judge's strict success."
    ] = "trajectory",
    match: Annotated[
        Literal["hazard", "cluster"], "What has to be alike besides distance and speed."
    ] = "hazard",
    quiet: Quiet = False,
) -> "RealValidity":
    """Score a planner on real frames of real obstacles and hold the result against a benchmark's inserts.

    Raises:
        InputError: a pair, a scene, planner or judge that does not hold; the planner was not scored on ``bench``.
        StoreError: ``out`` holds something else.

    >>> cfgen.validate_real("obstacles", "my_module:MyPlanner")  # doctest: +SKIP
    """
    from cfgen.benchmark.real_pairs import pairs_benchmark
    from cfgen.library import score
    from cfgen.library.validity import real_validity
    from cfgen.storage.store import Store

    place = Path(folder).resolve()
    store = pairs_benchmark(place, Path(out) if out else place.with_name(f"{place.name}-bench"))
    run = score(
        store.root,
        planner,
        name=name,
        planner_options=planner_options,
        judge=judge,
        judge_options=judge_options,
        arms=("hazard", "rerun", *store.benchmark.controls),
        quiet=quiet,
    )
    return real_validity(store, Store(Path(bench)) if bench else None, [run.planner], event, match)
