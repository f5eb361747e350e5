"""``cfgen share``: a benchmark or a result out into the world, and back."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from cfgen.cli.parsing import add, group
from cfgen.core.options import checked
from cfgen.core.sanitize import visible
from cfgen.library import sharing
from cfgen.library.sharing import BoardFolder, open_board

if TYPE_CHECKING:
    from cfgen.library.benchmark import Benchmark
    from cfgen.sharing.leaderboard import Added, Done
    from cfgen.sharing.site import Site


def register(app: App) -> None:
    share = group("share", "Share a benchmark or a result: data set, recipe, bundle, leaderboard.")
    add(share, sharing.export_hf, _show_data_set, name="hf")
    add(share, sharing.export_recipe, _show_recipe, name="recipe")
    add(share, sharing.rebuild, _show_rebuilt)
    add(share, sharing.export_definition, _show_definition, name="definition")
    add(share, sharing.export_bundle, _show_bundle, name="bundle")
    board = group("leaderboard", "A static site out of bundles of many planners.")
    add(board, sharing.add_bundles, _show_added, name="add")
    add(board, _check)
    add(board, _remove)
    add(board, sharing.write_leaderboard, _show_site, name="page")
    add(board, sharing.rejudge_entries, _show_rejudged, name="rejudge")
    add(board, sharing.rerun_planner, _show_entry, name="run")
    share.command(board)
    app.command(share)


def _show_data_set(cases: int, *, out: Path) -> int:
    print(f"{cases} cases in {out}; look at its README.md, then load it:")
    print(f'  datasets.load_dataset("{out}", split="test")')
    return 0


def _show_recipe(benchmark_hash: str, *, out: Path) -> int:
    size = out.stat().st_size / 1e6
    print(f"{out}: {size:.1f} MB, no pixel of the sources; all files together {benchmark_hash}")
    print(f"  cfgen share rebuild {out} --scenes THEIR_COPY --out bench")
    return 0


def _show_rebuilt(rebuilt: "Benchmark", *, out: Path) -> int:
    print(f"{len(rebuilt)} cases in {out}, each file the same as the recipe tells")
    return 0


def _show_definition(cases: int, *, out: Path, name: str) -> int:
    print(f"{out}: '{name}', {cases} cases; whoever builds it: cfgen build --definition {out}")
    return 0


def _show_bundle(benchmark_hash: str, *, out: Path) -> int:
    size = out.stat().st_size / 1e6
    print(f"{out}: {size:.2f} MB, no pixel; cases, as on a leaderboard, {benchmark_hash}")
    print(f"  cfgen share leaderboard add BOARD {out}")
    return 0


# --- leaderboards ----------------------------------------------------------------------------------------


def _show_added(result: "Done", *, board: Path) -> int:
    for added in result.added:
        _show_entry(added)
    for line in result.failed:
        print(f"cfgen: error: {visible(line)}", file=sys.stderr)
    if not result.added:
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


def _show_rejudged(result: "Done") -> int:
    for added in result.added:
        _show_entry(added)
    for line in result.failed:
        print(visible(line))
    return 1 if result.failed else 0


@checked
def _check(board: BoardFolder) -> int:
    """Derive every entry's figures and hashes again."""
    opened = open_board(board)
    faults, count = opened.faults(), len(opened.names())
    for fault in faults:
        print(visible(fault))
    print(f"{count - len(faults)} of {count} entries verify")
    return 1 if faults else 0


@checked
def _remove(
    board: BoardFolder,
    entry: Annotated[str, "As 'cfgen share leaderboard add' and the site's addresses name it."],
) -> int:
    """Take an entry out."""
    opened = open_board(board)
    opened.remove(entry)
    print(f"{entry}: removed; {_counted(len(opened.names()), 'entry is', 'entries are')} left")
    return 0


def _show_site(site: "Site") -> int:
    entries, tables = _counted(site.rows, "entry", "entries"), _counted(site.tables, "table", "tables")
    print(f"{site.out}/index.html: {entries} in {tables}")
    return 0


def _counted(n: int, singular: str, plural: str) -> str:
    return f"{n} {singular if n == 1 else plural}"
