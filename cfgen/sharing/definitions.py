"""Named, frozen benchmarks: how each is built, of which scenes, and what has to come of it, pixel by pixel."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2

from cfgen.build import BuildOptions, build
from cfgen.cases.frames import LAYER, MASK, frame_file
from cfgen.core.errors import InputError, Shortfall, StoreError, did_you_mean
from cfgen.core.files import read_image, read_record, write_record
from cfgen.core.hashing import hash_image, hash_json
from cfgen.core.paths import scenarios_dir
from cfgen.records import BuildReport, Case, Sha256, Stored
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.store import Store

#: what of a benchmark's record tells how to build it again
OPTIONS = (
    "n",
    "seed",
    "hazards",
    "inpainter",
    "inpainter_options",
    "guide",
    "masks",
    "masks_options",
    "detector",
    "detector_options",
    "perception",
    "decel_band",
    "controls",
    "distances",
)
#: what else decides, and follows from the version of cfgen
_DECIDE = ("taxonomy_hash", "perception_identity", "gates")
#: so many are named in one message
_NAMED = 5


class Definition(Stored):
    """``cases``: case -> hash over scene, hazard, placement and the pixels of its arms, however files encode them."""

    name: str
    cfgen_version: str
    opencv: str
    options: dict[str, Any]
    #: what else decided: taxonomy, who saw the road
    decided_by: dict[str, Any]
    scenes: dict[str, Sha256]
    cases: dict[str, Sha256]
    #: what was found wrong with it since: it stays as it is, and a later version mends it
    errata: tuple[str, ...] = ()


def freeze(store: Store, name: str, out: Path) -> Definition:
    """Write the definition of a finished benchmark.

    Raises:
        InputError: ``out`` is there, or the benchmark holds own hazards.
        StoreError: the benchmark is not finished.
    """
    if out.exists():
        raise InputError(f"{out}: is there already; a definition is never changed: give it another name")
    record = store.benchmark
    if record.own_hazards:
        raise InputError(
            f"{store.root}: holds own hazards, which a definition cannot name; share it by: cfgen export recipe"
        )
    cases = store.cases()
    if len(cases) < record.n:
        raise StoreError(
            f"{store.root}: expected {record.n} cases, found {len(cases)}; finish its build first"
        )
    content = record.model_dump(mode="json")
    made = Definition(
        name=name,
        cfgen_version=record.cfgen_version,
        opencv=cv2.__version__,
        options={key: content[key] for key in OPTIONS},
        decided_by={key: content[key] for key in _DECIDE},
        scenes=record.scenes,
        cases={case.case_id: case_hash(store, case) for case in cases},
    )
    write_record(out, made)
    return made


def definition(name: str) -> Definition:
    """One that ships, by its name, or a file.

    Raises:
        InputError: no such definition.
        StoreError: a file that is damaged or was changed.
    """
    folder = scenarios_dir() / "definitions"
    path = Path(name) if name.endswith(".json") else folder / f"{name}.json"
    if not path.is_file():
        known = sorted(p.stem for p in folder.glob("*.json"))
        raise InputError(
            f"definition: expected {', '.join(known) or 'a file'} or a .json file of 'cfgen export definition', found "
            f"'{name}'{did_you_mean(name, known)}"
        )
    return read_record(path, Definition, check=True)


def build_definition(made: Definition, options: BuildOptions) -> BuildReport:
    """Build it in ``options.out``, or go on, and hold every case against it.

    Args:
        options: of these only where to, from which folder of scenes and by how many processes.

    Raises:
        InputError: scenes are missing, were changed or do not belong to it: each is named.
        Shortfall: what came of it is not what the definition tells.
    """
    source = options.scenes or scenarios_dir() / "scenes"
    _check_scenes(made, source)
    frozen: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in made.options.items()
    }
    report = build(replace(options, **frozen))
    check(made, Store(options.out))
    return report


def check(made: Definition, store: Store) -> None:
    """
    Raises:
        Shortfall: names cases that differ, are missing, or are not of it.
    """
    found = {case.case_id: case_hash(store, case) for case in store.cases()}
    differ = sorted(
        {*made.cases, *found} - {name for name, told in found.items() if made.cases.get(name) == told}
    )
    if not differ:
        return
    record = store.benchmark.model_dump(mode="json")
    others = [key for key in _DECIDE if record[key] != made.decided_by[key]]
    versions = (made.cfgen_version, made.opencv) != (record["cfgen_version"], cv2.__version__)
    remedy = (
        f"it was frozen with cfgen {made.cfgen_version} and OpenCV {made.opencv}, this was built with cfgen "
        f"{record['cfgen_version']} and OpenCV {cv2.__version__}; build it with those"
        if versions
        else f"it was frozen with another state of cfgen {made.cfgen_version}; build it at the commit that froze "
        "it, give this benchmark a name of its own (cfgen export definition)"
    )
    raise Shortfall(
        f"{store.root}: {len(differ)} cases are not those of '{made.name}', such as {', '.join(differ[:_NAMED])}"
        f"{'; other ' + ', '.join(others) if others else ''}: {remedy}, or rebuild it from its recipe (cfgen rebuild); "
        f"do not report figures of this folder as those of '{made.name}'"
    )


def case_hash(store: Store, case: Case) -> Sha256:
    """Over what a planner and a judge are shown of a case and what is true of it; files may be encoded anyhow."""
    shown = [name for name in case.pictures if name.endswith(".png") and name not in (MASK, LAYER)]
    pixels = {name: frame_file(store, case, name).read() for name in shown}
    if MASK in case.files:
        pixels[MASK] = read_image(store.case_dir(case.case_id) / MASK, "L")
    told: Mapping[str, Any] = {
        "scene": case.provenance.scene_hash,
        "hazard": case.provenance.hazard_hash,
        "placement": case.placement.model_dump(mode="json"),
        "arms": list(case.arms),
        "pixels": {name: hash_image(one) for name, one in pixels.items()},
    }
    return hash_json(told)


def _check_scenes(made: Definition, source: Path) -> None:
    found = {}
    for path in find_scenes(source):
        folder = load_scene(path)
        found[folder.scene.scene_id] = scene_hash(folder)
    wrong = [
        *(f"'{name}' is missing" for name in made.scenes if name not in found),
        *(f"'{name}' was changed" for name, told in made.scenes.items() if found.get(name, told) != told),
        *(f"'{name}' is none of it" for name in found if name not in made.scenes),
    ]
    if wrong:
        raise InputError(
            f"{source}: expected the {len(made.scenes)} scenes of '{made.name}': scene {'; scene '.join(wrong)}; give "
            "--scenes a folder with these and no other"
        )
