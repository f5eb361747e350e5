"""Curation: the queue of cases, decisions on them. Every decision is kept with its name and time."""

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2

from cfgen.app.case_index import CaseIndex, aside, place_of
from cfgen.app.pictures import case_url, scene_url
from cfgen.app.reviews import Decision, append_review, current, identifier, latest_verdict, person, words
from cfgen.benchmark.frames import AUGMENTED, frame_path
from cfgen.core.errors import InputError
from cfgen.core.files import read_image, read_record
from cfgen.records import Case, Rejection, ReviewFile, Scene
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store


def item(case_index: CaseIndex, case_id: str) -> dict[str, Any]:
    """All that the page shows of one case; pictures by their address."""
    store = case_index.store
    folder = place_of(store, case_id)
    reviews = [
        {"who": file.rater, **entry.model_dump(mode="json", exclude={"batch"})}
        for file in case_index.reviews().get(case_id, [])
        for entry in file.history
    ]
    content: dict[str, Any] = {"id": case_id, "reviews": sorted(reviews, key=lambda r: r["at"])}
    if folder == store.rejected_dir(case_id):
        rejection = read_record(folder / "rejection.json", Rejection)
        content |= {"status": "refused", "reason": rejection.reason, "by": rejection.by}
        content["attempts"] = [a.model_dump(mode="json") for a in rejection.attempts]
    if (folder / "case.json").is_file():
        case = read_record(folder / "case.json", Case)
        content |= _details(store, case, folder)
        content["status"] = "rejected" if content.get("status") else "accepted"
    if (folder / "augmented.png").is_file():
        content |= _pictures(folder)
    return content


def decide(
    case_index: CaseIndex, name: str, case_id: str, decision: Decision, reason: str = "", batch: str = ""
) -> str:
    """Record a decision, and move the case where the latest one that stands wants it; says what came of it.

    Raises:
        InputError: a rejection without a reason, or a decision that is none.
    """
    store, name, reason = case_index.store, person(name), words(reason)
    if decision not in ("accept", "reject", "flag"):
        raise InputError(f"decision: expected accept, reject or flag, found {decision!r}")
    if decision == "reject" and not reason.strip():
        raise InputError("reject: expected a reason, found none; choose or write one")
    with store.held(f"case-{identifier(case_id, 'case')}"):
        place_of(store, case_id)
        append_review(store, name, case_id, decision, reason, batch)
        if decision != "flag":
            _settle(store, case_id)
    return f"{_PAST[decision][0].upper()}{_PAST[decision][1:]}"


def decide_all(case_index: CaseIndex, name: str, ids: Sequence[str], decision: Decision, reason: str) -> str:
    """The same decision on many cases, which one undo takes back; says what came of it."""
    batch = secrets.token_hex(6)
    results = Counter(decide(case_index, name, case_id, decision, reason, batch) for case_id in ids)
    return "; ".join(f"{n} × {result}" for result, n in results.most_common())


def undo(case_index: CaseIndex, name: str) -> tuple[str, str]:
    """Take back this person's latest standing decision, with all that were made in one go with it.

    Returns its case, and in words what was taken back.

    Raises:
        InputError: there is none.
    """
    name, store = person(name), case_index.store
    files = [f for each in case_index.reviews().values() for f in each if f.rater == name]
    standing = [(review.at, f.case_id, review) for f in files if (review := current(f.history))]
    if not standing:
        raise InputError(f"undo: {name} has no decision that stands")
    _, case_id, latest = max(standing, key=lambda row: row[0])
    ids = sorted(i for _, i, review in standing if review.batch and review.batch == latest.batch) or [case_id]
    for case_id in ids:
        with store.held(f"case-{case_id}"):
            append_review(store, name, case_id, "clear", "undo")
            if latest.decision != "flag":
                _settle(store, case_id)
    target = ids[0] if len(ids) == 1 else f"{len(ids)} cases"
    reason = f" ({latest.reason})" if latest.reason else ""
    return ids[0], f"Taken back: you {_PAST[latest.decision]} {target}{reason}."


_PAST: dict[Decision, str] = {"accept": "accepted", "reject": "rejected", "flag": "flagged"}


