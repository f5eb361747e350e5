"""``cfgen list``, ``models`` and ``doctor``: what can be chosen by name, what it needs, and what of it is here."""

import importlib
import math
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from cfgen.cli.parsing import add, group
from cfgen.core.errors import InputError, Shortfall, did_you_mean
from cfgen.core.network import Network, limited
from cfgen.core.options import AllowHosts, Offline, Place, Quiet, split

if TYPE_CHECKING:
    import numpy as np

    from cfgen.core.machine import Package
    from cfgen.core.registry import Entry, Registry
    from cfgen.hazards.taxonomy import Taxonomy
    from cfgen.records import Hazard

#: kind -> (what its names are for, where the registry is)
REGISTRIES = {
    "anonymizers": (
        "find faces and plates to blur: cfgen scenes import --anonymize NAME",
        "cfgen.scenes.anonymize:ANONYMIZERS",
    ),
    "detectors": (
        "find what was added: cfgen build --detector NAME",
        "cfgen.perception.detection:DETECTORS",
    ),
    "engines": (
        "do the work side by side: cfgen build, score --engine NAME",
        "cfgen.core.engines.registry:ENGINES",
    ),
    "gates": ("say whether an edit becomes a case, in this order", "cfgen.benchmark.gates:GATES"),
    "inpainters": ("draw hazards: cfgen build --inpainter NAME", "cfgen.inpaint.registry:INPAINTERS"),
    "judges": ("judge answers: cfgen score --judge NAME", "cfgen.judge.registry:JUDGES"),
    "metrics": ("measure pairs of plans for the report", "cfgen.metrics.registry:METRICS"),
    "perceivers": (
        "see the road in frames: cfgen build --perception NAME",
        "cfgen.perception.registry:PERCEIVERS",
    ),
    "planners": ("answer: cfgen score --planner NAME", "cfgen.planners.registry:PLANNERS"),
    "providers": (
        "serve chat models, which can judge, plan and verify: --judge NAME, --planner NAME",
        "cfgen.models.registry:MODELS",
    ),
    "readers": ("read recorded drives: cfgen scenes import NAME", "cfgen.scenes.readers.registry:READERS"),
    "rubrics": (
        "say what a judge is asked: cfgen score --rubric NAME",
        "cfgen.judge.rubrics.registry:RUBRICS",
    ),
    "sections": ("are the parts of a report, in this order", "cfgen.reporting.registry:SECTIONS"),
    "segmenters": (
        "cut things out of frames: cfgen build --masks NAME",
        "cfgen.perception.detection:SEGMENTERS",
    ),
}
#: what can be given in place of a planner's name
_PLANNER_FORMS = {
    "package.module:Class": "a Python class",
    "cmd:PROGRAM ARGUMENTS": "a program that speaks JSON lines",
    "http://HOST:PORT": "a server",
    "outputs.jsonl": "answers made elsewhere",
}
_MB = 1_000_000


def register(app: App) -> None:
    listing = group("list", "What can be chosen by name, what it needs, and whether that is here.")
    for kind, (about, place) in REGISTRIES.items():
        add(listing, _lister(kind, place), name=kind, about=f"Those that {about}.")
    add(listing, _hazards, name="hazards")
    app.command(listing)
    models = group("models", "List and get model files.")
    add(models, _list_models, name="list")
    add(models, _get, name="get")
    app.command(models)
    add(app, _doctor, name="doctor")


# --- list ------------------------------------------------------------------------------------------------


def _lister(kind: str, place: str):  # type: ignore[no-untyped-def]
    def show(name: Annotated[str, "Say all about this one."] = "") -> int:
        module, _, attribute = place.partition(":")
        registry: Registry = getattr(importlib.import_module(module), attribute)
        if name:
            _show_entry(registry, name)
        else:
            show_registry(registry, _PLANNER_FORMS if kind == "planners" else {})
        return 0

    return show


def show_registry(registry: "Registry", forms: dict[str, str]) -> None:
    """One line for each name; ``forms``: what can be given instead of a name, and what that is."""
    rows = [(e.name, e.source, needs(e), e.problem or e.summary) for e in registry.entries()]
    rows += [(form, "", "", what) for form, what in forms.items()]
    _show_rows([("name", "from", "needs", "what it is"), *rows])
    print(f"Third parties add theirs under the entry-point group '{registry.group}'.")


def _show_entry(registry: "Registry", name: str) -> None:
    from cfgen.core.registry import NO_WORDS, own_doc

    entry = next((entry for entry in registry.entries() if entry.name == name), None)
    if entry is None:
        near = did_you_mean(name, registry.names())
        raise InputError(
            f"{registry.kind} '{name}': expected one of {', '.join(registry.names())}, found none of that name{near}"
        )
    words = entry.problem or own_doc(registry.get(name)) or NO_WORDS
    print(f"{entry.name}  (from: {entry.source}; needs: {needs(entry)})\n{textwrap.indent(words, '    ')}")


def needs(entry: "Entry") -> str:
    """What it needs beyond the base install, and whether that is here."""
    if entry.problem:
        return "broken"
    if entry.extra is None:
        return "-"
    return f"{entry.extra.label} ({'missing' if entry.extra.missing else 'here'})"


