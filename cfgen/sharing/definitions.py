"""Named, frozen benchmarks: how each is built, of which scenes, and what has to come of it, pixel by pixel."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import attrs

from cfgen.benchmark.folders import STORED_OPTIONS
from cfgen.benchmark.frames import LAYER, MASK, frame_file
from cfgen.benchmark.gates import extra_gates
from cfgen.build import build
from cfgen.core.errors import InputError, Shortfall, StoreError, did_you_mean
from cfgen.core.files import read_image, read_json, read_record, write_record
from cfgen.core.hashing import hash_image, hash_json
from cfgen.core.paths import scenarios_dir
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.options import BuildOptions, WorkOptions
from cfgen.perception.registry import create_perceiver
from cfgen.records import BuildReport, Case, Sha256, Stored
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.sharing.dataset import rendered
from cfgen.sharing.recipe import Versions, first_of
from cfgen.storage.store import Store

#: what of a benchmark's record tells how to build it again
OPTIONS = ("n", *(name for name in STORED_OPTIONS if name != "hazard_weights"))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}-v[0-9]{1,6}")
#: of a hazard, what a score depends on; its words for generative inpainters decide pixels, and these are held anyway
_TOLD = {"id", "kind", "name", "cluster", "why", "responses"}
#: words that a rendered insert is not made of
_WORDS = {"prompt", "negative_prompt", "repaint"}


class Definition(Stored, Versions):
    """``cases``: case -> hash over scene, hazard, placement and the pixels of its arms, however files encode them."""

    name: str
    options: dict[str, Any]
    #: what else decides, and follows from the version of cfgen: taxonomy, who sees the road, gates
    decided_by: dict[str, Any]
    scenes: dict[str, Sha256]
    cases: dict[str, Sha256]
    #: what was found wrong with it since: it stays as it is, and a later version mends it
    errata: tuple[str, ...] = ()


def freeze(store: Store, name: str, out: Path) -> Definition:
    """Write the definition of a finished benchmark.

    Raises:
        InputError: ``out`` is there, it holds own hazards or weights, or ``name`` does not end in its version.
        StoreError: the benchmark is not finished.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"--name: expected letters, digits, dots and dashes and a version, such as mine-v1, found '{name[:60]}'"
        )
    if name.casefold() in {known.name.casefold() for known in shipped()}:
        raise InputError(
            f"--name: '{name}' ships with cfgen, and two definitions of one name would be told as one; take another"
        )
    if out.exists():
        raise InputError(f"{out}: is there already; a definition is never changed: give it another name")
    record = store.benchmark
    if record.own_hazards or record.hazard_weights:
        raise InputError(
            f"{store.root}: holds own hazards or weights, which a definition cannot name; share by: cfgen share recipe"
        )
    cases = store.cases()
    if len(cases) < record.n:
        raise StoreError(
            f"{store.root}: expected {record.n} cases, found {len(cases)}; finish its build first"
        )
    content = record.model_dump(mode="json")
    options = {key: content[key] for key in OPTIONS}
    if record.taxonomy_hash != load_taxonomy().hash:
        raise StoreError(
            f"{store.root}: was built with another taxonomy than that of this cfgen; build it again before it is frozen"
        )
    frozen = Definition(
        name=name,
        **Versions.installed().model_dump(),
        options=options,
        decided_by=_decided(options),
        scenes=record.scenes
        | _unseen(store, [name for name, scene_sha in record.scenes.items() if not scene_sha]),
        cases={case.case_id: case_hash(store, case) for case in cases},
    )
    write_record(out, frozen)
    return frozen


def _unseen(store: Store, names: Sequence[str]) -> dict[str, str]:
    """Hashes of scenes without a case, which a build of many does not look at.

    Raises:
        StoreError: they are no longer where the benchmark was built from.
    """
    if not names:
        return {}
    source = store.scenes_source or scenarios_dir() / "scenes"
    hashes = _hashes(source) if source.is_dir() else {}
    if missing := [name for name in names if name not in hashes]:
        raise StoreError(
            f"{store.root}: a definition names all scenes that cases are drawn from; expected the {len(names)} that "
            f"gave none in {source}, found {len(missing)} missing ({first_of(missing)}); put them there again"
        )
    return {name: hashes[name] for name in names}


def _hashes(source: Path) -> dict[str, str]:
    """Of every scene in a folder."""
    folders = (load_scene(path) for path in find_scenes(source))
    return {folder.scene.scene_id: scene_hash(folder) for folder in folders}


def _decided(options: Mapping[str, Any]) -> dict[str, Any]:
    """What decides besides ``options``, as it is in this cfgen."""
    taxonomy = load_taxonomy()
    entries = [
        e for e in taxonomy if e.kind != "hazard" or not options["hazards"] or e.id in options["hazards"]
    ]
    words = _WORDS if rendered(options["inpainter"], options["guide"]) else None
    decisive = [entry.model_dump(mode="json", exclude=words) for entry in entries]
    perceiver = create_perceiver(options["perception"], {})
    return {
        "taxonomy": hash_json(decisive),
        "perception": dict(perceiver.identity),
        "gates": extra_gates(),
    }


