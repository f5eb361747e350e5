"""People among themselves, and what their ratings of a part of the cases say about all of them."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from cfgen.metrics.corrected import FEWEST_RATED, Corrected, corrected
from cfgen.metrics.paired import Difference
from cfgen.metrics.raters import gwet_ac1, krippendorff_alpha
from cfgen.metrics.success import STRICT
from cfgen.records import ADJUDICATED, CONTROLS, DIMENSIONS, Dimension, answer_in, judged_as
from cfgen.reporting.data import ReportData
from cfgen.reporting.events import judged
from cfgen.reporting.table import Table

#: (planner, case) -> score
Scores = dict[tuple[str, str], int]


def people_scores(data: ReportData, dimension: Dimension, pair: str = "hazard") -> Scores:
    """The majority of the raters' last scores of a pair, or what was adjudicated; ties and UNKNOWN are left out."""
    return {item: top[0] for item, top in leading_scores(data, dimension, pair).items() if len(top) == 1}


def leading_scores(
    data: ReportData, dimension: Dimension, pair: str = "hazard"
) -> dict[tuple[str, str], list[int]]:
    """Answer -> what most raters gave it: several scores where they are split. What was adjudicated is theirs."""
    items, votes = _votes(data, dimension, pair)
    decided = {
        (r.planner, r.case_id): r.history[-1].scores.get(dimension)
        for r in data.ratings
        if r.rater == ADJUDICATED and (r.arm, r.repeat) == (pair, 0) and r.history
    }
    said = dict(zip(items, zip(*votes, strict=True), strict=True)) | {a: (v,) for a, v in decided.items()}
    counts = {item: Counter(v for v in given if v is not None) for item, given in said.items()}
    return {
        item: sorted(score for score, n in count.items() if n == max(count.values()))
        for item, count in counts.items()
        if count
    }


def _votes(
    data: ReportData, dimension: Dimension, pair: str
) -> tuple[list[tuple[str, str]], list[list[int | None]]]:
    """Answers in order, and what each rater last said of them: None is UNKNOWN or nothing."""
    raters = sorted({r.rater for r in data.ratings} - {ADJUDICATED})
    last = {
        (r.rater, r.planner, r.case_id): r.history[-1].scores.get(dimension)
        for r in data.ratings
        if (r.arm, r.repeat) == (pair, 0) and r.history and r.rater != ADJUDICATED
    }
    items = sorted({(planner, case) for _, planner, case in last})
    return items, [[last.get((rater, *item)) for item in items] for rater in raters] if items else []


def raters_table(data: ReportData) -> tuple[list[Table], list[dict[str, Any]]]:
    """How far all raters agree among themselves, where there are several."""
    rows, figures = [], []
    for dimension in DIMENSIONS:
        items, votes = _votes(data, dimension, "hazard")
        twice = sum(sum(v is not None for v in one) > 1 for one in zip(*votes, strict=True))
        if twice:
            found = {
                "alpha": krippendorff_alpha(votes),
                "ordinal": krippendorff_alpha(votes, level="ordinal"),
                "ac1": gwet_ac1(votes),
            }
            words = ("undefined" if v is None else f"{v:.2f}" for v in found.values())
            rows.append((dimension, *words, str(len(votes)), str(twice), str(len(items))))
            figures.append({"score": dimension, **found, "raters": len(votes), "rated_twice": twice})
    columns = ("score", "alpha", "ordinal alpha", "AC1", "raters", "rated by several", "rated")
    note = "Krippendorff's alpha and Gwet's AC1 over all raters; UNKNOWN and what somebody did not rate are missing. "
    note += "AC1 stays put where nearly all answers get one score, alpha falls to 0 there."
    title = "People among themselves"
    return ([Table("raters", title, columns, tuple(rows), note=note)] if rows else []), figures


def correction_table(data: ReportData) -> tuple[list[Table], list[dict[str, Any]]]:
    """Strict success, and that above the floor: by the judge, by the people, and both together."""
    rows, figures = [], []
    for planner in data.planners:
        for dimension in DIMENSIONS:
            for name, (found, split) in _estimates(data, planner, dimension).items():
                rows.append((planner, dimension, name, *_words(found, split)))
                figures.append(
                    {"planner": planner, "score": dimension, "of": name, **asdict(found), "split": split}
                )
    columns = (
        *("planner", "score", "of", "judge alone %", "95% interval", "N", "people alone %", "95% interval"),
        *("rated", "split", "corrected %", "95% interval"),
    )
    note = (
        f"Judge: {data.main_judge}. People: the majority of the raters, strict success; split, and counted by the "
        "share of its leading scores that is a success: a case on which they are not one. Corrected: people's mean, "
        "moved by what the judge's mean over all cases differs from that over the rated, as far as both go "
        "together (prediction-powered inference); it speaks of all cases where those rated were drawn at random, and "
        f"is not given under {FEWEST_RATED} rated ones, where its interval is too narrow. "
        f"Intervals: {data.blocks[1]}."
    )
    title = "People correct the judge"
    return ([Table("corrected", title, columns, tuple(rows), words=3, note=note)] if rows else []), figures


def _estimates(data: ReportData, planner: str, dimension: Dimension) -> dict[str, tuple[Corrected, int]]:
    """Each estimate, and on how many of its cases people are split."""
    split: set[str] = set()

    def people(pair: str) -> dict[str, float]:
        scores = {c: v for (p, c), v in leading_scores(data, dimension, pair).items() if p == planner}
        # people rate the first sample: where another one counts, they said nothing of it
        first = (case for case in scores if data.shown(planner, answer_in(pair), case) == 0)
        found = {case: scores[case].count(STRICT) / len(scores[case]) for case in first}
        split.update(case for case in found if len(scores[case]) > 1)
        return found

    hazard, rated = judged(data, planner, "hazard", dimension), people("hazard")
    if not hazard or not rated:
        return {}
    blocks = data.blocks[0]
    found = {"hazard": (corrected(hazard, rated, blocks), len(split & set(rated)))}
    kind = data.floor(planner)
    arms = [a for a in CONTROLS if kind in (a, "mean") and judged(data, planner, a, dimension)]
    if arms:
        above = _less(hazard, [judged(data, planner, a, dimension) for a in arms])
        seen = _less(rated, [people(judged_as(a)) for a in arms])
        if above and seen:
            above_floor = corrected(above, seen, blocks, lowest=-1.0)
            found["above the floor"] = above_floor, len(split & set(seen))
    return found


def _less(hazard: dict[str, float], floor: list[dict[str, float]]) -> dict[str, float]:
    """The hazard's event minus the mean of the floor's, on the cases that all have."""
    shared = set(hazard).intersection(*floor)
    return {case: hazard[case] - sum(arm[case] for arm in floor) / len(floor) for case in shared}


def _words(found: Corrected, split: int) -> tuple[str, ...]:
    def estimate(one: Difference) -> tuple[str, str]:
        if one.value is None or one.low is None or one.high is None:
            return "-", "-"
        return f"{100 * one.value:.1f}", f"{100 * one.low:.1f} to {100 * one.high:.1f}"

    return (
        *(*estimate(found.judge), str(found.judge.n)),
        *(*estimate(found.people), str(found.people.n), str(split)),
        *estimate(found.corrected),
    )
