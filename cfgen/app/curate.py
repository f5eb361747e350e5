"""Look at cases and decide on them. Every decision is kept with its name and time; a rejected case can come back."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2

from cfgen.app.case_index import CaseIndex, aside, place_of
from cfgen.app.pictures import case_url, scene_url
from cfgen.app.reviews import Decision, append_review, current, identifier, person
from cfgen.cases.builder import frame_path
from cfgen.core.errors import InputError
from cfgen.core.files import read_image, read_record
from cfgen.records import Case, Rejection, ReviewFile, Scene
from cfgen.scenes.folder import load_scene
from cfgen.store import Store


def item(case_index: CaseIndex, case_id: str) -> dict[str, Any]:
    """All that the page shows of one case; pictures by their address."""
    store = case_index.store
    folder = place_of(store, case_id)
    reviews = [
        {"who": file.rater, **entry.model_dump(mode="json")}
        for file in case_index.reviews().get(case_id, ())
        for entry in file.history
    ]
    shown: dict[str, Any] = {"id": case_id, "reviews": sorted(reviews, key=lambda r: r["at"])}
    if folder == store.rejected_dir(case_id):
        rejection = read_record(folder / "rejection.json", Rejection)
        shown |= {"status": "refused", "reason": rejection.reason, "by": rejection.by}
        shown["attempts"] = [a.model_dump(mode="json") for a in rejection.attempts]
    if (folder / "case.json").is_file():
        case = read_record(folder / "case.json", Case)
        shown |= _details(store, case, folder)
        shown["status"] = "rejected" if shown.get("status") else "accepted"
    if (folder / "augmented.png").is_file():
        shown |= _pictures(folder)
    return shown


def decide(case_index: CaseIndex, name: str, case_id: str, decision: Decision, reason: str = "") -> str:
    """Record a decision; a rejected case moves out of the benchmark at once. Returns what happened, in words.

    Raises:
        InputError: a rejection without a reason, or a decision that is none.
    """
    store, name = case_index.store, person(name)
    if decision not in ("accept", "reject", "flag"):
        raise InputError(f"decision: expected accept, reject or flag, found {decision!r}")
    if decision == "reject" and not reason.strip():
        raise InputError("reject: expected a reason, found none; choose or write one")
    with store.held(f"case-{identifier(case_id, 'case')}"):
        place_of(store, case_id)
        append_review(store, name, case_id, decision, reason)
        if decision == "reject" and store.has_case(case_id):
            _put_away(store, case_id, name, reason)
    return {"accept": "Accepted", "reject": "Rejected", "flag": "Flagged"}[decision]


def undo(case_index: CaseIndex, name: str) -> str:
    """Take back this person's latest standing decision; returns its case.

    Raises:
        InputError: there is none.
    """
    name = person(name)
    mine = [
        (standing.at, file.case_id, standing)
        for files in case_index.reviews().values()
        for file in files
        if file.rater == name and (standing := current(file.history))
    ]
    if not mine:
        raise InputError(f"undo: {name} has no decision that stands")
    _, case_id, last = max(mine, key=lambda m: m[0])
    with case_index.store.held(f"case-{case_id}"):
        append_review(case_index.store, name, case_id, "clear", "undo")
        if last.decision == "reject" or last.reason == BROUGHT_BACK:
            _settle(case_index, case_id)
    return case_id


BROUGHT_BACK = "brought back"


def bring_back(case_index: CaseIndex, name: str, case_id: str) -> str:
    """A rejected case returns to the benchmark, whoever rejected it.

    Raises:
        StoreError: the gates refused it before it was whole.
    """
    name = person(name)
    with case_index.store.held(f"case-{identifier(case_id, 'case')}"):
        if not case_index.store.has_case(case_id):
            case_index.store.restore_rejected(case_id)
        append_review(case_index.store, name, case_id, "accept", BROUGHT_BACK)
    return "Brought back"


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


def _settle(case_index: CaseIndex, case_id: str) -> None:
    """Put the case where the latest decision that stands, of anybody, says."""
    standing = [(s, f) for f in _reviews_of(case_index.store, case_id) if (s := current(f.history))]
    verdicts = [(s, f) for s, f in standing if s.decision in ("accept", "reject")]
    last, file = max(verdicts, key=lambda v: v[0].at) if verdicts else (None, None)
    rejected = last is not None and last.decision == "reject"
    if rejected and case_index.store.has_case(case_id):
        assert file is not None
        assert last is not None
        _put_away(case_index.store, case_id, file.rater, last.reason)
    elif not rejected and not case_index.store.has_case(case_id):
        case_index.store.restore_rejected(case_id)


def _reviews_of(store: Store, case_id: str) -> list[ReviewFile]:
    return [read_record(p, ReviewFile) for p in sorted(store.root.glob(f"reviews/*/{case_id}.json"))]


# --- what is shown --------------------------------------------------------------------------------------


def _details(store: Store, case: Case, folder: Path) -> dict[str, Any]:
    place = case.placement
    scene = load_scene(store.scene_dir(case.scene_id))
    facts = [
        ("Hazard", f"{case.hazard.name} ({case.hazard.id})"),
        ("Why it matters", case.hazard.why),
        ("Place", f"{place.distance_m:.1f} m ahead, {aside(place.lateral_m)}"),
        ("Requirements", f"{place.required_decel:.1f} m/s² from {3.6 * scene.scene.speed:.0f} km/h"),
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
        changed = "augmented.png" if frame.t > -1e-3 else frame_path("hazard", frame.camera, frame.t)
        original = scene_url(store.scene_dir(case.scene_id), frame.image)
        path = case_url(folder, changed) if (folder / changed).is_file() else original
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
