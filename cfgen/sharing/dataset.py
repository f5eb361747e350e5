"""``cfgen share hf``: a benchmark as an image folder that ``datasets.load_dataset`` reads, with its card."""

import shutil
import struct
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from cfgen.benchmark.frames import frame_path, picture_bytes
from cfgen.core.errors import InputError, StoreError, warn
from cfgen.core.files import must_be_new, png_bytes, read_record
from cfgen.core.hashing import canonical_json, hash_bytes
from cfgen.core.progress import Progress
from cfgen.records import BuildReport, Case, Frame
from cfgen.scenes.anonymize import TOLD as ANONYMIZED
from cfgen.scenes.folder import SceneFolder, load_scene
from cfgen.scenes.licences import check_redistribution, notices, sources, untold_holders
from cfgen.sharing.card import About, Publication, card
from cfgen.sharing.recipe import accepted
from cfgen.storage.store import Store

SPLIT = "test"


def export_dataset(
    store: Store, out: Path, publication: Publication, allowed: Collection[str] = (), quiet: bool = False
) -> int:
    """Write ``out`` whole or not at all; returns the number of cases.

    Raises:
        InputError: ``out`` is there, or a source's licence does not permit it and is not in ``allowed``.
        StoreError: the benchmark holds no case, or a file of it is missing or changed.
    """
    must_be_new(out)
    cases = accepted(store)
    scene_sources = sources(store, (case.scene_id for case in cases))
    check_redistribution(store.root, scene_sources, allowed)
    notice = notices(scene_sources, publication.notices)
    _warn(publication, scene_sources)
    benchmark = store.benchmark
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        (part / SPLIT / "images").mkdir(parents=True)
        kind = source_type(benchmark.inpainter, benchmark.guide)
        rows = []
        progress = Progress("cases", len(cases), quiet)
        for case in cases:
            rows.append(_Pictures(store, case, part / SPLIT, kind).row())
            progress.step()
        lines = b"".join(canonical_json(row) + b"\n" for row in _even(rows))
        (part / SPLIT / "metadata.jsonl").write_bytes(lines)
        report = store.root / "build.json"
        built = read_record(report, BuildReport) if report.is_file() else None
        about = About(publication, benchmark, built, scene_sources, kind, rows, _anonymized(cases))
        (part / "README.md").write_text(card(about), encoding="utf-8")
        (part / "NOTICE.md").write_text(notice, encoding="utf-8")
        part.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot write ({error}); nothing was kept") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return len(cases)


def _warn(publication: Publication, scene_sources: Collection[tuple[str, str]]) -> None:
    """Of what only the publisher knows and did not tell."""
    if not publication.creator:
        warn("--creator: not given, so that the card names nobody as the maker; tell who publishes it")
    if not publication.notices and (asking := untold_holders(scene_sources)):
        warn(
            f"licence of {', '.join(asking)}: asks for the source's copyright line, which scenes do not tell; hand on "
            "its licence file with --notices FILE, or complete NOTICE.md"
        )


def _anonymized(cases: Sequence[Case]) -> Counter[str]:
    """Who blurred faces and plates, with which weights -> scenes."""
    by_scene = {case.scene_id: case.provenance.report.get(ANONYMIZED) for case in cases}
    counts = ("frames", "faces", "plates")
    return Counter(
        ", ".join(str(value) for key, value in record.items() if key not in counts)
        for record in by_scene.values()
        if record
    )


