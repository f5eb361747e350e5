"""``cfgen migrate``: a benchmark of an earlier format into today's, in place, without a change to any pixel or score.

What is new is written beside what is there and read back before the case's record changes, in one rename; only then do
the old files go. Killed at any time, the benchmark is whole, and the same command goes on.
"""

from dataclasses import dataclass
from pathlib import Path

from cfgen.cases.frames import frame_file, patched
from cfgen.core.errors import StoreError
from cfgen.core.files import read_image, read_record, remove, write_bytes, write_record
from cfgen.core.hashing import hash_bytes
from cfgen.core.progress import Progress
from cfgen.records import Case, Patch
from cfgen.scenes.folder import load_scene
from cfgen.sharing.recipe import frames_of
from cfgen.store import Store
from cfgen.verify import Verification


@dataclass(frozen=True)
class Migrated:
    """``changed`` of ``cases``; bytes of these cases' folders before and after."""

    cases: int
    changed: int
    before: int
    after: int


def migrate(bench: Path, quiet: bool = False) -> Migrated:
    """Bring ``bench`` into today's format.

    Raises:
        StoreError: not a benchmark, or a file of a case is missing, changed or unreadable; nothing of it was changed.
    """
    store = Store(bench)
    folders = [path.parent for path in sorted(store.root.glob("cases/*/*/case.json"))]
    folders += [path.parent for path in sorted(store.root.glob("rejected/*/case.json"))]
    progress = Progress("cases", len(folders), quiet)
    changed = before = after = 0
    for folder in folders:
        size = _size(folder)
        with store.held(folder.name):
            done = _case(store, folder)
        changed, before, after = changed + done, before + size, after + _size(folder)
        progress.step()
    if changed and (faults := Verification(store.root).run()):
        raise StoreError(f"{store.root}: migrated, but {len(faults)} faults were found, such as {faults[0]}")
    return Migrated(len(folders), changed, before, after)


def _case(store: Store, folder: Path) -> bool:
    """Whether there was something to do."""
    case = read_record(folder / "case.json", Case, check=True)
    new = _with_patches(store, case, folder) if case.schema_version == 1 else case
    if new is not case:
        write_record(folder / "case.json", new, store.work)
    left = [folder / name for name in new.patches if (folder / name).is_file()]
    for path in left:
        remove(path)
    return new is not case or bool(left)


def _with_patches(store: Store, case: Case, folder: Path) -> Case:
    """The record with the frames as differences, whose files are written and read back."""
    scene = load_scene(store.scene_dir(case.scene_id))
    front, files, patches = scene.front_frame(), dict(case.files), dict[str, Patch]()
    for name, frame in frames_of(case, scene).items():
        if name not in case.files or not name.startswith("frames/"):
            continue
        path = folder / name
        if not path.is_file() or hash_bytes(path.read_bytes()) != case.files[name]:
            raise StoreError(
                f"{path}: is missing or was changed; restore it, or build the case again, then migrate"
            )
        pixels = read_image(path)
        source = "original.png" if frame == front else frame.image
        base = read_image((folder if frame == front else scene.root) / source)
        if base.shape != pixels.shape:
            continue
        patch, data = patched(name, pixels, source, base)
        if len(data) < path.stat().st_size:
            write_bytes(folder / patch.file, data, store.work)
            files[patch.file], patches[name] = hash_bytes(data), patch
            del files[name]
    new = case.model_copy(
        update={"schema_version": 2, "files": dict(sorted(files.items())), "patches": patches}
    )
    for name in patches:
        if (frame_file(store, new, name, folder).read() != read_image(folder / name)).any():
            raise StoreError(
                f"{folder / name}: its difference does not give it again; report this, nothing was changed"
            )
    return new


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
