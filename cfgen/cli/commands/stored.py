"""``cfgen show``: the frames of a case, whole."""

import argparse
from pathlib import Path


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    show = subparsers.add_parser("show", help="write the frames of a case whole, to look at")
    show.add_argument("bench", type=Path)
    show.add_argument("case", help="its id, as in cases/ab/<id>")
    show.add_argument("--out", type=Path, required=True, metavar="DIR", help="new or empty folder")
    show.set_defaults(func=_show)


def _show(arguments: argparse.Namespace) -> int:
    from cfgen.benchmark.frames import write_whole
    from cfgen.core.errors import InputError
    from cfgen.core.files import read_record
    from cfgen.records import Case
    from cfgen.storage.store import Store

    store, out = Store(arguments.bench), arguments.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: expected a new or empty folder, found other files; choose another --out")
    name = Path(arguments.case).name
    places = (store.case_dir(name), store.rejected_dir(name))
    folder = next((place for place in places if (place / "case.json").is_file()), None)
    if folder is None and (places[1] / "rejection.json").is_file():
        raise InputError(f"{places[1]}: was refused before it was a case; its pictures lie there whole")
    if folder is None:
        raise InputError(
            f"case: expected the id of a case in {store.root / 'cases'}, found '{arguments.case}'"
        )
    written = write_whole(store, read_record(folder / "case.json", Case), out, folder)
    print(f"{len(written)} pictures in {out}")
    return 0
