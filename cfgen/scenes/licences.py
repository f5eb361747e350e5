"""What the sources of a benchmark permit, and what they ask of who hands their pictures on."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.paths import license_file
from cfgen.core.sanitize import markdown_line, one_line
from cfgen.models.files import licence_text
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store

#: what a licence is called here that a scene does not tell
UNKNOWN = "unknown"
#: of a source, and of a licence that anything is known of: characters
_LONGEST = 200
_FORBIDS = re.compile(
    r"\bNC\b|\bND\b|non[- ]?commercial|no[- ]?deriv|no[- ]redistribution|all rights reserved|proprietary|confidential"
    r"|\bonly\b",
    re.I,
)
_CC = "https://creativecommons.org"
_ATTRIBUTION = "It asks for the names of the authors, a link to the licence, and word of what was changed."


@dataclass(frozen=True)
class Licence:
    """
    Attributes:
        id: what data set cards call it. pattern: how it is told in a scene. url: a page with its words.
        asks: of who hands on what is under it. words: to be handed on with it; {holder} has to be told.
    """

    id: str
    pattern: str
    url: str
    asks: str = "It asks for nothing."
    words: str = ""

    @property
    def text(self) -> str:
        return license_file().read_text(encoding="utf-8") if self.id == "apache-2.0" else self.words


#: those under which changed pictures may be handed on, the narrower pattern before the wider
OPEN = (
    Licence("cc0-1.0", r"^(CC0|CC-0)\b|public domain", f"{_CC}/publicdomain/zero/1.0/"),
    Licence("cc-by-sa-4.0", r"^CC[ -]BY[ -]SA[ -]4", f"{_CC}/licenses/by-sa/4.0/", _ATTRIBUTION),
    Licence("cc-by-sa-3.0", r"^CC[ -]BY[ -]SA\b", f"{_CC}/licenses/by-sa/3.0/", _ATTRIBUTION),
    Licence("cc-by-3.0", r"^CC[ -]BY[ -]3", f"{_CC}/licenses/by/3.0/", _ATTRIBUTION),
    Licence("cc-by-4.0", r"^CC[ -]BY\b", f"{_CC}/licenses/by/4.0/", _ATTRIBUTION),
    Licence(
        "apache-2.0",
        r"^Apache\b",
        "https://spdx.org/licenses/Apache-2.0.html",
        "It asks for a copy of the licence, the source's own notices, and word of what was changed.",
    ),
    Licence(
        "mit",
        r"^MIT\b",
        "https://spdx.org/licenses/MIT.html",
        "It asks for the copyright line and the licence.",
        licence_text("MIT"),
    ),
    Licence(
        "bsd-2-clause",
        r"^BSD[ -]2",
        "https://spdx.org/licenses/BSD-2-Clause.html",
        "It asks for the copyright line and the licence.",
        licence_text("BSD-2-Clause"),
    ),
    Licence(
        "bsd-3-clause",
        r"^BSD\b",
        "https://spdx.org/licenses/BSD-3-Clause.html",
        "It asks for the copyright line and the licence.",
        licence_text("BSD-3-Clause"),
    ),
    Licence(
        "cdla-permissive-2.0",
        r"^CDLA[ -]Permissive",
        "https://cdla.dev/permissive-2-0/",
        "It asks that its text can be had with the data: keep the link.",
    ),
    Licence(
        "odbl",
        r"^ODbL\b",
        "https://opendatacommons.org/licenses/odbl/1-0/",
        f"{_ATTRIBUTION} What is made of the data keeps this licence.",
    ),
)


def open_licence(licence: str) -> Licence | None:
    """What is known of a licence that permits handing on changed pictures; None: it does not, or is not known to."""
    if len(licence) > _LONGEST or _FORBIDS.search(licence):
        return None
    return next((candidate for candidate in OPEN if re.search(candidate.pattern, licence, re.I)), None)


def card_id(licence: str) -> str:
    """The identifier of an open licence, ``other`` for every other one."""
    match = open_licence(licence)
    return match.id if match else "other"


def sources(store: Store, scenes: Iterable[str]) -> Counter[tuple[str, str]]:
    """(licence, source) -> how many of ``scenes``."""
    scene_records = [load_scene(store.scene_dir(scene_id)).scene for scene_id in sorted(set(scenes))]
    pairs = ((one_line(scene.license), one_line(scene.source, _LONGEST)) for scene in scene_records)
    return Counter((licence or UNKNOWN, source or UNKNOWN) for licence, source in pairs)


def check_redistribution(
    root: Path, scene_sources: Counter[tuple[str, str]], allowed: Collection[str], instead: str = ""
) -> None:
    """
    Args:
        instead: what else can be done; by default a recipe.

    Raises:
        InputError: names all licences that are not known to permit it, and not in ``allowed``.
    """
    refused = [
        (licence, f"'{licence}' ({n} scenes of '{source}')")
        for (licence, source), n in sorted(scene_sources.items())
        if open_licence(licence) is None and licence not in allowed
    ]
    if refused:
        leave = " ".join(f"--allow-licenses '{licence}'" for licence in dict(refused))
        raise InputError(
            f"{root}: expected licences that permit handing on changed pictures, found "
            f"{', '.join(words for _, words in refused)}, which forbid it or are not known to permit it; "
            f"{instead or f'share what is yours: cfgen share recipe {root}, or'} with leave of the owners add {leave}"
        )


def untold_holders(scene_sources: Iterable[tuple[str, str]]) -> list[str]:
    """Sources whose licence asks for a copyright line, which no scene tells."""
    return [
        source
        for licence, source in scene_sources
        if (match := open_licence(licence)) and "{holder}" in match.words
    ]


def notices(scene_sources: Counter[tuple[str, str]], own: Collection[Path]) -> str:
    """``NOTICE.md``: of each source its licence, what that asks for, and its words. ``own``: the sources' own notices.

    Raises:
        InputError: one of ``own`` is no text.
    """
    parts = [
        "# Notices\n\nThe pictures were made by cfgen from the sources below. Changed: a hazard or another object was "
        "drawn into frames, and frames were encoded anew. What cfgen added is under Apache-2.0."
    ]
    texts: dict[str, str] = {}
    for (licence, source), n in sorted(scene_sources.items()):
        match, source = open_licence(licence), markdown_line(source)
        if match is None:
            parts.append(
                f"## {source}\n\n{n} scenes, licence: {markdown_line(licence)}. Handed on with leave of the owner, as "
                "who published this says."
            )
            continue
        parts.append(
            f"## {source}\n\n{n} scenes, licence: {markdown_line(licence)} ({match.url}). {match.asks}"
        )
        if match.text:
            texts[match.id] = (
                match.text.format(holder="its authors (see the source)") if match.words else match.text
            )
    parts += [f"## Words of {name}\n\n```text\n{text.strip()}\n```" for name, text in texts.items()]
    parts += [f"## {path.name}, of a source\n\n```text\n{_text(path).strip()}\n```" for path in own]
    return "\n\n".join(parts) + "\n"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected a source's notice as UTF-8 text, found {error}") from error
