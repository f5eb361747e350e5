"""What a campaign has come to: progress, agreement with intervals, gold, drift over time, and what is disputed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from cfgen.app.campaigns.gold_answers import WHY
from cfgen.app.campaigns.log import first as first_said
from cfgen.app.campaigns.log import items_of, last, log_of, logs, standing
from cfgen.metrics.agreement import agreement, gwet_ac1, krippendorff_alpha
from cfgen.records import (
    ADJUDICATED,
    DIMENSIONS,
    Campaign,
    CampaignEntry,
    CampaignItem,
    CampaignLog,
    Dimension,
)
from cfgen.storage.store import Store

#: by rater, what counts of each item
Saved = Mapping[str, Mapping[str, CampaignEntry]]
_RESAMPLES = 500
_THIRDS = 3


def figures(store: Store, campaign: Campaign) -> dict[str, Any]:
    """Everything that a manager's page shows, as JSON: of answers whose cases are in the benchmark, ``out`` are not."""
    planned, campaign = len(campaign.items), standing(store, campaign)
    campaign_logs = logs(store, campaign)
    saved = {log.rater: last(log) for log in campaign_logs}
    decided = last(log_of(store, campaign, ADJUDICATED))
    return {
        "name": campaign.name,
        "seats": len(campaign.seats),
        "overlap": campaign.overlap,
        "out": planned - len(campaign.items),
        "progress": [_progress(campaign, log) for log in campaign_logs],
        "agreement": [_agreement(campaign, saved, d) for d in DIMENSIONS],
        "pairs": _pairs(campaign, saved),
        "gold": _gold(campaign, saved),
        "drift": [row for log in campaign_logs for row in _drift(campaign, log)],
        "disputed": disputed(campaign, saved, decided),
    }


def disputed(campaign: Campaign, saved: Saved, decided: Mapping[str, CampaignEntry]) -> list[dict[str, Any]]:
    """Answers whose raters differ, the widest first; ``final`` is what a manager has decided."""
    rows = []
    for item in campaign.items:
        scores_of = {r: s[item.id].scores for r, s in saved.items() if item.id in s}
        spread = sum(_spread([g.get(d) for g in scores_of.values()]) for d in DIMENSIONS)
        if item.kind == "answer" and len(scores_of) > 1 and spread:
            final = decided.get(item.id)
            rows.append(
                {
                    "item": item.id,
                    "apart": spread,
                    "given": {r: [g.get(d) for d in DIMENSIONS] for r, g in scores_of.items()},
                    "final": [final.scores.get(d) for d in DIMENSIONS] if final else None,
                }
            )
    return sorted(rows, key=lambda row: (row["final"] is not None, -row["apart"], row["item"]))


def _spread(scores: Sequence[int | None]) -> int:
    """How far apart; UNKNOWN against a score counts as one."""
    numbers = [s for s in scores if s is not None]
    return (max(numbers) - min(numbers) if numbers else 0) or int(0 < len(numbers) < len(scores))


def _progress(campaign: Campaign, log: CampaignLog) -> dict[str, Any]:
    items, saved = items_of(campaign, log.seat), last(log)
    ids = {i.id for i in items}
    seconds = [e.seconds for e in saved.values() if e.seconds is not None]
    return {
        "rater": log.rater,
        "seat": log.seat,
        "done": sum(i.id in saved for i in items),
        "of": len(items),
        "seconds": round(median(seconds), 1) if seconds else None,
        "paused": round(sum(e.paused or 0 for e in log.entries) / 60, 1),
        "changed": sum(e.item in ids for e in log.entries) - sum(i in ids for i in saved),
    }


def _votes(campaign: Campaign, saved: Saved, dimension: Dimension) -> list[list[int | None]]:
    """By rater, of every answer."""
    answers = [i.id for i in campaign.items if i.kind == "answer"]
    return [[s[i].scores.get(dimension) if i in s else None for i in answers] for s in saved.values()]