def _settle(store: Store, case_id: str) -> None:
    """Put the case where the latest decision that stands wants it; what the gates rejected stays so."""
    files = [read_record(p, ReviewFile) for p in sorted(store.root.glob(f"reviews/*/{case_id}.json"))]
    verdict = latest_verdict(files)
    if verdict and verdict[1].decision == "reject":
        if store.has_case(case_id):
            _put_away(store, case_id, verdict[0], verdict[1].reason)
    elif (store.rejected_dir(case_id) / "case.json").is_file():
        store.restore_rejected(case_id)


def _put_away(store: Store, case_id: str, name: str, reason: str) -> None:
    case = store.case(case_id)
    rejection = Rejection(
        case_id=case_id,
        scene_id=case.scene_id,
        hazard_id=case.hazard.id,
        reason=reason.strip(),
        attempts=case.attempts,
        by=name,
    )
    store.move_to_rejected(case_id, rejection)


def selection(query: Mapping[str, Any]) -> list[str]:
    """The ids that the page has chosen.

    Raises:
        InputError: none, or too many.
    """
    ids = query.get("ids")
    if (
        not isinstance(ids, list)
        or not 0 < len(ids) <= MAX_SELECTED
        or not all(isinstance(i, str) for i in ids)
    ):
        raise InputError(f"selection: expected 1 to {MAX_SELECTED} cases, found something else; choose some")
    return list(dict.fromkeys(ids))


# --- the queue in pages ---------------------------------------------------------------------------------

PAGE = 100
#: cases that are decided on at once
MAX_SELECTED = 1000
#: fields of a row by which the queue is narrowed down; distances in bands of 20 m
FACETS = ("hazard", "cluster", "drive", "scene", "band", "recognition", "gate")
_LISTS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "every": lambda r: True,
    "todo": lambda r: r["status"] == "accepted" and not r["mine"],
    "all": lambda r: r["status"] == "accepted",
    "flag": lambda r: "flag" in (r["mine"], *(d for _, d in r["others"])),
    "split": lambda r: len({d for d in (r["mine"], *(d for _, d in r["others"])) if d}) > 1,
    "rejected": lambda r: r["status"] == "rejected",
    "refused": lambda r: r["status"] == "refused",
}


