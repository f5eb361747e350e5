"""``cfgen export recipe``: of a benchmark what is ours alone, for sources whose pictures may not be handed on.

Records, and of each changed picture where and by how much it differs from the source, sealed: a difference together
with what is known of the insert would tell pixels of the source, so each case's are encrypted under a key that only the
source's own front frame gives. The recipe lists hashes of the source and no pixel of it.
"""

import contextlib
import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from cfgen.benchmark.frames import AUGMENTED, MASK, ORIGINAL, frame_path
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import decode_image, explain, must_be_new, png_bytes, stored_png
from cfgen.core.hashing import canonical_json, hash_bytes, hash_image, hash_json
from cfgen.core.progress import Progress
from cfgen.core.stored_frame import added, difference
from cfgen.records import Case, Frame, Record, Sha256
from cfgen.scenes.folder import SceneFolder, load_scene, scene_hash
from cfgen.sharing.made_with import MadeWith, accepted
from cfgen.storage.plan_file import PLAN_FILE
from cfgen.storage.store import MARKER, VIEWS, Store

FORMAT = "cfgen recipe 1"
INDEX, RECORDS, SEALED = "recipe.json", "records/", "sealed/"
#: how pictures are written
ENCODERS = (stored_png, png_bytes)
#: x, y, width and height of a difference, before its bytes
_BOX = struct.Struct("<4I")
_NONCE = 16


class NeededScene(Record):
    """One that who rebuilds has to have: hash of the whole, of its record, and of each image's file."""

    whole: Sha256
    record: Sha256
    images: dict[str, Sha256]


