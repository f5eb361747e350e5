"""Results out into the world: a bundle of one run, and boards of many bundles."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.library.arguments import Place, checked

if TYPE_CHECKING:
    from cfgen.leaderboard.board import Added, Board
    from cfgen.leaderboard.page import Site


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
    from cfgen.store import Store

    named = None if rubric is None else str(rubric)
    return export(Store(Path(bench)), planner, judge, Path(out), named).index.benchmark


@checked
def open_board(path: Place, *, title: str = "", create: bool = False) -> "Board":
    """A leaderboard's folder: ``add(bundle)``, ``rows()``, ``faults()``. Raises InputError where it is none."""
    from cfgen.leaderboard.board import Board

    return Board(Path(path), title, create)


@checked
def add_bundles(board: Place, bundles: Sequence[Place], *, title: str = "") -> "tuple[Added, ...]":
    """Add bundles that verify to a leaderboard, which is begun where there is none.

    Raises:
        InputError: of the first that does not verify; those before it were added.
    """
    from cfgen.leaderboard.board import Board
    from cfgen.sharing.bundle import read_bundle
    from cfgen.sharing.proof import prove

    for one in bundles:
        prove(read_bundle(Path(one)))
    made = Board(Path(board), title, create=True)
    return tuple(made.add(Path(one)) for one in bundles)


@checked
def write_leaderboard(board: Place, out: Place, *, bundles: bool = False) -> "Site":
    """A static site out of a board; ``bundles``: with the bundles themselves to download.

    Raises:
        InputError: ``out`` holds something else, the board is empty, or an entry does not verify.
    """
    from cfgen.leaderboard.board import Board
    from cfgen.leaderboard.page import write_site

    return write_site(Board(Path(board)), Path(out), bundles)
