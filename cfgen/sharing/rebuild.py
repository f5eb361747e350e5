"""``cfgen rebuild``: a recipe and the scenes that it needs, into the identical benchmark."""

import io
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from cfgen.benchmark.frames import ORIGINAL
from cfgen.benchmark.verifying import Verification
from cfgen.core.errors import CfgenError, InputError, StoreError
from cfgen.core.faults import ends_the_run
from cfgen.core.files import read_record, stand_in, write_bytes
from cfgen.core.hashing import hash_bytes, hash_image
from cfgen.core.progress import Progress
from cfgen.records import Case, Sha256
from cfgen.scenes.folder import SceneFolder, copy_scene, find_scenes, load_scene
from cfgen.sharing.made_with import MadeWith
from cfgen.sharing.recipe import (
    ENCODERS,
    RECORDS,
    SEALED,
    NeededScene,
    Recipe,
    applied,
    frames_of,
    needed,
    read_entry,
    read_recipe,
    unseal,
)
from cfgen.storage.store import Store


@dataclass(frozen=True)
class Rebuilt:
    """``files``: how many were made and found to be the same; ``hash``: over all of them and the scenes."""

    out: Path
    cases: int
    scenes: int
    files: int
    hash: Sha256


def rebuild(path: Path, scenes: Path, out: Path, quiet: bool = False) -> Rebuilt:
    """Write the benchmark ``out``, whole and identical or not at all.

    Raises:
        InputError: ``path`` is no recipe, or a scene of it is missing below ``scenes`` or was changed: each is named.
        StoreError: ``out`` holds files, or what was made is not what the recipe tells of.
    """
    Store.check_new(out)
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with zipfile.ZipFile(path) as archive:
            recipe = read_recipe(archive, path)
            folders = _folders(recipe, path, scenes)
            _write(archive, path, recipe, folders, part, quiet)
        _prove(recipe, part, out)
        if out.exists():
            shutil.rmtree(out)  # empty: checked above
        part.rename(out)
    except zipfile.BadZipFile as error:
        raise InputError(
            f"{path}: expected a recipe of 'cfgen export recipe', found {stand_in(path) or 'no whole archive'}; fetch "
            "it again"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot rebuild it in {out} ({error}); nothing was kept") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Rebuilt(out, len(recipe.cases), len(recipe.scenes), len(recipe.files), recipe.benchmark_hash)


def _folders(recipe: Recipe, path: Path, source: Path) -> dict[str, SceneFolder]:
    """
    Raises:
        InputError: names every scene that is missing, damaged or changed.
    """
    found: dict[str, SceneFolder] = {}
    wrong: dict[str, str] = {}
    for place in find_scenes(source):
        try:
            folder = load_scene(place)
        except CfgenError as error:
            wrong[place.name] = f"cannot be read ({error})"
            continue
        known = recipe.scenes.get(folder.scene.scene_id)
        if known is not None and folder.scene.scene_id not in found:
            found[folder.scene.scene_id] = folder
    faults = []
    for scene_id, known in recipe.scenes.items():
        if scene_id not in found:
            faults.append(f"scene '{scene_id}' {wrong.get(scene_id, 'is missing')}")
        elif changed := _changed(known, needed(found[scene_id])):
            faults.append(f"scene '{scene_id}' was changed: {', '.join(changed)}")
    if faults:
        raise InputError(
            f"{path}: expected {len(recipe.scenes)} scenes as they were in {source}, found {len(faults)} that are not: "
            f"{'; '.join(faults)}; import them again as the benchmark's authors tell"
        )
    return found


def _changed(known: NeededScene, here: NeededScene) -> list[str]:
    """What of a scene is not as it was."""
    images = [name for name in known.images if here.images.get(name) != known.images[name]]
    record = ["scene.json"] if known.record != here.record else []
    return [*record, *images]


def _write(
    archive: zipfile.ZipFile,
    path: Path,
    recipe: Recipe,
    folders: dict[str, SceneFolder],
    part: Path,
    quiet: bool,
) -> None:
    for name in archive.namelist():
        if name.startswith(RECORDS) and (place := name.removeprefix(RECORDS)) in recipe.files:
            write_bytes(part / place, read_entry(archive, name, path))
    store = Store(part)
    for scene_id in recipe.scenes:
        copy_scene(folders[scene_id], store.scene_dir(scene_id))
    progress = Progress("cases", len(recipe.cases), quiet)
    for case_id, scene_id in recipe.cases.items():
        case = read_record(store.case_dir(case_id) / "case.json", Case, check=True)
        told = read_entry(archive, SEALED + case_id, path)
        try:
            made = list(_pictures(unseal(told, case, folders[scene_id]), case, folders[scene_id]))
        except Exception as error:  # damaged bytes: anything
            if isinstance(error, InputError) or ends_the_run(error):
                raise
            raise InputError(
                f"{path}: entry '{SEALED}{case_id}' is damaged; fetch the recipe again"
            ) from error
        for name, data in made:
            write_bytes(store.case_dir(case_id) / name, data)
        progress.step()
    shutil.rmtree(store.work, ignore_errors=True)


def _pictures(content: bytes, case: Case, folder: SceneFolder) -> Iterator[tuple[str, bytes]]:
    frames = frames_of(case, folder)
    yield ORIGINAL, _encoded(folder.image(), case.files[ORIGINAL])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in case.files:
            if name in frames and name != ORIGINAL:
                picture = applied(folder.image(frames[name]), archive.read(name))
                yield name, _encoded(picture, case.files[name])
            elif name != ORIGINAL:
                yield name, archive.read(name)


def _encoded(picture: np.ndarray, expected: Sha256) -> bytes:
    """As the case's file was; where nothing that is known here gives that, as it is written today."""
    ways = [encode(picture) for encode in ENCODERS]
    return next((data for data in ways if hash_bytes(data) == expected), ways[0])


def _prove(recipe: Recipe, part: Path, out: Path) -> None:
    """
    Raises:
        StoreError: a file that is missing or other than the recipe tells.
    """
    differ = [
        name
        for name, expected in recipe.files.items()
        if not (part / name).is_file() or hash_bytes((part / name).read_bytes()) != expected
    ]
    if differ:
        same = [name for name in differ if _same_pixels(part / name, recipe.pixels.get(name))]
        why = (
            f"their pixels are the same, but {MadeWith.here().words} encode PNG otherwise than "
            if len(same) == len(differ)
            else "the recipe was changed, or pictures are decoded otherwise than by "
        )
        raise StoreError(
            f"{out}: {len(differ)} of {len(recipe.files)} files are not those of the recipe, such as {differ[0]}: {why}"
            f"{recipe.words}, which wrote it; install "
            "these and rebuild; nothing was kept"
        )
    if faults := Verification(part).run():
        raise StoreError(f"{out}: {len(faults)} faults, such as {faults[0]}; fetch the recipe again")


def _same_pixels(path: Path, expected: Sha256 | None) -> bool:
    picture = cv2.imread(str(path)) if path.is_file() and expected else None
    return picture is not None and hash_image(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)) == expected