class Recipe(MadeWith):
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
        scenes = {name: needed.whole for name, needed in self.scenes.items()}
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
    with _whole(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _records(store):
            name = path.relative_to(store.root).as_posix()
            content = path.read_bytes()
            files[name] = hash_bytes(content)
            archive.writestr(_entry(RECORDS + name), content)
        for case in cases:
            folder = load_scene(store.scene_dir(case.scene_id))
            if case.scene_id not in scenes:
                scenes[case.scene_id] = needed(folder)
            packed = _Packed(store, case, folder)
            archive.writestr(
                _entry(SEALED + case.case_id), seal(packed.content(), case, folder), zipfile.ZIP_STORED
            )
            root = store.case_dir(case.case_id).relative_to(store.root).as_posix()
            files |= {f"{root}/{name}": told for name, told in case.files.items()}
            pixels |= {f"{root}/{name}": told for name, told in packed.pixels.items()}
            progress.step()
        recipe = Recipe(
            format=FORMAT,
            **MadeWith.here().model_dump(),
            scenes=scenes,
            cases={case.case_id: case.scene_id for case in cases},
            files=files,
            pixels=pixels,
        )
        archive.writestr(_entry(INDEX), canonical_json(recipe))
    return recipe


@contextlib.contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """A place to write to that becomes ``out`` at the end, or nothing.

    Raises:
        InputError: it cannot be written.
    """
    part = out.with_name(f".{out.name}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot write ({error}); nothing was kept") from error
    finally:
        part.unlink(missing_ok=True)


def read_recipe(archive: zipfile.ZipFile, path: Path) -> Recipe:
    """
    Raises:
        InputError: no recipe, or one of another format.
    """
    if INDEX not in archive.namelist():
        raise InputError(
            f"{path}: expected a recipe of 'cfgen export recipe', found an archive without {INDEX}"
        )
    content = read_entry(archive, INDEX, path)
    try:
        recipe = Recipe.model_validate_json(content)
    except ValidationError as error:
        raise InputError(
            f"{path}: {INDEX}: {explain(error)}; it is damaged, or no recipe of 'cfgen export recipe': fetch it again"
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


def read_entry(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """
    Raises:
        InputError: it is missing or damaged.
    """
    try:
        return archive.read(name)
    except KeyError:
        raise InputError(f"{path}: expected an entry '{name}', found none; fetch the recipe again") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path}: entry '{name}' is damaged; fetch the recipe again") from error


def needed(folder: SceneFolder) -> NeededScene:
    images = {f.image: hash_bytes((folder.root / f.image).read_bytes()) for f in folder.scene.frames}
    record = hash_json(folder.scene.model_dump(mode="json"))
    return NeededScene(whole=scene_hash(folder), record=record, images=images)


def frames_of(case: Case, folder: SceneFolder) -> dict[str, Frame]:
    """File of a case -> the frame of its scene that it shows changed, or whole."""
    found = {
        frame_path(arm, frame.camera, frame.t): frame for arm in case.arms for frame in folder.scene.frames
    }
    return {**found, ORIGINAL: folder.front_frame(), AUGMENTED: folder.front_frame()}


def seal(content: bytes, case: Case, folder: SceneFolder) -> bytes:
    """``content`` under a key that the scene's front frame gives; :func:`unseal` opens it."""
    nonce = hashlib.sha256(content).digest()[:_NONCE]
    return nonce + _under_key(content, nonce, case, folder)


def unseal(told: bytes, case: Case, folder: SceneFolder) -> bytes:
    return _under_key(told[_NONCE:], told[:_NONCE], case, folder)


def _under_key(content: bytes, nonce: bytes, case: Case, folder: SceneFolder) -> bytes:
    own = (folder.root / folder.front_frame().image).read_bytes()
    key = hashlib.sha256(b"cfgen recipe\0" + nonce + case.case_id.encode() + b"\0" + own).digest()
    stream = np.frombuffer(hashlib.shake_256(key).digest(len(content)), np.uint8)
    return (np.frombuffer(content, np.uint8) ^ stream).tobytes()


def packed(source: np.ndarray, changed: np.ndarray) -> bytes:
    """The :func:`difference` of two pictures (H, W, 3) uint8."""
    x, y, apart = difference(source, changed)
    return _BOX.pack(x, y, *apart.shape[1::-1]) + apart.tobytes()


def applied(source: np.ndarray, told: bytes) -> np.ndarray:
    """The picture that :func:`packed` told of."""
    x, y, w, h = _BOX.unpack_from(told)
    return added(source, np.frombuffer(told, np.uint8, offset=_BOX.size).reshape(h, w, 3), x, y, Path(SEALED))


def _records(store: Store) -> Iterator[Path]:
    """Files without a pixel of a source: records, and what perception made of frames."""
    yield store.root / MARKER
    yield from store.root.glob(PLAN_FILE)
    yield from store.root.glob("build.json")
    yield from sorted(store.root.glob("cases/*/*/case.json"))
    yield from sorted(store.root.glob("rejected/*/rejection.json"))
    yield from sorted((store.root / VIEWS).glob("*/*.png"))


def _entry(name: str) -> zipfile.ZipInfo:
    """Of no date, so that equal benchmarks give equal recipes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


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
                whole = self._read(name)
                if name not in frames:
                    archive.writestr(_entry(name), whole)
                    continue
                picture = decode_image(whole, self.root / name)
                if whole not in (encode(picture) for encode in ENCODERS):
                    raise StoreError(
                        f"{self.root / name}: was encoded otherwise than {MadeWith.here().words} "
                        "do, so nobody could make it again; export with the version that wrote it"
                    )
                self.pixels[name] = hash_image(picture)
                if name != ORIGINAL:
                    archive.writestr(_entry(name), self._difference(name, frames[name], picture))
        return data.getvalue()

    def _difference(self, name: str, frame: Frame, picture: np.ndarray) -> bytes:
        source = self.folder.image(frame)
        if name == AUGMENTED:
            mask = decode_image(self._read(MASK), self.root / MASK, "L")
            if ((picture != source).any(2) & (mask == 0)).any():
                raise StoreError(
                    f"{self.root / name}: differs from its source outside of its mask; run: cfgen verify {self.root}"
                )
        return packed(source, picture)

    def _read(self, name: str) -> bytes:
        path = self.root / name
        if not path.is_file() or hash_bytes(data := path.read_bytes()) != self.case.files[name]:
            raise StoreError(f"{path}: is missing or was changed; restore it, or build the case again")
        return data
