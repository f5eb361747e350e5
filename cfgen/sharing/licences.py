"""What the sources of a benchmark permit: whether their pictures may be handed on, whole or changed."""

import re
from collections import Counter
from collections.abc import Collection

from cfgen.core.errors import InputError
from cfgen.scenes.folder import load_scene
from cfgen.store import Store

#: what a licence is called here that a scene does not tell
UNKNOWN = "unknown"
_FORBIDS = re.compile(
    r"\bNC\b|\bND\b|non[- ]?commercial|no[- ]?deriv|no[- ]redistribution|all rights reserved", re.I
)
#: pattern -> the identifier that data set cards take
_OPEN = {
    r"^(CC0|CC-0)\b|public domain": "cc0-1.0",
    r"^CC[ -]BY[ -]SA[ -]4": "cc-by-sa-4.0",
    r"^CC[ -]BY[ -]SA\b": "cc-by-sa-3.0",
    r"^CC[ -]BY[ -]3": "cc-by-3.0",
    r"^CC[ -]BY\b": "cc-by-4.0",
    r"^Apache([ -]2|$|\b)": "apache-2.0",
    r"^MIT\b": "mit",
    r"^BSD\b": "bsd-3-clause",
    r"^CDLA[ -]Permissive": "cdla-permissive-2.0",
    r"^ODbL\b": "odbl",
}


def card_id(licence: str) -> str:
    """The identifier of an open licence, ``other`` for every other one."""
    if _FORBIDS.search(licence):
        return "other"
    return next((name for pattern, name in _OPEN.items() if re.search(pattern, licence, re.I)), "other")


def sources(store: Store) -> Counter[tuple[str, str]]:
    """(licence, source) -> scenes with accepted cases."""
    scenes = sorted({case.scene_id for case in store.cases()})
    found = [load_scene(store.scene_dir(scene_id)).scene for scene_id in scenes]
    return Counter((scene.license.strip() or UNKNOWN, scene.source or UNKNOWN) for scene in found)


def check_redistribution(store: Store, found: Counter[tuple[str, str]], allowed: Collection[str]) -> None:
    """
    Raises:
        InputError: a licence that is not known to permit it, and not named in ``allowed``.
    """
    refused = {(lic, source): n for (lic, source), n in found.items() if card_id(lic) == "other"}
    for (licence, source), n in sorted(refused.items()):
        if licence not in allowed:
            raise InputError(
                f"{store.root}: {n} scenes of '{source}': licence '{licence}' forbids handing on its pictures, or is "
                f"not known to permit it; share what is yours: cfgen export recipe {store.root}, or with leave of the "
                f"owner add --allow-license '{licence}'"
            )
