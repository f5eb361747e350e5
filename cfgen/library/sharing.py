"""A benchmark or a result out into the world: data set, recipe, definition, bundle, leaderboard; and back."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
from attrs import field

from cfgen.core.options import Bench, NewFile, NewFolder, Place, Quiet, checked, function_of, path
from cfgen.core.options import names as names_field
from cfgen.options import JudgeOptions, ScoreOptions

if TYPE_CHECKING:
    from cfgen.library.benchmark import Benchmark
    from cfgen.sharing.leaderboard import Added, Board, BoardUpdate
    from cfgen.sharing.site import Site

AllowLicenses = Annotated[
    Sequence[str],
    "A source's licence, word for word, whose owner gave leave to hand on its pictures; repeatable.",
]
_BOARD = "Leaderboard's folder."
_NEW_BOARD = "Leaderboard's folder; begun where there is none."
BoardFolder = Annotated[Place, _BOARD]


@checked
def export_hf(
    bench: Bench,
    out: NewFolder,
    *,
    name: Annotated[str | None, "Name of the data set (default: the folder's)."] = None,
    creator: Annotated[str, "Who publishes it."] = "",
    url: Annotated[str, "Where it is published."] = "",
    allow_licenses: AllowLicenses = (),
    notices: Annotated[
        Sequence[Place], "A source's licence or notice file, handed on word for word; repeatable."
    ] = (),
    quiet: Quiet = False,
) -> int:
    """Image folder for Hugging Face datasets, with its card; returns the number of cases.

    Raises:
        InputError: ``out`` is there already, or a licence forbids it.
        StoreError: no benchmark, no case in it, or a changed file.

    >>> cfgen.export_hf("bench", "dataset", creator="A. Person", quiet=True)
    2
    """
    from cfgen.core.sanitize import one_line
    from cfgen.sharing.card import Publication
    from cfgen.sharing.dataset import export_dataset
    from cfgen.storage.store import Store

    named, creator, url = map(one_line, (name or Path(out).name, creator, url))
    publication = Publication(named, creator, url, tuple(Path(notice) for notice in notices))
    return export_dataset(Store(Path(bench)), Path(out), publication, tuple(allow_licenses), quiet)


@checked
def export_recipe(bench: Bench, out: NewFile, *, quiet: Quiet = False) -> str:
    """What is ours alone of a benchmark, in one file without a pixel of its sources; returns the benchmark's hash.

    Raises:
        InputError: ``out`` is there already.
        StoreError: no benchmark, no case in it, or a changed file.

    >>> cfgen.export_recipe("bench", "bench.recipe", quiet=True)
    'sha256:...'
    """
    from cfgen.sharing.recipe import export_recipe as export
    from cfgen.storage.store import Store

    return export(Store(Path(bench)), Path(out), quiet).benchmark_hash


@checked
def rebuild(
    recipe: Annotated[Place, "File of cfgen share recipe."],
    *,
    scenes: Annotated[Place, "Your copy of its scenes."],
    out: Annotated[Place, "New benchmark directory."],
    quiet: Quiet = False,
) -> "Benchmark":
    """The identical benchmark from a recipe and a copy of its scenes, proved by hash.

    Raises:
        InputError: no recipe, or scenes that are missing or changed: each is named.
        StoreError: ``out`` holds files, or what was made is not what the recipe tells of.

    >>> len(cfgen.rebuild("bench.recipe", scenes="bench/scenes", out="rebuilt", quiet=True))
    2
    """
    from cfgen.library.benchmark import Benchmark
    from cfgen.sharing.recipe import rebuild as rebuild_recipe

    return Benchmark(rebuild_recipe(Path(recipe), Path(scenes), Path(out), quiet).out)


@checked
def export_definition(
    bench: Bench,
    out: Annotated[Place, "New .json file."],
    *,
    name: Annotated[str, "Name of the definition, with its version, such as cfgen66-demo-v2."],
) -> int:
    """How a finished benchmark was built and what came of it, for build --definition; returns the number of cases.

    Raises:
        InputError: ``out`` is there already, or the benchmark holds own hazards.
        StoreError: no benchmark, or one that is not finished.

    >>> cfgen.export_definition("bench", "definition.json", name="mine-v1")
    2
    """
    from cfgen.sharing.definitions import freeze
    from cfgen.storage.store import Store

    return len(freeze(Store(Path(bench)), name, Path(out)).cases)


@checked
def export_bundle(
    bench: Bench,
    out: NewFile,
    *,
    planner: Annotated[str, "One that was scored there."],
    judge: Annotated[str, "Who judged it: its folder under verdicts/."] = "offline",
    rubric: Annotated[str | Path | None, "The rubric's wording, where that is a file of your own."] = None,
) -> str:
    """A planner's answers and verdicts in one file, to check, judge again and rank; returns the benchmark's hash.

    Raises:
        InputError: no such planner or judge here, or ``out`` is there already.
        StoreError: answers or verdicts are missing or damaged.

    >>> cfgen.export_bundle("bench", "cruise.zip", planner="cruise")
    'sha256:...'
    """
    from cfgen.sharing.bundle import export_bundle as export
    from cfgen.storage.store import Store

    named = None if rubric is None else str(rubric)
    return export(Store(Path(bench)), planner, judge, Path(out), named).index.benchmark


@checked
def open_board(path: BoardFolder, *, title: str = "", create: bool = False) -> "Board":
    """A leaderboard's folder: ``add(bundle)``, ``rows()``, ``faults()``. Raises InputError where it is none.

    >>> cfgen.open_board("board").faults()
    []
    """
    from cfgen.sharing.leaderboard import Board

    return Board(Path(path), title, create)


@checked
def add_bundles(
    board: Annotated[Place, _NEW_BOARD],
    bundles: Annotated[Sequence[Place], "Files of cfgen share bundle."],
    *,
    title: Annotated[str, "Title of a new leaderboard (default: its folder's name)."] = "",
) -> "BoardUpdate":
    """Add those bundles to a leaderboard that verify.

    Returns:
        What was ``added``, and in ``failed`` one line for each that was not.

    Raises:
        InputError: ``board`` is something else.

    >>> len(cfgen.add_bundles("board", ["cruise.zip"]).added)
    1
    """
    from cfgen.core.errors import CfgenError
    from cfgen.sharing.bundle import read_bundle
    from cfgen.sharing.bundle_checks import prove
    from cfgen.sharing.leaderboard import Board, BoardUpdate

    opened = Board(Path(board)) if Path(board).exists() else None
    added, failed = [], []
    for bundle in map(Path, bundles):
        try:
            if opened is None:
                prove(read_bundle(bundle))  # nothing is begun for what does not verify
                opened = Board(Path(board), title, create=True)
            added.append(opened.add(bundle))
        except CfgenError as error:
            failed.append(str(error))
    return BoardUpdate(tuple(added), tuple(failed))


@checked
def write_leaderboard(
    board: BoardFolder,
    out: Annotated[Place, "New folder, or an earlier site."],
    *,
    bundles: Annotated[bool, "With the bundles, answers and all, for others to check."] = False,
) -> "Site":
    """Write a leaderboard's static site.

    Raises:
        InputError: ``out`` holds something else, the board is empty, or an entry does not verify.

    >>> cfgen.write_leaderboard("board", "site").rows
    1
    """
    from cfgen.sharing.leaderboard import Board
    from cfgen.sharing.site import write_site

    return write_site(Board(Path(board)), Path(out), bundles)


@attrs.frozen(kw_only=True)
class RejudgeOptions(JudgeOptions):
    """``board`` and ``entries`` beside those of :func:`cfgen.judge_answers`; ``planners`` has no effect."""

    board: Annotated[Path, _BOARD] = field(converter=path)
    judge: Annotated[str, "Who judges (default: each entry's own judge, with its own options)."] = ""
    entries: Annotated[tuple[str, ...], "Only these entries (default: all self-reported ones)."] = field(
        default=(), converter=names_field
    )


@attrs.frozen(kw_only=True)
class RerunOptions(ScoreOptions):
    """``board`` beside those of :func:`cfgen.score`."""

    board: Annotated[Path, _NEW_BOARD] = field(converter=path)


def _rejudge_entries(options: RejudgeOptions) -> "BoardUpdate":
    """Judge answers of entries again, on their benchmark; one that its own judge contradicts is ranked no more.

    >>> [done.entry.kind for done in cfgen.rejudge_entries("bench", board="board", quiet=True).added]
    ['rejudged']
    """
    from cfgen.sharing.leaderboard import rejudge

    return rejudge(open_board(options.board), options, options.entries)


def _rerun_planner(options: RerunOptions) -> "Added":
    """Ask a planner on a benchmark of yours, judge it, and add it to a leaderboard as rerun.

    >>> cfgen.rerun_planner("bench", "reactive", board="board", quiet=True).entry.kind
    'rerun'
    """
    from cfgen.sharing.leaderboard import rerun

    return rerun(open_board(options.board, create=True), options)


rejudge_entries = function_of(RejudgeOptions, _rejudge_entries)
rerun_planner = function_of(RerunOptions, _rerun_planner)