def _show_rows(rows: Sequence[Sequence[str]]) -> None:
    """In columns, the last one ragged."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[-1]]).rstrip())


# --- list hazards ----------------------------------------------------------------------------------------


def _hazards(
    name: Annotated[str, "Say all about this one."] = "",
    *,
    cluster: Annotated[str, "Only this cluster."] = "",
    taxonomy: Annotated[Place | None, "YAML file, or folder of them, with hazards of your own."] = None,
    taxonomy_only: Annotated[bool, "The hazards of --taxonomy in place of those that ship."] = False,
    png: Annotated[
        Place | None, "Also write the thumbnail, or a sheet of all thumbnails, to this file."
    ] = None,
) -> int:
    """Hazards that can be added to a scene: size, zones, who can draw them."""
    from cfgen.hazards.taxonomy import load_taxonomy

    entries = load_taxonomy(None if taxonomy is None else Path(taxonomy), taxonomy_only)
    target = None if png is None else Path(png)
    if name:
        _show_hazard(entries.get(name), target)
    else:
        _show_hazards(entries, cluster, target)
    return 0


def _show_hazards(taxonomy: "Taxonomy", cluster: str, png: Path | None) -> None:
    clusters = sorted({entry.cluster for entry in taxonomy})
    if cluster and cluster not in clusters:
        raise InputError(
            f"cluster '{cluster}' is not in the taxonomy; expected one of: {', '.join(clusters)}"
        )
    print(_hazard_row("hazard", "length x width x height", "zones", "moves", "sprites"))
    entries = [entry for entry in taxonomy if cluster in ("", entry.cluster)]
    for title in sorted({entry.cluster for entry in entries}):
        print(f"\n{title}")
        for entry in (entry for entry in entries if entry.cluster == title):
            label = f"  {entry.id}{'' if entry.by_default else ' *'}"
            zones, sprites = ", ".join(entry.zones), str(_variants(entry))
            print(_hazard_row(label, _size(entry), zones, _motion(entry), sprites))
    print(
        f"\n{len(taxonomy.hazards)} hazards and the null edit. Those "
        "without sprites need a generative inpainter; those marked * are drawn only where --hazards names them."
        "\n'cfgen list hazards NAME' says more."
    )
    if png:
        from cfgen.hazards.thumbnail import sheet

        _write(png, sheet([(entry.id, _thumbnail(entry)) for entry in entries if _variants(entry)]))


def _show_hazard(entry: "Hazard", png: Path | None) -> None:
    rows = {
        "name": entry.name,
        "kind": entry.kind,
        "cluster": entry.cluster,
        "why": entry.why,
        "size": f"{_size(entry)} m (length x width x height)",
        "zones": ", ".join(entry.zones),
        "heading": entry.heading,
        "moves": _motion(entry) or "no",
        "distance": _distance(entry),
        "responses": ", ".join(entry.responses),
        "drawn": "" if entry.by_default else "only where --hazards names it",
        "seen as": ", ".join(entry.seen_as) + (" (else refused)" if entry.refuse_unseen else "")
        or "not judged",
        "prompt": entry.prompt,
        "not": entry.negative_prompt,
        "model": f"{entry.model or 'none'} ({_variants(entry)} sprites)",
    }
    print(entry.id)
    for label, text in rows.items():
        if text or label != "drawn":
            print(f"  {label:<10}{text}")
    if png and not _variants(entry):
        raise InputError(
            f"hazard '{entry.id}' has no sprites, so there is no thumbnail to write; leave out --png"
        )
    if png:
        _write(png, _thumbnail(entry))


def _hazard_row(name: str, size: str, zones: str, moves: str, sprites: str) -> str:
    return f"{name:<27}{size:<25}{zones:<22}{moves:<25}{sprites}"


def _size(entry: "Hazard") -> str:
    size = entry.size
    return f"{size.length:g} x {size.width:g} x {size.height:g}"


def _motion(entry: "Hazard") -> str:
    low, high = entry.motion.speed
    return "" if entry.motion.kind == "static" else f"{entry.motion.kind} {low:g}-{high:g} m/s"


def _distance(entry: "Hazard") -> str:
    policy = entry.distance
    decel = (
        f"{policy.decel[0]:g}-{policy.decel[1]:g} m/s^2" if policy.decel else "the build's deceleration band"
    )
    return f"{policy.min_m:g} to {policy.max_m:g} m, {decel}"


def _variants(entry: "Hazard") -> int:
    from cfgen.inpaint.composite.sprites import list_variants

    return len(list_variants(entry.model)) if entry.model else 0


def _thumbnail(entry: "Hazard") -> "np.ndarray":
    from cfgen.hazards.thumbnail import thumbnail
    from cfgen.inpaint.composite.sprites import list_variants, load

    sprite = load(str(entry.model), list_variants(str(entry.model))[0])
    azimuth = {"along": math.pi - 0.6, "across": 1.3}.get(entry.heading, 0.6)
    rgba = sprite.decal().values if sprite.is_decal else sprite.view(azimuth, 0.1).rgba
    return thumbnail(rgba)


def _write(path: Path, picture: "np.ndarray") -> None:
    from cfgen.core.files import png_bytes, write_bytes

    write_bytes(path, png_bytes(picture))
    print(f"wrote {path}")


# --- models ----------------------------------------------------------------------------------------------


def _list_models() -> int:
    """Model files: what for, licence, size, and whether it is here."""
    from cfgen.models.files import FILES, HUB, VARIABLE, models_folder

    rows = [("name", "MB", "licence", "here", "used by")]
    for file in FILES.values():
        size = f"{file.size / _MB:.1f}"
        rows.append((file.name, size, file.licence, "yes" if file.here else "no", file.use))
    _show_rows(rows)
    print(
        f"Get one with: cfgen models get NAME. They are kept in {models_folder()} (${VARIABLE} names another)."
    )
    print("\nBy their names on a hub, fetched at first use by transformers into its own cache; or a folder:")
    for model in HUB:
        print(f"  {model.names}: {model.use} ({model.licence})")
    return 0


def _get(
    name: Annotated[str, "See cfgen models list."],
    *,
    yes: Annotated[bool, "Agree to the licence; do not ask."] = False,
    source: Annotated[
        str, "File or URL to take it from instead of its upstream address; the same hash counts."
    ] = "",
    offline: Offline = False,
    allow_hosts: AllowHosts = (),
    quiet: Quiet = False,
) -> int:
    """Download a model file after showing its licence; size and hash are checked."""
    from cfgen.models.files import bring, check_source, model_file

    file = model_file(name)
    if source:
        check_source(file, source)
    if file.here and not file.wrong_with(file.place):
        print(f"{file.place}: here already, {file.place.stat().st_size} bytes, sha256 as expected")
        return 0
    print(f"{file.name}: {file.about}\n{file.origin}, licence {file.licence}:\n\n{file.terms}\n")
    if not yes and not _agreed(file.size, source or file.url):
        raise Shortfall(f"model file '{file.name}' was not brought: the licence was not agreed to")
    with limited(Network(offline, split(allow_hosts))):
        place = bring(file, source, quiet)
    print(f"{place}: {place.stat().st_size} bytes, sha256 as expected. Used by: {file.use}")
    return 0


def _agreed(size: int, source: str) -> bool:
    """
    Raises:
        InputError: nobody is there to answer.
    """
    try:
        return input(f"Bring {size / _MB:.1f} MB from {source}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise InputError("expected an answer, found the end of the input; agree with --yes") from None


# --- doctor ----------------------------------------------------------------------------------------------


def _doctor() -> int:
    """What is installed here, and what is missing for what; tells no key's value."""
    from cfgen.core.machine import DISTRIBUTION, KEYS, PLACES, computer, gpus, packages
    from cfgen.models.files import FILES, ModelFile, models_folder

    def state(file: ModelFile) -> str:
        if file.here:
            return f"here, for {file.use}"
        wrong = "broken: another size" if file.place.is_file() else "no"
        if file.place.is_dir():
            wrong = "broken: a folder is in its place, remove it"
        return f"{wrong}, for {file.use} | cfgen models get {file.name}"

    _section("machine", list(computer().items()))
    cards = [("found", line) for line in gpus()]
    _section("GPU", cards or [("none", "generative inpainting and local models want one")])
    unknown = [("unknown", f"{DISTRIBUTION} is not installed here, only on the path")]
    _section("packages", [_extra(name, requirements) for name, requirements in packages().items()] or unknown)
    _section("keys", [(name, _set(name, use)) for name, use in KEYS.items()])
    _section("folders", [(name, _place(name, use)) for name, use in PLACES.items()])
    _section(f"model files in {models_folder()}", [(file.name, state(file)) for file in FILES.values()])
    return 0