def _even(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every row with the columns of all, null where it has none."""
    columns = sorted({name for row in rows for name in row})
    for row in rows:
        yield {name: row.get(name) for name in columns}


class _Pictures:
    """One case's pictures in the export, and its row."""

    def __init__(self, store: Store, case: Case, folder: Path, kind: str) -> None:
        self.store, self.case, self.folder, self.kind = store, case, folder, kind
        self.scene: SceneFolder = load_scene(store.scene_dir(case.scene_id))

    def row(self) -> dict[str, Any]:
        case, scene = self.case, self.scene.scene
        hazard = case.hazard
        past = [
            f
            for f in self.scene.frames_at(scene.front.name, sorted(f.t for f in scene.frames))
            if f and f.t < 0
        ]
        past = list({f.t: f for f in past}.values())
        row: dict[str, Any] = {
            "case_id": case.case_id,
            "scene_id": case.scene_id,
            "original_file_name": self._own("original.png", "original", tag=False),
            "augmented_file_name": self._own("augmented.png", "hazard"),
            "mask_file_name": self._own("mask.png", "mask", tag=False),
            "hazard": hazard.id,
            "hazard_name": hazard.name,
            "cluster": hazard.cluster,
            "why": hazard.why,
            "zone": case.placement.zone,
            "distance_m": case.placement.distance_m,
            "required_decel": case.placement.required_decel,
            "placement": case.placement.model_dump(mode="json"),
            "camera": scene.front.model_dump(mode="json"),
            "speed": scene.speed,
            "motion_known": scene.motion_known,
            "source": scene.source,
            "license": scene.license,
            "provenance": self._provenance(),
            "case": canonical_json(case).decode(),
        }
        for arm in case.arms:
            name = frame_path(arm, scene.front.name, 0.0)
            if arm != "hazard" and name in case.pictures:
                row[f"{arm.replace('.', '_')}_file_name"] = self._own(name, arm)
        if past:
            row["history_t"] = [f.t for f in past]
            row["original_history_file_names"] = [self._source(f) for f in past]
            row["augmented_history_file_names"] = [self._changed(f, "hazard") for f in past]
        return row

    def _provenance(self) -> dict[str, Any]:
        p = self.case.provenance
        return {
            "inpainter": p.inpainter,
            "inpainter_version": p.inpainter_version,
            "cfgen_version": p.cfgen_version,
            "scene_hash": p.scene_hash,
            "hazard_hash": p.hazard_hash,
            "seed": self.case.seed,
            "attempts": len(self.case.attempts),
            "road_from": self.case.road_from,
            "digital_source_type": self.kind,
        }

    def _own(self, file: str, label: str, tag: bool = True) -> str:
        """A file of the case, in the export; what cfgen changed says so."""
        patch = self.case.patches.get(file)
        stored = patch.file if patch else file
        path = self.store.case_dir(self.case.case_id) / stored
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"{path}: is missing; run: cfgen bench verify {self.store.root}") from None
        if hash_bytes(data) != self.case.files.get(stored):
            raise StoreError(f"{path}: was changed; run: cfgen bench verify {self.store.root}")
        data = picture_bytes(self.store, self.case, file) if patch else data
        return self._put(f"{self.case.case_id}.{label}.png", tagged(data, self.kind) if tag else data)

    def _changed(self, frame: Frame, arm: str) -> str:
        name = frame_path(arm, frame.camera, frame.t)
        if name not in self.case.pictures:
            return self._source(frame)
        return self._own(name, f"{arm}.{_moment(frame)}")

    def _source(self, frame: Frame) -> str:
        """Encoded as what cfgen changed is: the type of a file tells no arm."""
        return self._put(
            f"{self.case.case_id}.original.{_moment(frame)}.png", png_bytes(self.scene.image(frame))
        )

    def _put(self, name: str, data: bytes) -> str:
        (self.folder / "images" / name).write_bytes(data)
        return f"images/{name}"


def _moment(frame: Frame) -> str:
    return f"{round(-frame.t * 1000)}ms_before"


# --- xmp ---------------------------------------------------------------------------------------
# How a picture came to be, in the picture: the IPTC digital source type as XMP in a PNG.
#
# Only exports carry it. A benchmark's own files and what planners are given stay bare, so that nothing of a file tells
# the arms apart.

VOCABULARY = "http://cv.iptc.org/newscodes/digitalsourcetype/"
#: inpainters that insert what was rendered, with no trained model
_RENDERED = ("composite",)
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"XML:com.adobe.xmp"
#: bytes of signature and IHDR, which comes first
_HEAD = 33
_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
   <Iptc4xmpExt:DigitalSourceType>{value}</Iptc4xmpExt:DigitalSourceType>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>"""


def source_type(inpainter: str, guide: str = "") -> str:
    """The vocabulary's term for what ``inpainter`` makes; one that is not ours counts as a trained model."""
    term = "compositeSynthetic" if rendered(inpainter, guide) else "compositeWithTrainedAlgorithmicMedia"
    return VOCABULARY + term


def rendered(inpainter: str, guide: str = "") -> bool:
    """Whether inserts are rendered from models, by no trained one."""
    return inpainter in _RENDERED and guide in ("", *_RENDERED)


def tagged(png: bytes, value: str) -> bytes:
    """``png`` with the digital source type ``value``, its pixels as they were."""
    if not png.startswith(_SIGNATURE):
        raise InputError("expected a PNG, found something else; only PNG pictures are tagged")
    # keyword, no compression, no language, no translated keyword
    chunk = b"iTXt" + _KEYWORD + b"\0\0\0\0\0" + _PACKET.format(value=value).encode()
    framed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:_HEAD] + framed + png[_HEAD:]
