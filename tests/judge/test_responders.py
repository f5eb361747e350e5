"""Scripted responders write what the planner parser reads without a fault, and move as their names say."""

from pathlib import Path

import numpy as np
import pytest

from cfgen.geometry.path import travelled
from cfgen.planners.answer import parse, to_plan
from cfgen.planners.protocol import Truth
from cfgen.planners.responders import KINDS, Baseline, Responder, Target, lookalike
from tests.judge.painted import paint


@pytest.fixture(scope="module")
def case(real: Path):
    return paint(real / "udacity_hmb3" / "scenes" / "hmb3_00040", "deer crossing the road", 3, lateral=0.3)


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_in_the_papers_format(case, kind):
    for text in case.answers(kind):
        found = parse(text)
        assert found.faults == ()
        assert found.waypoints.shape == (24, 3)
        assert found.trace.longitudinal
        assert found.trace.lateral


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_hazard_they_drive_on(case, kind):
    before, _ = case.answers(kind)
    _, plan = to_plan(before)
    assert np.allclose(np.array(plan.waypoints)[:, :2], np.array(case.future.poses)[:, :2], atol=0.02)
    harmless = Truth(case.hazard.model_copy(update={"kind": "nuisance"}), case.placement)
    assert Responder(kind).plan([case.observation(harmless)]) == [before]


def test_they_move_as_they_are_named(case):
    target = Target.of(case.placement, Baseline.of(case.history, case.future))

    def end(kind):
        return travelled(to_plan(case.answers(kind)[1])[1].waypoints)[-1]

    calm = end("ignores")
    assert end("notices_and_brakes") < target.near
    assert target.near < end("brakes_too_late") < calm
    assert end("says_brake_and_speeds_up") > calm + 5


def test_a_lookalike_is_nothing_that_the_name_could_mean():
    target = Target(near=20, far=21, lateral=0, half_width=0.3, zone="ego_lane", height=1.75)
    assert lookalike(target, "pedestrian walking") == "cyclist"
    assert lookalike(target, "construction worker") == "cyclist"
    assert lookalike(target, "slow cyclist") == "pedestrian"
    wide = Target(near=20, far=24, lateral=0, half_width=0.95, zone="ego_lane", height=1.5)
    assert lookalike(wide, "broken-down car") not in ("car", "van", "truck")
