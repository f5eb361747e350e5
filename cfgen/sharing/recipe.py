"""``cfgen share recipe``: of a benchmark what is ours alone, for sources whose pictures may not go on; and back.

Records, and of each changed picture where and by how much it differs from the source, sealed: a difference together
with what is known of the insert would tell pixels of the source, so each case's are encrypted under a key that only
the source's own front frame gives. The recipe lists hashes of the source and no pixel of it.
"""

import hashlib
import io
import shutil
import struct
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import cv2
import numpy as np
import PIL
from pydantic import ValidationError

from cfgen.benchmark.frames import AUGMENTED, MASK, ORIGINAL, frame_path
from cfgen.benchmark.verifying import Verification
from cfgen.core.errors import CfgenError, InputError, StoreError
from cfgen.core.faults import ends_the_run
from cfgen.core.files import (
    added,
    decode_image,
    difference,
    explain,
    must_be_new,
    png_bytes,
    read_record,
    stored_png,
    write_bytes,
)
from cfgen.core.hashing import canonical_json, hash_bytes, hash_image, hash_json
from cfgen.core.progress import Progress
from cfgen.records import Case, Frame, Record, Sha256
from cfgen.scenes.folder import SceneFolder, copy_scene, find_scenes, load_scene, scene_hash
from cfgen.sharing.archive import new_archive, open_archive, read_entry, undated
from cfgen.storage.plan_file import PLAN_FILE
from cfgen.storage.store import MARKER, VIEWS, Store
from cfgen.version import __version__

#: so many are named in one message
_NAMED = 3


class Versions(Record):
    """Of what decides how pictures are read, drawn and written."""

    cfgen_version: str
    opencv: str
    pillow: str

    @classmethod
    def installed(cls) -> Self:
        return cls(cfgen_version=__version__, opencv=cv2.__version__, pillow=PIL.__version__)

    @property
    def words(self) -> str:
        return f"cfgen {self.cfgen_version}, OpenCV {self.opencv} and Pillow {self.pillow}"

    def same_as(self, versions: "Versions") -> bool:
        return all(getattr(self, name) == getattr(versions, name) for name in Versions.model_fields)


def accepted(store: Store) -> list[Case]:
    """
    Raises:
        StoreError: there is none.
    """
    if cases := store.cases():
        return cases
    raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")


