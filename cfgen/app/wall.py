"""The queue in pages: what to look at, by what is asked of it, and decisions on many cases at once."""

import csv
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cfgen.app.case_index import CaseIndex, place_of
from cfgen.app.curate import decide
from cfgen.app.pictures import case_url
from cfgen.app.policy import SAID
from cfgen.app.reviews import Decision, Role, append_tag, person
from cfgen.app.tags import tags_of
from cfgen.core.errors import InputError
from cfgen.storage.store import VIEWS, Store

PAGE = 100
_MOST = 1000
#: Facets by the field of a row; distances in bands of 20 m.
FACETS = ("hazard", "cluster", "drive", "scene", "band", "recognition", "gate", "tag")
_LONGEST_TAG = 40
_SHOWN = {
    "every": lambda r: True,
    "todo": lambda r: r["status"] == "accepted" and not r["mine"],
    "all": lambda r: r["status"] == "accepted",
    "flag": lambda r: "flag" in (r["mine"], *(d for _, d in r["others"])),
    "split": lambda r: len({d for d in (r["mine"], *(d for _, d in r["others"])) if d}) > 1,
    "twin": lambda r: r["status"] == "accepted" and r["twin"],
    "rejected": lambda r: r["status"] == "rejected",
    "refused": lambda r: r["status"] == "refused",
}


