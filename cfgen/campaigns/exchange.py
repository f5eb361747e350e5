"""A campaign's ratings as files that other programs read, and back: CSV, JSON Lines, Label Studio's JSON."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from cfgen.campaigns.log import logs
from cfgen.core.errors import InputError
from cfgen.core.files import read_record, write_bytes
from cfgen.judge.calibrate import import_rows
from cfgen.records import ADJUDICATED, DIMENSIONS, Campaign, CampaignEntry, CampaignItem, CampaignLog
from cfgen.store import Store

Format = Literal["csv", "jsonl", "label-studio"]
FORMATS: tuple[Format, ...] = get_args(Format)
COLUMNS = (
    *("rater", "planner", "case_id", "arm", "repeat", *DIMENSIONS, "note"),
    *("at", "seconds", "paused", "campaign", "item", "kind", "known"),
)
UNKNOWN = "UNKNOWN"
_CHOICES = "".join(f'<Choice value="{v}"/>' for v in (0, 1, 2, UNKNOWN))
#: What Label Studio calls a labelling configuration: without it, it cannot show the ratings.
LABEL_STUDIO = "\n".join(
    [
        '<View>\n  <Text name="answer" value="$item"/>',
        *(
            f'  <Header value="{d}"/><Choices name="{d}" toName="answer" choice="single">{_CHOICES}</Choices>'
            for d in DIMENSIONS
        ),
        '  <TextArea name="note" toName="answer"/>\n</View>\n',
    ]
)


def export(bench: Path, campaign: Campaign, out: Path, form: Format = "csv") -> int:
    """Write every saved score, one row each, to ``out``; returns how many.

    For Label Studio its labelling configuration is written beside it, as ``.xml``.

    Raises:
        InputError: an unknown format, or nothing has been rated.
    """
    if form not in FORMATS:
        raise InputError(f"--format: expected one of {', '.join(FORMATS)}, found '{form}'")
    rows = list(_rows(Store(bench), campaign))
    if not rows:
        raise InputError(f"campaign '{campaign.name}': nothing has been rated in {bench} yet")
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{k: _cell(v) for k, v in row.items()} for row in rows])
        data = text.getvalue()
    elif form == "jsonl":
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        data = json.dumps(_label_studio(rows), indent=1, ensure_ascii=False) + "\n"
        write_bytes(out.with_suffix(".xml"), LABEL_STUDIO.encode())
    write_bytes(out, data.encode())
    return len(rows)


def read(file: Path) -> list[tuple[str, dict[str, str]]]:
    """Where it stands and what it says, of each rating of planners' answers in a file of any of the formats.

    Raises:
        InputError: it cannot be read, or is none of them.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        if text.lstrip()[:1] == "[":
            rows = [row for task in json.loads(text) for row in _of_task(task)]
        elif text.lstrip()[:1] == "{":
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            rows = list(csv.DictReader(io.StringIO(text)))
        found = [
            (f"{file}, rating {n}", {k: _cell(v) for k, v in row.items() if k})
            for n, row in enumerate(rows, 1)
            if row.get("kind", "answer") in ("answer", "", None)
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise InputError(f"{file}: expected ratings as {', '.join(FORMATS)}, found none ({error})") from error
    lacking = [c for c in ("rater", "planner", "case_id", *DIMENSIONS) if found and c not in found[0][1]]
    if lacking or not found:
        raise InputError(
            f"{file}: expected ratings with {', '.join(lacking or ['at least one row'])}, found none"
        )
    return found


def import_ratings(bench: Path, file: Path) -> int:
    """Add the ratings in a file; returns how many were new. Histories only grow. Raises as :func:`read`."""
    return import_rows(bench, read(file))


def _rows(store: Store, campaign: Campaign) -> Iterator[dict[str, Any]]:
    items = {i.id: i for i in campaign.items}
    path = store.campaign_log_path(campaign.name, ADJUDICATED)
    final = [read_record(path, CampaignLog)] if path.is_file() else []
    for log in (*logs(store, campaign), *final):
        for entry in log.entries:
            if entry.item in items:
                yield _row(campaign, items[entry.item], log.rater, entry)


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


_DATA = ("planner", "case_id", "arm", "repeat", "campaign", "item", "kind", "known")


def _label_studio(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One task for each item, one annotation for each saving of scores."""
    tasks: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows, 1):
        new = {"id": len(tasks) + 1, "data": {k: row[k] for k in _DATA}, "annotations": []}
        task = tasks.setdefault(row["item"], new)
        choices = [_choice(d, str(row[d])) for d in DIMENSIONS]
        note = {
            "from_name": "note",
            "to_name": "answer",
            "type": "textarea",
            "value": {"text": [row["note"]]},
        }
        task["annotations"].append(
            {
                "id": number,
                "completed_by": {"email": row["rater"]},
                "created_at": row["at"],
                "lead_time": row["seconds"],
                "result": [*choices, *([note] if row["note"] else [])],
            }
        )
    return list(tasks.values())


def _choice(name: str, value: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "answer", "type": "choices", "value": {"choices": [value]}}


def _of_task(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for annotation in task["annotations"]:
        by = annotation["completed_by"]
        said = {r["from_name"]: r["value"] for r in annotation["result"]}
        yield {
            **{k: v for k, v in task["data"].items() if k in _DATA},
            "rater": by.get("email", by.get("id")) if isinstance(by, dict) else by,
            **{d: said[d]["choices"][0] for d in DIMENSIONS},
            "note": "\n".join(said.get("note", {}).get("text", ())),
            "at": annotation.get("created_at"),
            "seconds": annotation.get("lead_time"),
        }


def _cell(value: object) -> str:
    return "" if value is None else str(value)
