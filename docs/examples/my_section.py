"""A section of the report: how long each planner takes to answer."""

import numpy as np

from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section, Table


def latency_section(data: ReportData) -> Section:
    """Seconds from question to answer."""
    seconds = {
        planner: [r.latency_s for r in data.rollouts[planner] if r.status == "ok"]
        for planner in data.planners
    }
    rows = [
        (planner, f"{np.median(found):.2f}", f"{np.max(found):.2f}", str(len(found)))
        for planner, found in seconds.items()
        if found
    ]
    return Section(
        id="latency",
        title="Latency",
        tables=(Table("seconds", "Seconds an answer", ("planner", "median", "longest", "N"), tuple(rows)),),
        figures={"seconds": seconds},  # JSON values, as they are, in report.json
    )