def page(case_index: CaseIndex, name: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """One page of the rows that match, what matches by facet, and counts of all.

    Args:
        query: ``show``, ``find``, a value for any of :data:`FACETS`; ``from`` the first row, or ``keep`` the id of a
            case whose page is wanted.

    Raises:
        InputError: no such list.
    """
    rows = case_index.queue(name)
    show = str(query.get("show", "every"))
    if show not in _LISTS:
        raise InputError(f"show: expected one of {', '.join(_LISTS)}, found '{show[:20]}'")
    listed = [row for row in rows if _LISTS[show](row)]
    matches = [row for row in listed if _matches(row, query)]
    at = next((i for i, row in enumerate(matches) if row["id"] == query.get("keep")), None)
    start = (at if at is not None else _first_row(query, len(matches))) // PAGE * PAGE
    accepted = [row for row in rows if row["status"] == "accepted"]
    return {
        "rows": [{**row, **_thumbnails(case_index.store, row)} for row in matches[start : start + PAGE]],
        "from": start,
        "at": at,
        "total": len(matches),
        "listed": len(listed),
        "facets": {f: sorted(Counter(r[f] for r in listed if r[f]).items()) for f in FACETS},
        "counts": {
            "here": len(accepted),
            "mine": sum(bool(r["mine"]) for r in accepted),
            **Counter(r["status"] for r in rows),
        },
        "wanted": case_index.store.benchmark.n,
    }


def _matches(row: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    text = f"{row['name']} {row['hazard']} {row['scene']} {row['id']}".lower()
    facets = all(row[f] == query[f] for f in FACETS if query.get(f))
    return facets and str(query.get("find", "")).strip().lower() in text


def _thumbnails(store: Store, row: Mapping[str, Any]) -> dict[str, str]:
    """Addresses of the row's two pictures for the gallery; none where the gates rejected it before it had any."""
    folder = place_of(store, row["id"])
    if not (folder / "augmented.png").is_file():
        return {}
    return {
        side: case_url(folder, f"{name}.png") + "&small"
        for side, name in (("before", "original"), ("after", "augmented"))
    }


def _first_row(query: Mapping[str, Any], total: int) -> int:
    start = query.get("from", 0)
    return min(start, max(0, total - 1)) if isinstance(start, int) and start >= 0 else 0


# --- what is shown --------------------------------------------------------------------------------------


def _details(store: Store, case: Case, folder: Path) -> dict[str, Any]:
    place = case.placement
    scene = load_scene(store.scene_dir(case.scene_id))
    facts = [
        ("Hazard", f"{case.hazard.name} ({case.hazard.id})"),
        ("Why it matters", case.hazard.why),
        ("Place", f"{place.distance_m:.1f} m ahead, {aside(place.lateral_m)}"),
        ("Required deceleration", f"{place.required_decel:.1f} m/s² from {3.6 * scene.scene.speed:.0f} km/h"),
        ("Size", f"{place.size.length:.1f} × {place.size.width:.1f} × {place.size.height:.1f} m"),
    ]
    provenance = [
        ("Case", case.case_id),
        ("Scene", case.scene_id),
        ("Source", scene.scene.source),
        ("Licence", scene.scene.license),
        ("Seed", str(case.seed)),
        ("Attempts", str(len(case.attempts))),
        ("Inpainter", f"{case.provenance.inpainter} {case.provenance.inpainter_version}"),
        ("Arms", ", ".join(case.arms)),
        ("Scene hash", case.provenance.scene_hash),
        ("Hazard hash", case.provenance.hazard_hash),
        ("cfgen", case.provenance.cfgen_version),
        ("Report", "\n".join(_lines(case.provenance.report))[:4000]),
    ]
    return {
        "name": case.hazard.name,
        "hazard": case.hazard.id,
        "scene": case.scene_id,
        "facts": facts,
        "provenance": [row for row in provenance if row[1]],
        "gates": [g.model_dump(mode="json") for g in case.gates],
        "box": place.box_px,
        "strip": _strip(store, case, folder, scene.scene),
    }


def _lines(report: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """One line a value, by its path."""
    for key, value in report.items():
        if isinstance(value, Mapping):
            yield from _lines(value, f"{above}{key}.")
        else:
            yield f"{above}{key}: {value if isinstance(value, str) else json.dumps(value)}"


def _strip(store: Store, case: Case, folder: Path, scene: Scene) -> list[dict[str, Any]]:
    """Frames of the front camera up to t0, oldest first: the changed one where the case has it."""
    frames = sorted((f for f in scene.frames if f.camera == scene.front.name and f.t <= 0), key=lambda f: f.t)
    strip = []
    for frame in frames:
        changed = AUGMENTED if frame.t > -1e-3 else frame_path("hazard", frame.camera, frame.t)
        original = scene_url(store.scene_dir(case.scene_id), frame.image)
        stored = patch.file if (patch := case.patches.get(changed)) else changed
        path = case_url(folder, changed, stored) if (folder / stored).is_file() else original
        strip.append({"t": frame.t, "path": path, "original": original})
    return strip


def _pictures(folder: Path) -> dict[str, Any]:
    """The two frames, their size, and the mask's outline in pixels."""
    mask = folder / "mask.png"
    size, outline = _outline(mask, mask.stat().st_mtime_ns)
    return {
        "original": case_url(folder, "original.png"),
        "augmented": case_url(folder, "augmented.png"),
        "size": size,
        "outline": outline,
    }


@lru_cache(maxsize=5000)
def _outline(path: Path, mtime: int) -> tuple[list[int], list[list[list[int]]]]:
    """Width and height of a mask, and its outline in pixels; ``mtime`` is new when the file is."""
    mask = cv2.cvtColor(read_image(path), cv2.COLOR_RGB2GRAY)
    contours, _ = cv2.findContours((mask > 0).astype("uint8"), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    outline = [cv2.approxPolyDP(c, 1.0, True)[:, 0].tolist() for c in contours if len(c) > 2]
    return [mask.shape[1], mask.shape[0]], outline
