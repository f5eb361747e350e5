"""``cfgen share``: a benchmark or a result out into the world, and back."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from cfgen.cli.parsing import add, group
from cfgen.core.options import checked
from cfgen.core.sanitize import visible
from cfgen.library import sharing
from cfgen.library.sharing import BoardFolder, open_board

if TYPE_CHECKING:
    from cfgen.library.benchmark import Benchmark
    from cfgen.sharing.leaderboard import Added, BoardUpdate
    from cfgen.sharing.site import Site


def register(app: App) -> None:
    share = group("share", "Share a benchmark or a result: data set, recipe, bundle, leaderboard.")
    add(share, sharing.export_hf, _show_data_set, name="hf")
    add(share, sharing.export_recipe, _show_recipe, name="recipe")
    add(share, sharing.rebuild, _show_rebuilt)
    add(share, sharing.export_definition, _show_definition, name="definition")
    add(share, sharing.export_bundle, _show_bundle, name="bundle")
    board = group("leaderboard", "A static site out of bundles of many planners.")
    add(board, sharing.add_bundles, _show_done, name="add")
    add(board, _check)
    add(board, sharing.write_leaderboard, _show_site, name="page")
    add(board, sharing.rejudge_entries, _show_done, name="rejudge")
    add(board, sharing.rerun_planner, _show_entry, name="run")
    share.command(board)
    app.command(share)


def _show_data_set(cases: int, *, out: Path) -> int:
    print(f"{cases} cases in {out}; look at its README.md, then load it:")
    print(f'  datasets.load_dataset("{out}", split="test")')
    return 0


def _show_rebuilt(rebuilt: "Benchmark", *, out: Path) -> int:
    print(f"{len(rebuilt)} cases in {out}, each file the same as the recipe tells")
    return 0


def _show_definition(cases: int, *, out: Path, name: str) -> int:
    print(f"{out}: '{name}', {cases} cases; whoever builds it: cfgen build --definition {out}")
    return 0


def _show_recipe(benchmark_hash: str, *, out: Path) -> int:
    return _show_file(out, benchmark_hash, f"rebuild {out} --scenes THEIR_COPY --out bench")


def _show_bundle(benchmark_hash: str, *, out: Path) -> int:
    return _show_file(out, benchmark_hash, f"leaderboard add BOARD {out}")


def _show_file(out: Path, benchmark_hash: str, command: str) -> int:
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB, no pixel of the sources; benchmark {benchmark_hash}")
    print(f"  cfgen share {command}")
    return 0


# --- leaderboards ----------------------------------------------------------------------------------------


def _show_done(result: "BoardUpdate", *, board: Path) -> int:
    for added in result.added:
        _show_entry(added)
    for line in result.failed:
        print(f"cfgen: error: {visible(line)}", file=sys.stderr)
    if not result.added and result.failed:
        return 2
    print(f"Next: cfgen share leaderboard page {board} --out site")
    return 1 if result.failed else 0


def _show_entry(added: "Added") -> int:
    entry = added.entry
    if not added.before:
        print(f"{entry.entry}: added, {entry.kind}")
    elif added.before == entry.kind:
        print(f"{entry.entry}: was there already, byte for byte, as {entry.kind}; not added again")
    else:
        print(f"{entry.entry}: the same byte for byte as the {added.before} one, which is {entry.kind} now")
    return 0


@checked
def _check(board: BoardFolder) -> int:
    """Derive every entry's figures and hashes again."""
    opened = open_board(board)
    faults, count = opened.faults(), len(opened.names())
    for fault in faults:
        print(visible(fault))
    print(f"{count - len(faults)} of {count} entries verify")
    return 1 if faults else 0


def _show_site(site: "Site") -> int:
    print(f"{site.out}/index.html: {site.rows} entries in {site.tables} tables")
    return 0