def page(case_index: CaseIndex, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """One page of the rows that fit, what fits by facet, and counts of all.

    Args:
        asked: ``show``, ``find``, a value for any of :data:`FACETS`; ``from`` the first row, or ``keep`` the id of a
            case whose page is wanted; ``blind``: as :meth:`CaseIndex.queue`.

    Raises:
        InputError: no such list.
    """
    rows = case_index.queue(name, asked.get("blind") is True)
    show = str(asked.get("show", "every"))
    if show not in _SHOWN:
        raise InputError(f"show: expected one of {', '.join(_SHOWN)}, found '{show[:20]}'")
    here = [row for row in rows if _SHOWN[show](row)]
    chosen = {f: str(asked.get(f) or "") for f in FACETS}
    word = str(asked.get("find", "")).strip().lower()
    found = [
        row
        for row in here
        if all(value in _values(row, f) for f, value in chosen.items() if value)
        and (not word or word in f"{row['name']} {row['hazard']} {row['scene']} {row['id']}".lower())
    ]
    at = next((i for i, row in enumerate(found) if row["id"] == asked.get("keep")), None)
    start = (at if at is not None else _from(asked, len(found))) // PAGE * PAGE
    accepted = [row for row in rows if row["status"] == "accepted"]
    return {
        "rows": [{**row, **_small(case_index.store, row)} for row in found[start : start + PAGE]],
        "from": start,
        "at": at,
        "total": len(found),
        "listed": len(here),
        "facets": {f: sorted(Counter(v for r in here for v in _values(r, f)).items()) for f in FACETS},
        "counts": {
            "here": len(accepted),
            "mine": sum(bool(r["mine"]) for r in accepted),
            **Counter(r["status"] for r in rows),
        },
        "wanted": case_index.store.benchmark.n,
        "policy": SAID[case_index.store.benchmark.policy],
    }


def decide_all(
    case_index: CaseIndex, name: str, ids: Sequence[str], decision: Decision, reason: str, role: Role
) -> str:
    """The same decision on many cases, which one undo takes back; returns what came of it, in words."""
    batch = secrets.token_hex(6)
    said = Counter(
        decide(case_index, name, case_id, decision, reason, role, batch).partition(",")[0] for case_id in ids
    )
    return "; ".join(f"{n} × {words}" for words, n in said.most_common())


def tag_all(case_index: CaseIndex, name: str, ids: Sequence[str], text: str, on: bool) -> str:
    """Put a word on these cases or take it off, which one undo takes back; returns what came of it.

    Raises:
        InputError: it is no word, or there is no such case.
    """
    name, tag, batch = person(name), " ".join(text.split()), secrets.token_hex(6)
    if not 0 < len(tag) <= _LONGEST_TAG or not tag.isprintable():
        raise InputError(
            f"tag: expected 1 to {_LONGEST_TAG} characters, found {text[:60]!r}; write one word or a few"
        )
    for case_id in ids:
        place_of(case_index.store, case_id)
    files, said = case_index.reviews(), Counter[str]()
    for case_id in ids:
        if (tag in tags_of(files.get(case_id, ()), name)) == on:
            said["Had it already" if on else "Did not have it"] += 1
        else:
            append_tag(case_index.store, name, case_id, tag, on, batch)
            said[f"Tagged “{tag}”" if on else f"No longer “{tag}”"] += 1
    return "; ".join(f"{n} × {words}" for words, n in said.most_common())


def selection(asked: Mapping[str, Any]) -> list[str]:
    """The ids that the page has chosen.

    Raises:
        InputError: none, or too many.
    """
    ids = asked.get("ids")
    if not isinstance(ids, list) or not 0 < len(ids) <= _MOST or not all(isinstance(i, str) for i in ids):
        raise InputError(f"selection: expected 1 to {_MOST} cases, found something else; choose some")
    return list(dict.fromkeys(ids))


def export(store: Store, ids: Sequence[str]) -> Path:
    """A benchmark of these accepted cases alone, beside this one, with their scenes; runs and reviews stay behind.

    Raises:
        InputError: one of them is not in the benchmark.
    """
    for case_id in ids:
        _check_accepted(store, case_id)
    out = _free(store.root.resolve(), "selection")
    cases = [store.case(case_id) for case_id in ids]
    chosen = {*ids}
    made = Store.create(out, store.benchmark.model_copy(update={"n": len(ids), "planned": ()}))
    made.add_planned([p for p in store.planned if p.case_id in chosen])
    for scene in {c.scene_id for c in cases}:
        shutil.copytree(store.scene_dir(scene), made.scene_dir(scene))
    if (store.root / VIEWS).is_dir():
        shutil.copytree(store.root / VIEWS, out / VIEWS)
    for case_id in ids:
        shutil.copytree(store.case_dir(case_id), made.case_dir(case_id))
    return out


def export_fiftyone(store: Store, ids: Sequence[str]) -> Path:
    """The same cases as FiftyOne's ``CSVDataset``: ``data/`` with both frames of each, ``labels.csv`` with its fields.

    Raises:
        InputError: one of them is not in the benchmark.
    """
    for case_id in ids:
        _check_accepted(store, case_id)
    out = _free(store.root.resolve(), "fiftyone")
    (out / "data").mkdir(parents=True)
    with (out / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("filepath", "case_id", "frame", *_FIELDS))
        for case_id in ids:
            case = store.case(case_id)
            place, hazard = case.placement, case.hazard
            told = (
                *(case.scene_id, hazard.id, hazard.name, hazard.cluster),
                *(place.distance_m, place.lateral_m, place.required_decel, case.provenance.inpainter),
                " ".join(str(round(v, 1)) for v in place.box_px),
            )
            for frame in ("original", "augmented"):
                name = f"{case_id}-{frame}.png"
                shutil.copyfile(store.case_dir(case_id) / f"{frame}.png", out / "data" / name)
                writer.writerow((name, case_id, frame, *told))
    return out


_FIELDS = (
    *("scene", "hazard", "hazard_name", "cluster", "distance_m", "lateral_m", "required_decel", "inpainter"),
    "box_px",
)


def _check_accepted(store: Store, case_id: str) -> None:
    if not store.has_case(case_id):
        raise InputError(f"export: case '{case_id[:40]}' is not accepted here; leave it out")


def _free(root: Path, what: str) -> Path:
    number = 1
    while (out := root.with_name(f"{root.name}-{what}-{number}")).exists():
        number += 1
    return out


def _values(row: Mapping[str, Any], facet: str) -> list[str]:
    """What a row has of a facet: one value or none, of tags several."""
    if facet == "tag":
        tags: list[str] = row["tags"]
        return tags
    return [row[facet]] if row[facet] else []


def _small(store: Store, row: Mapping[str, Any]) -> dict[str, str]:
    """Addresses of the row's two pictures for the wall; none where it was refused before it had any."""
    folder = place_of(store, row["id"])
    if not (folder / "augmented.png").is_file():
        return {}
    return {
        side: case_url(folder, f"{name}.png") + "&small"
        for side, name in (("before", "original"), ("after", "augmented"))
    }


def _from(asked: Mapping[str, Any], total: int) -> int:
    start = asked.get("from", 0)
    return min(start, max(0, total - 1)) if isinstance(start, int) and start >= 0 else 0
