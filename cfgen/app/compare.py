"""What was scored: the leaderboard, and every answer with what judges and people said of it, disagreements first."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from cfgen.app.case_index import CaseIndex
from cfgen.app.curate import item
from cfgen.app.question import footprint, plans, read
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_record
from cfgen.records import DIMENSIONS, Rollout, Verdict
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.sections.correction import people_scores
from cfgen.reporting.sections.success import leaderboard, ranked_rows, success_rows
from cfgen.storage.store import Store

PAGE = 100
_FITS = {
    "all": lambda a: True,
    "gap": lambda a: a["gap"] > 0,
    "miss": lambda a: a["judge"][2] is not None and a["judge"][2] < 2,
    "none": lambda a: a["status"] != "scored",
}


def answers(store: Store, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The leaderboard and one page of the answers that fit ``planner``, ``which`` and ``find``, from row ``from`` on.

    Raises:
        StoreError: nothing was scored here. InputError: no such list.
    """
    told = _overview(str(store.root.resolve()), _written(store))
    which, planner = str(asked.get("which", "all")), str(asked.get("planner", ""))
    if which not in _FITS:
        raise InputError(f"which: expected one of {', '.join(_FITS)}, found '{which[:20]}'")
    word = str(asked.get("find", "")).strip().lower()
    found = [
        a
        for a in told["answers"]
        if _FITS[which](a)
        and (not planner or a["planner"] == planner)
        and (not word or word in f"{a['name']} {a['id']}".lower())
    ]
    start = asked.get("from", 0)
    first = min(start, max(0, len(found) - 1)) // PAGE * PAGE if isinstance(start, int) and start > 0 else 0
    planners = sorted({a["planner"] for a in told["answers"]})
    page = {"answers": found[first : first + PAGE], "from": first, "total": len(found), "planners": planners}
    return {**told, **page}


def _written(store: Store) -> tuple[tuple[str, int], ...]:
    """What is new when a case, an answer, a verdict or a rating is: every folder's time."""
    kinds = ("cases/*", "runs/*/*", "verdicts/*", "verdicts/*/*/*", "ratings/*/*")
    folders = sorted(p for kind in kinds for p in store.root.glob(kind) if p.is_dir())
    return tuple((str(p), p.stat().st_mtime_ns) for p in folders)


@lru_cache(maxsize=2)
def _overview(root: str, written: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    return overview(Store(Path(root)))


def overview(store: Store) -> dict[str, Any]:
    """The leaderboard of the hazard arm, and one row an answer; the widest gap between judge and people first.

    Raises:
        StoreError: nothing was scored here.
    """
    data = read_report_data(store)
    if not data.judges:
        raise StoreError(
            f"{store.root.name}: nothing was scored here yet; run: cfgen score {store.root.name} --planner cruise"
        )
    judge = data.main_judge
    people = {d: people_scores(data, d) for d in DIMENSIONS}
    names = {case.case_id: case.hazard.name for case in data.cases}
    found = []
    for planner in data.planners:
        for verdict in data.verdicts_of(judge, planner, "hazard"):
            if verdict.repeat:
                continue
            scored = [verdict.scores.get(d) for d in DIMENSIONS]
            rated = [people[d].get((planner, verdict.case_id)) for d in DIMENSIONS]
            gap = sum(
                abs(a - b) for a, b in zip(scored, rated, strict=True) if a is not None and b is not None
            )
            found.append(
                {
                    "id": verdict.case_id,
                    "name": names[verdict.case_id],
                    "planner": planner,
                    "status": verdict.status,
                    "judge": scored,
                    "people": rated,
                    "gap": gap,
                }
            )
    ranked, above = ranked_rows(data, success_rows(data))
    table = leaderboard(ranked, above=above)
    return {
        "columns": table.columns,
        "rows": table.rows,
        "note": table.note,
        "judge": judge,
        "answers": sorted(found, key=lambda a: (-a["gap"], a["planner"], a["id"])),
    }


def answer(case_index: CaseIndex, planner: str, case_id: str, judge: str) -> dict[str, Any]:
    """One answer: the frames, plots, words and scores, and each person's rating."""
    store = case_index.store
    before, after = (
        read_record(store.rollout_path(planner, arm, case_id), Rollout) for arm in ("original", "hazard")
    )
    path = store.verdict_path(judge, planner, "hazard", case_id)
    verdict = read_record(path, Verdict) if path.is_file() else None
    ratings = [
        {"who": f.rater, **f.history[-1].model_dump(mode="json")}
        for f in store.ratings()
        if (f.planner, f.case_id, f.arm, f.repeat) == (planner, case_id, "hazard", 0) and f.history
    ]
    shown = item(case_index, case_id)
    return {
        **plans(before, after),
        "words": [read(before), read(after)],
        "scores": [verdict.scores.get(d) if verdict else None for d in DIMENSIONS],
        "explanation": (verdict.explanation or verdict.reason) if verdict else "There is no verdict.",
        "ratings": ratings,
        "name": shown.get("name", case_id),
        "planner": planner,
        "place": footprint(store.case(case_id), "hazard") if store.has_case(case_id) else None,
        **{k: shown[k] for k in ("original", "augmented", "size", "box", "outline") if k in shown},
    }
