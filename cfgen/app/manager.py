"""The manager's page of a campaign: what it has come to, and the last word on what raters dispute."""

from typing import Any

from cfgen.app.campaigns.figures import figures
from cfgen.app.campaigns.log import append, last, logs
from cfgen.app.rate import RatingRoom, excluded, given_scores
from cfgen.app.reviews import append_rating, words
from cfgen.core.errors import InputError
from cfgen.records import ADJUDICATED, DIMENSIONS, Campaign, CampaignItem


def overview(room: RatingRoom) -> dict[str, Any]:
    """See :func:`cfgen.app.campaigns.figures.figures`."""
    page, items = figures(room.store, _campaign(room)), {i.id: i for i in _campaign(room).items}
    for row in page["disputed"]:
        item = items[row["item"]]
        case = room.store.case(item.case_id)
        sham = "" if item.arm == "hazard" else f", {item.arm}"
        row["label"] = f"{case.hazard.name}, {case.placement.distance_m:.0f} m ahead{sham}"
    return page


def dispute(room: RatingRoom, item_id: str) -> dict[str, Any]:
    """One answer with everybody's scores and notes."""
    item = _item(room, item_id)
    ratings = [
        {"who": log.rater, "scores": [entry.scores.get(d) for d in DIMENSIONS], "note": entry.note}
        for log in logs(room.store, _campaign(room))
        if (entry := last(log).get(item_id))
    ]
    return {**room.seen_by_manager(item), "said": ratings}


def adjudicate(
    room: RatingRoom, name: str, item_id: str, scores: dict[str, Any], note: str, sure: bool = False
) -> dict[str, Any]:
    """Decide what a disputed answer is worth; it then counts in place of the raters' majority.

    ``{"ask": words}`` where the rubric excludes the three together and the manager is not ``sure``.

    Raises:
        InputError: it is no answer of the campaign, or scores are missing.
    """
    item, scored = _item(room, item_id), given_scores(scores)
    if not name:
        raise InputError("your name: expected a name, found none; type it at the top of the page")
    if (why := excluded(scored)) and not sure:
        return {"ask": why}
    comment = words(f"{name}: {note}" if note else name)
    append(room.store, _campaign(room), ADJUDICATED, item_id, scored, comment, sure=bool(why))
    append_rating(room.store, ADJUDICATED, item.planner, item.case_id, item.arm, item.repeat, scored, comment)
    return overview(room)


def _campaign(room: RatingRoom) -> Campaign:
    if room.campaign is None:
        raise InputError("campaign: the app was started without one; start it with --campaign FILE")
    return room.campaign


def _item(room: RatingRoom, item_id: str) -> CampaignItem:
    item = next((i for i in _campaign(room).items if i.id == item_id and i.kind == "answer"), None)
    if item is None:
        raise InputError(f"campaign: expected one of its answers, found '{item_id[:40]}'; reload the page")
    if not room.store.has_case(item.case_id):
        raise InputError(
            f"campaign: case {item.case_id} has been taken out of the benchmark, so its answers do not count; they "
            "come back with it"
        )
    return item
