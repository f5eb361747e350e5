"""The motion table against closed forms on a bench made by hand: 12 m/s, a box in the lane 18 to 37 m ahead."""

from pathlib import Path

import numpy as np
import pytest

from cfgen.reporting.cases import CaseFiles
from cfgen.reporting.data import ReportData, measured
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.sections.breakdown import groups_section
from cfgen.reporting.sections.motion import measured_section, motion_section
from tests.reporting.bench import blind, careful, case_id, make_bench, straight


def brief(seed: int, arm: str):
    """Plans 2 s; brakes at 6 m/s^2 for the hazard, and has no answer there to the last case."""
    if arm == "hazard" and seed == 19:
        return None, "planner_failed"
    return straight(12, 6.0 if arm == "hazard" else 0.0)[:8], (2, 2, 2) if arm == "hazard" else "unknown"


def frozen(seed: int, arm: str):
    """All zeros for the hazard: no car can do that at 12 m/s."""
    return straight(12) if arm != "hazard" else np.zeros((24, 3)), (2, 2, 2) if arm == "hazard" else "unknown"


def wild(seed: int, arm: str):
    """Brakes in zigzags."""
    plan = straight(12, 3.0 if arm == "hazard" else 0.0)
    if arm == "hazard":
        plan[:, 1] = 2.0 * (-1.0) ** np.arange(24)
    return plan, (2, 2, 2) if arm == "hazard" else "unknown"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    scripts = {"brief": brief, "frozen": frozen, "wild": wild, "careful": careful, "blind": blind}
    store = make_bench(tmp_path_factory.mktemp("motion") / "b", 20, scripts, arms=("hazard", "rerun"))
    return read_report_data(store)


@pytest.fixture(scope="module")
def rows(data: ReportData) -> dict[tuple[str, str], dict[str, str]]:
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for table in motion_section(data).tables:
        for r in table.rows:
            cells.setdefault((r[0], r[1]), {}).update(zip(table.columns, r, strict=True))
    return cells


def test_a_short_plan_is_measured_on_its_own_horizon_and_what_lies_beyond_is_counted_apart(data, rows):
    reached = [(c.placement.distance_m - c.placement.size.length / 2 - 3.8) / 12 for c in data.cases]
    within = sum(t <= 2 for t, c in zip(reached, data.cases, strict=True) if c.case_id != case_id(19))
    assert 0 < within < 19, "both must be among the cases"
    for arm in ("original", "hazard"):
        row = rows["brief", arm]
        assert (row["horizon s"], row["N"], row["beyond"]) == ("2", str(within), str(19 - within))
    assert rows["brief", "original"]["contact %"] == "100.0"
    # braking at 6 m/s^2 for 2 s it stands after 12 m, with its nose at 15.8 m: a tree reaches nearer
    nearer = sum(c.placement.distance_m - c.placement.size.length / 2 < 15.8 for c in data.cases)
    assert rows["brief", "hazard"]["contact %"] == f"{100 * nearer / within:.1f}"
    assert rows["brief", "hazard"]["stops short %"] == f"{100 * (within - nearer) / within:.1f}"


def test_a_plan_of_zeros_is_neither_comfortable_nor_driven_as_drawn(rows):
    row = rows["frozen", "hazard"]
    assert row["comfortable %"] == "0.0"
    assert row["no motion %"] == "100.0"
    # a ramp of 20 m/s^3 to 8 m/s^2 and on to a stand: 12 * 0.4 - 20 * 0.4^3 / 6 + 10.4^2 / 16 = 11.3 m
    assert float(row["plan off by m"]) == pytest.approx(11.3, abs=0.6)


def test_arms_of_a_planner_are_over_the_same_cases(rows):
    # careful has no plan for cases 8 and 17 in the hazard arm
    assert {rows["careful", arm]["N"] for arm in ("original", "hazard")} == {"18"}
    assert {rows["blind", arm]["N"] for arm in ("original", "hazard")} == {"20"}


def test_what_no_car_drives_is_no_response(data):
    assert set(measured(data, "wild", "hazard").values()) == {0.0}
    assert set(measured(data, "frozen", "hazard").values()) == {0.0}
    assert sum(measured(data, "brief", "hazard").values()) > 5


def test_metrics_compare_arms_over_shared_cases(data):
    found = measured_section(data).figures["metrics"]
    ns = {(m["arm"]): m["n"] for m in found if (m["planner"], m["metric"]) == ("careful", "held-back-m")}
    assert ns == {"hazard": 18, "rerun": 18}


def test_groups_compare_planners_over_shared_cases(data: ReportData):
    groups = groups_section(data).figures["breakdown"]["zone"]
    totals = {g["planner"]: sum(one["n"] for one in g["groups"]) for g in groups if g["score"] == "overall"}
    # case 10 is unknown for careful
    assert set(totals.values()) == {19}


def test_plans_of_different_length_are_told_apart_in_a_case(data: ReportData, tmp_path: Path):
    detail = CaseFiles(data, data.cases).detail(data.cases[0], {})
    one = detail["answers"]["brief"]["hazard"][0]
    assert len(one["path"]) == 8
    assert one["encounter"]["plan ends"] == "after 2 s"
    assert [row[0] for row in one["deltas"]] == [1.0, 2.0]
