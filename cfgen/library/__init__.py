"""What a script or a notebook calls; the command line calls the same. Each function imports what it needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cfgen.core.errors import ShortfallWarning, warn
from cfgen.core.network import Network, limited
from cfgen.core.options import (
    Addressable,
    AllowHosts,
    Bench,
    Count,
    Names,
    NewFolder,
    Offline,
    Place,
    Quiet,
    Seconds,
    Settings,
    SomeNames,
    Spelling,
    Strict,
    checked,
    function_of,
    split,
)
from cfgen.options import (
    DEFAULT_RUBRIC,
    BuildOptions,
    JudgeName,
    JudgeOptions,
    JudgeSettings,
    PerceptionName,
    Repeats,
    ReportOptions,
    Rubric,
    ScoreOptions,
    TryOptions,
    Votes,
)

if TYPE_CHECKING:
    from cfgen.benchmark.verifying import Verification
    from cfgen.library.benchmark import Benchmark, Run
    from cfgen.library.one_picture import Tried
    from cfgen.library.rescoring import Rescoring
    from cfgen.records import Calibration, ProbeRun
    from cfgen.report import Report
    from cfgen.scenes.check import SceneFault
    from cfgen.scenes.importing import ImportSummary

StoredJudge = Annotated[str, "The judge's folder under verdicts/."]
StoredRubric = Annotated[str | Path | None, "As --rubric of cfgen score (default: that of its verdicts)."]
PerceptionSettings = Annotated[Settings, "Options of the perception."]
SceneFolder = Annotated[Place, "Folder of scenes."]


# --- the three stories ---------------------------------------------------------------------------------


def _build(options: BuildOptions) -> "Benchmark":
    """Make a benchmark, or go on with it: add one hazard to each of N driving scenes.

    Returns:
        The benchmark, also where it fell short: then with a :class:`ShortfallWarning`, and ``shortfall`` tells.

    Raises:
        InputError: no usable scene, an unknown name, a value out of range.
        StoreError: the folder holds something else, or a benchmark made with other settings.
        Shortfall: what came of a ``definition`` is not what it tells.

    >>> bench = cfgen.build("bench", n=2, hazards="cone_line,work_barrier", jobs=1, quiet=True)
    >>> len(bench)
    2
    """
    from cfgen.build import build as build_cases
    from cfgen.library.benchmark import Benchmark

    if options.definition:
        from cfgen.sharing.definitions import build_definition

        build_definition(options)
        return Benchmark(options.out)
    build_cases(options)
    benchmark = Benchmark(options.out)
    if benchmark.shortfall and not benchmark.part_done:
        warn(f"{benchmark.path}: {benchmark.shortfall}", ShortfallWarning)
    return benchmark


def _score(options: ScoreOptions) -> "Run":
    """Run a planner on a benchmark and judge its answers; what is answered and judged is not asked again.

    A planner given by name runs in a process of its own (the weightless built-in ones excepted). An object with a
    method ``plan`` runs in this process: easy to debug, but a crash or a hang of it is one of the caller; its run is
    recorded with ``isolation: none``.

    Raises:
        InputError: unknown planner, judge, rubric or arm, or a judge without its key;
            a scene lacks what the planner needs.
        StoreError: not a benchmark, or the planner's name is taken by another one.
        Shortfall: a budget is spent; what is answered is kept.

    >>> run = cfgen.score("bench", "cruise", quiet=True)
    >>> run.success().rates["waypoints"].n
    2
    """
    from cfgen.library.benchmark import Benchmark, Run
    from cfgen.score import score as score_planner

    summary = score_planner(options)
    if short := summary.short():
        warn(f"{summary.planner}: {short}", ShortfallWarning)
    return Run(Benchmark(options.bench), summary.planner, summary.judge, summary)


def _report(options: ReportOptions) -> "Report":
    """Tables, plots and a page that stands on its own, from what was scored.

    Raises:
        StoreError: not a benchmark, or a damaged record.
        InputError: an unknown planner, or ``out`` holds something else.

    >>> cfgen.report("bench", out="page").out
    PosixPath('page')
    """
    from cfgen.report import report as write_report

    return write_report(
        options.bench,
        options.out,
        options.planners,
        options.panels,
        options.strict,
        options.pages,
        options.sections,
    )


def _judge_answers(options: JudgeOptions) -> "list[Run]":
    """Judge answers that are stored and have no verdict of this judge; no planner is asked anything.

    Raises:
        InputError: no such planner, judge or rubric, or a judge without its key.
        StoreError: not a benchmark. Shortfall: a budget is spent; the verdicts so far are kept.

    >>> [run.planner for run in cfgen.judge_answers("bench", planners="cruise", quiet=True)]
    ['cruise']
    """
    from cfgen.judge.run import judge_stored
    from cfgen.library.benchmark import Benchmark, Run

    summaries = judge_stored(options)
    return [Run(Benchmark(options.bench), s.planner, s.judge, s) for s in summaries]


def _try_picture(options: TryOptions) -> "Tried":
    """Put a hazard into one picture and ask a planner before and after.

    The car has driven straight on; the picture stands for every frame that the planner wants.

    Raises:
        InputError: no picture, hazard or planner of that name, or ``out`` holds another picture's.
        Shortfall: the hazard has no placement in the picture; says why.

    >>> cfgen.try_picture("road.jpg", "my_module:MyPlanner", hazard="deer")  # doctest: +SKIP
    """
    from cfgen.library.one_picture import try_picture as try_one

    return try_one(options)


build = function_of(BuildOptions, _build)
score = function_of(ScoreOptions, _score)
report = function_of(ReportOptions, _report)
judge_answers = function_of(JudgeOptions, _judge_answers)
try_picture = function_of(TryOptions, _try_picture)


# --- benchmarks ------------------------------------------------------------------------------------------


@checked
def open_benchmark(path: Bench) -> "Benchmark":
    """A benchmark that was built before. Raises StoreError where the folder is none.

    >>> len(cfgen.open_benchmark("bench"))
    2
    """
    from cfgen.library.benchmark import Benchmark

    return Benchmark(Path(path))


@checked
def merge(
    out: NewFolder,
    shards: Annotated[
        Sequence[Place],
        "Every folder of build --shard, or every copy of a benchmark that was scored with score --shard.",
    ],
) -> "Benchmark":
    """Make one benchmark of folders that hold parts of it.

    The merged folder of a build is that of one build after the same round, byte for byte but for times; :func:`build`
    without ``shard`` makes what is missing and ends it.

    Raises:
        InputError: a part is missing or given twice, or they are of different builds.
        StoreError: a part did not end, or ``out`` holds something.

    >>> cfgen.merge("merged", ["part1", "part2"])  # doctest: +SKIP
    """
    from cfgen.benchmark.merging import merge as merge_parts
    from cfgen.library.benchmark import Benchmark

    return Benchmark(merge_parts(Path(out), [Path(shard) for shard in shards]).root)


@checked
def verify(bench: Bench) -> "Verification":
    """Derive hashes and verdicts of a benchmark again: names what differs, is missing or is extra.

    Raises:
        StoreError: the folder is no benchmark.

    >>> cfgen.verify("bench")
    Verification('bench'): ... files, all as cfgen wrote them
    """
    from cfgen.benchmark.verifying import Verification
    from cfgen.judge.derivation import contradictions

    verification = Verification(Path(bench))
    verification.run()
    verification.faults += contradictions(verification.store)
    return verification


@checked
def export_inputs(
    bench: Bench,
    out: Annotated[Place, "Folder to write to."],
    *,
    cameras: Annotated[Names, SomeNames, "Cameras that the planner wants."] = ("front",),
    frame_times: Annotated[Sequence[float], "Seconds relative to t0, such as -0.5,0."] = (0.0,),
    max_pixels: Annotated[Count | None, "Shrink larger images to this area."] = None,
    arms: Annotated[Names, SomeNames, "Versions of each scene to ask about."] = ("original", "hazard"),
    repeats: Repeats = 1,
    quiet: Quiet = False,
) -> int:
    """Write what a planner elsewhere is to be asked; returns the number of questions.

    >>> cfgen.export_inputs("bench", "inputs", quiet=True)
    4
    """
    from cfgen.planners.protocol import Requirements
    from cfgen.rollouts.inputs import export_inputs as export

    needs = Requirements(split(cameras), tuple(frame_times), max_pixels)
    return export(Path(bench), Path(out), needs, split(arms), repeats, quiet)


# --- judges ----------------------------------------------------------------------------------------------


@checked
def probe(
    bench: Bench,
    judge: JudgeName = "offline",
    *,
    judge_options: JudgeSettings = None,
    votes: Votes = None,
    rubric: Rubric = DEFAULT_RUBRIC,
    kinds: Annotated[Names, "Only these kinds of answers."] = (),
    cases: Annotated[Count | None, "Only so many cases (default: all)."] = None,
    half: Annotated[
        Literal["test", "tune"],
        "Free answers of these authors: tune is for working on a judge; only test counts as its validation.",
    ] = "test",
    strict: Strict = False,
    offline: Offline = False,
    allow_hosts: AllowHosts = (),
    quiet: Quiet = False,
) -> "ProbeRun":
    """Validate a judge on answers whose right scores are known.

    >>> cfgen.probe("bench", "offline", cases=1, quiet=True).judge
    'offline'
    """
    from cfgen.judge.registry import create_judge
    from cfgen.judge.validation import probe as probe_judge
    from cfgen.storage.store import Store

    root = Path(bench)
    with limited(Network(offline, split(allow_hosts))):
        options = {**(judge_options or {}), **({} if votes is None else {"votes": votes})}
        created = create_judge(judge, Store(root).reply_cache, str(rubric), **options)
        return probe_judge(root, created, split(kinds), cases, quiet, strict, half)


@checked
def rescore(
    bench: Bench, judge: StoredJudge, *, rubric: StoredRubric = None, strict: Strict = False
) -> "Rescoring":
    """Read the stored replies of a judge again, without a call: after a parser or the combining rules have changed.

    Raises:
        InputError: no verdicts of that judge here.

    >>> cfgen.rescore("bench", "offline").changed
    ()
    """
    from cfgen.library.rescoring import rescore as reread

    return reread(Path(bench), judge, None if rubric is None else str(rubric), strict)


@checked
def calibrate(
    bench: Annotated[Place, Addressable(), "Benchmark directory on which people rated."],
    judge: StoredJudge = "offline",
    *,
    benchmarks: Annotated[
        Sequence[Place],
        "Benchmarks that this judge is to score: they must share no scene with the rated cases.",
    ] = (),
    rubric: StoredRubric = None,
) -> "Calibration":
    """Compare a judge's verdicts with people's ratings.

    >>> cfgen.calibrate("rated", "gemini")  # doctest: +SKIP
    """
    from cfgen.judge.calibrate import calibrate as calibrate_judge
    from cfgen.judge.registry import stored_judge
    from cfgen.storage.store import Store

    if rubric is not None:
        judge, _ = stored_judge(Store(Path(bench)), judge, str(rubric))
    return calibrate_judge(Path(bench), judge, [Path(place) for place in benchmarks])


# --- scenes ----------------------------------------------------------------------------------------------

#: frames a second that ``all`` keeps at most
_FASTEST_HZ = 100


def _moments(text: str) -> tuple[float, ...]:
    """``0,0.1,0.2``: seconds before t0, as times relative to it; ``10Hz``: 10 a second of the last 2 s."""
    text = f"{_FASTEST_HZ}Hz" if text.lower() == "all" else text
    if text.lower().endswith("hz"):
        rate = int(text[:-2])
        if not 1 <= rate <= _FASTEST_HZ:
            raise ValueError(text)
        return tuple(-round(step / rate, 4) for step in range(2 * rate + 1))
    seconds = [float(word) for word in text.split(",")]
    if not all(0 <= value <= 10 for value in seconds):
        raise ValueError(text)
    return tuple(-value for value in seconds)


FrameTimes = Annotated[
    tuple[float, ...] | None,
    Spelling(
        f"seconds before t0 (0 to 10) like 0,0.1,0.2, a rate from 1Hz to {_FASTEST_HZ}Hz, or all", _moments
    ),
    "Frames to keep, in s relative to t0 (default: every 0.25 s of the last 2 s, or as the reader says); on the "
    "command line seconds before t0, 10Hz for 10 a second of the last 2 s, or all.",
]


@checked
def import_scenes(
    reader: Annotated[str, "See cfgen list readers."],
    source: Annotated[Place, "Folder or file in the layout of the reader."],
    out: Annotated[Place, "Folder for the scenes; what is there is kept."],
    *,
    options: Annotated[Settings, "Options of the reader."] = None,
    every_s: Annotated[Seconds, "A scene every so many seconds."] = 3.0,
    limit: Annotated[Count | None, "At most N scenes, spread evenly over the source."] = None,
    frame_times: FrameTimes = None,
    lossless: Annotated[bool, "Video frames as PNG, not JPEG."] = False,
    drive_on: Annotated[
        Literal["", "left", "right"], "Side that traffic keeps to (default: as the source says, else right)."
    ] = "",
    by_reference: Annotated[
        bool,
        "Link to images that are files of their own instead of copying them; keep the source where it is.",
    ] = False,
    anonymize: Annotated[str, "Blur faces and plates that this one finds: see cfgen list anonymizers."] = "",
    anonymize_options: Annotated[Settings, "Options of the anonymizer."] = None,
    perception: PerceptionName = "",
    perception_options: PerceptionSettings = None,
    strict: Strict = False,
    quiet: Quiet = False,
) -> "ImportSummary":
    """Cut scenes out of recorded drives, into the folder format.

    Raises:
        InputError: an unknown reader or option, or a source that it cannot read.
        Shortfall: the reader broke on the source.

    >>> cfgen.import_scenes("kitti-raw", "kitti/2011_09_26", "scenes", every_s=5)  # doctest: +SKIP
    """
    from cfgen.core.errors import InputError, Shortfall
    from cfgen.core.faults import ends_the_run, fault_of
    from cfgen.perception.registry import create_perceiver
    from cfgen.scenes.anonymize import create_anonymizer
    from cfgen.scenes.importing import import_scenes as cut
    from cfgen.scenes.importing import open_log, open_reader

    if anonymize_options and not anonymize:
        raise InputError("anonymize_options: expected --anonymize NAME with it, found none")
    settings = dict(options or {})
    try:
        opened = open_reader(
            reader, Path(source), settings, create_perceiver(perception, dict(perception_options or {}))
        )
    except Exception as error:
        if strict or isinstance(error, InputError) or ends_the_run(error):
            raise
        raise Shortfall(str(fault_of(error, f"reader '{reader}' on {source}"))) from error
    return cut(
        opened,
        Path(out),
        every_s,
        limit,
        lossless,
        frame_times or None,
        quiet,
        strict=strict,
        drive_on=drive_on,
        by_reference=by_reference,
        anonymizer=create_anonymizer(anonymize, dict(anonymize_options or {})) if anonymize else None,
        log=open_log(Path(out), reader, Path(source), settings),
    )


@checked
def anonymize_scenes(
    folder: SceneFolder,
    out: Annotated[Place, "Folder for the copy; what is there is kept."],
    *,
    by: Annotated[str, "Who finds faces and plates: see cfgen list anonymizers."] = "coarse",
    options: Annotated[Settings, "Options of the anonymizer."] = None,
    quiet: Quiet = False,
) -> dict[str, int]:
    """A copy of scenes with faces and plates blurred; returns how many scenes, frames, faces and plates.

    >>> cfgen.anonymize_scenes("scenes", "scenes_blurred")  # doctest: +SKIP
    """
    from cfgen.scenes.anonymize import anonymize_scenes as blur
    from cfgen.scenes.anonymize import create_anonymizer

    return dict(blur(Path(folder), Path(out), create_anonymizer(by, dict(options or {})), quiet))


@checked
def check_scenes(
    folder: SceneFolder,
    perception: PerceptionName = "",
    perception_options: PerceptionSettings = None,
    *,
    strict: Strict = False,
    quiet: Quiet = False,
) -> "dict[Path, list[SceneFault]]":
    """Name every fault of the scenes at or below a folder.

    >>> set(map(len, cfgen.check_scenes("bench/scenes", quiet=True).values()))  # faults a scene
    {0}
    """
    from cfgen.perception.registry import create_perceiver
    from cfgen.perception.views import views_folder
    from cfgen.scenes.check import check_folder

    perceiver = create_perceiver(perception, dict(perception_options or {}))
    return check_folder(Path(folder), quiet, strict, perceiver, views_folder())
