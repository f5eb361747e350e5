"""A campaign's ratings as a CSV that other programs read, and back."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cfgen.app.campaigns.log import first, last, logs, merge
from cfgen.core.errors import InputError
from cfgen.core.files import read_record, write_bytes
from cfgen.judge.calibrate import import_rows, parsed, read_csv
from cfgen.records import ADJUDICATED, DIMENSIONS, Campaign, CampaignEntry, CampaignItem, CampaignLog
from cfgen.storage.store import Store

UNKNOWN = "UNKNOWN"


def export(bench: Path, campaign: Campaign, out: Path) -> int:
    """Write every saved score, one row each, to ``out``; returns how many.

    ``counts``: it is the last of its rater and item, and the case is in the benchmark; ``place_shown``: the rater had
    seen where the hazard stands; ``kept_anyway``: though told that the rubric excludes it.

    Raises:
        InputError: nothing has been rated.
    """
    rows = list(_rows(Store(bench), campaign))
    if not rows:
        raise InputError(f"campaign '{campaign.name}': nothing has been rated in {bench} yet")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows([{k: _cell(v) for k, v in row.items()} for row in rows])
    write_bytes(out, text.getvalue().encode())
    return len(rows)


def read(file: Path) -> list[tuple[str, dict[str, str]]]:
    """Where it stands and what it says, of each rating in a file.

    Raises:
        InputError: it cannot be read, or is none of them.
    """
    rows = read_csv(file, ("rater", "planner", "case_id", *DIMENSIONS))
    if not rows:
        raise InputError(f"{file}: expected ratings, found none")
    return [(f"{file}, line {n}", {k: _cell(v) for k, v in row.items() if k}) for n, row in rows]


def import_ratings(bench: Path, file: Path, campaign: Campaign | None = None) -> int:
    """Add the ratings in a file; returns how many were new. Histories only grow.

    Args:
        campaign: whose ratings they are; needed where the file holds a campaign's, with its gold and its training.

    Raises:
        InputError: as :func:`read`; they are a campaign's and none was given, or another's, or not as it plans them.
    """
    rows = read(file)
    names = sorted({row.get("campaign", "") for _, row in rows} - {""})
    if campaign is None and names:
        raise InputError(
            f"{file}: holds ratings of campaign '{names[0]}'; give the file that 'create' wrote too, with --campaign"
        )
    if campaign is None:
        return import_rows(bench, rows)
    store, items = Store(bench), {i.id: i for i in campaign.items}
    logged = [_entry(campaign, items, where, row) for where, row in rows]
    planned = frozenset(i.case_id for i in campaign.items)
    if planned.isdisjoint(store.case_ids()):
        raise InputError(
            f"{bench}: holds no case of campaign '{campaign.name}'; give the benchmark it was planned for"
        )
    added = merge(store, campaign, logged)
    import_rows(bench, [rating for rating in rows if rating[1]["kind"] == "answer"], planned)
    return added


def _entry(
    campaign: Campaign, items: Mapping[str, CampaignItem], where: str, row: Mapping[str, str]
) -> tuple[str, str, CampaignEntry]:
    """Rater, seat or "", and what was saved.

    Raises:
        InputError: it is no rating of this campaign.
    """
    item = items.get(row.get("item", ""))
    same = ("planner", "case_id", "arm", "repeat", "kind", "known")
    if row.get("campaign") != campaign.name or item is None:
        raise InputError(
            f"{where}: expected one of campaign '{campaign.name}', found item '{row.get('item', '')[:40]}' of "
            f"'{row.get('campaign', '')[:60]}'; give the campaign that it was exported from"
        )
    if wrong := [k for k in same if row.get(k) != _cell(getattr(item, k))]:
        raise InputError(
            f"{where}: item {item.id}: expected {wrong[0]} '{getattr(item, wrong[0])}' as the campaign plans it, found "
            f"'{row.get(wrong[0], '')[:60]}'; give the campaign that it was exported from"
        )
    _, rating = parsed(row, where)
    entry = CampaignEntry(item=item.id, sure=row.get("kept_anyway") == "yes", **rating.model_dump())
    return row["rater"], row.get("seat", ""), entry


def _rows(store: Store, campaign: Campaign) -> Iterator[dict[str, Any]]:
    items = {i.id: i for i in campaign.items}
    path = store.campaign_log_path(campaign.name, ADJUDICATED)
    final = [read_record(path, CampaignLog)] if path.is_file() else []
    for log in (*logs(store, campaign), *final):
        counting, earliest = last(log), first(log)
        for entry in log.entries:
            if entry.item in items:
                item = items[entry.item]
                flags = {
                    "counts": counting[entry.item] is entry and store.has_case(item.case_id),
                    # a rater sees where the hazard stands from the first saving on, who adjudicates from the start
                    "place_shown": log.rater == ADJUDICATED or earliest[entry.item] is not entry,
                    "kept_anyway": entry.sure,
                }
                row = _row(campaign, item, log.rater, entry)
                yield {**row, **{k: "yes" if v else "no" for k, v in flags.items()}, "seat": log.seat}


def _row(campaign: Campaign, item: CampaignItem, rater: str, entry: CampaignEntry) -> dict[str, Any]:
    return {
        "rater": rater,
        "planner": item.planner,
        "case_id": item.case_id,
        "arm": item.arm,
        "repeat": item.repeat,
        **{d: UNKNOWN if (s := entry.scores.get(d)) is None else s for d in DIMENSIONS},
        "note": entry.note,
        "at": entry.at,
        "seconds": entry.seconds,
        "paused": entry.paused,
        "campaign": campaign.name,
        "item": item.id,
        "kind": item.kind,
        "known": item.known,
    }


def _cell(value: object) -> str:
    return "" if value is None else str(value)
