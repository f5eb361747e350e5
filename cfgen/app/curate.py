"""Look at cases and decide on them. Every decision is kept with its name and time; a rejected case can come back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2

from cfgen.app.case_index import MADE_AGAIN, MADE_INSTEAD, CaseIndex, aside, place_of, was_replaced
from cfgen.app.pictures import case_url, scene_url
from cfgen.app.policy import BROUGHT_BACK, SAID, Held, current, decided, held, may_overrule
from cfgen.app.reviews import Decision, Role, append_review, append_tag, identifier, person, words
from cfgen.app.tags import latest as latest_tags
from cfgen.app.tags import tags_of
from cfgen.benchmark.frames import AUGMENTED, frame_path
from cfgen.core.errors import InputError
from cfgen.core.files import read_image, read_record
from cfgen.records import Case, Rejection, Review, ReviewFile, Scene, Tagging
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store


def item(case_index: CaseIndex, case_id: str, name: str = "", blind: bool = False) -> dict[str, Any]:
    """All that the page shows of one case; pictures by their address.

    Others' decisions are shown to who has decided here before; ``blind`` hides that they took the case out, too.
    """
    store = case_index.store
    folder = place_of(store, case_id)
    files = case_index.reviews().get(case_id, [])
    seen = decided(files, name)
    reviews = [
        {"who": file.rater, **entry.model_dump(mode="json", exclude={"role", "batch"})}
        for file in files
        if seen
        for entry in file.history
    ]
    shown: dict[str, Any] = {"id": case_id, "reviews": sorted(reviews, key=lambda r: r["at"])}
    shown["decided"], shown["tags"] = seen, tags_of(files, name)
    if folder == store.rejected_dir(case_id):
        rejection = read_record(folder / "rejection.json", Rejection)
        shown |= {"status": "refused", "reason": rejection.reason, "by": rejection.by}
        shown["attempts"] = [a.model_dump(mode="json") for a in rejection.attempts]
    if (folder / "case.json").is_file():
        case = read_record(folder / "case.json", Case)
        shown |= _details(store, case, folder)
        shown["status"] = "rejected" if shown.get("status") else "accepted"
        if blind and not seen and not was_replaced(shown.get("reason", "")):
            shown["status"] = "accepted"
            for told in ("reason", "by", "attempts"):
                shown.pop(told, None)
    if (folder / "augmented.png").is_file():
        shown |= _pictures(folder)
    return shown


def decide(
    case_index: CaseIndex,
    name: str,
    case_id: str,
    decision: Decision,
    reason: str = "",
    role: Role = "manager",
    batch: str = "",
) -> str:
    """Record a decision, and move the case where the benchmark's policy then wants it.

    Returns what came of it, in words: where it changes nothing, what holds and why.

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
        append_review(store, name, case_id, decision, reason, role, batch)
        if decision == "flag":
            return "Flagged"
        holds = _settle(store, case_id)
    if (decision == "reject") == holds.out:
        return "Rejected" if holds.out else "Accepted"
    return f"Your {decision} is kept, but the case stays {'out' if holds.out else 'in'}: {holds.why}"


def undo(case_index: CaseIndex, name: str) -> tuple[str, str]:
    """Take back this person's latest standing decision or tag, and all that were decided or tagged with it.

    Returns its case, and in words what was taken back.

    What was made again comes back, and what was made in its place goes among the rejected.

    Raises:
        InputError: there is none.
    """
    name, store = person(name), case_index.store
    files = [f for each in case_index.reviews().values() for f in each if f.rater == name]
    mine = [(last.at, f.case_id, last) for f in files if (last := current(f.history))]
    tags = latest_tags(files)
    if tags and tags[0][1].at > max((m[0] for m in mine), default=""):
        return _untag(store, name, tags)
    if not mine:
        raise InputError(f"undo: {name} has no decision that stands")
    latest = max(mine, key=lambda m: m[0])
    together = [m for m in mine if m[2].batch and m[2].batch == latest[2].batch] or [latest]
    for _, case_id, standing in together:
        _take_back(store, name, case_id, standing)
    first = min(case_id for _, case_id, _ in together)
    what = f"{_UNDONE[latest[2].decision]} {first if len(together) == 1 else f'{len(together)} cases'}"
    reason = f" ({latest[2].reason})" if latest[2].reason else ""
    return first, f"Taken back: {what}{reason}."


def _untag(store: Store, name: str, tags: Sequence[tuple[str, Tagging]]) -> tuple[str, str]:
    for case_id, entry in tags:
        append_tag(store, name, case_id, entry.tag, entry.on, entry.batch, undoes=True)
    first, entry = min(tags, key=lambda t: t[0])
    what = first if len(tags) == 1 else f"{len(tags)} cases"
    did = f"you tagged {what} “{entry.tag}”" if entry.on else f"you took “{entry.tag}” off {what}"
    return first, f"Taken back: {did}."


_UNDONE: dict[Decision, str] = {"accept": "you accepted", "reject": "you rejected", "flag": "you flagged"}


def _take_back(store: Store, name: str, case_id: str, last: Review) -> None:
    made = last.reason.removeprefix(MADE_AGAIN) if last.reason.startswith(MADE_AGAIN) else ""
    if made:
        with store.held(f"case-{identifier(made, 'case')}"):
            if store.has_case(made):
                _put_away(store, made, name, f"{MADE_INSTEAD}{case_id}, which was brought back")
    with store.held(f"case-{case_id}"):
        append_review(store, name, case_id, "clear", "undo", last.role)
        if last.decision in ("accept", "reject"):
            _settle(store, case_id)


def replaced(case_index: CaseIndex, name: str, case_id: str, new_id: str) -> None:
    """``case_id`` goes, whatever the policy: ``new_id`` was made in its place."""
    store, reason = case_index.store, MADE_AGAIN + new_id
    with store.held(f"case-{identifier(case_id, 'case')}"):
        append_review(store, name, case_id, "reject", reason, "manager")
        if store.has_case(case_id):
            _put_away(store, case_id, person(name), reason)


def bring_back(case_index: CaseIndex, name: str, case_id: str, role: Role = "manager") -> str:
    """A rejected case returns to the benchmark, whoever rejected it.

    Raises:
        InputError: the policy leaves that to a manager, or it is not out.
        StoreError: the gates refused it before it was whole.
    """
    name, policy = person(name), case_index.store.benchmark.policy
    if not may_overrule(policy, role):
        raise InputError(f"bring back: only a manager may, since {SAID[policy]}; accept it to be counted")
    with case_index.store.held(f"case-{identifier(case_id, 'case')}"):
        if case_index.store.has_case(case_id):
            raise InputError(f"bring back: expected a case that is out, found {case_id} in the benchmark")
        case_index.store.restore_rejected(case_id)
        append_review(case_index.store, name, case_id, "accept", BROUGHT_BACK, role)
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


def _settle(store: Store, case_id: str) -> Held:
    """Put the case where the policy wants it; what the gates refused stays refused."""
    holds = held(store.benchmark.policy, _reviews_of(store, case_id))
    if holds.out and store.has_case(case_id):
        _put_away(store, case_id, holds.by, holds.reason)
    elif not holds.out and (store.rejected_dir(case_id) / "case.json").is_file():
        store.restore_rejected(case_id)
    return holds


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
