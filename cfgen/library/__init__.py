"""What a script or a notebook calls; the command line calls the same. Each function imports what it needs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cfgen.core.errors import ShortfallWarning
from cfgen.core.plain import MAX_CHARS
from cfgen.core.warn import warn
from cfgen.library.arguments import Names, Options, Place, checked, names

if TYPE_CHECKING:
    from cfgen.benchmark.verifying import Verification
    from cfgen.library.benchmark import Benchmark, Run
    from cfgen.library.comparison import Comparison
    from cfgen.planners.protocol import Planner, Requirements
    from cfgen.records import Calibration, ProbeRun
    from cfgen.report import Report
    from cfgen.scenes.check import Fault
    from cfgen.scenes.import_record import ImportSummary


@checked
def build(
    out: Place = "bench",
    *,
    n: int = 66,
    seed: int = 0,
    scenes: Place | None = None,
    where: str = "",
    quota: Options = None,
    weights: Options = None,
    taxonomy: Place | None = None,
    taxonomy_only: bool = False,
    hazards: Names = (),
    inpainter: str = "composite",
    inpainter_options: Options = None,
    guide: str = "",
    masks: str = "",
    masks_options: Options = None,
    detector: str = "",
    detector_options: Options = None,
    perception: str = "",
    perception_options: Options = None,
    decel_band: tuple[float, float] = (1.5, 6.0),
    controls: Names = (),
    distances: Sequence[float] = (),
    attempts: int = 4,
    budget: float = 0.0,
    jobs: int = 0,
    engine: str = "",
    engine_options: Options = None,
    shard: str = "",
    retry_faults: bool = False,
    strict: bool = False,
    offline: bool = False,
    allow_hosts: Names = (),
    quiet: bool = False,
) -> "Benchmark":
    """Make the benchmark in the folder ``out``, or go on with it: ``n`` accepted cases.

    Args:
        scenes: folder of scenes; None takes the demo scenes.
        where: only scenes whose tags meet this, such as ``"speed > 5 and road == 'junction'"``. quota: condition ->
            cases, such as ``{"light=night": 20}``; weights: condition -> how much more often its scenes are drawn.
        taxonomy: YAML file, or folder of them, with hazards of your own, added to those that ship; with
            ``taxonomy_only`` in their place. A benchmark that is begun holds its own.
        hazards: only these; empty for all.
        guide: the inpainter whose insert a generative one starts from. masks, detector: their backends.
        perception: who sees the road in the frames; "" takes the default, or what the benchmark was begun with.
        decel_band: m/s^2 that a hazard may require. controls: also these arms, "null" and "nuisance".
        distances: also at these multiples of the distance, 0.2 to 5.
        attempts: tries at a case before it is refused. budget: dollars over all builds of it; 0 is no limit.
        jobs: workers; 0 is one a core, or one a card where each loads a model.
        engine: who does the work: "serial", "processes" of this machine (also ""), or "ray", a cluster.
        shard: "2/8" makes only the second of eight parts of a round, in a folder of its own; see :func:`cfgen.merge`.
        retry_faults: try again what broke in an earlier build. strict: the first thing that breaks is raised.
        offline: send nothing off this machine. allow_hosts: reach only these; both hold while the call lasts.

    Returns:
        The benchmark, also where it fell short: then with a :class:`ShortfallWarning`, and ``shortfall`` tells.

    Raises:
        InputError: no usable scene, an unknown name, a value out of range.
        StoreError: the folder holds something else, or a benchmark made with other settings.
    """
    given = dict(locals())
    from cfgen.build import BuildOptions
    from cfgen.build import build as build_cases
    from cfgen.library.benchmark import Benchmark

    options = BuildOptions(**given)
    build_cases(options)
    made = Benchmark(options.out)
    if made.shortfall and not made.part_done:
        warn(f"{made.path}: {made.shortfall}", ShortfallWarning)
    return made


@checked
def merge(out: Place, shards: Sequence[Place]) -> "Benchmark":
    """One benchmark in the new folder ``out`` of ``shards``: folders built with ``shard``, or copies so scored.

    The merged folder of a build is that of one build after the same round, byte for byte but for times; :func:`build`
    without ``shard`` makes what is missing and ends it.

    Raises:
        InputError: a part is missing or given twice, or they are of different builds.
        StoreError: a part did not end, or ``out`` holds something.
    """
    from cfgen.benchmark.merging import merge as merge_parts
    from cfgen.library.benchmark import Benchmark

    return Benchmark(merge_parts(Path(out), [Path(one) for one in shards]).root)


@checked
def open_benchmark(path: Place) -> "Benchmark":
    """A benchmark that was built before. Raises StoreError where the folder is none."""
    from cfgen.library.benchmark import Benchmark

    return Benchmark(Path(path))


@checked
def score(
    bench: Place,
    planner: "str | Path | type | Planner",
    *,
    name: str | None = None,
    planner_options: Options = None,
    judge: str = "offline",
    judge_options: Options = None,
    votes: int | None = None,
    rubric: str | Path = "cfgen",
    arms: Names = ("original", "hazard"),
    repeats: int = 1,
    workers: int | None = None,
    devices: Names = (),
    engine: str = "",
    engine_options: Options = None,
    shard: str = "",
    floor: str = "",
    timeout_s: float = 120.0,
    startup_timeout_s: float = 900.0,
    intervene: bool = False,
    retry_failed: bool = False,
    retry_all: bool = False,
    planner_retries: int = 3,
    max_answer_chars: int = MAX_CHARS,
    strict: bool = False,
    offline: bool = False,
    allow_hosts: Names = (),
    python: str = "",
    planner_network: bool = False,
    planner_memory: float | None = None,
    writable: Sequence[Place] = (),
    quiet: bool = False,
) -> "Run":
    """Ask a planner what it has not been asked, and a judge what it has not judged.

    Args:
        planner: a name, ``package.module:Class``, a class, ``cmd:...``, a URL or a ``.jsonl`` file: each but the last
            in a process of its own (the weightless built-in ones excepted). An object with a method ``plan`` runs in
            this process: fast and easy to debug, but a crash or a hang of it is one of the caller; its run is
            recorded with ``isolation: none``.
        name: under which its answers are kept; None derives one.
        judge: "none" stores the answers for :func:`cfgen.judge_answers`.
        votes: replies of each judge model to each item. rubric: what they are asked, an installed one or a YAML file.
        arms: also "rerun", "null", "nuisance" and "hazard_d<factor>", where the benchmark has them.
        workers: copies of the planner that work side by side. devices: cards that they see, one each, in turn.
        engine: who asks: "serial", "processes" of this machine (also ""), or "ray": a copy of the planner on each card
            or core of a cluster, ``workers`` at most.
        shard: "2/8" takes only the second of eight parts of the cases; see :func:`cfgen.merge`.
        floor: what the response is held against: "mean" of the sham pairs' arms, one of "rerun", "null", "nuisance",
            or "worst". Declared with the first verdicts; "" keeps it, or takes the mean.
        timeout_s: for one answer; an object in this process is not stopped.
        startup_timeout_s: for the planner to start, loading weights included.
        intervene: overwrite the planner's reasoning and see whether it follows.
        retry_failed: ask again what another try could mend. retry_all: every failed answer.
        planner_retries: further tries before a time-out or a lost connection counts.
        max_answer_chars: a longer text is cut, and the cut recorded.
        strict: the first fault is raised.
        offline: send nothing off this machine. allow_hosts: reach only these; both hold while the call lasts.
        python: the Python of another environment, or a command that starts one in a container, for the planner.
        planner_network: let a class or a program reach the network, which it otherwise does not where the system
            permits that. planner_memory: GB that it may take; None: no limit.
        writable: folders that it may write to, beside its own temporary one.

    Raises:
        InputError: unknown planner, judge, rubric or arm, or a judge without its key;
            a scene lacks what the planner needs.
        StoreError: not a benchmark, or the planner's name is taken by another one.
        Shortfall: a budget is spent; what is answered is kept.
    """
    given = dict(locals())
    from cfgen.library.benchmark import Benchmark, Run
    from cfgen.rollouts.options import ScoreOptions
    from cfgen.score import score as score_planner

    given["judge_options"] = with_votes(given["judge_options"], given.pop("votes"))
    summary = score_planner(ScoreOptions(**given))
    if short := summary.short():
        warn(f"{summary.planner}: {short}", ShortfallWarning)
    return Run(Benchmark(given["bench"]), summary.planner, summary.judge, summary)


@checked
def report(
    bench: Place,
    out: Place | None = None,
    *,
    planners: Names | None = None,
    panels: int | None = 4,
    pages: int | None = 5000,
    select: str = "mean",
    sections: Sequence[str] = (),
    strict: bool = False,
) -> "Report":
    """Tables, plots and a page that stands on its own, in the folder ``out``; None: beside the benchmark.

    Args:
        planners: those to show; None shows all.
        panels: case panels to draw for each planner; None draws all.
        pages: cases to show one by one, the first by their ids; None shows all. Every case counts in the figures.
        select: which of several samples of an answer counts: "mean" (of all), "first", "medoid" or "best".
        sections: besides those that every report has, such as "metrics"; "all" is every one.
        strict: what breaks is raised; else it is left out and named in ``left_out``.

    Raises:
        StoreError: not a benchmark, or a damaged record.
        InputError: an unknown planner, or ``out`` holds something else.
    """
    from cfgen.report import report as write_report

    return write_report(
        Path(bench),
        None if out is None else Path(out),
        None if planners is None else names(planners),
        panels,
        strict,
        pages=pages,
        select=select,  # type: ignore[arg-type]
        sections=sections,
    )


@checked
def verify(bench: Place) -> "Verification":
    """Re-derive every hash of a benchmark directory: ``faults`` names what changed, is missing or is extra.

    Raises:
        StoreError: the folder is no benchmark.
    """
    from cfgen.benchmark.verifying import Verification

    found = Verification(Path(bench))
    found.run()
    return found


@checked
def compare(a: "str | Run", b: "str | Run", *, arm: str = "hazard", judge: str | None = None) -> "Comparison":
    """Pair two runs case by case: ``a`` is what was before, ``b`` what is new.

    Args:
        a, b: a run, or ``BENCH:PLANNER``; ``b`` may be another planner on the benchmark of ``a``, by its name.
        judge: whose verdicts; None takes the one that judged most of both.

    Raises:
        InputError: the runs are of unlike things: other cases, another judge or wording.
    """
    from cfgen.library.comparison import compare_runs

    return compare_runs(a, b, arm, judge)


# --- judges, exports and scenes -------------------------------------------------------------------------


@checked
def probe(
    bench: Place,
    judge: str = "offline",
    *,
    judge_options: Options = None,
    votes: int | None = None,
    rubric: str | Path = "cfgen",
    kinds: Names = (),
    cases: int | None = None,
    half: Literal["test", "tune"] = "test",
    quiet: bool = False,
) -> "ProbeRun":
    """Test a judge on answers whose right scores are known.

    Args:
        kinds: only these kinds of answers. cases: only so many of them. half: which free answers are asked; only those
            of "test" make a judge tested.
    """
    from cfgen.judge.probe import probe as probe_judge
    from cfgen.judge.registry import create_judge
    from cfgen.storage.store import Store

    root = Path(bench)
    made = create_judge(judge, Store(root).reply_cache, str(rubric), **with_votes(judge_options, votes))
    return probe_judge(root, made, names(kinds), cases, quiet, half=half)


@checked
def calibrate(bench: Place, judge: str = "offline", benchmarks: Sequence[Place] = ()) -> "Calibration":
    """Compare a judge's verdicts with people's ratings.

    Args:
        bench: where people rated. benchmarks: those that the judge is to score; none may share a scene with it.
    """
    from cfgen.judge.calibrate import calibrate as calibrate_judge

    return calibrate_judge(Path(bench), judge, [Path(one) for one in benchmarks])


@checked
def export_inputs(
    bench: Place,
    out: Place,
    *,
    needs: "Requirements | None" = None,
    arms: Names = ("original", "hazard"),
    repeats: int = 1,
    quiet: bool = False,
) -> int:
    """Write what a planner elsewhere is to be asked into ``out``; returns the number of questions."""
    from cfgen.planners.protocol import Requirements
    from cfgen.rollouts.export import export_inputs as export

    return export(Path(bench), Path(out), needs or Requirements(), names(arms), repeats, quiet)


@checked
def import_scenes(
    reader: str,
    source: Place,
    out: Place,
    *,
    options: Options = None,
    every_s: float = 3.0,
    limit: int | None = None,
    frame_times: Sequence[float] | None = None,
    lossless: bool = False,
    drive_on: Literal["", "left", "right"] = "",
    by_reference: bool = False,
    anonymize: str = "",
    anonymize_options: Options = None,
    quiet: bool = False,
) -> "ImportSummary":
    """Cut scenes out of a recorded drive, every ``every_s`` seconds; ``frame_times`` in s relative to t0,
    else the reader's own, or every 0.25 s of the last 2 s.

    ``drive_on``: the side of the road that traffic keeps to; "" leaves it to the source, else right. ``by_reference``:
    images that are files of their own are linked to, not copied. ``anonymize``: who finds faces and plates to blur.
    """
    from cfgen.scenes.anonymize import create_anonymizer
    from cfgen.scenes.importing import import_scenes as cut
    from cfgen.scenes.importing import open_log, open_reader

    opened = open_reader(reader, Path(source), dict(options or {}))
    return cut(
        opened,
        Path(out),
        every_s,
        limit,
        lossless,
        tuple(frame_times or ()) or None,
        quiet,
        drive_on=drive_on,
        by_reference=by_reference,
        anonymizer=create_anonymizer(anonymize, dict(anonymize_options or {})) if anonymize else None,
        log=open_log(Path(out), reader, Path(source), dict(options or {})),
    )


@checked
def anonymize_scenes(
    folder: Place, out: Place, *, by: str = "coarse", options: Options = None, quiet: bool = False
) -> dict[str, int]:
    """A copy of scenes with faces and plates blurred; returns how many scenes, frames, faces and plates."""
    from cfgen.scenes.anonymize import anonymize_scenes as blur
    from cfgen.scenes.anonymize import create_anonymizer

    return dict(blur(Path(folder), Path(out), create_anonymizer(by, dict(options or {})), quiet))


@checked
def check_scenes(folder: Place, perception: str = "", options: Options = None) -> "dict[Path, list[Fault]]":
    """Every scene at or below ``folder``, and what is wrong with it; ``perception`` with its options sees the road."""
    from cfgen.perception.registry import create_perceiver
    from cfgen.scenes.check import check_folder

    return check_folder(Path(folder), perceiver=create_perceiver(perception, dict(options or {})))


def with_votes(options: Options, votes: int | None) -> Mapping[str, Any]:
    return {**(options or {}), **({} if votes is None else {"votes": votes})}
