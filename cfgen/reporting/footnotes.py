"""What every figure of the report stands on: arm, judge, rubric, and whether that judge was tested."""

from collections.abc import Callable
from dataclasses import replace

from cfgen.records import ProbeRun
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section


def describe_judge(data: ReportData, judge: str) -> str:
    """The judge, the rubric of its verdicts, and how it did on known answers under that wording."""
    if not judge:
        return "no judge yet"
    wordings = data.once(
        ("wordings", judge),
        lambda: {
            (f"{v.rubric} {v.rubric_version}", v.rubric_hash)
            for (name, _), verdicts in data.verdicts.items()
            if name == judge
            for v in verdicts
            if v.rubric
        },
    )
    rubrics = sorted({rubric for rubric, _ in wordings}) or ["unknown"]
    tested = describe_testing(data.probes.get(judge), {wording for _, wording in wordings})
    return f"judge {judge} (rubric {', '.join(rubrics)}; {tested})"


def describe_testing(probe: ProbeRun | None, wordings: set[str]) -> str:
    """How a judge did on known answers, where that was with these wordings."""
    if probe is None:
        return "not tested on known answers"
    if wordings - {probe.rubric_hash}:
        return "tested on known answers with another wording only"
    right = "/".join(f"{100 * share:.0f}" for share in probe.accuracy.values())
    shares = f"right in {right}% of {probe.n} known answers for {'/'.join(probe.accuracy)}"
    return f"tested: {shares}" if probe.enough else f"tried on too little to count as tested: {shares}"


def _main(data: ReportData) -> str:
    return f"Counterfactual scene, {describe_judge(data, data.main_judge)}."


def _all(data: ReportData) -> str:
    return "Counterfactual scene: " + "; ".join(describe_judge(data, judge) for judge in data.judges) + "."


def _control_pairs(data: ReportData) -> str:
    judge = describe_judge(data, data.main_judge)
    return f"Counterfactual scene against control pairs, {judge}; what is measured needs no judge."


def _driven(data: ReportData) -> str:
    return "Measured on the plans, without a judge."


#: section -> what is said below each of its figures; elsewhere tables name it in columns of their own
_WORDS: dict[str, Callable[[ReportData], str]] = {
    "headline": _control_pairs,
    "leaderboard": _all,
    "false-alarms": _control_pairs,
    "reaction": _main,
    "paired": _main,
    "breakdown": _main,
    "motion": _driven,
    "metrics": _driven,
    "swaps": _driven,
    "agreement": _all,
}


def footnote_of(section: str, data: ReportData) -> str:
    """What the figures of a section stand on."""
    return _WORDS[section](data)


def with_footnotes(section: Section, data: ReportData) -> Section:
    """The section with what it stands on below each table and plot, or as a sentence where it has neither; the
    judge also beside each headline."""
    make = _WORDS.get(section.id)
    if make is None or section.empty:
        return section
    words = make(data)
    if section.headline:
        # beside every figure set large, wherever its sentence goes
        who = f"{describe_judge(data, data.main_judge)}."
        headlines = tuple(
            (v, unit, f"{sentence} {who[0].upper()}{who[1:]}") for v, unit, sentence in section.headline
        )
        section = replace(section, headline=headlines)
    lead = (*section.lead, words) if not (section.tables or section.plots) else section.lead
    return replace(
        section,
        lead=lead,
        tables=tuple(replace(t, note=f"{t.note} {words}".strip()) for t in section.tables),
        plots=tuple(replace(p, note=f"{p.note} {words}".strip()) for p in section.plots),
    )