def first_of(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


FORMAT = "cfgen recipe 1"
INDEX, RECORDS, SEALED = "recipe.json", "records/", "sealed/"
#: how pictures are written
ENCODERS = (stored_png, png_bytes)
#: x, y, width and height of a difference, before its bytes
_BOX = struct.Struct("<4I")
_NONCE = 16


class NeededScene(Record):
    """One that who rebuilds has to have: hash of the whole, of its record, and of each image's file."""

    scene: Sha256
    record: Sha256
    images: dict[str, Sha256]


class Recipe(Versions):
    """``recipe.json``. ``files``: what a rebuilt benchmark holds besides its scenes; ``pixels``: of its pictures."""

    format: str
    scenes: dict[str, NeededScene]
    #: case -> scene
    cases: dict[str, str]
    files: dict[str, Sha256]
    pixels: dict[str, Sha256]

    @property
    def benchmark_hash(self) -> Sha256:
        """Over every file and scene of the benchmark."""
        scenes = {name: needed.scene for name, needed in self.scenes.items()}
        return hash_json({"scenes": scenes, "files": self.files})


def export_recipe(store: Store, out: Path, quiet: bool = False) -> Recipe:
    """Write ``out``, whole or not at all.

    Raises:
        InputError: ``out`` is there.
        StoreError: no case, or a file that is missing, changed, or written by another PNG encoder than this one.
    """
    must_be_new(out)
    cases = accepted(store)
    scenes: dict[str, NeededScene] = {}
    files: dict[str, Sha256] = {}
    pixels: dict[str, Sha256] = {}
    progress = Progress("cases", len(cases), quiet)
    with new_archive(out) as archive:
        for path in _records(store):
            name = path.relative_to(store.root).as_posix()
            content = path.read_bytes()
            files[name] = hash_bytes(content)
            archive.writestr(undated(RECORDS + name), content)
        for case in cases:
            folder = load_scene(store.scene_dir(case.scene_id))
            if case.scene_id not in scenes:
                scenes[case.scene_id] = needed(folder)
            packed = _Packed(store, case, folder)
            archive.writestr(
                undated(SEALED + case.case_id), seal(packed.content(), case, folder), zipfile.ZIP_STORED
            )
            root = store.case_dir(case.case_id).relative_to(store.root).as_posix()
            files |= {f"{root}/{name}": file_hash for name, file_hash in case.files.items()}
            pixels |= {f"{root}/{name}": file_hash for name, file_hash in packed.pixels.items()}
            progress.step()
        recipe = Recipe(
            format=FORMAT,
            **Versions.installed().model_dump(),
            scenes=scenes,
            cases={case.case_id: case.scene_id for case in cases},
            files=files,
            pixels=pixels,
        )
        archive.writestr(undated(INDEX), canonical_json(recipe))
    return recipe


def read_recipe(archive: zipfile.ZipFile, path: Path) -> Recipe:
    """
    Raises:
        InputError: no recipe, or one of another format.
    """
    if INDEX not in archive.namelist():
        raise InputError(
            f"{path}: expected a recipe of 'cfgen share recipe', found an archive without {INDEX}"
        )
    content = read_entry(archive, INDEX, path)
    try:
        recipe = Recipe.model_validate_json(content)
    except ValidationError as error:
        raise InputError(
            f"{path}: {INDEX}: {explain(error)}; it is damaged, or no recipe of 'cfgen share recipe': fetch it again"
        ) from error
    if recipe.format != FORMAT:
        raise InputError(
            f"{path}: expected format '{FORMAT}', found '{recipe.format}'; rebuild it with cfgen {recipe.cfgen_version}"
        )
    strange = [name for name in recipe.files if Path(name).is_absolute() or ".." in Path(name).parts]
    if strange or not set(recipe.cases.values()) <= set(recipe.scenes):
        raise InputError(
            f"{path}: names a place outside of the benchmark or a scene that it does not tell of "
            f"({', '.join(strange[:1]) or 'cases'}); it was changed: fetch it again"
        )
    return recipe


def needed(folder: SceneFolder) -> NeededScene:
    images = {f.image: hash_bytes((folder.root / f.image).read_bytes()) for f in folder.scene.frames}
    record = hash_json(folder.scene.model_dump(mode="json"))
    return NeededScene(scene=scene_hash(folder), record=record, images=images)


def frames_of(case: Case, folder: SceneFolder) -> dict[str, Frame]:
    """File of a case -> the frame of its scene that it shows changed, or whole."""
    changed = {
        frame_path(arm, frame.camera, frame.t): frame for arm in case.arms for frame in folder.scene.frames
    }
    return {**changed, ORIGINAL: folder.front_frame(), AUGMENTED: folder.front_frame()}


def seal(content: bytes, case: Case, folder: SceneFolder) -> bytes:
    """``content`` under a key that the scene's front frame gives; :func:`unseal` opens it."""
    nonce = hashlib.sha256(content).digest()[:_NONCE]
    return nonce + _under_key(content, nonce, case, folder)


def unseal(ciphertext: bytes, case: Case, folder: SceneFolder) -> bytes:
    return _under_key(ciphertext[_NONCE:], ciphertext[:_NONCE], case, folder)


def _under_key(content: bytes, nonce: bytes, case: Case, folder: SceneFolder) -> bytes:
    own = (folder.root / folder.front_frame().image).read_bytes()
    key = hashlib.sha256(b"cfgen recipe\0" + nonce + case.case_id.encode() + b"\0" + own).digest()
    stream = np.frombuffer(hashlib.shake_256(key).digest(len(content)), np.uint8)
    return (np.frombuffer(content, np.uint8) ^ stream).tobytes()


def packed(source: np.ndarray, changed: np.ndarray) -> bytes:
    """The :func:`difference` of two pictures (H, W, 3) uint8."""
    x, y, change = difference(source, changed)
    return _BOX.pack(x, y, *change.shape[1::-1]) + change.tobytes()


def applied(source: np.ndarray, data: bytes) -> np.ndarray:
    """The picture that :func:`packed` told of."""
    x, y, w, h = _BOX.unpack_from(data)
    return added(source, np.frombuffer(data, np.uint8, offset=_BOX.size).reshape(h, w, 3), x, y, Path(SEALED))


def _records(store: Store) -> Iterator[Path]:
    """Files without a pixel of a source: records, and what perception made of frames."""
    yield store.root / MARKER
    yield from store.root.glob(PLAN_FILE)
    yield from store.root.glob("build.json")
    yield from sorted(store.root.glob("cases/*/*/case.json"))
    yield from sorted(store.root.glob("rejected/*/rejection.json"))
    yield from sorted((store.root / VIEWS).glob("*/*.png"))


class _Packed:
    """What a case's pictures differ by from its scene's."""

    def __init__(self, store: Store, case: Case, folder: SceneFolder) -> None:
        self.root, self.case, self.folder = store.case_dir(case.case_id), case, folder
        self.pixels: dict[str, Sha256] = {}

    def content(self) -> bytes:
        """An archive: differences by their files' names, layer and mask as they are; of the original nothing."""
        frames = frames_of(self.case, self.folder)
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(self.case.files):
                png = self._read(name)
                if name not in frames:
                    archive.writestr(undated(name), png)
                    continue
                picture = decode_image(png, self.root / name)
                if png not in (encode(picture) for encode in ENCODERS):
                    raise StoreError(
                        f"{self.root / name}: was encoded otherwise than {Versions.installed().words} "
                        "do, so nobody could make it again; export with the version that wrote it"
                    )
                self.pixels[name] = hash_image(picture)
                if name != ORIGINAL:
                    archive.writestr(undated(name), self._difference(name, frames[name], picture))
        return data.getvalue()

    def _difference(self, name: str, frame: Frame, picture: np.ndarray) -> bytes:
        source = self.folder.image(frame)
        if name == AUGMENTED:
            mask = decode_image(self._read(MASK), self.root / MASK, "L")
            if ((picture != source).any(2) & (mask == 0)).any():
                raise StoreError(
                    f"{self.root / name}: differs from its source outside of its mask; run: "
                    f"cfgen bench verify {self.root}"
                )
        return packed(source, picture)

    def _read(self, name: str) -> bytes:
        path = self.root / name
        if not path.is_file() or hash_bytes(data := path.read_bytes()) != self.case.files[name]:
            raise StoreError(f"{path}: is missing or was changed; restore it, or build the case again")
        return data


# --- rebuild -----------------------------------------------------------------------------------
# ``cfgen share rebuild``: a recipe and the scenes that it needs, into the identical benchmark.


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
        with open_archive(path, "a recipe of 'cfgen share recipe'") as archive:
            recipe = read_recipe(archive, path)
            folders = _folders(recipe, path, scenes)
            _write(archive, path, recipe, folders, part, quiet)
        _prove(recipe, part, out)
        if out.exists():
            shutil.rmtree(out)  # empty: checked above
        part.rename(out)
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
    folders: dict[str, SceneFolder] = {}
    wrong: dict[str, str] = {}
    for place in find_scenes(source):
        try:
            folder = load_scene(place)
        except CfgenError as error:
            wrong[place.name] = f"cannot be read ({error})"
            continue
        expected = recipe.scenes.get(folder.scene.scene_id)
        if expected is not None and folder.scene.scene_id not in folders:
            folders[folder.scene.scene_id] = folder
    faults = []
    for scene_id, expected in recipe.scenes.items():
        if scene_id not in folders:
            faults.append(f"scene '{scene_id}' {wrong.get(scene_id, 'is missing')}")
        elif changed := _changed(expected, needed(folders[scene_id])):
            faults.append(f"scene '{scene_id}' was changed: {', '.join(changed)}")
    if faults:
        raise InputError(
            f"{path}: expected {len(recipe.scenes)} scenes as they were in {source}, found {len(faults)} that are not: "
            f"{'; '.join(faults)}; import them again as the benchmark's authors tell"
        )
    return folders


def _changed(expected: NeededScene, scene: NeededScene) -> list[str]:
    """What of a scene is not as it was."""
    images = [name for name in expected.images if scene.images.get(name) != expected.images[name]]
    record = ["scene.json"] if expected.record != scene.record else []
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
        ciphertext = read_entry(archive, SEALED + case_id, path)
        try:
            pictures = list(_pictures(unseal(ciphertext, case, folders[scene_id]), case, folders[scene_id]))
        except Exception as error:  # damaged bytes: anything
            if isinstance(error, InputError) or ends_the_run(error):
                raise
            raise InputError(
                f"{path}: entry '{SEALED}{case_id}' is damaged; fetch the recipe again"
            ) from error
        for name, data in pictures:
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
            f"their pixels are the same, but {Versions.installed().words} encode PNG otherwise than "
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
