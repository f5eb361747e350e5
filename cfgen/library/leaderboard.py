"""Results out into the world: a bundle of one run, and boards of many bundles."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.library.arguments import Place, checked

if TYPE_CHECKING:
    from cfgen.sharing.leaderboard.board import Board, Done
    from cfgen.sharing.leaderboard.page import Site


@checked
def export_bundle(
    bench: Place, out: Place, *, planner: str, judge: str = "offline", rubric: str | Path | None = None
) -> str:
    """What a planner answered and a judge said of it, in one file to recheck, judge again and rank; without a pixel.

    Args:
        judge: its folder under ``verdicts/``. rubric: the file of its wording, where that is not an installed one.

    Returns:
        The benchmark's hash.

    Raises:
        InputError: no such planner or judge here, or ``out`` is there already.
        StoreError: answers or verdicts are missing or damaged.
    """
    from cfgen.sharing.bundle import export_bundle as export
    from cfgen.storage.store import Store

    named = None if rubric is None else str(rubric)
    return export(Store(Path(bench)), planner, judge, Path(out), named).index.benchmark


@checked
def open_board(path: Place, *, title: str = "", create: bool = False) -> "Board":
    """A leaderboard's folder: ``add(bundle)``, ``rows()``, ``faults()``. Raises InputError where it is none."""
    from cfgen.sharing.leaderboard.board import Board

    return Board(Path(path), title, create)


@checked
def add_bundles(board: Place, bundles: Sequence[Place], *, title: str = "") -> "Done":
    """Look at all, and add those that verify to a leaderboard, which is begun where there is none.

    Returns:
        What was ``added``, and in ``failed`` one line for each that was not.

    Raises:
        InputError: ``board`` is something else.
    """
    from cfgen.core.errors import CfgenError
    from cfgen.sharing.bundle import read_bundle
    from cfgen.sharing.leaderboard.board import Board, Done
    from cfgen.sharing.proof import prove

    made = Board(Path(board)) if Path(board).exists() else None
    added, failed = [], []
    for one in map(Path, bundles):
        try:
            if made is None:
                prove(read_bundle(one))  # nothing is begun for what does not verify
                made = Board(Path(board), title, create=True)
            added.append(made.add(one))
        except CfgenError as error:
            failed.append(str(error))
    return Done(tuple(added), tuple(failed))


@checked
def write_leaderboard(board: Place, out: Place, *, bundles: bool = False) -> "Site":
    """A static site out of a board; ``bundles``: with the bundles themselves to download.

    Raises:
        InputError: ``out`` holds something else, the board is empty, or an entry does not verify.
    """
    from cfgen.sharing.leaderboard.board import Board
    from cfgen.sharing.leaderboard.page import write_site

    return write_site(Board(Path(board)), Path(out), bundles)