def definition(name: str) -> Definition:
    """One that ships, by its name, or a file.

    Raises:
        InputError: no such definition.
        StoreError: a file that is damaged or was changed.
    """
    folder = scenarios_dir() / "definitions"
    path = Path(name) if name.endswith(".json") else folder / f"{name}.json"
    if not path.is_file():
        names = sorted(p.stem for p in folder.glob("*.json"))
        raise InputError(
            f"definition: expected {', '.join(names) or 'a file'} or a .json file of 'cfgen share definition', found "
            f"'{name}'{did_you_mean(name, names)}"
        )
    content = read_json(path)
    if missing := {"name", "options", "decided_by", "scenes", "cases"} - content.keys():
        raise InputError(
            f"{path}: expected a definition of 'cfgen share definition', found JSON without "
            f"{', '.join(sorted(missing))}"
        )
    return read_record(path, Definition, check=True)


def shipped() -> list[Definition]:
    """Every definition that ships."""
    paths = sorted((scenarios_dir() / "definitions").glob("*.json"))
    return [read_record(path, Definition, check=True) for path in paths]


#: options that a definition leaves open: where to, from which folder of scenes, who does the work and how
_OPEN = frozenset(
    {"definition", "out", "scenes", "jobs", "engine", "engine_options", "retry_faults"}
    | {field.name for field in attrs.fields(WorkOptions)}
)


def build_definition(options: BuildOptions) -> BuildReport:
    """Build ``options.definition`` in ``options.out``, or go on, and hold every case against it.

    Raises:
        InputError: an option that the definition freezes, scenes that are missing, were changed or do not belong to it,
            or this cfgen would make other cases.
        Shortfall: what came of it is not what the definition tells.
    """
    target = definition(options.definition)
    frozen: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in target.options.items()
    }
    defaults = BuildOptions()
    for name in {field.name for field in attrs.fields(BuildOptions)} - _OPEN:
        value, default = getattr(options, name), getattr(defaults, name)
        expected = frozen.get(name, default)
        if value != expected and (name in options.given or value != default):
            raise InputError(
                f"--{name.replace('_', '-')}: '{target.name}' is frozen with {expected!r}, found {value!r}; leave it "
                "out"
            )
    _check_scenes(target, options.scenes or scenarios_dir() / "scenes")
    _check_decided(target)
    report = build(attrs.evolve(options, definition="", **frozen))
    check(target, Store(options.out))
    return report


def _check_decided(frozen: Definition) -> None:
    """
    Raises:
        InputError: before anything is built, where this cfgen has another taxonomy, perceiver or gates.
    """
    installed = _decided(frozen.options)
    if differing := [key for key in installed if installed[key] != frozen.decided_by.get(key)]:
        raise InputError(
            f"definition '{frozen.name}': expected the {', '.join(differing)} that it was frozen with, found other "
            f"ones in this cfgen: {_remedy(frozen)}"
        )


def check(frozen: Definition, store: Store) -> None:
    """
    Raises:
        Shortfall: names cases that differ, are missing, or are not of it.
    """
    hashes = {case.case_id: case_hash(store, case) for case in store.cases()}
    names = sorted({*frozen.cases, *hashes})
    if differ := [name for name in names if hashes.get(name) != frozen.cases.get(name)]:
        raise Shortfall(
            f"{store.root}: {len(differ)} cases are not those of '{frozen.name}', such as {first_of(differ)}: "
            f"{_remedy(frozen)}; do not report figures of this folder as those of '{frozen.name}'"
        )


def _remedy(frozen: Definition) -> str:
    installed = Versions.installed()
    reason = (
        f"it was frozen with {frozen.words}, this is {installed.words}; build it with those"
        if not frozen.same_as(installed)
        else f"it was frozen with another state of {frozen.words}; build it at the commit that froze it, freeze a "
        "benchmark of your own under a name of its own (cfgen share definition)"
    )
    return f"{reason}, or rebuild it from its recipe (cfgen share rebuild)"


def case_hash(store: Store, case: Case) -> Sha256:
    """Over what a planner and a judge are shown of a case and what is true of it; files may be encoded anyhow."""
    frames = [name for name in case.pictures if name.endswith(".png") and name not in (MASK, LAYER)]
    # as they are: what was changed since is what is looked for
    pixels = {name: replace(frame_file(store, case, name), hash="").read() for name in frames}
    if MASK in case.files:
        pixels[MASK] = read_image(store.case_dir(case.case_id) / MASK, "L")
    content: Mapping[str, Any] = {
        "scene": case.provenance.scene_hash,
        "hazard": case.hazard.model_dump(mode="json", include=_TOLD),
        "placement": case.placement.model_dump(mode="json"),
        "arms": list(case.arms),
        "pixels": {name: hash_image(image) for name, image in pixels.items()},
    }
    return hash_json(content)


def _check_scenes(frozen: Definition, source: Path) -> None:
    hashes = _hashes(source)
    faults = {
        "missing": [name for name in frozen.scenes if name not in hashes],
        "changed": [
            name for name, expected in frozen.scenes.items() if hashes.get(name, expected) != expected
        ],
        "not of it": [name for name in hashes if name not in frozen.scenes],
    }
    if any(faults.values()):
        expected = "; ".join(
            f"{len(names)} {what} ({first_of(names)})" for what, names in faults.items() if names
        )
        raise InputError(
            f"{source}: expected the {len(frozen.scenes)} scenes of '{frozen.name}', found {expected}; give --scenes a "
            "folder with these and no other"
        )
