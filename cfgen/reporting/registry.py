"""The parts of a report by name, in their order; third parties' come after ours."""

from collections.abc import Sequence

from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.registry import Registry

_ROOM = "cfgen.reporting.sections"
SECTIONS = Registry(
    "report section",
    "cfgen.report_sections",
    {
        "headline": f"{_ROOM}.success:headline_section",
        "leaderboard": f"{_ROOM}.success:success_section",
        "false-alarms": f"{_ROOM}.success:false_alarms_section",
        "reaction": f"{_ROOM}.reaction:reaction_section",
        "paired": f"{_ROOM}.comparison:paired_section",
        "breakdown": f"{_ROOM}.breakdown:groups_section",
        "motion": f"{_ROOM}.motion:motion_section",
        "metrics": f"{_ROOM}.motion:measured_section",
        "faithfulness": f"{_ROOM}.faithfulness:traces_section",
        "swaps": f"{_ROOM}.faithfulness:swaps_section",
        "agreement": f"{_ROOM}.agreement:people_section",
        "methods": f"{_ROOM}.methods:methods_section",
    },
)

#: what stands over a section of ours that breaks; a third party's is called by its name
TITLES = {
    "headline": "Strict success and false alarms",
    "leaderboard": "Leaderboard",
    "false-alarms": "Hits and false alarms",
    "reaction": "Said and done, and how soon",
    "paired": "Planner against planner",
    "breakdown": "Breakdown",
    "motion": "Motion",
    "metrics": "Metrics",
    "faithfulness": "Faithfulness of the reasoning",
    "swaps": "Is the reasoning load-bearing?",
    "agreement": "How far the judges can be trusted",
    "methods": "Methods, for an appendix",
}

#: shown only when named: they measure every pair of plans, and few ask for it
OPTIONAL = frozenset({"metrics"})


def chosen(sections: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of the sections of a report, in order.

    Args:
        sections: besides those that every report has; "all" is every one.

    Raises:
        InputError: no such section.
    """
    names = SECTIONS.ordered()
    if unknown := next((name for name in sections if name not in (*names, "all")), None):
        raise InputError(
            f"--sections: expected one of: {', '.join(sorted(OPTIONAL))}, or all, found '{unknown}'"
            f"{did_you_mean(unknown, list(names))}"
        )
    return tuple(name for name in names if name not in OPTIONAL or {name, "all"} & set(sections))