def _agreement(campaign: Campaign, saved: Saved, dimension: Dimension) -> dict[str, Any]:
    answers = sum(i.kind == "answer" for i in campaign.items)
    votes = np.array(_votes(campaign, saved, dimension), object).reshape(len(saved), answers)
    twice = votes[:, [sum(v is not None for v in column) > 1 for column in votes.T]] if votes.size else votes
    measures: dict[str, Callable[[Any], float | None]] = {
        "alpha": lambda v: krippendorff_alpha(v, level="ordinal"),
        "ac1": gwet_ac1,
    }
    figures: dict[str, Any] = {"score": dimension, "n": int(twice.shape[1]) if twice.size else 0}
    rng = np.random.default_rng(0)
    draws = (
        [rng.integers(0, figures["n"], figures["n"]) for _ in range(_RESAMPLES)] if figures["n"] > 1 else []
    )
    for name, measure in measures.items():
        value = measure(twice.tolist()) if figures["n"] else None
        again = [v for d in draws if (v := measure(twice[:, d].tolist())) is not None]
        within = np.percentile(again, [2.5, 97.5]).round(3).tolist() if value is not None and again else None
        figures |= {name: None if value is None else round(value, 3), f"{name}_interval": within}
    return figures


def _pairs(campaign: Campaign, saved: Saved) -> list[dict[str, Any]]:
    """Quadratic kappa of every two raters, with its interval."""
    names, rows = list(saved), []
    for dimension in DIMENSIONS:
        votes = dict(zip(names, _votes(campaign, saved, dimension), strict=True))
        for n, first in enumerate(names):
            for second in names[n + 1 :]:
                rated = [
                    (a, b)
                    for a, b in zip(votes[first], votes[second], strict=True)
                    if a is not None and b is not None
                ]
                result = agreement([a for a, _ in rated], [b for _, b in rated], resamples=_RESAMPLES)
                rows.append(
                    {
                        "score": dimension,
                        "raters": [first, second],
                        "n": result.n,
                        "kappa": result.quadratic,
                        "interval": result.quadratic_interval,
                    }
                )
    return rows


def _gold(campaign: Campaign, saved: Saved) -> list[dict[str, Any]]:
    """Each rater's scores of the known answers beside the right ones."""
    return [
        {
            "rater": rater,
            "item": item.id,
            "kind": item.kind,
            "why": WHY[item.known],
            "expected": [item.expected.get(d) for d in DIMENSIONS],
            "given": [entries[item.id].scores.get(d) for d in DIMENSIONS],
        }
        for rater, entries in saved.items()
        for item in campaign.items
        if item.known and item.id in entries
    ]


def _drift(campaign: Campaign, log: CampaignLog) -> list[dict[str, Any]]:
    """By thirds of this rater's items: mean scores, seconds and the share of gold scored right, all at first sight.

    ``again`` counts what was saved anew since.
    """
    items = {i.id: i for i in campaign.items if i.kind != "training"}
    entries = [e for e in first_said(log).values() if e.item in items]
    saved = Counter(e.item for e in log.entries)
    rows = []
    for third in range(_THIRDS if len(entries) >= _THIRDS else 0):
        part = entries[len(entries) * third // _THIRDS : len(entries) * (third + 1) // _THIRDS]
        seconds = [e.seconds for e in part if e.seconds is not None]
        gold = [_right(items[e.item], e) for e in part if items[e.item].kind == "gold"]
        rows.append(
            {
                "rater": log.rater,
                "third": third + 1,
                "n": len(part),
                "means": [_mean([e.scores.get(d) for e in part]) for d in DIMENSIONS],
                "seconds": round(median(seconds), 1) if seconds else None,
                "gold": [sum(gold), len(gold)],
                "again": sum(saved[e.item] - 1 for e in part),
            }
        )
    return rows


def _right(item: CampaignItem, entry: CampaignEntry) -> bool:
    return all(item.expected.get(d) == entry.scores.get(d) for d in DIMENSIONS)


def _mean(scores: Sequence[int | None]) -> float | None:
    numbers = [s for s in scores if s is not None]
    return round(sum(numbers) / len(numbers), 2) if numbers else None