def _set(name: str, use: str) -> str:
    """Whether a variable is set; never to what."""
    return f"{'set' if os.environ.get(name) else 'not set'}, for {use}"


def _place(name: str, use: str) -> str:
    """As :func:`_set`, and whether what it has to name is there."""
    value = os.environ.get(name)
    place = Path(value or "").expanduser()
    if not value:
        return _set(name, use)
    wrong = "" if place.is_dir() else "a file is there, no folder" if place.exists() else "nothing is there"
    return f"set, but {wrong}: set it to what is, for {use}" if wrong else _set(name, use)


def _extra(extra: str, packages: "Sequence[Package]") -> tuple[str, str]:
    from cfgen.core.errors import install_command
    from cfgen.core.machine import PURPOSES

    wrong = "; ".join(
        f"{p.name} {p.found}, expected {p.wanted}" if p.found else f"{p.name} missing"
        for p in packages
        if not p.fits
    )
    if not wrong:
        return extra or "base", f"here: {', '.join(f'{p.name} {p.found}' for p in packages)}"
    if not extra:
        return "base", f"broken: {wrong} | pip install . (in your copy of cfgen)"
    return extra, f"no: {wrong} | for {PURPOSES[extra]} | {install_command(extra)}"


def _section(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(title)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"  {name.ljust(width)}  {value}")
