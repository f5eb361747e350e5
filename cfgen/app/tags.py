"""Words that curators put on cases. Append-only as decisions are, and taken back the same way."""

from collections.abc import Iterable, Sequence

from cfgen.app.policy import decided
from cfgen.records import ReviewFile, Tagging


def standing(entries: Sequence[Tagging]) -> list[Tagging]:
    """What of one person's entries was not taken back, oldest first."""
    stack: list[Tagging] = []
    for entry in entries:
        if not entry.undoes:
            stack.append(entry)
        elif stack:
            stack.pop()
    return stack


def tags_of(files: Iterable[ReviewFile], name: str) -> list[str]:
    """The words on a case; before ``name`` has decided on it, their own alone. The last on or off of each holds."""
    files = list(files)
    seen = decided(files, name)
    entries = [e for f in files if seen or f.rater == name for e in standing(f.tags)]
    last = {e.tag: e.on for e in sorted(entries, key=lambda e: e.at)}
    return sorted(tag for tag, on in last.items() if on)


def latest(files: Iterable[ReviewFile]) -> list[tuple[str, Tagging]]:
    """The last word that stands in these files of one person, by case: all that it was put on at once."""
    last = [(f.case_id, stack[-1]) for f in files if (stack := standing(f.tags))]
    newest = max(last, key=lambda m: m[1].at, default=None)
    return [] if newest is None else [m for m in last if m[1].batch == newest[1].batch]
