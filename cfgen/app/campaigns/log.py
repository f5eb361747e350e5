"""What raters did in a campaign: one file for each, to which only they add."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from cfgen.core.errors import InputError
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import derive_id
from cfgen.records import ADJUDICATED, Campaign, CampaignEntry, CampaignItem, CampaignLog, Dimension, Score
from cfgen.storage.store import Store


def seat_of(store: Store, campaign: Campaign, rater: str) -> str:
    """The seat of this rater: that of the same name, the one taken before, or the next that is free.

    Raises:
        InputError: all seats are taken.
    """
    with store.held(f"campaign-{derive_id(campaign.name)}"):
        path = store.campaign_log_path(campaign.name, rater)
        if path.is_file():
            return read_record(path, CampaignLog).seat
        occupied = {log.seat for log in logs(store, campaign)}
        free = [s for s in campaign.seats if s not in occupied]
        seat = rater if rater in free else next((s for s in free if _is_number(s)), None)
        if seat is None:
            raise InputError(
                f"campaign '{campaign.name}': its {len(campaign.seats)} seats are taken or for others; ask who runs it"
            )
        write_record(path, CampaignLog(campaign=campaign.name, rater=rater, seat=seat), store.work)
        return seat


def logs(store: Store, campaign: Campaign) -> list[CampaignLog]:
    """Of every rater who has begun, by name."""
    paths = sorted((store.root / "campaigns" / campaign.name).glob("*.json"))
    return [read_record(p, CampaignLog) for p in paths if p.stem != ADJUDICATED]


def log_of(store: Store, campaign: Campaign, rater: str) -> CampaignLog | None:
    """None where this rater has not begun."""
    path = store.campaign_log_path(campaign.name, rater)
    return read_record(path, CampaignLog) if path.is_file() else None


def append(
    store: Store,
    campaign: Campaign,
    rater: str,
    item: str,
    scores: Mapping[Dimension, Score | None],
    note: str = "",
    spent: tuple[float | None, float | None] = (None, None),
    sure: bool = False,
) -> None:
    """One more entry of this rater; ``sure``: kept though the rubric excludes it."""
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    entry = CampaignEntry(
        item=item, at=at, scores=dict(scores), note=note, seconds=spent[0], paused=spent[1], sure=sure
    )
    with store.held(f"campaign-{derive_id(campaign.name, rater)}"):
        path = store.campaign_log_path(campaign.name, rater)
        if path.is_file():
            log = read_record(path, CampaignLog)
        else:
            log = CampaignLog(campaign=campaign.name, rater=rater, seat=ADJUDICATED)
        write_record(path, log.model_copy(update={"entries": (*log.entries, entry)}), store.work)


def merge(store: Store, campaign: Campaign, additions: Iterable[tuple[str, str, CampaignEntry]]) -> int:
    """Add what was saved elsewhere, (rater, seat or "", entry) each, by time; returns how many were new.

    Raises:
        InputError: a rater has another seat here, or it is not one of the campaign.
    """
    by_rater: dict[str, list[tuple[str, CampaignEntry]]] = {}
    for rater, seat, entry in additions:
        by_rater.setdefault(rater, []).append((seat, entry))
    new = 0
    with store.held(f"campaign-{derive_id(campaign.name)}"):
        seated = {log.rater: log.seat for log in logs(store, campaign)}
        for rater in [r for r in by_rater if r != ADJUDICATED]:
            seated[rater] = _seated(campaign, seated, rater, {s for s, _ in by_rater[rater] if s})
        for rater, entries in by_rater.items():
            with store.held(f"campaign-{derive_id(campaign.name, rater)}"):
                path, seat = store.campaign_log_path(campaign.name, rater), seated.get(rater, ADJUDICATED)
                log = CampaignLog(campaign=campaign.name, rater=rater, seat=seat)
                log = read_record(path, CampaignLog) if path.is_file() else log
                present = {_entry_key(e) for e in log.entries}
                added = {k: e for _, e in entries if (k := _entry_key(e)) not in present}
                merged = sorted((*log.entries, *added.values()), key=lambda e: e.at)
                if added or not path.is_file():
                    write_record(path, log.model_copy(update={"entries": tuple(merged)}), store.work)
                new += len(added)
    return new


def _seated(campaign: Campaign, seated: Mapping[str, str], rater: str, seats: set[str]) -> str:
    """The seat of a rater whose scores come from elsewhere: where there is one already, that; else a free one."""
    free = [s for s in campaign.seats if s not in seated.values()]
    seat_here = seated.get(rater)
    candidates = (
        {seat_here}
        if seat_here and not seats
        else seats or {rater if rater in free else next(iter(free), "")}
    )
    if len(candidates) == 1 and (seat := next(iter(candidates))) in ({seat_here} if seat_here else free):
        return seat
    raise InputError(
        f"campaign '{campaign.name}': rater '{rater}': expected seat "
        f"{seat_here or ', '.join(free) or 'none, all taken'}, "
        f"found {', '.join(sorted(candidates)) or 'none'}; two raters cannot share one"
    )


def _entry_key(entry: CampaignEntry) -> tuple[object, ...]:
    return entry.item, entry.at, tuple(sorted(entry.scores.items())), entry.note


def last(log: CampaignLog | None) -> dict[str, CampaignEntry]:
    """By item, what counts."""
    return {entry.item: entry for entry in log.entries} if log else {}


def first(log: CampaignLog) -> dict[str, CampaignEntry]:
    """By item, in the order in which they were scored, what was said before anything was seen of the right answer."""
    entries: dict[str, CampaignEntry] = {}
    for entry in log.entries:
        entries.setdefault(entry.item, entry)
    return entries


def standing(store: Store, campaign: Campaign) -> Campaign:
    """The same without what has been taken out of the benchmark: that is neither rated nor counted until it is back."""
    return campaign.model_copy(
        update={"items": tuple(i for i in campaign.items if store.has_case(i.case_id))}
    )


def items_of(campaign: Campaign, seat: str) -> list[CampaignItem]:
    """What a seat rates: the training first."""
    mine = [i for i in campaign.items if not i.seats or seat in i.seats]
    return sorted(mine, key=lambda i: i.kind != "training")


def _is_number(seat: str) -> bool:
    return seat.removeprefix("rater").isdecimal()
