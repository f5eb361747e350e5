"""``cfgen hazards list`` and ``cfgen hazards show``."""

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.cli.options import add_taxonomy

if TYPE_CHECKING:
    import numpy as np

    from cfgen.records import Hazard

#: Rows of text that a thumbnail takes in a terminal.
_TEXT_ROWS = 14


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("hazards", help="what can be added to a scene")
    commands = parser.add_subparsers(dest="hazards_command", metavar="COMMAND", required=True)

    listing = commands.add_parser(
        "list", help="every hazard and harmless object: size, zones, who can draw it"
    )
    add_taxonomy(listing)
    listing.add_argument("--cluster", help="only this cluster")
    listing.add_argument("--sheet", type=Path, metavar="FILE.png", help="also write a sheet of thumbnails")
    listing.set_defaults(func=_list)

    show = commands.add_parser("show", help="one entry in full, with its thumbnail")
    show.add_argument("hazard")
    add_taxonomy(show)
    show.add_argument("--png", type=Path, metavar="FILE.png", help="write the thumbnail to a file")
    show.set_defaults(func=_show)


def _list(arguments: argparse.Namespace) -> int:
    from cfgen.core.errors import InputError
    from cfgen.hazards.taxonomy import load_taxonomy

    taxonomy = load_taxonomy(arguments.taxonomy, arguments.taxonomy_only)
    clusters = sorted({entry.cluster for entry in taxonomy})
    if arguments.cluster and arguments.cluster not in clusters:
        raise InputError(
            f"cluster '{arguments.cluster}' is not in the taxonomy; expected one of: {', '.join(clusters)}"
        )
    entries = [e for e in taxonomy if arguments.cluster in (None, e.cluster)]
    print(_row("hazard", "length x width x height", "zones", "moves", "sprites"))
    for cluster in sorted({e.cluster for e in entries}):
        print(f"\n{cluster}")
        for entry in (e for e in entries if e.cluster == cluster):
            row = (
                "  " + entry.id + ("" if entry.by_default else " *"),
                _size(entry),
                ", ".join(entry.zones),
                _moves(entry),
                str(_variants(entry)),
            )
            print(_row(*row))
    print(
        f"\n{len(taxonomy.hazards)} hazards, {len(taxonomy.nuisances)} harmless objects and the null edit. Those "
        "without sprites need a generative inpainter; those marked * are drawn only where --hazards names them."
        "\n'cfgen hazards show NAME' says more."
    )
    if arguments.sheet:
        from cfgen.hazards.thumbnail import sheet

        _write(arguments.sheet, sheet([(e.id, _thumbnail(e)) for e in entries if _variants(e)]))
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from cfgen.core.errors import InputError
    from cfgen.hazards.taxonomy import load_taxonomy

    entry = load_taxonomy(arguments.taxonomy, arguments.taxonomy_only).get(arguments.hazard)
    rows = {
        "name": entry.name,
        "kind": entry.kind,
        "cluster": entry.cluster,
        "why": entry.why,
        "size": f"{_size(entry)} m (length x width x height)",
        "zones": ", ".join(entry.zones),
        "heading": entry.heading,
        "moves": _moves(entry) or "no",
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
    if not _variants(entry):
        if arguments.png:
            raise InputError(
                f"hazard '{entry.id}' has no sprites, so there is no thumbnail to write; leave out --png"
            )
        return 0
    picture = _thumbnail(entry)
    if sys.stdout.isatty():
        from cfgen.hazards.thumbnail import as_text

        print(as_text(picture, _TEXT_ROWS))
    if arguments.png:
        _write(arguments.png, picture)
    return 0


def _row(name: str, size: str, zones: str, moves: str, sprites: str) -> str:
    return f"{name:<27}{size:<25}{zones:<22}{moves:<25}{sprites}"


def _size(entry: "Hazard") -> str:
    size = entry.size
    return f"{size.length:g} x {size.width:g} x {size.height:g}"


def _moves(entry: "Hazard") -> str:
    low, high = entry.motion.speed
    return "" if entry.motion.kind == "static" else f"{entry.motion.kind} {low:g}-{high:g} m/s"


def _distance(entry: "Hazard") -> str:
    policy = entry.distance
    band = (
        f", {policy.decel[0]:g}-{policy.decel[1]:g} m/s^2"
        if policy.decel
        else ", the build's deceleration band"
    )
    return f"{policy.min_m:g} to {policy.max_m:g} m{band}"


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
