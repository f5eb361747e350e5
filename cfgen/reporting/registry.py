"""The parts of a report by name, in their order; third parties' come after ours."""

from cfgen.core.registry import Registry

_ROOM = "cfgen.reporting.sections"
SECTIONS = Registry(
    "report section",
    "cfgen.report_sections",
    {
        "headline": f"{_ROOM}.floor:headline_section",
        "leaderboard": f"{_ROOM}.success:success_section",
        "floor": f"{_ROOM}.floor:floor_section",
        "sampling": f"{_ROOM}.sampling:sampling_section",
        "paired": f"{_ROOM}.paired:paired_section",
        "breakdown": f"{_ROOM}.groups:groups_section",
        "recognition": f"{_ROOM}.recognition:recognition_section",
        "motion": f"{_ROOM}.motion:motion_section",
        "metrics": f"{_ROOM}.measured:measured_section",
        "faithfulness": f"{_ROOM}.traces:traces_section",
        "swaps": f"{_ROOM}.interventions:swaps_section",
        "budget": f"{_ROOM}.interventions:budget_section",
        "agreement": f"{_ROOM}.people:people_section",
        "methods": f"{_ROOM}.methods:methods_section",
    },
)

#: what stands over a section of ours that breaks; a third party's is called by its name
TITLES = {
    "headline": "Response to the hazard, above the floor",
    "leaderboard": "Leaderboard",
    "floor": "The floor",
    "sampling": "Scenes drawn from",
    "paired": "Planner against planner",
    "breakdown": "Breakdown",
    "recognition": "Recognition",
    "motion": "Motion",
    "metrics": "Metrics",
    "faithfulness": "Faithfulness of the reasoning",
    "swaps": "Is the reasoning load-bearing?",
    "budget": "Budget",
    "agreement": "How far the judges can be trusted",
    "methods": "Methods, for an appendix",
}
